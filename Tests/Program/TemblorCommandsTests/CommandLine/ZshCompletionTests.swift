import Foundation
import Testing

@testable import CommandLineKit
@testable import TemblorCommands

/// Completions that zsh offers for the Tab key, in a separate shell on a pseudoterminal.
@Suite(.enabled(if: CompletionTests.exists(.zsh))) struct ZshCompletionTests {
  /// Returns the completions that are offered for each line, sorted by name.
  private func offers(_ program: Program, _ lines: [String], setup: String = "") throws
    -> [[String]]
  {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: folder) }
    try FileManager.default.createDirectory(
      at: folder.appending(path: "a folder"), withIntermediateDirectories: true)
    for name in ["b c.txt", "d.png", "e.svg"] {
      try Data().write(to: folder.appending(path: name))
    }
    try Data(program.completionScript(for: .zsh).utf8).write(to: folder.appending(path: ".script"))
    // Lists of any length are shown without a question. The function 'compadd' passes candidates to
    // zsh; with '-O' and similar options, it only queries them.
    let shellSetup = """
      PS1= PS2= RPS1= LISTMAX=10000
      autoload -Uz compinit && compinit -u -D
      source ./.script
      \(setup)
      compadd() {
        if (( ! ${@[(I)-[OAD]]} )); then
          local -a found
          builtin compadd -O found "$@"
          offered+=("${found[@]}")
        fi
        builtin compadd "$@"
      }
      offer() {
        local -a offered
        zle complete-word
        print -rl -- "${(@uo)offered}" - >> .offered
        zle kill-buffer
        print -n '<ready>'
      }
      zle -N offer
      bindkey '^I' offer
      print -n '<ready>'
      """
    try Data(shellSetup.utf8).write(to: folder.appending(path: ".setup"))
    let driverScript = """
      zmodload zsh/zpty && cd \(folder.path.inShellQuotes)
      zpty shell zsh -f -i
      zpty -w shell 'source ./.setup'
      zpty -r -m shell seen '*<ready>*'
      for line in \(lines.map(\.inShellQuotes).joined(separator: " ")); do
        zpty -w -n shell "$line"$'\\t'
        zpty -r -m shell seen '*<ready>*'
      done
      zpty -d shell
      cat .offered
      """
    let output = try Script.run("zsh", ["-f"], input: driverScript)
    return output.split(separator: "-\n", omittingEmptySubsequences: false).dropLast().map {
      $0.split(separator: "\n").map(String.init)
    }
  }

  @Test func wordsOptionsAndFilesAreOffered() throws {
    let lines: KeyValuePairs = [
      "sketch p": ["paint"], "sketch ": ["compare", "completion", "help", "paint"],
      "sketch paint --s": ["--size"],
      "sketch paint d --tone ": ["bright", "dark"], "sketch paint --tone=b": ["bright"],
      "sketch paint --size ": [],
      "sketch paint --layer s": ["sea", "sky"], "sketch paint --layer e": ["e.svg"],
      "sketch paint ": [#"a\ folder"#, #"b\ c.txt"#], "sketch compare x y ": [#"a\ folder"#],
      "sketch help c": ["compare", "completion"], "sketch completion ": ["bash", "fish", "zsh"],
    ]
    let offered = try offers(SampleProgram.program, lines.map(\.key))
    #expect(offered.count == lines.count)
    for ((line, expected), actual) in zip(lines, offered) {
      #expect(actual == expected, "\(line)")
    }
  }

  @Test func namesComeFromTheProgram() throws {
    let stubFunction = """
      temblor() { case "$*" in 'patterns --names') print -l heartbeat heavy;;
        'devices --names') print -l default null hw:CARD=A,DEV=0;; esac; }
      """
    let offered = try offers(
      TemblorProgram.makeProgram(),
      ["temblor render he", "temblor compare heartbeat hea", "temblor play --device n"],
      setup: stubFunction)
    #expect(offered == [["heartbeat", "heavy"], ["heartbeat", "heavy"], ["null"]])
  }
}
