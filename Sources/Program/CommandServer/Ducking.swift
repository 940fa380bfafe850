internal import HapticPlayback

/// The gain reduction of sounds while a sound of a higher priority plays.
struct Ducking: Equatable, Sendable {
  /// The gain of sounds with a lower priority than another sound. A gain of 1 disables ducking.
  var duckedGain = 1.0
  /// The duration of the gain reduction, in seconds, from the start of the sound with the higher
  /// priority.
  var attackSeconds = 0.05
  /// The duration of the gain's recovery, in seconds, after the sound with the higher priority
  /// ends.
  var releaseSeconds = 0.3
}

extension CommandSession {
  func configureDucking(_ command: ServerCommand) -> [CommandReply.Field] {
    let defaultDucking = Ducking()
    ducking = Ducking(
      duckedGain: command.number("GAIN"),
      attackSeconds: command.number("attack", default: defaultDucking.attackSeconds),
      releaseSeconds: command.number("release", default: defaultDucking.releaseSeconds))
    adjustDucking()
    return []
  }

  func duckGain(of sound: ServerSound, at frame: Int64) -> Double {
    let isBelowOtherSound = sounds.contains { candidate in
      candidate.priority > sound.priority && candidate.startFrame <= frame && !candidate.hasEnded
        && !candidate.isPaused
    }
    return isBelowOtherSound ? ducking.duckedGain : 1
  }

  func duckBelow(_ sound: ServerSound, at moment: ScheduledTime) throws(PlaybackError) {
    guard ducking.duckedGain != 1 else { return }
    for lower in sounds
    where lower.priority < sound.priority && lower.duckGain != ducking.duckedGain {
      lower.duckGain = ducking.duckedGain
      try lower.player.setGain(lower.totalGain, over: ducking.attackSeconds, at: moment.time)
      lower.recordScheduled(moment.frame)
    }
  }

  /// Updates the ducking gain of every sound. If the engine's command queue is full, a later call
  /// completes the update.
  func adjustDucking() {
    for sound in sounds where !sound.hasEnded {
      let gain = duckGain(of: sound, at: engine.position)
      guard gain != sound.duckGain else { continue }
      // A gain reduction for a later sound was already scheduled at its frame.
      let isAhead = sounds.contains { $0.priority > sound.priority && !$0.hasEnded }
      if gain > sound.duckGain && isAhead { continue }
      let ramp = gain < sound.duckGain ? ducking.attackSeconds : ducking.releaseSeconds
      let before = sound.duckGain
      sound.duckGain = gain
      do throws(PlaybackError) {
        try sound.player.setGain(sound.totalGain, over: ramp)
      } catch {
        sound.duckGain = before
      }
    }
  }
}
