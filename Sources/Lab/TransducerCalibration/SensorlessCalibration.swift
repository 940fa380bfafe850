public import HapticRender
internal import CMath
internal import SignalAnalysis
internal import SystemSupport

/// The resonance of a transducer from its impedance: the voltage at a resistor in series with it,
/// recorded while the amplifier plays the sweep.
///
/// The coil moves in its magnet and so is a sensor of velocity: Z = Re + jωLe + Res / (1 +
/// jQms·(f/f₀ − f₀/f)); after R. H. Small, "Direct-Radiator Loudspeaker System Analysis", JAES 20,
/// 1972.
public struct ImpedanceMeasurement: Equatable, Sendable {
  /// Resonance in hertz.
  public let resonance: Double
  /// The Q factor by friction, that by the coil's short circuit over the amplifier, and that by
  /// both, without the resistor.
  public let mechanicalQualityFactor, electricalQualityFactor, qualityFactor: Double
  /// The coil's resistance in ohms: measured with a reference, else 85 % of the nominal impedance.
  public let coilResistance: Double
  /// The coil's inductance in henries.
  public let inductance: Double
  /// Half of the 95 % intervals of the resonance and of `qualityFactor`, as fractions of them.
  public let resonanceInterval, qualityInterval: Double
  /// What the fit leaves unexplained of what the resonance takes from the current, in decibels of
  /// its power.
  public let residual: Double

  /// The part of the nominal impedance that is the coil's resistance, as IEC 60268-5 allows 0.8 at
  /// least, and its doubt.
  private static let nominalResistanceRatio = 0.85
  private static let nominalResistanceUncertainty = 0.2
  /// The least part of the coil's and resistor's resistance by which the impedance rises at a
  /// resonance.
  private static let minimumRise = 0.05
  /// Octaves around the resonance that are fitted: beyond, eddy currents make a coil's inductance
  /// fall with frequency.
  fileprivate static let fittedOctaves = 2.0

  /// Measures.
  ///
  /// - Parameters:
  ///   - recording: The voltage at the resistor.
  ///   - reference: That of the amplifier at the same gain; it yields the coil's resistance, and
  ///     takes out what amplifier and recorder do to the signal.
  ///   - resistor: In ohms.
  ///   - nominal: The nominal impedance in ohms, which is needed without a reference.
  /// - Throws: Why nothing can be said.
  public init(
    measuring recording: CalibrationRecording, reference: CalibrationRecording?,
    of signal: SweepSignal,
    resistor: Double, nominal: Double?
  ) throws(CalibrationError) {
    guard reference != nil || nominal != nil else {
      throw CalibrationError(
        .unsuitableSignal,
        "needs '--reference', or hardware.impedance in the profile, for the coil's resistance")
    }
    let take = try SweepRecording(recording, signal: signal)
    try take.checkRepeatability()
    var response = take.pair.response(removingDelay: SweepPair.preRoll)
    if let reference {
      let amplifier = try SweepRecording(reference, signal: signal)
      try amplifier.checkRepeatability()
      let first = take.pair.start + SweepPair.preRoll
      let pair = SweepPair(
        amplifier.recording, signal: signal, rate: take.pair.rate, firstSweep: first)
      response = response.divided(by: pair.response(removingDelay: SweepPair.preRoll))
    }
    let band = signal.band
    guard
      let fit = ImpedanceFit.best(
        for: response, band: band, highPassOrders: reference == nil ? 0...2 : 0...0),
      fit.model.relativeRise > Self.minimumRise, fit.cost < 0.1 * fit.motionalPower
    else {
      throw CalibrationError(
        .noResonance,
        """
        shows no resonance of an impedance between \(band.lowerBound.text(places: 1)) and \
        \(band.upperBound.text(places: 1)) Hz; check that it is the voltage at the resistor
        """
      )
    }
    let shape = fit.model
    residual = Decibels.of(power: fit.cost / fit.motionalPower)
    let gain = abs(fit.gain)
    guard reference == nil || gain > 0 && gain < 1 else {
      throw CalibrationError(
        .unsuitableRecording,
        """
        has more voltage at the resistor than at the amplifier; exchange '--channel' and \
        '--reference'
        """
      )
    }
    coilResistance =
      reference == nil ? Self.nominalResistanceRatio * (nominal ?? 0) : resistor * (1 / gain - 1)
    let ratio = resistor / coilResistance
    resonance = shape.resonance
    mechanicalQualityFactor = shape.loadedQuality * (1 + shape.relativeRise)
    electricalQualityFactor = mechanicalQualityFactor / (shape.relativeRise * (1 + ratio))
    qualityFactor = mechanicalQualityFactor / (1 + shape.relativeRise * (1 + ratio))
    inductance = shape.coilTimeConstant * (resistor + coilResistance)
    // Q = Q'·(1 + ρ) / (1 + ρ·(1 + Rs / Re)): how the rise ρ and Re are in it.
    let share = shape.relativeRise / (1 + shape.relativeRise * (1 + ratio))
    let byRise = share * (1 / (1 + shape.relativeRise) - ratio / (1 + shape.relativeRise))
    let byCoil = reference == nil ? share * ratio * Self.nominalResistanceUncertainty : 0
    resonanceInterval = fit.intervals[0]
    qualityInterval = [fit.intervals[1], byRise * fit.intervals[2], byCoil].reduce(0) {
      $0 + $1 * $1
    }.squareRoot()
    guard resonanceInterval <= Calibration.maximumResonanceInterval,
      qualityInterval <= Calibration.maximumQualityInterval,
      residual <= Calibration.maximumGoodResidual
    else {
      throw CalibrationError(
        .noResonance,
        """
        leaves the resonance uncertain by ±\((resonanceInterval * 100).text(places: 2)) % and the Q \
        factor by ±\((qualityInterval * 100).text(places: 2)) %, at most 1 % and 5 % are allowed; use \
        '--reference', a smaller resistor or a higher '--level'
        """
      )
    }
  }

