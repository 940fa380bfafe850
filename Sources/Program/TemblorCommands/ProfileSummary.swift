import CommandLineKit
import HapticRender
import SystemSupport

/// The summary of a profile as text for `profiles show`.
struct ProfileSummary {
  let profile: TransducerProfile
  let bandMappedProfile: TransducerProfile
  let transducerSettings: TransducerSettings?
  let originText: String

  static let sharpnessStepCount = 6
  /// The sample rate for which the filters of a profile are shown, in hertz.
  static let displayRateHertz = 48_000.0

  init(profile: TransducerProfile, originText: String) {
    self.profile = profile
    self.originText = originText
    bandMappedProfile = profile.bandMapped(rate: Self.displayRateHertz)
    transducerSettings = profile.transducerSettings(rate: Self.displayRateHertz)
  }

  func summaryText(for output: Output) -> String {
    var layout = TextLayout(for: output)
    layout.appendWrapped("\(profile.name): \(profile.summary.printable)", indentColumns: 0)
    layout.appendHeading("Rendering")
    layout.appendTable(renderingRows)
    layout.appendHeading("By sharpness")
    for line in sharpnessTableLines {
      layout.appendVerbatim(line, indentColumns: 2)
    }
    if let transducerSettings {
      layout.appendHeading("Adaptation to the hardware")
      layout.appendTable(adaptationRows(transducerSettings))
    }
    if let hardware = profile.hardware {
      layout.appendHeading("Hardware")
      layout.appendTable(Self.hardwareRows(hardware))
    }
    if !profile.sources.isEmpty {
      layout.appendHeading("Sources")
      for source in profile.sources {
        layout.appendWrapped(source.printable, indentColumns: 2)
      }
    }
    return layout.text
  }

  private var renderingRows: [(label: String, help: String)] {
    let transient = profile.transient
    let change = Self.bandChangeText(from: profile.frequency, to: bandMappedProfile.frequency)
    var rows = [
      ("origin", originText.printable),
      ("frequency", "\(profile.frequency.bandText), \(profile.frequency.scale.rawValue)\(change)"),
      ("intensity", intensityText),
      (
        "level",
        Self.levelText(profile.fullIntensityAmplitude) + " per continuous event at full intensity"
      ),
      (
        "waveform",
        Self.waveformText(profile.partials.map { ($0.frequencyRatio, $0.amplitudeRatio) })
      ),
      ("transients", transientText),
      ("transient level", Self.levelText(transient.fullIntensityAmplitude)),
      (
        "transient waveform",
        Self.waveformText(transient.partials.map { ($0.frequencyRatio, $0.amplitudeRatio) })
          + squarenessText
      ),
    ]
    if profile.duckingGain != 1 {
      rows.append(
        (
          "duck",
          "continuous events × \(profile.duckingGain.text(places: 3)) while a transient sounds"
        ))
    }
    return rows
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
    let length =
      switch transient.durationRule {
      case .cycles(let count, let range):
        "\(count.text(places: 2)) cycles within "
          + "\(Self.millisecondText(range.lowerBound))–\(Self.millisecondText(range.upperBound)) ms"
      case .seconds(let low, let high):
        (low == high ? "" : "\(Self.millisecondText(low)) to ") + "\(Self.millisecondText(high)) ms"
      }
    let isOwn = transient.frequency != profile.frequency
    let floor = (transient.floorFraction * 100).text(places: 1)
    let band =
      transient.frequency.bandText
      + Self.bandChangeText(from: transient.frequency, to: bandMappedProfile.transient.frequency)
    return length + (isOwn ? ", \(band)" : "")
      + (transient.floorFraction > 0 ? ", at least \(floor) % of the level" : "")
  }

  private var squarenessText: String {
    let range = profile.transient.squareWaveFractions
    guard range.upperBound > 0 else { return "" }
    let percents = [range.lowerBound, range.upperBound].map { ($0 * 100).text(places: 0) }
    return ", \(percents[0]) to \(percents[1]) % square"
  }

