/// Sums over samples, quick enough without optimisation as well.
enum Samples {
  /// `Σ a[n + i] · b[m + i]` for i below a count.
  static func dot(_ a: [Float], from n: Int, _ b: [Float], from m: Int, count: Int) -> Double {
    guard count > 0 else { return 0 }
    precondition(n >= 0 && m >= 0 && n + count <= a.count && m + count <= b.count)
    return unsafe a.withUnsafeBufferPointer { a in
      unsafe b.withUnsafeBufferPointer { b in
        var (p, q, r, s) = (Float(0), Float(0), Float(0), Float(0))
        var i = 0
        while i &+ 4 <= count {
          unsafe p += a[n &+ i] * b[m &+ i]
          unsafe q += a[n &+ i &+ 1] * b[m &+ i &+ 1]
          unsafe r += a[n &+ i &+ 2] * b[m &+ i &+ 2]
          unsafe s += a[n &+ i &+ 3] * b[m &+ i &+ 3]
          i &+= 4
        }
        while i < count {
          unsafe p += a[n &+ i] * b[m &+ i]
          i &+= 1
        }
        return Double(p + q) + Double(r + s)
      }
    }
  }

  /// The sum of squares.
  static func energy(_ a: [Float]) -> Double { dot(a, from: 0, a, from: 0, count: a.count) }

  /// The sum of squares of a part.
  static func energy(_ a: [Float], _ range: Range<Int>) -> Double {
    dot(a, from: range.lowerBound, a, from: range.lowerBound, count: range.count)
  }

  /// Adds a multiple of one signal to another at a place; what lies outside is left out.
  static func add(_ x: [Float], times factor: Double, to y: inout [Float], at place: Int) {
    let first = max(0, -place)
    let last = min(x.count, y.count - place)
    guard last > first else { return }
    let factor = Float(factor)
    unsafe x.withUnsafeBufferPointer { x in
      unsafe y.withUnsafeMutableBufferPointer { y in
        var i = first
        while i < last {
          unsafe y[place &+ i] += factor * x[i]
          i &+= 1
        }
      }
    }
  }

  /// Silences a part.
  static func silence(_ x: inout [Float], _ range: Range<Int>) {
    for index in range.clamped(to: x.indices) { x[index] = 0 }
  }

  /// A signal through a filter, with silence before it.
  ///
  /// - Parameter tail: Samples of silence behind it that are filtered too.
  static func filtered(_ x: [Float], by taps: [Float], tail: Int = 0) -> [Float] {
    guard taps.count > 1 else { return x + [Float](repeating: 0, count: tail) }
    let order = taps.count - 1
    let padded = [Float](repeating: 0, count: order) + x + [Float](repeating: 0, count: tail)
    let reversed = Array(taps.reversed())
    return (0..<x.count + tail).map { Float(dot(padded, from: $0, reversed, from: 0, count: reversed.count)) }
  }

  /// The median; 0 for none.
  static func median(_ values: [Double]) -> Double { values.isEmpty ? 0 : values.sorted()[values.count / 2] }

  /// The value that half of the weight does not exceed; 0 of none.
  static func median(_ values: [Double], weights: [Double]) -> Double {
    let order = values.indices.sorted { values[$0] < values[$1] }
    let half = weights.reduce(0, +) / 2
    var sum = 0.0
    for index in order {
      sum += weights[index]
      if sum >= half { return values[index] }
    }
    return 0
  }
}
