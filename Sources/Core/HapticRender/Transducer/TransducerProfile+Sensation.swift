internal import CMath

extension TransducerProfile {
  /// Whether the hardware's response is known, so that something can be fitted to it.
  public var hasKnownResponse: Bool {
    guard let hardware else { return false }
    return hardware.response.count > 1 || hardware.model != nil
  }

  /// Whether the drive is filtered by the inverse of the hardware's resonance.
  public var isEqualized: Bool { hardware?.model != nil && (drive.isEqualized ?? true) }

  /// Whether equal intensity is made to be felt equally at each sharpness.
  ///
  /// Usual where the response is known or the profile has a threshold curve of its own; requested
  /// without a response, the hardware counts as even.
  public var hasEqualSensation: Bool {
    if hardware == nil { return thresholds.count > 1 }
    return drive.hasEqualSensation ?? (hasKnownResponse || thresholds.count > 1)
  }

  /// Whether sensation is reckoned with exponents that depend on frequency.
  ///
  /// They are a hand's, and count from the threshold, so the acceleration of a full-scale sine must
  /// be known.
  public var hasConvergingContours: Bool {
    drive.contours == .converging && isHandHeld && hasEqualSensation
      && fullScaleAcceleration != nil
  }

  /// Whether the levels of bursts follow their lengths.
  public var hasTemporalSummation: Bool {
    drive.hasTemporalSummation ?? false && isHandHeld && hasEqualSensation
  }
  private var isHandHeld: Bool { hardware != nil && drive.contactSite == .hand }

  /// The acceleration of a full-scale sine at resonance in g, where resonance, quality and
  /// acceleration are known.
  var fullScaleAcceleration: Double? {
    guard let hardware, hardware.model != nil, let acceleration = hardware.acceleration else {
      return nil
    }
    let power = TransducerLimits(hardware, amplifier: amplifier).power
    return acceleration * (power ?? 1).squareRoot()
  }

  /// The exponent with which sensation grows at a frequency; 1 where the exponent is not reckoned
  /// with.
  func sensationExponent(atHertz hertz: Double) -> Double {
    hasConvergingContours ? SensationGrowth.exponent(atHertz: hertz) : 1
  }

  /// What an amplitude, as intensity makes it, is raised to over sharpness, so that equal intensity
  /// stays felt equally below full intensity: 1 in the middle of the scale of continuous events.
  func amplitudeExponentsOverSharpness(count: Int, of mapping: FrequencyMapping) -> [Double] {
    let middle = sensationExponent(atHertz: frequency.hertz(atSharpness: 0.5))
    return (0..<count).map { index in
      middle
        / sensationExponent(atHertz: mapping.hertz(atSharpness: Double(index) / Double(count - 1)))
    }
  }

  /// Whether the laws of frequency are narrowed to what the hardware makes felt.
  public var isBandMapped: Bool { hardware != nil && (drive.isBandMapped ?? true) }

  /// The acceleration of the hardware for a full-scale sine, in decibels relative to any one level.
  ///
  /// The model of the resonance decides, as deep as its figures are certain; measured points
  /// correct it where they are finer than the model and agree with it. Without a model the points
  /// decide; without both it is even.
  public func hardwareDecibels(atHertz hertz: Double) -> Double {
    guard let hardware else { return 0 }
    guard let model = hardware.levelModel else {
      return Self.interpolatedDecibels(
        hardware.response.map { ($0.hertz, $0.decibels) }, atHertz: hertz)
    }
    let moved =
      hardware.modes.isEmpty
      ? model.accelerationDecibels(atHertz: hertz)
      : decibels(ofAmplitude: max(1e-15, hardware.accelerationMagnitude(atHertz: hertz)))
    return moved + Self.interpolatedDecibels(hardware.measuredCorrections, atHertz: hertz)
  }

  /// The threshold of feeling at a frequency in decibels relative to 1 g; for ears a contour of
  /// sound pressure.
  func thresholdDecibels(atHertz hertz: Double) -> Double {
    let usual =
      switch drive.contactSite {
      case .hand: Self.defaultThresholds
      case .seat: SeatWeighting.thresholds
      case .ear: EqualLoudness.contour
      }
    let curve = thresholds.count > 1 ? thresholds : usual
    return Self.interpolatedDecibels(curve.map { ($0.hertz, $0.decibels) }, atHertz: hertz)
  }

