import HapticModel
import SignalAnalysis

/// A part of a signal that is not silent, between silences.
struct ActiveRegion {
  /// The frames from its first to behind its last sound.
  var frames: Range<Int>
  /// Its number among the taps or hums of its signal, from 1 on.
  var number = 0
  let rate: Double

  /// Sounds that are nearer, in seconds, are one; half a period of 40 Hz.
  static let gap = 0.012
  /// What is shorter, in seconds, is a tap.
  static let longestTap = 0.06

  /// Seconds at which it begins.
  var start: Double { Double(frames.lowerBound) / rate }
  /// Seconds at which it ends.
  var end: Double { Double(frames.upperBound) / rate }
  /// Seconds it lasts.
  var duration: Double { end - start }
  /// Whether it is one short impulse.
  var isTap: Bool { duration < Self.longestTap }

  /// The sounds of a signal.
  ///
  /// - Parameter threshold: The magnitude below which there is silence.
  static func find(in samples: [Float], rate: Double, threshold: Float) -> [ActiveRegion] {
    let gap = Int(Self.gap * rate)
    var regions: [ActiveRegion] = []
    var start = -1
    var last = -1
    for (index, sample) in samples.enumerated() where abs(sample) > threshold {
      if start >= 0, index - last > gap {
        regions.append(ActiveRegion(frames: start..<(last + 1), rate: rate))
        start = index
      }
      if start < 0 { start = index }
      last = index
    }
    if start >= 0 { regions.append(ActiveRegion(frames: start..<(last + 1), rate: rate)) }
    number(&regions)
    return regions
  }

  /// Numbers regions among those of their kind.
  static func number(_ regions: inout [ActiveRegion]) {
    var counts = (taps: 0, hums: 0)
    for index in regions.indices {
      if regions[index].isTap { counts.taps += 1 } else { counts.hums += 1 }
      regions[index].number = regions[index].isTap ? counts.taps : counts.hums
    }
  }

  /// The region as an event, so that sentences name it like one.
  ///
  /// - Parameter delay: Seconds to add to its time.
  func event(delay: Double = 0) -> ListedEvent {
    var event = Self.event(start: start + delay, duration: duration)
    event.number = number
    return event
  }

  /// A sound of a recording as an event.
  static func event(start: Double, duration: Double) -> ListedEvent {
    ListedEvent(
      HapticEvent(kind: duration < longestTap ? .hapticTransient : .hapticContinuous, time: start, duration: duration),
      index: 0)
  }

  /// What pairing it with another costs, each with its level in decibels.
  func cost(of other: ActiveRegion, level: Double, otherLevel: Double) -> Double {
    let longest = max(duration, other.duration, 1e-3)
    // A transient is not a continuous event that changed.
    if isTap != other.isTap, longest > 2 * min(duration, other.duration) { return .infinity }
    let shape = abs(duration - other.duration) / longest / 2 + abs(level - otherLevel) / 60
    return abs(start - other.start) / 0.5 + min(0.8, shape)
  }
}
