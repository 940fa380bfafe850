import ComparisonFixtures
import Glibc
import HapticFormats
import HapticModel
import PatternComparison
import Testing
import VendorFormats

/// Several changes of one pattern at once.
struct SeveralChangesTests {
  /// A change of one event.
  private struct Change {
    var eventIndex: Int
    var kind: Difference.Kind
    /// The change in decibels, seconds, or percent; 0 for a missing event.
    var amount: Double

    /// Returns whether a difference names the change and no other event.
    func matches(_ difference: Difference) -> Bool {
      guard difference.kind == kind, difference.referenceEventIndices == [eventIndex] else {
        return false
      }
      let tolerance: Double =
        switch difference.kind {
        case .missing: .infinity
        case .level: 0.4
        case .frequency: 1.5
        default: 0.002
        }
      return abs(difference.amount - amount) <= tolerance
    }

    func apply(to pattern: inout HapticPattern) {
      let event = pattern.events[eventIndex]
      switch kind {
      case .level:
        // The amplitude is the square of the intensity.
        let factor = pow(10, amount / 40)
        pattern.events[eventIndex].parameters[.hapticIntensity] =
          event.value(of: .hapticIntensity) * Float(factor)
      case .frequency:
        let change = log(1 + amount / 100) / log(230.0 / 80)
        pattern.events[eventIndex].parameters[.hapticSharpness] =
          event.value(of: .hapticSharpness) + Float(change)
      case .time:
        pattern.events[eventIndex].time += amount
      case .duration:
        pattern.events[eventIndex].duration? += amount
      default:
        pattern.events.remove(at: eventIndex)
      }
    }
  }

  /// Returns eight events that do not overlap, the first three of which are continuous.
  private static func pattern(using generator: inout LinearCongruentialGenerator) -> HapticPattern {
    HapticPattern(
      events: (0..<8).map { index in
        let time = Double(index) * 0.5 + Double.random(in: 0...0.1, using: &generator)
        let intensity = Float.random(in: 0.5...0.8, using: &generator)
        let sharpness = Float.random(in: 0.2...0.6, using: &generator)
        let durationSeconds = Double.random(in: 0.1...0.3, using: &generator)
        let isTransient = index > 2 && Bool.random(using: &generator)
        return isTransient
          ? tap(time, intensity: intensity, sharpness: sharpness)
          : hum(time, durationSeconds, intensity: intensity, sharpness: sharpness)
      })
  }

  /// Returns changes of different events and kinds. A duration changes only in the first three
  /// events, which are continuous.
  private static func changes(_ count: Int, using generator: inout LinearCongruentialGenerator)
    -> [Change]
  {
    let kinds = [Difference.Kind.level, .time, .frequency, .missing, .duration].shuffled(
      using: &generator)
    var eventIndices = Array(0..<8).shuffled(using: &generator)
    return kinds.prefix(count).map { kind in
      let listIndex = kind == .duration ? eventIndices.firstIndex { $0 < 3 } ?? 0 : 0
      let eventIndex = eventIndices.remove(at: listIndex)
      let sign: Double = Bool.random(using: &generator) ? 1 : -1
      let amount: Double =
        switch kind {
        case .level: sign * Double.random(in: 1...3.5, using: &generator)
        case .frequency: sign * Double.random(in: 5...20, using: &generator)
        case .missing: 0
        default: sign * Double.random(in: 0.01...0.04, using: &generator)
        }
      return Change(eventIndex: eventIndex, kind: kind, amount: amount)
    }
  }

  @Test("Three and four changes are named once each", arguments: [3, 4])
  func changesAreNamedOnce(count: Int) throws {
    var failures: [String] = []
    var pairCount = 0
    for seed in 1...20 as ClosedRange<UInt64> {
      var generator = LinearCongruentialGenerator(
        seed: seed &* 0x9E37_79B9_7F4A_7C15 &+ UInt64(count))
      let pattern = Self.pattern(using: &generator)
      let changes = Self.changes(count, using: &generator)
      var changed = pattern
      // Events after a missing one have other indices, so it is removed last.
      for change in changes.sorted(by: { $0.kind != .missing && $1.kind == .missing }) {
        change.apply(to: &changed)
      }
      let reference = try formattedTake(HapticComposition(pattern), in: .ahap)
      for format in [HapticFormat.ahap, .hapticClip, .hjif] {
        let converted = try #require(ConvertedPattern(HapticComposition(changed), to: format))
        let comparison = Comparison(reference, try converted.take())
        pairCount += 1
        let areNamed =
          comparison.differences.count == count
          && changes.allSatisfy { change in comparison.differences.contains(where: change.matches) }
        if !areNamed {
          failures.append("\(seed) \(format.id): \(changes), \(comparison.sentences)")
        }
      }
    }
    #expect(failures.isEmpty, "\(failures.count) of \(pairCount): \(failures)")
  }

  /// The tail is above the level that counts as silence in a comparison, and below 2 % of the
  /// event's peak, so that no explanation changes it.
  @Test(
    "A quiet tail that ends early has few differences, none of 0 dB", arguments: [0.134, 0.141])
  func quietTailHasFewDifferences(tailLevel: Double) throws {
    func pattern(endingAt end: Double?) -> HapticPattern {
      var points: [(Double, Float)] = [
        (0, 1), (0.5, 1), (0.51, Float(tailLevel)), (end ?? 1.5, Float(tailLevel)),
      ]
      if let end {
        points += [(end + 0.001, 0)]
      }
      let curve = ParameterCurve(
        id: .hapticIntensityControl, time: 0,
        controlPoints: points.map { ParameterCurve.ControlPoint(time: $0.0, value: $0.1) })
      return HapticPattern(events: [hum(0, 1.5, intensity: 1, sharpness: 0.5)], curves: [curve])
    }
    let comparison = Comparison(
      try formattedTake(HapticComposition(pattern(endingAt: nil)), in: .ahap),
      try formattedTake(HapticComposition(pattern(endingAt: 1)), in: .ahap))
    #expect(comparison.differences.count <= 2, "\(comparison.sentences)")
    #expect(
      comparison.differences.allSatisfy { $0.kind != .level || abs($0.amount) >= 0.1 },
      "\(comparison.sentences)")
    #expect(comparison.differences.allSatisfy { $0.referenceEventIndices.count <= 1 })
  }
}
