import HapticModel
import SignalAnalysis

/// A time range in which a signal is louder than its threshold.
package struct ActiveRegion {
  package var frames: Range<Int>
  /// The ordinal number among the taps or hums of the signal, from 1.
  package var ordinal = 0
  package let rate: Double

  /// The maximum interval between sounds of one region, in seconds: half a period of 40 Hz.
  package static let mergeDistanceSeconds = 0.012
  /// The maximum duration of a tap, in seconds.
  package static let maximumTapDuration = 0.06

  /// The ratio to the peak below which a signal is silent: −50 dB.
  private static let silenceRatio: Float = 0.003

  package init(frames: Range<Int>, rate: Double) {
    self.frames = frames
    self.rate = rate
  }

  /// The start, in seconds.
  package var start: Double { Double(frames.lowerBound) / rate }
  /// The end, in seconds.
  package var end: Double { Double(frames.upperBound) / rate }
  /// The duration, in seconds.
  package var duration: Double { end - start }
  package var range: ClosedRange<Double> { start...end }
  /// A Boolean value that indicates whether the region is short, like a transient.
  package var isTap: Bool { duration < Self.maximumTapDuration }

  /// Returns the magnitude below which a signal is silent.
  package static func silenceThreshold(of samples: [Float]) -> Float {
    max(1e-4, Statistics.peak(of: samples) * silenceRatio)
  }

  /// Returns the regions in which the magnitude exceeds a threshold.
  package static func find(
    in samples: [Float], rate: Double, threshold: Float
  ) -> [ActiveRegion] {
    let gap = Int(Self.mergeDistanceSeconds * rate)
    var regions: [ActiveRegion] = []
    for (index, sample) in samples.enumerated() where abs(sample) > threshold {
      if let last = regions.last?.frames, index - last.upperBound < gap {
        regions[regions.count - 1].frames = last.lowerBound..<index + 1
      } else {
        regions.append(ActiveRegion(frames: index..<index + 1, rate: rate))
      }
    }
    assignOrdinals(to: &regions)
    return regions
  }

  /// Numbers taps and hums separately.
  package static func assignOrdinals(to regions: inout [ActiveRegion]) {
    var counts = (taps: 0, hums: 0)
    for index in regions.indices {
      if regions[index].isTap {
        counts.taps += 1
      } else {
        counts.hums += 1
      }
      regions[index].ordinal = regions[index].isTap ? counts.taps : counts.hums
    }
  }

  /// Returns an event for the region, so that sentences can name it.
  ///
  /// - Parameter delay: The delay of the event, in seconds.
  package func event(delay: Double = 0) -> IndexedEvent {
    var event = Self.event(start: start + delay, duration: duration)
    event.ordinal = ordinal
    return event
  }

  /// Returns a transient or a continuous event, depending on the duration.
  package static func event(start: Double, duration: Double) -> IndexedEvent {
    IndexedEvent(
      HapticEvent(
        kind: duration < maximumTapDuration ? .hapticTransient : .hapticContinuous, time: start,
        duration: duration),
      index: 0)
  }

  /// Returns the cost of pairing the region with another: 0 for equal regions.
  ///
  /// - Parameters:
  ///   - other: The other region.
  ///   - level: The level of this region, in decibels.
  ///   - otherLevel: The level of the other region, in decibels.
  package func pairingCost(with other: ActiveRegion, level: Double, otherLevel: Double) -> Double {
    let maximumDuration = max(duration, other.duration, 1e-3)
    // A transient and a continuous event don't correspond.
    if isTap != other.isTap, maximumDuration > 2 * min(duration, other.duration) {
      return .infinity
    }
    let shape = abs(duration - other.duration) / maximumDuration / 2 + abs(level - otherLevel) / 60
    return abs(start - other.start) / 0.5 + min(0.8, shape)
  }
}
