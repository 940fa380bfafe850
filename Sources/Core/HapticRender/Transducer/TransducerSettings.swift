/// The filters and limits between the mix of a channel and its transducer.
public struct TransducerSettings: Equatable, Sendable {
  /// The sample rate of the filters, in hertz.
  public let rate: Double
  /// The corner frequency of the high-pass filter, in hertz. Lower frequencies move the transducer
  /// without being felt.
  public let highPassHertz: Double
  /// The equalizer of the resonance, or nil if it is disabled or the resonance is unknown.
  public let equalizer: EqualizerDesign?
  /// The resonance that protection models, or nil if it is unknown.
  public let protectionModel: TransducerModel?
  /// The uncertainty of the resonance that protection models.
  public let uncertainty: TransducerUncertainty
  /// The limits of the transducer's excursion and power.
  public let limits: TransducerLimits

  /// The minimum corner frequency of the high-pass filter, in hertz.
  private static let minimumHighPassHertz = 0.1

  /// The additional resonances, with their displacements relative to the main resonance.
  let excursionModes: [ExcursionMode]

  let highPassFilter: Biquad
  let equalizerFilter: Biquad
  let modeFilters: [ModeDamping]

  /// Creates the settings of a profile, or returns nil if it has no hardware.
  init?(_ profile: TransducerProfile, rate: Double) {
    guard let hardware = profile.hardware else { return nil }
    let minimumHertz = profile.minimumHertz
    self.rate = rate
    highPassHertz = min(
      max(profile.driveSettings.highPassHertz ?? minimumHertz / 2, Self.minimumHighPassHertz),
      rate / 4)
    highPassFilter = Biquad(highPassHertz: highPassHertz, rate: rate)
    protectionModel = hardware.model
    uncertainty = hardware.uncertainty ?? hardware.defaultUncertainty
    limits = TransducerLimits(hardware, amplifier: profile.amplifier)
    excursionModes = hardware.excursionModes
    if let model = hardware.equalizerModel, profile.driveSettings.isEqualized ?? true {
      let design = EqualizerDesign(
        model, settings: profile.driveSettings, minimumHertz: minimumHertz,
        highPass: highPassFilter,
        rate: rate)
      equalizer = design
      equalizerFilter = design.filter(rate: rate)
      modeFilters = hardware.additionalResonances.prefix(TransducerMode.maximumAdditionalModeCount)
        .map {
          ModeDamping($0, of: hardware, damping: profile.driveSettings.dampingFactor, rate: rate)
        }
    } else {
      equalizer = nil
      equalizerFilter = Biquad()
      modeFilters = []
    }
  }

  /// The filters of the drive signal, in series.
  private var driveFilters: [Biquad] {
    [highPassFilter, equalizerFilter] + modeFilters.map { $0.filter }
  }

  /// Returns the drive magnitude of a steady full-scale sine after high-pass and equalizer.
  public func driveResponse(atHertz hertz: Double) -> Double {
    driveFilters.reduce(1) { $0 * $1.magnitude(atHertz: hertz, rate: rate) }
  }

  /// Returns the response of the high-pass and the equalizer at a frequency.
  ///
  /// The result is a real and an imaginary part.
  package func driveFrequencyResponse(atHertz hertz: Double) -> SIMD2<Double> {
    driveFilters.reduce(SIMD2(1, 0)) { product, filter in
      let response = filter.frequencyResponse(atHertz: hertz, rate: rate)
      return SIMD2(
        product.x * response.x - product.y * response.y,
        product.x * response.y + product.y * response.x)
    }
  }

  /// The attenuation of the decaying drive at the end of the trailing silence, in decibels.
  private static let tailAttenuationDecibels = 60.0

  /// Returns the duration of the filtered drive's decay by 60 dB, in seconds.
  ///
  /// The decay starts after the last sound.
  ///
  /// T = A / (8.686·σ₁) + Σ 1.5/σᵢ, where σ₁ is the minimum decay rate of the filters in nepers per
  /// second, and σᵢ are the others.
  ///
  /// - Parameter includesTransducer: Whether the decay of the transducer's motion is included.
  public func tailDuration(includesTransducer: Bool = false) -> Double {
    Self.tailDuration(
      ofDecayRates: decayRatesNepersPerSecond(includesTransducer: includesTransducer))
  }

