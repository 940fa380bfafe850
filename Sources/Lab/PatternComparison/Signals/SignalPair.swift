internal import CMath
import HapticModel
import SignalAnalysis

struct SignalPair {
  let rate: Double
  /// The reference, without offset, infinite samples silenced.
  private(set) var reference: [Float]
  /// The other take, shifted and turned to lie over it, of the same length.
  private(set) var candidate: [Float]
  private(set) var shiftFrames = 0
  private(set) var isInverted = false
  /// The other's offset less the reference's; taken out.
  private(set) var offset = 0.0
  private(set) var correlation: Double?

  /// The most seconds that one take is looked for behind or before the other.
  static let maximumShiftSeconds = 3.0
  /// The offset that counts as one: −60 dBFS.
  static let minimumOffset = 1e-3
  /// The share of the peak below which there is silence: −50 dB.
  static let silenceRatio: Float = 0.003

  init(
    _ reference: Signal, _ other: Signal, alignment: ComparisonOptions.Alignment,
    gains: (Double, Double)
  ) {
    rate = reference.rate
    self.reference = Self.sanitized(reference.mono, gain: gains.0)
    self.candidate = Self.sanitized(other.mono, gain: gains.1)
    removeOffset()
    align(alignment)
    let count = max(self.reference.count, self.candidate.count)
    self.reference += [Float](repeating: 0, count: count - self.reference.count)
    self.candidate += [Float](repeating: 0, count: count - self.candidate.count)
  }

  private static func sanitized(_ samples: [Float], gain: Double) -> [Float] {
    let gain = Float(gain)
    return samples.map { $0.isFinite ? $0 * gain : 0 }
  }

  static func peak(_ samples: some Sequence<Float>) -> Float {
    samples.reduce(0) { max($0, abs($1)) }
  }

  static func power(_ samples: some Collection<Float>) -> Double {
    guard !samples.isEmpty else { return 0 }
    return samples.reduce(0.0) { $0 + Double($1) * Double($1) } / Double(samples.count)
  }

  static func variance(of samples: some Collection<Float>) -> Double {
    let mean = samples.reduce(0.0) { $0 + Double($1) } / Double(max(1, samples.count))
    return max(0, power(samples) - mean * mean)
  }

  static func silenceThreshold(of samples: [Float]) -> Float {
    max(1e-4, peak(samples) * silenceRatio)
  }

  /// The first sample that is not silent; 0 where all are.
  private static func firstAudibleIndex(in samples: [Float]) -> Int {
    let threshold = silenceThreshold(of: samples)
    return samples.firstIndex { abs($0) > threshold } ?? 0
  }

  /// Takes out an offset that both the mean and the middle sample show.
  ///
  /// A short sound has a mean of its own; the middle of all samples is its silence or its axis.
  private mutating func removeOffset() {
    let means = Self.mean(candidate) - Self.mean(reference)
    let middles = Self.approximateMedian(of: candidate) - Self.approximateMedian(of: reference)
    guard min(abs(means), abs(middles)) > Self.minimumOffset, means * middles > 0 else { return }
    offset = abs(means) < abs(middles) ? means : middles
    for index in candidate.indices {
      candidate[index] -= Float(offset)
    }
  }

  private static func mean(_ samples: [Float]) -> Double {
    samples.isEmpty ? 0 : samples.reduce(0.0) { $0 + Double($1) } / Double(samples.count)
  }

  /// The median of at most some thousands of samples, spread evenly.
  private static func approximateMedian(of samples: [Float]) -> Double {
    Samples.median(
      stride(from: 0, to: samples.count, by: samples.count / 20_000 + 1).map { Double(samples[$0]) }
    )
  }

  private mutating func align(_ alignment: ComparisonOptions.Alignment) {
    switch alignment {
    case .auto, .none:
      let most =
        alignment == .none
        ? 0 : min(Self.maximumShiftSeconds, Double(max(reference.count, candidate.count)) / rate)
      let upright = SignalAlignment.bestMatch(reference, candidate, rate: rate, maximumLag: most)
      let turned = SignalAlignment.bestMatch(
        reference, candidate.map { -$0 }, rate: rate, maximumLag: most)
      guard let upright, let turned else { return }
      // Nearly opposite: a hum half a period late fits both ways, and is then late.
      isInverted = turned.correlation > max(0.5, upright.correlation + 0.02)
      let best = isInverted ? turned : upright
      correlation = isInverted ? -best.correlation : best.correlation
      // What has little in common gains nothing from a shift.
      if alignment == .auto, best.correlation > 0.5 {
        shiftFrames = Int((best.lag * rate).rounded())
      }
      // What sounds from the start on is not late.
      if shiftFrames > 0 {
        shiftFrames = min(shiftFrames, Self.firstAudibleIndex(in: candidate))
      }
    case .start:
      shiftFrames = Self.firstAudibleIndex(in: candidate) - Self.firstAudibleIndex(in: reference)
    }
    if isInverted {
      for index in candidate.indices {
        candidate[index].negate()
      }
    }
    if shiftFrames > 0 {
      candidate.removeFirst(min(shiftFrames, candidate.count))
    }
    if shiftFrames < 0 {
      candidate.insert(contentsOf: [Float](repeating: 0, count: -shiftFrames), at: 0)
    }
  }
}

