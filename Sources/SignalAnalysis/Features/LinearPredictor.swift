/// How far a low signal departs from what its last 50 ms let expect.
///
/// Each sample is foretold 5 ms ahead by the linear prediction that fits the window best. Steady and
/// gliding tones, their sums and their fades can be foretold; what begins cannot.
struct LinearPredictor: ~Copyable {
  /// Frames that are foretold: 5 ms at 2 kHz.
  static let horizon = 10
  /// Frames of the window: 50 ms at 2 kHz, the least distance of two taps that are resolved.
  private static let window = 100
  /// Earlier values that a sample is foretold from: enough for four tones.
  private static let order = 8
  /// Frames between those values: further apart, low tones differ more.
  private static let spacing = 2
  /// Frames from the first value to the sample.
  private static let depth = horizon + spacing * (order - 1)

  private let samples: [Double]
  /// Sums of products of the sample and the values it is foretold from, over the window.
  private var sums = [Double](repeating: 0, count: (order + 1) * (order + 1))
  private var factors = [Double](repeating: 0, count: order * order)
  private var weights = [Double](repeating: 0, count: order)

  /// Prepares for a signal of about 2 kHz.
  init(_ samples: [Float]) { self.samples = samples.map(Double.init) }

  /// The departures, one for each sample.
  mutating func residual() -> [Double] {
    samples.indices.map { index in
      include(index - Self.horizon, sign: 1)
      include(index - Self.horizon - Self.window, sign: -1)
      return samples[index] - expectation(at: index)
    }
  }

  /// The sample (0) or one of the values it is foretold from.
  private func value(_ which: Int, of index: Int) -> Double {
    let place = which == 0 ? index : index - Self.horizon - Self.spacing * (which - 1)
    return place < 0 ? 0 : samples[place]
  }

  /// Adds the products about one sample to the sums, or takes them away.
  private mutating func include(_ index: Int, sign: Double) {
    guard index >= 0 else { return }
    let size = Self.order + 1
    for row in 0..<size {
      let left = sign * value(row, of: index)
      guard left != 0 else { continue }
      for column in 0...row { sums[row * size + column] += left * value(column, of: index) }
    }
  }

  /// The least-squares prediction, by Cholesky's method.
  private mutating func expectation(at index: Int) -> Double {
    let order = Self.order
    let size = order + 1
    var trace = 0.0
    var energy = 0.0
    for row in 1..<size {
      trace += sums[row * size + row]
      energy += value(row, of: index) * value(row, of: index)
    }
    guard trace > 1e-9, energy > 1e-9 else { return 0 }
    // Keeps what cannot be resolved, or was learnt from much weaker sound, from growing without
    // bound.
    let ridge = trace / Double(order) * 1e-6 + energy * 1e-2
    for row in 0..<order {
      for column in 0...row {
        var sum = sums[(row + 1) * size + column + 1]
        if row == column { sum += ridge }
        for inner in 0..<column { sum -= factors[row * order + inner] * factors[column * order + inner] }
        factors[row * order + column] =
          row == column ? max(sum, ridge * 1e-3).squareRoot() : sum / factors[column * order + column]
      }
    }
    for row in 0..<order {
      var sum = sums[(row + 1) * size]
      for inner in 0..<row { sum -= factors[row * order + inner] * weights[inner] }
      weights[row] = sum / factors[row * order + row]
    }
    var result = 0.0
    for row in (0..<order).reversed() {
      var sum = weights[row]
      for inner in stride(from: row + 1, to: order, by: 1) { sum -= factors[inner * order + row] * weights[inner] }
      weights[row] = sum / factors[row * order + row]
      result += weights[row] * value(row + 1, of: index)
    }
    return result
  }
}
