import HapticRender
public import Reading

/// A reader that checks the text of a profile or an array against its schema, and collects all
/// findings.
struct ProfileChecker: JSONSchemaReader {
  static let omitsPointInWholeNumbers = true

  let document: JSONDocument
  let schemaRules = JSONSchemaRules(
    missingKey: .missingKey, wrongType: .wrongType, outOfRange: .outOfRange,
    unknownKey: .unknownKey,
    unknownValue: .invalidValue, emptyText: .invalidValue, checksRepeatedKeys: true)
  var findingLog = FindingLog(maximumCountPerRule: ProfileRules.maximumFindingCountPerRule)
  /// A closure that returns the profiles that an array names, or nil for a text that names no
  /// profiles.
  var profileLoader: ProfileLoader?

  typealias ProfileLoader = @Sendable (String) throws(LoadingError) -> TransducerProfile

  /// The reason why a named profile cannot be used, and its remedy.
  struct LoadingError: Error {
    var reason: String
    var hint: String?
  }

  init(_ document: JSONDocument, profileLoader: ProfileLoader? = nil) {
    self.document = document
    self.profileLoader = profileLoader
  }

  /// The findings so far, in the order of their positions in the text.
  var findings: [Finding] { findingLog.findings(in: document) }

  /// The first error, which rejects the text, or nil if the text is valid.
  var inputError: InputError? {
    findings.first { $0.severity == .error }.map {
      InputError($0, additionalErrorCount: findingLog.errorCount - 1)
    }
  }

  /// Reads a profile and checks it for errors.
  ///
  /// - Throws: The first error in the text.
  mutating func readProfile() throws(InputError) -> TransducerProfile {
    var profile = ProfileFile.emptyProfile
    readObject(ProfileSchema.profile, into: &profile)
    checkConsistency(of: document.root)
    if let inputError { throw inputError }
    return profile
  }

  mutating func readObject<Owner>(_ table: ProfileObjectSchema<Owner>, into owner: inout Owner) {
    for tolerance in document.deviations {
      let value = document.value(of: tolerance)
      switch tolerance.kind {
      case .byteOrderMark:
        continue
      case .trailingComma:
        findingLog.add(
          .trailingComma, at: value, offset: tolerance.byteOffset, "comma before a closing bracket",
          suggestion: "remove it")
      case .duplicateKey:
        findingLog.add(
          .duplicateKey, at: value, offset: value.keyOffset,
          "duplicate key \((value.key ?? "").quoted())",
          suggestion: "keep one of them")
      }
    }
    table.read(document.root, into: &owner, reader: &self)
  }

  mutating func reportMissingKey(
    _ key: JSONKey, isRequired: Bool, of object: JSONValue, schema shape: JSONSchema
  ) {
    findingLog.add(.missingKey, at: object, "missing key \"\(key.name)\"")
  }

  mutating func reportUnknownKey(_ member: JSONValue, in shape: JSONSchema) {
    guard let keyName = member.key, let object = member.parent else { return }
    let permittedNames = JSONNameList(shape.keys(in: object).permitted.map { $0.name })
    findingLog.add(
      .unknownKey, at: member, offset: member.keyOffset, "unknown key \(keyName.quoted())",
      suggestion: permittedNames.suggestion(for: keyName) ?? "valid keys: "
        + permittedNames.names.joined(separator: ", "))
  }

  mutating func reportUnknownValue(
    _ text: String, names: JSONNameList, key: JSONKey, at value: JSONValue
  ) {
    if text.isEmpty {
      return findingLog.add(.invalidValue, at: value, "\(key.name) is empty")
    }
    findingLog.add(
      .invalidValue, at: value, "\(text.quoted()) is not a valid \(key.valueNoun ?? key.name)",
      suggestion: names.suggestion(for: text) ?? "valid values: "
        + names.names.joined(separator: ", "))
  }