  /// How far above the threshold a full-scale sine lies behind a drive, but for a constant.
  ///
  /// The acceleration itself where equal sensation is not requested.
  func sensationDecibels(atHertz hertz: Double, drive: TransducerSettings?) -> Double {
    var felt = hardwareDecibels(atHertz: hertz)
    if let drive {
      felt += decibels(ofAmplitude: max(1e-15, drive.driveResponse(atHertz: hertz)))
    }
    return hasEqualSensation ? felt - thresholdDecibels(atHertz: hertz) : felt
  }

  /// Linear between points on a logarithmic axis, and level outside; points rise in frequency.
  private static func interpolatedDecibels(
    _ points: [(hertz: Double, decibels: Double)], atHertz hertz: Double
  )
    -> Double
  {
    guard let first = points.first, let last = points.last else { return 0 }
    if hertz <= first.hertz { return first.decibels }
    for (low, high) in zip(points, points.dropFirst()) where hertz <= high.hertz {
      let part = logarithm2(hertz / low.hertz) / logarithm2(high.hertz / low.hertz)
      return low.decibels + (high.decibels - low.decibels) * part
    }
    return last.decibels
  }

  /// Points at which a law is looked at; a step is below a hundredth of an octave in usual bands.
  private static let bandSearchPointCount = 513

  /// The band-mapped profile: its frequency mappings stay within what its hardware can make felt.
  ///
  /// Each mapping is cut to the published band, then to the range around its most felt frequency in
  /// which nothing is felt weaker by more than the drive's reach. Its scale stays. The filters of
  /// the drive stay those of the profile before.
  ///
  /// - Parameter rate: Frames per second, which the filters depend on.
  public func bandMapped(rate: Double) -> TransducerProfile {
    bandMapped(settings: transducerSettings(rate: rate))
  }

  func bandMapped(settings: TransducerSettings?) -> TransducerProfile {
    guard isBandMapped else { return self }
    var placed = self
    placed.frequency = bandMapped(frequency, settings: settings)
    placed.transient.frequency =
      transient.frequency == frequency
      ? placed.frequency : bandMapped(transient.frequency, settings: settings)
    return placed
  }

  private func bandMapped(_ law: FrequencyMapping, settings: TransducerSettings?)
    -> FrequencyMapping
  {
    var law = law
    if let band = hardware?.band {
      law.low = min(max(law.low, band.lowerBound), band.upperBound)
      law.high = min(max(law.high, band.lowerBound), band.upperBound)
    }
    guard hasKnownResponse, law.high > law.low else { return law }
    let span = logarithm2(law.high / law.low)
    let points = (0..<Self.bandSearchPointCount).map { index in
      law.low * raised(2, to: span * Double(index) / Double(Self.bandSearchPointCount - 1))
    }
    let felt = points.map { sensationDecibels(atHertz: $0, drive: settings) }
    guard let most = felt.max(), let best = felt.firstIndex(of: most) else { return law }
    let least = most - drive.reach
    if let below = felt[..<best].lastIndex(where: { !($0 >= least) }) {
      law.low = points[below + 1]
    }
    if let above = felt[best...].firstIndex(where: { !($0 >= least) }) {
      law.high = points[above - 1]
    }
    return law
  }

  /// Decibels by which a factor may pass the reach.
  private static let reachToleranceDecibels = 0.25

