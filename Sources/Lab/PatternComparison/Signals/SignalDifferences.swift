import HapticModel
import RecordingAnalysis
import SignalAnalysis

/// The differences between two aligned signals, sound by sound.
///
/// 1. Divide both signals into active regions, and pair them in order.
/// 2. Compare each pair (`SoundComparison`): time, level, frequency, duration, and shape.
/// 3. Report a change that most sounds share once for the whole take, and the others relative to
///    it.
/// 4. Report regions without a counterpart.
struct SignalDifferences {
  private let pair: SignalPair
  private let options: ComparisonOptions
  private(set) var differenceList: DifferenceList
  private let soundComparisons: [SoundComparison]
  /// The overall delay of the candidate relative to the reference, in seconds.
  private(set) var delaySeconds: Double
  /// The overall level of the candidate, in decibels relative to the reference.
  private(set) var overallLevelDecibels: Double

  /// The maximum number of changed level segments to report for each sound.
  ///
  /// A sound with more segments is summarized.
  private static let maximumSegmentCount = 3

  /// The maximum magnitude of silence in a rendered pattern, as a fraction of the peak.
  ///
  /// The comparison of patterns by feeling has the same limit. The DC blocker has a slow tail below
  /// it.
  private static let patternSilenceRatio = Float(
    Decibels.amplitudeFactor(FeltComparisonContext.relativeFloorDecibels))

  /// Finds the differences between two aligned signals.
  ///
  /// - Parameters:
  ///   - pair: The signals.
  ///   - arePatterns: Pass true if both signals are renderings of patterns.
  ///   - options: The options of the comparison.
  init(_ pair: SignalPair, arePatterns: Bool, options: ComparisonOptions) {
    self.pair = pair
    self.options = options
    delaySeconds = Double(pair.alignmentShiftFrames) / pair.sampleRate
    overallLevelDecibels = 0
    let backgroundSound = BackgroundSound.background(of: pair)
    let clippedPeaks = ClippedPeaks(pair.reference) == nil ? ClippedPeaks(pair.candidate) : nil
    let peakMagnitude = max(
      Statistics.peak(of: pair.reference), Statistics.peak(of: pair.candidate))
    let patternThreshold = arePatterns ? peakMagnitude * Self.patternSilenceRatio : 0
    func activeRegions(_ samples: [Float]) -> [ActiveRegion] {
      let silenceMagnitude = max(ActiveRegion.silenceMagnitude(of: samples), patternThreshold)
      return ActiveRegion.findRegions(
        in: samples, rate: pair.sampleRate,
        threshold: max(silenceMagnitude, backgroundSound?.maximumUsualMagnitude ?? 0))
    }
    let referenceRegions = activeRegions(pair.reference)
    let candidateRegions = activeRegions(pair.candidate)
    let startSeconds = referenceRegions.first?.startSeconds ?? 0
    differenceList = DifferenceList(
      candidateNames: EventNames(
        candidateRegions.map { $0.event() }, takeLabel: options.candidateLabel),
      referenceNames: EventNames(
        referenceRegions.map { $0.event() }, takeLabel: options.referenceLabel),
      overallRange:
        startSeconds...max(startSeconds, referenceRegions.last?.endSeconds ?? startSeconds))
    func levelsDecibels(_ regions: [ActiveRegion], _ samples: [Float]) -> [Double] {
      regions.map { Decibels.of(power: Statistics.meanSquare(of: samples[$0.sampleRange])) }
    }
    let referenceLevelsDecibels = levelsDecibels(referenceRegions, pair.reference)
    let candidateLevelsDecibels = levelsDecibels(candidateRegions, pair.candidate)
    let regionPairs = SequenceAlignment.pairs(
      referenceRegions.map(\.startSeconds), candidateRegions.map(\.startSeconds)
    ) {
      referenceRegions[$0].pairingCost(
        with: candidateRegions[$1], level: referenceLevelsDecibels[$0],
        otherLevel: candidateLevelsDecibels[$1])
    }
    soundComparisons = regionPairs.map { index, candidateIndex in
      SoundComparison(
        referenceRegions[index], candidateRegions[candidateIndex], of: pair,
        noise: backgroundSound?.meanSquare ?? 0,
        ceiling: clippedPeaks?.clippedMagnitude ?? .infinity)
    }
    addWholeSignalDifferences(background: backgroundSound, clipping: clippedPeaks)
    // A single pair represents the whole take only if there are no other sounds.
    let hasOneSound = referenceRegions.count <= 1 && candidateRegions.count <= 1
    addTimeShifts(
      reportsWhole: soundComparisons.count > 1 || soundComparisons.count == 1 && hasOneSound)
    addLevelChanges()
    addFrequencyChanges()
    addDurationsAndResiduals()
    addUnpairedRegions(
      .missing, referenceRegions, paired: Set(regionPairs.map(\.0)), in: pair.reference,
      opposite: pair.candidate, delay: 0)
    addUnpairedRegions(
      .added, candidateRegions, paired: Set(regionPairs.map(\.1)), in: pair.candidate,
      opposite: pair.reference, delay: alignmentShiftSeconds)
  }

