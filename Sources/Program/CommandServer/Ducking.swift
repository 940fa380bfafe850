internal import HapticPlayback

/// The gain reduction of sounds while a sound of a higher priority plays.
struct Ducking: Equatable, Sendable {
  /// The gain of sounds with a lower priority than another sound. A gain of 1 disables ducking.
  var duckedSoundGain = 1.0
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
      duckedSoundGain: command.numberValue(of: "GAIN"),
      attackSeconds: command.numberValue(of: "attack", default: defaultDucking.attackSeconds),
      releaseSeconds: command.numberValue(of: "release", default: defaultDucking.releaseSeconds))
    adjustDuckingGains()
    return []
  }

  func duckingGain(of sound: ServerSound, at frame: Int64) -> Double {
    let isBelowOtherSound = sounds.contains { candidate in
      candidate.priority > sound.priority && candidate.startFrame <= frame && !candidate.hasEnded
        && !candidate.isPaused
    }
    return isBelowOtherSound ? ducking.duckedSoundGain : 1
  }

  func duckSounds(below sound: ServerSound, at moment: ScheduledTime) throws(PlaybackError) {
    guard ducking.duckedSoundGain != 1 else { return }
    for lower in sounds
    where lower.priority < sound.priority && lower.duckingGain != ducking.duckedSoundGain {
      lower.duckingGain = ducking.duckedSoundGain
      try lower.player.setGain(
        lower.gainIncludingDucking, over: ducking.attackSeconds, at: moment.time)
      lower.recordScheduledFrame(moment.frame)
    }
  }

  /// Updates the ducking gain of every sound. If the engine's command queue is full, a later call
  /// completes the update.
  func adjustDuckingGains() {
    for sound in sounds where !sound.hasEnded {
      let gain = duckingGain(of: sound, at: engine.position)
      guard gain != sound.duckingGain else { continue }
      // A gain reduction for a later sound was already scheduled at its frame.
      let isAhead = sounds.contains { $0.priority > sound.priority && !$0.hasEnded }
      if gain > sound.duckingGain && isAhead { continue }
      let ramp = gain < sound.duckingGain ? ducking.attackSeconds : ducking.releaseSeconds
      let before = sound.duckingGain
      sound.duckingGain = gain
      do throws(PlaybackError) {
        try sound.player.setGain(sound.gainIncludingDucking, over: ramp)
      } catch {
        sound.duckingGain = before
      }
    }
  }
}
