/// The lowest, highest and effective value of the samples in each column of pixels.
struct SampleColumns {
  /// The lowest sample of each column; neighbours overlap by a sample, so that no gap shows.
  private(set) var low: [Double] = []
  /// The highest sample of each column.
  private(set) var high: [Double] = []
  /// The root of the mean square around each column, over at least `effectiveWindow`.
  private(set) var effective: [Double] = []

  /// Seconds that an effective value is taken over: two periods of the lowest usual tone.
  static let effectiveWindow = 0.025

  /// Goes once through all samples; what is no number counts as silence.
  ///
  /// - Parameter samplesPerColumn: At least 1.
  init(_ samples: [Float], rate: Double, samplesPerColumn: Double) {
    let step = max(1, samplesPerColumn)
    let count = Int((Double(samples.count) / step).rounded(.up))
    var powers: [Double] = [0]
    low.reserveCapacity(count)
    high.reserveCapacity(count)
    powers.reserveCapacity(count + 1)
    unsafe samples.withUnsafeBufferPointer { buffer in
      for column in 0..<count {
        let start = min(Int(Double(column) * step), buffer.count - 1)
        let end = max(start + 1, min(Int(Double(column + 1) * step), buffer.count))
        var (least, most, power) = (Float.infinity, -Float.infinity, 0.0)
        for index in start..<end {
          let sample = unsafe buffer[index].isFinite ? buffer[index] : 0
          least = min(least, sample)
          most = max(most, sample)
          power += Double(sample * sample)
        }
        if end < buffer.count, unsafe buffer[end].isFinite {
          least = unsafe min(least, buffer[end])
          most = unsafe max(most, buffer[end])
        }
        low.append(Double(least))
        high.append(Double(most))
        powers.append(powers[column] + power)
      }
    }
    // Sums from the beginning give the power of any stretch of columns.
    let reach = Int((Self.effectiveWindow * rate / step / 2).rounded(.down))
    for column in 0..<count {
      let (from, to) = (max(0, column - reach), min(count, column + reach + 1))
      let frames = min(Double(to) * step, Double(samples.count)) - Double(from) * step
      let mean = (powers[to] - powers[from]) / max(1, frames)
      effective.append(max(0, mean).squareRoot())
    }
  }
}
