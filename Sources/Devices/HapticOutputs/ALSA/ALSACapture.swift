internal import Glibc
internal import SoundFile
internal import SystemSupport
public import HapticPlayback

/// An ALSA capture device that is read without waiting.
///
/// A recording ends when frames are lost; they are not replaced. It belongs to one thread.
public final class ALSACapture {
  /// The sample rate in hertz.
  public let rate: Int
  /// The number of interleaved channels of the recording.
  public let channelCount: Int
  /// The number of frames that have been read so far.
  public private(set) var frameCount = 0

  private let device: String
  private let pcm: PCM
  private let clock: any TimeSource
  private let decoder: SampleDecoder
  private let frameByteCount: Int
  private let isFasterThanRealTime: Bool
  private var readBuffer: [UInt8]
  private var startTime: Duration?

  /// Opens a device, which records after `start()`.
  ///
  /// - Parameters:
  ///   - device: The name of the device.
  ///   - rate: The sample rate in hertz.
  ///   - channelCount: The number of channels.
  ///   - periodSeconds: The interval between deliveries in seconds.
  ///   - bufferSeconds: The length of the buffer in seconds, which is how long a busy machine may
  ///     delay reading.
  ///   - clock: The clock.
  ///   - interception: The results to force in tests.
  package init(
    _ device: String, rate: Int, channelCount: Int, periodSeconds: Double = 0.01,
    bufferSeconds: Double = 2,
    clock: any TimeSource = SystemTimeSource(), interception: PCMInterception? = nil
  ) throws(OutputError) {
    do {
      let pcm = try PCM(opening: device, for: .capture, interception: interception)
      let granted = try Self.negotiate(
        pcm, device: device, rate: rate, channelCount: channelCount, periodSeconds: periodSeconds,
        bufferSeconds: bufferSeconds)
      self.pcm = pcm
      decoder = SampleDecoder(encoding: granted.encoding)
      frameByteCount = granted.encoding.bytesPerSample * channelCount
      readBuffer = Array(repeating: 0, count: granted.periodSize * frameByteCount)
      isFasterThanRealTime = pcm.dumpText().containsText("Null PCM")
    } catch let failure as PCMFailure {
      throw OutputError(openingFailure: failure, device: device, direction: .capture)
    } catch let error as OutputError {
      throw error
    } catch {
      throw OutputError(.other, output: device, "\(error)")
    }
    self.device = device
    self.rate = rate
    self.channelCount = channelCount
    self.clock = clock
  }

  /// Starts recording from the device.
  public func start() throws(OutputError) {
    do {
      try pcm.start()
      startTime = clock.now
    } catch {
      throw OutputError(error, device: device, direction: .capture)
    }
  }

  /// Appends the frames since the last call. The call never waits.
  ///
  /// - Throws: `overrun` if the device lost frames because it was not read often enough.
  public func read(into samples: inout [Float]) throws(OutputError) {
    do {
      while true {
        let maximumCount = min(readBuffer.count / frameByteCount, readableFrameCount)
        guard maximumCount > 0 else { return }
        var span = readBuffer.mutableSpan
        let count = try pcm.read(into: &span, frameCount: maximumCount)
        guard count > 0 else { return }
        decoder.decode(readBuffer.span.extracting(first: count * frameByteCount), into: &samples)
        frameCount += count
      }
    } catch {
      throw OutputError(error, device: device, direction: .capture)
    }
  }

  /// Returns the time at which the first frame was recorded, as measured by the device, or nil if
  /// there is none yet.
  public func firstFrameTime() -> Duration? {
    guard let startTime else { return nil }
    if isFasterThanRealTime { return startTime }
    guard frameCount > 0, let waitingFrameCount = try? pcm.delay() else { return nil }
    return clock.now - .seconds(Double(frameCount + waitingFrameCount) / Double(rate))
  }

  /// Stops recording at once.
  public func stop() { pcm.drop() }

  /// The maximum number of frames that may have been read by now. For a device that is faster than
  /// real time, this is the number of frames that the clock has reached.
  private var readableFrameCount: Int {
    guard isFasterThanRealTime else { return .max }
    guard let startTime else { return 0 }
    return FrameTime(sampleRateHertz: Double(rate)).frameCount(in: clock.now - startTime)
      - frameCount
  }

  private static func negotiate(
    _ pcm: PCM, device: String, rate: Int, channelCount: Int, periodSeconds: Double,
    bufferSeconds: Double
  ) throws -> (encoding: SampleEncoding, periodSize: Int) {
    func unsupportedFormatError(_ text: String) -> OutputError {
      OutputError(.unsupportedFormat, output: device, text)
    }
    try pcm.startNegotiation()
    guard pcm.supports(.readWrite) else {
      throw unsupportedFormatError("does not support interleaved capture")
    }
    try pcm.set(PCMAccess.readWrite)
    guard pcm.supports(channelCount: channelCount) else {
      let offered = PCMNegotiation.channelCounts(of: pcm, in: try pcm.channelCounts())
      throw unsupportedFormatError(
        "does not support capture with "
          + "\(channelCount == 1 ? "1 channel" : "\(channelCount) channels"); supported: "
          + PCMNegotiation.listText(offered))
    }
    try pcm.set(channelCount: channelCount)
    guard pcm.supports(rate: rate) else {
      let offered = try PCMNegotiation.rates(of: pcm)
      throw unsupportedFormatError(
        "does not support capture at \(rate) Hz; supported: \(PCMNegotiation.listText(offered)) Hz")
    }
    try pcm.set(rate: rate)
    guard let encoding = SampleEncoding.allCases.first(where: { pcm.supports($0) }) else {
      throw unsupportedFormatError("does not support 16-, 24-, or 32-bit capture")
    }
    try pcm.set(encoding)
    try pcm.set(periodSizeNear: max(16, Int(periodSeconds * Double(rate))))
    try pcm.set(bufferSizeNear: Int(bufferSeconds * Double(rate)))
    let (periodSize, bufferSize) = try pcm.finishNegotiation()
    try pcm.setSoftwareParameters(periodSize: periodSize, bufferSize: bufferSize)
    try pcm.prepare()
    return (encoding, max(1, periodSize))
  }
}

