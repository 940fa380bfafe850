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
  private let folder: TemporaryFolder
  private static let steps =
    "id,intensity,sharpness,duration,level\nreference,1,0.5,0.3,-40\n"
    + (1...8).map { "s\($0),1,0.5,0.3,\(-40 + 2 * $0)\n" }.joined()

  init() throws { folder = try TemporaryFolder() }

  private func write(_ name: String, _ text: String) throws -> String {
    try Data(text.utf8).write(to: URL(filePath: folder(name)))
    return folder(name)
  }

  @discardableResult private func study(
    _ arguments: [String], on environment: ScriptedEnvironment = ScriptedEnvironment([])
  ) throws -> String {
    _ = try StudyCommand.run(
      StudyCommand.definition().parseArguments(arguments + ["--no-config"]),
      environment.recordedTerminal.terminal,
      on: environment,
      seed: { 3 },
      now: { CalendarTime(secondsSince1970: 1_769_860_800) })
    return environment.recordedTerminal.output
  }

  private func rows(_ name: String) throws -> [[String: String]] {
    try StudyResults(folder(name), bytes: FileSystem.read(folder(name))).rows.map(\.fields)
  }

  private func keys(_ text: String) -> [(Double, ScriptedEnvironment.ScriptStep)] {
    text.enumerated().map { index, character in
      (1 + Double(index) * 0.1, .key(character == "!" ? .enter : .character(character)))
    }
  }

  @Test(arguments: 1...5) func staircaseMeasuresTheThresholdOfAListener(seed: Int) throws {
    let table = try write("steps.csv", Self.steps)
    let text = try study([
      table, "--procedure", "staircase", "--seed", "\(seed)", "--simulate", "-33", "--output",
      folder("r.csv"),
    ])
    // The listener answers correctly from -32 dB on, and guesses below, where half of the answers
    // are correct.
    let threshold = try #require(
      text.firstMatch(of: /threshold (-[\d.]+)/).flatMap { Double($0.1) })
    #expect(-35 ... -31.5 ~= threshold)
    #expect(
      try study(["--report", folder("r.csv")]).contains(
        "threshold \(String(format: "%.2f", threshold)) after"))
  }

  @Test func levelsAreExact() throws {
    let table = try write("steps.csv", Self.steps)
    let text = try study([table, "--render", folder("out")])
    #expect(text.contains("s8.wav          -24.00 dBFS RMS"))
    let bytes = try FileSystem.read(folder("out/s8.wav"))
    let start = try #require(Data(bytes).range(of: Data("data".utf8))).upperBound + 4
    let samples = stride(from: start, to: bytes.count - 3, by: 4).map { offset in
      Float(bitPattern: (0..<4).reduce(0) { $0 | UInt32(bytes[offset + $1]) << UInt32(8 * $1) })
    }
    let power = samples.reduce(0.0) { $0 + Double($1 * $1) } / Double(samples.count)
    #expect(abs(10 * log10(power) + 24) < 0.01)
  }

  @Test func answersByKeyAreSavedAndContinued() throws {
    let table = try write("steps.csv", "id,level\nreference,-40\na,-30\nb,-20\n")
    let arguments = [table, "--output", folder("r.csv"), "--participant", "anna", "--gap", "0.1"]
    // The key 3 is not an answer, and q ends the study after the first trial.
    try study(arguments, on: ScriptedEnvironment(keys("3!1!q")))
    #expect(try rows("r.csv").count == 1)
    let report = try study(arguments, on: ScriptedEnvironment(keys("2!")))
    #expect(report.contains("2 of 2 trials"))
    let savedRows = try rows("r.csv")
    #expect(savedRows.map { $0["answer"] } == ["1", "2"])
    #expect(
      savedRows.allSatisfy {
        $0["time"] == "2026-01-31T12:00:00Z" && $0["participant"] == "anna" && $0["seed"] == "3"
      })
    #expect(Set(savedRows.compactMap { $0["tested"] }) == ["a", "b"])
    // The order of an uninterrupted study of the seed is the same.
    try study([table, "--seed", "3", "--simulate", "right", "--output", folder("other.csv")])
    #expect(try rows("other.csv").map { $0["intervals"] } == savedRows.map { $0["intervals"] })
  }

  @Test func participantsArePooled() throws {
    let table = try write("steps.csv", "id,level\nreference,-40\na,-30\n")
    for (name, answers) in [("x", "right"), ("y", "right"), ("z", "wrong")] {
      try study([
        table, "--repeats", "4", "--participant", name, "--simulate", answers, "--output",
        folder("\(name).csv"),
      ])
    }
    let files = ["x", "y", "z"].map { folder("\($0).csv") }
    #expect(
      try study(["--report"] + files)
        == """
        Simulated answers:
        participant  correct answers
        x            4 of 4 correct, 100 % (40 to 100 %), p = 0.063
        y            4 of 4 correct, 100 % (40 to 100 %), p = 0.063
        z            0 of 4 correct, 0 % (0 to 60 %), p = 1

        stimulus  dBFS    correct answers
        a         -30.00  8 of 12 correct, 67 % (35 to 90 %), p = 0.194

        The answers do not determine a psychometric function
        95 % confidence intervals of proportions: Clopper-Pearson, all answers pooled

        """)
    let lines = try study(["--report", "--csv"] + files).split(separator: "\r\n")
    #expect(
      lines[0]
        == "participant,stimulus,reference,value,quantity,count,correct,estimate,low,high,pValue,"
        + "simulated")
    #expect(lines[1].hasPrefix("x,,,,proportion,4,4,1.0,0.397"))
    #expect(lines[4].hasPrefix(",a,reference,-30.0,proportion,12,8,0.6666666666666666,0.348875"))
    let json = try JSONDocument(
      text: Array(try study(["--report", "--json"] + files).utf8), name: "report"
    ).root
    #expect(json["participants"]?.elements.map { $0["participant"]?.string } == ["x", "y", "z"])
    #expect(json["stimuli"]?.elements.map { $0["stimulus"]?.string } == ["a"])
    #expect(json["stimuli"]?.elements.map { $0["value"]?.number } == [-30])
    try study([
      table, "--procedure", "rating", "--simulate", "random", "--output", folder("rating.csv"),
    ])
    #expect {
      try study(["--report", files[0], folder("rating.csv")])
    } throws: {
      "\($0)"
        == "\(folder("rating.csv")):2:1: error: the procedure differs from that in \"\(files[0])\""
        .replacing("\"", with: "'")
    }
  }

  @Test("A report has the thresholds of a group with their intervals, and a figure")
  func aReportHasThresholds() throws {
    let table = try write("steps.csv", Self.steps)
    var files: [String] = []
    for seed in 1...4 {
      files.append(folder("s\(seed).csv"))
      try study([
        table, "--procedure", "staircase", "--seed", "\(seed)", "--simulate", "\(-37 + 2 * seed)",
        "--participant", "p\(seed)", "--output", folder("s\(seed).csv"),
      ])
    }
    let figure = folder("figure.svg")
    let text = try study(["--report"] + files + ["--plot", figure])
    #expect(text.contains("Mean threshold of 4 participants: -3"))
    #expect(text.contains("Threshold (70.7 % correct), fitted to all answers: -3"))
    #expect(text.contains("parametric bootstrap"))
    let figureText = String(decoding: try FileSystem.read(figure), as: UTF8.self)
    #expect(figureText.contains("4 participants, threshold −3"))
    let json = try JSONDocument(
      text: Array(try study(["--report", "--json"] + files).utf8), name: "report"
    ).root
    let group = try #require(json["group"])
    let thresholds = try #require(json["participants"]).elements.compactMap {
      $0["threshold"]?.number
    }
    #expect(thresholds.count == 4)
    #expect(
      abs((group["threshold"]?.number ?? 0) - thresholds.reduce(0, +) / 4) < 1e-9)
    #expect(json["psychometricFunction"]?["guessRate"]?.number == 0.5)
    #expect(throws: UsageError.self) { try study([table, "--plot", figure]) }
    #expect(throws: UsageError.self) { try study(["--report"] + files + ["--plot", "f.txt"]) }
  }

  @Test("The example of the article gives the results of the article")
  func theArticleIsTrue() throws {
    let steps = (1...5).map { "s\($0),1,0.5,0.3,\(-40 + 2 * $0)\n" }
    let table = try write(
      "steps.csv",
      "id,intensity,sharpness,duration,level\nreference,1,0.5,0.3,-40\n" + steps.joined())
    let files = (1...4).map { folder("study-steps-p\($0).csv") }
    for (index, level) in ["-37", "-35", "-35", "-33"].enumerated() {
      try study([
        table, "--procedure", "staircase", "--participant", "p\(index + 1)", "--simulate", level,
        "--seed", "\(index + 1)", "--output", files[index],
      ])
    }
    #expect(
      try study(["--report"] + files) == """
        Simulated answers:
        participant  staircase
        p1           threshold -37.00 after 23 trials
        p2           threshold -35.33 after 24 trials
        p3           threshold -35.00 after 18 trials
        p4           threshold -33.00 after 19 trials

        Mean threshold of 4 participants: -35.08 (-37.69 to -32.47, Student's t)
        Threshold (70.7 % correct), fitted to all answers: -35.25 (-37.36 to -34.06, \
        parametric bootstrap)

        """)
  }

  @Test("A page of a study has its trials, its stimuli, and its conditions")
  func aPageIsWritten() throws {
    let table = try write("t.csv", Self.pair)
    let page = folder("t.html")
    let environment = ScriptedEnvironment([])
    #expect(
      try study([table, "--page", page, "--procedure", "rating", "--seed", "5"], on: environment)
        == "")
    #expect(environment.engine == nil)
    #expect(environment.recordedTerminal.error.contains("open it in a browser"))
    let text = String(decoding: try FileSystem.read(page), as: UTF8.self)
    #expect(text.contains(#""procedure":"rating","pairs":[{"tested":0,"reference":0},{"#))
    #expect(text.contains(#""seed":5"#))
    #expect(
      text.contains(#""device":"browser","profile":"phone","program":"temblor \#(temblorVersion)""#)
    )
    // The sounds are those of --render.
    try study([table, "--render", folder("out")])
    let sound = Data(try FileSystem.read(folder("out/a.wav"))).base64EncodedString()
    #expect(text.contains("id=\"sound-1-0\" data-rate=\"48000\">\(sound)</script>"))
    for options in [
      ["--simulate", "right"], ["--strength", "0.5"], ["--output", folder("x.csv")],
    ] {
      #expect(throws: UsageError.self) { try study([table, "--page", page] + options) }
    }
    #expect(throws: (any Error).self) { try study([table, "--page", table]) }
  }

  @Test("Results of a page are pooled with those of the program")
  func resultsOfPagesArePooled() throws {
    let table = try write("t.csv", Self.pair)
    try answerByKey(table, to: "terminal.csv", participant: "anna")
    let text = String(decoding: try FileSystem.read(folder("terminal.csv")), as: UTF8.self)
    let page = try write(
      "page.csv", text.replacing(",anna,", with: ",ben,").replacing(",default,", with: ",browser,"))
    #expect(try rows("page.csv").map { $0["device"] } == ["browser"])
    #expect(try study(["--report", folder("terminal.csv"), page]).contains("of 2 correct"))
  }

  @Test("All errors of a table are reported at once")
  func allErrorsAreReported() throws {
    let rows = (0..<30).map { "s\($0),\($0 % 2 == 0 ? "loud" : "-30"),\($0 == 3 ? "x" : "")\n" }
    let table = try write("t.csv", "id,level,duration\n" + rows.joined())
    let environment = ScriptedEnvironment([])
    try study([table, "--simulate", "right"], on: environment)
    let lines = environment.recordedTerminal.error.replacing("\n  ", with: " ").split(
      separator: "\n")
    #expect(lines.count == 16)
    #expect(
      lines.first
        == "\(table):2:1: error: column 'level': must be a number from -120.0 to 0.0, not 'loud'")
    #expect(lines.contains { $0.hasPrefix("\(table):5:1: error: column 'duration'") })
  }

  @Test("At most 20 errors of a table are reported")
  func errorsAreCounted() throws {
    let table = try write(
      "t.csv", "id,level\n" + (0..<25).map { "s\($0),loud\n" }.joined())
    let environment = ScriptedEnvironment([])
    try study([table, "--simulate", "right"], on: environment)
    let lines = environment.recordedTerminal.error.replacing("\n  ", with: " ").split(
      separator: "\n")
    #expect(lines.count == 21)
    #expect(lines.last == "and 5 more errors")
  }

  @Test("Each row can have references of its own")
  func rowsHaveReferences() throws {
    let table = try write(
      "t.csv",
      "id,level,reference\na,-40,\nb,-30,a\nc,-35,\nd,-25,c a\n")
    try study([
      table, "--repeats", "2", "--simulate", "right", "--output", folder("r.csv"),
    ])
    let pairs = try rows("r.csv").compactMap { row in
      row["intervals"]?.split(separator: " ").sorted().joined(separator: " ")
    }
    #expect(pairs.sorted() == ["a b", "a b", "a d", "a d", "c d", "c d"])
    let text = try study(["--report", folder("r.csv")])
    #expect(text.contains("stimulus  reference  dBFS    correct answers\n"))
    #expect(text.contains("d         c          -25.00  2 of 2 correct"))
    #expect(text.contains("d         a          -25.00  2 of 2 correct"))
    // A staircase has a single reference.
    let environment = ScriptedEnvironment([])
    try study([table, "--procedure", "staircase", "--simulate", "right"], on: environment)
    #expect(
      environment.recordedTerminal.error.replacing("\n  ", with: " ").contains(
        "a staircase requires the same reference for all stimuli"))
    let unknownTable = try write("u.csv", "id,reference\na,\nb,x\n")
    let unknownEnvironment = ScriptedEnvironment([])
    try study([unknownTable, "--simulate", "right"], on: unknownEnvironment)
    #expect(
      unknownEnvironment.recordedTerminal.error.replacing("\n  ", with: " ")
        == "\(unknownTable):3:1: error: column 'reference': no row has the id 'x'\n")
  }

  @Test("Rendered stimuli have a table of conditions")
  func renderedStimuliHaveConditions() throws {
    let table = try write("t.csv", "id,level\nreference,-40\na,-30\n")
    let text = try study([table, "--render", folder("out")])
    #expect(text.contains("conditions.csv"))
    #expect(
      String(decoding: try FileSystem.read(folder("out/conditions.csv")), as: UTF8.self)
        == "stimulus,soundFile,level,reference,referenceFile,referenceLevel\r\n"
        + "a,a.wav,-30.0,reference,reference.wav,-40.0\r\n")
    // Rendering again changes nothing. Other conditions are not replaced.
    try study([table, "--render", folder("out")])
    #expect {
      try study([table, "--procedure", "rating", "--render", folder("out")])
    } throws: {
      "\($0)"
        == "\(folder("out/conditions.csv")): exists and does not contain the conditions of this "
        + "table; choose a different '--render'"
    }
  }

  @Test(arguments: [
    (
      "id,levle\na,1\n",
      """
      1:1: error: column 'levle': unknown; valid columns are id, file, profile, reference, \
      intensity, sharpness, duration, attack, decay, release, level
      """
    ),
    ("id,level\na,-3\na,-4\n", "3:1: error: column 'id': 'a' is already used in line 2"),
    (
      "id,level\na,loud\n",
      "2:1: error: column 'level': must be a number from -120.0 to 0.0, not 'loud'"
    ),
    (
      "id,level\na,0.\u{9B}\n",
      "2:1: error: column 'level': must be a number from -120.0 to 0.0, not '0.\\u{009B}'"
    ),
    (
      "id,file\na,nowhere.ahap\n",
      "2:1: error: column 'file': nowhere.ahap: \(ExpectedMessage.unknownPattern)"
    ),
    ("id,file\na,/\n", "2:1: error: column 'file': /: is a folder; specify a single pattern"),
    ("id,file\na,.\n", "2:1: error: column 'file': .: is a folder; specify a single pattern"),
    ("id,file\na,/dev/zero\n", "2:1: error: column 'file': /dev/zero: is not a regular file"),
    ("id,file\na,-\n", "2:1: error: column 'file': -: \(ExpectedMessage.unknownPattern)"),
    ("id,profile\na,nobody\n", "2:1: error: column 'profile': "),
    ("id,profile\na,-\n", "2:1: error: column 'profile': '-' is not a regular file"),
    ("id,profile\na,/dev\n", "2:1: error: column 'profile': '/dev' is not a regular file"),
    ("level\n-3\n", "1:1: error: the table must have a column 'id' and a row for each stimulus"),
  ]) func errorsInATableHaveLocations(text: String, message: String) throws {
    let table = try write("t.csv", text)
    let environment = ScriptedEnvironment([])
    try study([table, "--simulate", "right"], on: environment)
    #expect(
      environment.recordedTerminal.error.replacing("\n  ", with: " ").hasPrefix(
        "\(table):\(message)"))
  }

  @Test("A pattern file is found in the folder of the table, not in the working folder")
  func filesAreBesideTheTable() throws {
    // The tests run in the folder of the package, which contains this file.
    let file = "Patterns/heartbeat.ahap"
    #expect(FileSystem.entryKind(at: file) == .file)
    let table = try write("t.csv", "id,file\na,\(file)\n")
    let environment = ScriptedEnvironment([])
    try study([table, "--simulate", "right"], on: environment)
    #expect(
      environment.recordedTerminal.error.replacing("\n  ", with: " ").hasPrefix(
        "\(table):2:1: error: column 'file': \(file): \(ExpectedMessage.unknownPattern)"))
  }

  @Test("A file with several patterns is not a stimulus")
  func fileWithSeveralPatterns() throws {
    let envelope = #"[{"time": 0, "amplitude": 0.5}, {"time": 0.2, "amplitude": 0.5}]"#
    let signals = #"{"continuous": {"envelopes": {"amplitude": \#(envelope)}}}"#
    let clips = ["snow", "dirt"].map { name in
      #"{"clipId": "\#(name)", "name": "\#(name)", "haptic": {"signals": \#(signals)}}"#
    }
    _ = try write("steps.hasp", #"{"clips": [\#(clips.joined(separator: ","))], "state": {}}"#)
    let table = try write("t.csv", "id,file\na,steps.hasp\n")
    let environment = ScriptedEnvironment([])
    try study([table, "--simulate", "right"], on: environment)
    #expect(
      environment.recordedTerminal.error.replacing("\n  ", with: " ").hasPrefix(
        "\(table):2:1: error: column 'file': steps.hasp: is not a single pattern"))
  }

  @Test func aLevelThatCannotBeReachedIsNamed() throws {
    let table = try write("t.csv", "id,level\na,-3\nb,-20\n")
    let environment = ScriptedEnvironment([])
    try study([table, "--render", folder("out")], on: environment)
    #expect(
      environment.recordedTerminal.error.replacing("\n  ", with: " ").hasPrefix(
        "\(table):2:1: error: column 'level': -3.0 dBFS is too high; 'a' supports at most"))
    #expect(FileSystem.entryKind(at: folder("out/b.wav")) == .missing)
  }

  @Test func resultsOfAnotherStudyAreRefused() throws {
    let table = try write("t.csv", "id,level\nreference,-40\na,-30\n")
    let outputOptions = ["--output", folder("r.csv")]
    try study([table, "--simulate", "right"] + outputOptions)
    #expect {
      try study([table, "--simulate", "right", "--participant", "other"] + outputOptions)
    } throws: {
      "\($0)"
        == """
        \(folder("r.csv")):2:1: error: column 'participant' is 'p1', but it is 'other' in this \
        study; choose a different '--output'
        """
    }
  }

  @Test func strongerStimulusIsTheCorrectAnswer() throws {
    let table = try write("t.csv", "id,level\nreference,-30\nweak,-40\nstrong,-20\n")
    try study([
      table, "--repeats", "8", "--seed", "2", "--simulate", "right", "--output", folder("r.csv"),
    ])
    for row in try rows("r.csv") {
      let stronger = row["tested"] == "weak" ? "reference" : "strong"
      let intervalIndex = try #require(
        row["intervals"]?.split(separator: " ").firstIndex { $0 == stronger })
      #expect(row["right"] == "\(intervalIndex + 1)")
    }
    let weakEnvironment = ScriptedEnvironment([])
    try study(
      [table, "--procedure", "staircase", "--simulate", "right", "--output", folder("s.csv")],
      on: weakEnvironment)
    #expect(
      weakEnvironment.recordedTerminal.error.replacing("\n  ", with: " ")
        == "\(table):3:1: error: a staircase requires stimuli stronger than the reference\n")
    let mixedTable = try write("m.csv", "id,level,intensity\nreference,-30,\na,,1\n")
    let mixedEnvironment = ScriptedEnvironment([])
    try study(
      [mixedTable, "--procedure", "staircase", "--simulate", "right", "--output", folder("s.csv")],
      on: mixedEnvironment)
    #expect(
      mixedEnvironment.recordedTerminal.error.replacing("\n  ", with: " ")
        == """
        \(mixedTable):3:1: error: a staircase requires a level or an intensity for each stimulus

        """)
  }

  @Test func aReportCountsATrialOnceAndChecksAnswers() throws {
    let table = try write("steps.csv", Self.steps)
    try study([table, "--procedure", "staircase", "--simulate", "wrong", "-o", folder("w.csv")])
    // Without a threshold, the JSON contains none either.
    #expect(try !study(["--report", "--json", folder("w.csv")]).contains("threshold"))
    #expect(
      try study(["--report", folder("w.csv")]).contains(
        "p1           no threshold after 100 trials\n"))
    #expect {
      try study(["--report", folder("w.csv"), folder("w.csv")])
    } throws: {
      "\($0)" == "\(folder("w.csv")):2:1: error: duplicate trial"
    }
    try study([table, "--procedure", "magnitude", "--simulate", "right", "-o", folder("m.csv")])
    let text = String(decoding: try FileSystem.read(folder("m.csv")), as: UTF8.self)
    let row = try #require(text.split(separator: "\r\n").dropFirst().first)
    let savedAnswer = row.split(separator: ",", omittingEmptySubsequences: false)[9]
    let invalidFile = try write("b.csv", text.replacing(",\(savedAnswer),,", with: ",-5,,"))
    #expect {
      try study(["--report", invalidFile])
    } throws: {
      "\($0)" == "\(invalidFile):2:1: error: invalid answer for 'magnitude'"
    }
  }

  @Test func anAnswerWaitsForTheLastInterval() throws {
    let table = try write("t.csv", "id,duration,level\nreference,1,-40\na,1,-30\n")
    let arguments = [table, "--output", folder("r.csv"), "--gap", "0.5"]
    // The intervals end after 2.5 s, so the first answer is too early.
    let environment = ScriptedEnvironment([
      (1, .key(.character("1"))), (1.1, .key(.enter)), (4, .key(.character("2"))),
      (4.1, .key(.enter)),
    ])
    try study(arguments, on: environment)
    let savedRows = try rows("r.csv")
    #expect(savedRows.map { $0["answer"] } == ["2"])
    #expect(try #require(savedRows[0]["seconds"].flatMap { Double($0) }) < 1.6)
  }

  // MARK: - Conditions

  private static let pair = "id,level\nreference,-40\na,-30\n"

  /// Answers the one trial of `pair` by key.
  @discardableResult private func answerByKey(
    _ table: String, to name: String, _ options: [String] = [], participant: String = "p1"
  ) throws -> ScriptedEnvironment {
    let environment = ScriptedEnvironment(keys("2!"))
    try study(
      [table, "--output", folder(name), "--participant", participant] + options, on: environment)
    return environment
  }

  /// Writes a copy of results in the earlier form without conditions: without the last four
  /// columns.
  private func writeWithoutConditions(_ name: String, to copyName: String) throws -> String {
    let text = String(decoding: try FileSystem.read(folder(name)), as: UTF8.self)
    let lines = text.split(separator: "\r\n").map { line in
      line.split(separator: ",", omittingEmptySubsequences: false).dropLast(4).joined(
        separator: ",")
    }
    return try write(copyName, lines.joined(separator: "\r\n") + "\r\n")
  }

  @Test("No key changes the strength or mutes during a study")
  func theLevelIsFixed() throws {
    let table = try write("t.csv", Self.pair)
    let environment = ScriptedEnvironment(keys("?--+m2!"))
    try study([table, "--output", folder("r.csv")], on: environment)
    let engine = try #require(environment.engine)
    #expect(engine.strength == 1)
    #expect(!engine.isMuted)
    #expect(!environment.recordedTerminal.error.contains("mute"))
    #expect(!environment.recordedTerminal.error.contains("strength"))
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
    try study([table, "--simulate", "right", "--output", folder("s.csv")])
    let simulated = try #require(try rows("s.csv").first)
    #expect(simulated["simulated"] == "true")
    #expect(simulated["strength"] == "" && simulated["device"] == "")
  }

  @Test("A saved strength is refused, since it would change the levels of the table")
  func aSavedStrengthIsRefused() throws {
    let table = try write("t.csv", Self.pair)
    func run(_ options: [String], _ environment: ScriptedEnvironment) throws {
      var arguments = try StudyCommand.definition().parseArguments([table] + options)
      if arguments.value("--strength") == nil {
        arguments.setDefaultValues(["0.2"], for: "--strength", origin: "config.json")
      }
      _ = try StudyCommand.run(
        arguments, environment.recordedTerminal.terminal, on: environment, seed: { 3 },
        now: { CalendarTime(secondsSince1970: 0) })
    }
    let environment = ScriptedEnvironment(keys("2!"))
    #expect {
      try run(["--output", folder("r.csv")], environment)
    } throws: {
      "\($0)" == "config.json sets the strength to 0.2, which changes the levels of the study; "
        + "use '--strength 1' to play the exact levels, or '--strength 0.2' to scale them"
    }
    #expect(environment.engine == nil)
    #expect(FileSystem.entryKind(at: folder("r.csv")) == .missing)
    try run(["--strength", "1", "--output", folder("r.csv")], environment)
    #expect(try rows("r.csv").first?["strength"] == "1")
    // Nothing plays in a simulation.
    try run(["--simulate", "right", "--output", folder("s.csv")], ScriptedEnvironment([]))
  }

  @Test("A study does not continue at another strength, or with answers of another origin")
  func otherConditionsAreNotContinued() throws {
    let table = try write("t.csv", "id,level\nreference,-40\na,-30\nb,-20\n")
    let baseArguments = [table, "--output", folder("r.csv")]
    try study(baseArguments, on: ScriptedEnvironment(keys("2!q")))
    for (options, strength) in [
      (["--strength", "0.5"], "'0.5'"),
      (["--simulate", "right"], "''"),
    ] {
      #expect {
        try study(baseArguments + options)
      } throws: {
        "\($0)" == """
          \(folder("r.csv")):2:1: error: column 'strength' is '1', but it is \(strength) in this \
          study; choose a different '--output'
          """
      }
    }
    try study([table, "--simulate", "right", "--output", folder("s.csv")])
    #expect {
      try study([table, "--output", folder("s.csv")])
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
    try study([table, "--output", folder("r.csv")], on: ScriptedEnvironment(keys("2!q")))
    try study(
      [table, "--output", folder("r.csv"), "--profile", "speaker"],
      on: ScriptedEnvironment(keys("2!")))
    #expect(try rows("r.csv").map { $0["profile"] } == ["phone", "speaker"])
  }

  @Test("A simulation writes results only with --output")
  func aSimulationIsNotSaved() throws {
    // The name of the folder is unique, so that no other test writes to this file.
    let name = FileSystem.fileName(of: FileSystem.folderPath(of: folder("t.csv")))
    let table = try write("\(name).csv", Self.pair)
    #expect(try study([table, "--simulate", "right"]) == "1 of 1 simulated trial, 1 correct\n")
    #expect(FileSystem.entryKind(at: "study-\(name)-p1.csv") == .missing)
  }

  @Test("A complete study says that nothing was played")
  func aCompleteStudyPlaysNothing() throws {
    let table = try write("t.csv", Self.pair)
    try answerByKey(table, to: "r.csv")
    let environment = ScriptedEnvironment([])
    let text = try study([table, "--output", folder("r.csv")], on: environment)
    #expect(text.hasPrefix("\(folder("r.csv")): 1 of 1 trial, "))
    #expect(text.hasSuffix(" correct; already complete, nothing was played\n"))
    #expect(environment.engine == nil)
  }

  @Test("A report does not pool simulated answers, or answers at another strength, with others")
  func differentConditionsAreNotPooled() throws {
    let table = try write("t.csv", Self.pair)
    try answerByKey(table, to: "real.csv", participant: "anna")
    try answerByKey(table, to: "half.csv", ["--strength", "0.5"], participant: "ben")
    try study([table, "--simulate", "right", "--output", folder("s.csv")])
    let formerFile = try writeWithoutConditions("real.csv", to: "former.csv")
    let files = ["real.csv", "half.csv", "s.csv"].map { folder($0) }
    let simulated = "but '\(files[2])' has simulated answers"
    for (pool, message) in [
      ([files[0], files[2]], "\(files[0]):2:1: error: has answers of a person, \(simulated)"),
      ([files[2], files[0]], "\(files[0]):2:1: error: has answers of a person, \(simulated)"),
      (
        [files[2], formerFile],
        "\(formerFile):2:1: error: has answers that may be simulated, \(simulated)"
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
    try study([table, "--output", folder("r.csv")], on: ScriptedEnvironment(keys("2!q")))
    let formerFile = try writeWithoutConditions("r.csv", to: "former.csv")
    let environment = ScriptedEnvironment([])
    #expect(try study(["--report", formerFile], on: environment).contains("of 1 correct"))
    #expect(
      environment.recordedTerminal.error.replacing("\n  ", with: " ")
        == "\(formerFile): strength unknown; the answers may be simulated\n")
    try study([table, "--output", formerFile], on: ScriptedEnvironment(keys("2!")))
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
    let environment = ScriptedEnvironment(keys("4q"))
    environment.recordedTerminal.resize(to: width)
    try study(
      [table, "--procedure", procedure.rawValue, "--output", folder("r.csv")], on: environment)
    let text = environment.recordedTerminal.error
    let normalizedText = text.replacing("\n", with: " ").split(separator: " ").joined(
      separator: " ")
    #expect(normalizedText.contains("1\(procedure.plannedText): \(procedure.question) "))
    #expect(text.contains("answer: 4 "))
    #expect(!text.contains("0:00.0"))
    #expect(!text.contains("?:"))
  }

  @Test("A message about an invalid answer lists the valid answers")
  func otherAnswersAreNamed() throws {
    let table = try write("t.csv", Self.pair)
    let environment = ScriptedEnvironment(keys("3!q"))
    try study([table, "--output", folder("r.csv")], on: environment)
    #expect(environment.recordedTerminal.error.contains("Type 1 or 2, then press Enter.\n"))
  }

  @Test("The last line contains the number of trials and the result")
  func theLastLineCountsTrials() throws {
    let table = try write("steps.csv", Self.steps)
    let outputOptions = ["--output", folder("r.csv")]
    #expect(
      try study([table, "--procedure", "magnitude", "--simulate", "right"])
        == "9 of 9 simulated trials\n")
    let environment = ScriptedEnvironment([
      (4, .key(.character("1"))), (4.1, .key(.enter)), (4.2, .key(.character("q"))),
    ])
    let text = try study([table, "--procedure", "staircase"] + outputOptions, on: environment)
    #expect(text == "\(folder("r.csv")): 1 trial, no threshold yet\n")
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
