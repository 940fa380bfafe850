/// The value of one control over a pattern: the one law of parameters and curves.
///
/// A parameter steps and holds. A curve holds its first value from its start to its first point, is
/// linear between points, or a root within its tolerance, and holds its last value. The later start
/// wins; of equal starts, a curve before a step, then the later in the pattern. Points are sorted
/// by time; values are clamped to the control's range; NaN is neutral.
public struct ControlTimeline: Equatable, Sendable {
  /// What times are rounded to.
  public enum TimeGrid: Equatable, Sendable {
    /// Times stay seconds.
    case seconds
    /// Times become whole frames at a rate; positions are frame numbers.
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

  /// A straight line that holds until the next segment starts.
  public struct Segment: Equatable, Sendable {
    /// The first position, and the value there.
    public var start, value: Double
    /// What the value grows by in a second or a frame.
    public var slope: Double
    /// The start of the step or curve it belongs to, or nil for the neutral value.
    public var sourceStart: Double?

    /// Makes a segment.
    public init(start: Double, value: Double, slope: Double = 0, sourceStart origin: Double? = nil)
    {
      self.start = start
      self.value = value
      self.slope = slope
      self.sourceStart = origin
    }

    /// The value at a position.
    public func value(at position: Double) -> Double { value + slope * (position - start) }
  }

  /// By rising start; the first starts at 0 with the neutral value or what replaces it.
  public private(set) var segments: [Segment]

  /// Sorts a pattern's steps and curves of one control: O(n log n).
  public init(of id: DynamicParameterID, in pattern: HapticPattern, grid: TimeGrid = .seconds) {
    segments = [Segment(start: 0, value: Double(id.neutralValue))]
    var sources: [(time: Double, start: Double, curve: ParameterCurve?, value: Double)] = []
    for parameter in pattern.parameters where parameter.id == id {
      let start = max(0, grid.position(forSeconds: parameter.time))
      sources.append((parameter.time, start, nil, id.clamped(parameter.value)))
    }
    for curve in pattern.curves
    where curve.id == id && curve.controlPoints.contains(where: { !$0.time.isNaN }) {
      sources.append((curve.time, max(0, grid.position(forSeconds: curve.time)), curve, 0))
    }
    // By time, since different times can share a frame; the index keeps the order of equals.
    let order = sources.indices.sorted { (sources[$0].time, $0) < (sources[$1].time, $1) }
    for (place, index) in order.enumerated() {
      let source = sources[index]
      let end = place + 1 < order.count ? sources[order[place + 1]].start : .infinity
      guard end > source.start else { continue }
      let own =
        source.curve.map { Self.segments(of: $0, from: source.start, to: end, grid: grid) } ?? [
          Segment(start: source.start, value: source.value, sourceStart: source.start)
        ]
      for segment in own {
        while let last = segments.last, last.start >= segment.start {
          segments.removeLast()
        }
        segments.append(segment)
      }
    }
  }

  /// Whether anything in the pattern sets the control.
  public var isSet: Bool { segments.count > 1 || segments.first?.sourceStart != nil }

  /// The index of the segment in force at a position: O(log n).
  public func index(at position: Double) -> Int {
    var low = 0
    var high = segments.count
    while high - low > 1 {
      let middle = (low + high) / 2
      if segments[middle].start <= position {
        low = middle
      } else {
        high = middle
      }
    }
    return low
  }

  /// The value at a position: O(log n).
  public func value(at position: Double) -> Double {
    segments[index(at: position)].value(at: position)
  }

  /// The value at a position not before that of the last call: O(1) over a sweep.
  public func value(at position: Double, cursor: inout Int) -> Double {
    while cursor + 1 < segments.count, segments[cursor + 1].start <= position {
      cursor += 1
    }
    return segments[cursor].value(at: position)
  }

  /// The segments with other times or values, such as those of a duck or of another tempo.
  public func mappingSegments(_ transform: (Segment) -> [Segment]) -> ControlTimeline {
    var timeline = self
    timeline.segments = segments.flatMap(transform)
    return timeline
  }