/// A decoder that converts a device's samples to floating point in −1…1.
struct SampleDecoder {
  let encoding: SampleEncoding

  /// Appends the samples of some bytes. An incomplete sample at the end is ignored.
  func decode(_ bytes: Span<UInt8>, into samples: inout [Float]) {
    let sampleByteCount = encoding.bytesPerSample
    for start in stride(from: 0, through: bytes.count - sampleByteCount, by: sampleByteCount) {
      var number: UInt32 = 0
      for index in 0..<sampleByteCount {
        #if _endian(little)
          number |= UInt32(bytes[start + index]) << (8 * UInt32(index))
        #else
          number = number << 8 | UInt32(bytes[start + index])
        #endif
      }
      samples.append(sample(fromBits: number))
    }
  }

  private func sample(fromBits bits: UInt32) -> Float {
    switch encoding {
    case .float: Float(bitPattern: bits)
    case .s32: Float(Int32(bitPattern: bits)) / 2_147_483_648
    // The most significant byte of four is undefined.
    case .s24, .s24Packed: Float(Int32(bitPattern: bits << 8)) / 2_147_483_648
    case .s16: Float(Int16(truncatingIfNeeded: bits)) / 32_768
    }
  }
}

/// An ALSA capture device that reconnects after lost frames, a disconnection, or the end of its
/// server.
///
/// It reopens the device at most twice a second. It belongs to one thread, which a hanging device
/// blocks.
public final class LiveCapture: CaptureSource {
  /// The sample rate in hertz.
  public let rate: Double
  /// The number of interleaved channels of the recording, 1 or 2.
  public let channelCount: Int

  private let reopenDevice: () throws(OutputError) -> ALSACapture
  private let clock: any TimeSource
  private var capture: ALSACapture?
  private var disconnectionTime: Duration?
  private var nextReopeningTime: Duration = .zero

  private static let reopeningInterval = Duration.milliseconds(500)
  /// The requested duration of the device's buffer, in seconds.
  private static let bufferSeconds = 0.25

  /// Opens a device at the first sample rate that it supports, with two channels, or one if the
  /// device has no stereo, and starts recording.
  ///
  /// - Parameters:
  ///   - device: The name of the device.
  ///   - rates: The sample rates to try, in hertz.
  ///   - periodSeconds: The interval between deliveries in seconds.
  ///   - clock: The clock.
  ///   - interception: The results to force in tests.
  /// - Throws: The error for the first rate if no combination is supported.
  package init(
    _ device: String, rates: [Int], periodSeconds: Double,
    clock: any TimeSource = SystemTimeSource(),
    interception: PCMInterception? = nil
  ) throws(OutputError) {
    var lastRefusal: OutputError?
    for (rate, channelCount) in rates.flatMap({ [($0, 2), ($0, 1)] }) {
      do throws(OutputError) {
        let open = { () throws(OutputError) in
          let capture = try ALSACapture(
            device, rate: rate, channelCount: channelCount, periodSeconds: periodSeconds,
            bufferSeconds: Self.bufferSeconds,
            clock: clock,
            interception: interception)
          try capture.start()
          return capture
        }
        capture = try open()
        self.rate = Double(rate)
        self.channelCount = channelCount
        self.clock = clock
        reopenDevice = open
        return
      } catch {
        lastRefusal = lastRefusal ?? error
        guard error.kind == .unsupportedFormat else { throw error }
      }
    }
    throw lastRefusal
      ?? OutputError(.unsupportedFormat, output: device, "has no supported sample rate")
  }

  deinit { capture?.stop() }

  /// Appends the frames since the last call, or tries to reopen a lost device.
  public func read(into samples: inout [Float]) -> CaptureEvent? {
    do throws(OutputError) {
      if let capture {
        try capture.read(into: &samples)
        return nil
      }
      guard clock.now >= nextReopeningTime else { return nil }
      nextReopeningTime = clock.now + Self.reopeningInterval
      capture = try reopenDevice()
      defer { disconnectionTime = nil }
      return .resumed(disconnectionTime.map { clock.now - $0 } ?? .zero)
    } catch {
      capture?.stop()
      capture = nil
      guard disconnectionTime == nil else { return nil }
      disconnectionTime = clock.now
      return .interrupted(
        error.kind == .overrun ? "overrun: frames of the source were lost" : error.description)
    }
  }
}
