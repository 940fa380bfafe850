import FaultyPCM
import HapticModel
import HapticRender
import Synchronization

@testable import HapticOutputs
@testable import HapticPlayback

/// A render loop on a faulty device, at 8,000 Hz with a buffer of 20 ms. Whenever a call of the
/// device hangs, another sink takes over, as in live playback.
final class FaultyPlaybackFixture {
  static let rate = 8_000
  static let bufferSize = 160

  let device = FaultyDevice()
  let time: DeviceTime
  let engine: PlaybackEngine
  let loop: RenderLoop
  private let request: PCMRequest
  private(set) var notices: [SinkEvent] = []
  private(set) var playedFrameCount = 0
  private(set) var hangCount = 0
  private var isStopping = false
  /// The time of the request to stop.
  private(set) var stopTime = Duration.zero
  /// The time of the first frame that was heard.
  private(set) var firstSoundTime: Duration?

  /// Opens a device.
  ///
  /// - Parameters:
  ///   - results: The results of calls that are forced.
  ///   - hanging: The calls on other threads, opening again or closing, that never return.
  init(
    results: @escaping @Sendable (PCMCall) -> Int? = { _ in nil }, hanging: Set<PCMCall> = []
  ) throws {
    device.capabilities.rates = [Self.rate]
    time = DeviceTime(device)
    engine = PlaybackEngine(rate: Double(Self.rate), routing: OutputRouting(channelCount: 2))
    request = PCMRequest(
      device: "faulty", rate: Self.rate, access: .readWrite, periodSize: Self.bufferSize / 4,
      bufferSize: Self.bufferSize)
    let interception = device.interception(results: results, hanging: hanging)
    let sink = try ALSASink(request, clock: time, interception: interception)
    let grantedConfiguration = sink.configuration
    let format = sink.format
    loop = RenderLoop(engine: engine, sink: sink, time: time)
    device.listener = { [unowned self] startTime, samples, channelCount in
      for frame in 0..<(samples.count / channelCount) where samples[frame * channelCount] != 0 {
        playedFrameCount += 1
        firstSoundTime = firstSoundTime ?? startTime
      }
    }
    device.hangHandler = { [unowned self] in
      hangCount += 1
      // Live playback opens a device on another thread, and replaces no sink during its end.
      if case .disconnected = (loop.sink as? ALSASink)?.recovery.phase { return }
      guard !isStopping else { return }
      let time = time
      let request = request
      nonisolated(unsafe) let loop = loop
      let replacementThread = try? BackgroundThread {
        _ = unsafe loop.replaceSink { dueTime, lostFrames in
          ALSASink(
            replacing: request, configuration: grantedConfiguration, format: format, clock: time,
            due: dueTime,
            lostFrameCount: lostFrames, interception: interception)
        }
      }
      replacementThread?.wait(within: nil)
    }
  }

  /// The number of frames that were missed.
  var missedFrameCount: Int { notices.map(\.missedFrameCount).reduce(lostFrameCount, +) }
  private var lostFrameCount = 0

  /// Starts a steady sound without an end.
  func startHum() throws {
    let event = HapticEvent(
      kind: .hapticContinuous, time: 0, duration: 60,
      parameters: [.hapticIntensity: 0.8, .hapticSharpness: 0.5])
    try engine.player(for: HapticPattern(events: [event])).start()
  }

  /// Runs until a time. Returns false if time does not advance.
  func run(until endTime: Duration) -> Bool {
    var stalledIterationCount = 0
    var previousTime = time.now
    while time.now < endTime {
      // After a call that hung, the loop belongs to the replacement.
      _ = loop.runIteration()
      notices += loop.drainEvents()
      stalledIterationCount = time.now > previousTime ? 0 : stalledIterationCount + 1
      previousTime = time.now
      if stalledIterationCount > 10_000 { return false }
    }
    return true
  }

  /// Ends the loop, as live playback does. Returns the time until all events were reported; nil if
  /// it does not end.
  func stop() -> Duration? {
    let start = time.now
    stopTime = start
    isStopping = true
    let initialHangCount = hangCount
    loop.stop()
    for _ in 0..<100_000 {
      let mayContinue = loop.runIteration()
      notices += loop.drainEvents()
      // Live playback abandons a call that hangs at the end, and counts the frames that were due.
      if hangCount > initialHangCount {
        let reading = loop.clock.reading
        let overdueFrames = (start - reading.readingTime) / .seconds(1) * Double(Self.rate)
        lostFrameCount = max(0, Int(overdueFrames) - min(reading.delayFrameCount, Self.bufferSize))
        return .zero
      }
      if loop.hasFinished.load(ordering: .relaxed) {
        let duration = time.now - start
        _ = loop.runIteration()
        return duration
      }
      if !mayContinue { return time.now - start }
    }
    return nil
  }
}
