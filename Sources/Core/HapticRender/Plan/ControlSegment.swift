internal import HapticModel

/// A linear segment of a control in frames, which lasts until the next segment of its track.
struct ControlSegment: BitwiseCopyable, Sendable {
  /// The first frame, counted from the start of the pattern.
  var startFrame: Int64
  /// The value at the first frame.
  var value: Float
  /// The increase of the value per frame.
  var slope: Float
  /// The number of frames in which the value changes by 1, or 0 if it is constant.
  var framesPerUnit: Float
  /// The frame at which the step or curve of the segment took effect, or `noSource`.
  var sourceStartFrame: Int64

  /// The value of `sourceStartFrame` before the first step or curve.
  static var noSource: Int64 { @_noLocks get { .min } }

  @_noLocks init(start: Int64, value: Float, slope: Float, sourceStart: Int64 = noSource) {
    self.startFrame = start
    self.value = value
    self.slope = slope
    self.sourceStartFrame = sourceStart
    let absoluteSlope = slope < 0 ? -slope : slope
    framesPerUnit = absoluteSlope > 1e-12 ? 1 / absoluteSlope : 0
  }

  /// Returns the value at a frame.
  @_noLocks func value(at frame: Int64) -> Float { value + slope * Float(frame &- startFrame) }

  /// Returns the value at a frame. The segment may start at the minimum frame if it is constant.
  @_noLocks func valueAllowingUnboundedStart(at frame: Int64) -> Float {
    slope == 0 ? value : value(at: frame)
  }
}

extension ControlTimeline {
  /// Returns the control as segments in frames, with a ramp after every jump.
  ///
  /// The residual of a jump is added to the following segments and decays linearly, so that curves
  /// and further jumps within the ramp keep their shape.
  func segments(rampedOver rampLength: Int64) -> [ControlSegment] {
    let rampLength = Double(rampLength)
    var rampedSegments: [ControlSegment] = []
    rampedSegments.reserveCapacity(segments.count)
    func append(_ start: Double, _ value: Double, _ slope: Double, _ sourceStart: Double?) {
      rampedSegments.append(
        ControlSegment(
          start: Int64(start), value: Float(value), slope: Float(slope),
          sourceStart: sourceStart.map { Int64($0) } ?? ControlSegment.noSource))
    }
    var jumpResidual = 0.0
    var rampStart = 0.0
    var rampEnd = 0.0
    for (index, segment) in segments.enumerated() {
      if index > 0 {
        let jump = segments[index - 1].value(at: segment.start) - segment.value
        if abs(jump) > 1e-9 {
          let remainingFraction = max(0, rampEnd - segment.start) / rampLength
          jumpResidual = jump + jumpResidual * remainingFraction
          rampStart = segment.start
          rampEnd = segment.start + rampLength
        }
      }
      guard rampEnd > segment.start else {
        append(segment.start, segment.value, segment.slope, segment.sourceStart)
        continue
      }
      let residualSlope = jumpResidual / rampLength
      let remainingResidual = jumpResidual - residualSlope * (segment.start - rampStart)
      append(
        segment.start, segment.value + remainingResidual, segment.slope - residualSlope,
        segment.sourceStart)
      let end = index + 1 < segments.count ? segments[index + 1].start : .infinity
      if rampEnd < end {
        append(rampEnd, segment.value(at: rampEnd), segment.slope, segment.sourceStart)
      }
    }
    return rampedSegments
  }

  /// Returns the control with its values scaled within some spans of frames. The spans must be
  /// sorted and must not overlap.
  func scaled(by factor: Double, within spans: [Range<Int64>]) -> ControlTimeline {
    var remainingSpanEdges = spans.flatMap { [Double($0.lowerBound), Double($0.upperBound)] }[...]
    var isInsideSpan = false
    var remainingSegmentEnds = segments.dropFirst().map { $0.start }[...]
    return mappingSegments { segment in
      let end = remainingSegmentEnds.popFirst() ?? .infinity
      var scaledSegments: [Segment] = []
      var start = segment.start
      while start < end {
        while let edge = remainingSpanEdges.first, edge <= start {
          isInsideSpan.toggle()
          remainingSpanEdges.removeFirst()
        }
        let scale = isInsideSpan ? factor : 1
        scaledSegments.append(
          Segment(
            start: start, value: segment.value(at: start) * scale, slope: segment.slope * scale,
            sourceStart: segment.sourceStart)
        )
        start = min(end, remainingSpanEdges.first ?? .infinity)
      }
      return scaledSegments
    }
  }
}

/// The automation of a send gain, which changes linearly between points.
///
/// Audio is unaffected. The gain is constant before the first point and after the last.
public struct SendAutomation: Equatable, Sendable {
  /// A point of the automation.
  public struct Point: Equatable, Sendable {
    /// The frame of the pattern.
    public var frame: Int64
    /// The gain from the frame on.
    public var gain: Double

    /// Creates a point.
    public init(frame: Int64, gain: Double) {
      self.frame = frame
      self.gain = gain
    }
  }

  /// The points, sorted by frame. If several points share a frame, the last one determines the gain
  /// from there on.
  public let points: [Point]

  /// Creates an automation from points in any order; without points, the gain is 1.
  public init(_ points: [Point]) {
    let sortedPoints = points.enumerated().sorted {
      ($0.element.frame, $0.offset) < ($1.element.frame, $1.offset)
    }
    self.points = sortedPoints.map { $0.element }
  }

  /// The linear segments between the points.
  var segments: [ControlSegment] {
    guard let firstPoint = points.first, let last = points.last else { return [] }
    var segments = [ControlSegment(start: .min, value: Float(firstPoint.gain), slope: 0)]
    for (point, next) in zip(points, points.dropFirst()) where next.frame > point.frame {
      let slope = (next.gain - point.gain) / Double(next.frame - point.frame)
      segments.append(
        ControlSegment(start: point.frame, value: Float(point.gain), slope: Float(slope)))
    }
    segments.append(ControlSegment(start: last.frame, value: Float(last.gain), slope: 0))
    return segments
  }
}
