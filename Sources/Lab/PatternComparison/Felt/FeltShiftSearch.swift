import SignalAnalysis

/// A search for vibrations that begin or end at other times.
///
/// 1. Pairs of anchors whose crossings moved alike propose shifts.
/// 2. Each vibration with proposals is warped through its anchors: through all, through one, or by
///    one shift of all. Where events overlap, an end that moves past the end of another event is
///    paired with that end. The search therefore also tries the ends of other events.
/// 3. The warp that lowers the squared difference of the summed amplitudes most is accepted if it
///    removes enough of the difference near the anchors that moved.
struct FeltShiftSearch {
  private(set) var reference: SampledFeltPattern
  private(set) var differences: [FeltDifference] = []
  private let candidate: SampledFeltPattern
  private let comparisonContext: FeltComparisonContext

  /// The maximum difference between shifts that count as the same shift, in seconds.
  private static let maximumShiftSpread = 0.0035
  /// The minimum fraction of the residual near moved anchors that a warp must remove to be
  /// accepted.
  private static let minimumExplainedFraction = 0.4
  /// The maximum number of moved anchors at which shifts of single anchors are also tried.
  private static let maximumSingleShiftAnchorCount = 24
  /// The maximum time by which an end is moved to match the end of another event, in seconds.
  private static let maximumCrossingSeconds = 0.1
  /// The maximum number of other events' ends to which an end is moved on trial.
  private static let maximumCrossingCount = 4

  /// A proposed shift of an anchor, which is 0 if the anchor did not move.
  private struct Proposal {
    var time: Double
    var shift: Double
    var isEnd: Bool
  }

  /// A set of shifts, one for each anchor of a vibration, that is tried as a whole.
  private struct ShiftSet {
    var proposals: [Proposal]
    /// A Boolean value that indicates whether the whole vibration moves by one shift.
    var movesWholeVibration: Bool
  }

  /// The new times of the anchors that moved, by whether the anchor is an end.
  private var movedAnchorTimes: [Bool: [Double]] = [:]

  init(_ side: SampledFeltPattern, _ candidate: SampledFeltPattern, context: FeltComparisonContext)
  {
    self.reference = side
    self.candidate = candidate
    self.comparisonContext = context
    let proposals = proposals()
    for proposal in proposals.flatMap(\.proposals) where proposal.shift != 0 {
      movedAnchorTimes[proposal.isEnd, default: []].append(proposal.time + proposal.shift)
    }
    for (track, proposals) in proposals {
      moveTrack(track, proposals: proposals.sorted { $0.time < $1.time })
    }
  }

  /// Returns the proposals of each track with at least one moved anchor, in the order of tracks.
  private func proposals() -> [(track: Int, proposals: [Proposal])] {
    let pairs = FeltPairing.anchorPairs(
      FeltAnchors(reference, context: comparisonContext),
      FeltAnchors(candidate, context: comparisonContext))
    var proposals: [Int: [Proposal]] = [:]
    for pair in pairs {
      var shift = pair.medianShift
      guard pair.shiftSpread <= max(0.004, 0.25 * abs(shift)) else { continue }
      let error = comparisonContext.resolution.amplitudeError(
        at: 0.25 * pair.anchor.amplitudeChange)
      let uncertainty = pair.anchor.uncertainty(amplitudeError: error)
      if abs(shift) <= comparisonContext.minimumShiftSeconds + uncertainty {
        shift = 0
      }
      proposals[pair.anchor.trackIndex, default: []].append(
        Proposal(time: pair.anchor.medianCrossingTime, shift: shift, isEnd: pair.isEnd))
    }
    return proposals.filter { $0.value.contains { $0.shift != 0 } }.sorted { $0.key < $1.key }
      .map { ($0.key, $0.value) }
  }

  /// Warps a track by the set of shifts that explains most of its difference, if that set explains
  /// enough.
  private mutating func moveTrack(_ index: Int, proposals: [Proposal]) {
    let track = reference.tracks[index]
    var best: (option: ShiftSet, track: FeltTrack, gain: Double)?
    for option in shiftSets(proposals) {
      let targets = option.proposals.map { $0.time + $0.shift }
      guard zip(targets, targets.dropFirst()).allSatisfy({ $0 <= $1 + 1e-9 }) else { continue }
      let warp = TimeWarp(sources: option.proposals.map(\.time), targets: targets)
      let warped = track.warped(by: warp, grid: comparisonContext.grid)
      let gain = residualReduction(replacing: track, by: warped)
      if gain > (best?.gain ?? 0) * 1.02, gain > 0 {
        best = (option, warped, gain)
      }
    }
    guard let best else { return }
    let residual = residual(near: best.option.proposals)
    guard residual > 0, best.gain >= Self.minimumExplainedFraction * residual else { return }
    reference.replaceTrack(at: index, by: best.track)
    addDifferences(
      best.option.proposals, isMove: best.option.movesWholeVibration, event: track.eventIndex)
  }