  /// The factor on amplitude over sharpness, at evenly spaced points, each at most 1.
  ///
  /// It makes equal intensity felt equally, or, where only the drive is flattened, equally strong:
  /// the frequency that needs most is at 1. All are 1 for a profile with neither. On hardware of
  /// known response none is lower than the drive's reach, which is all that placed frequencies
  /// need.
  ///
  /// - Parameters:
  ///   - count: Points from sharpness 0 to 1, at least 2.
  ///   - settings: The filters between the plan and the hardware.
  public func levelsOverSharpness(count: Int, drive settings: TransducerSettings?) -> [Double] {
    guard hasEqualSensation || isEqualized else { return Array(repeating: 1, count: count) }
    // Only exponents that differ need to know how far above the threshold full intensity is.
    let full = hasConvergingContours ? level * (fullScaleAcceleration ?? 1) : 1
    let points = (0..<count).map { index in
      let hertz = frequency.hertz(atSharpness: Double(index) / Double(count - 1))
      return (
        felt: sensationDecibels(atHertz: hertz, drive: settings) + decibels(ofAmplitude: full),
        growth: sensationExponent(atHertz: hertz)
      )
    }
    let sensation =
      points.map { SensationGrowth.sensation(ofDecibels: $0.felt, exponent: $0.growth) }.min() ?? 0
    // What exponents alone take from the level that is felt most.
    let growths = points.map { $0.growth }
    let contours =
      max(0, points.map { $0.felt }.max() ?? 0) * (1 - (growths.min() ?? 1) / (growths.max() ?? 1))
    // What lies between two points of the table is a little further down than they are.
    let least =
      hasKnownResponse ? -(drive.reach + Self.reachToleranceDecibels + contours) : -Double.infinity
    return points.map { point in
      let wanted = SensationGrowth.decibels(ofSensation: sensation, exponent: point.growth)
      return raised(10, to: max(least, wanted - point.felt) / 20)
    }
  }

  /// The weakest acceleration that is felt at each frequency, where a profile names no curve of its
  /// own.
  ///
  /// In decibels relative to 1 g, for a device held in the hand. Source: Android 16,
  /// `BasicToPwleSegmentAdapter.java` in the platform's vibrator service, 41 points.
  public static let defaultThresholds: [Threshold] = [
    (0.4, -97.81), (2, -69.86), (3, -62.81), (4, -58.81), (5, -56.69), (6, -54.77), (7.2, -52.85),
    (8, -51.77),
    (8.64, -50.84), (10, -48.9), (10.37, -48.52), (12.44, -46.5), (14.93, -44.43), (15, -44.35),
    (17.92, -41.96),
    (20, -40.36), (21.5, -39.6), (25, -37.48), (25.8, -36.93), (30, -34.31), (35, -33.13),
    (40, -32.81), (50, -31.94),
    (60, -31.77), (70, -31.59), (72, -31.55), (80, -31.77), (86.4, -31.94), (90, -31.73),
    (100, -31.9),
    (103.68, -31.77), (124.42, -31.7), (149.3, -31.38), (150, -31.35), (179.16, -31.02),
    (200, -30.86), (215, -30.35),
    (250, -28.98), (258, -28.68), (300, -26.81), (400, -19.81),
  ].map { (hertz: Double, decibels: Double) in Threshold(hertz: hertz, decibels: decibels) }
}

extension TransducerHardware {
  /// How far measured points may lie from the model, as a root mean square in decibels, to correct
  /// it.
  private static let maximumDisagreementDecibels = 3.0

  /// What the measured points add to the model in decibels; none where they are coarser than it or
  /// contradict it.
  ///
  /// Straight lines between points are wrong by several decibels within a resonance that is
  /// narrower than their distance, so points count only if none are further apart than half of its
  /// width, half an octave around it.
  fileprivate var measuredCorrections: [(hertz: Double, decibels: Double)] {
    guard let model, response.count > 1 else { return [] }
    let reach = 2.0.squareRoot()
    let near = (model.resonance / reach)...(model.resonance * reach)
    guard response[0].hertz <= near.lowerBound,
      response[response.count - 1].hertz >= near.upperBound
    else { return [] }
    let widest =
      zip(response, response.dropFirst()).filter {
        $1.hertz > near.lowerBound && $0.hertz < near.upperBound
      }.map {
        $1.hertz / $0.hertz - 1
      }.max() ?? .infinity
    guard widest <= 1 / (2 * model.qualityFactor) else { return [] }
    let differences = response.map {
      ($0.hertz, $0.decibels - model.accelerationDecibels(atHertz: $0.hertz))
    }
    let mean = differences.reduce(0) { $0 + $1.1 } / Double(differences.count)
    let square = differences.reduce(0) { $0 + ($1.1 - mean) * ($1.1 - mean) }
    guard
      square <= Self.maximumDisagreementDecibels * Self.maximumDisagreementDecibels
        * Double(differences.count)
    else { return [] }
    return differences.map { ($0.0, $0.1 - mean) }
  }
}

