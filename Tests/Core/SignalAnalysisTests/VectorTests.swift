import SignalAnalysis
import Testing

struct VectorTests {
  @Test("The inner product ends with the shorter array")
  func dotEndsWithTheShorterArray() {
    #expect(Vector.dot([1, 2, 3, 4, 5] as [Float], [1, 1, 1, 1, 1, 9]) == 15)
    #expect(Vector.dot([1, 2, 3] as [Double], [2, 2]) == 6)
    #expect(Vector.dot([] as [Float], [1]) == 0)
  }

  @Test("An inner product of parts begins at its offsets")
  func dotBeginsAtItsOffsets() {
    #expect(
      Vector.dot([0, 1, 2, 3] as [Float], from: 1, [5, 6, 7] as [Float], from: 0, count: 3) == 38)
    #expect(Vector.dot([0, 1] as [Double], from: 1, [5, 6] as [Double], from: 1, count: 0) == 0)
  }

  @Test("An inner product with taps has eight lanes and a remainder", arguments: [1, 7, 8, 9, 20])
  func dotWithTapsHasARemainder(count: Int) {
    let samples = (0..<count + 3).map(Float.init)
    let taps = [Float](repeating: 2, count: count)
    let expected = Float((3..<count + 3).reduce(0, +) * 2)
    #expect(Vector.dot(samples.span, from: 3, taps.span) == expected)
  }

  @Test("The energy is the sum of the squares")
  func energyIsTheSumOfSquares() {
    #expect(Vector.energy([1, 2, 3] as [Float]) == 14)
    #expect(Vector.energy([1, 2, 3] as [Double]) == 14)
    #expect(Vector.energy([1, 2, 3] as [Float], 1..<3) == 13)
  }

  @Test("An array is added at any offset, cut at the ends of the sum")
  func additionIsCutAtTheEnds() {
    var sum: [Float] = [0, 0, 0]
    Vector.add([1, 2], times: 2, to: &sum, at: 2)
    Vector.add([1, 2], times: 1, to: &sum, at: -1)
    Vector.add([1, 2], times: 1, to: &sum, at: 9)
    #expect(sum == [2, 0, 2])
    var limited: [Double] = [0, 0, 0]
    Vector.add([1, 1, 1], times: 1, to: &limited, at: 0, count: 2)
    #expect(limited == [1, 1, 0])
    var part: [Double] = [0, 0, 0]
    Vector.add([1, 2, 3], from: 1, times: 1, to: &part, at: 1)
    #expect(part == [0, 2, 3])
  }

  @Test("The cross-correlation has one sum for each lag, with silence around the second array")
  func crossCorrelationHasASumForEachLag() {
    #expect(Vector.crossCorrelation([1, 2], [1, 0, 3], lags: -1..<4) == [2, 1, 6, 3, 0])
  }

  @Test(
    "A cross-correlation of any number of lags has the rounding of a sum in order",
    arguments: [1, 8, 9, 16, 23])
  func crossCorrelationIsASumInOrder(lagCount: Int) {
    let first = (0..<13).map { $0 % 5 == 0 ? 0 : 0.1 * Double($0) }
    let second = (0..<20).map { 1 / Double(3 + $0) }
    for firstLag in [-9, 0, 4] {
      let expected = (firstLag..<firstLag + lagCount).map { lag in
        first.indices.reduce(0.0) { sum, index in
          second.indices.contains(index + lag) ? sum + first[index] * second[index + lag] : sum
        }
      }
      #expect(
        Vector.crossCorrelation(first, second, lags: firstLag..<firstLag + lagCount) == expected)
    }
  }

  @Test("Four inner products have the rounding of one", arguments: [0, 1, 3, 4, 7, 12])
  func fourInnerProductsHaveTheRoundingOfOne(count: Int) {
    let values = (0..<30).map { 1 / Double(3 + $0) }
    let products = Vector.dots(values, from: SIMD4(0, 5, 6, 18), values, from: 11, count: count)
    for (number, start) in [0, 5, 6, 18].enumerated() {
      #expect(products[number] == Vector.dot(values, from: start, values, from: 11, count: count))
    }
  }

  @Test("A filter with one tap per sample of delay is a convolution")
  func filterIsAConvolution() {
    #expect(Vector.filtered([1, 2, 3], by: [1, 10], tail: 1) == [1, 12, 23, 30])
    #expect(Vector.filtered([1, 2], by: [1], tail: 2) == [1, 2, 0, 0])
  }

  @Test("A range is silenced within the samples")
  func rangeIsSilenced() {
    var samples: [Float] = [1, 2, 3]
    Vector.zero(&samples, in: 1..<9)
    #expect(samples == [1, 0, 0])
  }
}
