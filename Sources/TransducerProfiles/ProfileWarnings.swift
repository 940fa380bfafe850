import Reading
import HapticRender

extension ProfileChecker {
  /// What vibration is felt at, in hertz; beyond it an event is a push or a sound.
  static let touch = 1.0...1_000.0

  /// Notes what is allowed and may not be what was meant.
  ///
  /// - Parameter stem: What the file is called without its ending, or nothing where that says nothing.
  mutating func warn(_ profile: TransducerProfile, stem: String?) {
    let root = document.root
    if let stem, stem != profile.name, let name = root["name"] {
      log.add(
        .fileName, at: name, "the name \(profile.name.quoted()) differs from the file name \("\(stem).json".quoted())",
        hint: "use the same name; profiles are found by file name")
    }
    warnAboutFrequencies(profile.frequency, at: root["frequency"], profile)
    if let law = root["transient"]?["frequency"] { warnAboutFrequencies(profile.transient.frequency, at: law, profile) }
    warnAboutResonance(profile, at: root["hardware"]?["resonance"])
    let gains = profile.partials.map { abs($0.gain) }
    warnAboutLevel(profile.level, gains, at: root["level"] ?? root["partials"] ?? root, "two continuous events")
    let bursts = root["transient"]
    warnAboutLevel(
      profile.transient.level, profile.transient.partials.map { abs($0.gain) },
      at: bursts?["level"] ?? bursts?["partials"], "two transients")
    warnAboutThresholds(profile, at: root["thresholds"])
    warnAboutFit(of: profile)
    warnAboutPlausibility(of: profile)
    guard let hardware = root["hardware"], profile.sources.isEmpty else { return }
    log.add(.missingSources, at: hardware, "the hardware data has no source", hint: "add \"sources\"")
  }

  private mutating func warnAboutFrequencies(
    _ law: FrequencyMapping, at value: JSONValue?, _ profile: TransducerProfile
  ) {
    for (key, hertz) in [("low", law.low), ("high", law.high)] {
      guard let member = value?[key] else { continue }
      if let band = profile.hardware?.band, !band.contains(hertz) {
        log.add(
          .outsideBand, at: member, "\(key) is \(hertz.shortText) Hz, outside the published band of \(band.asHertz)")
      }
      if !Self.touch.contains(hertz) {
        log.add(
          .outsideTactileRange, at: member,
          "\(key) is \(hertz.shortText) Hz, outside \(Self.touch.asHertz), where vibration is felt")
      }
    }
  }

  private mutating func warnAboutResonance(_ profile: TransducerProfile, at value: JSONValue?) {
    guard let value, let hardware = profile.hardware, let band = hardware.band, let resonance = hardware.resonance,
      !band.contains(resonance)
    else { return }
    log.add(
      .outsideBand, at: value,
      "the resonance is \(resonance.shortText) Hz, outside the published band of \(band.asHertz)")
  }

  private mutating func warnAboutLevel(_ level: Double, _ gains: [Double], at value: JSONValue?, _ pair: String) {
    let peak = level * gains.reduce(0, +)
    guard let value, 2 * peak > Renderer.ceiling else { return }
    let most = (Renderer.ceiling / 2 / gains.reduce(0, +) * 100).rounded(.down) / 100
    log.add(
      .insufficientHeadroom, at: value,
      "\(pair) at full intensity can reach \((2 * peak * 1_000).rounded().thousandths), above the ceiling of \(Renderer.ceiling.shortText); the limiter will act",
      hint: most >= ProfileLimits.level.lowerBound ? "use a level of at most \(most.shortText)" : nil)
  }

  private mutating func warnAboutThresholds(_ profile: TransducerProfile, at value: JSONValue?) {
    guard let value, let first = profile.thresholds.first, let last = profile.thresholds.last else { return }
    let band = profile.frequency.low...profile.frequency.high
    guard band.lowerBound < first.hertz || band.upperBound > last.hertz else { return }
    log.add(
      .shortThresholds, at: value,
      "the thresholds cover \((first.hertz...last.hertz).asHertz) of \(band.asHertz); outside, the nearest one is used")
  }

  // MARK: - Values together

  /// An excursion, in millimetres, below which nothing of a watt or more is built.
  private static let leastExcursion = 0.01
  /// The ratio of peak to continuous power beyond which a digit is probably wrong.
  private static let greatestPowerRatio = 20.0
  /// Powers of amplifiers, in watts.
  private static let amplifierPowers = 0.1...10_000.0

