internal import CMath
import RecordingAnalysis
import SignalAnalysis

/// The differences between a sound of the reference and a sound of the candidate.
struct SoundComparison {
  let region: ActiveRegion
  let candidateRegion: ActiveRegion
  /// The delay of the candidate's sound relative to the reference's sound, in seconds.
  private(set) var timeShiftSeconds = 0.0
  /// The constant level change from the reference to the candidate, in decibels.
  private(set) var levelChangeDecibels = 0.0
  /// The frequencies of both sounds, or nil if they are equal.
  private(set) var frequencyChange: FrequencyPair?
  /// The change of duration from the reference to the candidate, in seconds.
  private(set) var durationChangeSeconds = 0.0
  /// The time ranges in which the levels of the sounds differ.
  private(set) var levelSegments: [LevelSegment] = []
  /// The level of the residual, in decibels relative to the sound.
  ///
  /// The value is nil if other changes explain the difference.
  private(set) var residualDecibels: Double?
  /// A Boolean value that indicates whether a constant gain maps one waveform to the other.
  ///
  /// In that case, the time shift is accurate.
  private(set) var hasMatchingShape = true

  /// The maximum residual power between equal waveforms, relative to the sound.
  private static let maximumShapeResidualPowerRatio = 1e-3
  /// The minimum change of level to report, in decibels.
  static let minimumLevelChangeDecibels = 0.05
  /// The minimum time shift to report, in seconds.
  static let minimumTimeShiftSeconds = 0.0002
  /// The minimum change of duration to report, in seconds.
  static let minimumDurationChangeSeconds = 0.003
  /// The minimum change of frequency to report, in percent.
  static let minimumFrequencyChangePercent = 1.0

