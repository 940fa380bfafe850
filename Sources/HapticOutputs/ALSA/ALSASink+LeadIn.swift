internal import HapticPlayback

/// What is known of a lead-in while it goes on.
struct LeadInState {
  /// When the device was first seen to run.
  var start: Duration?
  /// Since when it has taken frames in time.
  var steadySince = Duration.zero
}

extension ALSASink {
  /// The longest lead-in: what comes then is played however unsteady the device is.
  private static var longestLeadIn: Duration { .seconds(2) }

  /// Frames of silence before the first frame where a sound server may swallow them.
  var leadIn: Int { granted.isHardware || granted.isPaced ? 0 : time.frameCount(in: request.leadIn) }

  /// Leads in to the first frame of a stream.
  ///
  /// A buffer that is much longer than the lead-in bridges what a server swallows, and would make the wait
  /// for the first frame long.
  func beginLeadIn() {
    owedSilence = leadIn
    leadInState = leadIn > 0 && granted.bufferSize <= 2 * leadIn ? LeadInState() : nil
  }

  /// Notes that the device is not steady yet; only silence was lost.
  func restartLeadIn(now: Duration) {
    leadInState?.steadySince = now
    end = nil
    lag = .zero
  }

  /// Goes on with silence until the device has taken frames in time for long enough.
  ///
  /// - Parameter available: Frames for which there is space.
  func continueLeadIn(available: Int, now: Duration) {
    guard var state = leadInState else { return }
    if isStarted {
      if state.start == nil {
        state.start = now
        state.steadySince = now
      }
      let start = state.start ?? now
      if now - state.steadySince >= request.leadIn || now - start >= Self.longestLeadIn {
        leadInState = nil
        owedSilence = 0
        return
      }
      leadInState = state
    }
    owedSilence = max(owedSilence, available)
  }
}
