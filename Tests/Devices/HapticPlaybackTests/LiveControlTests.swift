import HapticModel
import HapticPlayback
import HapticRender
import Testing

@Suite struct LiveControlTests {
  /// Returns the samples of a pattern that starts at frame 0, with commands for its player.
  private func play(
    _ pattern: HapticPattern, seconds: Double, period: Int = 64,
    _ sendCommands: (PatternPlayer) throws -> Void
  ) throws -> [Float] {
    let engine = PlaybackEngine()
    let playback = VirtualPlayback(engine, periodSize: period)
    let player = try engine.player(for: pattern)
    try player.start(at: .frame(0))
    try sendCommands(player)
    playback.advance(seconds: seconds)
    return playback.samples()
  }

  @Test func sentValueEqualsAValueInThePattern() throws {
    var pattern = hum(1)
    pattern.parameters = [DynamicParameter(id: .hapticIntensityControl, value: 0.5, time: 0.25)]
    let liveSamples = try play(hum(1), seconds: 1) {
      try $0.set(.hapticIntensityControl, to: 0.5, at: .seconds(0.25))
    }
    let offlineSamples = try offline(pattern, frameCount: liveSamples.count)
    // The ramp of 1 ms is linear in level in one rendering, and linear in intensity in the other.
    #expect(maximumDifference(liveSamples, offlineSamples).magnitude < 0.01)
    #expect(
      maximumDifference(Array(liveSamples[13_000...]), Array(offlineSamples[13_000...])).magnitude
        < 1e-4)
  }

  @Test func sentCurveEqualsACurveInThePattern() throws {
    let curve = ParameterCurve(
      id: .hapticSharpnessControl, time: 0.3,
      controlPoints: [
        .init(time: 0, value: 0), .init(time: 0.2, value: 0.5), .init(time: 0.5, value: -0.5),
      ])
    var pattern = hum(1, sharpness: 0.5)
    pattern.curves = [curve]
    let liveSamples = try play(hum(1, sharpness: 0.5), seconds: 1) {
      try $0.schedule(curve, at: .seconds(0.3))
    }
    let offlineSamples = try offline(pattern, frameCount: liveSamples.count)
    // The renderings divide the curve into different segments, but their phases stay within 0.01
    // cycles of each other.
    #expect(maximumDifference(liveSamples, offlineSamples).magnitude < 0.03)
  }

  @Test func intensityFollowsASentCurve() throws {
    let curve = ParameterCurve(
      id: .hapticIntensityControl, time: 0,
      controlPoints: [.init(time: 0, value: 1), .init(time: 1, value: 0)])
    let samples = try play(hum(2, sharpness: 1), seconds: 2) {
      try $0.schedule(curve, at: .seconds(0.5))
    }
    // At 230 Hz, a window of 10 ms contains two peaks; the level is the square of the intensity.
    for tenth in 1..<10 {
      let time = 0.5 + Double(tenth) / 10
      let centerFrame = Int(time * 48_000) + lookaheadFrameCount
      let peak = samples[centerFrame - 240..<centerFrame + 240].map(abs).max() ?? 0
      let intensity = 1 - Float(tenth) / 10 + 0.005
      #expect(abs(peak - 0.44 * intensity * intensity) < 0.006, "\(time)")
    }
  }

  @Test func laterValueReplacesAnEarlierOne() throws {
    var pattern = hum(1)
    pattern.parameters = [DynamicParameter(id: .hapticIntensityControl, value: 1, time: 0.5)]
    let samples = try play(pattern, seconds: 1) {
      try $0.set(.hapticIntensityControl, to: 0, at: .seconds(0.2))
    }
    #expect(samples[12_000..<23_000].allSatisfy { abs($0) < 3e-3 })
    #expect((samples[26_000..<36_000].map(abs).max() ?? 0) > 0.4)
  }

  @Test func tapsUseTheValueAtTheirOnset() throws {
    let samples = try play(taps([0, 0.2, 0.4]), seconds: 0.6) {
      try $0.set(.hapticIntensityControl, to: 0.5, at: .seconds(0.1))
      try $0.set(.hapticIntensityControl, to: 0, at: .seconds(0.3))
    }
    func peak(_ time: Double) -> Float {
      let start = Int(time * 48_000) + lookaheadFrameCount
      return samples[start..<start + 2_000].map(abs).max() ?? 0
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
      let patternPeak = try peak(isControlled: false)
      let controlledPeak = try peak(isControlled: true)
      #expect(
        patternPeak > 0.01 && abs(controlledPeak / patternPeak - 1) < 0.01,
        "\(controlledPeak), \(patternPeak)")
    }
  }

  @Test func sharpnessMovesTheFrequencyOfTaps() throws {
    let loweredSamples = try play(taps([0.1]), seconds: 0.2) {
      try $0.set(.hapticSharpnessControl, to: -0.5, at: .seconds(0.05))
    }
    var dullPattern = taps([0.1])
    dullPattern.events[0].parameters = [.hapticIntensity: 1, .hapticSharpness: 0]
    let dullSamples = try offline(dullPattern, frameCount: loweredSamples.count)
    func crossings(_ samples: [Float]) -> Int {
      (4_900..<5_600).count { samples[$0] < 0 && samples[$0 + 1] >= 0 }
    }
    #expect(crossings(loweredSamples) == crossings(dullSamples))
  }

  @Test func mutedPlayersContinueSilently() throws {
    let samples = try play(hum(1), seconds: 1) {
      try $0.setMuted(true, at: .seconds(0.2))
      try $0.setMuted(false, at: .seconds(0.6))
    }
    let unmutedSamples = try offline(hum(1), frameCount: samples.count)
    #expect(samples[9_600 + 96 + lookaheadFrameCount..<28_800].allSatisfy { abs($0) < 3e-3 })
    #expect(
      maximumDifference(Array(samples[30_000...]), Array(unmutedSamples[30_000...])).magnitude
        < 3e-3)
    #expect(maximumSlopeChange(Array(samples[9_000..<40_000])) < 1e-3)
  }

  @Test func playerMutedBeforeItsStartIsSilent() throws {
    let engine = PlaybackEngine()
    let playback = VirtualPlayback(engine, periodSize: 64)
    let player = try engine.player(for: taps([0]))
    try player.setMuted(true)
    try player.start()
    playback.advance(seconds: 0.1)
    #expect(playback.samples().allSatisfy { $0 == 0 })
  }

  @Test func strengthAndMutingOfTheEngineAreSmooth() throws {
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
    let samples = playback.samples()
    func peak(_ startSeconds: Double, _ endSeconds: Double) -> Float {
      samples[Int(startSeconds * 48_000)..<Int(endSeconds * 48_000)].map(abs).max() ?? 0
    }
    #expect(abs(peak(0.1, 0.3) - 0.44) < 0.003)
    #expect(abs(peak(0.4, 0.6) - 0.22) < 0.003)
    #expect(peak(0.65, 0.9) < 3e-3)
    #expect(abs(peak(1, 1.2) - 0.22) < 0.003)
    #expect(maximumSlopeChange(Array(samples[1_000...])) < 5e-4)
  }

  @Test func fullScheduleRefusesCommandsButStops() throws {
    let engine = PlaybackEngine()
    let playback = VirtualPlayback(engine, periodSize: 64)
    let player = try engine.player(for: hum(10))
    try player.start()
    var acceptedCount = 0
    var refusal: PlaybackError?
    for index in 0..<10_000 {
      do {
        try player.set(.hapticIntensityControl, to: 1, at: .seconds(100 + Double(index)))
        acceptedCount += 1
      } catch {
        refusal = error
        break
      }
      if index % 500 == 0 {
        playback.advance(seconds: 0.01)
      }
    }
    #expect(acceptedCount > 4_000 && acceptedCount <= 4_096)
    #expect(refusal?.kind == .tooManyCommands)
    try player.stop()
    playback.advance(seconds: 0.1)
    #expect(player.phase == .idle)
  }
}