  private var sharpnessTableLines: [String] {
    let factors = bandMappedProfile.levelsOverSharpness(
      count: Self.sharpnessStepCount, drive: transducerSettings)
    let isKnown = profile.hasKnownResponse
    let head =
      ["sharpness", "frequency", "level"] + (isKnown ? ["response"] : []) + ["burst", "length"]
    let rows = (0..<Self.sharpnessStepCount).map { step in
      let sharpness = Double(step) / Double(Self.sharpnessStepCount - 1)
      let hertz = bandMappedProfile.frequency.hertz(atSharpness: sharpness)
      let level =
        profile.fullIntensityAmplitude * factors[step]
        * (transducerSettings?.driveResponse(atHertz: hertz) ?? 1)
      let transient = bandMappedProfile.transient
      return [
        sharpness.text(places: 1), FrequencyMapping.hertzText(hertz) + " Hz",
        NumberFormatting.decibels(ofAmplitude: Float(level)).text(places: 1) + " dBFS",
      ] + (isKnown ? [responseText(ofAmplitude: level, atHertz: hertz)] : []) + [
        FrequencyMapping.hertzText(transient.frequency.hertz(atSharpness: sharpness)) + " Hz",
        Self.millisecondText(transient.seconds(atSharpness: sharpness)) + " ms",
      ]
    }
    return TextTable.lines(ofRows: [head] + rows, alignsRight: true)
  }

  private static func hardwareRows(_ hardware: TransducerHardware) -> [(
    label: String, help: String
  )] {
    func number(_ value: Double?, _ unit: String) -> String? {
      value.map { $0.text(places: 3) + unit }
    }
    let figures: [(key: String, label: String, text: String?)] = [
      ("band", "band", hardware.bandHertz.map { $0.rangeText + " Hz" }),
      ("resonance", "resonance", number(hardware.resonanceHertz, " Hz")),
      ("qualityFactor", "Q factor", number(hardware.qualityFactor, "")),
      ("impedance", "impedance", number(hardware.impedanceOhms, " Ω")),
      ("continuousPower", "power", number(hardware.continuousWatts, " W")),
      ("peakPower", "peak power", number(hardware.peakWatts, " W")),
      ("acceleration", "acceleration", number(hardware.accelerationInG, " g")),
      ("excursion", "excursion", number(hardware.excursionMillimeters, " mm")),
      (
        "response", "response",
        hardware.responsePoints.isEmpty ? nil : "\(hardware.responsePoints.count) measured points"
      ),
      ("thermal", "thermal", hardware.thermalParameters.map { $0.timeConstantsText }),
    ]
    var rows: [(label: String, help: String)] = [("product", hardware.product.printable)]
    for figure in figures {
      guard let text = figure.text else { continue }
      let isEstimated = hardware.estimatedFigureNames.contains(figure.key)
      rows.append((figure.label, text + (isEstimated ? " (estimated)" : "")))
    }
    for mode in hardware.additionalResonances {
      let decibels = NumberFormatting.decibels(ofAmplitude: Float(abs(mode.accelerationRatio)))
      let figures =
        """
        \(mode.resonanceHertz.text(places: 3)) Hz, Q factor \(mode.qualityFactor.text(places: 3)), \
        \(decibels.text(places: 1)) dB
        """
      rows.append(("resonance", figures + (mode.accelerationRatio < 0 ? ", inverted" : "")))
    }
    if hardware.model != nil {
      let doubt = hardware.uncertainty ?? hardware.defaultUncertainty
      let factor =
        doubt.qualityFactorRatio.text(places: 2) + (hardware.uncertainty == nil ? " (assumed)" : "")
      rows.append(
        (
          "uncertainty",
          """
          resonance ±\((doubt.resonanceFraction * 100).text(places: 1)) %, Q factor within \
          a factor of \(factor)
          """
        ))
    }
    if let measured = hardware.measurement {
      let origin = "\(measured.date.printable), by \(measured.sensorQuantity.rawValue)"
      rows.append(
        ("measured", "\(origin), residual \(measured.residualDecibels.text(places: 1)) dB"))
    }
    return rows
  }

  private static func levelText(_ amplitude: Double) -> String {
    let decibels = NumberFormatting.decibels(ofAmplitude: Float(amplitude)).text(places: 1)
    return "\(amplitude.text(places: 4)) (\(decibels) dBFS)"
  }

  private static func waveformText(_ partials: [(ratio: Double, gain: Double)]) -> String {
    if partials.count == 1, partials[0] == (1, 1) { return "a sine" }
    let list = partials.map { partial in
      "\(partial.gain.text(places: 3)) at × \(partial.ratio.text(places: 3))"
    }
    return (partials.count == 1 ? "a sine: " : "\(partials.count) sines: ")
      + list.joined(separator: ", ")
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
    let best = hardware.model.map { profile.hardwareDecibels(atHertz: $0.resonanceHertz) }
    let peak = hardware.responsePoints.map(\.accelerationDecibels).max() ?? best ?? 0
    let decibels =
      profile.hardwareDecibels(atHertz: hertz) - peak
      + NumberFormatting.decibels(ofAmplitude: Float(amplitude))
    guard let acceleration = hardware.accelerationInG else {
      return decibels.text(places: 1) + " dB"
    }
    let drive = (transducerSettings?.limits.fullScalePowerRatio ?? 1).squareRoot()
    let maximum = acceleration * drive
    return (maximum * NumberFormatting.amplitude(decibels: decibels)).text(places: 2) + " g"
  }

