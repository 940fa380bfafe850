internal import CMath

/// How the power of a signal is spread over frequency.
///
/// Welch's method: frames under a Kaiser–Bessel-derived window, each half its length after the one before, with
/// silence around the signal. The windows' squares add up to 1, so that all bins together hold
/// exactly the signal's mean square. The power of a constant offset is in the bin at 0 Hz alone.
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
  public init(frequencies: [Double], powers: [Double], duration: Double) {
    (self.frequencies, self.powers, self.duration) = (frequencies, powers, duration)
  }

  /// The mean of spectra of one length and rate, as of a sound's channels; nil for no spectra.
  public init?(averaging spectra: [Spectrum]) {
    guard let first = spectra.first else { return nil }
    var powers = first.powers
    for spectrum in spectra.dropFirst() { for bin in powers.indices { powers[bin] += spectrum.powers[bin] } }
    let share = 1 / Double(spectra.count)
    self.init(frequencies: first.frequencies, powers: powers.map { $0 * share }, duration: first.duration)
  }

  /// The mean square of the signal.
  public var power: Double { powers.reduce(0, +) }

  /// The mean frequency of what vibrates, weighted by power: a constant offset does not count. Nil where nothing vibrates.
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
      if high > low { sum += power * (high - low) / (bin.upperBound - bin.lowerBound) }
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
  private static let beta = 2.0 * .pi

  private let rate: Double
  private let hop: Int
  private var transform: FourierTransform
  private let window: [Float]
  /// The last half of the frame before and the half that is being filled.
  private var samples: [Float]
  private var filled = 0
  private var frame: [Float]
  private var bins: [ComplexNumber]
  private var sums: [Double]
  private var sampleCount = 0
  private var total = 0.0

  /// Starts a measurement.
  ///
  /// - Parameter window: Seconds of a frame, at most 16; bins are its inverse apart, or somewhat closer.
  public init(rate: Double, window: Double = 0.5) {
    precondition(rate > 0 && window > 0, "a spectrum needs a positive rate and window")
    let hop = FourierTransform.fastLength(atLeast: Int((min(window, 16) * rate / 2).rounded(.up)))
    (self.rate, self.hop) = (rate, hop)
    transform = FourierTransform(length: 2 * hop)
    self.window = KaiserWindow.derived(length: 2 * hop, beta: Self.beta)
    samples = [Float](repeating: 0, count: 2 * hop)
    frame = samples
    bins = [ComplexNumber](repeating: ComplexNumber(), count: transform.binCount)
    sums = [Double](repeating: 0, count: bins.count)
  }

  /// Takes in the next samples.
  public mutating func add(_ next: Span<Float>) {
    var place = 0
    while place < next.count {
      let count = min(hop - filled, next.count - place)
      let first = hop + filled
      unsafe samples.withUnsafeMutableBufferPointer { samples in
        for index in 0..<count { unsafe samples[first + index] = next[unchecked: place + index] }
      }
      filled += count
      place += count
      if filled == hop { measure() }
    }
    sampleCount += next.count
    for index in next.indices { total += Double(next[index]) }
  }

  /// The spectrum of all that was added.
  public consuming func finish() -> Spectrum {
    // The last samples are part of two frames as well.
    for _ in 0..<2 {
      for index in filled..<hop { samples[hop + index] = 0 }
      measure()
    }
    // Negative frequencies are the same once more, but for those of 0 Hz and half the rate.
    let scale = 1 / Double(2 * hop) / Double(max(1, sampleCount))
    var powers = sums.indices.map { bin in sums[bin] * scale * (bin == 0 || bin == sums.count - 1 ? 1 : 2) }
    gatherOffset(&powers)
    return Spectrum(
      frequencies: sums.indices.map { Double($0) * rate / Double(2 * hop) }, powers: powers,
      duration: Double(sampleCount) / rate)
  }

  /// Brings the power of an offset, which the window spreads over low frequencies, back to 0 Hz.
  private mutating func gatherOffset(_ powers: inout [Double]) {
    let mean = total / Double(max(1, sampleCount))
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

  private mutating func measure() {
    Self.multiply(samples, window, into: &frame)
    transform.forward(frame, into: &bins)
    Self.add(bins, to: &sums)
    for index in 0..<hop { samples[index] = samples[hop + index] }
    filled = 0
  }

  private static func multiply(_ samples: [Float], _ window: [Float], into frame: inout [Float]) {
    let (samples, window) = (samples.span, window.span)
    precondition(samples.count == frame.count && window.count == frame.count, "lengths must fit")
    var frame = frame.mutableSpan
    for index in frame.indices { unsafe frame[unchecked: index] = samples[unchecked: index] * window[unchecked: index] }
  }

  private static func add(_ bins: [ComplexNumber], to sums: inout [Double]) {
    let bins = bins.span
    precondition(bins.count == sums.count, "lengths must fit")
    var sums = sums.mutableSpan
    for index in sums.indices { unsafe sums[unchecked: index] += Double(bins[unchecked: index].power) }
  }
}

