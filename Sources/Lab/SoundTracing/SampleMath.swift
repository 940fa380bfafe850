internal import CMath
internal import SignalAnalysis

/// What is done to whole arrays of samples.
enum SampleMath {
  /// The sum of squares of a range.
  static func energy(of samples: [Float], in range: Range<Int>) -> Float {
    var sum = Float(0)
    for index in range.clamped(to: samples.indices) {
      sum += samples[index] * samples[index]
    }
    return sum
  }

  /// The mean within a window that is centred on each sample; ends are held.
  static func movingMean(of samples: [Float], over count: Int) -> [Float] {
    guard let first = samples.first, let last = samples.last, count > 1 else { return samples }
    let half = count / 2
    // Sums of Doubles, so that a loud beginning leaves nothing behind.
    var sum = Double(first) * Double(half + 1)
    for index in 0..<half {
      sum += Double(index < samples.count ? samples[index] : last)
    }
    let width = 2 * half + 1
    return samples.indices.map { index in
      sum += Double(index + half < samples.count ? samples[index + half] : last)
      let mean = Float(sum / Double(width))
      sum -= Double(index - half >= 0 ? samples[index - half] : first)
      return mean
    }
  }

  /// The median within a window that is centred on each sample; ends are held.
  ///
  /// - Parameter step: Only every so many samples are looked at; lines stand between.
  static func movingMedian(of samples: [Float], over count: Int, step: Int = 1) -> [Float] {
    guard let first = samples.first, let last = samples.last, count > 1 else { return samples }
    let half = count / 2 / step
    func sample(_ index: Int) -> Float {
      index < 0 ? first : index < samples.count ? samples[index] : last
    }
    var window = (-half...half).map { sample(step * $0) }.sorted()
    var medians = samples
    for index in stride(from: 0, to: samples.count, by: step) {
      medians[index] = window[half]
      for between in max(0, index - step + 1)..<index {
        let share = Float(index - between) / Float(step)
        medians[between] = medians[index - step] * share + medians[index] * (1 - share)
      }
      let old = sample(index - step * half)
      let new = sample(index + step * (half + 1))
      guard old != new else { continue }
      // What lies between the old place and the new one moves by one.
      var place = firstIndex(of: old, in: window)
      while new > old, place + 1 < window.count, window[place + 1] < new {
        window[place] = window[place + 1]
        place += 1
      }
      while new < old, place > 0, window[place - 1] > new {
        window[place] = window[place - 1]
        place -= 1
      }
      window[place] = new
    }
    return medians
  }

  private static func firstIndex(of value: Float, in sorted: [Float]) -> Int {
    var low = 0
    var high = sorted.count - 1
    while low < high {
      let middle = (low + high) / 2
      if sorted[middle] < value {
        low = middle + 1
      } else {
        high = middle
      }
    }
    return low
  }

  /// The least or greatest within a window that is centred on each sample; O(n).
  static func slidingExtreme(
    of samples: [Float], over count: Int, by isBetter: (Float, Float) -> Bool
  )
    -> [Float]
  {
    let half = count / 2
    var queue: [Int] = []
    var head = 0
    var next = 0
    return samples.indices.map { index in
      while next < min(samples.count, index + half + 1) {
        while queue.count > head, let last = queue.last, !isBetter(samples[last], samples[next]) {
          queue.removeLast()
        }
        queue.append(next)
        next += 1
      }
      while queue[head] < index - half {
        head += 1
      }
      return samples[queue[head]]
    }
  }

  /// What is left of a level without peaks that are narrower than a window.
  static func opening(of samples: [Float], over count: Int) -> [Float] {
    slidingExtreme(of: slidingExtreme(of: samples, over: count, by: <), over: count, by: >)
  }

  /// The segments in which something holds, gaps shorter than some closed.
  static func segments(_ count: Int, closing gap: Int, where holds: (Int) -> Bool) -> [Range<Int>] {
    var found: [Range<Int>] = []
    var index = 0
    while index < count {
      guard holds(index) else {
        index += 1
        continue
      }
      let start = index
      while index < count, holds(index) {
        index += 1
      }
      if let last = found.last, start - last.upperBound < gap {
        found[found.count - 1] = last.lowerBound..<index
      } else {
        found.append(start..<index)
      }
    }
    return found
  }

