internal import CMath
internal import SignalAnalysis

/// The tones that explain a signal together, and their edges.
///
/// With all other tones fixed, the energy that a tone removes up to a sample is a cumulative sum.
/// Its extrema are the best start and end.
struct ToneSelection {
  let rate: Double
  /// The factor of all durations.
  let timeScale: Double
  var tones: [TonePath] = []

  /// The minimum energy that a tone removes, relative to its own energy.
  private static let minimumRemovedFraction = 0.6
  /// The minimum duration of a tone, in seconds.
  private static let minimumDuration = 0.022
  /// The maximum number of sweeps over all edges.
  private static let sweepCount = 3
  /// The maximum distance of an edge from the windows of a tone, inward, in seconds.
  private static let edgeSlack = 0.02
  /// The maximum distance of two edges that may be one, in seconds.
  private static let commonEdgeDistance = 0.01
  /// The maximum gap or overlap of two parts of a tone, in seconds.
  private static let maximumPartDistance = 0.012

  init(rate: Double, timeScale: Double) {
    self.rate = rate
    self.timeScale = timeScale
  }

  /// Adds all tones to a signal, or subtracts them.
  func add(to signal: inout [Float], times sign: Float) {
    for tone in tones {
      tone.add(to: &signal, times: sign)
    }
  }

  /// The root of the sum of the tones' squared levels at each sample.
  func levels(count: Int) -> [Float] {
    var powers = [Double](repeating: 0, count: count)
    for tone in tones {
      for position in tone.span.clamped(to: tone.domain) {
        powers[position] += tone.level(at: position) * tone.level(at: position)
      }
    }
    return powers.map { Float($0.squareRoot()) }
  }

  // MARK: - Selection

  /// Selects tones by matching pursuit: the tone that removes the most energy first. A duplicate
  /// removes nothing after that.
  ///
  /// - Parameters:
  ///   - candidates: The possible tones.
  ///   - signal: The signal without bursts.
  mutating func select(from candidates: [TonePath], in signal: [Float]) {
    var residual = signal
    var pool = candidates
    var spans = pool.map { Self.bestSpan(of: $0, in: residual) }
    tones = []
    while let best = spans.indices.max(by: { spans[$0].removedEnergy < spans[$1].removedEnergy }),
      spans[best].removedEnergy > 0
    {
      var tone = pool.remove(at: best)
      let (span, removedEnergy) = spans.remove(at: best)
      let energy = span.reduce(0.0) { sum, position in
        let sample = Double(tone.samples[position - tone.origin])
        return sum + sample * sample
      }
      guard removedEnergy >= Self.minimumRemovedFraction * energy, span.count >= 8 else { continue }
      tone.span = span
      tone.core = TonePath.core(of: span)
      tone.add(to: &residual, times: -1)
      tones.append(tone)
      for index in pool.indices where pool[index].domain.overlaps(span) {
        spans[index] = Self.bestSpan(of: pool[index], in: residual)
      }
    }
  }

  /// Returns the span in which a tone removes the most energy, and that energy.
  private static func bestSpan(
    of tone: TonePath, in residual: [Float]
  ) -> (span: Range<Int>, removedEnergy: Double) {
    var sum = 0.0
    var minimum = 0.0
    var start = tone.origin
    var best = (span: start..<start, removedEnergy: 0.0)
    for (index, sample) in tone.samples.enumerated() {
      let position = tone.origin + index
      sum += removedEnergy(residual[position], sample)
      if sum - minimum > best.removedEnergy {
        best = (start..<position + 1, sum - minimum)
      }
      if sum < minimum {
        minimum = sum
        start = position + 1
      }
    }
    return best
  }

  /// Returns the energy that the subtraction of a tone's sample removes.
  private static func removedEnergy(_ residual: Float, _ sample: Float) -> Double {
    Double(sample) * (2 * Double(residual) - Double(sample))
  }

  // MARK: - Edges

  /// Moves each edge to the position with the smallest residual, with all other edges fixed, and
  /// returns the residual.
  mutating func fitEdges(to signal: [Float]) -> [Float] {
    var residual = signal
    add(to: &residual, times: -1)
    for _ in 0..<Self.sweepCount {
      var isMoved = false
      for index in tones.indices {
        tones[index].add(to: &residual, times: 1)
        let span = bestEdges(of: tones[index], in: residual)
        isMoved = isMoved || span != tones[index].span
        tones[index].span = span
        tones[index].add(to: &residual, times: -1)
      }
      for first in tones.indices {
        for second in tones.indices where second > first {
          let isPairMoved = moveCommonEdges(first, second, in: &residual)
          isMoved = isMoved || isPairMoved
        }
      }
      guard isMoved else { break }
    }
    return residual
  }