/// The level of a signal over time and frequency.
public struct Spectrogram: Equatable, Sendable {
  /// Less than this is shown as this.
  public static let floor = Float(-140)

  /// The middles of frames in seconds, and those of bins in hertz.
  public let frameTimes, frequencies: [Double]
  /// Levels by frame and bin, in dB re a full-scale sine.
  public let decibels: [[Float]]

  /// Measures the mean of a signal's channels under Hann windows; non-finite samples count as silence.
  ///
  /// - Parameters:
  ///   - window: Seconds that one frame looks at: longer frames resolve frequency, shorter ones time.
  ///   - step: Seconds between frames.
  ///   - hertz: The highest frequency of interest.
  public init(of signal: Signal, window: Double = 0.05, step: Double = 0.005, upTo hertz: Double = 500) {
    precondition(window > 0 && step > 0, "a spectrogram needs a positive window and step")
    let (samples, rate) = (signal.mono, signal.rate)
    // 0.36 of the lower rate passes unharmed.
    let low = TactileBandSignal(of: NonFiniteSamples.of(samples), rate: rate, least: hertz / 0.36)
    let length = max(4, Int((window * low.rate).rounded()))
    // Twice the length puts a bin next to every tone.
    var transform = FourierTransform(length: FourierTransform.fastLength(atLeast: 2 * length))
    let shape = (0..<length).map { index in Float(0.5 - 0.5 * cos(2 * .pi * (Double(index) + 0.5) / Double(length))) }
    let width = low.rate / Double(transform.length)
    let binCount = min(transform.binCount, Int(hertz / width) + 1)
    frequencies = (0..<binCount).map { Double($0) * width }
    let frameCount = samples.isEmpty ? 0 : Int(Double(samples.count - 1) / rate / step) + 1
    frameTimes = (0..<frameCount).map { Double($0) * step }
    let scale = 2 / shape.reduce(0, +)
    var frame = [Float](repeating: 0, count: transform.length)
    var bins = [ComplexNumber](repeating: ComplexNumber(), count: transform.binCount)
    var levels: [[Float]] = []
    levels.reserveCapacity(frameCount)
    let least = powf(10, Self.floor / 10)
    for time in frameTimes {
      let start = Int((time * low.rate - Double(length - 1) / 2).rounded())
      for index in 0..<length {
        let place = start + index
        frame[index] = low.samples.indices.contains(place) ? low.samples[place] * shape[index] : 0
      }
      transform.forward(frame, into: &bins)
      levels.append(
        (0..<binCount).map { bin in
          // An offset has no negative frequency to be counted with.
          let factor = bin == 0 ? scale / 2 : scale
          return 10 * log10f(max(least, bins[bin].power * factor * factor))
        })
    }
    decibels = levels
  }
}

