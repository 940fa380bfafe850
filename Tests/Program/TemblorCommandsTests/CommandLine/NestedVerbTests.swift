import Testing

@testable import CommandLineKit
@testable import TemblorCommands

/// A program with a verb that has subcommands. One subcommand has the name of another verb.
private enum NestedVerbProgram {
  static let cut = Command(
    "cut", abstract: "Cut a board.", arguments: [Argument("BOARD", help: "A board.")],
    options: [Option("--fine", help: "Cut slowly.")]
  ) { arguments, terminal in
    try terminal.output.writeLine("cut \(arguments.argument("BOARD"))")
    return .success
  }

  static let tools = Command(
    "tools", abstract: "List the tools.", options: [Option("--json", help: "As JSON.")],
    subcommands: [
      Command(
        "cut", abstract: "Cut a tool.",
        arguments: [
          Argument(
            "TOOL", help: "A tool.", completion: Completion(candidateCommand: "tools --names"))
        ],
        options: [Option("--depth", value: "MM", help: "How deep.", choices: ["1", "2"])]
      ) { arguments, terminal in
        try terminal.output.writeLine("tool \(arguments.argument("TOOL"))")
        return .success
      },
      Command("mend", abstract: "Mend a tool.") { _, terminal in
        try terminal.output.writeLine("mended")
        return .success
      },
    ]
  ) { arguments, terminal in
    try terminal.output.writeLine(arguments.hasFlag("--json") ? "[]" : "none")
    return .success
  }

  static let program = Program(
    "shop", version: "1", abstract: "A shop.",
    groups: [CommandGroup("Commands", [.init(cut), .init(tools)])])
}

@Suite struct NestedVerbTests {
  private func run(_ arguments: [String]) -> (status: Int32, output: String, error: String) {
    let recorded = RecordedTerminal()
    let status = NestedVerbProgram.program.run(arguments, on: recorded.terminal)
    return (status.rawValue, recorded.output, recorded.error)
  }

  @Test(arguments: [
    (["tools"], "none\n"), (["tools", "--json"], "[]\n"), (["tools", "mend"], "mended\n"),
    (["tools", "cut", "saw"], "tool saw\n"), (["cut", "oak"], "cut oak\n"),
    (["cut", "mend"], "cut mend\n"),
  ]) func secondArgumentNamesTheSubcommand(arguments: [String], output: String) {
    #expect(run(arguments) == (0, output, ""))
  }

  @Test(arguments: [
    (["tools", "mned"], "unknown command 'mned' after 'tools'; did you mean 'mend'?", "tools"),
    (["tools", "sell"], "unknown command 'sell' after 'tools'; expected cut or mend", "tools"),
    (["tools", "cut"], "missing TOOL", "tools cut"),
    (["tools", "mend", "--json"], "unknown option '--json'", "tools mend"),
    (["--depth", "1"], "'--depth' must follow a command", ""),
    (["help", "tools", "mned"], "unknown command 'mned' after 'tools'; did you mean 'mend'?", ""),
    (["help", "cut", "mend"], "unexpected argument 'mend'", ""),
  ]) func misspellingsAreReportedWithTheMatchingHelp(
    arguments: [String], message: String, verb: String
  ) {
    let line = verb.isEmpty ? "shop" : "shop \(verb)"
    #expect(run(arguments) == (64, "", "shop: \(message)\nSee '\(line) --help'.\n"))
  }

  @Test func helpListsTheSubcommands() {
    let help = """
      List the tools.

      USAGE
        shop tools [OPTIONS]
        shop tools COMMAND [OPTIONS] [ARGUMENTS]

      COMMANDS
        cut   Cut a tool.
        mend  Mend a tool.

      OPTIONS
            --json  As JSON.
        -h, --help  Show this help.

      Run 'shop help tools COMMAND' for the options of a command.

      """
    #expect(run(["help", "tools"]) == (0, help, ""))
    #expect(run(["tools", "--help"]) == (0, help, ""))
    #expect(run(["help", "tools", "mend"]) == run(["tools", "mend", "-h"]))
    #expect(run(["tools", "mend", "-h"]).output.contains("USAGE\n  shop tools mend [OPTIONS]\n"))
    #expect(run(["help", "help"]).output.contains("shop help [OPTIONS] [COMMAND...]\n"))
  }