  /// A profile with resonance and Q factor as measured; a measured response, which is another's, is
  /// dropped.
  public func applied(to profile: TransducerProfile, date: String) -> TransducerProfile {
    let uncertainty = Calibration.uncertainty(
      resonance: resonanceInterval, qualityFactor: qualityInterval)
    var profile = profile.withResonance(
      Calibration.rounded(resonance, places: 2), uncertainty: uncertainty)
    profile.hardware?.qualityFactor = Calibration.rounded(qualityFactor, places: 2)
    profile.hardware?.estimated.removeAll { $0 == "qualityFactor" }
    profile.hardware?.measured = TransducerMeasurement(
      date: date, residual: max(-120, Calibration.rounded(residual, places: 1)), sensor: .velocity)
    return profile
  }
}

extension TransducerProfile {
  /// A profile with another resonance in hertz; what was measured around the former one is left
  /// out.
  func withResonance(_ resonance: Double, uncertainty: TransducerUncertainty) -> TransducerProfile {
    var profile = self
    var hardware = hardware ?? TransducerHardware(product: name)
    hardware.resonance = resonance
    hardware.band = hardware.band.map {
      min($0.lowerBound, resonance)...max($0.upperBound, resonance)
    }
    hardware.response = []
    hardware.measured = nil
    hardware.estimated.removeAll { $0 == "resonance" }
    hardware.uncertainty = uncertainty
    profile.hardware = hardware
    return profile
  }
}

/// The current through a resistor and a transducer for one volt, up to a factor: what is fitted.
struct AdmittanceModel: Equatable {
  var resonance: Double
  /// The Q factor with the resistor in the circuit.
  var loadedQuality: Double
  /// Res / (Rs + Re).
  var relativeRise: Double
  /// Seconds: Le / (Rs + Re).
  var coilTimeConstant = 1e-4
  var delay = 0.0
  /// The high-pass of the recorder's input.
  var inputFilter = TransferFunction(modes: [], delay: 0, derivativeOrder: 1)

  func value(atHertz hertz: Double) -> Phasor {
    let turn = hertz / resonance - resonance / hertz
    let mechanical = Phasor(1, loadedQuality * (1 + relativeRise) * turn)
    let whole =
      Phasor(1, loadedQuality * turn) * (1 + relativeRise) + mechanical
      * Phasor(0, 2 * .pi * hertz * coilTimeConstant)
    let angle = 2 * Double.pi * hertz * delay
    return mechanical / whole * inputFilter.highPassValue(atHertz: hertz)
      * Phasor(cos(angle), -sin(angle))
  }
}

