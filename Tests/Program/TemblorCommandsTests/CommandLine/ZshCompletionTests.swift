import Foundation
import Testing

@testable import CommandLineKit
@testable import TemblorCommands

/// What zsh offers where the tabulator key is pressed, in a shell of its own on a pseudoterminal.
@Suite(.enabled(if: CompletionTests.exists(.zsh))) struct ZshCompletionTests {
  /// For each line, what is offered, a line each and by name.
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
    // Lists of any length are shown without a question. 'compadd' is what hands zsh its candidates;
    // '-O' and its like only ask for them.
    let inner = """
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
    try Data(inner.utf8).write(to: folder.appending(path: ".setup"))
    let outer = """
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
    let output = try Script.run("zsh", ["-f"], input: outer)
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
    let found = try offers(SampleProgram.program, lines.map(\.key))
    #expect(found.count == lines.count)
    for ((line, expected), own) in zip(lines, found) {
      #expect(own == expected, "\(line)")
    }
  }

  @Test func namesComeFromTheProgram() throws {
    let answers = """
      temblor() { case "$*" in 'patterns --names') print -l heartbeat heavy;;
        'devices --names') print -l default null hw:CARD=A,DEV=0;; esac; }
      """
    let found = try offers(
      TemblorProgram.makeProgram(),
      ["temblor render he", "temblor compare heartbeat hea", "temblor play --device n"],
      setup: answers)
    #expect(found == [["heartbeat", "heavy"], ["heartbeat", "heavy"], ["null"]])
  }
}
