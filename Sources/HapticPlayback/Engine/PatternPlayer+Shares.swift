internal import HapticModel
internal import HapticRender

extension PatternPlayer {
  /// Moves what each haptic bus gets of the pattern, all in the same frames; audio stays as it is.
  ///
  /// A later call takes the place of an earlier one whose moves are not over.
  ///
  /// - Parameters:
  ///   - steps: Factors for the buses, one list after the other; each takes an equal part of the ramp.
  ///   - ramp: Seconds for all; 0 sets the last list at once.
  public func setSendGains(
    _ steps: [[Double]], over ramp: Double = 0, at time: PlaybackTime = .now
  ) throws(PlaybackError) {
    let asked = time.frame(rate: engine.rate)
    let length = FrameConversion.frame(seconds: max(0, ramp), rate: engine.rate)
    let steps = length > 0 ? steps : Array(steps.suffix(1))
    guard !steps.isEmpty else { return }
    // What is to move now moves with the next block; its steps count from there.
    let start = steps.count > 1 ? max(asked, engine.position) : asked
    let serial = core.withState { state in
      state.shareSerial += 1
      return state.shareSerial
    }
    var commands: [RenderCommand] = []
    for (index, shares) in steps.enumerated() {
      let begin = length * Int64(index) / Int64(steps.count)
      let end = length * Int64(index + 1) / Int64(steps.count)
      for (bus, part) in core.parts.enumerated() {
        let share = bus < shares.count ? shares[bus] : 1
        commands.append(
          .share(
            part, share.isFinite ? max(0, share) : 0, over: Int(end - begin), serial: serial,
            at: start + begin))
      }
    }
    try engine.send([core], commandCount: steps.count, commands)
  }
}
