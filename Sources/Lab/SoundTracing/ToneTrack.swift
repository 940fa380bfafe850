internal import CMath
internal import SignalAnalysis

/// Measures the strongest tone in a short frame by a Fourier transform with a Hann window.
struct ToneSpectrum: ~Copyable {
  private var transform: FourierTransform
  private let windowWeights: [Float]
  private let sampleRate: Double
  /// The range of spectral bins in the searched frequency band.
  private let binRange: Range<Int>
  private var windowedFrame: [Float]
  private var frameBins: [ComplexNumber]

  /// Creates a spectrum for frames of one length, which searches one frequency band for tones.
  ///
  /// - Parameters:
  ///   - windowLength: The length of a frame, in samples; at least 8.
  ///   - rate: The sample rate, in hertz.
  ///   - band: The frequencies to search, in hertz.
  init(windowLength: Int, sampleRate rate: Double, band: ClosedRange<Double>) {
    let windowSampleCount = max(8, windowLength)
    transform = FourierTransform(
      length: FourierTransform.fastLength(atLeast: max(512, 2 * windowSampleCount)))
    windowWeights = (0..<windowSampleCount).map {
      Float(0.5 - 0.5 * cos(2 * .pi * (Double($0) + 0.5) / Double(windowSampleCount)))
    }
    self.sampleRate = rate
    let binWidthHertz = rate / Double(transform.length)
    let firstBin = max(1, Int((band.lowerBound / binWidthHertz).rounded(.up)))
    let endBin = min(transform.length / 2 - 1, Int(band.upperBound / binWidthHertz) + 1)
    binRange = firstBin..<max(firstBin + 1, endBin)
    windowedFrame = [Float](repeating: 0, count: transform.length)
    frameBins = [ComplexNumber](repeating: ComplexNumber(), count: transform.binCount)
  }

  /// Returns the frequency of the strongest tone in a frame, in hertz.
  ///
  /// The frequency is refined by a parabola through the logarithms of three bins.
  ///
  /// - Parameters:
  ///   - samples: The signal.
  ///   - center: The center of the frame.
  mutating func strongestHertz(in samples: [Float], at center: Int) -> Double {
    let firstWindowSample = center - windowWeights.count / 2
    for index in windowWeights.indices {
      let position = firstWindowSample + index
      let isInside = position >= 0 && position < samples.count
      windowedFrame[index] = isInside ? samples[position] * windowWeights[index] : 0
    }
    transform.forward(windowedFrame, into: &frameBins)
    var peakBin = binRange.lowerBound
    var maximumPower = Float(-1)
    for bin in binRange {
      let power = frameBins[bin].power
      if power > maximumPower {
        peakBin = bin
        maximumPower = power
      }
    }

    func logLevel(_ bin: Int) -> Float { Float(log(Double(frameBins[bin].power) + 1e-24)) }

    let peakBinOffset = SampleMath.parabolicPeakOffset(
      logLevel(peakBin - 1), logLevel(peakBin), logLevel(peakBin + 1))
    return (Double(peakBin) + peakBinOffset) * sampleRate / Double(transform.length)
  }

  /// Returns the frequency and the amplitude of the strongest tone.
  ///
  /// - Parameters:
  ///   - samples: The signal.
  ///   - center: The center of the frame.
  mutating func strongestTone(in samples: [Float], at center: Int) -> (
    hertz: Double, amplitude: Double
  ) {
    let toneHertz = strongestHertz(in: samples, at: center)
    // The transform at the exact frequency is more accurate than the nearest bin.
    let phaseIncrement = -2 * .pi * toneHertz / sampleRate
    var toneReal = 0.0
    var toneImaginary = 0.0
    var windowWeightSum = 0.0
    for index in windowWeights.indices {
      toneReal += Double(windowedFrame[index]) * cos(phaseIncrement * Double(index))
      toneImaginary += Double(windowedFrame[index]) * sin(phaseIncrement * Double(index))
      windowWeightSum += Double(windowWeights[index])
    }
    return (
      toneHertz,
      2 * (toneReal * toneReal + toneImaginary * toneImaginary).squareRoot() / windowWeightSum
    )
  }
}