  /// Returns the decay rates of the filters, in nepers per second.
  ///
  /// Optionally, the result includes the decay rates of the transducer.
  fileprivate func decayRatesNepersPerSecond(includesTransducer: Bool) -> [Double] {
    var filterDecayRates = [
      TransducerModel(resonanceHertz: highPassHertz, qualityFactor: 0.5.squareRoot())
        .decayRateNepersPerSecond
    ]
    if let equalizer {
      filterDecayRates.append(equalizer.targetModel.decayRateNepersPerSecond)
    }
    filterDecayRates += modeFilters.map { $0.targetModel.decayRateNepersPerSecond }
    if includesTransducer, let protectionModel {
      filterDecayRates +=
        [protectionModel.decayRateNepersPerSecond]
        + excursionModes.map { $0.model.decayRateNepersPerSecond }
    }
    return filterDecayRates
  }

  fileprivate static func tailDuration(ofDecayRates rates: [Double]) -> Double {
    let ascendingDecayRates = rates.sorted()
    guard let slowestDecayRate = ascendingDecayRates.first else { return 0 }
    return tailAttenuationDecibels / 8.686 / slowestDecayRate
      + ascendingDecayRates.dropFirst().reduce(0) { $0 + 1.5 / $1 }
  }
}

extension OutputRouting {
  /// Returns the time that every channel needs to decay after the last sound, in seconds.
  ///
  /// The time includes a fade of 10 ms. It is at least `OfflineRenderer.defaultTailSeconds`, which
  /// suffices without hardware and filters.
  ///
  /// - Parameters:
  ///   - rate: The sample rate, in hertz.
  ///   - includesTransducer: Whether the decay of the transducers themselves counts.
  public func tailDuration(rate: Double, includesTransducer: Bool = false) -> Double {
    var maximumTailSeconds = OfflineRenderer.defaultTailSeconds
    for channel in channels {
      let settings = channel.transducer?.transducerSettings(rate: rate)
      let transducerRates =
        settings?.decayRatesNepersPerSecond(includesTransducer: includesTransducer) ?? []
      let rates = transducerRates + channel.filterDecayRatesNepersPerSecond
      if !rates.isEmpty {
        let tail = TransducerSettings.tailDuration(ofDecayRates: rates)
        maximumTailSeconds = max(maximumTailSeconds, tail + OfflineRenderer.fadeOutSeconds)
      }
    }
    return maximumTailSeconds
  }
}

extension TransducerModel {
  /// The decay rate of the model's free motion, in nepers per second.
  ///
  /// Of two real poles, it is the decay rate of the slower one.
  var decayRateNepersPerSecond: Double {
    let dampingRatio = 1 / (2 * qualityFactor)
    let relativeDecayRate =
      dampingRatio <= 1
      ? dampingRatio : dampingRatio - (dampingRatio * dampingRatio - 1).squareRoot()
    return 2 * Double.pi * resonanceHertz * relativeDecayRate
  }

  /// Returns the maximum displacement for a full-scale sine in a frequency band.
  package func maximumDisplacement(in band: ClosedRange<Double>) -> Double {
    // The maximum lies slightly below the resonance, or at 0 if the damping is strong.
    let peakHertz =
      resonanceHertz * max(0, 1 - 1 / (2 * qualityFactor * qualityFactor)).squareRoot()
    return displacementMagnitude(atHertz: min(max(peakHertz, band.lowerBound), band.upperBound))
  }
}

extension TransducerProfile {
  /// Returns the filters and limits for the hardware of the profile at a sample rate.
  ///
  /// Returns nil if the profile has no hardware.
  ///
  /// They depend on the frequency mappings of the profile.
  public func transducerSettings(rate: Double) -> TransducerSettings? {
    TransducerSettings(self, rate: rate)
  }

  /// The minimum frequency of continuous events and bursts, in hertz.
  var minimumHertz: Double {
    let minimumContinuousHertz =
      min(frequency.lowHertz, frequency.highHertz)
      * (partials.map { $0.frequencyToEventRatio }.min() ?? 1)
    let minimumBurstHertz =
      min(transient.frequency.lowHertz, transient.frequency.highHertz)
      * (transient.partials.map { $0.frequencyToBurstRatio * min(1, $0.endToStartFrequencyRatio) }
        .min() ?? 1)
    return min(minimumContinuousHertz, minimumBurstHertz)
  }
}

