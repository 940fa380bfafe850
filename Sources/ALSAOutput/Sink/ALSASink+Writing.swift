internal import HapticPlayback
internal import PCMSamples

extension ALSASink {
  /// Takes interleaved frames; what the device does not take at once follows as it has room.
  public func write(_ frames: Span<Float>) {
    guard case .open = phase, let pcm else { return }
    let frameCount = frames.count / format.channelCount
    guard frameCount > 0 else { return }
    staged.stage(
      frames.extracting(first: frameCount * format.channelCount), frameCount: frameCount,
      with: &encoder)
    do {
      _ = try push(to: pcm)
    } catch {
      trouble = trouble ?? error
    }
  }

  /// Hands over what waits, and starts the device once it is full: the number of frames it took.
  func push(to pcm: PCMBindings) throws(PCMFailure) -> Int {
    var total = 0
    var isSilence = owedSilence > 0
    while isSilence || staged.count > 0 {
      let taken =
        isSilence
        ? try staged.pushSilence(owedSilence, to: pcm, access: granted.access)
        : try staged.push(to: pcm, access: granted.access)
      if taken == 0 { break }
      if isSilence { owedSilence -= taken }
      isSilence = owedSilence > 0
      total += taken
      count(taken)
      // Full when there is no room for another period.
      if !isStarted, waitingCount + granted.periodSize > granted.bufferSize { try start(pcm) }
    }
    return total
  }

  /// Takes note of frames the device has taken.
  private func count(_ frameCount: Int) {
    if !isStarted { waitingCount += frameCount }
    end = end.map { $0 + time.duration(of: frameCount) }
    lastAvailable -= frameCount
    lastProgress = timekeeper.now
  }

  /// Lets the device play what it took.
  func start(_ pcm: PCMBindings) throws(PCMFailure) {
    try pcm.start()
    isStarted = true
    let now = timekeeper.now
    let begun = now + time.duration(of: waitingCount)
    // After an interruption the buffer took a moment to fill; the next one makes good for it.
    if let end { lag += begun - end }
    end = begun
    waitingCount = 0
    lastProgress = now
  }
}
