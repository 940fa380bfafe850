import HapticPlayback
import HapticRender
import ListeningTests
import PatternWorkflows
import TestSupport
import Testing

@testable import CommandLineKit
@testable import SystemSupport
@testable import TemblorCommands

@Suite struct ABXVerbTests {
  private static let lookaheadFrameCount = Int(Renderer.lookaheadSeconds * 48_000)
  private let folder: TemporaryFolder
  /// X is A in the first trial of seed 3, and B in the first of seed 1.
  private let xIsA = "3"
  private let xIsB = "1"

  init() throws { folder = try TemporaryFolder() }

  private func abx(_ arguments: [String], on environment: ScriptedEnvironment) throws
    -> CommandLineKit.ExitStatus
  {
    try ABXCommand.run(
      ABXCommand.definition().parseArguments(arguments), environment.recordedTerminal.terminal,
      on: environment,
      seed: { 3 },
      now: { CalendarTime(secondsSince1970: 1_769_860_800) })
  }

  /// Returns key presses at a steady interval, with "!" for the return key.
  private func keys(_ text: String, from start: Double = 0.1, every step: Double = 0.1) -> [(
    Double, ScriptedEnvironment.ScriptStep
  )] {
    text.enumerated().map { index, character in
      (start + Double(index) * step, .key(character == "!" ? .enter : .character(character)))
    }
  }

  private func record(_ name: String = "r.json") throws -> String {
    String(decoding: try FileSystem.read(folder(name)), as: UTF8.self)
  }

  @Test func seedsDetermineTheHiddenTakes() {
    #expect(ABXTest.hiddenTakes(seed: 3, count: 3) == [.a, .b, .b])
    #expect(ABXTest.hiddenTakes(seed: 1, count: 1) == [.b])
  }

  @Test func answersAreCountedSavedAndReported() throws {
    let arguments = [
      try folder.writeSound("a.wav", noise(9_600)),
      try folder.writeSound("b.wav", noise(9_600, seed: 2)),
      "--trials", "3",
      "--seed", xIsA, "--output", folder("r.json"),
    ]
    let environment = ScriptedEnvironment(keys("x1!bx2!xabx1!"))
    #expect(try abx(arguments, on: environment) == .success)
    #expect(
      environment.recordedTerminal.output.replacing("\n  ", with: " ") == """
        2 of 3 correct. By guessing, the probability of at least 2 correct answers is 50 %. At \
        least 5 trials are needed for a result.
        Levels were not matched. A difference in level alone may explain the result.
        \(folder("r.json")): written

        """)
    let text = try record()
    #expect(
      text.contains(
        #"{ "x": "a", "answer": "a", "correct": true, "switchCounts": { "a": 1, "b": 0, "x": 1 }"#))
    #expect(
      text.contains(
        #"{ "x": "b", "answer": "a", "correct": false, "switchCounts": { "a": 2, "b": 1, "x": 2 }"#)
    )
    #expect(text.contains(#""startTime": "2026-01-31T12:00:00Z""#))
    #expect(text.contains(#""device": "default""#))
    #expect(text.contains(#""complete": true"#))
    #expect(text.contains(#""seed": 3"#))
  }

