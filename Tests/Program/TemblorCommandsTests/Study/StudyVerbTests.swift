import Foundation
import HapticPlayback
import ListeningTests
import PatternWorkflows
import Reading
import TestSupport
import Testing

@testable import CommandLineKit
@testable import SystemSupport
@testable import TemblorCommands

/// Experiments from tables, with simulated listeners and with keys.
struct StudyVerbTests {
  private let place: Scratch
  private static let steps =
    "id,intensity,sharpness,duration,level\nreference,1,0.5,0.3,-40\n"
    + (1...8).map { "s\($0),1,0.5,0.3,\(-40 + 2 * $0)\n" }.joined()

  init() throws { place = try Scratch() }

  private func write(_ name: String, _ text: String) throws -> String {
    try Data(text.utf8).write(to: URL(filePath: place(name)))
    return place(name)
  }

  @discardableResult private func study(
    _ words: [String], on stage: VirtualStage = VirtualStage([])
  ) throws -> String {
    _ = try StudyCommand.run(
      StudyCommand.definition().parse(words + ["--no-config"]), stage.recorded.terminal, on: stage,
      seed: { 3 },
      now: { CalendarTime(seconds: 1_769_860_800) })
    return stage.recorded.output
  }

  private func rows(_ name: String) throws -> [[String: String]] {
    try StudyResults(place(name), bytes: FileSystem.read(place(name))).rows.map(\.fields)
  }

  private func keys(_ text: String) -> [(Double, VirtualStage.Cue)] {
    text.enumerated().map { index, character in
      (1 + Double(index) * 0.1, .key(character == "!" ? .enter : .character(character)))
    }
  }

