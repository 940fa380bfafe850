internal import CMath
internal import SignalAnalysis
internal import SystemSupport

extension Calibration.LevelChange {
  /// Compares fits of one shape to each sweep alone.
  init(of shape: ResonanceShape, _ pair: SweepPair, band: ClosedRange<Double>) {
    func fit(_ part: SweepPair.Part) -> ResonanceFit {
      ResonanceFit(refining: shape, pair.response(part, without: SweepPair.preRoll), band: band)
    }
    let (quiet, loud) = (fit(.quiet), fit(.loud))
    resonance = loud.shape.main.resonance / quiet.shape.main.resonance - 1
    qualityFactor = loud.shape.main.qualityFactor / quiet.shape.main.qualityFactor - 1
    func both(_ left: Double, _ right: Double) -> Double { (left * left + right * right).squareRoot() }
    intervals = (
      both(quiet.intervals[0].resonance, loud.intervals[0].resonance),
      both(quiet.intervals[0].qualityFactor, loud.intervals[0].qualityFactor)
    )
  }

  /// How many intervals a difference must be to be more than chance: 3 in 1,000 are wider.
  private static let certainty = 1.5

  /// Whether the resonance or the quality differs by more than is allowed, and by more than chance.
  var isSeen: (resonance: Bool, qualityFactor: Bool) {
    (
      abs(resonance) > max(Calibration.greatestResonanceChange, Self.certainty * intervals.resonance),
      abs(qualityFactor) > max(Calibration.greatestQualityChange, Self.certainty * intervals.qualityFactor)
    )
  }

  /// What changes, as an error has it, or nothing.
  var refusal: String? {
    let advice = "use a lower '--level', or '--accept-poor'"
    func percent(_ share: Double) -> String { "\(NumberFormatting.rounded(abs(share) * 100, places: 1)) %" }
    let seen = isSeen
    if seen.resonance {
      let spring = resonance > 0 ? "stiffens" : "softens"
      return "changes with the level: the resonance of the louder sweep is \(percent(resonance)) "
        + "\(resonance > 0 ? "higher" : "lower"), as where a spring \(spring) with movement; \(advice)"
    }
    guard seen.qualityFactor else { return nil }
    return qualityFactor < 0
      ? "changes with the level: the Q factor of the louder sweep is \(percent(qualityFactor)) lower, as where the recorder or the amplifier compresses; lower their gains, or \(advice)"
      : "changes with the level: the Q factor of the louder sweep is \(percent(qualityFactor)) higher, as with friction; use a higher '--level', or '--accept-poor'"
  }
}

extension Calibration {
  /// Refuses a fit that says nothing.
  static func judge(
    _ fit: ResonanceFit, noise: Double, _ change: LevelChange, band: ClosedRange<Double>, acceptsPoor: Bool
  ) throws(CalibrationError) {
    func refusal(_ text: String, _ kind: CalibrationError.Kind = .noResonance) -> CalibrationError {
      CalibrationError(kind: kind, description: text)
    }
    let rest = pow(10, fit.residual / 10)
    let explained = NumberFormatting.rounded((1 - rest) * 100, places: rest < 0.03 ? 1 : 0)
    let count = fit.shape.modes.count
    let explanation =
      (count == 1 ? "one resonance explains" : "\(count) resonances explain")
      + " only \(explained) % of the recorded power"
    let changed = change.refusal
    if !acceptsPoor, fit.residual <= poorResidual, !fit.isAtBound, let changed {
      throw refusal(changed, .changesWithLevel)
    }
    guard fit.residual <= poorResidual else { throw refusal("\(explanation); is the sensor on the transducer?") }
    guard !fit.isAtBound else {
      throw refusal(
        "shows no resonance between \(NumberFormatting.rounded(band.lowerBound, places: 1)) and "
          + "\(NumberFormatting.rounded(band.upperBound, places: 1)) Hz")
    }
    let advice =
      "a room's echo or a further resonance is in it: put the sensor on the transducer, not near it, or use '--accept-poor'"
    guard acceptsPoor || fit.residual <= goodResidual else {
      throw refusal("\(explanation); at least 97 % are required; \(advice)")
    }
    guard acceptsPoor || rest - noise <= greatestMisfit else {
      throw refusal("\(explanation); at least 99.4 % of what is not noise are required; \(advice)")
    }
    let (resonance, quality) = fit.intervals[0]
    guard acceptsPoor || (resonance <= widestResonance && quality <= widestQuality) else {
      throw refusal(
        "leaves the resonance uncertain by \(percent(resonance)) and the Q factor by \(percent(quality)), at most 1 % and 5 % are allowed; \(advice)"
      )
    }
  }

  /// `±0.12 %`.
  private static func percent(_ share: Double) -> String { "±\(NumberFormatting.rounded(share * 100, places: 2)) %" }

  /// What the resonances explain, and what the rest is: one sentence.
  public var verdict: String {
    let rest = pow(10, residual / 10)
    let share =
      rest < 1e-5 ? "more than 99.999" : NumberFormatting.rounded((1 - rest) * 100, places: rest < 0.001 ? 3 : 1)
    let explained =
      (modes.isEmpty ? "One resonance explains" : "\(modes.count + 1) resonances explain")
      + " \(share) % of the recorded power"
    // Within 3 dB of what noise leaves, nothing else is seen.
    if residual <= noise + 3 { return explained + "; the rest is noise." }
    return explained + "; most of the rest is not noise but other resonances or distortion."
  }

  /// What speaks against leaning on the figures: a sentence each.
  public var warnings: [String] {
    var found: [String] = []
    if isPoor { found.append("The fit is poor; the values are marked as estimates.") }
    if signalToNoise < 20 {
      found.append("The sweeps are only \(NumberFormatting.rounded(signalToNoise, places: 1)) dB above the noise.")
    }
    if let changed = levelChange.refusal { found.append("The recording \(changed.prefix { $0 != ";" }).") }
    for mode in modes {
      found.append(
        "A further resonance is at \(NumberFormatting.rounded(mode.resonance, places: 1)) Hz, with a Q factor of "
          + "\(NumberFormatting.rounded(mode.qualityFactor, places: 1)), at "
          + "\(NumberFormatting.rounded(Decibels.of(amplitude: abs(mode.gain)), places: 1)) dB.")
    }
    if let hum { found.append("Mains hum at \(NumberFormatting.rounded(hum, places: 2)) Hz was removed.") }
    if abs(clockError) > 20 {
      found.append(
        "The recorder's clock is \(NumberFormatting.rounded(abs(clockError), places: 0)) ppm "
          + "\(clockError > 0 ? "faster" : "slower") than the player's; this was corrected.")
    }
    if let inputCorner {
      found.append(
        "The recorder's input has a high-pass at \(NumberFormatting.rounded(inputCorner, places: 1)) Hz; this was corrected."
      )
    }
    if let coilCorner {
      found.append(
        "Coil inductance reduces the response above \(NumberFormatting.rounded(coilCorner, places: 0)) Hz; the drive does not compensate for it."
      )
    }
    return found
  }

  /// Whether the figures are no more than estimates.
  public var isPoor: Bool {
    levelChange.refusal != nil || residual > Self.goodResidual
      || pow(10, residual / 10) - pow(10, noise / 10) > Self.greatestMisfit || resonanceInterval > Self.widestResonance
      || qualityInterval > Self.widestQuality
  }
}
