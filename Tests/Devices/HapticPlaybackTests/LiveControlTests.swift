import HapticModel
import HapticPlayback
import HapticRender
import Testing

@Suite struct LiveControlTests {
  /// What an engine plays of a pattern that is started at frame 0.
  private func play(
    _ pattern: HapticPattern, seconds: Double, period: Int = 64,
    _ commands: (PatternPlayer) throws -> Void
  ) throws -> [Float] {
    let engine = PlaybackEngine()
    let playback = VirtualPlayback(engine, periodSize: period)
    let player = try engine.player(for: pattern)
    try player.start(at: .frame(0))
    try commands(player)
    playback.advance(seconds: seconds)
    return playback.samples()
  }

  @Test func aValueSentIsAsThePatternsOwn() throws {
    var own = hum(1)
    own.parameters = [DynamicParameter(id: .hapticIntensityControl, value: 0.5, time: 0.25)]
    let sent = try play(hum(1), seconds: 1) {
      try $0.set(.hapticIntensityControl, to: 0.5, at: .seconds(0.25))
    }
    let written = try offline(own, frameCount: sent.count)
    // The ramp of a millisecond is straight in level here, in intensity there.
    #expect(maximumDifference(sent, written).greatest < 0.01)
    #expect(maximumDifference(Array(sent[13_000...]), Array(written[13_000...])).greatest < 1e-4)
  }

  @Test func aCurveSentIsAsThePatternsOwn() throws {
    let curve = ParameterCurve(
      id: .hapticSharpnessControl, time: 0.3,
      controlPoints: [
        .init(time: 0, value: 0), .init(time: 0.2, value: 0.5), .init(time: 0.5, value: -0.5),
      ])
    var own = hum(1, sharpness: 0.5)
    own.curves = [curve]
    let sent = try play(hum(1, sharpness: 0.5), seconds: 1) {
      try $0.schedule(curve, at: .seconds(0.3))
    }
    let written = try offline(own, frameCount: sent.count)
    // Phases that were led along by different segments stay within a hundredth of a turn.
    #expect(maximumDifference(sent, written).greatest < 0.03)
  }

  @Test func anIntensityCurveFollowsItsLine() throws {
    let curve = ParameterCurve(
      id: .hapticIntensityControl, time: 0,
      controlPoints: [.init(time: 0, value: 1), .init(time: 1, value: 0)])
    let sent = try play(hum(2, sharpness: 1), seconds: 2) {
      try $0.schedule(curve, at: .seconds(0.5))
    }
    // At 230 Hz a window of 10 ms holds two crests; the level is the square of intensity.
    for tenth in 1..<10 {
      let time = 0.5 + Double(tenth) / 10
      let centre = Int(time * 48_000) + lookaheadFrameCount
      let level = sent[centre - 240..<centre + 240].map(abs).max() ?? 0
      let intensity = 1 - Float(tenth) / 10 + 0.005
      #expect(abs(level - 0.44 * intensity * intensity) < 0.006, "\(time)")
    }
  }

  @Test func theLaterStartWins() throws {
    var pattern = hum(1)
    pattern.parameters = [DynamicParameter(id: .hapticIntensityControl, value: 1, time: 0.5)]
    let sent = try play(pattern, seconds: 1) {
      try $0.set(.hapticIntensityControl, to: 0, at: .seconds(0.2))
    }
    #expect(sent[12_000..<23_000].allSatisfy { abs($0) < 3e-3 })
    #expect((sent[26_000..<36_000].map(abs).max() ?? 0) > 0.4)
  }

  @Test func tapsTakeTheValueAtTheirOnset() throws {
    let sent = try play(taps([0, 0.2, 0.4]), seconds: 0.6) {
      try $0.set(.hapticIntensityControl, to: 0.5, at: .seconds(0.1))
      try $0.set(.hapticIntensityControl, to: 0, at: .seconds(0.3))
    }
    func peak(_ time: Double) -> Float {
      let start = Int(time * 48_000) + lookaheadFrameCount
      return sent[start..<start + 2_000].map(abs).max() ?? 0
    }
    #expect(abs(peak(0.2) / peak(0) - 0.25) < 0.01)
    #expect(peak(0.4) < 1e-3)
  }

