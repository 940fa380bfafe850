/// How far a transducer moves in a further resonance.
struct ExcursionMode: Equatable {
  /// The resonance.
  var model: TransducerModel
  /// The displacement at this resonance for a full-scale sine, relative to that at the main one; negative where it is
  /// inverted.
  var displacement: Double
}

/// The filter that damps a further resonance: it only cuts, so the drive nowhere rises.
struct ModeDamping: Equatable, Sendable {
  /// The resonance that appears instead.
  let apparent: TransducerModel
  let filter: Biquad

  /// Designs the filter for a resonance of some hardware, as deep as the resonance stands out of the others.
  ///
  /// - Parameter damping: The most times as damped it appears.
  init(_ mode: TransducerMode, of hardware: TransducerHardware, damping: Double, rate: Double) {
    let undone = hardware.certain(mode.model)
    let others = hardware.magnitude(atHertz: mode.resonance, without: mode)
    let depth = min(max(damping, 1), 1 + abs(mode.gain) / max(others, 1e-9))
    apparent = TransducerModel(
      resonance: mode.resonance,
      qualityFactor: min(undone.qualityFactor, max(0.5.squareRoot(), undone.qualityFactor / depth)))
    let zeros = Biquad.Resonance(undone, rate: rate)
    let poles = Biquad.Resonance(apparent, rate: rate)
    // Low frequencies pass as they are.
    let gain = (1 + poles.first + poles.second) / (1 + zeros.first + zeros.second)
    filter = Biquad(gain: gain, undoing: zeros, making: poles)
  }
}

extension TransducerHardware {
  /// The further resonances as protection follows them.
  var excursionModes: [ExcursionMode] {
    guard let model else { return [] }
    return modes.prefix(TransducerMode.maximumCount).map { mode in
      // Acceleration is displacement times the square of the frequency.
      let ratio = model.resonance / mode.resonance
      return ExcursionMode(model: mode.model, displacement: mode.gain * ratio * ratio)
    }
  }

  /// A resonance as wide as itself and the doubt about it.
  func certain(_ model: TransducerModel) -> TransducerModel {
    let width = 2 * (uncertainty ?? assumedUncertainty).resonance * model.qualityFactor
    return TransducerModel(
      resonance: model.resonance, qualityFactor: model.qualityFactor / (1 + width * width).squareRoot())
  }

  /// The magnitude of the acceleration for a steady sine of full scale by all resonances, but for one of them.
  func magnitude(atHertz hertz: Double, without left: TransducerMode? = nil) -> Double {
    guard let main = levelModel, let model else { return 0 }
    // Levels follow further resonances as far as they follow the main one.
    let isWidened = main != model
    var sum = main.accelerationPhasor(atHertz: hertz)
    for mode in modes.prefix(TransducerMode.maximumCount) where mode != left {
      let own = mode.model
      sum += mode.gain * (isWidened ? certain(own) : own).accelerationPhasor(atHertz: hertz)
    }
    return (sum * sum).sum().squareRoot()
  }
}
