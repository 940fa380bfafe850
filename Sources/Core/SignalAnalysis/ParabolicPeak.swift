/// The vertex of the parabola through three equidistant values.
///
/// The middle value is the maximum.
///
/// With the values a, b, and c, the vertex is (a − c) / (2 (a − 2b + c)) steps from the middle
/// value. Its height is b − (a − c) / 4 times that offset.
///
/// Source: J. O. Smith, "Spectral Audio Signal Processing", Quadratic Interpolation of Spectral
/// Peaks.
package struct ParabolicPeak: Equatable, Sendable {
  /// The distance of the vertex from the middle value, in steps.
  package let peakOffset: Double
  /// The height of the parabola at its vertex.
  package let peakHeight: Double

  /// Interpolates a peak from three values. If the middle value is not the maximum, it is the peak.
  package init(_ before: Double, _ middle: Double, _ after: Double) {
    let curvature = before - 2 * middle + after
    guard curvature < 0 else {
      peakOffset = 0
      peakHeight = middle
      return
    }
    peakOffset = 0.5 * (before - after) / curvature
    peakHeight = middle - 0.25 * (before - after) * peakOffset
  }
}
