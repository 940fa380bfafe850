public import HapticRender
internal import HapticModel

/// Where a pattern is felt in an array: positions over its time, with linear interpolation.
public struct PanPath: Equatable, Sendable {
  /// A position at a time.
  public struct Point: Equatable, Sendable {
    /// Seconds of the pattern.
    public var time: Double
    /// Where it is felt then.
    public var position: ArrayPosition

    /// Makes a point.
    public init(time: Double, position: ArrayPosition) {
      self.time = time
      self.position = position
    }
  }

  /// The points by rising time; the first holds before it, and the last behind it.
  public var points: [Point]

  /// Makes a path through points by rising time.
  public init(_ points: [Point]) { self.points = points }

  /// One position all the time.
  public init(at position: ArrayPosition) { points = [Point(time: 0, position: position)] }

  /// What the haptic bus of each transducer gets over the pattern, at a rate.
  ///
  /// Between two points the gains follow the law in straight pieces, 36 or more for each gap between
  /// transducers, so that the sum of their squares stays within 0.001 of 1 where frames suffice.
  public func sendGains(on array: TransducerArray, rate: Double) -> [SendAutomation] {
    var corners: [(frame: Int64, gains: [Double])] = []
    func add(_ frame: Int64, _ position: ArrayPosition) { corners.append((frame, array.gains(at: position))) }
    for (point, next) in zip(points, points.dropFirst()) {
      let start = FrameConversion.frame(seconds: point.time, rate: rate)
      let length = FrameConversion.frame(seconds: next.time, rate: rate) - start
      for share in array.breakpoints(from: point.position, to: next.position) {
        // A corner lies on a frame, with the gains of that frame.
        let frame = Int64((share * Double(length)).rounded())
        let exact = length > 0 ? Double(frame) / Double(length) : 0
        add(start + frame, point.position.interpolated(exact, towards: next.position))
      }
    }
    if let last = points.last { add(FrameConversion.frame(seconds: last.time, rate: rate), last.position) }
    return array.transducers.indices.map { bus in
      SendAutomation(corners.map { SendAutomation.Point(frame: $0.frame, share: $0.gains[bus]) })
    }
  }
}

extension TransducerArray {
  /// Pieces into which each gap between transducers is divided.
  private static let steps = 36

  /// The shares of a segment at which the gains have corners, from 0 up to but without 1.
  func breakpoints(from start: ArrayPosition, to end: ArrayPosition) -> [Double] {
    guard start != end else { return [0] }
    var breaks = [0.0]
    let way = end.x - start.x
    switch layout {
    case .plane:
      // The way may come close to each, where the gains turn quickly.
      let count = 4 * transducers.count
      breaks += (1..<count).map { Double($0) / Double(count) }
    case .line: breaks += transducers.map { ($0.position.x - start.x) / way }
    case .ring:
      // Every time the way comes by a transducer, whole turns included.
      let low = min(start.x, end.x)
      let firstTurn = Self.turn * ((low / Self.turn).rounded(.down) - 1)
      for transducer in transducers {
        var place = transducer.position.x + firstTurn
        while place < max(start.x, end.x) {
          breaks.append((place - start.x) / way)
          place += Self.turn
        }
      }
    }
    breaks = breaks.filter { $0 >= 0 && $0 < 1 }.sorted()
    var shares: [Double] = []
    for (index, low) in breaks.enumerated() {
      let high = index + 1 < breaks.count ? breaks[index + 1] : 1
      guard low < high else { continue }
      let step = (high - low) / Double(Self.steps)
      for number in 0..<Self.steps { shares.append(low + step * Double(number)) }
    }
    return shares
  }
}
