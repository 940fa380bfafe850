internal import SignalAnalysis

/// The replacement of bursts within a tone by a step from one tone to the next.
///
/// A tone that is linked across a step leaves a residual that bursts explain. For each burst, the
/// tone is divided at the best position. The first part may end anywhere, and the second may begin
/// anywhere after it. The division is kept if its residual is not much larger than that of the
/// bursts.
struct StepSearch {
  let dictionary: AtomDictionary
  let rate: Double
  let timeScale: Double
  /// The signal.
  let samples: [Float]

  /// The maximum residual of a step relative to that of bursts.
  private static let maximumResidualRatio = 1.3
  /// The residual that no model explains, relative to the energy of the signal.
  private static let modelErrorFraction = 0.004
  /// The distance within which bursts belong to the same step, in seconds.
  private static let groupDistance = 0.04
  /// The part of the signal to each side of a burst that is compared, in seconds.
  private static let margin = 0.06

  /// A division of a tone.
  private struct Division {
    var first: TonePath
    var second: TonePath
    var residualEnergy: Double
  }

  /// Replaces bursts by steps.
  ///
  /// - Parameters:
  ///   - bursts: The bursts; those that are steps are removed.
  ///   - selection: The tones; those with a step are divided.
  func replaceSteps(among bursts: inout [FoundBurst], in selection: inout ToneSelection) {
    var residual = samples
    selection.add(to: &residual, times: -1)
    for burst in bursts.sorted(by: { $0.energy > $1.energy }) {
      guard bursts.contains(where: { $0.start == burst.start }) else { continue }
      let count = dictionary.atoms[burst.atomIndex].count
      let center = burst.start + count / 2
      let index = selection.tones.firstIndex {
        $0.span.lowerBound + 4 < center && center < $0.span.upperBound - 4
      }
      guard let index else { continue }
      let groupLength = Self.groupDistance * timeScale * rate
      let group = bursts.filter { Double(abs($0.start - burst.start)) < groupLength }
      let margin = Int(Self.margin * timeScale * rate)
      let range = (burst.start - margin..<burst.start + count + margin).clamped(
        to: samples.indices)
      let tone = selection.tones[index]
      let positions = burst.start - 10..<burst.start + count + 10
      guard
        let best = bestDivision(of: tone, near: positions, in: range, residual, selection),
        best.residualEnergy < maximumEnergy(group, in: range, residual)
      else { continue }
      tone.add(to: &residual, times: 1)
      best.first.add(to: &residual, times: -1)
      best.second.add(to: &residual, times: -1)
      selection.tones[index] = best.first
      selection.tones.append(best.second)
      bursts.removeAll { burst in group.contains { $0.start == burst.start } }
    }
  }

  /// Returns the maximum residual energy of a step that replaces bursts.
  private func maximumEnergy(
    _ bursts: [FoundBurst], in range: Range<Int>, _ residual: [Float]
  ) -> Double {
    let excerpt = PursuitResidual(
      Array(residual[range]), dictionary: dictionary,
      subtracting: bursts.map { $0.moved(by: -range.lowerBound) })
    let energy = Statistics.energy(of: excerpt.unpaddedSamples)
    return Self.maximumResidualRatio * energy
      + Self.modelErrorFraction * Statistics.energy(of: samples[range])
  }

  private func bestDivision(
    of tone: TonePath, near positions: Range<Int>, in range: Range<Int>, _ residual: [Float],
    _ selection: ToneSelection
  ) -> Division? {
    var withTone = residual
    tone.add(to: &withTone, times: 1)
    var best: Division?
    var previousCenters: (Int, Int)?
    for position in stride(from: positions.lowerBound, to: positions.upperBound, by: 4) {
      guard let parts = selection.parts(of: tone, at: position, sampleCount: samples.count)
      else { continue }
      let centers = (
        parts.first.nodes[parts.first.nodes.count - 1].center, parts.second.nodes[0].center
      )
      if let previousCenters, previousCenters == centers {
        continue
      }
      previousCenters = centers
      let division = division(parts.first, parts.second, of: tone, in: range, withTone)
      if division.residualEnergy < best?.residualEnergy ?? .infinity {
        best = division
      }
    }
    return best
  }

  /// Returns the division with the best inner edges, by cumulative sums of the removed energy.
  private func division(
    _ first: TonePath, _ second: TonePath, of tone: TonePath, in range: Range<Int>,
    _ signal: [Float]
  ) -> Division {
    // The energy that the second part removes from each position on, and its best start.
    var bestStart = range.upperBound
    var bestTail = 0.0
    var tail = 0.0
    var tails = [(energy: Double, start: Int)](
      repeating: (0, range.upperBound), count: range.count + 1)
    for position in range.reversed() {
      tail += removedEnergy(by: second, at: position, in: signal)
      if tail > bestTail {
        bestTail = tail
        bestStart = position
      }
      tails[position - range.lowerBound] = (bestTail, bestStart)
    }
    var head = 0.0
    var best = (energy: tails[0].energy, end: range.lowerBound, start: tails[0].start)
    for position in range {
      head += removedEnergy(by: first, at: position, in: signal)
      let next = tails[position - range.lowerBound + 1]
      if head + next.energy > best.energy {
        best = (head + next.energy, position + 1, next.start)
      }
    }
    var division = Division(
      first: first, second: second,
      residualEnergy: Statistics.energy(of: signal[range]) - best.energy)
    division.first.span = Self.span(from: tone.span.lowerBound, to: best.end, in: first.domain)
    division.second.span = Self.span(from: best.start, to: tone.span.upperBound, in: second.domain)
    division.first.core = TonePath.core(of: division.first.span)
    division.second.core = TonePath.core(of: division.second.span)
    return division
  }

  private static func span(from start: Int, to end: Int, in domain: Range<Int>) -> Range<Int> {
    (start..<max(start, end)).clamped(to: domain)
  }

  private func removedEnergy(by tone: TonePath, at position: Int, in signal: [Float]) -> Double {
    guard tone.domain.contains(position) else { return 0 }
    let sample = Double(tone.samples[position - tone.origin])
    return sample * (2 * Double(signal[position]) - sample)
  }
}
