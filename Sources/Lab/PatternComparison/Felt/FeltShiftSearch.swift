import SignalAnalysis

/// A search for vibrations with shifted onsets or ends.
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

  /// The maximum difference between equal shifts, in seconds.
  private static let maximumShiftSpreadSeconds = 0.0035
  /// The minimum fraction of the residual that an accepted warp removes.
  ///
  /// The residual is measured near the moved anchors.
  private static let minimumExplainedResidualFraction = 0.4
  /// The maximum number of moved anchors for trials with single anchors.
  private static let maximumAnchorsForSingleShifts = 24
  /// The maximum shift of an end to the end of another event, in seconds.
  private static let maximumMatchingShiftSeconds = 0.1
  /// The maximum number of trials that move an end to another event's end.
  private static let maximumCrossingCount = 4

  /// A proposed shift of an anchor; 0 for an anchor that did not move.
  private struct ShiftProposal {
    var time: Double
    var shift: Double
    var isEnd: Bool
  }

  /// A set of shifts to try together: a shift for each anchor of a vibration.
  private struct ShiftSet {
    var proposals: [ShiftProposal]
    /// A Boolean value that indicates whether all anchors have the same shift.
    var movesWholeVibration: Bool
  }

  /// The new times of the moved onsets.
  private var movedStartTimes: [Double] = []
  /// The new times of the moved ends.
  private var movedEndTimes: [Double] = []

  init(_ side: SampledFeltPattern, _ candidate: SampledFeltPattern, context: FeltComparisonContext)
  {
    self.reference = side
    self.candidate = candidate
    self.comparisonContext = context
    let proposals = proposals()
    for proposal in proposals.flatMap(\.proposals) where proposal.shift != 0 {
      let newTime = proposal.time + proposal.shift
      if proposal.isEnd {
        movedEndTimes.append(newTime)
      } else {
        movedStartTimes.append(newTime)
      }
    }
    for (track, proposals) in proposals {
      moveTrack(track, proposals: proposals.sorted { $0.time < $1.time })
    }
  }

  /// Returns the proposed shifts of each track with at least one moved anchor.
  ///
  /// The result has the order of the tracks.
  private func proposals() -> [(track: Int, proposals: [ShiftProposal])] {
    let anchorPairs = FeltPairing.anchorPairs(
      FeltAnchors(reference, context: comparisonContext),
      FeltAnchors(candidate, context: comparisonContext))
    var proposalsByTrack: [Int: [ShiftProposal]] = [:]
    for pair in anchorPairs {
      var proposedShift = pair.medianShift
      guard pair.shiftSpread <= max(0.004, 0.25 * abs(proposedShift)) else { continue }
      let amplitudeError = comparisonContext.resolution.amplitudeError(
        at: 0.25 * pair.anchor.amplitudeChange)
      let uncertainty = pair.anchor.crossingTimeError(amplitudeError: amplitudeError)
      if abs(proposedShift) <= comparisonContext.minimumShiftSeconds + uncertainty {
        proposedShift = 0
      }
      proposalsByTrack[pair.anchor.trackIndex, default: []].append(
        ShiftProposal(time: pair.anchor.medianCrossingTime, shift: proposedShift, isEnd: pair.isEnd)
      )
    }
    return proposalsByTrack.filter { $0.value.contains { $0.shift != 0 } }.sorted {
      $0.key < $1.key
    }
    .map { ($0.key, $0.value) }
  }

  /// Warps a track by the set of shifts that removes most of its residual.
  ///
  /// The track does not change if no set removes enough.
  private mutating func moveTrack(_ index: Int, proposals: [ShiftProposal]) {
    let track = reference.tracks[index]
    var bestMove: (option: ShiftSet, track: FeltTrack, gain: Double)?
    for option in shiftSets(proposals) {
      let targetTimes = option.proposals.map { $0.time + $0.shift }
      guard zip(targetTimes, targetTimes.dropFirst()).allSatisfy({ $0 <= $1 + 1e-9 }) else {
        continue
      }
      let timeWarp = TimeWarp(sources: option.proposals.map(\.time), targets: targetTimes)
      let warped = track.warped(by: timeWarp, grid: comparisonContext.grid)
      let residualGain = residualReduction(replacing: track, by: warped)
      if residualGain > (bestMove?.gain ?? 0) * 1.02, residualGain > 0 {
        bestMove = (option, warped, residualGain)
      }
    }
    guard let bestMove else { return }
    let residualEnergy = residual(near: bestMove.option.proposals)
    guard residualEnergy > 0,
      bestMove.gain >= Self.minimumExplainedResidualFraction * residualEnergy
    else {
      return
    }
    reference.replaceTrack(at: index, by: bestMove.track)
    addDifferences(
      bestMove.option.proposals, isMove: bestMove.option.movesWholeVibration,
      event: track.eventIndex)
  }

  /// Returns the sets of shifts to try for a vibration.
  ///
  /// The sets move all anchors by their own shifts, all anchors by one shift, or single anchors.
  private func shiftSets(_ proposals: [ShiftProposal]) -> [ShiftSet] {
    let movedIndices = proposals.indices.filter { proposals[$0].shift != 0 }
    let movedShifts = movedIndices.map { proposals[$0].shift }
    let shiftSpread = (movedShifts.max() ?? 0) - (movedShifts.min() ?? 0)
    let isMove =
      movedIndices.count == proposals.count && shiftSpread <= Self.maximumShiftSpreadSeconds
    var shiftOptions = [ShiftSet(proposals: proposals, movesWholeVibration: isMove)]
    guard !isMove, movedIndices.count <= Self.maximumAnchorsForSingleShifts else {
      return shiftOptions
    }
    func shiftedProposals(_ shift: (Int) -> Double) -> [ShiftProposal] {
      proposals.indices.map { position in
        var proposal = proposals[position]
        proposal.shift = shift(position)
        return proposal
      }
    }
    for movedIndex in movedIndices {
      let ownShift = proposals[movedIndex].shift
      for shift in [ownShift] + crossingShifts(of: proposals[movedIndex]) {
        shiftOptions.append(
          ShiftSet(
            proposals: shiftedProposals { $0 == movedIndex ? shift : 0 }, movesWholeVibration: false
          ))
      }
      shiftOptions.append(
        ShiftSet(proposals: shiftedProposals { _ in ownShift }, movesWholeVibration: true))
    }
    return shiftOptions
  }

  /// Returns the shifts of an anchor to the new times of other anchors, smallest shift first.
  private func crossingShifts(of proposal: ShiftProposal) -> [Double] {
    let newAnchorTimes = proposal.isEnd ? movedEndTimes : movedStartTimes
    let anchorShifts = newAnchorTimes.map { $0 - proposal.time }
    let crossingShifts = anchorShifts.filter {
      abs($0) > comparisonContext.minimumShiftSeconds && abs($0) <= Self.maximumMatchingShiftSeconds
        && abs($0 - proposal.shift) > comparisonContext.minimumShiftSeconds
    }
    return Array(crossingShifts.sorted { abs($0) < abs($1) }.prefix(Self.maximumCrossingCount))
  }

  /// Returns the decrease of the squared residual when a track is replaced.
  private func residualReduction(replacing track: FeltTrack, by other: FeltTrack) -> Double {
    let startIndex = min(track.pointRange.lowerBound, other.pointRange.lowerBound)
    let endIndex = max(track.pointRange.upperBound, other.pointRange.upperBound)
    var energyReduction = 0.0
    for index in startIndex..<max(startIndex, endIndex) {
      let residualBefore = reference.summedAmplitudes[index] - candidate.summedAmplitudes[index]
      let residualAfter =
        residualBefore - track.amplitude(atPoint: index) + other.amplitude(atPoint: index)
      energyReduction += residualBefore * residualBefore - residualAfter * residualAfter
    }
    return energyReduction
  }

  /// Returns the squared residual between the summed tracks of both patterns near moved anchors.
  private func residual(near proposals: [ShiftProposal]) -> Double {
    var touchedIndices = Set<Int>()
    for proposal in proposals where proposal.shift != 0 {
      let times = [proposal.time, proposal.time + proposal.shift].sorted()
      let firstPoint = comparisonContext.grid.index(before: times[0] - 0.005)
      let endPoint = comparisonContext.grid.index(before: times[1] + 0.005)
      touchedIndices.formUnion(firstPoint..<max(firstPoint, endPoint))
    }
    // The order of a set differs between runs, and the rounding of the sum would, too.
    return touchedIndices.sorted().reduce(0) { sum, index in
      let difference = reference.summedAmplitudes[index] - candidate.summedAmplitudes[index]
      return sum + difference * difference
    }
  }

  private mutating func addDifferences(_ option: [ShiftProposal], isMove: Bool, event: Int) {
    let movedProposals = option.filter { $0.shift != 0 }
    func addDifference(_ kind: Difference.Kind, _ group: [ShiftProposal], isWholeEvent: Bool) {
      guard let first = group.first, let last = group.last else { return }
      differences.append(
        FeltDifference(
          kind: kind, timeRange: first.time...last.time,
          amount: Statistics.median(of: group.map(\.shift)),
          maximumRoundingError: comparisonContext.resolution.maximumTimeErrorSeconds,
          referenceEventIndices: isWholeEvent ? [event] : []))
    }
    if isMove {
      addDifference(.time, option, isWholeEvent: true)
      return
    }
    // Neighboring anchors with one shift are one change.
    var currentGroup: [ShiftProposal] = []
    var proposalGroups: [[ShiftProposal]] = []
    for proposal in movedProposals {
      if let last = currentGroup.last,
        abs(proposal.shift - last.shift) > Self.maximumShiftSpreadSeconds
      {
        proposalGroups.append(currentGroup)
        currentGroup = []
      }
      currentGroup.append(proposal)
    }
    proposalGroups.append(currentGroup)
    for group in proposalGroups {
      let isEnd = group.count == 1 && group[0].isEnd
      let isLast = group.last.map { $0.time == option.last?.time } ?? false
      let isFirst = group.first.map { $0.time == option.first?.time } ?? false
      if isEnd {
        addDifference(.duration, group, isWholeEvent: isLast)
        let index = differences.count - 1
        let firstProposalTime = option[0].time
        differences[index].timeRange =
          firstProposalTime...max(firstProposalTime, differences[index].timeRange.upperBound)
      } else {
        addDifference(.time, group, isWholeEvent: isFirst)
      }
    }
  }
}
