internal import HapticPlayback

extension ALSASink {
  /// Ends: lets what was handed over be heard, for at most the buffer and 100 ms, or drops it.
  public func finish(draining: Bool) {
    if draining, case .open = phase, let pcm, trouble == nil {
      // A device that fails now has nothing more to be waited for.
      try? drain(pcm)
    }
    if !granted.isPaced { pcm?.drop() }
    pcm = nil
    phase = .ended
  }

  private func drain(_ pcm: PCMBindings) throws(PCMFailure) {
    var now = timekeeper.now
    let limit = now + time.duration(of: granted.bufferSize) + .milliseconds(100)
    var padding = granted.isPaced ? 0 : granted.periodSize
    while now < limit {
      _ = try push(to: pcm)
      if staged.count == 0, padding > 0 {
        // Some devices play whole periods only.
        padding -= max(1, try staged.pushSilence(padding, to: pcm, access: granted.access))
      }
      if !isStarted, waitingCount > 0 { try start(pcm) }
      let left = try remaining(pcm, now: now)
      guard left > .zero || staged.count > 0 else { return }
      for index in watched.indices { watched[index].descriptor = -1 }
      timekeeper.wait(
        for: &watched, timeout: min(max(left, .milliseconds(1)), limit - now, .milliseconds(20)))
      now = timekeeper.now
    }
  }

  /// How long the device will still be heard.
  private func remaining(_ pcm: PCMBindings, now: Duration) throws(PCMFailure) -> Duration {
    if granted.isPaced { return (end ?? now) - now }
    guard isStarted, pcm.state == .running else { return .zero }
    return time.duration(of: try pcm.delay())
  }
}
