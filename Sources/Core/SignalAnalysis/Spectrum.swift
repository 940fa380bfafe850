/// The power spectrum of a signal.
///
/// The spectrum is measured by Welch's method, with silence around the signal. Frames overlap by
/// half under a Kaiser–Bessel-derived window. The windows' squares add up to 1, so that all bins
/// together have exactly the signal's mean square. The power of a DC offset is only in the bin at 0
/// Hz.
public struct Spectrum: Equatable, Sendable {
  /// The center frequency of each bin, in hertz.
  public let binHertz: [Double]
  /// The part of the signal's mean square in each bin, relative to full scale squared.
  ///
  /// All bins of a full-scale sine add up to 0.5.
  public let binPowers: [Double]
  /// The duration of the measured signal, in seconds.
  public let durationSeconds: Double

  /// Measures the spectrum of a signal: the mean power of its channels. Non-finite samples count as
  /// silence.
  ///
  /// - Parameters:
  ///   - signal: The signal to measure.
  ///   - window: The length of a frame, in seconds. The distance of bins is its inverse or slightly
  ///     less.
  public init(of signal: Signal, window: Double = 0.5) {
    let channelSpectra = (signal.channels.isEmpty ? [[]] : signal.channels).map { samples in
      var measurement = SpectrumMeasurement(rate: signal.rate, windowWeights: window)
      measurement.add(NonFiniteSamples.zeroingInvalidSamples(in: samples).span)
      return measurement.measuredSpectrum()
    }
    self =
      Spectrum(averaging: channelSpectra)
      ?? Spectrum(binHertz: [], binPowers: [], durationSeconds: 0)
  }

  /// Creates a spectrum from the powers of bins and the measured duration.
  ///
  /// - Parameters:
  ///   - frequencies: The center of each bin in hertz, evenly spaced from 0.
  ///   - powers: The mean square in each bin.
  ///   - duration: The duration that was measured, in seconds.
  public init(
    binHertz frequencies: [Double], binPowers powers: [Double], durationSeconds duration: Double
  ) {
    self.binHertz = frequencies
    self.binPowers = powers
    self.durationSeconds = duration
  }

  /// Averages spectra of equal length and rate, such as those of a sound's channels.
  ///
  /// Returns nil for no spectra.
  public init?(averaging spectra: [Spectrum]) {
    guard let firstSpectrum = spectra.first else { return nil }
    var binPowerSums = firstSpectrum.binPowers
    for spectrum in spectra.dropFirst() {
      for bin in binPowerSums.indices {
        binPowerSums[bin] += spectrum.binPowers[bin]
      }
    }
    let spectrumWeight = 1 / Double(spectra.count)
    self.init(
      binHertz: firstSpectrum.binHertz, binPowers: binPowerSums.map { $0 * spectrumWeight },
      durationSeconds: firstSpectrum.durationSeconds)
  }

  /// The mean square of the signal.
  public var totalPower: Double { binPowers.reduce(0, +) }

  /// The mean frequency, weighted by power and without the DC offset, in hertz.
  ///
  /// It is nil if there is no vibration.
  public var centroidHertz: Double? {
    let totalPowerWithoutDC = binPowers.dropFirst().reduce(0, +)
    guard totalPowerWithoutDC > 0 else { return nil }
    return zip(binHertz, binPowers).dropFirst().reduce(0) { $0 + $1.0 * $1.1 } / totalPowerWithoutDC
  }

  /// Returns the signal's mean square between two frequencies. A bin at an edge counts in
  /// proportion to its overlap with the range.
  public func power(in band: ClosedRange<Double>) -> Double {
    guard let nyquistHertz = binHertz.last, binHertz.count > 1 else { return 0 }
    let binWidthHertz = binHertz[1]
    var bandPower = 0.0
    for (frequency, power) in zip(binHertz, binPowers) {
      // The first and last bins are half as wide.
      let bin =
        max(0, frequency - binWidthHertz / 2)...min(nyquistHertz, frequency + binWidthHertz / 2)
      let low = max(band.lowerBound, bin.lowerBound)
      let high = min(band.upperBound, bin.upperBound)
      if high > low {
        bandPower += power * (high - low) / (bin.upperBound - bin.lowerBound)
      }
    }
    return bandPower
  }

  /// Returns the signal's energy between two frequencies: power times duration in seconds.
  public func energy(in band: ClosedRange<Double>) -> Double { power(in: band) * durationSeconds }
}

/// Measures the spectrum of a signal of any length, block by block.
///
/// The memory does not grow with the signal. All samples must be finite.
public struct SpectrumMeasurement: ~Copyable {
  /// The shape parameter of the Kaiser window, for a response of −60 dB three bins away.
  private static let kaiserBeta = 2.0 * .pi

  private let rate: Double
  private let hopFrameCount: Int
  private var transform: FourierTransform
  private let windowWeights: [Float]
  /// A buffer with the last half of the previous frame, followed by the half that is being filled.
  private var pendingSamples: [Float]
  private var pendingSampleCount = 0
  private var windowedFrame: [Float]
  private var bins: [ComplexNumber]
  private var powerSums: [Double]
  private var sampleCount = 0
  private var sampleSum = 0.0

