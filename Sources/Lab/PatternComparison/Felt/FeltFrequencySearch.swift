/// A search for differences of frequency in the summed vibrations.
///
/// The frequency of a sum is the mean of the logarithms of its frequencies, weighted by amplitude.
/// A difference is outside the range that the reference's frequency has within the time slack.
struct FeltFrequencySearch {
  private(set) var differences: [FeltDifference] = []
  private let side: FeltSide
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

  init(_ side: FeltSide, _ candidate: FeltSide, context: FeltContext) {
    self.side = side
    self.candidate = candidate
    self.context = context
    floor = max(context.floor, Self.floorFraction * (side.amplitudes.max() ?? 0))
    let minimumCount = context.grid.pointCount(Self.minimumSeconds)
    for sign in [1, -1] {
      for region in regions(sign: sign, gap: minimumCount) where region.count >= minimumCount {
        for part in parts(of: region, minimumCount: minimumCount) {
          add(part)
        }
      }
    }
  }

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

  /// Divides a region where the difference jumps, as it does between two events with changes of
  /// their own.
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