/// The shape that leaves least of a response.
private struct ImpedanceFit {
  let model: AdmittanceModel
  /// The factor on the shape.
  let gain: Double
  let cost: Double
  /// The power of what the resonance takes from the current.
  let motionalPower: Double
  /// Half of the 95 % intervals of resonance, loaded quality and rise, as fractions of them.
  let intervals: [Double]

  /// Seconds in which delays are counted, and what a high-pass must leave of the rest to be
  /// believed in.
  private static let delayUnit = 1.0 / 48_000
  private static let maximumCostRatio = 0.6

  /// The best by what is left of what the resonance takes, from several starts, near whose
  /// resonances they are fitted.
  ///
  /// - Parameter orders: Those of the high-pass of a recorder that are tried.
  static func best(
    for response: MeasuredResponse, band: ClosedRange<Double>,
    highPassOrders orders: ClosedRange<Int>
  ) -> ImpedanceFit? {
    func near(_ shape: AdmittanceModel) -> MeasuredResponse {
      let reach = pow(2, ImpedanceMeasurement.fittedOctaves)
      return response.limited(to: shape.resonance / reach...shape.resonance * reach)
    }
    let edge = pow(2, 1.0 / 6)
    let found = startingModels(for: response, band: band, highPassOrders: orders).map { start in
      ImpedanceFit(
        start, near(start).subsampled(by: 3), orders: 0...min(1, orders.upperBound), .coarse)
    }.filter { (band.lowerBound * edge...band.upperBound / edge).contains($0.model.resonance) }
    return found.min { $0.cost / $0.motionalPower < $1.cost / $1.motionalPower }.map {
      ImpedanceFit($0.model, near($0.model), orders: orders, .full)
    }
  }

  private init(
    _ start: AdmittanceModel, _ response: MeasuredResponse, orders: ClosedRange<Int>,
    _ precision: LevenbergMarquardt.Termination
  ) {
    var best: (shape: AdmittanceModel, cost: Double)?
    for order in orders {
      var start = start
      start.inputFilter.highPassOrder = order
      if start.inputFilter.highPassCorner == 0 {
        start.inputFilter.highPassCorner = 8
      }
      let found = LevenbergMarquardt.fit(
        from: Self.parameters(of: start),
        steps: [1e-5, 1e-4, 1e-4, 1e-4, 1e-3, 1e-4].dropLast(order > 0 ? 0 : 1),
        bounds: Self.bounds.dropLast(order > 0 ? 0 : 1), termination: precision
      ) { Self.fitGain(of: Self.model(at: $0, highPassOrder: order), to: response).left }
      let shape = Self.model(at: found, highPassOrder: order)
      let cost = Self.fitGain(of: shape, to: response).left.reduce(0) { $0 + $1 * $1 }
      if cost < (best.map { $0.cost * Self.maximumCostRatio } ?? .infinity) {
        best = (shape, cost)
      }
    }
    let shape = best?.shape ?? start
    self.model = shape
    let (gain, left) = Self.fitGain(of: shape, to: response)
    self.gain = gain
    cost = left.reduce(0) { $0 + $1 * $1 }
    var still = shape
    still.relativeRise = 0
    motionalPower = response.groups.reduce(0) {
      $0 + $1.weight * ($1.gain - still.value(atHertz: $1.hertz) * gain).power
    }
    let order = shape.inputFilter.highPassOrder
    let point = Self.parameters(of: shape)
    let columns = LevenbergMarquardt.jacobian(
      at: point, steps: point.map { _ in 1e-4 }, residuals: left
    ) {
      Self.fitGain(of: Self.model(at: $0, highPassOrder: order), to: response).left
    }
    intervals =
      ResonanceFit.intervals(jacobian: columns, residuals: left, gainCount: 1) ?? [1, 1, 1]
  }

  private static func parameters(of shape: AdmittanceModel) -> [Double] {
    [
      log(shape.resonance), log(shape.loadedQuality), log(shape.relativeRise),
      log(shape.coilTimeConstant),
      shape.delay / delayUnit,
    ]
      + (shape.inputFilter.highPassOrder > 0 ? [log(shape.inputFilter.highPassCorner)] : [])
  }

