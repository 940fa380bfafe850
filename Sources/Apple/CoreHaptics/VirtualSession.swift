internal import Dispatch
internal import Foundation
internal import Glibc
internal import Synchronization
package import HapticModel
package import HapticPlayback
package import HapticRender

/// The frame-by-frame record of a session's players.
package struct SessionRecord: Sendable {
  /// The device's time of frame 0, in seconds.
  package let origin: Double
  package let rate: Double
  package let playsHaptics: Bool
  package let playsAudio: Bool
  package var end: Int64 = 0
  package var playerRecords: [(composition: HapticComposition, changes: [PlayerChange])] = []
}

/// A session whose players advance in virtual time.
///
/// Samples are rendered when a test requests them, from the commands that the engine received: most
/// tests need no samples, and rendering is by far the most expensive part of playback.
package final class VirtualSession: EngineSession, @unchecked Sendable {
  static let periodSize = 64

  /// The device's time of frame 0, in seconds.
  package let origin: Double
  private let storedEngine: PlaybackEngine
  private let simulation: PlaybackSimulation
  private let recorder = SessionRecorder()
  private let sampleRenderer: SampleRenderer
  let request: SessionRequest
  private weak var backend: VirtualBackend?
  private var isRunning = true
  private(set) var record: SessionRecord
  private var recordsChanges = true
  /// The players that the simulation owns, with their indices in the record.
  private var recordedPlayers: [(play: Int, player: RenderPlayer)] = []

  init(
    rate: Double, profile: TransducerProfile, _ request: SessionRequest, on backend: VirtualBackend,
    at origin: Double
  ) {
    func makeEngine() -> PlaybackEngine {
      PlaybackEngine(
        rate: rate, routing: OutputRouting(channelCount: 2, buses: request.buses),
        profiles: [profile])
    }
    storedEngine = makeEngine()
    simulation = PlaybackSimulation(storedEngine)
    sampleRenderer = SampleRenderer(makeEngine: makeEngine)
    self.request = request
    self.backend = backend
    self.origin = origin
    record = SessionRecord(
      origin: origin, rate: rate, playsHaptics: request.buses != .audio,
      playsAudio: request.buses != .haptics)
    storedEngine.setCommandRecorder { [recorder] position, commands in
      recorder.append(.commands(commands), at: position)
    }
  }

  package var engine: PlaybackEngine {
    backend?.advanceToNow(self)
    return storedEngine
  }

  /// Returns the device's time at which a command takes effect, in seconds.
  package func deviceTime(of time: PlaybackTime) -> Double {
    let rate = storedEngine.rate
    let frame =
      switch time {
      case .now: Int64(0)
      case .frame(let frame): frame
      case .seconds(let seconds): Int64((min(max(seconds, 0), 1e9) * rate).rounded())
      }
    return deviceTime(ofFrame: max(frame, engine.position))
  }

  package func deviceTime(ofFrame frame: Int64) -> Double {
    origin + Double(frame) / storedEngine.rate
  }

  package func updateActivity(_ isActive: Bool) { backend?.updateActivity(isActive, of: self) }

  package func close() { backend?.close(self) }

  package func samples(ofChannel channel: Int) -> [Float] {
    guard let backend else { return renderedSamples(ofChannel: channel) }
    backend.advanceToNow(self)
    return backend.lock.withLock { renderedSamples(ofChannel: channel) }
  }

  /// Renders the samples of a channel to the current frame: [lock].
  private func renderedSamples(ofChannel channel: Int) -> [Float] {
    sampleRenderer.render(recorder.drainEvents(), until: storedEngine.position)
    return sampleRenderer.samples(ofChannel: channel)
  }

  func record(_ player: PatternPlayer, of composition: HapticComposition) {
    backend?.lock.withLock {
      recordedPlayers.append((record.playerRecords.count, player.audioRenderPlayer))
      record.playerRecords.append((composition, []))
    }
  }

  /// Ends the record. Later sound is not recorded.
  func endRecord() {
    backend?.advanceToNow(self)
    backend?.lock.withLock { recordsChanges = false }
  }

  /// Records whether a player plays, is paused, or waits for its start: [lock].
  func setActive(_ isActive: Bool) {
    recorder.append(.activity(isActive), at: storedEngine.position)
  }

  /// The device's time at which a player may end or start a pass, or at which a command is due, in
  /// seconds; nil if there is none: [lock].
  var nextChangeTime: Double? {
    guard isRunning else { return nil }
    return simulation.nextChange.map { deviceTime(ofFrame: $0) }
  }

  /// Advances the players to a time of the device: [lock].
  func advance(toDeviceTime seconds: Double) {
    // The margin of a thousandth of a frame covers the rounding of times to nanoseconds.
    let end = Int64((max(0, seconds - origin) * storedEngine.rate + 1e-3).rounded(.down))
    while isRunning, storedEngine.position < end {
      // A player stores the changes of a period only.
      let nextChange = max(storedEngine.position, simulation.nextChange ?? end)
      let target = min(end, nextChange + Int64(Self.periodSize))
      simulation.advance(frameCount: Int(target - storedEngine.position))
      recordChanges()
    }
  }

  private func recordChanges() {
    guard recordsChanges else { return }
    record.end = storedEngine.position
    for (play, player) in recordedPlayers {
      record.playerRecords[play].changes += player.drainChanges()
    }
    recordedPlayers.removeAll(where: \.player.isReleased)
  }

  /// Ends the session with a fade-out: [lock].
  func finish() {
    guard isRunning else { return }
    isRunning = false
    recordsChanges = false
    recorder.append(.stop, at: storedEngine.position)
  }
}
