import HapticModel
import HapticRender
import Synchronization
import TestSupport
import Testing

@testable import HapticPlayback

/// A simulation advances players as a render loop does, without rendering.
@Suite struct PlaybackSimulationTests {
  private static let periodSize = 64

  /// An engine with the same random players, commands, and calls for equal seeds.
  private struct Scenario {
    let engine = PlaybackEngine(routing: OutputRouting(channelCount: 2))
    private let seed: UInt64
    private(set) var players: [PatternPlayer] = []
    /// The records of the players, by their indices.
    private(set) var recordedChanges: [[PlayerChange]] = []
    private let renderPlayers: [RenderPlayer]

    /// Creates a scenario, and records the commands of its engine from the start.
    init(
      seed: UInt64, recorder: @escaping @Sendable (Int64, RecordedCommands) -> Void = { _, _ in }
    ) throws {
      self.seed = seed
      engine.setCommandRecorder(recorder)
      var generator = PatternGenerator(seed: seed)
      for _ in 0..<4 {
        let pattern = generator.pattern()
        let plan = try RenderPlan(compiling: pattern, samples: PatternGenerator.sounds)
        players.append(
          try engine.player(for: [plan], duration: pattern.durationSeconds, recordsChanges: true))
      }
      renderPlayers = players.map(\.audioRenderPlayer)
      recordedChanges = players.map { _ in [] }
    }

    /// Performs the calls of an application at a step of 10 periods.
    mutating func call(step: Int) throws {
      let player = players[step % players.count]
      switch step {
      case 1, 31: try RandomCommandTests.command(players, seed: seed &+ UInt64(step))
      case 4, 12, 40: try player.start()
      case 6: try player.schedule(risingCurve, at: .now)
      case 8: engine.setHapticsMuted(true)
      case 10: engine.setHapticsMuted(false)
      case 14: try player.loop(passCount: nil, end: 0.004)
      case 16: try player.pause()
      case 20: try player.resume()
      case 22: engine.strength = 0.4
      case 24: try player.cancel()
      case 26: try engine.setStrength(1, over: 0.2)
      case 28: try player.setPlaybackRate(0.31)
      case 34: try player.set(.hapticReleaseTimeControl, to: 0.5, at: .now)
      case 36: try player.seek(to: 0.05)
      case 50: players.removeFirst()
      default: break
      }
    }

    private var risingCurve: ParameterCurve {
      ParameterCurve(
        id: .hapticIntensityControl, time: 0,
        controlPoints: [
          ParameterCurve.ControlPoint(time: 0, value: 0.2),
          ParameterCurve.ControlPoint(time: 0.1, value: 1),
        ])
    }

    mutating func drainChanges() {
      for (index, player) in renderPlayers.enumerated() {
        recordedChanges[index] += player.drainChanges()
      }
    }

    /// The state that an application can observe.
    var state: [String] {
      let states = players.map { player in
        "\(player.phase) \(player.position) \(player.endCount) \(player.endFrame) "
          + "\(player.startFrame ?? -1) \(player.isWaitingToStart)"
      }
      return ["\(engine.position) \(engine.voiceCount) \(engine.loadedPlayerCount)"] + states
    }

    /// The recorded changes in a form that can be compared.
    var changes: [[String]] {
      recordedChanges.map { changes in
        changes.map { change in
          let intensity = change.liveValue(
            of: .hapticIntensityControl, at: change.outputFrame + 100)
          return
            "\(change.outputFrame) \(change.phase) \(change.jumpCount) \(change.jumpTargetFrame) "
            + "\(change.overlappingPassCount) \(change.passOriginFrame) \(change.playsHaptics) "
            + "\(change.playsAudio) \(change.position(at: change.outputFrame + 1_000)) "
            + "\(String(describing: intensity))"
        }
      }
    }
  }

  /// Advances a simulation by periods, in as few steps as possible.
  private func advance(
    _ simulation: PlaybackSimulation, of scenario: inout Scenario, to end: Int64
  ) {
    let periodSize = Int64(Self.periodSize)
    while scenario.engine.position < end {
      let nextChange = max(scenario.engine.position, simulation.nextStateChangeFrame ?? end)
      let nextPeriodEnd = max(
        (nextChange + periodSize - 1) / periodSize * periodSize,
        scenario.engine.position + periodSize)
      simulation.advance(frameCount: Int(min(end, nextPeriodEnd) - scenario.engine.position))
      scenario.drainChanges()
    }
  }

  @Test("Players, changes, and samples equal those of a rendering", arguments: 0..<60)
  func equalsRendering(seed: UInt64) throws {
    var rendered = try Scenario(seed: seed)
    let events = Locked<[(position: Int64, commands: RecordedCommands)]>([])
    var simulated = try Scenario(seed: seed) { position, commands in
      events.withLock { $0.append((position, commands)) }
    }
    let replayEngine = PlaybackEngine(routing: OutputRouting(channelCount: 2))
    let replay = CommandReplay()
    let playback = VirtualPlayback(rendered.engine, periodSize: Self.periodSize)
    let simulation = PlaybackSimulation(simulated.engine)
    let replayPlayback = VirtualPlayback(replayEngine, periodSize: Self.periodSize)

    let periodSeconds = Double(Self.periodSize) / 48_000
    for step in 0..<70 {
      try rendered.call(step: step)
      try simulated.call(step: step)
      for _ in 0..<10 {
        playback.advance(seconds: periodSeconds)
        rendered.drainChanges()
      }
      advance(simulation, of: &simulated, to: Int64(10 * (step + 1) * Self.periodSize))
      #expect(simulated.state == rendered.state, "step \(step)")
    }
    #expect(simulated.changes == rendered.changes)

    for (position, commands) in events.withLock({ $0 }) {
      replayPlayback.advance(seconds: Double(position - replayEngine.position) / 48_000)
      replayEngine.replay(commands, with: replay)
    }
    let remainingFrameCount = rendered.engine.position - replayEngine.position
    replayPlayback.advance(seconds: Double(remainingFrameCount) / 48_000)
    #expect(replayPlayback.sink.samples == playback.sink.samples)
    #expect(playback.sink.samples.contains { abs($0) > 0.01 })
  }

  @Test("The next change of a playing pattern is its end")
  func longPattern() throws {
    let engine = PlaybackEngine(routing: OutputRouting(channelCount: 1))
    let simulation = PlaybackSimulation(engine)
    let player = try engine.player(for: hum(3_600))
    #expect(simulation.nextStateChangeFrame == nil)
    try player.start()
    #expect(simulation.nextStateChangeFrame == 0)
    simulation.advance(frameCount: 64)
    let endFrame = try #require(simulation.nextStateChangeFrame)
    #expect(endFrame >= 3_600 * 48_000)
    simulation.advance(frameCount: Int(endFrame) - 65)
    #expect(player.phase == .playing)
    simulation.advance(frameCount: 1)
    #expect(player.phase == .idle)
    #expect(player.endFrame == endFrame)
    #expect(simulation.nextStateChangeFrame == nil)
  }
}
