internal import CMath
internal import SignalAnalysis

/// The strongest tone of a short frame, by a Fourier transform under a Hann window.
struct ToneSpectrum: ~Copyable {
  private var transform: FourierTransform
  private let window: [Float]
  private let rate: Double
  /// The bins of the band.
  private let binRange: Range<Int>
  private var frame: [Float]
  private var spectrum: [ComplexNumber]

  /// Prepares a transform.
  ///
  /// - Parameters:
  ///   - windowLength: The length of a frame, in samples; at least 8.
  ///   - rate: The sample rate, in hertz.
  ///   - band: The frequencies to search, in hertz.
  init(windowLength: Int, rate: Double, band: ClosedRange<Double>) {
    let count = max(8, windowLength)
    transform = FourierTransform(length: FourierTransform.fastLength(atLeast: max(512, 2 * count)))
    window = (0..<count).map {
      Float(0.5 - 0.5 * cos(2 * .pi * (Double($0) + 0.5) / Double(count)))
    }
    self.rate = rate
    let binWidth = rate / Double(transform.length)
    let first = max(1, Int((band.lowerBound / binWidth).rounded(.up)))
    let end = min(transform.length / 2 - 1, Int(band.upperBound / binWidth) + 1)
    binRange = first..<max(first + 1, end)
    frame = [Float](repeating: 0, count: transform.length)
    spectrum = [ComplexNumber](repeating: ComplexNumber(), count: transform.binCount)
  }

  /// Returns the frequency of the strongest tone, refined by a parabola through the logarithms of
  /// three bins.
  ///
  /// - Parameters:
  ///   - samples: The signal.
  ///   - center: The center of the frame.
  mutating func strongestHertz(in samples: [Float], at center: Int) -> Double {
    let first = center - window.count / 2
    for index in window.indices {
      let position = first + index
      let isInside = position >= 0 && position < samples.count
      frame[index] = isInside ? samples[position] * window[index] : 0
    }
    transform.forward(frame, into: &spectrum)
    var peak = binRange.lowerBound
    var maximumPower = Float(-1)
    for bin in binRange {
      let power = spectrum[bin].power
      if power > maximumPower {
        peak = bin
        maximumPower = power
      }
    }

    func level(_ bin: Int) -> Float { Float(log(Double(spectrum[bin].power) + 1e-24)) }

    let offset = SampleMath.parabolicPeakOffset(level(peak - 1), level(peak), level(peak + 1))
    return (Double(peak) + offset) * rate / Double(transform.length)
  }

