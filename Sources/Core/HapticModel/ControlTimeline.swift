/// The value of a control over the duration of a pattern, as a sequence of linear segments.
///
/// 1. A parameter steps to its value and holds it.
/// 2. A curve holds its first value from its start to its first point, is linear between its points
///    (or approximates a square root within a tolerance), and holds its last value.
/// 3. A parameter or curve replaces any that started earlier. If a curve and a step start together,
///    the step wins; otherwise, the one later in the pattern wins.
///
/// Points are sorted by time. Values are clamped to the range of the control; NaN becomes neutral.
public struct ControlTimeline: Equatable, Sendable {
  /// The unit and rounding of positions on the timeline.
  public enum TimeGrid: Equatable, Sendable {
    /// Positions are times in seconds, without rounding.
    case seconds
    /// Positions are frame numbers at a sample rate.
    case frames(rate: Double)

    func position(forSeconds seconds: Double) -> Double {
      switch self {
      case .seconds: seconds
      case .frames(let rate): Double(FrameConversion.frame(seconds: seconds, rate: rate))
      }

    }
    func unclampedPosition(forSeconds seconds: Double) -> Double {
      switch self {
      case .seconds: seconds
      case .frames(let rate): (seconds * rate).rounded()
      }
    }
  }

  /// A linear segment that lasts until the next segment starts.
  public struct Segment: Equatable, Sendable {
    /// The first position of the segment, in seconds or frames.
    public var startPosition: Double
    /// The value of the control at the first position of the segment.
    public var startValue: Double
    /// The increase of the control's value per second or frame.
    public var slopePerPositionUnit: Double
    /// The start position of the step or curve that produced the segment.
    ///
    /// The position is nil for the neutral value.
    public var sourceStartPosition: Double?

    /// Creates a linear segment from its first position, value, and slope.
    ///
    /// - Parameters:
    ///   - start: The first position.
    ///   - value: The value at the first position.
    ///   - slope: The increase of the value per second or frame.
    ///   - sourceStart: The start of the step or curve that the segment came from, or nil.
    public init(
      startPosition start: Double, startValue value: Double, slopePerPositionUnit slope: Double = 0,
      sourceStartPosition sourceStart: Double? = nil
    ) {
      self.startPosition = start
      self.startValue = value
      self.slopePerPositionUnit = slope
      self.sourceStartPosition = sourceStart
    }

    /// Returns the control value at a position, extrapolated if the position is beyond the segment.
    public func value(at position: Double) -> Double {
      startValue + slopePerPositionUnit * (position - startPosition)
    }
  }

  /// The segments, sorted by position. The first starts at 0, with the neutral value or its
  /// replacement.
  public private(set) var segments: [Segment]

  /// Creates the timeline of a control from the steps and curves of a pattern.
  ///
  /// - Parameters:
  ///   - id: The control.
  ///   - pattern: The pattern that sets it.
  ///   - grid: The grid to which times are rounded.
  ///   - isClamped: Whether values are clamped to the range of the control; false for the sharpness
  ///     of a layer that states frequencies in hertz.
  /// - Complexity: O(*n* log *n*) in the number of parameters and control points.
  public init(
    of id: DynamicParameterID, in pattern: HapticPattern, grid: TimeGrid = .seconds,
    isClamped: Bool = true
  ) {
    func validValue(_ stated: Float) -> Double {
      isClamped ? id.clamped(stated) : id.neutralIfNaN(stated)
    }
    segments = [Segment(startPosition: 0, startValue: Double(id.neutralValue))]
    var controlSources: [(time: Double, start: Double, curve: ParameterCurve?, value: Double)] = []
    for parameter in pattern.parameters where parameter.id == id {
      let start = max(0, grid.position(forSeconds: parameter.time))
      controlSources.append((parameter.time, start, nil, validValue(parameter.value)))
    }
    for curve in pattern.curves
    where curve.id == id && curve.controlPoints.contains(where: { !$0.time.isNaN }) {
      controlSources.append((curve.time, max(0, grid.position(forSeconds: curve.time)), curve, 0))
    }
    // The order is by time, because different times can share a frame. The index preserves the
    // order of equal times.
    let sourceOrder = controlSources.indices.sorted {
      (controlSources[$0].time, $0) < (controlSources[$1].time, $1)
    }
    for (position, index) in sourceOrder.enumerated() {
      let source = controlSources[index]
      let end =
        position + 1 < sourceOrder.count
        ? controlSources[sourceOrder[position + 1]].start : .infinity
      guard end > source.start else { continue }
      let sourceSegments =
        source.curve.map {
          Self.segments(
            of: $0, from: source.start, to: end, grid: grid, isClamped: isClamped)
        } ?? [
          Segment(
            startPosition: source.start, startValue: source.value, sourceStartPosition: source.start
          )
        ]
      for segment in sourceSegments {
        while let last = segments.last, last.startPosition >= segment.startPosition {
          segments.removeLast()
        }
        segments.append(segment)
      }
    }
  }

