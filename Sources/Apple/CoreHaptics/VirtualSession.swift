internal import Dispatch
internal import Foundation
internal import Glibc
internal import Synchronization
package import HapticModel
package import HapticPlayback
package import HapticRender

/// A record of all changes of the players in a session, with their frames.
package struct SessionRecord: Sendable {
  /// The device's time at frame 0 of the session, in seconds.
  package let originSeconds: Double
  package let sampleRateHertz: Double
  package let playsHaptics: Bool
  package let playsAudio: Bool
  package var endFrame: Int64 = 0
  package var playerRecords: [(composition: HapticComposition, changes: [PlayerChange])] = []
}

/// A session of an engine in which players advance in virtual time.
///
/// Samples are rendered when a test requests them, from the commands that the engine received: most
/// tests need no samples, and rendering is by far the most expensive part of playback.
package final class VirtualSession: EngineSession, @unchecked Sendable {
  static let renderPeriodFrameCount = 64

  /// The device's time at frame 0 of the session, in seconds.
  package let originSeconds: Double
  private let storedPlaybackEngine: PlaybackEngine
  private let playbackSimulation: PlaybackSimulation
  private let eventRecorder = SessionEventRecorder()
  private let sampleRenderer: SampleRenderer
  let sessionRequest: SessionRequest
  private weak var backend: VirtualBackend?
  private var isRunning = true
  private(set) var sessionRecord: SessionRecord
  private var recordsPlayerChanges = true
  /// The players that the simulation owns, each with its index in the session's record.
  private var recordedPlayers: [(play: Int, player: RenderPlayer)] = []

  init(
    rate: Double, profile: TransducerProfile, _ request: SessionRequest, on backend: VirtualBackend,
    at origin: Double
  ) {
    func makeEngine() -> PlaybackEngine {
      PlaybackEngine(
        rate: rate, routing: OutputRouting(channelCount: 2, buses: request.audibleBuses),
        profiles: [profile])
    }
    storedPlaybackEngine = makeEngine()
    playbackSimulation = PlaybackSimulation(storedPlaybackEngine)
    sampleRenderer = SampleRenderer(makeEngine: makeEngine)
    self.sessionRequest = request
    self.backend = backend
    self.originSeconds = origin
    sessionRecord = SessionRecord(
      originSeconds: origin, sampleRateHertz: rate, playsHaptics: request.audibleBuses != .audio,
      playsAudio: request.audibleBuses != .haptics)
    storedPlaybackEngine.setCommandRecorder { [eventRecorder] position, commands in
      eventRecorder.append(.commands(commands), atFrame: position)
    }
  }

  package var playbackEngine: PlaybackEngine {
    backend?.advanceToCurrentTime(self)
    return storedPlaybackEngine
  }

  /// Returns the device's time at which a command takes effect, in seconds.
  package func deviceSeconds(of time: PlaybackTime) -> Double {
    let sampleRateHertz = storedPlaybackEngine.rate
    let commandFrame =
      switch time {
      case .now: Int64(0)
      case .frame(let frame): frame
      case .seconds(let seconds): Int64((min(max(seconds, 0), 1e9) * sampleRateHertz).rounded())
      }
    return deviceSeconds(ofFrame: max(commandFrame, playbackEngine.position))
  }

  package func deviceSeconds(ofFrame frame: Int64) -> Double {
    originSeconds + Double(frame) / storedPlaybackEngine.rate
  }

  package func updatePlayerActivity(_ isActive: Bool) {
    backend?.updatePlayerActivity(isActive, of: self)
  }

  package func close() { backend?.close(self) }

  package func samples(ofChannel channel: Int) -> [Float] {
    guard let backend else { return renderedSamples(ofChannel: channel) }
    backend.advanceToCurrentTime(self)
    return backend.lock.withLock { renderedSamples(ofChannel: channel) }
  }

  /// Returns the samples of a channel, rendered to the current frame. Requires the lock.
  private func renderedSamples(ofChannel channel: Int) -> [Float] {
    sampleRenderer.render(eventRecorder.drainEvents(), untilFrame: storedPlaybackEngine.position)
    return sampleRenderer.samples(ofChannel: channel)
  }

  func recordPlayer(_ player: PatternPlayer, of composition: HapticComposition) {
    backend?.lock.withLock {
      recordedPlayers.append((sessionRecord.playerRecords.count, player.audioRenderPlayer))
      sessionRecord.playerRecords.append((composition, []))
    }
  }

  /// Ends the record of the session. Later changes of players are not recorded.
  func endRecording() {
    backend?.advanceToCurrentTime(self)
    backend?.lock.withLock { recordsPlayerChanges = false }
  }

  /// Records a change in whether the session has an active player.
  ///
  /// An active player plays, is paused, or waits for its start. Requires the lock.
  func setHasActivePlayer(_ isActive: Bool) {
    eventRecorder.append(.playerActivity(isActive), atFrame: storedPlaybackEngine.position)
  }

  /// The device's time of the next possible change, in seconds, or nil without a change.
  ///
  /// A change is the end or start of a pass of a player, or a due command. Requires the lock.
  var deviceSecondsOfNextChange: Double? {
    guard isRunning else { return nil }
    return playbackSimulation.nextStateChangeFrame.map { deviceSeconds(ofFrame: $0) }
  }

  /// Advances the players of the session to a time on the device's clock, in seconds.
  ///
  /// Requires the lock.
  func advance(toDeviceSeconds seconds: Double) {
    // The margin of a thousandth of a frame covers the rounding of times to nanoseconds.
    let endFrame = Int64(
      (max(0, seconds - originSeconds) * storedPlaybackEngine.rate + 1e-3).rounded(.down))
    while isRunning, storedPlaybackEngine.position < endFrame {
      // A player stores the changes of a period only.
      let nextChange = max(
        storedPlaybackEngine.position, playbackSimulation.nextStateChangeFrame ?? endFrame)
      let target = min(endFrame, nextChange + Int64(Self.renderPeriodFrameCount))
      playbackSimulation.advance(frameCount: Int(target - storedPlaybackEngine.position))
      recordPlayerChanges()
    }
  }

  private func recordPlayerChanges() {
    guard recordsPlayerChanges else { return }
    sessionRecord.endFrame = storedPlaybackEngine.position
    for (play, player) in recordedPlayers {
      sessionRecord.playerRecords[play].changes += player.drainChanges()
    }
    recordedPlayers.removeAll(where: \.player.isReleased)
  }

  /// Ends the session with a fade-out. Requires the lock.
  func endSession() {
    guard isRunning else { return }
    isRunning = false
    recordsPlayerChanges = false
    eventRecorder.append(.stop, atFrame: storedPlaybackEngine.position)
  }
}
