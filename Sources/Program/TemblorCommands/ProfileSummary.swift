import CommandLineKit
import HapticRender
import SystemSupport

/// The summary of a profile as text for `profiles show`.
struct ProfileSummary {
  let profile: TransducerProfile
  let profileLimitedToUsableBand: TransducerProfile
  let transducerSettings: TransducerSettings?
  let originText: String

  static let sharpnessTableRowCount = 6
  /// The sample rate for which the filters of a profile are shown, in hertz.
  static let displayRateHertz = 48_000.0

  init(profile: TransducerProfile, originText: String) {
    self.profile = profile
    self.originText = originText
    profileLimitedToUsableBand = profile.limitedToUsableBand(rate: Self.displayRateHertz)
    transducerSettings = profile.transducerSettings(rate: Self.displayRateHertz)
  }

  /// Returns the frequencies of sharpness 0 and 1 that a profile plays: those of its mapping within
  /// the band that the hardware reproduces.
  static func playedFrequency(of profile: TransducerProfile) -> FrequencyMapping {
    profile.limitedToUsableBand(rate: displayRateHertz).frequency
  }

  func summaryText(for output: Output) -> String {
    var textLayout = TextLayout(for: output)
    textLayout.appendWrapped("\(profile.name): \(profile.summary.printable)", indentColumns: 0)
    textLayout.appendHeading("Rendering")
    textLayout.appendTable(renderingRows)
    textLayout.appendHeading("By sharpness")
    for line in sharpnessTableLines {
      textLayout.appendVerbatim(line, indentColumns: 2)
    }
    if let transducerSettings {
      textLayout.appendHeading("Adaptation to the hardware")
      textLayout.appendTable(hardwareAdaptationRows(transducerSettings))
    }
    if let hardware = profile.hardware {
      textLayout.appendHeading("Hardware")
      textLayout.appendTable(Self.hardwareRows(hardware))
    }
    if !profile.sources.isEmpty {
      textLayout.appendHeading("Sources")
      for source in profile.sources {
        textLayout.appendWrapped(source.printable, indentColumns: 2)
      }
    }
    return textLayout.text
  }

  private var renderingRows: [(label: String, help: String)] {
    let transient = profile.transient
    let bandSuffix = Self.bandChangeText(
      from: profile.frequency, to: profileLimitedToUsableBand.frequency)
    var labeledRows = [
      ("origin", originText.printable),
      (
        "frequency",
        "\(profile.frequency.bandText), \(profile.frequency.scale.rawValue)\(bandSuffix)"
      ),
      ("intensity", intensityText),
      (
        "level",
        Self.levelText(profile.fullIntensityAmplitude) + " per continuous event at full intensity"
      ),
      (
        "waveform",
        Self.waveformText(
          profile.partials.map { ($0.frequencyToEventRatio, $0.amplitudeToEventRatio) })
      ),
      ("transients", transientText),
      ("transient level", Self.levelText(transient.fullIntensityAmplitude)),
      (
        "transient waveform",
        Self.waveformText(
          transient.partials.map { ($0.frequencyToBurstRatio, $0.amplitudeToBurstRatio) })
          + squarenessText
      ),
    ]
    if profile.transientDuckingGain != 1 {
      labeledRows.append(
        (
          "duck",
          """
          continuous events × \(profile.transientDuckingGain.text(places: 3)) while a transient \
          sounds
          """
        ))
    }
    return labeledRows
  }

  private var intensityText: String {
    switch profile.intensity {
    case .power(let exponent):
      "amplitude = intensity"
        + (exponent == 1 ? "" : " to the power of \(exponent.text(places: 3))")
    case .sensation(let decibels):
      "perceptually uniform; intensity 1 is \(decibels.text(places: 1)) dB above threshold"
    }
  }

