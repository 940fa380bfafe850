import HapticFormats
import HapticModel
import Testing

/// Compositions of several layers, written as one AHAP file.
@Suite struct LayerMergingTests {
  /// Returns a composition of a continuous event with curves and a layer of transients without
  /// curves, like a clip.
  private func clip(
    level: [(Double, Float)], sharpness: [(Double, Float)], taps: [(Double, Float, Float)]
  ) -> HapticComposition {
    func curve(_ id: DynamicParameterID, _ points: [(Double, Float)]) -> ParameterCurve {
      ParameterCurve(
        id: id, time: 0, controlPoints: points.map { .init(time: $0.0, value: $0.1) })
    }
    let hum = HapticEvent(
      kind: .hapticContinuous, time: 0, duration: 1,
      parameters: [.hapticIntensity: 1, .hapticSharpness: 0])
    let taps = taps.map { time, intensity, sharpness in
      HapticEvent(
        kind: .hapticTransient, time: time,
        parameters: [.hapticIntensity: intensity, .hapticSharpness: sharpness])
    }
    return HapticComposition(layers: [
      .init(
        HapticPattern(
          events: [hum],
          curves: [
            curve(.hapticIntensityControl, level), curve(.hapticSharpnessControl, sharpness),
          ])),
      .init(HapticPattern(events: taps)),
    ])
  }

  /// Writes a composition as one file and reads it again.
  private func mergedPattern(_ composition: HapticComposition) throws -> (HapticPattern, [String]) {
    let options = WritingOptions(fileSplitting: .never)
    let written = try #require(try HapticFormat.ahap.write(composition, options: options))
    #expect(written.files.count == 1)
    let file = SourceFile(written.files[0].bytes, name: "t.ahap")
    let pattern = try HapticFormat.ahap.examine(file).get().layers[0].pattern
    return (pattern, written.losses.map(\.message))
  }

  /// Returns the effective intensity and sharpness of an event at its onset.
  private func effectiveParameters(_ event: HapticEvent, in pattern: HapticPattern) -> (
    Double, Double
  ) {
    let point = EffectiveParameters(pattern).points(of: event)[0]
    return (point.intensity, point.sharpness)
  }

  @Test("A tap keeps its sharpness and intensity under steady curves")
  func steadyCurves() throws {
    let (pattern, losses) = try mergedPattern(
      clip(
        level: [(0, 0.5), (1, 0.5)], sharpness: [(0, 0.77), (1, 0.77)], taps: [(0.1, 0.9, 0.5)]))
    #expect(losses.isEmpty)
    let hum = try #require(pattern.events.first { $0.kind == .hapticContinuous })
    let tap = try #require(pattern.events.first { $0.kind == .hapticTransient })
    #expect(abs(hum.value(of: .hapticSharpness) - 0.77) < 1e-6)
    #expect(abs(hum.value(of: .hapticIntensity) - 0.5) < 1e-6)
    for (event, expected) in [(hum, (0.5, 0.77)), (tap, (0.9, 0.5))] {
      let values = effectiveParameters(event, in: pattern)
      #expect(abs(values.0 - expected.0) < 1e-5 && abs(values.1 - expected.1) < 1e-5)
    }
  }

  @Test("A tap compensates for a moving curve, which keeps its own course")
  func movingCurves() throws {
    let composition = clip(
      level: [(0, 1), (1, 0.6)], sharpness: [(0, 0.2), (1, 0.8)],
      taps: [(0.2, 0.7, 0.7), (0.8, 0.5, 0.3)])
    let (pattern, losses) = try mergedPattern(composition)
    #expect(losses.isEmpty, "\(losses)")
    let taps = pattern.events.filter { $0.kind == .hapticTransient }
    for (tap, expected) in zip(taps, [(0.7, 0.7), (0.5, 0.3)]) {
      let values = effectiveParameters(tap, in: pattern)
      #expect(abs(values.0 - expected.0) < 1e-5 && abs(values.1 - expected.1) < 1e-5)
    }
    let hum = try #require(pattern.events.first { $0.kind == .hapticContinuous })
    let points = EffectiveParameters(pattern).points(of: hum)
    #expect(abs(points[0].sharpness - 0.2) < 1e-5)
    #expect(abs((points.last?.sharpness ?? 0) - 0.8) < 1e-5)
  }

  @Test("A difference that remains is reported in hertz and decibels")
  func remainingDifferences() throws {
    let (_, losses) = try mergedPattern(
      clip(
        level: [(0, 1), (0.5, 0.5), (1, 0.5)], sharpness: [(0, 1), (0.4, 0), (1, 0)],
        taps: [(0, 1, 0), (0.6, 1, 1)]))
    #expect(
      losses.contains(
        "the curves of one layer change the level of the events of others by up to 12 dB"),
      "\(losses)")
    #expect(!losses.contains { $0.contains("act on the events of all layers") })
  }

  @Test("The end of an event before a jump of a curve counts as a difference")
  func differenceBeforeAJump() throws {
    let composition = HapticComposition(layers: [
      .init(
        HapticPattern(
          events: [
            HapticEvent(
              kind: .hapticContinuous, time: 0, duration: 2,
              parameters: [.hapticIntensity: 0.5, .hapticSharpness: 0])
          ],
          curves: [
            ParameterCurve(
              id: .hapticIntensityControl, time: 0,
              controlPoints: [
                .init(time: 0, value: 1), .init(time: 1, value: 0.5), .init(time: 1, value: 1),
              ])
          ])),
      .init(
        HapticPattern(events: [
          HapticEvent(
            kind: .hapticContinuous, time: 0, duration: 1.5,
            parameters: [.hapticIntensity: 0.5, .hapticSharpness: 0])
        ])),
    ])
    let (_, losses) = try mergedPattern(composition)
    #expect(
      losses == ["the curves of one layer change the level of the events of others by up to 12 dB"],
      "\(losses)")
  }

  @Test("A tap that the envelope silences is a loss")
  func silencedTap() throws {
    let (_, losses) = try mergedPattern(
      clip(level: [(0, 0), (1, 1)], sharpness: [(0, 0.5), (1, 0.5)], taps: [(0, 1, 0.5)]))
    #expect(losses == ["the curves of one layer silence 1 events of others"])
  }
}
