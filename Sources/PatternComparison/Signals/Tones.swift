internal import Glibc
import SignalAnalysis

/// The frequencies of two sounds that belong together.
struct Tones {
  /// Hertz of the first.
  let before: Double
  /// Hertz of the second.
  let after: Double

  /// Percent the second is higher.
  var percent: Double { 100 * (after / before - 1) }

  /// Above this many hertz nothing counts: what is felt lies below.
  static let highest = 1_000.0

  /// Measures both, or answers nothing where one has no frequency.
  ///
  /// Taps are too short for a frequency; that of their spectrum's middle stands in, since a burst of as
  /// many cycles that is higher has its whole spectrum higher.
  init?(_ x: [Float], _ y: [Float], rate: Double, areTaps: Bool) {
    if !areTaps, let tracks = Self.tracked(x, y, rate: rate) {
      (before, after) = tracks
      return
    }
    guard let before = Self.middle(Signal(x, rate: rate)),
      let after = Self.middle(Signal(y, rate: rate))
    else { return nil }
    self.before = before
    self.after = after
  }

  private static func tracked(
    _ x: [Float], _ y: [Float], rate: Double
  ) -> (Double, Double)? {
    let first = FrequencyTrack(of: Signal(x, rate: rate))
    let second = FrequencyTrack(of: Signal(y, rate: rate))
    let hertz = Dictionary(
      second.points.map { (Int(($0.time / second.step).rounded()), $0.hertz) },
      uniquingKeysWith: { $1 })
    var before: [Double] = []
    var after: [Double] = []
    for point in first.points {
      guard let other = hertz[Int((point.time / first.step).rounded())] else { continue }
      before.append(point.hertz)
      after.append(other)
    }
    // Where hardly any moment has a tone in both, the rest says nothing.
    guard Double(before.count) * first.step > 0.3 * Double(x.count) / rate else { return nil }
    return (before.sorted()[before.count / 2], after.sorted()[after.count / 2])
  }

  /// The mean frequency of the spectrum below `highest`, weighted by power.
  static func middle(_ signal: Signal) -> Double? {
    let spectrum = Spectrum(of: signal)
    var power = 0.0
    var sum = 0.0
    for (frequency, part) in zip(spectrum.frequencies, spectrum.powers) {
      guard frequency <= highest else { break }
      power += part
      sum += part * frequency
    }
    return power > 0 ? sum / power : nil
  }
}
