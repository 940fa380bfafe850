internal import CMath
internal import SignalAnalysis

/// A set of selected tones that together explain a signal, with their starts and ends.
///
/// With all other tones fixed, the energy that a tone removes up to a sample is a cumulative sum.
/// Its extrema are the best start and end.
struct ToneSelection {
  let sampleRate: Double
  /// The factor for all durations, which is above 1 for profiles with low tones.
  let durationFactor: Double
  var selectedTones: [TonePath] = []

  /// The minimum decrease of the residual's energy by a tone, relative to the tone's energy.
  private static let minimumRemovedEnergyFraction = 0.6
  /// The minimum duration of a tone, in seconds.
  private static let minimumToneSeconds = 0.022
  /// The maximum number of passes over all starts and ends of tones.
  private static let maximumEdgePassCount = 3
  /// The maximum distance of an edge from the end of the tone's windows, inward, in seconds.
  private static let maximumInwardEdgeSeconds = 0.02
  /// The maximum time between two tones' edges that may have a common position, in seconds.
  private static let maximumCommonEdgeSeconds = 0.01
  /// The maximum gap or overlap between two parts of one tone, in seconds.
  private static let maximumPartGapSeconds = 0.012

  init(sampleRate rate: Double, durationFactor timeScale: Double) {
    self.sampleRate = rate
    self.durationFactor = timeScale
  }

  /// Adds all selected tones to a signal, or subtracts them if the sign is -1.
  func add(to signal: inout [Float], times sign: Float) {
    for tone in selectedTones {
      tone.add(to: &signal, times: sign)
    }
  }

  /// Returns the level of all tones at each sample: the root of the sum of their squared levels.
  func summedToneLevels(count: Int) -> [Float] {
    var summedPowers = [Double](repeating: 0, count: count)
    for tone in selectedTones {
      for position in tone.soundingSamples.clamped(to: tone.waveformRange) {
        summedPowers[position] += tone.level(at: position) * tone.level(at: position)
      }
    }
    return summedPowers.map { Float($0.squareRoot()) }
  }

  // MARK: - Selection

  /// Selects tones by matching pursuit: the tone that removes the most energy first.
  ///
  /// A duplicate removes nothing after that.
  ///
  /// - Parameters:
  ///   - candidates: The possible tones.
  ///   - signal: The signal without bursts.
  mutating func select(from candidates: [TonePath], in signal: [Float]) {
    var toneResidual = signal
    var remainingCandidates = candidates
    var candidateSpans = remainingCandidates.map { Self.bestSpan(of: $0, in: toneResidual) }
    selectedTones = []
    while let bestIndex = candidateSpans.indices.max(by: {
      candidateSpans[$0].removedEnergy < candidateSpans[$1].removedEnergy
    }),
      candidateSpans[bestIndex].removedEnergy > 0
    {
      var tone = remainingCandidates.remove(at: bestIndex)
      let bestSpan = candidateSpans.remove(at: bestIndex)
      let span = bestSpan.samples
      let energy = span.reduce(0.0) { sum, position in
        let sample = Double(tone.waveform[position - tone.waveformStart])
        return sum + sample * sample
      }
      guard bestSpan.removedEnergy >= Self.minimumRemovedEnergyFraction * energy, span.count >= 8
      else { continue }
      tone.soundingSamples = span
      tone.coreSamples = TonePath.coreRange(of: span)
      tone.add(to: &toneResidual, times: -1)
      selectedTones.append(tone)
      for index in remainingCandidates.indices
      where remainingCandidates[index].waveformRange.overlaps(span) {
        candidateSpans[index] = Self.bestSpan(of: remainingCandidates[index], in: toneResidual)
      }
    }
  }

  /// A range of samples in which a tone is subtracted from the residual.
  private struct SubtractedSpan {
    var samples: Range<Int>
    /// The energy that the subtraction removes from the residual.
    var removedEnergy: Double
  }

  /// Returns the range of samples in which subtracting a tone removes the most energy.
  private static func bestSpan(of tone: TonePath, in residual: [Float]) -> SubtractedSpan {
    var removedEnergySum = 0.0
    var minimumEnergySum = 0.0
    var spanStartSample = tone.waveformStart
    var strongestSpan = SubtractedSpan(samples: spanStartSample..<spanStartSample, removedEnergy: 0)
    for (index, sample) in tone.waveform.enumerated() {
      let position = tone.waveformStart + index
      removedEnergySum += removedEnergy(residual[position], sample)
      if removedEnergySum - minimumEnergySum > strongestSpan.removedEnergy {
        strongestSpan = SubtractedSpan(
          samples: spanStartSample..<position + 1,
          removedEnergy: removedEnergySum - minimumEnergySum)
      }
      if removedEnergySum < minimumEnergySum {
        minimumEnergySum = removedEnergySum
        spanStartSample = position + 1
      }
    }
    return strongestSpan
  }

