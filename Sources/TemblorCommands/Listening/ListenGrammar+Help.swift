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
      One line is one command. Words are separated by blanks; "quotes" go around names with blanks, \
      with \\" and \\\\ for what they would end. Empty lines and those that begin with # mean nothing. \
      A line has at most \(LineReader.limit) bytes.

      """
    for form in forms {
      let usage = TextLayout.wrap(form.usage, width: 70)
      let help = TextLayout.wrap(form.help, width: 66)
      text += "\n  " + usage.joined(separator: "\n      ") + "\n"
      text += help.map { "      " + $0 + "\n" }.joined()
    }
    return text + """

      TIME is in seconds of the session, as status tells them, or +SECONDS from now. INTENSITY, \
      SHARPNESS and STRENGTH are 0 to 1, RATE is \(ListenForm.Slot(name: "", kind: .number(rates)).bounds). \
      What is to be done now is done with the next period of the device; what has a TIME, at that very \
      frame. NAME may be a name for several: what plays, and what is to play at its time.

      Each command is answered by one line, in the order they came: ok, with words or NAME=VALUE \
      behind, or error KIND: and why. A command that begins with @ and a word of yours is answered \
      with that word in front: '@7 tap' by '@7 ok'. KIND is one of \(ListenError.Kind.allCases.map(\.rawValue).joinedWithOr).

      Lines that begin with event may come between, at all connections: event finished when something \
      with a name ends by itself, and event stopped when it was asked to, each with name=NAME and \
      time=SECONDS of the session; of the device, event underrun, at most once a second and with a \
      count, event lost, returned, suspended and failed with a text, each with time and \
      missed=SECONDS that could not be heard. More events may be added.
      """
  }()
}
