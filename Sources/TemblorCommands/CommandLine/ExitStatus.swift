/// How the program ended, as the shell sees it.
enum ExitStatus: Int32, CaseIterable, Sendable {
  /// Everything asked for was done.
  case done = 0
  /// The work could not be done: no room, no permission, no device.
  case couldNot = 1
  /// A file that was read is wrong; messages say where.
  case inputIsWrong = 2
  /// What was compared differs by more than it may.
  case differs = 3
  /// The command line is wrong; 64 is `EX_USAGE` of BSD's sysexits.
  case usage = 64

  /// What the manual says of this status.
  var meaning: String {
    switch self {
    case .done: "Everything asked for was done."
    case .couldNot: "It could not be done: no space, no permission, no device."
    case .inputIsWrong: "The input is wrong; messages name the file, line and column."
    case .differs: "What was compared differs by more than --tolerance allows."
    case .usage: "The command line is wrong."
    }
  }
}
