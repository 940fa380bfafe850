internal import CMath

/// A search for differences of level in the summed vibrations.
///
/// The squares of both sums are averaged over 12 ms. In each round, the region with the largest
/// difference is explained by the event that lowers the difference over its own extent most:
/// an event of the reference with another gain, or missing, or an event of the candidate that was
/// added. If no event explains it, the region itself is the difference. Every round changes or
/// masks a range, and only the regions there are found again. The search ends without a region.
struct FeltLevelSearch {
  private(set) var differences: [FeltDifference] = []
  private(set) var side: FeltSide
  private(set) var candidate: FeltSide
  private let context: FeltContext
  /// The grid points that are ignored because another difference explains them.
  private var isMasked: [Bool]
  /// The moving averages of the reference's squared amplitudes.
  private var energies: [Double]
  /// The moving averages of the candidate's squared amplitudes.
  private var candidateEnergies: [Double]
  /// The mean square below which a sound is noise.
  private let noise: Double
  /// Half the width of the moving average, in grid points.
  private let halfWidth: Int
  /// The regions that are not explained yet.
  private var regions: [Region] = []
  /// The total number of grid points on which explanations were tried.
  private var trialPointCount = 0

  /// The duration of the moving average, in seconds.
  private static let windowSeconds = 0.012
  /// The minimum duration of a region, in seconds.
  private static let minimumSeconds = 0.012
  /// The minimum duration of a region with a large difference, in seconds.
  private static let minimumLargeSeconds = 0.0015
  /// The minimum level difference that counts as large, in decibels.
  private static let largeDecibels = 6.0
  /// The maximum fraction of the difference that an explanation may leave.
  private static let maximumRemainingFraction = 0.3
  /// The gain below which an event counts as missing.
  private static let minimumGain = 0.1
  /// The total number of grid points after which no further explanations by events are tried. The
  /// remaining regions are reported as differences without an event.
  private static let maximumTrialPointCount = 60_000_000
  /// The maximum gap between a region and a vibration that it lengthens or shortens, in seconds.
  private static let neighborSeconds = 0.02

  /// A range of grid points in which one pattern is stronger.
  private struct Region {
    var range: Range<Int>
    /// The sum of the differences, weighted by amplitude.
    var score = 0.0
    /// The mean difference in decibels, weighted by amplitude.
    var decibels = 0.0
    /// The mean difference that rounding can explain, in decibels, weighted by amplitude.
    var slack = 0.0
  }

  /// An event that may explain a region.
  private struct Explanation {
    var remainingFraction: Double
    var isAdded: Bool
    var track: Int
    var gain: Double
  }

  init(_ side: FeltSide, _ candidate: FeltSide, isMasked: [Bool], context: FeltContext) {
    self.side = side
    self.candidate = candidate
    self.isMasked = isMasked
    self.context = context
    noise = (context.floor * 0.3) * (context.floor * 0.3)
    halfWidth = max(1, context.grid.pointCount(Self.windowSeconds) / 2)
    energies = []
    candidateEnergies = []
    let all = context.grid.indices
    energies = meanSquares(side.amplitudes[...], in: all)
    candidateEnergies = meanSquares(candidate.amplitudes[...], in: all)
    regions = regions(in: all)
    while let region = largestRegion {
      updateRegions(near: explain(region))
    }
  }

  // MARK: - Regions

  /// Returns the moving averages of squared amplitudes at each point of a range.
  private func meanSquares(_ amplitudes: ArraySlice<Double>, in range: Range<Int>) -> [Double] {
    func square(_ index: Int) -> Double {
      guard amplitudes.indices.contains(index) else { return 0 }
      return amplitudes[index] * amplitudes[index]
    }
    guard !range.isEmpty else { return [] }
    var sum = 0.0
    for index in (range.lowerBound - halfWidth)..<(range.lowerBound + halfWidth) {
      sum += square(index)
    }
    var means: [Double] = []
    means.reserveCapacity(range.count)
    for index in range {
      means.append(max(0, sum) / Double(2 * halfWidth))
      sum += square(index + halfWidth) - square(index - halfWidth)
    }
    return means
  }

  private func decibels(_ energy: Double) -> Double { 10 * log10(energy + noise) }

