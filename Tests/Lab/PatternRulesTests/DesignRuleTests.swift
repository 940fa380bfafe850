import Reading
import HapticModel
import PatternRules
import Testing

@Suite struct DesignRuleTests {
  /// Returns the rules that a pattern violates.
  func violatedRules(_ pattern: HapticPattern) -> [String] {
    violatedRules(HapticComposition(pattern))
  }

  func violatedRules(_ composition: HapticComposition) -> [String] {
    findings(composition).map(\.rule.text)
  }

  func findings(_ composition: HapticComposition) -> [Finding] {
    PatternRules.findings(in: composition) { FileLocation(name: "t", path: "\($0)") }
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

  @Test func transientsNeedGapsOfFiftyMilliseconds() {
    #expect(violatedRules(taps([0, 50, 100])) == [])
    #expect(violatedRules(taps([0, 49])) == ["transient-gap"])
    #expect(violatedRules(taps([100, 0, 20])) == ["transient-gap"])
    #expect(violatedRules(taps([0, 0])) == ["duplicate-event", "transient-gap"])
    // Decimal times: 0.35 - 0.3 is less than 0.05 in binary.
    #expect(violatedRules(taps([300, 350])) == [])
  }

  /// The rhythm of the heartbeat in Apple's plug-in for Unity has one finding of each kind instead
  /// of one per beat.
  @Test func closeTapsAndUnevenSequencesAreReportedOnce() {
    let beats = taps([0, 1_000, 2_000].flatMap { [$0, $0 + 13, $0 + 220, $0 + 255] })
    #expect(
      findings(HapticComposition(beats)).map(\.message) == [
        """
        6 transients follow their predecessors by less than 50 ms (minimum: 13.0 ms); at least \
        50 ms are needed to perceive each tap
        """,
        "the sequence from 0.0 s and 2 others have irregular spacing",
      ])
  }

