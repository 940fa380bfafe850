package import HapticPlayback
internal import HapticModel
internal import HapticRender
internal import SystemSupport

/// A mixer that plays force feedback effects, with a continuous event for slow motors and one for
/// fast motors.
/// The event for slow motors has a low sharpness, and the event for fast motors has a high
/// sharpness. The mixer belongs to one thread.
package final class RumbleMixer {
  /// The interval between level updates during a continuous change, and the duration of the ramp to
  /// each level, in seconds.
  package static let levelUpdateIntervalSeconds = 0.01
  /// The sharpness of the tone for slow motors.
  private static let slowMotorSharpness: Float = 0.2
  /// The sharpness of the tone for fast motors.
  private static let fastMotorSharpness: Float = 0.8
  /// The duration of the continuous event that is looped to produce a tone, in seconds.
  private static let toneLoopSeconds = 3_600.0

  private final class MotorTone {
    let player: PatternPlayer
    var currentLevel = 0.0
    init(_ player: PatternPlayer) { self.player = player }
  }

  private let engine: PlaybackEngine
  /// The tone for the slow (strong) motors of all effects.
  private let strongMotorTone: MotorTone
  /// The tone for the fast (weak) motors of all effects.
  private let weakMotorTone: MotorTone
  private var periodicTonesByEffectID: [Int16: MotorTone] = [:]
  package private(set) var effectsByID: [Int16: ForceFeedbackEffect] = [:]
  package private(set) var playbacksByEffectID: [Int16: (start: Duration, count: Int)] = [:]
  /// The gain that a game has set for all effects, 0…1.
  package var effectGain = 1.0

  package init(_ engine: PlaybackEngine) throws {
    self.engine = engine
    strongMotorTone = try Self.makeTone(engine, sharpness: Self.slowMotorSharpness)
    weakMotorTone = try Self.makeTone(engine, sharpness: Self.fastMotorSharpness)
  }

  private static func makeTone(_ engine: PlaybackEngine, sharpness: Float) throws -> MotorTone {
    let humPattern = HapticPattern(events: [
      HapticEvent(
        kind: .hapticContinuous, time: 0, duration: toneLoopSeconds,
        parameters: [.hapticIntensity: 1, .hapticSharpness: sharpness])
    ])
    let humPlayer = try engine.player(for: HapticComposition(humPattern))
    try humPlayer.setGain(0)
    try humPlayer.loop(passCount: nil)
    try humPlayer.start()
    return MotorTone(humPlayer)
  }

  /// Adds or updates an effect. An effect that plays continues with its new levels.
  package func uploadEffect(_ effect: ForceFeedbackEffect, as id: Int16) throws {
    if case .periodic(let newHertz, _) = effect.kind, newHertz != self.periodicHertz(of: id) {
      try releaseTone(of: id)
      // The nearest frequency that the profile supports.
      let mapping = (engine.profiles.first ?? .phone).frequency
      let sharpnesses = (0...100).map { Double($0) / 100 }
      let nearest = sharpnesses.min {
        abs(mapping.hertz(atSharpness: $0) - newHertz)
          < abs(mapping.hertz(atSharpness: $1) - newHertz)
      }
      periodicTonesByEffectID[id] = try Self.makeTone(engine, sharpness: Float(nearest ?? 0))
    }
    effectsByID[id] = effect
  }

  private func periodicHertz(of id: Int16) -> Double? {
    if case .periodic(let toneHertz, _)? = effectsByID[id]?.kind {
      toneHertz
    } else {
      nil
    }
  }

  private func releaseTone(of id: Int16) throws {
    try periodicTonesByEffectID.removeValue(forKey: id)?.player.cancel()
  }

  /// Plays an effect from its beginning, or stops it.
  ///
  /// - Parameters:
  ///   - id: The ID of the effect.
  ///   - repetitionCount: The number of repetitions; 0 to stop.
  ///   - now: The current time.
  package func playEffect(_ id: Int16, repetitionCount: Int, at now: Duration) {
    playbacksByEffectID[id] =
      repetitionCount > 0 && effectsByID[id] != nil ? (now, repetitionCount) : nil
  }

  package func eraseEffect(_ id: Int16) throws {
    effectsByID[id] = nil
    playbacksByEffectID[id] = nil
    try releaseTone(of: id)
  }

  /// Updates all levels, and returns the number of seconds until the next update.
  package func updateLevels(at now: Duration) throws -> Double {
    var strongLevel = 0.0
    var weakLevel = 0.0
    var secondsUntilUpdate = Double.infinity
    var periodicLevels: [Int16: Double] = [:]
    for (id, play) in playbacksByEffectID {
      let time = (now - play.start).inSeconds
      guard let effect = effectsByID[id],
        let levels = effect.motorLevels(atSeconds: time, repetitionCount: play.count)
      else {
        playbacksByEffectID[id] = nil
        continue
      }
      secondsUntilUpdate = min(
        secondsUntilUpdate, effect.secondsUntilChange(atSeconds: time, repetitionCount: play.count))
      if case .periodic = effect.kind {
        periodicLevels[id] = levels.first
      } else {
        strongLevel += levels.first
        weakLevel += levels.second
      }
    }
    try setLevel(of: strongMotorTone, to: strongLevel)
    try setLevel(of: weakMotorTone, to: weakLevel)
    for (id, tone) in periodicTonesByEffectID {
      try setLevel(of: tone, to: periodicLevels[id] ?? 0)
    }
    return max(0.001, secondsUntilUpdate)
  }

  private func setLevel(of tone: MotorTone, to level: Double) throws {
    let scaledLevel = min(1, max(0, level)) * effectGain
    guard scaledLevel != tone.currentLevel else { return }
    tone.currentLevel = scaledLevel
    try tone.player.setGain(scaledLevel, over: Self.levelUpdateIntervalSeconds)
  }
}
