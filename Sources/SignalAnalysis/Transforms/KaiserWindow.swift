/// Windows made of the modified Bessel function.
enum KaiserWindow {
  /// The Kaiser window at a place from −1 to 1, where it is 1 in the middle.
  static func value(at place: Double, beta: Double) -> Double {
    bessel(beta * max(0, 1 - place * place).squareRoot()) / bessel(beta)
  }

  /// The Kaiser–Bessel-derived window: two of them half a length apart have squares that add up to 1.
  static func derived(length: Int, beta: Double) -> [Float] {
    let half = length / 2
    var sums = [0.0]
    for index in 0...half {
      let place = 2 * Double(index) / Double(half) - 1
      sums.append(sums[index] + value(at: place, beta: beta))
    }
    let rising = (0..<half).map { Float((sums[$0 + 1] / sums[half + 1]).squareRoot()) }
    return rising + rising.reversed()
  }

  /// The modified Bessel function of the first kind and order zero.
  private static func bessel(_ x: Double) -> Double {
    var term = 1.0
    var sum = 1.0
    var index = 1.0
    while term > sum * 1e-12 {
      term *= (x / 2 / index) * (x / 2 / index)
      sum += term
      index += 1
    }
    return sum
  }
}
