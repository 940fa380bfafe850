/// What stands between a channel's mix and its limiter for one transducer: filters and limits, all
/// as numbers.
public struct TransducerSettings: Equatable, Sendable {
  /// Frames per second.
  public let rate: Double
  /// The corner of the high-pass in hertz; below it nothing is felt, and much is moved.
  public let highPassHertz: Double
  /// The filter against the resonance, where one is wanted and the resonance is known.
  public let equalizer: EqualizerDesign?
  /// The resonance that protection follows, where it is known.
  public let model: TransducerModel?
  /// How far the true figures may be from the model's.
  public let uncertainty: TransducerUncertainty
  /// What protection holds to.
  public let limits: TransducerLimits

  /// The lowest corner of the high-pass in hertz.
  private static let minimumCornerHertz = 0.1

  /// How far the transducer moves in each of its further resonances, relative to the main one.
  let excursionModes: [ExcursionMode]

  let highPassFilter, equalizerFilter: Biquad
  let modeFilters: [ModeDamping]

  /// The settings of a profile as it stands; nothing where it has no hardware.
  init?(_ profile: TransducerProfile, rate: Double) {
    guard let hardware = profile.hardware else { return nil }
    let lowest = profile.minimumHertz
    self.rate = rate
    highPassHertz = min(
      max(profile.drive.highPass ?? lowest / 2, Self.minimumCornerHertz), rate / 4)
    highPassFilter = Biquad(highPassHertz: highPassHertz, rate: rate)
    model = hardware.model
    uncertainty = hardware.uncertainty ?? hardware.defaultUncertainty
    limits = TransducerLimits(hardware, amplifier: profile.amplifier)
    excursionModes = hardware.excursionModes
    if let model = hardware.equalizerModel, profile.drive.isEqualized ?? true {
      let design = EqualizerDesign(
        model, settings: profile.drive, minimumHertz: lowest, highPass: highPassFilter, rate: rate)
      equalizer = design
      equalizerFilter = design.filter(rate: rate)
      modeFilters = hardware.modes.prefix(TransducerMode.maximumCount).map {
        ModeDamping($0, of: hardware, damping: profile.drive.damping, rate: rate)
      }
    } else {
      equalizer = nil
      equalizerFilter = Biquad()
      modeFilters = []
    }
  }

  /// The magnitude of the drive for a steady sine of full scale: high-pass and equaliser.
  public func driveResponse(atHertz hertz: Double) -> Double {
    modeFilters.reduce(
      highPassFilter.response(atHertz: hertz, rate: rate)
        * equalizerFilter.response(atHertz: hertz, rate: rate)
    ) { $0 * $1.filter.response(atHertz: hertz, rate: rate) }
  }

  /// How far the drive has fallen behind the tail, in decibels.
  private static let tailAttenuationDecibels = 60.0

  /// Seconds behind the last sound until the drive that brakes the transducer has come to rest: 60
  /// dB down.
  ///
  /// T = A / (8.686·σ₁) + Σ 1.5/σᵢ, with σ₁ the slowest decay of the filters in nepers a second and
  /// σᵢ the others.
  ///
  /// - Parameter isRinging: Whether the transducer's own decay counts too.
  public func tail(includesTransducer isRinging: Bool = false) -> Double {
    Self.tail(of: decayRates(includesTransducer: isRinging))
  }

  /// Nepers a second of each filter, and with `isRinging` of the transducer.
  fileprivate func decayRates(includesTransducer isRinging: Bool) -> [Double] {
    var decays = [
      TransducerModel(resonance: highPassHertz, qualityFactor: 0.5.squareRoot()).decayRate
    ]
    if let equalizer {
      decays.append(equalizer.targetModel.decayRate)
    }
    decays += modeFilters.map { $0.targetModel.decayRate }
    if isRinging, let model {
      decays += [model.decayRate] + excursionModes.map { $0.model.decayRate }
    }
    return decays
  }

