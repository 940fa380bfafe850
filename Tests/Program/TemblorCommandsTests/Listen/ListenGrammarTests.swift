import HapticModel
import Testing

@testable import CommandServer
@testable import SystemSupport
@testable import TemblorCommands

@Suite struct ListenGrammarTests {
  @Test(
    arguments: [
      ("play heartbeat", ["PATTERN": .text("heartbeat")]),
      ("  play\t\"my own.ahap\" ", ["PATTERN": .text("my own.ahap")]),
      (
        "play a loop at 12.5 as b rate 2 strength 0.5 from 1e-1",
        [
          "PATTERN": .text("a"), "loop": .flag, "at": .time(.at(12.5)), "as": .text("b"),
          "rate": .number(2),
          "strength": .number(0.5), "from": .number(0.1),
        ]
      ),
      (
        "play loop from 1 as at loop",
        ["PATTERN": .text("loop"), "from": .number(1), "as": .text("at"), "loop": .flag]
      ), (#"play "a\"b\\c\n\t""#, ["PATTERN": .text("a\"b\\c\n\t")]),
      (#"play C:\x"#, ["PATTERN": .text(#"C:\x"#)]), ("tap", [:]),
      ("tap at +0.25", ["at": .time(.after(0.25))]),
      ("tap 0.8 at 3", ["INTENSITY": .number(0.8), "at": .time(.at(3))]),
      (
        "tap .8 0 at 200000",
        ["INTENSITY": .number(0.8), "SHARPNESS": .number(0), "at": .time(.at(200_000))]
      ),
      (
        "hum 1 0.2 3 as x at +1",
        [
          "INTENSITY": .number(1), "SHARPNESS": .number(0.2), "SECONDS": .number(3),
          "as": .text("x"),
          "at": .time(.after(1)),
        ]
      ), ("set strength 0.5", ["PARAMETER": .text("strength"), "VALUE": .number(0.5)]),
      (
        "set sharpness -1 of x over 2 at 7",
        [
          "PARAMETER": .text("sharpness"), "VALUE": .number(-1), "of": .text("x"),
          "over": .number(2),
          "at": .time(.at(7)),
        ]
      ), ("stop at +1", ["at": .time(.after(1))]),
      ("stop \"at\" at +1", ["NAME": .text("at"), "at": .time(.after(1))]),
      ("resume x", ["NAME": .text("x")]),
      ("seek x 1.5", ["NAME": .text("x"), "SECONDS": .number(1.5)]),
      ("loop x on end 2", ["NAME": .text("x"), "SWITCH": .text("on"), "end": .number(2)]),
      ("rate x 0.015625", ["NAME": .text("x"), "RATE": .number(1 / 64)]),
      ("pan x 0.5/-1 over 2", ["NAME": .text("x"), "POS": .text("0.5/-1"), "over": .number(2)]),
      ("unmute", [:]),
      ("help play", ["COMMAND": .text("play")]), ("quit", [:]),
    ] as [(String, [String: ServerCommand.Value])])
  func readsCommands(line: String, values: [String: ServerCommand.Value]) throws {
    let verb = try #require(line.split { " \t".contains($0) }.first)
    let command = ServerCommand(syntax: try CommandGrammar.syntax(of: String(verb)), values: values)
    #expect(
      CommandGrammar.parseRequest(line) == CommandRequest(tag: nil, command: .success(command)))
    #expect(
      CommandGrammar.parseRequest("@7 " + line)
        == CommandRequest(tag: "7", command: .success(command)))
  }

  @Test(arguments: ["", "  \t", "# play x", "  #@7 play"]) func emptyLinesAndCommentsAreIgnored(
    line: String
  ) {
    #expect(CommandGrammar.parseRequest(line) == nil)
  }