  /// The time shift that alignment removed from the candidate, in seconds.
  private var alignmentShiftSeconds: Double { Double(pair.alignmentShiftFrames) / pair.sampleRate }
  /// Returns events for the candidate's sounds, at their times before alignment.
  private func candidateEvents(of comparisons: [SoundComparison]) -> [IndexedEvent] {
    comparisons.map { $0.candidateRegion.event(delay: alignmentShiftSeconds) }
  }

  /// Adds the differences between the whole signals.
  ///
  /// They are polarity, DC offset, background noise, and clipping.
  private mutating func addWholeSignalDifferences(
    background: BackgroundSound?, clipping: ClippedPeaks?
  ) {
    if pair.isInverted {
      differenceList.addOverall(.polarity)
    }
    if pair.dcOffset != 0 {
      differenceList.addOverall(
        .offset, amount: Decibels.of(amplitude: abs(pair.dcOffset)), after: pair.dcOffset)
    }
    if let background {
      differenceList.addBackgroundSound(
        decibels: background.levelDecibels, hertz: background.humHertz)
    }
    guard let clipping else { return }
    let levelText = SentenceFormatting.number(
      Decibels.of(amplitude: Double(clipping.clippedMagnitude)), places: 1)
    let startSeconds = Double(clipping.clippedFrames.lowerBound) / pair.sampleRate
    let endSeconds = Double(clipping.clippedFrames.upperBound) / pair.sampleRate
    let pluralSuffix = clipping.clippedRuns.count == 1 ? "" : "s"
    differenceList.add(
      Difference(
        .clipping, in: startSeconds...endSeconds, amount: Double(clipping.clippedSampleCount),
        candidateValue: Double(clipping.clippedMagnitude)),
      sentence:
        "\(options.candidateLabel) is clipped at \(levelText) dBFS in "
        + "\(clipping.clippedRuns.count) place\(pluralSuffix), "
        + "between \(SentenceFormatting.range(startSeconds...endSeconds))"
    )
  }

  /// Returns the value that at least 60 % of the values share within a tolerance, or nil.
  ///
  /// If there are only two values, both must agree.
  private static func majorityValue(of values: [Double], within tolerance: Double) -> Double? {
    let sortedValues = values.sorted()
    guard !sortedValues.isEmpty else { return nil }
    var largestCluster: ArraySlice<Double> = []
    var endIndex = 0
    for start in sortedValues.indices {
      while endIndex < sortedValues.count, sortedValues[endIndex] - sortedValues[start] <= tolerance
      {
        endIndex += 1
      }
      if endIndex - start > largestCluster.count {
        largestCluster = sortedValues[start..<endIndex]
      }
    }
    let minimumClusterCount = max(
      Double(sortedValues.count) * 0.6, min(2, Double(sortedValues.count)))
    guard Double(largestCluster.count) >= minimumClusterCount else { return nil }
    return largestCluster[(largestCluster.startIndex + largestCluster.endIndex) / 2]
  }

