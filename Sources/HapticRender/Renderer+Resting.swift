internal import RealtimeMemory
internal import Synchronization

/// Nothing to render for a while: the device may sleep.
extension Renderer {
  /// The frame until which no player runs unless commands are sent; the position while one does: [render
  /// thread].
  ///
  /// What fades out, and what the output chain still holds, is not looked at.
  public var quietEnd: Int64 {
    @_noLocks get {
      var index = 0
      while index < playerCount {
        if players[index].value.phase.isPlaying { return position }
        index &+= 1
      }
      return schedule.nextTime > position ? schedule.nextTime : position
    }
  }

  /// Announces a rest, in which sent commands wake the driver, and takes what was sent before:
  /// [render thread].
  ///
  /// - Returns: `quietEnd`; at the position, there is no rest.
  @_noLocks public mutating func beginIdle() -> Int64 {
    link.value.isIdle.store(true, ordering: .relaxed)
    // Either the sender sees the rest, or this thread what was sent.
    atomicMemoryFence(ordering: .sequentiallyConsistent)
    takeCommands()
    return quietEnd
  }

  /// Ends a rest: [render thread].
  @_noLocks public func endIdle() { link.value.isIdle.store(false, ordering: .relaxed) }

  /// Lets the frames of a rest go by; commands sent meanwhile are for what follows: [render thread].
  ///
  /// - Returns: `quietEnd`.
  @_noLocks public mutating func skipIdle(frameCount: Int) -> Int64 {
    skip(frameCount: frameCount, takesCommands: false)
    takeCommands()
    return quietEnd
  }
}