  /// The places that are greater than their neighbours, the strongest of those closer than a
  /// distance.
  static func peaks(of samples: [Float], minimumDistance distance: Int, where counts: (Int) -> Bool)
    -> [Int]
  {
    let greatest = slidingExtreme(of: samples, over: 2 * distance - 1, by: >)
    var last = -distance
    return samples.indices.filter { index in
      guard samples[index] == greatest[index], samples[index] > 0, index - last >= distance,
        counts(index)
      else {
        return false
      }
      last = index
      return true
    }
  }

  /// The value under which a share of all lies.
  static func quantile(of values: [Float], _ share: Double) -> Float {
    guard !values.isEmpty else { return 0 }
    return values.sorted()[min(values.count - 1, Int(share * Double(values.count)))]
  }

  /// The place of a parabola's top beside the middle of three values, −½…½.
  static func parabolicPeakOffset(_ before: Float, _ at: Float, _ behind: Float) -> Double {
    let bend = Double(before) - 2 * Double(at) + Double(behind)
    guard bend < 0 else { return 0 }
    return min(0.5, max(-0.5, 0.5 * (Double(before) - Double(behind)) / bend))
  }
}

/// A filter of second order, by the bilinear transform (R. Bristow-Johnson, Audio EQ Cookbook).
struct Biquad {
  private var b0 = Float(1)
  private var b1 = Float(0)
  private var b2 = Float(0)
  private var a1 = Float(0)
  private var a2 = Float(0)

  /// - Parameters:
  ///   - hertz: The corner, below half the rate.
  ///   - isHighPass: Whether what lies above passes.
  init(hertz: Double, isHighPass: Bool, rate: Double) {
    let angle = 2 * .pi * min(hertz, 0.49 * rate) / rate
    let cosine = cos(angle)
    let alpha = sin(angle) / 2.0.squareRoot()
    let gain = (isHighPass ? 1 + cosine : 1 - cosine) / 2 / (1 + alpha)
    b0 = Float(gain)
    b1 = Float(isHighPass ? -2 * gain : 2 * gain)
    b2 = Float(gain)
    a1 = Float(-2 * cosine / (1 + alpha))
    a2 = Float((1 - alpha) / (1 + alpha))
  }

  /// The filtered samples, from silence.
  func filtered(_ samples: [Float]) -> [Float] {
    var first = Float(0)
    var second = Float(0)
    return samples.map { sample in
      let output = b0 * sample + first
      first = b1 * sample - a1 * output + second
      second = b2 * sample - a2 * output
      return output
    }
  }

  /// The samples filtered forwards and backwards, so that nothing is delayed.
  func zeroPhaseFiltered(_ samples: [Float]) -> [Float] {
    filtered(filtered(samples).reversed()).reversed()
  }
}

/// A signal with its quarter turn: a tone's amplitude and phase at each sample.
struct AnalyticSignal {
  var values: [ComplexNumber]

  /// By one transform of the whole, which is followed by silence.
  init(of samples: [Float], padding silence: Int) {
    var transform = FourierTransform(
      length: FourierTransform.fastLength(atLeast: samples.count + silence))
    var bins = transform.forward(samples)
    for index in bins.indices {
      bins[index] = ComplexNumber(bins[index].imaginary, -bins[index].real)
    }
    bins[0] = ComplexNumber()
    let turned = transform.backward(bins)
    values = samples.indices.map { ComplexNumber(samples[$0], turned[$0]) }
  }

  var magnitudes: [Float] { values.map { $0.power.squareRoot() } }
}

/// A sound at the low rate of the analysis, with silence around it and without what is below all
/// hums.
struct AnalysisSignal {
  let samples: [Float]
  let rate: Double
  /// Samples of silence in front.
  let leadLength: Int

  /// Seconds of silence on both ends.
  private static let leadDuration = 0.15

