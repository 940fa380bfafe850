import HapticModel
import Testing

@Suite struct SharpnessScaleTests {
  private let linearScale = SharpnessScale(
    minimumHertz: 60, maximumHertz: 260, isLogarithmic: false)

  private func vibration(_ sharpness: Float, at time: Double = 0) -> HapticEvent {
    HapticEvent(
      kind: .hapticContinuous, time: time, duration: 1,
      parameters: [.hapticIntensity: 1, .hapticSharpness: sharpness])
  }

  private func layer(
    _ events: [HapticEvent], points: [(Double, Float)] = [], scale: SharpnessScale? = nil
  ) -> HapticComposition.Layer {
    var pattern = HapticPattern(events: events)
    if !points.isEmpty {
      pattern.curves = [
        ParameterCurve(
          id: .hapticSharpnessControl, time: 0,
          controlPoints: points.map { .init(time: $0.0, value: $0.1) })
      ]
    }
    return HapticComposition.Layer(pattern, sharpnessScale: scale ?? linearScale)
  }

  @Test("A scale continues beyond sharpness 0 and 1")
  func scaleContinues() {
    #expect(
      linearScale.hertz(ofSharpness: -0.1) == 40 && linearScale.sharpness(ofHertz: 360) == 1.5)
    #expect(abs(SharpnessScale.phone.hertz(ofSharpness: -1) - 80 * 80 / 230) < 1e-9)
    #expect(abs(SharpnessScale.phone.sharpness(ofHertz: 230 * 230 / 80) - 2) < 1e-9)
  }

  @Test("A scale of one frequency has sharpness 0")
  func singleFrequency() {
    let scale = SharpnessScale(minimumHertz: 175, maximumHertz: 175, isLogarithmic: true)
    #expect(scale.sharpness(ofHertz: 60) == 0 && scale.hertz(ofSharpness: 1) == 175)
  }

  @Test("The stated frequencies are those of events and controls together")
  func statedHertz() {
    let composition = HapticComposition(layers: [
      layer([vibration(0.5)], points: [(0, -0.5), (1, 0.5)]),
      layer([vibration(1.5, at: 2)]),
      HapticComposition.Layer(HapticPattern(events: [vibration(0)])),
    ])
    #expect(composition.hasStatedHertz && composition.statedHertzRange == 60...360)
    #expect(HapticComposition(HapticPattern(events: [vibration(0)])).statedHertzRange == nil)
  }

  @Test("A voiced layer has the same frequencies within the scale, and its ends beyond")
  func voicing() throws {
    let source = layer([vibration(0)], points: [(0, -0.1), (1, 1.5)])
    let converted = source.convertingStatedHertz(to: .phone)
    #expect(converted.sharpnessScale == nil)
    let control = ControlTimeline(of: .hapticSharpnessControl, in: converted.pattern)
    let eventSharpness = Double(converted.pattern.events[0].value(of: .hapticSharpness))
    for time in stride(from: 0.0, through: 1, by: 0.05) {
      let expectedHertz = 40 + 320 * time
      let playedHertz = SharpnessScale.phone.hertz(
        ofSharpness: min(max(eventSharpness + control.value(at: time), 0), 1))
      #expect(abs(playedHertz / min(max(expectedHertz, 80), 230) - 1) < 2e-3, "\(time)")
    }
    #expect(converted.pattern.curves[0].controlPoints.allSatisfy { abs($0.value) <= 1 })
  }

  @Test("A line on the other kind of scale deviates by less than 10⁻⁴", arguments: [true, false])
  func dividedLines(isSourceLogarithmic: Bool) {
    let source = SharpnessScale(
      minimumHertz: 20, maximumHertz: 400, isLogarithmic: isSourceLogarithmic)
    let target = SharpnessScale(
      minimumHertz: 20, maximumHertz: 400, isLogarithmic: !isSourceLogarithmic)
    let converted = layer([vibration(0)], points: [(0, 0), (1, 1)], scale: source)
      .convertingStatedHertz(to: target)
    let control = ControlTimeline(of: .hapticSharpnessControl, in: converted.pattern)
    for time in stride(from: 0.0005, through: 1, by: 0.001) {
      let playedHertz = target.hertz(ofSharpness: control.value(at: time))
      #expect(abs(playedHertz / source.hertz(ofSharpness: time) - 1) < 1e-4, "\(time)")
    }
  }

  @Test("A layer without frequencies is not voiced")
  func plainLayer() {
    let unscaledLayer = HapticComposition.Layer(HapticPattern(events: [vibration(2)]))
    #expect(unscaledLayer.convertingStatedHertz(to: .phone) == unscaledLayer)
  }

  @Test("An unclamped control keeps its values")
  func unclampedControl() {
    let pattern = layer([vibration(0)], points: [(0, -3), (1, 2)]).pattern
    let unclamped = ControlTimeline(of: .hapticSharpnessControl, in: pattern, isClamped: false)
    let clamped = ControlTimeline(of: .hapticSharpnessControl, in: pattern)
    #expect(unclamped.value(at: 0) == -3 && abs(unclamped.value(at: 0.5) + 0.5) < 1e-9)
    #expect(clamped.value(at: 0) == -1 && clamped.value(at: 1) == 1)
    let layerWithScale = layer([vibration(0)], points: [(0, -3), (1, 2)])
    #expect(ControlTimeline(of: .hapticSharpnessControl, in: layerWithScale) == unclamped)
    let layerWithoutScale = HapticComposition.Layer(pattern)
    #expect(ControlTimeline(of: .hapticSharpnessControl, in: layerWithoutScale) == clamped)
  }
}