  /// Returns the energy removed from the residual by subtracting one sample of a tone.
  private static func removedEnergy(_ residual: Float, _ sample: Float) -> Double {
    Double(sample) * (2 * Double(residual) - Double(sample))
  }

  // MARK: - Edges

  /// Moves the start and end of each tone to minimize the residual, and returns the residual.
  ///
  /// Each tone is moved while all other tones are fixed.
  mutating func fitEdges(to signal: [Float]) -> [Float] {
    var toneResidual = signal
    add(to: &toneResidual, times: -1)
    for _ in 0..<Self.maximumEdgePassCount {
      var isMoved = false
      for index in selectedTones.indices {
        selectedTones[index].add(to: &toneResidual, times: 1)
        let span = continueToEdges(&selectedTones[index], in: toneResidual)
        isMoved = isMoved || span != selectedTones[index].soundingSamples
        selectedTones[index].soundingSamples = span
        selectedTones[index].add(to: &toneResidual, times: -1)
      }
      for first in selectedTones.indices {
        for second in selectedTones.indices where second > first {
          let isPairMoved = moveCommonEdges(first, second, in: &toneResidual)
          isMoved = isMoved || isPairMoved
        }
      }
      guard isMoved else { break }
    }
    return toneResidual
  }

  /// Moves the starts, or the ends, of two tones to the best common position.
  ///
  /// The edges are moved if the common position is better than both edges. Where two tones nearly
  /// cancel, neither edge alone can be moved.
  ///
  /// - Returns: True if an edge was moved.
  private mutating func moveCommonEdges(
    _ first: Int, _ second: Int, in residual: inout [Float]
  ) -> Bool {
    let maximumEdgeDistance = Int(Self.maximumCommonEdgeSeconds * sampleRate)
    let originalSpans = [
      selectedTones[first].soundingSamples, selectedTones[second].soundingSamples,
    ]
    let hasCommonStart =
      abs(originalSpans[0].lowerBound - originalSpans[1].lowerBound) <= maximumEdgeDistance
    let hasCommonEnd =
      abs(originalSpans[0].upperBound - originalSpans[1].upperBound) <= maximumEdgeDistance
    guard hasCommonStart || hasCommonEnd, originalSpans[0].overlaps(originalSpans[1]) else {
      return false
    }
    let commonWaveformRange = selectedTones[first].waveformRange.clamped(
      to: selectedTones[second].waveformRange)
    let commonSpan = originalSpans[0].clamped(to: originalSpans[1])
    selectedTones[first].add(to: &residual, times: 1)
    selectedTones[second].add(to: &residual, times: 1)
    if hasCommonStart {
      let start = max(
        commonWaveformRange.lowerBound, commonSpan.lowerBound - 2 * maximumEdgeDistance)
      let range = start..<min(commonSpan.upperBound, commonSpan.lowerBound + maximumEdgeDistance)
      if let best = bestCommonEdge(first, second, in: range, residual, isStart: true) {
        selectedTones[first].soundingSamples = best..<max(best, originalSpans[0].upperBound)
        selectedTones[second].soundingSamples = best..<max(best, originalSpans[1].upperBound)
      }
    }
    if hasCommonEnd {
      let end = min(commonWaveformRange.upperBound, commonSpan.upperBound + 2 * maximumEdgeDistance)
      let range = max(commonSpan.lowerBound, commonSpan.upperBound - maximumEdgeDistance)..<end
      if let best = bestCommonEdge(first, second, in: range, residual, isStart: false) {
        selectedTones[first].soundingSamples =
          min(best, selectedTones[first].soundingSamples.lowerBound)..<best
        selectedTones[second].soundingSamples =
          min(best, selectedTones[second].soundingSamples.lowerBound)..<best
      }
    }
    selectedTones[first].add(to: &residual, times: -1)
    selectedTones[second].add(to: &residual, times: -1)
    return originalSpans != [
      selectedTones[first].soundingSamples, selectedTones[second].soundingSamples,
    ]
  }

  /// Returns the best common start or end of two tones.
  ///
  /// Returns nil if their separate edges are better.
  private func bestCommonEdge(
    _ first: Int, _ second: Int, in range: Range<Int>, _ residual: [Float], isStart: Bool
  ) -> Int? {
    var currentEdgeEnergy = 0.0
    var commonEdgeEnergy = 0.0
    var bestEdge = (energy: 0.0, edge: isStart ? range.upperBound : range.lowerBound)
    let edgePositions = isStart ? Array(range.reversed()) : Array(range)
    for position in edgePositions {
      let samples = [selectedTones[first], selectedTones[second]].map {
        $0.waveform[position - $0.waveformStart]
      }
      let ownSample =
        (selectedTones[first].soundingSamples.contains(position) ? samples[0] : 0)
        + (selectedTones[second].soundingSamples.contains(position) ? samples[1] : 0)
      currentEdgeEnergy += Self.removedEnergy(residual[position], ownSample)
      commonEdgeEnergy += Self.removedEnergy(residual[position], samples[0] + samples[1])
      if commonEdgeEnergy > bestEdge.energy {
        bestEdge = (commonEdgeEnergy, isStart ? position : position + 1)
      }
    }
    return bestEdge.energy > currentEdgeEnergy * 1.001 ? bestEdge.edge : nil
  }

