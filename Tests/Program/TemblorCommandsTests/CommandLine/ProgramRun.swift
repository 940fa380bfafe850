import TestSupport

@testable import CommandLineKit
@testable import TemblorCommands

/// The exit status and the output of a finished run of `temblor`.
struct ProgramRun: Equatable {
  var status: CommandLineKit.ExitStatus
  var output: String
  var error: String

  init(status: CommandLineKit.ExitStatus, recorded: RecordedTerminal) {
    self.status = status
    self.output = recorded.output
    self.error = recorded.error
  }

  /// The run with the names of files in a folder instead of their absolute paths.
  func relative(to folder: TemporaryFolder) -> ProgramRun {
    var run = self
    run.output = output.replacing(folder.path + "/", with: "")
    run.error = error.replacing(folder.path + "/", with: "")
    return run
  }
}

extension TemblorProgram {
  /// Runs `temblor` with arguments on a recorded terminal.
  static func run(_ arguments: String...) -> ProgramRun { run(arguments) }

  /// Runs `temblor` with arguments on a recorded terminal.
  static func run(_ arguments: [String]) -> ProgramRun {
    let recorded = RecordedTerminal()
    let status = makeProgram().run(arguments, on: recorded.terminal)
    return ProgramRun(status: status, recorded: recorded)
  }
}

extension TemporaryFolder {
  /// Runs `temblor`. The returned output contains the names of files in the folder instead of their
  /// absolute paths.
  func runTemblor(_ arguments: String...) -> ProgramRun { runTemblor(arguments) }

  /// Runs `temblor`. The returned output contains the names of files in the folder instead of their
  /// absolute paths.
  func runTemblor(_ arguments: [String]) -> ProgramRun {
    TemblorProgram.run(arguments).relative(to: self)
  }
}