  /// Compares a sound of the reference with a sound of the candidate.
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
    let rate = pair.sampleRate
    let startOffsetFrames = candidateRegion.sampleRange.lowerBound - region.sampleRange.lowerBound
    let marginFrames = Int(0.006 * rate)
    let excerptFrameCount =
      max(region.sampleRange.count, candidateRegion.sampleRange.count) + 2 * marginFrames
    let referenceExcerpt = Self.excerpt(
      of: pair.reference, from: region.sampleRange.lowerBound - marginFrames,
      count: excerptFrameCount)
    let candidateStartFrame = candidateRegion.sampleRange.lowerBound - marginFrames
    let candidateExcerpt = Self.excerpt(
      of: pair.candidate, from: candidateStartFrame, count: excerptFrameCount)
    let isCandidateClipped = candidateExcerpt.contains { abs($0) >= ceiling }
    let hasOtherDuration = Self.durationsDiffer(region, candidateRegion)
    // The end of a longer tone matches any number of its periods, so the beginnings are aligned.
    let matchedFrameCount =
      hasOtherDuration ? marginFrames + commonFrameCount * 9 / 10 : excerptFrameCount
    let waveformMatch = SignalAlignment.bestMatch(
      Array(referenceExcerpt.prefix(matchedFrameCount)),
      Array(candidateExcerpt.prefix(matchedFrameCount)), rate: rate,
      maximumLag: 0.005)
    let lagSeconds = waveformMatch.map { $0.correlation > 0.6 ? $0.lagSeconds : 0 } ?? 0
    let lagFrames = lagSeconds * rate
    timeShiftSeconds = (Double(startOffsetFrames) + lagFrames) / rate
    let alignedCandidate = Self.excerpt(
      of: pair.candidate, from: candidateStartFrame + Int(lagFrames.rounded()),
      count: excerptFrameCount)
    let noiseEnergy = noise * Double(excerptFrameCount)
    let correlation =
      hasOtherDuration
      ? Self.leastSquaresGain(referenceExcerpt, alignedCandidate).correlation
      : waveformMatch?.correlation ?? 0
    if isCandidateClipped
      || Self.gainExplainsDifference(
        correlation: correlation, samples: alignedCandidate, noiseEnergy: noiseEnergy)
    {
      let ceiling = isCandidateClipped ? ceiling : .infinity
      levelChangeDecibels =
        Self.leastSquaresGain(referenceExcerpt, alignedCandidate, below: ceiling).gainDecibels
      return
    }
    measureChanges(
      referenceExcerpt, alignedCandidate, margin: marginFrames, rate: rate, noiseEnergy: noiseEnergy
    )
    // The end of a weaker sound falls below the threshold earlier.
    if !levelSegments.isEmpty, abs(durationChangeSeconds) < 0.02 {
      durationChangeSeconds = 0
    }
    hasMatchingShape = frequencyChange == nil && levelSegments.isEmpty && residualDecibels == nil
    // A tone at another frequency has a best alignment, but begins at its first audible sample.
    guard frequencyChange != nil || correlation < 0.6 else { return }
    hasMatchingShape = false
    timeShiftSeconds = Double(startOffsetFrames) / rate
  }

  /// The number of frames in the shorter sound.
  private var commonFrameCount: Int {
    min(region.sampleRange.count, candidateRegion.sampleRange.count)
  }

  private static func durationsDiffer(_ region: ActiveRegion, _ other: ActiveRegion) -> Bool {
    abs(other.durationSeconds - region.durationSeconds)
      > max(minimumDurationChangeSeconds, 0.01 * region.durationSeconds)
  }

  /// The amplitude at the end of a sound without its weak tail, as a fraction of the peak.
  ///
  /// The end of a region includes weak tails, such as that of a DC blocker.
  private static let endToPeakAmplitudeRatio: Float = 0.1
  /// The maximum effect of weak tails on the change of duration, in seconds.
  private static let maximumTailEffectSeconds = 0.025

  /// Returns the change in a sound's duration, ignoring weak tails, in seconds.
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
    func lastAudibleIndex(_ samples: [Float]) -> Int? {
      let threshold = endToPeakAmplitudeRatio * Statistics.peak(of: samples)
      return samples.lastIndex { abs($0) > threshold }
    }
    guard let endIndex = lastAudibleIndex(reference),
      let candidateEndIndex = lastAudibleIndex(candidate)
    else {
      return regionChange
    }
    let changeSeconds = Double(candidateEndIndex - endIndex) / rate
    return abs(changeSeconds - regionChange) <= maximumTailEffectSeconds
      ? changeSeconds : regionChange
  }

  /// Returns whether a gain explains the difference between two signals, except for noise.
  private static func gainExplainsDifference(
    correlation: Double, samples: [Float], noiseEnergy: Double
  ) -> Bool {
    let signalEnergy = Statistics.meanSquare(of: samples) * Double(samples.count)
    guard correlation > 0, signalEnergy > 0 else { return false }
    let residualEnergy = (1 - correlation * correlation) * signalEnergy
    return residualEnergy < maximumShapeResidualPowerRatio * signalEnergy + 4 * noiseEnergy
  }

  /// Returns an excerpt of a signal, padded with silence beyond its ends.
  private static func excerpt(of samples: [Float], from start: Int, count: Int) -> [Float] {
    (start..<start + count).map { samples.indices.contains($0) ? samples[$0] : 0 }
  }

  /// The least-squares gain between two signals, with their correlation coefficient.
  private struct GainFit {
    var gainDecibels = 0.0
    var correlation = 0.0
  }

  /// Returns the least-squares gain from one signal to another.
  ///
  /// Samples of the candidate above a ceiling are ignored.
  private static func leastSquaresGain(
    _ reference: [Float], _ candidate: [Float], below ceiling: Float = .infinity
  ) -> GainFit {
    var referenceEnergy = 0.0
    var crossEnergy = 0.0
    var candidateEnergy = 0.0
    for (a, b) in zip(reference, candidate) where abs(b) < ceiling * 0.98 {
      referenceEnergy += Double(a) * Double(a)
      crossEnergy += Double(a) * Double(b)
      candidateEnergy += Double(b) * Double(b)
    }
    guard referenceEnergy > 0, candidateEnergy > 0, crossEnergy > 0 else { return GainFit() }
    return GainFit(
      gainDecibels: 20 * log10(crossEnergy / referenceEnergy),
      correlation: crossEnergy / (referenceEnergy * candidateEnergy).squareRoot())
  }

  /// Measures the changes of duration, frequency, and level, or otherwise the residual.
  private mutating func measureChanges(
    _ reference: [Float], _ candidate: [Float], margin: Int, rate: Double, noiseEnergy: Double
  ) {
    let changeSeconds = Self.durationChange(
      from: reference, to: candidate, rate: rate,
      near: candidateRegion.durationSeconds - region.durationSeconds)
    let hasOtherDuration = Self.durationsDiffer(region, candidateRegion)
    let areBothTaps = region.isTap && candidateRegion.isTap
    if hasOtherDuration, !areBothTaps {
      // The end belongs to the change of duration. The first nine tenths of the common duration
      // determine the other changes.
      let endFrame = margin + commonFrameCount * 9 / 10
      let excerpt = Array(candidate[..<endFrame])
      let gainFit = Self.leastSquaresGain(Array(reference[..<endFrame]), excerpt)
      durationChangeSeconds = changeSeconds
      if Self.gainExplainsDifference(
        correlation: gainFit.correlation, samples: excerpt, noiseEnergy: noiseEnergy)
      {
        levelChangeDecibels = gainFit.gainDecibels
        return
      }
    }
    let windowRange = margin..<(margin + commonFrameCount)
    let referenceWindow = Array(reference[windowRange])
    let candidateWindow = Array(candidate[windowRange])
    let frequencyPair =
      areBothTaps
      ? FrequencyPair(reference, candidate, rate: rate, areTaps: true)
      : FrequencyPair(referenceWindow, candidateWindow, rate: rate, areTaps: false)
    if let frequencyPair, abs(frequencyPair.changePercent) >= Self.minimumFrequencyChangePercent {
      frequencyChange = frequencyPair
    }
    if areBothTaps {
      let peakRatio = Statistics.peak(of: candidate) / max(Statistics.peak(of: reference), 1e-9)
      let peakRatioDecibels = 20 * log10(Double(max(peakRatio, 1e-6)))
      if abs(peakRatioDecibels) > 0.3 {
        levelChangeDecibels = peakRatioDecibels
      }
      if frequencyChange == nil, hasOtherDuration {
        durationChangeSeconds = changeSeconds
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

  /// Measures the change of level, or finds the segments with different levels.
  ///
  /// Segments are used if the change is not constant.
  private mutating func findLevelSegments(
    _ reference: [Float], _ candidate: [Float], rate: Double
  ) {
    let levelCurve = LevelDifferenceCurve(reference, candidate, rate: rate)
    if let constantDecibels = levelCurve.constantDifferenceDecibels {
      if abs(constantDecibels) > 0.1 {
        levelChangeDecibels = constantDecibels
      }
      return
    }
    let startSeconds = region.startSeconds
    levelSegments = levelCurve.segments.map { segment in
      var shiftedSegment = segment
      shiftedSegment.timeRange =
        segment.timeRange.lowerBound + startSeconds...segment.timeRange.upperBound + startSeconds
      return shiftedSegment
    }
  }
}

/// The frequency of a sound in the reference, and its frequency in the candidate.
struct FrequencyPair {
  /// The frequency of the sound in the reference take, in hertz.
  let referenceHertz: Double
  /// The frequency of the sound in the candidate take, in hertz.
  let candidateHertz: Double

  /// The change from the reference's to the candidate's frequency, in percent.
  var changePercent: Double { 100 * (candidateHertz / referenceHertz - 1) }

  /// The maximum perceptible frequency, in hertz. Higher frequencies are ignored.
  static let maximumPerceptibleHertz = 1_000.0

  /// Measures the frequencies of two sounds, or returns nil if a sound has no frequency.
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
    let centroidsHertz = [reference, candidate].compactMap {
      Self.spectralCentroidHertz(of: Spectrum(of: Signal($0, rate: rate)))
    }
    guard centroidsHertz.count == 2 else { return nil }
    referenceHertz = centroidsHertz[0]
    candidateHertz = centroidsHertz[1]
  }

  /// Returns the median frequencies of two sounds while both have a pitch.
  ///
  /// Returns nil if that is less than 30 % of the time.
  private static func trackedFrequencies(
    _ reference: [Float], _ candidate: [Float], rate: Double
  ) -> (before: Double, after: Double)? {
    let referenceTrack = FrequencyTrack(of: Signal(reference, rate: rate))
    let candidateTrack = FrequencyTrack(of: Signal(candidate, rate: rate))
    let candidateHertzByStep = Dictionary(
      candidateTrack.points.map {
        (Int(($0.seconds / candidateTrack.stepSeconds).rounded()), $0.hertz)
      },
      uniquingKeysWith: { $1 })
    let pairedHertz = referenceTrack.points.compactMap { point in
      candidateHertzByStep[Int((point.seconds / referenceTrack.stepSeconds).rounded())].map {
        (point.hertz, $0)
      }
    }
    guard
      Double(pairedHertz.count) * referenceTrack.stepSeconds > 0.3 * Double(reference.count) / rate
    else {
      return nil
    }
    return (
      Statistics.median(of: pairedHertz.map(\.0)), Statistics.median(of: pairedHertz.map(\.1))
    )
  }

  /// Returns the power-weighted mean frequency of a spectrum, or nil for silence.
  ///
  /// Frequencies above `maximumPerceptibleHertz` are ignored.
  static func spectralCentroidHertz(of spectrum: Spectrum) -> Double? {
    var totalPower = 0.0
    var frequencyMoment = 0.0
    for (frequency, binPower) in zip(spectrum.binHertz, spectrum.binPowers) {
      guard frequency <= maximumPerceptibleHertz else { break }
      totalPower += binPower
      frequencyMoment += binPower * frequency
    }
    return totalPower > 0 ? frequencyMoment / totalPower : nil
  }
}
