import HapticFormats
import CRealtimeGuard
import HapticModel
import HapticRender
import ShippedFiles
import TestSupport
import Testing

/// Live rendering under the realtime sanitizer: every pattern, under every command.
@Suite struct LiveRealtimeTests {
  @Test(arguments: ShippedPatterns.names) func playingUnderCommandsIsRealtimeSafe(name: String)
    throws
  {
    let text = ShippedPatterns.text(named: name) ?? []
    let pattern = try AHAPDocument(text: text, name: name).read().pattern
    try play([pattern, pattern], seed: UInt64(name.utf8.reduce(0) { $0 &* 31 &+ UInt64($1) }))
  }

  @Test(arguments: 0..<10) func everyKindOfEventUnderCommandsIsRealtimeSafe(seed: UInt64) throws {
    var generator = PatternGenerator(seed: seed)
    try play((0..<6).map { _ in generator.pattern() }, seed: seed)
  }

  /// Plays patterns for a second and a half on five channels, one of which drives a shaker, with
  /// every block inside the guard.
  private func play(_ patterns: [HapticPattern], seed: UInt64) throws {
    let routing = OutputRouting(channels: [
      .init(hapticBus: 0, audioSide: .left), .init(hapticBus: 0, audioSide: .right),
      .init(hapticBus: 0, delayFrameCount: 100, isInverted: true), .init(audioSide: .both),
      .init(hapticBus: 0, audioSide: .both, transducer: .weakShaker),
    ])
    let port = RendererPort(channelCount: 5)
    var renderer = Renderer(
      rate: 48_000, settings: RenderSettings(routing: routing), port: port, isGateOpen: false)
    let recording = AudioBuffer(
      interleaved: (0..<30_000).map { Float($0 % 100) / 200 - 0.25 }, channelCount: 1)
    let plans =
      try patterns.map { try RenderPlan(compiling: $0, samples: PatternGenerator.sounds) } + [
        RenderPlan(recording: recording, rate: 48_000)
      ]
    let players = plans.map { RenderPlayer(plan: $0) }
    let cuePoints = plans.flatMap { plan in
      (0..<100).map { SharedCuePoint(of: plan, at: Int64($0 * 300)) }
    }
    var unusedCuePoints = cuePoints
    #expect(port.send(players.map { .add($0) }))
    var generator = SplitMixGenerator(state: seed)
    var block = [Float](repeating: 0, count: 5 * 64)
    for blockIndex in 0..<1_125 {
      if blockIndex % 4 == 0, let index = players.indices.randomElement(using: &generator) {
        let player = players[index]
        let time = Int64(blockIndex * 64 + Int.random(in: 0..<200, using: &generator))
        _ = port.send([
          command(for: player, at: time, &unusedCuePoints, in: cuePoints, index: index, &generator)
        ]
        )
      }
      guardedRender(&renderer, &block, blockIndex: blockIndex)
    }
    #expect(port.send(players.map { .remove($0) }))
    guardedRender(&renderer, &block, blockIndex: 1)
    #expect(players.allSatisfy { $0.isReleased })
    withExtendedLifetime(cuePoints) {}
  }

  private func guardedRender(_ renderer: inout Renderer, _ block: inout [Float], blockIndex: Int) {
    var span = block.mutableSpan
    crt_guard_enter()
    if blockIndex % 100 == 0 {
      renderer.moveGate(to: 1)
    }
    renderer.render(into: &span)
    if blockIndex % 500 == 499 {
      renderer.skip(frameCount: 5_000)
      if renderer.beginIdle() > 0 {
        _ = renderer.skipIdle(frameCount: 3_000)
      }
      renderer.endIdle()
      renderer.closeGate()
    }
    crt_guard_exit()
  }

  /// Removes and returns a cue point in the plan of a player that no command has used.
  private func cuePoint(
    of index: Int, in cuePoints: [SharedCuePoint], _ unusedCuePoints: inout [SharedCuePoint]
  )
    -> SharedCuePoint?
  {
    let cuePointsOfPlayer = cuePoints[index * 100..<(index + 1) * 100]
    let unusedIndex = unusedCuePoints.firstIndex { cuePoint in
      cuePointsOfPlayer.contains { $0 === cuePoint }
    }
    return unusedIndex.map { unusedCuePoints.remove(at: $0) }
  }

  private func command(
    for player: RenderPlayer, at time: Int64, _ unusedCuePoints: inout [SharedCuePoint],
    in cuePoints: [SharedCuePoint],
    index: Int, _ generator: inout SplitMixGenerator
  ) -> RenderCommand {
    switch Int.random(in: 0..<14, using: &generator) {
    case 0...3:
      return .start(player, at: time)
    case 4:
      return .stop(player, at: time)
    case 5:
      return .pause(player, at: time)
    case 6:
      return .resume(player, at: time)
    case 7:
      return cuePoint(of: index, in: cuePoints, &unusedCuePoints).map {
        .seek(player, to: $0, at: time)
      }
        ?? .start(player, at: time)
    case 8:
      let start =
        Bool.random(using: &generator) ? cuePoint(of: index, in: cuePoints, &unusedCuePoints) : nil
      return .loop(player, passCount: nil, from: start, end: Int64(time % 9_000) + 480, at: time)
    case 9:
      return .playbackRate(player, Double.random(in: 0.3...3, using: &generator), at: time)
    case 10:
      return .gain(player, Double.random(in: 0...1, using: &generator), at: time)
    case 11:
      return .control(
        player, DynamicParameterID.allCases.randomElement(using: &generator) ?? .audioPanControl,
        value: 0.5, slope: 1e-5,
        at: time)
    case 12:
      return .masterGain(Double.random(in: 0.2...1, using: &generator), over: 480, at: time)
    default:
      return .cancel(player)
    }
  }
}