/// The frequency of a sustained tone over time.
///
/// 1. The strongest tone of short frames is a coarse track, smoothed by a median and interpolated.
/// 2. The signal is demodulated by the track. The median of its instantaneous frequency, over 41
///    and then 25 ms, corrects the track, which then follows jumps and sweeps.
///
/// With several partials, the phase of the signal is not that of one partial, and only the first
/// step applies.
struct ToneTrack {
  /// The frequency of the tone at each sample, in hertz.
  private(set) var hertzBySample: [Double]
  private let sampleRate: Double

  /// The maximum correction of the track in each phase-based pass, in hertz.
  private static let maximumStepCorrectionHertz = 60.0
  /// The maximum correction by `refine(with:)`, in hertz.
  private static let maximumRefinementHertz = 12.0

  /// Tracks the frequency of the strongest tone in a signal.
  ///
  /// - Parameters:
  ///   - samples: The signal.
  ///   - signal: Its analytic signal.
  ///   - rate: The sample rate, in hertz.
  ///   - dictionary: The dictionary of the profile.
  ///   - timeScale: The factor by which a jump must last longer than by default.
  init(
    of samples: [Float], signal: AnalyticSignal, sampleRate rate: Double,
    dictionary: AtomDictionary,
    timeScale: Double
  ) {
    self.sampleRate = rate
    let minimumHertz = dictionary.toneBandHertz.lowerBound
    let maximumHertz = dictionary.toneBandHertz.upperBound
    let windowSeconds = 0.064 * dictionary.analysisDurationFactor
    let hopSamples = max(1, Int(windowSeconds / 8 * rate))
    var toneSpectrum = ToneSpectrum(
      windowLength: Int(windowSeconds * rate), sampleRate: rate,
      band: 0.6 * minimumHertz...1.6 * maximumHertz)
    let coarseHertz = stride(from: 0, to: samples.count + hopSamples, by: hopSamples).map {
      center in
      Float(toneSpectrum.strongestHertz(in: samples, at: center))
    }
    let smoothedHertz = SampleMath.movingMedian(of: coarseHertz, over: 5)
    hertzBySample = samples.indices.map { index in
      let (frame, remainder) = index.quotientAndRemainder(dividingBy: hopSamples)
      let weight = Double(remainder) / Double(hopSamples)
      let next = min(frame + 1, smoothedHertz.count - 1)
      return Double(smoothedHertz[frame]) * (1 - weight) + Double(smoothedHertz[next]) * weight
    }
    let durationScale = dictionary.analysisDurationFactor * timeScale
    guard dictionary.overtoneFrequencyRatios.isEmpty else { return }
    for duration in [0.041, 0.025] {
      let count = Int(duration * durationScale * rate) | 1
      followPhase(of: signal, over: count, limits: 0.5 * minimumHertz...2 * maximumHertz)
    }
  }

