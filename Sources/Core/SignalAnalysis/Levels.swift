internal import CEBUR128
internal import CMath

/// The levels of a whole signal: peaks, RMS value, DC offset, and loudness.
public struct Levels: Equatable, Sendable {
  /// The maximum magnitude of a sample; 1 is full scale.
  public var samplePeakAmplitude: Double
  /// The maximum magnitude including the values between samples, after ITU-R BS.1770.
  public var truePeakAmplitude: Double
  /// The root mean square of all samples.
  public var rmsAmplitude: Double
  /// The mean of all samples.
  public var dcOffset: Double
  /// The integrated loudness after ITU-R BS.1770 and EBU R 128, in LUFS; nil below −70 LUFS.
  ///
  /// A sound shorter than 0.4 s is measured as if silence followed up to 0.4 s. K-weighting
  /// attenuates frequencies below 40 Hz, so that haptic sounds read lower than they feel.
  public var integratedLoudnessLUFS: Double?
  /// The number of samples that are infinite, NaN, or above 240 dB. They count as silence in all
  /// other levels.
  public var invalidSampleCount: Int

  /// Creates the levels of a signal from values that were measured.
  public init(
    samplePeakAmplitude samplePeak: Double, truePeakAmplitude truePeak: Double,
    rmsAmplitude rms: Double, dc: Double, integratedLoudnessLUFS integratedLoudness: Double?,
    invalidSampleCount nonFiniteCount: Int
  ) {
    self.samplePeakAmplitude = samplePeak
    self.truePeakAmplitude = truePeak
    self.rmsAmplitude = rms
    self.dcOffset = dc
    self.integratedLoudnessLUFS = integratedLoudness
    self.invalidSampleCount = nonFiniteCount
  }

  /// Combines the levels of channels of equal length: their maximum peaks, and the RMS value and
  /// mean of all samples.
  public init(joining channels: [Levels], integratedLoudnessLUFS integratedLoudness: Double?) {
    let channelWeight = 1 / Double(max(1, channels.count))
    self.init(
      samplePeakAmplitude: channels.map(\.samplePeakAmplitude).max() ?? 0,
      truePeakAmplitude: channels.map(\.truePeakAmplitude).max() ?? 0,
      rmsAmplitude: (channels.reduce(0) { $0 + $1.rmsAmplitude * $1.rmsAmplitude } * channelWeight)
        .squareRoot(),
      dc: channels.reduce(0) { $0 + $1.dcOffset } * channelWeight,
      integratedLoudnessLUFS: integratedLoudness,
      invalidSampleCount: channels.reduce(0) { $0 + $1.invalidSampleCount })
  }

  /// Measures all channels of a signal together.
  ///
  /// - Throws: An `AnalysisError` for a rate that is not a whole number from 16 to 2,822,400, and
  ///   for no channels or more than 64.
  public init(of signal: Signal) throws(AnalysisError) {
    let channels = signal.channels
    var levelMeasurement = try LevelMeasurement(channelCount: channels.count, rate: signal.rate)
    let blockFrameCount = 4_096
    var interleavedBlock = [Float](repeating: 0, count: blockFrameCount * channels.count)
    for start in stride(from: 0, to: signal.frameCount, by: blockFrameCount) {
      let count = min(blockFrameCount, signal.frameCount - start)
      for (channel, samples) in channels.enumerated() {
        for frame in 0..<count {
          interleavedBlock[frame * channels.count + channel] = samples[start + frame]
        }
      }
      levelMeasurement.add(interleavedBlock.span.extracting(first: count * channels.count))
    }
    self = levelMeasurement.measuredLevels().whole
  }

  /// The ratio of the peak to the RMS value; nil for silence.
  public var crestFactor: Double? { rmsAmplitude > 0 ? samplePeakAmplitude / rmsAmplitude : nil }
  /// The sample peak, in decibels relative to full scale.
  public var samplePeakDecibels: Double { Decibels.of(amplitude: samplePeakAmplitude) }
  /// The true peak, in decibels relative to full scale (dBTP).
  public var truePeakDecibels: Double { Decibels.of(amplitude: truePeakAmplitude) }
  /// The RMS value, in decibels relative to full scale. A full-scale sine has −3.01.
  public var rmsDecibels: Double { Decibels.of(amplitude: rmsAmplitude) }
  /// The crest factor, in decibels; nil for silence.
  public var crestFactorDecibels: Double? { crestFactor.map { Decibels.of(amplitude: $0) } }
}