  private static func model(at point: [Double], highPassOrder order: Int) -> AdmittanceModel {
    var shape = AdmittanceModel(
      resonance: exp(point[0]), loadedQuality: exp(point[1]), relativeRise: exp(point[2]),
      coilTimeConstant: exp(point[3]),
      delay: point[4] * delayUnit)
    if order > 0 {
      shape.inputFilter.highPassCorner = exp(point[5])
      shape.inputFilter.highPassOrder = order
    }
    return shape
  }

  private static var bounds: [ClosedRange<Double>] {
    func logs(_ range: ClosedRange<Double>) -> ClosedRange<Double> {
      log(range.lowerBound)...log(range.upperBound)
    }
    return [
      logs(SweepSignal.frequencyRange), logs(ResonanceFit.qualityFactorRange), logs(1e-3...1e3),
      logs(1e-7...5e-3), -1e7...1e7,
      logs(ResonanceFit.highPassCornerRange),
    ]
  }

  /// The best of a grid by magnitude, each at the delay that fits it.
  private static func startingModels(
    for response: MeasuredResponse, band: ClosedRange<Double>,
    highPassOrders orders: ClosedRange<Int>
  )
    -> [AdmittanceModel]
  {
    let thinned = response.subsampled(by: 6)
    var figures: [(quality: Double, rise: Double, coil: Double, order: Int)] = []
    for quality in [0.5, 1.5, 5] {
      for coil in [1e-5, 1e-4, 4e-4] {
        for order in 0...min(1, orders.upperBound) {
          figures += [0.5, 3].map { (quality, $0, coil, order) }
        }
      }
    }
    var candidates: [(cost: Double, shape: AdmittanceModel)] = []
    for step in 1..<max(2, Int(12 * log2(band.upperBound / band.lowerBound))) {
      for (quality, rise, coil, order) in figures {
        var shape = AdmittanceModel(
          resonance: band.lowerBound * pow(2, Double(step) / 12), loadedQuality: quality,
          relativeRise: rise, coilTimeConstant: coil)
        shape.inputFilter.highPassCorner = 8
        shape.inputFilter.highPassOrder = order
        var overlap = 0.0
        var power = 1e-300
        for group in thinned.groups {
          let size = shape.value(atHertz: group.hertz).magnitude
          overlap += group.weight * size * group.gain.magnitude
          power += group.weight * size * size
        }
        candidates.append((-overlap * overlap / power, shape))
      }
    }
    var kept: [AdmittanceModel] = []
    for (_, shape) in candidates.sorted(by: { $0.cost < $1.cost })
    where kept.count < 5 && kept.allSatisfy({ abs(log2(shape.resonance / $0.resonance)) > 1.0 / 3 })
    {
      var shape = shape
      let terms = response.groups.map { group in
        (group.hertz, group.gain * shape.value(atHertz: group.hertz).conjugate * group.weight)
      }
      shape.delay = DelaySearch.delay(of: terms, within: 0.5 / band.lowerBound, ignoresSign: true)
      kept.append(shape)
    }
    return kept
  }

  /// The factor that brings a shape nearest to a response, and what is then left.
  private static func fitGain(of shape: AdmittanceModel, to response: MeasuredResponse) -> (
    gain: Double, left: [Double]
  ) {
    let values = zip(response.groups, response.rootWeights).map {
      shape.value(atHertz: $0.hertz) * $1
    }
    var overlap = 0.0
    var power = 1e-300
    for (value, measured) in zip(values, response.weightedGains) {
      overlap += value.real * measured.real + value.imaginary * measured.imaginary
      power += value.power
    }
    let gain = overlap / power
    return (
      gain,
      zip(values, response.weightedGains).flatMap { value, measured in
        let left = measured - value * gain
        return [left.real, left.imaginary]
      }
    )
  }
}

/// The resonance of a transducer, found by a person who presses a key where slow tones are felt
/// most.
///
/// Tones rise and fall in turn. A reaction comes late in both, so rising tones give too high a
/// frequency and falling ones too low a one by the same interval; the middle is the resonance.
public struct ManualMeasurement: Equatable, Sendable {
  /// One slow tone.
  public struct Tone: Equatable, Sendable {
    /// Hertz at its start and at its end.
    public let startHertz, endHertz: Double

    /// Whether it rises.
    public var isRising: Bool { endHertz > startHertz }
    /// Seconds at the pace of all tones.
    public var duration: Double {
      abs(log2(endHertz / startHertz)) / ManualMeasurement.octavesPerSecond
    }

