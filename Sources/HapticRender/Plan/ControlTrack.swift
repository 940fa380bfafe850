import HapticModel

/// One dynamic parameter over the whole pattern, as straight lines.
///
/// A step holds. A curve is linear between its points, holds its first value from its start to the first
/// point and its last value behind the last, and replaces what was in force from its start on. The
/// later start wins; of equal starts, a curve before a step, and the later in the pattern.
struct ControlTrack {
  /// A line that holds until the next one starts.
  struct Line {
    var start: Int64
    var value: Double
    var slope: Double
    /// The start of the step or curve that the line belongs to.
    var origin = ControlSegment.neutral

    func value(at frame: Int64) -> Double { value + slope * Double(frame - start) }
  }

  /// By rising start; the first starts at frame 0.
  var lines: [Line]

  /// Sorts a pattern's steps and curves of one kind into lines: O(n log n).
  init(_ id: DynamicParameterID, of pattern: HapticPattern, rate: Double) {
    lines = [Line(start: 0, value: Double(id.neutralValue), slope: 0)]
    var items: [(time: Double, start: Int64, lines: (Int64) -> [Line])] = []
    for parameter in pattern.parameters where parameter.id == id {
      let start = max(0, FrameConversion.frame(seconds: parameter.time, rate: rate))
      let value = Self.clamp(parameter.value, of: id)
      let line = Line(start: start, value: value, slope: 0, origin: start)
      items.append((parameter.time, start, { _ in [line] }))
    }
    for curve in pattern.curves where curve.id == id && !curve.controlPoints.isEmpty {
      let start = max(0, FrameConversion.frame(seconds: curve.time, rate: rate))
      items.append((curve.time, start, { Self.lines(of: curve, from: start, to: $0, rate: rate) }))
    }
    // By time, since different times can share a frame; the index keeps the order of equals.
    let order = items.indices.sorted {
      (items[$0].time, $0) < (items[$1].time, $1)
    }
    for (place, index) in order.enumerated() {
      let end = place + 1 < order.count ? items[order[place + 1]].start : .max
      guard end > items[index].start else { continue }
      for line in items[index].lines(end) {
        while let last = lines.last, last.start >= line.start { lines.removeLast() }
        lines.append(line)
      }
    }
  }

  /// The value at a frame.
  ///
  /// - Parameter cursor: The index of a line at or before the frame; moved on to the right one.
  func value(at frame: Int64, cursor: inout Int) -> Double {
    while cursor + 1 < lines.count, lines[cursor + 1].start <= frame { cursor += 1 }
    return lines[cursor].value(at: frame)
  }

  /// The lines as pieces in which every jump is a ramp of some frames that starts at the jump.
  ///
  /// What a jump leaves is added to what follows and fades along a straight line, so that curves and
  /// further jumps within the ramp keep their own shape.
  func pieces(rampedOver rampLength: Int64) -> [ControlSegment] {
    var pieces: [ControlSegment] = []
    pieces.reserveCapacity(lines.count)
    var rest = 0.0
    var rampStart: Int64 = 0
    var rampEnd: Int64 = 0
    for (index, line) in lines.enumerated() {
      if index > 0 {
        let jump = lines[index - 1].value(at: line.start) - line.value
        if abs(jump) > 1e-9 {
          let fading = Double(max(0, rampEnd - line.start)) / Double(rampLength)
          rest = jump + rest * fading
          rampStart = line.start
          rampEnd = line.start + rampLength
        }
      }
      let end = index + 1 < lines.count ? lines[index + 1].start : .max
      if rampEnd > line.start {
        let fall = rest / Double(rampLength)
        let begun = rest - fall * Double(line.start - rampStart)
        pieces.append(
          Self.piece(line.start, line.value + begun, line.slope - fall, line.origin))
        if rampEnd < end {
          pieces.append(
            Self.piece(rampEnd, line.value(at: rampEnd), line.slope, line.origin))
        }
      } else {
        pieces.append(Self.piece(line.start, line.value, line.slope, line.origin))
      }
    }
    return pieces
  }

  private static func piece(
    _ start: Int64, _ value: Double, _ slope: Double, _ origin: Int64
  ) -> ControlSegment {
    ControlSegment(start: start, value: Float(value), slope: Float(slope), origin: origin)
  }

  private static func clamp(_ value: Float, of id: DynamicParameterID) -> Double {
    guard !value.isNaN else { return Double(id.neutralValue) }
    return Double(min(max(value, id.range.lowerBound), id.range.upperBound))
  }

  /// The lines of a curve that lie between two frames.
  private static func lines(
    of curve: ParameterCurve, from start: Int64, to end: Int64, rate: Double
  ) -> [Line] {
    // Frames as real numbers for slopes, since a last point may lie in the far future.
    let points = curve.controlPoints.enumerated()
      .filter { !$0.element.time.isNaN }
      .sorted { ($0.element.time, $0.offset) < ($1.element.time, $1.offset) }
      .map {
        (time: (curve.time + $0.element.time) * rate, value: clamp($0.element.value, of: curve.id))
      }
    guard let first = points.first, let last = points.last else { return [] }
    var lines = [Line(start: start, value: first.value, slope: 0, origin: start)]
    func append(_ line: Line, until lineEnd: Double) {
      guard line.start < end, lineEnd > Double(start) else { return }
      var line = line
      if line.start < start {
        line.value = line.value(at: start)
        line.start = start
      }
      if lines.last?.start == line.start { lines.removeLast() }
      lines.append(line)
    }
    for (from, to) in zip(points, points.dropFirst()) {
      let frame = FrameConversion.frame(seconds: from.time / rate, rate: rate)
      guard frame < end else { break }
      let run = to.time.rounded() - from.time.rounded()
      guard run > 0 else { continue }
      let slope = (to.value - from.value) / run
      append(
        Line(start: frame, value: from.value, slope: slope, origin: start),
        until: to.time.rounded())
    }
    let frame = FrameConversion.frame(seconds: last.time / rate, rate: rate)
    append(Line(start: frame, value: last.value, slope: 0, origin: start), until: .infinity)
    return lines
  }
}
