internal import Reading
package import SystemSupport

/// The record of an ABX test and its conditions, as JSON or CSV.
public struct ABXRecord: Sendable {
  /// One of the two compared takes.
  public struct Take: Equatable, Sendable {
    /// The name in messages.
    public var name: String
    /// The SHA-256 of the bytes of the file, in hexadecimal.
    public var sha256: String
    /// The gain of playback.
    public var gain: Double
    /// The duration, in seconds.
    public var duration: Double

    /// Creates a take.
    ///
    /// - Parameters:
    ///   - name: The name in messages.
    ///   - sha256: The SHA-256 of the bytes of the file, in hexadecimal.
    ///   - gain: The gain of playback.
    ///   - duration: The duration, in seconds.
    public init(name: String, sha256: String, gain: Double, duration: Double) {
      self.name = name
      self.sha256 = sha256
      self.gain = gain
      self.duration = duration
    }
  }

  /// The version of the record's format.
  public static let formatVersion = 2

  /// The test.
  public var test: ABXTest
  /// Take A.
  public var a: Take
  /// Take B.
  public var b: Take
  /// The measure by which levels were matched: `loudness`, `felt` or `none`.
  public var levelMatch: String
  /// The name of the profile that rendered patterns.
  public var profile: String
  /// The gain of both takes, 0…1.
  public var strength: Double
  /// The program with its version.
  public var program: String
  /// The version of the rendering model.
  public var renderingModel: Int
  /// The start time of the test, such as `2026-01-31T12:00:00Z`, or nil if it is unknown.
  public var startTime: String?
  /// The output device, or nil if the takes were not played.
  public var device: String?
  /// A Boolean value that indicates whether the answers were simulated.
  public var isSimulated: Bool

  /// Creates a record. The parameters are the properties of the record.
  public init(
    test: ABXTest, a: Take, b: Take, levelMatch: String, profile: String, strength: Double,
    program: String, renderingModel: Int, startTime: String?, device: String?, isSimulated: Bool
  ) {
    self.test = test
    self.a = a
    self.b = b
    self.levelMatch = levelMatch
    self.profile = profile
    self.strength = strength
    self.program = program
    self.renderingModel = renderingModel
    self.startTime = startTime
    self.device = device
    self.isSimulated = isSimulated
  }

  /// Returns the record as a JSON document.
  public func json() -> [UInt8] {
    var json = JSONWriter()
    json.object(fields.write)
    return json.finish()
  }

  /// The trials as rows with the seed and the conditions, so that records of several tests can be
  /// joined. Times are in seconds.
  package var trialTable: CSVTable {
    var table = CSVTable(columns: [
      "a", "b", "seed", "trial", "x", "answer", "correct", "heardA", "heardB", "heardX", "onset",
      "answered", "responseTime", "match", "gainA", "gainB", "strength", "profile", "device",
      "program", "simulated",
    ])
    let levels = [a.gain, b.gain, strength].map(NumberFormatting.plain)
    let conditions = [levelMatch] + levels + [profile, device ?? "", program, "\(isSimulated)"]
    for (index, trial) in test.trials.enumerated() {
      let start = Self.roundedToMilliseconds(trial.start)
      let end = Self.roundedToMilliseconds(trial.end)
      let switchCounts = trial.switchCounts
      let responseTime = Self.roundedToMilliseconds(end - start)
      let times = [start, end, responseTime].map(NumberFormatting.plain)
      let answer = [
        a.name, b.name, "\(test.seed)", "\(index + 1)", trial.x.rawValue, trial.answer.rawValue,
        "\(trial.isCorrect)", "\(switchCounts.a)", "\(switchCounts.b)", "\(switchCounts.x)",
      ]
      table.append(answer + times + conditions)
    }
    return table
  }

  private var fields: JSONObject {
    func takeFields(_ take: Take) -> JSONObject {
      ["name": take.name, "sha256": take.sha256, "gain": take.gain, "seconds": take.duration]
    }
    let result = test.result
    return [
      "formatVersion": Self.formatVersion, "test": "abx", "program": program,
      "renderingModel": renderingModel, "startTime": startTime, "device": device,
      "simulated": isSimulated, "profile": profile, "strength": strength,
      "match": levelMatch, "a": takeFields(a), "b": takeFields(b), "seed": Int(test.seed),
      "plannedTrials": test.plannedCount?.json ?? JSONElement.null,
      "trials": test.trials.map { trial -> JSONElement in
        .inlineObject([
          "x": trial.x.rawValue, "answer": trial.answer.rawValue, "correct": trial.isCorrect,
          "switchCounts": [
            "a": trial.switchCounts.a, "b": trial.switchCounts.b, "x": trial.switchCounts.x,
          ] as JSONObject,
          "from": Self.roundedToMilliseconds(trial.start),
          "to": Self.roundedToMilliseconds(trial.end),
        ])
      },
      "result": [
        "correctCount": result.correctCount, "trials": result.trialCount,
        "complete": result.isComplete,
        "pValue": result.pValue, "conclusion": result.conclusion.rawValue,
        "sentence": result.sentence,
      ] as JSONObject,
    ]
  }

  /// Returns a time in seconds rounded to milliseconds, which is finer than the precision of a key
  /// press.
  private static func roundedToMilliseconds(_ seconds: Double) -> Double {
    (seconds * 1_000).rounded() / 1_000
  }
}