/// The layers of a live player: sent values act on all layers, and values of a layer only on that
/// layer.
@Suite struct LivePlayerLayerTests {
  /// Returns the samples of layers that start at frame 0, with commands for their player.
  private func play(
    _ layers: [HapticPattern], seconds: Double = 1,
    _ sendCommands: (PatternPlayer) throws -> Void = { _ in }
  ) throws -> [Float] {
    let engine = PlaybackEngine()
    let playback = VirtualPlayback(engine)
    let player = try engine.player(for: composition(layers))
    try player.start(at: .frame(0))
    try sendCommands(player)
    playback.advance(seconds: seconds)
    return playback.samples()
  }

  private func composition(_ layers: [HapticPattern]) -> HapticComposition {
    HapticComposition(layers: layers.map { .init($0) })
  }

  private let lowHum = hum(1, intensity: 0.5, sharpness: 0)
  private let highHum = hum(1, intensity: 0.5, sharpness: 1)

  private func withIntensityCurve(_ pattern: HapticPattern) -> HapticPattern {
    var patternWithCurve = pattern
    patternWithCurve.curves = [
      ParameterCurve(
        id: .hapticIntensityControl, time: 0.2,
        controlPoints: [.init(time: 0, value: 1), .init(time: 0.5, value: 0)])
    ]
    return patternWithCurve
  }

