public import HapticModel

/// What a file holds.
public struct AHAPReading: Equatable, Sendable {
  /// The pattern: values within their ranges, control points sorted and relative to their curve.
  public var pattern: HapticPattern
  /// The version of Core Haptics the file says it needs, or nothing.
  public var version: Double?
  /// What the file says about itself.
  public var metadata: AHAPMetadata
  /// Whether the file counts control points from the start of the pattern, and they were moved.
  public var usesAbsoluteCurveTimes: Bool

  /// How many events of a kind the pattern has. Takes time in proportion to the events.
  public func eventCount(of kind: HapticEvent.Kind) -> Int {
    pattern.events.count { $0.kind == kind }
  }

  /// How many control points the curves have together.
  public var controlPointCount: Int {
    pattern.curves.reduce(0) { $0 + $1.controlPoints.count }
  }
}

/// What a reader may be told about a file.
public struct AHAPReadingOptions: Equatable, Sendable {
  /// What the times of control points count from.
  public enum CurveTimes: String, CaseIterable, Sendable {
    /// From the start of their curve, as Apple documents.
    case relative
    /// From the start of the pattern, as some tools write.
    case absolute
    /// From the start of their curve, unless all curves of the file together show otherwise.
    case automatic
  }

  /// What the times of control points count from.
  public var curveTimes: CurveTimes

  /// Makes options; those not given are as Apple documents its own reader.
  public init(curveTimes: CurveTimes = .automatic) {
    self.curveTimes = curveTimes
  }
}
