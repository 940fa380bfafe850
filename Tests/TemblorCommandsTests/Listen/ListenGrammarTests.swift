import HapticModel
@testable import TemblorCommands
@testable import SystemSupport
import Testing

@Suite struct ListenGrammarTests {
  @Test(
    arguments: [
      ("play heartbeat", .play(.init(pattern: "heartbeat"))),
      ("  play\t\"my own.ahap\" ", .play(.init(pattern: "my own.ahap"))),
      (
        "play a loop at 12.5 as b rate 2 strength 0.5 from 1e-1",
        .play(.init(pattern: "a", isLooping: true, start: .at(12.5), name: "b", rate: 2, strength: 0.5, position: 0.1))
      ), ("play loop from 1 as at loop", .play(.init(pattern: "loop", isLooping: true, name: "at", position: 1))),
      (#"play "a\"b\\c\n\t""#, .play(.init(pattern: "a\"b\\c\n\t"))), (#"play C:\x"#, .play(.init(pattern: #"C:\x"#))),
      ("tap", .tap(intensity: 1, sharpness: 0.5, at: .now)),
      ("tap at +0.25", .tap(intensity: 1, sharpness: 0.5, at: .after(0.25))),
      ("tap 0.8 at 3", .tap(intensity: 0.8, sharpness: 0.5, at: .at(3))),
      ("tap .8 0 at 200000", .tap(intensity: 0.8, sharpness: 0, at: .at(200_000))),
      ("hum 1 0.2 3", .hum(.init(intensity: 1, sharpness: 0.2, duration: 3))),
      ("hum 1 0.2 3 as x at +1", .hum(.init(intensity: 1, sharpness: 0.2, duration: 3, start: .after(1), name: "x"))),
      ("set strength 0.5", .set(.init(parameter: .strength, value: 0.5))),
      (
        "set sharpness -1 of x over 2 at 7",
        .set(.init(parameter: .control(.hapticSharpnessControl), value: -1, name: "x", ramp: 2, start: .at(7)))
      ), ("set brightness 0", .set(.init(parameter: .control(.audioBrightnessControl), value: 0))),
      ("stop", .stop(name: nil, at: .now)), ("stop at +1", .stop(name: nil, at: .after(1))),
      ("stop \"at\" at +1", .stop(name: "at", at: .after(1))), ("pause", .pause(name: nil)),
      ("resume x", .resume(name: "x")), ("seek x 1.5", .seek(name: "x", position: 1.5)),
      ("loop x on", .loop(name: "x", isOn: true, end: nil)), ("loop x on end 2", .loop(name: "x", isOn: true, end: 2)),
      ("rate x 0.015625", .rate(name: "x", rate: 1 / 64)),
      ("pan x 0.5/-1 over 2", .pan(name: "x", position: "0.5/-1", ramp: 2)),
      ("pan x 90", .pan(name: "x", position: "90", ramp: 0)), ("mute", .mute(name: nil, isOn: true)),
      ("unmute x", .mute(name: "x", isOn: false)), ("preload x", .preload(pattern: "x")), ("status", .status),
      ("list", .list), ("help", .help(verb: nil)), ("help play", .help(verb: "play")), ("quit", .quit),
    ] as [(String, ListenCommand)]) func readsCommands(line: String, command: ListenCommand)
  {
    #expect(ListenGrammar.read(line) == ListenRequest(tag: nil, command: .success(command)))
    #expect(ListenGrammar.read("@7 " + line) == ListenRequest(tag: "7", command: .success(command)))
  }

  @Test(arguments: ["", "  \t", "# play x", "  #@7 play"]) func emptyLinesAndCommentsMeanNothing(line: String) {
    #expect(ListenGrammar.read(line) == nil)
  }

  @Test(arguments: [
    ("plya x", "unknown-keyword: unknown command 'plya'; did you mean 'play'?"),
    ("\"\"", "unknown-keyword: unknown command ''"),
    (
      "play",
      "missing-argument: 'play' requires PATTERN; usage: play PATTERN [loop] [at TIME] [as NAME] [rate RATE]"
        + " [strength STRENGTH] [from SECONDS] [priority N]"
    ), ("play x lop", "unknown-keyword: unknown keyword 'lop' for 'play'; did you mean 'loop'?"),
    ("tap 1 1 1", "unknown-keyword: unknown keyword '1' for 'tap'; usage: tap [INTENSITY] [SHARPNESS] [at TIME]"),
    (
      "play x rate",
      "missing-argument: 'rate' requires RATE; usage: play PATTERN [loop] [at TIME] [as NAME]"
        + " [rate RATE] [strength STRENGTH] [from SECONDS] [priority N]"
    ), ("play x loop loop", "unexpected-argument: 'loop' is given twice"),
    (
      "play x \"loop\"",
      "unexpected-argument: unexpected 'loop'; usage: play PATTERN [loop] [at TIME]"
        + " [as NAME] [rate RATE] [strength STRENGTH] [from SECONDS] [priority N]"
    ), ("play \"\"", "invalid-value: PATTERN must have 1 to 4096 bytes"),
    ("play x rate 65", "invalid-value: RATE must be 0.015625 to 64, not '65'"),
    ("loop x off end 2", "unexpected-argument: 'end' requires 'on'"),
    (
      "set attack 0",
      "invalid-value: PARAMETER must be strength, intensity, sharpness, volume, pan, pitch or brightness,"
        + " not 'attack'"
    ), ("play x strength 1.01", "invalid-value: STRENGTH must be 0 to 1, not '1.01'"),
    ("play x from -1", "invalid-value: SECONDS must be 0 to 86400, not '-1'"),
    ("tap 1 nan", "invalid-value: SHARPNESS must be 0 to 1, not 'nan'"),
    ("tap inf", "invalid-value: INTENSITY must be 0 to 1, not 'inf'"),
    ("tap 0x1", "invalid-value: INTENSITY must be 0 to 1, not '0x1'"),
    ("tap \"1\"", "invalid-value: INTENSITY must be 0 to 1, not '1'"),
    ("tap at -1", "invalid-value: TIME must be SECONDS, or +SECONDS from now, not '-1'"),
    ("tap at +86401", "invalid-value: TIME must be SECONDS, or +SECONDS from now, not '+86401'"),
    ("set strength -0.5", "invalid-value: strength must be 0 to 1, not '-0.5'"),
    ("set pan 2", "invalid-value: VALUE must be -1 to 1, not '2'"),
    ("loop x yes", "invalid-value: SWITCH must be on or off, not 'yes'"),
    ("quit now", "unexpected-argument: unexpected 'now'; usage: quit"),
    ("play \"x", "unclosed-quote: missing closing quote"), ("play \"x\\", "unclosed-quote: missing closing quote"),
    ("play \"x\"y", "unclosed-quote: missing space after the closing quote"),
    ("play x\"y\"", "unclosed-quote: a quote must start a word"),
    ("play \"\\x\"", #"unclosed-quote: invalid escape in quotes; use \", \\, \n or \t"#),
  ]) func refusesWithOneReason(line: String, reason: String) throws {
    let request = try #require(ListenGrammar.read("@a/1 " + line))
    #expect(request.tag == "a/1")
    guard case .failure(let error) = request.command else {
      Issue.record("'\(line)' was read as \(request.command).")
      return
    }
    #expect(error.description == reason)
    #expect(ListenReply.error(error, tag: request.tag).line == "@a/1 error " + reason)
  }

  /// A mark behind a blank is one character with it for a reader, and a word of its own here.
  @Test func blanksSeparateWhateverFollows() {
    for line in ["\u{489}", "stop \u{301}a", "#\u{489}"] {
      let plain = ListenGrammar.read(line)
      guard line.unicodeScalars.first != "#" else {
        #expect(plain == nil)
        continue
      }
      let tagged = ListenGrammar.read("@t " + line)
      #expect(tagged?.tag == "t")
      #expect(tagged?.command == plain?.command)
    }
  }

  @Test(arguments: ["@ tap", "@\(String(repeating: "x", count: 65)) tap", "@\"a\" tap"]) func tagsAreShort(line: String)
  {
    #expect(
      ListenGrammar.read(line)
        == ListenRequest(
          tag: nil,
          command: .failure(
            ListenError(.invalidValue, "invalid tag: must be @ followed by 1 to 64 bytes without quotes"))))
  }

  @Test func aTagAloneIsNoCommand() {
    #expect(
      ListenGrammar.read("@7 ")
        == ListenRequest(tag: "7", command: .failure(ListenError(.missingArgument, "missing command after the tag"))))
  }

