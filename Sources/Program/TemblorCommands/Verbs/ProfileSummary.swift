struct ProfileSummary {
  let profile: TransducerProfile
  let placed: TransducerProfile
  let settings: TransducerSettings?
  let origin: String

  static let steps = 6
  /// The frame rate that filters are shown for.
  static let rate = 48_000.0

  init(profile: TransducerProfile, origin: String) {
    self.profile = profile
    self.origin = origin
    placed = profile.bandMapped(rate: Self.rate)
    settings = profile.transducerSettings(rate: Self.rate)
  }

  func text(for output: Output) -> String {
    var layout = TextLayout(for: output)
    layout.lines("\(profile.name): \(profile.summary.printable)", indent: 0)
    layout.heading("Rendering")
    layout.table(laws)
    layout.heading("By sharpness")
    for line in bySharpness {
      layout.verbatim(line, indent: 2)
    }
    if let settings {
      layout.heading("Adaptation to the hardware")
      layout.table(fit(settings))
    }
    if let hardware = profile.hardware {
      layout.heading("Hardware")
      layout.table(Self.figures(of: hardware))
    }
    if !profile.sources.isEmpty {
      layout.heading("Sources")
      for source in profile.sources {
        layout.lines(source.printable, indent: 2)
      }
    }
    return layout.text
  }

  private var laws: [(label: String, help: String)] {
    let transient = profile.transient
    let change = Self.change(from: profile.frequency, to: placed.frequency)
    var rows = [
      ("origin", origin.printable),
      ("frequency", "\(profile.frequency.text), \(profile.frequency.scale.rawValue)\(change)"),
      ("intensity", intensity),
      ("level", Self.level(profile.level) + " per continuous event at full intensity"),
      ("waveform", Self.sines(profile.partials.map { ($0.ratio, $0.gain) })), ("transients", burst),
      ("transient level", Self.level(transient.level)),
      (
        "transient waveform",
        Self.sines(transient.partials.map { ($0.ratio, $0.gain) }) + squareness
      ),
    ]
    if profile.duck != 1 {
      rows.append(("duck", "continuous events × \(profile.duck.text(3)) while a transient sounds"))
    }
    return rows
  }

  private var intensity: String {
    switch profile.intensity {
    case .power(let exponent):
      "amplitude = intensity" + (exponent == 1 ? "" : " to the power of \(exponent.text(3))")
    case .sensation(let decibels):
      "perceptually uniform; intensity 1 is \(decibels.text(1)) dB above threshold"
    }
  }

  private var burst: String {
    let transient = profile.transient
    let length =
      switch transient.length {
      case .cycles(let count, let range):
        "\(count.text(2)) cycles within "
          + "\(Self.milliseconds(range.lowerBound))–\(Self.milliseconds(range.upperBound)) ms"
      case .seconds(let low, let high):
        (low == high ? "" : "\(Self.milliseconds(low)) to ") + "\(Self.milliseconds(high)) ms"
      }
    let isOwn = transient.frequency != profile.frequency
    let floor = (transient.floor * 100).text(1)
    let band =
      transient.frequency.text
      + Self.change(from: transient.frequency, to: placed.transient.frequency)
    return length + (isOwn ? ", \(band)" : "")
      + (transient.floor > 0 ? ", at least \(floor) % of the level" : "")
  }

  private var squareness: String {
    let range = profile.transient.squareness
    guard range.upperBound > 0 else { return "" }
    let shares = [range.lowerBound, range.upperBound].map { ($0 * 100).text(0) }
    return ", \(shares[0]) to \(shares[1]) % square"
  }

  private var bySharpness: [String] {
    let factors = placed.levelsOverSharpness(count: Self.steps, drive: settings)
    let isKnown = profile.hasKnownResponse
    let head =
      ["sharpness", "frequency", "level"] + (isKnown ? ["response"] : []) + ["burst", "length"]
    let rows = (0..<Self.steps).map { step in
      let sharpness = Double(step) / Double(Self.steps - 1)
      let hertz = placed.frequency.hertz(atSharpness: sharpness)
      let level = profile.level * factors[step] * (settings?.driveResponse(atHertz: hertz) ?? 1)
      let transient = placed.transient
      return [
        sharpness.text(1), FrequencyMapping.hertz(hertz) + " Hz",
        NumberFormatting.decibels(Float(level)).text(1) + " dBFS",
      ] + (isKnown ? [made(level, atHertz: hertz)] : []) + [
        FrequencyMapping.hertz(transient.frequency.hertz(atSharpness: sharpness)) + " Hz",
        Self.milliseconds(transient.seconds(atSharpness: sharpness)) + " ms",
      ]
    }
    return ColumnText.lines([head] + rows, isRight: true)
  }

  private static func figures(of hardware: TransducerHardware) -> [(label: String, help: String)] {
    func number(_ value: Double?, _ unit: String) -> String? { value.map { $0.text(3) + unit } }
    let figures: [(key: String, label: String, text: String?)] = [
      ("band", "band", hardware.band.map { $0.text + " Hz" }),
      ("resonance", "resonance", number(hardware.resonance, " Hz")),
      ("qualityFactor", "quality factor", number(hardware.qualityFactor, "")),
      ("impedance", "impedance", number(hardware.impedance, " Ω")),
      ("continuousPower", "power", number(hardware.continuousPower, " W")),
      ("peakPower", "peak power", number(hardware.peakPower, " W")),
      ("acceleration", "acceleration", number(hardware.acceleration, " g")),
      ("excursion", "excursion", number(hardware.excursion, " mm")),
      (
        "response", "response",
        hardware.response.isEmpty ? nil : "\(hardware.response.count) measured points"
      ),
      ("thermal", "thermal", hardware.thermal.map { $0.text }),
    ]
    var rows: [(label: String, help: String)] = [("product", hardware.product.printable)]
    for figure in figures {
      guard let text = figure.text else { continue }
      let isEstimated = hardware.estimated.contains(figure.key)
      rows.append((figure.label, text + (isEstimated ? " (estimated)" : "")))
    }
    for mode in hardware.modes {
      let decibels = NumberFormatting.decibels(Float(abs(mode.gain)))
      let figures =
        """
        \(mode.resonance.text(3)) Hz, quality factor \(mode.qualityFactor.text(3)), \
        \(decibels.text(1)) dB
        """
      rows.append(("resonance", figures + (mode.gain < 0 ? ", inverted" : "")))
    }
    if hardware.model != nil {
      let doubt = hardware.uncertainty ?? hardware.assumedUncertainty
      let factor = doubt.qualityFactor.text(2) + (hardware.uncertainty == nil ? " (assumed)" : "")
      rows.append(
        (
          "uncertainty",
          """
          resonance ±\((doubt.resonance * 100).text(1)) %, quality factor within a factor of \
          \(factor)
          """
        ))
    }
    if let measured = hardware.measured {
      let origin = "\(measured.date.printable), by \(measured.sensor.rawValue)"
      rows.append(("measured", "\(origin), \(measured.residual.text(1)) dB unexplained"))
    }
    return rows
  }

  private static func level(_ amplitude: Double) -> String {
    let decibels = NumberFormatting.decibels(Float(amplitude)).text(1)
    return "\(amplitude.text(4)) (\(decibels) dBFS)"
  }

  private static func sines(_ partials: [(ratio: Double, gain: Double)]) -> String {
    if partials.count == 1, partials[0] == (1, 1) { return "a sine" }
    let list = partials.map { partial in "\(partial.gain.text(3)) at × \(partial.ratio.text(3))" }
    return (partials.count == 1 ? "a sine: " : "\(partials.count) sines: ")
      + list.joined(separator: ", ")
  }

  private static func milliseconds(_ seconds: Double) -> String { (seconds * 1_000).text(1) }

  /// `; 25–46.2 Hz of it are played` where a law was narrowed.
  static func change(from asked: FrequencyMapping, to placed: FrequencyMapping) -> String {
    asked == placed ? "" : "; \(placed.text) played"
  }

  /// What hardware makes of a level, relative to a full-scale sine at its best; in g where that is
  /// known.
  func made(_ level: Double, atHertz hertz: Double) -> String {
    guard let hardware = profile.hardware else { return "" }
    let best = hardware.model.map { profile.hardwareDecibels(atHertz: $0.resonance) }
    let peak = hardware.response.map(\.decibels).max() ?? best ?? 0
    let decibels =
      profile.hardwareDecibels(atHertz: hertz) - peak + NumberFormatting.decibels(Float(level))
    guard let acceleration = hardware.acceleration else { return decibels.text(1) + " dB" }
    let drive = (settings?.limits.power ?? 1).squareRoot()
    let most = acceleration * drive
    return (most * NumberFormatting.amplitude(decibels: decibels)).text(2) + " g"
  }

  func fit(_ settings: TransducerSettings) -> [(label: String, help: String)] {
    let rows = [
      ("high-pass", FrequencyMapping.hertz(settings.highPass) + " Hz"),
      ("resonance", resonance(settings)),
      ("levels", levels(settings)), ("excursion", movement(settings)), ("power", power(settings)),
    ]
    let thermal =
      settings.limits.thermal.text + (profile.hardware?.thermal == nil ? " (estimated)" : "")
    return settings.limits.power == nil ? rows : rows + [("temperature", thermal)]
  }

  private func resonance(_ settings: TransducerSettings) -> String {
    guard let equaliser = settings.equaliser else {
      return settings.model == nil
        ? "not equalised: resonance or Q factor unknown" : "not equalised"
    }
    func text(_ model: TransducerModel) -> String {
      "\(FrequencyMapping.hertz(model.resonance)) Hz, Q \(model.qualityFactor.text(2))"
    }
    return
      """
      from \(text(equaliser.model)) to \(text(equaliser.apparent)); gain \
      \(equaliser.gain.text(3)) far above resonance
      """
  }

  private func levels(_ settings: TransducerSettings) -> String {
    let factors = placed.levelsOverSharpness(count: 33, drive: settings)
    let least = factors.min() ?? 1
    guard profile.hasEqualSensation || profile.isEqualized else { return "constant drive" }
    // A curve of the profile's own is not one of these.
    let felt = profile.thresholds.count > 1 || profile.drive.feltBy == .hand ? "" : " on a seat"
    let contours = profile.hasConvergingContours ? ", contours converging" : ""
    let summation = profile.hasTemporalSummation ? ", bursts by temporal summation" : ""
    let aim =
      profile.hasEqualSensation
      ? "equal sensation" + felt + contours + summation : "equal acceleration"
    return
      """
      \(aim) at every sharpness, attenuated by up to \
      \(abs(NumberFormatting.decibels(Float(least))).text(1)) dB
      """
  }

  private func movement(_ settings: TransducerSettings) -> String {
    guard let excursion = settings.limits.excursion, let hardware = profile.hardware else {
      return "not limited, since resonance or quality is not known"
    }
    let origin =
      if hardware.excursion != nil && hardware.acceleration != nil {
        "from hardware.excursion"
      } else if settings.limits.power != nil {
        "excursion at peak power in the band"
      } else {
        "excursion at full scale in the band"
      }
    return "limited to \(excursion.text(2)) × that of a full-scale sine at resonance (\(origin))"
  }

  private func power(_ settings: TransducerSettings) -> String {
    guard let power = settings.limits.power, let hardware = profile.hardware else {
      return "not limited, since no power is known"
    }
    let continuous = hardware.continuousPower ?? (hardware.peakPower ?? 0) / 2
    func watts(_ value: Double) -> String { value.text(3) + " W" }
    return "full scale delivers \(watts(power * continuous))"
      + (profile.amplifier.power == nil ? " (assumed; set amplifier.power)" : "")
      + ", limited to \(watts(continuous)) continuous"
      + (hardware.continuousPower == nil ? " (half the peak power)" : "")
  }
}

extension ThermalParameters {
  /// `coil 10 s, magnet 900 s; the coil has 60 %`.
  var text: String {
    func seconds(_ value: Double) -> String { value.text(1) + " s" }
    return "time constants: coil \(seconds(coilTimeConstant)), "
      + "magnet \(seconds(magnetTimeConstant)); coil fraction \((coilFraction * 100).text(0)) %"
  }
}
