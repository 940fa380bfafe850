import Foundation
import HapticPlayback
import HapticRender
import SoundFollowing
import SystemSupport
import TestSupport
import Testing

@testable import TemblorCommands

/// A capture source with its own clock, which delivers in periods and can be late.
private final class ScriptedSource: CaptureSource {
  let rate: Double
  let channelCount = 2
  private let time: VirtualTimeSource
  private let speed: Double
  private let period: Int
  private let hertz: Double
  private var deliveredFrameCount = 0
  /// Returns the lateness in seconds at a time.
  var lateness: (Double) -> Double = { _ in 0 }
  var events: [CaptureEvent] = []

  init(
    _ time: VirtualTimeSource, rate: Double = 48_000, partsPerMillion: Double = 0,
    period: Int = 240, hertz: Double = 50
  ) {
    self.time = time
    self.rate = rate
    self.period = period
    self.hertz = hertz
    speed = 1 + partsPerMillion * 1e-6
  }

  func read(into samples: inout [Float]) -> CaptureEvent? {
    let now = time.now.inSeconds
    let dueFrameCount = Int(max(0, now - lateness(now)) * rate * speed) / period * period
    for frame in deliveredFrameCount..<max(deliveredFrameCount, dueFrameCount) {
      let sample = Float(0.25 * sin(2 * .pi * hertz * Double(frame) / (rate * speed)))
      samples += [sample, sample]
    }
    deliveredFrameCount = max(deliveredFrameCount, dueFrameCount)
    return events.isEmpty ? nil : events.removeFirst()
  }
}

struct SoundFeedTests {
  /// Returns the samples that play for a source, and the feed at the end.
  private static func follow(
    _ seconds: Double, delay: Double = 0, period: Int = 240,
    _ makeSource: (VirtualTimeSource) -> ScriptedSource
  ) throws -> (samples: [Float], feed: SoundFeed) {
    let engine = PlaybackEngine()
    let playback = VirtualPlayback(engine, periodSize: period)
    // The feed has its own clock, so its iterations fall anywhere between the periods of the
    // output.
    let clock = VirtualTimeSource()
    let source = makeSource(clock)
    let options = FollowingOptions(conversionStyle: .bass, keepsVoices: true, keepsLevel: true)
    let feed = SoundFeed(
      source, options, outputRateHertz: engine.rate, period: Double(period) / engine.rate,
      delay: delay,
      time: clock
    ) { engine.position }
    try engine.attach(feed.liveVoice)
    while clock.now.inSeconds < seconds {
      _ = feed.runIteration()
      clock.advance(by: .roundedToNanoseconds(seconds: feed.iterationIntervalSeconds))
      while engine.positionSeconds < clock.now.inSeconds {
        playback.advance(seconds: Double(period) / engine.rate)
      }
    }
    return (playback.samples(), feed)
  }

  /// The maximum curvature, relative to a 50 Hz sine with the same peak as the samples.
  private static func relativeCurvature(_ samples: ArraySlice<Float>) -> Double {
    let values = Array(samples)
    let peak = values.reduce(0) { max($0, abs($1)) }
    let curvatures = values.indices.dropFirst(2).map {
      abs(values[$0] - 2 * values[$0 - 1] + values[$0 - 2])
    }
    let phasePerFrame = 2 * .pi * 50 / 48_000.0
    return Double(curvatures.max() ?? 0) / (Double(peak) * phasePerFrame * phasePerFrame)
  }

  @Test(arguments: [(48_000.0, 200.0), (48_000, -200), (44_100, 0)])
  func sourceWithAnotherClockPlaysWithoutGapsAndClicks(_ rate: Double, _ partsPerMillion: Double)
    throws
  {
    let (samples, feed) = try Self.follow(90) {
      ScriptedSource($0, rate: rate, partsPerMillion: partsPerMillion)
    }
    #expect(feed.liveVoice.underrunFrameCount == 0)
    #expect(feed.status.droppedFrameCount == 0)
    #expect(abs(try #require(feed.status.clockDriftPPM) - partsPerMillion) < 20)
    #expect(Self.relativeCurvature(samples[48_000...]) <= 1.1)
    #expect(samples[48_000...].reduce(0) { max($0, $1) } > 0.22)
  }

  /// On a busy machine, both clocks are read late, and the source delivers in bursts.
  @Test func equalClocksAreDetectedWithinHalfAMinute() throws {
    var generator = SplitMixGenerator(state: 3)
    let delays = (0..<4_000).map { _ in
      min(0.08, -0.008 * log(Double.random(in: 1e-6...1, using: &generator)))
    }
    let (_, feed) = try Self.follow(30) { time in
      let source = ScriptedSource(time)
      source.lateness = { delays[Int($0 * 100) % delays.count] }
      return source
    }
    #expect(abs(try #require(feed.status.clockDriftPPM)) <= 20)
  }

  @Test func driftIsUnknownAtFirst() throws {
    let (_, feed) = try Self.follow(5) { ScriptedSource($0) }
    #expect(feed.status.clockDriftPPM == nil)
  }

  @Test func delayShiftsTheSamples() throws {
    func onset(_ delay: Double) throws -> Int {
      let (samples, _) = try Self.follow(1, delay: delay) { ScriptedSource($0) }
      return samples.firstIndex { abs($0) > 0.05 } ?? 0
    }
    #expect(abs(try onset(0.15) - onset(0) - 7_200) <= 240)
  }

  @Test func sourceWithBurstsGetsALongerQueue() throws {
    // From 3 s on, the source delivers every 50 ms.
    let (samples, feed) = try Self.follow(20) { time in
      let source = ScriptedSource(time)
      source.lateness = { $0 < 3 ? 0 : $0.truncatingRemainder(dividingBy: 0.05) }
      return source
    }
    #expect(feed.liveVoice.queuedFrameCountAtStart > 800)
    #expect(Self.relativeCurvature(samples[480_000...]) <= 1.1)
  }

  @Test func backlogIsDropped() throws {
    // The source is up to 0.6 s late for two seconds, and then delivers everything at once.
    let (samples, feed) = try Self.follow(8) { time in
      let source = ScriptedSource(time)
      source.lateness = { $0 < 2 ? min(0.6, $0) : 0 }
      return source
    }
    #expect(feed.status.queuedFrameCount < 2_000)
    #expect(feed.status.droppedFrameCount > 20_000)
    // Only fades of 5 ms have a larger curvature.
    #expect(Self.relativeCurvature(samples[240_000...]) <= 1.1)
  }

  @Test func sourceEventsAreReported() throws {
    let time = VirtualTimeSource()
    let source = ScriptedSource(time)
    source.events = [.interrupted("gone"), .resumed(.seconds(2))]
    let feed = SoundFeed(
      source, FollowingOptions(), outputRateHertz: 48_000, period: 0.005, delay: 0, time: time
    ) { 0 }
    #expect(feed.runIteration() == .interrupted("gone"))
    #expect(feed.runIteration() == .resumed(.seconds(2)))
    #expect(feed.runIteration() == nil)
  }
}
