/// A force feedback effect as uploaded by a game. Levels are 0…1; times are in seconds.
package struct ForceFeedbackEffect: Equatable, Sendable {
  package enum Kind: Equatable, Sendable {
    /// The levels of a slow (strong) and a fast (weak) motor.
    case rumble(strong: Double, weak: Double)
    /// A vibration with its own frequency in hertz, whatever its waveform.
    case periodic(hertz: Double, level: Double)
    case constant(level: Double)
    case ramp(from: Double, to: Double)
  }

  /// The attack and the fade, with their durations and the levels at the start and the end.
  package struct Envelope: Equatable, Sendable {
    package var attackLength = 0.0
    package var attackLevel = 0.0
    package var fadeLength = 0.0
    package var fadeLevel = 0.0

    package init(
      attackLength: Double = 0, attackLevel: Double = 0, fadeLength: Double = 0,
      fadeLevel: Double = 0
    ) {
      self.attackLength = attackLength
      self.attackLevel = attackLevel
      self.fadeLength = fadeLength
      self.fadeLevel = fadeLevel
    }
  }

  package var kind: Kind
  /// The duration, or 0 until the effect is stopped.
  package var length = 0.0
  /// The delay before each repetition.
  package var delay = 0.0
  package var envelope = Envelope()

  package init(
    kind: Kind, length: Double = 0, delay: Double = 0, envelope: Envelope = Envelope()
  ) {
    self.kind = kind
    self.length = length
    self.delay = delay
    self.envelope = envelope
  }

  /// Returns the levels of both motors, or of the single vibration.
  ///
  /// - Parameters:
  ///   - time: The time since playback started.
  ///   - count: The number of repetitions.
  /// - Returns: The levels; nil after the end.
  package func levels(at time: Double, count: Int) -> (first: Double, second: Double)? {
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
  package func secondsUntilChange(at time: Double, count: Int) -> Double {
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