  /// Adds a difference for each group of sounds with the same amount of change.
  private mutating func addGroupedDifferences(
    _ kind: Difference.Kind, _ values: [(SoundComparison, Double)], within tolerance: Double
  ) {
    for group in values.grouped(by: \.1, within: { _ in tolerance }) {
      let group = group.sorted { $0.0.region.startSeconds < $1.0.region.startSeconds }
      let comparisons = group.map(\.0)
      let events = candidateEvents(of: comparisons)
      let hasTimes = kind == .time && group.count == 1
      differenceList.add(
        Difference(
          kind,
          in: comparisons[0].region
            .startSeconds...comparisons[comparisons.count - 1].region.endSeconds,
          amount: group[0].1,
          referenceValue: hasTimes ? comparisons[0].region.startSeconds : nil,
          candidateValue: hasTimes ? events[0].timeSeconds : nil),
        of: events)
    }
  }

  /// Adds the differences in the times of sounds.
  private mutating func addTimeShifts(reportsWhole: Bool) {
    let commonShiftSeconds =
      reportsWhole
      ? Self.majorityValue(of: soundComparisons.map(\.timeShiftSeconds), within: 0.000_1) ?? 0 : 0
    let overallShiftSeconds =
      options.alignment == .start ? commonShiftSeconds : delaySeconds + commonShiftSeconds
    delaySeconds += commonShiftSeconds
    // Times of different shapes are those of the first audible sample, which depends on the shape.
    let areShiftsAccurate =
      soundComparisons.count { $0.hasMatchingShape } * 2 > soundComparisons.count
    if abs(overallShiftSeconds) > (areShiftsAccurate ? 0.000_04 : 0.001) {
      differenceList.addOverall(.time, amount: overallShiftSeconds)
    }
    let residualShifts = soundComparisons.map { ($0, $0.timeShiftSeconds - commonShiftSeconds) }
    let significantShifts = residualShifts.filter { comparison, shift in
      abs(shift) > (comparison.hasMatchingShape ? SoundComparison.minimumTimeShiftSeconds : 0.001)
    }
    addGroupedDifferences(.time, significantShifts, within: 0.000_2)
  }

  /// Adds the differences in the levels of sounds.
  private mutating func addLevelChanges() {
    let constantComparisons = soundComparisons.filter { $0.levelSegments.isEmpty }
    let commonLevelDecibels =
      Self.majorityValue(of: constantComparisons.map(\.levelChangeDecibels), within: 0.1) ?? 0
    let hasCommonLevel = soundComparisons.allSatisfy {
      $0.levelSegments.isEmpty && abs($0.levelChangeDecibels - commonLevelDecibels) <= 0.1
    }
    // Without a level match, levels are reported as they are, unless all sounds share one.
    let overallDecibels =
      options.levelMatch == LevelMatch.none && !hasCommonLevel ? 0 : commonLevelDecibels
    if abs(overallDecibels) >= SoundComparison.minimumLevelChangeDecibels {
      overallLevelDecibels = overallDecibels
      differenceList.addOverall(.level, amount: overallDecibels)
    }
    let remainingLevels = constantComparisons.map { ($0, $0.levelChangeDecibels - overallDecibels) }
    addGroupedDifferences(.level, remainingLevels.filter { abs($0.1) > 0.15 }, within: 0.1)
    for comparison in soundComparisons {
      addLevelSegments(of: comparison, overallLevel: overallDecibels)
    }
  }

  /// Adds the differences of a sound whose level change is not constant.
  private mutating func addLevelSegments(of comparison: SoundComparison, overallLevel: Double) {
    let changedSegments = comparison.levelSegments.map { segment in
      let isConstant = abs(segment.extremeDecibels - segment.medianDecibels) < 0.5
      let changeDecibels = isConstant ? segment.medianDecibels : segment.extremeDecibels
      return (
        range: segment.timeRange, amount: changeDecibels - overallLevel, isConstant: isConstant
      )
    }.filter { abs($0.amount) > LevelDifferenceCurve.minimumDifferenceDecibels }
    let candidateLabel = differenceList.candidateNames.takeLabel
    guard changedSegments.count > Self.maximumSegmentCount else {
      for (range, amount, isConstant) in changedSegments {
        let changeText = (isConstant ? "" : "up to ") + Difference.Kind.level.changeText(amount)
        differenceList.add(
          Difference(.level, in: range, amount: amount),
          sentence: "\(candidateLabel) is \(changeText) between \(SentenceFormatting.range(range))")
      }
      return
    }
    let minimumDecibels = changedSegments.map(\.amount).min() ?? 0
    let maximumDecibels = changedSegments.map(\.amount).max() ?? 0
    let segmentRange =
      changedSegments[0].range
      .lowerBound...changedSegments[changedSegments.count - 1].range.upperBound
    differenceList.add(
      Difference(
        .level, in: segmentRange,
        amount: abs(minimumDecibels) > maximumDecibels ? minimumDecibels : maximumDecibels),
      sentence:
        "\(candidateLabel)'s level follows a different curve between "
        + "\(SentenceFormatting.range(segmentRange)): "
        + SentenceFormatting.amountRange(
          from: minimumDecibels, to: maximumDecibels, unit: .decibels))
  }