/// Measures the levels of a signal of any length, block by block.
///
/// Memory use is constant, except for one number per 100 ms for the loudness.
///
/// - Note: A measurement may be used by one thread at a time.
public struct LevelMeasurement: ~Copyable {
  private var channelMeasurements: [ChannelMeasurement] = []
  private var combinedLoudness: LoudnessMeasurement?

  /// Starts a measurement of a number of channels at a sample rate.
  ///
  /// - Parameters:
  ///   - channelCount: The number of channels, 1 to 64.
  ///   - rate: The sample rate in hertz, a whole number from 16 to 2,822,400.
  public init(channelCount: Int, rate: Double) throws(AnalysisError) {
    let allChannelLoudness = try LoudnessMeasurement(channelCount: channelCount, sampleRate: rate)
    if channelCount > 1 {
      combinedLoudness = allChannelLoudness
    }
    for _ in 0..<channelCount {
      let loudness = try LoudnessMeasurement(channelCount: 1, sampleRate: rate)
      channelMeasurements.append(ChannelMeasurement(rate: rate, loudnessMeasurement: loudness))
    }
  }

  /// Adds interleaved samples, a whole number of frames.
  public mutating func add(_ interleaved: Span<Float>) {
    for channel in channelMeasurements.indices {
      channelMeasurements[channel].add(
        interleaved, channel: channel, channelCount: channelMeasurements.count)
    }
    combinedLoudness?.add(interleaved)
  }

  /// Returns the levels of all added samples.
  ///
  /// `whole` contains the maximum peaks, the mean and RMS value of all samples, and the loudness of
  /// all channels together.
  public consuming func measuredLevels() -> (whole: Levels, channels: [Levels]) {
    let channelLevels = channelMeasurements.indices.map {
      channelMeasurements[$0].measuredLevelsAndSpectrum().levels
    }
    guard let combinedLoudness, !channelLevels.isEmpty else {
      return (channelLevels[0], channelLevels)
    }
    let combinedLevels = Levels(
      joining: channelLevels, integratedLoudnessLUFS: combinedLoudness.integratedLoudnessLUFS())
    return (combinedLevels, channelLevels)
  }
}

/// A block-by-block measurement of one channel: its levels without loudness, and its spectrum.
///
/// Several measurements can share the work of a sound of many channels.
///
/// - Note: A measurement may be used by one thread at a time.
public final class ChannelMeasurement {
  /// The number of frames that are measured at once, which occupy a few kilobytes.
  private static let blockFrameCount = 64 * TruePeakMeter.segmentSampleCount

  private let loudnessMeasurement: LoudnessMeasurement?
  private var spectrumMeasurement: SpectrumMeasurement?
  private var truePeakMeter: TruePeakMeter
  /// A buffer with the last samples of the previous block and the samples of the current block.
  private var pendingSamples: [Float]
  private var pendingSampleCount = 0
  private var sampleSum = 0.0
  private var sumOfSquares = 0.0
  private var samplePeakMagnitude = Float(0)
  private var frameCount = 0
  private var nonFiniteSampleCount = 0

  /// Starts a measurement without loudness.
  public convenience init(rate: Double) { self.init(rate: rate, loudnessMeasurement: nil) }

  /// Starts a measurement of levels with loudness, or without loudness but with a spectrum.
  init(rate: Double, loudnessMeasurement loudness: LoudnessMeasurement?) {
    self.loudnessMeasurement = loudness
    spectrumMeasurement = loudness == nil ? SpectrumMeasurement(rate: rate) : nil
    truePeakMeter = TruePeakMeter(rate: rate)
    pendingSamples = [Float](
      repeating: 0, count: TruePeakMeter.historySampleCount + Self.blockFrameCount)
  }

