import ComparisonFixtures
import HapticFormats
import HapticModel
import PatternComparison
import Testing
import VendorFormats

/// Equivalent notations of one vibration, which do not differ, and single changes, which are
/// reported once.
struct FeltComparisonTests {
  /// A difference that is expected, in decibels, seconds, or percent.
  struct Expectation: Sendable {
    var kind: Difference.Kind
    var amount: Double?

    init(_ kind: Difference.Kind, _ amount: Double? = nil) {
      self.kind = kind
      self.amount = amount
    }

    func matches(_ difference: Difference) -> Bool {
      guard difference.kind == kind else { return false }
      guard let amount else { return true }
      let tolerance: Double =
        switch difference.unit {
        case .decibels: 0.4
        case .seconds: 0.002
        default: 1.5
        }
      return abs(difference.amount - amount) <= tolerance
    }
  }

  private static let rampPattern = HapticPattern(
    events: [hum(0, 1, intensity: 1)],
    curves: [curve(.hapticIntensityControl, at: 0, [(0, 0.3), (1, 0.9)])])
  private static let singleHum = HapticPattern(events: [hum(0, 1, intensity: 0.6)])
  private static let twoHums = HapticPattern(events: [
    tap(0), tap(0.5, intensity: 0.6, sharpness: 0.8), hum(0.1, 0.3, intensity: 0.6),
    hum(0.8, 0.4, intensity: 0.8, sharpness: 0.6), tap(1.5),
  ])
  private static let overlappingHums = HapticPattern(events: [
    hum(0, 1, intensity: 0.7), hum(0.4, 0.3, intensity: 0.7), tap(0.2),
  ])

  private static func curve(
    _ id: DynamicParameterID, at time: Double, _ points: [(Double, Float)]
  ) -> ParameterCurve {
    ParameterCurve(
      id: id, time: time, controlPoints: points.map { .init(time: $0.0, value: $0.1) })
  }

  private func comparison(
    _ referencePattern: HapticPattern, _ candidatePattern: HapticPattern,
    through format: HapticFormat? = nil
  ) throws -> Comparison {
    let reference = try formattedTake(HapticComposition(referencePattern), in: .ahap)
    let composition = HapticComposition(candidatePattern)
    guard let format else {
      return Comparison(reference, try formattedTake(composition, in: .ahap))
    }
    let converted = try #require(ConvertedPattern(composition, to: format))
    return Comparison(reference, try converted.take())
  }

  // MARK: - Notations

  private static let equalPatternPairs:
    [(name: String, pattern: HapticPattern, equivalent: HapticPattern)] = [
      (
        "intensity in a curve", singleHum,
        HapticPattern(
          events: [hum(0, 1, intensity: 1)],
          curves: [curve(.hapticIntensityControl, at: 0, [(0, 0.6), (1, 0.6)])])
      ),
      (
        "sharpness in a curve", singleHum,
        HapticPattern(
          events: [hum(0, 1, intensity: 0.6, sharpness: 0)],
          curves: [curve(.hapticSharpnessControl, at: 0, [(0, 0.3), (1, 0.3)])])
      ),
      (
        "two events that touch", singleHum,
        HapticPattern(events: [hum(0, 0.37, intensity: 0.6), hum(0.37, 0.63, intensity: 0.6)])
      ),
      (
        "five events that touch", singleHum,
        HapticPattern(events: (0..<5).map { hum(Double($0) * 0.2, 0.2, intensity: 0.6) })
      ),
      (
        "a silent event at the end", singleHum,
        singleHum.with { $0.events.append(hum(1, 0.5, intensity: 0)) }
      ),
      (
        "a silent transient", singleHum,
        singleHum.with { $0.events.append(tap(1.2, intensity: 0)) }
      ),
      (
        "points on a line", rampPattern,
        rampPattern.with { pattern in
          let points = (0...10).map { (Double($0) / 10, 0.3 + 0.06 * Float($0)) }
          pattern.curves = [curve(.hapticIntensityControl, at: 0, points)]
        }
      ),
      (
        "a line in steps of 10 ms", rampPattern,
        HapticPattern(
          events: (0..<100).map { step in
            hum(Double(step) / 100, 0.01, intensity: 0.3 + 0.006 * (Float(step) + 0.5))
          })
      ),
      (
        "two layers that add up", HapticPattern(events: [hum(0, 1)]),
        HapticPattern(events: [hum(0, 1, intensity: 0.565_685), hum(0, 1, intensity: 0.565_685)])
      ),
    ]

