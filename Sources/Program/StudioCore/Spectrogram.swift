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
    let signal = SignalResampler.resampled(samples, from: rate, to: signalRate)
    let length = max(8, Int((windowSeconds * signalRate).rounded()))
    let window = (0..<length).map {
      Float(0.5 - 0.5 * cos(2 * .pi * (Double($0) + 0.5) / Double(length)))
    }
    let windowSum = window.reduce(0, +)
    // The complex sine of each row under the window. A full-scale sine has magnitude 1.
    let sines = (0..<rows).flatMap { row -> [SIMD2<Float>] in
      let cyclesPerSample = hertz * (Double(row) + 0.5) / Double(rows) / signalRate
      return (0..<length).map { index in
        let angle = 2 * .pi * cyclesPerSample * Double(index)
        return SIMD2(Float(cos(angle)), Float(sin(angle))) * (2 * window[index] / windowSum)
      }
    }
    var levels: [Float] = []
    levels.reserveCapacity(columns * rows)
    for column in 0..<columns {
      let start = Int((Double(column) + 0.5) / Double(columns) * Double(signal.count)) - length / 2
      let firstIndex = max(0, -start)
      let indices = firstIndex..<max(firstIndex, min(length, signal.count - start))
      for row in 0..<rows {
        var correlation = SIMD2<Float>()
        for index in indices {
          correlation += sines[row * length + index] * signal[start + index]
        }
        let power = correlation.x * correlation.x + correlation.y * correlation.y
        levels.append(power > 1e-12 ? Float(10 * log10(Double(power))) : silenceDecibels)
      }
    }
    return levels
  }
}
