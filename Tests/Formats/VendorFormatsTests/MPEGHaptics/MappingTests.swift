import HapticModel
import Reading
import Testing

@testable import HapticFormats
@testable import VendorFormats

/// The layers that the elements of a document become.
@Suite struct MPEGMappingTests {
  @Test func steadySineIsAnEvent() throws {
    let composition = try MPEGFixtures.composition(
      MPEGFixtures.text(
        MPEGFixtures.wave,
        effects: MPEGFixtures.effect(at: 20, [(10, 0.3069, 182.5), (110, 0.3069, 182.5)])))
    let layer = composition.layers[0]
    #expect(composition.layers.count == 1 && layer.name == "c" && layer.signals.isEmpty)
    #expect(composition.notes == "d")
    let event = try #require(layer.pattern.events.first)
    #expect(event.kind == .hapticContinuous && event.time == 0.03 && event.duration == 0.1)
    #expect(abs(event.value(of: .hapticIntensity) - 0.5) < 1e-6)
    #expect(abs(event.value(of: .hapticSharpness) - 0.5) < 1e-6)
    #expect(layer.pattern.curves.isEmpty)
  }

  @Test func changingKeyframesBecomeCurvesOfTheirEvent() throws {
    let effectWithCurves = MPEGFixtures.effect([(0, 0.6138, 65), (100, 0.3069, nil), (200, 0, 300)])
    let composition = try MPEGFixtures.composition(
      MPEGFixtures.text(
        MPEGFixtures.wave,
        effects: [
          effectWithCurves, MPEGFixtures.effect(at: 50, [(0, 0.3, 90), (100, 0.3, 90)]),
          effectWithCurves,
        ]
        .joined(
          separator: ",")))
    #expect(composition.layers.map(\.pattern.events.count) == [1, 1, 1])
    #expect(composition.layers.map(\.pattern.curves.count) == [0, 2, 2])
    let pattern = composition.layers[1].pattern
    let intensity = ControlTimeline(of: .hapticIntensityControl, in: pattern)
    let sharpness = ControlTimeline(of: .hapticSharpnessControl, in: pattern)
    #expect(pattern.events[0].value(of: .hapticIntensity) == 1)
    #expect(abs(intensity.value(at: 0.05) - 0.75) < 1e-6 && intensity.value(at: 0.2) == 0)
    #expect(abs(sharpness.value(at: 0.1) - 0.5) < 1e-6)
  }

