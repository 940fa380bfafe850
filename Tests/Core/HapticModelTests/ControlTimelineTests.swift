import HapticModel
import TestSupport
import Testing

/// Compares the values of controls with those of a straightforward implementation, for random
/// patterns.
struct ControlTimelineTests {
  /// Generates random patterns with parameters and curves of the intensity control.
  private struct ControlPatternGenerator {
    var generator: SplitMixGenerator

    init(seed: UInt64) { generator = SplitMixGenerator(state: seed) }

    mutating func fraction() -> Double { generator.fraction() }

    /// Returns a time. The times are often equal, close together, or negative.
    mutating func time() -> Double {
      switch Int.random(in: 0..<8, using: &generator) {
      case 0: -fraction()
      case 1: Double(Int.random(in: 0..<4, using: &generator))
      case 2: fraction() * 1e-5
      default: fraction() * 3
      }
    }

    mutating func value() -> Float { fraction() < 0.02 ? .nan : Float(fraction() * 2 - 0.5) }

    mutating func pattern() -> HapticPattern {
      var pattern = HapticPattern()
      for _ in 0..<Int.random(in: 0..<4, using: &generator) {
        pattern.parameters.append(
          DynamicParameter(id: .hapticIntensityControl, value: value(), time: time()))
      }
      for _ in 0..<Int.random(in: 0..<4, using: &generator) {
        var curve = ParameterCurve(id: .hapticIntensityControl, time: time(), controlPoints: [])
        for _ in 0..<Int.random(in: 0..<6, using: &generator) {
          let pointTime = fraction() < 0.02 ? .nan : time()
          curve.controlPoints.append(.init(time: pointTime, value: value()))
        }
        pattern.curves.append(curve)
      }
      return pattern
    }
  }

  /// Returns the value of the control at a time: that of the parameter or curve that started last.
  private func expectedValue(_ pattern: HapticPattern, at time: Double) -> Double {
    func clamped(_ value: Float) -> Double { value.isNaN ? 1 : Double(min(max(value, 0), 1)) }
    // At the same time, a curve replaces a parameter, and a later entry replaces an earlier entry.
    var active: (start: Double, kindRank: Int, index: Int, value: Double)?
    func consider(start: Double, kindRank: Int, index: Int, value: Double) {
      guard start <= time else { return }
      if let active, (active.start, active.kindRank, active.index) > (start, kindRank, index) {
        return
      }
      active = (start, kindRank, index, value)
    }
    for (index, parameter) in pattern.parameters.enumerated() {
      consider(
        start: parameter.time, kindRank: 0, index: index, value: clamped(parameter.value))
    }
    for (index, curve) in pattern.curves.enumerated() {
      let points = curve.controlPoints.filter { !$0.time.isNaN }.enumerated().sorted {
        ($0.element.time, $0.offset) < ($1.element.time, $1.offset)
      }.map(\.element)
      guard let first = points.first else { continue }
      var value = clamped(first.value)
      for point in points.dropFirst() where curve.time + point.time <= time {
        value = clamped(point.value)
      }
      if let nextPoint = points.first(where: { curve.time + $0.time > time }),
        let lastPoint = points.last(where: { curve.time + $0.time <= time })
      {
        let fraction = (time - curve.time - lastPoint.time) / (nextPoint.time - lastPoint.time)
        let lastValue = clamped(lastPoint.value)
        value = lastValue + fraction * (clamped(nextPoint.value) - lastValue)
      }
      consider(start: curve.time, kindRank: 1, index: index, value: value)
    }
    return active?.value ?? 1
  }

  @Test func valuesFollowParametersAndCurves() {
    var generator = ControlPatternGenerator(seed: 7)
    for _ in 0..<4000 {
      let pattern = generator.pattern()
      let timeline = ControlTimeline(of: .hapticIntensityControl, in: pattern)
      var cursor = 0
      for step in 0..<20 {
        let time = (Double(step) + generator.fraction()) * 0.25
        let expected = expectedValue(pattern, at: time)
        #expect(abs(timeline.value(at: time) - expected) < 1e-9, "\(pattern) at \(time)")
        #expect(timeline.value(at: time, cursor: &cursor) == timeline.value(at: time))
      }
    }
  }

  @Test func framesAndSecondsAgreeAwayFromSteps() {
    var generator = ControlPatternGenerator(seed: 11)
    var mismatchCount = 0
    for round in 0..<1000 {
      let pattern = generator.pattern()
      let rate = [8_000.0, 44_100, 48_000, 192_000][round % 4]
      let timelineInSeconds = ControlTimeline(of: .hapticIntensityControl, in: pattern)
      let timelineInFrames = ControlTimeline(
        of: .hapticIntensityControl, in: pattern, grid: .frames(rate: rate))
      for _ in 0..<20 {
        let frame = (generator.fraction() * 4 * rate).rounded()
        let valueInSeconds = timelineInSeconds.value(at: frame / rate)
        if abs(valueInSeconds - timelineInFrames.value(at: frame)) > 0.02 {
          mismatchCount += 1
        }
      }
    }
    // Rounding to frames can move a step to the other side of a frame that is within half a frame
    // of the step.
    #expect(mismatchCount <= 20, "\(mismatchCount) of 20,000")
  }
}
