public import HapticPlayback
internal import _Concurrency

extension PatternPlayer {
  /// Waits for the next end, by itself or by a stop.
  ///
  /// Returns at once where the player is idle and no start is to come, and without an end where the
  /// driver has stopped or the task is cancelled.
  public var finished: Void {
    get async {
      let count = endCount
      // In this order: a start between two looks must not seem an end.
      if !isWaitingToStart, phase == .idle { return }
      let waiter = makeWaiterID()
      await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
          addWaiter(waiter, afterEndCount: count) { continuation.resume() }
          // A task that was cancelled before has resumed nothing yet.
          if Task.isCancelled {
            resumeWaiter(waiter)
          }
        }
      } onCancel: {
        resumeWaiter(waiter)
      }
    }
  }
}
