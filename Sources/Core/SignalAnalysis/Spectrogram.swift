internal import CMath

/// The level of a signal over time and frequency.
public struct Spectrogram: Equatable, Sendable {
  /// The minimum level, in decibels; lower levels are raised to this value.
  public static let minimumDecibels = Float(-140)

  /// The times of the frames' centers, in seconds.
  public let frameCenterSeconds: [Double]
  /// The center frequencies of the bins, in hertz.
  public let binHertz: [Double]
  /// The levels by frame and bin, in decibels relative to a full-scale sine.
  public let levelsDecibels: [[Float]]

  /// Measures the spectrogram of the mean of a signal's channels, under Hann windows. Non-finite
  /// samples count as silence.
  ///
  /// - Parameters:
  ///   - signal: The signal to measure.
  ///   - window: The length of a frame, in seconds. Longer frames resolve frequency, shorter frames
  ///     time.
  ///   - step: The interval between frames, in seconds.
  ///   - hertz: The maximum frequency.
  public init(
    of signal: Signal, window: Double = 0.05, step: Double = 0.005, upTo hertz: Double = 500
  ) {
    precondition(window > 0 && step > 0, "a spectrogram needs a positive window and step")
    let monoSamples = signal.mono
    let sampleRate = signal.rate
    // The decimation filter passes up to 0.36 of the lower rate.
    let decimatedSignal = TactileBandSignal(
      of: NonFiniteSamples.zeroingInvalidSamples(in: monoSamples), rate: sampleRate,
      minimumRate: hertz / 0.36)
    let windowSampleCount = max(4, Int((window * decimatedSignal.decimatedRate).rounded()))
    // Zero padding to twice the length puts a bin near every tone.
    var transform = FourierTransform(
      length: FourierTransform.fastLength(atLeast: 2 * windowSampleCount))
    let hannWindow = (0..<windowSampleCount).map { index in
      Float(0.5 - 0.5 * cos(2 * .pi * (Double(index) + 0.5) / Double(windowSampleCount)))
    }
    let binWidthHertz = decimatedSignal.decimatedRate / Double(transform.length)
    let binCount = min(transform.binCount, Int(hertz / binWidthHertz) + 1)
    binHertz = (0..<binCount).map { Double($0) * binWidthHertz }
    let frameCount =
      monoSamples.isEmpty ? 0 : Int(Double(monoSamples.count - 1) / sampleRate / step) + 1
    frameCenterSeconds = (0..<frameCount).map { Double($0) * step }
    let amplitudeScale = 2 / hannWindow.reduce(0, +)
    var windowedFrame = [Float](repeating: 0, count: transform.length)
    var frameBins = [ComplexNumber](repeating: ComplexNumber(), count: transform.binCount)
    var frameLevelsDecibels: [[Float]] = []
    frameLevelsDecibels.reserveCapacity(frameCount)
    let minimumBinPower = powf(10, Self.minimumDecibels / 10)
    for time in frameCenterSeconds {
      let start = Int(
        (time * decimatedSignal.decimatedRate - Double(windowSampleCount - 1) / 2).rounded())
      for index in 0..<windowSampleCount {
        let position = start + index
        windowedFrame[index] =
          decimatedSignal.samples.indices.contains(position)
          ? decimatedSignal.samples[position] * hannWindow[index] : 0
      }
      transform.forward(windowedFrame, into: &frameBins)
      frameLevelsDecibels.append(
        (0..<binCount).map { bin in
          // A DC offset has no counterpart at negative frequencies.
          let factor = bin == 0 ? amplitudeScale / 2 : amplitudeScale
          return 10 * log10f(max(minimumBinPower, frameBins[bin].power * factor * factor))
        })
    }
    levelsDecibels = frameLevelsDecibels
  }
}