  private var transientText: String {
    let transient = profile.transient
    let lengthText =
      switch transient.durationRule {
      case .cycles(let count, let range):
        "\(count.text(places: 2)) cycles within "
          + "\(Self.millisecondText(range.lowerBound))–\(Self.millisecondText(range.upperBound)) ms"
      case .seconds(let low, let high):
        (low == high ? "" : "\(Self.millisecondText(low)) to ") + "\(Self.millisecondText(high)) ms"
      }
    let hasOwnFrequency = transient.frequency != profile.frequency
    let floorPercentText = (transient.zeroIntensityAmplitudeFraction * 100).text(places: 1)
    let bandText =
      transient.frequency.bandText
      + Self.bandChangeText(
        from: transient.frequency, to: profileLimitedToUsableBand.transient.frequency)
    return lengthText + (hasOwnFrequency ? ", \(bandText)" : "")
      + (transient.zeroIntensityAmplitudeFraction > 0
        ? ", at least \(floorPercentText) % of the level" : "")
  }

  private var squarenessText: String {
    let fractionRange = profile.transient.squareWaveFractions
    guard fractionRange.upperBound > 0 else { return "" }
    let percentTexts = [fractionRange.lowerBound, fractionRange.upperBound].map {
      ($0 * 100).text(places: 0)
    }
    return ", \(percentTexts[0]) to \(percentTexts[1]) % square"
  }

  private var sharpnessTableLines: [String] {
    let levelFactors = profileLimitedToUsableBand.levelsOverSharpness(
      count: Self.sharpnessTableRowCount, drive: transducerSettings)
    let isResponseKnown = profile.hasKnownResponse
    let headerCells =
      ["sharpness", "frequency", "level"] + (isResponseKnown ? ["response"] : []) + [
        "burst", "length",
      ]
    let stepRows = (0..<Self.sharpnessTableRowCount).map { step in
      let sharpness = Double(step) / Double(Self.sharpnessTableRowCount - 1)
      let hertz = profileLimitedToUsableBand.frequency.hertz(atSharpness: sharpness)
      let level =
        profile.fullIntensityAmplitude * levelFactors[step]
        * (transducerSettings?.driveResponse(atHertz: hertz) ?? 1)
      let transient = profileLimitedToUsableBand.transient
      return [
        sharpness.text(places: 1), FrequencyMapping.hertzText(hertz) + " Hz",
        NumberFormatting.decibels(ofAmplitude: Float(level)).text(places: 1) + " dBFS",
      ] + (isResponseKnown ? [responseText(ofAmplitude: level, atHertz: hertz)] : []) + [
        FrequencyMapping.hertzText(transient.frequency.hertz(atSharpness: sharpness)) + " Hz",
        Self.millisecondText(transient.seconds(atSharpness: sharpness)) + " ms",
      ]
    }
    return TextTable.lines(ofRows: [headerCells] + stepRows, alignsRight: true)
  }

  private static func hardwareRows(_ hardware: TransducerHardware) -> [(
    label: String, help: String
  )] {
    func quantityText(_ value: Double?, _ unit: String) -> String? {
      value.map { $0.text(places: 3) + unit }
    }
    let hardwareFigures: [(key: String, label: String, text: String?)] = [
      ("band", "band", hardware.bandHertz.map { $0.rangeText + " Hz" }),
      ("resonance", "resonance", quantityText(hardware.resonanceHertz, " Hz")),
      ("qualityFactor", "Q factor", quantityText(hardware.qualityFactor, "")),
      ("impedance", "impedance", quantityText(hardware.impedanceOhms, " Ω")),
      ("continuousPower", "power", quantityText(hardware.continuousWatts, " W")),
      ("peakPower", "peak power", quantityText(hardware.peakWatts, " W")),
      ("acceleration", "acceleration", quantityText(hardware.maximumAccelerationInG, " g")),
      ("excursion", "excursion", quantityText(hardware.maximumExcursionMillimeters, " mm")),
      (
        "response", "response",
        hardware.responsePoints.isEmpty ? nil : "\(hardware.responsePoints.count) measured points"
      ),
      ("thermal", "thermal", hardware.thermalParameters.map { $0.timeConstantsText }),
    ]
    var labeledRows: [(label: String, help: String)] = [("product", hardware.product.printable)]
    for figure in hardwareFigures {
      guard let text = figure.text else { continue }
      let isEstimated = hardware.estimatedValueKeys.contains(figure.key)
      labeledRows.append((figure.label, text + (isEstimated ? " (estimated)" : "")))
    }
    for mode in hardware.additionalResonances {
      let decibels = NumberFormatting.decibels(
        ofAmplitude: Float(abs(mode.accelerationToMainModeRatio)))
      let modeText =
        """
        \(mode.resonanceHertz.text(places: 3)) Hz, Q factor \(mode.qualityFactor.text(places: 3)), \
        \(decibels.text(places: 1)) dB
        """
      labeledRows.append(
        ("resonance", modeText + (mode.accelerationToMainModeRatio < 0 ? ", inverted" : "")))
    }
    if hardware.model != nil {
      let doubt = hardware.uncertainty ?? hardware.defaultUncertainty
      let factor =
        doubt.trueToStatedQualityFactorRatio.text(places: 2)
        + (hardware.uncertainty == nil ? " (assumed)" : "")
      labeledRows.append(
        (
          "uncertainty",
          """
          resonance ±\((doubt.resonanceDeviationFraction * 100).text(places: 1)) %, Q factor \
          within a factor of \(factor)
          """
        ))
    }
    if let measurement = hardware.measurement {
      let origin = "\(measurement.date.printable), by \(measurement.sensorQuantity.rawValue)"
      labeledRows.append(
        ("measured", "\(origin), residual \(measurement.fitResidualDecibels.text(places: 1)) dB"))
    }
    return labeledRows
  }

