internal import CMath
internal import RealtimeMemory

/// A resampler by band-limited interpolation with a windowed sinc.
///
/// The sinc has a Kaiser window and is widened when downsampling. The signal is zero before its
/// start and after its end.
/// Source: J. O. Smith, Digital Audio Resampling Home Page, 2002.
package enum SignalResampler {
  /// The number of zero crossings of the sinc on each side.
  private static let zeroCrossingCountPerSide = 24.0
  /// The shape parameter of the Kaiser window, for side lobes below −80 dB.
  private static let kaiserBeta = 8.0
  /// The number of table entries per zero crossing of the sinc.
  private static let tablePointsPerZeroCrossing = 512

  /// One half of the windowed sinc, from its center to the last zero crossing.
  ///
  /// The table has one extra entry at the end.
  private static let windowedSincTable: [Float] = {
    let kernelPointCount = Int(zeroCrossingCountPerSide) * tablePointsPerZeroCrossing
    return (0...kernelPointCount + 1).map { index in
      let distance = Double(index) / Double(tablePointsPerZeroCrossing)
      guard distance < zeroCrossingCountPerSide else { return 0 }
      let sinc = distance == 0 ? 1 : sin(.pi * distance) / (.pi * distance)
      let position = distance / zeroCrossingCountPerSide
      let window =
        besselI0(kaiserBeta * (1 - position * position).squareRoot()) / besselI0(kaiserBeta)
      return Float(sinc * window)
    }
  }()

  /// Returns the modified Bessel function of the first kind and order 0, from its power series.
  private static func besselI0(_ x: Double) -> Double {
    var seriesTerm = 1.0
    var seriesSum = 1.0
    for n in 1...40 {
      seriesTerm *= (x / 2 / Double(n)) * (x / 2 / Double(n))
      seriesSum += seriesTerm
    }
    return seriesSum
  }

  /// Returns samples converted to another sample rate.
  ///
  /// - Parameters:
  ///   - samples: The samples.
  ///   - rate: The sample rate of the samples, in hertz.
  ///   - targetRate: The sample rate of the result, in hertz.
  package static func resampled(
    _ samples: [Float], from rate: Double, to targetRate: Double
  ) -> [Float] {
    guard rate != targetRate, !samples.isEmpty else { return samples }
    let inputFramesPerOutputFrame = rate / targetRate
    let outputFrameCount = Int((Double(samples.count) / inputFramesPerOutputFrame).rounded(.up))
    // The cutoff decreases with the rate.
    let normalizedCutoff = min(1, targetRate / rate)
    let kernelHalfWidthFrames = zeroCrossingCountPerSide / normalizedCutoff
    let kernelScale = Float(normalizedCutoff)
    return (0..<outputFrameCount).map { frame in
      let position = Double(frame) * inputFramesPerOutputFrame
      let first = max(0, Int((position - kernelHalfWidthFrames).rounded(.up)))
      let last = min(samples.count - 1, Int(position + kernelHalfWidthFrames))
      guard first <= last else { return 0 }
      var sum: Float = 0
      for index in first...last {
        let tablePosition =
          abs(position - Double(index)) * normalizedCutoff * Double(tablePointsPerZeroCrossing)
        let tableIndex = Int(tablePosition)
        let fraction = Float(tablePosition - Double(tableIndex))
        sum +=
          samples[index]
          * (windowedSincTable[tableIndex]
            + (windowedSincTable[tableIndex + 1] - windowedSincTable[tableIndex]) * fraction)
      }
      return sum * kernelScale
    }
  }
}

extension AudioBuffer {
  /// Creates a sound by band-limited resampling of samples at another rate.
  ///
  /// - Parameters:
  ///   - interleaved: The samples, −1…1; samples that aren't finite become silence.
  ///   - channelCount: The number of channels, of which the first two are kept.
  ///   - rate: The sample rate of the samples.
  ///   - targetRate: The sample rate of the sound.
  package convenience init(
    interleaved: [Float], channelCount: Int, rate: Double, playedAt targetRate: Double
  ) {
    let resampledChannels = (0..<min(channelCount, 2)).map { channel in
      SignalResampler.resampled(
        stride(from: channel, to: interleaved.count, by: channelCount).map { interleaved[$0] },
        from: rate, to: targetRate)
    }
    let commonFrameCount = resampledChannels.map { $0.count }.min() ?? 0
    self.init(
      interleaved: (0..<commonFrameCount).flatMap { frame in resampledChannels.map { $0[frame] } },
      channelCount: resampledChannels.count)
  }
}
