extension Program {
  /// The line that shows how the program is called.
  var usage: String { "\(name) VERB [OPTIONS] [ARGUMENTS]" }

  /// The help of the program as a whole, laid out for a stream.
  func help(for output: Output) -> String {
    var layout = TextLayout(for: output)
    layout.paragraphs(abstract)
    layout.heading("Usage")
    layout.lines(usage, indent: 2)
    layout.paragraphs(discussion)
    layout.heading("Verbs")
    layout.table(everyCommand.map { ($0.name, $0.abstract) })
    layout.heading("Options")
    layout.table(Self.options.map { ($0.label, $0.help) })
    layout.examples(examples)
    layout.paragraphs("'\(name) help VERB' explains a verb.")
    return layout.text
  }
}
