internal import CMath
import SignalAnalysis

/// A time range in which the levels of two signals differ.
struct LevelSegment {
  /// The time range, in seconds.
  var timeRange: ClosedRange<Double>
  /// The median level difference, in decibels.
  var medianDecibels: Double
  /// The level difference with the greatest magnitude, in decibels.
  var extremeDecibels: Double
}

/// The level difference between two signals over time.
struct LevelDifferenceCurve {
  /// The level difference at each step, in decibels, or nil during common silence.
  private let levelDifferencesDecibels: [Double?]
  /// The interval between two steps, in seconds.
  private let stepSeconds: Double

  /// The averaging time of the power, in seconds: a period of 40 Hz.
  static let windowSeconds = 0.025
  /// The minimum level difference of a segment, in decibels.
  static let minimumDifferenceDecibels = 0.4

  init(_ reference: [Float], _ candidate: [Float], rate: Double) {
    let hopFrames = max(1, Int(0.005 * rate))
    let halfWindowFrames = max(1, Int(Self.windowSeconds * rate / 2))
    stepSeconds = Double(hopFrames) / rate
    let referencePowers = Self.meanPowers(reference, hop: hopFrames, reach: halfWindowFrames)
    let candidatePowers = Self.meanPowers(candidate, hop: hopFrames, reach: halfWindowFrames)
    let powerFloor = max(referencePowers.max() ?? 0, candidatePowers.max() ?? 0) * 1e-4
    levelDifferencesDecibels = zip(referencePowers, candidatePowers).map { power, candidatePower in
      guard max(power, candidatePower) > powerFloor else { return nil }
      return 10 * log10(max(candidatePower, powerFloor) / max(power, powerFloor))
    }
  }

  /// Returns the mean power in a rectangular window around each step.
  private static func meanPowers(_ samples: [Float], hop: Int, reach: Int) -> [Double] {
    var cumulativeEnergies = [0.0]
    cumulativeEnergies.reserveCapacity(samples.count + 1)
    for sample in samples {
      cumulativeEnergies.append(
        cumulativeEnergies[cumulativeEnergies.count - 1] + Double(sample) * Double(sample))
    }
    return stride(from: 0, to: samples.count, by: hop).map { center in
      let startFrame = max(0, center - reach)
      let endFrame = min(samples.count, center + reach)
      return max(0, cumulativeEnergies[endFrame] - cumulativeEnergies[startFrame])
        / Double(max(1, endFrame - startFrame))
    }
  }

  /// The mean level difference if it is almost constant, in decibels; otherwise nil.
  ///
  /// A constant difference lasts for 95 % of the time.
  var constantDifferenceDecibels: Double? {
    let knownDifferences = levelDifferencesDecibels.compactMap(\.self)
    guard !knownDifferences.isEmpty else { return 0 }
    let meanDifference = knownDifferences.reduce(0, +) / Double(knownDifferences.count)
    let differenceSpread = knownDifferences.map { abs($0 - meanDifference) }.sorted()[
      knownDifferences.count * 95 / 100]
    return differenceSpread < Self.minimumDifferenceDecibels ? meanDifference : nil
  }

  /// The segments in which the candidate is stronger or weaker for at least 20 ms.
  var segments: [LevelSegment] {
    var segments: [LevelSegment] = []
    var segmentStart: Int?
    for index in 0...levelDifferencesDecibels.count {
      let differenceDecibels =
        index < levelDifferencesDecibels.count ? levelDifferencesDecibels[index] ?? 0 : 0
      if let first = segmentStart {
        let hasOtherSign = (differenceDecibels > 0) != ((levelDifferencesDecibels[first] ?? 0) > 0)
        if abs(differenceDecibels) <= Self.minimumDifferenceDecibels || hasOtherSign {
          appendSegment(first..<index, to: &segments)
          segmentStart = nil
        }
      }
      if segmentStart == nil, abs(differenceDecibels) > Self.minimumDifferenceDecibels {
        segmentStart = index
      }
    }
    return segments
  }

  /// Appends a segment with a level difference, with corrected edges.
  ///
  /// The window blurs the edges, so the segment extends between the steps at half of its
  /// difference.
  private func appendSegment(_ steps: Range<Int>, to segments: inout [LevelSegment]) {
    let segmentDecibels = steps.map { levelDifferencesDecibels[$0] ?? 0 }
    guard Double(segmentDecibels.count) * stepSeconds >= 0.02 else { return }
    let medianDecibels = Statistics.median(of: segmentDecibels)
    let extremeDecibels = segmentDecibels.max { abs($0) < abs($1) } ?? medianDecibels
    let firstStep = segmentDecibels.firstIndex { abs($0) >= abs(medianDecibels) / 2 } ?? 0
    let lastStep = segmentDecibels.lastIndex { abs($0) >= abs(medianDecibels) / 2 } ?? 0
    let startSeconds = Double(steps.lowerBound + firstStep) * stepSeconds
    let endSeconds = max(startSeconds, Double(steps.lowerBound + lastStep) * stepSeconds)
    segments.append(
      LevelSegment(
        timeRange: startSeconds...endSeconds, medianDecibels: medianDecibels,
        extremeDecibels: extremeDecibels))
  }
}