  @Test(arguments: [
    ("plya x", "unknown-keyword: unknown command 'plya'; did you mean 'play'?"),
    ("\"\"", "unknown-keyword: unknown command ''"),
    (
      "play",
      """
      missing-argument: 'play' requires PATTERN; usage: play PATTERN [loop] [at TIME] [as NAME] \
      [rate RATE]
      """
        + " [strength STRENGTH] [from SECONDS] [priority N]"
    ), ("play x lop", "unknown-keyword: unknown keyword 'lop' for 'play'; did you mean 'loop'?"),
    (
      "tap 1 1 1",
      "unknown-keyword: unknown keyword '1' for 'tap'; usage: tap [INTENSITY] [SHARPNESS] [at TIME]"
    ),
    (
      "play x rate",
      "missing-argument: 'rate' requires RATE; usage: play PATTERN [loop] [at TIME] [as NAME]"
        + " [rate RATE] [strength STRENGTH] [from SECONDS] [priority N]"
    ), ("play x loop loop", "unexpected-argument: 'loop' can be used only once"),
    (
      "play x \"loop\"",
      "unexpected-argument: unexpected 'loop'; usage: play PATTERN [loop] [at TIME]"
        + " [as NAME] [rate RATE] [strength STRENGTH] [from SECONDS] [priority N]"
    ), ("play \"\"", "invalid-value: PATTERN must have 1 to 4096 bytes"),
    ("play x rate 65", "invalid-value: RATE must be 0.015625 to 64, not '65'"),
    (
      "set attack 0",
      """
      invalid-value: PARAMETER must be strength, intensity, sharpness, volume, pan, pitch, or \
      brightness,
      """
        + " not 'attack'"
    ), ("play x strength 1.01", "invalid-value: STRENGTH must be 0 to 1, not '1.01'"),
    ("play x from -1", "invalid-value: SECONDS must be 0 to 86400, not '-1'"),
    ("tap 1 nan", "invalid-value: SHARPNESS must be 0 to 1, not 'nan'"),
    ("tap inf", "invalid-value: INTENSITY must be 0 to 1, not 'inf'"),
    ("tap 0x1", "invalid-value: INTENSITY must be 0 to 1, not '0x1'"),
    ("tap \"1\"", "invalid-value: INTENSITY must be 0 to 1, not '1'"),
    ("tap at -1", "invalid-value: TIME must be SECONDS, or +SECONDS from now, not '-1'"),
    ("tap at +86401", "invalid-value: TIME must be SECONDS, or +SECONDS from now, not '+86401'"),
    ("set pan 2", "invalid-value: VALUE must be -1 to 1, not '2'"),
    ("loop x yes", "invalid-value: SWITCH must be on or off, not 'yes'"),
    ("quit now", "unexpected-argument: unexpected 'now'; usage: quit"),
    ("play \"x", "unclosed-quote: missing closing quotation mark"),
    ("play \"x\\", "unclosed-quote: missing closing quotation mark"),
    ("play \"x\"y", "unclosed-quote: missing space after the closing quotation mark"),
    ("play x\"y\"", "unclosed-quote: a quotation mark must start a word"),
    ("play \"\\x\"", #"unclosed-quote: invalid escape in quotes; use \", \\, \n or \t"#),
  ]) func refusesWithOneReason(line: String, reason: String) throws {
    let request = try #require(CommandGrammar.parseRequest("@a/1 " + line))
    #expect(request.tag == "a/1")
    guard case .failure(let error) = request.command else {
      Issue.record("'\(line)' was read as \(request.command).")
      return
    }
    #expect(error.description == reason)
    #expect(CommandReply.error(error, tag: request.tag).line == "@a/1 error " + reason)
  }

  /// A combining mark after a blank forms one character with the blank, but starts a word here.
  @Test func blanksSeparateCombiningMarks() {
    for line in ["\u{489}", "stop \u{301}a", "#\u{489}"] {
      let untagged = CommandGrammar.parseRequest(line)
      guard line.unicodeScalars.first != "#" else {
        #expect(untagged == nil)
        continue
      }
      let tagged = CommandGrammar.parseRequest("@t " + line)
      #expect(tagged?.tag == "t")
      #expect(tagged?.command == untagged?.command)
    }
  }

  @Test(arguments: ["@ tap", "@\(String(repeating: "x", count: 65)) tap", "@\"a\" tap"])
  func tagsAreShort(line: String) {
    #expect(
      CommandGrammar.parseRequest(line)
        == CommandRequest(
          tag: nil,
          command: .failure(
            CommandError(
              .invalidValue,
              "invalid tag: must be @ followed by 1 to 64 bytes without quotation marks"))))
  }

