public import HapticFormats
internal import HapticModel
internal import Reading

extension HapticFormat {
  /// The vibration format of the JavaScript library web-haptics: an array of objects with a
  /// duration, an intensity, and a delay, or an object with such an array as `pattern`.
  ///
  /// Times are in milliseconds. The library modulates the width of pulses by the intensity, so the
  /// intensity is an amplitude. Source: lochie/web-haptics, 50597b9, MIT license.
  public static let webHaptics = json(
    "web-haptics", title: "web-haptics", endings: ["web-haptics.json"], rules: Rule.webHapticsRules,
    resolution: FormatResolution(
      amplitudeStep: 1.0 / 255, timeStepSeconds: 0.001, samplingIntervalSeconds: 0.01),
    allowsArray: true,
    matches: { outline in
      (outline.hasArrayRoot || outline.hasRootKey("pattern"))
        && outline.nestedKeys.contains("duration")
        && outline.nestedKeys.isSubset(of: ["duration", "intensity", "delay"])
    },
    read: { json, options in
      var reader = WebHapticsReader(amplitudeMapping: options.amplitudeMapping)
      reader.read(json)
      let values = reader.eventJSONValueIndices
      return ReadResult(
        HapticComposition(HapticPattern(events: reader.events)), of: json, log: reader.findingLog,
        options: options,
        sourceMap: SourceMap(events: [values]) { json.location(ofValue: $0) })
    },
    write: { (composition, options) throws(InputError) in
      try composition.checkFinite(.webHapticsTimeOutOfRange)
      var losses = LossLog()
      let played = composition.unrolled(passCount: options.loopPassCount, losses: &losses)
      let steps = VibrationSteps(played, options: options, isContinuous: false, losses: losses)
      losses = steps.losses
      losses.addTextLosses(of: composition)
      let text = WebVibration.jsonText(of: steps)
      return WrittenFiles([WrittenFiles.File(text)], losses: losses.lossesWithOmittedCounts())
    })
}

/// A vibration of constant level after a delay.
private struct WebVibration: Equatable, Sendable {
  /// The delay after the preceding vibration, in milliseconds.
  var delayMilliseconds = 0.0
  /// The duration of the vibration, in milliseconds.
  var durationMilliseconds = 0.0
  /// The level of the vibration, 0…1.
  var intensity = defaultIntensity

  /// The default level of a vibration.
  static let defaultIntensity = 0.5
  /// The maximum duration of a vibration that the library plays, in milliseconds.
  static let maximumPlayedDurationMilliseconds = 1_000

  /// Returns the JSON text for a series of levels. Long levels are divided, and pauses become
  /// delays.
  static func jsonText(of levels: VibrationSteps) -> [UInt8] {
    var jsonWriter = JSONWriter()
    jsonWriter.writeArray { list in
      var delay = 0
      for step in levels.steps {
        guard let amplitude = step.amplitudeCode, amplitude > 0 else {
          delay += step.durationMilliseconds
          continue
        }
        var remaining = step.durationMilliseconds
        while remaining > 0 {
          let duration = min(remaining, maximumPlayedDurationMilliseconds)
          list.writeObject(layout: .singleLine) { object in
            if delay > 0 {
              object.writeMember("delay", delay)
            }
            object.writeMember("duration", duration)
            object.writeMember(
              "intensity", Double(amplitude) / Double(VibrationEffect.maximumAmplitudeCode))
          }
          delay = 0
          remaining -= duration
        }
      }
    }
    return jsonWriter.finishedText()
  }
}

/// Reads vibrations as consecutive events. Adjacent vibrations with the same level are merged.
private struct WebHapticsReader: JSONSchemaReader {
  let amplitudeMapping: AmplitudeMapping
  var findingLog = FindingLog()
  let schemaRules = JSONSchemaRules(
    missingKey: .webHapticsInvalidStructure, wrongType: .wrongType,
    outOfRange: .webHapticsTimeOutOfRange,
    unknownKey: .unknownKey, nullHandling: .absent)
  private(set) var events: [HapticEvent] = []
  /// The indices of the JSON values that the events were read from.
  private(set) var eventJSONValueIndices: [Int] = []
  /// The end of the preceding vibration, in milliseconds.
  private var elapsedMilliseconds = 0.0

