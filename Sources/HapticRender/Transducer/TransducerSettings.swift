/// What stands between a channel's mix and its limiter for one transducer: filters and limits, all as numbers.
public struct TransducerSettings: Equatable, Sendable {
  /// Frames per second.
  public let rate: Double
  /// The corner of the high-pass in hertz; below it nothing is felt, and much is moved.
  public let highPass: Double
  /// The filter against the resonance, where one is wanted and the resonance is known.
  public let equaliser: EqualizerDesign?
  /// The resonance that protection follows, where it is known.
  public let model: TransducerModel?
  /// What protection holds to.
  public let limits: TransducerLimits

  /// The lowest corner of the high-pass in hertz.
  private static let lowestCorner = 0.1

  let highPassFilter: Biquad
  let equaliserFilter: Biquad

  /// The settings of a profile as it stands; nothing where it has no hardware.
  init?(_ profile: TransducerProfile, rate: Double) {
    guard let hardware = profile.hardware else { return nil }
    let lowest = profile.lowestHertz
    self.rate = rate
    highPass = min(max(profile.drive.highPass ?? lowest / 2, Self.lowestCorner), rate / 4)
    highPassFilter = Biquad(highPassHertz: highPass, rate: rate)
    model = hardware.model
    limits = TransducerLimits(hardware, amplifier: profile.amplifier)
    if let model, profile.drive.isEqualized ?? true {
      let design = EqualizerDesign(
        model, law: profile.drive, lowest: lowest, highPass: highPassFilter, rate: rate)
      equaliser = design
      equaliserFilter = design.filter(rate: rate)
    } else {
      equaliser = nil
      equaliserFilter = Biquad()
    }
  }

  /// The magnitude of the drive for a steady sine of full scale: high-pass and equaliser.
  public func driveResponse(atHertz hertz: Double) -> Double {
    highPassFilter.response(atHertz: hertz, rate: rate)
      * equaliserFilter.response(atHertz: hertz, rate: rate)
  }
}

extension TransducerProfile {
  /// The filters and limits for the hardware at a frame rate; nothing without hardware.
  ///
  /// They follow from the profile as it stands: narrow the laws, and the filters are others.
  public func transducerSettings(rate: Double) -> TransducerSettings? {
    TransducerSettings(self, rate: rate)
  }

  /// The lowest frequency that the laws ask for.
  var lowestHertz: Double {
    let continuous = min(frequency.low, frequency.high) * (partials.map(\.ratio).min() ?? 1)
    let burst =
      min(transient.frequency.low, transient.frequency.high)
      * (transient.partials.map { $0.ratio * min(1, $0.glide) }.min() ?? 1)
    return min(continuous, burst)
  }
}
