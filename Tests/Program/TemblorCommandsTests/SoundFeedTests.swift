import Foundation
import HapticPlayback
import HapticRender
import SoundFollowing
import SystemSupport
import TestSupport
import Testing

@testable import TemblorCommands

/// A source with a clock of its own, which delivers in periods, and late where a test wants it.
private final class ScriptedSource: CaptureSource {
  let rate: Double
  let channelCount = 2
  private let time: VirtualTimeSource
  private let speed: Double
  private let period: Int
  private let hertz: Double
  private var given = 0
  /// Seconds of its clock that it holds back, by time.
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
    let due = Int(max(0, now - lateness(now)) * rate * speed) / period * period
    for frame in given..<max(given, due) {
      let sample = Float(0.25 * sin(2 * .pi * hertz * Double(frame) / (rate * speed)))
      samples += [sample, sample]
    }
    given = max(given, due)
    return events.isEmpty ? nil : events.removeFirst()
  }
}

struct SoundFeedTests {
  /// What is felt of a source, and what the feed tells at the end.
  private static func follow(
    _ seconds: Double, delay: Double = 0, period: Int = 240,
    _ make: (VirtualTimeSource) -> ScriptedSource
  ) throws -> (samples: [Float], feed: SoundFeed) {
    let engine = PlaybackEngine()
    let playback = VirtualPlayback(engine, periodSize: period)
    // The feed's own clock: its turns lie anywhere between the periods of the output.
    let clock = VirtualTimeSource()
    let source = make(clock)
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
  private static func bend(_ samples: ArraySlice<Float>) -> Double {
    let values = Array(samples)
    let peak = values.reduce(0) { max($0, abs($1)) }
    let bends = values.indices.dropFirst(2).map {
      abs(values[$0] - 2 * values[$0 - 1] + values[$0 - 2])
    }
    let turn = 2 * .pi * 50 / 48_000.0
    return Double(bends.max() ?? 0) / (Double(peak) * turn * turn)
  }

  @Test(arguments: [(48_000.0, 200.0), (48_000, -200), (44_100, 0)])
  func aSourceOfAnotherClockSoundsWithoutGapsAndClicks(_ rate: Double, _ partsPerMillion: Double)
    throws
  {
    let (samples, feed) = try Self.follow(90) {
      ScriptedSource($0, rate: rate, partsPerMillion: partsPerMillion)
    }
    #expect(feed.liveVoice.underrunFrameCount == 0)
    #expect(feed.status.droppedFrameCount == 0)
    #expect(abs(try #require(feed.status.clockDriftPPM) - partsPerMillion) < 20)
    #expect(Self.bend(samples[48_000...]) <= 1.1)
    #expect(samples[48_000...].reduce(0) { max($0, $1) } > 0.22)
  }

  /// A busy machine reads both clocks late, and the source comes in bursts.
  @Test func equalClocksAreFoundEqualWithinHalfAMinute() throws {
    var chance = SeededGenerator(seed: 3)
    let delays = (0..<4_000).map { _ in
      min(0.08, -0.008 * log(Double.random(in: 1e-6...1, using: &chance)))
    }
    let (_, feed) = try Self.follow(30) { time in
      let source = ScriptedSource(time)
      source.lateness = { delays[Int($0 * 100) % delays.count] }
      return source
    }
    #expect(abs(try #require(feed.status.clockDriftPPM)) <= 20)
  }

  @Test func theDriftOfAYoungSourceIsUnknown() throws {
    let (_, feed) = try Self.follow(5) { ScriptedSource($0) }
    #expect(feed.status.clockDriftPPM == nil)
  }

  @Test func aDelayIsFelt() throws {
    func onset(_ delay: Double) throws -> Int {
      let (samples, _) = try Self.follow(1, delay: delay) { ScriptedSource($0) }
      return samples.firstIndex { abs($0) > 0.05 } ?? 0
    }
    #expect(abs(try onset(0.15) - onset(0) - 7_200) <= 240)
  }

  @Test func aSourceThatComesInBurstsGetsAReserve() throws {
    // From 3 s on it comes in pieces of 50 ms.
    let (samples, feed) = try Self.follow(20) { time in
      let source = ScriptedSource(time)
      source.lateness = { $0 < 3 ? 0 : $0.truncatingRemainder(dividingBy: 0.05) }
      return source
    }
    #expect(feed.liveVoice.queuedFrameCountAtStart > 800)
    #expect(Self.bend(samples[480_000...]) <= 1.1)
  }

  @Test func aBacklogIsLeftOut() throws {
    // A source that is 0.6 s late at first, and then gives everything at once.
    let (samples, feed) = try Self.follow(8) { time in
      let source = ScriptedSource(time)
      source.lateness = { $0 < 2 ? min(0.6, $0) : 0 }
      return source
    }
    #expect(feed.status.queuedFrameCount < 2_000)
    #expect(feed.status.droppedFrameCount > 20_000)
    // Fades of 5 ms are all that bends more.
    #expect(Self.bend(samples[240_000...]) <= 1.1)
  }

  @Test func whatHappensToTheSourceIsTold() throws {
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
