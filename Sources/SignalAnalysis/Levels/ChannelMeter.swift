/// The figures of one channel.
struct ChannelMeter {
  /// Frames that are measured at once: a few kilobytes, a multiple of eight.
  private static let blockLength = 4_096

  private let loudness: LoudnessMeter
  private var truePeak: TruePeakMeter
  /// The last samples of the block before, then the block that is being filled.
  private var buffer: [Float]
  private var filled = 0
  private var sum = 0.0
  private var squares = 0.0
  private var samplePeak = Float(0)
  private var frameCount = 0
  private var nonFiniteCount = 0

  /// Prepares for a rate.
  init(rate: Double) throws(AnalysisError) {
    loudness = try LoudnessMeter(channelCount: 1, rate: rate)
    truePeak = TruePeakMeter(rate: rate)
    buffer = [Float](repeating: 0, count: TruePeakMeter.history + Self.blockLength)
  }

  /// Takes in one channel of interleaved samples.
  mutating func add(_ interleaved: Span<Float>, channel: Int, channelCount: Int) {
    var place = channel
    let end = interleaved.count / channelCount * channelCount
    while place < end {
      let count = min(Self.blockLength - filled, (end - place - 1) / channelCount + 1)
      for index in 0..<count {
        buffer[TruePeakMeter.history + filled + index] = interleaved[place]
        place += channelCount
      }
      filled += count
      if filled == Self.blockLength { measure() }
    }
  }

  /// The figures of all that was added.
  mutating func finish() -> Levels {
    measure()
    // What lies behind the last samples is heard as well.
    for index in 0..<TruePeakMeter.history { buffer[TruePeakMeter.history + index] = 0 }
    var meter = truePeak
    meter.add(buffer.span, count: TruePeakMeter.history)
    let count = Double(max(1, frameCount))
    return Levels(
      samplePeak: Double(samplePeak), truePeak: Double(meter.peak),
      rms: (squares / count).squareRoot(), dc: sum / count,
      integratedLoudness: loudness.finish(), nonFiniteCount: nonFiniteCount)
  }

  /// Measures the block and makes room for the next.
  private mutating func measure() {
    guard filled > 0 else { return }
    let history = TruePeakMeter.history
    // A group of eight is looked at as a whole.
    let padded = (filled + 7) / 8 * 8
    for index in filled..<padded { buffer[history + index] = 0 }
    frameCount += filled
    addGroups(padded / 8)
    var meter = truePeak
    meter.add(buffer.span, count: filled)
    truePeak = meter
    loudness.add(buffer.span.extracting(history..<history + filled))
    for index in 0..<history { buffer[index] = buffer[filled + index] }
    filled = 0
  }

  /// Sums up groups of eight samples, silencing those that are no sound.
  private mutating func addGroups(_ count: Int) {
    let limit = SIMD8<Float>(repeating: FiniteSamples.limit)
    var greatest = SIMD8<Float>.zero
    unsafe buffer.withUnsafeMutableBytes { bytes in
      var place = TruePeakMeter.history * 4
      for _ in 0..<count {
        var values = unsafe bytes.loadUnaligned(fromByteOffset: place, as: SIMD8<Float>.self)
        let isSound = (values .<= limit) .& (values .>= -limit)
        if isSound != SIMDMask(repeating: true) {
          for lane in 0..<8 where !isSound[lane] { nonFiniteCount += 1 }
          values.replace(with: 0, where: .!isSound)
          unsafe bytes.storeBytes(of: values, toByteOffset: place, as: SIMD8<Float>.self)
        }
        greatest = pointwiseMax(greatest, pointwiseMax(values, -values))
        let wide = SIMD8<Double>(values)
        sum += wide.sum()
        squares += (wide * wide).sum()
        place += 32
      }
    }
    samplePeak = max(samplePeak, greatest.max())
  }
}
