import HapticRender
import Testing

struct TransducerModelTests {
  private let model = TransducerModel(resonance: 40, quality: 10)

  @Test func bothMagnitudesAreOneAtResonance() {
    #expect(abs(model.acceleration(atHertz: 40) - 1) < 1e-12)
    #expect(abs(model.displacement(atHertz: 40) - 1) < 1e-12)
  }

  @Test func farFromResonanceTheQualityDecides() {
    // Stiffness below: displacement follows the drive. Mass above: acceleration does.
    #expect(abs(model.displacement(atHertz: 0) - 0.1) < 1e-12)
    #expect(abs(model.acceleration(atHertz: 1e6) - 0.1) < 1e-9)
    #expect(model.acceleration(atHertz: 0) == 0)
  }

  @Test func halfTheEnergyIsLeftAtTheEdgesOfTheBandwidth() {
    let half = (1 / 20.0) * (1 / 20.0) + 1
    let lower = 40 * (half.squareRoot() - 1 / 20.0)
    let level = model.acceleration(atHertz: lower) / (lower / 40)
    #expect(abs(level - 0.5.squareRoot()) < 1e-12)
  }
}
