internal import CMath
internal import SignalAnalysis

/// A search for dense bursts in segments that a tone and isolated bursts do not explain.
///
/// The dense bursts are an alternative interpretation of such segments.
///
/// For each such segment, three interpretations are compared:
///
/// 1. the bursts that are known, on the sustained tone,
/// 2. other bursts, found by matching pursuit on a tone that is smoothed more,
/// 3. only bursts, without a tone.
///
/// The interpretation with the shortest description wins (J. Rissanen, "Modeling by shortest data
/// description", Automatica 14, 1978): half the logarithm of the residual power for each
/// independent sample, plus a cost for each burst and for the tone. No model is exact, so a
/// fraction of the signal's power is added to each residual.
struct BurstTrainSearch {
  let dictionary: AtomDictionary
  /// The minimum amplitude of a burst.
  let minimumBurstAmplitude: Float

  /// An interpretation of a signal as bursts and a tone.
  struct Interpretation {
    /// The bursts of the interpretation, sorted by time.
    var bursts: [FoundBurst]
    /// Boolean values that indicate, for each sample, whether it consists only of bursts.
    var isBurstTrainSample: [Bool]
  }

  /// The length of the window for comparing interpretations, in seconds.
  private static let comparisonWindowSeconds = 0.12
  /// The maximum residual power of a sufficient interpretation, relative to the signal's power.
  ///
  /// Above it, other interpretations are considered.
  private static let minimumResidualPowerFraction = Float(0.04)
  /// The maximum duration of a segment, in seconds.
  private static let maximumSegmentSeconds = 20.0
  /// The number of statistically independent samples per second, for each hertz of bandwidth.
  ///
  /// The bandwidth is the profile's highest frequency.
  private static let independentSamplesPerHertz = 2.6
  /// The description length of one burst, in log evidence.
  private static let burstDescriptionLength = Float(12)
  /// The description length of a tone and its changes, in units of one burst.
  private static let toneDescriptionLengthInBursts = Float(2)
  /// The fraction of the signal's power that even a correct model leaves unexplained.
  private static let modelErrorPowerFraction = Float(0.004)
  /// The maximum number of bursts per second.
  private static let maximumBurstsPerSecond = 90.0
  /// The minimum power of a burst relative to the strongest burst.
  private static let minimumPowerToStrongestRatio = Float(0.006)
  /// The minimum power of a burst relative to the strongest burst within 50 ms.
  private static let minimumPowerToNeighborRatio = Float(0.03)
  /// The maximum time between two bursts that count as neighbors, in seconds.
  private static let neighborDistanceSeconds = 0.05

  // MARK: - Comparison of interpretations

  /// The first interpretation of a signal, with which the other interpretations are compared.
  private struct Baseline {
    /// The length of the comparison window, in samples.
    let windowSampleCount: Int
    /// The bursts of the first interpretation.
    let bursts: [FoundBurst]
    /// The mean power of the signal around each sample.
    let meanPowers: [Float]
    /// The mean residual power of the first interpretation around each sample.
    let meanResidualPowers: [Float]
    /// Half the number of statistically independent samples in a comparison window.
    let halfIndependentSamplesPerWindow: Float

    /// Returns true if the residual of the first interpretation is large at a sample.
    func isDoubtful(at index: Int) -> Bool {
      meanResidualPowers[index] > BurstTrainSearch.minimumResidualPowerFraction * meanPowers[index]
    }
  }

  /// Returns the interpretation with the shortest description.
  ///
  /// - Parameters:
  ///   - samples: The signal.
  ///   - tone: The sustained tone of the first interpretation.
  ///   - bursts: The bursts of the first interpretation.
  ///   - slowTone: A function that returns the tone of a range with longer medians, which ignore
  ///     several bursts.
  func interpretation(
    of samples: [Float], tone: SustainedTone, bursts: [FoundBurst],
    slowTone: (Range<Int>) -> [Float]
  ) -> Interpretation {
    let baseline = baseline(of: samples, tone: tone, bursts: bursts)
    let marginSamples = Int(0.05 * dictionary.analysisDurationFactor * dictionary.sampleRate)
    var interpretation = Interpretation(
      bursts: bursts, isBurstTrainSample: [Bool](repeating: false, count: samples.count))
    var scratchSamples = samples
    for segment in doubtfulSegments(baseline, margin: marginSamples) {
      let start = max(0, segment.lowerBound - marginSamples)
      let range = start..<min(samples.count, segment.upperBound + marginSamples)
      let train = matchingPursuit(of: Array(samples[range]), from: start)
      let (onTone, residual) = burstsOnTone(
        in: range, of: samples, tone: tone, slowTone: slowTone(range), scratch: &scratchSamples)
      let trainDecreases = descriptionDecreases(
        of: train.bursts, residual: train.residual, toneCost: Self.toneDescriptionLengthInBursts,
        in: range, baseline)
      let toneDecreases = descriptionDecreases(
        of: onTone, residual: residual, toneCost: 0, in: range, baseline)
      interpretation.replace(
        range, with: onTone, isTrain: false, minimumCount: baseline.windowSampleCount / 2
      ) { toneDecreases[$0] > max(0, trainDecreases[$0]) }
      interpretation.replace(
        range, with: train.bursts, isTrain: true, minimumCount: baseline.windowSampleCount / 2
      ) { trainDecreases[$0] > max(0, toneDecreases[$0]) }
    }
    interpretation.bursts.sort { $0.startSample < $1.startSample }
    return interpretation
  }

