import HapticModel
import Testing

/// Curves whose points have squared values.
struct CurveInterpolationTests {
  private let rampCurve = ParameterCurve(
    id: .hapticIntensityControl, time: 1,
    controlPoints: [
      .init(time: 0, value: 0), .init(time: 2, value: 1), .init(time: 3, value: 0.25),
    ],
    interpolation: .squared)

  @Test func controlIsTheSquareRootOfALinearFunction() {
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

  @Test(arguments: [0.01, 0.001, 0.000_1]) func linearSegmentsStayWithinTheTolerance(
    tolerance: Double
  ) {
    let linearCurve = rampCurve.linearized(tolerance: tolerance)
    #expect(linearCurve.interpolation == .linear)
    let control = ControlTimeline(
      of: .hapticIntensityControl, in: HapticPattern(curves: [linearCurve]))
    var maximumError = 0.0
    for step in 0...20_000 {
      let time = Double(step) / 10_000
      maximumError = max(maximumError, abs(control.value(at: 1 + time) - (time / 2).squareRoot()))
    }
    #expect(maximumError <= tolerance * 1.01)
    #expect(maximumError >= tolerance / 4)
    #expect(linearCurve.controlPoints.count <= Int((1 / (2 * tolerance)).squareRoot()) * 2 + 4)
  }

  @Test func jumpsAndEqualPointsArePreserved() {
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

  @Test func numberOfPointsIsLimited() {
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
  @Test func envelopeSustainsOrDecays() {
    let sustained = EnvelopeShape(hold: 1, attack: 0.2, decay: 0.3, release: 0.5, isSustained: true)
    #expect([sustained.riseEndTime, sustained.riseLevel] == [0.2, 1])
    #expect(
      [sustained.releaseStartTime, sustained.releaseLevel, sustained.releaseEndTime] == [1, 1, 1.5])
    let unsustained = EnvelopeShape(
      hold: 1, attack: 0.2, decay: 0.3, release: 0.5, isSustained: false)
    #expect(
      [unsustained.releaseStartTime, unsustained.releaseLevel, unsustained.releaseEndTime] == [
        0.2, 1, 0.5,
      ])
  }

  @Test func releaseStartsAtTheCurrentLevel() {
    let interruptedAttack = EnvelopeShape(
      hold: 0.1, attack: 0.2, decay: 0.3, release: 0.5, isSustained: true)
    #expect(
      [
        interruptedAttack.riseEndTime, interruptedAttack.riseLevel, interruptedAttack.releaseLevel,
        interruptedAttack.releaseEndTime,
      ] == [
        0.1, 0.5, 0.5, 0.6,
      ])
    let interruptedDecay = EnvelopeShape(
      hold: 0.5, attack: 0.25, decay: 0.5, release: 1, isSustained: false)
    #expect(
      [
        interruptedDecay.releaseStartTime, interruptedDecay.releaseLevel,
        interruptedDecay.releaseEndTime,
      ] == [0.5, 0.5, 1.5])
  }
}
