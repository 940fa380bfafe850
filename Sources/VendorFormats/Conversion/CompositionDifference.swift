internal import HapticFormats
package import HapticModel

/// How far two compositions are from each other where they are felt: as a share of full scale.
///
/// Compared are the summed amplitude of continuous events in windows of 20 ms, their sharpness where
/// both sound, and transients one by one. Phases, and how events and layers are cut, do not count.
package struct CompositionDifference: Equatable, Sendable {
  /// Of the amplitude of continuous events.
  package private(set) var level = 0.0
  /// Of their sharpness.
  package private(set) var sharpness = 0.0
  /// Of amplitude and sharpness of transients; a missing one counts with its amplitude.
  package private(set) var transients = 0.0
  /// Whether audio events or sampled signals differ.
  package private(set) var differsInSound = false

  /// The largest of all; 1 where sound differs.
  package var largest: Double { max(level, sharpness, transients, differsInSound ? 1 : 0) }

  /// Seconds of a window.
  private static let window = 0.02
  /// Steps in a window.
  private static let steps = 10
  /// Where in a step is looked: on no whole millisecond, where many formats jump.
  private static let offset = 0.37
  /// The most windows that are looked at.
  private static let windowLimit = 100_000
  /// How far in time two transients are the same.
  private static let sameTime = 0.003
  /// The amplitude from which sharpness counts.
  private static let audible = 0.05

  /// Compares two compositions, by the square law of amplitude.
  package init(_ one: HapticComposition, _ other: HapticComposition) {
    let sampler = EnvelopeSampler(.amplitude, tolerance: 1e-4)
    let (left, right) = (sampler.envelopes(of: one), sampler.envelopes(of: other))
    compare(MergedEnvelope(left, sampler: sampler).points, MergedEnvelope(right, sampler: sampler).points)
    compare(
      transients: left.filter { $0.kind == .hapticTransient }.map { $0.points[0] },
      right.filter { $0.kind == .hapticTransient }.map { $0.points[0] })
    differsInSound = Self.sounds(of: one) != Self.sounds(of: other) || Self.signals(of: one) != Self.signals(of: other)
  }

  private static func sounds(of composition: HapticComposition) -> [HapticEvent] {
    composition.layers.flatMap { $0.pattern.events }.filter { !$0.kind.isHaptic }
  }

  private static func signals(of composition: HapticComposition) -> [SampledSignal] {
    composition.layers.flatMap { $0.signals }
  }

  private mutating func compare(_ left: [EnvelopePoint], _ right: [EnvelopePoint]) {
    let end = max(left.last?.time ?? 0, right.last?.time ?? 0)
    let count = Int(min((end / Self.window).rounded(.up), Double(Self.windowLimit)))
    var cursors = (0, 0)
    for window in 0..<count {
      var means = (left: 0.0, right: 0.0)
      var weighted = (left: 0.0, right: 0.0)
      for step in 0..<Self.steps {
        let time = (Double(window) + (Double(step) + Self.offset) / Double(Self.steps)) * Self.window
        let one = Self.value(left, at: time, &cursors.0)
        let other = Self.value(right, at: time, &cursors.1)
        means.left += one.level / Double(Self.steps)
        means.right += other.level / Double(Self.steps)
        weighted.left += one.level * one.sharpness / Double(Self.steps)
        weighted.right += other.level * other.sharpness / Double(Self.steps)
      }
      level = max(level, abs(means.left - means.right))
      guard means.left > Self.audible, means.right > Self.audible else { continue }
      sharpness = max(sharpness, abs(weighted.left / means.left - weighted.right / means.right))
    }
  }

  private static func value(_ points: [EnvelopePoint], at time: Double, _ cursor: inout Int) -> EnvelopePoint {
    let silence = EnvelopePoint(time: time, level: 0, sharpness: 0)
    guard let first = points.first, time >= first.time else { return silence }
    while cursor + 1 < points.count, points[cursor + 1].time <= time { cursor += 1 }
    guard cursor + 1 < points.count else { return silence }
    return .between(points[cursor], points[cursor + 1], at: time)
  }

  private mutating func compare(transients left: [EnvelopePoint], _ right: [EnvelopePoint]) {
    var (one, other) = (0, 0)
    while one < left.count || other < right.count {
      let times = (one < left.count ? left[one].time : .infinity, other < right.count ? right[other].time : .infinity)
      if abs(times.0 - times.1) <= Self.sameTime {
        transients = max(transients, abs(left[one].level - right[other].level))
        transients = max(transients, abs(left[one].sharpness - right[other].sharpness))
        one += 1
        other += 1
      } else if times.0 < times.1 {
        transients = max(transients, left[one].level)
        one += 1
      } else {
        transients = max(transients, right[other].level)
        other += 1
      }
    }
  }
}
