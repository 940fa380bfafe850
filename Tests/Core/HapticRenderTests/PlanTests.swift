import HapticModel
import RealtimeMemory
import Testing

@testable import HapticRender

@Suite struct PlanTests {
  private func compilationError(of pattern: HapticPattern, rate: Double = 48_000) -> RenderError? {
    do throws(RenderError) {
      _ = try RenderPlan(compiling: pattern, rate: rate)
      return nil
    } catch {
      return error
    }
  }

  @Test(arguments: [0, 7_999, 192_001, -48_000, .infinity, .nan])
  func ratesOutsideTheRangeAreRefused(rate: Double) {
    #expect(
      compilationError(of: HapticPattern(), rate: rate)
        == RenderError(
          kind: .rateOutOfRange,
          description: "invalid sample rate \(rate) Hz: expected 8000 to 192000"))
  }

  @Test(arguments: [8_000, 192_000]) func ratesAtTheBoundsArePossible(rate: Double) {
    #expect(compilationError(of: HapticPattern(), rate: rate) == nil)
  }

  @Test(arguments: [-0.001, .nan, .infinity, -.infinity]) func invalidTimesAreRefused(
    time: Double
  ) {
    let expected = RenderError(
      kind: .timeOutOfRange, eventReference: EventReference(eventIndex: 1),
      description: "event 2: time or duration is negative or NaN")
    #expect(compilationError(of: HapticPattern(events: [tapEvent(), humEvent(time)])) == expected)
    #expect(
      compilationError(of: HapticPattern(events: [tapEvent(), humEvent(0, time)])) == expected)
  }

  @Test func moreThanADayIsRefused() {
    #expect(
      compilationError(of: HapticPattern(events: [humEvent(86_000, 400.5)]))
        == RenderError(
          kind: .patternTooLong, eventReference: EventReference(eventIndex: 0),
          description: "event 1 ends at 86400.5 s; patterns are limited to one day (86400 s)"))
    #expect(compilationError(of: HapticPattern(events: [humEvent(86_000, 400)])) == nil)
  }

  @Test func controlsWithInvalidOrLateTimesAreRefused() {
    let latePattern = HapticPattern(parameters: [controlStep(.audioPanControl, 0, at: 1e9)])
    #expect(
      compilationError(of: latePattern)
        == RenderError(
          kind: .patternTooLong,
          description:
            "parameter 1 starts at 1000000000.0 s; patterns are limited to one day (86400 s)"))
    let patternWithoutTime = HapticPattern(curves: [curve(.audioPanControl, at: .nan, [(0, 0)])])
    #expect(
      compilationError(of: patternWithoutTime)
        == RenderError(kind: .timeOutOfRange, description: "curve 1: time is NaN or infinite"))
    #expect(
      compilationError(of: HapticPattern(parameters: [controlStep(.audioPanControl, 0, at: -1)]))
        == nil)
  }

  @Test func aMissingSoundIsRefused() {
    let event = HapticEvent(
      kind: .audioCustom, time: 0, waveform: AudioWaveform(path: "é\n\u{9B}.wav"))
    #expect(
      compilationError(of: HapticPattern(events: [event]))
        == RenderError(
          kind: .sampleMissing, eventReference: EventReference(eventIndex: 0),
          description: #"event 1: sound file "é\n\u{009B}.wav" was not loaded"#))
  }

  @Test func aHundredThousandEventsCompile() throws {
    let events = (0..<100_000).map { (index: Int) -> HapticEvent in
      index % 2 == 0 ? tapEvent(Double(index) * 0.01) : humEvent(Double(index) * 0.01, 0.05)
    }
    let plan = try RenderPlan(compiling: HapticPattern(events: events.reversed()), rate: 8_000)
    #expect(plan.eventCount == 100_000)
    #expect(plan.plannedVoiceCount == 100_000)
    #expect(plan.maximumVoiceCount < 12)
    #expect(plan.loopFrameCount == 8_000 * 1_000 - 80 + 400)
    let onsets = (0..<plan.plannedVoiceCount).map { plan.planView.value.voices[$0].onsetFrame }
    #expect(onsets == onsets.sorted())
  }

  @Test func onlySimultaneousVoicesAreCounted() throws {
    let simultaneousEvents = HapticPattern(events: (0..<9).map { _ in humEvent(0, 0.1) })
    #expect(try RenderPlan(compiling: simultaneousEvents).maximumVoiceCount == 9)
    let separateEvents = HapticPattern(events: (0..<9).map { humEvent(Double($0), 0.1) })
    #expect(try RenderPlan(compiling: separateEvents).maximumVoiceCount == 1)
    #expect(try RenderPlan(compiling: HapticPattern()).maximumVoiceCount == 0)
  }

  @Test func rendererUsesAtMostTheCountedVoices() throws {
    let plan = try RenderPlan(compiling: earthquakePattern)
    var rendering = OfflineRenderer(plan: plan)
    var block = [Float](repeating: 0, count: 8_192)
    var span = block.mutableSpan
    while rendering.read(into: &span) > 0 {}
    #expect(rendering.statistics.peakVoiceCount > 0)
    #expect(rendering.statistics.peakVoiceCount <= plan.maximumVoiceCount)
  }

  @Test func planHasTheBusesOfItsEvents() throws {
    let tone = HapticEvent(kind: .audioContinuous, time: 0, duration: 1)
    let plan = try RenderPlan(compiling: HapticPattern(events: [tone]))
    #expect(!plan.hasHaptics && plan.hasAudio)
    let hapticPlan = try RenderPlan(compiling: HapticPattern(events: [tapEvent()]))
    #expect(hapticPlan.hasHaptics && !hapticPlan.hasAudio)
  }
}

