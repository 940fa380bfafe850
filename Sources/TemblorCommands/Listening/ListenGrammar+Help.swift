import CommandLineKit
import SystemSupport

extension ListenGrammar {
  /// The fields that answer `help`: all commands, or how one is written and what it does.
  static func help(_ verb: String?) throws(ListenError) -> [ListenReply.Field] {
    guard let verb else { return forms.map { .text($0.verb) } }
    let form = try form(verb)
    return [.text(form.usage), .text(form.help)]
  }

  /// The protocol as the help of the verb and the manual tell it.
  static let discussion: String = {
    var text = """
      Each line is one command. Words are separated by spaces. Put "quotes" around names with spaces; inside quotes, write \\" for a quote and \\\\ for a backslash. Empty lines and lines that start with # are ignored. A line can have up to \(LineReader.limit) bytes.

      """
    for form in forms {
      let usage = TextLayout.wrap(form.usage, width: 70)
      let help = TextLayout.wrap(form.help, width: 66)
      text += "\n  " + usage.joined(separator: "\n      ") + "\n"
      text += help.map { "      " + $0 + "\n" }.joined()
    }
    return text + """

      TIME is in seconds since the start of the session, as shown by status, or +SECONDS from now. INTENSITY, \
      SHARPNESS and STRENGTH are 0 to 1, RATE is \(ListenCommandSyntax.Operand(name: "", kind: .number(rates)).bounds). \
      Commands without TIME take effect with the next period of the device; commands with TIME at that exact frame. NAME can stand for several sounds: those that play and those scheduled.

      Each command gets one reply line, in order: ok, followed by words or NAME=VALUE fields, or error KIND: followed by the reason. Prefix a command with @TAG to have the reply tagged: the reply to '@7 tap' is '@7 ok'. KIND is one of \(ListenError.Kind.allCases.map(\.rawValue).joinedWithOr).

      Lines that start with event are sent to all connections at any time: event finished when a named sound ends, and event stopped when it is stopped, each with name=NAME and time=SECONDS; for the device, event underrun (at most once a second, with a count) and event lost, returned, suspended and failed with a text, each with time and missed=SECONDS of lost audio. Later versions may add events.
      """
  }()
}
