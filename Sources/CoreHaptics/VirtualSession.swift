package import HapticPlayback
package import HapticModel
package import HapticRender
internal import Synchronization

/// What the players of a session did, frame by frame.
package struct SessionRecord: Sendable {
  /// The device's time of frame 0, in seconds.
  package let origin: Double
  package let rate: Double
  package let hearsHaptics: Bool
  package let hearsAudio: Bool
  /// The frame up to which it was played.
  package var end: Int64 = 0
  package var plays: [(composition: HapticComposition, changes: [PlayerChange])] = []
}

/// A run in memory, rendered when somebody looks: what sounds with the clock, silence in one step.
package final class VirtualSession: EngineSession, @unchecked Sendable {
  /// Frames rendered at a time.
  static let periodSize = 64

  /// The device's time at which frame 0 is due, in seconds.
  package let origin: Double
  /// Frames that are rendered behind skipped silence, so that gates are open again: 20 ms.
  private let overlap: Int
  private let storedEngine: PlaybackEngine
  private let time = VirtualTimeSource()
  private let sink: VirtualSink
  private let loop: RenderLoop
  private let request: SessionRequest
  private weak var backend: VirtualBackend?
  private var isActive = false
  private var isRunning = true
  private let changes = Changes()
  private(set) var record: SessionRecord
  private var isRecording = true
  /// The players of the record, as long as the renderer has them.
  private var parts: [RenderPlayer?] = []

  /// Whether there is something to look at.
  private final class Changes: Sendable { let areNew = Atomic<Bool>(false) }

  init(
    rate: Double, profile: TransducerProfile, _ request: SessionRequest, on backend: VirtualBackend, at origin: Double
  ) {
    let engine = PlaybackEngine(
      rate: rate, routing: OutputRouting(channelCount: 2, buses: request.buses), profiles: [profile])
    storedEngine = engine
    overlap = Int(rate / 50)
    sink = VirtualSink(
      SinkFormat(
        rate: rate, channelCount: engine.routing.channels.count, periodSize: Self.periodSize,
        bufferSize: Self.periodSize))
    loop = RenderLoop(engine: engine, sink: sink, time: time)
    self.request = request
    self.backend = backend
    self.origin = origin
    record = SessionRecord(
      origin: origin, rate: rate, hearsHaptics: request.buses != .audio, hearsAudio: request.buses != .haptics)
    let changes = changes
    loop.changeHandler = { changes.areNew.store(true, ordering: .relaxed) }
  }

  /// The engine, rendered up to the device's time.
  package var engine: PlaybackEngine {
    backend?.catchUp(self)
    return storedEngine
  }

  /// The device's time at which a command takes effect, in seconds.
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

  /// The device's time of a frame, in seconds.
  package func deviceTime(ofFrame frame: Int64) -> Double { origin + Double(frame) / storedEngine.rate }

  /// Notes whether silence can be skipped.
  package func noteActivity(_ isActive: Bool) { backend?.noteActivity(isActive, of: self) }

  /// Ends the run.
  package func close() { backend?.forget(self) }

  /// What was rendered, one channel of the two.
  package func samples(ofChannel channel: Int) -> [Float] {
    guard let backend else { return sink.samples(ofChannel: channel) }
    backend.catchUp(self)
    return backend.locked { sink.samples(ofChannel: channel) }
  }

  /// Keeps what a player of a pattern does.
  func record(_ player: PatternPlayer, of composition: HapticComposition) {
    backend?.locked {
      record.plays.append((composition, []))
      parts.append(player.firstPart)
    }
  }

  /// Ends the record; what sounds on, nobody has.
  func endRecord() {
    backend?.catchUp(self)
    backend?.locked { isRecording = false }
  }

  func send(_ event: SessionEvent) { request.eventHandler(event) }

  // MARK: Under the lock of the backend

  func setActive(_ isActive: Bool) { self.isActive = isActive }

  /// Renders the frames that are due at a time of the device: [lock].
  func render(to seconds: Double) {
    let rate = storedEngine.rate
    // A thousandth of a frame, since times are kept to the nanosecond.
    let end = Int64((max(0, seconds - origin) * rate + 1e-3).rounded(.down))
    while isRunning {
      let left = Int(end - storedEngine.position)
      guard left > 0 else { return }
      let isSilent = !isActive && sink.silentFrameCount >= min(sink.frameCount, Int(rate / 4))
      if isSilent, left > overlap {
        run(.missed(frameCount: left - overlap))
      } else {
        run(.room(frameCount: min(left, Self.periodSize)))
      }
    }
  }

  /// Fades out and ends: [lock].
  func finish() {
    isRecording = false
    loop.stop()
    while isRunning { run(.room(frameCount: Self.periodSize)) }
  }

  private func run(_ readiness: SinkReadiness) {
    sink.next = readiness
    let before = storedEngine.position
    isRunning = loop.turn()
    time.advance(by: .seconds(Double(storedEngine.position - before) / storedEngine.rate))
    if changes.areNew.exchange(false, ordering: .relaxed) { storedEngine.update() }
    guard isRecording else { return }
    record.end = storedEngine.position
    for index in parts.indices {
      guard let part = parts[index] else { continue }
      record.plays[index].changes += part.takeChanges()
      if part.isReleased { parts[index] = nil }
    }
  }
}

/// Takes as many frames as it is set to, and keeps them.
private final class VirtualSink: AudioSink {
  /// Below this magnitude nothing is heard or felt: −120 dBFS.
  private static let silence: Float = 1e-6

  let format: SinkFormat
  /// What the next wait returns.
  var next = SinkReadiness.woken
  /// Frames of silence at the end of what was taken.
  private(set) var silentFrameCount = 0
  private(set) var frameCount = 0
  /// Interleaved samples, each run with the frame at which it starts; between them is silence.
  private var runs: [(start: Int, samples: [Float])] = []
  private var isContiguous = false

  init(_ format: SinkFormat) { self.format = format }

  var delay: Int { 0 }

  func wait(_ wake: WakeSignal) -> SinkReadiness {
    let readiness = next
    if case .missed(let count) = readiness {
      frameCount += count
      silentFrameCount += count
      isContiguous = false
      next = .woken
    }
    return readiness
  }

  func write(_ frames: Span<Float>) {
    if !isContiguous {
      runs.append((frameCount, []))
      isContiguous = true
    }
    let count = frames.count / format.channelCount
    var isSilent = true
    unsafe frames.withUnsafeBufferPointer { samples in
      for index in samples.indices where unsafe abs(samples[index]) > Self.silence {
        isSilent = false
        break
      }
      unsafe runs[runs.count - 1].samples.append(contentsOf: samples)
    }
    frameCount += count
    silentFrameCount = isSilent ? silentFrameCount + count : 0
  }

  func finish(draining: Bool) {}

  func takeEvents() -> [SinkEvent] { [] }

  func samples(ofChannel channel: Int) -> [Float] {
    var samples = [Float](repeating: 0, count: frameCount)
    let channelCount = format.channelCount
    for run in runs {
      for index in 0..<run.samples.count / channelCount {
        samples[run.start + index] = run.samples[index * channelCount + channel]
      }
    }
    return samples
  }
}
