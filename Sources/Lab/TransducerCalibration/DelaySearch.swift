internal import CMath

/// Estimates the delay between two spectra.
///
/// The delay is the maximum of the cross-correlation, Re Σ terms · exp(jωτ), where each term is the
/// product of one spectrum and the conjugate of the other. A grid finds the highest peak; a ternary
/// search refines it to a small fraction of a frame.
enum DelaySearch {
  /// Returns the delay with the maximum cross-correlation, in seconds.
  ///
  /// - Parameters:
  ///   - terms: The products of one spectrum and the conjugate of the other, by frequency in hertz.
  ///   - maximumDelay: The maximum delay to each side, in seconds.
  ///   - ignoresSign: Pass true to accept inverted polarity.
  static func delay(
    of terms: [(hertz: Double, value: Phasor)], within maximumDelay: Double, ignoresSign: Bool
  ) -> Double {
    let maximumHertz = terms.last?.hertz ?? 0
    guard maximumHertz > 0 else { return 0 }
    // With six steps in the shortest period, the grid misses no peak.
    let delayStepSeconds = 1 / (6 * maximumHertz)
    let stepCountPerSide = Int(maximumDelay / delayStepSeconds)
    var correlationSums = [Double](repeating: 0, count: 2 * stepCountPerSide + 1)
    for term in terms {
      let angle = 2 * Double.pi * term.hertz * delayStepSeconds
      var value =
        term.value
        * Phasor(cos(angle * Double(stepCountPerSide)), -sin(angle * Double(stepCountPerSide)))
      let rotation = Phasor(cos(angle), sin(angle))
      for index in correlationSums.indices {
        correlationSums[index] += value.real
        value = value * rotation
      }
    }
    if ignoresSign {
      for index in correlationSums.indices {
        correlationSums[index] = abs(correlationSums[index])
      }
    }
    let peakIndex =
      correlationSums.indices.max { correlationSums[$0] < correlationSums[$1] } ?? stepCountPerSide
    return refinedDelay(
      terms, from: Double(peakIndex - stepCountPerSide) * delayStepSeconds, step: delayStepSeconds,
      ignoresSign: ignoresSign)
  }

  /// Returns the cross-correlation at a delay, Re Σ terms · exp(jωτ).
  static func correlation(of terms: [(hertz: Double, value: Phasor)], at delay: Double) -> Double {
    terms.reduce(0) { sum, term in
      let angle = 2 * Double.pi * term.hertz * delay
      return sum + term.value.real * cos(angle) - term.value.imaginary * sin(angle)
    }
  }

  /// Refines the delay at a maximum of the cross-correlation by ternary search.
  private static func refinedDelay(
    _ terms: [(hertz: Double, value: Phasor)], from delay: Double, step: Double, ignoresSign: Bool
  ) -> Double {
    func correlationScore(_ delay: Double) -> Double {
      let correlation = Self.correlation(of: terms, at: delay)
      return ignoresSign ? abs(correlation) : correlation
    }
    var minimumDelaySeconds = delay - step
    var maximumDelaySeconds = delay + step
    // 50 iterations reduce the interval by a factor of 6e8.
    for _ in 0..<50 {
      let third = (maximumDelaySeconds - minimumDelaySeconds) / 3
      if correlationScore(minimumDelaySeconds + third)
        < correlationScore(maximumDelaySeconds - third)
      {
        minimumDelaySeconds += third
      } else {
        maximumDelaySeconds -= third
      }
    }
    return (minimumDelaySeconds + maximumDelaySeconds) / 2
  }
}
