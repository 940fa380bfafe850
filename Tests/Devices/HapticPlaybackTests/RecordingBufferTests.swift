import Glibc
import HapticModel
import HapticPlayback
import HapticRender
import Testing

/// Returns noise within ±0.5 without low frequencies, which the DC blocker hardly changes.
func noise(_ count: Int, seed: UInt64 = 1) -> [Float] {
  var state = seed &* 0x9e37_79b9_7f4a_7c15 | 1
  var previousValue: Float = 0
  return (0..<count).map { _ in
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    let value = Float(state >> 40) / 33_554_432 - 0.25
    defer { previousValue = value }
    return value - previousValue
  }
}

/// Expects played samples to equal a signal from a frame on, within the effect of the DC blocker.
func expect(
  _ playedSamples: [Float], is samples: [Float], from firstFrame: Int = 0,
  sourceLocation: SourceLocation = #_sourceLocation
) {
  let count = min(playedSamples.count, samples.count - firstFrame)
  let (error, frame) = maximumDifference(
    playedSamples, Array(samples[firstFrame..<firstFrame + max(0, count)]))
  #expect(count == playedSamples.count, sourceLocation: sourceLocation)
  #expect(error < 2e-4, "at frame \(frame)", sourceLocation: sourceLocation)
}

/// Returns a player of a recording on the haptic bus.
func recordingPlayer(_ samples: [Float], on engine: PlaybackEngine) throws -> PatternPlayer {
  let plan = try RenderPlan(
    recording: AudioBuffer(interleaved: samples, channelCount: 1), rate: engine.rate)
  return try engine.player(
    for: engine.profiles.map { _ in plan }, duration: Double(samples.count) / engine.rate)
}

@Suite struct RecordingTests {
  /// Returns samples after a high-pass filter at 0.5 Hz, the only filter that acts on a recording.
  private func highPassed(_ samples: [Float]) -> [Float] {
    let coefficient = 1 - exp(-2 * Double.pi * 0.5 / 48_000)
    var offset = 0.0
    return samples.map { sample in
      let output = Double(sample) - offset
      offset += coefficient * output
      return Float(output)
    }
  }

  @Test(arguments: [1, 64, 1_000]) func recordingPlaysSampleForSample(period: Int) throws {
    let engine = PlaybackEngine(profiles: [
      TransducerProfile(
        name: "weak", summary: "Half as strong.",
        frequency: FrequencyMapping(lowHertz: 50, highHertz: 60),
        fullIntensityAmplitude: 0.5)
    ])
    let playback = VirtualPlayback(engine, periodSize: period)
    let samples = noise(9_000)
    let player = try recordingPlayer(samples, on: engine)
    try player.start(at: .frame(1_000))
    playback.advance(seconds: 0.3)
    let playedSamples = Array(
      playback.samples()[1_000 + lookaheadFrameCount..<10_000 + lookaheadFrameCount])
    #expect(maximumDifference(playedSamples, highPassed(samples)).magnitude < 1e-4)
    #expect(player.endFrame == 10_000)
  }

  @Test func playbackStartsAtTheRequestedPosition() throws {
    let engine = PlaybackEngine()
    let playback = VirtualPlayback(engine, periodSize: 64)
    let samples = noise(48_000)
    let player = try recordingPlayer(samples, on: engine)
    try player.start(at: .frame(1_000), from: 0.5)
    playback.advance(seconds: 0.2)
    // The comparison starts after the fade of 2 ms.
    expect(
      Array(playback.samples()[1_096 + lookaheadFrameCount..<9_000]), is: samples, from: 24_096)
  }

  @Test func controlsDoNotAffectARecording() throws {
    let engine = PlaybackEngine()
    let playback = VirtualPlayback(engine)
    let samples = noise(9_000)
    let player = try recordingPlayer(samples, on: engine)
    try player.set(.hapticIntensityControl, to: 0.2)
    try player.set(.hapticSharpnessControl, to: 1)
    try player.start(at: .frame(1_000))
    playback.advance(seconds: 0.3)
    let playedSamples = Array(
      playback.samples()[1_000 + lookaheadFrameCount..<10_000 + lookaheadFrameCount])
    #expect(maximumDifference(playedSamples, highPassed(samples)).magnitude < 1e-4)
  }

  @Test func firstOfSeveralChannelsIsPlayed() throws {
    let stereo = AudioBuffer(interleaved: [0.1, 0.5, 0.2, 0.6, 0.3, 0.7], channelCount: 2)
    let plan = try RenderPlan(recording: stereo, rate: 48_000)
    #expect(plan.frameCount == 3)
    var rendering = OfflineRenderer(plan: plan)
    let samples = rendering.samples()
    #expect(samples.count == 3)
    #expect(maximumDifference(samples, [0.1, 0.2, 0.3]).magnitude < 1e-4)
  }

  @Test func emptyRecordingHasAnEmptyPlan() throws {
    let plan = try RenderPlan(
      recording: AudioBuffer(interleaved: [], channelCount: 1), rate: 48_000)
    #expect(plan.frameCount == 0)
    #expect(throws: RenderError.self) {
      try RenderPlan(recording: AudioBuffer(interleaved: [], channelCount: 1), rate: 1)
    }
  }
}
