import ReviewPages
import CommandLineKit
internal import Glibc
import PatternComparison
import SystemSupport

/// What a command line says of a blind test.
struct ABXOptions {
  /// Trials of a test for which nothing else is said: 12 right are then rare by guessing.
  static let defaultTrialCount = 16
  static let maximumTrialCount = 10_000

  /// Trials that are agreed on, or nothing where the listener ends the test.
  let count: Int?
  /// What the draws follow from; nothing for a seed by chance.
  let seed: UInt64?
  let match: LevelMatch
  /// Answers that are made up, where nobody listens.
  let listener: SimulatedListener?
  /// Where the record goes; nothing for the usual place.
  let path: String?

  static let options: [any OptionDeclaration] = [
    trials, levelMatch,
    Option(
      "--save", value: "FILE", help: "Write the record of all trials to this JSON file.",
      defaultText: "abx-A-B-TIME.json in the current folder; none with --simulate", completion: .file(endingIn: "json"),
      writes: ["json"]),
    seedOption,
    Option(
      "--simulate", value: "ANSWERS",
      help: "Simulate the answers, without a listener or device: one letter per trial, such as abba, or "
        + "\(SimulatedListener.Word.allCases.map(\.rawValue).joinedWithOr)."),
  ]

  private static let trials = Option(
    "--trials", value: "N", help: "Number of trials, 1 to \(maximumTrialCount); 0 runs until you press q.",
    defaultText: "\(defaultTrialCount)"
  ).int(in: 0...maximumTrialCount)
  private static let levelMatch = Option("--match", value: "MATCH", help: "Level matching.")
    .choice(default: LevelMatch.loudness)
  private static let seedOption = Option(
    "--seed", value: "N", help: "Seed of the random order, 0 to \(ABXTest.greatestSeed).", defaultText: "random"
  ).int(in: 0...Int(ABXTest.greatestSeed))

  init(_ arguments: ParsedArguments) throws(UsageError) {
    listener = try arguments.value("--simulate").map { (text) throws(UsageError) in try SimulatedListener(text) }
    let asked = try arguments[Self.trials]
    let natural = listener?.count ?? Self.defaultTrialCount
    guard natural <= Self.maximumTrialCount else {
      throw UsageError(.invalidValue, "'--simulate' takes at most \(Self.maximumTrialCount) answers")
    }
    count = asked == 0 ? nil : asked ?? natural
    if count == nil, let listener, listener.count == nil {
      throw UsageError(.invalidValue, "'--trials 0' with '--simulate' requires one letter per trial")
    }
    seed = try arguments[Self.seedOption].map { UInt64($0) }
    match = try arguments[Self.levelMatch]
    path = arguments.value("--save")
  }

  func keys(seed: UInt64) -> [KeyPress] {
    guard let listener else { return [] }
    let answers = listener.answers(seed: seed, count: count ?? listener.count ?? 0)
    return SimulatedListener.keys(for: answers)
  }
}

/// Where the record of a test goes when it is over; nothing is written before.
struct RecordFile: ~Copyable {
  private var file: AtomicFileWriter?

  /// Makes sure that the file can be written, where there is to be one.
  init(_ path: String?) throws(FileError) {
    guard let path else {
      file = nil
      return
    }
    file = try AtomicFileWriter(path)
  }

  mutating func write(_ bytes: [UInt8]) throws(FileError) {
    try file?.write(bytes)
    try file?.commit()
  }
}

/// A moment as calendars tell it, in universal time.
struct CalendarTime: Equatable, Sendable {
  /// Seconds since the beginning of 1970.
  var seconds: Int

  static var now: CalendarTime { CalendarTime(seconds: Glibc.time(nil)) }

  /// `2026-01-31T12:00:00Z`.
  var text: String {
    let parts = parts
    return "\(parts.date.joined(separator: "-"))T\(parts.time.joined(separator: ":"))Z"
  }

  /// `20260131-120000`: what the name of a file may hold.
  var fileText: String {
    let parts = parts
    return "\(parts.date.joined())-\(parts.time.joined())"
  }

  private var parts: (date: [String], time: [String]) {
    var moment = time_t(seconds)
    var fields = unsafe tm()
    _ = unsafe gmtime_r(&moment, &fields)
    return (
      ["\(unsafe fields.tm_year + 1_900)", Self.two(unsafe fields.tm_mon + 1), Self.two(unsafe fields.tm_mday)],
      [Self.two(unsafe fields.tm_hour), Self.two(unsafe fields.tm_min), Self.two(unsafe fields.tm_sec)]
    )
  }

  private static func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