  @Test("A live control keeps the level of a burst that states hertz")
  func levelOfABurstThatStatesHertz() throws {
    var profile = TransducerProfile(
      name: "x", summary: "", frequency: FrequencyMapping(lowHertz: 40, highHertz: 80),
      hardware: TransducerHardware(
        product: "A", bandHertz: 30...250, resonanceHertz: 60, qualityFactor: 3))
    profile.transient.frequency = FrequencyMapping(lowHertz: 100, highHertz: 200)
    profile.driveSettings.hasEqualSensation = true
    let scale = SharpnessScale(minimumHertz: 100, maximumHertz: 200, isLogarithmic: true)
    for sharpness in [0.1, 0.6, 0.9] as [Float] {
      var pattern = taps([0.05])
      pattern.events[0].parameters[.hapticSharpness] = sharpness
      let composition = HapticComposition(layers: [.init(pattern, sharpnessScale: scale)])
      func peak(isControlled: Bool) throws -> Float {
        let engine = PlaybackEngine(profiles: [profile])
        let playback = VirtualPlayback(engine)
        let player = try engine.player(for: composition)
        try player.start(at: .frame(0))
        if isControlled {
          try player.set(.hapticIntensityControl, to: 1, at: .seconds(0.01))
        }
        playback.advance(seconds: 0.2)
        return playback.samples().map(abs).max() ?? 0
      }
      let planned = try peak(isControlled: false)
      let live = try peak(isControlled: true)
      #expect(planned > 0.01 && abs(live / planned - 1) < 0.01, "\(live), \(planned)")
    }
  }

  @Test func sharpnessMovesTheFrequencyOfTaps() throws {
    let soft = try play(taps([0.1]), seconds: 0.2) {
      try $0.set(.hapticSharpnessControl, to: -0.5, at: .seconds(0.05))
    }
    var own = taps([0.1])
    own.events[0].parameters = [.hapticIntensity: 1, .hapticSharpness: 0]
    let written = try offline(own, frameCount: soft.count)
    func crossings(_ samples: [Float]) -> Int {
      (4_900..<5_600).count { samples[$0] < 0 && samples[$0 + 1] >= 0 }
    }
    #expect(crossings(soft) == crossings(written))
  }

  @Test func mutedPlayersGoOnUnheard() throws {
    let sent = try play(hum(1), seconds: 1) {
      try $0.setMuted(true, at: .seconds(0.2))
      try $0.setMuted(false, at: .seconds(0.6))
    }
    let plain = try offline(hum(1), frameCount: sent.count)
    #expect(sent[9_600 + 96 + lookaheadFrameCount..<28_800].allSatisfy { abs($0) < 3e-3 })
    #expect(maximumDifference(Array(sent[30_000...]), Array(plain[30_000...])).greatest < 3e-3)
    #expect(maximumSlopeChange(Array(sent[9_000..<40_000])) < 1e-3)
  }

  @Test func aPlayerMutedBeforeItStartsIsNeverHeard() throws {
    let engine = PlaybackEngine()
    let playback = VirtualPlayback(engine, periodSize: 64)
    let player = try engine.player(for: taps([0]))
    try player.setMuted(true)
    try player.start()
    playback.advance(seconds: 0.1)
    #expect(playback.samples().allSatisfy { $0 == 0 })
  }

  @Test func strengthAndMuteOfTheEngineAreSmooth() throws {
    let engine = PlaybackEngine()
    let playback = VirtualPlayback(engine, periodSize: 64)
    let player = try engine.player(for: hum(2))
    try player.start()
    playback.advance(seconds: 0.3)
    engine.strength = 0.5
    playback.advance(seconds: 0.3)
    engine.isMuted = true
    playback.advance(seconds: 0.3)
    engine.isMuted = false
    playback.advance(seconds: 0.3)
    let played = playback.samples()
    func peak(_ from: Double, _ to: Double) -> Float {
      played[Int(from * 48_000)..<Int(to * 48_000)].map(abs).max() ?? 0
    }
    #expect(abs(peak(0.1, 0.3) - 0.44) < 0.003)
    #expect(abs(peak(0.4, 0.6) - 0.22) < 0.003)
    #expect(peak(0.65, 0.9) < 3e-3)
    #expect(abs(peak(1, 1.2) - 0.22) < 0.003)
    #expect(maximumSlopeChange(Array(played[1_000...])) < 5e-4)
  }