  func adaptationRows(_ settings: TransducerSettings) -> [(label: String, help: String)] {
    let rows = [
      ("high-pass", FrequencyMapping.hertzText(settings.highPassHertz) + " Hz"),
      ("resonance", resonanceText(settings)),
      ("levels", equalizationText(settings)), ("excursion", excursionText(settings)),
      ("power", powerText(settings)),
    ]
    let thermal =
      settings.limits.thermal.timeConstantsText
      + (profile.hardware?.thermalParameters == nil ? " (estimated)" : "")
    return settings.limits.fullScalePowerRatio == nil ? rows : rows + [("temperature", thermal)]
  }

  private func resonanceText(_ settings: TransducerSettings) -> String {
    guard let equaliser = settings.equalizer else {
      return settings.protectionModel == nil
        ? "not equalized: resonance or Q factor unknown" : "not equalized"
    }
    func text(_ model: TransducerModel) -> String {
      let hertz = FrequencyMapping.hertzText(model.resonanceHertz)
      return "\(hertz) Hz, Q \(model.qualityFactor.text(places: 2))"
    }
    return
      """
      from \(text(equaliser.canceledModel)) to \(text(equaliser.targetModel)); gain \
      \(equaliser.highFrequencyGain.text(places: 3)) far above resonance
      """
  }

  private func equalizationText(_ settings: TransducerSettings) -> String {
    let factors = bandMappedProfile.levelsOverSharpness(count: 33, drive: settings)
    let minimum = factors.min() ?? 1
    guard profile.hasEqualSensation || profile.isEqualized else { return "constant drive" }
    // A threshold curve of the profile replaces the standard curve for the seat.
    let seat =
      profile.perceptionThresholds.count > 1 || profile.driveSettings.contactSite == .hand
      ? "" : " on a seat"
    let contours = profile.hasConvergingContours ? ", contours converging" : ""
    let summation = profile.hasTemporalSummation ? ", bursts by temporal summation" : ""
    let goal =
      profile.hasEqualSensation
      ? "equal sensation" + seat + contours + summation : "equal acceleration"
    return
      """
      \(goal) at every sharpness, attenuated by up to \
      \(abs(NumberFormatting.decibels(ofAmplitude: Float(minimum))).text(places: 1)) dB
      """
  }

  private func excursionText(_ settings: TransducerSettings) -> String {
    guard let excursion = settings.limits.maximumExcursionRatio, let hardware = profile.hardware
    else {
      return "not limited, because the resonance or the Q factor is unknown"
    }
    let origin =
      if hardware.excursionMillimeters != nil && hardware.accelerationInG != nil {
        "from hardware.excursion"
      } else if settings.limits.fullScalePowerRatio != nil {
        "excursion at peak power in the band"
      } else {
        "excursion at full scale in the band"
      }
    return
      """
      limited to \(excursion.text(places: 2)) × the excursion of a full-scale sine at resonance \
      (\(origin))
      """
  }

  private func powerText(_ settings: TransducerSettings) -> String {
    guard let power = settings.limits.fullScalePowerRatio, let hardware = profile.hardware else {
      return "not limited, because the power rating is unknown"
    }
    let continuous = hardware.continuousWatts ?? (hardware.peakWatts ?? 0) / 2
    func watts(_ value: Double) -> String { value.text(places: 3) + " W" }
    return "full scale delivers \(watts(power * continuous))"
      + (profile.amplifier.fullScaleWatts == nil ? " (assumed; set amplifier.power)" : "")
      + ", limited to \(watts(continuous)) continuous"
      + (hardware.continuousWatts == nil ? " (half the peak power)" : "")
  }
}

extension ThermalParameters {
  /// The time constants as text, such as `time constants: coil 10 s, magnet 900 s; coil fraction 60
  /// %`.
  var timeConstantsText: String {
    func seconds(_ value: Double) -> String { value.text(places: 1) + " s" }
    let percentage = (coilTemperatureFraction * 100).text(places: 0)
    return "time constants: coil \(seconds(coilTimeConstantSeconds)), "
      + "magnet \(seconds(magnetTimeConstantSeconds)); coil fraction \(percentage) %"
  }
}
