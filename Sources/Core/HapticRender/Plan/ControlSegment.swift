internal import HapticModel

/// A segment of a control with a linearly changing value.
///
/// The segment lasts until the next segment of its track.
struct ControlSegment: BitwiseCopyable, Sendable {
  /// The first frame of the segment, counted from the start of the pattern.
  var startFrame: Int64
  /// The value of the control at the first frame of the segment.
  var startValue: Float
  /// The increase of the control's value per frame.
  var slopePerFrame: Float
  /// The number of frames in which the value changes by 1, or 0 if the value is constant.
  var framesPerUnitChange: Float
  /// The start frame of the step or curve that produced the segment, or `noSourceFrame`.
  var sourceStartFrame: Int64

  /// The value of `sourceStartFrame` before the first step or curve.
  static var noSourceFrame: Int64 { @_noLocks get { .min } }

  @_noLocks init(
    start: Int64, startValue value: Float, slopePerFrame slope: Float,
    sourceStart: Int64 = noSourceFrame
  ) {
    self.startFrame = start
    self.startValue = value
    self.slopePerFrame = slope
    self.sourceStartFrame = sourceStart
    let absoluteSlopePerFrame = slope < 0 ? -slope : slope
    framesPerUnitChange = absoluteSlopePerFrame > 1e-12 ? 1 / absoluteSlopePerFrame : 0
  }

  /// Returns the control's value at a frame.
  @_noLocks func value(at frame: Int64) -> Float {
    startValue + slopePerFrame * Float(frame &- startFrame)
  }

  /// Returns the control's value at a frame. A constant segment may start at the minimum frame.
  @_noLocks func valueAllowingUnboundedStart(at frame: Int64) -> Float {
    slopePerFrame == 0 ? startValue : value(at: frame)
  }
}

extension ControlTimeline {
  /// Returns the control as linear segments with a short ramp after every jump.
  ///
  /// The times of the segments are in frames.
  ///
  /// The residual of a jump is added to the following segments and decays linearly, so that curves
  /// and further jumps within the ramp keep their shape.
  func segments(rampedOver rampLength: Int64) -> [ControlSegment] {
    let rampFrameCount = Double(rampLength)
    var rampedSegments: [ControlSegment] = []
    rampedSegments.reserveCapacity(segments.count)
    func appendSegment(_ start: Double, _ value: Double, _ slope: Double, _ sourceStart: Double?) {
      rampedSegments.append(
        ControlSegment(
          start: Int64(start), startValue: Float(value), slopePerFrame: Float(slope),
          sourceStart: sourceStart.map { Int64($0) } ?? ControlSegment.noSourceFrame))
    }
    var jumpResidualValue = 0.0
    var rampStartFrame = 0.0
    var rampEndFrame = 0.0
    for (index, segment) in segments.enumerated() {
      if index > 0 {
        let jump = segments[index - 1].value(at: segment.startPosition) - segment.startValue
        if abs(jump) > 1e-9 {
          let remainingFraction = max(0, rampEndFrame - segment.startPosition) / rampFrameCount
          jumpResidualValue = jump + jumpResidualValue * remainingFraction
          rampStartFrame = segment.startPosition
          rampEndFrame = segment.startPosition + rampFrameCount
        }
      }
      guard rampEndFrame > segment.startPosition else {
        appendSegment(
          segment.startPosition, segment.startValue, segment.slopePerPositionUnit,
          segment.sourceStartPosition)
        continue
      }
      let residualSlope = jumpResidualValue / rampFrameCount
      let remainingResidual =
        jumpResidualValue - residualSlope * (segment.startPosition - rampStartFrame)
      appendSegment(
        segment.startPosition, segment.startValue + remainingResidual,
        segment.slopePerPositionUnit - residualSlope,
        segment.sourceStartPosition)
      let end = index + 1 < segments.count ? segments[index + 1].startPosition : .infinity
      if rampEndFrame < end {
        appendSegment(
          rampEndFrame, segment.value(at: rampEndFrame), segment.slopePerPositionUnit,
          segment.sourceStartPosition)
      }
    }
    return rampedSegments
  }

  /// Returns the control with its values multiplied by a factor within the given spans of frames.
  /// The spans must be sorted and must not overlap.
  func scaled(by factor: Double, within spans: [Range<Int64>]) -> ControlTimeline {
    var remainingSpanEdges = spans.flatMap { [Double($0.lowerBound), Double($0.upperBound)] }[...]
    var isInsideSpan = false
    var remainingSegmentEnds = segments.dropFirst().map { $0.startPosition }[...]
    return mappingSegments { segment in
      let end = remainingSegmentEnds.popFirst() ?? .infinity
      var scaledSegments: [Segment] = []
      var start = segment.startPosition
      while start < end {
        while let edge = remainingSpanEdges.first, edge <= start {
          isInsideSpan.toggle()
          remainingSpanEdges.removeFirst()
        }
        let scale = isInsideSpan ? factor : 1
        scaledSegments.append(
          Segment(
            startPosition: start, startValue: segment.value(at: start) * scale,
            slopePerPositionUnit: segment.slopePerPositionUnit * scale,
            sourceStartPosition: segment.sourceStartPosition)
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
    /// The frame of the pattern at which the gain applies.
    public var patternFrame: Int64
    /// The send gain at the frame, from which it changes linearly to the next point.
    public var sendGain: Double

    /// Creates a point of an automation from a pattern frame and a send gain.
    public init(patternFrame frame: Int64, sendGain gain: Double) {
      self.patternFrame = frame
      self.sendGain = gain
    }
  }

  /// The points of the automation, sorted by frame. If several points share a frame, the last one
  /// determines the gain from there on.
  public let points: [Point]

  /// Creates an automation from points in any order; without points, the gain is 1.
  public init(_ points: [Point]) {
    let sortedPoints = points.enumerated().sorted {
      ($0.element.patternFrame, $0.offset) < ($1.element.patternFrame, $1.offset)
    }
    self.points = sortedPoints.map { $0.element }
  }

  /// The linear segments between the points.
  var segments: [ControlSegment] {
    guard let firstPoint = points.first, let lastPoint = points.last else { return [] }
    var sendSegments = [
      ControlSegment(start: .min, startValue: Float(firstPoint.sendGain), slopePerFrame: 0)
    ]
    for (point, next) in zip(points, points.dropFirst())
    where next.patternFrame > point.patternFrame {
      let slope = (next.sendGain - point.sendGain) / Double(next.patternFrame - point.patternFrame)
      sendSegments.append(
        ControlSegment(
          start: point.patternFrame, startValue: Float(point.sendGain), slopePerFrame: Float(slope))
      )
    }
    sendSegments.append(
      ControlSegment(
        start: lastPoint.patternFrame, startValue: Float(lastPoint.sendGain), slopePerFrame: 0))
    return sendSegments
  }
}