  /// Checks that two numbers in an object are in ascending order, and adds an error if they are
  /// not. If a number is absent, its default value is used.
  ///
  /// - Returns: True if the numbers are in order.
  mutating func checkNumbersAreAscending(
    in object: JSONValue, _ low: String, _ high: String,
    defaults: (low: Double, high: Double)? = nil
  ) -> Bool {
    let lowNumber = object[low].map { $0.number } ?? defaults?.low
    let highNumber = object[high].map { $0.number } ?? defaults?.high
    guard let lowNumber, let highNumber, highNumber < lowNumber else { return true }
    findingLog.add(
      .contradictoryValues, at: object[high] ?? object,
      "\(high) is \(highNumber.shortText), below \(low), \(lowNumber.shortText)")
    return false
  }

  mutating func checkConsistency(of root: JSONValue) {
    checkThresholds(of: root)
    checkHertzAreAscending(root["thresholds"])
    checkHertzAreAscending(root["hardware"]?["response"])
    checkEstimatedProperties(of: root)
    checkDriveSettings(of: root)
  }

  /// Checks that the intensity law "sensation" has a threshold curve.
  /// Other laws may have a threshold curve only with hardware.
  private mutating func checkThresholds(of root: JSONValue) {
    guard root.kind == .object else { return }
    let thresholdList = root["thresholds"]
    let intensityLaw = root["intensity"]?["law"]
    let equalSensation = root["drive"]?["equalSensation"]
    if intensityLaw?.string == "sensation" {
      if thresholdList == nil, let intensityLaw {
        findingLog.add(
          .contradictoryValues, at: intensityLaw, offset: intensityLaw.keyOffset,
          "the intensity law \"sensation\" needs at least two thresholds")
      }
      guard let equalSensation, equalSensation.boolean == false else { return }
      return findingLog.add(
        .contradictoryValues, at: equalSensation,
        "drive.equalSensation is false, but the intensity law is \"sensation\"",
        suggestion: "remove the key, or choose the law \"power\"")
    }
    // An invalid law is reported as a separate error.
    guard let thresholdList, intensityLaw == nil || intensityLaw?.string == "power" else { return }
    guard root["hardware"] == nil || equalSensation?.boolean == false else { return }
    findingLog.add(
      .contradictoryValues, at: thresholdList,
      "thresholds apply only to the intensity law \"sensation\" or with hardware",
      suggestion: "remove them, or choose the law \"sensation\"")
  }

  private mutating func checkHertzAreAscending(_ list: JSONValue?) {
    guard let pointList = list, pointList.kind == .array else { return }
    let pointElements = Array(pointList.elements)
    for (point, next) in zip(pointElements, pointElements.dropFirst()) {
      guard let low = point["hertz"]?.number, let member = next["hertz"], let high = member.number,
        high <= low
      else {
        continue
      }
      findingLog.add(
        .contradictoryValues, at: member,
        "hertz is \(high.shortText); it must be above \(low.shortText) of the previous point")
    }
  }

  /// Checks that each hardware property that is listed as estimated has a value.
  private mutating func checkEstimatedProperties(of root: JSONValue) {
    guard let hardware = root["hardware"], let estimatedList = hardware["estimated"] else { return }
    for element in estimatedList.elements {
      guard let figure = element.string, ProfileSchema.hardware.schema.key(named: figure) != nil,
        hardware[figure] == nil
      else { continue }
      findingLog.add(
        .contradictoryValues, at: element,
        "\(figure.quoted()) is listed as estimated, but has no value",
        suggestion: "add the value, or remove the entry")
    }
  }

  /// Checks that a profile with a drive or an amplifier also describes the hardware, and that the
  /// properties that equalization requires are present.
  private mutating func checkDriveSettings(of root: JSONValue) {
    guard let hardware = root["hardware"] else {
      for key in ["drive", "amplifier"] {
        guard let member = root[key] else { continue }
        findingLog.add(
          .contradictoryValues, at: member, offset: member.keyOffset, "\(key) requires hardware",
          suggestion: "add \"hardware\", or remove the key")
      }
      return
    }
    let equalizeValue = root["drive"]?["equalize"]
    if let equalizeValue, equalizeValue.boolean == true {
      for figure in ["resonance", "qualityFactor"] where hardware[figure] == nil {
        findingLog.add(
          .contradictoryValues, at: equalizeValue, "drive.equalize requires \(figure) in hardware",
          suggestion: "measure it with 'temblor calibrate', or remove the key")
      }
    }
    checkSensationSettings(of: root, hardware)
    guard let highPassCorner = root["drive"]?["highPass"], let cornerHertz = highPassCorner.number,
      let low = root["frequency"]?["low"]?.number, cornerHertz > low
    else { return }
    findingLog.add(
      .contradictoryValues, at: highPassCorner,
      "drive.highPass is \(cornerHertz.shortText), above frequency.low, \(low.shortText)")
  }

