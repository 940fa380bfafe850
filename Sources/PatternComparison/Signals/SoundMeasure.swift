internal import CMath
import SignalAnalysis

struct SoundMeasure {
  let (region, partner): (ActiveRegion, ActiveRegion)
  /// Seconds that the partner comes later, and decibels that it is stronger where that is one figure.
  private(set) var (time, level) = (0.0, 0.0)
  /// Percent the partner is higher, and both frequencies.
  private(set) var frequency: (percent: Double, before: Double, after: Double)?
  private(set) var duration = 0.0
  private(set) var segments: [LevelSegment] = []
  /// What none of these explains, in dB relative to the sound.
  private(set) var unexplained: Double?
  private(set) var isExact = true

  /// Shapes that differ by less of their power are the same.
  private static let sameShape = 1e-3
  /// The smallest differences that are reported: decibels, seconds, percent.
  static let leastLevel = 0.05
  static let leastTime = 0.0002
  static let leastDuration = 0.003
  static let leastPercent = 1.0

  /// - Parameter noise: The mean square of the noise that the other has and the reference has not.
  init(_ region: ActiveRegion, _ partner: ActiveRegion, of pair: SignalPair, noise: Double, ceiling: Float) {
    (self.region, self.partner) = (region, partner)
    let rate = pair.rate
    let base = partner.frames.lowerBound - region.frames.lowerBound
    let margin = Int(0.006 * rate)
    let count = max(region.frames.count, partner.frames.count) + 2 * margin
    let x = Self.cut(pair.reference, from: region.frames.lowerBound - margin, count: count)
    let y = Self.cut(pair.other, from: partner.frames.lowerBound - margin, count: count)
    let isClipped = y.contains { abs($0) >= ceiling }
    let fit = SignalDistance.alignment(x, y, rate: rate, maximumLag: 0.005)
    let lag = fit.map { $0.correlation > 0.6 ? $0.lag : 0 } ?? 0
    let moved = lag * rate
    time = (Double(base) + moved) / rate
    let frames = Int(moved.rounded())
    let z = Self.cut(pair.other, from: partner.frames.lowerBound - margin + frames, count: count)
    let noiseEnergy = noise * Double(count)
    if isClipped || Self.explained(fit?.correlation ?? 0, z, noiseEnergy) {
      level = Self.gain(x, z, below: isClipped ? ceiling : .infinity).decibels
      return
    }
    explain(x, z, margin: margin, rate: rate, noiseEnergy: noiseEnergy)
    // A weaker end falls into silence earlier.
    if !segments.isEmpty, abs(duration) < 0.02 { duration = 0 }
    isExact = frequency == nil && segments.isEmpty && unexplained == nil
    // A tone that is higher fits best somewhere; it begins where it is first heard.
    guard frequency != nil || (fit?.correlation ?? 0) < 0.6 else { return }
    isExact = false
    time = Double(base) / rate
  }

  private static func explained(_ correlation: Double, _ y: [Float], _ noise: Double) -> Bool {
    let energy = SignalPair.power(y) * Double(y.count)
    guard correlation > 0, energy > 0 else { return false }
    return (1 - correlation * correlation) * energy < sameShape * energy + 4 * noise
  }

  private static func cut(_ samples: [Float], from start: Int, count: Int) -> [Float] {
    (start..<start + count).map { samples.indices.contains($0) ? samples[$0] : 0 }
  }

  /// The factor from one to the other by least squares, over the samples below a ceiling.
  private static func gain(_ x: [Float], _ y: [Float], below ceiling: Float = .infinity) -> (
    decibels: Double, correlation: Double
  ) {
    var (xx, xy, yy) = (0.0, 0.0, 0.0)
    for (a, b) in zip(x, y) where abs(b) < ceiling * 0.98 {
      xx += Double(a) * Double(a)
      xy += Double(a) * Double(b)
      yy += Double(b) * Double(b)
    }
    guard xx > 0, yy > 0, xy > 0 else { return (0, 0) }
    return (20 * log10(xy / xx), xy / (xx * yy).squareRoot())
  }