  /// Returns the difference of levels at a point, in decibels.
  private func change(at index: Int) -> Double {
    decibels(candidateEnergies[index]) - decibels(energies[index])
  }

  private func slack(at index: Int) -> Double {
    let quieter = min(energies[index], candidateEnergies[index])
    return context.resolution.levelSlack(atDecibels: 10 * log10(max(quieter, noise)))
  }

  /// Returns the greater of both patterns' amplitudes, or 0 if the point is ignored.
  private func weight(at index: Int) -> Double {
    if isMasked[index] { return 0 }
    let louder = max(energies[index], candidateEnergies[index]).squareRoot()
    return louder > context.floor ? louder : 0
  }

  /// Returns the maximum level change that shifting the reference within its time rounding causes,
  /// in decibels.
  private func changeByShift(at index: Int) -> Double {
    let reach = context.shiftReach
    let level = decibels(energies[index])
    let earlier = decibels(energies[max(0, index - reach)])
    let later = decibels(energies[min(energies.count - 1, index + reach)])
    return max(abs(earlier - level), abs(later - level))
  }

  /// Returns the sign of the difference at a point, or 0 if rounding explains it.
  private func sign(at index: Int) -> Int {
    guard weight(at: index) > 0 else { return 0 }
    let change = change(at: index)
    let minimum = FeltDifference.Minimum.decibels
    guard abs(change) > minimum, abs(change) > slack(at: index) + minimum,
      abs(change) > changeByShift(at: index) + minimum
    else { return 0 }
    return change > 0 ? 1 : -1
  }

  /// The maximum gap between two points of the same region, in grid points.
  private var gap: Int { context.grid.pointCount(Self.minimumSeconds) }

  /// The region with the highest score, or nil if all regions are too short.
  private var largestRegion: Region? {
    var best: Region?
    for region in regions where region.score > best?.score ?? 0 {
      best = region
    }
    return best
  }

  /// Updates the regions in and near a range in which levels changed.
  private mutating func updateRegions(near changed: Range<Int>) {
    let reach = context.shiftReach
    var lower = changed.lowerBound - reach
    var upper = changed.upperBound + reach
    let affected = (lower - gap - 1)..<(upper + gap + 1)
    for region in regions where region.range.overlaps(affected) {
      lower = min(lower, region.range.lowerBound)
      upper = max(upper, region.range.upperBound)
    }
    regions.removeAll { $0.range.overlaps(affected) }
    regions += regions(in: (lower..<upper).clamped(to: context.grid.indices))
  }

  /// Returns the regions in a range.
  private func regions(in range: Range<Int>) -> [Region] {
    var open: [Int: Range<Int>] = [:]
    var regions: [Region] = []
    func close(_ sign: Int) {
      guard let range = open.removeValue(forKey: sign) else { return }
      regions.append(region(range))
    }
    for index in range {
      let sign = sign(at: index)
      guard sign != 0 else { continue }
      if let range = open[sign], index - range.upperBound <= gap {
        open[sign] = range.lowerBound..<(index + 1)
      } else {
        close(sign)
        open[sign] = index..<(index + 1)
      }
    }
    close(1)
    close(-1)
    return regions
  }

  /// Creates a region and computes its score, which is 0 if the region is too short.
  private func region(_ range: Range<Int>) -> Region {
    var region = Region(range: range)
    var maximum = 0.0
    var total = 0.0
    for index in range {
      let change = change(at: index)
      let weight = max(weight(at: index), 1e-12)
      maximum = max(maximum, abs(change))
      region.score += weight * abs(change)
      region.decibels += weight * change
      region.slack += weight * slack(at: index)
      total += weight
    }
    region.decibels /= total
    region.slack /= total
    let minimum =
      maximum >= Self.largeDecibels ? Self.minimumLargeSeconds : Self.minimumSeconds
    if Double(range.count) * context.grid.step < minimum {
      region.score = 0
    }
    return region
  }

  // MARK: - Explanations