/// The limits of a transducer, in units of its drive.
public struct TransducerLimits: Equatable, Sendable {
  /// The maximum displacement, relative to that of a full-scale sine at resonance.
  ///
  /// The ratio is nil if no model is known.
  public let excursionLimitToFullScaleRatio: Double?
  /// The power of a full-scale sine, relative to the continuous rating; nil if unknown.
  public let fullScaleToContinuousPowerRatio: Double?
  /// The thermal parameters of the transducer.
  public let thermal: ThermalParameters

  /// The target temperature rise of the thermal limiter, slightly below the limit of 1.
  ///
  /// The limiter keeps the transducer at this temperature during a sustained signal.
  public static var targetTemperatureRiseFraction: Double { @_noLocks get { 0.96 } }

  /// The assumed ratio of peak power to continuous power.
  private static let peakToContinuousPowerRatio = 2.0

  /// Derives the limits from a data sheet and an amplifier.
  ///
  /// If the power of the amplifier is unknown, a full-scale sine delivers the peak power. If only
  /// one of peak and continuous power is known, their ratio is 2, which is typical for
  /// loudspeakers. If the excursion wasn't measured, the limit is the displacement of a sine of
  /// peak power in the published band, which the manufacturer permits.
  init(_ hardware: TransducerHardware, amplifier: AmplifierParameters) {
    let continuousWatts =
      hardware.continuousWatts ?? hardware.peakWatts.map { $0 / Self.peakToContinuousPowerRatio }
    let peakWatts =
      hardware.peakWatts ?? hardware.continuousWatts.map { $0 * Self.peakToContinuousPowerRatio }
    let fullScaleWatts = amplifier.fullScaleWatts ?? peakWatts
    thermal = hardware.thermalParameters ?? ThermalParameters()
    if let continuousWatts, let fullScaleWatts {
      fullScaleToContinuousPowerRatio = fullScaleWatts / continuousWatts
    } else {
      fullScaleToContinuousPowerRatio = nil
    }
    guard let model = hardware.model else {
      excursionLimitToFullScaleRatio = nil
      return
    }
    if let excursionMillimeters = hardware.maximumExcursionMillimeters,
      let ratedAccelerationInG = hardware.maximumAccelerationInG
    {
      let resonanceRadiansPerSecond = 2 * Double.pi * model.resonanceHertz
      let fullScaleExcursionMeters =
        ratedAccelerationInG * 9.80665 * (fullScaleToContinuousPowerRatio ?? 1).squareRoot()
        / (resonanceRadiansPerSecond * resonanceRadiansPerSecond)
      excursionLimitToFullScaleRatio = excursionMillimeters / 1_000 / fullScaleExcursionMeters
    } else {
      let powerMargin =
        if let peakWatts, let fullScaleWatts { (peakWatts / fullScaleWatts).squareRoot() } else {
          1.0
        }
      let band = hardware.bandHertz ?? model.resonanceHertz / 2...Double.infinity
      excursionLimitToFullScaleRatio = powerMargin * model.maximumDisplacement(in: band)
    }
  }
}

extension TransducerHardware {
  /// The maximum uncertainty of a resonance for computing levels from the stated figures.
  private static let maximumLevelUncertaintyFraction = 0.05

  /// The model for computing levels and frequencies.
  ///
  /// It has the stated figures if they are certain. Otherwise, it is the model of the equalizer.
  ///
  /// A filter with wrong figures rings; a level is only as wrong as its figures.
  var levelModel: TransducerModel? {
    (uncertainty ?? defaultUncertainty).resonanceDeviationFraction
      <= Self.maximumLevelUncertaintyFraction
      ? model : equalizerModel
  }

  /// The model for the equalizer's design: as wide as the resonance and its uncertainty.
  ///
  /// The quality factor is Q / √(1 + (2δQ)²) for a resonance with an uncertainty of ±δ. A search
  /// over zeros and poles found the factor 2, which minimizes the worst burst and ringing within
  /// the uncertainty: the filter makes none of these transducers worse.
  public var equalizerModel: TransducerModel? { model.map(widenedModel) }

