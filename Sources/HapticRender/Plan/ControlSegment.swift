internal import HapticModel

/// A segment of a control in frames: a straight line that holds until the next segment of its track.
struct ControlSegment: BitwiseCopyable, Sendable {
  /// The first frame, from the start of the pattern.
  var start: Int64
  /// The value at the first frame.
  var value: Float
  /// What the value grows by with each frame.
  var slope: Float
  /// Frames in which the value moves by 1, or 0 where it does not move.
  var framesPerUnit: Float
  /// The frame at which its step or curve came into force, or `ControlSegment.neutral`.
  var origin: Int64

  /// The origin of what holds before the first step or curve.
  static var neutral: Int64 { @_noLocks get { .min } }

  @_noLocks init(start: Int64, value: Float, slope: Float, origin: Int64 = neutral) {
    self.start = start
    self.value = value
    self.slope = slope
    self.origin = origin
    let steepness = slope < 0 ? -slope : slope
    framesPerUnit = steepness > 1e-12 ? 1 / steepness : 0
  }

  @_noLocks func value(at frame: Int64) -> Float { value + slope * Float(frame &- start) }
}

extension ControlTimeline {
  /// The segments on frames, with every jump ramped over some frames from the jump on.
  ///
  /// What a jump leaves is added to what follows and fades along a straight line, so that curves and
  /// further jumps within the ramp keep their own shape.
  func segments(rampedOver rampLength: Int64) -> [ControlSegment] {
    let rampLength = Double(rampLength)
    var ramped: [ControlSegment] = []
    ramped.reserveCapacity(segments.count)
    func append(_ start: Double, _ value: Double, _ slope: Double, _ origin: Double?) {
      ramped.append(
        ControlSegment(
          start: Int64(start), value: Float(value), slope: Float(slope),
          origin: origin.map { Int64($0) } ?? ControlSegment.neutral))
    }
    var rest = 0.0
    var rampStart = 0.0
    var rampEnd = 0.0
    for (index, segment) in segments.enumerated() {
      if index > 0 {
        let jump = segments[index - 1].value(at: segment.start) - segment.value
        if abs(jump) > 1e-9 {
          let fading = max(0, rampEnd - segment.start) / rampLength
          rest = jump + rest * fading
          rampStart = segment.start
          rampEnd = segment.start + rampLength
        }
      }
      guard rampEnd > segment.start else {
        append(segment.start, segment.value, segment.slope, segment.origin)
        continue
      }
      let fall = rest / rampLength
      let left = rest - fall * (segment.start - rampStart)
      append(segment.start, segment.value + left, segment.slope - fall, segment.origin)
      let end = index + 1 < segments.count ? segments[index + 1].start : .infinity
      if rampEnd < end { append(rampEnd, segment.value(at: rampEnd), segment.slope, segment.origin) }
    }
    return ramped
  }

  /// The control on frames with its values multiplied inside some spans, which are sorted and apart.
  func scaled(by factor: Double, within spans: [Range<Int64>]) -> ControlTimeline {
    var edges = spans.flatMap { [Double($0.lowerBound), Double($0.upperBound)] }[...]
    var isInside = false
    var ends = segments.dropFirst().map { $0.start }[...]
    return mapping { segment in
      let end = ends.popFirst() ?? .infinity
      var parts: [Segment] = []
      var start = segment.start
      while start < end {
        while let edge = edges.first, edge <= start {
          isInside.toggle()
          edges.removeFirst()
        }
        let scale = isInside ? factor : 1
        parts.append(
          Segment(
            start: start, value: segment.value(at: start) * scale, slope: segment.slope * scale, origin: segment.origin)
        )
        start = min(end, edges.first ?? .infinity)
      }
      return parts
    }
  }
}

/// A factor on what a pattern gives to one haptic bus, as straight lines over its frames.
///
/// Audio is not regarded. The first value holds before the first point, and the last behind the last.
public struct SendAutomation: Equatable, Sendable {
  /// A corner of the line.
  public struct Point: Equatable, Sendable {
    /// The frame of the pattern.
    public var frame: Int64
    /// The factor from this frame on.
    public var share: Double

    /// Makes a corner.
    public init(frame: Int64, share: Double) {
      self.frame = frame
      self.share = share
    }
  }

  /// The corners by rising frame; of several at one frame the last counts from there on.
  public let points: [Point]

  /// Makes a line through corners, which need not be in order; none leave everything as it is.
  public init(_ points: [Point]) {
    self.points = points.enumerated().sorted { ($0.element.frame, $0.offset) < ($1.element.frame, $1.offset) }.map {
      $0.element
    }
  }

  var pieces: [ControlSegment] {
    guard let first = points.first, let last = points.last else { return [] }
    var pieces = [ControlSegment(start: .min, value: Float(first.share), slope: 0)]
    for (point, next) in zip(points, points.dropFirst()) where next.frame > point.frame {
      let slope = (next.share - point.share) / Double(next.frame - point.frame)
      pieces.append(ControlSegment(start: point.frame, value: Float(point.share), slope: Float(slope)))
    }
    pieces.append(ControlSegment(start: last.frame, value: Float(last.share), slope: 0))
    return pieces
  }
}