/// The power density of what goes on all the time in a signal.
package struct NoiseSpectrum {
  /// Power of each of 257 bins from 0 to half the rate: the mean square of a sample where it is white.
  package var powers: [Double]

  /// Samples of a frame: 128 ms at 4 kHz.
  package static let frame = 512

  /// Measures frames of 512 samples, half overlapped, under a Hann window.
  /// - Parameter quantile: Which of a bin's values over time counts, divided by what an exponential
  ///   law, that of a periodogram, makes of it; nil for the mean.
  package init(of samples: [Float], quantile: Double? = 0.5) {
    let frame = Self.frame
    let window = (0..<frame).map { Float(0.5 - 0.5 * cos(2 * .pi * Double($0) / Double(frame))) }
    let scale = 1 / window.reduce(0.0) { $0 + Double($1) * Double($1) }
    var transform = FourierTransform(length: frame)
    var padded = samples
    while padded.count < 2 * frame { padded += samples.isEmpty ? [0] : samples }
    // Ten minutes of frames would say no more than a minute's.
    let count = (padded.count - frame) / (frame / 2) + 1
    let step = max(1, count / 1_024) * (frame / 2)
    var columns = [[Float]](repeating: [], count: transform.binCount)
    var part = [Float](repeating: 0, count: frame)
    for start in stride(from: 0, to: padded.count - frame + 1, by: step) {
      for index in 0..<frame { part[index] = padded[start + index] * window[index] }
      let bins = transform.forward(part)
      for bin in bins.indices { columns[bin].append(bins[bin].power) }
    }
    powers = columns.map { column in
      guard let quantile else { return scale * column.reduce(0.0) { $0 + Double($1) } / Double(max(1, column.count)) }
      let sorted = column.sorted()
      guard !sorted.isEmpty else { return 0 }
      let place = quantile * Double(sorted.count - 1)
      let low = Int(place)
      let high = min(low + 1, sorted.count - 1)
      let value = Double(sorted[low]) + (place - Double(low)) * Double(sorted[high] - sorted[low])
      return scale * value / -log(1 - quantile)
    }
  }

  /// The mean square of a sample.
  package var power: Double {
    var sum = 0.0
    for (index, power) in powers.enumerated() { sum += index == 0 || index == powers.count - 1 ? power / 2 : power }
    return sum / Double(max(1, powers.count - 1))
  }

  /// The power at a place from 0, for 0 Hz, to 1, for half the rate.
  package func power(at place: Double) -> Double {
    let position = min(1, max(0, place)) * Double(powers.count - 1)
    let low = min(Int(position), powers.count - 2)
    return powers[low] + (position - Double(low)) * (powers[low + 1] - powers[low])
  }

  /// The filter that makes the noise white: the error of predicting a sample from the last ones.
  ///
  /// The Levinson–Durbin recursion on the autocorrelation of the spectrum.
  ///
  /// - Returns: `order + 1` taps, the first 1.
  package func whitener(order: Int = 32) -> [Float] {
    let last = powers.count - 1
    var correlations = (0...order).map { lag -> Double in
      var sum = 0.0
      for (bin, power) in powers.enumerated() {
        let weight = bin == 0 || bin == last ? 0.5 : 1
        sum += weight * power * cos(.pi * Double(bin * lag) / Double(last))
      }
      return sum / Double(last)
    }
    correlations[0] = correlations[0] * (1 + 1e-6) + 1e-30
    var taps = [1.0] + [Double](repeating: 0, count: order)
    var error = correlations[0]
    for step in 1...order {
      var sum = correlations[step]
      for index in 1..<step { sum += taps[index] * correlations[step - index] }
      let reflection = -sum / error
      var next = taps
      for index in 1..<step { next[index] += reflection * taps[step - index] }
      next[step] = reflection
      taps = next
      error *= max(1e-12, 1 - reflection * reflection)
    }
    return taps.map { Float($0) }
  }
}
