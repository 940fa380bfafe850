import BlindListening
import PatternComparison

/// What a command line says of a blind test.
struct BlindOptions {
  /// Trials of a test for which nothing else is said: 12 right are then rare by guessing.
  static let usualCount = 16
  /// The most trials.
  static let mostTrials = 10_000

  /// Trials that are agreed on, or nothing where the listener ends the test.
  let count: Int?
  /// What the draws follow from; nothing for a seed by chance.
  let seed: UInt64?
  /// By what levels are matched.
  let match: LevelMatch
  /// Answers that are made up, where nobody listens.
  let listener: SimulatedListener?
  /// Where the record goes; nothing for the usual place.
  let path: String?

  static let options = [
    Option(
      "--trials", value: "N",
      help: "Trials, 1 to \(mostTrials); 0 goes on until you press q, and proves less.",
      defaultText: "\(usualCount)"),
    Option(
      "--match", value: "MATCH", help: "By what levels are matched.",
      defaultText: LevelMatch.loudness.rawValue, choices: LevelMatch.allCases.map(\.rawValue)),
    Option(
      "--save", value: "FILE", help: "Where the record of all trials goes, as JSON.",
      defaultText: "abx-A-B-TIME.json in the current folder; nowhere with --simulate",
      completion: .file(endingIn: "json")),
    Option(
      "--seed", value: "N",
      help: "Draw the trials that belong to this number, 0 to \(BlindTest.greatestSeed).",
      defaultText: "by chance"),
    Option(
      "--simulate", value: "ANSWERS",
      help: "Answer without a listener and a device: a letter for each trial such as abba, or "
        + "\(SimulatedListener.Word.allCases.map(\.rawValue).joinedWithOr)."),
  ]

  /// What a command line asks for.
  init(_ arguments: ParsedArguments) throws(UsageError) {
    listener = try arguments.value("--simulate").map { (text) throws(UsageError) in
      try SimulatedListener(text)
    }
    let asked = try arguments.int("--trials", in: 0...Self.mostTrials)
    let natural = listener?.count ?? Self.usualCount
    guard natural <= Self.mostTrials else {
      throw UsageError(.correctValue, "'--simulate' takes at most \(Self.mostTrials) answers")
    }
    count = asked == 0 ? nil : asked ?? natural
    if count == nil, let listener, listener.count == nil {
      throw UsageError(
        .correctValue,
        "'--trials 0' has no end that made-up answers could come to; give a letter for each")
    }
    seed = try arguments.int("--seed", in: 0...Int(BlindTest.greatestSeed)).map { UInt64($0) }
    match = try arguments.choice("--match", as: LevelMatch.self) ?? .loudness
    path = arguments.value("--save")
  }

  /// The keys that give the made-up answers.
  func keys(seed: UInt64) -> [KeyPress] {
    guard let listener else { return [] }
    let answers = listener.answers(seed: seed, count: count ?? listener.count ?? 0)
    return SimulatedListener.keys(for: answers)
  }
}