  /// Continues the waveform of a tone as far as the tone sounds. Returns its best start and end.
  ///
  /// If an edge coincides with an end of the waveform, the tone may sound beyond that end. The
  /// waveform is continued if the continuation removes most of its own energy from the residual.
  private func continueToEdges(_ tone: inout TonePath, in residual: [Float]) -> Range<Int> {
    let addedCount = Int(TonePath.continuationSeconds * durationFactor * sampleRate)
    var span = bestEdges(of: tone, in: residual)
    while true {
      let waveformRange = tone.waveformRange
      let isStartOpen = span.lowerBound == waveformRange.lowerBound
      let isEndOpen = span.upperBound == waveformRange.upperBound
      let start = waveformRange.lowerBound - (isStartOpen ? addedCount : 0)
      let end = waveformRange.upperBound + (isEndOpen ? addedCount : 0)
      let continuedRange = (start..<end).clamped(to: residual.indices)
      guard continuedRange != waveformRange else { return span }
      var continuedTone = tone
      continuedTone.continueWaveform(to: continuedRange)
      let continuedSpan = bestEdges(of: continuedTone, in: residual)
      let addedRanges = [
        min(continuedSpan.lowerBound, span.lowerBound)..<span.lowerBound,
        span.upperBound..<max(continuedSpan.upperBound, span.upperBound),
      ]
      guard Self.isExplained(residual, in: addedRanges, by: continuedTone) else { return span }
      tone = continuedTone
      span = continuedSpan
    }
  }

  /// Returns true if subtracting a tone removes most of the tone's own energy from a residual.
  ///
  /// Returns false if the tone has no energy.
  ///
  /// - Parameters:
  ///   - residual: The signal without the other tones.
  ///   - ranges: The ranges of samples in which the energy is measured, within the waveform.
  ///   - tone: The tone.
  private static func isExplained(
    _ residual: [Float], in ranges: [Range<Int>], by tone: TonePath
  ) -> Bool {
    var energy = 0.0
    var removedEnergySum = 0.0
    for position in ranges.joined() {
      let sample = tone.waveform[position - tone.waveformStart]
      energy += Double(sample) * Double(sample)
      removedEnergySum += removedEnergy(residual[position], sample)
    }
    return energy > 0 && removedEnergySum >= minimumRemovedEnergyFraction * energy
  }

  private func bestEdges(of tone: TonePath, in residual: [Float]) -> Range<Int> {
    let middleSample = (tone.soundingSamples.lowerBound + tone.soundingSamples.upperBound) / 2
    let inwardSlackSamples = max(
      6, min(Int(Self.maximumInwardEdgeSeconds * sampleRate), tone.soundingSamples.count / 3))
    let lastStartSample = min(middleSample, tone.coreSamples.lowerBound + inwardSlackSamples)
    let firstEndSample = max(middleSample + 1, tone.coreSamples.upperBound - inwardSlackSamples)
    var removedEnergySum = 0.0
    var minimumEnergySum = 0.0
    var maximumEnergySum = -Double.infinity
    var bestStartSample = tone.waveformStart
    var bestEndSample = min(firstEndSample, tone.waveformRange.upperBound)
    for position in tone.waveformRange {
      if position <= lastStartSample, removedEnergySum < minimumEnergySum {
        minimumEnergySum = removedEnergySum
        bestStartSample = position
      }
      removedEnergySum += Self.removedEnergy(
        residual[position], tone.waveform[position - tone.waveformStart])
      if position + 1 >= firstEndSample, removedEnergySum > maximumEnergySum {
        maximumEnergySum = removedEnergySum
        bestEndSample = position + 1
      }
    }
    return bestStartSample..<max(bestStartSample, bestEndSample)
  }

  // MARK: - Revision of windows

  /// Removes tones that are too short or too weak.
  ///
  /// Also removes windows of the other tones that extend beyond their edges.
  ///
  /// - Parameters:
  ///   - minimumLevel: The minimum level of a tone.
  ///   - sampleCount: The number of samples of the signal.
  mutating func removeInvalidTones(minimumLevel: Float, sampleCount: Int) {
    let minimumToneSamples = Self.minimumToneSeconds * durationFactor.squareRoot() * sampleRate
    selectedTones = selectedTones.filter { tone in
      Double(tone.soundingSamples.count) >= minimumToneSamples
        && (tone.waveformLevels.max() ?? 0) > Double(minimumLevel)
    }.map { trimmed($0, sampleCount: sampleCount) }
  }

