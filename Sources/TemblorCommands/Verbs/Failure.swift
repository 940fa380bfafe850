import CommandLineKit
import Reading
import HapticPlayback
import SoundFile
import SystemSupport

/// What a failure means to the user: a line and an exit status.
enum Failure {
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
    if statuses.contains(.failure) { return .failure }
    if statuses.contains(.invalidInput) { return .invalidInput }
    return statuses.contains(.differs) ? .differs : .done
  }
}
