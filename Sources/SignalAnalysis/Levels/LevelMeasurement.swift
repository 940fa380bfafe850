/// Measures a signal of any length block by block, in memory that does not grow with it.
///
/// Only loudness keeps a number for each 100 ms. One value may be used by one thread at a time.
public struct LevelMeasurement: ~Copyable {
  private var meters: [ChannelMeasurement] = []
  /// The loudness of all channels together, where there are several.
  private var loudness: LoudnessMeasurement?

  /// Starts a measurement.
  ///
  /// - Parameters:
  ///   - channelCount: 1 to 64.
  ///   - rate: A whole number of frames per second, 16 to 2,822,400.
  public init(channelCount: Int, rate: Double) throws(AnalysisError) {
    let together = try LoudnessMeasurement(channelCount: channelCount, rate: rate)
    if channelCount > 1 { loudness = together }
    for _ in 0..<channelCount {
      let own = try LoudnessMeasurement(channelCount: 1, rate: rate)
      meters.append(ChannelMeasurement(rate: rate, loudness: own))
    }
  }

  /// Takes in interleaved samples, a whole number of frames.
  public mutating func add(_ interleaved: Span<Float>) {
    for channel in meters.indices { meters[channel].add(interleaved, channel: channel, channelCount: meters.count) }
    loudness?.add(interleaved)
  }

  /// The figures of all that was added.
  ///
  /// The whole has the greatest peaks, the mean and mean square of all samples, and the loudness of
  /// the channels together.
  public consuming func finish() -> (whole: Levels, channels: [Levels]) {
    let channels = meters.indices.map { meters[$0].finish().levels }
    guard let loudness, !channels.isEmpty else { return (channels[0], channels) }
    let whole = Levels(joining: channels, integratedLoudness: loudness.finish())
    return (whole, channels)
  }
}

/// Measures one channel block by block: its levels, without loudness, and its spectrum.
///
/// Several of them can share the work of a sound of many channels. One value may be used by one
/// thread at a time.
public final class ChannelMeasurement {
  /// Frames that are measured at once: a few kilobytes.
  private static let blockLength = 64 * TruePeakMeter.segmentLength

  private let loudness: LoudnessMeasurement?
  private var spectrum: SpectrumMeasurement?
  private var truePeak: TruePeakMeter
  /// The last samples of the block before, then the block that is being filled.
  private var buffer: [Float]
  private var filled = 0
  private var sum = 0.0
  private var squares = 0.0
  private var samplePeak = Float(0)
  private var frameCount = 0
  private var nonFiniteCount = 0

  /// Starts a measurement.
  public convenience init(rate: Double) { self.init(rate: rate, loudness: nil) }

  /// Starts a measurement of levels with loudness, else with a spectrum.
  init(rate: Double, loudness: LoudnessMeasurement?) {
    self.loudness = loudness
    spectrum = loudness == nil ? SpectrumMeasurement(rate: rate) : nil
    truePeak = TruePeakMeter(rate: rate)
    buffer = [Float](repeating: 0, count: TruePeakMeter.history + Self.blockLength)
  }

  /// Takes in one channel of interleaved samples, a whole number of frames.
  public func add(_ interleaved: Span<Float>, channel: Int, channelCount: Int) {
    precondition(channel >= 0 && channel < channelCount, "the channel must be there")
    var place = channel
    let end = interleaved.count / channelCount * channelCount
    while place < end {
      let count = min(Self.blockLength - filled, (end - place - 1) / channelCount + 1)
      let first = TruePeakMeter.history + filled
      unsafe buffer.withUnsafeMutableBufferPointer { buffer in
        for index in first..<first + count {
          unsafe buffer[index] = interleaved[unchecked: place]
          place += channelCount
        }
      }
      filled += count
      if filled == Self.blockLength { measure() }
    }
  }

  /// The figures of all that was added; nothing can be added afterwards.
  public func finish() -> (levels: Levels, spectrum: Spectrum?) {
    measure()
    // What lies behind the last samples is heard as well; the silence counts for nothing else.
    for index in 0..<TruePeakMeter.segmentLength { buffer[TruePeakMeter.history + index] = 0 }
    addSegments(1)
    let count = Double(max(1, frameCount))
    let levels = Levels(
      samplePeak: Double(samplePeak), truePeak: Double(truePeak.peak), rms: (squares / count).squareRoot(),
      dc: sum / count, integratedLoudness: loudness?.finish(), nonFiniteCount: nonFiniteCount)
    return (levels, spectrum.take()?.finish())
  }

  /// Measures the block and frees space for the next.
  private func measure() {
    guard filled > 0 else { return }
    let history = TruePeakMeter.history
    let segments = (filled + TruePeakMeter.segmentLength - 1) / TruePeakMeter.segmentLength
    for index in filled..<segments * TruePeakMeter.segmentLength { buffer[history + index] = 0 }
    frameCount += filled
    addSegments(segments)
    loudness?.add(buffer.span.extracting(history..<history + filled))
    if spectrum != nil { Self.add(buffer, history..<history + filled, to: &spectrum) }
    for index in 0..<history { buffer[index] = buffer[filled + index] }
    filled = 0
  }

  private static func add(_ buffer: [Float], _ range: Range<Int>, to spectrum: inout SpectrumMeasurement?) {
    spectrum?.add(buffer.span.extracting(range))
  }

  /// Adds up segments of samples, with silence for non-finite ones.
  private func addSegments(_ count: Int) {
    let limit = SIMD8<Float>(repeating: NonFiniteSamples.limit)
    var (sum, squares, silenced) = (SIMD8<Double>.zero, SIMD8<Double>.zero, 0)
    var (meter, peak) = (truePeak, samplePeak)
    unsafe buffer.withUnsafeMutableBytes { bytes in
      var place = TruePeakMeter.history * 4
      for _ in 0..<count {
        var greatest = SIMD8<Float>.zero
        let start = place
        for _ in 0..<TruePeakMeter.segmentLength / 8 {
          var values = unsafe bytes.loadUnaligned(fromByteOffset: place, as: SIMD8<Float>.self)
          let isSound = values.magnitudes .<= limit
          if !all(isSound) {
            for lane in 0..<8 where !isSound[lane] { silenced += 1 }
            values.replace(with: 0, where: .!isSound)
            unsafe bytes.storeBytes(of: values, toByteOffset: place, as: SIMD8<Float>.self)
          }
          greatest = greatest.greater(values.magnitudes)
          let wide = SIMD8<Double>(values)
          sum += wide
          squares += wide * wide
          place += 32
        }
        let most = greatest.greatestMagnitude
        peak = max(peak, most)
        if let base = bytes.baseAddress { unsafe meter.add(UnsafeRawPointer(base) + start, greatest: most) }
      }
    }
    self.sum += sum.sum()
    self.squares += squares.sum()
    nonFiniteCount += silenced
    (truePeak, samplePeak) = (meter, peak)
  }
}
