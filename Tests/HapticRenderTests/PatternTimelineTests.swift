import HapticModel
import HapticRender
import Testing

struct PatternTimelineTests {
  private let pattern = HapticPattern(
    events: [
      HapticEvent(
        kind: .hapticContinuous, time: 0.5, duration: 1,
        parameters: [.attackTime: 0.25, .releaseTime: 0.5]),
      HapticEvent(kind: .hapticTransient, time: 0.25, parameters: [.hapticSharpness: 0]),
      HapticEvent(kind: .audioContinuous, time: 2, duration: 0.5),
    ],
    parameters: [DynamicParameter(id: .hapticReleaseTimeControl, value: 0.25, time: 0.1)],
    curves: [
      ParameterCurve(
        id: .hapticSharpnessControl, time: 1,
        controlPoints: [.init(time: 0, value: 0), .init(time: 0.5, value: 0.5)])
    ])

  @Test func itEndsWhereTheRenderingEnds() throws {
    let timeline = try PatternTimeline(of: pattern)
    let plan = try RenderPlan(compiling: pattern)
    #expect(timeline.duration == Double(plan.length) / 48_000)
    #expect(timeline.events.map(\.end).max() == Double(plan.soundEnd) / 48_000)
  }

  @Test func eventsComeByTheirOnsetWithTheCornersOfTheirEnvelope() throws {
    let events = try PatternTimeline(of: pattern).events
    #expect(events.map(\.index) == [1, 0, 2])
    #expect(events.map(\.onset) == [0.25, 0.5, 2])
    // Two cycles at 80 Hz.
    #expect(events[0].end == 0.275)
    let corners = events[1].corners
    #expect(corners.map(\.level) == [0, 1, 1, 0])
    // A normalised attack of 0.25 is 44 ms; a release of 0.5 and 0.25 by its control is 0.62 s.
    #expect(abs(corners[1].time - 0.5437) < 0.0001)
    #expect(corners[2].time == 1.5)
    #expect(abs(corners[3].time - 2.1186) < 0.0001)
  }

  @Test func onlyControlsThatAreSetAreGiven() throws {
    let timeline = try PatternTimeline(of: pattern)
    #expect(timeline.control(.hapticIntensityControl) == nil)
    let segments = try #require(timeline.control(.hapticSharpnessControl)).segments
    #expect(segments.map(\.start) == [0, 1, 1.5])
    #expect(segments.map(\.value) == [0, 0, 0.5])
    #expect(abs(segments[1].slope - 1) < 1e-9)
  }
}