  /// Returns the sets of shifts to try: all anchors by their own shifts, all anchors by one shift,
  /// and single anchors.
  private func shiftSets(_ proposals: [Proposal]) -> [ShiftSet] {
    let moved = proposals.indices.filter { proposals[$0].shift != 0 }
    let shifts = moved.map { proposals[$0].shift }
    let spread = (shifts.max() ?? 0) - (shifts.min() ?? 0)
    let isMove = moved.count == proposals.count && spread <= Self.maximumShiftSpread
    var options = [ShiftSet(proposals: proposals, movesWholeVibration: isMove)]
    guard !isMove, moved.count <= Self.maximumSingleShiftAnchorCount else { return options }
    func shifted(_ shift: (Int) -> Double) -> [Proposal] {
      proposals.indices.map { position in
        var proposal = proposals[position]
        proposal.shift = shift(position)
        return proposal
      }
    }
    for single in moved {
      let ownShift = proposals[single].shift
      for shift in [ownShift] + crossingShifts(of: proposals[single]) {
        options.append(
          ShiftSet(proposals: shifted { $0 == single ? shift : 0 }, movesWholeVibration: false))
      }
      options.append(ShiftSet(proposals: shifted { _ in ownShift }, movesWholeVibration: true))
    }
    return options
  }

  /// Returns the shifts that would move an anchor to the new times of other events' anchors, the
  /// smallest first.
  private func crossingShifts(of proposal: Proposal) -> [Double] {
    let shifts = (movedAnchorTimes[proposal.isEnd] ?? []).map { $0 - proposal.time }
    let crossing = shifts.filter {
      abs($0) > comparisonContext.minimumShiftSeconds && abs($0) <= Self.maximumCrossingSeconds
        && abs($0 - proposal.shift) > comparisonContext.minimumShiftSeconds
    }
    return Array(crossing.sorted { abs($0) < abs($1) }.prefix(Self.maximumCrossingCount))
  }

  /// Returns the amount by which the squared difference between the patterns decreases if one track
  /// is replaced by another.
  private func residualReduction(replacing track: FeltTrack, by other: FeltTrack) -> Double {
    let lower = min(track.pointRange.lowerBound, other.pointRange.lowerBound)
    let upper = max(track.pointRange.upperBound, other.pointRange.upperBound)
    var reduction = 0.0
    for index in lower..<max(lower, upper) {
      let before = reference.summedAmplitudes[index] - candidate.summedAmplitudes[index]
      let after = before - track.amplitude(at: index) + other.amplitude(at: index)
      reduction += before * before - after * after
    }
    return reduction
  }

  /// Returns the squared difference between the summed tracks of both patterns near moved anchors.
  private func residual(near proposals: [Proposal]) -> Double {
    var touched = Set<Int>()
    for proposal in proposals where proposal.shift != 0 {
      let times = [proposal.time, proposal.time + proposal.shift].sorted()
      let first = comparisonContext.grid.index(before: times[0] - 0.005)
      let last = comparisonContext.grid.index(before: times[1] + 0.005)
      touched.formUnion(first..<max(first, last))
    }
    // The order of a set differs between runs, and the rounding of the sum would, too.
    return touched.sorted().reduce(0) { sum, index in
      let difference = reference.summedAmplitudes[index] - candidate.summedAmplitudes[index]
      return sum + difference * difference
    }
  }

  private mutating func addDifferences(_ option: [Proposal], isMove: Bool, event: Int) {
    let moved = option.filter { $0.shift != 0 }
    func add(_ kind: Difference.Kind, _ group: [Proposal], isWholeEvent: Bool) {
      guard let first = group.first, let last = group.last else { return }
      differences.append(
        FeltDifference(
          kind: kind, range: first.time...last.time,
          amount: Statistics.median(of: group.map(\.shift)),
          maximumRoundingError: comparisonContext.resolution.maximumTimeErrorSeconds,
          referenceEvents: isWholeEvent ? [event] : []))
    }
    if isMove {
      add(.time, option, isWholeEvent: true)
      return
    }
    // Neighboring anchors with one shift are one change.
    var group: [Proposal] = []
    var groups: [[Proposal]] = []
    for proposal in moved {
      if let last = group.last, abs(proposal.shift - last.shift) > Self.maximumShiftSpread {
        groups.append(group)
        group = []
      }
      group.append(proposal)
    }
    groups.append(group)
    for group in groups {
      let isEnd = group.count == 1 && group[0].isEnd
      let isLast = group.last.map { $0.time == option.last?.time } ?? false
      let isFirst = group.first.map { $0.time == option.first?.time } ?? false
      add(isEnd ? .duration : .time, group, isWholeEvent: isEnd ? isLast : isFirst)
      if isEnd {
        let index = differences.count - 1
        let start = option[0].time
        differences[index].range = start...max(start, differences[index].range.upperBound)
      }
    }
  }
}
