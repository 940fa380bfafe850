import HapticFormats
import HapticModel
import HapticOutputs
import HapticPlayback
import HapticRender
import PlayRig
import ShippedFiles
import SoundFile
import TestSupport
import Testing

/// Playback through ALSA equals an offline rendering, byte for byte, at every period size and
/// encoding.
///
/// The `file` device of ALSA writes all frames to a file, and does not wait in real time.
@Suite struct FilePlugInTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test(arguments: ShippedPatterns.names) func shippedPatternsArriveBitByBit(name: String) throws {
    let pattern = try PlaybackTestPattern.named(name)
    for (encoding, periods) in [(SampleEncoding.s16, [64, 1_024]), (.float, [441])] {
      let (expectedBytes, frameCount) = try offline(pattern, channelCount: 2, encoding: encoding)
      for period in periods {
        let playedBytes = try play(
          pattern, frameCount: frameCount, period: period, channelCount: 2, encoding: encoding)
        #expect(
          firstDifference(playedBytes, expectedBytes) == nil,
          "\(encoding) in periods of \(period) frames")
      }
    }
  }

  @Test(
    arguments: ["earthquake-splash", "heartbeat", "trigger-pattern"],
    [SampleEncoding.s24Packed, .s24, .s32])
  func everyEncodingArrivesBitByBit(name: String, encoding: SampleEncoding) throws {
    let pattern = try PlaybackTestPattern.named(name)
    for channelCount in [1, 6] {
      let (expectedBytes, frameCount) = try offline(
        pattern, channelCount: channelCount, encoding: encoding)
      for period in [16, 4_096] {
        for access in PCMAccess.allCases {
          let playedBytes = try play(
            pattern, frameCount: frameCount, period: period, channelCount: channelCount,
            encoding: encoding,
            access: access)
          #expect(
            firstDifference(playedBytes, expectedBytes) == nil,
            "\(channelCount) channels in periods of \(period) frames, \(access)")
        }
      }
    }
  }

  @Test(arguments: [8_000, 44_100, 96_000, 192_000]) func everyRateArrivesBitByBit(rate: Int) throws
  {
    let pattern = try PlaybackTestPattern.named("earthquake-splash")
    let (expectedBytes, frameCount) = try offline(
      pattern, channelCount: 2, encoding: .s16, rate: rate)
    let playedBytes = try play(
      pattern, frameCount: frameCount, period: 441, channelCount: 2, encoding: .s16, rate: rate)
    #expect(firstDifference(playedBytes, expectedBytes) == nil)
  }

  @Test func firstDifferenceIsFound() {
    #expect(firstDifference([0, 1, 2, 3], [0, 1, 2]) == nil)
    #expect(firstDifference([0, 1, 3], [0, 1, 2]) == 2)
    #expect(firstDifference([0, 1], [0, 1, 2]) == 2)
  }

  // MARK: -

  /// Returns the position of the first byte that differs from the expected bytes, or is missing;
  /// nil if there is none.
  private func firstDifference(_ playedBytes: [UInt8], _ expectedBytes: [UInt8]) -> Int? {
    if playedBytes.starts(with: expectedBytes) { return nil }
    return zip(playedBytes, expectedBytes).enumerated().first { $1.0 != $1.1 }?.offset
      ?? min(playedBytes.count, expectedBytes.count)
  }

  /// Plays a pattern on the `file` device from the first frame on, and returns the bytes of its
  /// file.
  private func play(
    _ pattern: HapticPattern, frameCount: Int64, period: Int, channelCount: Int,
    encoding: SampleEncoding,
    access: PCMAccess? = nil, rate: Int = 48_000
  ) throws -> [UInt8] {
    let time = VirtualTimeSource()
    let sink = try ALSASink(
      PCMRequest(
        device: "file:FILE=\(folder.path)/played.raw,FORMAT=raw", rate: rate,
        channels: .exactly(channelCount),
        encoding: encoding, access: access, periodSize: period, bufferSize: 4 * period),
      clock: time)
    try #require(sink.configuration.encoding == encoding)
    try #require(sink.format.periodSize == period)
    let engine = PlaybackEngine(
      rate: Double(rate), routing: OutputRouting(channelCount: channelCount))
    let loop = RenderLoop(engine: engine, sink: sink, time: time)
    let player = try engine.player(for: pattern)
    try player.start()
    while engine.position < frameCount {
      try #require(loop.runIteration())
    }
    loop.stop()
    while loop.runIteration() {}
    #expect(sink.drainEvents() == [])
    return folder.bytes("played.raw") ?? []
  }

  /// Returns the expected bytes: silence for the latency of the limiter, and then the offline
  /// rendering.
  private func offline(
    _ pattern: HapticPattern, channelCount: Int, encoding: SampleEncoding, rate: Int = 48_000
  ) throws
    -> (bytes: [UInt8], frameCount: Int64)
  {
    let plan = try RenderPlan(compiling: pattern, rate: Double(rate))
    let settings = RenderSettings(channelCount: channelCount)
    let latency = Renderer(plan: plan, settings: settings).latencyFrameCount
    var rendering = OfflineRenderer(plan: plan, settings: settings)
    let samples = Array(repeating: 0, count: latency * channelCount) + rendering.samples()
    var bytes = [UInt8](repeating: 0, count: samples.count * encoding.bytesPerSample)
    var encoder = SampleEncoder(encoding)
    var byteSpan = bytes.mutableSpan
    var raw = unsafe byteSpan.mutableBytes
    encoder.encode(samples.span, into: &raw)
    return (bytes, Int64(samples.count / channelCount))
  }
}