  /// Returns the frequency and the amplitude of the strongest tone.
  ///
  /// - Parameters:
  ///   - samples: The signal.
  ///   - center: The center of the frame.
  mutating func strongestTone(in samples: [Float], at center: Int) -> (
    hertz: Double, amplitude: Double
  ) {
    let hertz = strongestHertz(in: samples, at: center)
    // The transform at the exact frequency is more accurate than the nearest bin.
    let phaseIncrement = -2 * .pi * hertz / rate
    var real = 0.0
    var imaginary = 0.0
    var windowSum = 0.0
    for index in window.indices {
      real += Double(frame[index]) * cos(phaseIncrement * Double(index))
      imaginary += Double(frame[index]) * sin(phaseIncrement * Double(index))
      windowSum += Double(window[index])
    }
    return (hertz, 2 * (real * real + imaginary * imaginary).squareRoot() / windowSum)
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
  /// The frequency at each sample.
  private(set) var hertz: [Double]
  private let rate: Double

  /// The maximum correction of the track in each step, in hertz.
  private static let maximumDeviation = 60.0
  /// The maximum correction by `refine(with:)`, in hertz.
  private static let maximumRefinement = 12.0

  /// Tracks the tone of a signal.
  ///
  /// - Parameters:
  ///   - samples: The signal.
  ///   - signal: Its analytic signal.
  ///   - rate: The sample rate, in hertz.
  ///   - dictionary: The dictionary of the profile.
  ///   - timeScale: The factor by which a jump must last longer than by default.
  init(
    of samples: [Float], signal: AnalyticSignal, rate: Double, dictionary: AtomDictionary,
    timeScale: Double
  ) {
    self.rate = rate
    let low = dictionary.toneBand.lowerBound
    let high = dictionary.toneBand.upperBound
    let window = 0.064 * dictionary.timeScale
    let hop = max(1, Int(window / 8 * rate))
    var spectrum = ToneSpectrum(
      windowLength: Int(window * rate), rate: rate, band: 0.6 * low...1.6 * high)
    let coarse = stride(from: 0, to: samples.count + hop, by: hop).map { center in
      Float(spectrum.strongestHertz(in: samples, at: center))
    }
    let smooth = SampleMath.movingMedian(of: coarse, over: 5)
    hertz = samples.indices.map { index in
      let (frame, remainder) = index.quotientAndRemainder(dividingBy: hop)
      let weight = Double(remainder) / Double(hop)
      let next = min(frame + 1, smooth.count - 1)
      return Double(smooth[frame]) * (1 - weight) + Double(smooth[next]) * weight
    }
    let scale = dictionary.timeScale * timeScale
    guard dictionary.overtoneRatios.isEmpty else { return }
    for duration in [0.041, 0.025] {
      let count = Int(duration * scale * rate) | 1
      followPhase(of: signal, over: count, limits: 0.5 * low...2 * high)
    }
  }

  /// Corrects the track by the median of the instantaneous frequency, where there is any sound.
  ///
  /// - Parameters:
  ///   - signal: The analytic signal.
  ///   - count: The length of the median.
  ///   - limits: The range of the corrected track, in hertz.
  private mutating func followPhase(
    of signal: AnalyticSignal, over count: Int, limits: ClosedRange<Double>
  ) {
    let baseband = demodulated(signal)
    let levels = signal.magnitudes
    let minimumLevel = max(1e-9, 0.02 * (levels.max() ?? 0))
    var offsets = [Float](repeating: 0, count: baseband.count)
    var audible: [Int] = []
    for index in baseband.indices.dropFirst() where levels[index] > minimumLevel {
      offsets[index] = frequency(of: baseband[index], after: baseband[index - 1])
      audible.append(index)
    }
    // Silence has the frequency of the nearest audible sample, so that edges are not biased.
    var nearest = 0
    for index in offsets.indices where !audible.isEmpty {
      while nearest + 1 < audible.count,
        abs(audible[nearest + 1] - index) <= abs(audible[nearest] - index)
      {
        nearest += 1
      }
      guard audible[nearest] != index else { continue }
      offsets[index] = offsets[audible[nearest]]
      hertz[index] = hertz[audible[nearest]]
    }
    let smooth = SampleMath.movingMedian(of: offsets, over: count, step: 2)
    for index in hertz.indices {
      let limit = Self.maximumDeviation
      let corrected = hertz[index] + min(limit, max(-limit, Double(smooth[index])))
      hertz[index] = min(limits.upperBound, max(limits.lowerBound, corrected))
    }
  }

  /// Returns the instantaneous frequency between two values, in hertz.
  private func frequency(of value: ComplexNumber, after previous: ComplexNumber) -> Float {
    let step = value * previous.conjugate
    return Float(atan2(Double(step.imaginary), Double(step.real)) * rate / (2 * .pi))
  }

  /// Returns the baseband of the tone, or of a partial.
  ///
  /// - Parameters:
  ///   - signal: The analytic signal.
  ///   - ratio: The ratio of the partial's frequency to the tone's.
  func demodulated(_ signal: AnalyticSignal, ratio: Double = 1) -> [ComplexNumber] {
    rotated(signal.values, by: -ratio)
  }

  /// Returns the signal of a baseband.
  ///
  /// - Parameters:
  ///   - baseband: The demodulated tone or partial.
  ///   - ratio: The ratio of the partial's frequency to the tone's.
  func modulated(_ baseband: [ComplexNumber], ratio: Double = 1) -> [Float] {
    rotated(baseband, by: ratio).map { $0.real }
  }

  private func rotated(_ values: [ComplexNumber], by ratio: Double) -> [ComplexNumber] {
    var phase = 0.0
    return values.indices.map { index in
      phase += ratio * hertz[index] / rate
      phase -= phase.rounded(.down)
      let angle = 2 * .pi * phase
      return values[index] * ComplexNumber(Float(cos(angle)), Float(sin(angle)))
    }
  }

  /// Corrects the track by the mean frequency of a baseband over 30 ms.
  mutating func refine(with baseband: [ComplexNumber]) {
    var offsets = [Float](repeating: 0, count: baseband.count)
    for index in baseband.indices.dropFirst() {
      let step = baseband[index] * baseband[index - 1].conjugate
      if step.power > 0 {
        offsets[index] = frequency(of: baseband[index], after: baseband[index - 1])
      }
    }
    let smooth = SampleMath.movingMean(of: offsets, over: Int(0.03 * rate))
    for index in hertz.indices {
      let limit = Self.maximumRefinement
      hertz[index] += min(limit, max(-limit, Double(smooth[index])))
    }
  }
}
