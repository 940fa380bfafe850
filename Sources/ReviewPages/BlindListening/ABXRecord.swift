public import Reading

/// A blind test with all that is needed to look at it later, as JSON.
public struct ABXRecord: Sendable {
  /// One of the two takes.
  public struct Take: Equatable, Sendable {
    /// What messages call it.
    public var name: String
    /// The SHA-256 of the file's bytes, in hexadecimal digits.
    public var hash: String
    /// The factor it was played at.
    public var gain: Double
    /// Seconds it lasts.
    public var duration: Double

    /// Makes a take.
    public init(name: String, hash: String, gain: Double, duration: Double) {
      self.name = name
      self.hash = hash
      self.gain = gain
      self.duration = duration
    }
  }

  /// The version of the format of the record.
  public static let formatVersion = 2

  /// The test.
  public var test: ABXTest
  /// The first thing.
  public var a: Take
  /// The second thing.
  public var b: Take
  /// What levels were matched by: `loudness`, `felt` or `none`.
  public var match: String
  /// The profile that patterns were rendered with.
  public var profile: String
  /// The program with its version.
  public var program: String
  /// The version of the rendering model.
  public var renderingModel: Int
  /// When the test began, as `2026-01-31T12:00:00Z`; nil where no clock was looked at.
  public var startTime: String?
  /// The output that played, or nil where nobody listened.
  public var device: String?
  /// Whether the answers were simulated.
  public var isSimulated: Bool

  /// Makes a record.
  public init(
    test: ABXTest, a: Take, b: Take, match: String, profile: String, program: String, renderingModel: Int,
    startTime: String?, device: String?, isSimulated: Bool
  ) {
    self.test = test
    self.a = a
    self.b = b
    self.match = match
    self.profile = profile
    self.program = program
    self.renderingModel = renderingModel
    self.startTime = startTime
    self.device = device
    self.isSimulated = isSimulated
  }

  /// The record as a text of its own.
  public func json() -> [UInt8] {
    var json = JSONWriter()
    json.object { write(to: &$0) }
    return json.finish()
  }

  /// Writes the record into an object.
  public func write(to entry: inout JSONObjectWriter) {
    entry.member("formatVersion", Self.formatVersion)
    entry.member("test", "abx")
    entry.member("program", program)
    entry.member("renderingModel", renderingModel)
    if let startTime { entry.member("startTime", startTime) }
    if let device { entry.member("device", device) }
    entry.member("simulated", isSimulated)
    entry.member("profile", profile)
    entry.member("match", match)
    for (key, take) in [("a", a), ("b", b)] { entry.object(key) { Self.write(take, to: &$0) } }
    entry.member("seed", Int(test.seed))
    if let count = test.plannedCount { entry.member("plannedTrials", count) } else { entry.null("plannedTrials") }
    entry.array("trials") { list in
      for trial in test.trials { list.object(layout: .line) { Self.write(trial, to: &$0) } }
    }
    entry.object("result") { Self.write(test.result, to: &$0) }
  }

  private static func write(_ take: Take, to entry: inout JSONObjectWriter) {
    entry.member("name", take.name)
    entry.member("sha256", take.hash)
    entry.member("gain", take.gain)
    entry.member("seconds", take.duration)
  }

  private static func write(_ trial: Trial, to entry: inout JSONObjectWriter) {
    entry.member("x", trial.x.rawValue)
    entry.member("answer", trial.answer.rawValue)
    entry.member("correct", trial.isCorrect)
    entry.object("switchCounts") { counts in
      counts.member("a", trial.switchCounts.a)
      counts.member("b", trial.switchCounts.b)
      counts.member("x", trial.switchCounts.x)
    }
    entry.member("from", milliseconds(trial.start))
    entry.member("to", milliseconds(trial.end))
  }

  private static func write(_ result: ABXResult, to entry: inout JSONObjectWriter) {
    entry.member("correctCount", result.correctCount)
    entry.member("trials", result.trialCount)
    entry.member("complete", result.isComplete)
    entry.member("pValue", result.pValue)
    entry.member("conclusion", result.conclusion.rawValue)
    entry.member("sentence", result.sentence)
  }

  /// Seconds to the millisecond, finer than anybody presses a key.
  private static func milliseconds(_ seconds: Double) -> Double { (seconds * 1_000).rounded() / 1_000 }
}
