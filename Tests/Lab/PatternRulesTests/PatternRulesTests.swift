import CoreHaptics
import Reading
import HapticFormats
import VendorFormats
import HapticModel
import HapticRender
import PatternRules
import Testing

@Suite struct PatternRulesTests {
  private static func location(_ element: CompositionElement) -> FileLocation {
    FileLocation(name: "t", path: "\(element)")
  }

  private func curve(_ id: DynamicParameterID, _ time: Double, lasting: Double) -> ParameterCurve {
    ParameterCurve(
      id: id, time: time,
      controlPoints: [.init(time: 0, value: 0), .init(time: lasting, value: 0.5)])
  }

  private let tap = HapticEvent(kind: .hapticTransient, time: 0)

  @Test func everyRuleHasAnIDOfItsOwn() {
    let rules =
      PatternRules.compositionRules + PatternRules.hardwareRules + PatternRules.compilationRules
    #expect(Set(rules.map(\.id)).count == rules.count)
    #expect(PatternRules.compilationRules.allSatisfy { $0.severity == .error })
  }

  @Test func compositionWithoutEventsIsSilent() {
    let findings = PatternRules.findings(
      in: HapticComposition(layers: [.init(HapticPattern()), .init(HapticPattern())]),
      location: Self.location)
    #expect(findings.map(\.rule) == ["no-events"])
    #expect(findings.map(\.location) == [Self.location(.composition)])
    let layers = [HapticComposition.Layer(HapticPattern()), .init(HapticPattern(events: [tap]))]
    #expect(
      PatternRules.findings(in: HapticComposition(layers: layers), location: Self.location).isEmpty)
  }

  @Test func curvesOverlapInTheirOwnLayer() {
    let firstCurve = curve(.hapticIntensityControl, 0, lasting: 1)
    let secondCurve = curve(.hapticIntensityControl, 0.5, lasting: 1)
    let sharpnessCurve = curve(.hapticSharpnessControl, 0.5, lasting: 1)
    func pattern(_ curves: [ParameterCurve], at time: Double = 0) -> HapticPattern {
      HapticPattern(events: [HapticEvent(kind: .hapticTransient, time: time)], curves: curves)
    }
    let findings = PatternRules.findings(
      in: HapticComposition(layers: [
        .init(pattern([sharpnessCurve])),
        .init(pattern([secondCurve, sharpnessCurve, firstCurve], at: 1)),
      ]),
      location: Self.location)
    #expect(findings.map(\.rule) == ["curve-overlap"])
    #expect(findings.map(\.location) == [Self.location(.curve(layer: 1, index: 0))])
    #expect(
      PatternRules.findings(
        in: HapticComposition(layers: [
          .init(pattern([firstCurve])), .init(pattern([secondCurve], at: 1)),
        ]),
        location: Self.location
      ).isEmpty)
  }

  // MARK: - Sources of compositions

  @Test func patternMadeInCodeIsCheckedWithPaths() {
    let composition = HapticComposition(layers: [
      .init(HapticPattern(events: [tap])),
      .init(HapticPattern(events: [HapticEvent(kind: .hapticTransient, time: 0.02)])),
    ])
    let findings = PatternRules.findings(
      in: composition, location: SourceMap.inMemory(name: "made").location(of:))
    #expect(
      findings.map(\.description) == [
        """
        made: warning: the transient is 20.0 ms after the previous one; at least 50 ms are needed \
        to perceive two taps (layers[1].events[0])
        """
      ])
  }

  @Test func patternOfCoreHapticsIsCheckedWithPaths() throws {
    let fullIntensity = CHHapticEventParameter(parameterID: .hapticIntensity, value: 1)
    let fullSharpness = CHHapticEventParameter(parameterID: .hapticSharpness, value: 1)
    let pattern = try CHHapticPattern(
      events: [
        CHHapticEvent(eventType: .hapticTransient, parameters: [], relativeTime: 0),
        CHHapticEvent(
          eventType: .hapticTransient, parameters: [fullIntensity, fullSharpness], relativeTime: 0.5
        ),
      ], parameters: [])
    let findings = PatternRules.findings(
      in: pattern.composition, location: SourceMap.inMemory(name: "code").location(of:))
    #expect(
      findings.map(\.description) == [
        "code: warning: a transient of intensity 1.0 and sharpness 1.0 feels harsh (events[1])"
      ])
  }

  @Test func fileOfAHAPIsCheckedWithItsLines() throws {
    let text = """
      {"Version": 1, "Pattern": [
        {"Event": {"Time": 0, "EventType": "HapticTransient"}},
        {"Event": {"Time": 0.02, "EventType": "HapticTransient"}}
      ]}
      """
    let result = FormatRegistry.standard.examine(SourceFile(Array(text.utf8), name: "a.ahap"))
    let findings = PatternRules.findings(
      in: try #require(result.composition), location: result.sourceMap.location(of:))
    #expect(
      findings.map(\.description) == [
        """
        a.ahap:3:13: warning: the transient is 20.0 ms after the previous one; at least 50 ms are \
        needed to perceive two taps (Pattern[1].Event)
        """
      ])
  }

  @Test("Rules about Apple's parameters apply to files that have them")
  func appleRules() {
    let event = HapticEvent(kind: .hapticContinuous, time: 0, duration: 1)
    let curves = [0, 0.2].map { curve(.hapticIntensityControl, $0, lasting: 1) }
    let composition = HapticComposition(HapticPattern(events: [event], curves: curves))
    func rules(_ hasAppleParameters: Bool) -> Set<String> {
      let findings = PatternRules.findings(
        in: composition, hasAppleParameters: hasAppleParameters, location: Self.location)
      return Set(findings.map(\.rule.text))
    }
    #expect(rules(true).isSuperset(of: ["curve-overlap", "default-parameter"]))
    #expect(rules(true).subtracting(rules(false)) == ["curve-overlap", "default-parameter"])
  }

  // MARK: - Hardware

  @Test("Stated frequencies beyond the band of the hardware are named with their distance")
  func movedFrequencies() throws {
    var profile = ringProfile
    profile.hardware?.bandHertz = 10...80
    let event = HapticEvent(
      kind: .hapticContinuous, time: 0, duration: 0.2,
      parameters: [.hapticIntensity: 0.1, .hapticSharpness: 1])
    func findings(_ scale: SharpnessScale) throws -> [Finding] {
      let layers = [
        HapticComposition.Layer(HapticPattern(events: [event]), sharpnessScale: scale)
      ]
      let composition = HapticComposition(layers: layers)
      let plan = try RenderPlan(compiling: composition, profile: profile, rate: 8_000)
      return PatternRules.hardwareFindings(
        in: composition, profile: profile, plan: plan, location: Self.location
      ).filter { $0.rule == "transducer-band" }
    }
    let scaleWithinBand = SharpnessScale(minimumHertz: 20, maximumHertz: 75, isLogarithmic: false)
    #expect(try findings(scaleWithinBand).isEmpty)
    let bandFindings = try findings(.phone)
    #expect(
      bandFindings.map(\.message) == [
        """
        230 Hz is partly outside the band of ring, 10–80 Hz: frequencies are shifted by up to 150 Hz
        """
      ])
    #expect(bandFindings.map(\.location) == [Self.location(.event(EventReference(eventIndex: 0)))])
  }

  /// Hardware with a resonance and a small maximum excursion.
  private let ringProfile = TransducerProfile(
    name: "ring", summary: "Rings.", frequency: FrequencyMapping(lowHertz: 25, highHertz: 80),
    hardware: TransducerHardware(
      product: "A", resonanceHertz: 40, qualityFactor: 10, continuousWatts: 10,
      maximumAccelerationInG: 8,
      maximumExcursionMillimeters: 0.14,
      uncertainty: TransducerUncertainty.exact), amplifier: AmplifierParameters(fullScaleWatts: 40))

  @Test func hardwareFindingsNameTheEventOfTheirLayer() throws {
    let weak = HapticEvent(
      kind: .hapticContinuous, time: 0, duration: 0.2, parameters: [.hapticIntensity: 0.01])
    let strong = HapticEvent(
      kind: .hapticContinuous, time: 0.5, duration: 0.5,
      parameters: [.hapticIntensity: 1, .hapticSharpness: 0.4])
    let composition = HapticComposition(layers: [
      .init(HapticPattern(events: [weak])), .init(HapticPattern(events: [strong])),
    ])
    let plan = try RenderPlan(compiling: composition, profile: ringProfile, rate: 8_000)
    let findings = PatternRules.hardwareFindings(
      in: composition, profile: ringProfile, plan: plan, location: Self.location)
    let excursionFinding = try #require(findings.first { $0.rule == "transducer-excursion" })
    #expect(
      excursionFinding.location
        == Self.location(.event(EventReference(layerIndex: 1, eventIndex: 0))))
    #expect(excursionFinding.severity == .warning)
    let bandFinding = try #require(findings.first { $0.rule == "transducer-band" })
    #expect(
      bandFinding.location == Self.location(.event(EventReference(layerIndex: 0, eventIndex: 0))))
    #expect(
      bandFinding.message.hasPrefix("ring plays 25–46.1 of 25–80 Hz: 39.8–40.9 Hz is mapped to "))
  }

  @Test(
    arguments: [
      (nil, 1, "ring plays 25–46.1 of 25–80 Hz: 80 Hz is mapped to 46.1 Hz"),
      (10...80, 1, "ring plays 25–46.1 of 25–80 Hz: 80 Hz is mapped to 46.1 Hz"),
      (10...70, 1, "80 Hz is outside the band of ring, 10–70 Hz: mapped to 46.1 Hz"),
      (10...70, 0.1, nil),
    ] as [(ClosedRange<Double>?, Float, String?)]) func frequenciesThatAreNoticeablyMovedAreNamed(
      band: ClosedRange<Double>?, sharpness: Float, message: String?
    ) throws
  {
    var profile = ringProfile
    profile.hardware?.bandHertz = band
    let event = HapticEvent(
      kind: .hapticContinuous, time: 0, duration: 0.1, parameters: [.hapticSharpness: sharpness])
    let composition = HapticComposition(HapticPattern(events: [event]))
    let plan = try RenderPlan(compiling: composition, profile: profile, rate: 8_000)
    let findings = PatternRules.hardwareFindings(
      in: composition, profile: profile, plan: plan, location: Self.location)
    let bandFinding = findings.first { $0.rule == "transducer-band" }
    #expect(bandFinding?.message == message)
    #expect(
      bandFinding == nil
        || bandFinding?.location
          == Self.location(.event(EventReference(layerIndex: 0, eventIndex: 0)))
    )
  }

  @Test func profileWithoutHardwareIsCheckedForTheCeiling() throws {
    let loud = HapticEvent(
      kind: .hapticContinuous, time: 0, duration: 0.2, parameters: [.hapticIntensity: 1])
    let layer = HapticComposition.Layer(HapticPattern(events: [loud]))
    let threeLayers = HapticComposition(layers: [layer, layer, layer])
    let plan = try RenderPlan(compiling: threeLayers, profile: .phone, rate: 8_000)
    #expect(
      PatternRules.hardwareFindings(
        in: threeLayers, profile: .phone, plan: plan, location: Self.location
      )
      .map(
        \.rule) == [
          "transducer-ceiling"
        ])
    let oneLayer = HapticComposition(layers: [layer])
    #expect(
      PatternRules.hardwareFindings(
        in: oneLayer, profile: .phone, plan: try RenderPlan(compiling: oneLayer, rate: 8_000),
        location: Self.location
      ).isEmpty)
  }

  // MARK: - Compilation errors

  @Test(arguments: [
    (RenderError.Kind.rateOutOfRange, "frame-rate"), (.timeOutOfRange, "event-time"),
    (.patternTooLong, "pattern-too-long"), (.tooManyLayers, "pattern-too-long"),
    (.sampleMissing, "sound-missing"),
  ]) func everyCompilationErrorHasARule(kind: RenderError.Kind, rule: String) {
    #expect(Rule(of: kind).id.text == rule)
    #expect(PatternRules.compilationRules.contains(Rule(of: kind)))
  }

  @Test func compilationErrorHasTheLocationOfItsEvent() throws {
    let late = HapticEvent(kind: .hapticTransient, time: .infinity)
    let composition = HapticComposition(layers: [
      .init(HapticPattern(events: [tap])), .init(HapticPattern(events: [tap, late])),
    ])
    let error = try #require(throws: RenderError.self) {
      try RenderPlan(compiling: composition, rate: 8_000)
    }
    let refusal = InputError(error, location: Self.location)
    #expect(refusal.rule == "event-time")
    #expect(refusal.location == Self.location(.event(EventReference(layerIndex: 1, eventIndex: 1))))
  }
}
