import HapticFormats
import CRealtimeGuard
import HapticModel
import HapticRender
import ShippedFiles
import TestSupport
import Testing

/// Live rendering under the realtime sanitizer: every pattern, under every command.
@Suite struct LiveRealtimeTests {
  @Test(arguments: ShippedPatterns.names) func playingUnderCommandsWaitsForNothing(name: String)
    throws
  {
    let text = ShippedPatterns.text(named: name) ?? []
    let pattern = try AHAPDocument(text: text, name: name).read().pattern
    try play([pattern, pattern], seed: UInt64(name.utf8.reduce(0) { $0 &* 31 &+ UInt64($1) }))
  }

  @Test(arguments: 0..<10) func everyKindOfEventUnderCommandsWaitsForNothing(seed: UInt64) throws {
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
    let link = RendererPort(channelCount: 5)
    var renderer = Renderer(
      rate: 48_000, settings: RenderSettings(routing: routing), port: link, isGateOpen: false)
    let recording = AudioBuffer(
      interleaved: (0..<30_000).map { Float($0 % 100) / 200 - 0.25 }, channelCount: 1)
    let plans =
      try patterns.map { try RenderPlan(compiling: $0, samples: PatternGenerator.sounds) } + [
        RenderPlan(recording: recording, rate: 48_000)
      ]
    let players = plans.map { RenderPlayer(plan: $0) }
    let entries = plans.flatMap { plan in
      (0..<100).map { SharedCuePoint(of: plan, at: Int64($0 * 300)) }
    }
    var unused = entries
    #expect(link.send(players.map { .add($0) }))
    var numbers = SplitMixGenerator(state: seed)
    var block = [Float](repeating: 0, count: 5 * 64)
    for turn in 0..<1_125 {
      if turn % 4 == 0, let index = players.indices.randomElement(using: &numbers) {
        let player = players[index]
        let time = Int64(turn * 64 + Int.random(in: 0..<200, using: &numbers))
        _ = link.send([command(for: player, at: time, &unused, in: entries, index: index, &numbers)]
        )
      }
      guardedRender(&renderer, &block, turn: turn)
    }
    #expect(link.send(players.map { .remove($0) }))
    guardedRender(&renderer, &block, turn: 1)
    #expect(players.allSatisfy { $0.isReleased })
    withExtendedLifetime(entries) {}
  }

  private func guardedRender(_ renderer: inout Renderer, _ block: inout [Float], turn: Int) {
    var span = block.mutableSpan
    crt_guard_enter()
    if turn % 100 == 0 {
      renderer.moveGate(to: 1)
    }
    renderer.render(into: &span)
    if turn % 500 == 499 {
      renderer.skip(frameCount: 5_000)
      if renderer.beginIdle() > 0 {
        _ = renderer.skipIdle(frameCount: 3_000)
      }
      renderer.endIdle()
      renderer.closeGate()
    }
    crt_guard_exit()
  }

  /// A place in a player's plan that no command has had yet.
  private func entry(of index: Int, in entries: [SharedCuePoint], _ unused: inout [SharedCuePoint])
    -> SharedCuePoint?
  {
    let own = entries[index * 100..<(index + 1) * 100]
    let place = unused.firstIndex { entry in own.contains { $0 === entry } }
    return place.map { unused.remove(at: $0) }
  }

  private func command(
    for player: RenderPlayer, at time: Int64, _ unused: inout [SharedCuePoint],
    in entries: [SharedCuePoint],
    index: Int, _ numbers: inout SplitMixGenerator
  ) -> RenderCommand {
    switch Int.random(in: 0..<14, using: &numbers) {
    case 0...3:
      return .start(player, at: time)
    case 4:
      return .stop(player, at: time)
    case 5:
      return .pause(player, at: time)
    case 6:
      return .resume(player, at: time)
    case 7:
      return entry(of: index, in: entries, &unused).map { .seek(player, to: $0, at: time) }
        ?? .start(player, at: time)
    case 8:
      let start = Bool.random(using: &numbers) ? entry(of: index, in: entries, &unused) : nil
      return .loop(player, passCount: nil, from: start, end: Int64(time % 9_000) + 480, at: time)
    case 9:
      return .playbackRate(player, Double.random(in: 0.3...3, using: &numbers), at: time)
    case 10:
      return .gain(player, Double.random(in: 0...1, using: &numbers), at: time)
    case 11:
      return .control(
        player, DynamicParameterID.allCases.randomElement(using: &numbers) ?? .audioPanControl,
        value: 0.5, slope: 1e-5,
        at: time)
    case 12:
      return .masterGain(Double.random(in: 0.2...1, using: &numbers), over: 480, at: time)
    default:
      return .cancel(player)
    }
  }
}
