/// How the power of a signal is spread over frequency.
///
/// Welch's method: frames under a Kaiser–Bessel-derived window, each half its length after the one before, with
/// silence around the signal. The windows' squares add up to 1, so that all bins together hold
/// exactly the signal's mean square. The power of a steady offset stands at 0 Hz alone.
public struct Spectrum: Equatable, Sendable {
  /// The middle of each bin in hertz.
  public let frequencies: [Double]
  /// The part of the mean square in each bin, in full scale squared; a full-scale sine has 0.5.
  public let powers: [Double]
  /// Seconds that were measured.
  public let duration: Double

  /// Measures a signal, the mean of the powers of its channels; non-finite samples count as silence.
  ///
  /// - Parameter window: Seconds of a frame; bins are its inverse apart, or somewhat closer.
  public init(of signal: Signal, window: Double = 0.5) {
    let spectra = (signal.channels.isEmpty ? [[]] : signal.channels).map { samples in
      var measurement = SpectrumMeasurement(rate: signal.rate, window: window)
      measurement.add(NonFiniteSamples.of(samples).span)
      return measurement.finish()
    }
    self = Spectrum(averaging: spectra) ?? Spectrum(frequencies: [], powers: [], duration: 0)
  }

  /// Makes a spectrum.
  ///
  /// - Parameters:
  ///   - frequencies: The middle of each bin in hertz, evenly from 0.
  ///   - powers: The part of the mean square in each bin.
  ///   - duration: Seconds that were measured.
  public init(frequencies: [Double], powers: [Double], duration: Double) {
    self.frequencies = frequencies
    self.powers = powers
    self.duration = duration
  }

  /// The mean of spectra of one length and rate, as of a sound's channels; nothing of none.
  public init?(averaging spectra: [Spectrum]) {
    guard let first = spectra.first else { return nil }
    var powers = first.powers
    for spectrum in spectra.dropFirst() {
      for bin in powers.indices { powers[bin] += spectrum.powers[bin] }
    }
    let share = 1 / Double(spectra.count)
    self.init(
      frequencies: first.frequencies, powers: powers.map { $0 * share }, duration: first.duration)
  }

  /// The mean square of the signal.
  public var power: Double { powers.reduce(0, +) }

  /// The mean frequency, weighted by power; nothing for silence.
  public var centroid: Double? {
    let power = power
    guard power > 0 else { return nil }
    return zip(frequencies, powers).reduce(0) { $0 + $1.0 * $1.1 } / power
  }

  /// The part of the mean square between two frequencies; a bin on the edge counts by its share.
  public func power(in band: ClosedRange<Double>) -> Double {
    guard let nyquist = frequencies.last, frequencies.count > 1 else { return 0 }
    let width = frequencies[1]
    var sum = 0.0
    for (frequency, power) in zip(frequencies, powers) {
      // The first bin and the last are half as wide.
      let bin = max(0, frequency - width / 2)...min(nyquist, frequency + width / 2)
      let low = max(band.lowerBound, bin.lowerBound)
      let high = min(band.upperBound, bin.upperBound)
      if high > low { sum += power * (high - low) / (bin.upperBound - bin.lowerBound) }
    }
    return sum
  }

  /// The energy between two frequencies: power times seconds.
  public func energy(in band: ClosedRange<Double>) -> Double { power(in: band) * duration }
}
