import Synchronization
import TemblorLab
import Testing

@testable import HapticPlayback

/// Tasks that wait for the end of a player.
@Suite(.timeLimit(.minutes(30))) struct FinishedTests {
  private func hum(_ seconds: Double) -> HapticPattern {
    HapticPattern(events: [HapticEvent(kind: .hapticContinuous, time: 0, duration: seconds)])
  }

  private func taps(_ times: [Double]) -> HapticPattern {
    HapticPattern(events: times.map { HapticEvent(kind: .hapticTransient, time: $0) })
  }

  /// Starts a task that waits for the end of a player, and returns once the task is waiting.
  private func waiting(for player: PatternPlayer) async -> Task<Void, Never> {
    let before = player.firstCore.withState { $0.lastEndWaiterID }
    let task = Task { await player.finished }
    while player.firstCore.withState({ $0.lastEndWaiterID == before }), !Task.isCancelled {
      await Task.yield()
    }
    return task
  }

  @Test func finishedReturnsAtTheEnd() async throws {
    let engine = PlaybackEngine()
    let playback = VirtualPlayback(engine)
    let player = try engine.player(for: taps([0, 0.1]))
    try player.start()
    let hasReturned = Atomic(false)
    let task = await waiting(for: player)
    Task {
      await task.value
      hasReturned.store(true, ordering: .releasing)
    }
    playback.advance(seconds: 0.05)
    let isEarly = hasReturned.load(ordering: .acquiring)
    #expect(!isEarly)
    playback.advance(seconds: 0.5)
    await task.value
    #expect(player.endCount == 1)
  }

  @Test func everyWaitingTaskReturnsAtAStop() async throws {
    let engine = PlaybackEngine()
    let playback = VirtualPlayback(engine)
    let player = try engine.player(for: taps([0]))
    try player.loop(passCount: nil)
    try player.start()
    var tasks: [Task<Void, Never>] = []
    for _ in 0..<3 {
      tasks.append(await waiting(for: player))
    }
    playback.advance(seconds: 1)
    try player.stop()
    playback.advance(seconds: 0.1)
    for task in tasks {
      await task.value
    }
    #expect(player.phase == .idle)
  }

  @Test func finishedReturnsImmediatelyForAnIdlePlayer() async throws {
    let engine = PlaybackEngine()
    let player = try engine.player(for: taps([0]))
    await player.finished
    #expect(player.endCount == 0)
  }

  @Test func stoppingTheDriverResumesEveryTask() async throws {
    let engine = PlaybackEngine()
    let playback = VirtualPlayback(engine)
    let players = try (0..<3).map { _ in try engine.player(for: hum(10)) }
    var tasks: [Task<Void, Never>] = []
    for player in players {
      try player.start()
      tasks.append(await waiting(for: player))
    }
    playback.advance(seconds: 0.1)
    playback.stop()
    for task in tasks {
      await task.value
    }
    // Nothing plays any more, so a task that waits now need not wait either.
    await players[0].finished
    let latePlayer = try engine.player(for: hum(1))
    try latePlayer.start()
    await latePlayer.finished
    #expect(players.map(\.endCount) == [0, 0, 0])
  }

  @Test func releasingTheDriverResumesEveryTask() async throws {
    let engine = PlaybackEngine()
    var playback: VirtualPlayback? = VirtualPlayback(engine)
    let player = try engine.player(for: hum(10))
    try player.start()
    playback?.advance(seconds: 0.1)
    let task = await waiting(for: player)
    playback = nil
    await task.value
    #expect(player.endCount == 0)
  }

  @Test func canceledTaskReturnsAndOthersKeepWaiting() async throws {
    let engine = PlaybackEngine()
    let playback = VirtualPlayback(engine)
    let player = try engine.player(for: hum(1))
    try player.start()
    let canceledTask = await waiting(for: player)
    let otherTask = await waiting(for: player)
    canceledTask.cancel()
    await canceledTask.value
    #expect(player.firstCore.withState { $0.endWaiters.count } == 1)
    playback.advance(seconds: 2)
    await otherTask.value
    #expect(player.endCount == 1)
    #expect(player.firstCore.withState { $0.endWaiters.isEmpty })
  }

  @Test func startsOnAnotherThreadAreNeverMistakenForEnds() async throws {
    let engine = PlaybackEngine()
    let sink = NullSink(
      SinkFormat(rate: engine.rate, channelCount: 1, periodSize: 64, bufferSize: 256),
      time: VirtualTimeSource())
    let playback = try LivePlayback(engine, sink: sink)
    let player = try engine.player(for: taps([0]))
    for count in 1...40 {
      try player.start()
      await player.finished
      #expect(player.endCount == count)
    }
    try player.loop(passCount: nil)
    try player.start()
    let task = await waiting(for: player)
    playback.stopPlayback()
    await task.value
  }
}
