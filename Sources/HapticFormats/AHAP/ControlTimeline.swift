import HapticModel

/// The value of one control over the whole pattern, as parameters and curves together make it.
///
/// A parameter holds, a curve goes along straight lines and holds its last value; whichever begins
/// last is in force.
struct ControlTimeline {
  /// A straight line that is in force until the next one begins; it holds its last value.
  struct Stretch {
    var start: Double
    var end: Double
    var first: Double
    var last: Double

    func value(at time: Double) -> Double {
      time < end && start < end ? first + (last - first) * (time - start) / (end - start) : last
    }
  }

  private(set) var stretches: [Stretch] = []

  init(of id: DynamicParameterID, in pattern: HapticPattern) {
    let neutral = Double(id.neutralValue)
    let beginning = -Double.infinity
    var sources = [[Stretch(start: beginning, end: beginning, first: neutral, last: neutral)]]
    for parameter in pattern.parameters where parameter.id == id {
      let value = Double(parameter.value)
      sources.append(
        [Stretch(start: parameter.time, end: parameter.time, first: value, last: value)])
    }
    for curve in pattern.curves where curve.id == id && !curve.controlPoints.isEmpty {
      sources.append(Self.stretches(of: curve))
    }
    sources.sort { $0[0].start < $1[0].start }
    for (index, source) in sources.enumerated() {
      let end = index + 1 < sources.count ? sources[index + 1][0].start : .infinity
      for stretch in source where stretch.start < end || end == .infinity {
        stretches.append(stretch)
      }
    }
  }

  private static func stretches(of curve: ParameterCurve) -> [Stretch] {
    var time = curve.time
    var value = Double(curve.controlPoints.first?.value ?? 0)
    var stretches: [Stretch] = []
    for point in curve.controlPoints {
      let (end, last) = (max(time, curve.time + point.time), Double(point.value))
      stretches.append(Stretch(start: time, end: end, first: value, last: last))
      (time, value) = (end, last)
    }
    return stretches
  }

  /// The number of the stretch that is in force at a time.
  func index(at time: Double) -> Int {
    var low = 0
    var high = stretches.count
    while high - low > 1 {
      let middle = (low + high) / 2
      if stretches[middle].start <= time { low = middle } else { high = middle }
    }
    return low
  }

  /// The value at a time.
  func value(at time: Double) -> Double { stretches[index(at: time)].value(at: time) }

  /// The spans within a range in which the value is at least a level.
  ///
  /// The budget is how many stretches may still be looked at; it is lowered by those that were.
  func spans(
    of level: Double, in range: ClosedRange<Double>, budget: inout Int
  ) -> [ClosedRange<Double>] {
    var spans: [ClosedRange<Double>] = []
    var index = index(at: range.lowerBound)
    while index < stretches.count, stretches[index].start < range.upperBound, budget > 0 {
      let stretch = stretches[index]
      index += 1
      budget -= 1
      let next = index < stretches.count ? stretches[index].start : .infinity
      let stop = min(range.upperBound, next)
      // A line bends once, where it ends and its last value begins to hold.
      let bend = min(max(stretch.end, range.lowerBound), stop)
      let start = min(max(stretch.start, range.lowerBound), bend)
      for (from, to) in [(start, bend), (bend, stop)] where from < to {
        let first = stretch.value(at: from)
        let last = to == bend ? stretch.last(at: to) : stretch.last
        guard max(first, last) >= level else { continue }
        if min(first, last) >= level {
          spans.append(from...to)
        } else {
          // Times near the largest number overflow, and then have no crossing worth finding.
          let ideal = from + (to - from) * ((level - first) / (last - first))
          let crossing = ideal.isFinite ? min(max(ideal, from), to) : from
          spans.append(first >= level ? from...crossing : crossing...to)
        }
      }
    }
    return spans
  }
}

extension ControlTimeline.Stretch {
  /// The value the line comes to at a time that is no later than its end.
  fileprivate func last(at time: Double) -> Double { time < end ? value(at: time) : last }
}
