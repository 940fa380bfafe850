import Foundation
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

  @discardableResult private func study(_ words: [String], on stage: VirtualStage = VirtualStage([])) throws -> String {
    _ = try StudyVerb.run(
      StudyVerb.description().parse(words + ["--no-config"]), stage.recorded.terminal, on: stage, seed: { 3 },
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
      table, "--procedure", "staircase", "--seed", "\(seed)", "--simulate", "-33", "--save", place("r.csv"),
    ])
    // Right from -32 dB on, guessed below: half of the guesses are right.
    let threshold = try #require(text.firstMatch(of: /threshold (-[\d.]+)/).flatMap { Double($0.1) })
    #expect(-35 ... -31.5 ~= threshold)
    #expect(try study(["--report", place("r.csv")]).contains("threshold \(String(format: "%.2f", threshold)) after"))
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
    let words = [table, "--save", place("r.csv"), "--participant", "anna", "--gap", "0.1"]
    // Three answers nothing; q ends after the first trial.
    try study(words, on: VirtualStage(keys("3!1!q")))
    #expect(try rows("r.csv").count == 1)
    let whole = try study(words, on: VirtualStage(keys("2!")))
    #expect(whole.contains("2 of 2 trials"))
    let found = try rows("r.csv")
    #expect(found.map { $0["answer"] } == ["1", "2"])
    #expect(
      found.allSatisfy { $0["time"] == "2026-01-31T12:00:00Z" && $0["participant"] == "anna" && $0["seed"] == "3" })
    #expect(Set(found.compactMap { $0["tested"] }) == ["a", "b"])
    // The order of an uninterrupted study of the seed is the same.
    try study([table, "--seed", "3", "--simulate", "right", "--save", place("other.csv")])
    #expect(try rows("other.csv").map { $0["intervals"] } == found.map { $0["intervals"] })
  }

  @Test func participantsArePooled() throws {
    let table = try write("steps.csv", "id,level\nreference,-40\na,-30\n")
    for (name, word) in [("x", "right"), ("y", "right"), ("z", "wrong")] {
      try study([table, "--repeats", "4", "--participant", name, "--simulate", word, "--save", place("\(name).csv")])
    }
    let files = ["x", "y", "z"].map { place("\($0).csv") }
    #expect(try study(["--report"] + files) == "a  8 of 12 right; guessing does as well 19 % of the time\n")
    #expect(
      try study(["--report", "--csv"] + files).hasPrefix("stimulus,count,figure,low,high,pValue\r\na,12,8.0,,,0.193"))
    try study([table, "--procedure", "rating", "--simulate", "random", "--save", place("rating.csv")])
    #expect {
      try study(["--report", files[0], place("rating.csv")])
    } throws: {
      "\($0)"
        == "\(place("rating.csv")):2:1: error: is of another procedure than \"\(files[0])\"".replacing("\"", with: "'")
    }
  }

  @Test(arguments: [
    (
      "id,levle\na,1\n",
      "1:1: error: column 'levle' is unknown; the columns are id, file, profile, intensity, sharpness, duration, attack, decay, release, level"
    ),
    ("id,level\na,-3\na,-4\n", "3:1: error: column 'id' 'a' is that of line 2 too"),
    ("id,level\na,loud\n", "2:1: error: column 'level' must be a number from -120.0 to 0.0, not loud"),
    (
      "id,file\na,nowhere.ahap\n",
      "2:1: error: column 'file' nowhere.ahap: no such file, and no shipped pattern has this name"
    ),
    ("id,profile\na,nobody\n", "2:1: error: column 'profile' "),
    ("level\n-3\n", "1:1: error: a table has a column 'id' and a row for each stimulus"),
  ]) func whatIsWrongWithATableHasAPlace(text: String, message: String) throws {
    let table = try write("t.csv", text)
    #expect { try study([table, "--simulate", "right"]) } throws: { "\($0)".hasPrefix("\(table):\(message)") }
  }

  @Test func aLevelThatCannotBeReachedIsNamed() throws {
    let table = try write("t.csv", "id,level\na,-3\nb,-20\n")
    #expect {
      try study([table, "--render", place("out")])
    } throws: {
      "\($0)".hasPrefix("\(table):2:1: error: column 'level' -3.0 dBFS cannot be reached; 'a' has at most")
    }
  }

  @Test func resultsOfAnotherStudyAreRefused() throws {
    let table = try write("t.csv", "id,level\nreference,-40\na,-30\n")
    let save = ["--save", place("r.csv")]
    try study([table, "--simulate", "right"] + save)
    #expect {
      try study([table, "--simulate", "right", "--participant", "other"] + save)
    } throws: {
      "\($0)" == "\(place("r.csv")):2:1: error: has 'p1' as participant, and this study 'other'; save to another file"
    }
  }

  @Test func theStrongerOneIsRight() throws {
    let table = try write("t.csv", "id,level\nreference,-30\nweak,-40\nstrong,-20\n")
    try study([table, "--repeats", "8", "--seed", "2", "--simulate", "right", "--save", place("r.csv")])
    for row in try rows("r.csv") {
      let stronger = row["tested"] == "weak" ? "reference" : "strong"
      let place = try #require(row["intervals"]?.split(separator: " ").firstIndex { $0 == stronger })
      #expect(row["right"] == "\(place + 1)")
    }
    #expect {
      try study([table, "--procedure", "staircase", "--simulate", "right", "--save", place("s.csv")])
    } throws: {
      "\($0)" == "\(table):3:1: error: a staircase needs stimuli that are stronger than the reference"
    }
    let mixed = try write("m.csv", "id,level,intensity\nreference,-30,\na,,1\n")
    #expect {
      try study([mixed, "--procedure", "staircase", "--simulate", "right", "--save", place("s.csv")])
    } throws: {
      "\($0)" == "\(mixed):3:1: error: a staircase needs a level of each stimulus, or an intensity of each"
    }
  }

  @Test func aReportCountsATrialOnceAndChecksAnswers() throws {
    let table = try write("steps.csv", Self.steps)
    try study([table, "--procedure", "staircase", "--simulate", "wrong", "--save", place("w.csv")])
    // Without a threshold there is none, in JSON too.
    #expect(try !study(["--report", "--json", place("w.csv")]).contains("figure"))
    #expect(try study(["--report", place("w.csv")]) == "p1 (seed 3)  no threshold after 100 trials\n")
    #expect {
      try study(["--report", place("w.csv"), place("w.csv")])
    } throws: {
      "\($0)" == "\(place("w.csv")):2:1: error: is a trial that was given before"
    }
    try study([table, "--procedure", "magnitude", "--simulate", "right", "--save", place("m.csv")])
    let text = String(decoding: try FileSystem.read(place("m.csv")), as: UTF8.self)
    let row = try #require(text.split(separator: "\r\n").dropFirst().first)
    let answer = row.split(separator: ",", omittingEmptySubsequences: false)[9]
    let broken = try write("b.csv", text.replacing(",\(answer),,", with: ",-5,,"))
    #expect {
      try study(["--report", broken])
    } throws: {
      "\($0)" == "\(broken):2:1: error: has an answer that 'magnitude' does not take"
    }
  }

  @Test func anAnswerWaitsForTheLastInterval() throws {
    let table = try write("t.csv", "id,duration,level\nreference,1,-40\na,1,-30\n")
    let words = [table, "--save", place("r.csv"), "--gap", "0.5"]
    // The intervals end behind 2.5 s: the first answer comes too early.
    let stage = VirtualStage([
      (1, .key(.character("1"))), (1.1, .key(.enter)), (4, .key(.character("2"))), (4.1, .key(.enter)),
    ])
    try study(words, on: stage)
    let found = try rows("r.csv")
    #expect(found.map { $0["answer"] } == ["2"])
    #expect(try #require(found[0]["seconds"].flatMap { Double($0) }) < 1.6)
  }

  @Test(arguments: [(1, 12.706), (2, 4.303), (3, 3.182), (5, 2.571), (10, 2.228), (30, 2.042)])
  func intervalsAreStudents(degrees: Int, point: Double) {
    #expect(abs(StudyReport.studentT(degrees) - point) < 0.004)
  }
}