  private static func levelText(_ amplitude: Double) -> String {
    let decibelsText = NumberFormatting.decibels(ofAmplitude: Float(amplitude)).text(places: 1)
    return "\(amplitude.text(places: 4)) (\(decibelsText) dBFS)"
  }

  private static func waveformText(_ partials: [(ratio: Double, gain: Double)]) -> String {
    if partials.count == 1, partials[0] == (1, 1) { return "a sine" }
    let partialTexts = partials.map { partial in
      "\(partial.gain.text(places: 3)) at × \(partial.ratio.text(places: 3))"
    }
    return (partials.count == 1 ? "a sine: " : "\(partials.count) sines: ")
      + partialTexts.joined(separator: ", ")
  }

  private static func millisecondText(_ seconds: Double) -> String {
    (seconds * 1_000).text(places: 1)
  }

  /// Returns text such as `; 25–46.2 Hz played` if the played frequency band differs from the
  /// requested band; otherwise, an empty string.
  static func bandChangeText(from requested: FrequencyMapping, to played: FrequencyMapping)
    -> String
  {
    requested == played ? "" : "; \(played.bandText) played"
  }

  /// Returns the response of the hardware to an amplitude, relative to its peak response to a
  /// full-scale sine.
  /// The response is in g if the acceleration is known.
  func responseText(ofAmplitude amplitude: Double, atHertz hertz: Double) -> String {
    guard let hardware = profile.hardware else { return "" }
    let resonanceDecibels = hardware.model.map {
      profile.hardwareResponseDecibels(atHertz: $0.resonanceHertz)
    }
    let peakDecibels =
      hardware.responsePoints.map(\.relativeAccelerationDecibels).max() ?? resonanceDecibels ?? 0
    let relativeDecibels =
      profile.hardwareResponseDecibels(atHertz: hertz) - peakDecibels
      + NumberFormatting.decibels(ofAmplitude: Float(amplitude))
    guard let unitAccelerationInG = hardware.maximumAccelerationInG else {
      return relativeDecibels.text(places: 1) + " dB"
    }
    let fullScaleDriveRatio = (transducerSettings?.limits.fullScaleToContinuousPowerRatio ?? 1)
      .squareRoot()
    let maximumAccelerationInG = unitAccelerationInG * fullScaleDriveRatio
    return (maximumAccelerationInG * NumberFormatting.amplitude(decibels: relativeDecibels)).text(
      places: 2) + " g"
  }