    /// Hertz at a time in seconds, which is clamped to its duration.
    public func hertz(at seconds: Double) -> Double {
      startHertz * pow(endHertz / startHertz, min(max(seconds / duration, 0), 1))
    }
  }

  /// A key pressed in a tone.
  public struct Press: Equatable, Sendable {
    /// The frequency of the tone in hertz.
    public let hertz: Double
    /// Whether the tone rose.
    public let isRising: Bool

    /// Makes a press.
    public init(hertz: Double, isRising: Bool) {
      self.hertz = hertz
      self.isRising = isRising
    }
  }

  /// Resonance in hertz, and how far the true one may be off, as a fraction of it.
  public let resonance, uncertainty: Double
  /// The presses that count.
  public let presses: [Press]
  /// The one that was left out, if any.
  public let excludedPress: Press?

  /// Octaves a second: a reaction of 0.08 s more or less is half a percent.
  private static let octavesPerSecond = 0.1
  /// Octaves from the stated resonance to where tones start, which differ so that counting seconds
  /// does not help, and to where they end.
  private static let startOctaves = [0.75, 0.95, 0.85]
  private static let endOctaves = 0.95
  /// Octaves from the stated resonance within which the found one must lie to be between the ends
  /// of the tones.
  private static let maximumOffset = 0.55
  /// Octaves that presses in one direction may lie apart from their median: 9 %.
  private static let maximumSpread = 0.125
  /// Octaves by which rising tones may be pressed above falling ones: a reaction of 0.25 s and,
  /// each way, 1.5 dB behind the peak of a Q factor of 2.
  private static let lagRange = -0.1...0.6
  /// The least uncertainty: what heat, mounting and the slope of a person's sensitivity leave. The
  /// greatest that is worth having: half of a data sheet's; keys by the clock leave more.
  private static let minimumUncertainty = 0.04
  private static let maximumUncertainty = 0.075
  /// Standard errors in an interval of 95 % with three or four degrees of freedom, by Student's
  /// distribution.
  private static let studentFactor = 3.0

  /// The tones around the resonance that a profile states, six, rising and falling in turn.
  public static func tones(around resonance: Double) -> [Tone] {
    startOctaves.flatMap { reach in
      [
        Tone(startHertz: resonance * pow(2, -reach), endHertz: resonance * pow(2, endOctaves)),
        Tone(startHertz: resonance * pow(2, reach), endHertz: resonance * pow(2, -endOctaves)),
      ]
    }
  }

  /// A profile whose sharpness 0…1 goes through all frequencies of the tones, unfiltered, at a
  /// level of full intensity.
  ///
  /// Its level falls with frequency as the acceleration of a free mass and the sensitivity of a
  /// person rise, so that a transducer is felt most at its resonance, and as much less an interval
  /// above it as below.
  ///
  /// - Parameters:
  ///   - profile: The transducer with a resonance and a quality.
  ///   - level: The greatest peak in dBFS; it is lowered to what the transducer can take, wherever
  ///     the profile's uncertainty has its resonance.
  /// - Throws: `unsuitableSignal` where the profile has no resonance and quality.
  public static func toneProfile(for profile: TransducerProfile, level: Double)
    throws(CalibrationError)
    -> TransducerProfile
  {
    guard var hardware = profile.hardware, let model = hardware.model else {
      throw CalibrationError(
        .unsuitableSignal,
        "\(profile.name) has no resonance and Q factor to start from; add estimates to the profile")
    }
    let band = (model.resonance * pow(2, -endOctaves))...(model.resonance * pow(2, endOctaves))
    let doubt = hardware.uncertainty ?? hardware.defaultUncertainty
    var weakest = profile
    weakest.hardware?.resonance =
      model.resonance * (1 - max(doubt.resonance, TransducerUncertainty.estimated.resonance))
    weakest.hardware?.qualityFactor = model.qualityFactor * doubt.qualityFactor
    let excess = SweepLimits(weakest).excess(ofAmplitude: Decibels.factor(level), within: band)
    hardware.resonance = nil
    hardware.modes = []
    hardware.band = nil
    hardware.response = [
      ResponsePoint(hertz: band.lowerBound, decibels: 0),
      ResponsePoint(
        hertz: band.upperBound,
        decibels: Decibels.of(amplitude: band.upperBound / band.lowerBound)),
    ]
    return TransducerProfile(
      name: profile.name, summary: "",
      frequency: FrequencyMapping(low: band.lowerBound, high: band.upperBound),
      level: Decibels.factor(level - max(0, excess)), thresholds: profile.thresholds,
      hardware: hardware,
      drive: DriveSettings(
        isBandMapped: false, reach: 40, isEqualized: false, hasEqualSensation: true,
        contactSite: profile.drive.contactSite),
      amplifier: profile.amplifier)
  }