  @Test func linesThatAreNoneAreAnswered() {
    #expect(
      ListenGrammar.read(.invalidUTF8)
        == ListenRequest(
          tag: nil,
          command: .failure(ListenError(.invalidUTF8, "the line is not valid UTF-8 or contains control characters"))))
    #expect(
      ListenGrammar.read(.tooLong)
        == ListenRequest(tag: nil, command: .failure(ListenError(.tooLong, "the line is longer than 65536 bytes"))))
    #expect(ListenGrammar.read(.text("list")) == ListenRequest(tag: nil, command: .success(.list)))
  }

  @Test func everyParameterCanBeSet() {
    for name in ListenParameter.names {
      let parameter = ListenParameter(name)
      #expect(parameter?.name == name)
      #expect(
        ListenGrammar.read("set \(name) 1").map(\.command)
          == parameter.map { .success(.set(.init(parameter: $0, value: 1))) })
    }
    #expect(ListenParameter.names.count == 7)
  }

  @Test func answersAreWrittenAsWordsAreRead() throws {
    let fields: [ListenReply.Field] = [
      .text("my \"own\""), .text(""), .text("a\\\n"), .pair("name", "two words"), .number("time", 0.1 + 0.2),
      .count("voices", 3), .text("a\u{7}b\u{85}"),
    ]
    let line = ListenReply.ok(fields, tag: "7").line
    #expect(line == #"@7 ok "my \"own\"" "" "a\\\n" name="two words" time=0.3 voices=3 "a\u{07}b\u{0085}""#)
    #expect(ListenReply.ok().line == "ok")
    #expect(ListenReply.event("finished", [.pair("name", "x")]).line == "event finished name=x")
    for text in ["my \"own\"", "", "a\\\n\t", "#", "@7", "é 😀"] {
      #expect(try ListenWord.split(ListenWord.written(text)).map(\.text) == [text])
    }
  }

  @Test func helpTellsEveryCommand() throws {
    #expect(
      ListenReply.ok(try ListenGrammar.help(nil)).line
        == "ok play tap hum noise set stop pause resume seek loop rate pan mute unmute duck preload status stats list"
        + " help quit shutdown")
    #expect(
      ListenReply.ok(try ListenGrammar.help("loop")).line == "ok \"loop NAME on|off [end SECONDS]\""
        + " \"Turn looping on or off; end sets where the loop restarts.\"")
    #expect(throws: ListenError(.unknownKeyword, "unknown command 'lop'; did you mean 'loop'?")) {
      try ListenGrammar.help("lop")
    }
  }

  @Test func theManualFitsItsColumns() {
    let lines = ListenGrammar.discussion.split(separator: "\n", omittingEmptySubsequences: false)
    #expect(lines.filter { $0.hasPrefix("  ") }.allSatisfy { $0.count <= 78 })
    for form in ListenGrammar.forms { #expect(lines.contains { $0.hasPrefix("  " + form.verb) }) }
    #expect(lines.contains("  set PARAMETER VALUE [of NAME] [over SECONDS] [at TIME]"))
  }
}
