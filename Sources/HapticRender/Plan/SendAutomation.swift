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
    self.points = points.enumerated().sorted {
      ($0.element.frame, $0.offset) < ($1.element.frame, $1.offset)
    }.map(\.element)
  }

  /// The line as pieces, the first from the beginning of time on.
  var pieces: [ControlSegment] {
    guard let first = points.first, let last = points.last else { return [] }
    var pieces = [ControlSegment(start: .min, value: Float(first.share), slope: 0)]
    for (point, next) in zip(points, points.dropFirst()) where next.frame > point.frame {
      let slope = (next.share - point.share) / Double(next.frame - point.frame)
      pieces.append(
        ControlSegment(start: point.frame, value: Float(point.share), slope: Float(slope)))
    }
    pieces.append(ControlSegment(start: last.frame, value: Float(last.share), slope: 0))
    return pieces
  }
}