  private func baseline(
    of samples: [Float], tone: SustainedTone, bursts: [FoundBurst]
  ) -> Baseline {
    let sampleRate = dictionary.sampleRate
    let windowSampleCount = Int(
      Self.comparisonWindowSeconds * dictionary.analysisDurationFactor * sampleRate)
    let independentSampleRate =
      Self.independentSamplesPerHertz * dictionary.toneBandHertz.upperBound
    let samplesWithoutTone = zip(samples, tone.samples).map { $0 - $1 }
    let burstResidual = PursuitResidual(
      samplesWithoutTone, dictionary: dictionary, subtracting: bursts)
    return Baseline(
      windowSampleCount: windowSampleCount, bursts: bursts,
      meanPowers: SampleMath.movingMean(of: samples.map { $0 * $0 }, over: windowSampleCount),
      meanResidualPowers: SampleMath.movingMean(
        of: burstResidual.unpaddedSamples.map { $0 * $0 }, over: windowSampleCount),
      halfIndependentSamplesPerWindow: Float(
        independentSampleRate * Double(windowSampleCount) / sampleRate) / 2)
  }

  /// Returns the segments that the first interpretation does not explain.
  ///
  /// The segments are divided into parts of at most `maximumSegmentSeconds`.
  private func doubtfulSegments(_ baseline: Baseline, margin: Int) -> [Range<Int>] {
    let minimumMeanPower = 4 * minimumBurstAmplitude * minimumBurstAmplitude
    let doubtfulRanges = SampleMath.segments(baseline.meanPowers.count, closing: 2 * margin) {
      baseline.isDoubtful(at: $0) && baseline.meanPowers[$0] > minimumMeanPower
    }
    let maximumSegmentSamples = Int(Self.maximumSegmentSeconds * dictionary.sampleRate)
    return doubtfulRanges.flatMap { segment in
      stride(from: segment.lowerBound, to: segment.upperBound, by: maximumSegmentSamples).map {
        $0..<min(segment.upperBound, $0 + maximumSegmentSamples)
      }
    }
  }

  /// Returns the bursts to add to the tone in a range, and the residual without tone and bursts.
  ///
  /// Sudden changes of the tone itself do not count as bursts.
  ///
  /// - Parameters:
  ///   - range: The samples.
  ///   - samples: The signal.
  ///   - tone: The sustained tone of the first interpretation.
  ///   - slowTone: The smoothed tone of the range.
  ///   - scratch: A copy of the signal, which is restored, so that a long signal is not copied for
  ///     each range.
  private func burstsOnTone(
    in range: Range<Int>, of samples: [Float], tone: SustainedTone, slowTone: [Float],
    scratch: inout [Float]
  ) -> (bursts: [FoundBurst], residual: [Float]) {
    let samplesWithoutTone = zip(samples[range], slowTone).map { $0 - $1 }
    let burstPursuit = matchingPursuit(of: samplesWithoutTone, from: range.lowerBound)
    scratch.replaceSubrange(range, with: burstPursuit.residual)
    let stepFreeBursts = burstsWithoutSteps(
      burstPursuit.bursts, of: samples, tone: tone, residual: scratch)
    scratch.replaceSubrange(range, with: samples[range])
    let remainingResidual = PursuitResidual(
      samplesWithoutTone, dictionary: dictionary,
      subtracting: stepFreeBursts.map { $0.delayed(bySamples: -range.lowerBound) })
    return (stepFreeBursts, remainingResidual.unpaddedSamples)
  }

  /// Returns the bursts that a sudden change of the tone does not explain.
  private func burstsWithoutSteps(
    _ bursts: [FoundBurst], of samples: [Float], tone: SustainedTone, residual: [Float]
  ) -> [FoundBurst] {
    let stepTest = ToneStepTest(
      dictionary: dictionary, samples: samples, residualSamples: residual,
      toneLevels: tone.toneAmplitudes,
      toneHertz: tone.frequencyTrack.hertzBySample)
    return bursts.filter { !stepTest.isStep($0) }
  }

