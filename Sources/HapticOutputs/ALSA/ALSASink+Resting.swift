internal import HapticPlayback

extension ALSASink {
  /// Stops the device, so that it and its server may sleep; the next wait starts it again.
  ///
  /// Nothing that was handed over may still be to be heard. What sounds after a rest is led in like the first
  /// frame.
  public func rest() -> Bool {
    guard case .open = phase, isStarted, let pcm, trouble == nil, interruption == nil, staged.count == 0,
      !granted.isJACKClient
    else { return false }
    pcm.drop()
    phase = .resting
    return true
  }

  /// Makes the device ready to be filled, as if it had just been opened.
  func resumeFromRest() {
    guard let pcm else { return phase = .ended }
    let now = timekeeper.now
    end = nil
    isSettled = false
    settlingSince = nil
    lag = .zero
    lastReturn = nil
    do {
      try pcm.prepare()
      restart()
      beginLeadIn()
    } catch { lose(error, now: now) }
  }
}
