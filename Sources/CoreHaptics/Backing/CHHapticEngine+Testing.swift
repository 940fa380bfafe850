internal import Foundation

extension CHHapticEngine {
  /// What was rendered since the last start, where the ground is in memory.
  package func renderedSamples(ofChannel channel: Int) -> [Float] {
    backing.lastVirtualSession?.samples(ofChannel: channel) ?? []
  }

  /// Stops the engine as the system does.
  package func interrupt(_ reason: StoppedReason) { backing.interrupt(reason) }

  /// Resets the engine as the system does.
  package func simulateReset() {
    let backing = backing
    backing.queue.async { backing.reset() }
  }
}
