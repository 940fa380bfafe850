internal import SignalAnalysis

/// A search that replaces bursts by a sudden step from one tone to the next.
///
/// A step must explain the signal as well as the bursts.
///
/// A tone that is linked across a step leaves a residual that bursts explain. For each burst, the
/// tone is divided at the best position. The first part may end anywhere, and the second may begin
/// anywhere after it. The division is kept if its residual is not much larger than that of the
/// bursts.
struct StepSearch {
  let dictionary: AtomDictionary
  let sampleRate: Double
  let durationFactor: Double
  /// The samples of the signal that contains tones and bursts.
  let signalSamples: [Float]

  /// The maximum residual energy of a step, relative to that of the replaced bursts.
  private static let maximumStepToBurstResidualRatio = 1.3
  /// The residual energy of even a correct model, relative to the energy of the signal.
  private static let modelErrorEnergyFraction = 0.004
  /// The maximum time between bursts that belong to the same step, in seconds.
  private static let stepGroupSeconds = 0.04
  /// The duration of the compared signal on each side of a burst, in seconds.
  private static let comparisonMarginSeconds = 0.06

  /// A division of a tone into two successive tones.
  private struct Division {
    var firstTone: TonePath
    var secondTone: TonePath
    var residualEnergy: Double
  }

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
      let count = dictionary.atoms[burst.atomIndex].sampleCount
      let center = burst.startSample + count / 2
      let index = selection.selectedTones.firstIndex {
        $0.soundingSamples.lowerBound + 4 < center && center < $0.soundingSamples.upperBound - 4
      }
      guard let index else { continue }
      let groupLength = Self.stepGroupSeconds * durationFactor * sampleRate
      let group = bursts.filter { Double(abs($0.startSample - burst.startSample)) < groupLength }
      let margin = Int(Self.comparisonMarginSeconds * durationFactor * sampleRate)
      let range = (burst.startSample - margin..<burst.startSample + count + margin).clamped(
        to: signalSamples.indices)
      let tone = selection.selectedTones[index]
      let positions = burst.startSample - 10..<burst.startSample + count + 10
      guard
        let best = bestDivision(of: tone, near: positions, in: range, toneResidual, selection),
        best.residualEnergy < maximumStepResidualEnergy(group, in: range, toneResidual)
      else { continue }
      tone.add(to: &toneResidual, times: 1)
      best.firstTone.add(to: &toneResidual, times: -1)
      best.secondTone.add(to: &toneResidual, times: -1)
      selection.selectedTones[index] = best.firstTone
      selection.selectedTones.append(best.secondTone)
      bursts.removeAll { burst in group.contains { $0.startSample == burst.startSample } }
    }
  }

  /// Returns the maximum residual energy of a step that replaces bursts.
  private func maximumStepResidualEnergy(
    _ bursts: [FoundBurst], in range: Range<Int>, _ residual: [Float]
  ) -> Double {
    let burstResidual = PursuitResidual(
      Array(residual[range]), dictionary: dictionary,
      subtracting: bursts.map { $0.delayed(bySamples: -range.lowerBound) })
    let residualEnergy = Statistics.energy(of: burstResidual.unpaddedSamples)
    return Self.maximumStepToBurstResidualRatio * residualEnergy
      + Self.modelErrorEnergyFraction * Statistics.energy(of: signalSamples[range])
  }

  private func bestDivision(
    of tone: TonePath, near positions: Range<Int>, in range: Range<Int>, _ residual: [Float],
    _ selection: ToneSelection
  ) -> Division? {
    var residualWithTone = residual
    tone.add(to: &residualWithTone, times: 1)
    var bestToneDivision: Division?
    var previousNodeCenters: (Int, Int)?
    for position in stride(from: positions.lowerBound, to: positions.upperBound, by: 4) {
      guard
        let parts = selection.toneParts(of: tone, at: position, sampleCount: signalSamples.count)
      else { continue }
      let centers = (
        parts.first.windowNodes[parts.first.windowNodes.count - 1].centerSample,
        parts.second.windowNodes[0].centerSample
      )
      if let previousNodeCenters, previousNodeCenters == centers {
        continue
      }
      previousNodeCenters = centers
      let division = division(parts.first, parts.second, of: tone, in: range, residualWithTone)
      if division.residualEnergy < bestToneDivision?.residualEnergy ?? .infinity {
        bestToneDivision = division
      }
    }
    return bestToneDivision
  }

  /// Returns the best division of a tone into a first and a second tone.
  ///
  /// It is found by cumulative sums of the removed energy.
  private func division(
    _ first: TonePath, _ second: TonePath, of tone: TonePath, in range: Range<Int>,
    _ signal: [Float]
  ) -> Division {
    // The energy that the second part removes from each position on, and its best start.
    var bestTailStart = range.upperBound
    var bestTailEnergy = 0.0
    var tailEnergy = 0.0
    var bestTailsByPosition = [(energy: Double, start: Int)](
      repeating: (0, range.upperBound), count: range.count + 1)
    for position in range.reversed() {
      tailEnergy += removedEnergy(by: second, at: position, in: signal)
      if tailEnergy > bestTailEnergy {
        bestTailEnergy = tailEnergy
        bestTailStart = position
      }
      bestTailsByPosition[position - range.lowerBound] = (bestTailEnergy, bestTailStart)
    }
    var headEnergy = 0.0
    var bestBoundary = (
      energy: bestTailsByPosition[0].energy, end: range.lowerBound,
      start: bestTailsByPosition[0].start
    )
    for position in range {
      headEnergy += removedEnergy(by: first, at: position, in: signal)
      let next = bestTailsByPosition[position - range.lowerBound + 1]
      if headEnergy + next.energy > bestBoundary.energy {
        bestBoundary = (headEnergy + next.energy, position + 1, next.start)
      }
    }
    var toneDivision = Division(
      firstTone: first, secondTone: second,
      residualEnergy: Statistics.energy(of: signal[range]) - bestBoundary.energy)
    toneDivision.firstTone.soundingSamples = Self.clampedSpan(
      from: tone.soundingSamples.lowerBound, to: bestBoundary.end, in: first.waveformRange)
    toneDivision.secondTone.soundingSamples = Self.clampedSpan(
      from: bestBoundary.start, to: tone.soundingSamples.upperBound, in: second.waveformRange)
    toneDivision.firstTone.coreSamples = TonePath.coreRange(
      of: toneDivision.firstTone.soundingSamples)
    toneDivision.secondTone.coreSamples = TonePath.coreRange(
      of: toneDivision.secondTone.soundingSamples)
    return toneDivision
  }

  private static func clampedSpan(from start: Int, to end: Int, in domain: Range<Int>) -> Range<Int>
  {
    (start..<max(start, end)).clamped(to: domain)
  }

  private func removedEnergy(by tone: TonePath, at position: Int, in signal: [Float]) -> Double {
    guard tone.waveformRange.contains(position) else { return 0 }
    let toneSample = Double(tone.waveform[position - tone.waveformStart])
    return toneSample * (2 * Double(signal[position]) - toneSample)
  }
}