  /// Checks that settings that were measured at the hand are not applied to a seat or to ears.
  /// Also checks that levels above a threshold come with an acceleration.
  private mutating func checkSensationSettings(of root: JSONValue, _ hardware: JSONValue) {
    let driveSection = root["drive"]
    let convergingContours = driveSection?["contours"].flatMap {
      $0.string == "converging" ? $0 : nil
    }
    let temporalSummation = driveSection?["temporalSummation"].flatMap {
      $0.boolean == true ? $0 : nil
    }
    let equalSensation = driveSection?["equalSensation"]
    for (name, value) in [
      ("contours", convergingContours), ("temporalSummation", temporalSummation),
    ] {
      guard let value else { continue }
      if let body = driveSection?["feltBy"]?.string, body == "seat" || body == "ear" {
        findingLog.add(
          .contradictoryValues, at: value,
          "drive.\(name) applies to a hand, but drive.feltBy is \(body)",
          suggestion: "remove one of the keys")
      } else if equalSensation?.boolean == false {
        findingLog.add(
          .contradictoryValues, at: value,
          "drive.\(name) is set, but drive.equalSensation is false",
          suggestion: "remove one of the keys")
      }
    }
    guard let convergingContours else { return }
    for key in ["resonance", "qualityFactor", "acceleration"] where hardware[key] == nil {
      findingLog.add(
        .contradictoryValues, at: convergingContours,
        """
        drive.contours requires \(key) in hardware, because sensation is relative to the threshold
        """,
        suggestion: "add the value, or remove the key")
    }
  }
}

extension ProfileChecker {
  /// The range of frequencies that are felt as vibration, in hertz.
  /// Events below the range are felt as a push, and events above it are heard as a sound.
  static let tactileHertzRange = 1.0...1_000.0

  /// Adds warnings about values that are valid but probably not intended.
  ///
  /// - Parameters:
  ///   - profile: The profile that was read.
  ///   - stem: The file's name without its extension, or nil if the name is not significant.
  mutating func addPlausibilityWarnings(for profile: TransducerProfile, stem: String?) {
    let documentRoot = document.root
    if let stem, stem != profile.name, let profileName = documentRoot["name"] {
      findingLog.add(
        .mismatchedFileName, at: profileName,
        "the name \(profile.name.quoted()) does not match the file name \("\(stem).json".quoted())",
        suggestion: "use the same name, because profiles are found by file name")
    }
    warnAboutFrequencies(profile.frequency, at: documentRoot["frequency"], profile)
    if let transientFrequency = documentRoot["transient"]?["frequency"] {
      warnAboutFrequencies(profile.transient.frequency, at: transientFrequency, profile)
    }
    warnAboutResonance(profile, at: documentRoot["hardware"]?["resonance"])
    let partialGains = profile.partials.map { abs($0.amplitudeToEventRatio) }
    warnAboutLevelHeadroom(
      ofLevel: profile.fullIntensityAmplitude, partialGains,
      at: documentRoot["level"] ?? documentRoot["partials"] ?? documentRoot,
      "two continuous events")
    let transientSection = documentRoot["transient"]
    warnAboutLevelHeadroom(
      ofLevel: profile.transient.fullIntensityAmplitude,
      profile.transient.partials.map { abs($0.amplitudeToBurstRatio) },
      at: transientSection?["level"] ?? transientSection?["partials"], "two transients")
    warnAboutThresholds(profile, at: documentRoot["thresholds"])
    warnAboutHardwareFit(of: profile)
    warnAboutPlausibility(of: profile)
    guard let hardware = documentRoot["hardware"], profile.sources.isEmpty else { return }
    findingLog.add(
      .missingSources, at: hardware, "hardware has no sources",
      suggestion: "add \"sources\"")
  }

