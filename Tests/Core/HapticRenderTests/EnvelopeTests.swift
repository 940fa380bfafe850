import HapticModel
import RealtimeMemory
import Testing

@testable import HapticRender

@Suite struct EnvelopeTests {
  /// Returns the envelope of the only event of a pattern, in frames.
  private func envelope(
    _ duration: Double?, _ parameters: EventParameters, controls: [DynamicParameter] = [],
    rate: Double = 48_000
  ) throws -> Envelope {
    let event = HapticEvent(
      kind: .hapticContinuous, time: 0, duration: duration, parameters: parameters)
    let plan = try RenderPlan(
      compiling: HapticPattern(events: [event], parameters: controls), rate: rate)
    return plan.planView.value.voices[0].envelope
  }

  @Test(arguments: [(0, 0), (0.25, 0.04368), (0.5, 0.18182), (0.75, 0.618642), (1, 2)])
  func normalizedTimesGrowExponentially(normalized: Float, seconds: Double) {
    #expect(abs(EnvelopeTimes.seconds(normalized: normalized) - seconds) < 1e-5)
  }

  @Test func normalizedTimesAreClamped() {
    #expect(EnvelopeTimes.seconds(normalized: -3) == 0)
    #expect(EnvelopeTimes.seconds(normalized: 3) == 2)
  }

  @Test func edgesLastAtLeastAMillisecond() throws {
    #expect(
      try envelope(1, [:])
        == Envelope(riseEnd: 48, riseLevel: 1, releaseStart: 48_000, releaseLevel: 1, end: 48_048))
  }

  @Test func attackHoldReleaseFollowsTheirTimes() throws {
    #expect(
      try envelope(1, [.attackTime: 0.5, .releaseTime: 1, .decayTime: 1])
        == Envelope(
          riseEnd: 8_727, riseLevel: 1, releaseStart: 48_000, releaseLevel: 1, end: 144_000))
  }

  @Test func anUnsustainedEventEndsWhenItHasDecayed() throws {
    #expect(
      try envelope(2, [.attackTime: 0.5, .decayTime: 0.5, .releaseTime: 1, .sustained: 0])
        == Envelope(riseEnd: 8_727, riseLevel: 1, releaseStart: 8_727, releaseLevel: 1, end: 17_454)
    )
  }

  @Test func unfinishedAttackIsReleasedFromItsLevel() throws {
    #expect(
      try envelope(0.5, [.attackTime: 1])
        == Envelope(
          riseEnd: 24_000, riseLevel: 0.25, releaseStart: 24_000, releaseLevel: 0.25, end: 24_048))
  }

  @Test func unfinishedDecayIsReleasedFromItsLevel() throws {
    let decayingEnvelope = try envelope(1.001, [.decayTime: 1, .sustained: 0])
    #expect(decayingEnvelope.releaseStartFrame == 48_048)
    #expect(decayingEnvelope.releaseLevel == 0.5)
    #expect(decayingEnvelope.endFrame == 48_096)
  }

  @Test func timeControlsAreAddedAtTheOnset() throws {
    let withHapticControl = try envelope(
      1, [.attackTime: 0.2], controls: [controlStep(.hapticAttackTimeControl, 0.3, at: 0)])
    #expect(withHapticControl.riseEndFrame == 8_727)
    let withLaterControl = try envelope(
      1, [.attackTime: 0.2], controls: [controlStep(.hapticAttackTimeControl, 0.3, at: 0.1)])
    #expect(withLaterControl.riseEndFrame == 1_466)
    let withAudioControl = try envelope(
      1, [.attackTime: 0.2], controls: [controlStep(.audioAttackTimeControl, 0.3, at: 0)])
    #expect(withAudioControl.riseEndFrame == 1_466)
  }

  @Test func missingDurationIsThirtySeconds() throws {
    #expect(try envelope(nil, [:], rate: 8_000).releaseStartFrame == 240_000)
  }

  @Test func aDurationOfZeroIsSilence() throws {
    let plan = try RenderPlan(compiling: HapticPattern(events: [humEvent(0, 0)]))
    #expect(plan.plannedVoiceCount == 0)
  }

  @Test func levelIsLinearBetweenCorners() {
    let decayingEnvelope = Envelope(
      riseEnd: 4, riseLevel: 1, releaseStart: 8, releaseLevel: 0.5, end: 10)
    #expect(
      (0...11).map { decayingEnvelope.level(at: $0) } == [
        0, 0.25, 0.5, 0.75, 1, 0.875, 0.75, 0.625, 0.5, 0.25, 0, 0,
      ])
    #expect(decayingEnvelope.level(at: -1) == 0)
    #expect([0, 4, 8].map { decayingEnvelope.nextCornerFrame(after: $0) } == [4, 8, 10])
  }

  static let shapes:
    [(parameters: EventParameters, duration: Double, corners: [(Double, Double)])] = [
      (
        [.attackTime: 0.5, .releaseTime: 0.5], 0.5,
        [(0, 0), (2.0 / 11, 1), (0.5, 1), (0.5 + 2.0 / 11, 0)]
      ),
      ([.releaseTime: 0.25], 0.2, [(0, 0), (0.001, 1), (0.2, 1), (0.243_680_2, 0)]),
      ([.decayTime: 0.5, .sustained: 0], 1, [(0, 0), (0.001, 1), (0.001 + 2.0 / 11, 0)]),
    ]

  @Test(arguments: shapes.indices) func renderingFollowsTheEnvelope(index: Int) throws {
    let shape = Self.shapes[index]
    let reference = ReferenceEvent(
      durationSeconds: shape.duration, envelope: piecewiseLine(shape.corners))
    let samples = try render(HapticPattern(events: [humEvent(0, shape.duration, shape.parameters)]))
    #expect(reference.errorDecibels(of: samples) < -70)
  }
}