  /// Explains a region, and returns the range in which levels changed or are now ignored.
  private mutating func explain(_ region: Region) -> Range<Int> {
    var explanations: [Explanation] = []
    if trialPointCount < Self.maximumTrialPointCount {
      for (index, track) in side.tracks.enumerated() where sounds(track, in: region.range) {
        trialPointCount += span(of: track).count
        explanations.append(gainExplanation(index, track))
      }
      for (index, track) in candidate.tracks.enumerated() where sounds(track, in: region.range) {
        trialPointCount += span(of: track).count
        explanations.append(additionExplanation(index, track))
      }
    }
    let best = explanations.min { $0.remainingFraction < $1.remainingFraction }
    if let best, best.remainingFraction < Self.maximumRemainingFraction {
      return accept(best)
    }
    return add(region)
  }

  /// Returns true if a track can be felt in a range. Explanations only change the track's sounding
  /// range.
  private func sounds(_ track: FeltTrack, in range: Range<Int>) -> Bool {
    track.soundingRange.clamped(to: range).contains { track.amplitude(at: $0) > context.floor }
  }

  /// Returns the part of the grid that a track affects.
  private func span(of track: FeltTrack) -> Range<Int> {
    let range = track.soundingRange
    let margin = 2 * halfWidth
    return max(
      0, range.lowerBound - margin)..<min(
        context.grid.count, range.upperBound + margin)
  }

  /// Returns the gain of a track of the reference that explains the difference best.
  private func gainExplanation(_ index: Int, _ track: FeltTrack) -> Explanation {
    let span = span(of: track)
    var product = 0.0
    var square = 0.0
    for point in span {
      let amplitude = track.amplitude(at: point)
      let remaining = side.amplitudes[point] - amplitude
      product += amplitude * (candidate.amplitudes[point] - remaining)
      square += amplitude * amplitude
    }
    var gain = max(0, product / max(square, 1e-12))
    if gain < Self.minimumGain {
      gain = 0
    }
    let before = cost(side.amplitudes[...], candidate.amplitudes[...], in: span)
    let changed = changedAmplitudes(of: side, track, by: gain - 1, around: span)
    let after = cost(changed, candidate.amplitudes[...], in: span)
    return Explanation(
      remainingFraction: Self.remainingFraction(after, of: before), isAdded: false, track: index,
      gain: gain)
  }

  /// Returns the explanation that a track of the candidate is missing in the reference.
  private func additionExplanation(_ index: Int, _ track: FeltTrack) -> Explanation {
    let span = span(of: track)
    let before = cost(side.amplitudes[...], candidate.amplitudes[...], in: span)
    let changed = changedAmplitudes(of: candidate, track, by: -1, around: span)
    let after = cost(side.amplitudes[...], changed, in: span)
    return Explanation(
      remainingFraction: Self.remainingFraction(after, of: before), isAdded: true, track: index,
      gain: 0)
  }

  /// Returns the ratio of the remaining cost to the original cost, or 1 if the original cost is
  /// zero.
  private static func remainingFraction(_ remaining: Double, of cost: Double) -> Double {
    cost > 1e-9 ? remaining / cost : 1
  }

  /// Returns the summed amplitudes of a pattern near a span after a multiple of a track is added.
  private func changedAmplitudes(
    of side: FeltSide, _ track: FeltTrack, by factor: Double, around span: Range<Int>
  ) -> ArraySlice<Double> {
    let lower = max(0, span.lowerBound - halfWidth)
    let upper = min(context.grid.count, span.upperBound + halfWidth)
    var changed = side.amplitudes[lower..<upper]
    for index in track.range.clamped(to: lower..<upper) {
      changed[index] = max(0, changed[index] + factor * track.amplitude(at: index))
    }
    return changed
  }

  /// Returns the sum of the level differences in a range, weighted by amplitude.
  private func cost(
    _ amplitudes: ArraySlice<Double>, _ candidateAmplitudes: ArraySlice<Double>,
    in range: Range<Int>
  ) -> Double {
    let energies = meanSquares(amplitudes, in: range)
    let candidateEnergies = meanSquares(candidateAmplitudes, in: range)
    var cost = 0.0
    for (offset, index) in range.enumerated() where !isMasked[index] {
      let louder = max(energies[offset], candidateEnergies[offset]).squareRoot()
      guard louder > context.floor else { continue }
      let change = decibels(candidateEnergies[offset]) - decibels(energies[offset])
      cost += abs(change) * louder
    }
    return cost
  }