  @Test func aFullScheduleRefusesAndStillStops() throws {
    let engine = PlaybackEngine()
    let playback = VirtualPlayback(engine, periodSize: 64)
    let player = try engine.player(for: hum(10))
    try player.start()
    var accepted = 0
    var refusal: PlaybackError?
    for index in 0..<10_000 {
      do {
        try player.set(.hapticIntensityControl, to: 1, at: .seconds(100 + Double(index)))
        accepted += 1
      } catch {
        refusal = error
        break
      }
      if index % 500 == 0 {
        playback.advance(seconds: 0.01)
      }
    }
    #expect(accepted > 4_000 && accepted <= 4_096)
    #expect(refusal?.kind == .tooManyCommands)
    try player.stop()
    playback.advance(seconds: 0.1)
    #expect(player.phase == .idle)
  }
}

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

  private let lowHum = hum(1, intensity: 0.5, sharpness: 0)
  private let highHum = hum(1, intensity: 0.5, sharpness: 1)

  private func withSharpnessCurve(_ pattern: HapticPattern) -> HapticPattern {
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
    let sent = try play([lowHum, highHum]) {
      try $0.set(.hapticIntensityControl, to: 0.5, at: .seconds(0.25))
    }
    var stepped = [lowHum, highHum]
    for index in stepped.indices {
      stepped[index].parameters = [step]
    }
    let written = try offline(composition(stepped), frameCount: sent.count)
    #expect(maximumDifference(sent, written).greatest < 0.01)
    #expect(maximumDifference(Array(sent[13_000...]), Array(written[13_000...])).greatest < 1e-4)
    // In one layer alone it would leave the other as loud as it was.
    stepped[1].parameters = []
    let half = try offline(composition(stepped), frameCount: sent.count)
    #expect(maximumDifference(Array(sent[13_000...]), Array(half[13_000...])).greatest > 0.05)
  }

  @Test func curveOfALayerBendsItsLayerAlone() throws {
    let played = try play([withSharpnessCurve(lowHum), highHum])
    #expect(
      try played
        == offline(composition([withSharpnessCurve(lowHum), highHum]), frameCount: played.count))
    let apart = zip(try play([withSharpnessCurve(lowHum)]), try play([highHum])).map { $0 + $1 }
    #expect(maximumDifference(played, apart).greatest < 1e-4)
    let both = try play([withSharpnessCurve(lowHum), withSharpnessCurve(highHum)])
    #expect(maximumDifference(played, both).greatest > 0.05)
  }

  @Test func laterStartInALayerWinsInItAlone() throws {
    var rising = lowHum
    rising.parameters = [DynamicParameter(id: .hapticIntensityControl, value: 1, time: 0.5)]
    let sent = try play([rising, highHum]) {
      try $0.set(.hapticIntensityControl, to: 0, at: .seconds(0.2))
    }
    #expect(sent[12_000..<23_000].allSatisfy { abs($0) < 3e-3 })
    let alone = try play([lowHum])
    #expect(
      maximumDifference(Array(sent[26_000..<46_000]), Array(alone[26_000..<46_000])).greatest < 5e-3
    )
  }

  @Test func loopRegionReturnsInAllLayersWithoutACorner() throws {
    let engine = PlaybackEngine()
    let playback = VirtualPlayback(engine)
    let player = try engine.player(for: composition([withSharpnessCurve(lowHum), highHum]))
    try player.loop(passCount: nil, from: 0.31, end: 0.57)
    try player.start(at: .frame(100), from: 0.31)
    playback.advance(seconds: 1.2)
    let samples = playback.samples()
    #expect(maximumSlopeChange(samples) < 0.003)
    let length = 12_480
    let (change, _) = maximumDifference(
      Array(samples[20_000..<32_000]), Array(samples[20_000 + length..<44_480]))
    #expect(change < 2e-3)
    #expect(player.phase == .playing)
  }

  @Test func seekLandsInAllLayers() throws {
    let played = try play([withSharpnessCurve(lowHum), highHum], seconds: 0.5) {
      try $0.seek(to: 0.4, at: .frame(0))
    }
    let whole = try offline(composition([withSharpnessCurve(lowHum), highHum]), frameCount: 48_000)
    let start = 19_200 + 400
    #expect(
      maximumDifference(
        Array(played[400 + lookaheadFrameCount..<20_000]),
        Array(whole[(start + lookaheadFrameCount)...])
      ).greatest
        < 0.02)
  }
}