  /// Returns the decrease of the description length by an interpretation, for each sample.
  ///
  /// The decrease is relative to the first interpretation.
  ///
  /// - Parameters:
  ///   - bursts: The bursts of an interpretation.
  ///   - residual: Its residual in the range.
  ///   - toneCost: The cost of the tone that it saves, in bursts.
  ///   - range: The samples.
  ///   - baseline: The first interpretation.
  private func descriptionDecreases(
    of bursts: [FoundBurst], residual: [Float], toneCost: Float, in range: Range<Int>,
    _ baseline: Baseline
  ) -> [Float] {
    let windowSampleCount = baseline.windowSampleCount
    let windowResidualPowers = SampleMath.movingMean(
      of: residual.map { $0 * $0 }, over: windowSampleCount)
    let burstCounts = Self.burstCounts(bursts, in: range, over: windowSampleCount)
    let baselineBurstCounts = Self.burstCounts(baseline.bursts, in: range, over: windowSampleCount)
    return range.indices.map { position in
      let index = position - range.lowerBound
      guard baseline.isDoubtful(at: position) else { return 0 }
      let modelError = Self.modelErrorPowerFraction * baseline.meanPowers[position]
      let ratio =
        (baseline.meanResidualPowers[position] + modelError)
        / (windowResidualPowers[index] + modelError)
      let gain = Float(log(Double(ratio)))
      let burstCount = burstCounts[index] - baselineBurstCounts[index] - toneCost
      return baseline.halfIndependentSamplesPerWindow * gain - Self.burstDescriptionLength
        * burstCount
    }
  }

  /// Returns the number of bursts that start within a window around each sample.
  private static func burstCounts(
    _ bursts: [FoundBurst], in range: Range<Int>, over count: Int
  ) -> [Float] {
    var burstMarks = [Float](repeating: 0, count: range.count)
    for burst in bursts where range.contains(burst.startSample) {
      burstMarks[burst.startSample - range.lowerBound] += Float(count)
    }
    return SampleMath.movingMean(of: burstMarks, over: count)
  }

  // MARK: - Matching pursuit

  /// Decomposes a signal into bursts by matching pursuit, the strongest burst first.
  ///
  /// Each burst is then refined twice, with all others subtracted.
  ///
  /// Source: S. Mallat, Z. Zhang, "Matching pursuits with time-frequency dictionaries", IEEE
  /// Transactions on Signal Processing 41, 1993.
  ///
  /// - Parameters:
  ///   - samples: The signal.
  ///   - start: The position of the signal, which is added to the positions of the bursts.
  private func matchingPursuit(
    of samples: [Float], from start: Int
  ) -> (bursts: [FoundBurst], residual: [Float]) {
    var pursuit = PursuitResidual(samples, dictionary: dictionary, hasFixedPhase: true)
    var burstMatches = MatchIndex(
      positionCount: pursuit.paddedSamples.count - dictionary.maximumAtomSampleCount)
    burstMatches.update(0..<burstMatches.positionCount, pursuit)
    let minimumBurstEnergy = max(
      64 * minimumBurstAmplitude * minimumBurstAmplitude,
      burstMatches.maximumEnergy * Self.minimumPowerToStrongestRatio)
    let durationSeconds = Double(samples.count) / dictionary.sampleRate
    var bursts: [FoundBurst] = []
    for _ in 0..<Int(durationSeconds * Self.maximumBurstsPerSecond) + 4 {
      guard let coarse = burstMatches.strongestMatch(minimumEnergy: minimumBurstEnergy) else {
        break
      }
      bursts.append(pursuit.subtract(pursuit.refined(coarse)))
      let first = coarse.startSample - dictionary.maximumAtomSampleCount
      let end = coarse.startSample + dictionary.atoms[coarse.atomIndex].sampleCount
      burstMatches.update(first..<end, pursuit)
    }
    for _ in 0..<2 {
      for index in bursts.indices {
        bursts[index] = pursuit.refit(bursts[index])
      }
    }
    return (mergedBursts(bursts).map { $0.delayed(bySamples: start) }, pursuit.unpaddedSamples)
  }

  /// An index of the best-matching burst at each position.
  ///
  /// It stores the maximum energy of each block of positions, so that the strongest match is found
  /// quickly.
  private struct MatchIndex {
    /// The number of positions in a block.
    private static let blockPositionCount = 64

    /// The number of positions in the index.
    let positionCount: Int
    private var matches: [FoundBurst?]
    private var maximumEnergyByBlock: [Float]

