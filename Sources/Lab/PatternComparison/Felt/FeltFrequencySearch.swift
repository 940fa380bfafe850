/// A search for differences of frequency in the summed vibrations.
///
/// The frequency of a sum is the mean of the logarithms of its frequencies, weighted by amplitude.
///
/// 1. Where events overlap, another frequency of one event changes the mean only in part. The event
///    whose shift removes most of the difference over its own extent explains the difference.
/// 2. The remaining regions in which the means differ are differences themselves. Such a difference
///    is outside the range that the reference's frequency has within the time slack.
struct FeltFrequencySearch {
  private(set) var differences: [FeltDifference] = []
  private var side: FeltSide
  private let candidate: FeltSide
  private let context: FeltContext
  /// The amplitude below which frequencies are not judged.
  private let floor: Double

  /// The minimum duration of a region, in seconds.
  private static let minimumSeconds = 0.010
  /// The minimum jump of the difference between two regions, in octaves.
  private static let minimumJump = 0.05
  /// The amplitude below which frequencies are not judged, as a fraction of the peak.
  private static let floorFraction = 0.03
  /// The minimum fraction of the summed amplitude at which a track counts as not overlapped by
  /// others.
  private static let aloneFraction = 0.97
  /// The maximum fraction of the difference that may remain after an event's frequency is shifted.
  private static let maximumRemainingFraction = 0.3
  /// The total number of grid points after which no further shifts are tried.
  private static let maximumTrialPointCount = 60_000_000

  init(_ side: FeltSide, _ candidate: FeltSide, context: FeltContext) {
    self.side = side
    self.candidate = candidate
    self.context = context
    floor = max(context.floor, Self.floorFraction * (side.amplitudes.max() ?? 0))
    explainByOverlappingEvents()
    let minimumCount = context.grid.pointCount(Self.minimumSeconds)
    for sign in [1, -1] {
      for region in regions(sign: sign, gap: minimumCount) where region.count >= minimumCount {
        for part in parts(of: region, minimumCount: minimumCount) {
          add(part)
        }
      }
    }
  }

  // MARK: - Overlapping events

  /// A shift of an event's frequency that explains a difference.
  private struct Shift {
    var track: Int
    /// The change of frequency, in octaves.
    var octaves: Double
    /// The difference that the shift removes, in octaves weighted by amplitude.
    var removedCost: Double
  }

  /// Finds changes of frequency in events that overlap others.
  private mutating func explainByOverlappingEvents() {
    var overlapping = side.tracks.indices.filter { overlapsOthers(side.tracks[$0]) }
    var trialPointCount = 0
    while trialPointCount < Self.maximumTrialPointCount {
      let shifts = overlapping.compactMap { shift(ofTrack: $0) }
      guard let best = shifts.max(by: { $0.removedCost < $1.removedCost }) else { return }
      trialPointCount += overlapping.reduce(0) { $0 + side.tracks[$1].amplitudes.count }
      accept(best)
      overlapping.removeAll { $0 == best.track }
    }
  }

  /// Returns whether other events can be felt while a track sounds.
  private func overlapsOthers(_ track: FeltTrack) -> Bool {
    track.soundingRange.contains { index in
      track.amplitude(at: index) > floor
        && track.amplitude(at: index) < Self.aloneFraction * side.amplitudes[index]
    }
  }