extension TransducerModel {
  func accelerationDecibels(atHertz hertz: Double) -> Double {
    decibels(ofAmplitude: max(1e-15, acceleration(atHertz: hertz)))
  }
}

/// How sensation on a hand grows with amplitude and with time, by published figures.
enum SensationGrowth {
  /// The exponents of the power law for vibration of a finger: S. S. Stevens, "Psychophysics",
  /// 1975, table 1.
  private static let exponents = [(hertz: 60.0, value: 0.95), (hertz: 250.0, value: 0.6)]
  /// Where the exponent is greatest and least, by roughly 2 : 1: S. S. Stevens, "Tactile vibration:
  /// Change of exponent with frequency", Perception & Psychophysics 3, 1968, 223–228. The line
  /// through the two exponents makes 1.87 : 1.
  private static let frequencyRange = 30.0...250

  /// The exponent n of sensation = (amplitude / threshold)ⁿ: a line over the logarithm of
  /// frequency.
  static func exponent(atHertz hertz: Double) -> Double {
    let held = min(max(hertz, frequencyRange.lowerBound), frequencyRange.upperBound)
    let low = exponents[0]
    let high = exponents[1]
    let part = logarithm2(held / low.hertz) / logarithm2(high.hertz / low.hertz)
    return low.value + (high.value - low.value) * part
  }

  /// Sensation in decibels of a level above threshold; what is not felt grows as the level does.
  static func sensation(ofDecibels decibels: Double, exponent: Double) -> Double {
    decibels > 0 ? decibels * exponent : decibels
  }

  static func decibels(ofSensation sensation: Double, exponent: Double) -> Double {
    sensation > 0 ? sensation / exponent : sensation
  }
}

/// How much stronger a short vibration of a hand must be than a long one to be felt alike.
enum TemporalSummation {
  /// The time over which a Pacinian channel sums energy, in seconds: J. J. Zwislocki, "Theory of
  /// Temporal Auditory Summation", JASA 32, 1960, 1046–1060, which predicts the thresholds of
  /// Pacinian channels: G. A. Gescheider et al., JASA 95, 1994, 1006–1016.
  private static let timeConstant = 0.2
  /// Where a Pacinian channel becomes the more sensitive one, and by how many decibels an octave:
  /// R. T. Verrillo, JASA 35, 1963, as G. A. Gescheider and R. T. Verrillo repeat it in "Sensory
  /// Functions of the Skin", 1979.
  private static let crossover = (hertz: 40.0, perOctave: 12.0)

  /// Decibels by which the threshold lies above that of a long vibration, 0 or more.
  ///
  /// 10·log₁₀(1 / (1 − e^(−t/0.2 s))) for a Pacinian channel. Other channels do not sum sinusoids
  /// (G. A. Gescheider, Sensory Processes 1, 1976, 68–76; 1994), so they feel what has become too
  /// short for it: the shift ends at their threshold, 12 dB an octave above the Pacinian one from
  /// 40 Hz on.
  static func thresholdShift(seconds: Double, hertz: Double) -> Double {
    guard hertz > crossover.hertz, seconds > 0 else { return 0 }
    let summed = -10 * logarithm2(1 - exp(-seconds / timeConstant)) / logarithm2(10)
    return min(summed, crossover.perOctave * logarithm2(hertz / crossover.hertz))
  }
}

/// How sensitive a seated body is to vertical vibration of the seat.
///
/// The frequency weighting Wk of ISO 2631-1:1997, annex A, from the corner frequencies and
/// qualities of its table A.1. Its band limits at 0.4 and 100 Hz are left out: they end the range
/// of a measurement, not what is felt. The standard covers 0.5–80 Hz; beyond, the weighting goes on
/// as it falls, in proportion to 1/f.
enum SeatWeighting {
  /// The transition from acceleration to velocity.
  private static let transition = (corner: 12.5, quality: 0.63)
  /// The upward step.
  private static let step = (from: 2.37, to: 3.35, quality: 0.91)
  /// The peak acceleration in m/s² that half of the people notice, weighted by Wk: ISO 2631-1:1997,
  /// annex C.
  private static let perceptionThreshold = 0.015

