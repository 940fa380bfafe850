import HapticFormats
import HapticModel
import ShippedFiles
import Testing

/// The patterns whose values were specified: every event and every control point.
@Suite struct DrillPatternsTests {
  /// An event as `T time intensity sharpness` or `C time+duration intensity sharpness`, a curve as
  /// `I` or `S` with its points in seconds from the pattern's start.
  static let figures: [(name: String, lines: [String])] = [
    (
      "earthquake-splash",
      [
        "C 0.0+0.8 0.3 0.15", "C 0.8+1.0 0.9 0.6", "T 0.9 1.0 0.8", "T 1.2 0.9 0.7",
        "T 1.5 0.7 0.5",
        "C 1.8+0.4 0.4 0.2", "I 0.0:0.4 0.4:0.6 0.8:1.0 1.3:1.0 1.8:0.5 2.2:0.0",
        "S 0.0:0.2 0.8:0.8 1.3:0.7 2.2:0.0",
      ]
    ),
    (
      "earthquake-simulation",
      [
        "C 0.0+4.0 0.35 0.2", "T 0.8 0.5 0.4", "T 1.7 0.4 0.3", "T 2.9 0.3 0.2",
        "I 0.0:0.0 0.5:0.8 1.5:1.0 3.0:0.6 4.0:0.0",
      ]
    ), ("correct-answer", ["T 0.0 0.6 0.5", "T 0.15 0.8 0.7"]),
    ("wrong-answer", ["T 0.0 0.8 0.9", "T 0.1 0.55 0.7", "T 0.2 0.3 0.5"]),
    (
      "perfect-score",
      [
        "T 0.0 0.3 0.3", "T 0.1 0.5 0.5", "T 0.2 0.7 0.7", "C 0.4+0.6 0.9 0.3", "T 1.2 1.0 0.9",
        "I 0.4:0.7 0.7:1.0 1.0:0.4",
      ]
    ), ("encouragement", ["T 0.0 0.3 0.2", "T 0.15 0.5 0.4"]),
  ]

  @Test(arguments: figures) func figuresAreExact(pattern: (name: String, lines: [String])) throws {
    let shipped = try pattern.name.shippedPattern
    let events = shipped.events.map { event in
      let kind = event.kind == .hapticTransient ? "T" : "C"
      let length = event.duration.map { "+\($0)" } ?? ""
      return "\(kind) \(event.time)\(length) \(event.value(of: .hapticIntensity)) "
        + "\(event.value(of: .hapticSharpness))"
    }
    let curves = shipped.curves.map { curve in
      let points = curve.controlPoints.map { point in
        let time = ((curve.time + point.time) * 1e6).rounded() / 1e6
        return " \(time):\(point.value)"
      }
      return (curve.id == .hapticIntensityControl ? "I" : "S") + points.joined()
    }
    #expect(events + curves == pattern.lines)
  }

  static let rhythms: [(name: String, taps: [(Double, String)])] = [
    ("double-tap", [(0, "medium"), (0.1, "medium")]),
    ("triple-tap", [(0, "medium"), (0.1, "medium"), (0.175, "medium")]),
    ("pulse", [(0, "light"), (0.25, "light"), (0.5, "light"), (0.75, "light")]),
    ("success-rhythm", [(0, "medium"), (0.1, "medium"), (0.25, "heavy")]),
    ("trigger-pattern", [(0, "medium"), (0.075, "medium"), (0.15, "medium"), (0.3, "medium")]),
    ("bennie-celebration", [(0, "heavy"), (0.1, "heavy")]),
  ]

  @Test(arguments: rhythms) func rhythmsConsistOfTheirTaps(
    rhythm: (name: String, taps: [(Double, String)])
  ) throws {
    let expected = try rhythm.taps.flatMap { time, name in
      try name.shippedPattern.events.map { event in
        var event = event
        event.time += time
        return event
      }
    }
    #expect(try rhythm.name.shippedPattern.events == expected)
  }

  @Test(arguments: [
    ("success", 2), ("warning", 2), ("error", 4), ("light", 1), ("medium", 1), ("heavy", 1),
    ("soft", 1), ("rigid", 1),
    ("selection", 1),
  ]) func pulsesAreCounted(name: String, count: Int) throws {
    let events = try name.shippedPattern.events
    #expect(events.count { $0.kind == .hapticTransient } == count)
  }
}

extension String {
  /// The shipped pattern of this name.
  fileprivate var shippedPattern: HapticPattern {
    get throws {
      let text = ShippedPatterns.text(named: self) ?? []
      return try AHAPDocument(text: text, name: self).read().pattern
    }
  }
}
