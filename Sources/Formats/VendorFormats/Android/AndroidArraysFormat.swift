public import HapticFormats
internal import HapticModel
internal import Reading

extension HapticFormat {
  /// The format of timings and amplitudes for Android's `VibrationEffect.createWaveform`.
  ///
  /// Haptics Studio exports it as a JSON object with two arrays.
  ///
  /// The key `repeat` is the repeat index of Android's function. Without amplitudes, timings are
  /// alternately off and on. Levels are written as `steps`, or, for `studio`, sampled and never 0,
  /// as in files of Haptics Studio. Files whose names don't end in `vibration.json` are recognized
  /// by their content.
  public static let androidArrays = timingArrays(
    "android-arrays", title: "Android timings and amplitudes", endings: ["vibration.json"],
    keys: TimingArrayKeys(
      timingsKey: "timings", amplitudesKey: "amplitudes", repeatIndexKey: "repeat"),
    dialects: ["steps", "studio"])

  /// The format of the vibrations that Hapticlabs Studio exports for Android: timings, amplitudes,
  /// and a repeat index as in ``androidArrays``, with the names of a project and a track.
  ///
  /// Sounds that accompany the vibrations are ignored. Source: HapticlabsIO/androidplayer, 081a2cf,
  /// MIT license.
  public static let hla = timingArrays(
    "hla", title: "Hapticlabs", endings: ["hla"],
    keys: TimingArrayKeys(
      timingsKey: "Timings", amplitudesKey: "Amplitudes", repeatIndexKey: "Repeat",
      projectKey: "ProjectName",
      trackKey: "TrackName"))

  private static func timingArrays(
    _ id: String, title: String, endings: [String], keys: TimingArrayKeys, dialects: [String] = []
  )
    -> HapticFormat
  {
    json(
      id, title: title, endings: endings, rules: Rule.timingArraysRules, dialects: dialects,
      resolution: FormatResolution(
        amplitudeStep: 1.0 / 255, timeStepSeconds: 0.001, frequencyStepHertz: 1,
        samplingIntervalSeconds: 0.01),
      matches: { $0.hasRootKey(keys.timingsKey) },
      read: { json, options in
        var decoder = TimingArraysDecoder(json: json, keys: keys)
        let effect = decoder.decode()
        var result = ReadResult(of: effect, json, decoder.log, options)
        result.composition?.title = keys.trackKey.flatMap { json.root[$0]?.string }
        if let project = keys.projectKey.flatMap({ json.root[$0]?.string }) {
          result.fileDetails = [("project", project)]
        }
        if keys.trackKey != nil, options.wantsFindings,
          let sound = json.root["Audios"]?.elements.first(where: { _ in true })
        {
          result.losses.append(
            Loss(
              .dropped, .composition, at: sound.location,
              "sounds that accompany the vibration are not played")
          )
        }
        return result
      },
      write: { (composition, options) throws(InputError) in
        try composition.checkFinite(.arraysInvalidValue)
        let steps = VibrationSteps(
          composition, options: options, isContinuous: options.dialect == "studio")
        var losses = steps.losses
        var described = composition
        if keys.trackKey != nil {
          described.title = nil
        }
        losses.addTextLosses(of: described)
        let text = keys.jsonText(of: steps, track: composition.title ?? options.baseName)
        return WrittenFiles([WrittenFiles.File(text)], losses: losses.lossesWithOmittedCounts())
      })
  }

}

extension ReadResult {
  /// Creates the result of reading a text that contains one Android effect. The effect is used only
  /// if there are no errors.
  init(
    of effect: VibrationEffect?, _ json: JSONDocument, _ log: FindingLog, _ options: ReadingOptions
  ) {
    let vibrationReader = log.errorCount == 0 ? VibrationReader(effect, options: options) : nil
    self.init(
      vibrationReader?.composition, of: json, log: log, options: options,
      losses: vibrationReader?.losses.lossesWithOmittedCounts() ?? [],
      sourceMap: SourceMap { _ in json.root.location })
  }
}