  /// The model of the main resonance, if its frequency and quality factor are known.
  public var model: TransducerModel? {
    guard let resonanceHertz, let qualityFactor, resonanceHertz > 0, qualityFactor > 0
    else { return nil }
    return TransducerModel(resonanceHertz: resonanceHertz, qualityFactor: qualityFactor)
  }

  /// The default uncertainty of a data sheet without a stated uncertainty.
  ///
  /// It is 3 % of the resonance and 10 % of the quality factor if they were measured, otherwise
  /// that of estimates.
  public var defaultUncertainty: TransducerUncertainty {
    measurement == nil ? .estimated : .measured
  }

  /// The additional resonances and their displacements relative to the main resonance.
  var excursionModes: [ExcursionMode] {
    guard let model else { return [] }
    return additionalResonances.prefix(TransducerMode.maximumAdditionalModeCount).map { mode in
      // Acceleration is displacement times the square of the frequency.
      let ratio = model.resonanceHertz / mode.resonanceHertz
      return ExcursionMode(
        model: mode.model,
        displacementToMainModeRatio: mode.accelerationToMainModeRatio * ratio * ratio)
    }
  }

  /// Returns a model with a width that includes the uncertainty of its resonance.
  func widenedModel(_ model: TransducerModel) -> TransducerModel {
    let relativeBandwidth =
      2 * (uncertainty ?? defaultUncertainty).resonanceDeviationFraction * model.qualityFactor
    return TransducerModel(
      resonanceHertz: model.resonanceHertz,
      qualityFactor: model.qualityFactor / (1 + relativeBandwidth * relativeBandwidth).squareRoot())
  }

  /// Returns the magnitude of the acceleration of all resonances but one for a full-scale sine.
  func accelerationMagnitude(
    atHertz hertz: Double, excluding excludedMode: TransducerMode? = nil
  ) -> Double {
    guard let mainModel = levelModel, let model else { return 0 }
    // Additional resonances are widened if the main resonance is.
    let isWidened = mainModel != model
    var phasorSum = mainModel.accelerationPhasor(atHertz: hertz)
    for mode in additionalResonances.prefix(TransducerMode.maximumAdditionalModeCount)
    where mode != excludedMode {
      let modeModel = isWidened ? widenedModel(mode.model) : mode.model
      phasorSum += mode.accelerationToMainModeRatio * modeModel.accelerationPhasor(atHertz: hertz)
    }
    return (phasorSum * phasorSum).sum().squareRoot()
  }
}

/// The design of an equalizer that makes a transducer respond as if it were more damped.
///
/// The equalizer cancels the resonance and replaces it by a broader one. It flattens the response,
/// boosts onsets, and damps ringing after them.
public struct EqualizerDesign: Equatable, Sendable {
  /// The resonance of the transducer that the equalizer cancels.
  public let canceledModel: TransducerModel
  /// The resonance that the equalizer produces in place of the canceled resonance.
  public let targetModel: TransducerModel
  /// The gain at high frequencies, which limits the drive to the maximum boost.
  public let highFrequencyGain: Double

  /// Designs the equalizer for a resonance. The equalizer follows the high-pass filter.
  ///
  /// Flattening the response below the resonance requires a boost, so the target resonance is
  /// lowered toward the minimum frequency, by at most half of the boost in decibels.
  ///
  /// - Parameters:
  ///   - model: The resonance to cancel.
  ///   - settings: The settings of the drive.
  ///   - minimumHertz: The minimum frequency of the profile.
  ///   - highPass: The high-pass before the equalizer.
  ///   - rate: The sample rate, in hertz.
  init(
    _ model: TransducerModel, settings: DriveSettings, minimumHertz: Double,
    highPass: Biquad, rate: Double
  ) {
    let maximumBoostFactor = raised(10, to: settings.maximumBoostDecibels / 20)
    let resonanceHertz = model.resonanceHertz
    let targetQualityFactor = min(
      model.qualityFactor, max(0.5.squareRoot(), model.qualityFactor / settings.dampingFactor))
    let targetResonanceHertz = min(
      max(minimumHertz, resonanceHertz / maximumBoostFactor.squareRoot()), resonanceHertz)
    let targetModel = TransducerModel(
      resonanceHertz: targetResonanceHertz, qualityFactor: targetQualityFactor)
    self.canceledModel = model
    self.targetModel = targetModel
    let unityGainFilter = Self.filter(from: model, to: targetModel, gain: 1, rate: rate)
    func drivenResponse(_ hertz: Double) -> Double {
      highPass.magnitude(atHertz: hertz, rate: rate)
        * unityGainFilter.magnitude(atHertz: hertz, rate: rate)
    }
    let maximumResponse = Self.peakResponse(
      of: drivenResponse, near: targetResonanceHertz, below: rate / 2)
    // The equalizer doesn't boost the resonance, at which the transducer is loudest.
    highFrequencyGain = min(
      maximumBoostFactor / maximumResponse, 1 / drivenResponse(resonanceHertz))
  }

