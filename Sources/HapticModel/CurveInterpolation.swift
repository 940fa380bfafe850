extension ParameterCurve {
  /// How far a straight line between two values may be from the square root of one, unless a caller
  /// says otherwise: below 0.1 dB from an intensity of 0.05 on.
  public static let rootTolerance = 0.0005

  /// The most points that all square roots of one curve are divided into.
  private static let pointLimit = 1_000_000

  /// The curve with straight lines between its points; itself where it has them already.
  ///
  /// - Parameter tolerance: How far the lines may be from the curve, in values of the control.
  ///   Curves of very many points are divided less.
  public func linearized(tolerance: Double = rootTolerance) -> ParameterCurve {
    guard interpolation != .linear else { return self }
    var curve = self
    curve.interpolation = .linear
    curve.controlPoints = corners(tolerance: tolerance).map { ControlPoint(time: $0.time, value: Float($0.value)) }
    return curve
  }

  /// The corners of straight lines by rising time, counted from the start of the curve, their values
  /// clamped to the control's range; points at no time are left out.
  func corners(tolerance: Double = rootTolerance) -> [(time: Double, value: Double)] {
    let points = controlPoints.enumerated().filter { !$0.element.time.isNaN }.sorted {
      ($0.element.time, $0.offset) < ($1.element.time, $1.offset)
    }.map { (time: $0.element.time, value: id.clamped($0.element.value)) }
    guard interpolation == .squared, let first = points.first else { return points }
    let most = max(1, Self.pointLimit / points.count)
    var corners = [(time: first.time, value: max(first.value, 0).squareRoot())]
    for (from, to) in zip(points, points.dropFirst()) {
      let span = to.time - from.time
      for step in Self.rootSteps(from: max(from.value, 0), to: max(to.value, 0), tolerance: tolerance, limit: most) {
        guard span > 0 || step.share == 1 else { continue }
        let time = step.share == 1 ? to.time : from.time + step.share * span
        corners.append((time, step.value))
      }
    }
    return corners
  }

  /// Where the square root of what moves linearly from one number to another is divided, so that a
  /// straight line between two divisions is within a tolerance: shares of the way, the last 1.
  ///
  /// A chord from u to v is (v − u)² / 4(u + v) from the root at most, which is half the square of
  /// the difference of √u and √v or less; so the fourth roots of the divisions are evenly spaced.
  private static func rootSteps(from: Double, to: Double, tolerance: Double, limit: Int) -> [(
    share: Double, value: Double
  )] {
    let first = from.squareRoot().squareRoot()
    let last = to.squareRoot().squareRoot()
    let wanted = (abs(last - first) / (2 * max(tolerance, 1e-9)).squareRoot()).rounded(.up)
    let count = Int(min(max(wanted, 1), Double(limit)))
    return (1...count).map { index in
      guard index < count else { return (1, to.squareRoot()) }
      let value = first + (last - first) * Double(index) / Double(count)
      let square = value * value
      return ((square * square - from) / (to - from), square)
    }
  }
}

extension HapticPattern {
  /// The pattern with straight lines between the points of all curves.
  public func linearized(tolerance: Double = ParameterCurve.rootTolerance) -> HapticPattern {
    guard curves.contains(where: { $0.interpolation != .linear }) else { return self }
    var pattern = self
    pattern.curves = curves.map { $0.linearized(tolerance: tolerance) }
    return pattern
  }
}

extension HapticComposition {
  /// The composition with straight lines between the points of all curves.
  ///
  /// - Parameter tolerance: How far the lines may be from a curve, in values of its control.
  public func linearized(tolerance: Double = ParameterCurve.rootTolerance) -> HapticComposition {
    var composition = self
    for index in layers.indices {
      composition.layers[index].pattern = layers[index].pattern.linearized(tolerance: tolerance)
    }
    return composition
  }
}