  fileprivate static func tail(of decays: [Double]) -> Double {
    let sorted = decays.sorted()
    guard let slowest = sorted.first else { return 0 }
    return tailAttenuationDecibels / 8.686 / slowest
      + sorted.dropFirst().reduce(0) { $0 + 1.5 / $1 }
  }
}

extension OutputRouting {
  /// Seconds of output behind the last sound in which every channel comes to rest, a fade of 10 ms
  /// included.
  ///
  /// Without hardware and filters, and at least, `OfflineRenderer.defaultTail`; with them as long
  /// as they need.
  ///
  /// - Parameter isRinging: Whether the transducers' own decay counts too.
  public func tail(rate: Double, includesTransducer isRinging: Bool = false) -> Double {
    var longest = OfflineRenderer.defaultTail
    for channel in channels {
      let own =
        channel.transducer?.transducerSettings(rate: rate)?.decayRates(
          includesTransducer: isRinging) ?? []
      let decays = own + channel.filterDecayRates
      if !decays.isEmpty {
        longest = max(longest, TransducerSettings.tail(of: decays) + OfflineRenderer.fadeDuration)
      }
    }
    return longest
  }
}

extension TransducerModel {
  /// Nepers a second of a free motion; of two real poles the slower.
  var decayRate: Double {
    let damping = 1 / (2 * qualityFactor)
    let slowness = damping <= 1 ? damping : damping - (damping * damping - 1).squareRoot()
    return 2 * Double.pi * resonance * slowness
  }

  package func maximumDisplacement(in band: ClosedRange<Double>) -> Double {
    // The top of the curve lies a little below resonance, and at 0 where the damping is strong.
    let top = resonance * max(0, 1 - 1 / (2 * qualityFactor * qualityFactor)).squareRoot()
    return displacement(atHertz: min(max(top, band.lowerBound), band.upperBound))
  }
}

extension TransducerProfile {
  /// The filters and limits for the hardware at a frame rate; nothing without hardware.
  ///
  /// They follow from the profile as it stands: narrow the laws, and the filters are others.
  public func transducerSettings(rate: Double) -> TransducerSettings? {
    TransducerSettings(self, rate: rate)
  }

  var minimumHertz: Double {
    let continuous = min(frequency.low, frequency.high) * (partials.map { $0.ratio }.min() ?? 1)
    let burst =
      min(transient.frequency.low, transient.frequency.high)
      * (transient.partials.map { $0.ratio * min(1, $0.glide) }.min() ?? 1)
    return min(continuous, burst)
  }
}

/// What a transducer stands, in units of its drive.
public struct TransducerLimits: Equatable, Sendable {
  /// The greatest displacement, where a full-scale sine at resonance makes 1; nothing where no
  /// model is known.
  public let excursion: Double?
  /// The power of a full-scale sine, where 1 is the continuous rating; nothing where no power is
  /// known.
  public let power: Double?
  /// How it warms.
  public let thermal: ThermalParameters

  /// The temperature rise at which a sustained signal is held, a little below the limit of 1.
  public static var targetTemperatureRise: Double { @_noLocks get { 0.96 } }

  /// How many times the continuous power the peak power is taken for.
  private static let peakPowerRatio = 2.0

  /// Finds the limits from what is known.
  ///
  /// Without an amplifier's figure a full-scale sine delivers the peak power, which is twice the
  /// continuous power where only one of them is known, as is usual for loudspeakers. Without a
  /// measured excursion the limit is what a sine of peak power reaches anywhere in the published
  /// band, which the maker allows.
  init(_ hardware: TransducerHardware, amplifier: AmplifierParameters) {
    let continuous = hardware.continuousPower ?? hardware.peakPower.map { $0 / Self.peakPowerRatio }
    let peak = hardware.peakPower ?? hardware.continuousPower.map { $0 * Self.peakPowerRatio }
    let fullScale = amplifier.power ?? peak
    thermal = hardware.thermal ?? ThermalParameters()
    if let continuous, let fullScale {
      power = fullScale / continuous
    } else {
      power = nil
    }
    guard let model = hardware.model else {
      excursion = nil
      return
    }
    if let millimetres = hardware.excursion, let acceleration = hardware.acceleration {
      let omega = 2 * Double.pi * model.resonance
      let metres = acceleration * 9.80665 * (power ?? 1).squareRoot() / (omega * omega)
      excursion = millimetres / 1_000 / metres
    } else {
      let room = if let peak, let fullScale { (peak / fullScale).squareRoot() } else { 1.0 }
      let band = hardware.band ?? model.resonance / 2...Double.infinity
      excursion = room * model.maximumDisplacement(in: band)
    }
  }
}

