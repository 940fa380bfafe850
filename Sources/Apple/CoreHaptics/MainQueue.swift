internal import Dispatch
internal import Foundation
internal import HapticPlayback

/// A namespace for the main queue, whose work any thread of a test process may run.
package enum MainQueue {
  private static let mainQueueMarkerKey: DispatchSpecificKey<Bool> = {
    let queueKey = DispatchSpecificKey<Bool>()
    DispatchQueue.main.setSpecific(key: queueKey, value: true)
    return queueKey
  }()

  /// A Boolean value that indicates whether the current thread runs work of the main queue.
  package static var isCurrent: Bool {
    DispatchQueue.getSpecific(key: mainQueueMarkerKey) == true || Thread.isMainThread
  }
}

/// A service that runs main-queue blocks while a call occupies the main queue.
///
/// Other threads of a device submit the blocks, and wait for them.
///
/// A call such as `interrupt()` returns when the handlers of the application have returned. On a
/// phone, the main queue is free meanwhile, so a handler may wait for it: by
/// `DispatchQueue.main.sync`, or by a notification whose observer has the queue `.main`. A call
/// that occupies the main queue therefore runs these blocks itself. Otherwise the main queue runs
/// them in their turn.
package final class MainQueueService: @unchecked Sendable {
  private let condition = NSCondition()
  /// The blocks that have not run yet, in order. The condition guards them.
  private var pendingBlocks: [@Sendable () -> Void] = []

  package init() {}

  /// Adds a block to the service.
  ///
  /// For each block, `runNextBlock()` must be called once on the main queue.
  package func addBlock(_ block: @escaping @Sendable () -> Void) {
    condition.withLock {
      pendingBlocks.append(block)
      condition.broadcast()
    }
  }

  /// Runs the next block on the main queue, if any block is pending.
  ///
  /// A call that occupies the main queue may have run all blocks.
  package func runNextBlock() {
    let firstBlock = condition.withLock {
      pendingBlocks.isEmpty ? nil : pendingBlocks.removeFirst()
    }
    firstBlock?()
  }

  /// Waits until all blocks that have been submitted to a serial queue so far have run.
  func waitForSubmittedBlocks(of queue: DispatchQueue) {
    guard MainQueue.isCurrent else { return queue.sync {} }
    let completionFlag = CompletionFlag()
    WorkOwner.withoutDevice {
      queue.async {
        self.condition.withLock {
          completionFlag.isSet = true
          self.condition.broadcast()
        }
      }
    }
    while let block = nextBlock(until: completionFlag) {
      block()
    }
  }

  /// Waits for the next block to run.
  ///
  /// Returns nil when the awaited blocks are complete and no block remains.
  private func nextBlock(until completion: CompletionFlag) -> (@Sendable () -> Void)? {
    condition.withLock {
      while pendingBlocks.isEmpty {
        if completion.isSet { return nil }
        condition.wait()
      }
      return pendingBlocks.removeFirst()
    }
  }

  /// A flag that marks the completion of the awaited blocks. The condition guards it.
  private final class CompletionFlag: @unchecked Sendable {
    var isSet = false
  }
}

/// A record of the calls that currently block threads, for the report about a hang.
///
/// The threads belong to a device's test.
package final class WaitingCalls: Sendable {
  private let runningCallNames = Locked<[String]>([])

  package init() {}

  /// The distinct names of the calls in progress, in the order in which they began.
  package var distinctCallNames: [String] {
    runningCallNames.withLock { calls in
      var names: [String] = []
      for call in calls where !names.contains(call) {
        names.append(call)
      }
      return names
    }
  }

  package func beginCall(_ name: String) { runningCallNames.withLock { $0.append(name) } }

  package func endCall(_ name: String) {
    runningCallNames.withLock { calls in
      guard let index = calls.lastIndex(of: name) else { return }
      calls.remove(at: index)
    }
  }

  /// Runs a call that may block its thread, and keeps a record of its name until it returns.
  package func recordingCall<Result>(_ name: String, _ body: () throws -> Result) rethrows -> Result
  {
    beginCall(name)
    defer { endCall(name) }
    return try body()
  }
}
