import Testing

@testable import CommandLineKit
@testable import TemblorCommands

@Suite struct HelpTests {
  private func help(_ line: String..., isTerminal: Bool = false, width: Int = 80) -> String {
    let recorded = RecordedTerminal(isTerminal: isTerminal, width: width)
    _ = SampleProgram.program.run(["help"] + line, on: recorded.terminal)
    return recorded.output
  }

  @Test func explainsTheProgram() {
    #expect(
      help() == #"""
        Turn drawings into pictures.

        USAGE
          sketch COMMAND [OPTIONS] [ARGUMENTS]

        A drawing is a text file.

        COMMANDS
          paint       Paint a picture of each drawing.
          compare     Compare two drawings.
          completion  Print a completion script.
          help        Show help for the program or for a command.

        OPTIONS
          -h, --help     Show this help.
              --version  Show the version.

        EXAMPLES
          Paint a tree.
              sketch paint tree.txt

        Run 'sketch help COMMAND' for the options of a command.

        """#)
  }

  @Test("Groups of commands have headings, and help is in the last group")
  func groupsCommands() {
    let program = Program(
      "sketch", version: "1", abstract: "Draw.",
      groups: [
        CommandGroup("Draw", [.init(SampleProgram.paint)]),
        CommandGroup("Look at drawings", [.init(SampleProgram.compare)]),
      ])
    let help = program.helpText(for: RecordedTerminal().terminal.output)
    #expect(
      help.contains(
        """

        DRAW
          paint    Paint a picture of each drawing.

        LOOK AT DRAWINGS
          compare  Compare two drawings.
          help     Show help for the program or for a command.

        """))
  }

  @Test("A line in capitals is the heading of the paragraph that follows")
  func setsHeadingsInDescriptions() {
    let command = Command(
      "mix", abstract: "Mix.",
      discussion: """
        Colors are mixed.

        STYLES
          wet  Let colors flow.

        NOTES
        Dry the picture.
        """
    ) { _, _ in .success }
    let help = command.helpText(of: "sketch", for: RecordedTerminal().terminal.output)
    #expect(
      help.contains(
        """

        Colors are mixed.

        STYLES
          wet  Let colors flow.

        NOTES
        Dry the picture.

        """))
    let page = Program(
      "sketch", version: "1", abstract: "Draw.", groups: [CommandGroup("Draw", [.init(command)])]
    ).manualPage()
    #expect(
      page.contains(
        #"""
        .PP
        \fBSTYLES\fR
        .PP
        .nf
          wet  Let colors flow.
        .fi
        .PP
        \fBNOTES\fR
        .PP
        Dry the picture.
        """#))
  }

  @Test("Choices that the text names are not listed again")
  func listsChoicesOnce() {
    let tones = ["dark", "bright"]
    let named = Option("--tone", value: "TONE", help: "Tone: dark or bright.", choices: tones)
    let unnamed = Option("--tone", value: "TONE", help: "Tone.", choices: tones)
    let namedCommand = Command("mix", abstract: "Mix.", options: [named]) { _, _ in .success }
    let unnamedCommand = Command("mix", abstract: "Mix.", options: [unnamed]) { _, _ in .success }
    let output = RecordedTerminal().terminal.output
    #expect(namedCommand.helpText(of: "sketch", for: output).contains("  Tone: dark or bright.\n"))
    #expect(
      unnamedCommand.helpText(of: "sketch", for: output).contains(
        "  Tone. One of dark or bright.\n"))
  }

  @Test func explainsAVerb() {
    #expect(
      help("paint") == #"""
        Paint a picture of each drawing.

        USAGE
          sketch paint [OPTIONS] DRAWING...

        The picture has the drawing's name and lies beside it. Nothing is left behind
        where painting fails.

          drawing.txt -> drawing.png

        ARGUMENTS
          DRAWING...  A drawing, or `-` for standard input.

        OPTIONS
          -o, --output FILE  Write the picture to FILE. Default: beside the drawing.
              --tone TONE    How the colours are mixed. One of dark or bright. Default:
                             dark.
          -v, --verbose      Tell more; twice, tell all.
          -h, --help         Show this help.

        PAPER
              --size COUNT  Dots on each side. Default: 512.
              --gain DB     Make it [lighter]: "up" or 'down'.
              --layer NAME  Add a layer. May be repeated.
          -q, --quiet       Print nothing.

        EXAMPLES
          Paint one tree.
              sketch paint -o tree.png tree.txt

        """#)
  }

  @Test func putsHelpBelowNamesOnNarrowTerminals() {
    #expect(
      help("paint", width: 50) == #"""
        Paint a picture of each drawing.

        USAGE
          sketch paint [OPTIONS] DRAWING...

        The picture has the drawing's name and lies beside
        it. Nothing is left behind where painting fails.

          drawing.txt -> drawing.png

        ARGUMENTS
          DRAWING...
                A drawing, or `-` for standard input.

        OPTIONS
          -o, --output FILE
                Write the picture to FILE. Default: beside
                the drawing.
              --tone TONE
                How the colours are mixed. One of dark or
                bright. Default: dark.
          -v, --verbose
                Tell more; twice, tell all.
          -h, --help
                Show this help.

        PAPER
              --size COUNT
                Dots on each side. Default: 512.
              --gain DB
                Make it [lighter]: "up" or 'down'.
              --layer NAME
                Add a layer. May be repeated.
          -q, --quiet
                Print nothing.

        EXAMPLES
          Paint one tree.
              sketch paint -o tree.png tree.txt

        """#)
  }

  @Test(arguments: [40, 41, 59, 60, 72, 100]) func staysWithinTheWidth(width: Int) {
    for line in help("paint", width: width).split(separator: "\n") {
      #expect(line.count <= width)
    }
  }

  @Test func staysReadableOnWideTerminals() {
    #expect(help("paint", width: 400) == help("paint", width: 100))
  }

  @Test func setsHeadingsInBoldOnATerminal() {
    #expect(help("paint", isTerminal: true).contains("\n\n\u{1B}[1mPAPER\u{1B}[0m\n"))
  }

  @Test func keepsAWordWiderThanTheLineWhole() {
    #expect(
      TextLayout.wrappedLines(of: "a https://example.org/b c", width: 10) == [
        "a", "https://example.org/b", "c",
      ])
    #expect(TextLayout.wrappedLines(of: "", width: 10) == [])
  }
}