  /// Returns the shift of a track that explains the difference during the track best, by least
  /// squares; nil if it is too small or does not explain the difference.
  ///
  /// A shift by *s* octaves changes the mean by *s · a / A*, where *a* is the amplitude of the
  /// track and *A* the sum.
  private func shift(ofTrack index: Int) -> Shift? {
    let track = side.tracks[index]
    let judged = track.soundingRange.filter { quieter(at: $0) > floor }
    var product = 0.0
    var square = 0.0
    for point in judged {
      let fraction = track.amplitude(at: point) / side.amplitudes[point]
      let weight = quieter(at: point) * quieter(at: point)
      product += weight * fraction * change(at: point)
      square += weight * fraction * fraction
    }
    let octaves = product / max(square, 1e-15)
    guard abs(octaves) > context.minimumOctaves else { return nil }
    var cost = 0.0
    var remainingCost = 0.0
    for point in judged {
      let fraction = track.amplitude(at: point) / side.amplitudes[point]
      cost += quieter(at: point) * abs(change(at: point))
      remainingCost += quieter(at: point) * abs(change(at: point) - octaves * fraction)
    }
    guard remainingCost < Self.maximumRemainingFraction * cost else { return nil }
    return Shift(track: index, octaves: octaves, removedCost: cost - remainingCost)
  }

  private mutating func accept(_ shift: Shift) {
    let track = side.tracks[shift.track]
    side.replaceTrack(at: shift.track, by: track.shifted(byOctaves: shift.octaves))
    let sounding = track.soundingRange
    let start = context.grid.time(sounding.lowerBound)
    differences.append(
      FeltDifference(
        kind: .frequency, range: start...context.grid.time(sounding.upperBound),
        amount: shift.octaves, slack: context.resolution.frequencySlack, events: [track.event]))
  }

  // MARK: - Regions

  private func quieter(at index: Int) -> Double {
    min(side.amplitudes[index], candidate.amplitudes[index])
  }

  private func change(at index: Int) -> Double {
    candidate.octaves(at: index) - side.octaves(at: index)
  }

  /// Returns the sign of the difference at a point, or 0 if rounding explains it.
  private func sign(at index: Int) -> Int {
    guard quieter(at: index) > floor else { return 0 }
    let change = change(at: index)
    guard abs(change) > context.minimumOctaves else { return 0 }
    let reach = context.shiftReach
    var low = side.octaves(at: index)
    var high = low
    for near in (index - reach)...(index + reach)
    where context.grid.indices.contains(near) && quieter(at: near) > floor {
      low = min(low, side.octaves(at: near))
      high = max(high, side.octaves(at: near))
    }
    let octaves = candidate.octaves(at: index)
    let outside = change > 0 ? octaves - high : low - octaves
    let minimum = FeltDifference.Minimum.octaves / 2 + context.resolution.frequencySlack
    guard outside > minimum else { return 0 }
    return change > 0 ? 1 : -1
  }

  private func regions(sign: Int, gap: Int) -> [Range<Int>] {
    var regions: [Range<Int>] = []
    for index in context.grid.indices where self.sign(at: index) == sign {
      if let last = regions.last, index - last.upperBound <= gap {
        regions[regions.count - 1] = last.lowerBound..<(index + 1)
      } else {
        regions.append(index..<(index + 1))
      }
    }
    return regions
  }

  /// Divides a region at jumps of the frequency difference, which occur between two events that
  /// changed by different intervals.
  private func parts(of region: Range<Int>, minimumCount: Int) -> [Range<Int>] {
    var parts: [Range<Int>] = []
    var start = region.lowerBound
    for index in region.dropFirst()
    where abs(change(at: index) - change(at: index - 1)) > Self.minimumJump {
      parts.append(start..<index)
      start = index
    }
    parts.append(start..<region.upperBound)
    let long = parts.filter { $0.count >= minimumCount }
    return long.isEmpty ? [region] : long
  }

  private mutating func add(_ range: Range<Int>) {
    var sum = 0.0
    var total = 0.0
    for index in range {
      let weight = quieter(at: index) * quieter(at: index) + 1e-15
      sum += weight * change(at: index)
      total += weight
    }
    let start = context.grid.time(range.lowerBound)
    differences.append(
      FeltDifference(
        kind: .frequency, range: start...context.grid.time(range.upperBound),
        amount: sum / total, slack: context.resolution.frequencySlack,
        events: side.dominantEvent(in: range).map { [$0] } ?? [],
        candidateEvents: candidate.dominantEvent(in: range).map { [$0] } ?? []))
  }
}