  /// Combines presses, one for each tone; the one that is farthest off is left out where it
  /// disagrees with all others.
  ///
  /// - Parameters:
  ///   - presses: At least two in each direction.
  ///   - stated: The resonance in hertz that the tones were around.
  /// - Throws: `pressesDisagree` where they do not lead to one frequency.
  public init(presses: [Press], around stated: Double) throws(CalibrationError) {
    func place(_ press: Press) -> Double { log2(press.hertz / stated) }
    func median(_ places: [Double]) -> Double {
      let sorted = places.sorted()
      return sorted.isEmpty ? 0 : (sorted[sorted.count / 2] + sorted[(sorted.count - 1) / 2]) / 2
    }
    func distances(_ presses: [Press]) -> [Double] {
      presses.map { press in
        abs(place(press) - median(presses.filter { $0.isRising == press.isRising }.map(place)))
      }
    }
    var kept = presses
    var leftOut: Press?
    let apart = distances(kept)
    if let worst = apart.indices.max(by: { apart[$0] < apart[$1] }),
      apart[worst] > Self.maximumSpread
    {
      leftOut = kept.remove(at: worst)
    }
    let rising = kept.filter(\.isRising).map(place)
    let falling = kept.filter { !$0.isRising }.map(place)
    func mean(_ places: [Double]) -> Double { places.reduce(0, +) / Double(places.count) }
    func refusal(_ text: String) -> CalibrationError { CalibrationError(.pressesDisagree, text) }
    let squares = [rising, falling].reduce(0) { sum, places in
      places.reduce(sum) { $0 + ($1 - mean(places)) * ($1 - mean(places)) }
    }
    let variance =
      squares / Double(kept.count - 2) * (1 / Double(rising.count) + 1 / Double(falling.count)) / 4
    uncertainty = max(
      Self.minimumUncertainty, pow(2, Self.studentFactor * variance.squareRoot()) - 1)
    guard rising.count > 1, falling.count > 1,
      distances(kept).allSatisfy({ $0 <= Self.maximumSpread }),
      Self.lagRange.contains(mean(rising) - mean(falling)), uncertainty <= Self.maximumUncertainty
    else {
      func list(_ isRising: Bool) -> String {
        presses.filter { $0.isRising == isRising }.map { $0.hertz.text(places: 1) }.joined(
          separator: ", ")
      }
      throw refusal(
        """
        the presses do not agree: at \(list(true)) Hz in rising tones and \(list(false)) Hz in \
        falling ones; press once in each tone, where it is strongest; raise the level with + if \
        it is hardly felt
        """
      )
    }
    let found = (mean(rising) + mean(falling)) / 2
    resonance = stated * pow(2, found)
    guard abs(found) <= Self.maximumOffset else {
      throw refusal(
        """
        the strongest buzz is at \(resonance.text(places: 1)) Hz, too near the end of the tones; set \
        the resonance of the profile to that and repeat
        """
      )
    }
    self.presses = kept
    self.excludedPress = leftOut
  }

  /// A profile with the resonance in place of what it said; the quality and its uncertainty stay.
  ///
  /// The resonance is rounded to a tenth of a hertz. A measured response, which has another
  /// resonance, is dropped.
  public func applied(to profile: TransducerProfile, date: String) -> TransducerProfile {
    let doubt = profile.hardware?.uncertainty ?? profile.hardware?.defaultUncertainty ?? .estimated
    var profile = profile.withResonance(
      Calibration.rounded(resonance, places: 1),
      uncertainty: TransducerUncertainty(
        resonance: (uncertainty * 1_000).rounded(.up) / 1_000, qualityFactor: doubt.qualityFactor))
    profile.sources.append("Resonance found by hand, \(date)")
    return profile
  }
}
