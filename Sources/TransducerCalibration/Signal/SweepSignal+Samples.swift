internal import Glibc

extension SweepSignal {
  /// Periods of the lowest frequency in which a sweep comes up, so that the high-pass does not overshoot.
  private static let attackPeriods = 1.5
  /// Seconds in which sweeps and tones end.
  private static let release = 0.01
  /// Seconds behind a sweep until the high-pass is at rest.
  private static let settling = 0.25
  /// Periods of a burst.
  private static let burstPeriods = 3.0

  /// The whole signal.
  ///
  /// - Parameter rate: Frames per second, at least 2.5 times the highest frequency.
  /// - Parameter isWhole: Whether the tones and bursts are there too, which a measurement does not need.
  /// - Throws: `unsuitableSignal` where the rate is too low.
  public func samples(rate: Double, isWhole: Bool = true) throws(CalibrationError) -> [Float] {
    try check(rate: rate)
    let seconds = isWhole ? length : measuredLength
    var signal = [Double](repeating: 0, count: Int((seconds * rate).rounded(.up)))
    let sweep = rawSweep(rate: rate)
    for start in [firstSweep, firstSweep + sweepSpacing] {
      Self.lay(sweep, at: Int((start * rate).rounded()), in: &signal)
    }
    if isWhole {
      for index in 0..<Self.toneCount {
        let tone = measuredLength + Double(index) * Self.toneSpacing
        Self.lay(
          steadyTone(index, rate: rate), at: Int((tone * rate).rounded()), in: &signal)
        let burst = tone + Double(Self.toneCount) * Self.toneSpacing
        Self.lay(
          self.burst(rate: rate), at: Int((burst * rate).rounded()), in: &signal)
      }
    }
    return filtered(signal, rate: rate)
  }

  /// One sweep as it is in the signal, and what the high-pass adds behind it.
  ///
  /// - Parameter rate: Frames per second; need not be whole, so that a clock's error can be followed.
  func sweep(rate: Double) -> [Float] {
    let rest = [Double](repeating: 0, count: Int(Self.settling * rate))
    return filtered(rawSweep(rate: rate) + rest, rate: rate)
  }

  /// Refuses a rate that cannot hold the sweep.
  func check(rate: Double) throws(CalibrationError) {
    guard rate >= 2.5 * band.upperBound else {
      throw CalibrationError(
        kind: .unsuitableSignal,
        description:
          "a sweep up to \(MeasurementFormatting.number(band.upperBound, places: 1)) Hz needs "
          + "\(MeasurementFormatting.number(2.5 * band.upperBound, places: 0)) frames per second, not "
          + MeasurementFormatting.number(rate, places: 0))
    }
  }

  private static func lay(_ part: [Double], at start: Int, in signal: inout [Double]) {
    for index in part.indices where start + index < signal.count {
      signal[start + index] += part[index]
    }
  }

  private func filtered(_ signal: [Double], rate: Double) -> [Float] {
    var filter = SweepHighPass(hertz: band.lowerBound / 2, rate: rate)
    return signal.map { Float(filter.step($0)) }
  }

  private func rawSweep(rate: Double) -> [Double] {
    let count = Int(duration * rate)
    let pace = duration / log(band.upperBound / band.lowerBound)
    let turn = 2 * Double.pi * band.lowerBound * pace
    return (0..<count).map { frame in
      let time = Double(frame) / rate
      return amplitude * fade(time, of: duration) * sin(turn * expm1(time / pace))
    }
  }

  private func steadyTone(_ index: Int, rate: Double) -> [Double] {
    let place = Double(index) / Double(Self.toneCount - 1)
    let hertz =
      toneBand.lowerBound * pow(toneBand.upperBound / toneBand.lowerBound, place)
    let seconds = 0.9 * Self.toneSpacing
    return (0..<Int(seconds * rate)).map { frame in
      let time = Double(frame) / rate
      return amplitude * fade(time, of: seconds) * sin(2 * .pi * hertz * time)
    }
  }

  private func burst(rate: Double) -> [Double] {
    let hertz = (toneBand.lowerBound * toneBand.upperBound).squareRoot()
    let seconds = min(Self.burstPeriods / hertz, 0.9 * Self.toneSpacing)
    return (0..<Int(seconds * rate)).map { frame in
      let time = Double(frame) / rate
      let swell = sin(.pi * time / seconds)
      return amplitude * swell * swell * sin(2 * .pi * hertz * time)
    }
  }

  /// Raised cosines at both ends.
  private func fade(_ time: Double, of seconds: Double) -> Double {
    let attack = min(Self.attackPeriods / band.lowerBound, seconds / 8)
    if time < attack { return 0.5 - 0.5 * cos(.pi * time / attack) }
    let left = seconds - time
    return left < Self.release ? 0.5 - 0.5 * cos(.pi * left / Self.release) : 1
  }
}
