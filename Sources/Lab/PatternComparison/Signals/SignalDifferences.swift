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
  private let comparisons: [SoundComparison]
  /// The overall delay of the candidate, in seconds.
  private(set) var delaySeconds: Double
  /// The overall level of the candidate, in decibels relative to the reference.
  private(set) var levelDecibels: Double

  /// The maximum number of segments with a changed level per sound that are reported separately.
  private static let maximumSegmentCount = 3

  /// The ratio of a magnitude to the peak below which rendered patterns count as silent: −35 dB, as
  /// in the comparison of patterns by what is felt. The DC blocker has a slow tail below it.
  private static let patternSilenceRatio: Float = 0.018

  /// Finds the differences between two signals.
  ///
  /// - Parameters:
  ///   - pair: The signals.
  ///   - arePatterns: Pass true if both signals are renderings of patterns.
  ///   - options: The options of the comparison.
  init(_ pair: SignalPair, arePatterns: Bool, options: ComparisonOptions) {
    self.pair = pair
    self.options = options
    delaySeconds = Double(pair.alignmentShiftFrames) / pair.rate
    levelDecibels = 0
    let background = BackgroundSound.background(of: pair)
    let clipping = ClippedPeaks(pair.reference) == nil ? ClippedPeaks(pair.candidate) : nil
    let peak = max(Statistics.peak(of: pair.reference), Statistics.peak(of: pair.candidate))
    let patternThreshold = arePatterns ? peak * Self.patternSilenceRatio : 0
    func regions(_ samples: [Float]) -> [ActiveRegion] {
      let silence = max(ActiveRegion.silenceMagnitude(of: samples), patternThreshold)
      return ActiveRegion.findRegions(
        in: samples, rate: pair.rate,
        threshold: max(silence, background?.maximumUsualMagnitude ?? 0))
    }
    let referenceRegions = regions(pair.reference)
    let candidateRegions = regions(pair.candidate)
    let start = referenceRegions.first?.startSeconds ?? 0
    differenceList = DifferenceList(
      candidateNames: EventNames(
        candidateRegions.map { $0.event() }, takeLabel: options.candidateLabel),
      referenceNames: EventNames(
        referenceRegions.map { $0.event() }, takeLabel: options.referenceLabel),
      overallRange: start...max(start, referenceRegions.last?.endSeconds ?? start))
    func levels(_ regions: [ActiveRegion], _ samples: [Float]) -> [Double] {
      regions.map { Decibels.of(power: Statistics.meanSquare(of: samples[$0.sampleRange])) }
    }
    let referenceLevels = levels(referenceRegions, pair.reference)
    let candidateLevels = levels(candidateRegions, pair.candidate)
    let pairs = SequenceAlignment.pairs(
      referenceRegions.map(\.startSeconds), candidateRegions.map(\.startSeconds)
    ) {
      referenceRegions[$0].pairingCost(
        with: candidateRegions[$1], level: referenceLevels[$0], otherLevel: candidateLevels[$1])
    }
    comparisons = pairs.map { index, candidateIndex in
      SoundComparison(
        referenceRegions[index], candidateRegions[candidateIndex], of: pair,
        noise: background?.meanSquare ?? 0, ceiling: clipping?.clippedMagnitude ?? .infinity)
    }
    addWholeSignalDifferences(background: background, clipping: clipping)
    // A single pair represents the whole take only if there are no other sounds.
    let hasOneSound = referenceRegions.count <= 1 && candidateRegions.count <= 1
    addTimeShifts(
      reportsWhole: comparisons.count > 1 || comparisons.count == 1 && hasOneSound)
    addLevelChanges()
    addFrequencyChanges()
    addDurationsAndResiduals()
    addUnpairedRegions(
      .missing, referenceRegions, paired: Set(pairs.map(\.0)), in: pair.reference,
      opposite: pair.candidate, delay: 0)
    addUnpairedRegions(
      .added, candidateRegions, paired: Set(pairs.map(\.1)), in: pair.candidate,
      opposite: pair.reference, delay: alignmentShiftSeconds)
  }

  /// The shift of the candidate that was removed from the pair, in seconds.
  private var alignmentShiftSeconds: Double { Double(pair.alignmentShiftFrames) / pair.rate }
  /// Returns events for the candidate's sounds, at their times before alignment.
  private func candidateEvents(of comparisons: [SoundComparison]) -> [IndexedEvent] {
    comparisons.map { $0.candidateRegion.event(delay: alignmentShiftSeconds) }
  }

  /// Adds the differences that apply to the whole signals: polarity, DC offset, background noise,
  /// and clipping.
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
      differenceList.addBackground(decibels: background.decibels, hertz: background.humHertz)
    }
    guard let clipping else { return }
    let level = SentenceFormatting.number(
      Decibels.of(amplitude: Double(clipping.clippedMagnitude)), places: 1)
    let start = Double(clipping.clippedFrames.lowerBound) / pair.rate
    let end = Double(clipping.clippedFrames.upperBound) / pair.rate
    let plural = clipping.clippedRunCount == 1 ? "" : "s"
    differenceList.add(
      Difference(
        .clipping, in: start...end, amount: Double(clipping.clippedSampleCount),
        after: Double(clipping.clippedMagnitude)),
      sentence:
        "\(options.candidateLabel) is clipped at \(level) dBFS in \(clipping.clippedRunCount) place"
        + "\(plural), between \(SentenceFormatting.range(start...end))")
  }

  /// Returns the value that at least 60 % of the values share within a tolerance, or nil. If there
  /// are only two values, both must agree.
  private static func commonValue(of values: [Double], within tolerance: Double) -> Double? {
    let sorted = values.sorted()
    guard !sorted.isEmpty else { return nil }
    var best: ArraySlice<Double> = []
    var end = 0
    for start in sorted.indices {
      while end < sorted.count, sorted[end] - sorted[start] <= tolerance {
        end += 1
      }
      if end - start > best.count {
        best = sorted[start..<end]
      }
    }
    let minimumCount = max(Double(sorted.count) * 0.6, min(2, Double(sorted.count)))
    guard Double(best.count) >= minimumCount else { return nil }
    return best[(best.startIndex + best.endIndex) / 2]
  }

  /// Adds a difference for each group of sounds with the same amount.
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
          before: hasTimes ? comparisons[0].region.startSeconds : nil,
          after: hasTimes ? events[0].timeSeconds : nil),
        of: events)
    }
  }

  /// Adds the differences of time.
  private mutating func addTimeShifts(reportsWhole: Bool) {
    let commonShift =
      reportsWhole
      ? Self.commonValue(of: comparisons.map(\.timeShiftSeconds), within: 0.000_1) ?? 0 : 0
    let shift = options.alignment == .start ? commonShift : delaySeconds + commonShift
    delaySeconds += commonShift
    // Times of different shapes are those of the first audible sample, which depends on the shape.
    let isAccurate = comparisons.count { $0.hasMatchingShape } * 2 > comparisons.count
    if abs(shift) > (isAccurate ? 0.000_04 : 0.001) {
      differenceList.addOverall(.time, amount: shift)
    }
    let shifts = comparisons.map { ($0, $0.timeShiftSeconds - commonShift) }
    let significant = shifts.filter { comparison, shift in
      abs(shift) > (comparison.hasMatchingShape ? SoundComparison.minimumTimeShiftSeconds : 0.001)
    }
    addGroupedDifferences(.time, significant, within: 0.000_2)
  }

  /// Adds the differences of level.
  private mutating func addLevelChanges() {
    let constant = comparisons.filter { $0.levelSegments.isEmpty }
    let commonLevel = Self.commonValue(of: constant.map(\.levelChangeDecibels), within: 0.1) ?? 0
    let hasCommonLevel = comparisons.allSatisfy {
      $0.levelSegments.isEmpty && abs($0.levelChangeDecibels - commonLevel) <= 0.1
    }
    // Without a level match, levels are reported as they are, unless all sounds share one.
    let overallLevel = options.levelMatch == LevelMatch.none && !hasCommonLevel ? 0 : commonLevel
    if abs(overallLevel) >= SoundComparison.minimumLevelChangeDecibels {
      levelDecibels = overallLevel
      differenceList.addOverall(.level, amount: overallLevel)
    }
    let levels = constant.map { ($0, $0.levelChangeDecibels - overallLevel) }
    addGroupedDifferences(.level, levels.filter { abs($0.1) > 0.15 }, within: 0.1)
    for comparison in comparisons {
      addLevelSegments(of: comparison, overallLevel: overallLevel)
    }
  }

  /// Adds the differences of a sound whose level changes during the sound.
  private mutating func addLevelSegments(of comparison: SoundComparison, overallLevel: Double) {
    let segments = comparison.levelSegments.map { segment in
      let isConstant = abs(segment.extremeDecibels - segment.medianDecibels) < 0.5
      let level = isConstant ? segment.medianDecibels : segment.extremeDecibels
      return (range: segment.range, amount: level - overallLevel, isConstant: isConstant)
    }.filter { abs($0.amount) > LevelDifferenceCurve.minimumDifferenceDecibels }
    let owner = differenceList.candidateNames.takeLabel
    guard segments.count > Self.maximumSegmentCount else {
      for (range, amount, isConstant) in segments {
        let change = (isConstant ? "" : "up to ") + Difference.Kind.level.changeText(amount)
        differenceList.add(
          Difference(.level, in: range, amount: amount),
          sentence: "\(owner) is \(change) between \(SentenceFormatting.range(range))")
      }
      return
    }
    let minimum = segments.map(\.amount).min() ?? 0
    let maximum = segments.map(\.amount).max() ?? 0
    let range = segments[0].range.lowerBound...segments[segments.count - 1].range.upperBound
    differenceList.add(
      Difference(.level, in: range, amount: abs(minimum) > maximum ? minimum : maximum),
      sentence:
        "\(owner)'s level follows a different curve between \(SentenceFormatting.range(range)): "
        + SentenceFormatting.spread(from: minimum, to: maximum, unit: .decibels))
  }

  /// Adds the differences of frequency.
  private mutating func addFrequencyChanges() {
    // A single sound is reported with both frequencies.
    let percents = comparisons.map { $0.frequencyChange?.changePercent ?? 0 }
    let commonPercent =
      comparisons.count == 1 ? 0 : Self.commonValue(of: percents, within: 0.6) ?? 0
    if abs(commonPercent) >= SoundComparison.minimumFrequencyPercent {
      differenceList.addOverall(.frequency, amount: commonPercent)
    }
    for comparison in comparisons {
      guard let change = comparison.frequencyChange, abs(change.changePercent - commonPercent) > 1
      else {
        continue
      }
      differenceList.add(
        Difference(
          .frequency, in: comparison.region.secondsRange, amount: change.changePercent,
          before: change.referenceHertz,
          after: change.candidateHertz),
        of: candidateEvents(of: [comparison]),
        detail: ": "
          + SentenceFormatting.frequencies(change.candidateHertz, insteadOf: change.referenceHertz))
    }
  }

  /// Adds the differences of duration and of waveform.
  private mutating func addDurationsAndResiduals() {
    for comparison in comparisons {
      if comparison.durationChangeSeconds != 0 {
        differenceList.add(
          Difference(
            .duration, in: comparison.region.secondsRange, amount: comparison.durationChangeSeconds,
            before: comparison.region.durationSeconds,
            after: comparison.candidateRegion.durationSeconds),
          of: candidateEvents(of: [comparison]))
      }
      guard let residual = comparison.residualDecibels else { continue }
      differenceList.add(
        Difference(residual: residual, in: comparison.region.secondsRange),
        of: candidateEvents(of: [comparison]))
    }
  }

  /// Adds one difference for all taps without a counterpart, and one for all longer regions without
  /// a counterpart.
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
    let unpaired = regions.indices.filter { !paired.contains($0) }.map { regions[$0] }
    let unique = unpaired.filter {
      Statistics.meanSquare(of: opposite[$0.sampleRange]) < 0.1
        * Statistics.meanSquare(of: samples[$0.sampleRange])
    }
    for areTaps in [true, false] {
      let regions = unique.filter { $0.isTap == areTaps }
      guard let first = regions.first, let last = regions.last else { continue }
      let peak = regions.map { Statistics.peak(of: samples[$0.sampleRange]) }.max() ?? 0
      differenceList.add(
        Difference(
          kind, in: first.startSeconds...last.endSeconds,
          amount: Decibels.of(amplitude: Double(peak))),
        of: regions.map { $0.event(delay: delay) })
    }
  }
}

extension Difference {
  /// Creates a waveform difference from the level of its residual, in decibels relative to the
  /// sound.
  init(residual: Double, in range: ClosedRange<Double>, isOverall: Bool = false) {
    self.init(
      .spectrum, in: range, isOverall: isOverall, amount: residual,
      significance: max(0, (residual + 30) / 6))
  }
}