  @Test func liveControlActsOnEveryLayer() throws {
    let intensityChange = DynamicParameter(id: .hapticIntensityControl, value: 0.5, time: 0.25)
    let liveSamples = try play([lowHum, highHum]) {
      try $0.set(.hapticIntensityControl, to: 0.5, at: .seconds(0.25))
    }
    var controlledLayers = [lowHum, highHum]
    for index in controlledLayers.indices {
      controlledLayers[index].parameters = [intensityChange]
    }
    let offlineSamples = try offline(composition(controlledLayers), frameCount: liveSamples.count)
    #expect(maximumDifference(liveSamples, offlineSamples).magnitude < 0.01)
    #expect(
      maximumDifference(Array(liveSamples[13_000...]), Array(offlineSamples[13_000...])).magnitude
        < 1e-4)
    // If only one layer had the control, the other layer would keep its level.
    controlledLayers[1].parameters = []
    let partlyControlledSamples = try offline(
      composition(controlledLayers), frameCount: liveSamples.count)
    #expect(
      maximumDifference(Array(liveSamples[13_000...]), Array(partlyControlledSamples[13_000...]))
        .magnitude > 0.05)
  }

  @Test func curveOfALayerActsOnlyOnItsLayer() throws {
    let samples = try play([withIntensityCurve(lowHum), highHum])
    #expect(
      try samples
        == offline(composition([withIntensityCurve(lowHum), highHum]), frameCount: samples.count))
    let sumOfLayers = zip(try play([withIntensityCurve(lowHum)]), try play([highHum])).map {
      $0 + $1
    }
    #expect(maximumDifference(samples, sumOfLayers).magnitude < 1e-4)
    let samplesWithTwoCurves = try play([withIntensityCurve(lowHum), withIntensityCurve(highHum)])
    #expect(maximumDifference(samples, samplesWithTwoCurves).magnitude > 0.05)
  }

  @Test func laterValueOfALayerActsOnlyOnItsLayer() throws {
    var lowHumWithParameter = lowHum
    lowHumWithParameter.parameters = [
      DynamicParameter(id: .hapticIntensityControl, value: 1, time: 0.5)
    ]
    let samples = try play([lowHumWithParameter, highHum]) {
      try $0.set(.hapticIntensityControl, to: 0, at: .seconds(0.2))
    }
    #expect(samples[12_000..<23_000].allSatisfy { abs($0) < 3e-3 })
    let lowHumSamples = try play([lowHum])
    #expect(
      maximumDifference(Array(samples[26_000..<46_000]), Array(lowHumSamples[26_000..<46_000]))
        .magnitude < 5e-3
    )
  }

  @Test func loopRegionRepeatsAllLayersWithoutAClick() throws {
    let engine = PlaybackEngine()
    let playback = VirtualPlayback(engine)
    let player = try engine.player(for: composition([withIntensityCurve(lowHum), highHum]))
    try player.loop(passCount: nil, from: 0.31, end: 0.57)
    try player.start(at: .frame(100), from: 0.31)
    playback.advance(seconds: 1.2)
    let samples = playback.samples()
    #expect(maximumSlopeChange(samples) < 0.003)
    let passFrameCount = 12_480
    let (difference, _) = maximumDifference(
      Array(samples[20_000..<32_000]), Array(samples[20_000 + passFrameCount..<44_480]))
    #expect(difference < 2e-3)
    #expect(player.phase == .playing)
  }

  @Test func seekMovesAllLayers() throws {
    let samples = try play([withIntensityCurve(lowHum), highHum], seconds: 0.5) {
      try $0.seek(to: 0.4, at: .frame(0))
    }
    let offlineSamples = try offline(
      composition([withIntensityCurve(lowHum), highHum]), frameCount: 48_000)
    let referenceStart = 19_200 + 400
    #expect(
      maximumDifference(
        Array(samples[400 + lookaheadFrameCount..<20_000]),
        Array(offlineSamples[(referenceStart + lookaheadFrameCount)...])
      ).magnitude
        < 0.02)
  }
}
