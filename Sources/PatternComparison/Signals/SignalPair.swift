internal import CMath
import SignalAnalysis

/// The mixes of two takes, brought to one place, one polarity and one middle line.
struct SignalPair {
  let rate: Double
  /// The reference, without offset, infinite samples silenced.
  private(set) var reference: [Float]
  /// The other take, shifted and turned to lie over it, of the same length.
  private(set) var other: [Float]
  /// Whole frames the other comes later, taken out.
  private(set) var shift = 0
  /// Whether the other is inverted; it was inverted back.
  private(set) var isInverted = false
  /// The other's offset less the reference's; taken out.
  private(set) var offset = 0.0
  /// How alike the waveforms are, as they were laid over each other.
  private(set) var correlation: Double?

  /// The most seconds that one take is looked for behind or before the other.
  static let longestShift = 3.0
  /// The offset that counts as one: −60 dBFS.
  static let leastOffset = 1e-3
  /// The share of the peak below which there is silence: −50 dB.
  static let silentShare: Float = 0.003

  /// - Parameter gains: What the two are multiplied by.
  init(_ reference: Signal, _ other: Signal, alignment: ComparisonOptions.Alignment, gains: (Double, Double)) {
    rate = reference.rate
    self.reference = Self.clean(reference.mono, gain: gains.0)
    self.other = Self.clean(other.mono, gain: gains.1)
    removeOffset()
    align(alignment)
    let count = max(self.reference.count, self.other.count)
    self.reference += [Float](repeating: 0, count: count - self.reference.count)
    self.other += [Float](repeating: 0, count: count - self.other.count)
  }

  private static func clean(_ samples: [Float], gain: Double) -> [Float] {
    let gain = Float(gain)
    return samples.map { $0.isFinite ? $0 * gain : 0 }
  }

  /// The greatest magnitude.
  static func peak(_ samples: some Sequence<Float>) -> Float { samples.reduce(0) { max($0, abs($1)) } }

  /// The mean square.
  static func power(_ samples: some Collection<Float>) -> Double {
    guard !samples.isEmpty else { return 0 }
    return samples.reduce(0.0) { $0 + Double($1) * Double($1) } / Double(samples.count)
  }

  /// The magnitude below which a signal is silent.
  static func silence(_ samples: [Float]) -> Float { max(1e-4, peak(samples) * silentShare) }

  /// Takes out an offset that both the mean and the middle sample show.
  ///
  /// A short sound has a mean of its own; the middle of all samples is its silence or its axis.
  private mutating func removeOffset() {
    let means = Self.mean(other) - Self.mean(reference)
    let middles = Self.middle(other) - Self.middle(reference)
    guard min(abs(means), abs(middles)) > Self.leastOffset, means * middles > 0 else { return }
    offset = abs(means) < abs(middles) ? means : middles
    for index in other.indices { other[index] -= Float(offset) }
  }

  private static func mean(_ samples: [Float]) -> Double {
    samples.isEmpty ? 0 : samples.reduce(0.0) { $0 + Double($1) } / Double(samples.count)
  }

  /// The median of at most some thousands of samples, spread evenly.
  private static func middle(_ samples: [Float]) -> Double {
    guard !samples.isEmpty else { return 0 }
    let sorted = stride(from: 0, to: samples.count, by: samples.count / 20_000 + 1).map { samples[$0] }.sorted()
    return Double(sorted[sorted.count / 2])
  }

  private mutating func align(_ alignment: ComparisonOptions.Alignment) {
    switch alignment {
    case .auto, .none:
      let most = alignment == .none ? 0 : min(Self.longestShift, Double(max(reference.count, other.count)) / rate)
      let upright = SignalDistance.alignment(reference, other, rate: rate, maximumLag: most)
      let turned = SignalDistance.alignment(reference, other.map { -$0 }, rate: rate, maximumLag: most)
      guard let upright, let turned else { return }
      // Nearly opposite: a hum half a period late fits both ways, and is then late.
      isInverted = turned.correlation > max(0.5, upright.correlation + 0.02)
      let best = isInverted ? turned : upright
      correlation = isInverted ? -best.correlation : best.correlation
      // What has little in common gains nothing from a shift.
      if alignment == .auto, best.correlation > 0.5 { shift = Int((best.lag * rate).rounded()) }
      // What sounds from the start on is not late.
      if shift > 0 {
        let threshold = Self.silence(other)
        shift = min(shift, other.firstIndex { abs($0) > threshold } ?? 0)
      }
    case .start:
      let threshold = Self.silence(reference)
      let otherThreshold = Self.silence(other)
      let start = reference.firstIndex { abs($0) > threshold } ?? 0
      let otherStart = other.firstIndex { abs($0) > otherThreshold } ?? 0
      shift = otherStart - start
    }
    if isInverted { for index in other.indices { other[index] = -other[index] } }
    if shift > 0 { other.removeFirst(min(shift, other.count)) }
    if shift < 0 { other.insert(contentsOf: [Float](repeating: 0, count: -shift), at: 0) }
  }
}