  func filter(rate: Double) -> Biquad {
    Self.filter(from: canceledModel, to: targetModel, gain: highFrequencyGain, rate: rate)
  }

  private static func peakResponse(
    of response: (Double) -> Double, near peak: Double, below maximumHertz: Double
  ) -> Double {
    let searchStepRatio = raised(maximumHertz, to: 1 / 64)
    let searchFrequencies = [peak] + (0...64).map { raised(searchStepRatio, to: Double($0)) }
    let bestHertz = searchFrequencies.max { response($0) < response($1) } ?? peak
    var lowerHertz = bestHertz / searchStepRatio
    var upperHertz = min(bestHertz * searchStepRatio, maximumHertz)
    // Each iteration keeps the two thirds of the interval that contain the maximum.
    for _ in 0..<24 {
      let third = (upperHertz - lowerHertz) / 3
      if response(lowerHertz + third) < response(upperHertz - third) {
        lowerHertz += third
      } else {
        upperHertz -= third
      }
    }
    return max(response(bestHertz), response((lowerHertz + upperHertz) / 2))
  }

  private static func filter(
    from model: TransducerModel, to targetModel: TransducerModel, gain: Double, rate: Double
  )
    -> Biquad
  {
    Biquad(
      gain: gain, zeros: Biquad.Polynomial(model, rate: rate),
      poles: Biquad.Polynomial(targetModel, rate: rate))
  }
}

/// An additional resonance of a transducer and its displacement.
struct ExcursionMode: Equatable {
  var model: TransducerModel
  /// The displacement at this resonance relative to that at the main resonance.
  ///
  /// Both are displacements for a full-scale sine. The ratio is negative if the displacement is
  /// inverted.
  var displacementToMainModeRatio: Double
}

/// A filter that damps an additional resonance. It only attenuates, so that the drive never rises.
struct ModeDamping: Equatable, Sendable {
  /// The more damped resonance that replaces the original resonance.
  let targetModel: TransducerModel
  let filter: Biquad

  /// Designs the filter that damps an additional resonance of the hardware.
  ///
  /// The depth is limited to the level of the resonance above the others.
  ///
  /// - Parameters:
  ///   - mode: The resonance.
  ///   - hardware: The data sheet that contains it.
  ///   - damping: The maximum factor by which it appears more damped.
  ///   - rate: The sample rate, in hertz.
  init(_ mode: TransducerMode, of hardware: TransducerHardware, damping: Double, rate: Double) {
    let canceledModel = hardware.widenedModel(mode.model)
    let otherResonancesMagnitude = hardware.accelerationMagnitude(
      atHertz: mode.resonanceHertz, excluding: mode)
    let dampingDepth = min(
      max(damping, 1),
      1 + abs(mode.accelerationToMainModeRatio) / max(otherResonancesMagnitude, 1e-9))
    targetModel = TransducerModel(
      resonanceHertz: mode.resonanceHertz,
      qualityFactor: min(
        canceledModel.qualityFactor,
        max(0.5.squareRoot(), canceledModel.qualityFactor / dampingDepth)))
    let zeros = Biquad.Polynomial(canceledModel, rate: rate)
    let poles = Biquad.Polynomial(targetModel, rate: rate)
    // The gain at low frequencies is 1.
    let unityPassbandGain =
      (1 + poles.firstDelayCoefficient + poles.secondDelayCoefficient)
      / (1 + zeros.firstDelayCoefficient + zeros.secondDelayCoefficient)
    filter = Biquad(gain: unityPassbandGain, zeros: zeros, poles: poles)
  }
}
