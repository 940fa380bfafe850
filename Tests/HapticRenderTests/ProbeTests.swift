import HapticModel
import Testing

@testable import HapticRender

/// What other renderers of haptic patterns were found to get wrong.
@Suite struct ProbeTests {
  private func rendered(_ pattern: HapticPattern) throws -> [Float] {
    try render(pattern, rate: 8_000)
  }

  @Test func sharpnessChangesATransient() throws {
    let dull = try rendered(HapticPattern(events: [tap(sharpness: 0)]))
    let crisp = try rendered(HapticPattern(events: [tap(sharpness: 1)]))
    #expect(dull.count > 2 * crisp.count)
  }

  @Test func attackAndReleaseChangeAContinuousEvent() throws {
    let plain = try rendered(HapticPattern(events: [hum()]))
    let shaped = try rendered(
      HapticPattern(events: [hum(0, 1, [.attackTime: 0.5, .releaseTime: 0.2])]))
    #expect(shaped.count > plain.count)
    #expect(peak(shaped[..<400]) < 0.3 * peak(plain[..<400]))
  }

  @Test func anIntensityOfZeroSilencesFromItsTime() throws {
    let samples = try rendered(
      HapticPattern(events: [hum()], parameters: [step(.hapticIntensityControl, 0, at: 0.5)]))
    #expect(peak(samples[..<4_000]) > 0.43)
    #expect(peak(samples[4_016...]) < 0.003)
  }

  @Test func aSharpnessCurveOfZerosChangesNothing() throws {
    let plain = HapticPattern(events: [hum(0, 1, sharpness: 0.4)])
    var curved = plain
    curved.curves = [curve(.hapticSharpnessControl, [(0, 0), (1, 0)])]
    #expect(greatestDifference(try rendered(plain), try rendered(curved)) < 1e-6)
  }

  @Test func aCurveThatEndedBeforeTheEventStillHolds() throws {
    let held = HapticPattern(
      events: [hum(0.5, 0.5)], curves: [curve(.hapticIntensityControl, [(0, 1), (0.3, 0.2)])])
    #expect(abs(peak(try rendered(held)) - 0.44 * 0.04) < 0.0005)
  }

  @Test func curvesInAnotherOrderAreTheSame() throws {
    var turned = earthquake
    turned.curves.reverse()
    turned.events.reverse()
    #expect(greatestDifference(try rendered(turned), try rendered(earthquake)) < 1e-6)
  }

  @Test func aTransientWithoutParametersTakesTheDefaults() throws {
    let bare = HapticPattern(events: [HapticEvent(kind: .hapticTransient, time: 0)])
    let full = HapticPattern(events: [tap(0, intensity: 0.75, sharpness: 0.5)])
    #expect(try rendered(bare) == rendered(full))
  }

  @Test func valuesBeyondTheRangeAreClamped() throws {
    let beyond = HapticPattern(events: [hum(0, 1, intensity: 5, sharpness: 9)])
    #expect(
      try rendered(beyond) == rendered(HapticPattern(events: [hum(0, 1, sharpness: 1)])))
  }

  @Test func fourFullVoicesAreHeldDownWithoutClipping() throws {
    let four = HapticPattern(events: (0..<4).map { _ in hum(0, 2) })
    let samples = try render(four)
    #expect(peak(samples) <= 0.891)
    let hertz = TransducerProfile.phone.frequency.hertz(atSharpness: 0.5)
    let late = samples[48_000..<90_000]
    let third = amplitude(of: late, hertz: 3 * hertz, rate: 48_000)
    #expect(decibels(third, amplitude(of: late, hertz: hertz, rate: 48_000)) < -45)
  }

  @Test func frequenciesAreNotRoundedToWholeHertz() throws {
    let sharpness = Float(0.780_95)
    let law = TransducerProfile.phone.frequency.hertz(atSharpness: Double(sharpness))
    #expect(abs(law - 182.5) < 0.01)
    let samples = try rendered(HapticPattern(events: [hum(0, 5, sharpness: sharpness)]))
    #expect(abs(frequency(of: samples, rate: 8_000, from: 0.5, to: 4.5) - law) < 0.001)
  }

  @Test func curveTimesAreNotRoundedToMilliseconds() throws {
    let early = curve(.hapticIntensityControl, at: 0.100_2, [(0, 1), (0.000_25, 0)])
    let control = ControlTimeline(
      of: .hapticIntensityControl, in: HapticPattern(curves: [early]),
      grid: .frames(rate: 192_000))
    #expect(control.segments.map(\.start) == [0, 19_238, 19_286])
  }

  @Test func audioTonesAreHeard() throws {
    let tone = HapticEvent(kind: .audioContinuous, time: 0, duration: 0.2)
    #expect(peak(try rendered(HapticPattern(events: [tone]))) > 0.4)
  }

  @Test func renderingEndsAndFramesBehindTheEndAreSilent() throws {
    let plan = try RenderPlan(compiling: HapticPattern(events: [tap()]), rate: 8_000)
    var rendering = OfflineRenderer(plan: plan)
    var block = [Float](repeating: 0, count: 512)
    var span = block.mutableSpan
    var counts: [Int] = []
    for _ in 0..<3 { counts.append(rendering.read(into: &span)) }
    #expect(counts == [118, 0, 0])
    var renderer = Renderer(plan: plan)
    for _ in 0..<200 { renderer.render(into: &span) }
    #expect(peak(block) < 1e-6)
  }

  @Test func theEarthquakeIsNeitherClippedNorSteep() throws {
    let samples = try render(earthquake)
    #expect(peak(samples) <= 0.891)
    #expect(greatestStep(samples) < 0.05)
  }
}