  @Test(
    "One vibration that is written in two ways has no difference",
    arguments: equalPatternPairs.indices)
  func notationIsNoDifference(_ index: Int) throws {
    let (name, pattern, equivalent) = Self.equalPatternPairs[index]
    let comparison = try comparison(pattern, equivalent)
    #expect(comparison.differences.isEmpty, "\(name): \(comparison.sentences)")
    #expect(comparison.isEqual(within: Tolerance()))
  }

  @Test("Notations are described separately, without levels and frequencies")
  func notationIsListed() throws {
    let comparison = try comparison(Self.singleHum, Self.equalPatternPairs[3].equivalent)
    #expect(comparison.verdict == "B feels like A, but its file is different.")
    #expect(
      comparison.notationDifferences.first == "B has 5 continuous events, A has 1.",
      "\(comparison.notationDifferences)")
  }

  private static let formats: [HapticFormat] = [.hapticClip, .richTapHE, .harmonyOS, .hjif]

  @Test("A conversion without losses has no difference", arguments: formats.indices)
  func conversionIsNoDifference(_ index: Int) throws {
    let format = Self.formats[index]
    let isSingleVoice = format.id == "he" || format.id == "oh"
    var patterns = [Self.singleHum, Self.twoHums, Self.rampPattern]
    if !isSingleVoice {
      patterns.append(Self.overlappingHums)
    }
    for pattern in patterns {
      let comparison = try comparison(pattern, pattern, through: format)
      #expect(comparison.differences.isEmpty, "\(format.id): \(comparison.sentences)")
    }
  }

  @Test("An envelope that a clip approximates by a line has no difference")
  func envelopeAsALineIsNoDifference() throws {
    let pattern = HapticPattern(events: [
      hum(0, 0.8, intensity: 0.7, sharpness: 0.4, [.attackTime: 0.4, .releaseTime: 0.4])
    ])
    let comparison = try comparison(pattern, pattern, through: .hapticClip)
    #expect(comparison.differences.isEmpty, "\(comparison.sentences)")
  }

  // MARK: - Changes

  struct Change: Sendable, CustomTestStringConvertible {
    var name: String
    var pattern: HapticPattern
    var changedPattern: HapticPattern
    var expectations: [Expectation]

    var testDescription: String { name }
  }

  private static func change(
    _ name: String, _ pattern: HapticPattern = twoHums, _ expectations: Expectation...,
    change: (inout HapticPattern) -> Void
  ) -> Change {
    Change(
      name: name, pattern: pattern, changedPattern: pattern.with(change), expectations: expectations
    )
  }

  private static let changes = [
    change("a weaker hum", twoHums, Expectation(.level, -3.17)) {
      $0.events[2].parameters[.hapticIntensity] = 0.5
    },
    change("all weaker", twoHums, Expectation(.level, -1.83)) { pattern in
      for index in pattern.events.indices {
        pattern.events[index].parameters[.hapticIntensity]? *= 0.9
      }
    },
    change("all later", twoHums, Expectation(.time, 0.02)) { pattern in
      for index in pattern.events.indices {
        pattern.events[index].time += 0.02
      }
    },
    change("another tempo", twoHums, Expectation(.tempo, 2)) { pattern in
      for index in pattern.events.indices {
        pattern.events[index].time *= 1.02
        pattern.events[index].duration? *= 1.02
      }
    },
    change("a longer hum", twoHums, Expectation(.duration, 0.02)) { $0.events[2].duration = 0.32 },
    change("a later hum", twoHums, Expectation(.time, 0.015)) { $0.events[2].time = 0.115 },
    change("a higher hum", twoHums, Expectation(.frequency, 11.1)) {
      $0.events[2].parameters[.hapticSharpness] = 0.4
    },
    change("a missing hum", twoHums, Expectation(.missing)) { $0.events.remove(at: 2) },
    change("an added hum", twoHums, Expectation(.added)) {
      $0.events.append(hum(1.6, 0.2, intensity: 0.6))
    },
    change("two changes", twoHums, Expectation(.level, -5), Expectation(.time, 0.02)) {
      $0.events[0].parameters[.hapticIntensity] = 0.6
      $0.events[3].time = 0.82
    },
    change(
      "level and frequency of a hum", twoHums, Expectation(.level, -3.17),
      Expectation(.frequency, 11.1)
    ) {
      $0.events[2].parameters[.hapticIntensity] = 0.5
      $0.events[2].parameters[.hapticSharpness] = 0.4
    },
    change("a sharper tap", twoHums, Expectation(.frequency, 23.5)) {
      $0.events[0].parameters[.hapticSharpness] = 0.7
    },
    change("a tap weaker by 1 dB", twoHums, Expectation(.level, -1)) {
      $0.events[1].parameters[.hapticIntensity] = 0.6 * 0.944_061
    },
    change("a hum weaker by 1 dB", twoHums, Expectation(.level, -1)) {
      $0.events[3].parameters[.hapticIntensity] = 0.8 * 0.944_061
    },
    change("a tap later by 10 ms", twoHums, Expectation(.time, 0.01)) { $0.events[1].time = 0.51 },
    change("a hum earlier by 10 ms", twoHums, Expectation(.time, -0.01)) {
      $0.events[3].time = 0.79
    },
    change("a tap higher by 5 %", twoHums, Expectation(.frequency, 5)) {
      $0.events[4].parameters[.hapticSharpness] = 0.546_2
    },
    change("a hum lower by 5 %", twoHums, Expectation(.frequency, -5)) {
      $0.events[2].parameters[.hapticSharpness] = 0.251_4
    },
  ]

  private static let overlappingChanges = [
    change("a weaker hum of two", overlappingHums, Expectation(.level, -5.84)) {
      $0.events[1].parameters[.hapticIntensity] = 0.5
    },
    change("a missing hum of two", overlappingHums, Expectation(.missing)) {
      $0.events.remove(at: 1)
    },
    change("a later hum of two", overlappingHums, Expectation(.time, 0.02)) {
      $0.events[1].time = 0.42
    },
    change(
      "a later hum of two that touch",
      HapticPattern(events: [hum(0, 0.4, intensity: 0.6), hum(0.4, 0.4, intensity: 0.6)]),
      Expectation(.time, 0.03)
    ) { $0.events[1].time = 0.43 },
  ]

  private static let curveChanges = [
    change("a bulge of a curve", rampPattern, Expectation(.curve)) { pattern in
      pattern.curves = [
        curve(
          .hapticIntensityControl, at: 0,
          [(0, 0.3), (0.4, 0.54), (0.5, 0.75), (0.6, 0.66), (1, 0.9)])
      ]
    }
  ]

  private func check(_ change: Change, through format: HapticFormat?) throws {
    let comparison = try comparison(change.pattern, change.changedPattern, through: format)
    let isNamedOnce =
      comparison.differences.count == change.expectations.count
      && change.expectations.allSatisfy { expectation in
        comparison.differences.contains { expectation.matches($0) }
      }
    let name = "\(change.name) through \(format?.id ?? "no format")"
    #expect(isNamedOnce, "\(name): \(comparison.sentences)")
    #expect(!comparison.isEqual(within: Tolerance(decibels: 0.5, seconds: 0.005, percent: 2)))
  }

  @Test("A change is named once in the format in which it was made", arguments: changes)
  func changeIsNamedOnce(_ change: Change) throws { try check(change, through: nil) }

  @Test("A change is named once across formats", arguments: changes)
  func changeIsNamedOnceAcrossFormats(_ change: Change) throws {
    for format in Self.formats {
      try check(change, through: format)
    }
  }

  @Test("A change of overlapping events is named once", arguments: overlappingChanges)
  func changeOfOverlappingEventsIsNamedOnce(_ change: Change) throws {
    for format in [nil, HapticFormat.hapticClip, .hjif] {
      try check(change, through: format)
    }
  }

  @Test("A change of a curve is named once", arguments: curveChanges)
  func changeOfACurveIsNamedOnce(_ change: Change) throws { try check(change, through: nil) }

  // MARK: - Clocks

  private static func delayedPattern(_ pattern: HapticPattern, by seconds: Double) -> HapticPattern
  {
    pattern.with { pattern in
      for index in pattern.events.indices {
        pattern.events[index].time += seconds
      }
    }
  }

  @Test("The range of a local change is in the time of the reference", arguments: [0.15, -0.08])
  func rangeIsInTheTimeOfTheReference(_ delay: Double) throws {
    let reference = Self.delayedPattern(Self.twoHums, by: 0.1)
    let changed = Self.delayedPattern(reference, by: delay).with {
      $0.events[3].parameters[.hapticIntensity] = 0.6
    }
    for format in [HapticFormat.hapticClip, .hjif] {
      let comparison = try comparison(reference, changed, through: format)
      #expect(comparison.differences.count == 2, "\(comparison.sentences)")
      let levelDifference = try #require(comparison.differences.first { $0.kind == .level })
      #expect(
        abs(levelDifference.timeRange.lowerBound - 0.9) < 0.03, "\(levelDifference.timeRange)")
      #expect(
        abs(levelDifference.timeRange.upperBound - 1.3) < 0.03, "\(levelDifference.timeRange)")
      let timeDifference = try #require(comparison.differences.first { $0.kind == .time })
      #expect(timeDifference.isOverall && abs(timeDifference.amount - delay) < 0.002)
    }
  }

  @Test("A change of all levels is one difference in a delayed pattern")
  func levelChangeOfDelayedPattern() throws {
    let reference = HapticPattern(events: [
      tap(0), hum(0.2, 0.2, intensity: 0.6), hum(1.2, 0.2, intensity: 0.9),
    ])
    let changed = Self.delayedPattern(reference, by: 0.3).with { pattern in
      for index in pattern.events.indices {
        pattern.events[index].parameters[.hapticIntensity]? *= 0.8
      }
    }
    let comparison = try comparison(reference, changed, through: .hapticClip)
    #expect(comparison.differences.allSatisfy { $0.isOverall }, "\(comparison.sentences)")
    #expect(Set(comparison.differences.map(\.kind)) == [.time, .level], "\(comparison.sentences)")
  }

  // MARK: - Many changes

  @Test("Each of many changes is named")
  func manyChanges() throws {
    let allHums = HapticPattern(
      events: (0..<80).map {
        hum(Double($0) * 0.3, 0.15, intensity: $0.isMultiple(of: 3) ? 0.9 : 0.6)
      })
    let everySecondHum = allHums.with { pattern in
      pattern.events = pattern.events.enumerated().filter { $0.offset % 2 == 0 }.map(\.element)
    }
    let comparison = try comparison(allHums, everySecondHum, through: .hapticClip)
    #expect(comparison.differences.count == 40, "\(comparison.sentences)")
    #expect(comparison.differences.allSatisfy { $0.kind == .missing })
  }
}
