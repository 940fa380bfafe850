import CommandLineKit
import Reading
import HapticPlayback
import SoundFile
import SystemSupport

/// What a failure means to the user: a line and an exit status.
enum Failure {
  /// One line, with the file it is about.
  static func message(_ error: any Error) -> String {
    let message =
      switch error {
      case let error as InputError where error.otherErrorCount > 0:
        "\(error) (and \(error.otherErrorCount) more; see 'temblor check')"
      case let error as OutputError: error.message
      case let error as SoundFileError: "\(error.path): \(error.description)"
      default: "\(error)"
      }
    return message.printable
  }

  static func status(of error: any Error) -> ExitStatus {
    switch error {
    case is InputError, is ProfileRefusal, is CalibrationRefusal: .invalidInput
    case let error as SoundFileError where error.kind == .notSound || error.kind == .damaged: .invalidInput
    default: .failure
    }
  }

  /// The status of a whole batch: what could not be done weighs more than what is wrong.
  static func worst(_ statuses: [ExitStatus]) -> ExitStatus {
    [.failure, .invalidInput, .differs].first(where: statuses.contains) ?? .done
  }
}

/// Work on several files: what is wrong with one is reported, and the others are done.
struct BatchWork {
  private let terminal: Terminal
  private(set) var statuses: [ExitStatus] = []
  var status: ExitStatus { Failure.worst(statuses) }

  /// - Parameter problems: What could not be found.
  init(on terminal: Terminal, problems: [FileError] = []) {
    self.terminal = terminal
    for problem in problems { fail(problem.description, .failure) }
  }

  mutating func fail(_ message: String, _ status: ExitStatus) {
    terminal.report(message)
    statuses.append(status)
  }

  mutating func note(_ status: ExitStatus) { statuses.append(status) }

  /// Does a piece of the work; only results that cannot be written end all of it.
  mutating func attempt(_ work: (inout BatchWork) throws -> Void) throws {
    do { try work(&self) } catch let error as StreamError { throw error } catch {
      fail(Failure.message(error), Failure.status(of: error))
    }
  }
}
