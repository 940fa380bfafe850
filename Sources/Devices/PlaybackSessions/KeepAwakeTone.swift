internal import HapticModel
package import HapticPlayback
internal import HapticRender

/// A tone below the thresholds of hearing and feeling that keeps amplifiers on between patterns.
/// It plays on all haptic channels at any strength; mute silences it too.
package final class KeepAwakeTone {
  /// The frequency of the tone in hertz, the lowest that shaker amplifiers pass. Hearing is least
  /// sensitive there.
  package static let toneHertz = 20.0
  /// The amplitude of the tone: −60 dBFS, which is 50 dB below the maximum of a pattern.
  package static let toneAmplitude = 0.001
  /// The duration of one pass of the tone in seconds, a whole number of periods.
  private static let tonePassSeconds = 10.0

  /// The number of voices that play the tone.
  package let voiceCount: Int
  private let player: PatternPlayer
  private var strengthCompensatedByTone: Float?

  package init(_ engine: PlaybackEngine) throws {
    let toneProfile = TransducerProfile(
      name: "keep-awake", summary: "A single frequency.",
      frequency: FrequencyMapping(lowHertz: Self.toneHertz, highHertz: Self.toneHertz),
      fullIntensityAmplitude: Self.toneAmplitude)
    let tonePattern = HapticPattern(events: [
      HapticEvent(
        kind: .hapticContinuous, time: 0, duration: Self.tonePassSeconds,
        parameters: [.hapticIntensity: 1])
    ])
    let tonePlan = try RenderPlan(compiling: tonePattern, profile: toneProfile, rate: engine.rate)
    player = try engine.player(
      for: engine.profiles.map { _ in tonePlan }, duration: tonePattern.durationSeconds)
    voiceCount = engine.profiles.count
    try player.loop(passCount: nil)
    compensateEngineStrength(engine.strength)
    try player.start()
  }

  /// Adjusts the gain of the tone to compensate for the engine's strength.
  package func compensateEngineStrength(_ strength: Float) {
    guard strength != strengthCompensatedByTone else { return }
    strengthCompensatedByTone = strength
    // At strength 0, the output is silent. If there are too many commands, a later call changes the
    // level.
    try? player.setGain(strength > 0 ? 1 / Double(strength) : 0)
  }
}
