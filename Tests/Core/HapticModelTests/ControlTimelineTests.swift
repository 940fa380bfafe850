import HapticModel
import Testing

/// The law of controls against a plain statement of it, on random patterns.
struct ControlTimelineTests {
  /// Numbers that repeat from run to run.
  private struct RandomSource {
    var state: UInt64 = 7

    mutating func next() -> Double {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Double(state >> 11) / 9_007_199_254_740_992
    }

    /// Times that are often equal, close together or negative.
    mutating func time() -> Double {
      switch Int(next() * 8) {
      case 0: -next()
      case 1: Double(Int(next() * 4))
      case 2: next() * 1e-5
      default: next() * 3
      }
    }

    mutating func value() -> Float { next() < 0.02 ? .nan : Float(next() * 2 - 0.5) }

    mutating func pattern() -> HapticPattern {
      var pattern = HapticPattern()
      for _ in 0..<Int(next() * 4) {
        pattern.parameters.append(
          DynamicParameter(id: .hapticIntensityControl, value: value(), time: time()))
      }
      for _ in 0..<Int(next() * 4) {
        var curve = ParameterCurve(id: .hapticIntensityControl, time: time(), controlPoints: [])
        for _ in 0..<Int(next() * 6) {
          curve.controlPoints.append(.init(time: next() < 0.02 ? .nan : time(), value: value()))
        }
        pattern.curves.append(curve)
      }
      return pattern
    }
  }

  /// The value at a time, by going through everything that has started.
  private func expectedValue(_ pattern: HapticPattern, at time: Double) -> Double {
    func clamped(_ value: Float) -> Double { value.isNaN ? 1 : Double(min(max(value, 0), 1)) }
    var inForce: (time: Double, isCurve: Int, index: Int, value: Double)?
    func consider(_ start: Double, _ isCurve: Int, _ index: Int, _ value: Double) {
      guard start <= time else { return }
      if let last = inForce, (last.time, last.isCurve, last.index) > (start, isCurve, index) {
        return
      }
      inForce = (start, isCurve, index, value)
    }
    for (index, parameter) in pattern.parameters.enumerated() {
      consider(parameter.time, 0, index, clamped(parameter.value))
    }
    for (index, curve) in pattern.curves.enumerated() {
      let points = curve.controlPoints.filter { !$0.time.isNaN }.enumerated().sorted {
        ($0.element.time, $0.offset) < ($1.element.time, $1.offset)
      }.map(\.element)
      guard let first = points.first else { continue }
      var value = clamped(first.value)
      for (from, to) in zip(points, points.dropFirst()) where curve.time + to.time <= time {
        _ = from
        value = clamped(to.value)
      }
      if let next = points.first(where: { curve.time + $0.time > time }),
        let last = points.last(where: { curve.time + $0.time <= time })
      {
        let share = (time - curve.time - last.time) / (next.time - last.time)
        value = clamped(last.value) + share * (clamped(next.value) - clamped(last.value))
      }
      consider(curve.time, 1, index, value)
    }
    return inForce?.value ?? 1
  }

  @Test func lawIsTheStatedOne() {
    var chance = RandomSource()
    for _ in 0..<4000 {
      let pattern = chance.pattern()
      let timeline = ControlTimeline(of: .hapticIntensityControl, in: pattern)
      var cursor = 0
      for step in 0..<20 {
        let time = (Double(step) + chance.next()) * 0.25
        let expected = expectedValue(pattern, at: time)
        #expect(abs(timeline.value(at: time) - expected) < 1e-9, "\(pattern) at \(time)")
        #expect(timeline.value(at: time, cursor: &cursor) == timeline.value(at: time))
      }
    }
  }

  @Test func framesAndSecondsAgreeAwayFromSteps() {
    var chance = RandomSource(state: 11)
    var farCount = 0
    for round in 0..<1000 {
      let pattern = chance.pattern()
      let rate = [8_000.0, 44_100, 48_000, 192_000][round % 4]
      let seconds = ControlTimeline(of: .hapticIntensityControl, in: pattern)
      let frames = ControlTimeline(
        of: .hapticIntensityControl, in: pattern, grid: .frames(rate: rate))
      for _ in 0..<20 {
        let frame = (chance.next() * 4 * rate).rounded()
        if abs(seconds.value(at: frame / rate) - frames.value(at: frame)) > 0.02 {
          farCount += 1
        }
      }
    }
    // A step within half a frame of the place that is read falls on either side.
    #expect(farCount <= 20, "\(farCount) of 20,000")
  }
}