/// The JSON keys of a format with timings and amplitudes.
private struct TimingArrayKeys: Sendable {
  /// The key of the array of durations.
  var timingsKey: String
  /// The key of the array of amplitudes.
  var amplitudesKey: String
  /// The key of the repeat index.
  var repeatIndexKey: String
  /// The key of the project's name, or nil if the format has no projects.
  var projectKey: String?
  /// The key of the track's name, or nil if the format has no tracks.
  var trackKey: String?

  /// Returns the JSON text for a series of levels.
  ///
  /// In formats that have tracks, the text contains the name of the track.
  func jsonText(of levels: VibrationSteps, track name: String) -> [UInt8] {
    var jsonWriter = JSONWriter()
    jsonWriter.writeObject { file in
      if let projectKey, let trackKey {
        file.writeMember(projectKey, "")
        file.writeMember(trackKey, name)
        file.writeMember("Duration", levels.steps.reduce(0) { $0 + $1.durationMilliseconds })
      }
      file.writeArray(timingsKey, layout: .singleLine) { array in
        for step in levels.steps {
          array.writeElement(step.durationMilliseconds)
        }
      }
      file.writeArray(amplitudesKey, layout: .singleLine) { array in
        for step in levels.steps {
          array.writeElement(step.amplitudeCode ?? -1)
        }
      }
      if let index = levels.repeatIndex ?? (trackKey == nil ? nil : -1) {
        file.writeMember(repeatIndexKey, index)
      }
      if trackKey != nil {
        for key in ["RequiredAudioFiles", "Audios"] {
          file.writeArray(key, layout: .singleLine) { _ in }
        }
      }
    }
    return jsonWriter.finishedText()
  }
}

/// Decodes an object with arrays of timings and amplitudes.
private struct TimingArraysDecoder {
  let json: JSONDocument
  let keys: TimingArrayKeys
  var log = FindingLog()

  /// Decodes the levels of the text, or returns nil if there are none.
  mutating func decode() -> VibrationEffect? {
    let root = json.root
    guard root.kind == .object, let timings = root[keys.timingsKey] else {
      log.add(
        .arraysInvalidStructure, at: root,
        "the file must be an object with the key \"\(keys.timingsKey)\"")
      return nil
    }
    guard let durations = decodeNumbers(timings, name: keys.timingsKey, range: 0...Int32.max) else {
      return nil
    }
    var steps: [VibrationEffect.Step] = []
    if let amplitudes = root[keys.amplitudesKey] {
      guard
        let levels = decodeNumbers(
          amplitudes, name: keys.amplitudesKey,
          range: -1...Int32(VibrationEffect.maximumAmplitudeCode))
      else {
        return nil
      }
      if levels.count != durations.count {
        log.add(
          .arraysCountMismatch, at: amplitudes,
          "\(durations.count) timings do not match \(levels.count) amplitudes")
      }
      steps.reserveCapacity(durations.count)
      for (duration, level) in zip(durations, levels) {
        steps.append(
          .init(durationMilliseconds: Int(duration), amplitudeCode: level < 0 ? nil : Int(level)))
      }
    } else {
      steps = durations.enumerated().map { index, duration in
        .init(durationMilliseconds: Int(duration), amplitudeCode: index % 2 == 0 ? 0 : nil)
      }
    }
    if log.errorCount == 0, !durations.contains(where: { $0 > 0 }) {
      log.add(.arraysHaveNoLength, at: timings, "the timings are all 0")
    }
    return .waveform(
      steps, repeatIndex: decodeRepeatIndex(root[keys.repeatIndexKey], count: durations.count))
  }

  private mutating func decodeRepeatIndex(_ value: JSONValue?, count: Int) -> Int? {
    guard let value else { return nil }
    guard let statedIndex = value.number, let timingIndex = Int(exactly: statedIndex),
      (-1..<count).contains(timingIndex)
    else {
      log.add(
        .arraysInvalidRepeatIndex, at: value,
        "\(keys.repeatIndexKey) must be the index of one of \(count) timings, or -1")
      return nil
    }
    return timingIndex < 0 ? nil : timingIndex
  }