  /// Adds one channel of interleaved samples, a whole number of frames.
  public func add(_ interleaved: Span<Float>, channel: Int, channelCount: Int) {
    precondition(channel >= 0 && channel < channelCount, "the channel must exist")
    var sampleIndex = channel
    let wholeFramesEndIndex = interleaved.count / channelCount * channelCount
    while sampleIndex < wholeFramesEndIndex {
      let count = min(
        Self.blockFrameCount - pendingSampleCount,
        (wholeFramesEndIndex - sampleIndex - 1) / channelCount + 1)
      let first = TruePeakMeter.historySampleCount + pendingSampleCount
      unsafe pendingSamples.withUnsafeMutableBufferPointer { buffer in
        for index in first..<first + count {
          unsafe buffer[index] = interleaved[unchecked: sampleIndex]
          sampleIndex += channelCount
        }
      }
      pendingSampleCount += count
      if pendingSampleCount == Self.blockFrameCount {
        measureBlock()
      }
    }
  }

  /// Returns the results for all samples that were added. No samples can be added afterward.
  public func measuredLevelsAndSpectrum() -> (levels: Levels, spectrum: Spectrum?) {
    measureBlock()
    // Append silence so that the interpolation reaches the last samples. The silence does not
    // affect the other levels.
    for index in 0..<TruePeakMeter.segmentSampleCount {
      pendingSamples[TruePeakMeter.historySampleCount + index] = 0
    }
    measureSegments(1)
    let divisorFrameCount = Double(max(1, frameCount))
    let channelLevels = Levels(
      samplePeakAmplitude: Double(samplePeakMagnitude),
      truePeakAmplitude: Double(truePeakMeter.peakMagnitude),
      rmsAmplitude: (sumOfSquares / divisorFrameCount).squareRoot(),
      dc: sampleSum / divisorFrameCount,
      integratedLoudnessLUFS: loudnessMeasurement?.integratedLoudnessLUFS(),
      invalidSampleCount: nonFiniteSampleCount)
    return (channelLevels, spectrumMeasurement.take()?.measuredSpectrum())
  }

  private func measureBlock() {
    guard pendingSampleCount > 0 else { return }
    let historyLength = TruePeakMeter.historySampleCount
    let segmentCount =
      (pendingSampleCount + TruePeakMeter.segmentSampleCount - 1) / TruePeakMeter.segmentSampleCount
    for index in pendingSampleCount..<segmentCount * TruePeakMeter.segmentSampleCount {
      pendingSamples[historyLength + index] = 0
    }
    frameCount += pendingSampleCount
    measureSegments(segmentCount)
    loudnessMeasurement?.add(
      pendingSamples.span.extracting(historyLength..<historyLength + pendingSampleCount))
    if spectrumMeasurement != nil {
      Self.add(
        pendingSamples, historyLength..<historyLength + pendingSampleCount, to: &spectrumMeasurement
      )
    }
    for index in 0..<historyLength {
      pendingSamples[index] = pendingSamples[pendingSampleCount + index]
    }
    pendingSampleCount = 0
  }

  private static func add(
    _ buffer: [Float], _ range: Range<Int>, to spectrum: inout SpectrumMeasurement?
  ) {
    spectrum?.add(buffer.span.extracting(range))
  }

  private func measureSegments(_ count: Int) {
    let validMagnitudeLimit = SIMD8<Float>(repeating: NonFiniteSamples.maximumValidMagnitude)
    var sampleSumLanes = SIMD8<Double>.zero
    var squareSumLanes = SIMD8<Double>.zero
    var invalidSampleCount = 0
    var updatedPeakMeter = truePeakMeter
    var runningPeakMagnitude = samplePeakMagnitude
    unsafe pendingSamples.withUnsafeMutableBytes { bytes in
      var offset = TruePeakMeter.historySampleCount * 4
      for _ in 0..<count {
        var magnitudes = SIMD8<Float>.zero
        let start = offset
        for _ in 0..<TruePeakMeter.segmentSampleCount / 8 {
          var values = unsafe bytes.loadUnaligned(fromByteOffset: offset, as: SIMD8<Float>.self)
          let isValid = values.magnitudes .<= validMagnitudeLimit
          if !all(isValid) {
            for lane in 0..<8 where !isValid[lane] {
              invalidSampleCount += 1
            }
            values.replace(with: 0, where: .!isValid)
            unsafe bytes.storeBytes(of: values, toByteOffset: offset, as: SIMD8<Float>.self)
          }
          magnitudes = magnitudes.lanewiseMaximum(values.magnitudes)
          let doubles = SIMD8<Double>(values)
          sampleSumLanes += doubles
          squareSumLanes += doubles * doubles
          offset += 32
        }
        let segmentPeak = magnitudes.maximumMagnitude
        runningPeakMagnitude = max(runningPeakMagnitude, segmentPeak)
        if let base = bytes.baseAddress {
          unsafe updatedPeakMeter.addSegment(
            UnsafeRawPointer(base) + start, samplePeak: segmentPeak)
        }
      }
    }
    self.sampleSum += sampleSumLanes.sum()
    self.sumOfSquares += squareSumLanes.sum()
    nonFiniteSampleCount += invalidSampleCount
    truePeakMeter = updatedPeakMeter
    samplePeakMagnitude = runningPeakMagnitude
  }
}