    init(positionCount count: Int) {
      self.positionCount = count
      matches = [FoundBurst?](repeating: nil, count: count)
      maximumEnergyByBlock = [Float](repeating: 0, count: count / Self.blockPositionCount + 1)
    }

    /// The energy of the strongest match.
    var maximumEnergy: Float { maximumEnergyByBlock.max() ?? 0 }

    /// Recomputes the best matches in a range of positions.
    mutating func update(_ range: Range<Int>, _ pursuit: PursuitResidual) {
      let range = range.clamped(to: 0..<positionCount)
      let atoms = pursuit.dictionary.coarseSearchAtomIndices
      for index in range {
        matches[index] = pursuit.bestBurst(atoms: atoms, within: 0) { _ in index }
      }
      guard !range.isEmpty else { return }
      let firstBlock = range.lowerBound / Self.blockPositionCount
      let lastBlock = (range.upperBound - 1) / Self.blockPositionCount
      for block in firstBlock...lastBlock {
        maximumEnergyByBlock[block] = matches[positions(ofBlock: block)].reduce(0) {
          max($0, $1?.explainedEnergy ?? 0)
        }
      }
    }

    /// Returns the strongest match, or nil if every match has less than a minimum energy.
    func strongestMatch(minimumEnergy: Float) -> FoundBurst? {
      guard
        let block = maximumEnergyByBlock.indices.max(by: {
          maximumEnergyByBlock[$0] < maximumEnergyByBlock[$1]
        }),
        maximumEnergyByBlock[block] >= minimumEnergy
      else { return nil }
      let match = matches[positions(ofBlock: block)].first {
        $0?.explainedEnergy == maximumEnergyByBlock[block]
      }
      return match ?? nil
    }

    private func positions(ofBlock block: Int) -> Range<Int> {
      let first = block * Self.blockPositionCount
      return first..<min(positionCount, first + Self.blockPositionCount)
    }
  }

  /// Returns the bursts that can be felt separately, sorted by time.
  ///
  /// Bursts that a stronger burst masks or fuses with are omitted.
  private func mergedBursts(_ bursts: [FoundBurst]) -> [FoundBurst] {
    let sortedBursts = bursts.sorted { $0.startSample < $1.startSample }
    let fusionSamples = VibrationTrace.fusionSeconds * dictionary.sampleRate
    var keptBursts: [FoundBurst] = []
    for (index, burst) in sortedBursts.enumerated() {
      let minimumEnergy =
        Self.minimumPowerToNeighborRatio * neighborEnergy(of: index, in: sortedBursts)
      guard burst.explainedEnergy > minimumEnergy else { continue }
      if let last = keptBursts.last,
        burst.onsetInSamples(in: dictionary) - last.onsetInSamples(in: dictionary) < fusionSamples
      {
        if burst.explainedEnergy > last.explainedEnergy {
          keptBursts[keptBursts.count - 1] = burst
        }
      } else {
        keptBursts.append(burst)
      }
    }
    return keptBursts
  }

  /// Returns the maximum energy among a burst and its neighbors.
  private func neighborEnergy(of index: Int, in bursts: [FoundBurst]) -> Float {
    let centralBurst = bursts[index]

    func isNear(_ other: FoundBurst) -> Bool {
      abs(Double(other.startSample - centralBurst.startSample)) < Self.neighborDistanceSeconds
        * dictionary.sampleRate
    }

    let precedingBursts = bursts[..<index].reversed().prefix(while: isNear)
    let followingBursts = bursts[index...].prefix(while: isNear)
    return (Array(precedingBursts) + Array(followingBursts)).reduce(0) {
      max($0, $1.explainedEnergy)
    }
  }
}

extension BurstTrainSearch.Interpretation {
  /// Adopts another interpretation in the segments of a range that it explains better.
  ///
  /// - Parameters:
  ///   - range: The samples.
  ///   - bursts: The bursts of the other interpretation.
  ///   - isTrain: Pass true if it consists only of bursts.
  ///   - minimumCount: The minimum length of a segment.
  ///   - isBetter: A function of the index in the range.
  fileprivate mutating func replace(
    _ range: Range<Int>, with bursts: [FoundBurst], isTrain: Bool, minimumCount: Int,
    where isBetter: (Int) -> Bool
  ) {
    for segment in SampleMath.segments(range.count, closing: 1, where: isBetter)
    where segment.count >= minimumCount {
      let start = segment.lowerBound + range.lowerBound
      let positions = start..<segment.upperBound + range.lowerBound
      self.bursts.removeAll { positions.contains($0.startSample) }
      self.bursts += bursts.filter { positions.contains($0.startSample) }
      guard isTrain else { continue }
      for index in positions {
        self.isBurstTrainSample[index] = true
      }
    }
  }
}