  static func weight(atHertz hertz: Double) -> Double {
    func square(_ corner: Double, _ quality: Double) -> Double {
      let squared = hertz * hertz
      let sharp = quality * quality
      let edge = corner * corner
      return squared * squared * sharp + squared * edge * (1 - 2 * sharp) + edge * edge * sharp
    }
    let corner = transition.corner
    let edge = corner * corner
    let fall =
      (hertz * hertz + edge) / edge * edge * edge * transition.quality * transition.quality
      / square(corner, transition.quality)
    let rise = square(step.from, step.quality) / square(step.to, step.quality)
    return (fall * rise).squareRoot()
  }

  /// The weakest acceleration that is felt, in decibels relative to 1 g, in thirds of an octave
  /// from 0.5 to 400 Hz.
  static let thresholds: [TransducerProfile.Threshold] = (-3...26).map { third in
    let hertz = raised(10, to: Double(third) / 10)
    let acceleration = perceptionThreshold / weight(atHertz: hertz) / 9.80665
    return TransducerProfile.Threshold(hertz: hertz, decibels: decibels(ofAmplitude: acceleration))
  }
}

/// The levels of bursts on hardware: what a burst of some cycles needs is not what a steady sine
/// needs.
extension TransducerProfile {
  /// What of full scale a burst's drive may reach: the ceiling, less what a low rate of simulation
  /// leaves out.
  private static let maximumBurstDrive = 0.87
  /// What of the excursion limit a burst may reach: below it protection leaves the drive alone.
  private static let maximumExcursionFraction = 0.66
  /// By how many decibels a burst in the middle of the scale is stronger than on bare hardware.
  private static let burstAdvantageDecibels = 0.5
  /// Frames that are simulated in a cycle of the highest frequency, where the rate has as many.
  private static let simulatedFramesPerCycle = 64.0
  /// Cycles of the resonance that are simulated behind a burst; the greatest movement comes before.
  private static let trailingCycleCount = 2.0

  /// The factor on the amplitude of bursts over sharpness, at evenly spaced points of this
  /// band-mapped profile.
  ///
  /// Behind a filter against the resonance a burst drives the onset harder than it goes on, and
  /// brakes at its end. So bursts of full intensity are simulated on the hardware: they are felt
  /// equally over sharpness, and in the middle of the scale move any transducer within the stated
  /// doubt as far as the burst would without the filter, as far as amplifier and excursion limit
  /// can. The greatest movement decides, and with temporal summation the length of a burst. Without
  /// a filter the steady levels hold.
  ///
  /// - Parameter settings: The filters between the plan and the hardware.
  func burstLevels(
    steadyLevels levels: [Double], requestedShape asked: TransientShape,
    drive settings: TransducerSettings?
  ) -> [Double] {
    let top = Double(levels.count - 1)
    let burst = transient
    let shifts = levels.indices.map { index in
      hasTemporalSummation
        ? TemporalSummation.thresholdShift(
          seconds: burst.seconds(atSharpness: Double(index) / top),
          hertz: burst.frequency.hertz(atSharpness: Double(index) / top)) : 0
    }
    guard let settings, settings.equalizer != nil, let model = settings.model, transient.level > 0,
      levels.count > 2
    else {
      // The shortest stay as they are, and longer ones come down to them.
      let most = shifts.max() ?? 0
      return zip(levels, shifts).map { $0 * raised(10, to: ($1 - most) / 20) }
    }
    let bursts = levels.indices.map { index in
      let hertz = burst.frequency.hertz(atSharpness: Double(index) / top)
      let drive = Self.burstDrive(
        burst, atSharpness: Double(index) / top, model, settings, maximumRate: settings.rate)
      let moved = Self.peakAcceleration(drive.samples, of: model, rate: drive.rate)
      let felt =
        hasEqualSensation
        ? raised(10, to: (thresholdDecibels(atHertz: hertz) + shifts[index]) / 20) : 1
      let stroke = settings.limits.excursion.map { limit in
        Self.maximumExcursionFraction * limit
          / max(
            Self.peakExcursion(
              drive.samples, model, settings.uncertainty.forExcursion, rate: drive.rate), 1e-9
          )
      }
      return (
        drive: drive, stroke: max(stroke ?? .infinity, levels[index]),
        even: felt / max(moved, 1e-9),
        growth: sensationExponent(atHertz: hertz),
        greatest: drive.samples.reduce(0) { max($0, abs($1)) }
      )
    }
    let middle = levels.count / 2
    let bare = Self.burstDrive(asked, atSharpness: 0.5, model, nil, maximumRate: settings.rate)
    let own = bursts[middle].drive
    let needed =
      settings.uncertainty.extremeModels(of: model).map {
        Self.peakAcceleration(bare.samples, of: $0, rate: bare.rate)
          / max(Self.peakAcceleration(own.samples, of: $0, rate: own.rate), 1e-9)
      }.max() ?? 1
    let wanted = max(needed * raised(10, to: Self.burstAdvantageDecibels / 20), levels[middle])
    let scale = wanted / bursts[middle].even
    // How far above the threshold the one in the middle is felt, and how far others must be to be
    // felt alike.
    let felt = decibels(ofAmplitude: scale * (fullScaleAcceleration ?? 1))
    let sensation = SensationGrowth.sensation(ofDecibels: felt, exponent: bursts[middle].growth)
    return bursts.map { burst in
      let alike = SensationGrowth.decibels(ofSensation: sensation, exponent: burst.growth)
      let even =
        hasConvergingContours ? burst.even * raised(10, to: (alike - felt) / 20) : burst.even
      return min(scale * even, burst.stroke, Self.maximumBurstDrive / max(burst.greatest, 1e-9))
    }
  }