struct ActiveRegion {
  var frames: Range<Int>
  /// Its number among the taps or hums of its signal, from 1 on.
  var ordinal = 0
  let rate: Double

  /// Sounds that are nearer, in seconds, are one; half a period of 40 Hz.
  static let mergeDistanceSeconds = 0.012
  /// What is shorter, in seconds, is a tap.
  static let maximumTapDuration = 0.06

  var start: Double { Double(frames.lowerBound) / rate }
  var end: Double { Double(frames.upperBound) / rate }
  var duration: Double { end - start }
  var range: ClosedRange<Double> { start...end }
  var isTap: Bool { duration < Self.maximumTapDuration }

  static func find(in samples: [Float], rate: Double, threshold: Float) -> [ActiveRegion] {
    let gap = Int(Self.mergeDistanceSeconds * rate)
    var regions: [ActiveRegion] = []
    for (index, sample) in samples.enumerated() where abs(sample) > threshold {
      if let last = regions.last?.frames, index - last.upperBound < gap {
        regions[regions.count - 1].frames = last.lowerBound..<index + 1
      } else {
        regions.append(ActiveRegion(frames: index..<index + 1, rate: rate))
      }
    }
    assignOrdinals(to: &regions)
    return regions
  }

  static func assignOrdinals(to regions: inout [ActiveRegion]) {
    var counts = (taps: 0, hums: 0)
    for index in regions.indices {
      if regions[index].isTap {
        counts.taps += 1
      } else {
        counts.hums += 1
      }
      regions[index].ordinal = regions[index].isTap ? counts.taps : counts.hums
    }
  }

  /// The region as an event, some seconds later, so that sentences name it like one.
  func event(delay: Double = 0) -> IndexedEvent {
    var event = Self.event(start: start + delay, duration: duration)
    event.ordinal = ordinal
    return event
  }

  static func event(start: Double, duration: Double) -> IndexedEvent {
    IndexedEvent(
      HapticEvent(
        kind: duration < maximumTapDuration ? .hapticTransient : .hapticContinuous, time: start,
        duration: duration),
      index: 0)
  }

  func pairingCost(with other: ActiveRegion, level: Double, otherLevel: Double) -> Double {
    let longest = max(duration, other.duration, 1e-3)
    // A transient is not a continuous event that changed.
    if isTap != other.isTap, longest > 2 * min(duration, other.duration) {
      return .infinity
    }
    let shape = abs(duration - other.duration) / longest / 2 + abs(level - otherLevel) / 60
    return abs(start - other.start) / 0.5 + min(0.8, shape)
  }
}

struct BackgroundSound {
  var power: Double
  var hertz: Double?

  /// Seconds.
  private static let blockDuration = 0.02
  /// What is weaker is a residue of storing samples: −84 dBFS, a bit or two of 16.
  static let minimumPower = 4e-9
  /// The share of the power around one frequency that makes a tone.
  private static let minimumTonality = 0.6

  /// What the other has where the reference is silent, or nil where that is no more.
  ///
  /// The median of all pieces, so that a sound that comes and goes does not count.
  static func background(of pair: SignalPair) -> BackgroundSound? {
    let threshold = SignalPair.silenceThreshold(of: pair.reference)
    let length = max(1, Int(blockDuration * pair.rate))
    var quiet: [Float] = []
    var powers: [Double] = []
    var own: [Double] = []
    for start in stride(from: 0, to: pair.reference.count - length + 1, by: length) {
      let part = start..<(start + length)
      guard SignalPair.peak(pair.reference[part]) < threshold else { continue }
      powers.append(SignalPair.power(pair.candidate[part]))
      own.append(SignalPair.power(pair.reference[part]))
      quiet += pair.candidate[part]
    }
    // Too little silence shows nothing of the background.
    guard powers.count >= 5 else { return nil }
    powers.sort()
    let power = powers[powers.count / 2]
    // What fades away in the silence is the end of a sound.
    guard power > minimumPower, powers[powers.count / 10] > power / 16,
      power > 4 * Samples.median(own)
    else {
      return nil
    }
    return BackgroundSound(power: power, hertz: tone(in: quiet, rate: pair.rate))
  }

  private static func tone(in samples: [Float], rate: Double) -> Double? {
    let spectrum = Spectrum(of: Signal(samples, rate: rate), window: 0.25)
    guard let peak = spectrum.powers.indices.max(by: { spectrum.powers[$0] < spectrum.powers[$1] })
    else { return nil }
    let near = max(0, peak - 3)...min(spectrum.powers.count - 1, peak + 3)
    let power = near.reduce(0) { $0 + spectrum.powers[$1] }
    guard power > minimumTonality * spectrum.power, power > 0 else { return nil }
    return near.reduce(0) { $0 + spectrum.powers[$1] * spectrum.frequencies[$1] } / power
  }

