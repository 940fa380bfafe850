import HapticModel
import HapticPlayback
import HapticRender
import TestSupport
import Testing

/// Real threads; worth most under the thread sanitizer.
@Suite(.timeLimit(.minutes(30))) struct ThreadTests {
  /// When whatever should have happened by then counts as never happening.
  private let deadline = ContinuousClock.now + .seconds(540)

  private func playback(
    _ engine: PlaybackEngine, _ handler: @escaping LivePlayback.EventHandler = { _ in }
  )
    throws -> LivePlayback
  {
    // On virtual time the render thread never waits.
    let sink = NullSink(
      SinkFormat(
        rate: engine.rate, channelCount: engine.routing.channels.count, periodSize: 64,
        bufferSize: 256),
      time: VirtualTimeSource())
    return try LivePlayback(engine, sink: sink, eventHandler: handler)
  }

  @Test func eightThreadsOfRandomCommandsLeaveNothingBehind() async throws {
    let engine = PlaybackEngine()
    let playback = try playback(engine)
    let ends = Counter()
    let shared = try (0..<4).map { try engine.player(for: taps([0, 0.05 * Double($0)])) }
    for player in shared {
      player.endHandler = { ends.increase() }
    }
    await withTaskGroup(of: Void.self) { group in
      for thread in 0..<8 {
        group.addTask { command(shared, engine, seed: UInt64(thread)) }
      }
    }
    for player in shared {
      try retrying { try player.cancel() }
      try retrying { try player.loop(passCount: 1) }
      try retrying { try player.setPlaybackRate(1) }
      let before = player.endCount
      try retrying { try player.start() }
      await player.ended(after: before)
      #expect(player.endCount > before)
    }
    let (updates, continuation) = AsyncStream.makeStream(of: Void.self)
    engine.updateHandler = { continuation.yield() }
    continuation.yield()
    for await _ in updates where engine.loadedPlayerCount <= shared.count {
      break
    }
    #expect(engine.loadedPlayerCount <= shared.count)
    playback.stopPlayback()
    #expect(playback.hasEnded)
    #expect(ends.value == shared.reduce(0) { $0 + $1.endCount })
  }

  /// Sends a command again until there is space.
  private func retrying(_ send: () throws -> Void) throws {
    while true {
      do {
        return try send()
      } catch let error as PlaybackError {
        guard error.kind == .tooManyCommands, ContinuousClock.now < deadline else { throw error }
      }
    }
  }

  private func command(_ shared: [PatternPlayer], _ engine: PlaybackEngine, seed: UInt64) {
    var numbers = SeededGenerator(seed: seed + 1)
    var own: PatternPlayer?
    for _ in 0..<400 {
      guard let player = Bool.random(using: &numbers) ? own : shared.randomElement(using: &numbers)
      else {
        own = try? engine.player(for: hum(0.1))
        continue
      }
      let time = PlaybackTime.frame(engine.position + Int64.random(in: -500...500, using: &numbers))
      switch Int.random(in: 0..<13, using: &numbers) {
      case 0...2: try? player.start(at: time)
      case 3: try? player.stop(at: time)
      case 4: try? player.pause(at: time)
      case 5: try? player.resume(at: time)
      case 6: try? player.seek(to: 0.03, at: time)
      case 7: try? player.set(.hapticIntensityControl, to: 0.7, at: time)
      case 8: try? player.setPlaybackRate(1.5, at: time)
      case 9: try? player.setMuted(Bool.random(using: &numbers), at: time)
      case 10: engine.strength = Float.random(in: 0...1, using: &numbers)
      case 11: try? player.loop(passCount: 2, at: time)
      default: own = nil
      }
    }
  }

  @Test func theEndOfASinkIsTold() async throws {
    let engine = PlaybackEngine()
    let sink = ScriptedSink([.ready(frameCount: 64), .ended])
    sink.notices = [SinkEvent(.failed, text: "unplugged")]
    let (events, continuation) = AsyncStream.makeStream(of: LivePlayback.Event.self)
    let playback = try LivePlayback(engine, sink: sink, time: VirtualTimeSource()) { event in
      continuation.yield(event)
      if event == .ended {
        continuation.finish()
      }
    }
    var told: [LivePlayback.Event] = []
    for await event in events {
      told.append(event)
    }
    #expect(told == [.sinkEvent(SinkEvent(.failed, text: "unplugged")), .ended])
    playback.stopPlayback()
  }
}
