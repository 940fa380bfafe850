/// A place in an array: along its line, around its ring in degrees, or on its plane in metres.
public struct ArrayPosition: Equatable, Sendable {
  /// The place on a line, the angle on a ring, or the first coordinate on a plane.
  public var x: Double
  /// The second coordinate on a plane; 0 elsewhere.
  public var y: Double

  /// Makes a position.
  public init(_ x: Double, _ y: Double = 0) {
    self.x = x
    self.y = y
  }

  /// The position a share of the way from this one to another, in a straight line.
  ///
  /// On a ring the way is that of the numbers: from 350 to 370 leads through 0.
  public func moved(_ share: Double, towards end: ArrayPosition) -> ArrayPosition {
    // Exact at both ends.
    ArrayPosition(x * (1 - share) + end.x * share, y * (1 - share) + end.y * share)
  }

  /// The distance to another position on a line or a plane.
  func distance(to other: ArrayPosition) -> Double {
    let (across, along) = (x - other.x, y - other.y)
    return (across * across + along * along).squareRoot()
  }
}