  /// Starts a measurement with a window duration in seconds at a sample rate.
  ///
  /// - Parameters:
  ///   - rate: The sample rate, in hertz.
  ///   - window: The length of a frame in seconds, at most 16. The distance of bins is its inverse
  ///     or slightly less.
  public init(rate: Double, windowWeights window: Double = 0.5) {
    precondition(rate > 0 && window > 0, "a spectrum needs a positive rate and window")
    let halfWindowFrameCount = FourierTransform.fastLength(
      atLeast: Int((min(window, 16) * rate / 2).rounded(.up)))
    self.rate = rate
    self.hopFrameCount = halfWindowFrameCount
    transform = FourierTransform(length: 2 * halfWindowFrameCount)
    self.windowWeights = KaiserWindow.kaiserBesselDerived(
      length: 2 * halfWindowFrameCount, beta: Self.kaiserBeta)
    pendingSamples = [Float](repeating: 0, count: 2 * halfWindowFrameCount)
    windowedFrame = pendingSamples
    bins = [ComplexNumber](repeating: ComplexNumber(), count: transform.binCount)
    powerSums = [Double](repeating: 0, count: bins.count)
  }

  /// Adds the next samples of the signal.
  public mutating func add(_ samples: Span<Float>) {
    var consumedSampleCount = 0
    while consumedSampleCount < samples.count {
      let count = min(hopFrameCount - pendingSampleCount, samples.count - consumedSampleCount)
      let first = hopFrameCount + pendingSampleCount
      unsafe self.pendingSamples.withUnsafeMutableBufferPointer { buffer in
        for index in 0..<count {
          unsafe buffer[first + index] = samples[unchecked: consumedSampleCount + index]
        }
      }
      pendingSampleCount += count
      consumedSampleCount += count
      if pendingSampleCount == hopFrameCount {
        measureFrame()
      }
    }
    sampleCount += samples.count
    for index in samples.indices {
      sampleSum += Double(samples[index])
    }
  }

  /// Returns the spectrum of all samples that were added.
  public consuming func measuredSpectrum() -> Spectrum {
    // The last samples are part of two frames.
    for _ in 0..<2 {
      for index in pendingSampleCount..<hopFrameCount {
        pendingSamples[hopFrameCount + index] = 0
      }
      measureFrame()
    }
    // All bins have a counterpart at negative frequencies, except those at 0 Hz and at half the
    // rate.
    let powerScale = 1 / Double(2 * hopFrameCount) / Double(max(1, sampleCount))
    var scaledBinPowers = powerSums.indices.map { bin in
      powerSums[bin] * powerScale * (bin == 0 || bin == powerSums.count - 1 ? 1 : 2)
    }
    moveDCLeakageToFirstBin(in: &scaledBinPowers)
    return Spectrum(
      binHertz: powerSums.indices.map { Double($0) * rate / Double(2 * hopFrameCount) },
      binPowers: scaledBinPowers,
      durationSeconds: Double(sampleCount) / rate)
  }

  /// Moves the power of a DC offset, which the window spreads over low frequencies, back to 0 Hz.
  private mutating func moveDCLeakageToFirstBin(in powers: inout [Double]) {
    let sampleMean = sampleSum / Double(max(1, sampleCount))
    transform.forward(windowWeights, into: &bins)
    // Beyond 16 bins, the window is below −100 dB.
    for bin in 1..<min(16, powers.count) {
      let length = Double(2 * hopFrameCount)
      let leakage = 2 * sampleMean * sampleMean * Double(bins[bin].power) * 2 / (length * length)
      let corrected = min(powers[bin], leakage)
      powers[bin] -= corrected
      powers[0] += corrected
    }
  }

  private mutating func measureFrame() {
    Self.applyWindow(pendingSamples, windowWeights, into: &windowedFrame)
    transform.forward(windowedFrame, into: &bins)
    Self.addPowers(of: bins, to: &powerSums)
    for index in 0..<hopFrameCount {
      pendingSamples[index] = pendingSamples[hopFrameCount + index]
    }
    pendingSampleCount = 0
  }

  private static func applyWindow(_ samples: [Float], _ window: [Float], into frame: inout [Float])
  {
    let samplesSpan = samples.span
    let windowSpan = window.span
    precondition(
      samplesSpan.count == frame.count && windowSpan.count == frame.count, "lengths must fit")
    var frameSpan = frame.mutableSpan
    for index in frameSpan.indices {
      unsafe frameSpan[unchecked: index] =
        samplesSpan[unchecked: index] * windowSpan[unchecked: index]
    }
  }

  private static func addPowers(of bins: [ComplexNumber], to sums: inout [Double]) {
    let binsSpan = bins.span
    precondition(binsSpan.count == sums.count, "lengths must fit")
    var sumsSpan = sums.mutableSpan
    for index in sumsSpan.indices {
      unsafe sumsSpan[unchecked: index] += Double(binsSpan[unchecked: index].power)
    }
  }
}
