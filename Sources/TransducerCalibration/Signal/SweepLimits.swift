public import HapticRender
internal import Glibc

/// What of a signal a profile's transducer can take, by what is known of it.
///
/// Sweeps pass so slowly that the model's steady movement is what they reach.
public struct SweepLimits: Equatable, Sendable {
  /// The excursion in the model's unit that is the limit, where it is known.
  public let excursion: Double?
  /// The greatest amplitude whose power can be borne without end, where it is known.
  public let amplitude: Double?
  private let model: TransducerModel?
  private let name: String

  /// Decibels that are kept to the limits.
  private static let reserve = 1.0

  /// Takes the limits from a profile.
  public init(_ profile: TransducerProfile) {
    name = profile.name
    let hardware = profile.hardware
    let rated = hardware.flatMap { $0.power ?? $0.peakPower.map { $0 / 2 } }
    let peak = hardware.flatMap { hardware in hardware.peakPower ?? hardware.power.map { 2 * $0 } }
    let full = profile.amplifier.power ?? peak
    if let rated, let full {
      amplitude = (rated / full).squareRoot()
    } else {
      amplitude = nil
    }
    guard let resonance = hardware?.resonance, let quality = hardware?.quality else {
      model = nil
      excursion = nil
      return
    }
    let model = TransducerModel(resonance: resonance, quality: quality)
    self.model = model
    if let millimetres = hardware?.excursion, let rest = hardware?.acceleration {
      let turn = 2 * Double.pi * resonance
      let most = rest / (amplitude ?? 1)
      excursion = millimetres * turn * turn / (most * 9.80665 * 1_000)
    } else if let peak, let full {
      // What its peak power moves it by within its band.
      let band = hardware?.band ?? (resonance / 2)...(100 * resonance)
      excursion = (peak / full).squareRoot() * Self.movement(of: model, within: band)
    } else {
      excursion = nil
    }
  }

  /// Refuses a signal that is beyond the limits.
  public func check(_ signal: SweepSignal) throws(CalibrationError) {
    var held = 0.0
    if let excursion, let model {
      let moved = signal.amplitude * Self.movement(of: model, within: signal.band)
      held = max(held, Decibels.ofAmplitude(moved / excursion) + Self.reserve)
    }
    if let amplitude {
      held = max(held, Decibels.ofAmplitude(signal.amplitude / amplitude) + Self.reserve)
    }
    guard held <= 0 else {
      let level = (signal.level - held).rounded(.down)
      throw CalibrationError(
        kind: .tooStrong,
        description: "a sweep at \(Words.number(signal.level, places: 1)) dBFS is "
          + "\(Words.number(held, places: 1)) dB too strong for \(name); "
          + (level >= SweepSignal.levels.lowerBound
            ? "use '--level \(Words.number(level, places: 0))'"
            : "turn the amplifier down and say its power in the profile"))
    }
  }

  /// The greatest displacement within a band, at full scale.
  private static func movement(
    of model: TransducerModel, within band: ClosedRange<Double>
  ) -> Double {
    let steps = 200
    var most = 0.0
    for step in 0...steps {
      let share = Double(step) / Double(steps)
      let hertz = band.lowerBound * pow(band.upperBound / band.lowerBound, share)
      most = max(most, model.displacement(atHertz: hertz))
    }
    if band.contains(model.resonance) { most = max(most, 1) }
    return most
  }
}