  /// The rate at which a sound is analysed: eight frames in a period of the highest frequency and
  /// 2,000 a second, where the sound has as many.
  static func analysisRate(for rate: Double, highestHertz highest: Double) -> Double {
    rate / max(1, (rate / min(48_000, max(2_000, 8 * highest))).rounded(.down))
  }

  /// - Parameter target: The rate of the analysis.
  init(_ sound: [Float], rate: Double, targetRate target: Double, lowestHertz lowest: Double) {
    let edge = Int(Self.leadDuration * rate)
    let padding = [Float](repeating: 0, count: edge)
    let low = TactileBandSignal(
      of: padding + sound + padding, rate: rate, minimumRate: target * 0.99)
    self.rate = low.rate
    self.leadLength = Int((Double(edge) / rate * low.rate).rounded())
    samples = Self.highPass(lowestHertz: lowest, rate: low.rate).zeroPhaseFiltered(low.samples)
  }

  /// A corner at a fifth of the lowest frequency: a higher one rings before onsets.
  static func highPass(lowestHertz lowest: Double, rate: Double) -> Biquad {
    Biquad(hertz: max(6, 0.2 * lowest), isHighPass: true, rate: rate)
  }
}

/// The strongest tone of a short segment, by a transform under a Hann window.
struct ToneSpectrum: ~Copyable {
  private var transform: FourierTransform
  private let window: [Float]
  private let rate: Double
  private let binRange: Range<Int>
  private var frame: [Float]
  private var spectrum: [ComplexNumber]

  init(windowLength count: Int, rate: Double, band: ClosedRange<Double>) {
    let count = max(8, count)
    transform = FourierTransform(length: FourierTransform.fastLength(atLeast: max(512, 2 * count)))
    window = (0..<count).map {
      Float(0.5 - 0.5 * cos(2 * .pi * (Double($0) + 0.5) / Double(count)))
    }
    self.rate = rate
    let step = rate / Double(transform.length)
    let first = max(1, Int((band.lowerBound / step).rounded(.up)))
    binRange =
      first..<max(first + 1, min(transform.length / 2 - 1, Int(band.upperBound / step) + 1))
    frame = [Float](repeating: 0, count: transform.length)
    spectrum = [ComplexNumber](repeating: ComplexNumber(), count: transform.binCount)
  }

  /// The frequency of the strongest tone, by a parabola through logarithms.
  mutating func strongestHertz(in samples: [Float], at center: Int) -> Double {
    let first = center - window.count / 2
    for index in window.indices {
      let place = first + index
      frame[index] = place >= 0 && place < samples.count ? samples[place] * window[index] : 0
    }
    transform.forward(frame, into: &spectrum)
    var best = binRange.lowerBound
    var greatest = Float(-1)
    for bin in binRange {
      let power = spectrum[bin].power
      if power > greatest {
        best = bin
        greatest = power
      }
    }
    func level(_ bin: Int) -> Float { Float(log(Double(spectrum[bin].power) + 1e-24)) }
    let place =
      Double(best) + SampleMath.parabolicPeakOffset(level(best - 1), level(best), level(best + 1))
    return place * rate / Double(transform.length)
  }

  /// The frequency and the amplitude of the strongest tone.
  mutating func strongestTone(in samples: [Float], at center: Int) -> (
    hertz: Double, amplitude: Double
  ) {
    let hertz = strongestHertz(in: samples, at: center)
    // The tone itself, turned back, is better than the height of a bin.
    let turn = -2 * .pi * hertz / rate
    var real = 0.0
    var imaginary = 0.0
    var sum = 0.0
    for index in window.indices {
      real += Double(frame[index]) * cos(turn * Double(index))
      imaginary += Double(frame[index]) * sin(turn * Double(index))
      sum += Double(window[index])
    }
    return (hertz, 2 * (real * real + imaginary * imaginary).squareRoot() / sum)
  }
}

/// The frequency of the hum at each sample, and the turn that holds its tone still.
struct ToneTrack {
  private(set) var hertz: [Double]
  private let rate: Double

  /// Hertz by which the instantaneous frequency may differ from the track it is measured beside.
  private static let maximumDeviation = 60.0