  /// Adds the differences in the frequencies of sounds.
  private mutating func addFrequencyChanges() {
    // A single sound is reported with both frequencies.
    let changePercents = soundComparisons.map { $0.frequencyChange?.changePercent ?? 0 }
    let commonPercent =
      soundComparisons.count == 1 ? 0 : Self.majorityValue(of: changePercents, within: 0.6) ?? 0
    if abs(commonPercent) >= SoundComparison.minimumFrequencyChangePercent {
      differenceList.addOverall(.frequency, amount: commonPercent)
    }
    for comparison in soundComparisons {
      guard let change = comparison.frequencyChange, abs(change.changePercent - commonPercent) > 1
      else {
        continue
      }
      differenceList.add(
        Difference(
          .frequency, in: comparison.region.secondsRange, amount: change.changePercent,
          referenceValue: change.referenceHertz,
          candidateValue: change.candidateHertz),
        of: candidateEvents(of: [comparison]),
        detail: ": "
          + SentenceFormatting.frequencies(change.candidateHertz, insteadOf: change.referenceHertz))
    }
  }

  /// Adds the differences in the durations and waveforms of sounds.
  private mutating func addDurationsAndResiduals() {
    for comparison in soundComparisons {
      if comparison.durationChangeSeconds != 0 {
        differenceList.add(
          Difference(
            .duration, in: comparison.region.secondsRange, amount: comparison.durationChangeSeconds,
            referenceValue: comparison.region.durationSeconds,
            candidateValue: comparison.candidateRegion.durationSeconds),
          of: candidateEvents(of: [comparison]))
      }
      guard let residual = comparison.residualDecibels else { continue }
      differenceList.add(
        Difference(residual: residual, in: comparison.region.secondsRange),
        of: candidateEvents(of: [comparison]))
    }
  }

  /// Adds differences for regions without a counterpart.
  ///
  /// All taps become one difference, and all longer regions become another.
  ///
  /// - Parameters:
  ///   - kind: The kind of the differences.
  ///   - regions: The regions of the signal.
  ///   - paired: The indices of regions with a counterpart.
  ///   - samples: The signal.
  ///   - opposite: The other signal. Regions that sound there, too, are not reported.
  ///   - delay: The delay of the events, in seconds.
  private mutating func addUnpairedRegions(
    _ kind: Difference.Kind, _ regions: [ActiveRegion], paired: Set<Int>, in samples: [Float],
    opposite: [Float], delay: Double
  ) {
    let unpairedRegions = regions.indices.filter { !paired.contains($0) }.map { regions[$0] }
    let uniqueRegions = unpairedRegions.filter {
      Statistics.meanSquare(of: opposite[$0.sampleRange]) < 0.1
        * Statistics.meanSquare(of: samples[$0.sampleRange])
    }
    for areTaps in [true, false] {
      let regions = uniqueRegions.filter { $0.isTap == areTaps }
      guard let firstRegion = regions.first, let lastRegion = regions.last else { continue }
      let peakMagnitude = regions.map { Statistics.peak(of: samples[$0.sampleRange]) }.max() ?? 0
      differenceList.add(
        Difference(
          kind, in: firstRegion.startSeconds...lastRegion.endSeconds,
          amount: Decibels.of(amplitude: Double(peakMagnitude))),
        of: regions.map { $0.event(delay: delay) })
    }
  }
}

extension Difference {
  /// Creates a waveform difference from the level of its residual.
  ///
  /// The level is in decibels relative to the sound.
  init(residual: Double, in range: ClosedRange<Double>, isOverall: Bool = false) {
    self.init(
      .spectrum, in: range, isOverall: isOverall, amount: residual,
      significance: max(0, (residual + 30) / 6))
  }
}