  @Test func transientsOfASequenceAreCounted() {
    #expect(violatedRules(taps([0, 100, 200, 300])) == [])
    #expect(violatedRules(taps([0, 100, 200, 300, 400])) == ["transient-count"])
    #expect(violatedRules(taps([0, 250, 500, 750, 1000])) == ["transient-count"])
    #expect(violatedRules(taps([0, 251, 502, 753, 1004])) == [])
    let fiveTapFindings = findings(HapticComposition(taps([0, 100, 200, 300, 400])))
    #expect(
      fiveTapFindings.map(\.message) == [
        "the sequence from 0.0 s has 5 transients; more than 4 are difficult to distinguish"
      ])
    #expect(
      fiveTapFindings.map(\.location.path) == [
        "\(CompositionElement.event(EventReference(eventIndex: 4)))"
      ])
  }

  @Test(arguments: [
    // Even, growing, and shrinking gaps, pairs, and a published rhythm.
    [0, 100, 200, 300], [0, 100, 220, 330], [0, 60, 140, 240], [0, 240, 400, 480],
    [0, 60, 200, 260],
    [0, 75, 150, 300],
  ]) func acceptsSpacingWithARule(milliseconds: [Double]) {
    #expect(violatedRules(taps(milliseconds)) == [])
  }

  @Test(arguments: [[0, 60, 260, 350], [0, 200, 260, 400], [0, 150, 210, 410]])
  func irregularSpacingIsReported(
    milliseconds: [Double]
  ) { #expect(violatedRules(taps(milliseconds)) == ["transient-spacing"]) }

  @Test func repeatedGroupsAreRegular() {
    let pairs = [0.0, 250, 500].flatMap { [$0, $0 + 60] }
    #expect(violatedRules(taps(pairs)) == ["transient-count"])
    let triples = [0.0, 400, 800].flatMap { [$0, $0 + 60, $0 + 200] }
    #expect(violatedRules(taps(triples)) == ["transient-count"])
    let irregular: [Double] = [0, 60, 200, 400, 460, 600, 800, 860, 1000, 1060, 1300]
    #expect(violatedRules(taps(irregular)).contains("transient-spacing"))
  }

  @Test func heavyTransientsMustBeRare() {
    #expect(violatedRules(taps([0, 100], intensity: 0.95)) == [])
    #expect(violatedRules(taps([0, 100, 200], intensity: 0.95)) == ["heavy-overuse"])
    #expect(violatedRules(taps([0, 100, 200], intensity: 0.94)) == [])
    #expect(violatedRules(taps([0, 1000, 2000], intensity: 1)) == [])
    #expect(violatedRules(taps([0, 1000, 2000, 3000], intensity: 1)) == ["heavy-overuse"])
  }

  @Test func harshTransientsAreReported() {
    func tap(_ intensity: Float, _ sharpness: Float) -> HapticPattern {
      HapticPattern(events: [
        HapticEvent(
          kind: .hapticTransient, time: 1,
          parameters: [.hapticIntensity: intensity, .hapticSharpness: sharpness])
      ])
    }
    #expect(violatedRules(tap(0.9, 0.9)) == ["harsh"])
    #expect(violatedRules(tap(0.89, 1)) == [])
    var softened = tap(1, 1)
    softened.parameters = [DynamicParameter(id: .hapticIntensityControl, value: 0.5, time: 0.5)]
    #expect(violatedRules(softened) == [])
    var late = tap(1, 1)
    late.parameters = [DynamicParameter(id: .hapticIntensityControl, value: 0.5, time: 1.5)]
    #expect(violatedRules(late) == ["harsh"])
    var sharpened = tap(1, 0.5)
    sharpened.curves = [
      ParameterCurve(
        id: .hapticSharpnessControl, time: 0,
        controlPoints: [.init(time: 0, value: 0), .init(time: 1, value: 0.4)])
    ]
    #expect(violatedRules(sharpened) == ["harsh"])
  }

  @Test func strongVibrationLastsAtMostASecond() {
    #expect(violatedRules(HapticPattern(events: [hum(0, 1)])) == [])
    #expect(violatedRules(HapticPattern(events: [hum(0, 1.01)])) == ["sustained"])
    #expect(violatedRules(HapticPattern(events: [hum(0, 3, intensity: 0.79)])) == [])
    #expect(violatedRules(HapticPattern(events: [hum(0, 0.7), hum(0.7, 0.7)])) == ["sustained"])
    #expect(violatedRules(HapticPattern(events: [hum(0, 0.7), hum(0.8, 0.7)])) == [])
    var fading = hum(0, 3)
    fading.parameters[.sustained] = 0
    #expect(violatedRules(HapticPattern(events: [fading])) == [])
  }

  @Test func strongVibrationFollowsTheIntensityCurve() {
    func shaped(_ points: [(Double, Float)]) -> HapticPattern {
      HapticPattern(
        events: [hum(0, 3)],
        curves: [
          ParameterCurve(
            id: .hapticIntensityControl, time: 0,
            controlPoints: points.map { .init(time: $0.0, value: $0.1) })
        ])
    }
    #expect(violatedRules(shaped([(0, 0), (1.5, 1), (3, 0)])) == [])
    #expect(violatedRules(shaped([(0, 0), (1.5, 1), (1.6, 1), (3, 0.7)])) == ["sustained"])
    #expect(violatedRules(shaped([(0, 1), (0.9, 1), (1, 0.5), (1.1, 1), (2, 1), (2.1, 0)])) == [])
    #expect(violatedRules(shaped([(0, 0.5)])) == [])
  }

  @Test func overflowingTimesAreHarmless() {
    let overflowing = HapticPattern(
      events: [hum(1.7e308, 1.7e308), hum(0, 1.7e308)],
      curves: [
        ParameterCurve(
          id: .hapticIntensityControl, time: 1e308,
          controlPoints: [.init(time: 0, value: 0.8), .init(time: 1.7e308, value: 0)])
      ])
    #expect(violatedRules(overflowing).contains("sustained"))
  }

  @Test func longPatternIsReported() {
    #expect(violatedRules(taps([0, 5000])) == [])
    #expect(violatedRules(taps([0, 5001])) == ["pattern-length"])
    #expect(violatedRules(taps([0, 86_400_000])) == ["pattern-length"])
    // An invalid pattern violates another rule, with severity error.
    #expect(violatedRules(taps([0, 86_400_001])) == [])
    #expect(violatedRules(HapticPattern(events: [hum(1e308, 1, intensity: 0.5)])) == [])
  }

  @Test func controlsActFromTheirTimeInAnyOrder() {
    func softened(_ steps: [(time: Double, value: Float)]) -> HapticPattern {
      HapticPattern(
        events: [
          HapticEvent(
            kind: .hapticTransient, time: 1, parameters: [.hapticIntensity: 1, .hapticSharpness: 1])
        ],
        parameters: steps.map {
          DynamicParameter(id: .hapticIntensityControl, value: $0.value, time: $0.time)
        })
    }
    #expect(violatedRules(softened([(0.8, 1), (0.2, 0.5)])) == ["harsh"])
    #expect(violatedRules(softened([(0.8, 0.5), (0.2, 1)])) == [])
    #expect(violatedRules(softened([(0.2, 0.5), (0.8, 1)])) == ["harsh"])
  }

  // MARK: - Layers

  @Test func transientsOfAllLayersAreFeltTogether() {
    let composition = HapticComposition(layers: [
      .init(taps([0, 1000])), .init(taps([500, 1020])),
    ])
    let gapFindings = findings(composition)
    #expect(gapFindings.map(\.rule) == ["transient-gap"])
    #expect(
      gapFindings.map(\.location.path) == [
        "\(CompositionElement.event(EventReference(layerIndex: 1, eventIndex: 1)))"
      ]
    )
    // Of two transients at the same time, that of the first layer comes first.
    #expect(
      findings(HapticComposition(layers: [.init(taps([0])), .init(taps([0]))])).map(\.location.path)
        == [
          "\(CompositionElement.event(EventReference(layerIndex: 1, eventIndex: 0)))"
        ])
  }

  @Test func controlsActOnTheirOwnLayer() {
    let loud = HapticPattern(events: [hum(0, 3)])
    var soft = loud
    soft.parameters = [DynamicParameter(id: .hapticIntensityControl, value: 0.5, time: 0)]
    #expect(violatedRules(HapticComposition(layers: [.init(soft), .init(soft)])) == [])
    let sustainedFindings = findings(HapticComposition(layers: [.init(soft), .init(loud)]))
    #expect(sustainedFindings.map(\.rule) == ["sustained"])
    #expect(
      sustainedFindings.map(\.location.path) == [
        "\(CompositionElement.event(EventReference(layerIndex: 1, eventIndex: 0)))"
      ]
    )
  }

  @Test func strongVibrationOfTwoLayersIsOne() {
    let first = HapticPattern(events: [hum(0, 0.7)])
    let second = HapticPattern(events: [hum(0.7, 0.7)])
    #expect(
      violatedRules(HapticComposition(layers: [.init(first), .init(second)])) == ["sustained"])
  }

  @Test func findingsBeyondAThousandAreCounted() {
    let events = (0..<1500).map {
      HapticEvent(
        kind: .hapticTransient, time: Double($0),
        parameters: [.hapticIntensity: 0.9, .hapticSharpness: 1])
    }
    let harshFindings = findings(HapticComposition(HapticPattern(events: events))).filter {
      $0.rule == "harsh"
    }
    #expect(harshFindings.count == 1001)
    #expect(harshFindings.last?.message == "500 more harsh findings in this file")
  }
}
