/// The computation of the minimum or maximum in a window that slides over an array of values.
///
/// A monotonic queue contains the candidates for the current and for later windows. Each value
/// enters and leaves it once, so the time is O(n) for any window. The queue is that of D. Lemire,
/// "Streaming maximum-minimum filter using no more than three comparisons per element", Nordic
/// Journal of Computing 13, 2006.
package enum SlidingExtremum {
  /// Returns the maximum of the values at most `radius` indices away from each value.
  package static func maximum(of values: [Float], radius: Int) -> [Float] {
    extremum(of: values, radius: radius) { $0 > $1 }
  }

  /// Returns the maximum of the values at most `radius` indices away from each value.
  package static func maximum(of values: [Double], radius: Int) -> [Double] {
    extremum(of: values, radius: radius) { $0 > $1 }
  }

  /// Returns the minimum of the values at most `radius` indices away from each value.
  package static func minimum(of values: [Float], radius: Int) -> [Float] {
    extremum(of: values, radius: radius) { $0 < $1 }
  }

  /// - Parameter isBetter: The order: `<` for the minimum, `>` for the maximum.
  @inline(__always) private static func extremum<Value>(
    of values: [Value], radius: Int, by isBetter: (Value, Value) -> Bool
  ) -> [Value] {
    guard radius > 0 else { return values }
    // The indices of the candidates, the best first.
    var candidateIndices: [Int] = []
    var queueHeadIndex = 0
    var nextInputIndex = 0
    return values.indices.map { index in
      while nextInputIndex < min(values.count, index + radius + 1) {
        while candidateIndices.count > queueHeadIndex, let last = candidateIndices.last,
          !isBetter(values[last], values[nextInputIndex])
        {
          candidateIndices.removeLast()
        }
        candidateIndices.append(nextInputIndex)
        nextInputIndex += 1
      }
      while candidateIndices[queueHeadIndex] < index - radius {
        queueHeadIndex += 1
      }
      return values[candidateIndices[queueHeadIndex]]
    }
  }
}