  @Test func tagAloneIsNotACommand() {
    #expect(
      CommandGrammar.parseRequest("@7 ")
        == CommandRequest(
          tag: "7",
          command: .failure(CommandError(.missingArgument, "missing command after the tag"))))
  }

  @Test func invalidLinesAreAnswered() {
    #expect(
      CommandGrammar.parseRequest(.invalidUTF8(firstWord: "@a-1"))
        == CommandRequest(
          tag: "a-1",
          command: .failure(
            CommandError(.invalidUTF8, "the line is not valid UTF-8 or contains control characters")
          )
        ))
    #expect(
      CommandGrammar.parseRequest(.tooLong(firstWord: "play"))
        == CommandRequest(
          tag: nil, command: .failure(CommandError(.tooLong, "the line is longer than 65536 bytes"))
        )
    )
    #expect(CommandGrammar.parseRequest(.text("list")) == CommandGrammar.parseRequest("list"))
  }

  @Test func everyParameterCanBeSet() {
    let fixture = ListenFixture()
    for name in CommandParameter.names {
      #expect(CommandParameter(name)?.name == name)
      #expect(fixture.ask("set \(name) 1") == "ok")
    }
    #expect(CommandParameter.names.count == 7)
  }

  @Test(arguments: [
    ("loop x off end 2", "unexpected-argument: 'end' requires 'on'"),
    ("set strength -0.5", "invalid-value: strength must be 0 to 1, not '-0.5'"),
  ]) func conflictingArgumentsAreRefused(line: String, reason: String) {
    #expect(ListenFixture().ask("@1 " + line) == "@1 error " + reason)
  }

  @Test func repliesAreWrittenInTheSyntaxOfCommands() throws {
    let fields: [CommandReply.Field] = [
      .text("my \"own\""), .text(""), .text("a\\\n"), .pair("name", "two words"),
      .number("time", 0.1 + 0.2),
      .count("voices", 3), .text("a\u{7}b\u{85}"),
    ]
    let line = CommandReply.ok(fields, tag: "7").line
    #expect(
      line
        == #"@7 ok "my \"own\"" "" "a\\\n" name="two words" time=0.3 voices=3 "a\u{07}b\u{0085}""#)
    #expect(CommandReply.ok().line == "ok")
    #expect(CommandReply.event("finished", [.pair("name", "x")]).line == "event finished name=x")
    for text in ["my \"own\"", "", "a\\\n\t", "#", "@7", "é 😀"] {
      #expect(try CommandWord.splitLine(CommandWord.quotedIfNecessary(text)).map(\.text) == [text])
    }
  }

  @Test func helpListsEveryCommand() throws {
    #expect(
      CommandReply.ok(try CommandGrammar.helpFields(nil)).line
        == """
        ok play tap hum noise set stop pause resume seek loop rate pan mute unmute duck preload \
        status stats list
        """
        + " help reload quit shutdown")
    #expect(
      CommandReply.ok(try CommandGrammar.helpFields("loop")).line
        == "ok \"loop NAME on|off [end SECONDS]\""
        + " \"Turn looping on or off; end sets the end of the loop.\"")
    #expect(throws: CommandError(.unknownKeyword, "unknown command 'lop'; did you mean 'loop'?")) {
      try CommandGrammar.helpFields("lop")
    }
  }

  @Test func manualFitsTheWidth() {
    let lines = CommandGrammar.discussion.split(separator: "\n", omittingEmptySubsequences: false)
    #expect(lines.filter { $0.hasPrefix("  ") }.allSatisfy { $0.count <= 78 })
    for form in CommandGrammar.commands {
      #expect(lines.contains { $0.hasPrefix("  " + form.verb) })
    }
    #expect(lines.contains("  set PARAMETER VALUE [of NAME] [over SECONDS] [at TIME]"))
  }
}