  /// Creates the timeline of a control from the steps and curves of a layer.
  ///
  /// The sharpness of a layer that states frequencies in hertz is not clamped.
  ///
  /// - Parameters:
  ///   - id: The control.
  ///   - layer: The layer that sets it.
  ///   - grid: The grid to which times are rounded.
  /// - Complexity: O(*n* log *n*) in the number of parameters and control points.
  public init(
    of id: DynamicParameterID, in layer: HapticComposition.Layer, grid: TimeGrid = .seconds
  ) {
    self.init(
      of: id, in: layer.pattern, grid: grid,
      isClamped: layer.hasClampedSharpness || id != .hapticSharpnessControl)
  }

  /// A Boolean value that indicates whether the pattern sets the control.
  public var isSetByPattern: Bool {
    segments.count > 1 || segments.first?.sourceStartPosition != nil
  }

  /// Returns the index of the segment at a position.
  ///
  /// - Complexity: O(log *n*).
  public func segmentIndex(at position: Double) -> Int {
    max(0, segments.prefixEndIndex { $0.startPosition <= position } - 1)
  }

  /// Returns the value of the control at a position in seconds or frames.
  ///
  /// - Complexity: O(log *n*).
  public func value(at position: Double) -> Double {
    segments[segmentIndex(at: position)].value(at: position)
  }

  /// Returns the control value at a position.
  ///
  /// The position must not be before the position of the previous call.
  ///
  /// - Parameters:
  ///   - position: The position.
  ///   - cursor: The index of the current segment, initially 0; the call advances it.
  /// - Complexity: O(1) amortized over a sweep.
  public func value(at position: Double, cursor: inout Int) -> Double {
    while cursor + 1 < segments.count, segments[cursor + 1].startPosition <= position {
      cursor += 1
    }
    return segments[cursor].value(at: position)
  }

  /// Returns a timeline with each segment replaced by the segments that a function returns.
  public func mappingSegments(_ transform: (Segment) -> [Segment]) -> ControlTimeline {
    var mappedTimeline = self
    mappedTimeline.segments = segments.flatMap(transform)
    return mappedTimeline
  }

  private static func segments(
    of curve: ParameterCurve, from start: Double, to end: Double, grid: TimeGrid, isClamped: Bool
  ) -> [Segment] {
    let points = curve.linearizedPoints(isClamped: isClamped).map {
      (time: curve.time + $0.time, value: $0.value)
    }
    guard let firstPoint = points.first, let lastPoint = points.last else { return [] }
    var curveSegments = [
      Segment(startPosition: start, startValue: firstPoint.value, sourceStartPosition: start)
    ]
    func appendClippedSegment(_ segment: Segment, until segmentEnd: Double) {
      guard segment.startPosition < end, segmentEnd > start else { return }
      var segment = segment
      if segment.startPosition < start {
        segment.startValue = segment.value(at: start)
        segment.startPosition = start
      }
      if curveSegments.last?.startPosition == segment.startPosition {
        curveSegments.removeLast()
      }
      curveSegments.append(segment)
    }
    for (from, to) in zip(points, points.dropFirst()) {
      let position = grid.position(forSeconds: from.time)
      guard position < end else { break }
      let nextPosition = grid.unclampedPosition(forSeconds: to.time)
      let length = nextPosition - grid.unclampedPosition(forSeconds: from.time)
      let slope = (to.value - from.value) / length
      // Points at equal times, or with a slope that is not finite, form a step.
      guard length > 0, slope.isFinite else { continue }
      appendClippedSegment(
        Segment(
          startPosition: position, startValue: from.value, slopePerPositionUnit: slope,
          sourceStartPosition: start),
        until: nextPosition)
    }
    appendClippedSegment(
      Segment(
        startPosition: grid.position(forSeconds: lastPoint.time), startValue: lastPoint.value,
        sourceStartPosition: start),
      until: .infinity)
    return curveSegments
  }
}

extension DynamicParameterID {
  /// Returns a value clamped to the range of the control; NaN becomes the neutral value.
  public func clamped(_ value: Float) -> Double {
    guard !value.isNaN else { return Double(neutralValue) }
    return Double(min(max(value, range.lowerBound), range.upperBound))
  }

  /// Returns a value without clamping it to the range of the control.
  ///
  /// NaN becomes the neutral value.
  fileprivate func neutralIfNaN(_ value: Float) -> Double {
    Double(value.isNaN ? neutralValue : value)
  }
}

extension ParameterCurve {
  /// The default tolerance of linear segments for a square root, in units of the control.
  ///
  /// The error is below 0.1 dB for intensities of at least 0.05.
  public static let defaultSquareRootTolerance = 0.0005