  @Test func valuesOutOfRangeAreClampedAndReported() throws {
    let examination = MPEGFixtures.readResult(
      MPEGFixtures.text(
        MPEGFixtures.wave, effects: MPEGFixtures.effect([(0, 0.9, 40), (100, 0.1, 340)]), gain: 1))
    #expect(
      examination.losses.map { "\($0.kind) \($0.message)" } == [
        """
        approximated amplitudes above the amplitude of intensity 1 are clamped by up to 0.286 of \
        full scale
        """
      ])
    #expect(
      examination.losses.compactMap(\.lossMagnitude).map { ($0 * 1e4).rounded() / 1e4 } == [0.2862]
    )
    let statedHertz = try #require(examination.composition?.statedHertzRange)
    #expect(abs(statedHertz.lowerBound - 40) < 1e-3 && abs(statedHertz.upperBound - 340) < 1e-3)
    #expect(examination.losses[0].location?.description == "t:6:44")
    #expect(
      examination.findings.map(\.description) == [
        """
        t:6:44: warning: amplitudes above the amplitude of intensity 1 are clamped by up to 0.286 \
        of full scale 
        """
          + "(perceptions[0].channels[0].bands[0].effects[0])"
      ])
    // The corner at which the amplitude falls below the limit is kept.
    let pattern = try #require(examination.composition?.layers[0].pattern)
    let intensity = ControlTimeline(of: .hapticIntensityControl, in: pattern)
    let crossingFraction = (0.9 - 0.6138) / 0.8
    #expect(abs(intensity.value(at: crossingFraction * 0.1 - 0.001) - 1) < 1e-4)
    #expect(abs(intensity.value(at: 0.075) - 0.3 / 0.6138) < 1e-4)
  }

  /// Keys of one position jump, also past a limit, where no time lies between them.
  @Test func jumpsPastALimitAreFinite() throws {
    for (firstAmplitude, secondAmplitude) in [(1.0, 0.2), (0.2, 1.0)] {
      let composition = try MPEGFixtures.composition(
        MPEGFixtures.text(
          MPEGFixtures.wave,
          effects: MPEGFixtures.effect([
            (0, firstAmplitude, 60), (0, secondAmplitude, 400), (100, 0.1, 20),
          ])))
      let pattern = composition.layers[0].pattern
      #expect(pattern.curves.count == 2)
      let points = pattern.curves.flatMap(\.controlPoints)
      #expect(points.allSatisfy { $0.value.isFinite && $0.time.isFinite }, "\(points)")
      let intensity = ControlTimeline(of: .hapticIntensityControl, in: pattern)
      let peak = Double(pattern.events[0].value(of: .hapticIntensity))
      #expect(abs(Double(intensity.value(at: 0.1)) * peak - 0.1 / 0.6138) < 1e-6)
    }
  }

  @Test func transientsHaveTheValuesOfTheirKeyframes() throws {
    let text = MPEGFixtures.text(
      MPEGFixtures.tap,
      effects: MPEGFixtures.effect(at: 10, [(0, 0.792, 65), (20, -0.396, 300), (40, 0.2, nil)]),
      gain: 0.5)
    let events = try MPEGFixtures.composition(text).layers[0].pattern.events
    #expect(events.map(\.kind) == [.hapticTransient, .hapticTransient, .hapticTransient])
    #expect(events.map(\.time) == [0.01, 0.03, 0.05])
    let values = events.map { [$0.value(of: .hapticIntensity), $0.value(of: .hapticSharpness)] }
    #expect(values[0] == [0.5, 0] && values[1] == [0.25, 1])
    #expect(abs(values[2][1] - Float((1_000.0 / 11 - 65) / 235)) < 1e-6)
  }

  @Test func phaseShapeAndNegativeAmplitudesAreSignals() throws {
    for (keys, attributes) in [
      ([(0, 0.5, 100), (50, 0.5, 100)], ", \"phase\": 1"),
      ([(0, 0.5, 100), (50, 0.5, 100)], ", \"base_signal\": \"Square\""),
      ([(0, 0.5, 100), (50, -0.5, 100)], ""),
    ] as [([(Int, Double?, Double?)], String)] {
      let layers = try MPEGFixtures.composition(
        MPEGFixtures.text(
          MPEGFixtures.wave, effects: MPEGFixtures.effect(keys, attributes: attributes))
      ).layers
      #expect(layers[0].signals.count == 1 && layers[0].pattern.events.isEmpty)
    }
    // Half a step of eight bits below 0 is silence.
    let withSilentKey = try MPEGFixtures.composition(
      MPEGFixtures.text(
        MPEGFixtures.wave, effects: MPEGFixtures.effect([(0, 0.5, 100), (50, -0.0039215684, 100)])))
    #expect(withSilentKey.layers[0].signals.isEmpty)
  }

  @Test func libraryEffectsAreFoundAndPlaced() throws {
    let library = """
      {"effect_type": "Basis", "id": 3, "position": 5, "keyframes": [{"relative_position": 0,
      "amplitude_modulation": 0.5, "frequency_modulation": 90}]}, {"effect_type": "Composite",
      "id": 4, "composition": [{"effect_type": "Reference", "id": 3, "position": 10},
      {"effect_type": "Reference", "id": 3, "position": 30}]}
      """
    let effects = """
      {"effect_type": "Reference", "id": 3, "position": 100},
      {"effect_type": "Reference", "id": 4, "position": 200},
      {"effect_type": "Reference", "id": 5, "position": 300}
      """
    let examination = MPEGFixtures.readResult(
      MPEGFixtures.text(MPEGFixtures.tap, effects: effects, library: library))
    let events = try #require(examination.composition?.layers[0].pattern.events)
    #expect(events.map { ($0.time * 1_000).rounded() } == [105, 215, 235])
    #expect(examination.findings.map(\.rule) == ["hjif/unknown-reference"])
    let location = examination.sourceMap.location(of: .event(EventReference(eventIndex: 0)))
    #expect(location.path == "perceptions[0].effect_library[0].keyframes[0]")
  }

  @Test func sensesAreNamedInLosses() throws {
    func losses(_ modality: String) -> [String] {
      MPEGFixtures.readResult(
        MPEGFixtures.text(MPEGFixtures.tap, effects: MPEGFixtures.effect([(0, 0.5, 90)])).replacing(
          "\"Vibrotactile\"", with: "\"\(modality)\"")
      ).losses.map { "\($0.kind) \($0.message) \($0.location.map { "\($0)" } ?? "")" }
    }
    #expect(losses("Other") == [] && losses("User-defined Temporal") == [])
    #expect(losses("Force") == ["approximated Force is played as vibration t:4:15"])
    #expect(
      losses("Stiffness") == ["dropped Stiffness cannot be played as vibration over time t:4:15"])
  }

  @Test func effectsOfEffectsAreBounded() {
    // 20 levels of two references each would be a million effects.
    var library = MPEGFixtures.effect([(0, 0.5, 90)], attributes: ", \"id\": 0")
    for level in 1...20 {
      let child = "{\"effect_type\": \"Reference\", \"id\": \(level - 1)}"
      library +=
        """
        , {\"effect_type\": \"Composite\", \"id\": \(level), \"composition\": [\(child), \
        \(child)]}
        """
    }
    let deepResult = MPEGFixtures.readResult(
      MPEGFixtures.text(
        MPEGFixtures.tap, effects: "{\"effect_type\": \"Reference\", \"id\": 20}", library: library)
    )
    #expect(
      deepResult.composition == nil
        && deepResult.findings.allSatisfy { $0.rule == "hjif/too-large" })
    let circularResult = MPEGFixtures.readResult(
      MPEGFixtures.text(
        MPEGFixtures.tap, effects: "{\"effect_type\": \"Reference\", \"id\": 1}",
        library: """
          {"effect_type": "Composite", "id": 1, "composition":
          [{"effect_type": "Reference", "id": 1}, {"effect_type": "Reference", "id": 1}]}
          """))
    #expect(
      circularResult.composition == nil && circularResult.findings.first?.rule == "hjif/too-large")
    let longResult = MPEGFixtures.readResult(
      MPEGFixtures.text(
        MPEGFixtures.curve("Linear"),
        effects: MPEGFixtures.effect([(0, 0, nil), (2_000_000_000, 1, nil)])))
    #expect(
      longResult.findings.map(\.message) == [
        "curves, wavelets, and waves are too long to play as samples"
      ])
  }
}