extension TransducerHardware {
  /// How uncertain a resonance may be for levels to take its figures as they are.
  private static let maximumLevelUncertainty = 0.05

  /// The model that levels and frequencies follow: the figures where they are certain, else as wide
  /// as the filter's.
  ///
  /// A filter rings where its figures are wrong; a level is only as wrong as they are.
  var levelModel: TransducerModel? {
    (uncertainty ?? defaultUncertainty).resonance <= Self.maximumLevelUncertainty
      ? model : equalizerModel
  }

  /// The model that the filter is designed for: as wide as the resonance and the doubt about it.
  ///
  /// Its quality is Q / √(1 + (2δQ)²) for a resonance known to ±δ. The factor 2 makes the worst of
  /// burst and ring within the doubt least, by a search over zeros and poles; with it the filter
  /// leaves none of these transducers worse than without it.
  public var equalizerModel: TransducerModel? { model.map(widened) }

  /// Its resonance, where that and the quality are known.
  public var model: TransducerModel? {
    guard let resonance, let qualityFactor, resonance > 0, qualityFactor > 0 else { return nil }
    return TransducerModel(resonance: resonance, qualityFactor: qualityFactor)
  }

  /// How far the figures may be off where the data sheet does not say: measured ones by 3 % of the
  /// resonance and 10 % of the quality, all others as far as estimates.
  public var defaultUncertainty: TransducerUncertainty { measured == nil ? .estimated : .measured }

  var excursionModes: [ExcursionMode] {
    guard let model else { return [] }
    return modes.prefix(TransducerMode.maximumCount).map { mode in
      // Acceleration is displacement times the square of the frequency.
      let ratio = model.resonance / mode.resonance
      return ExcursionMode(model: mode.model, displacement: mode.gain * ratio * ratio)
    }
  }

  func widened(_ model: TransducerModel) -> TransducerModel {
    let width = 2 * (uncertainty ?? defaultUncertainty).resonance * model.qualityFactor
    return TransducerModel(
      resonance: model.resonance,
      qualityFactor: model.qualityFactor / (1 + width * width).squareRoot())
  }

  /// The magnitude of the acceleration for a steady sine of full scale by all resonances, but for
  /// one of them.
  func accelerationMagnitude(atHertz hertz: Double, excluding left: TransducerMode? = nil) -> Double
  {
    guard let main = levelModel, let model else { return 0 }
    // Levels follow further resonances as far as they follow the main one.
    let isWidened = main != model
    var sum = main.accelerationPhasor(atHertz: hertz)
    for mode in modes.prefix(TransducerMode.maximumCount) where mode != left {
      let own = mode.model
      sum += mode.gain * (isWidened ? widened(own) : own).accelerationPhasor(atHertz: hertz)
    }
    return (sum * sum).sum().squareRoot()
  }
}

/// The filter that makes a transducer answer as a better damped one would.
///
/// It undoes the resonance and puts a broader one in its place. So it flattens the response, kicks
/// at onsets, and brakes what would ring on after them, for everything that is played.
public struct EqualizerDesign: Equatable, Sendable {
  /// The resonance that is undone, and the one that appears instead.
  public let model, targetModel: TransducerModel
  /// The factor at high frequencies, by which the drive nowhere rises above the law's boost.
  public let gain: Double

