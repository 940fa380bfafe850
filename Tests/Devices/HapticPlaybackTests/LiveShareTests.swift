import HapticModel
import HapticPlayback
import HapticRender
import TestSupport
import Testing

@Suite struct LiveShareTests {
  private let pattern = HapticPattern(events: [
    HapticEvent(kind: .hapticContinuous, time: 0, duration: 0.4),
    HapticEvent(kind: .audioContinuous, time: 0, duration: 0.4),
  ])
  private let routing = OutputRouting(channels: [
    .init(hapticBus: 0), .init(hapticBus: 1), .init(audioSide: .both),
  ])

  /// The channels of a third of a second, with something done at the start.
  private func play(
    shares: [SendAutomation] = [], _ body: (PatternPlayer) throws -> Void = { _ in }
  ) throws
    -> [[Float]]
  {
    let engine = PlaybackEngine(routing: routing)
    let playback = VirtualPlayback(engine)
    let plan = try RenderPlan(compiling: pattern)
    let player = try engine.player(
      for: [plan, plan], duration: pattern.durationSeconds, sendGains: shares)
    try body(player)
    try player.start(at: .frame(1_000))
    playback.advance(seconds: 0.3)
    return (0..<3).map { playback.samples(ofChannel: $0) }
  }

  @Test func whatIsPlayedIsWhatIsRendered() throws {
    let shares = [
      SendAutomation([
        .init(patternFrame: 500, sendGain: 0.2), .init(patternFrame: 6_000, sendGain: 1),
      ]),
      SendAutomation([.init(patternFrame: 0, sendGain: 0.7)]),
    ]
    let played = try play(shares: shares)
    let plan = try RenderPlan(compiling: pattern)
    var renderer = Renderer(
      plans: [plan, plan], sendGains: shares, settings: RenderSettings(routing: routing))
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

  @Test func sharesBeforeTheStartHoldFromItsFirstFrame() throws {
    let plain = try play()
    let shared = try play { try $0.setSendGains([[0.5, 0]], at: .frame(1_000)) }
    #expect(maximumDifference(shared[0], plain[0].map { $0 * 0.5 }).greatest < 1e-6)
    #expect(shared[1].allSatisfy { $0 == 0 })
    #expect(shared[2] == plain[2])
  }

  @Test func aMoveAtAFrameMovesNothingBeforeIt() throws {
    let plain = try play()
    let moved = try play {
      try $0.setSendGains([[0.8, 0.2], [0.5, 0.5], [0, 1]], over: 0.02, at: .frame(7_000))
    }
    let first = 7_000 + lookaheadFrameCount
    #expect(moved[0][...first] == plain[0][...first])
    #expect(moved[1][...first] == plain[1][...first])
    #expect(moved[0][(first + 1)...(first + 400)] != plain[0][(first + 1)...(first + 400)])
    #expect(moved[1][(first + 1)...(first + 400)] != plain[1][(first + 1)...(first + 400)])
    #expect(moved[0][(first + 1_500)...].allSatisfy { abs($0) < 1e-3 })
    #expect(moved[2] == plain[2])
  }

  @Test func aLaterOrderTakesThePlaceOfAnEarlierOne() throws {
    let once = try play { try $0.setSendGains([[0.3, 0.4]], over: 0, at: .frame(6_000)) }
    let twice = try play {
      try $0.setSendGains(Array(repeating: [1, 1], count: 10), over: 0.2, at: .frame(5_000))
      try $0.setSendGains([[0.3, 0.4]], over: 0, at: .frame(6_000))
    }
    #expect(twice == once)
  }
}
