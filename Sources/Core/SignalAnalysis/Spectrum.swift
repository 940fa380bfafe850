/// How the power of a signal is spread over frequency.
///
/// Welch's method: frames under a Kaiser–Bessel-derived window, each half its length after the one
/// before, with silence around the signal. The windows' squares add up to 1, so that all bins
/// together hold exactly the signal's mean square. The power of a constant offset is in the bin at
/// 0 Hz alone.
public struct Spectrum: Equatable, Sendable {
  /// The middle of each bin in hertz.
  public let frequencies: [Double]
  /// The part of the mean square in each bin, in full scale squared; a full-scale sine has 0.5.
  public let powers: [Double]
  /// Seconds that were measured.
  public let duration: Double

  /// Measures a signal, the mean of the powers of its channels; non-finite samples count as
  /// silence.
  ///
  /// - Parameter window: Seconds of a frame; bins are its inverse apart, or somewhat closer.
  public init(of signal: Signal, window: Double = 0.5) {
    let spectra = (signal.channels.isEmpty ? [[]] : signal.channels).map { samples in
      var measurement = SpectrumMeasurement(rate: signal.rate, window: window)
      measurement.add(NonFiniteSamples.replaced(in: samples).span)
      return measurement.finish()
    }
    self = Spectrum(averaging: spectra) ?? Spectrum(frequencies: [], powers: [], duration: 0)
  }

  /// Makes a spectrum.
  public init(frequencies: [Double], powers: [Double], duration: Double) {
    self.frequencies = frequencies
    self.powers = powers
    self.duration = duration
  }

  /// The mean of spectra of one length and rate, as of a sound's channels; nil for no spectra.
  public init?(averaging spectra: [Spectrum]) {
    guard let first = spectra.first else { return nil }
    var powers = first.powers
    for spectrum in spectra.dropFirst() {
      for bin in powers.indices {
        powers[bin] += spectrum.powers[bin]
      }
    }
    let share = 1 / Double(spectra.count)
    self.init(
      frequencies: first.frequencies, powers: powers.map { $0 * share }, duration: first.duration)
  }

  /// The mean square of the signal.
  public var power: Double { powers.reduce(0, +) }

  /// The mean frequency of what vibrates, weighted by power: a constant offset does not count. Nil
  /// where nothing vibrates.
  public var centroid: Double? {
    let power = powers.dropFirst().reduce(0, +)
    guard power > 0 else { return nil }
    return zip(frequencies, powers).dropFirst().reduce(0) { $0 + $1.0 * $1.1 } / power
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
      if high > low {
        sum += power * (high - low) / (bin.upperBound - bin.lowerBound)
      }
    }
    return sum
  }

  /// The energy between two frequencies: power times seconds.
  public func energy(in band: ClosedRange<Double>) -> Double { power(in: band) * duration }
}

/// Measures the spectrum of a signal of any length block by block, in memory that does not grow.
///
/// All samples must be finite.
public struct SpectrumMeasurement: ~Copyable {
  /// The window's shape: 60 dB down three bins off.
  private static let kaiserBeta = 2.0 * .pi

  private let rate: Double
  private let hop: Int
  private var transform: FourierTransform
  private let window: [Float]
  /// The last half of the frame before and the half that is being filled.
  private var samples: [Float]
  private var filledCount = 0
  private var frame: [Float]
  private var bins: [ComplexNumber]
  private var powerSums: [Double]
  private var sampleCount = 0
  private var sampleSum = 0.0

  /// Starts a measurement.
  ///
  /// - Parameter window: Seconds of a frame, at most 16; bins are its inverse apart, or somewhat
  ///   closer.
  public init(rate: Double, window: Double = 0.5) {
    precondition(rate > 0 && window > 0, "a spectrum needs a positive rate and window")
    let hop = FourierTransform.fastLength(atLeast: Int((min(window, 16) * rate / 2).rounded(.up)))
    self.rate = rate
    self.hop = hop
    transform = FourierTransform(length: 2 * hop)
    self.window = KaiserWindow.kaiserBesselDerived(length: 2 * hop, beta: Self.kaiserBeta)
    samples = [Float](repeating: 0, count: 2 * hop)
    frame = samples
    bins = [ComplexNumber](repeating: ComplexNumber(), count: transform.binCount)
    powerSums = [Double](repeating: 0, count: bins.count)
  }

  /// Takes in the next samples.
  public mutating func add(_ next: Span<Float>) {
    var place = 0
    while place < next.count {
      let count = min(hop - filledCount, next.count - place)
      let first = hop + filledCount
      unsafe samples.withUnsafeMutableBufferPointer { samples in
        for index in 0..<count {
          unsafe samples[first + index] = next[unchecked: place + index]
        }
      }
      filledCount += count
      place += count
      if filledCount == hop {
        measureFrame()
      }
    }
    sampleCount += next.count
    for index in next.indices {
      sampleSum += Double(next[index])
    }
  }

  /// The spectrum of all that was added.
  public consuming func finish() -> Spectrum {
    // The last samples are part of two frames as well.
    for _ in 0..<2 {
      for index in filledCount..<hop {
        samples[hop + index] = 0
      }
      measureFrame()
    }
    // Negative frequencies are the same once more, but for those of 0 Hz and half the rate.
    let scale = 1 / Double(2 * hop) / Double(max(1, sampleCount))
    var powers = powerSums.indices.map { bin in
      powerSums[bin] * scale * (bin == 0 || bin == powerSums.count - 1 ? 1 : 2)
    }
    collectDCLeakage(in: &powers)
    return Spectrum(
      frequencies: powerSums.indices.map { Double($0) * rate / Double(2 * hop) }, powers: powers,
      duration: Double(sampleCount) / rate)
  }

  /// Brings the power of an offset, which the window spreads over low frequencies, back to 0 Hz.
  private mutating func collectDCLeakage(in powers: inout [Double]) {
    let mean = sampleSum / Double(max(1, sampleCount))
    transform.forward(window, into: &bins)
    // Beyond this the window is 100 dB down.
    for bin in 1..<min(16, powers.count) {
      let length = Double(2 * hop)
      let spread = 2 * mean * mean * Double(bins[bin].power) * 2 / (length * length)
      let moved = min(powers[bin], spread)
      powers[bin] -= moved
      powers[0] += moved
    }
  }

  private mutating func measureFrame() {
    Self.multiply(samples, window, into: &frame)
    transform.forward(frame, into: &bins)
    Self.add(bins, to: &powerSums)
    for index in 0..<hop {
      samples[index] = samples[hop + index]
    }
    filledCount = 0
  }

  private static func multiply(_ samples: [Float], _ window: [Float], into frame: inout [Float]) {
    let samples = samples.span
    let window = window.span
    precondition(samples.count == frame.count && window.count == frame.count, "lengths must fit")
    var frame = frame.mutableSpan
    for index in frame.indices {
      unsafe frame[unchecked: index] = samples[unchecked: index] * window[unchecked: index]
    }
  }

  private static func add(_ bins: [ComplexNumber], to sums: inout [Double]) {
    let bins = bins.span
    precondition(bins.count == sums.count, "lengths must fit")
    var sums = sums.mutableSpan
    for index in sums.indices {
      unsafe sums[unchecked: index] += Double(bins[unchecked: index].power)
    }
  }
}
