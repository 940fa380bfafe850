import Glibc
import TestSupport
import Testing

/// `temblor listen` as a service: a socket that is passed, an end when the server is idle, and an
/// end on request of a client.
@Suite(.timeLimit(.minutes(30))) struct ListenServiceTests {
  let folder = WorkingFolder()

  /// Returns a socket in the folder that accepts connections.
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
    let nullDevice = unsafe open("/dev/null", O_RDWR | O_CLOEXEC)
    defer {
      close(descriptor)
      close(nullDevice)
    }
    let client = try SocketClient(folder.path + "/s")
    let process = try ProcessRunner.start(
      [
        "/bin/bash", "-c",
        "LISTEN_PID=$$ LISTEN_FDS=1 exec $TEMBLOR listen --device null: --until-idle 0",
      ],
      environment: ["PATH=/usr/bin:/bin", "TEMBLOR=\(WorkingFolder.program)"], in: folder.path,
      streams: [
        (0, .descriptor(nullDevice)), (1, .descriptor(nullDevice)), (2, .descriptor(nullDevice)),
        (3, .descriptor(descriptor)),
      ])
    client.send("@1 hum 1 0.5 0.1 as a")
    #expect(client.line()?.hasPrefix("@1 ok name=a time=") == true)
    #expect(client.line()?.hasPrefix("event finished name=a time=") == true)
    client.send("quit")
    #expect(client.line() == "ok")
    #expect(ProcessRunner.waitForEnd(of: process) == 0)
    // The socket belongs to its creator, so that the program does not remove it.
    #expect(folder.fileNames() == ["s"])
  }

  @Test func shutdownEndsTheProgramForAllClients() throws {
    var started: RunningProgram?
    #expect(
      try folder.fileAppears {
        started = try folder.start(["listen", "--device", "null:", "--socket", "s"], input: "")
      })
    let running = try #require(started)
    let client = try SocketClient(folder.path + "/s")
    let otherClient = try SocketClient(folder.path + "/s")
    client.send("shutdown")
    #expect(client.line() == "ok")
    #expect(otherClient.line() == nil)
    #expect(try folder.finish(running).status == 0)
    #expect(folder.fileNames() == [])
  }

  @Test func missingFolderIsAnError() throws {
    let run = try folder.temblor("listen", "--device", "null:", "--folder", "no")
    #expect(run == .init(1, error: "temblor: no: is not a folder\n"))
  }
}
