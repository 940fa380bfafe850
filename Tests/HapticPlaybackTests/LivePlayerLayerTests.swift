import HapticModel
import HapticPlayback
import HapticRender
import Testing

/// Layers of one live player: what is sent acts on all, what a layer holds on itself.
@Suite struct LivePlayerLayerTests {
  /// What an engine plays of layers that are started at frame 0.
  private func play(
    _ layers: [HapticPattern], seconds: Double = 1,
    _ commands: (PatternPlayer) throws -> Void = { _ in }
  ) throws -> [Float] {
    let engine = PlaybackEngine()
    let playback = VirtualPlayback(engine)
    let player = try engine.player(for: composition(layers))
    try player.start(at: .frame(0))
    try commands(player)
    playback.advance(seconds: seconds)
    return playback.samples()
  }

  private func composition(_ layers: [HapticPattern]) -> HapticComposition {
    HapticComposition(layers: layers.map { .init($0) })
  }

  private let low = hum(1, intensity: 0.5, sharpness: 0)
  private let high = hum(1, intensity: 0.5, sharpness: 1)

  private func bent(_ pattern: HapticPattern) -> HapticPattern {
    var bent = pattern
    bent.curves = [
      ParameterCurve(
        id: .hapticIntensityControl, time: 0.2,
        controlPoints: [.init(time: 0, value: 1), .init(time: 0.5, value: 0)])
    ]
    return bent
  }

  @Test func liveControlActsOnEveryLayer() throws {
    let step = DynamicParameter(id: .hapticIntensityControl, value: 0.5, time: 0.25)
    let sent = try play([low, high]) {
      try $0.set(.hapticIntensityControl, to: 0.5, at: .seconds(0.25))
    }
    var stepped = [low, high]
    for index in stepped.indices { stepped[index].parameters = [step] }
    let written = try offline(composition(stepped), frameCount: sent.count)
    #expect(difference(sent, written).greatest < 0.01)
    #expect(difference(Array(sent[13_000...]), Array(written[13_000...])).greatest < 1e-4)
    // In one layer alone it would leave the other as loud as it was.
    stepped[1].parameters = []
    let half = try offline(composition(stepped), frameCount: sent.count)
    #expect(difference(Array(sent[13_000...]), Array(half[13_000...])).greatest > 0.05)
  }

  @Test func curveOfALayerBendsItsLayerAlone() throws {
    let played = try play([bent(low), high])
    #expect(
      try played == offline(composition([bent(low), high]), frameCount: played.count))
    let apart = zip(try play([bent(low)]), try play([high])).map { $0 + $1 }
    #expect(difference(played, apart).greatest < 1e-4)
    let both = try play([bent(low), bent(high)])
    #expect(difference(played, both).greatest > 0.05)
  }

  @Test func laterStartInALayerWinsInItAlone() throws {
    var rising = low
    rising.parameters = [DynamicParameter(id: .hapticIntensityControl, value: 1, time: 0.5)]
    let sent = try play([rising, high]) {
      try $0.set(.hapticIntensityControl, to: 0, at: .seconds(0.2))
    }
    #expect(sent[12_000..<23_000].allSatisfy { abs($0) < 3e-3 })
    let alone = try play([low])
    #expect(
      difference(Array(sent[26_000..<46_000]), Array(alone[26_000..<46_000])).greatest < 5e-3)
  }

  @Test func loopRegionReturnsInAllLayersWithoutACorner() throws {
    let engine = PlaybackEngine()
    let playback = VirtualPlayback(engine)
    let player = try engine.player(for: composition([bent(low), high]))
    try player.loop(passCount: nil, from: 0.31, end: 0.57)
    try player.start(at: .frame(100), from: 0.31)
    playback.advance(seconds: 1.2)
    let samples = playback.samples()
    #expect(greatestCorner(samples) < 0.003)
    let length = 12_480
    let (change, _) = difference(
      Array(samples[20_000..<32_000]), Array(samples[20_000 + length..<44_480]))
    #expect(change < 2e-3)
    #expect(player.phase == .playing)
  }

  @Test func seekLandsInAllLayers() throws {
    let played = try play([bent(low), high], seconds: 0.5) { try $0.seek(to: 0.4, at: .frame(0)) }
    let whole = try offline(composition([bent(low), high]), frameCount: 48_000)
    let start = 19_200 + 400
    #expect(
      difference(Array(played[400 + latency..<20_000]), Array(whole[(start + latency)...])).greatest
        < 0.02)
  }
}
