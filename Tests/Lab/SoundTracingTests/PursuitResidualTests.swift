import HapticRender
import Testing

@testable import SoundTracing

struct PursuitResidualTests {
  @Test(
    "A search around a position outside of the signal stays within it", arguments: [-50, 5_000])
  func positionOutsideOfSignal(_ center: Int) throws {
    let dictionary = try AtomDictionary(.phone, soundRate: 8_000)
    let residual = PursuitResidual(
      [Float](repeating: 0.1, count: 200), dictionary: dictionary, hasFixedPhase: true)
    let burst = residual.bestBurst(atoms: dictionary.coarseSearchAtomIndices, within: 2) { _ in
      center
    }
    let lastStart = residual.paddedSamples.count - dictionary.maximumAtomSampleCount
    #expect((0...lastStart).contains(burst.startSample))
  }
}
