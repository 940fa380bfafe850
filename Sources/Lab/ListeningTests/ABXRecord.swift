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
    /// The gain of the take during playback.
    public var playbackGain: Double
    /// The duration of the take, in seconds.
    public var durationSeconds: Double

    /// Creates a take.
    public init(name: String, sha256: String, playbackGain: Double, durationSeconds: Double) {
      self.name = name
      self.sha256 = sha256
      self.playbackGain = playbackGain
      self.durationSeconds = durationSeconds
    }
  }

  /// The version of the format of the record.
  public static let formatVersion = 2

  /// The test with its answers.
  public var test: ABXTest
  /// The first take.
  public var takeA: Take
  /// The second take.
  public var takeB: Take
  /// The measure for matching the levels of the takes: `loudness`, `felt`, or `none`.
  public var levelMatchName: String
  /// The name of the profile that renders the patterns.
  public var profileName: String
  /// The playback gain that applies to both takes, from 0 to 1.
  public var playbackStrength: Double
  /// The name and version of the program.
  public var programVersion: String
  /// The version of the model that rendered the patterns.
  public var renderingModelVersion: Int
  /// The start time of the test in UTC, such as `2026-01-31T12:00:00Z`.
  ///
  /// The value is nil if no clock was available.
  public var startTime: String?
  /// The output device, or nil if the takes were not played.
  public var deviceName: String?
  /// A Boolean value that indicates whether the answers were simulated.
  public var isSimulated: Bool

  /// Creates a record.
  public init(
    test: ABXTest, takeA: Take, takeB: Take, levelMatchName: String, profileName: String,
    strength: Double, program: String, renderingModelVersion: Int, startTime: String?,
    deviceName: String?, isSimulated: Bool
  ) {
    self.test = test
    self.takeA = takeA
    self.takeB = takeB
    self.levelMatchName = levelMatchName
    self.profileName = profileName
    self.playbackStrength = strength
    self.programVersion = program
    self.renderingModelVersion = renderingModelVersion
    self.startTime = startTime
    self.deviceName = deviceName
    self.isSimulated = isSimulated
  }

  /// Returns the record as a JSON document.
  public func json() -> [UInt8] {
    var jsonWriter = JSONWriter()
    jsonWriter.writeObject(jsonFields.write)
    return jsonWriter.finishedText()
  }

  /// The trials as a table, with the seed and the conditions of the test in each row.
  ///
  /// The tables of several tests can therefore be combined. Times are in seconds.
  package var trialTable: CSVTable {
    var table = CSVTable(columnNames: [
      "a", "b", "seed", "trial", "x", "answer", "correct", "heardA", "heardB", "heardX", "onset",
      "answered",
      "responseTime", "match", "gainA", "gainB", "strength", "profile", "device", "program",
      "simulated",
    ])
    let levelTexts = [takeA.playbackGain, takeB.playbackGain, playbackStrength].map(
      NumberFormatting.plainText)
    let conditionTexts =
      [levelMatchName] + levelTexts + [
        profileName, deviceName ?? "", programVersion, "\(isSimulated)",
      ]
    for (index, trial) in test.trials.enumerated() {
      let onset = Self.roundedToMilliseconds(trial.startSeconds)
      let end = Self.roundedToMilliseconds(trial.endSeconds)
      let heard = trial.switchCounts
      let times = [onset, end, Self.roundedToMilliseconds(end - onset)].map(
        NumberFormatting.plainText)
      table.appendRow(
        [
          takeA.name, takeB.name, "\(test.seed)", "\(index + 1)", trial.hiddenTake.rawValue,
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
      [
        "name": take.name, "sha256": take.sha256, "gain": take.playbackGain,
        "seconds": take.durationSeconds,
      ]
    }
    let testResult = test.result
    return [
      "formatVersion": Self.formatVersion, "test": "abx", "program": programVersion,
      "renderingModel": renderingModelVersion,
      "startTime": startTime, "device": deviceName, "simulated": isSimulated,
      "profile": profileName,
      "strength": playbackStrength,
      "match": levelMatchName, "a": takeFields(takeA), "b": takeFields(takeB),
      "seed": Int(test.seed),
      "plannedTrials": test.plannedTrialCount?.json ?? JSONElement.null,
      "trials": test.trials.map { trial -> JSONElement in
        .inlineObject([
          "x": trial.hiddenTake.rawValue, "answer": trial.answer.rawValue,
          "correct": trial.isCorrect,
          "switchCounts": [
            "a": trial.switchCounts.a, "b": trial.switchCounts.b, "x": trial.switchCounts.x,
          ]
            as JSONObject, "from": Self.roundedToMilliseconds(trial.startSeconds),
          "to": Self.roundedToMilliseconds(trial.endSeconds),
        ])
      },
      "result": [
        "correctCount": testResult.correctAnswerCount, "trials": testResult.trialCount,
        "complete": testResult.isComplete,
        "pValue": testResult.pValue, "conclusion": testResult.conclusion.rawValue,
        "sentence": testResult.sentence,
      ] as JSONObject,
    ]
  }

  /// Rounds a time in seconds to whole milliseconds.
  ///
  /// This is finer than the timing of a key press.
  private static func roundedToMilliseconds(_ seconds: Double) -> Double {
    (seconds * 1_000).rounded() / 1_000
  }
}