  @Test func trialsAreSavedAsCSV() throws {
    let arguments = [
      try folder.writeSound("a.wav", noise(9_600)),
      try folder.writeSound("b, c.wav", noise(9_600, seed: 2)),
      "--trials", "3",
      "--seed", xIsA, "--output", folder("r.CSV"),
    ]
    let environment = ScriptedEnvironment(keys("x1!bx2!xabx1!"))
    #expect(try abx(arguments, on: environment) == .success)
    let table = try CSVTable(FileSystem.read(folder("r.CSV")))
    #expect(
      table.columnNames == [
        "a", "b", "seed", "trial", "x", "answer", "correct", "heardA", "heardB", "heardX", "onset",
        "answered",
        "responseTime", "match", "gainA", "gainB", "strength", "profile", "device", "program",
        "simulated",
      ])
    let conditions = table.rows.map { Array($0.fields[13...]) }
    #expect(
      conditions.allSatisfy {
        $0 == ["none", "1", "1", "1", "phone", "default", "temblor \(temblorVersion)", "false"]
      })
    #expect(table.rows.map { $0.fields[1].hasSuffix("b, c.wav") } == [true, true, true])
    #expect(
      table.rows.map { Array($0.fields[2..<10]) } == [
        ["3", "1", "a", "a", "true", "1", "0", "1"], ["3", "2", "b", "b", "true", "1", "1", "1"],
        ["3", "3", "b", "a", "false", "2", "1", "2"],
      ])
    let times = table.rows.map { $0.fields[10..<13].compactMap(Double.init) }
    #expect(times.map(\.count) == [3, 3, 3])
    #expect(times.allSatisfy { abs($0[1] - $0[0] - $0[2]) < 0.001_5 })
    // A trial begins when the previous trial is answered.
    #expect(times[1][0] == times[0][1] && times[2][0] == times[1][1])
  }

  @Test(arguments: ["3", "1"]) func xPlaysTheDrawnTake(seed: String) throws {
    let takes = [noise(48_000), noise(48_000, seed: 2)]
    let arguments = [
      try folder.writeSound("a.wav", takes[0]), try folder.writeSound("b.wav", takes[1]), "--seed",
      seed,
      "--match", "none",
      "--output", folder("r.json"),
    ]
    let environment = ScriptedEnvironment([
      (0.2, .key(.character("x"))), (0.4, .key(.character("b"))), (0.6, .key(.character("q"))),
    ])
    #expect(try abx(arguments, on: environment) == .success)
    let samples = environment.samples()
    expect(samples[240..<9_600], is: takes[0])
    // The takes change 30 ms after the key, with a fade-out and a fade-in of 5 ms each.
    for (key, take) in [(9_600, seed == xIsA ? takes[0] : takes[1]), (19_200, takes[1])] {
      let silenceStart = key + 1_440 + 240
      expect(
        samples[
          silenceStart + Self.lookaheadFrameCount..<silenceStart + Self.lookaheadFrameCount + 1],
        is: silence(1))
      let frames = silenceStart + 240 + Self.lookaheadFrameCount..<key + 9_600
      expect(samples[frames], is: take, from: frames.lowerBound - 240)
    }
  }

  /// The takes are equal, so any other difference would be a hint about the draw.
  @Test func onlyTheSoundOfXDependsOnTheDraw() throws {
    func run(_ seed: String) throws -> (samples: [Float], error: String) {
      let arguments = [
        try folder.writeHum("a.ahap", 0.4), try folder.writeHum("b.ahap", 0.4), "--seed", seed,
        "--output",
        folder("r\(seed).json"),
      ]
      let environment = ScriptedEnvironment(keys("bxabx axx2!xbx1!xa"), channelCount: 2)
      #expect(try abx(arguments, on: environment) == .success)
      return (environment.samples(), environment.recordedTerminal.error)
    }
    let runWithA = try run(xIsA)
    let runWithB = try run(xIsB)
    let hasEqualSamples = runWithA.samples == runWithB.samples
    #expect(hasEqualSamples)
    #expect(runWithA.error == runWithB.error)
  }

  /// The takes differ in level, length, and number of voices.
  @Test func statusLineRevealsNothingAboutTheSound() throws {
    func line(_ seed: String) throws -> String {
      let arguments = [
        try folder.writeHum("a.ahap", 0.4), "heartbeat", "--seed", seed, "--output",
        folder("r\(seed).json"),
      ]
      let environment = ScriptedEnvironment(keys("xbxaxx2!x[x]xlx1!"), channelCount: 2)
      #expect(try abx(arguments, on: environment) == .success)
      return environment.recordedTerminal.error
    }
    let statusLine = try line(xIsA)
    #expect(statusLine == (try line(xIsB)))
    #expect(statusLine.contains("> X 0:00."))
    #expect(statusLine.contains("   X is B? enter   trial 1 of 16   loop 0 underruns"))
    #expect(!statusLine.contains("voice"))
    #expect(!statusLine.contains("·"))
  }

  @Test func answersNeedListeningAndConfirming() throws {
    let arguments = ["light", "medium", "--trials", "1", "--output", folder("r.json")]
    let environment = ScriptedEnvironment(keys("1!x!12!"))
    #expect(try abx(arguments, on: environment) == .success)
    let messages = environment.recordedTerminal.error
    #expect(messages.contains("Press x to listen to X first.\n"))
    #expect(messages.contains("Answer first: 1 for A, 2 for B.\n"))
    // The last answer before the confirmation counts.
    #expect(try record().contains(#""answer": "b""#))
  }

  @Test func nothingIsSavedBeforeTheEnd() throws {
    let arguments = ["light", "medium", "--trials", "2", "--output", folder("r.json")]
    let path = folder("r.json")
    let observedEntry = ObservedEntry()
    let observation: (Double, ScriptedEnvironment.ScriptStep) = (
      0.45, .action { observedEntry.entry = FileSystem.entryKind(at: path) }
    )
    let environment = ScriptedEnvironment(keys("x1!") + [observation] + keys("x1!", from: 0.6))
    #expect(try abx(arguments, on: environment) == .success)
    #expect(observedEntry.entry == .missing)
    #expect(FileSystem.entryKind(at: path) == .file)
  }

  private final class ObservedEntry { var entry: FileSystem.EntryKind? }

  @Test func eachTrialStartsWithTakeAFromItsBeginning() throws {
    let takes = [noise(48_000), noise(48_000, seed: 2)]
    let arguments = [
      try folder.writeSound("a.wav", takes[0]), try folder.writeSound("b.wav", takes[1]), "--match",
      "none",
      "--output",
      folder("r.json"),
    ]
    let environment = ScriptedEnvironment([
      (0.1, .key(.character("x"))), (0.2, .key(.character("1"))), (0.4, .key(.enter)),
      (0.7, .key(.character("q"))),
    ])
    #expect(try abx(arguments, on: environment) == .success)
    // The seek takes place in the middle of the silence.
    let start = 19_200 + 1_440 + 240
    expect(
      environment.samples()[start + 240 + Self.lookaheadFrameCount..<33_000], is: takes[0],
      from: 240)
    #expect(environment.recordedTerminal.error.contains("   trial 2 of 16   "))
  }

  @Test func aTestThatEndsEarlyIsIncomplete() throws {
    let arguments = ["light", "medium", "--output", folder("r.json")]
    let environment = ScriptedEnvironment(keys("x1!x1!q"))
    #expect(try abx(arguments, on: environment) == .success)
    #expect(
      environment.recordedTerminal.output.contains(
        "The test ended after 2 of 16 trials: stopping early inflates the result."))
    #expect(try record().contains(#""complete": false"#))
  }

  @Test func endOfTheDeviceKeepsTheFinishedTrials() throws {
    let arguments = ["light", "medium", "--output", folder("r.json")]
    let environment = ScriptedEnvironment(keys("x1!") + [(0.5, .event(.ended))])
    #expect(try abx(arguments, on: environment) == .failure)
    #expect(environment.recordedTerminal.output.hasPrefix("1 of 1 correct. "))
    #expect(try record().contains(#""plannedTrials": 16"#))
  }

  @Test func withoutAnAnswerNothingIsSaved() throws {
    let arguments = ["light", "medium", "--output", folder("r.json")]
    #expect(try abx(arguments, on: ScriptedEnvironment(keys("xq"))) == .success)
    #expect(FileSystem.entryKind(at: folder("r.json")) == .missing)
  }

  @Test func openEndedTestContinuesUntilQuit() throws {
    let arguments = ["light", "medium", "--trials", "0", "--output", folder("r.json")]
    let environment = ScriptedEnvironment(keys(String(repeating: "x1!", count: 18) + "q"))
    #expect(try abx(arguments, on: environment) == .success)
    #expect(
      environment.recordedTerminal.output.replacing("\n  ", with: " ").contains(
        "The number of trials was not fixed in advance: "))
    #expect(environment.recordedTerminal.error.contains("   trial 19   "))
    #expect(try record().contains(#""plannedTrials": null"#))
  }

  @Test func unmatchedLevelsCauseAWarning() throws {
    let arguments = ["light", "medium", "--match", "none", "--output", folder("r.json")]
    let environment = ScriptedEnvironment(keys("x1!q"))
    #expect(try abx(arguments, on: environment) == .success)
    #expect(
      environment.recordedTerminal.error.contains(
        "Levels are not matched. A difference in level alone may be audible.\n"))
    #expect(
      environment.recordedTerminal.output.contains(
        "Levels were not matched. A difference in level alone may explain the result.\n"))
  }

  @Test("The levels of patterns are part of the test unless they are matched")
  func levelsAreKept() throws {
    let arguments = [
      try folder.writeHum("half.ahap", 0.4, intensity: 0.5), try folder.writeHum("full.ahap", 0.4),
      "--output",
      folder("r.json"),
    ]
    let environment = ScriptedEnvironment(keys("x1!q"))
    #expect(try abx(arguments, on: environment) == .success)
    #expect(try record().contains(#""match": "none""#))
    #expect(try record().matches(of: /"gain": 1\.0,/).count == 2)
  }

  @Test(
    "A test whose takes are identical after matching stops and names the remedy",
    arguments: ["loudness", "felt"])
  func matchingThatLeavesNoDifferenceStops(match: String) throws {
    let samples = noise(48_000)
    let weaker = samples.map { ($0 * 0.3 * 32_768).rounded() / 32_768 }
    let pairs = [
      [try folder.writeHum("half.ahap", 1, intensity: 0.5), try folder.writeHum("full.ahap", 1)],
      [
        try folder.writeSound("a.wav", samples),
        try folder.writeSound("b.wav", weaker + silence(100)),
      ],
    ]
    for pair in pairs {
      let environment = ScriptedEnvironment(keys("x1!q"))
      let arguments = pair + ["--match", match, "--output", folder("r.json")]
      let error = #expect(throws: NoDifferenceAfterMatching.self) {
        try abx(arguments, on: environment)
      }
      #expect(error?.description == "after matching, A and B are identical; use '--match none'")
      #expect(FileSystem.entryKind(at: folder("r.json")) == .missing)
      #expect(
        try abx(pair + ["-o", folder("r.json")], on: ScriptedEnvironment(keys("x1!q"))) == .success)
      try FileSystem.remove(folder("r.json"))
    }
  }

  @Test("No key changes the strength or mutes during a test, and the record contains the strength")
  func theLevelIsFixed() throws {
    let arguments = ["light", "medium", "--strength", "0.5", "--output", folder("r.json")]
    let environment = ScriptedEnvironment(keys("?-+--mx1!q") + [(0.35, .key(.down))])
    #expect(try abx(arguments, on: environment) == .success)
    let engine = try #require(environment.engine)
    #expect(engine.strength == 0.5)
    #expect(!engine.isMuted)
    #expect(!environment.recordedTerminal.error.contains("mute"))
    #expect(!environment.recordedTerminal.error.contains("strength"))
    #expect(try record().contains(#""strength": 0.5"#))
  }

  @Test func matchedLevelsAreReported() throws {
    let arguments = [
      try folder.writeSound("a.wav", noise(48_000)),
      try folder.writeSound("b.wav", noise(48_000, seed: 2, level: 0.5)),
      "--match", "loudness", "--output", folder("r.json"),
    ]
    let environment = ScriptedEnvironment(keys("x1!q"))
    #expect(try abx(arguments, on: environment) == .success)
    #expect(
      environment.recordedTerminal.error.contains("Levels matched by loudness: A -6 dB, B 0 dB.\n"))
    #expect(try record().contains(#""match": "loudness""#))
  }

  @Test func unwritableRecordIsReportedBeforeListening() throws {
    let environment = ScriptedEnvironment(keys("x1!"))
    #expect(throws: UsageError.self) {
      try abx(["light", "medium", "--output", folder("no/r.json")], on: environment)
    }
    #expect(environment.engine == nil)
  }

  @Test("An existing file is replaced only with --force", arguments: ["r.json", "r.csv"])
  func existingRecordIsKept(name: String) throws {
    try folder.write("answers of a listener", to: name)
    let arguments = ["light", "medium", "--output", folder(name)]
    let environment = ScriptedEnvironment(keys("x1!q"))
    let error = #expect(throws: FileError.self) { try abx(arguments, on: environment) }
    #expect(error?.description == "\(folder(name)): already exists; use '--force' to replace it")
    #expect(environment.engine == nil)
    #expect(throws: FileError.self) {
      try abx(arguments + ["--simulate", "ab"], on: ScriptedEnvironment(hasKeyboard: false))
    }
    #expect(try record(name) == "answers of a listener")
    let laterEnvironment = ScriptedEnvironment(keys("x1!q"))
    #expect(try abx(arguments + ["--force"], on: laterEnvironment) == .success)
    #expect(try record(name).contains("light"))
  }

  @Test func testRequiresAKeyboard() throws {
    let environment = ScriptedEnvironment(hasKeyboard: false)
    let error = #expect(throws: FileError.self) { try abx(["light", "medium"], on: environment) }
    #expect(
      error?.description
        == "standard input: is not a terminal; run the test in a terminal, or use '--simulate'")
    #expect(environment.engine == nil)
  }

  @Test func calendarTimesAreFormatted() {
    #expect(CalendarTime(secondsSince1970: 1_769_860_800).fileNameText == "20260131-120000")
    #expect(CalendarTime(secondsSince1970: 0).isoText == "1970-01-01T00:00:00Z")
  }
}