  /// Moves the starts, or the ends, of two tones to the best common position, if it is better than
  /// both edges. Where two tones nearly cancel, neither edge alone can be moved.
  ///
  /// - Returns: True if an edge was moved.
  private mutating func moveCommonEdges(
    _ first: Int, _ second: Int, in residual: inout [Float]
  ) -> Bool {
    let distance = Int(Self.commonEdgeDistance * rate)
    let spans = [tones[first].span, tones[second].span]
    let hasCommonStart = abs(spans[0].lowerBound - spans[1].lowerBound) <= distance
    let hasCommonEnd = abs(spans[0].upperBound - spans[1].upperBound) <= distance
    guard hasCommonStart || hasCommonEnd, spans[0].overlaps(spans[1]) else { return false }
    let domain = tones[first].domain.clamped(to: tones[second].domain)
    let common = spans[0].clamped(to: spans[1])
    tones[first].add(to: &residual, times: 1)
    tones[second].add(to: &residual, times: 1)
    if hasCommonStart {
      let start = max(domain.lowerBound, common.lowerBound - 2 * distance)
      let range = start..<min(common.upperBound, common.lowerBound + distance)
      if let best = bestCommonEdge(first, second, in: range, residual, isStart: true) {
        tones[first].span = best..<max(best, spans[0].upperBound)
        tones[second].span = best..<max(best, spans[1].upperBound)
      }
    }
    if hasCommonEnd {
      let end = min(domain.upperBound, common.upperBound + 2 * distance)
      let range = max(common.lowerBound, common.upperBound - distance)..<end
      if let best = bestCommonEdge(first, second, in: range, residual, isStart: false) {
        tones[first].span = min(best, tones[first].span.lowerBound)..<best
        tones[second].span = min(best, tones[second].span.lowerBound)..<best
      }
    }
    tones[first].add(to: &residual, times: -1)
    tones[second].add(to: &residual, times: -1)
    return spans != [tones[first].span, tones[second].span]
  }

  /// Returns the common edge of two tones within a range that removes more energy than their own
  /// edges, or nil if there is none.
  private func bestCommonEdge(
    _ first: Int, _ second: Int, in range: Range<Int>, _ residual: [Float], isStart: Bool
  ) -> Int? {
    var ownEnergy = 0.0
    var sum = 0.0
    var best = (energy: 0.0, edge: isStart ? range.upperBound : range.lowerBound)
    let positions = isStart ? Array(range.reversed()) : Array(range)
    for position in positions {
      let samples = [tones[first], tones[second]].map { $0.samples[position - $0.origin] }
      let ownSample =
        (tones[first].span.contains(position) ? samples[0] : 0)
        + (tones[second].span.contains(position) ? samples[1] : 0)
      ownEnergy += Self.removedEnergy(residual[position], ownSample)
      sum += Self.removedEnergy(residual[position], samples[0] + samples[1])
      if sum > best.energy {
        best = (sum, isStart ? position : position + 1)
      }
    }
    return best.energy > ownEnergy * 1.001 ? best.edge : nil
  }

  private func bestEdges(of tone: TonePath, in residual: [Float]) -> Range<Int> {
    let middle = (tone.span.lowerBound + tone.span.upperBound) / 2
    let slack = max(6, min(Int(Self.edgeSlack * rate), tone.span.count / 3))
    let lastStart = min(middle, tone.core.lowerBound + slack)
    let firstEnd = max(middle + 1, tone.core.upperBound - slack)
    var sum = 0.0
    var minimum = 0.0
    var maximum = -Double.infinity
    var start = tone.origin
    var end = min(firstEnd, tone.domain.upperBound)
    for position in tone.domain {
      if position <= lastStart, sum < minimum {
        minimum = sum
        start = position
      }
      sum += Self.removedEnergy(residual[position], tone.samples[position - tone.origin])
      if position + 1 >= firstEnd, sum > maximum {
        maximum = sum
        end = position + 1
      }
    }
    return start..<max(start, end)
  }

  // MARK: - Revision of windows

