package import HapticPlayback
internal import HapticModel
internal import HapticRender
internal import SystemSupport

/// A mixer that plays force feedback effects, with a continuous event for slow motors and one for
/// fast motors.
/// The event for slow motors has a low sharpness, and the event for fast motors has a high
/// sharpness. The mixer belongs to one thread.
package final class RumbleMixer {
  /// The interval between levels during a continuous change, and the duration of each change, in
  /// seconds.
  package static let stepSeconds = 0.01
  /// The sharpness of the tone for slow motors.
  private static let lowSharpness: Float = 0.2
  /// The sharpness of the tone for fast motors.
  private static let highSharpness: Float = 0.8
  /// The duration of the looped event of a tone, in seconds.
  private static let toneSeconds = 3_600.0

  private final class Tone {
    let player: PatternPlayer
    var level = 0.0
    init(_ player: PatternPlayer) { self.player = player }
  }

  private let engine: PlaybackEngine
  /// The tone for the slow (strong) motors of all effects.
  private let strongMotorTone: Tone
  /// The tone for the fast (weak) motors of all effects.
  private let weakMotorTone: Tone
  private var periodicTones: [Int16: Tone] = [:]
  package private(set) var effects: [Int16: ForceFeedbackEffect] = [:]
  package private(set) var playbacks: [Int16: (start: Duration, count: Int)] = [:]
  /// The gain of all effects, 0…1, which a game sets.
  package var gain = 1.0

  package init(_ engine: PlaybackEngine) throws {
    self.engine = engine
    strongMotorTone = try Self.makeTone(engine, sharpness: Self.lowSharpness)
    weakMotorTone = try Self.makeTone(engine, sharpness: Self.highSharpness)
  }

  private static func makeTone(_ engine: PlaybackEngine, sharpness: Float) throws -> Tone {
    let hum = HapticPattern(events: [
      HapticEvent(
        kind: .hapticContinuous, time: 0, duration: toneSeconds,
        parameters: [.hapticIntensity: 1, .hapticSharpness: sharpness])
    ])
    let player = try engine.player(for: HapticComposition(hum))
    try player.setGain(0)
    try player.loop(passCount: nil)
    try player.start()
    return Tone(player)
  }

  /// Adds or updates an effect. An effect that plays continues with its new levels.
  package func upload(_ effect: ForceFeedbackEffect, as id: Int16) throws {
    if case .periodic(let hertz, _) = effect.kind, hertz != self.hertz(of: id) {
      try releaseTone(of: id)
      // The nearest frequency that the profile supports.
      let mapping = (engine.profiles.first ?? .phone).frequency
      let sharpnesses = (0...100).map { Double($0) / 100 }
      let nearest = sharpnesses.min {
        abs(mapping.hertz(atSharpness: $0) - hertz) < abs(mapping.hertz(atSharpness: $1) - hertz)
      }
      periodicTones[id] = try Self.makeTone(engine, sharpness: Float(nearest ?? 0))
    }
    effects[id] = effect
  }

  private func hertz(of id: Int16) -> Double? {
    if case .periodic(let hertz, _)? = effects[id]?.kind {
      hertz
    } else {
      nil
    }
  }

  private func releaseTone(of id: Int16) throws {
    try periodicTones.removeValue(forKey: id)?.player.cancel()
  }

  /// Plays an effect from its beginning, or stops it.
  ///
  /// - Parameters:
  ///   - id: The ID of the effect.
  ///   - count: The number of repetitions; 0 to stop.
  ///   - now: The current time.
  package func play(_ id: Int16, count: Int, at now: Duration) {
    playbacks[id] = count > 0 && effects[id] != nil ? (now, count) : nil
  }

  package func erase(_ id: Int16) throws {
    effects[id] = nil
    playbacks[id] = nil
    try releaseTone(of: id)
  }

  /// Updates all levels, and returns the number of seconds until the next update.
  package func update(at now: Duration) throws -> Double {
    var strongLevel = 0.0
    var weakLevel = 0.0
    var secondsUntilUpdate = Double.infinity
    var periodicLevels: [Int16: Double] = [:]
    for (id, play) in playbacks {
      let time = (now - play.start).inSeconds
      guard let effect = effects[id], let levels = effect.levels(at: time, count: play.count) else {
        playbacks[id] = nil
        continue
      }
      secondsUntilUpdate = min(
        secondsUntilUpdate, effect.secondsUntilChange(at: time, count: play.count))
      if case .periodic = effect.kind {
        periodicLevels[id] = levels.first
      } else {
        strongLevel += levels.first
        weakLevel += levels.second
      }
    }
    try setLevel(of: strongMotorTone, to: strongLevel)
    try setLevel(of: weakMotorTone, to: weakLevel)
    for (id, tone) in periodicTones {
      try setLevel(of: tone, to: periodicLevels[id] ?? 0)
    }
    return max(0.001, secondsUntilUpdate)
  }

  private func setLevel(of tone: Tone, to level: Double) throws {
    let level = min(1, max(0, level)) * gain
    guard level != tone.level else { return }
    tone.level = level
    try tone.player.setGain(level, over: Self.stepSeconds)
  }
}