  private mutating func warnAboutFrequencies(
    _ law: FrequencyMapping, at value: JSONValue?, _ profile: TransducerProfile
  ) {
    for (key, hertz) in [("low", law.lowHertz), ("high", law.highHertz)] {
      guard let member = value?[key] else { continue }
      if let band = profile.hardware?.bandHertz, !band.contains(hertz) {
        findingLog.add(
          .frequencyOutsidePublishedBand, at: member,
          "\(key) is \(hertz.shortText) Hz, outside the published band of \(band.hertzText)")
      }
      if !Self.tactileHertzRange.contains(hertz) {
        findingLog.add(
          .frequencyOutsideTactileRange, at: member,
          """
          \(key) is \(hertz.shortText) Hz, outside \(Self.tactileHertzRange.hertzText), \
          the range of vibrotactile perception
          """
        )
      }
    }
  }

  private mutating func warnAboutResonance(_ profile: TransducerProfile, at value: JSONValue?) {
    guard let value, let hardware = profile.hardware, let band = hardware.bandHertz,
      let resonance = hardware.resonanceHertz,
      !band.contains(resonance)
    else { return }
    findingLog.add(
      .frequencyOutsidePublishedBand, at: value,
      "the resonance is \(resonance.shortText) Hz, outside the published band of \(band.hertzText)"
    )
  }

  private mutating func warnAboutLevelHeadroom(
    ofLevel level: Double, _ gains: [Double], at value: JSONValue?, _ pair: String
  ) {
    let peakAmplitude = level * gains.reduce(0, +)
    guard let value, 2 * peakAmplitude > Renderer.outputCeilingMagnitude else { return }
    let maximumLevelRatio =
      (Renderer.outputCeilingMagnitude / 2 / gains.reduce(0, +) * 100).rounded(.down) / 100
    findingLog.add(
      .insufficientHeadroom, at: value,
      """
      \(pair) at full intensity can reach \
      \((2 * peakAmplitude * 1_000).rounded().thousandthsText), above the ceiling of \
      \(Renderer.outputCeilingMagnitude.shortText); the limiter will be active
      """,
      suggestion: maximumLevelRatio >= ProfileLimits.eventAmplitudeRange.lowerBound
        ? "use a level of at most \(maximumLevelRatio.shortText)" : nil)
  }

  private mutating func warnAboutThresholds(_ profile: TransducerProfile, at value: JSONValue?) {
    guard let value, let firstThreshold = profile.perceptionThresholds.first,
      let last = profile.perceptionThresholds.last
    else {
      return
    }
    let bandHertz = profile.frequency.lowHertz...profile.frequency.highHertz
    guard bandHertz.lowerBound < firstThreshold.hertz || bandHertz.upperBound > last.hertz else {
      return
    }
    let coveredHertz = firstThreshold.hertz...last.hertz
    findingLog.add(
      .incompleteThresholdCurve, at: value,
      """
      the thresholds cover \(coveredHertz.hertzText) of \(bandHertz.hertzText); at other \
      frequencies, the nearest threshold is used
      """
    )
  }

  // MARK: - Values together

  /// The minimum plausible excursion of a transducer of one watt or more, in millimeters.
  private static let minimumPlausibleExcursionMillimeters = 0.01
  /// The maximum plausible ratio of peak to continuous power. A higher ratio is probably a wrong
  /// digit.
  private static let maximumPeakToContinuousPowerRatio = 20.0
  /// The range of plausible amplifier powers, in watts.
  private static let plausibleAmplifierWatts = 0.1...10_000.0

