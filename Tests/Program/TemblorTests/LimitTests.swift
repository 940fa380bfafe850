import Glibc
import SoundFile
import Testing

/// The program where the system has no more for it.
@Suite(.timeLimit(.minutes(30))) struct LimitTests {
  private let folder = WorkingFolder()

  private func start(_ limit: String, _ words: String) throws -> RunningProgram {
    try RunningProgram(
      "/bin/bash",
      [
        "-c",
        "\(limit); exec \(WorkingFolder.program) \(words)",
      ], in: folder.path)
  }

  /// Else the tests beside this one would use up what a program is allowed.
  @Test func descriptorsOfThisProcessAreNotInherited() throws {
    let own = fcntl(STDERR_FILENO, F_DUPFD, 500)
    defer { close(own) }
    #expect(try folder.bash("ls /proc/self/fd").output == "0\n1\n2\n3\n")
  }

  /// Clients for whom there is no descriptor are let go; the others are served, and a signal ends
  /// the listener.
  @Test(arguments: [40, 64]) func aListenerWithoutDescriptorsServesOn(limit: Int) throws {
    let running = try start("ulimit -n \(limit)", "listen --socket s --device null: < /dev/null")
    #expect(folder.fileAppears("s", from: running))
    let first = try SocketClient(folder.path + "/s")
    first.send("tap 0.5 0.5")
    #expect(first.line()?.hasPrefix("ok") == true)
    let others = try (0..<80).map { _ in try SocketClient(folder.path + "/s") }
    first.send("hum 0.5 0.5 0.1 as drone")
    #expect(first.line()?.hasPrefix("ok") == true)
    #expect(others.count == 80)
    kill(running.process, SIGINT)
    #expect(try folder.finish(running).status == -SIGINT)
  }

  @Test(arguments: [8, 12, 16, 20]) func withoutADescriptorTheProgramSaysSo(limit: Int) throws {
    let result = try folder.finish(try start("ulimit -n \(limit)", "play pulse --device null:"))
    let isSaid = ["file descriptor", "open files"].contains { result.error.contains($0) }
    #expect(result.status == 0 || result.status == 1 && isSaid, "\(result)")
  }

  /// A file beyond the limit of the shell is like a disk that is full.
  @Test func aFullDiskKeepsWhatWasWritten() throws {
    let words = "play earthquake-simulation --device null: --record heard.wav"
    let result = try folder.finish(try start("ulimit -f 600", words))
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
