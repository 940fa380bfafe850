internal import CMath
import RecordingAnalysis
import SignalAnalysis

/// The differences between two sounds.
struct SoundComparison {
  let region: ActiveRegion
  let candidateRegion: ActiveRegion
  /// The shift of the candidate's sound, in seconds.
  private(set) var timeShiftSeconds = 0.0
  /// The level of the candidate's sound, in decibels relative to the reference, if it is constant.
  private(set) var levelChangeDecibels = 0.0
  /// The frequencies of both sounds if they differ, or nil.
  private(set) var frequencyChange: FrequencyPair?
  /// The change of duration, in seconds.
  private(set) var durationChangeSeconds = 0.0
  /// The time ranges in which the levels of the sounds differ.
  private(set) var levelSegments: [LevelSegment] = []
  /// The level of the residual, in decibels relative to the sound, or nil if the other changes
  /// explain the difference.
  private(set) var residualDecibels: Double?
  /// A Boolean value that indicates whether the waveforms are equal up to a constant gain, so that
  /// the time shift is accurate.
  private(set) var hasMatchingShape = true

  /// The residual power, relative to the sound, below which waveforms count as equal.
  private static let maximumShapeResidual = 1e-3
  /// The minimum change of level to report, in decibels.
  static let minimumLevelChangeDecibels = 0.05
  /// The minimum time shift to report, in seconds.
  static let minimumTimeShiftSeconds = 0.0002
  /// The minimum change of duration to report, in seconds.
  static let minimumDurationChangeSeconds = 0.003
  /// The minimum change of frequency to report, in percent.
  static let minimumFrequencyPercent = 1.0

  /// Compares two sounds.
  ///
  /// - Parameters:
  ///   - region: The region of the reference.
  ///   - candidateRegion: The region of the candidate.
  ///   - pair: The signals.
  ///   - noise: The mean square of the noise that only the candidate has.
  ///   - ceiling: The magnitude above which the candidate is clipped.
  init(
    _ region: ActiveRegion, _ candidateRegion: ActiveRegion, of pair: SignalPair, noise: Double,
    ceiling: Float
  ) {
    self.region = region
    self.candidateRegion = candidateRegion
    let rate = pair.rate
    let offset = candidateRegion.sampleRange.lowerBound - region.sampleRange.lowerBound
    let margin = Int(0.006 * rate)
    let count = max(region.sampleRange.count, candidateRegion.sampleRange.count) + 2 * margin
    let reference = Self.excerpt(
      of: pair.reference, from: region.sampleRange.lowerBound - margin, count: count)
    let candidateStart = candidateRegion.sampleRange.lowerBound - margin
    let candidate = Self.excerpt(of: pair.candidate, from: candidateStart, count: count)
    let isClipped = candidate.contains { abs($0) >= ceiling }
    let commonCount = min(region.sampleRange.count, candidateRegion.sampleRange.count)
    let hasOtherDuration = Self.durationsDiffer(region, candidateRegion)
    // The end of a longer tone matches any number of its periods, so the beginnings are aligned.
    let matchedCount = hasOtherDuration ? margin + commonCount * 9 / 10 : count
    let match = SignalAlignment.bestMatch(
      Array(reference.prefix(matchedCount)), Array(candidate.prefix(matchedCount)), rate: rate,
      maximumLag: 0.005)
    let lag = match.map { $0.correlation > 0.6 ? $0.lagSeconds : 0 } ?? 0
    let lagFrames = lag * rate
    timeShiftSeconds = (Double(offset) + lagFrames) / rate
    let aligned = Self.excerpt(
      of: pair.candidate, from: candidateStart + Int(lagFrames.rounded()), count: count)
    let noiseEnergy = noise * Double(count)
    let correlation =
      hasOtherDuration
      ? Self.leastSquaresGain(reference, aligned).correlation : match?.correlation ?? 0
    if isClipped
      || Self.gainExplainsDifference(
        correlation: correlation, samples: aligned, noiseEnergy: noiseEnergy)
    {
      let ceiling = isClipped ? ceiling : .infinity
      levelChangeDecibels = Self.leastSquaresGain(reference, aligned, below: ceiling).gainDecibels
      return
    }
    measureChanges(reference, aligned, margin: margin, rate: rate, noiseEnergy: noiseEnergy)
    // The end of a weaker sound falls below the threshold earlier.
    if !levelSegments.isEmpty, abs(durationChangeSeconds) < 0.02 {
      durationChangeSeconds = 0
    }
    hasMatchingShape = frequencyChange == nil && levelSegments.isEmpty && residualDecibels == nil
    // A tone at another frequency has a best alignment, but begins at its first audible sample.
    guard frequencyChange != nil || correlation < 0.6 else { return }
    hasMatchingShape = false
    timeShiftSeconds = Double(offset) / rate
  }