/// The integrated loudness of channels of equal weight, by libebur128.
///
/// ITU-R BS.1770 gates blocks of 0.4 s; a shorter sound is padded with silence to 0.4 s. The memory
/// grows by some bytes for each 100 ms.
///
/// - Note: A measurement may be used by one thread at a time.
@safe public final class LoudnessMeasurement {
  private let libraryState: UnsafeMutablePointer<ebur128_state>
  private let channelCount: Int
  private let sampleRate: Int
  private var frameCount = 0

  /// Starts a loudness measurement of a number of channels at a sample rate.
  ///
  /// The surround weights of loudspeakers do not apply to transducers, so all channels have the
  /// weight 1.
  ///
  /// - Parameters:
  ///   - channelCount: The number of channels, 1 to 64.
  ///   - rate: The sample rate in hertz, a whole number from 16 to 2,822,400.
  public init(channelCount: Int, sampleRate rate: Double) throws(AnalysisError) {
    guard rate == rate.rounded(), rate >= 16, rate <= 2_822_400 else {
      throw AnalysisError(
        .unsupportedRate,
        "loudness requires an integer sample rate from 16 to 2822400 Hz, not \(rate) Hz")
    }
    guard (1...64).contains(channelCount),
      let state = unsafe ebur128_init(
        UInt32(channelCount), UInt(rate), Int32(EBUR128_MODE_I.rawValue))
    else {
      throw AnalysisError(
        .unsupportedChannelCount, "loudness requires 1 to 64 channels, not \(channelCount)")
    }
    // The weight of the left channel is 1.
    for channel in 0..<UInt32(channelCount) {
      _ = unsafe ebur128_set_channel(state, channel, Int32(EBUR128_LEFT.rawValue))
    }
    unsafe self.libraryState = unsafe state
    self.channelCount = channelCount
    self.sampleRate = Int(rate)
  }

  /// Adds interleaved samples, a whole number of frames.
  public func add(_ interleaved: Span<Float>) {
    guard !NonFiniteSamples.areAllValid(interleaved) else {
      addValidSamples(interleaved)
      return
    }
    let validSamples = interleaved.indices.map { index in
      NonFiniteSamples.isValid(interleaved[index]) ? interleaved[index] : 0
    }
    addValidSamples(validSamples.span)
  }

  private func addValidSamples(_ samples: Span<Float>) {
    let frameCountToAdd = samples.count / channelCount
    _ = unsafe samples.withUnsafeBufferPointer {
      unsafe ebur128_add_frames_float(libraryState, $0.baseAddress, frameCountToAdd)
    }
    frameCount += frameCountToAdd
  }

  /// Returns the integrated loudness of all added samples, in LUFS.
  ///
  /// Returns nil if no block reaches −70 LUFS.
  public func integratedLoudnessLUFS() -> Double? {
    // The length of libebur128's first gating block.
    let paddingFrameCount = 4 * ((sampleRate + 5) / 10) - frameCount
    if paddingFrameCount > 0, frameCount > 0 {
      let silence = [Float](repeating: 0, count: paddingFrameCount * channelCount)
      addValidSamples(silence.span)
    }
    var loudnessLUFS = -Double.infinity
    _ = unsafe ebur128_loudness_global(libraryState, &loudnessLUFS)
    return loudnessLUFS.isFinite ? loudnessLUFS : nil
  }

