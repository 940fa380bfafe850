import AHAP
import CoreHaptics
import CoreHapticsTesting
import Foundation
import HapticRender
import ShippedPatterns
import Testing

/// What an engine plays is what the renderer makes of the same text, as `temblor render` writes it.
@Suite struct SameSamplesTests {
  @Test(arguments: ["earthquake-splash", "heartbeat", "perfect-score", "trigger-pattern"])
  func anEnginePlaysWhatIsRenderedOffline(name: String) throws {
    let text = ShippedPatterns.text(named: name) ?? []
    let playing = try EnginePlaying()
    try playing.engine.playPattern(from: Data(text))
    playing.device.advance(seconds: 3)
    let plan = try RenderPlan(compiling: AHAPDocument(text: text, name: name).read().pattern)
    var renderer = Renderer(plan: plan, settings: RenderSettings(channelCount: 2))
    for channel in 0..<2 {
      let played = playing.device.samples(of: playing.engine, channel: channel)
      if channel == 0 { #expect(played.contains { abs($0) > 0.05 }) }
      var offline = [Float](repeating: 0, count: 2 * played.count)
      if channel == 1 { renderer = Renderer(plan: plan, settings: RenderSettings(channelCount: 2)) }
      var span = offline.mutableSpan
      renderer.render(into: &span)
      let rendered = played.indices.map { offline[2 * $0 + channel] }
      #expect(played.elementsEqual(rendered))
    }
  }
}