  /// Corrects the track by the moving median of the instantaneous frequency.
  ///
  /// The track is corrected only where the signal is not silent.
  ///
  /// - Parameters:
  ///   - signal: The analytic signal.
  ///   - count: The length of the median.
  ///   - limits: The range of the corrected track, in hertz.
  private mutating func followPhase(
    of signal: AnalyticSignal, over count: Int, limits: ClosedRange<Double>
  ) {
    let baseband = demodulated(signal)
    let signalMagnitudes = signal.magnitudes
    let minimumMagnitude = max(1e-9, 0.02 * (signalMagnitudes.max() ?? 0))
    var frequencyOffsets = [Float](repeating: 0, count: baseband.count)
    var audibleIndices: [Int] = []
    for index in baseband.indices.dropFirst() where signalMagnitudes[index] > minimumMagnitude {
      frequencyOffsets[index] = instantaneousHertz(of: baseband[index], after: baseband[index - 1])
      audibleIndices.append(index)
    }
    // Silence has the frequency of the nearest audible sample, so that edges are not biased.
    var nearestAudibleIndex = 0
    for index in frequencyOffsets.indices where !audibleIndices.isEmpty {
      while nearestAudibleIndex + 1 < audibleIndices.count,
        abs(audibleIndices[nearestAudibleIndex + 1] - index)
          <= abs(audibleIndices[nearestAudibleIndex] - index)
      {
        nearestAudibleIndex += 1
      }
      guard audibleIndices[nearestAudibleIndex] != index else { continue }
      frequencyOffsets[index] = frequencyOffsets[audibleIndices[nearestAudibleIndex]]
      hertzBySample[index] = hertzBySample[audibleIndices[nearestAudibleIndex]]
    }
    let smoothedOffsets = SampleMath.movingMedian(of: frequencyOffsets, over: count, step: 2)
    for index in hertzBySample.indices {
      let limit = Self.maximumStepCorrectionHertz
      let corrected = hertzBySample[index] + min(limit, max(-limit, Double(smoothedOffsets[index])))
      hertzBySample[index] = min(limits.upperBound, max(limits.lowerBound, corrected))
    }
  }

  /// Returns the instantaneous frequency between two consecutive values, in hertz.
  ///
  /// The frequency follows from the phase difference.
  private func instantaneousHertz(of value: ComplexNumber, after previous: ComplexNumber) -> Float {
    let phaseStep = value * previous.conjugate
    return Float(
      atan2(Double(phaseStep.imaginary), Double(phaseStep.real)) * sampleRate / (2 * .pi))
  }

  /// Demodulates the tone, or one of its partials, to baseband.
  ///
  /// - Parameters:
  ///   - signal: The analytic signal.
  ///   - ratio: The ratio of the partial's frequency to the tone's.
  func demodulated(_ signal: AnalyticSignal, ratio: Double = 1) -> [ComplexNumber] {
    phaseRotated(signal.complexSamples, by: -ratio)
  }

  /// Modulates a baseband signal back to the frequency of the tone, or of a partial.
  ///
  /// - Parameters:
  ///   - baseband: The demodulated tone or partial.
  ///   - ratio: The ratio of the partial's frequency to the tone's.
  func modulated(_ baseband: [ComplexNumber], ratio: Double = 1) -> [Float] {
    phaseRotated(baseband, by: ratio).map { $0.real }
  }

  private func phaseRotated(_ values: [ComplexNumber], by ratio: Double) -> [ComplexNumber] {
    var phaseTurns = 0.0
    return values.indices.map { index in
      phaseTurns += ratio * hertzBySample[index] / sampleRate
      phaseTurns -= phaseTurns.rounded(.down)
      let angle = 2 * .pi * phaseTurns
      return values[index] * ComplexNumber(Float(cos(angle)), Float(sin(angle)))
    }
  }

  /// Corrects the track by the moving average of a baseband signal's frequency over 30 ms.
  mutating func refine(with baseband: [ComplexNumber]) {
    var frequencyOffsets = [Float](repeating: 0, count: baseband.count)
    for index in baseband.indices.dropFirst() {
      let step = baseband[index] * baseband[index - 1].conjugate
      if step.power > 0 {
        frequencyOffsets[index] = instantaneousHertz(
          of: baseband[index], after: baseband[index - 1])
      }
    }
    let smoothedOffsets = SampleMath.movingMean(of: frequencyOffsets, over: Int(0.03 * sampleRate))
    for index in hertzBySample.indices {
      let limit = Self.maximumRefinementHertz
      hertzBySample[index] += min(limit, max(-limit, Double(smoothedOffsets[index])))
    }
  }
}
