import Glibc
import TestSupport

/// A process whose streams are files, so that it never waits for a test to read.
///
/// The process is killed when its last reference is released.
final class RunningProgram {
  let process: pid_t
  private var hasEnded = false
  private let outputFile: UnnamedFile
  private let errorFile: UnnamedFile

  /// Starts a program in a folder, with a text on its standard input, or with empty input.
  init(
    _ program: String, _ arguments: [String], in folder: String, input: String? = nil,
    environment: [String] = []
  ) throws {
    outputFile = try UnnamedFile()
    errorFile = try UnnamedFile()
    let inputFile = try UnnamedFile(Array((input ?? "").utf8))

    process = try ProcessRunner.start(
      [program] + arguments,
      environment: ["PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8", "TEMBLOR=\(WorkingFolder.program)"]
        + environment, in: folder,
      streams: [
        (0, .descriptor(inputFile.descriptor)), (1, .descriptor(outputFile.descriptor)),
        (2, .descriptor(errorFile.descriptor)),
      ])
  }

  deinit {
    if hasEnded { return }
    kill(process, SIGKILL)
    _ = ProcessRunner.waitForEnd(of: process)
  }

  /// Waits until the standard error contains a text, at most until the hang limit of the program's
  /// clock.
  func reports(_ text: String) -> Bool {
    var clock = ProgramClock(of: process)
    while !String(decoding: errorFile.bytes, as: UTF8.self).contains(text) {
      guard clock.elapsed() < HangLimit.duration else { return false }
      poll(nil, 0, 5)
    }
    return true
  }

  /// Waits for the end, and returns the exit status or the negative signal, and the output.
  ///
  /// - Parameter limit: The time on the program's clock after which it is killed.
  func wait(
    within limit: Duration = HangLimit.duration
  ) -> (status: Int32, output: String, error: String) {
    hasEnded = true
    return (
      ProcessRunner.waitForEnd(of: process, within: limit),
      String(decoding: outputFile.bytes, as: UTF8.self),
      String(decoding: errorFile.bytes, as: UTF8.self)
    )
  }
}