  private static func durationsDiffer(_ region: ActiveRegion, _ other: ActiveRegion) -> Bool {
    abs(other.durationSeconds - region.durationSeconds)
      > max(minimumDurationChangeSeconds, 0.01 * region.durationSeconds)
  }

  /// The fraction of the peak at which a sound ends. The end of a region includes weak tails, such
  /// as that of a DC blocker.
  private static let endFraction: Float = 0.1
  /// The maximum difference of a change of duration with and without tails, in seconds.
  private static let maximumTailSeconds = 0.025

  /// Returns the change of duration without weak tails.
  ///
  /// - Parameters:
  ///   - reference: The samples of the reference.
  ///   - candidate: The samples of the candidate, aligned at the onset.
  ///   - rate: The sample rate, in hertz.
  ///   - regionChange: The change of duration of the regions, in seconds. It is returned if the
  ///     tails differ by more than a short time.
  private static func durationChange(
    from reference: [Float], to candidate: [Float], rate: Double, near regionChange: Double
  ) -> Double {
    func lastIndex(_ samples: [Float]) -> Int? {
      let threshold = endFraction * Statistics.peak(of: samples)
      return samples.lastIndex { abs($0) > threshold }
    }
    guard let end = lastIndex(reference), let candidateEnd = lastIndex(candidate) else {
      return regionChange
    }
    let change = Double(candidateEnd - end) / rate
    return abs(change - regionChange) <= maximumTailSeconds ? change : regionChange
  }

  /// Returns whether a gain explains the difference, up to noise.
  private static func gainExplainsDifference(
    correlation: Double, samples: [Float], noiseEnergy: Double
  ) -> Bool {
    let energy = Statistics.meanSquare(of: samples) * Double(samples.count)
    guard correlation > 0, energy > 0 else { return false }
    let residual = (1 - correlation * correlation) * energy
    return residual < maximumShapeResidual * energy + 4 * noiseEnergy
  }

  /// Returns an excerpt of a signal, padded with silence beyond its ends.
  private static func excerpt(of samples: [Float], from start: Int, count: Int) -> [Float] {
    (start..<start + count).map { samples.indices.contains($0) ? samples[$0] : 0 }
  }

  /// A gain by least squares, and the correlation coefficient.
  private struct GainFit {
    var gainDecibels = 0.0
    var correlation = 0.0
  }

  /// Returns the gain from one signal to another, by least squares over the samples below a
  /// ceiling.
  private static func leastSquaresGain(
    _ reference: [Float], _ candidate: [Float], below ceiling: Float = .infinity
  ) -> GainFit {
    var referenceEnergy = 0.0
    var product = 0.0
    var candidateEnergy = 0.0
    for (a, b) in zip(reference, candidate) where abs(b) < ceiling * 0.98 {
      referenceEnergy += Double(a) * Double(a)
      product += Double(a) * Double(b)
      candidateEnergy += Double(b) * Double(b)
    }
    guard referenceEnergy > 0, candidateEnergy > 0, product > 0 else { return GainFit() }
    return GainFit(
      gainDecibels: 20 * log10(product / referenceEnergy),
      correlation: product / (referenceEnergy * candidateEnergy).squareRoot())
  }

  /// Measures duration, frequency, and level, or the residual if none of them differs.
  private mutating func measureChanges(
    _ reference: [Float], _ candidate: [Float], margin: Int, rate: Double, noiseEnergy: Double
  ) {
    let change = Self.durationChange(
      from: reference, to: candidate, rate: rate,
      near: candidateRegion.durationSeconds - region.durationSeconds)
    let hasOtherDuration = Self.durationsDiffer(region, candidateRegion)
    let commonCount = min(region.sampleRange.count, candidateRegion.sampleRange.count)
    let bothTaps = region.isTap && candidateRegion.isTap
    if hasOtherDuration, !bothTaps {
      // The end belongs to the change of duration. The first nine tenths of the common duration
      // determine the other changes.
      let end = margin + commonCount * 9 / 10
      let excerpt = Array(candidate[..<end])
      let gain = Self.leastSquaresGain(Array(reference[..<end]), excerpt)
      durationChangeSeconds = change
      if Self.gainExplainsDifference(
        correlation: gain.correlation, samples: excerpt, noiseEnergy: noiseEnergy)
      {
        levelChangeDecibels = gain.gainDecibels
        return
      }
    }
    let window = margin..<(margin + commonCount)
    let referenceWindow = Array(reference[window])
    let candidateWindow = Array(candidate[window])
    let frequencies =
      bothTaps
      ? FrequencyPair(reference, candidate, rate: rate, areTaps: true)
      : FrequencyPair(referenceWindow, candidateWindow, rate: rate, areTaps: false)
    if let frequencies, abs(frequencies.changePercent) >= Self.minimumFrequencyPercent {
      frequencyChange = frequencies
    }
    if bothTaps {
      let ratio = Statistics.peak(of: candidate) / max(Statistics.peak(of: reference), 1e-9)
      let decibels = 20 * log10(Double(max(ratio, 1e-6)))
      if abs(decibels) > 0.3 {
        levelChangeDecibels = decibels
      }
      if frequencyChange == nil, hasOtherDuration {
        durationChangeSeconds = change
      }
    } else {
      // A tone at another frequency crosses the threshold at another time.
      if frequencyChange != nil, abs(durationChangeSeconds) < 0.01 {
        durationChangeSeconds = 0
      }
      findLevelSegments(referenceWindow, candidateWindow, rate: rate)
    }
    if frequencyChange == nil, durationChangeSeconds == 0, levelSegments.isEmpty,
      abs(levelChangeDecibels) < 0.3
    {
      let correlation = Self.leastSquaresGain(reference, candidate).correlation
      residualDecibels = 10 * log10(max(1e-12, 1 - correlation * correlation))
    }
  }

