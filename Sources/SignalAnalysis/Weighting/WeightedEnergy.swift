/// How strongly a body feels a signal.
///
/// The power of each frequency is multiplied by the square of a weighting. The result is relative:
/// what full scale means as acceleration, only the transducer knows.
public struct WeightedEnergy: Equatable, Sendable {
  /// The weighted mean square, in full scale squared.
  public var power: Double
  /// Seconds that were measured.
  public var duration: Double

  /// Weighs a spectrum.
  public init(of spectrum: Spectrum, weighting: VibrotactileWeighting = .hand) {
    power = zip(spectrum.frequencies, spectrum.powers).reduce(0) { sum, bin in
      let gain = weighting.gain(atHertz: bin.0)
      return sum + gain * gain * bin.1
    }
    duration = spectrum.duration
  }

  /// Weighs a signal, the mean of its channels' powers; non-finite samples count as silence.
  public init(of signal: Signal, weighting: VibrotactileWeighting = .hand) {
    self.init(of: Spectrum(of: signal), weighting: weighting)
  }

  /// The weighted RMS value; 1 is full scale.
  public var rms: Double { power.squareRoot() }

  /// The weighted RMS value in dB; a full-scale sine where the weighting is 1 has −3.01.
  public var decibels: Double { Decibels.of(power: power) }

  /// The weighted power times the duration, in full scale squared seconds: silence adds nothing.
  public var energy: Double { power * duration }
}