  func hardwareAdaptationRows(_ settings: TransducerSettings) -> [(label: String, help: String)] {
    let settingsRows = [
      ("high-pass", FrequencyMapping.hertzText(settings.highPassHertz) + " Hz"),
      ("resonance", resonanceText(settings)),
      ("levels", equalizationText(settings)), ("excursion", excursionText(settings)),
      ("power", powerText(settings)),
    ]
    let thermalText =
      settings.limits.thermal.timeConstantsText
      + (profile.hardware?.thermalParameters == nil ? " (estimated)" : "")
    return settings.limits.fullScaleToContinuousPowerRatio == nil
      ? settingsRows : settingsRows + [("temperature", thermalText)]
  }

  private func resonanceText(_ settings: TransducerSettings) -> String {
    guard let equalizer = settings.equalizer else {
      return settings.protectionModel == nil
        ? "not equalized: resonance or Q factor unknown" : "not equalized"
    }
    func modelText(_ model: TransducerModel) -> String {
      let hertz = FrequencyMapping.hertzText(model.resonanceHertz)
      return "\(hertz) Hz, Q \(model.qualityFactor.text(places: 2))"
    }
    return
      """
      from \(modelText(equalizer.canceledModel)) to \(modelText(equalizer.targetModel)); gain \
      \(equalizer.highFrequencyGain.text(places: 3)) far above resonance
      """
  }

  private func equalizationText(_ settings: TransducerSettings) -> String {
    let levelFactors = profileLimitedToUsableBand.levelsOverSharpness(count: 33, drive: settings)
    let minimumLevelFactor = levelFactors.min() ?? 1
    guard profile.hasEqualSensation || profile.isEqualized else { return "constant drive" }
    // A threshold curve of the profile replaces the standard curve for the seat.
    let seatText =
      profile.perceptionThresholds.count > 1 || profile.driveSettings.contactSite == .hand
      ? "" : " on a seat"
    let contoursText = profile.hasConvergingContours ? ", contours converging" : ""
    let summationText = profile.hasTemporalSummation ? ", bursts by temporal summation" : ""
    let goalText =
      profile.hasEqualSensation
      ? "equal sensation" + seatText + contoursText + summationText : "equal acceleration"
    return
      """
      \(goalText) at every sharpness, attenuated by up to \
      \(abs(NumberFormatting.decibels(ofAmplitude: Float(minimumLevelFactor))).text(places: 1)) dB
      """
  }

  private func excursionText(_ settings: TransducerSettings) -> String {
    guard let excursionRatio = settings.limits.excursionLimitToFullScaleRatio,
      let hardware = profile.hardware
    else {
      return "not limited, because the resonance or the Q factor is unknown"
    }
    let originText =
      if hardware.maximumExcursionMillimeters != nil && hardware.maximumAccelerationInG != nil {
        "from hardware.excursion"
      } else if settings.limits.fullScaleToContinuousPowerRatio != nil {
        "excursion at peak power in the band"
      } else {
        "excursion at full scale in the band"
      }
    return
      """
      limited to \(excursionRatio.text(places: 2)) × the excursion of a full-scale sine at \
      resonance (\(originText))
      """
  }

  private func powerText(_ settings: TransducerSettings) -> String {
    guard let powerRatio = settings.limits.fullScaleToContinuousPowerRatio,
      let hardware = profile.hardware
    else {
      return "not limited, because the power rating is unknown"
    }
    let continuousWatts = hardware.continuousWatts ?? (hardware.peakWatts ?? 0) / 2
    func wattsText(_ value: Double) -> String { value.text(places: 3) + " W" }
    return "full scale delivers \(wattsText(powerRatio * continuousWatts))"
      + (profile.amplifier.fullScaleWatts == nil ? " (assumed; set amplifier.power)" : "")
      + ", limited to \(wattsText(continuousWatts)) continuous"
      + (hardware.continuousWatts == nil ? " (half the peak power)" : "")
  }
}

extension ThermalParameters {
  /// The time constants as text, such as `time constants: coil 10 s, magnet 900 s; coil fraction 60
  /// %`.
  var timeConstantsText: String {
    func secondsText(_ value: Double) -> String { value.text(places: 1) + " s" }
    let percentageText = (coilFractionOfTemperatureRise * 100).text(places: 0)
    return "time constants: coil \(secondsText(coilTimeConstantSeconds)), "
      + "magnet \(secondsText(magnetTimeConstantSeconds)); coil fraction \(percentageText) %"
  }
}
