import HapticFormats
import Diagnostics
import HapticModel
import Testing

@Suite struct DesignRuleTests {
  /// The rules that a pattern breaks, in the order of its events.
  func rules(_ pattern: HapticPattern) throws -> [String] {
    try AHAPDocument(pattern: pattern).examine().findings.map(\.rule.text)
  }

  func taps(_ milliseconds: [Double], intensity: Float = 0.5) -> HapticPattern {
    HapticPattern(
      events: milliseconds.map {
        HapticEvent(
          kind: .hapticTransient, time: $0 / 1000, parameters: [.hapticIntensity: intensity])
      })
  }

  func hum(_ time: Double, _ duration: Double, intensity: Float = 1) -> HapticEvent {
    HapticEvent(
      kind: .hapticContinuous, time: time, duration: duration,
      parameters: [.hapticIntensity: intensity])
  }

  @Test func wantsFiftyMillisecondsBetweenTaps() throws {
    #expect(try rules(taps([0, 50, 100])) == [])
    #expect(try rules(taps([0, 49])) == ["transient-gap"])
    #expect(try rules(taps([100, 0, 20])) == ["transient-gap"])
    #expect(try rules(taps([0, 0])) == ["transient-gap"])
    // Decimal times: 0.35 - 0.3 is less than 0.05 in binary.
    #expect(try rules(taps([300, 350])) == [])
  }

  @Test func countsTheTapsOfASequence() throws {
    #expect(try rules(taps([0, 100, 200, 300])) == [])
    #expect(try rules(taps([0, 100, 200, 300, 400])) == ["transient-count"])
    #expect(try rules(taps([0, 250, 500, 750, 1000])) == ["transient-count"])
    #expect(try rules(taps([0, 251, 502, 753, 1004])) == [])
    let document = try AHAPDocument(pattern: taps([0, 100, 200, 300, 400]))
    #expect(
      document.examine().findings.first?.message
        == "the sequence from 0.0 s has 5 transients; more than 4 are hard to tell apart")
    #expect(document.examine().findings.first?.place.path == "Pattern[4].Event")
  }

  @Test(arguments: [
    // Even, wider, closer, pairs, and a published rhythm.
    [0, 100, 200, 300], [0, 100, 220, 330], [0, 60, 140, 240], [0, 240, 400, 480],
    [0, 60, 200, 260], [0, 75, 150, 300],
  ])
  func acceptsSpacingWithARule(milliseconds: [Double]) throws {
    #expect(try rules(taps(milliseconds)) == [])
  }

  @Test(arguments: [[0, 60, 260, 350], [0, 200, 260, 400], [0, 150, 210, 410]])
  func reportsErraticSpacing(milliseconds: [Double]) throws {
    #expect(try rules(taps(milliseconds)) == ["transient-spacing"])
  }

  @Test func findsGroupsOfTapsThatRepeat() throws {
    let pairs = [0.0, 250, 500].flatMap { [$0, $0 + 60] }
    #expect(try rules(taps(pairs)) == ["transient-count"])
    let triples = [0.0, 400, 800].flatMap { [$0, $0 + 60, $0 + 200] }
    #expect(try rules(taps(triples)) == ["transient-count"])
    let broken: [Double] = [0, 60, 200, 400, 460, 600, 800, 860, 1000, 1060, 1300]
    #expect(try rules(taps(broken)).contains("transient-spacing"))
  }

  @Test func keepsHeavyTapsRare() throws {
    #expect(try rules(taps([0, 100], intensity: 0.95)) == [])
    #expect(try rules(taps([0, 100, 200], intensity: 0.95)) == ["heavy-overuse"])
    #expect(try rules(taps([0, 100, 200], intensity: 0.94)) == [])
    #expect(try rules(taps([0, 1000, 2000], intensity: 1)) == [])
    #expect(try rules(taps([0, 1000, 2000, 3000], intensity: 1)) == ["heavy-overuse"])
  }

  @Test func reportsWhatIsHarsh() throws {
    func tap(_ intensity: Float, _ sharpness: Float) -> HapticPattern {
      HapticPattern(events: [
        HapticEvent(
          kind: .hapticTransient, time: 1,
          parameters: [.hapticIntensity: intensity, .hapticSharpness: sharpness])
      ])
    }
    #expect(try rules(tap(0.9, 0.9)) == ["harsh"])
    #expect(try rules(tap(0.89, 1)) == [])
    var softened = tap(1, 1)
    softened.parameters = [DynamicParameter(id: .hapticIntensityControl, value: 0.5, time: 0.5)]
    #expect(try rules(softened) == [])
    var late = tap(1, 1)
    late.parameters = [DynamicParameter(id: .hapticIntensityControl, value: 0.5, time: 1.5)]
    #expect(try rules(late) == ["harsh"])
    var sharpened = tap(1, 0.5)
    sharpened.curves = [
      ParameterCurve(
        id: .hapticSharpnessControl, time: 0,
        controlPoints: [.init(time: 0, value: 0), .init(time: 1, value: 0.4)])
    ]
    #expect(try rules(sharpened) == ["harsh"])
  }

  @Test func endsStrongVibrationAfterASecond() throws {
    #expect(try rules(HapticPattern(events: [hum(0, 1)])) == [])
    #expect(try rules(HapticPattern(events: [hum(0, 1.01)])) == ["sustained"])
    #expect(try rules(HapticPattern(events: [hum(0, 3, intensity: 0.79)])) == [])
    #expect(try rules(HapticPattern(events: [hum(0, 0.7), hum(0.7, 0.7)])) == ["sustained"])
    #expect(try rules(HapticPattern(events: [hum(0, 0.7), hum(0.8, 0.7)])) == [])
    var fading = hum(0, 3)
    fading.parameters[.sustained] = 0
    #expect(try rules(HapticPattern(events: [fading])) == [])
  }

  @Test func followsTheIntensityCurveOfStrongVibration() throws {
    func shaped(_ points: [(Double, Float)]) -> HapticPattern {
      HapticPattern(
        events: [hum(0, 3)],
        curves: [
          ParameterCurve(
            id: .hapticIntensityControl, time: 0,
            controlPoints: points.map { .init(time: $0.0, value: $0.1) })
        ])
    }
    #expect(try rules(shaped([(0, 0), (1.5, 1), (3, 0)])) == [])
    #expect(try rules(shaped([(0, 0), (1.5, 1), (1.6, 1), (3, 0.7)])) == ["sustained"])
    #expect(try rules(shaped([(0, 1), (0.9, 1), (1, 0.5), (1.1, 1), (2, 1), (2.1, 0)])) == [])
    #expect(try rules(shaped([(0, 0.5)])) == [])
  }

  @Test func survivesTimesThatOverflow() throws {
    let far = HapticPattern(
      events: [hum(1.7e308, 1.7e308), hum(0, 1.7e308)],
      curves: [
        ParameterCurve(
          id: .hapticIntensityControl, time: 1e308,
          controlPoints: [.init(time: 0, value: 0.8), .init(time: 1.7e308, value: 0)])
      ])
    #expect(try rules(far).contains("sustained"))
  }

  @Test func notesUnusualLength() throws {
    #expect(try rules(taps([0, 5000])) == [])
    #expect(try rules(taps([0, 5001])) == ["pattern-length"])
  }
}
