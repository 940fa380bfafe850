import Glibc
import SoundFile
import Testing

/// The program at the limits of the system.
@Suite(.timeLimit(.minutes(30))) struct LimitTests {
  private let folder = WorkingFolder()

  private func start(_ limit: String, _ arguments: String) throws -> RunningProgram {
    try RunningProgram(
      "/bin/bash",
      [
        "-c",
        "\(limit); exec \(WorkingFolder.program) \(arguments)",
      ], in: folder.path)
  }

  /// Otherwise, tests that run at the same time would use up the descriptors of a program.
  @Test func descriptorsOfThisProcessAreNotInherited() throws {
    let descriptor = fcntl(STDERR_FILENO, F_DUPFD, 500)
    defer { close(descriptor) }
    #expect(try folder.bash("ls /proc/self/fd").output == "0\n1\n2\n3\n")
  }

  /// Clients without a descriptor are disconnected, other clients are served, and a signal ends the
  /// server.
  @Test(arguments: [40, 64]) func serverWithoutFreeDescriptorsContinues(limit: Int) throws {
    let running = try start("ulimit -n \(limit)", "listen --socket s --device null: < /dev/null")
    #expect(folder.fileAppears("s", from: running))
    let firstClient = try SocketClient(folder.path + "/s")
    firstClient.send("tap 0.5 0.5")
    #expect(firstClient.line()?.hasPrefix("ok") == true)
    let otherClients = try (0..<80).map { _ in try SocketClient(folder.path + "/s") }
    firstClient.send("hum 0.5 0.5 0.1 as drone")
    #expect(firstClient.line()?.hasPrefix("ok") == true)
    #expect(otherClients.count == 80)
    kill(running.process, SIGINT)
    #expect(try folder.finish(running).status == -SIGINT)
  }

  @Test(arguments: [8, 12, 16, 20]) func missingDescriptorsAreReported(limit: Int) throws {
    let result = try folder.finish(try start("ulimit -n \(limit)", "play pulse --device null:"))
    let isReported = ["file descriptor", "open files"].contains { result.error.contains($0) }
    #expect(result.status == 0 || result.status == 1 && isReported, "\(result)")
  }

  /// A file size limit of the shell acts like a full disk.
  @Test func fullDiskKeepsTheWrittenPart() throws {
    let arguments = "play earthquake-simulation --device null: --record heard.wav"
    let result = try folder.finish(try start("ulimit -f 600", arguments))
    #expect(result.status == 1)
    #expect(
      result.error.contains("recording stopped") && result.error.contains("only the first "),
      "\(result.error)")
    let descriptor = unsafe open(folder.path + "/heard.wav", O_RDONLY | O_CLOEXEC)
    defer { close(descriptor) }
    let sound = try Sound(readingDescriptor: descriptor, path: "heard.wav")
    #expect(sound.interleaved.count > 80_000)
  }
}
