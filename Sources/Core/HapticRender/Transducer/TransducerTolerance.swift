internal import CMath

/// All transducers within the uncertainty of a profile's figures.
///
/// A figure that is known up to a factor stands for all values within it. If the quality factor Q
/// is uncertain by κ, and the level is known either at resonance or at rest, then the worst case is
/// among the resonances with the quality factor κ·Q, which move κ times as far, and those with Q/κ.
///
/// A transducer of several resonances is modeled by each of them. Each is held to its fraction of
/// the limit, which is proportional to its displacement, so that the sum is within the limit.
///
/// The resonances are sampled so closely that one between two of them moves hardly further than
/// both. `excursionLimitFactor` reduces the limit accordingly; it was found by a search for the
/// worst drive.
struct TransducerTolerance {
  /// A possible transducer with a single resonance.
  struct Model: Equatable {
    var resonanceHertz: Double
    var qualityFactor: Double
    /// The displacement of the model at its resonance, relative to the main resonance.
    ///
    /// The main resonance is measured at its own frequency.
    var relativeResonanceDisplacement: Double
  }

  /// The set of models that represents one resonance within its uncertainty.
  private struct ModelSet {
    var models: [Model]
    var excursionLimitFactor: Double
  }

  /// The models of all resonances; the nominal model of each resonance precedes its variants.
  let models: [Model]
  /// The sum of all resonances' displacements, relative to that of the main resonance.
  ///
  /// The displacements are those for full-scale sines.
  let relativeDisplacementSum: Double
  /// The minimum decay rate of the models, in nepers per second.
  let minimumDecayNepersPerSecond: Double
  /// The factor that reduces the limit.
  ///
  /// The reduced limit also holds for resonances between those of the models.
  let excursionLimitFactor: Double
  /// The maximum number of models at the maximum quality factor.
  private static let modelCountAtMaximumQuality = 24
  /// The number of models at the minimum quality factor, where a few broad models suffice.
  private static let modelCountAtMinimumQuality = 4
  /// The maximum distance between the resonances of two models, in bandwidths.
  private static let maximumModelSpacingInBandwidths = 0.3
  private static let modelGridExcursionLimitFactor = 0.94

  init(
    _ model: TransducerModel, modes: [ExcursionMode] = [], uncertainty: TransducerUncertainty
  ) {
    let totalDisplacementGain = modes.reduce(1) { $0 + abs($1.displacementToMainModeRatio) }
    relativeDisplacementSum = totalDisplacementGain
    let resonanceModels = [model] + modes.map { $0.model }
    let modelSets = resonanceModels.map {
      Self.models(around: $0, uncertainty, gain: totalDisplacementGain)
    }
    models = modelSets.map { $0.models[0] } + modelSets.flatMap { $0.models.dropFirst() }
    excursionLimitFactor = modelSets.map { $0.excursionLimitFactor }.min() ?? 1
    minimumDecayNepersPerSecond =
      models.map { Double.pi * $0.resonanceHertz / $0.qualityFactor }.min() ?? .infinity
  }

  private static func models(
    around model: TransducerModel, _ uncertainty: TransducerUncertainty, gain: Double
  ) -> ModelSet {
    let qualityFactorRatio = uncertainty.trueToStatedQualityFactorRatio
    let maximumQualityFactor = model.qualityFactor * qualityFactorRatio
    let nominalModel = Model(
      resonanceHertz: model.resonanceHertz, qualityFactor: model.qualityFactor,
      relativeResonanceDisplacement: gain)
    guard uncertainty != .exact else {
      return ModelSet(models: [nominalModel], excursionLimitFactor: 1)
    }
    let logResonanceSpan = log(
      (1 + uncertainty.resonanceDeviationFraction) / (1 - uncertainty.resonanceDeviationFraction))
    func spacedResonancesHertz(_ count: Int) -> [Double] {
      guard count > 1 else { return [model.resonanceHertz] }
      return (0..<count).map {
        model.resonanceHertz * (1 - uncertainty.resonanceDeviationFraction)
          * exp(logResonanceSpan * Double($0) / Double(count - 1))
      }
    }
    var resonanceCount = 1
    if logResonanceSpan > 0 {
      let spacingCount = logResonanceSpan * maximumQualityFactor / maximumModelSpacingInBandwidths
      resonanceCount = min(modelCountAtMaximumQuality, Int(spacingCount.rounded(.up)) + 1)
    }
    var toleranceModels = [nominalModel]
    toleranceModels += spacedResonancesHertz(resonanceCount).map {
      Model(
        resonanceHertz: $0, qualityFactor: maximumQualityFactor,
        relativeResonanceDisplacement: gain * qualityFactorRatio)
    }
    if qualityFactorRatio > 1 {
      toleranceModels += spacedResonancesHertz(
        logResonanceSpan > 0 ? modelCountAtMinimumQuality : 1
      ).map {
        Model(
          resonanceHertz: $0, qualityFactor: model.qualityFactor / qualityFactorRatio,
          relativeResonanceDisplacement: gain)
      }
    }
    let spacingInBandwidths =
      resonanceCount > 1 ? maximumQualityFactor * logResonanceSpan / Double(resonanceCount - 1) : 0
    return ModelSet(
      models: toleranceModels,
      excursionLimitFactor: modelGridExcursionLimitFactor
        / (1 + spacingInBandwidths * spacingInBandwidths))
  }

  var maximumResonanceHertz: Double { models.map { $0.resonanceHertz }.max() ?? 1 }
  var minimumResonanceHertz: Double { models.map { $0.resonanceHertz }.min() ?? 1 }

  /// The maximum decay time constant of the models, in seconds.
  var maximumTimeConstantSeconds: Double {
    models.map { $0.qualityFactor / (Double.pi * $0.resonanceHertz) }.max() ?? 0
  }

  /// Returns the maximum excess of the displacement within a step over that at its ends.
  ///
  /// The excess is that for a full-scale drive.
  func maximumDisplacementWithinStep(seconds: Double) -> Double {
    models.map { model in
      let phase = 2 * Double.pi * model.resonanceHertz * seconds
      return model.relativeResonanceDisplacement * phase * phase / (8 * model.qualityFactor)
    }.max() ?? 0
  }

  /// Returns the maximum increase of a model's norm in a step, for a full-scale drive.
  func maximumNormIncrease(seconds: Double) -> Double {
    models.map {
      2 * Double.pi * $0.resonanceHertz * seconds * $0.relativeResonanceDisplacement
        / $0.qualityFactor
    }.max() ?? 0
  }
}
