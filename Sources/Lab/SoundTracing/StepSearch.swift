internal import SignalAnalysis

/// A search that replaces bursts by a sudden step from one tone to the next.
///
/// A step must explain the signal as well as the bursts.
///
/// A tone that is linked across a step leaves a residual that bursts explain, and so does a tone
/// whose edge is inexact. For each burst, the tone is divided at the best position. The first part
/// may end anywhere, and the second may begin anywhere after it. Two successive tones with edges
/// near the burst are divided together, and a tone that starts or ends there has only one part.
/// The division is kept if its residual is not much larger than that of the bursts.
///
/// A tone may extend over a neighboring tone of a similar frequency. The neighbor then has an
/// inexact edge, or it was not selected. If the neighbor's windows start or end near the burst,
/// the tone is divided there, and the neighbor becomes the other part.
struct StepSearch {
  let dictionary: AtomDictionary
  let sampleRate: Double
  let durationFactor: Double
  /// The samples of the signal that contains tones and bursts.
  let signalSamples: [Float]
  /// The paths from which the tones were selected.
  let candidates: [TonePath]

  /// The maximum residual ratio for a step between windows that start or end near the burst.
  ///
  /// A step to a tone of which only the windows start or end there must explain the signal much
  /// better than the bursts.
  private static let maximumWindowStepResidualRatio = 0.2
  /// The maximum time between a burst and the edge of a tone that may replace it, in seconds.
  private static let maximumEdgeDistanceSeconds = 0.03
  /// The number of samples before and after a burst in which a tone may be divided.
  private static let divisionMarginSamples = 10
  /// The tolerance for the start and the end of a tone that sounds throughout a burst, in samples.
  ///
  /// The tone may start less than this after the burst starts, or end less than this before the
  /// burst ends.
  private static let coverageToleranceSamples = 4

  /// Replaces bursts by steps between tones where the residual remains small.
  ///
  /// - Parameters:
  ///   - bursts: The bursts; those that are steps are removed.
  ///   - selection: The tones; those with a step are divided.
  func replaceSteps(among bursts: inout [FoundBurst], in selection: inout ToneSelection) {
    var toneResidual = signalSamples
    selection.add(to: &toneResidual, times: -1)
    for burst in bursts.sorted(by: { $0.explainedEnergy > $1.explainedEnergy }) {
      guard bursts.contains(where: { $0.startSample == burst.startSample }) else { continue }
      let replacement = BurstReplacement(
        of: burst, among: bursts, in: signalSamples, dictionary: dictionary,
        sampleRate: sampleRate, durationFactor: durationFactor)
      let range = replacement.comparedRange
      let positions = divisionPositions(around: burst)
      let divisions = divisibleTones(near: positions, in: selection).compactMap { tones in
        bestDivision(of: tones, near: positions, in: range, toneResidual, selection)
      }
      guard !divisions.isEmpty else { continue }
      let burstResidualEnergy = residualEnergy(
        subtracting: replacement.group, in: range, toneResidual)
      let acceptableDivisions = divisions.filter { division in
        let maximumEnergy = replacement.maximumResidualEnergy(
          comparedWith: burstResidualEnergy, ratio: division.maximumResidualRatio)
        return division.residualEnergy < maximumEnergy
      }
      guard let best = acceptableDivisions.min(by: { $0.residualEnergy < $1.residualEnergy })
      else { continue }
      replaceTones(with: best, in: &selection, &toneResidual)
      bursts = replacement.otherBursts
    }
  }

  /// Returns the positions near a burst at which a tone may be divided.
  private func divisionPositions(around burst: FoundBurst) -> Range<Int> {
    let endSample = burst.startSample + dictionary.atoms[burst.atomIndex].sampleCount
    return burst.startSample - Self.divisionMarginSamples..<endSample + Self.divisionMarginSamples
  }

  /// Replaces the divided tones by both parts, and updates the residual.
  private func replaceTones(
    with division: Division, in selection: inout ToneSelection, _ residual: inout [Float]
  ) {
    let newTones = [division.firstTone, division.secondTone].compactMap { $0 }
    for index in division.replacedToneIndices {
      selection.selectedTones[index].add(to: &residual, times: 1)
    }
    for tone in newTones {
      tone.add(to: &residual, times: -1)
    }
    let otherIndices = selection.selectedTones.indices.filter {
      !division.replacedToneIndices.contains($0)
    }
    selection.selectedTones = otherIndices.map { selection.selectedTones[$0] } + newTones
  }

