import Reading
import HapticRender
import TestSupport
import Testing
import TransducerProfiles

/// Returns the error of reading a text; nil if it is valid.
private func readError(about text: String) -> String? {
  do {
    _ = try ProfileFile.read(text: Array(text.utf8), name: "mine.json")
    return nil
  } catch {
    return error.description
  }
}

/// Returns the text of a profile with additional members, which start on line 2, one per line.
private func profile(_ members: String...) -> String {
  let allMembers =
    members + [
      #""name": "mine""#, #""summary": "Mine.""#, #""frequency": {"low": 20, "high": 80}"#,
    ]
  return "{\n" + allMembers.joined(separator: ",\n") + "\n}"
}

@Suite struct ProfileFileTests {
  @Test func minimalProfileHasTheDefaults() throws {
    let readProfile = try ProfileFile.read(text: Array(profile().utf8), name: "mine.json")
    let createdProfile = TransducerProfile(
      name: "mine", summary: "Mine.", frequency: FrequencyMapping(lowHertz: 20, highHertz: 80))
    #expect(readProfile == createdProfile)
    #expect(
      String(decoding: ProfileFile.write(createdProfile), as: UTF8.self) == """
        {
          "name": "mine",
          "summary": "Mine.",
          "frequency": { "low": 20, "high": 80, "scale": "logarithmic" }
        }

        """)
  }

  @Test func transientsInheritTheValuesOfTheProfile() throws {
    let text = profile(#""level": 0.4"#, #""transient": {"floor": 0.1}"#)
    let readProfile = try ProfileFile.read(text: Array(text.utf8), name: "mine.json")
    #expect(
      readProfile.transient
        == TransientShape(
          frequency: FrequencyMapping(lowHertz: 20, highHertz: 80), fullIntensityAmplitude: 0.4,
          zeroIntensityAmplitudeFraction: 0.1))
  }

  @Test func everyKeyReadsBack() throws {
    let createdProfile = TransducerProfile(
      name: "all", summary: "Every \"key\".",
      frequency: FrequencyMapping(lowHertz: 12.5, highHertz: 170, scale: .linear),
      intensity: .sensation(decibels: 31.5), fullIntensityAmplitude: 0.45,
      partials: [
        .init(frequencyToEventRatio: 1, amplitudeToEventRatio: 0.8),
        .init(frequencyToEventRatio: 3, amplitudeToEventRatio: -0.1),
      ],
      transient: TransientShape(
        frequency: FrequencyMapping(lowHertz: 55, highHertz: 165, scale: .linear),
        durationRule: .cycles(3, seconds: 0.005...0.05),
        fullIntensityAmplitude: 0.6, zeroIntensityAmplitudeFraction: 0.2,
        partials: [
          .init(
            frequencyToBurstRatio: 1.5, amplitudeToBurstRatio: 0.3, endToStartFrequencyRatio: 0.4,
            durationToBurstRatio: 1.25)
        ],
        squareWaveFractions: 0.1...0.9, attackSeconds: 0, releaseSeconds: 0.01),
      transientDuckingGain: 0.25,
      perceptionThresholds: [
        .init(hertz: 20, accelerationDecibelsRelativeToG: -40),
        .init(hertz: 80, accelerationDecibelsRelativeToG: -31.77),
      ],
      hardware: TransducerHardware(
        product: "Maker Model", bandHertz: 10...200, resonanceHertz: 40, qualityFactor: 3.5,
        impedanceOhms: 4,
        continuousWatts: 50,
        peakWatts: 100, maximumAccelerationInG: 3.25, maximumExcursionMillimeters: 1.5,
        responsePoints: [
          .init(hertz: 20, relativeAccelerationDecibels: -12.5),
          .init(hertz: 40, relativeAccelerationDecibels: 0),
        ],
        thermalParameters: ThermalParameters(
          coilTimeConstantSeconds: 2, magnetTimeConstantSeconds: 60,
          coilFractionOfTemperatureRise: 0.4),
        measurement: TransducerMeasurement(
          date: "a day", fitResidualDecibels: -31.5, sensorQuantity: .displacement),
        estimatedValueKeys: ["qualityFactor", "thermal"]),
      driveSettings: DriveSettings(
        limitsToUsableBand: false, usableBandLevelDropDecibels: 10, isEqualized: true,
        maximumBoostDecibels: 3,
        dampingFactor: 2,
        hasEqualSensation: true, highPassHertz: 6),
      amplifier: AmplifierParameters(fullScaleWatts: 80, latencySeconds: 0.0125),
      sources: ["A sheet."])
    #expect(
      try ProfileFile.read(text: ProfileFile.write(createdProfile), name: "all.json")
        == createdProfile)
    var changedProfile = createdProfile
    changedProfile.transient.durationRule = .seconds(low: 0.0364, high: 0.0121)
    changedProfile.intensity = .power(exponent: 1.5)
    changedProfile.perceptionThresholds = []
    #expect(
      try ProfileFile.read(text: ProfileFile.write(changedProfile), name: "all.json")
        == changedProfile)
  }

  @Test func byteOrderMarkIsAccepted() { #expect(readError(about: "\u{FEFF}" + profile()) == nil) }

  @Test(arguments: [
    ("", "1:1: error: the text is empty"),
    ("{", "1:2: error: \(ExpectedMessage.unclosedObject)"),
    (#"{"name": mine}"#, #"1:10: error: expected a value, found "mine""#),
    ("[]", "1:1: error: a profile must be an object, not an array"),
    ("{}", #"1:1: error: missing key "name""#),
    (#"{"name": "mine"}"#, #"1:1: error: missing key "summary""#),
    (#"{"name": "mine", "summary": "Mine."}"#, #"1:1: error: missing key "frequency""#),
    (
      profile(#""sources": ["a sheet",]"#),
      "2:22: error: comma before a closing bracket (sources); remove it"
    ),
    (profile(#""levle": 0.5"#), #"2:1: error: unknown key "levle" (levle); did you mean "level"?"#),
    (
      profile(#""level": 0.5"#, #""level": 0.4"#),
      #"3:1: error: duplicate key "level" (level); keep one of them"#
    ),
    (profile(#""level": 1.5"#), "2:10: error: level is 1.5, outside 0.001 to 0.89 (level)"),
    (
      profile(#""level": "0.5""#),
      "2:10: error: level must be a number, not a string (level); write it without quotes"
    ),
    (profile(#""level": null"#), "2:10: error: level must be a number, not null (level)"),
    (profile(#""duck": -1"#), "2:9: error: duck is -1, outside 0 to 1 (duck)"),
    (
      profile(#""intensity": {"law": "pwer"}"#),
      #"2:22: error: "pwer" is not a valid law (intensity.law); did you mean "power"?"#
    ),
    (
      profile(#""intensity": {"exponent": 20}"#),
      "2:27: error: exponent is 20, outside 0.1 to 10 (intensity.exponent)"
    ),
    (
      profile(#""intensity": {"decibels": 30}"#),
      #"2:15: error: unknown key "decibels" (intensity.decibels); valid keys: law, exponent"#
    ),
    (
      profile(#""intensity": {"law": "sensation"}"#),
      #"2:14: error: missing key "decibels" (intensity)"#
    ),
    (
      profile(#""intensity": {"law": "sensation", "decibels": 30}"#),
      #"2:15: error: the intensity law "sensation" needs at least two thresholds (intensity.law)"#
    ),
    (
      profile(#""thresholds": [{"hertz": 20, "decibels": -40}, {"hertz": 40, "decibels": -40}]"#),
      #"2:15: error: thresholds apply only to the intensity law "sensation" or with hardware (thresholds); remove them, or choose the law "sensation""#
    ),
    (
      profile(
        #""hardware": {"product": "P"}"#, #""drive": {"equalSensation": false}"#,
        #""thresholds": [{"hertz": 20, "decibels": -40}, {"hertz": 40, "decibels": -40}]"#),
      #"4:15: error: thresholds apply only to the intensity law "sensation" or with hardware (thresholds); remove them, or choose the law "sensation""#
    ),
    (
      profile(#""hardware": {"product": "P"}"#, #""thresholds": [{"hertz": 20, "decibels": -40}]"#),
      "3:15: error: thresholds has 1 entry, outside 2 to 1000 (thresholds)"
    ),
    (
      profile(
        #""hardware": {"product": "P"}"#, #""drive": {"equalSensation": false}"#,
        #""intensity": {"law": "sensation", "decibels": 30}"#,
        #""thresholds": [{"hertz": 20, "decibels": -40}, {"hertz": 40, "decibels": -40}]"#),
      #"3:29: error: drive.equalSensation is false, but the intensity law is "sensation" (drive.equalSensation); remove the key, or choose the law "power""#
    ),
    (
      profile(#""drive": {"usableRange": 10}"#),
      #"2:1: error: drive requires hardware (drive); add "hardware", or remove the key"#
    ),
    (
      profile(#""amplifier": {"power": 10}"#),
      #"2:1: error: amplifier requires hardware (amplifier); add "hardware", or remove the key"#
    ),
    (
      profile(#""hardware": {"product": "P", "resonance": 40}"#, #""drive": {"equalize": true}"#),
      """
      3:23: error: drive.equalize requires qualityFactor in hardware (drive.equalize); measure it \
      with 'temblor calibrate', or remove the key
      """
    ),
    (
      profile(#""hardware": {"product": "P"}"#, #""drive": {"highPass": 25}"#),
      "3:23: error: drive.highPass is 25, above frequency.low, 20 (drive.highPass)"
    ),
    (
      profile(
        #""hardware": {"product": "P"}"#, #""drive": {"feltBy": "seat", "temporalSummation": true}"#
      ),
      """
      3:50: error: drive.temporalSummation applies to a hand, but drive.feltBy is seat \
      (drive.temporalSummation); remove one of the keys
      """
    ),
    (
      profile(
        #""hardware": {"product": "P", "resonance": 40, "qualityFactor": 3, "acceleration": 2}"#,
        #""drive": {"equalSensation": false, "contours": "converging"}"#),
      """
      3:48: error: drive.contours is set, but drive.equalSensation is false (drive.contours); \
      remove one of the keys
      """
    ),
    (
      profile(
        #""hardware": {"product": "P", "resonance": 40, "qualityFactor": 3}"#,
        #""drive": {"contours": "converging"}"#),
      """
      3:23: error: drive.contours requires acceleration in hardware, because sensation is relative \
      to the threshold (drive.contours); add the value, or remove the key
      """
    ),
    (
      profile(#""hardware": {"product": "P"}"#, #""drive": {"equalizer": true}"#),
      #"3:11: error: unknown key "equalizer" (drive.equalizer); did you mean "equalize"?"#
    ),
    (
      profile(#""hardware": {"product": "P"}"#, #""drive": {"mapBand": 1}"#),
      "3:22: error: mapBand must be a boolean, not a number (drive.mapBand)"
    ),
    (
      profile(#""hardware": {"product": "P", "response": [{"hertz": 40, "decibels": 0}]}"#),
      "2:42: error: response has 1 entry, outside 2 to 1000 (hardware.response)"
    ),
    (
      profile(
        #""hardware": {"product": "P", "response": [{"hertz": 50, "decibels": 0}, {"hertz": 40, "decibels": 0}]}"#
      ),
      """
      2:83: error: hertz is 40; it must be above 50 of the previous point \
      (hardware.response[1].hertz)
      """
    ),
    (
      profile(
        #""hardware": {"product": "P", "thermal": {"coilTimeConstant": 20, "magnetTimeConstant": 15}}"#
      ),
      """
      2:88: error: magnetTimeConstant is 15, below coilTimeConstant, 20 \
      (hardware.thermal.magnetTimeConstant)
      """
    ),
    (
      profile(#""hardware": {"product": "P", "thermal": {}, "estimated": ["excursion"]}"#),
      #"2:59: error: "excursion" is listed as estimated, but has no value (hardware.estimated[0]); add the value, or remove the entry"#
    ),
    (
      profile(
        #""hardware": {"product": "P", "measured": {"date": "D", "residual": -20, "sensor": "speed"}}"#
      ),
      #"2:83: error: "speed" is not a valid sensor (hardware.measured.sensor); valid values: acceleration, velocity, displacement"#
    ),
    (
      profile(
        #""intensity": {"law": "sensation", "decibels": 30}"#,
        #""thresholds": [{"hertz": 20, "decibels": -40}, {"hertz": 20, "decibels": -40}]"#),
      "3:58: error: hertz is 20; it must be above 20 of the previous point (thresholds[1].hertz)"
    ),
    (
      profile(#""partials": []"#), "2:13: error: partials has 0 entries, outside 1 to 16 (partials)"
    ),
    (
      profile(#""partials": [1]"#),
      "2:14: error: an entry must be an object, not a number (partials[0])"
    ),
    (
      profile(#""partials": [{"ratio": 0}]"#),
      "2:24: error: ratio is 0, outside 0.01 to 100 (partials[0].ratio)"
    ),
    (
      profile(#""transient": {"duration": {"low": 0.04, "high": 0.0001}}"#),
      "2:49: error: high is 0.0001, outside 0.001 to 1 (transient.duration.high)"
    ),
    (
      profile(#""transient": {"duration": {"low": 0.04, "high": 0.01}, "cycles": 2}"#),
      "2:56: error: cycles and duration cannot be used together (transient.cycles)"
    ),
    (
      profile(#""transient": {"minDuration": 0.05}"#),
      "2:14: error: maxDuration is 0.04, below minDuration, 0.05 (transient)"
    ),
    (
      profile(#""transient": {"squareness": {"low": 1, "high": 0}}"#),
      "2:48: error: high is 0, below low, 1 (transient.squareness.high)"
    ), (profile(#""hardware": {}"#), #"2:13: error: missing key "product" (hardware)"#),
    (
      profile(#""hardware": {"product": "P", "estimated": ["qualtyFactor"]}"#),
      #"2:44: error: "qualtyFactor" is not a valid value of this hardware (hardware.estimated[0]); did you mean "qualityFactor"?"#
    ),
    (
      profile(#""hardware": {"product": "P", "continuousPower": 50, "peakPower": 30}"#),
      "2:66: error: peakPower is 30, below continuousPower, 50 (hardware.peakPower)"
    ),
    (
      profile(#""sources": "a sheet""#),
      "2:12: error: sources must be an array, not a string (sources)"
    ),
    (
      #"{"name": "My Own", "summary": "Mine.", "frequency": {"low": 20, "high": 80}}"#,
      #"1:10: error: "My Own" is not a valid profile name (name); use up to 40 characters: a–z, 0–9, and -"#
    ),
    (
      #"{"name": "mine", "summary": "", "frequency": {"low": 20, "high": 80}}"#,
      "1:29: error: summary is empty (summary)"
    ),
    (
      #"{"name": "mine", "summary": "Mine.", "frequency": {"low": 80, "high": 20}}"#,
      "1:71: error: high is 20, below low, 80 (frequency.high)"
    ),
    (
      #"{"name": "mine", "summary": "Mine.", "frequency": {"low": 0, "high": 20}}"#,
      "1:59: error: low is 0, outside 0.1 to 20000 (frequency.low)"
    ),
    (
      #"{"name": "mine", "summary": "Mine.", "frequency": {"low": 2, "high": 20, "scale": "log"}}"#,
      #"1:83: error: "log" is not a valid scale (frequency.scale); valid values: logarithmic, linear"#
    ),
  ]) func invalidProfilesAreRefused(text: String, expectedError: String) {
    #expect(readError(about: text) == "mine.json:" + expectedError)
  }
}
