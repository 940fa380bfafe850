import HapticModel
import HapticPlayback
import HapticRender
import TestSupport
import Testing

/// Random patterns under random commands at random frames.
@Suite struct RandomCommandTests {
  /// Sends commands for the next half second, all at exact frames.
  static func command(_ players: [PatternPlayer], seed: UInt64) throws {
    var generator = PatternGenerator(seed: seed)
    for _ in 0..<40 {
      guard let player = players.randomElement(using: &generator.randomNumbers) else { return }
      let time = PlaybackTime.frame(Int64.random(in: 1...24_000, using: &generator.randomNumbers))
      let seconds = Double.random(in: 0...0.6, using: &generator.randomNumbers)
      switch Int.random(in: 0..<14, using: &generator.randomNumbers) {
      case 0, 1, 2:
        try player.start(at: time)
      case 3:
        try player.start(at: time, from: seconds)
      case 4:
        try player.stop(at: time)
      case 5:
        try player.pause(at: time)
      case 6:
        try player.resume(at: time)
      case 7:
        try player.seek(to: seconds, at: time)
      case 8:
        try player.loop(
          passCount: Bool.random(using: &generator.randomNumbers) ? nil : 3,
          from: Bool.random(using: &generator.randomNumbers) ? seconds / 3 : 0, end: seconds,
          at: time)
      case 9:
        try player.setPlaybackRate(
          Double.random(in: 0.3...3, using: &generator.randomNumbers), at: time)
      case 10:
        try player.setMuted(Bool.random(using: &generator.randomNumbers), at: time)
      case 11:
        try player.setGain(Double.random(in: 0...1.5, using: &generator.randomNumbers), at: time)
      case 12:
        try player.set(.hapticIntensityControl, to: generator.value(in: 0...1), at: time)
        try player.set(.hapticSharpnessControl, to: generator.value(in: -1...1), at: time)
      default:
        let points = (0..<5).map { index in
          ParameterCurve.ControlPoint(
            time: Double(index) * 0.03, value: generator.value(in: -1...1))
        }
        let ids: [DynamicParameterID] = [
          .hapticIntensityControl, .hapticSharpnessControl, .audioPitchControl, .audioPanControl,
        ]
        try player.schedule(
          ParameterCurve(
            id: ids.randomElement(using: &generator.randomNumbers) ?? .audioPitchControl, time: 0,
            controlPoints: points),
          at: time)
      }
    }
  }

  private func run(seed: UInt64, periodSize: Int) throws -> [Float] {
    let engine = PlaybackEngine(routing: OutputRouting(channelCount: 2))
    let playback = VirtualPlayback(engine, periodSize: periodSize)
    var generator = PatternGenerator(seed: seed)
    let players =
      try (0..<3).map { _ in
        try engine.player(for: generator.pattern(), samples: PatternGenerator.sounds)
      } + [
        try recordingPlayer(noise(20_000, seed: seed), on: engine)
      ]
    try Self.command(players, seed: seed &+ 1_000)
    playback.advance(seconds: 0.8)
    return Array(playback.sink.samples.prefix(2 * 36_000))
  }

  @Test(arguments: 0..<60) func anyPeriodGivesTheSameSamples(seed: UInt64) throws {
    let reference = try run(seed: seed, periodSize: 4_096)
    #expect(reference.allSatisfy { abs($0) <= 0.891 })
    for period in seed % 20 == 0 ? [1, 64] : [61, 333] {
      let samples = try run(seed: seed, periodSize: period)
      let difference = maximumDifference(reference, samples)
      #expect(difference.magnitude == 0, "period \(period), sample \(difference.frame)")
    }
  }
}