struct PatternTimelineTests {
  private let pattern = HapticPattern(
    events: [
      HapticEvent(
        kind: .hapticContinuous, time: 0.5, duration: 1,
        parameters: [.attackTime: 0.25, .releaseTime: 0.5]),
      HapticEvent(kind: .hapticTransient, time: 0.25, parameters: [.hapticSharpness: 0]),
      HapticEvent(kind: .audioContinuous, time: 2, duration: 0.5),
    ], parameters: [DynamicParameter(id: .hapticReleaseTimeControl, value: 0.25, time: 0.1)],
    curves: [
      ParameterCurve(
        id: .hapticSharpnessControl, time: 1,
        controlPoints: [.init(time: 0, value: 0), .init(time: 0.5, value: 0.5)])
    ])

  @Test func timelineEndsWithTheRendering() throws {
    let timeline = try PatternTimeline(of: pattern)
    let plan = try RenderPlan(compiling: pattern)
    #expect(timeline.durationSeconds == Double(plan.frameCount) / 48_000)
    #expect(timeline.events.map(\.endSeconds).max() == Double(plan.soundEndFrame) / 48_000)
  }

  @Test func eventsAreInOrderOfOnsetWithTheirEnvelopeCorners() throws {
    let events = try PatternTimeline(of: pattern).events
    #expect(events.map(\.eventIndex) == [1, 0, 2])
    #expect(events.map(\.onsetSeconds) == [0.25, 0.5, 2])
    // Two cycles at 80 Hz.
    #expect(events[0].endSeconds == 0.275)
    let corners = events[1].corners
    #expect(corners.map(\.amplitudeFactor) == [0, 1, 1, 0])
    // A normalized attack of 0.25 is 44 ms. A release of 0.5, with 0.25 by its control, is 0.62 s.
    #expect(abs(corners[1].seconds - 0.5437) < 0.0001)
    #expect(corners[2].seconds == 1.5)
    #expect(abs(corners[3].seconds - 2.1186) < 0.0001)
  }

  @Test func onlyUsedControlsHaveATimeline() throws {
    let timeline = try PatternTimeline(of: pattern)
    #expect(timeline.controlTimeline(for: .hapticIntensityControl) == nil)
    let segments = try #require(timeline.controlTimeline(for: .hapticSharpnessControl)).segments
    #expect(segments.map(\.startPosition) == [0, 1, 1.5])
    #expect(segments.map(\.startValue) == [0, 0, 0.5])
    #expect(abs(segments[1].slopePerPositionUnit - 1) < 1e-9)
  }
}
