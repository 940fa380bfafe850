/// What a transducer stands, in units of its drive.
public struct TransducerLimits: Equatable, Sendable {
  /// The greatest displacement, where a full-scale sine at resonance makes 1; nothing where no model is known.
  public let excursion: Double?
  /// The power of a full-scale sine, where 1 is what is borne for ever; nothing where no power is known.
  public let power: Double?
  /// How it warms.
  public let thermal: ThermalParameters

  /// The temperature rise at which a sustained signal is held, a little below the limit of 1.
  public static let powerAim = 0.96

  /// How many times the continuous power the peak power is taken for.
  private static let peakFactor = 2.0

  /// Finds the limits from what is known.
  ///
  /// Without an amplifier's figure a full-scale sine delivers the peak power, which is twice the continuous
  /// power where only one of them is known, as is usual for loudspeakers. Without a measured excursion the limit is
  /// what a sine of peak power reaches anywhere in the published band, which the maker allows.
  init(_ hardware: TransducerHardware, amplifier: AmplifierParameters) {
    let continuous = hardware.power ?? hardware.peakPower.map { $0 / Self.peakFactor }
    let peak = hardware.peakPower ?? hardware.power.map { $0 * Self.peakFactor }
    let fullScale = amplifier.power ?? peak
    thermal = hardware.thermal ?? ThermalParameters()
    if let continuous, let fullScale { power = fullScale / continuous } else { power = nil }
    guard let model = hardware.model else {
      excursion = nil
      return
    }
    if let millimetres = hardware.excursion, let acceleration = hardware.acceleration {
      let turn = 2 * Double.pi * model.resonance
      let metres = acceleration * 9.80665 * (power ?? 1).squareRoot() / (turn * turn)
      excursion = millimetres / 1_000 / metres
    } else {
      let room = if let peak, let fullScale { (peak / fullScale).squareRoot() } else { 1.0 }
      let band = hardware.band ?? model.resonance / 2...Double.infinity
      excursion = room * model.greatestDisplacement(in: band)
    }
  }
}

extension TransducerHardware {
  /// Its resonance, where that and the quality are known.
  public var model: TransducerModel? {
    guard let resonance, let quality, resonance > 0, quality > 0 else { return nil }
    return TransducerModel(resonance: resonance, quality: quality)
  }
}

extension TransducerModel {
  /// The greatest magnitude of the displacement in a band.
  func greatestDisplacement(in band: ClosedRange<Double>) -> Double {
    // The top of the curve lies a little below resonance, and at 0 where the damping is strong.
    let top = resonance * max(0, 1 - 1 / (2 * quality * quality)).squareRoot()
    return displacement(atHertz: min(max(top, band.lowerBound), band.upperBound))
  }
}
