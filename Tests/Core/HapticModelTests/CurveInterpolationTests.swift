import HapticModel
import Testing

/// Curves whose points hold squares.
struct CurveInterpolationTests {
  private let rampCurve = ParameterCurve(
    id: .hapticIntensityControl, time: 1,
    controlPoints: [
      .init(time: 0, value: 0), .init(time: 2, value: 1), .init(time: 3, value: 0.25),
    ],
    interpolation: .squared)

  @Test func theControlIsTheRootOfALine() {
    let control = ControlTimeline(
      of: .hapticIntensityControl, in: HapticPattern(curves: [rampCurve]))
    for step in 0...300 {
      let time = Double(step) / 100
      let square = time < 2 ? time / 2 : 1 - 0.75 * (time - 2)
      let value = control.value(at: 1 + time)
      #expect(
        abs(value - square.squareRoot()) <= ParameterCurve.defaultSquareRootTolerance + 1e-9,
        "\(time)")
    }
    #expect(control.value(at: 9) == 0.5)
  }

  @Test(arguments: [0.01, 0.001, 0.000_1]) func linesAreWithinTheToleranceAndUseItUp(
    tolerance: Double
  ) {
    let lines = rampCurve.linearized(tolerance: tolerance)
    #expect(lines.interpolation == .linear)
    let control = ControlTimeline(of: .hapticIntensityControl, in: HapticPattern(curves: [lines]))
    var worst = 0.0
    for step in 0...20_000 {
      let time = Double(step) / 10_000
      worst = max(worst, abs(control.value(at: 1 + time) - (time / 2).squareRoot()))
    }
    #expect(worst <= tolerance * 1.01)
    #expect(worst >= tolerance / 4)
    #expect(lines.controlPoints.count <= Int((1 / (2 * tolerance)).squareRoot()) * 2 + 4)
  }

  @Test func jumpsAndEqualPointsStay() {
    let curve = ParameterCurve(
      id: .hapticSharpnessControl, time: 0,
      controlPoints: [
        .init(time: 0, value: 0.25), .init(time: 1, value: 0.25), .init(time: 1, value: 0.81),
        .init(time: 2, value: 0.81),
      ], interpolation: .squared)
    #expect(
      curve.linearized().controlPoints == [
        .init(time: 0, value: 0.5), .init(time: 1, value: 0.5), .init(time: 1, value: 0.9),
        .init(time: 2, value: 0.9),
      ])
  }

  @Test func veryManyPointsAreDividedLess() {
    let points = (0..<200_000).map {
      ParameterCurve.ControlPoint(time: Double($0), value: $0 % 2 == 0 ? 0 : 1)
    }
    let curve = ParameterCurve(
      id: .hapticIntensityControl, time: 0, controlPoints: points, interpolation: .squared)
    #expect(curve.linearized().controlPoints.count <= 1_000_001)
  }
}

/// The corners of envelopes.
struct EnvelopeShapeTests {
  @Test func holdsForItsTimeOrFallsBeforeIt() {
    let held = EnvelopeShape(hold: 1, attack: 0.2, decay: 0.3, release: 0.5, isSustained: true)
    #expect([held.riseEndTime, held.riseLevel] == [0.2, 1])
    #expect([held.releaseStartTime, held.releaseLevel, held.releaseEndTime] == [1, 1, 1.5])
    let decayed = EnvelopeShape(hold: 1, attack: 0.2, decay: 0.3, release: 0.5, isSustained: false)
    #expect(
      [decayed.releaseStartTime, decayed.releaseLevel, decayed.releaseEndTime] == [0.2, 1, 0.5])
  }

  @Test func isReleasedFromTheLevelItHasReached() {
    let short = EnvelopeShape(hold: 0.1, attack: 0.2, decay: 0.3, release: 0.5, isSustained: true)
    #expect(
      [short.riseEndTime, short.riseLevel, short.releaseLevel, short.releaseEndTime] == [
        0.1, 0.5, 0.5, 0.6,
      ])
    let cut = EnvelopeShape(hold: 0.5, attack: 0.25, decay: 0.5, release: 1, isSustained: false)
    #expect([cut.releaseStartTime, cut.releaseLevel, cut.releaseEndTime] == [0.5, 0.5, 1.5])
  }
}
