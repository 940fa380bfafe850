internal import CMath
internal import SignalAnalysis

/// A sound at the low rate of the analysis, with silence around it and without what is below all hums.
struct TracedBand {
  let samples: [Float]
  let rate: Double
  /// Samples of silence in front.
  let edge: Int

  /// Seconds of silence on both ends.
  private static let silence = 0.15

  /// The rate at which a sound is analysed: eight frames in a period of the highest frequency and 2,000 a second, where
  /// the sound has as many.
  static func rate(of rate: Double, highest: Double) -> Double {
    rate / max(1, (rate / min(48_000, max(2_000, 8 * highest))).rounded(.down))
  }

  /// - Parameter target: The rate of the analysis.
  init(_ sound: [Float], rate: Double, to target: Double, lowest: Double) {
    let edge = Int(Self.silence * rate)
    let padding = [Float](repeating: 0, count: edge)
    let low = TactileBandSignal(of: padding + sound + padding, rate: rate, least: target * 0.99)
    self.rate = low.rate
    self.edge = Int((Double(edge) / rate * low.rate).rounded())
    samples = Self.highPass(lowest: lowest, rate: low.rate).filteredTwice(low.samples)
  }

  /// A corner at a fifth of the lowest frequency: a higher one rings before onsets.
  static func highPass(lowest: Double, rate: Double) -> SecondOrderFilter {
    SecondOrderFilter(hertz: max(6, 0.2 * lowest), isHighPass: true, rate: rate)
  }
}

/// The strongest tone of a short segment, by a transform under a Hann window.
struct ToneSpectrum: ~Copyable {
  private var transform: FourierTransform
  private let window: [Float]
  private let rate: Double
  private let bins: Range<Int>
  private var frame: [Float]
  private var spectrum: [ComplexNumber]

  init(window count: Int, rate: Double, band: ClosedRange<Double>) {
    let count = max(8, count)
    transform = FourierTransform(length: FourierTransform.fastLength(atLeast: max(512, 2 * count)))
    window = (0..<count).map { Float(0.5 - 0.5 * cos(2 * .pi * (Double($0) + 0.5) / Double(count))) }
    self.rate = rate
    let step = rate / Double(transform.length)
    let first = max(1, Int((band.lowerBound / step).rounded(.up)))
    bins = first..<max(first + 1, min(transform.length / 2 - 1, Int(band.upperBound / step) + 1))
    frame = [Float](repeating: 0, count: transform.length)
    spectrum = [ComplexNumber](repeating: ComplexNumber(), count: transform.binCount)
  }

  /// The frequency of the strongest tone, by a parabola through logarithms.
  mutating func strongestHertz(_ samples: [Float], at center: Int) -> Double {
    let first = center - window.count / 2
    for index in window.indices {
      let place = first + index
      frame[index] = place >= 0 && place < samples.count ? samples[place] * window[index] : 0
    }
    transform.forward(frame, into: &spectrum)
    var best = bins.lowerBound
    var greatest = Float(-1)
    for bin in bins {
      let power = spectrum[bin].power
      if power > greatest { (best, greatest) = (bin, power) }
    }
    func level(_ bin: Int) -> Float { Float(log(Double(spectrum[bin].power) + 1e-24)) }
    let place = Double(best) + SampleMath.top(level(best - 1), level(best), level(best + 1))
    return place * rate / Double(transform.length)
  }

  /// The frequency and the amplitude of the strongest tone.
  mutating func strongest(_ samples: [Float], at center: Int) -> (hertz: Double, amplitude: Double) {
    let hertz = strongestHertz(samples, at: center)
    // The tone itself, turned back, is better than the height of a bin.
    let turn = -2 * .pi * hertz / rate
    var (real, imaginary, sum) = (0.0, 0.0, 0.0)
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
  private static let reach = 60.0

  /// - Parameters:
  ///   - signal: The sound, which is followed by silence.
  ///   - slowness: How many times longer than usual a jump must last.
  init(of samples: [Float], _ signal: AnalyticSignal, rate: Double, table: VoiceTable, slowness: Double) {
    self.rate = rate
    let (low, high) = (table.band.lowerBound, table.band.upperBound)
    let window = 0.064 * table.slowness
    let hop = max(1, Int(window / 8 * rate))
    var spectrum = ToneSpectrum(window: Int(window * rate), rate: rate, band: 0.6 * low...1.6 * high)
    let coarse = stride(from: 0, to: samples.count + hop, by: hop).map { center in
      Float(spectrum.strongestHertz(samples, at: center))
    }
    let smooth = SampleMath.median(coarse, over: 5)
    hertz = samples.indices.map { index in
      let (place, rest) = index.quotientAndRemainder(dividingBy: hop)
      let share = Double(rest) / Double(hop)
      return Double(smooth[place]) * (1 - share) + Double(smooth[min(place + 1, smooth.count - 1)]) * share
    }
    let scale = table.slowness * slowness
    // Of several partials at once the phase says nothing of one.
    guard table.overtones.isEmpty else { return }
    for length in [0.041, 0.025] { sharpen(signal, over: Int(length * scale * rate) | 1, 0.5 * low...2 * high) }
  }

  /// Follows jumps and sweeps: the median of the instantaneous frequency beside the track, where there is any sound.
  private mutating func sharpen(_ signal: AnalyticSignal, over count: Int, _ limits: ClosedRange<Double>) {
    let still = turnedBack(signal)
    let levels = signal.levels
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
      while next + 1 < heard.count, abs(heard[next + 1] - index) <= abs(heard[next] - index) { next += 1 }
      guard heard[next] != index else { continue }
      (offsets[index], hertz[index]) = (offsets[heard[next]], hertz[heard[next]])
    }
    let smooth = SampleMath.median(offsets, over: count, step: 2)
    for index in hertz.indices {
      let moved = hertz[index] + min(Self.reach, max(-Self.reach, Double(smooth[index])))
      hertz[index] = min(limits.upperBound, max(limits.lowerBound, moved))
    }
  }

  /// The signal without the turning of its tone, or of a partial whose frequency is a multiple of the tone's.
  func turnedBack(_ signal: AnalyticSignal, times ratio: Double = 1) -> [ComplexNumber] {
    turned(signal.values, by: -ratio)
  }

  /// A signal that stood still, turning again: its real part.
  func turning(_ tone: [ComplexNumber], times ratio: Double = 1) -> [Float] { turned(tone, by: ratio).map { $0.real } }

  private func turned(_ values: [ComplexNumber], by ratio: Double) -> [ComplexNumber] {
    var phase = 0.0
    return values.indices.map { index in
      phase += ratio * hertz[index] / rate
      phase -= phase.rounded(.down)
      let angle = 2 * .pi * phase
      return values[index] * ComplexNumber(Float(cos(angle)), Float(sin(angle)))
    }
  }

  /// Moves the track by what a tone that was turned back still turns, over 30 ms.
  mutating func refine(by still: [ComplexNumber]) {
    var turns = [Float](repeating: 0, count: still.count)
    for index in still.indices.dropFirst() {
      let step = still[index] * still[index - 1].conjugate
      if step.power > 0 { turns[index] = Float(atan2(Double(step.imaginary), Double(step.real)) * rate / (2 * .pi)) }
    }
    let smooth = SampleMath.mean(turns, over: Int(0.03 * rate))
    for index in hertz.indices { hertz[index] += min(12, max(-12, Double(smooth[index]))) }
  }
}
