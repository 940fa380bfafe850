import Glibc
import Testing

@testable import HapticRender

struct TransducerModelTests {
  private let model = TransducerModel(resonanceHertz: 40, qualityFactor: 10)

  @Test func bothMagnitudesAreOneAtResonance() {
    #expect(abs(model.accelerationMagnitude(atHertz: 40) - 1) < 1e-12)
    #expect(abs(model.displacementMagnitude(atHertz: 40) - 1) < 1e-12)
  }

  @Test func responseFarFromResonanceFollowsTheQualityFactor() {
    // Stiffness below: displacement follows the drive. Mass above: acceleration does.
    #expect(abs(model.displacementMagnitude(atHertz: 0) - 0.1) < 1e-12)
    #expect(abs(model.accelerationMagnitude(atHertz: 1e6) - 0.1) < 1e-9)
    #expect(model.accelerationMagnitude(atHertz: 0) == 0)
  }

  @Test func energyIsHalvedAtTheEdgesOfTheBandwidth() {
    let rootArgument = (1 / 20.0) * (1 / 20.0) + 1
    let lower = 40 * (rootArgument.squareRoot() - 1 / 20.0)
    let level = model.accelerationMagnitude(atHertz: lower) / (lower / 40)
    #expect(abs(level - 0.5.squareRoot()) < 1e-12)
  }
}

struct TransducerSimulationTests {
  @Test func ringingDecaysByTheDecrementOfTheModel() {
    var transducer = TransducerSimulation(
      TransducerModel(resonanceHertz: 40, qualityFactor: 10), rate: 48_000)
    _ = transducer.nextAcceleration(drive: 1)
    _ = transducer.nextAcceleration(drive: 0)
    // After the drive, the motion is a damped oscillation: each period, it falls by
    // exp(−π / (Q·√(1 − 1/4Q²))), and each sample follows from the two previous samples by a
    // recursion.
    var ring: [Double] = []
    for _ in 0..<10_000 {
      _ = transducer.nextAcceleration(drive: 0)
      ring.append(transducer.displacement)
    }
    let phaseStep = 2 * Double.pi * 40 / 48_000
    let decay = exp(-phaseStep / 20)
    let recursionCoefficient = 2 * decay * cos(phaseStep * (1 - 1 / 400.0).squareRoot())
    for n in 2..<ring.count {
      let expected = recursionCoefficient * ring[n - 1] - decay * decay * ring[n - 2]
      #expect(abs(ring[n] - expected) < 1e-15)
    }
    let peakDisplacement = ring.map(abs).max() ?? 0
    #expect(
      ring.suffix(1_200).map(abs).max() ?? 1 < peakDisplacement * exp(-phaseStep * 8_500 / 20))
  }

  @Test(arguments: [8_000.0, 11_025, 44_100, 48_000, 192_000])
  func steadySinesFollowTheModel(rate: Double) {
    for (resonance, qualityFactor) in [(40.0, 10.0), (40, 3), (175, 15), (65, 0.7), (20, 0.4)] {
      let model = TransducerModel(resonanceHertz: resonance, qualityFactor: qualityFactor)
      for hertz in [25.0, 40, 80, 175, 390] where hertz <= rate / 20 {
        let measured = amplitudes(model, hertz: hertz, rate: rate)
        let tolerance = rate < 44_100 ? 0.07 : 0.002_5
        let acceleration = model.accelerationMagnitude(atHertz: hertz)
        let displacement = model.displacementMagnitude(atHertz: hertz)
        #expect(abs(decibels(measured.acceleration, acceleration)) < tolerance)
        #expect(abs(decibels(measured.displacement, displacement)) < tolerance)
      }
    }
  }

  @Test func peakDisplacementIsKept() {
    let model = TransducerModel(resonanceHertz: 40, qualityFactor: 3)
    var transducer = TransducerSimulation(model, rate: 48_000)
    for frame in 0..<96_000 {
      let drive = frame < 48_000 ? sin(2 * Double.pi * 40 * Double(frame) / 48_000) : 0
      _ = transducer.nextAcceleration(drive: Float(drive))
    }
    #expect(abs(transducer.peakDisplacement - 1) < 1e-3)
    #expect(abs(transducer.displacement) < 1e-9 && abs(transducer.velocity) < 1e-9)
  }

  /// Returns the amplitudes by correlation over one second, after one second of settling.
  private func amplitudes(_ model: TransducerModel, hertz: Double, rate: Double) -> (
    acceleration: Double, displacement: Double
  ) {
    var transducer = TransducerSimulation(model, rate: rate)
    var sums = SIMD4<Double>()
    for frame in 0..<Int(2 * rate) {
      let phase = 2 * Double.pi * hertz * Double(frame) / rate
      let acceleration = Double(transducer.nextAcceleration(drive: Float(sin(phase))))
      if Double(frame) < rate { continue }
      let displacement = transducer.displacement
      sums += [
        sin(phase) * acceleration, cos(phase) * acceleration, sin(phase) * displacement,
        cos(phase) * displacement,
      ]
    }
    sums *= 2 / rate
    return (
      (sums.x * sums.x + sums.y * sums.y).squareRoot(),
      (sums.z * sums.z + sums.w * sums.w).squareRoot()
    )
  }
}
