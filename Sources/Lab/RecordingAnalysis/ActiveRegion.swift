import HapticModel
import SignalAnalysis

/// A time range in which a signal is louder than its threshold.
package struct ActiveRegion {
  package var sampleRange: Range<Int>
  /// The ordinal number among the taps or hums of the signal, from 1.
  package var ordinalNumber = 0
  package let sampleRate: Double

  /// The maximum interval between sounds of one region, in seconds: half a period of 40 Hz.
  package static let maximumInnerGapSeconds = 0.012
  /// The maximum duration of a tap, in seconds.
  package static let maximumTapSeconds = 0.06

  /// The maximum magnitude of silence, relative to the peak: −50 dB.
  private static let silenceToPeakRatio: Float = 0.003

  package init(sampleRange: Range<Int>, sampleRate: Double) {
    self.sampleRange = sampleRange
    self.sampleRate = sampleRate
  }

  /// The start time of the region, in seconds.
  package var startSeconds: Double { Double(sampleRange.lowerBound) / sampleRate }
  /// The end time of the region, in seconds.
  package var endSeconds: Double { Double(sampleRange.upperBound) / sampleRate }
  /// The duration of the region, in seconds.
  package var durationSeconds: Double { endSeconds - startSeconds }
  package var secondsRange: ClosedRange<Double> { startSeconds...endSeconds }
  /// A Boolean value that indicates whether the region is short, like a transient.
  package var isTap: Bool { durationSeconds < Self.maximumTapSeconds }

  /// Returns the maximum magnitude of silence in a signal.
  package static func silenceMagnitude(of samples: [Float]) -> Float {
    max(1e-4, Statistics.peak(of: samples) * silenceToPeakRatio)
  }

  /// Returns the regions in which the magnitude exceeds a threshold.
  package static func findRegions(
    in samples: [Float], rate: Double, threshold: Float
  ) -> [ActiveRegion] {
    let maximumGapSamples = Int(Self.maximumInnerGapSeconds * rate)
    var regions: [ActiveRegion] = []
    for (index, sample) in samples.enumerated() where abs(sample) > threshold {
      if let last = regions.last?.sampleRange, index - last.upperBound < maximumGapSamples {
        regions[regions.count - 1].sampleRange = last.lowerBound..<index + 1
      } else {
        regions.append(ActiveRegion(sampleRange: index..<index + 1, sampleRate: rate))
      }
    }
    assignOrdinals(to: &regions)
    return regions
  }

  /// Assigns ordinal numbers to the regions, with separate counts for taps and hums.
  package static func assignOrdinals(to regions: inout [ActiveRegion]) {
    var ordinalCounts = (taps: 0, hums: 0)
    for index in regions.indices {
      if regions[index].isTap {
        ordinalCounts.taps += 1
      } else {
        ordinalCounts.hums += 1
      }
      regions[index].ordinalNumber = regions[index].isTap ? ordinalCounts.taps : ordinalCounts.hums
    }
  }

  /// Returns an event with the time and duration of the region, for use in messages.
  ///
  /// - Parameter delay: The delay of the event, in seconds.
  package func event(delay: Double = 0) -> IndexedEvent {
    var event = Self.event(start: startSeconds + delay, duration: durationSeconds)
    event.ordinalNumber = ordinalNumber
    return event
  }

  /// Returns a transient or a continuous event, depending on the duration.
  package static func event(start: Double, duration: Double) -> IndexedEvent {
    IndexedEvent(
      HapticEvent(
        kind: duration < maximumTapSeconds ? .hapticTransient : .hapticContinuous, time: start,
        duration: duration),
      compositionIndex: 0)
  }

  /// Returns the cost of pairing the region with a region of another signal: 0 for equal regions.
  ///
  /// - Parameters:
  ///   - other: The other region.
  ///   - level: The level of this region, in decibels.
  ///   - otherLevel: The level of the other region, in decibels.
  package func pairingCost(with other: ActiveRegion, level: Double, otherLevel: Double) -> Double {
    let maximumDurationSeconds = max(durationSeconds, other.durationSeconds, 1e-3)
    // A transient and a continuous event don't correspond.
    if isTap != other.isTap,
      maximumDurationSeconds > 2 * min(durationSeconds, other.durationSeconds)
    {
      return .infinity
    }
    let durationAndLevelCost =
      abs(durationSeconds - other.durationSeconds) / maximumDurationSeconds / 2 + abs(
        level - otherLevel)
      / 60
    return abs(startSeconds - other.startSeconds) / 0.5 + min(0.8, durationAndLevelCost)
  }
}