  /// Designs the filter behind a high-pass.
  ///
  /// Below resonance the drive must rise to flatten, so the resonance is lowered towards the lowest
  /// frequency, by half of the boost's decibels at most.
  init(
    _ model: TransducerModel, settings law: DriveSettings, minimumHertz lowest: Double,
    highPass: Biquad, rate: Double
  ) {
    let boost = raised(10, to: law.boost / 20)
    let resonance = model.resonance
    let qualityFactor = min(
      model.qualityFactor, max(0.5.squareRoot(), model.qualityFactor / law.damping))
    let lowered = min(max(lowest, resonance / boost.squareRoot()), resonance)
    let apparent = TransducerModel(resonance: lowered, qualityFactor: qualityFactor)
    self.model = model
    self.targetModel = apparent
    let unscaled = Self.filter(from: model, to: apparent, gain: 1, rate: rate)
    func response(_ hertz: Double) -> Double {
      highPass.response(atHertz: hertz, rate: rate) * unscaled.response(atHertz: hertz, rate: rate)
    }
    let greatest = Self.maximum(of: response, near: lowered, below: rate / 2)
    // At resonance, where it is loudest by itself, it becomes no louder.
    gain = min(boost / greatest, 1 / response(resonance))
  }

  func filter(rate: Double) -> Biquad {
    Self.filter(from: model, to: targetModel, gain: gain, rate: rate)
  }

  private static func maximum(
    of response: (Double) -> Double, near peak: Double, below highest: Double
  ) -> Double {
    let ratio = raised(highest, to: 1 / 64)
    let points = [peak] + (0...64).map { raised(ratio, to: Double($0)) }
    let best = points.max { response($0) < response($1) } ?? peak
    var low = best / ratio
    var high = min(best * ratio, highest)
    // Each step keeps the two thirds that hold the top.
    for _ in 0..<24 {
      let third = (high - low) / 3
      if response(low + third) < response(high - third) {
        low += third
      } else {
        high -= third
      }
    }
    return max(response(best), response((low + high) / 2))
  }

  private static func filter(
    from model: TransducerModel, to apparent: TransducerModel, gain: Double, rate: Double
  )
    -> Biquad
  {
    Biquad(
      gain: gain, zeros: Biquad.Polynomial(model, rate: rate),
      poles: Biquad.Polynomial(apparent, rate: rate))
  }
}

/// How far a transducer moves in a further resonance.
struct ExcursionMode: Equatable {
  var model: TransducerModel
  /// The displacement at this resonance for a full-scale sine, relative to that at the main one;
  /// negative where it is inverted.
  var displacement: Double
}

/// The filter that damps a further resonance: it only cuts, so the drive nowhere rises.
struct ModeDamping: Equatable, Sendable {
  /// The resonance that appears instead.
  let targetModel: TransducerModel
  let filter: Biquad

  /// Designs the filter for a resonance of some hardware, as deep as the resonance stands out of
  /// the others.
  ///
  /// - Parameter damping: The most times as damped it appears.
  init(_ mode: TransducerMode, of hardware: TransducerHardware, damping: Double, rate: Double) {
    let undone = hardware.widened(mode.model)
    let others = hardware.accelerationMagnitude(atHertz: mode.resonance, excluding: mode)
    let depth = min(max(damping, 1), 1 + abs(mode.gain) / max(others, 1e-9))
    targetModel = TransducerModel(
      resonance: mode.resonance,
      qualityFactor: min(undone.qualityFactor, max(0.5.squareRoot(), undone.qualityFactor / depth)))
    let zeros = Biquad.Polynomial(undone, rate: rate)
    let poles = Biquad.Polynomial(targetModel, rate: rate)
    // Low frequencies pass as they are.
    let gain = (1 + poles.first + poles.second) / (1 + zeros.first + zeros.second)
    filter = Biquad(gain: gain, zeros: zeros, poles: poles)
  }
}
