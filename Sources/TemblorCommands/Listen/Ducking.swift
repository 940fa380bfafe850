internal import HapticPlayback

/// How sounds are quietened while one of a higher priority plays.
struct Ducking: Equatable, Sendable {
  /// The gain of lower priorities meanwhile; 1 leaves them alone.
  var gain = 1.0
  /// Seconds over which they become quieter, from the start of the higher one.
  var attack = 0.05
  /// Seconds over which they return, from its end.
  var release = 0.3
}

extension ListenSession {
  func duck(_ ducking: Ducking) throws(ListenError) {
    self.ducking = ducking
    adjustDucking()
  }

  /// The gain that a sound has because of others at a frame.
  func duckGain(of voice: ListenPlayer, at frame: Int64) -> Double {
    let isBelow = voices.contains { other in
      other.priority > voice.priority && other.start <= frame && !other.hasEnded && !other.isPaused
    }
    return isBelow ? ducking.gain : 1
  }

  func duckBelow(_ voice: ListenPlayer, at moment: ScheduledTime) throws(PlaybackError) {
    guard ducking.gain != 1 else { return }
    for other in voices where other.priority < voice.priority && other.duckGain != ducking.gain {
      other.duckGain = ducking.gain
      try other.player.setGain(other.totalGain, over: ducking.attack, at: moment.time)
      other.note(moment.frame)
    }
  }

  /// Gives every sound the gain it has because of others now; without space for a command, a later call does.
  func adjustDucking() {
    for voice in voices where !voice.hasEnded {
      let gain = duckGain(of: voice, at: engine.position)
      guard gain != voice.duckGain else { continue }
      // What is to become quieter later was sent with its frame.
      let isAhead = voices.contains { $0.priority > voice.priority && !$0.hasEnded }
      if gain > voice.duckGain && isAhead { continue }
      let ramp = gain < voice.duckGain ? ducking.attack : ducking.release
      let before = voice.duckGain
      voice.duckGain = gain
      do throws(PlaybackError) { try voice.player.setGain(voice.totalGain, over: ramp) } catch {
        voice.duckGain = before
      }
    }
  }
}
