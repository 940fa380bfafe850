import HapticModel
import HapticPlayback
import HapticRender
import TestSupport
import Testing

@Suite struct LiveSendGainTests {
  private let pattern = HapticPattern(events: [
    HapticEvent(kind: .hapticContinuous, time: 0, duration: 0.4),
    HapticEvent(kind: .audioContinuous, time: 0, duration: 0.4),
  ])
  private let routing = OutputRouting(channels: [
    .init(hapticBus: 0), .init(hapticBus: 1), .init(audioSide: .both),
  ])

  /// Plays the pattern for 0.3 s after commands for its player, and returns the samples of each
  /// channel.
  private func play(
    sendGains: [SendAutomation] = [], _ sendCommands: (PatternPlayer) throws -> Void = { _ in }
  ) throws
    -> [[Float]]
  {
    let engine = PlaybackEngine(routing: routing)
    let playback = VirtualPlayback(engine)
    let plan = try RenderPlan(compiling: pattern)
    let player = try engine.player(
      for: [plan, plan], duration: pattern.durationSeconds, sendGains: sendGains)
    try sendCommands(player)
    try player.start(at: .frame(1_000))
    playback.advance(seconds: 0.3)
    return (0..<3).map { playback.samples(ofChannel: $0) }
  }

  @Test func playbackEqualsRendering() throws {
    let sendGains = [
      SendAutomation([
        .init(patternFrame: 500, sendGain: 0.2), .init(patternFrame: 6_000, sendGain: 1),
      ]),
      SendAutomation([.init(patternFrame: 0, sendGain: 0.7)]),
    ]
    let played = try play(sendGains: sendGains)
    let plan = try RenderPlan(compiling: pattern)
    var renderer = Renderer(
      plans: [plan, plan], sendGains: sendGains, settings: RenderSettings(routing: routing))
    var samples = [Float](repeating: 0, count: 12_000 * 3)
    do {
      var span = samples.mutableSpan
      renderer.render(into: &span)
    }
    for channel in 0..<3 {
      let rendered = stride(from: channel, to: samples.count, by: 3).map { samples[$0] }
      #expect(Array(played[channel][1_000..<13_000]) == rendered)
    }
  }

  @Test func sendGainsBeforeTheStartApplyFromItsFirstFrame() throws {
    let unchanged = try play()
    let scaled = try play { try $0.setSendGains([[0.5, 0]], at: .frame(1_000)) }
    #expect(maximumDifference(scaled[0], unchanged[0].map { $0 * 0.5 }).magnitude < 1e-6)
    #expect(scaled[1].allSatisfy { $0 == 0 })
    #expect(scaled[2] == unchanged[2])
  }

  @Test func changeHasNoEffectBeforeItsFrame() throws {
    let unchanged = try play()
    let changed = try play {
      try $0.setSendGains([[0.8, 0.2], [0.5, 0.5], [0, 1]], over: 0.02, at: .frame(7_000))
    }
    let firstChangedFrame = 7_000 + lookaheadFrameCount
    #expect(changed[0][...firstChangedFrame] == unchanged[0][...firstChangedFrame])
    #expect(changed[1][...firstChangedFrame] == unchanged[1][...firstChangedFrame])
    #expect(
      changed[0][(firstChangedFrame + 1)...(firstChangedFrame + 400)]
        != unchanged[0][(firstChangedFrame + 1)...(firstChangedFrame + 400)])
    #expect(
      changed[1][(firstChangedFrame + 1)...(firstChangedFrame + 400)]
        != unchanged[1][(firstChangedFrame + 1)...(firstChangedFrame + 400)])
    #expect(changed[0][(firstChangedFrame + 1_500)...].allSatisfy { abs($0) < 1e-3 })
    #expect(changed[2] == unchanged[2])
  }

  @Test func laterChangeReplacesAnEarlierOne() throws {
    let single = try play { try $0.setSendGains([[0.3, 0.4]], over: 0, at: .frame(6_000)) }
    let replaced = try play {
      try $0.setSendGains(Array(repeating: [1, 1], count: 10), over: 0.2, at: .frame(5_000))
      try $0.setSendGains([[0.3, 0.4]], over: 0, at: .frame(6_000))
    }
    #expect(replaced == single)
  }
}
