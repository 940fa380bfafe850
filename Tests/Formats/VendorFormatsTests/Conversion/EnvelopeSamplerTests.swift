import HapticModel
import TestSupport
import Testing

@testable import HapticFormats
@testable import VendorFormats

/// Envelopes of events, compared with the formulas.
@Suite struct EnvelopeSamplerTests {
  private func hum(
    _ time: Double, _ duration: Double, _ intensity: Float, _ sharpness: Float = 0.5,
    _ otherParameters: EventParameters = [:]
  ) -> HapticEvent {
    var parameters = otherParameters
    parameters[.hapticIntensity] = intensity
    parameters[.hapticSharpness] = sharpness
    return HapticEvent(
      kind: .hapticContinuous, time: time, duration: duration, parameters: parameters)
  }

  private func value(_ points: [EnvelopePoint], at time: Double) -> EnvelopePoint {
    for (previous, next) in zip(points, points.dropFirst())
    where time >= previous.timeSeconds && time < next.timeSeconds {
      return .interpolated(from: previous, to: next, at: time)
    }
    return points[points.count - 1]
  }

  @Test func constantEventHasTwoPoints() {
    let composition = HapticComposition(HapticPattern(events: [hum(1, 2, 0.5, 0.25)]))
    let envelopes = EnvelopeSampler(.intensity).envelopes(of: composition)
    #expect(envelopes.count == 1)
    #expect(
      envelopes[0].points == [
        EnvelopePoint(timeSeconds: 1, level: 0.5, sharpness: 0.25),
        EnvelopePoint(timeSeconds: 3, level: 0.5, sharpness: 0.25),
      ])
    #expect(
      EnvelopeSampler(.amplitude).envelopes(of: composition)[0].points.map(\.level) == [0.25, 0.25])
    #expect(
      EnvelopeSampler(.amplitude, mapping: .linear).envelopes(of: composition)[0].points.map(
        \.level)
        == [0.5, 0.5])
  }

  @Test func curvesAndStepsAreCornersAndSharpnessIsClamped() {
    var pattern = HapticPattern(events: [hum(0, 4, 1, 0.5)])
    pattern.curves = [
      ParameterCurve(
        id: .hapticSharpnessControl, time: 0,
        controlPoints: [.init(time: 0, value: 0), .init(time: 4, value: 1)])
    ]
    pattern.parameters = [DynamicParameter(id: .hapticIntensityControl, value: 0.5, time: 1)]
    let points = EnvelopeSampler(.intensity).envelopes(of: HapticComposition(pattern))[0].points
    #expect(
      points == [
        EnvelopePoint(timeSeconds: 0, level: 1, sharpness: 0.5),
        EnvelopePoint(timeSeconds: 1, level: 1, sharpness: 0.75),
        EnvelopePoint(timeSeconds: 1, level: 0.5, sharpness: 0.75),
        EnvelopePoint(timeSeconds: 2, level: 0.5, sharpness: 1),
        EnvelopePoint(timeSeconds: 4, level: 0.5, sharpness: 1),
      ])
  }

  @Test(arguments: [AmplitudeMapping.root, .linear])
  func envelopeTimesScaleAmplitudeWithinTheTolerance(
    mapping: AmplitudeMapping
  ) {
    let composition = HapticComposition(
      HapticPattern(events: [hum(0, 1, 0.8, 0.5, [.attackTime: 0.75, .releaseTime: 0.5])]))
    let attack = EnvelopeTimes.seconds(normalized: 0.75)
    let release = EnvelopeTimes.seconds(normalized: 0.5)
    let sampler = EnvelopeSampler(.intensity, mapping: mapping, levelTolerance: 0.002)
    let points = sampler.envelopes(of: composition)[0].points
    #expect(abs((points.last?.timeSeconds ?? 0) - 1 - release) < 1e-12)
    for step in 0...1000 {
      let time = Double(step) / 1000 * (1 + release)
      let gain =
        time < attack ? time / attack : time < 1 ? 1 : max(0, (1 + release - time) / release)
      let expectedLevel = 0.8 * (mapping == .root ? gain.squareRoot() : gain)
      // The tolerance includes the rounding of the intensity to Float.
      #expect(abs(value(points, at: time).level - expectedLevel) <= 0.002 + 1e-6, "\(time)")
    }
  }

  @Test func aTransientHasTheValuesOfItsOnset() {
    let tap = HapticEvent(
      kind: .hapticTransient, time: 0.5,
      parameters: [.hapticIntensity: 0.5, .hapticSharpness: 0.25])
    var pattern = HapticPattern(events: [tap])
    pattern.curves = [
      ParameterCurve(
        id: .hapticIntensityControl, time: 0,
        controlPoints: [.init(time: 0, value: 0), .init(time: 1, value: 1)])
    ]
    let envelope = EnvelopeSampler(.intensity).envelopes(of: HapticComposition(pattern))[0]
    #expect(envelope.points == [EnvelopePoint(timeSeconds: 0.5, level: 0.25, sharpness: 0.25)])
  }

  @Test func curvesActOnlyOnTheirLayer() {
    let curve = ParameterCurve(
      id: .hapticIntensityControl, time: 0, controlPoints: [.init(time: 0, value: 0)])
    let composition = HapticComposition(layers: [
      .init(HapticPattern(events: [hum(0, 1, 1)], curves: [curve])),
      .init(HapticPattern(events: [hum(0, 1, 1)])),
    ])
    let levels = EnvelopeSampler(.intensity).envelopes(of: composition).map { $0.points[0].level }
    #expect(levels == [0, 1])
  }

  @Test func mergingAddsAmplitudesAndWeighsSharpness() {
    let pattern = HapticPattern(events: [hum(0, 2, 0.5, 0), hum(1, 2, 1, 0.5), hum(4, 1, 0.5, 1)])
    let sampler = EnvelopeSampler(.amplitude)
    let merged = MergedEnvelope(
      sampler.envelopes(of: HapticComposition(pattern)), envelopeSampler: sampler)
    #expect(
      merged.mergedPoints == [
        EnvelopePoint(timeSeconds: 0, level: 0.25, sharpness: 0),
        EnvelopePoint(timeSeconds: 1, level: 0.25, sharpness: 0),
        EnvelopePoint(timeSeconds: 1, level: 1, sharpness: 0.4),
        EnvelopePoint(timeSeconds: 2, level: 1, sharpness: 0.4),
        EnvelopePoint(timeSeconds: 2, level: 1, sharpness: 0.5),
        EnvelopePoint(timeSeconds: 3, level: 1, sharpness: 0.5),
        EnvelopePoint(timeSeconds: 3, level: 0, sharpness: 0.5),
        EnvelopePoint(timeSeconds: 4, level: 0, sharpness: 0.5),
        EnvelopePoint(timeSeconds: 4, level: 0.25, sharpness: 1),
        EnvelopePoint(timeSeconds: 5, level: 0.25, sharpness: 1),
      ])
    #expect(
      merged.overlappingEvents == [EventReference(eventIndex: 0), EventReference(eventIndex: 1)])
  }

  @Test func eventsThatTouchDoNotOverlap() {
    let pattern = HapticPattern(events: [hum(0, 1, 1), hum(1, 1, 0.5)])
    let sampler = EnvelopeSampler(.intensity)
    let merged = MergedEnvelope(
      sampler.envelopes(of: HapticComposition(pattern)), envelopeSampler: sampler)
    #expect(merged.overlappingEvents.isEmpty)
    #expect(merged.mergedPoints.map(\.level) == [1, 1, 0.5, 0.5])
  }

  @Test func overlapsBeyondTheMaximumAreDropped() {
    let count = MergedEnvelope.maximumOverlapCount + 10
    let pattern = HapticPattern(events: (0..<count).map { hum(Double($0) / 1000, 10, 0.01) })
    let sampler = EnvelopeSampler(.amplitude)
    let merged = MergedEnvelope(
      sampler.envelopes(of: HapticComposition(pattern)), envelopeSampler: sampler)
    #expect(merged.droppedEvents.map(\.eventIndex) == Array(count - 10..<count))
  }
}