  /// The maximum number of linear segments that approximate the square roots of a curve.
  private static let maximumLinearizedPointCount = 1_000_000

  /// Returns an approximation of the curve by linear segments. A linear curve is returned
  /// unchanged.
  ///
  /// - Parameter tolerance: The maximum distance between the linear segments and the curve, in
  ///   units of the control. A curve with very many points may exceed it.
  public func linearized(tolerance: Double = defaultSquareRootTolerance) -> ParameterCurve {
    guard interpolation != .linear else { return self }
    var linearizedCurve = self
    linearizedCurve.interpolation = .linear
    linearizedCurve.controlPoints = linearizedPoints(tolerance: tolerance).map {
      ControlPoint(time: $0.time, value: Float($0.value))
    }
    return linearizedCurve
  }

  /// Returns the points of an approximation of the curve by linear segments, sorted by time.
  ///
  /// Times count from the start of the curve. Points whose time is NaN are omitted. Values are
  /// clamped to the range of the control unless `isClamped` is false.
  func linearizedPoints(
    tolerance: Double = defaultSquareRootTolerance, isClamped: Bool = true
  ) -> [(time: Double, value: Double)] {
    let sortedPoints = controlPoints.enumerated().filter { !$0.element.time.isNaN }.sorted {
      ($0.element.time, $0.offset) < ($1.element.time, $1.offset)
    }.map { point in
      let value = point.element.value
      return (
        time: point.element.time, value: isClamped ? id.clamped(value) : id.neutralIfNaN(value)
      )
    }
    guard interpolation == .squared, let firstPoint = sortedPoints.first else {
      return sortedPoints
    }
    let maximumDivisionCount = max(1, Self.maximumLinearizedPointCount / sortedPoints.count)
    var squareRootPoints = [(time: firstPoint.time, value: max(firstPoint.value, 0).squareRoot())]
    for (from, to) in zip(sortedPoints, sortedPoints.dropFirst()) {
      let span = to.time - from.time
      for step in Self.squareRootDivisions(
        from: max(from.value, 0), to: max(to.value, 0), tolerance: tolerance,
        maximumCount: maximumDivisionCount)
      {
        guard span > 0 || step.fraction == 1 else { continue }
        let time = step.fraction == 1 ? to.time : from.time + step.fraction * span
        squareRootPoints.append((time, step.value))
      }
    }
    return squareRootPoints
  }

  /// Divides an interval so that linear segments approximate the square root of a linear ramp.
  ///
  /// A chord from u to v deviates from the square root by at most (v − u)² / 4(u + v), which is at
  /// most half the square of the difference between √u and √v. The fourth roots of the divisions
  /// are therefore evenly spaced.
  ///
  /// - Parameters:
  ///   - from: The value at the start of the ramp.
  ///   - to: The value at its end.
  ///   - tolerance: The maximum deviation of a segment from the square root.
  ///   - maximumCount: The maximum number of segments.
  /// - Returns: The positions in the interval, as fractions up to 1, and the square roots there.
  private static func squareRootDivisions(
    from: Double, to: Double, tolerance: Double, maximumCount: Int
  ) -> [(
    fraction: Double, value: Double
  )] {
    let startFourthRoot = from.squareRoot().squareRoot()
    let endFourthRoot = to.squareRoot().squareRoot()
    let requiredDivisions =
      (abs(endFourthRoot - startFourthRoot) / (2 * max(tolerance, 1e-9)).squareRoot()).rounded(.up)
    let divisionCount = Int(min(max(requiredDivisions, 1), Double(maximumCount)))
    return (1...divisionCount).map { index in
      guard index < divisionCount else { return (1, to.squareRoot()) }
      let value =
        startFourthRoot + (endFourthRoot - startFourthRoot) * Double(index) / Double(divisionCount)
      let square = value * value
      return ((square * square - from) / (to - from), square)
    }
  }
}

extension HapticPattern {
  /// Returns the pattern with every curve approximated by linear segments.
  public func linearized(tolerance: Double = ParameterCurve.defaultSquareRootTolerance)
    -> HapticPattern
  {
    guard curves.contains(where: { $0.interpolation != .linear }) else { return self }
    var linearizedPattern = self
    linearizedPattern.curves = curves.map { $0.linearized(tolerance: tolerance) }
    return linearizedPattern
  }
}

extension HapticComposition {
  /// Returns the composition with every curve approximated by linear segments.
  ///
  /// - Parameter tolerance: The maximum distance between the linear segments and a curve, in units
  ///   of its control.
  public func linearized(tolerance: Double = ParameterCurve.defaultSquareRootTolerance)
    -> HapticComposition
  {
    var linearizedComposition = self
    for index in layers.indices {
      linearizedComposition.layers[index].pattern = layers[index].pattern.linearized(
        tolerance: tolerance)
    }
    return linearizedComposition
  }
}