/// The power spectral density of the stationary noise in a signal.
package struct NoiseSpectralDensity {
  /// The power of each of 257 bins from 0 to half the rate. For white noise, each is the mean
  /// square of a sample.
  package var binPowers: [Double]

  /// The length of a frame, in samples: 128 ms at 4 kHz.
  package static let frameSampleCount = 512

  /// Estimates the density of noise in samples.
  ///
  /// The frames have 512 samples, overlap by half, and are weighted by a Hann window.
  ///
  /// - Parameters:
  ///   - samples: The signal to measure.
  ///   - quantile: The quantile of each bin's powers over time, divided by that quantile of the
  ///     exponential distribution, which a periodogram of noise has; nil for the mean.
  package init(of samples: [Float], quantile: Double? = 0.5) {
    let windowSampleCount = Self.frameSampleCount
    let hannWindow = (0..<windowSampleCount).map {
      Float(0.5 - 0.5 * cos(2 * .pi * Double($0) / Double(windowSampleCount)))
    }
    let windowPowerScale = 1 / hannWindow.reduce(0.0) { $0 + Double($1) * Double($1) }
    var transform = FourierTransform(length: windowSampleCount)
    var repeatedSamples = samples
    while repeatedSamples.count < 2 * windowSampleCount {
      repeatedSamples += samples.isEmpty ? [0] : samples
    }
    // More frames than a minute's do not improve the estimate.
    let segmentCount = (repeatedSamples.count - windowSampleCount) / (windowSampleCount / 2) + 1
    let segmentHopSampleCount = max(1, segmentCount / 1_024) * (windowSampleCount / 2)
    var powersByBin = [[Float]](repeating: [], count: transform.binCount)
    var windowedSegment = [Float](repeating: 0, count: windowSampleCount)
    for start in stride(
      from: 0, to: repeatedSamples.count - windowSampleCount + 1, by: segmentHopSampleCount)
    {
      for index in 0..<windowSampleCount {
        windowedSegment[index] = repeatedSamples[start + index] * hannWindow[index]
      }
      let bins = transform.forward(windowedSegment)
      for bin in bins.indices {
        powersByBin[bin].append(bins[bin].power)
      }
    }
    binPowers = powersByBin.map { column in
      guard let quantile else {
        return windowPowerScale * column.reduce(0.0) { $0 + Double($1) }
          / Double(max(1, column.count))
      }
      let sorted = column.sorted()
      guard !sorted.isEmpty else { return 0 }
      let position = quantile * Double(sorted.count - 1)
      let low = Int(position)
      let high = min(low + 1, sorted.count - 1)
      let value =
        Double(sorted[low]) + (position - Double(low)) * Double(sorted[high] - sorted[low])
      return windowPowerScale * value / -log(1 - quantile)
    }
  }

  /// The total power of the noise: the mean square of a sample.
  package var totalPower: Double {
    var powerSum = 0.0
    for (index, power) in binPowers.enumerated() {
      powerSum += index == 0 || index == binPowers.count - 1 ? power / 2 : power
    }
    return powerSum / Double(max(1, binPowers.count - 1))
  }

  /// Adds the density of white noise.
  ///
  /// - Parameter power: The mean square of a sample of the white noise.
  package mutating func addWhiteNoise(power: Double) {
    for bin in binPowers.indices {
      binPowers[bin] += power
    }
  }

  /// Returns the power at a normalized frequency: 0 for 0 Hz, 1 for half the sample rate.
  package func power(atNormalizedFrequency frequency: Double) -> Double {
    let binPosition = min(1, max(0, frequency)) * Double(binPowers.count - 1)
    let lowerBin = min(Int(binPosition), binPowers.count - 2)
    return binPowers[lowerBin] + (binPosition - Double(lowerBin))
      * (binPowers[lowerBin + 1] - binPowers[lowerBin])
  }

  /// Returns the filter that whitens the noise: the error of predicting a sample from the preceding
  /// samples.
  ///
  /// The filter is computed by the Levinson–Durbin recursion on the autocorrelation.
  ///
  /// - Returns: `order + 1` taps, the first of which is 1.
  package func whiteningFilter(order: Int = 32) -> [Float] {
    let lastBinIndex = binPowers.count - 1
    var autocorrelations = (0...order).map { lag -> Double in
      var sum = 0.0
      for (bin, power) in binPowers.enumerated() {
        let weight = bin == 0 || bin == lastBinIndex ? 0.5 : 1
        sum += weight * power * cos(.pi * Double(bin * lag) / Double(lastBinIndex))
      }
      return sum / Double(lastBinIndex)
    }
    autocorrelations[0] = autocorrelations[0] * (1 + 1e-6) + 1e-30
    var predictionCoefficients = [1.0] + [Double](repeating: 0, count: order)
    var predictionErrorPower = autocorrelations[0]
    for step in 1...order {
      var sum = autocorrelations[step]
      for index in 1..<step {
        sum += predictionCoefficients[index] * autocorrelations[step - index]
      }
      let reflection = -sum / predictionErrorPower
      var nextTaps = predictionCoefficients
      for index in 1..<step {
        nextTaps[index] += reflection * predictionCoefficients[step - index]
      }
      nextTaps[step] = reflection
      predictionCoefficients = nextTaps
      predictionErrorPower *= max(1e-12, 1 - reflection * reflection)
    }
    return predictionCoefficients.map { Float($0) }
  }
}