  private static func burstDrive(
    _ burst: TransientShape, atSharpness sharpness: Double, _ model: TransducerModel,
    _ settings: TransducerSettings?,
    maximumRate limit: Double
  ) -> (samples: [Double], rate: Double) {
    let highest = burst.partials.map { $0.ratio * max(1, $0.glide) }.max() ?? 1
    let hertz = burst.frequency.hertz(atSharpness: sharpness)
    let rate = min(limit, simulatedFramesPerCycle * max(highest * hertz, model.resonance))
    var samples = burst.samples(atSharpness: sharpness, rate: rate)
    samples += [Double](repeating: 0, count: Int(trailingCycleCount * rate / model.resonance))
    guard let settings else { return (samples, rate) }
    let filters =
      [Biquad(highPassHertz: min(settings.highPassHertz, rate / 4), rate: rate)]
      + (settings.equalizer.map { [$0.filter(rate: rate)] } ?? [])
    for filter in filters {
      var memory = Biquad.State()
      for index in samples.indices {
        samples[index] = filter.next(samples[index], &memory)
      }
    }
    return (samples, rate)
  }

  private static func peakAcceleration(_ drive: [Double], of model: TransducerModel, rate: Double)
    -> Double
  {
    var peak = 0.0
    simulate(drive, model, rate: rate) { sample, motion in
      // By the equation of motion: what the drive, the spring and the damping leave.
      peak = max(peak, abs((sample - motion.y) / model.qualityFactor - motion.x))
    }
    return peak
  }

  private static func peakExcursion(
    _ drive: [Double], _ model: TransducerModel, _ doubt: TransducerUncertainty, rate: Double
  )
    -> Double
  {
    var peak = 0.0
    for moved in [1 - doubt.resonance, 1, 1 + doubt.resonance] {
      // With the level at rest known, the longest ringing one moves furthest.
      let worst = TransducerModel(
        resonance: model.resonance * moved, qualityFactor: model.qualityFactor * doubt.qualityFactor
      )
      simulate(drive, worst, rate: rate) { peak = max(peak, doubt.qualityFactor * abs($1.x)) }
    }
    return peak
  }

  /// Drives a model from rest, and hands over each sample with the displacement and velocity in
  /// front of it.
  private static func simulate(
    _ drive: [Double], _ model: TransducerModel, rate: Double,
    body each: (Double, SIMD2<Double>) -> Void
  ) {
    let step = MotionStateTransition(model, seconds: 1 / rate)
    var motion = SIMD2<Double>()
    for sample in drive {
      each(sample, motion)
      motion = step.advanced(motion) + step.driveColumn * sample
    }
  }
}