  @Test func manualHasASectionForEachCommand() {
    let page = NestedVerbProgram.program.manualPage()
    let sections = page.split(separator: "\n").filter { $0.hasPrefix(".SS") }
    #expect(
      sections == [
        #".SS "shop cut [OPTIONS] BOARD""#, #".SS "shop tools [OPTIONS]""#,
        #".SS "shop tools cut [OPTIONS] TOOL""#,
        #".SS "shop tools mend [OPTIONS]""#, #".SS "shop help [OPTIONS] [COMMAND...]""#,
      ])
  }

  @Test(arguments: [
    (["shop", "tools", ""], "cut mend"), (["shop", "tools", "-"], "--json -h --help"),
    (["shop", "tools", "cut", "-"], "--depth -h --help"),
    (["shop", "tools", "cut", "--depth", ""], "1 2"),
    (["shop", "tools", "cut", "s"], "saw"),
    (["shop", "tools", "cut", "h"], "hammer hw:1,0 hw:2,0"),
    (["shop", "tools", "cut", "hw", ":"], "1,0 2,0"),
    (["shop", "tools", "cut", "hw", ":", "2"], "2,0"),
    (["shop", "help", "tools", ""], "cut mend"), (["shop", "help", "tools", "m"], "mend"),
    (["shop", "help", "cut", ""], ""), (["shop", "cut", "-"], "--fine -h --help"),
    (["shop", "tools", "mend", ""], ""),
  ]) func bashOffers(words: [String], offers: String) throws {
    let line = words.map(\.inShellQuotes).joined(separator: " ")
    let typedLine = Script.typed(words)
    let script =
      NestedVerbProgram.program.completionScript(for: .bash) + """
        compopt() { :; }
        shop() { [[ "$*" == "tools --names" ]] && printf 'hammer\\nsaw\\nhw:1,0\\nhw:2,0\\n'; }
        COMP_WORDS=(\(line)) COMP_CWORD=\(words.count - 1) COMP_LINE=\(typedLine.inShellQuotes)
        _shop
        echo -n "${COMPREPLY[*]}"
        """
    #expect(try Script.run("bash", input: script) == offers)
  }

  @Test func zshHasAFunctionForEachVerb() {
    let script = NestedVerbProgram.program.completionScript(for: .zsh)
    #expect(
      script.contains(
        #"""
        _shop_verb_tools_cut_TOOL() {
          local -a names=($(shop tools --names 2> /dev/null))
          _alternative "words:TOOL:($names)"
        }
        _shop_verb_tools_cut() {
          _arguments -s -S \
            '(--depth)'--depth='[How deep]:MM:(1 2)' \
            '(- : *)'{-h,--help}'[Show this help]' \
            ':TOOL:_shop_verb_tools_cut_TOOL'
        }
        _shop_verb_tools_mend() {
          _arguments -s -S \
            '(- : *)'{-h,--help}'[Show this help]'
        }
        _shop_verb_tools_verbs() {
          local -a verbs=(
            'cut:Cut a tool'
            'mend:Mend a tool'
          )
          _describe -t commands command verbs
        }
        _shop_verb_tools() {
          local curcontext=$curcontext state line ret=1
          _arguments -C -s -S \
            '*'--json'[As JSON]' \
            '(- : *)'{-h,--help}'[Show this help]' \
            ': :_shop_verb_tools_verbs' \
            '*:: :->rest' && ret=0
          if [[ $state == rest && -n ${functions[_shop_verb_tools_$line[1]]} ]]; then
            curcontext=${curcontext%:*}-$line[1]:
            _shop_verb_tools_$line[1] && ret=0
          fi
          return ret
        }

        """#))
  }

  @Test func fishDistinguishesASubcommandFromAVerbOfTheSameName() {
    let script = NestedVerbProgram.program.completionScript(for: .fish)
    let lines = script.split(separator: "\n").filter { $0.contains("seen_subcommand_from") }
    let seen = "__fish_seen_subcommand_from"
    let expectedLines = [
      "'\(seen) cut; and not \(seen) tools help' -l fine -d 'Cut slowly'",
      "'\(seen) cut; and not \(seen) tools help' -s h -l help -d 'Show this help'",
      "'\(seen) tools; and not \(seen) help; and not \(seen) cut mend' -a cut -d 'Cut a tool'",
      "'\(seen) tools; and not \(seen) help; and not \(seen) cut mend' -a mend -d 'Mend a tool'",
      "'\(seen) tools; and not \(seen) help; and not \(seen) cut mend' -l json -d 'As JSON'",
      """
      '\(seen) tools; and not \(seen) help; and not \(seen) cut mend' -s h -l help -d 'Show \
      this help'
      """,
      """
      '\(seen) tools; and not \(seen) help; and \(seen) cut' -l depth -r -f -a '1 2' -d 'How \
      deep'
      """,
      "'\(seen) tools; and not \(seen) help; and \(seen) cut' -s h -l help -d 'Show this help'",
      """
      '\(seen) tools; and not \(seen) help; and \(seen) cut' -f -a '(shop tools --names \
      2>/dev/null)' -d 'TOOL'
      """,
      "'\(seen) tools; and not \(seen) help; and \(seen) mend' -s h -l help -d 'Show this help'",
      "'\(seen) help; and not \(seen) cut tools' -a cut -d 'Cut a board'",
      "'\(seen) help; and not \(seen) cut tools' -a tools -d 'List the tools'",
      "'\(seen) help; and not \(seen) cut tools' -s h -l help -d 'Show this help'",
      "'\(seen) help; and \(seen) cut' -s h -l help -d 'Show this help'",
      "'\(seen) help; and \(seen) tools' -s h -l help -d 'Show this help'",
      "'\(seen) help; and \(seen) tools' -f -a 'cut mend' -d 'COMMAND'",
    ].map { "complete -c shop -n " + $0 }
    #expect(lines.map(String.init) == expectedLines)
  }
}