  /// Removes tones that are too short or too weak, and the windows of the others that extend beyond
  /// their edges.
  ///
  /// - Parameters:
  ///   - minimumLevel: The minimum level of a tone.
  ///   - sampleCount: The number of samples of the signal.
  mutating func revise(minimumLevel: Float, sampleCount: Int) {
    let minimumLength = Self.minimumDuration * timeScale.squareRoot() * rate
    tones = tones.filter { tone in
      Double(tone.span.count) >= minimumLength && (tone.levels.max() ?? 0) > Double(minimumLevel)
    }.map { trimmed($0, sampleCount: sampleCount) }
  }

  private func trimmed(_ tone: TonePath, sampleCount: Int) -> TonePath {
    let inner = tone.nodes.filter {
      $0.center - $0.halfLength >= tone.span.lowerBound - 1
        && $0.center + $0.halfLength <= tone.span.upperBound + 1
    }
    guard inner.count >= 2, inner.count < tone.nodes.count else { return tone }
    return path(inner, span: tone.span, core: tone.core, sampleCount: sampleCount)
  }

  /// Returns the tone of some windows with given edges, as far as its waveform is known.
  private func path(
    _ nodes: [TonePath.Node], span: Range<Int>, core: Range<Int>, sampleCount: Int
  ) -> TonePath {
    var path = TonePath(nodes, rate: rate, sampleCount: sampleCount, timeScale: timeScale)
    path.span = span.clamped(to: path.domain)
    path.core = core.clamped(to: path.domain)
    return path
  }

  // MARK: - Parts of a tone

  /// Joins tones of which the second continues the first in phase.
  mutating func joinParts(sampleCount: Int) {
    tones.sort { $0.span.lowerBound < $1.span.lowerBound }
    var index = 0
    while index < tones.count {
      let first = tones[index]
      let next = tones.indices.first { $0 != index && continues(first, with: tones[$0]) }
      guard let next else {
        index += 1
        continue
      }
      let second = tones[next]
      tones[index] = path(
        first.nodes + second.nodes, span: first.span.lowerBound..<second.span.upperBound,
        core: first.core.lowerBound..<max(first.core.lowerBound, second.core.upperBound),
        sampleCount: sampleCount)
      tones.remove(at: next)
      index = 0
    }
  }

  private func continues(_ first: TonePath, with second: TonePath) -> Bool {
    let distance = Double(abs(second.span.lowerBound - first.span.upperBound)) / rate
    let lastCenter = first.nodes[first.nodes.count - 1].center
    guard distance < Self.maximumPartDistance * timeScale,
      second.span.upperBound > first.span.upperBound, second.nodes[0].center > lastCenter
    else { return false }
    let joint = (first.span.upperBound + second.span.lowerBound) / 2
    guard first.domain.contains(joint), second.domain.contains(joint) else { return false }
    let firstHertz = first.meanHertz(in: joint - 40..<joint + 1, rate: rate)
    let secondHertz = second.meanHertz(in: joint..<joint + 40, rate: rate)
    let frequencyDifference = abs(secondHertz / firstHertz - 1)
    let levelRatio = first.level(at: joint) / max(second.level(at: joint), 1e-9)
    let phaseOffset = first.phase(at: joint) - second.phase(at: joint)
    let phaseDifference = abs(atan2(sin(phaseOffset), cos(phaseOffset)))
    let isContinuous =
      frequencyDifference < 0.03 && phaseDifference < 0.8 && levelRatio > 0.6 && levelRatio < 1.6
    // After a burst, the phase is less exact.
    let isInterrupted = Double(second.nodes[0].center - lastCenter) > 0.07 * rate
    let isAlike =
      frequencyDifference < 0.012 && phaseDifference < 1.9 && levelRatio > 0.88
      && levelRatio < 1.14
    return isContinuous || isInterrupted && isAlike
  }

  /// Divides a tone: its windows that end before a position, and those that begin after it.
  ///
  /// - Returns: Both parts with unknown inner edges, or nil if a part would have no windows.
  func parts(
    of tone: TonePath, at position: Int, sampleCount: Int
  ) -> (first: TonePath, second: TonePath)? {
    let before = tone.nodes.filter { $0.center + $0.halfLength <= position + 2 }
    let after = tone.nodes.filter { $0.center - $0.halfLength >= position - 2 }
    guard before.count >= 2, after.count >= 2 else { return nil }
    return (
      TonePath(before, rate: rate, sampleCount: sampleCount, timeScale: timeScale),
      TonePath(after, rate: rate, sampleCount: sampleCount, timeScale: timeScale)
    )
  }
}
