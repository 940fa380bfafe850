import TemblorLab

/// Programs as users of the library write them, with one import each and at most ten lines.
enum Programs {
  static func renderToBuffer(_ path: String) throws -> [Float] {
    let composition = try HapticComposition(contentsOf: path)
    return try composition.render().samples
  }

  static func writeWAV(_ path: String, profile name: String, to output: String) throws {
    let profile = ProfileCatalog.profile(named: name) ?? .phone
    let sound = try HapticComposition(contentsOf: path).render(profile: profile)
    try sound.write(to: output)
  }

  static func playLive(_ path: String, on device: String) async throws {
    let output = try OutputRegistry.standard.open(device, OutputRequest())
    let routing = OutputRouting(channelCount: output.format.channelCount)
    let engine = PlaybackEngine(rate: output.format.rate, routing: routing)
    let player = try engine.player(for: HapticComposition(contentsOf: path))
    let playback = try LivePlayback(engine, sink: output.sink)
    try player.start()
    await player.finished
    playback.stopPlayback()
  }

  static func playIntoOwnOutput(_ path: String, report: @escaping @Sendable (Float) -> Void)
    async throws
  {
    let engine = PlaybackEngine()
    let player = try engine.player(for: HapticComposition(contentsOf: path))
    try player.start()
    let sink = PeakSink(report: report)
    let playback = try LivePlayback(engine, sink: sink, time: VirtualTimeSource())
    await player.finished
    playback.stopPlayback()
  }

  static func analyse(_ path: String) throws -> (peak: Double, onsets: [Double]) {
    let signal = try HapticComposition(contentsOf: path).render().signal
    return (try Levels(of: signal).samplePeakAmplitude, Onsets(in: signal).map(\.timeSeconds))
  }

  static func compare(_ path: String, with otherPath: String) throws -> [String] {
    let reference = try HapticComposition(contentsOf: path)
    return try reference.compare(with: HapticComposition(contentsOf: otherPath)).sentences
  }
}

/// A custom output that measures the peak of the samples it receives.
final class PeakSink: AudioSink {
  let format = SinkFormat(rate: 48_000, channelCount: 1, periodSize: 240, bufferSize: 960)
  private let report: @Sendable (Float) -> Void
  private var pace: SinkPacer
  private var peak: Float = 0

  init(report: @escaping @Sendable (Float) -> Void) {
    self.report = report
    pace = SinkPacer(format, time: VirtualTimeSource())
  }

  var delayFrames: Int { pace.delayFrameCount }
  func wait(_ wake: WakeSignal) -> SinkReadiness { pace.wait(wake) }
  func write(_ frames: Span<Float>) {
    for index in frames.indices {
      peak = max(peak, abs(frames[index]))
    }
    pace.recordWritten(frames.count)
  }
  func finish(draining: Bool) { report(peak) }
  func drainEvents() -> [SinkEvent] { [] }
}
