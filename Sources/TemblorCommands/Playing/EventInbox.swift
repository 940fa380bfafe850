import HapticPlayback
import Synchronization

/// What happened on other threads, for the thread of a live verb to take.
final class EventInbox: Sendable {
  /// Raised when something waits to be taken.
  let wake = WakeSignal()
  private let events = Mutex<[LivePlayback.Event]>([])

  /// Puts an event in: [any thread].
  func put(_ event: LivePlayback.Event) {
    events.withLock { $0.append(event) }
    wake.raise()
  }

  /// Takes all events, oldest first, and lowers the signal.
  func take() -> [LivePlayback.Event] {
    wake.lower()
    return events.withLock { events in
      let all = events
      events = []
      return all
    }
  }
}