extension TransientShape {
  fileprivate func samples(atSharpness sharpness: Double, rate: Double) -> [Double] {
    let hertz = frequency.hertz(atSharpness: sharpness)
    let whole = seconds(atSharpness: sharpness)
    let longest = partials.map { $0.durationRatio }.max() ?? 1
    var samples = [Double](repeating: 0, count: max(4, Int((whole * longest * rate).rounded())))
    let squareness =
      squareness.lowerBound + (squareness.upperBound - squareness.lowerBound) * sharpness
    for partial in partials {
      let length = max(4, Int((whole * partial.durationRatio * rate).rounded()))
      let eighth = max(1, (length + 4) / 8)
      let rise = min(attack.map { max(1, Int(($0 * rate).rounded())) } ?? eighth, length / 2)
      let fall = min(release.map { max(1, Int(($0 * rate).rounded())) } ?? eighth, length - rise)
      for frame in 0..<min(length, samples.count) {
        let time = Double(frame) / rate
        let edge = min(1, Double(frame) / Double(rise), Double(length - frame) / Double(fall))
        // A steady sine passes zero in the middle.
        let cycles =
          partial.glide == 1
          ? hertz * partial.ratio * (time - Double(length) / rate / 2)
          : hertz * partial.ratio * time
            * (1 + (partial.glide - 1) * Double(frame) / Double(2 * length))
        let sine = sin(2 * Double.pi * cycles)
        let wave = sine + squareness * ((sine < 0 ? -1 : 1) - sine)
        samples[frame] += level * partial.gain * edge * wave
      }
    }
    return samples
  }
}

extension TransducerUncertainty {
  fileprivate func extremeModels(of model: TransducerModel) -> [TransducerModel] {
    [-1, -0.5, 0, 0.5, 1].map { 1 + $0 * resonance }.flatMap { moved in
      [1 / qualityFactor, 1, qualityFactor].map {
        TransducerModel(resonance: model.resonance * moved, qualityFactor: model.qualityFactor * $0)
      }
    }
  }
}

/// How strong a tone in the air must be to be heard as loud at each frequency, up to 400 Hz.
///
/// The contour of 80 phon of ISO 226:2003, clause 4.1, by the exponents, transfer functions and
/// thresholds of its table 1: the level at which a subwoofer is heard with a shaker, in the middle
/// of the range that the standard covers down to 20 Hz. From 20 to 80 Hz it falls by 23.8 dB; those
/// of 60 and 90 phon by 27.5 and 22.0 dB.
enum EqualLoudness {
  private static let loudnessLevelPhon = 80.0
  /// Hertz, the exponent of loudness, and decibels: the transfer function relative to 1 kHz, and
  /// the threshold of hearing.
  private static let table:
    [(hertz: Double, exponent: Double, transfer: Double, threshold: Double)] = [
      (20, 0.532, -31.6, 78.5), (25, 0.506, -27.2, 68.7), (31.5, 0.480, -23.0, 59.5),
      (40, 0.455, -19.1, 51.1),
      (50, 0.432, -15.9, 44.0), (63, 0.409, -13.0, 37.5), (80, 0.387, -10.3, 31.5),
      (100, 0.367, -8.1, 26.5),
      (125, 0.349, -6.2, 22.1), (160, 0.330, -4.5, 17.9), (200, 0.315, -3.1, 14.4),
      (250, 0.301, -2.0, 11.4),
      (315, 0.288, -1.1, 8.6), (400, 0.276, -0.4, 6.2),
    ]

  /// The sound pressure level in decibels relative to 20 µPa.
  static let contour: [TransducerProfile.Threshold] = table.map { row in
    let heard = raised(
      0.4 * raised(10, to: (row.threshold + row.transfer) / 10 - 9), to: row.exponent)
    let sum = 4.47e-3 * (raised(10, to: 0.025 * loudnessLevelPhon) - 1.15) + heard
    let level = 10 / row.exponent * logarithm2(sum) / logarithm2(10) - row.transfer + 94
    return TransducerProfile.Threshold(hertz: row.hertz, decibels: level)
  }
}