  private static func segments(
    of curve: ParameterCurve, from start: Double, to end: Double, grid: TimeGrid
  ) -> [Segment] {
    let points = curve.linearizedPoints().map { (time: curve.time + $0.time, value: $0.value) }
    guard let first = points.first, let last = points.last else { return [] }
    var segments = [Segment(start: start, value: first.value, sourceStart: start)]
    func append(_ segment: Segment, until segmentEnd: Double) {
      guard segment.start < end, segmentEnd > start else { return }
      var segment = segment
      if segment.start < start {
        segment.value = segment.value(at: start)
        segment.start = start
      }
      if segments.last?.start == segment.start {
        segments.removeLast()
      }
      segments.append(segment)
    }
    for (from, to) in zip(points, points.dropFirst()) {
      let position = grid.position(forSeconds: from.time)
      guard position < end else { break }
      let next = grid.unclampedPosition(forSeconds: to.time)
      let run = next - grid.unclampedPosition(forSeconds: from.time)
      let slope = (to.value - from.value) / run
      // What is steeper than a number can say is a step, like points at one time.
      guard run > 0, slope.isFinite else { continue }
      append(
        Segment(start: position, value: from.value, slope: slope, sourceStart: start), until: next)
    }
    append(
      Segment(start: grid.position(forSeconds: last.time), value: last.value, sourceStart: start),
      until: .infinity)
    return segments
  }
}

extension DynamicParameterID {
  /// The value within the control's range; NaN is neutral.
  public func clamped(_ value: Float) -> Double {
    guard !value.isNaN else { return Double(neutralValue) }
    return Double(min(max(value, range.lowerBound), range.upperBound))
  }
}

extension ParameterCurve {
  /// How far a straight line between two values may be from the square root of one, unless a caller
  /// says otherwise: below 0.1 dB from an intensity of 0.05 on.
  public static let squareRootTolerance = 0.0005

  /// The most points that all square roots of one curve are divided into.
  private static let maximumPointCount = 1_000_000

  /// The curve with straight lines between its points; itself where it has them already.
  ///
  /// - Parameter tolerance: How far the lines may be from the curve, in values of the control.
  ///   Curves of very many points are divided less.
  public func linearized(tolerance: Double = squareRootTolerance) -> ParameterCurve {
    guard interpolation != .linear else { return self }
    var curve = self
    curve.interpolation = .linear
    curve.controlPoints = linearizedPoints(tolerance: tolerance).map {
      ControlPoint(time: $0.time, value: Float($0.value))
    }
    return curve
  }

  /// The corners of straight lines by rising time, counted from the start of the curve, their
  /// values clamped to the control's range; points at no time are left out.
  func linearizedPoints(tolerance: Double = squareRootTolerance) -> [(time: Double, value: Double)]
  {
    let points = controlPoints.enumerated().filter { !$0.element.time.isNaN }.sorted {
      ($0.element.time, $0.offset) < ($1.element.time, $1.offset)
    }.map { (time: $0.element.time, value: id.clamped($0.element.value)) }
    guard interpolation == .squared, let first = points.first else { return points }
    let most = max(1, Self.maximumPointCount / points.count)
    var corners = [(time: first.time, value: max(first.value, 0).squareRoot())]
    for (from, to) in zip(points, points.dropFirst()) {
      let span = to.time - from.time
      for step in Self.squareRootDivisions(
        from: max(from.value, 0), to: max(to.value, 0), tolerance: tolerance, maximumCount: most)
      {
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
  private static func squareRootDivisions(
    from: Double, to: Double, tolerance: Double, maximumCount limit: Int
  ) -> [(
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
  public func linearized(tolerance: Double = ParameterCurve.squareRootTolerance) -> HapticPattern {
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
  public func linearized(tolerance: Double = ParameterCurve.squareRootTolerance)
    -> HapticComposition
  {
    var composition = self
    for index in layers.indices {
      composition.layers[index].pattern = layers[index].pattern.linearized(tolerance: tolerance)
    }
    return composition
  }
}
