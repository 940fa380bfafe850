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

/// A session that renders into memory on demand: sound by periods of the clock, silence in one
/// step.
package final class VirtualSession: EngineSession, @unchecked Sendable {
  static let periodSize = 64

  /// The device's time of frame 0, in seconds.
  package let origin: Double
  /// The number of frames that are rendered after skipped silence so that noise gates are open
  /// again: 20 ms.
  private let leadInFrameCount: Int
  private let storedEngine: PlaybackEngine
  private let timeSource = VirtualTimeSource()
  private let sink: VirtualSink
  private let loop: RenderLoop
  let request: SessionRequest
  private weak var backend: VirtualBackend?
  private var isActive = false
  private var isRunning = true
  private(set) var record: SessionRecord
  private var recordsChanges = true
  /// The players that the renderer owns, with their indices in the record.
  private var recordedPlayers: [(play: Int, player: RenderPlayer)] = []

  init(
    rate: Double, profile: TransducerProfile, _ request: SessionRequest, on backend: VirtualBackend,
    at origin: Double
  ) {
    let engine = PlaybackEngine(
      rate: rate, routing: OutputRouting(channelCount: 2, buses: request.buses), profiles: [profile]
    )
    storedEngine = engine
    leadInFrameCount = Int(rate / 50)
    sink = VirtualSink(
      SinkFormat(
        rate: rate, channelCount: engine.routing.channels.count, periodSize: Self.periodSize,
        bufferSize: Self.periodSize))
    loop = RenderLoop(engine: engine, sink: sink, time: timeSource)
    self.request = request
    self.backend = backend
    self.origin = origin
    record = SessionRecord(
      origin: origin, rate: rate, playsHaptics: request.buses != .audio,
      playsAudio: request.buses != .haptics)
  }

  package var engine: PlaybackEngine {
    backend?.renderToNow(self)
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
    guard let backend else { return sink.samples(ofChannel: channel) }
    backend.renderToNow(self)
    return backend.lock.withLock { sink.samples(ofChannel: channel) }
  }

  func record(_ player: PatternPlayer, of composition: HapticComposition) {
    backend?.lock.withLock {
      recordedPlayers.append((record.playerRecords.count, player.audioRenderPlayer))
      record.playerRecords.append((composition, []))
    }
  }

  /// Ends the record. Later sound is not recorded.
  func endRecord() {
    backend?.renderToNow(self)
    backend?.lock.withLock { recordsChanges = false }
  }

  func setActive(_ isActive: Bool) { self.isActive = isActive }

  /// Renders the frames that are due at a time of the device: [lock].
  func render(toDeviceTime seconds: Double) {
    let rate = storedEngine.rate
    // The margin of a thousandth of a frame covers the rounding of times to nanoseconds.
    let end = Int64((max(0, seconds - origin) * rate + 1e-3).rounded(.down))
    while isRunning {
      let remaining = Int(end - storedEngine.position)
      guard remaining > 0 else { return }
      let isSilent = !isActive && sink.silentFrameCount >= min(sink.frameCount, Int(rate / 4))
      if isSilent, remaining > leadInFrameCount {
        runIteration(.missed(frameCount: remaining - leadInFrameCount))
      } else {
        runIteration(.ready(frameCount: min(remaining, Self.periodSize)))
      }
    }
  }

  /// Fades out and ends the session: [lock].
  func finish() {
    recordsChanges = false
    loop.stop()
    while isRunning {
      runIteration(.ready(frameCount: Self.periodSize))
    }
  }

  private func runIteration(_ readiness: SinkReadiness) {
    sink.nextReadiness = readiness
    let previousPosition = storedEngine.position
    isRunning = loop.runIteration()
    timeSource.advance(
      by: .seconds(Double(storedEngine.position - previousPosition) / storedEngine.rate))
    if exchange(&loop.hasChanged, with: false) {
      storedEngine.update()
    }
    guard recordsChanges else { return }
    record.end = storedEngine.position
    for (play, player) in recordedPlayers {
      record.playerRecords[play].changes += player.drainChanges()
    }
    recordedPlayers.removeAll(where: \.player.isReleased)
  }
}

/// A sink that accepts a preset number of frames and stores them.
private final class VirtualSink: AudioSink {
  /// The magnitude below which a sample is silent: −120 dBFS.
  private static let silenceThreshold: Float = 1e-6

  let format: SinkFormat
  var nextReadiness = SinkReadiness.interrupted
  /// The number of silent frames at the end of the output.
  private(set) var silentFrameCount = 0
  private(set) var frameCount = 0
  /// The interleaved samples of each sounding run, with its first frame. Between runs is silence.
  private var soundingRuns: [(start: Int, samples: [Float])] = []
  private var isContiguous = false

  init(_ format: SinkFormat) { self.format = format }

  var delay: Int { 0 }

  func wait(_ wake: WakeSignal) -> SinkReadiness {
    let readiness = nextReadiness
    if case .missed(let count) = readiness {
      frameCount += count
      silentFrameCount += count
      isContiguous = false
      nextReadiness = .interrupted
    }
    return readiness
  }

  func write(_ frames: Span<Float>) {
    if !isContiguous {
      soundingRuns.append((frameCount, []))
      isContiguous = true
    }
    let count = frames.count / format.channelCount
    let isSilent = unsafe frames.withUnsafeBufferPointer { samples in
      unsafe soundingRuns[soundingRuns.count - 1].samples.append(contentsOf: samples)
      return unsafe !samples.contains { abs($0) > Self.silenceThreshold }
    }
    frameCount += count
    silentFrameCount = isSilent ? silentFrameCount + count : 0
  }

  func finish(draining: Bool) {}

  func drainEvents() -> [SinkEvent] { [] }

  func samples(ofChannel channel: Int) -> [Float] {
    var samples = [Float](repeating: 0, count: frameCount)
    let channelCount = format.channelCount
    for run in soundingRuns {
      for index in 0..<run.samples.count / channelCount {
        samples[run.start + index] = run.samples[index * channelCount + channel]
      }
    }
    return samples
  }
}
