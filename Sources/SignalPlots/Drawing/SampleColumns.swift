/// The lowest, highest and effective value of the samples in each column of pixels.
struct SampleColumns {
  /// The lowest sample of each column; neighbours overlap by a sample, so that no gap shows.
  private(set) var low: [Double] = []
  /// The highest sample of each column.
  private(set) var high: [Double] = []
  /// The root of the mean square around each column, which counts most, over `effectiveWindow`.
  private(set) var effective: [Double] = []

  /// Seconds that an effective value is taken over: two periods of the lowest usual tone.
  static let effectiveWindow = 0.025

  /// Columns to each side that a mean takes in, so that a line over many seconds does not flicker.
  private static let leastReach = 3

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
    // Twice the mean over half the window is a mean in which the middle counts most.
    let reach = max(
      Self.leastReach, Int((Self.effectiveWindow * rate / step / 4).rounded(.down)))
    let frames = Double(samples.count) / Double(max(1, count))
    let once = Self.means(powers.map { $0 / max(1, frames) }, reach: reach)
    var sums = [0.0]
    sums.reserveCapacity(count + 1)
    for mean in once { sums.append(sums[sums.count - 1] + mean) }
    effective = Self.means(sums, reach: reach).map { max(0, $0).squareRoot() }
  }

  /// The means of stretches around each value, from the sums of all values before each.
  private static func means(_ sums: [Double], reach: Int) -> [Double] {
    let count = sums.count - 1
    return (0..<max(0, count)).map { place in
      let (from, to) = (max(0, place - reach), min(count, place + reach + 1))
      return (sums[to] - sums[from]) / Double(to - from)
    }
  }
}
