import Foundation
import HapticModel
import TestSupport
import Testing

@testable import HapticRender

/// Renderings of the model's signal without the output processing.
struct RawRenderingTests {
  private static let mpegProfile = TransducerProfile(
    name: "test", summary: "", frequency: .init(lowHertz: 65, highHertz: 300, scale: .linear),
    fullIntensityAmplitude: 0.6138)

  private func render(_ events: [HapticEvent], isRaw: Bool) throws -> [Float] {
    let plan = try RenderPlan(
      compiling: HapticComposition(HapticPattern(events: events)), profile: Self.mpegProfile,
      isRaw: isRaw)
    var settings = RenderSettings(outputFrameCount: plan.frameCount + 960)
    settings.bypassesOutputProcessing = isRaw
    var renderer = OfflineRenderer(plan: plan, settings: settings)
    return renderer.samples()
  }

  private func hum(at time: Double, for duration: Double) -> HapticEvent {
    HapticEvent(
      kind: .hapticContinuous, time: time, duration: duration,
      parameters: EventParameters([.hapticIntensity: 1, .hapticSharpness: 0.5]))
  }

  @Test func humEqualsItsFormula() throws {
    let samples = try render([hum(at: 0.1, for: 0.5)], isRaw: true)
    for (frame, sample) in samples.enumerated() {
      let time = Double(frame - 4_800) / 48_000
      let expected = 0..<0.5 ~= time ? 0.6138 * sin(2 * .pi * 182.5 * time) : 0
      #expect(abs(Double(sample) - expected) < 2e-5, "frame \(frame)")
    }
  }

  @Test func rawRenderingIsNotLimited() throws {
    let hums = [hum(at: 0, for: 0.2), hum(at: 0, for: 0.2)]
    #expect(try render(hums, isRaw: true).max().map { abs($0 - 1.2276) < 1e-4 } == true)
    #expect(try render(hums, isRaw: false).max().map { $0 < 0.9 } == true)
  }

  @Test func sampledSignalIsUnchanged() throws {
    let squareWave = (0..<4_800).map { Float($0 % 480 < 240 ? 1.5 : -1.5) }
    let composition = HapticComposition(
      layers: [
        .init(
          HapticPattern(),
          signals: [SampledSignal(startSeconds: 0, sampleRate: 48_000, samples: squareWave)])
      ])
    let plan = try RenderPlan(compiling: composition, profile: Self.mpegProfile, isRaw: true)
    var settings = RenderSettings()
    settings.bypassesOutputProcessing = true
    var renderer = OfflineRenderer(plan: plan, settings: settings)
    #expect(zip(renderer.samples(), squareWave).allSatisfy { abs($0 - $1 * 0.6138) < 1e-6 })
    #expect(renderer.statistics.peakMagnitudeBeforeLimiter == 1.5 * Float(0.6138))
  }
}
