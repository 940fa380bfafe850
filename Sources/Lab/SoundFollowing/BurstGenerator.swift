internal import CMath

/// Generates bursts of two cycles. Bursts may overlap.
struct BurstGenerator {
  private struct Burst {
    /// The index of the next sample.
    var position = 0
    var strength: Double
  }

  private let burstWaveform: [Double]
  private var bursts: [Burst] = []

  init(hertz: Double, rate: Double) {
    let count = Int(2 * rate / hertz)
    burstWaveform = (0..<count).map { index in
      let time = (Double(index) + 0.5) / Double(count)
      return sin(4 * .pi * (time - 0.5)) * min(1, 8 * min(time, 1 - time))
    }
  }

  /// Starts a burst.
  mutating func start(strength: Double) { bursts.append(Burst(strength: strength)) }

  /// Returns the next sample.
  mutating func next() -> Double {
    guard !bursts.isEmpty else { return 0 }
    var sum = 0.0
    for index in bursts.indices {
      sum += burstWaveform[bursts[index].position] * bursts[index].strength
      bursts[index].position += 1
    }
    if bursts[0].position == burstWaveform.count {
      bursts.removeFirst()
    }
    return sum
  }
}
