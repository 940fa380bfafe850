/// The synthetic tone of `AudioContinuous`: four harmonics above the haptic band.
enum AudioTone {
  /// Amplitude of the fundamental at full volume.
  static let level = 0.5
  /// Harmonics; each has 1/n of the fundamental's amplitude, times brightnessⁿ⁻¹.
  static let harmonicCount = 4
  /// The highest frequency a partial may reach, as a share of the rate, so that nothing folds back.
  static let highestShareOfRate = 0.45

  /// The frequency at pitch 0: an octave above the top of the haptic band; pitch ±1 is an octave.
  static func middleHertz(of profile: TransducerProfile) -> Double { 2 * profile.frequency.high }
}

extension TransducerProfile {
  /// The factor on amplitude over sharpness, at evenly spaced points: 1 but for equal sensation.
  ///
  /// There, full intensity lies the same number of decibels above threshold at every frequency, and
  /// the frequency that needs most is at 1.
  public func levelsOverSharpness(count: Int) -> [Double] {
    guard thresholds.count > 1 else { return Array(repeating: 1, count: count) }
    let needed = (0..<count).map { index in
      threshold(atHertz: frequency.hertz(atSharpness: Double(index) / Double(count - 1)))
    }
    let most = needed.max() ?? 0
    return needed.map { raised(10, to: ($0 - most) / 20) }
  }

  /// The threshold at a frequency, linear between points on a logarithmic axis and level outside.
  func threshold(atHertz hertz: Double) -> Double {
    guard let first = thresholds.first, let last = thresholds.last else { return 0 }
    if hertz <= first.hertz { return first.decibels }
    for (low, high) in zip(thresholds, thresholds.dropFirst()) where hertz <= high.hertz {
      let part = logarithm2(hertz / low.hertz) / logarithm2(high.hertz / low.hertz)
      return low.decibels + (high.decibels - low.decibels) * part
    }
    return last.decibels
  }
}