  private mutating func decodeNumbers(_ value: JSONValue, name: String, range: ClosedRange<Int32>)
    -> [Int32]?
  {
    guard value.kind == .array else {
      log.add(
        .arraysInvalidStructure, at: value,
        "\(name) must be an array, not \(value.kind.nounWithArticle)")
      return nil
    }
    // Almost all files are valid arrays of integers, which can be read quickly.
    if let numbers = value.integerElements(in: range) { return numbers }
    var validNumbers: [Int32] = []
    for element in value.elements {
      if let number = element.number, let whole = Int32(exactly: number), range.contains(whole) {
        validNumbers.append(whole)
      } else {
        log.add(
          .arraysInvalidValue, at: element,
          Self.violationText(of: element, name: name, range: range))
        validNumbers.append(0)
      }
    }
    return validNumbers
  }

  /// Returns the reason why a value of an array is not a whole number in a range.
  private static func violationText(
    of value: JSONValue, name: String, range: ClosedRange<Int32>
  ) -> String {
    guard let number = value.number else {
      return "\(name) must be numbers, not \(value.kind.nounWithArticle)"
    }
    if range.lowerBound < 0 {
      return "\(value.truncatedLexeme) is not a whole number from -1 to \(range.upperBound)"
    }
    return number > Double(range.upperBound)
      ? "\(value.truncatedLexeme) is larger than \(range.upperBound)"
      : "\(value.truncatedLexeme) is not a whole number of at least 0"
  }
}

/// The rules for Android vibration files.
extension Rule {
  /// The rules for vibration XML, in listing order.
  static let androidXMLRules: [Rule] = [
    .androidInvalidSyntax, .androidUnknownRoot, .androidUnexpectedElement, .androidUnknownAttribute,
    .androidMissingAttribute,
    .androidInvalidValue,
    .androidEmptyEffect, .androidHasNoLength, .androidEnvelopeEndsAboveZero,
    .androidUnreadableVendorEffect, .androidSeveralEffects,
  ]
  static let timingArraysRules: [Rule] = [
    .invalidSyntax, .arraysInvalidStructure, .arraysCountMismatch, .arraysInvalidValue,
    .arraysInvalidRepeatIndex, .arraysHaveNoLength,
  ]

  static let androidInvalidSyntax = error(
    "syntax", "syntax",
    "The text must be XML in UTF-8, without a document type declaration and without text content.")
  static let androidUnknownRoot = error(
    "root", "grammar", "The root must be vibration-effect, vibration, or vibration-select.")
  static let androidUnexpectedElement = error(
    "element", "grammar", "An element must be one that Android accepts in its position.")
  static let androidUnknownAttribute = error(
    "attribute", "grammar", "An element must not have unknown attributes.")
  static let androidMissingAttribute = error(
    "missing-attribute", "grammar", "An element must have its required attributes.")
  static let androidInvalidValue = error(
    "value", "range", "An attribute must have a value within its range.")
  static let androidEmptyEffect = error(
    "empty", "grammar", "An effect must have entries or points.")
  static let androidHasNoLength = error(
    "no-length", "range", "The durations of a waveform must not all be 0.")
  static let androidEnvelopeEndsAboveZero = error(
    "envelope-end", "range", "A basic envelope must end with intensity 0.")
  static let androidUnreadableVendorEffect = error(
    "vendor-effect", "grammar",
    "Vendor effects cannot be read, because their content is specific to the vendor.")
  static let androidSeveralEffects = note(
    "choice", "compatibility",
    """
    A device plays the first effect of vibration-select that it supports. Temblor reads the first \
    effect.
    """)

  static let arraysInvalidStructure = error(
    "structure", "grammar",
    """
    The file must be an object with an array of timings, and an array of amplitudes unless they \
    alternate between off and on.
    """
  )
  static let arraysCountMismatch = error(
    "count", "grammar", "The number of amplitudes must match the number of timings.")
  static let arraysInvalidValue = error(
    "value", "range",
    """
    Timings must be whole milliseconds of at least 0. Amplitudes must be 0 to 255, or -1 for the \
    default of the device.
    """
  )
  static let arraysInvalidRepeatIndex = error(
    "repeat", "range", "The repeat index must be the index of a timing, or -1 for no repetition.")
  static let arraysHaveNoLength = error("no-length", "range", "At least one timing must not be 0.")
}
