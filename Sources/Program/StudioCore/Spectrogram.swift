internal import CMath
internal import HapticRender
internal import SignalAnalysis

/// Computes spectrograms, which show the level of each frequency over time.
enum Spectrogram {
  /// The length of the spectrogram's window, in seconds.
  private static let windowSeconds = 0.064
  /// The level in decibels that a silent cell of a spectrogram has.
  private static let silenceDecibels = Float(-120)

  /// Returns levels in decibels relative to full scale, column by column, with the rows from 0 Hz
  /// up.
  ///
  /// 1. The samples are resampled to at most four times the highest frequency.
  /// 2. Each column is the middle of a Hann window.
  /// 3. Each row is the magnitude of the window's correlation with a complex sine.
  ///
  /// - Parameters:
  ///   - samples: The samples.
  ///   - rate: The sample rate, in hertz.
  ///   - columns: The number of columns.
  ///   - rows: The number of rows.
  ///   - hertz: The frequency above the last row.
  static func cellDecibels(
    of samples: [Float], rate: Double, columns: Int, rows: Int, upToHertz hertz: Double
  ) -> [Float] {
    guard columns > 0, rows > 0, hertz > 0, !samples.isEmpty else { return [] }
    let signalRate = min(rate, 4 * hertz)
    let resampledSignal = SignalResampler.resampled(samples, from: rate, to: signalRate)
    let windowFrameCount = max(8, Int((windowSeconds * signalRate).rounded()))
    let windowWeights = (0..<windowFrameCount).map {
      Float(0.5 - 0.5 * cos(2 * .pi * (Double($0) + 0.5) / Double(windowFrameCount)))
    }
    let windowWeightSum = windowWeights.reduce(0, +)
    // The complex sine of each row under the window. A full-scale sine has magnitude 1.
    let windowedSines = (0..<rows).flatMap { row -> [SIMD2<Float>] in
      let cyclesPerSample = hertz * (Double(row) + 0.5) / Double(rows) / signalRate
      return (0..<windowFrameCount).map { index in
        let angle = 2 * .pi * cyclesPerSample * Double(index)
        return SIMD2(Float(cos(angle)), Float(sin(angle)))
          * (2 * windowWeights[index] / windowWeightSum)
      }
    }
    var cellLevels: [Float] = []
    cellLevels.reserveCapacity(columns * rows)
    for column in 0..<columns {
      let start =
        Int((Double(column) + 0.5) / Double(columns) * Double(resampledSignal.count))
        - windowFrameCount / 2
      let firstIndex = max(0, -start)
      let indices =
        firstIndex..<max(firstIndex, min(windowFrameCount, resampledSignal.count - start))
      for row in 0..<rows {
        var correlation = SIMD2<Float>()
        for index in indices {
          correlation +=
            windowedSines[row * windowFrameCount + index] * resampledSignal[start + index]
        }
        let power = correlation.x * correlation.x + correlation.y * correlation.y
        cellLevels.append(power > 1e-12 ? Float(10 * log10(Double(power))) : silenceDecibels)
      }
    }
    return cellLevels
  }
}
