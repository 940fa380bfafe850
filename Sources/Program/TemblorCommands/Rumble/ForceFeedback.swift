/// A force feedback effect as uploaded by a game. Levels are 0…1; times are in seconds.
struct ForceFeedbackEffect: Equatable, Sendable {
  enum Kind: Equatable, Sendable {
    /// The levels of a slow (strong) and a fast (weak) motor.
    case rumble(strong: Double, weak: Double)
    /// A vibration with its own frequency in hertz, whatever its waveform.
    case periodic(hertz: Double, level: Double)
    case constant(level: Double)
    case ramp(from: Double, to: Double)
  }

  /// The attack and the fade, with their durations and the levels at the start and the end.
  struct Envelope: Equatable, Sendable {
    var attackLength = 0.0
    var attackLevel = 0.0
    var fadeLength = 0.0
    var fadeLevel = 0.0
  }

  var kind: Kind
  /// The duration, or 0 until the effect is stopped.
  var length = 0.0
  var delay = 0.0
  var envelope = Envelope()

  /// Returns the levels of both motors, or of the single vibration.
  ///
  /// - Parameters:
  ///   - time: The time since playback started.
  ///   - count: The number of repetitions.
  /// - Returns: The levels; nil after the end.
  func levels(at time: Double, count: Int) -> (first: Double, second: Double)? {
    var time = time
    if length > 0 {
      guard time < (delay + length) * Double(count) else { return nil }
      time = time.truncatingRemainder(dividingBy: delay + length)
    }
    time -= delay
    guard time >= 0 else { return (0, 0) }
    switch kind {
    case .rumble(let strong, let weak):
      return (strong, weak)
    case .periodic(_, let level), .constant(let level):
      return (enveloped(level, at: time), 0)
    case .ramp(let from, let to):
      let fraction = length > 0 ? time / length : 0
      return (enveloped(from + (to - from) * fraction, at: time), 0)
    }
  }

  private func enveloped(_ level: Double, at time: Double) -> Double {
    if time < envelope.attackLength {
      return envelope.attackLevel + (level - envelope.attackLevel) * time / envelope.attackLength
    }
    let remaining = length - time
    if length > 0, remaining < envelope.fadeLength {
      return envelope.fadeLevel + (level - envelope.fadeLevel) * remaining / envelope.fadeLength
    }
    return level
  }

  /// Returns the time until the levels change on their own; during a continuous change, the time
  /// until the next step.
  func secondsUntilChange(at time: Double, count: Int) -> Double {
    let position =
      length > 0 ? time.truncatingRemainder(dividingBy: delay + length) - delay : time - delay
    if position < 0 { return -position }
    if case .ramp = kind { return RumbleMixer.stepSeconds }
    if position < envelope.attackLength { return RumbleMixer.stepSeconds }
    guard length > 0 else { return .infinity }
    let remaining = length - position
    if remaining <= envelope.fadeLength { return min(remaining, RumbleMixer.stepSeconds) }
    return remaining - envelope.fadeLength
  }
}

/// Plays force feedback effects: a continuous event of low sharpness for slow motors, and one of
/// high sharpness for fast motors. It belongs to one thread.
final class RumbleMixer {
  /// The interval between levels during a continuous change, and the duration of each change.
  static let stepSeconds = 0.01
  /// The sharpness for slow motors.
  private static let lowSharpness: Float = 0.2
  private static let highSharpness: Float = 0.8
  /// The duration of the looped event in seconds.
  private static let toneSeconds = 3_600.0

  private final class Tone {
    let player: PatternPlayer
    var level = 0.0
    init(_ player: PatternPlayer) { self.player = player }
  }

  private let engine: PlaybackEngine
  private let strong, weak: Tone
  private var tones: [Int16: Tone] = [:]
  private(set) var effects: [Int16: ForceFeedbackEffect] = [:]
  private(set) var playbacks: [Int16: (start: Duration, count: Int)] = [:]
  /// The factor for all effects, which a game sets.
  var gain = 1.0

  init(_ engine: PlaybackEngine) throws {
    self.engine = engine
    strong = try Self.tone(engine, sharpness: Self.lowSharpness)
    weak = try Self.tone(engine, sharpness: Self.highSharpness)
  }

  private static func tone(_ engine: PlaybackEngine, sharpness: Float) throws -> Tone {
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

  /// Adds or updates an effect; an effect that plays continues with its new levels.
  func upload(_ effect: ForceFeedbackEffect, as id: Int16) throws {
    if case .periodic(let hertz, _) = effect.kind, hertz != self.hertz(of: id) {
      try releaseTone(of: id)
      // The nearest frequency that the profile supports.
      let law = (engine.profiles.first ?? .phone).frequency
      let places = (0...100).map { Double($0) / 100 }
      let nearest = places.min {
        abs(law.hertz(atSharpness: $0) - hertz) < abs(law.hertz(atSharpness: $1) - hertz)
      }
      tones[id] = try Self.tone(engine, sharpness: Float(nearest ?? 0))
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
    try tones.removeValue(forKey: id)?.player.cancel()
  }

  /// Plays an effect from its beginning, or stops it.
  ///
  /// - Parameters:
  ///   - id: The ID of the effect.
  ///   - count: The number of repetitions; 0 to stop.
  ///   - now: The current time.
  func play(_ id: Int16, count: Int, at now: Duration) {
    playbacks[id] = count > 0 && effects[id] != nil ? (now, count) : nil
  }

  func erase(_ id: Int16) throws {
    effects[id] = nil
    playbacks[id] = nil
    try releaseTone(of: id)
  }

  /// Updates all levels, and returns the number of seconds until the next update.
  func update(at now: Duration) throws -> Double {
    var low = 0.0
    var high = 0.0
    var rest = Double.infinity
    var own: [Int16: Double] = [:]
    for (id, play) in playbacks {
      let time = (now - play.start).inSeconds
      guard let effect = effects[id], let levels = effect.levels(at: time, count: play.count) else {
        playbacks[id] = nil
        continue
      }
      rest = min(rest, effect.secondsUntilChange(at: time, count: play.count))
      if case .periodic = effect.kind {
        own[id] = levels.first
      } else {
        low = low + levels.first
        high = high + levels.second
      }
    }
    try move(strong, to: low)
    try move(weak, to: high)
    for (id, tone) in tones {
      try move(tone, to: own[id] ?? 0)
    }
    return max(0.001, rest)
  }

  private func move(_ tone: Tone, to level: Double) throws {
    let level = min(1, max(0, level)) * gain
    guard level != tone.level else { return }
    tone.level = level
    try tone.player.setGain(level, over: Self.stepSeconds)
  }
}
