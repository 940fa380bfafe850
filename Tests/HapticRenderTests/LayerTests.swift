import HapticModel
import HapticRender
import Testing

/// Layers of a composition: each layer's controls act on its own events, and layers add.
struct LayerTests {
  private func samples(_ composition: HapticComposition) throws -> [Float] {
    let plan = try RenderPlan(compiling: composition)
    var rendering = OfflineRenderer(plan: plan)
    var all: [Float] = []
    var block = [Float](repeating: 0, count: 777)
    while true {
      var span = block.mutableSpan
      let count = rendering.read(into: &span)
      if count == 0 { return all }
      all += block[..<count]
    }
  }

  private let swell = HapticPattern(
    events: [
      HapticEvent(
        kind: .hapticContinuous, time: 0, duration: 1, parameters: [.hapticIntensity: 0.5])
    ],
    curves: [
      ParameterCurve(
        id: .hapticIntensityControl, time: 0,
        controlPoints: [.init(time: 0, value: 0.1), .init(time: 1, value: 0.4)])
    ])
  private let taps = HapticPattern(
    events: (0..<5).map {
      HapticEvent(
        kind: .hapticTransient, time: 0.1 + Double($0) * 0.15, parameters: [.hapticIntensity: 0.5])
    })

  @Test func controlsActOnTheirOwnLayer() throws {
    let apart = try samples(HapticComposition(swell))
    let tapsApart = try samples(HapticComposition(taps))
    let together = try samples(HapticComposition(layers: [.init(swell), .init(taps)]))
    #expect(together.count == max(apart.count, tapsApart.count))
    var worst: Float = 0
    for index in together.indices {
      let sum =
        (index < apart.count ? apart[index] : 0) + (index < tapsApart.count ? tapsApart[index] : 0)
      worst = max(worst, abs(together[index] - sum))
    }
    #expect(worst < 1e-4, "\(worst)")
    var merged = swell
    merged.events += taps.events
    let bent = try samples(HapticComposition(merged))
    #expect(zip(bent, together).contains { abs($0 - $1) > 0.05 })
  }

  @Test func oneLayerIsThePattern() throws {
    #expect(
      try samples(HapticComposition(swell))
        == samples(HapticComposition(layers: [.init(swell), .init(HapticPattern())])))
  }
}
