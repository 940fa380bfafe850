import Foundation
import HapticModel
import Testing

@testable import CoreHaptics
@testable import CoreHapticsTesting

/// Patterns of several layers, as formats other than AHAP have them.
@Suite struct LayerTests {
  private func layer(at time: Double, _ change: (inout HapticPattern) -> Void = { _ in })
    -> HapticComposition.Layer
  {
    var pattern = HapticPattern(events: [HapticEvent(kind: .hapticTransient, time: time)])
    change(&pattern)
    return HapticComposition.Layer(pattern)
  }

  private func pattern(_ layers: [HapticComposition.Layer]) -> CHHapticPattern {
    CHHapticPattern(PatternContent(HapticComposition(layers: layers)))
  }

  private let fadingParameter = DynamicParameter(id: .hapticIntensityControl, value: 0.5, time: 0)

  @Test func layersWithoutControlsAreOnePattern() throws {
    let pattern = pattern([layer(at: 0), layer(at: 0.25)])
    #expect(pattern.duration == 0.25)
    #expect(pattern.description == "CHHapticPattern(0.25 s, events 2, parameters 0, curves 0)")
    let reread = try CHHapticPattern(dictionary: pattern.exportDictionary())
    #expect(reread.content.flattenedPattern == pattern.content.flattenedPattern)
    #expect(reread.content.composition.layers.count == 1)
  }

  @Test func layersWithControlsAreNotExported() {
    let pattern = pattern([layer(at: 0) { $0.parameters = [fadingParameter] }, layer(at: 0.25)])
    #expect(
      failure { try pattern.exportDictionary() }
        == "-4806: a pattern with several layers and parameters or curves cannot be exported "
        + "as a dictionary")
  }

  @Test func singleLayerKeepsItsControls() throws {
    let pattern = pattern([layer(at: 0) { $0.parameters = [fadingParameter] }])
    #expect(
      try CHHapticPattern(dictionary: pattern.exportDictionary()).content.flattenedPattern
        == pattern.content.flattenedPattern)
  }

  /// The first layer is silenced, so that only the second is audible.
  @Test func allLayersPlayWithTheirOwnControls() throws {
    func samples(_ layers: [HapticComposition.Layer]) throws -> [Float] {
      let device = VirtualHapticDevice()
      let engine = device.makeEngine()
      try engine.start()
      try engine.makePlayer(with: pattern(layers)).start(atTime: 0)
      device.advance(seconds: 0.5)
      return device.samples(of: engine)
    }
    let silence = DynamicParameter(id: .hapticIntensityControl, value: 0, time: 0)
    let bothLayers = try samples([layer(at: 0) { $0.parameters = [silence] }, layer(at: 0.25)])
    let secondLayer = try samples([layer(at: 0.25)])
    #expect(bothLayers == secondLayer)
    #expect(secondLayer.contains { abs($0) > 0.01 })
    #expect(try samples([layer(at: 0), layer(at: 0.25)]) != secondLayer)
  }
}