  /// Measures the change of level, or finds the segments in which the levels differ if the change
  /// is not constant.
  private mutating func findLevelSegments(
    _ reference: [Float], _ candidate: [Float], rate: Double
  ) {
    let curve = LevelDifferenceCurve(reference, candidate, rate: rate)
    if let constant = curve.constantDifferenceDecibels {
      if abs(constant) > 0.1 {
        levelChangeDecibels = constant
      }
      return
    }
    let start = region.startSeconds
    levelSegments = curve.segments.map { segment in
      var shifted = segment
      shifted.range = segment.range.lowerBound + start...segment.range.upperBound + start
      return shifted
    }
  }
}

/// The frequencies of two sounds.
struct FrequencyPair {
  /// The frequency of the reference, in hertz.
  let referenceHertz: Double
  /// The frequency of the candidate, in hertz.
  let candidateHertz: Double

  /// The frequency change, in percent.
  var changePercent: Double { 100 * (candidateHertz / referenceHertz - 1) }

  /// The maximum frequency that counts, in hertz. Higher frequencies cannot be felt.
  static let maximumHertz = 1_000.0

  /// Measures both frequencies, or returns nil if a sound has none.
  ///
  /// Taps are too short to track a frequency. Instead, the centroids of their spectra are compared,
  /// because a burst with the same number of cycles at a higher frequency has its whole spectrum at
  /// higher frequencies.
  ///
  /// - Parameters:
  ///   - reference: The samples of the reference.
  ///   - candidate: The samples of the candidate.
  ///   - rate: The sample rate, in hertz.
  ///   - areTaps: Pass true for taps.
  init?(_ reference: [Float], _ candidate: [Float], rate: Double, areTaps: Bool) {
    if !areTaps,
      let tracked = Self.trackedFrequencies(reference, candidate, rate: rate)
    {
      referenceHertz = tracked.before
      candidateHertz = tracked.after
      return
    }
    let centroids = [reference, candidate].compactMap {
      Self.centroid(of: Spectrum(of: Signal($0, rate: rate)))
    }
    guard centroids.count == 2 else { return nil }
    referenceHertz = centroids[0]
    candidateHertz = centroids[1]
  }

  /// Returns the median frequencies of both sounds while both have a pitch, or nil if that is less
  /// than 30 % of the time.
  private static func trackedFrequencies(
    _ reference: [Float], _ candidate: [Float], rate: Double
  ) -> (before: Double, after: Double)? {
    let track = FrequencyTrack(of: Signal(reference, rate: rate))
    let candidateTrack = FrequencyTrack(of: Signal(candidate, rate: rate))
    let candidateHertz = Dictionary(
      candidateTrack.points.map {
        (Int(($0.seconds / candidateTrack.stepSeconds).rounded()), $0.hertz)
      },
      uniquingKeysWith: { $1 })
    let both = track.points.compactMap { point in
      candidateHertz[Int((point.seconds / track.stepSeconds).rounded())].map { (point.hertz, $0) }
    }
    guard Double(both.count) * track.stepSeconds > 0.3 * Double(reference.count) / rate else {
      return nil
    }
    return (Statistics.median(of: both.map(\.0)), Statistics.median(of: both.map(\.1)))
  }

  /// Returns the power-weighted mean frequency of a spectrum below `maximumHertz`, or nil for
  /// silence.
  static func centroid(of spectrum: Spectrum) -> Double? {
    var power = 0.0
    var sum = 0.0
    for (frequency, binPower) in zip(spectrum.binHertz, spectrum.binPowers) {
      guard frequency <= maximumHertz else { break }
      power += binPower
      sum += binPower * frequency
    }
    return power > 0 ? sum / power : nil
  }
}
