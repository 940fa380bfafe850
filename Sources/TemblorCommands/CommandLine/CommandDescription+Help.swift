extension CommandDescription {
  /// `temblor render [OPTIONS] PATTERN...`
  func usage(of program: String) -> String {
    ([program, name, "[OPTIONS]"] + arguments.map(\.usage)).joined(separator: " ")
  }

  /// The whole help of this verb, laid out for a stream.
  func help(of program: String, for output: Output) -> String {
    var layout = TextLayout(for: output)
    layout.paragraphs(abstract)
    layout.heading("Usage")
    layout.lines(usage(of: program), indent: 2)
    if !verbs.isEmpty { layout.lines("\(program) \(name) VERB [OPTIONS] [ARGUMENTS]", indent: 2) }
    layout.paragraphs(discussion)
    if !verbs.isEmpty {
      layout.heading("Verbs")
      layout.table(verbs.map { ($0.name, $0.abstract) })
    }
    if !arguments.isEmpty {
      layout.heading("Arguments")
      layout.table(arguments.map { ($0.name + ($0.isRepeatable ? "..." : ""), $0.fullHelp) })
    }
    for section in optionSections {
      layout.heading(section.title)
      layout.table(section.options.map { ($0.label, $0.fullHelp) })
    }
    layout.examples(examples)
    if !verbs.isEmpty { layout.paragraphs("'\(program) help \(name) VERB' explains a verb.") }
    return layout.text
  }
}

extension Option {
  /// `-o, --output FILE`; long names line up whether or not there is a short one.
  var label: String {
    let spelled = names.joined(separator: ", ") + (value.map { " " + $0 } ?? "")
    return names[0].isLongName ? "    " + spelled : spelled
  }
}

extension TextLayout {
  /// The examples under their heading: what one does, then the line to copy.
  mutating func examples(_ examples: [CommandDescription.Example]) {
    if examples.isEmpty { return }
    heading("Examples")
    for example in examples {
      lines(example.purpose, indent: 2)
      verbatim(example.command, indent: 6)
    }
  }
}