  @Test(arguments: 1...5) func aStaircaseFindsTheThresholdOfAListener(seed: Int) throws {
    let table = try write("steps.csv", Self.steps)
    let text = try study([
      table, "--procedure", "staircase", "--seed", "\(seed)", "--simulate", "-33", "--output",
      place("r.csv"),
    ])
    // Right from -32 dB on, guessed below: half of the guesses are right.
    let threshold = try #require(
      text.firstMatch(of: /threshold (-[\d.]+)/).flatMap { Double($0.1) })
    #expect(-35 ... -31.5 ~= threshold)
    #expect(
      try study(["--report", place("r.csv")]).contains(
        "threshold \(String(format: "%.2f", threshold)) after"))
  }

  @Test func levelsAreExact() throws {
    let table = try write("steps.csv", Self.steps)
    let text = try study([table, "--render", place("out")])
    #expect(text.contains("s8.wav         -24.00 dBFS RMS"))
    let bytes = try FileSystem.read(place("out/s8.wav"))
    let start = try #require(Data(bytes).range(of: Data("data".utf8))).upperBound + 4
    let samples = stride(from: start, to: bytes.count - 3, by: 4).map { place in
      Float(bitPattern: (0..<4).reduce(0) { $0 | UInt32(bytes[place + $1]) << UInt32(8 * $1) })
    }
    let power = samples.reduce(0.0) { $0 + Double($1 * $1) } / Double(samples.count)
    #expect(abs(10 * log10(power) + 24) < 0.01)
  }

  @Test func answersOfKeysAreSavedAndGoneOnWith() throws {
    let table = try write("steps.csv", "id,level\nreference,-40\na,-30\nb,-20\n")
    let words = [table, "--output", place("r.csv"), "--participant", "anna", "--gap", "0.1"]
    // Three answers nothing; q ends after the first trial.
    try study(words, on: VirtualStage(keys("3!1!q")))
    #expect(try rows("r.csv").count == 1)
    let whole = try study(words, on: VirtualStage(keys("2!")))
    #expect(whole.contains("2 of 2 trials"))
    let found = try rows("r.csv")
    #expect(found.map { $0["answer"] } == ["1", "2"])
    #expect(
      found.allSatisfy {
        $0["time"] == "2026-01-31T12:00:00Z" && $0["participant"] == "anna" && $0["seed"] == "3"
      })
    #expect(Set(found.compactMap { $0["tested"] }) == ["a", "b"])
    // The order of an uninterrupted study of the seed is the same.
    try study([table, "--seed", "3", "--simulate", "right", "--output", place("other.csv")])
    #expect(try rows("other.csv").map { $0["intervals"] } == found.map { $0["intervals"] })
  }

  @Test func participantsArePooled() throws {
    let table = try write("steps.csv", "id,level\nreference,-40\na,-30\n")
    for (name, word) in [("x", "right"), ("y", "right"), ("z", "wrong")] {
      try study([
        table, "--repeats", "4", "--participant", name, "--simulate", word, "--output",
        place("\(name).csv"),
      ])
    }
    let files = ["x", "y", "z"].map { place("\($0).csv") }
    #expect(
      try study(["--report"] + files)
        == "Simulated answers:\na  8 of 12 correct, p = 0.194\n")
    #expect(
      try study(["--report", "--csv"] + files).hasPrefix(
        "stimulus,count,figure,low,high,pValue,simulated\r\na,12,8.0,,,0.193"))
    try study([
      table, "--procedure", "rating", "--simulate", "random", "--output", place("rating.csv"),
    ])
    #expect {
      try study(["--report", files[0], place("rating.csv")])
    } throws: {
      "\($0)"
        == "\(place("rating.csv")):2:1: error: the procedure differs from that in \"\(files[0])\""
        .replacing("\"", with: "'")
    }
  }

  @Test(arguments: [
    (
      "id,levle\na,1\n",
      """
      1:1: error: column 'levle': unknown; valid columns are id, file, profile, intensity, \
      sharpness, duration, attack, decay, release, level
      """
    ),
    ("id,level\na,-3\na,-4\n", "3:1: error: column 'id': 'a' is already used in line 2"),
    (
      "id,level\na,loud\n",
      "2:1: error: column 'level': must be a number from -120.0 to 0.0, not loud"
    ),
    (
      "id,file\na,nowhere.ahap\n",
      "2:1: error: column 'file': nowhere.ahap: \(Sentence.unknownPattern)"
    ),
    ("id,profile\na,nobody\n", "2:1: error: column 'profile': "),
    ("level\n-3\n", "1:1: error: the table must have a column 'id' and a row for each stimulus"),
  ]) func whatIsWrongWithATableHasAPlace(text: String, message: String) throws {
    let table = try write("t.csv", text)
    #expect { try study([table, "--simulate", "right"]) } throws: {
      "\($0)".hasPrefix("\(table):\(message)")
    }
  }

  @Test func aLevelThatCannotBeReachedIsNamed() throws {
    let table = try write("t.csv", "id,level\na,-3\nb,-20\n")
    #expect {
      try study([table, "--render", place("out")])
    } throws: {
      "\($0)".hasPrefix(
        "\(table):2:1: error: column 'level': -3.0 dBFS is too high; 'a' supports at most")
    }
  }

  @Test func resultsOfAnotherStudyAreRefused() throws {
    let table = try write("t.csv", "id,level\nreference,-40\na,-30\n")
    let save = ["--output", place("r.csv")]
    try study([table, "--simulate", "right"] + save)
    #expect {
      try study([table, "--simulate", "right", "--participant", "other"] + save)
    } throws: {
      "\($0)"
        == """
        \(place("r.csv")):2:1: error: column 'participant' is 'p1', but it is 'other' in this \
        study; choose a different '--output'
        """
    }
  }

  @Test func theStrongerOneIsRight() throws {
    let table = try write("t.csv", "id,level\nreference,-30\nweak,-40\nstrong,-20\n")
    try study([
      table, "--repeats", "8", "--seed", "2", "--simulate", "right", "--output", place("r.csv"),
    ])
    for row in try rows("r.csv") {
      let stronger = row["tested"] == "weak" ? "reference" : "strong"
      let place = try #require(
        row["intervals"]?.split(separator: " ").firstIndex { $0 == stronger })
      #expect(row["right"] == "\(place + 1)")
    }
    #expect {
      try study([
        table, "--procedure", "staircase", "--simulate", "right", "--output", place("s.csv"),
      ])
    } throws: {
      "\($0)"
        == "\(table):3:1: error: a staircase requires stimuli stronger than the reference"
    }
    let mixed = try write("m.csv", "id,level,intensity\nreference,-30,\na,,1\n")
    #expect {
      try study([
        mixed, "--procedure", "staircase", "--simulate", "right", "--output", place("s.csv"),
      ])
    } throws: {
      "\($0)"
        == "\(mixed):3:1: error: a staircase requires a level or an intensity for each stimulus"
    }
  }

  @Test func aReportCountsATrialOnceAndChecksAnswers() throws {
    let table = try write("steps.csv", Self.steps)
    try study([table, "--procedure", "staircase", "--simulate", "wrong", "-o", place("w.csv")])
    // Without a threshold there is none, in JSON too.
    #expect(try !study(["--report", "--json", place("w.csv")]).contains("figure"))
    #expect(
      try study(["--report", place("w.csv")])
        == "Simulated answers:\np1 (seed 3)  no threshold after 100 trials\n")
    #expect {
      try study(["--report", place("w.csv"), place("w.csv")])
    } throws: {
      "\($0)" == "\(place("w.csv")):2:1: error: duplicate trial"
    }
    try study([table, "--procedure", "magnitude", "--simulate", "right", "-o", place("m.csv")])
    let text = String(decoding: try FileSystem.read(place("m.csv")), as: UTF8.self)
    let row = try #require(text.split(separator: "\r\n").dropFirst().first)
    let answer = row.split(separator: ",", omittingEmptySubsequences: false)[9]
    let broken = try write("b.csv", text.replacing(",\(answer),,", with: ",-5,,"))
    #expect {
      try study(["--report", broken])
    } throws: {
      "\($0)" == "\(broken):2:1: error: invalid answer for 'magnitude'"
    }
  }

  @Test func anAnswerWaitsForTheLastInterval() throws {
    let table = try write("t.csv", "id,duration,level\nreference,1,-40\na,1,-30\n")
    let words = [table, "--output", place("r.csv"), "--gap", "0.5"]
    // The intervals end behind 2.5 s: the first answer comes too early.
    let stage = VirtualStage([
      (1, .key(.character("1"))), (1.1, .key(.enter)), (4, .key(.character("2"))),
      (4.1, .key(.enter)),
    ])
    try study(words, on: stage)
    let found = try rows("r.csv")
    #expect(found.map { $0["answer"] } == ["2"])
    #expect(try #require(found[0]["seconds"].flatMap { Double($0) }) < 1.6)
  }

  // MARK: - Conditions

  private static let pair = "id,level\nreference,-40\na,-30\n"

  /// Answers the one trial of `pair` by key.
  @discardableResult private func answerByKey(
    _ table: String, to name: String, _ options: [String] = [], participant: String = "p1"
  ) throws -> VirtualStage {
    let stage = VirtualStage(keys("2!"))
    try study([table, "--output", place(name), "--participant", participant] + options, on: stage)
    return stage
  }

  /// Writes results as they were before they had conditions: without the last four columns.
  private func writeWithoutConditions(_ name: String, to other: String) throws -> String {
    let text = String(decoding: try FileSystem.read(place(name)), as: UTF8.self)
    let lines = text.split(separator: "\r\n").map { line in
      line.split(separator: ",", omittingEmptySubsequences: false).dropLast(4).joined(
        separator: ",")
    }
    return try write(other, lines.joined(separator: "\r\n") + "\r\n")
  }

  @Test("No key changes the strength or mutes during a study")
  func theLevelIsFixed() throws {
    let table = try write("t.csv", Self.pair)
    let stage = VirtualStage(keys("?--+m2!"))
    try study([table, "--output", place("r.csv")], on: stage)
    let engine = try #require(stage.engine)
    #expect(engine.strength == 1)
    #expect(!engine.isMuted)
    #expect(!stage.recorded.error.contains("mute"))
    #expect(!stage.recorded.error.contains("strength"))
    #expect(try rows("r.csv").count == 1)
  }

  @Test("Results contain the conditions of each answer")
  func conditionsAreRecorded() throws {
    let table = try write("t.csv", Self.pair)
    try answerByKey(table, to: "r.csv", ["--strength", "0.5"])
    let row = try #require(try rows("r.csv").first)
    #expect(row["strength"] == "0.5")
    #expect(row["device"] == "default")
    #expect(row["profile"] == "phone")
    #expect(row["program"] == "temblor \(temblorVersion)")
    #expect(row["simulated"] == "false")
    try study([table, "--simulate", "right", "--output", place("s.csv")])
    let simulated = try #require(try rows("s.csv").first)
    #expect(simulated["simulated"] == "true")
    #expect(simulated["strength"] == "" && simulated["device"] == "")
  }

  @Test("A saved strength is refused, since it would change the levels of the table")
  func aSavedStrengthIsRefused() throws {
    let table = try write("t.csv", Self.pair)
    func run(_ words: [String], _ stage: VirtualStage) throws {
      var arguments = try StudyCommand.definition().parse([table] + words)
      if arguments.value("--strength") == nil {
        arguments.setDefault(["0.2"], for: "--strength", origin: "config.json")
      }
      _ = try StudyCommand.run(
        arguments, stage.recorded.terminal, on: stage, seed: { 3 },
        now: { CalendarTime(seconds: 0) })
    }
    let stage = VirtualStage(keys("2!"))
    #expect {
      try run(["--output", place("r.csv")], stage)
    } throws: {
      "\($0)" == "config.json sets the strength to 0.2, which changes the levels of the study; "
        + "use '--strength 1' to play the exact levels, or '--strength 0.2' to scale them"
    }
    #expect(stage.engine == nil)
    #expect(FileSystem.entryKind(at: place("r.csv")) == .missing)
    try run(["--strength", "1", "--output", place("r.csv")], stage)
    #expect(try rows("r.csv").first?["strength"] == "1")
    // Nothing plays in a simulation.
    try run(["--simulate", "right", "--output", place("s.csv")], VirtualStage([]))
  }

  @Test("A study does not continue at another strength, or with answers of another origin")
  func otherConditionsAreNotContinued() throws {
    let table = try write("t.csv", "id,level\nreference,-40\na,-30\nb,-20\n")
    let save = [table, "--output", place("r.csv")]
    try study(save, on: VirtualStage(keys("2!q")))
    for (words, strength) in [
      (["--strength", "0.5"], "'0.5'"),
      (["--simulate", "right"], "''"),
    ] {
      #expect {
        try study(save + words)
      } throws: {
        "\($0)" == """
          \(place("r.csv")):2:1: error: column 'strength' is '1', but it is \(strength) in this \
          study; choose a different '--output'
          """
      }
    }
    try study([table, "--simulate", "right", "--output", place("s.csv")])
    #expect {
      try study([table, "--output", place("s.csv")])
    } throws: {
      "\($0)".hasSuffix(
        """
        error: column 'simulated' is 'true', but it is 'false' in this study; choose a different \
        '--output'
        """)
    }
  }

  @Test("The conditions of earlier answers are kept when a study continues")
  func earlierConditionsAreKept() throws {
    let table = try write("t.csv", "id,level\nreference,-40\na,-30\nb,-20\n")
    try study([table, "--output", place("r.csv")], on: VirtualStage(keys("2!q")))
    try study(
      [table, "--output", place("r.csv"), "--profile", "speaker"], on: VirtualStage(keys("2!")))
    #expect(try rows("r.csv").map { $0["profile"] } == ["phone", "speaker"])
  }

  @Test("A simulation writes results only with --output")
  func aSimulationIsNotSaved() throws {
    // The name of the folder is unique, so that no other test writes to this file.
    let name = FileSystem.name(of: FileSystem.folder(of: place("t.csv")))
    let table = try write("\(name).csv", Self.pair)
    #expect(try study([table, "--simulate", "right"]) == "1 of 1 simulated trial, 1 correct\n")
    #expect(FileSystem.entryKind(at: "study-\(name)-p1.csv") == .missing)
  }

  @Test("A complete study says that nothing was played")
  func aCompleteStudyPlaysNothing() throws {
    let table = try write("t.csv", Self.pair)
    try answerByKey(table, to: "r.csv")
    let stage = VirtualStage([])
    let text = try study([table, "--output", place("r.csv")], on: stage)
    #expect(text.hasPrefix("\(place("r.csv")): 1 of 1 trial, "))
    #expect(text.hasSuffix(" correct; already complete, nothing was played\n"))
    #expect(stage.engine == nil)
  }

  @Test("A report does not pool simulated answers, or answers at another strength, with others")
  func differentConditionsAreNotPooled() throws {
    let table = try write("t.csv", Self.pair)
    try answerByKey(table, to: "real.csv", participant: "anna")
    try answerByKey(table, to: "half.csv", ["--strength", "0.5"], participant: "ben")
    try study([table, "--simulate", "right", "--output", place("s.csv")])
    let former = try writeWithoutConditions("real.csv", to: "former.csv")
    let files = ["real.csv", "half.csv", "s.csv"].map { place($0) }
    let simulated = "but '\(files[2])' has simulated answers"
    for (pool, message) in [
      ([files[0], files[2]], "\(files[0]):2:1: error: has answers of a person, \(simulated)"),
      ([files[2], files[0]], "\(files[0]):2:1: error: has answers of a person, \(simulated)"),
      (
        [files[2], former], "\(former):2:1: error: has answers that may be simulated, \(simulated)"
      ),
      (
        [files[0], files[1]],
        "\(files[1]):2:1: error: strength is 0.5, but it is 1 in '\(files[0])'"
      ),
    ] {
      #expect {
        try study(["--report"] + pool)
      } throws: {
        "\($0)" == message + "; report the files separately"
      }
    }
    #expect(try study(["--report", "--json", files[2]]).contains(#""simulated": true"#))
    #expect(try study(["--report", "--json", files[0]]).contains(#""simulated": false"#))
    #expect(try !study(["--report", files[0]]).contains("Simulated"))
  }

  @Test("Results without conditions are reported with a note, and can be continued")
  func resultsWithoutConditionsAreRead() throws {
    let table = try write("t.csv", "id,level\nreference,-40\na,-30\nb,-20\n")
    try study([table, "--output", place("r.csv")], on: VirtualStage(keys("2!q")))
    let former = try writeWithoutConditions("r.csv", to: "former.csv")
    let stage = VirtualStage([])
    #expect(try study(["--report", former], on: stage).contains("of 1 correct"))
    #expect(
      stage.recorded.error.replacing("\n  ", with: " ")
        == "\(former): strength unknown; the answers may be simulated\n")
    try study([table, "--output", former], on: VirtualStage(keys("2!")))
    #expect(try rows("former.csv").map { $0["simulated"] } == ["", "false"])
    #expect(throws: InputError.self) {
      try study([
        table, "--simulate", "right", "--output",
        try writeWithoutConditions("r.csv", to: "again.csv"),
      ])
    }
  }

  // MARK: - Questions

  @Test(
    "A participant reads the question on a line of its own at any width",
    arguments: StudyProcedure.allCases, [40, 80])
  func theQuestionIsVisible(procedure: StudyProcedure, width: Int) throws {
    let table = try write("t.csv", Self.pair)
    let stage = VirtualStage(keys("4q"))
    stage.recorded.resize(to: width)
    try study([table, "--procedure", procedure.rawValue, "--output", place("r.csv")], on: stage)
    let text = stage.recorded.error
    let words = text.replacing("\n", with: " ").split(separator: " ").joined(separator: " ")
    #expect(words.contains("1\(procedure.plannedText): \(procedure.question) "))
    #expect(text.contains("answer: 4 "))
    #expect(!text.contains("0:00.0"))
    #expect(!text.contains("?:"))
  }

  @Test("An answer that the procedure does not take is answered with those that it takes")
  func otherAnswersAreNamed() throws {
    let table = try write("t.csv", Self.pair)
    let stage = VirtualStage(keys("3!q"))
    try study([table, "--output", place("r.csv")], on: stage)
    #expect(stage.recorded.error.contains("Type 1 or 2, then press Enter.\n"))
  }

  @Test("The last line contains the number of trials and the result")
  func theLastLineCountsTrials() throws {
    let table = try write("steps.csv", Self.steps)
    let save = ["--output", place("r.csv")]
    #expect(
      try study([table, "--procedure", "magnitude", "--simulate", "right"])
        == "9 of 9 simulated trials\n")
    let stage = VirtualStage([
      (4, .key(.character("1"))), (4.1, .key(.enter)), (4.2, .key(.character("q"))),
    ])
    let text = try study([table, "--procedure", "staircase"] + save, on: stage)
    #expect(text == "\(place("r.csv")): 1 trial, no threshold yet\n")
  }
}

extension StudyProcedure {
  /// The words that follow the number of the first trial of a table of a reference and a stimulus.
  fileprivate var plannedText: String {
    switch self {
    case .staircase: ""
    case .magnitude, .rating: " of 2"
    case .abx, .twoChoices: " of 1"
    }
  }
}