  /// - Parameters:
  ///   - signal: The sound, which is followed by silence.
  ///   - slowness: How many times longer than usual a jump must last.
  init(
    of samples: [Float], signal: AnalyticSignal, rate: Double, dictionary table: AtomDictionary,
    timeScale slowness: Double
  ) {
    self.rate = rate
    let low = table.toneBand.lowerBound
    let high = table.toneBand.upperBound
    let window = 0.064 * table.timeScale
    let hop = max(1, Int(window / 8 * rate))
    var spectrum = ToneSpectrum(
      windowLength: Int(window * rate), rate: rate, band: 0.6 * low...1.6 * high)
    let coarse = stride(from: 0, to: samples.count + hop, by: hop).map { center in
      Float(spectrum.strongestHertz(in: samples, at: center))
    }
    let smooth = SampleMath.movingMedian(of: coarse, over: 5)
    hertz = samples.indices.map { index in
      let (place, rest) = index.quotientAndRemainder(dividingBy: hop)
      let share = Double(rest) / Double(hop)
      return Double(smooth[place]) * (1 - share) + Double(smooth[min(place + 1, smooth.count - 1)])
        * share
    }
    let scale = table.timeScale * slowness
    // Of several partials at once the phase says nothing of one.
    guard table.overtoneRatios.isEmpty else { return }
    for length in [0.041, 0.025] {
      followPhase(of: signal, over: Int(length * scale * rate) | 1, limits: 0.5 * low...2 * high)
    }
  }

  /// Follows jumps and sweeps: the median of the instantaneous frequency beside the track, where
  /// there is any sound.
  private mutating func followPhase(
    of signal: AnalyticSignal, over count: Int, limits: ClosedRange<Double>
  ) {
    let still = demodulated(signal)
    let levels = signal.magnitudes
    let least = max(1e-9, 0.02 * (levels.max() ?? 0))
    var offsets = [Float](repeating: 0, count: still.count)
    var heard: [Int] = []
    for index in still.indices.dropFirst() where levels[index] > least {
      let step = still[index] * still[index - 1].conjugate
      offsets[index] = Float(atan2(Double(step.imaginary), Double(step.real)) * rate / (2 * .pi))
      heard.append(index)
    }
    // In silence the nearest frequency that was heard holds, so that edges are not pulled.
    var next = 0
    for index in offsets.indices where !heard.isEmpty {
      while next + 1 < heard.count, abs(heard[next + 1] - index) <= abs(heard[next] - index) {
        next += 1
      }
      guard heard[next] != index else { continue }
      offsets[index] = offsets[heard[next]]
      hertz[index] = hertz[heard[next]]
    }
    let smooth = SampleMath.movingMedian(of: offsets, over: count, step: 2)
    for index in hertz.indices {
      let moved =
        hertz[index]
        + min(Self.maximumDeviation, max(-Self.maximumDeviation, Double(smooth[index])))
      hertz[index] = min(limits.upperBound, max(limits.lowerBound, moved))
    }
  }

  /// The signal without the turning of its tone, or of a partial whose frequency is a multiple of
  /// the tone's.
  func demodulated(_ signal: AnalyticSignal, ratio: Double = 1) -> [ComplexNumber] {
    rotated(signal.values, by: -ratio)
  }

  /// A signal that stood still, turning again: its real part.
  func modulated(_ tone: [ComplexNumber], ratio: Double = 1) -> [Float] {
    rotated(tone, by: ratio).map { $0.real }
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

  /// Moves the track by what a tone that was turned back still turns, over 30 ms.
  mutating func refine(with still: [ComplexNumber]) {
    var turns = [Float](repeating: 0, count: still.count)
    for index in still.indices.dropFirst() {
      let step = still[index] * still[index - 1].conjugate
      if step.power > 0 {
        turns[index] = Float(atan2(Double(step.imaginary), Double(step.real)) * rate / (2 * .pi))
      }
    }
    let smooth = SampleMath.movingMean(of: turns, over: Int(0.03 * rate))
    for index in hertz.indices {
      hertz[index] += min(12, max(-12, Double(smooth[index])))
    }
  }
}