  /// Its level: of a tone the amplitude, of noise the RMS value, in dBFS.
  var decibels: Double { Decibels.of(power: hertz == nil ? power : 2 * power) }

  /// The magnitude that it hardly ever exceeds.
  var magnitudeBound: Float { Float(4.5 * power.squareRoot()) }
}

struct ClippedPeaks {
  let ceiling: Float
  private(set) var sampleCount = 0
  private(set) var runCount = 0
  private(set) var frames = 0..<0

  private static let minimumRunLength = 4
  /// Weaker signals have flat peaks because of their few steps.
  private static let minimumCeiling: Float = 0.1
  /// How far below the ceiling, as a share, the sample before or behind a cut lies at least.
  private static let minimumEdgeDrop: Float = 0.001

  init?(_ samples: [Float]) {
    let peak = SignalPair.peak(samples)
    guard peak >= Self.minimumCeiling else { return nil }
    let least = peak * (1 - 1e-4)
    ceiling = least
    var start: Int?
    for index in 0...samples.count {
      let isHigh = index < samples.count && abs(samples[index]) >= least
      if isHigh, start == nil {
        start = index
      }
      if !isHigh, let from = start {
        let before = from > 0 ? abs(samples[from - 1]) : 0
        let behind = index < samples.count ? abs(samples[index]) : 0
        if index - from >= Self.minimumRunLength,
          min(before, behind) < peak * (1 - Self.minimumEdgeDrop)
        {
          sampleCount += index - from
          runCount += 1
          frames = (runCount == 1 ? from : frames.lowerBound)..<index
        }
        start = nil
      }
    }
    guard runCount > 0 else { return nil }
  }
}

/// Seconds, and the median and the greatest difference there in decibels.
typealias LevelSegment = (range: ClosedRange<Double>, usual: Double, greatest: Double)

struct LevelDifferenceCurve {
  /// Decibels at each step, or nil where both are silent.
  private let differences: [Double?]
  private let step: Double

  /// Seconds whose power is one value: a period of 40 Hz.
  static let window = 0.025
  /// Differences below this many decibels are none.
  static let minimumDifference = 0.4

  init(_ x: [Float], _ y: [Float], rate: Double) {
    let hop = max(1, Int(0.005 * rate))
    let reach = max(1, Int(Self.window * rate / 2))
    step = Double(hop) / rate
    let powers = Self.powers(x, hop: hop, reach: reach)
    let others = Self.powers(y, hop: hop, reach: reach)
    let floor = max(powers.max() ?? 0, others.max() ?? 0) * 1e-4
    differences = zip(powers, others).map { a, b in
      max(a, b) > floor ? 10 * log10(max(b, floor) / max(a, floor)) : nil
    }
  }

  /// The power around each step under a rectangle, by running sums.
  private static func powers(_ samples: [Float], hop: Int, reach: Int) -> [Double] {
    var sums = [0.0]
    sums.reserveCapacity(samples.count + 1)
    for sample in samples {
      sums.append(sums[sums.count - 1] + Double(sample) * Double(sample))
    }
    return stride(from: 0, to: samples.count, by: hop).map { center in
      let start = max(0, center - reach)
      let end = min(samples.count, center + reach)
      return max(0, sums[end] - sums[start]) / Double(max(1, end - start))
    }
  }

  var constantDifference: Double? {
    let known = differences.compactMap(\.self)
    guard !known.isEmpty else { return 0 }
    let mean = known.reduce(0, +) / Double(known.count)
    let spread = known.map { abs($0 - mean) }.sorted()[known.count * 95 / 100]
    return spread < Self.minimumDifference ? mean : nil
  }

  /// Where the second is stronger or weaker for at least 20 ms.
  var segments: [LevelSegment] {
    var segments: [LevelSegment] = []
    var start: Int?
    for index in 0...differences.count {
      let value = index < differences.count ? differences[index] ?? 0 : 0
      if let from = start {
        if abs(value) <= Self.minimumDifference || (value > 0) != ((differences[from] ?? 0) > 0) {
          append(from..<index, to: &segments)
          start = nil
        }
      }
      if start == nil, abs(value) > Self.minimumDifference {
        start = index
      }
    }
    return segments
  }

  /// Adds a segment, from where half its difference is reached, since the window blurs its edges.
  private func append(_ part: Range<Int>, to segments: inout [LevelSegment]) {
    let values = part.map { differences[$0] ?? 0 }
    guard Double(values.count) * step >= 0.02 else { return }
    let usual = Samples.median(values)
    let greatest = values.max { abs($0) < abs($1) } ?? usual
    let start = values.firstIndex { abs($0) >= abs(usual) / 2 } ?? 0
    let end = values.lastIndex { abs($0) >= abs(usual) / 2 } ?? 0
    let from = Double(part.lowerBound + start) * step
    segments.append((from...max(from, Double(part.lowerBound + end) * step), usual, greatest))
  }
}
