import HapticModel
import RealtimeMemory
import Testing

@testable import HapticRender

@Suite struct EnvelopeTests {
  /// The outline of the only event of a pattern, in frames.
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
  func normalisedTimesGrowExponentially(normalised: Float, seconds: Double) {
    #expect(abs(EnvelopeTimes.seconds(normalized: normalised) - seconds) < 1e-5)
  }

  @Test func normalisedTimesAreClamped() {
    #expect(EnvelopeTimes.seconds(normalized: -3) == 0)
    #expect(EnvelopeTimes.seconds(normalized: 3) == 2)
  }

  @Test func anEdgeWithoutATimeLastsAMillisecond() throws {
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

  @Test func anUnfinishedAttackIsReleasedFromWhereItIs() throws {
    #expect(
      try envelope(0.5, [.attackTime: 1])
        == Envelope(
          riseEnd: 24_000, riseLevel: 0.25, releaseStart: 24_000, releaseLevel: 0.25, end: 24_048))
  }

  @Test func anUnfinishedDecayIsReleasedFromWhereItIs() throws {
    let outline = try envelope(1.001, [.decayTime: 1, .sustained: 0])
    #expect(outline.releaseStartFrame == 48_048)
    #expect(outline.releaseLevel == 0.5)
    #expect(outline.endFrame == 48_096)
  }

  @Test func timeControlsAreAddedAtTheOnset() throws {
    let sum = try envelope(
      1, [.attackTime: 0.2], controls: [controlStep(.hapticAttackTimeControl, 0.3, at: 0)])
    #expect(sum.riseEndFrame == 8_727)
    let later = try envelope(
      1, [.attackTime: 0.2], controls: [controlStep(.hapticAttackTimeControl, 0.3, at: 0.1)])
    #expect(later.riseEndFrame == 1_466)
    let audio = try envelope(
      1, [.attackTime: 0.2], controls: [controlStep(.audioAttackTimeControl, 0.3, at: 0)])
    #expect(audio.riseEndFrame == 1_466)
  }

  @Test func aMissingDurationIsThirtySeconds() throws {
    #expect(try envelope(nil, [:], rate: 8_000).releaseStartFrame == 240_000)
  }

  @Test func aDurationOfZeroIsSilence() throws {
    let plan = try RenderPlan(compiling: HapticPattern(events: [humEvent(0, 0)]))
    #expect(plan.plannedVoiceCount == 0)
  }

  @Test func levelsBetweenCornersAreStraightLines() {
    let outline = Envelope(riseEnd: 4, riseLevel: 1, releaseStart: 8, releaseLevel: 0.5, end: 10)
    #expect(
      (0...11).map { outline.level(at: $0) } == [
        0, 0.25, 0.5, 0.75, 1, 0.875, 0.75, 0.625, 0.5, 0.25, 0, 0,
      ])
    #expect(outline.level(at: -1) == 0)
    #expect([0, 4, 8].map { outline.nextCornerFrame(after: $0) } == [4, 8, 10])
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

  @Test(arguments: shapes.indices) func theSoundHasTheOutline(index: Int) throws {
    let shape = Self.shapes[index]
    let reference = ReferenceEvent(
      durationSeconds: shape.duration, envelope: piecewiseLine(shape.corners))
    let samples = try render(HapticPattern(events: [humEvent(0, shape.duration, shape.parameters)]))
    #expect(reference.errorDecibels(of: samples) < -70)
  }
}
