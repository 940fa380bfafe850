import Reading
import HapticModel
import HapticRender
import PatternRules
import Testing

@Suite struct EffectRuleTests {
  private func findings(_ pattern: HapticPattern) -> [String] {
    PatternRules.findings(in: HapticComposition(pattern)) { FileLocation(name: "t", path: "\($0)") }
      .map {
        "\($0.rule): \($0.message)"
      }
  }

  private func hum(_ time: Double = 0, _ duration: Double = 1, intensity: Float = 0.5)
    -> HapticEvent
  {
    HapticEvent(
      kind: .hapticContinuous, time: time, duration: duration,
      parameters: [.hapticIntensity: intensity, .hapticSharpness: 0.5])
  }

  private func step(_ value: Float, at time: Double) -> DynamicParameter {
    DynamicParameter(id: .hapticIntensityControl, value: value, time: time)
  }

  private let silentControl =
    "silent: no haptics and no sound: all events have level 0 under their controls"

  @Test func patternWithoutAnyLevelIsSilent() {
    #expect(findings(HapticPattern(events: [hum(intensity: 0)])) == [silentControl])
    #expect(
      findings(HapticPattern(events: [hum()], parameters: [step(0, at: 0)])) == [silentControl])
    #expect(
      findings(HapticPattern(events: [hum()], parameters: [step(0, at: 0), step(0.1, at: 0.9)]))
        == [])
    let curve = ParameterCurve(
      id: .hapticIntensityControl, time: 0,
      controlPoints: [.init(time: 0, value: 0), .init(time: 0.5, value: -0.8)])
    #expect(findings(HapticPattern(events: [hum()], curves: [curve])) == [silentControl])
  }

  @Test func contentAfterTheEndHasNoEffect() {
    #expect(
      findings(HapticPattern(events: [hum()], parameters: [step(0.5, at: 4)])) == [
        "no-effect: HapticIntensityControl at 4.0 s has no effect: the last event ends at 1.0 s"
      ])
    // A release is still audible.
    #expect(findings(HapticPattern(events: [hum()], parameters: [step(0.5, at: 2)])) == [])
    let points = [0, 0.5, 5, 1e308].map { ParameterCurve.ControlPoint(time: $0, value: 0.5) }
    let curve = ParameterCurve(id: .hapticIntensityControl, time: 0, controlPoints: points)
    #expect(
      findings(HapticPattern(events: [hum()], curves: [curve])) == [
        """
        no-effect: 2 control points of HapticIntensityControl, starting at 5.0 s, have no effect: \
        the last event ends at 1.0 s
        """
      ])
    let audioEvent = HapticEvent(kind: .audioContinuous, time: 0, duration: 1)
    #expect(
      findings(HapticPattern(events: [audioEvent], parameters: [step(0.5, at: 0)])) == [
        "no-effect: HapticIntensityControl has no effect: no event of the layer responds to it"
      ])
  }

  @Test func equalEventsAreDuplicates() {
    #expect(
      findings(HapticPattern(events: [hum(), hum(intensity: 0.6), hum()])) == [
        "duplicate-event: duplicate of event 1 at 0.0 s; both play"
      ])
  }

  @Test func defaultsAreReportedOnceForEachKind() {
    let taps = (0..<3).map { HapticEvent(kind: .hapticTransient, time: Double($0)) }
    let defaultFindings = PatternRules.unsetParameterFindings(
      in: HapticComposition(HapticPattern(events: taps + [hum()]))
    ) { _ in
      FileLocation(name: "t")
    }
    #expect(
      defaultFindings.map(\.message) == [
        """
        HapticIntensity is missing; this and 2 more events play at 0.75, a default that Apple does \
        not document
        """,
        """
        HapticSharpness is missing; this and 2 more events play at 0.5, a default that Apple does \
        not document
        """,
      ])
    #expect(defaultFindings.allSatisfy { $0.severity == .note })
  }

  @Test func longRunOfTransientsIsATexture() {
    func taps(_ count: Int) -> HapticPattern {
      HapticPattern(
        events: (0..<count).map {
          HapticEvent(
            kind: .hapticTransient, time: Double($0) * 0.02, parameters: [.hapticIntensity: 0.5])
        })
    }
    #expect(findings(taps(2)).count == 1)
    #expect(
      findings(taps(4)) == [
        """
        transient-gap: 3 transients follow their predecessors by less than 50 ms (minimum: 20.0 \
        ms); at least 50 ms are needed to perceive each tap
        """
      ])
    #expect(findings(taps(8)) == [])
    #expect(findings(taps(148)) == [])
  }

  @Test func frequenciesFollowTheSharpnessControl() throws {
    let curve = ParameterCurve(
      id: .hapticSharpnessControl, time: 0,
      controlPoints: [.init(time: 0, value: 0), .init(time: 1, value: 0.5)])
    let pattern = HapticPattern(events: [hum()], curves: [curve])
    let profile = TransducerProfile.phone
    let frequencyRange = try #require(profile.frequencyRange(of: HapticComposition(pattern)))
    #expect(abs(frequencyRange.lowerBound - profile.frequency.hertz(atSharpness: 0.5)) < 1e-9)
    #expect(abs(frequencyRange.upperBound - profile.frequency.hertz(atSharpness: 1)) < 1e-9)
  }
}