  /// Adds warnings about values that are valid alone, but implausible together.
  private mutating func warnAboutPlausibility(of profile: TransducerProfile) {
    let documentRoot = document.root
    if let excursionValue = documentRoot["hardware"]?["excursion"],
      let excursion = excursionValue.number,
      excursion < Self.minimumPlausibleExcursionMillimeters,
      (profile.hardware?.continuousWatts ?? 0) >= 1
    {
      findingLog.add(
        .implausibleValue, at: excursionValue,
        """
        an excursion of \(excursion.shortText) mm is very small for a power of \
        \((profile.hardware?.continuousWatts ?? 0).shortText) W
        """,
        suggestion: "the excursion must be in millimeters")
    }
    if let peakPowerValue = documentRoot["hardware"]?["peakPower"],
      let peakWatts = peakPowerValue.number,
      let power = profile.hardware?.continuousWatts,
      peakWatts > power * Self.maximumPeakToContinuousPowerRatio
    {
      findingLog.add(
        .implausibleValue, at: peakPowerValue,
        """
        a peak power of \(peakWatts.shortText) W is \
        \((peakWatts / power).rounded().shortText) times the continuous power
        """
      )
    }
    if let powerValue = documentRoot["amplifier"]?["power"], let amplifierWatts = powerValue.number,
      !Self.plausibleAmplifierWatts.contains(amplifierWatts)
    {
      findingLog.add(
        .implausibleValue, at: powerValue,
        "an amplifier power of \(amplifierWatts.shortText) W is unusual",
        suggestion: "the power must be in watts")
    }
    if let transientSection = documentRoot["transient"],
      let edgeValue = transientSection["attack"] ?? transientSection["release"],
      let maximumDuration = transientSection["maxDuration"]?.number
    {
      let edges =
        (transientSection["attack"]?.number ?? 0) + (transientSection["release"]?.number ?? 0)
      if edges > maximumDuration {
        findingLog.add(
          .implausibleValue, at: edgeValue,
          """
          attack and release last \(edges.shortText) s in a burst of \(maximumDuration.shortText) \
          s, so the burst never reaches its level
          """
        )
      }
    }
  }

  // MARK: - The fit to hardware

  /// The minimum ratio of the upper to the lower frequency of a band: half an octave. In a narrower
  /// band, differences in sharpness are hardly felt.
  private static let minimumUpperToLowerHertzRatio = 2.0.squareRoot()
  /// The sample rate for which the frequency band is fitted to the hardware during checks, in
  /// hertz.
  private static let bandFitSampleRateHertz = 48_000.0

  /// Adds warnings about a narrow band, missing limits, and estimated properties on which the fit
  /// of the profile to the hardware depends.
  mutating func warnAboutHardwareFit(of profile: TransducerProfile) {
    guard let hardware = profile.hardware, let hardwareValue = document.root["hardware"] else {
      return
    }
    warnAboutNarrowBand(of: profile)
    if profile.isEqualized, hardware.estimatedValueKeys.contains("qualityFactor"),
      let qualityFactor = hardwareValue["qualityFactor"]
    {
      findingLog.add(
        .estimatedQFactor, at: qualityFactor,
        """
        the Q factor is an estimate, so the equalizer is less aggressive than with a measured value
        """,
        suggestion: "measure it with 'temblor calibrate'")
    }
    if hardware.model == nil {
      findingLog.add(
        .missingPowerOrExcursionLimit, at: hardwareValue,
        "without a resonance and a Q factor, there is no equalization and no excursion limit",
        suggestion: "measure them with 'temblor calibrate'")
    }
    if hardware.continuousWatts == nil && hardware.peakWatts == nil {
      findingLog.add(
        .missingPowerOrExcursionLimit, at: hardwareValue,
        "without a power rating, there is no thermal limit")
    }
  }

  private mutating func warnAboutNarrowBand(of profile: TransducerProfile) {
    let mappedProfile = profile.limitedToUsableBand(rate: Self.bandFitSampleRateHertz)
    warnAboutNarrowBand(
      requested: profile.frequency, mapped: mappedProfile.frequency, at: document.root["frequency"])
    guard let transientFrequency = document.root["transient"]?["frequency"] else { return }
    warnAboutNarrowBand(
      requested: profile.transient.frequency, mapped: mappedProfile.transient.frequency,
      at: transientFrequency)
  }

