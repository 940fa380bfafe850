/// How the program ended, as the shell sees it.
enum ExitStatus: Int32, CaseIterable, Sendable {
  /// Success.
  case done = 0
  /// The work could not be done: no room, no permission, no device.
  case failure = 1
  /// A file that was read is wrong; messages say where.
  case invalidInput = 2
  /// What was compared differs by more than it may.
  case differs = 3
  /// The command line is wrong; 64 is `EX_USAGE` of BSD's sysexits.
  case usage = 64

  /// What the manual says of this status.
  var meaning: String {
    switch self {
    case .done: "Success."
    case .failure: "The operation failed, for example for lack of space, permission or a device."
    case .invalidInput: "Invalid input; messages name file, line and column."
    case .differs: "A difference exceeds --tolerance."
    case .usage: "Usage error."
    }
  }
}