  /// Returns the tones that may have a step near a burst.
  ///
  /// Each element is a tone that sounds throughout the burst, a tone with an edge near the burst,
  /// a pair of successive tones with edges near the burst, or a tone with the candidate that
  /// precedes or follows it.
  private func divisibleTones(
    near positions: Range<Int>, in selection: ToneSelection
  ) -> [DivisibleTones] {
    let tones = selection.selectedTones
    let spans = tones.map { $0.soundingSamples }
    let maximumDistance = Int(Self.maximumEdgeDistanceSeconds * durationFactor * sampleRate)
    let edgeRange = positions.lowerBound - maximumDistance..<positions.upperBound + maximumDistance
    let inset = Self.divisionMarginSamples + Self.coverageToleranceSamples
    let singleIndices = spans.indices.filter { index in
      spans[index].lowerBound < positions.lowerBound + inset
        && spans[index].upperBound > positions.upperBound - inset
        || tones[index].hasEnd(in: edgeRange) || tones[index].hasStart(in: edgeRange)
    }
    let singleTones = singleIndices.map { index in
      DivisibleTones(
        indices: [index], first: tones[index], last: tones[index], minimumPartCount: 1,
        maximumResidualRatio: BurstReplacement.maximumResidualRatio)
    }
    let nearCandidates = candidates.filter { candidate in
      candidate.hasStart(in: edgeRange) || candidate.hasEnd(in: edgeRange)
    }
    let freeCandidates = nearCandidates.filter { candidate in
      !tones.contains { $0.sharesWindow(with: candidate) }
    }
    let tonesWithCandidates = singleIndices.flatMap { index in
      candidatePairs(of: index, tones[index], with: freeCandidates, near: edgeRange)
    }
    return singleTones + successiveTones(tones, near: edgeRange) + tonesWithCandidates
  }

  /// Returns the pairs of successive tones that end and start in a range.
  private func successiveTones(
    _ tones: [TonePath], near edgeRange: Range<Int>
  ) -> [DivisibleTones] {
    let spans = tones.map { $0.soundingSamples }
    let ending = spans.indices.filter { tones[$0].hasEnd(in: edgeRange) }
    let starting = spans.indices.filter { tones[$0].hasStart(in: edgeRange) }
    return ending.flatMap { first in
      starting.filter { second in
        spans[second].lowerBound > spans[first].lowerBound
          && spans[second].upperBound > spans[first].upperBound
      }.map { second in
        let hasEdgesInRange =
          edgeRange.contains(spans[first].upperBound)
          && edgeRange.contains(spans[second].lowerBound)
        return DivisibleTones(
          indices: [first, second], first: tones[first], last: tones[second], minimumPartCount: 2,
          maximumResidualRatio: hasEdgesInRange
            ? BurstReplacement.maximumResidualRatio : Self.maximumWindowStepResidualRatio)
      }
    }
  }

  /// Returns the pairs of a tone and a candidate whose windows start or end in a range.
  ///
  /// A candidate that starts in the range follows the tone. A candidate that ends in the range
  /// precedes the tone.
  private func candidatePairs(
    of index: Int, _ tone: TonePath, with candidates: [TonePath], near edgeRange: Range<Int>
  ) -> [DivisibleTones] {
    let toneSpan = tone.soundingSamples
    return candidates.flatMap { candidate in
      let start = candidate.windowedSamples.lowerBound
      let end = candidate.windowedSamples.upperBound
      var pairs: [(first: TonePath, last: TonePath)] = []
      if edgeRange.contains(start), start > toneSpan.lowerBound {
        pairs.append((first: tone, last: candidate))
      }
      if edgeRange.contains(end), end < toneSpan.upperBound {
        pairs.append((first: candidate, last: tone))
      }
      return pairs.map { pair in
        DivisibleTones(
          indices: [index], first: pair.first, last: pair.last, minimumPartCount: 2,
          maximumResidualRatio: Self.maximumWindowStepResidualRatio)
      }
    }
  }

  /// Returns the energy in a range that remains after bursts are subtracted from the residual.
  private func residualEnergy(
    subtracting bursts: [FoundBurst], in range: Range<Int>, _ residual: [Float]
  ) -> Double {
    let burstResidual = PursuitResidual(
      Array(residual[range]), dictionary: dictionary,
      subtracting: bursts.map { $0.delayed(bySamples: -range.lowerBound) })
    return Statistics.energy(of: burstResidual.unpaddedSamples)
  }

