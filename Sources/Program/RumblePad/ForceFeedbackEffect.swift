/// A force feedback effect that a game has uploaded. Levels are 0…1, and times are in seconds.
package struct ForceFeedbackEffect: Equatable, Sendable {
  package enum Kind: Equatable, Sendable {
    /// A vibration of a slow (strong) motor and a fast (weak) motor, by their levels.
    case rumble(strong: Double, weak: Double)
    /// A vibration with its own frequency in hertz, regardless of its waveform.
    case periodic(hertz: Double, level: Double)
    case constant(level: Double)
    case ramp(from: Double, to: Double)
  }

  /// The envelope of an effect: the durations of its attack and fade, and the levels at the start
  /// of the attack and the end of the fade.
  package struct Envelope: Equatable, Sendable {
    package var attackSeconds = 0.0
    package var attackLevel = 0.0
    package var fadeSeconds = 0.0
    package var fadeLevel = 0.0

    package init(
      attackLength: Double = 0, attackLevel: Double = 0, fadeLength: Double = 0,
      fadeLevel: Double = 0
    ) {
      self.attackSeconds = attackLength
      self.attackLevel = attackLevel
      self.fadeSeconds = fadeLength
      self.fadeLevel = fadeLevel
    }
  }

  package var kind: Kind
  /// The duration of the effect in seconds, or 0 until the effect is stopped.
  package var durationSeconds = 0.0
  /// The delay before each repetition, in seconds.
  package var delaySeconds = 0.0
  package var envelope = Envelope()

  package init(
    kind: Kind, length: Double = 0, delay: Double = 0, envelope: Envelope = Envelope()
  ) {
    self.kind = kind
    self.durationSeconds = length
    self.delaySeconds = delay
    self.envelope = envelope
  }

  /// Returns the levels of both motors, or the level of a periodic or constant vibration, at a
  /// time.
  ///
  /// - Parameters:
  ///   - time: The time since playback started.
  ///   - repetitionCount: The number of repetitions.
  /// - Returns: The levels; nil after the end.
  package func motorLevels(atSeconds time: Double, repetitionCount: Int) -> (
    first: Double, second: Double
  )? {
    var passTime = time
    if durationSeconds > 0 {
      guard passTime < (delaySeconds + durationSeconds) * Double(repetitionCount) else {
        return nil
      }
      passTime = passTime.truncatingRemainder(dividingBy: delaySeconds + durationSeconds)
    }
    passTime -= delaySeconds
    guard passTime >= 0 else { return (0, 0) }
    switch kind {
    case .rumble(let strongLevel, let weakLevel):
      return (strongLevel, weakLevel)
    case .periodic(_, let constantLevel), .constant(let constantLevel):
      return (envelopedLevel(constantLevel, atSeconds: passTime), 0)
    case .ramp(let startLevel, let endLevel):
      let fraction = durationSeconds > 0 ? passTime / durationSeconds : 0
      return (
        envelopedLevel(startLevel + (endLevel - startLevel) * fraction, atSeconds: passTime), 0
      )
    }
  }

  private func envelopedLevel(_ level: Double, atSeconds time: Double) -> Double {
    if time < envelope.attackSeconds {
      return envelope.attackLevel + (level - envelope.attackLevel) * time / envelope.attackSeconds
    }
    let remainingSeconds = durationSeconds - time
    if durationSeconds > 0, remainingSeconds < envelope.fadeSeconds {
      return envelope.fadeLevel + (level - envelope.fadeLevel) * remainingSeconds
        / envelope.fadeSeconds
    }
    return level
  }

  /// Returns the time until the levels change without a command from the game, in seconds. During a
  /// continuous change, returns the time until the next step.
  package func secondsUntilChange(atSeconds time: Double, repetitionCount: Int) -> Double {
    let positionSeconds =
      durationSeconds > 0
      ? time.truncatingRemainder(dividingBy: delaySeconds + durationSeconds) - delaySeconds
      : time - delaySeconds
    if positionSeconds < 0 { return -positionSeconds }
    if case .ramp = kind { return RumbleMixer.levelUpdateIntervalSeconds }
    if positionSeconds < envelope.attackSeconds { return RumbleMixer.levelUpdateIntervalSeconds }
    guard durationSeconds > 0 else { return .infinity }
    let remainingSeconds = durationSeconds - positionSeconds
    if remainingSeconds <= envelope.fadeSeconds {
      return min(remainingSeconds, RumbleMixer.levelUpdateIntervalSeconds)
    }
    return remainingSeconds - envelope.fadeSeconds
  }
}