  private mutating func explain(_ x: [Float], _ y: [Float], margin: Int, rate: Double, noiseEnergy: Double) {
    let change = partner.duration - region.duration
    let isLonger = abs(change) > max(Self.leastDuration, 0.01 * region.duration)
    let common = min(region.frames.count, partner.frames.count)
    let bothTaps = region.isTap && partner.isTap
    if isLonger, !bothTaps {
      // Edges at the end belong to the length; nine tenths of what both have give the rest.
      let part = margin + common * 9 / 10
      let (decibels, correlation) = Self.gain(Array(x[..<part]), Array(y[..<part]))
      duration = change
      if Self.explained(correlation, Array(y[..<part]), noiseEnergy) {
        level = decibels
        return
      }
    }
    let window = margin..<(margin + common)
    let tones =
      bothTaps
      ? Tones(x, y, rate: rate, areTaps: true) : Tones(Array(x[window]), Array(y[window]), rate: rate, areTaps: false)
    if let tones, abs(tones.percent) >= Self.leastPercent { frequency = (tones.percent, tones.before, tones.after) }
    if bothTaps {
      let ratio = SignalPair.peak(y) / max(SignalPair.peak(x), 1e-9)
      let decibels = 20 * log10(Double(max(ratio, 1e-6)))
      if abs(decibels) > 0.3 { level = decibels }
      if frequency == nil, isLonger { duration = change }
    } else {
      // Another frequency crosses the threshold of silence at another moment.
      if frequency != nil, abs(duration) < 0.01 { duration = 0 }
      findSegments(Array(x[window]), Array(y[window]), rate: rate)
    }
    if frequency == nil, duration == 0, segments.isEmpty, abs(level) < 0.3 {
      let correlation = Self.gain(x, y).correlation
      unexplained = 10 * log10(max(1e-12, 1 - correlation * correlation))
    }
  }

  private mutating func findSegments(_ x: [Float], _ y: [Float], rate: Double) {
    let line = LevelDifferenceCurve(x, y, rate: rate)
    if let even = line.even {
      if abs(even) > 0.1 { level = even }
      return
    }
    let start = region.start
    segments = line.segments.map { ($0.range.lowerBound + start...$0.range.upperBound + start, $0.usual, $0.greatest) }
  }
}

struct Tones {
  /// Hertz.
  let (before, after): (Double, Double)

  var percent: Double { 100 * (after / before - 1) }

  /// Above this many hertz nothing counts: what is felt lies below.
  static let highest = 1_000.0

  /// Measures both, or returns nil where one has no frequency.
  ///
  /// Taps are too short for a frequency; that of their spectrum's middle stands in, since a burst of as
  /// many cycles that is higher has its whole spectrum higher.
  init?(_ x: [Float], _ y: [Float], rate: Double, areTaps: Bool) {
    if !areTaps, let tracks = Self.tracked(x, y, rate: rate) {
      (before, after) = tracks
      return
    }
    let middles = [x, y].compactMap { Self.middle(Spectrum(of: Signal($0, rate: rate))) }
    guard middles.count == 2 else { return nil }
    (before, after) = (middles[0], middles[1])
  }

  private static func tracked(_ x: [Float], _ y: [Float], rate: Double) -> (Double, Double)? {
    let first = FrequencyTrack(of: Signal(x, rate: rate))
    let second = FrequencyTrack(of: Signal(y, rate: rate))
    let hertz = Dictionary(
      second.points.map { (Int(($0.time / second.step).rounded()), $0.hertz) }, uniquingKeysWith: { $1 })
    let both = first.points.compactMap { point in
      hertz[Int((point.time / first.step).rounded())].map { (point.hertz, $0) }
    }
    // Where hardly any moment has a tone in both, the rest says nothing.
    guard Double(both.count) * first.step > 0.3 * Double(x.count) / rate else { return nil }
    return (Samples.median(both.map(\.0)), Samples.median(both.map(\.1)))
  }

  /// The mean frequency of the spectrum below `highest`, weighted by power.
  static func middle(_ spectrum: Spectrum) -> Double? {
    var (power, sum) = (0.0, 0.0)
    for (frequency, part) in zip(spectrum.frequencies, spectrum.powers) {
      guard frequency <= highest else { break }
      power += part
      sum += part * frequency
    }
    return power > 0 ? sum / power : nil
  }
}