  private func timeRange(_ range: Range<Int>) -> ClosedRange<Double> {
    context.grid.time(range.lowerBound)...context.grid.time(range.upperBound)
  }

  /// Applies an explanation, and returns the range in which levels changed.
  private mutating func accept(_ explanation: Explanation) -> Range<Int> {
    if explanation.isAdded {
      let track = candidate.tracks[explanation.track]
      candidate.replaceTrack(at: explanation.track, by: track.scaled(by: 0))
      let span = span(of: track)
      candidateEnergies.replaceSubrange(
        span, with: meanSquares(candidate.amplitudes[...], in: span))
      differences.append(
        FeltDifference(
          kind: .added, range: timeRange(track.soundingRange),
          amount: FeltContext.decibels(track.peak), candidateEvents: [track.event]))
      return span
    }
    let track = side.tracks[explanation.track]
    side.replaceTrack(at: explanation.track, by: track.scaled(by: explanation.gain))
    let span = span(of: track)
    energies.replaceSubrange(span, with: meanSquares(side.amplitudes[...], in: span))
    var difference = FeltDifference(
      kind: .missing, range: timeRange(track.soundingRange),
      amount: FeltContext.decibels(track.peak), events: [track.event])
    if explanation.gain > 0 {
      let sounding = track.soundingRange
      let square = sounding.reduce(0.0) { sum, index in
        sum + track.amplitude(at: index) * track.amplitude(at: index)
      }
      let level = (square / Double(max(1, sounding.count))).squareRoot()
      difference.kind = .level
      difference.amount = FeltContext.decibels(explanation.gain)
      difference.slack = context.levelSlack(at: level)
    }
    differences.append(difference)
    return span
  }

  /// Adds a difference for a region that no event explains, and masks the region.
  ///
  /// - Returns: The masked range.
  private mutating func add(_ region: Region) -> Range<Int> {
    let range = region.range
    var difference = FeltDifference(
      kind: .level, range: timeRange(range), amount: region.decibels, slack: region.slack)
    let maximum = range.reduce(0.0) { max($0, energies[$1]) }.squareRoot()
    let candidateMaximum = range.reduce(0.0) { max($0, candidateEnergies[$1]) }.squareRoot()
    if candidateMaximum < context.floor || maximum < context.floor {
      difference.kind = candidateMaximum < context.floor ? .missing : .added
      difference.amount = FeltContext.decibels(max(maximum, candidateMaximum))
      let seconds = Double(range.count) * context.grid.step
      let length = difference.kind == .added ? seconds : -seconds
      // Next to a vibration of both sides, that vibration is longer or shorter.
      if bothSound(in: (range.lowerBound - reach)..<range.lowerBound) {
        difference.kind = .duration
        difference.amount = length
        difference.slack = context.resolution.timeSlack
      } else if bothSound(in: range.upperBound..<(range.upperBound + reach)) {
        difference.kind = .time
        difference.amount = -length
        difference.slack = context.resolution.timeSlack
      }
    }
    difference.events = eventsCovered(by: range, of: side)
    difference.candidateEvents = eventsCovered(by: range, of: candidate)
    differences.append(difference)
    let masked = (range.lowerBound - halfWidth)..<(range.upperBound + halfWidth)
    for index in masked.clamped(to: isMasked.indices) {
      isMasked[index] = true
    }
    return masked
  }

  private var reach: Int { context.grid.pointCount(Self.neighborSeconds) }

  private func bothSound(in range: Range<Int>) -> Bool {
    range.clamped(to: context.grid.indices).contains { index in
      min(side.amplitudes[index], candidate.amplitudes[index]) > context.floor
    }
  }

  /// Returns the event that has most of the energy in a region and lies mostly within it, or an
  /// empty array if there is none.
  private func eventsCovered(by range: Range<Int>, of side: FeltSide) -> [Int] {
    guard let event = side.dominantEvent(in: range),
      let track = side.tracks.first(where: { $0.event == event })
    else { return [] }
    let sounding = track.soundingRange
    let common = sounding.clamped(to: range)
    return Double(common.count) >= 0.8 * Double(sounding.count) ? [event] : []
  }
}