  /// Returns the best division of a tone, of two successive tones, or of a tone and a candidate.
  ///
  /// The first part continues the windows of the first tone that end before a position, and the
  /// second part continues the windows of the last tone that start after it. A single tone may
  /// lack one of the parts.
  private func bestDivision(
    of divisibleTones: DivisibleTones, near positions: Range<Int>, in range: Range<Int>,
    _ residual: [Float], _ selection: ToneSelection
  ) -> Division? {
    let tones = divisibleTones.indices.map { selection.selectedTones[$0] }
    let first = divisibleTones.first
    let last = divisibleTones.last
    var residualWithTones = residual
    for tone in tones {
      tone.add(to: &residualWithTones, times: 1)
    }
    var bestToneDivision: Division?
    var previousNodeCenters: (Int?, Int?)?
    for position in stride(from: positions.lowerBound, to: positions.upperBound, by: 4) {
      let precedingNodes = first.nodes(endingAt: position)
      let followingNodes = last.nodes(startingAt: position)
      let centers = (precedingNodes.last?.centerSample, followingNodes.first?.centerSample)
      if let previousNodeCenters, previousNodeCenters == centers {
        continue
      }
      previousNodeCenters = centers
      let firstPart = selection.part(precedingNodes, sampleCount: signalSamples.count)
      let secondPart = selection.part(followingNodes, sampleCount: signalSamples.count)
      let partCount = [firstPart, secondPart].compactMap { $0 }.count
      guard partCount >= divisibleTones.minimumPartCount else { continue }
      var division = Division(
        replacedToneIndices: divisibleTones.indices, firstTone: firstPart, secondTone: secondPart,
        residualEnergy: 0, maximumResidualRatio: divisibleTones.maximumResidualRatio)
      division.fitEdges(in: divisibleTones.span, comparing: range, of: residualWithTones)
      division.addEnergyOfLostSamples(of: tones, outside: range, in: residualWithTones)
      if division.residualEnergy < bestToneDivision?.residualEnergy ?? .infinity {
        bestToneDivision = division
      }
    }
    return bestToneDivision
  }
}

/// Tones that may be replaced by a step.
private struct DivisibleTones {
  /// The indices of the tones to replace.
  var indices: [Int]
  /// The tone before the step.
  var first: TonePath
  /// The tone after the step.
  var last: TonePath
  /// The minimum number of parts of a division.
  var minimumPartCount: Int
  /// The maximum residual energy of a division, relative to that of the replaced bursts.
  var maximumResidualRatio: Double

  /// The range of samples from the start of the earlier tone to the end of the later tone.
  ///
  /// A candidate may start or end within the tone that it divides. Its part then extends to the
  /// edge of that tone.
  var span: Range<Int> {
    let start = min(first.soundingSamples.lowerBound, last.soundingSamples.lowerBound)
    let end = max(first.soundingSamples.upperBound, last.soundingSamples.upperBound)
    return start..<end
  }
}

/// A step from one tone to the next, which replaces one or two tones.
private struct Division {
  /// The indices of the replaced tones.
  var replacedToneIndices: [Int]
  /// The tone before the step, or nil if the step is the start of a tone.
  var firstTone: TonePath?
  /// The tone after the step, or nil if the step is the end of a tone.
  var secondTone: TonePath?
  var residualEnergy: Double
  /// The maximum residual energy, relative to that of the replaced bursts.
  var maximumResidualRatio: Double

  // MARK: - Edges

  /// Moves the end of the first tone and the start of the second tone to the best positions.
  ///
  /// The positions are found by cumulative sums of the removed energy.
  ///
  /// - Parameters:
  ///   - span: The range from the start of the first part to the end of the second part.
  ///   - range: The range of samples in which the residual is minimized.
  ///   - signal: The signal that contains both tones.
  mutating func fitEdges(in span: Range<Int>, comparing range: Range<Int>, of signal: [Float]) {
    let bestStarts = bestStartsOfSecondTone(before: span.upperBound, in: range, of: signal)
    var headEnergy = 0.0
    var bestEnergy = bestStarts[0].removedEnergy
    var bestEnd = range.lowerBound
    var bestStart = bestStarts[0].position
    for position in range {
      if position >= span.lowerBound {
        headEnergy += Self.removedEnergy(by: firstTone, at: position, in: signal)
      }
      let nextStart = bestStarts[position - range.lowerBound + 1]
      if headEnergy + nextStart.removedEnergy > bestEnergy {
        bestEnergy = headEnergy + nextStart.removedEnergy
        bestEnd = position + 1
        bestStart = nextStart.position
      }
    }
    residualEnergy = Statistics.energy(of: signal[range]) - bestEnergy
    Self.setSpan(of: &firstTone, from: span.lowerBound, to: bestEnd)
    Self.setSpan(of: &secondTone, from: bestStart, to: span.upperBound)
  }

