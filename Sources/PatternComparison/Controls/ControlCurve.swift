import HapticModel

/// One dynamic parameter of a pattern over time, as straight lines that may jump.
///
/// The rules are those of the rendering model: a step holds; a curve is linear between its points,
/// holds its first value from its start and its last to the next start; the later start wins.
struct ControlCurve {
  /// A line from a time to the next one's.
  struct Segment {
    var start: Double
    var value: Double
    var slope: Double

    func value(at time: Double) -> Double { value + slope * (time - start) }
  }

  /// By rising start; the first starts at minus infinity in effect.
  private(set) var pieces: [Segment]

  init(_ id: DynamicParameterID, of pattern: HapticPattern) {
    pieces = [Segment(start: -1e9, value: Double(id.neutralValue), slope: 0)]
    var items: [(time: Double, pieces: [Segment])] = []
    for parameter in pattern.parameters where parameter.id == id && parameter.time.isFinite {
      let time = max(0, parameter.time)
      let value = Self.clamp(parameter.value, id)
      items.append((parameter.time, [Segment(start: time, value: value, slope: 0)]))
    }
    for curve in pattern.curves where curve.id == id && !curve.controlPoints.isEmpty {
      guard curve.time.isFinite else { continue }
      items.append((curve.time, Self.pieces(of: curve)))
    }
    let order = items.indices.sorted { (items[$0].time, $0) < (items[$1].time, $1) }
    // Of equal starts a curve, listed behind the steps, counts.
    for (place, index) in order.enumerated() {
      let end = place + 1 < order.count ? max(0, items[order[place + 1]].time) : .infinity
      for piece in items[index].pieces where piece.start < end {
        while let last = pieces.last, pieces.count > 1, last.start >= piece.start {
          pieces.removeLast()
        }
        pieces.append(piece)
      }
    }
  }

  private static func clamp(_ value: Float, _ id: DynamicParameterID) -> Double {
    guard !value.isNaN else { return Double(id.neutralValue) }
    return Double(min(max(value, id.range.lowerBound), id.range.upperBound))
  }

  private static func pieces(of curve: ParameterCurve) -> [Segment] {
    let points = curve.controlPoints.enumerated()
      .filter { $0.element.time.isFinite }
      .sorted { ($0.element.time, $0.offset) < ($1.element.time, $1.offset) }
      .map { (time: curve.time + $0.element.time, value: clamp($0.element.value, curve.id)) }
    guard let first = points.first, let last = points.last else { return [] }
    let start = max(0, curve.time)
    var pieces = [Segment(start: start, value: first.value, slope: 0)]
    for (from, to) in zip(points, points.dropFirst()) where to.time > from.time && to.time > start {
      var piece = Segment(
        start: from.time, value: from.value,
        slope: (to.value - from.value) / (to.time - from.time))
      if piece.start < start {
        piece.value = piece.value(at: start)
        piece.start = start
      }
      if pieces.last?.start == piece.start { pieces.removeLast() }
      pieces.append(piece)
    }
    if last.time > start {
      pieces.append(Segment(start: last.time, value: last.value, slope: 0))
    } else {
      pieces = [Segment(start: start, value: last.value, slope: 0)]
    }
    return pieces
  }

  /// The same line of a pattern that goes at another pace.
  func moved(by clock: EventMatch.TimeMapping) -> ControlCurve {
    var moved = self
    for index in moved.pieces.indices {
      moved.pieces[index].start = clock.time(pieces[index].start)
      moved.pieces[index].slope = pieces[index].slope / clock.pace
    }
    return moved
  }

  /// Where two lines differ, and where most.
  struct Gap {
    /// From the first to the last moment they differ.
    var range: ClosedRange<Double>
    /// The moment they differ most.
    var peak: Double
    /// This line's value there.
    var before: Double
    /// The other line's value there.
    var after: Double
  }

  /// Compares with another line within some stretches of time; nothing where they agree.
  ///
  /// - Parameters:
  ///   - stretches: By rising time, none touching the next.
  ///   - amount: How much two values differ in the unit they are judged by.
  func gap(
    to other: ControlCurve, in stretches: [ClosedRange<Double>], amount: (Double, Double) -> Double
  ) -> Gap? {
    var corners = (pieces + other.pieces).map(\.start)
    corners += stretches.flatMap { [$0.lowerBound, $0.upperBound] }
    corners = Array(Set(corners)).sorted()
    var stretch = stretches[...]
    var gap: Gap?
    var greatest = 0.0
    var cursor = 0
    var otherCursor = 0
    for (start, end) in zip(corners, corners.dropFirst()) {
      while cursor + 1 < pieces.count, pieces[cursor + 1].start <= start { cursor += 1 }
      while otherCursor + 1 < other.pieces.count, other.pieces[otherCursor + 1].start <= start {
        otherCursor += 1
      }
      // Corners that lie apart by less than a frame are one corner, written otherwise.
      guard end - start > EventMatch.leastTime else { continue }
      while let first = stretch.first, first.upperBound <= start { stretch.removeFirst() }
      guard let first = stretch.first, first.lowerBound <= start else { continue }
      for time in [start, end] {
        let before = pieces[cursor].value(at: time)
        let after = other.pieces[otherCursor].value(at: time)
        guard abs(after - before) > 1e-4 else { continue }
        let amount = abs(amount(before, after))
        let lower = min(gap?.range.lowerBound ?? start, start)
        let upper = max(gap?.range.upperBound ?? end, end)
        if gap == nil || amount > greatest {
          greatest = amount
          gap = Gap(range: lower...upper, peak: time, before: before, after: after)
        } else {
          gap?.range = lower...upper
        }
      }
    }
    return gap
  }
}
