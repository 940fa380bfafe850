import HapticModel
import HapticPlayback
import HapticRender
import TestSupport
import Testing

/// Playback with real threads, mainly for runs under the thread sanitizer.
@Suite(.timeLimit(.minutes(30))) struct ThreadTests {
  /// The time by which every expected event must have happened.
  private let deadline = ContinuousClock.now + HangLimit.duration

  private func playback(
    _ engine: PlaybackEngine, _ handler: @escaping LivePlayback.EventHandler = { _ in }
  )
    throws -> LivePlayback
  {
    // In virtual time, the render thread never waits.
    let sink = NullSink(
      SinkFormat(
        rate: engine.rate, channelCount: engine.routing.channels.count, periodSize: 64,
        bufferSize: 256),
      time: VirtualTimeSource())
    return try LivePlayback(engine, sink: sink, eventHandler: handler)
  }

  @Test func randomCommandsOfEightThreadsLeaveNoPlayersLoaded() async throws {
    let engine = PlaybackEngine()
    let playback = try playback(engine)
    let endCounter = Counter()
    let players = try (0..<4).map { try engine.player(for: taps([0, 0.05 * Double($0)])) }
    for player in players {
      player.endHandler = { endCounter.increment() }
    }
    await withTaskGroup(of: Void.self) { group in
      for thread in 0..<8 {
        group.addTask { sendRandomCommands(players, engine, seed: UInt64(thread)) }
      }
    }
    for player in players {
      try retrying { try player.cancel() }
      try retrying { try player.loop(passCount: 1) }
      try retrying { try player.setPlaybackRate(1) }
      let previousEndCount = player.endCount
      try retrying { try player.start() }
      await player.ended(after: previousEndCount)
      #expect(player.endCount > previousEndCount)
    }
    let (updates, continuation) = AsyncStream.makeStream(of: Void.self)
    engine.updateHandler = { continuation.yield() }
    continuation.yield()
    for await _ in updates where engine.loadedPlayerCount <= players.count {
      break
    }
    #expect(engine.loadedPlayerCount <= players.count)
    playback.stopPlayback()
    #expect(playback.hasEnded)
    #expect(endCounter.count == players.reduce(0) { $0 + $1.endCount })
  }

  /// Sends a command repeatedly until the queue has space.
  private func retrying(_ send: () throws -> Void) throws {
    while true {
      do {
        return try send()
      } catch let error as PlaybackError {
        guard error.kind == .tooManyCommands, ContinuousClock.now < deadline else { throw error }
      }
    }
  }

  private func sendRandomCommands(
    _ players: [PatternPlayer], _ engine: PlaybackEngine, seed: UInt64
  ) {
    var generator = SplitMixGenerator(state: seed + 1)
    var privatePlayer: PatternPlayer?
    for _ in 0..<400 {
      guard
        let player = Bool.random(using: &generator)
          ? privatePlayer : players.randomElement(using: &generator)
      else {
        privatePlayer = try? engine.player(for: hum(0.1))
        continue
      }
      let time = PlaybackTime.frame(
        engine.position + Int64.random(in: -500...500, using: &generator))
      switch Int.random(in: 0..<13, using: &generator) {
      case 0...2: try? player.start(at: time)
      case 3: try? player.stop(at: time)
      case 4: try? player.pause(at: time)
      case 5: try? player.resume(at: time)
      case 6: try? player.seek(to: 0.03, at: time)
      case 7: try? player.set(.hapticIntensityControl, to: 0.7, at: time)
      case 8: try? player.setPlaybackRate(1.5, at: time)
      case 9: try? player.setMuted(Bool.random(using: &generator), at: time)
      case 10: engine.strength = Float.random(in: 0...1, using: &generator)
      case 11: try? player.loop(passCount: 2, at: time)
      default: privatePlayer = nil
      }
    }
  }

  @Test func endOfASinkIsReported() async throws {
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
    var receivedEvents: [LivePlayback.Event] = []
    for await event in events {
      receivedEvents.append(event)
    }
    #expect(receivedEvents == [.sinkEvent(SinkEvent(.failed, text: "unplugged")), .ended])
    playback.stopPlayback()
  }
}
