import ComparisonFixtures
import HapticModel
import PatternComparison
import Testing

/// Comparisons of patterns whose continuous events overlap.
struct OverlappingEventTests {
  /// Two or three overlapping events of equal frequency.
  private static let events = [
    hum(0.137, 0.669, intensity: 0.737, sharpness: 0.52),
    hum(0.285, 0.538, intensity: 0.84, sharpness: 0.52),
    hum(0.466, 0.508, intensity: 0.79, sharpness: 0.52),
  ]

  private func differences(_ change: (inout [HapticEvent]) -> Void) throws -> [Difference] {
    var changed = Self.events
    change(&changed)
    let reference = try take(HapticPattern(events: Self.events))
    return Comparison(reference, try take(HapticPattern(events: changed))).differences
  }

  @Test("Another frequency of one event is one difference", arguments: [0, 1, 2])
  func frequencyOfOneEventIsNamed(index: Int) throws {
    let differences = try differences { events in
      let event = events[index]
      events[index] = hum(
        event.time, event.duration ?? 0, intensity: event.value(of: .hapticIntensity),
        sharpness: 0.7)
    }
    #expect(differences.map(\.kind) == [.frequency])
    #expect(differences.first?.referenceEventIndices == [index])
  }

  @Test("An event that moves past the end of another event is one difference")
  func movedEventIsNamed() throws {
    let differences = try differences { $0[0].time += 0.029 }
    #expect(differences.map(\.kind) == [.time])
    #expect(differences.first.map { abs($0.amount - 0.029) < 0.002 } == true)
  }
}
