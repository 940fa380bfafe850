public import HapticRender
internal import CMath
internal import SignalAnalysis
internal import SystemSupport

/// What of a signal a profile's transducer can take, by what is known of it.
///
/// Sweeps pass so slowly that the model's steady movement is what they reach.
public struct SweepLimits: Equatable, Sendable {
  private let name: String
  private let limits: TransducerLimits?
  private let model: TransducerModel?

  /// Decibels that are kept to the limits.
  private static let reserve = 1.0

  /// Takes the limits from a profile; one without hardware has none.
  ///
  /// - Parameters:
  ///   - profile: The profile of the transducer.
  ///   - rate: Frames per second, which decides nothing that is asked here.
  public init(_ profile: TransducerProfile, rate: Double = 48_000) {
    let settings = profile.transducerSettings(rate: rate)
    name = profile.name
    limits = settings?.limits
    model = settings?.model
  }

  /// Whether anything is known that a signal could be held to.
  public var isKnown: Bool { limits?.excursion != nil || limits?.power != nil }

  /// By how many decibels a signal is too strong; below zero is what it could be stronger.
  public func excess(of signal: SweepSignal) -> Double {
    var held = -Double.infinity
    if let excursion = limits?.excursion, let model {
      let moved = signal.amplitude * Self.movement(of: model, within: signal.band)
      held = max(held, Decibels.of(amplitude: moved / excursion) + Self.reserve)
    }
    if let power = limits?.power {
      held = max(held, Decibels.of(power: signal.amplitude * signal.amplitude * power) + Self.reserve)
    }
    return held
  }

  /// Refuses a signal that is beyond the limits.
  public func check(_ signal: SweepSignal) throws(CalibrationError) {
    let held = excess(of: signal)
    guard held > 0 else { return }
    let level = ((signal.level - held) * 10).rounded(.down) / 10
    throw CalibrationError(
      kind: .tooStrong,
      description: "a sweep at \(NumberFormatting.rounded(signal.level, places: 1)) dBFS is "
        + "\(NumberFormatting.rounded(held, places: 1)) dB too strong for \(name); "
        + (level >= SweepSignal.levels.lowerBound
          ? "use '--level \(NumberFormatting.rounded(level, places: 1))'"
          : "lower the amplifier gain and set amplifier.power in the profile"))
  }

  /// The greatest displacement within a band, at full scale.
  private static func movement(of model: TransducerModel, within band: ClosedRange<Double>) -> Double {
    let qualityFactor = model.qualityFactor
    let top = model.resonance * max(0, 1 - 1 / (2 * qualityFactor * qualityFactor)).squareRoot()
    return model.displacement(atHertz: min(max(top, band.lowerBound), band.upperBound))
  }
}