  deinit {
    var stateToDestroy: UnsafeMutablePointer<ebur128_state>? = unsafe libraryState
    unsafe ebur128_destroy(&stateToDestroy)
  }
}

/// A meter of a signal's maximum magnitude after ITU-R BS.1770.
///
/// The maximum includes the values between samples.
///
/// The meter interpolates to four times the rate, from 96 kHz to twice the rate, and from 192 kHz
/// not at all. The interpolator is libebur128's windowed sinc of 49 taps. Segments that are too
/// weak for a new peak are skipped, which does not change the result.
struct TruePeakMeter {
  /// The number of preceding samples for the interpolation, rounded up to a multiple of eight.
  static let historySampleCount = 24
  /// The number of samples in a segment, which is skipped or interpolated as a whole.
  ///
  /// It must be more than `historySampleCount`.
  static let segmentSampleCount = 64

  private(set) var peakMagnitude = Float(0)
  /// The taps of each interpolation phase, starting with the tap for the latest sample. The phase
  /// at the samples themselves needs no taps.
  private let polyphaseTaps: [[Float]]
  private let maximumInterpolationGain: Float
  private var previousSegmentPeak = Float(0)

  init(rate: Double) {
    let oversamplingFactor = rate < 96_000 ? 4 : rate < 192_000 ? 2 : 1
    polyphaseTaps = (1..<oversamplingFactor).map {
      Self.interpolationTaps(of: $0, factor: oversamplingFactor)
    }
    // Add 2 % to allow for rounding.
    maximumInterpolationGain =
      1.02 * (polyphaseTaps.map { $0.reduce(0) { $0 + abs($1) } }.max() ?? 0)
  }

  private static func interpolationTaps(of phase: Int, factor: Int) -> [Float] {
    stride(from: phase, to: 48, by: factor).map { index in
      let angle = .pi * Double(index - 24) / Double(factor)
      let window = 0.5 * (1 - cos(2 * .pi * Double(index) / 48))
      return Float(window * sin(angle) / angle)
    }
  }

  /// Updates the peak with the next segment of samples.
  ///
  /// - Parameters:
  ///   - samples: The segment's first sample, with `historySampleCount` samples before it.
  ///   - segmentPeak: The maximum magnitude of the segment.
  mutating func addSegment(_ samples: UnsafeRawPointer, samplePeak segmentPeak: Float) {
    peakMagnitude = max(peakMagnitude, segmentPeak)
    if max(segmentPeak, previousSegmentPeak) * maximumInterpolationGain > peakMagnitude {
      for group in 0..<Self.segmentSampleCount / 8 {
        for taps in polyphaseTaps {
          unsafe updatePeak(with: taps, at: samples + group * 32)
        }
      }
    }
    previousSegmentPeak = segmentPeak
  }

  private mutating func updatePeak(with taps: [Float], at samples: UnsafeRawPointer) {
    var interpolatedSums = SIMD8<Float>.zero
    for tap in taps.indices {
      let values = unsafe (samples - tap * 4).loadUnaligned(as: SIMD8<Float>.self)
      interpolatedSums += values * taps[tap]
    }
    peakMagnitude = max(peakMagnitude, interpolatedSums.maximumMagnitude)
  }
}

extension SIMD8<Float> {
  /// The magnitudes of the eight lanes.
  var magnitudes: SIMD8<Float> {
    unsafe unsafeBitCast(
      unsafe unsafeBitCast(self, to: SIMD8<UInt32>.self) & SIMD8<UInt32>(repeating: 0x7FFF_FFFF),
      to: SIMD8<Float>.self)
  }

  /// Returns the greater element of each lane.
  func lanewiseMaximum(_ other: SIMD8<Float>) -> SIMD8<Float> {
    replacing(with: other, where: other .> self)
  }

  var maximumMagnitude: Float {
    let laneMagnitudes = magnitudes
    let isHighGreater = laneMagnitudes.highHalf .> laneMagnitudes.lowHalf
    let pairMaxima = laneMagnitudes.lowHalf.replacing(
      with: laneMagnitudes.highHalf, where: isHighGreater)
    return Swift.max(
      Swift.max(pairMaxima[0], pairMaxima[1]), Swift.max(pairMaxima[2], pairMaxima[3]))
  }
}
