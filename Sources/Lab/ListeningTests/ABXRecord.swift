internal import Reading
package import SystemSupport

/// The complete record of a blind test, which is saved as JSON.
public struct ABXRecord: Sendable {
  /// A take of the blind test, with its name, the hash of its content, and its playback gain.
  public struct Take: Equatable, Sendable {
    /// The name of the take in messages.
    public var name: String
    /// The SHA-256 hash of the take's file, in hexadecimal digits.
    public var sha256: String
    /// The gain with which the take was played.
    public var gain: Double
    /// The duration of the take, in seconds.
    public var duration: Double

    /// Creates a take.
    public init(name: String, sha256: String, gain: Double, duration: Double) {
      self.name = name
      self.sha256 = sha256
      self.gain = gain
      self.duration = duration
    }
  }

  /// The version of the format of the record.
  public static let formatVersion = 2

  /// The test with its answers.
  public var test: ABXTest
  /// The first take.
  public var a: Take
  /// The second take.
  public var b: Take
  /// The measure by which the levels of the takes were matched: `loudness`, `felt`, or `none`.
  public var levelMatch: String
  /// The profile with which patterns were rendered.
  public var profile: String
  /// The playback gain that applies to both takes, from 0 to 1.
  public var playbackStrength: Double
  /// The name and version of the program.
  public var programVersion: String
  /// The version of the model that rendered the patterns.
  public var renderingModel: Int
  /// The time at which the test started, such as `2026-01-31T12:00:00Z`, or nil if no clock was
  /// available.
  public var startTime: String?
  /// The output device, or nil if the takes were not played.
  public var device: String?
  /// A Boolean value that indicates whether the answers were simulated.
  public var isSimulated: Bool

  /// Creates a record.
  public init(
    test: ABXTest, a: Take, b: Take, levelMatch: String, profile: String, strength: Double,
    program: String, renderingModel: Int, startTime: String?, device: String?, isSimulated: Bool
  ) {
    self.test = test
    self.a = a
    self.b = b
    self.levelMatch = levelMatch
    self.profile = profile
    self.playbackStrength = strength
    self.programVersion = program
    self.renderingModel = renderingModel
    self.startTime = startTime
    self.device = device
    self.isSimulated = isSimulated
  }

  /// Returns the record as a JSON document.
  public func json() -> [UInt8] {
    var jsonWriter = JSONWriter()
    jsonWriter.writeObject(jsonFields.write)
    return jsonWriter.finish()
  }

  /// The trials as rows with the seed and the conditions, so that the records of several tests can
  /// be combined. Times are in seconds.
  package var trialTable: CSVTable {
    var table = CSVTable(columnNames: [
      "a", "b", "seed", "trial", "x", "answer", "correct", "heardA", "heardB", "heardX", "onset",
      "answered",
      "responseTime", "match", "gainA", "gainB", "strength", "profile", "device", "program",
      "simulated",
    ])
    let levelTexts = [a.gain, b.gain, playbackStrength].map(NumberFormatting.plainText)
    let conditionTexts =
      [levelMatch] + levelTexts + [profile, device ?? "", programVersion, "\(isSimulated)"]
    for (index, trial) in test.trials.enumerated() {
      let onset = Self.roundedToMilliseconds(trial.startSeconds)
      let end = Self.roundedToMilliseconds(trial.endSeconds)
      let heard = trial.switchCounts
      let times = [onset, end, Self.roundedToMilliseconds(end - onset)].map(
        NumberFormatting.plainText)
      table.appendRow(
        [
          a.name, b.name, "\(test.seed)", "\(index + 1)", trial.hiddenSide.rawValue,
          trial.answer.rawValue,
        ]
          + [
            "\(trial.isCorrect)", "\(heard.a)", "\(heard.b)", "\(heard.x)",
          ] + times + conditionTexts)
    }
    return table
  }

  private var jsonFields: JSONObject {
    func takeFields(_ take: Take) -> JSONObject {
      ["name": take.name, "sha256": take.sha256, "gain": take.gain, "seconds": take.duration]
    }
    let testResult = test.result
    return [
      "formatVersion": Self.formatVersion, "test": "abx", "program": programVersion,
      "renderingModel": renderingModel,
      "startTime": startTime, "device": device, "simulated": isSimulated, "profile": profile,
      "strength": playbackStrength,
      "match": levelMatch, "a": takeFields(a), "b": takeFields(b), "seed": Int(test.seed),
      "plannedTrials": test.plannedCount?.json ?? JSONElement.null,
      "trials": test.trials.map { trial -> JSONElement in
        .inlineObject([
          "x": trial.hiddenSide.rawValue, "answer": trial.answer.rawValue,
          "correct": trial.isCorrect,
          "switchCounts": [
            "a": trial.switchCounts.a, "b": trial.switchCounts.b, "x": trial.switchCounts.x,
          ]
            as JSONObject, "from": Self.roundedToMilliseconds(trial.startSeconds),
          "to": Self.roundedToMilliseconds(trial.endSeconds),
        ])
      },
      "result": [
        "correctCount": testResult.correctCount, "trials": testResult.trialCount,
        "complete": testResult.isComplete,
        "pValue": testResult.pValue, "conclusion": testResult.conclusion.rawValue,
        "sentence": testResult.sentence,
      ] as JSONObject,
    ]
  }

  /// Rounds a time in seconds to whole milliseconds, which is finer than the timing of a key press.
  private static func roundedToMilliseconds(_ seconds: Double) -> Double {
    (seconds * 1_000).rounded() / 1_000
  }
}
