public import HapticRender
internal import Glibc

extension Calibration {
  /// What is only known with more than the recording.
  public struct Conditions: Equatable, Sendable {
    /// The day, in the user's words.
    public var date: String
    /// Seconds from a sample to its movement, where the recording can tell.
    public var latency: Double?
    /// The acceleration in g that is the recording's full scale, where it is known.
    public var fullScale: Double?

    /// Makes circumstances.
    public init(date: String, latency: Double? = nil, fullScale: Double? = nil) {
      self.date = date
      self.latency = latency
      self.fullScale = fullScale
    }
  }

  /// The acceleration in g at resonance for a full-scale sine.
  ///
  /// - Parameter fullScale: The acceleration in g that is the recording's full scale.
  /// - Returns: Nothing where the sensor gave something else than acceleration.
  public func acceleration(fullScale: Double) -> Double? {
    sensor == .acceleration ? gain * fullScale : nil
  }

  /// A profile with what was measured in place of what it said.
  ///
  /// Figures are rounded to what the measurement tells: resonance to a hundredth of a hertz, quality to a
  /// hundredth, the band to a tenth.
  public func applied(
    to profile: TransducerProfile, in circumstances: Conditions
  ) -> TransducerProfile {
    var profile = profile
    var hardware = profile.hardware ?? TransducerHardware(product: profile.name)
    var known: Set = ["resonance", "quality", "band", "response"]
    hardware.resonance = Self.rounded(resonance, places: 2)
    hardware.quality = Self.rounded(quality, places: 2)
    let (low, high) = (curve.band.lowerBound, curve.band.upperBound)
    hardware.band = Self.rounded(low, places: 1)...Self.rounded(high, places: 1)
    hardware.response = curve.response
    hardware.measured = TransducerMeasurement(
      date: circumstances.date, residual: max(-120, Self.rounded(residual, places: 1)),
      sensor: sensor)
    if let fullScale = circumstances.fullScale, let most = acceleration(fullScale: fullScale) {
      // The profile's figure is that at continuous power; full scale gives what the amplifier can.
      let share = Self.continuousShare(of: profile)
      hardware.acceleration = Self.rounded(most * share, places: 3)
      known.insert("acceleration")
    }
    hardware.estimated.removeAll { known.contains($0) }
    if isPoor { hardware.estimated += ["resonance", "quality"] }
    profile.hardware = hardware
    if let latency = circumstances.latency {
      profile.amplifier.latency = Self.rounded(latency, places: 6)
    }
    return profile
  }

  /// The amplitude that continuous power allows, as a part of full scale.
  private static func continuousShare(of profile: TransducerProfile) -> Double {
    // No rate changes the limits.
    let power = profile.transducerSettings(rate: 48_000)?.limits.power ?? 1
    return min(1, (1 / power).squareRoot())
  }

  private static func rounded(_ value: Double, places: Int) -> Double {
    let scale = pow(10, Double(places))
    return (value * scale).rounded() / scale
  }
}