  private static let millisecondsType = JSONType.number(
    0...FrameConversion.maximumSeconds * 1_000)

  private static let vibrationSchema = JSONObjectSchema<WebVibration, WebHapticsReader>(
    "a vibration",
    [
      .value("delay", millisecondsType) { $1(&$0.delayMilliseconds) },
      .value("duration", millisecondsType, is: .required) { $1(&$0.durationMilliseconds) },
      .value("intensity", .unboundedNumber) { $1(&$0.intensity) },
    ])

  init(amplitudeMapping: AmplitudeMapping) { self.amplitudeMapping = amplitudeMapping }

  mutating func read(_ json: JSONDocument) {
    let root = json.root
    guard let vibrationList = root.kind == .array ? root : root["pattern"],
      vibrationList.kind == .array
    else {
      findingLog.add(
        .webHapticsInvalidStructure, at: root,
        "the file must be an array of vibrations, or an object with such an array as \"pattern\"")
      return
    }
    for element in vibrationList.elements {
      var vibration = WebVibration()
      if Self.vibrationSchema.read(element, into: &vibration, reader: &self) {
        add(vibration, at: element)
      }
    }
  }

  private mutating func add(_ vibration: WebVibration, at value: JSONValue) {
    let clampedAmplitude = min(max(vibration.intensity, 0), 1)
    if clampedAmplitude != vibration.intensity {
      findingLog.add(
        .webHapticsIntensityOutOfRange, at: value["intensity"] ?? value,
        """
        intensity is \(vibration.intensity.shortText), outside 0 to 1; \
        \(clampedAmplitude.shortText) is used
        """
      )
    }
    if vibration.durationMilliseconds > Double(WebVibration.maximumPlayedDurationMilliseconds) {
      findingLog.add(
        .webHapticsDurationTooLong, at: value["duration"] ?? value,
        """
        the library plays at most \(WebVibration.maximumPlayedDurationMilliseconds) ms of a \
        vibration
        """,
        suggestion: "divide it into several vibrations")
    }
    let startMilliseconds = elapsedMilliseconds + vibration.delayMilliseconds
    elapsedMilliseconds = startMilliseconds + vibration.durationMilliseconds
    guard vibration.durationMilliseconds > 0, clampedAmplitude > 0 else { return }
    let intensity = Float(amplitudeMapping.intensity(ofAmplitude: clampedAmplitude))
    if let lastEventIndex = events.indices.last, vibration.delayMilliseconds == 0,
      events[lastEventIndex].parameters[.hapticIntensity] == intensity,
      events[lastEventIndex].time + (events[lastEventIndex].duration ?? 0) >= startMilliseconds
        / 1_000 - 1e-9
    {
      events[lastEventIndex].duration = elapsedMilliseconds / 1_000 - events[lastEventIndex].time
      return
    }
    eventJSONValueIndices.append(value.nodeIndex)
    events.append(
      HapticEvent(
        kind: .hapticContinuous, time: startMilliseconds / 1_000,
        duration: vibration.durationMilliseconds / 1_000,
        parameters: [.hapticIntensity: intensity]))
  }
}

extension Rule {
  static let webHapticsInvalidStructure = error(
    "structure", "grammar",
    """
    The file must be an array of objects with a duration, or an object with such an array as \
    pattern.
    """)
  static let webHapticsTimeOutOfRange = error(
    "out-of-range", "range", "Durations and delays must be 0 to 86400000 ms.")
  static let webHapticsIntensityOutOfRange = warning(
    "intensity", "range", "An intensity should be 0 to 1. Other values are clamped.")
  static let webHapticsDurationTooLong = warning(
    "duration", "compatibility",
    "A vibration should last at most 1000 ms. The library shortens longer vibrations.")

  /// The rules for vibrations of web-haptics, in listing order.
  static let webHapticsRules: [Rule] = [
    .invalidSyntax, .webHapticsInvalidStructure, .wrongType, .webHapticsTimeOutOfRange, .unknownKey,
    .webHapticsIntensityOutOfRange,
    .webHapticsDurationTooLong,
  ]
}