  private func trimmed(_ tone: TonePath, sampleCount: Int) -> TonePath {
    let innerNodes = tone.windowNodes.filter {
      $0.samples.lowerBound >= tone.soundingSamples.lowerBound - 1
        && $0.samples.upperBound - 1 <= tone.soundingSamples.upperBound + 1
    }
    guard innerNodes.count >= 2, innerNodes.count < tone.windowNodes.count else { return tone }
    return tonePath(
      innerNodes, span: tone.soundingSamples, core: tone.coreSamples, sampleCount: sampleCount)
  }

  /// Creates a tone from windows and sets its edges, clamped to the range of its waveform.
  private func tonePath(
    _ nodes: [TonePath.Node], span: Range<Int>, core: Range<Int>, sampleCount: Int
  ) -> TonePath {
    var trimmedPath = TonePath(
      nodes, rate: sampleRate, sampleCount: sampleCount, timeScale: durationFactor)
    trimmedPath.soundingSamples = span.clamped(to: trimmedPath.waveformRange)
    trimmedPath.coreSamples = core.clamped(to: trimmedPath.waveformRange)
    return trimmedPath
  }

  // MARK: - Parts of a tone

  /// Joins two successive tones if the second continues the first in phase.
  mutating func joinParts(sampleCount: Int) {
    selectedTones.sort { $0.soundingSamples.lowerBound < $1.soundingSamples.lowerBound }
    var index = 0
    while index < selectedTones.count {
      let first = selectedTones[index]
      let next = selectedTones.indices.first {
        $0 != index && isContinuation(first, with: selectedTones[$0])
      }
      guard let next else {
        index += 1
        continue
      }
      let second = selectedTones[next]
      selectedTones[index] = tonePath(
        first.windowNodes + second.windowNodes,
        span: first.soundingSamples.lowerBound..<second.soundingSamples.upperBound,
        core: first.coreSamples
          .lowerBound..<max(first.coreSamples.lowerBound, second.coreSamples.upperBound),
        sampleCount: sampleCount)
      selectedTones.remove(at: next)
      index = 0
    }
  }

  private func isContinuation(_ first: TonePath, with second: TonePath) -> Bool {
    let gapSeconds =
      Double(abs(second.soundingSamples.lowerBound - first.soundingSamples.upperBound)) / sampleRate
    let lastCenterSample = first.windowNodes[first.windowNodes.count - 1].centerSample
    guard gapSeconds < Self.maximumPartGapSeconds * durationFactor,
      second.soundingSamples.upperBound > first.soundingSamples.upperBound,
      second.windowNodes[0].centerSample > lastCenterSample
    else { return false }
    let jointSample = (first.soundingSamples.upperBound + second.soundingSamples.lowerBound) / 2
    guard first.waveformRange.contains(jointSample), second.waveformRange.contains(jointSample)
    else { return false }
    let firstHertz = first.meanHertz(in: jointSample - 40..<jointSample + 1, rate: sampleRate)
    let secondHertz = second.meanHertz(in: jointSample..<jointSample + 40, rate: sampleRate)
    let relativeFrequencyDifference = abs(secondHertz / firstHertz - 1)
    let levelRatio = first.level(at: jointSample) / max(second.level(at: jointSample), 1e-9)
    let phaseOffset = first.phase(at: jointSample) - second.phase(at: jointSample)
    let phaseDifference = abs(atan2(sin(phaseOffset), cos(phaseOffset)))
    let isContinuous =
      relativeFrequencyDifference < 0.03 && phaseDifference < 0.8 && levelRatio > 0.6
      && levelRatio < 1.6
    // After a burst, the phase is less exact.
    let isInterrupted =
      Double(second.windowNodes[0].centerSample - lastCenterSample) > 0.07 * sampleRate
    let hasSimilarTone =
      relativeFrequencyDifference < 0.012 && phaseDifference < 1.9 && levelRatio > 0.88
      && levelRatio < 1.14
    return isContinuous || isInterrupted && hasSimilarTone
  }

  /// Creates a tone from the windows of another tone before or after a position.
  ///
  /// The new tone starts and ends with these windows. The caller moves its edge near the position.
  /// Returns nil for fewer than two windows.
  func part(_ nodes: [TonePath.Node], sampleCount: Int) -> TonePath? {
    guard nodes.count >= 2 else { return nil }
    return TonePath(nodes, rate: sampleRate, sampleCount: sampleCount, timeScale: durationFactor)
  }
}