  private mutating func warnAboutNarrowBand(
    requested: FrequencyMapping, mapped: FrequencyMapping, at value: JSONValue?
  ) {
    guard let value, requested.highHertz >= requested.lowHertz * Self.minimumUpperToLowerHertzRatio,
      mapped.highHertz < mapped.lowHertz * Self.minimumUpperToLowerHertzRatio
    else {
      return
    }
    let lowHertz = (mapped.lowHertz * 10).rounded() / 10
    let highHertz = (mapped.highHertz * 10).rounded() / 10
    findingLog.add(
      .narrowBand, at: value,
      """
      the hardware reproduces only \((lowHertz...highHertz).hertzText) of \
      \((requested.lowHertz...requested.highHertz).hertzText), less than half an octave
      """,
      suggestion: "a larger \"drive.usableRange\" widens the band, but lowers the level")
  }
}

extension Double {
  /// A number of thousandths as decimal text, such as `1.234` for 1,234.
  fileprivate var thousandthsText: String { (self / 1_000).shortText }
}

extension ClosedRange<Double> {
  /// The range of frequencies as text, for example `20–80 Hz`.
  var hertzText: String { "\(lowerBound.shortText)–\(upperBound.shortText) Hz" }
}

/// The rules for profiles and arrays.
public enum ProfileRules {
  /// The maximum number of findings that are listed for one rule. Further findings are only
  /// counted.
  static let maximumFindingCountPerRule = 100

  /// The rules for profiles and arrays, in the order in which they are listed.
  public static let all: [Rule] = [
    .invalidSyntax, .trailingComma, .duplicateKey, .wrongType, .missingKey, .unknownKey,
    .outOfRange,
    .invalidValue,
    .contradictoryValues, .mismatchedFileName, .frequencyOutsidePublishedBand,
    .frequencyOutsideTactileRange, .insufficientHeadroom,
    .missingSources,
    .incompleteThresholdCurve, .narrowBand, .estimatedQFactor, .missingPowerOrExcursionLimit,
    .implausibleValue,
  ]
}

extension Rule {
  // MARK: Syntax

  static let invalidSyntax = error(
    "syntax", "syntax", "The text must be JSON in UTF-8, at most 1 MiB.")
  static let trailingComma = error(
    "trailing-comma", "syntax", "A comma before a closing bracket is not valid JSON.")
  static let duplicateKey = error(
    "duplicate-key", "syntax", "A key must appear only once in an object.")

  // MARK: Grammar

  static let wrongType = error(
    "wrong-type", "grammar", "A value must have the type that its key requires.")
  static let missingKey = error("missing-key", "grammar", "An object must have its required keys.")
  static let unknownKey = error(
    "unknown-key", "grammar", "An object must not have unknown keys.")
  static let outOfRange = error(
    "out-of-range", "grammar",
    "A number, or the number of entries of a list, must be within the range of its key.")
  static let invalidValue = error(
    "invalid-value", "grammar",
    "A text must not be empty, and must be one of the valid values of its key, if there are any.")
  static let contradictoryValues = error(
    "contradiction", "grammar", "Values must not contradict each other.")

  // MARK: Hardware and levels

  static let mismatchedFileName = warning(
    "file-name", "advice", "The name of a profile should match its file name.")
  static let frequencyOutsidePublishedBand = warning(
    "outside-band", "advice",
    "Frequencies should be within the band that the manufacturer publishes.")
  static let frequencyOutsideTactileRange = warning(
    "outside-tactile-range", "advice",
    "Frequencies should be between 1 and 1000 Hz, the range of vibrotactile perception.")
  static let insufficientHeadroom = warning(
    "insufficient-headroom", "advice",
    "Two events at full intensity should stay below the output ceiling.")
  static let missingSources = warning(
    "missing-sources", "advice", "Hardware data should list its sources.")
  static let incompleteThresholdCurve = warning(
    "short-thresholds", "advice", "The threshold curve should cover all frequencies of the profile."
  )
  static let narrowBand = warning(
    "narrow-band", "advice",
    """
    The hardware should reproduce at least half an octave. Otherwise, sharpness is hardly \
    perceptible.
    """)
  static let implausibleValue = warning(
    "implausible-value", "advice", "Values should be plausible in combination."
  )
  static let estimatedQFactor = note(
    "estimated-q-factor", "advice",
    "The equalizer needs a measured Q factor to match the resonance.")
  static let missingPowerOrExcursionLimit = note(
    "missing-limit", "advice",
    "Without a resonance, a Q factor, and a power rating, the hardware cannot be protected.")
}
