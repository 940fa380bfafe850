import CommandLineKit
import HapticOutputs
import HapticPlayback
import HapticRender
import SoundFile
import SystemSupport
import TransducerCalibration

/// Plays the sweep on a device, and records meanwhile where asked to.
struct SweepPlayer {
  /// What was recorded.
  struct Take {
    let sound: Sound
    /// The second of the sound at which the signal's first sample left the device, by both clocks.
    let origin: Double?
  }

  private let device: String
  private let request: OutputRequest
  private let options: SweepOptions
  private let channel: Int?
  private let time: any TimeSource

  /// Seconds that are recorded behind the signal, for all that comes late: sound servers and networks take up to 3.
  private static let tail = 3.25
  /// The same behind a quick check.
  private static let quickTail = 0.5
  /// Seconds until devices run steadily, after which their clocks are compared.
  private static let settling = 0.25
  /// Frames handed over at a time where nothing else is asked for: haste helps nobody here.
  private static let usualPeriod = 1_024

  /// What a command line asks for.
  init(_ arguments: ParsedArguments, options: SweepOptions, time: any TimeSource) throws(UsageError) {
    channel = try arguments.int("--play-channel", in: OutputRouting.channelCounts)
    let output = try DeviceOptions(arguments, minimumChannelCount: channel ?? 1)
    var request = output.request
    if arguments.value("--period-size") == nil, arguments.value("--buffer-size") == nil {
      request.periodSize = Self.usualPeriod
      request.bufferSize = 8 * Self.usualPeriod
    }
    device = output.device
    self.request = request
    self.options = options
    self.time = time
  }

  /// Plays all of the signal.
  func play() throws {
    let sink = try open()
    let samples = try options.samples(rate: sink.format.rate)
    try run(samples, count: samples.count, on: sink) { _ in true }
  }

  /// Plays what a measurement needs and records it.
  func record(from device: String, channelCount: Int) throws -> Take {
    let sink = try open()
    let rate = sink.format.rate
    let samples: [Float]
    do { samples = try options.signal.samples(rate: rate, isWhole: false) } catch {
      throw UsageError(.invalidValue, error.description)
    }
    do {
      let capture = try ALSACapture(device, rate: Int(rate), channelCount: channelCount, timekeeper: time)
      var recorded: [Float] = []
      var origins: [Double] = []
      let wanted = samples.count + Int((options.isQuick ? Self.quickTail : Self.tail) * rate)
      try capture.start()
      try run(samples, count: .max, on: sink) { written in
        try capture.read(into: &recorded)
        if Double(written) > Self.settling * rate, let first = capture.firstFrameTime() {
          let start = time.now + .inSeconds(Double(sink.delay - written) / rate)
          origins.append((start - first).inSeconds)
        }
        // The capture may have begun earlier than the playback.
        let offset = max(0, origins.last ?? 0)
        return Double(capture.frameCount) >= Double(wanted) + offset * rate
      }
      capture.stop()
      origins.sort()
      return Take(
        sound: Sound(interleaved: recorded, channelCount: channelCount, rate: rate),
        origin: origins.isEmpty ? nil : origins[origins.count / 2])
    } catch let error as ALSAError { throw OutputError(error) }
  }

  private func open() throws(OutputError) -> any AudioSink {
    try OutputRegistry.standard.open(device, request, time: time).sink
  }

  /// Hands frames over, with silence behind them, until a count is reached or `isDone` says so.
  ///
  /// - Parameter isDone: Asked after each turn with the frames that were handed over.
  private func run(_ samples: [Float], count: Int, on sink: any AudioSink, isDone: (Int) throws -> Bool) throws {
    let channels = sink.format.channelCount
    let wake = WakeSignal()
    var written = 0
    var block = [Float](repeating: 0, count: sink.format.bufferSize * channels)
    var hasEnded = false
    defer { if !hasEnded { sink.finish(draining: false) } }
    while true {
      if SignalHandling.isRequested { throw FileError(device, "interrupted") }
      switch sink.wait(wake) {
      case .room(let room):
        for frame in 0..<room {
          let sample = written + frame < samples.count ? samples[written + frame] : 0
          for index in 0..<channels { block[frame * channels + index] = channel ?? index + 1 == index + 1 ? sample : 0 }
        }
        sink.write(block.span.extracting(first: room * channels))
        written += room
      case .woken: break
      case .missed, .behind: throw refusal("underrun during the sweep; use a larger '--buffer-size'")
      case .ended: throw refusal("disconnected during the sweep; reconnect it")
      }
      let isDone = try isDone(written)
      if written >= count || (isDone && count == .max) { break }
    }
    hasEnded = true
    sink.finish(draining: count != .max)
  }

  private func refusal(_ text: String) -> OutputError { OutputError(.other, output: device, text) }
}
