internal import Glibc

/// Finds by how much one spectrum lags another.
enum DelaySearch {
  /// The seconds τ within reach for which Re Σ terms·exp(jωτ) is greatest.
  ///
  /// - Parameters:
  ///   - terms: Products of one spectrum and another's conjugate, with their frequencies in hertz.
  ///   - reach: Seconds to both sides.
  ///   - ignoresSign: Whether a turned polarity counts as much.
  static func delay(
    of terms: [(hertz: Double, value: Phasor)], within reach: Double, ignoresSign: Bool
  ) -> Double {
    let highest = terms.last?.hertz ?? 0
    guard highest > 0 else { return 0 }
    // Six steps of the fastest period leave no peak out.
    let step = 1 / (6 * highest)
    let count = Int(reach / step)
    var sums = [Double](repeating: 0, count: 2 * count + 1)
    for term in terms {
      let turn = 2 * Double.pi * term.hertz * step
      var value = term.value * Phasor(cos(turn * Double(count)), -sin(turn * Double(count)))
      let advance = Phasor(cos(turn), sin(turn))
      for index in sums.indices {
        sums[index] += value.real
        value = value * advance
      }
    }
    if ignoresSign { for index in sums.indices { sums[index] = abs(sums[index]) } }
    let best = sums.indices.max { sums[$0] < sums[$1] } ?? count
    return refine(terms, from: Double(best - count) * step, step: step, ignoresSign: ignoresSign)
  }

  /// Re Σ terms·exp(jωτ).
  static func sum(of terms: [(hertz: Double, value: Phasor)], at delay: Double) -> Double {
    terms.reduce(0) { total, term in
      let turn = 2 * Double.pi * term.hertz * delay
      return total + term.value.real * cos(turn) - term.value.imaginary * sin(turn)
    }
  }

  /// Narrows a maximum down by thirds.
  private static func refine(
    _ terms: [(hertz: Double, value: Phasor)], from delay: Double, step: Double, ignoresSign: Bool
  ) -> Double {
    func sum(_ delay: Double) -> Double {
      let total = Self.sum(of: terms, at: delay)
      return ignoresSign ? abs(total) : total
    }
    var low = delay - step
    var high = delay + step
    // 50 rounds narrow the interval by a factor of 6e8.
    for _ in 0..<50 {
      let third = (high - low) / 3
      if sum(low + third) < sum(high - third) { low += third } else { high -= third }
    }
    return (low + high) / 2
  }
}