  /// A start of the second tone.
  private struct ToneStart {
    /// The first sample of the tone.
    var position: Int
    /// The energy that the tone removes from the signal between its start and the end of the range.
    var removedEnergy: Double
  }

  /// Returns the best start of the second tone at or after each sample of a range.
  ///
  /// The last element, for the end of the range, is a tone that starts there and removes no energy.
  ///
  /// - Parameters:
  ///   - endPosition: The end of the second tone.
  ///   - range: The range of samples in which the tone may start.
  ///   - signal: The signal that contains the tone.
  private func bestStartsOfSecondTone(
    before endPosition: Int, in range: Range<Int>, of signal: [Float]
  ) -> [ToneStart] {
    var bestStart = ToneStart(position: range.upperBound, removedEnergy: 0)
    var bestStarts = [ToneStart](repeating: bestStart, count: range.count + 1)
    var tailEnergy = 0.0
    for position in range.reversed() {
      if position < endPosition {
        tailEnergy += Self.removedEnergy(by: secondTone, at: position, in: signal)
      }
      if tailEnergy > bestStart.removedEnergy {
        bestStart = ToneStart(position: position, removedEnergy: tailEnergy)
      }
      bestStarts[position - range.lowerBound] = bestStart
    }
    return bestStarts
  }

  private static func setSpan(of tone: inout TonePath?, from start: Int, to end: Int) {
    guard let domain = tone?.waveformRange else { return }
    let span = (start..<max(start, end)).clamped(to: domain)
    tone?.soundingSamples = span
    tone?.coreSamples = TonePath.coreRange(of: span)
  }

  // MARK: - Energy

  /// Adds the energy of samples outside of a range that the replaced tones explain and neither part
  /// covers.
  ///
  /// A division with one part can lose samples far from the step.
  ///
  /// - Parameters:
  ///   - tones: The replaced tones.
  ///   - range: The range of samples whose residual is known.
  ///   - signal: The signal that contains the tones.
  mutating func addEnergyOfLostSamples(
    of tones: [TonePath], outside range: Range<Int>, in signal: [Float]
  ) {
    let keptRanges = [firstTone?.soundingSamples, range, secondTone?.soundingSamples]
      .compactMap { $0 }
    for tone in tones {
      for lostRange in Self.parts(of: tone.soundingSamples, outside: keptRanges) {
        addRemovedEnergy(by: tone, in: lostRange, of: signal)
      }
    }
  }

  /// Adds the energy that a tone removes from a signal in a range of samples.
  private mutating func addRemovedEnergy(
    by tone: TonePath, in range: Range<Int>, of signal: [Float]
  ) {
    for position in range {
      residualEnergy += Self.removedEnergy(by: tone, at: position, in: signal)
    }
  }

  /// Returns the parts of a range that are outside of other ranges, by position.
  private static func parts(
    of range: Range<Int>, outside excludedRanges: [Range<Int>]
  ) -> [Range<Int>] {
    var parts: [Range<Int>] = []
    var position = range.lowerBound
    for excludedRange in excludedRanges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
      let partEnd = min(excludedRange.lowerBound, range.upperBound)
      if position < partEnd {
        parts.append(position..<partEnd)
      }
      position = max(position, excludedRange.upperBound)
    }
    if position < range.upperBound {
      parts.append(position..<range.upperBound)
    }
    return parts
  }

  /// Returns the energy removed from a signal by subtracting one sample of a tone.
  ///
  /// Returns 0 without a tone, and outside of its waveform.
  private static func removedEnergy(
    by tone: TonePath?, at position: Int, in signal: [Float]
  ) -> Double {
    guard let tone, tone.waveformRange.contains(position) else { return 0 }
    let toneSample = Double(tone.waveform[position - tone.waveformStart])
    return toneSample * (2 * Double(signal[position]) - toneSample)
  }
}
