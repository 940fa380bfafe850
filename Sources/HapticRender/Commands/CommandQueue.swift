internal import RealtimeMemory
internal import Synchronization

/// Commands on their way from the control side to the render thread; neither ever waits for the other.
///
/// One thread at a time may send and one may take.
struct CommandQueue: ~Copyable {
  /// Commands that fit; a power of two.
  static var capacity: Int {
    @_noLocks get { 1_024 }
  }

  private let commands = FixedBuffer(
    repeating: RenderCommand(.nothing, at: 0), count: capacity)
  private let sent = Atomic<Int>(0)
  private let taken = Atomic<Int>(0)

  /// An empty queue.
  init() {}

  /// Sends commands that are taken together, or answers that there is no room for all.
  func send(_ batch: [RenderCommand]) -> Bool {
    let place = sent.load(ordering: .relaxed)
    guard place + batch.count - taken.load(ordering: .acquiring) <= Self.capacity else {
      return false
    }
    for (index, command) in batch.enumerated() {
      commands[(place + index) & (Self.capacity - 1)] = command
    }
    sent.store(place + batch.count, ordering: .releasing)
    return true
  }

  /// Takes the oldest command into a variable, or answers that there is none.
  @_noLocks
  func take(_ command: inout RenderCommand) -> Bool {
    let place = taken.load(ordering: .relaxed)
    guard place != sent.load(ordering: .acquiring) else { return false }
    command = commands[place & (Self.capacity &- 1)]
    taken.store(place &+ 1, ordering: .releasing)
    return true
  }
}
