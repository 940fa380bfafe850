import Glibc
import TestSupport
import Testing

/// `temblor listen` as a service: a socket that is passed, an end of its own, and one that clients
/// ask for.
@Suite(.timeLimit(.minutes(30))) struct ListenServiceTests {
  let folder = WorkingFolder()

  /// A socket in the folder that accepts connections.
  private func listeningSocket(_ name: String) throws -> Int32 {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    unsafe withUnsafeMutableBytes(of: &address.sun_path) {
      unsafe $0.copyBytes(from: (folder.path + "/" + name).utf8)
    }
    let result = unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard result == 0, listen(descriptor, 8) == 0 else { throw SystemCallFailure() }
    return descriptor
  }

  @Test func aSocketOfTheServiceManagerIsServedUntilItIsIdle() throws {
    let descriptor = try listeningSocket("s")
    let nothing = unsafe open("/dev/null", O_RDWR | O_CLOEXEC)
    defer {
      close(descriptor)
      close(nothing)
    }
    let client = try SocketClient(folder.path + "/s")
    let process = try ProcessRunner.start(
      [
        "/bin/bash", "-c",
        "LISTEN_PID=$$ LISTEN_FDS=1 exec $TEMBLOR listen --device null: --until-idle 0",
      ],
      environment: ["PATH=/usr/bin:/bin", "TEMBLOR=\(WorkingFolder.program)"], in: folder.path,
      streams: [
        (0, .descriptor(nothing)), (1, .descriptor(nothing)), (2, .descriptor(nothing)),
        (3, .descriptor(descriptor)),
      ])
    client.send("@1 hum 1 0.5 0.1 as a")
    #expect(client.line()?.hasPrefix("@1 ok name=a time=") == true)
    #expect(client.line()?.hasPrefix("event finished name=a time=") == true)
    client.send("quit")
    #expect(client.line() == "ok")
    #expect(ProcessRunner.waitForEnd(of: process) == 0)
    // The file belongs to who created it.
    #expect(folder.fileNames() == ["s"])
  }

  @Test func shutdownEndsTheProgramForAll() throws {
    var started: RunningProgram?
    #expect(
      try folder.fileAppears {
        started = try folder.start(["listen", "--device", "null:", "--socket", "s"], input: "")
      })
    let running = try #require(started)
    let client = try SocketClient(folder.path + "/s")
    let other = try SocketClient(folder.path + "/s")
    client.send("shutdown")
    #expect(client.line() == "ok")
    #expect(other.line() == nil)
    #expect(try folder.finish(running).status == 0)
    #expect(folder.fileNames() == [])
  }

  @Test func aFolderThatIsNoneIsAnError() throws {
    let run = try folder.temblor("listen", "--device", "null:", "--folder", "no")
    #expect(run == .init(1, error: "temblor: no: is not a folder\n"))
  }
}
