/// One transient, with the intensity and sharpness that the controls leave it.
struct Tap {
  /// The number of the value it was read from.
  var value: Int
  var time: Double
  var intensity: Float
  var sharpness: Float

  /// Whether it should be reserved for what is significant.
  var isHeavy: Bool { intensity >= 0.95 }
}

/// Taps that are felt as one figure: none comes more than 250 ms after the one before.
struct TapSequence {
  /// The longest gap within a sequence, in seconds.
  static let longestGap = 0.25
  /// Decimal times differ from binary ones by less than this, in seconds.
  static let timeTolerance = 1e-6

  let taps: ArraySlice<Tap>

  /// Divides taps in order of time.
  static func all(of taps: [Tap]) -> [TapSequence] {
    var sequences: [TapSequence] = []
    var start = 0
    for index in taps.indices {
      let isLast = index + 1 == taps.count
      if isLast || taps[index + 1].time - taps[index].time > longestGap + timeTolerance {
        sequences.append(TapSequence(taps: taps[start...index]))
        start = index + 1
      }
    }
    return sequences
  }

  /// Whether the taps follow a rule that can be felt.
  ///
  /// They do if there are fewer than four; if all gaps are alike; if no gap is shorter, or none
  /// longer, than the one before, 1 ms aside; or if a group of 2 to 8 gaps repeats, each like the
  /// one it repeats, at least once up to its last tap. Two gaps are alike if one is at most 25 %
  /// longer.
  var isRegular: Bool {
    guard taps.count >= 4 else { return true }
    let gaps = zip(taps.dropFirst(), taps).map { $0.time - $1.time }
    if Self.areAlike(gaps.min() ?? 0, gaps.max() ?? 0) { return true }
    let steps = zip(gaps.dropFirst(), gaps).map { $0 - $1 }
    if steps.allSatisfy({ $0 >= -0.001 }) || steps.allSatisfy({ $0 <= 0.001 }) { return true }
    return (2...8).contains { period in
      gaps.count >= 2 * period - 1
        && zip(gaps.dropFirst(period), gaps).allSatisfy { Self.areAlike($0, $1) }
    }
  }

  private static func areAlike(_ left: Double, _ right: Double) -> Bool {
    max(left, right) <= 1.25 * min(left, right) + timeTolerance
  }
}