  /// Notes values that are allowed each by itself, and hardly together.
  private mutating func warnAboutPlausibility(of profile: TransducerProfile) {
    let root = document.root
    if let value = root["hardware"]?["excursion"], let excursion = value.number, excursion < Self.leastExcursion,
      (profile.hardware?.continuousPower ?? 0) >= 1
    {
      log.add(
        .implausibleValue, at: value,
        "an excursion of \(excursion.shortText) mm is very small for \((profile.hardware?.continuousPower ?? 0).shortText) W",
        hint: "excursion is in millimetres")
    }
    if let value = root["hardware"]?["peakPower"], let peak = value.number,
      let power = profile.hardware?.continuousPower, peak > power * Self.greatestPowerRatio
    {
      log.add(
        .implausibleValue, at: value,
        "a peak power of \(peak.shortText) W is \((peak / power).rounded().shortText) times the continuous power")
    }
    if let value = root["amplifier"]?["power"], let power = value.number, !Self.amplifierPowers.contains(power) {
      log.add(
        .implausibleValue, at: value, "an amplifier of \(power.shortText) W is unusual", hint: "power is in watts")
    }
    if let burst = root["transient"], let value = burst["attack"] ?? burst["release"],
      let longest = burst["maxDuration"]?.number
    {
      let edges = (burst["attack"]?.number ?? 0) + (burst["release"]?.number ?? 0)
      if edges > longest {
        log.add(
          .implausibleValue, at: value,
          "attack and release take \(edges.shortText) s of a burst of \(longest.shortText) s, which never reaches its level"
        )
      }
    }
  }

  // MARK: - The fit to hardware

  /// The ratio of half an octave; below it little of sharpness is left to feel.
  private static let leastRatio = 2.0.squareRoot()
  /// The frame rate at which the fit is looked at.
  private static let rate = 48_000.0

  /// Notes where the fit to hardware leaves little, or rests on little.
  mutating func warnAboutFit(of profile: TransducerProfile) {
    guard let hardware = profile.hardware, let value = document.root["hardware"] else { return }
    warnAboutPlacement(of: profile)
    if profile.isEqualized, hardware.estimated.contains("qualityFactor"),
      let qualityFactor = value["qualityFactor"]
    {
      log.add(
        .estimatedQFactor, at: qualityFactor,
        "the Q factor is an estimate; the equaliser does less than for a measured one",
        hint: "measure it with 'temblor calibrate'")
    }
    if hardware.model == nil {
      log.add(
        .missingLimit, at: value, "without resonance and Q factor, there is no equalisation and no excursion limit",
        hint: "measure them with 'temblor calibrate'")
    }
    if hardware.continuousPower == nil && hardware.peakPower == nil {
      log.add(.missingLimit, at: value, "without a power, there is no thermal limit")
    }
  }

  private mutating func warnAboutPlacement(of profile: TransducerProfile) {
    let placed = profile.bandMapped(rate: Self.rate)
    warnAboutPlacement(of: profile.frequency, to: placed.frequency, at: document.root["frequency"])
    guard let law = document.root["transient"]?["frequency"] else { return }
    warnAboutPlacement(of: profile.transient.frequency, to: placed.transient.frequency, at: law)
  }

  private mutating func warnAboutPlacement(
    of asked: FrequencyMapping, to placed: FrequencyMapping, at value: JSONValue?
  ) {
    guard let value, asked.high >= asked.low * Self.leastRatio, placed.high < placed.low * Self.leastRatio else {
      return
    }
    let low = (placed.low * 10).rounded() / 10
    let high = (placed.high * 10).rounded() / 10
    log.add(
      .narrowBand, at: value,
      "of \((asked.low...asked.high).asHertz), the hardware reproduces only \((low...high).asHertz), less than half an octave",
      hint: "a larger \"drive.usableRange\" widens the band and lowers the level")
  }
}

extension Double {
  /// A whole number of thousandths as a number.
  fileprivate var thousandths: String { (self / 1_000).shortText }
}

extension ClosedRange<Double> {
  /// `20–80 Hz`.
  var asHertz: String { "\(lowerBound.shortText)–\(upperBound.shortText) Hz" }
}
