import HapticModel
import HapticPlayback
import HapticRender

/// A tone too weak to be heard or felt, so that amplifiers do not switch themselves off between patterns.
///
/// It sounds on all channels that carry haptics, whatever the strength is; mute silences it too.
final class KeepAwakeTone {
  /// Its frequency in hertz: the lowest that amplifiers for shakers and subwoofers pass, where the ear hears
  /// least.
  static let frequency = 20.0
  /// Its level: −60 dBFS, 50 dB below what a pattern can reach.
  static let level = 0.001
  /// Seconds of one pass, a whole number of the tone's periods.
  private static let length = 10.0

  private let player: PatternPlayer
  private var followed: Float?

  /// Starts the tone with the engine's first frame.
  init(_ engine: PlaybackEngine) throws {
    let profile = TransducerProfile(
      name: "keep-awake", summary: "One frequency.",
      frequency: FrequencyMapping(low: Self.frequency, high: Self.frequency), level: Self.level)
    let pattern = HapticPattern(events: [
      HapticEvent(
        kind: .hapticContinuous, time: 0, duration: Self.length,
        parameters: [.hapticIntensity: 1])
    ])
    let plan = try RenderPlan(compiling: pattern, profile: profile, rate: engine.rate)
    player = try engine.player(
      for: engine.profiles.map { _ in plan }, duration: pattern.duration)
    voiceCount = engine.profiles.count
    try player.loop(passCount: nil)
    follow(strength: engine.strength)
    try player.start()
  }

  /// Voices it needs, one for each haptic bus.
  let voiceCount: Int

  /// Keeps its level while the engine's strength changes.
  func follow(strength: Float) {
    guard strength != followed else { return }
    followed = strength
    // At strength 0 nothing is to come out; a command too many at once changes the level later.
    try? player.setGain(strength > 0 ? 1 / Double(strength) : 0)
  }
}
