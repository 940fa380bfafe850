import HapticModel
import Testing

@testable import HapticRender

@Suite struct ControlSegmentTests {
  /// Returns the values of the intensity control at frames, at 1,000 frames per second.
  private func values(
    _ parameters: [DynamicParameter] = [], _ curves: [ParameterCurve] = [], at frames: [Int64]
  )
    -> [Double]
  {
    let control = timeline(HapticPattern(parameters: parameters, curves: curves))
    var cursor = 0
    return frames.map { (control.value(at: Double($0), cursor: &cursor) * 1e6).rounded() / 1e6 }
  }

  private let id = DynamicParameterID.hapticIntensityControl

  private func timeline(_ pattern: HapticPattern) -> ControlTimeline {
    ControlTimeline(of: id, in: pattern, grid: .frames(rate: 1_000))
  }

  @Test func controlIsNeutralUntilItIsSet() {
    #expect(values(at: [0, 1_000_000]) == [1, 1])
    #expect(
      values([controlStep(id, 0.25, at: 1)], at: [0, 999, 1_000, 9_999]) == [1, 1, 0.25, 0.25])
  }

  @Test func otherControlsHaveNoEffect() {
    #expect(values([controlStep(.hapticSharpnessControl, 0.5, at: 0)], at: [0]) == [1])
  }

  @Test func aCurveIsLinearAndHoldsItsEnds() {
    let intensityCurve = curve(id, at: 1, [(0.5, 0.25), (1.5, 0.75)])
    #expect(
      values([], [intensityCurve], at: [999, 1_000, 1_500, 2_000, 2_500, 9_000]) == [
        1, 0.25, 0.25, 0.5, 0.75, 0.75,
      ])
  }

  @Test func pointsAreSortedByTime() {
    let intensityCurve = curve(id, [(1, 0.5), (0, 0)])
    #expect(values([], [intensityCurve], at: [0, 500, 1_000]) == [0, 0.25, 0.5])
  }

  @Test func twoPointsAtOneTimeAreAStep() {
    let intensityCurve = curve(id, [(0, 0), (1, 1), (1, 0.5), (2, 0)])
    #expect(values([], [intensityCurve], at: [999, 1_000, 1_500]) == [0.999, 0.5, 0.25])
  }

  @Test func laterStartTakesPrecedence() {
    let longCurve = curve(id, [(0, 1), (1, 0)])
    #expect(
      values([controlStep(id, 0.9, at: 0.5)], [longCurve], at: [499, 500, 999]) == [
        0.501, 0.9, 0.9,
      ])
    let shortCurve = curve(id, at: 0.25, [(0, 0.1), (0.1, 0.2)])
    #expect(
      values([], [longCurve, shortCurve], at: [249, 250, 350, 900]) == [0.751, 0.1, 0.2, 0.2])
  }

  @Test func orderInThePatternDoesNotMatter() {
    let parameters = [
      controlStep(id, 0.1, at: 0.1), controlStep(id, 0.5, at: 0.6), controlStep(id, 0.2, at: 0.9),
    ]
    let curves = [curve(id, at: 0.2, [(0, 0), (0.3, 1)]), curve(id, at: 0.7, [(0, 1), (0.3, 0)])]
    let frames = Array(stride(from: Int64(0), to: 1_200, by: 7))
    let expected = values(parameters, curves, at: frames)
    #expect(values(parameters.reversed(), curves.reversed(), at: frames) == expected)
  }

  @Test func timesWithinAFrameKeepTheirOrder() {
    let steps = [controlStep(id, 0.25, at: 0.1001), controlStep(id, 0.75, at: 0.1)]
    #expect(values(steps, at: [100]) == [0.25])
    let earlySteps = [controlStep(id, 0.25, at: -1), controlStep(id, 0.75, at: -2)]
    #expect(values(earlySteps, at: [0]) == [0.25])
  }

  @Test func atEqualTimesTheLastEntryAppliesAndCurvesTakePrecedence() {
    #expect(
      values([controlStep(id, 0.25, at: 0), controlStep(id, 0.75, at: 0)], at: [0]) == [0.75])
    #expect(values([controlStep(id, 0.25, at: 0)], [curve(id, [(0, 0.5)])], at: [0]) == [0.5])
  }

  @Test func valuesAreClampedAndNaNIsNeutral() {
    #expect(values([controlStep(id, 7, at: 0)], at: [0]) == [1])
    #expect(values([controlStep(id, -7, at: 0)], at: [0]) == [0])
    #expect(values([controlStep(id, .nan, at: 0)], at: [0]) == [1])
    #expect(values([], [curve(id, [(0, 0), (1, 9)])], at: [500, 1_000]) == [0.5, 1])
  }

  @Test func curveFromBeforeThePatternContinues() {
    #expect(values([], [curve(id, at: -1, [(0, 0), (2, 1)])], at: [0, 500]) == [0.5, 0.75])
  }

  @Test func emptyCurvesAndInvalidTimesChangeNothing() {
    #expect(values([], [curve(id, [])], at: [0]) == [1])
    #expect(values([], [curve(id, [(.nan, 0.3)])], at: [0]) == [1])
    #expect(values([], [curve(id, [(0, 0.5), (.infinity, 0)])], at: [0, 90_000]) == [0.5, 0.5])
  }

  @Test func stepIsRampedFromItsTime() {
    let segments = timeline(HapticPattern(parameters: [controlStep(id, 0, at: 0.1)])).segments(
      rampedOver: 4)
    #expect(segments.map(\.startFrame) == [0, 100, 104])
    #expect(
      (100...104).map { segments[$0 < 104 ? 1 : 2].value(at: $0) } == [1, 0.75, 0.5, 0.25, 0])
  }

  @Test func stepsWithinARampReachTheirFinalValue() {
    let steps = (0..<10).map { controlStep(id, Float($0 % 2), at: 0.1 + Double($0) / 1_000) }
    let segments = timeline(HapticPattern(parameters: steps)).segments(rampedOver: 4)
    #expect(segments.last?.startFrame == 113)
    #expect(segments.last?.value(at: 200) == 1)
    for (segment, next) in zip(segments, segments.dropFirst()) {
      #expect(abs(segment.value(at: next.startFrame) - next.startValue) < 1e-6)
    }
  }
}
