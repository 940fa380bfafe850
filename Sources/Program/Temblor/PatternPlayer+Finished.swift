public import HapticPlayback
internal import _Concurrency

extension PatternPlayer {
  /// Waits until playback ends, either at the end of the pattern or because the player is stopped.
  ///
  /// Returns immediately if the player is idle and no start is pending. Also returns, without an
  /// end of playback, if the driver stops or the task is canceled.
  public var finished: Void {
    get async {
      let count = endCount
      // The order matters: a start between the two checks must not look like an end.
      if !isWaitingToStart, phase == .idle { return }
      let waiter = makeEndWaiterID()
      await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
          addEndWaiter(waiter, afterEndCount: count) { continuation.resume() }
          // The cancellation of an already canceled task found no waiter to resume.
          if Task.isCancelled {
            resumeEndWaiter(waiter)
          }
        }
      } onCancel: {
        resumeEndWaiter(waiter)
      }
    }
  }
}
