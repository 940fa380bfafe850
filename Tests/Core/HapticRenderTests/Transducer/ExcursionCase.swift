import Glibc
import TestSupport

@testable import HapticRender

/// One drive sent through protection, and how far a transducer moves that the figures may stand
/// for.
struct ExcursionCase {
  var rate: Double
  var resonance: Double
  var qualityFactor: Double
  var limit: Double
  var uncertainty = TransducerUncertainty.exact

  var settings: TransducerSettings {
    let omega = 2 * Double.pi * resonance
    let profile = TransducerProfile(
      name: "trial", summary: "",
      frequency: FrequencyMapping(lowHertz: resonance, highHertz: resonance * 2),
      hardware: TransducerHardware(
        product: "trial", resonanceHertz: resonance, qualityFactor: qualityFactor,
        maximumAccelerationInG: 1,
        maximumExcursionMillimeters: limit * 9.80665 / (omega * omega) * 1_000,
        uncertainty: uncertainty))
    guard let settings = profile.transducerSettings(rate: rate) else {
      preconditionFailure("a trial has hardware")
    }
    return settings
  }

  /// What leaves protection.
  func protectedOutput(_ drive: [Float]) -> [Double] {
    var limiter = TransducerLimiter(settings, temperatureRise: TransducerThermalState())
    var statistics = RenderStatistics()
    var block = drive + [Float](repeating: 0, count: limiter.delayFrameCount)
    var span = block.mutableSpan
    limiter.process(&span, count: span.count, statistics: &statistics)
    return block.map(Double.init)
  }

  /// The transducers within the uncertainty: resonance, quality, and how far they move at resonance
  /// in the measure of the nominal one, with the level known at resonance or at rest.
  var plants: [(resonance: Double, qualityFactor: Double, gain: Double)] {
    guard uncertainty != .exact else { return [(resonance, qualityFactor, 1)] }
    var plants: [(Double, Double, Double)] = []
    // Whatever was measured, mounting and heat move a resonance as far as a data sheet may be off.
    let deviation = max(uncertainty.resonanceDeviationFraction, 0.15)
    let factor = uncertainty.trueToStatedQualityFactorRatio
    for part in [-1, -0.7, -0.31, 0, 0.23, 0.64, 1] {
      for quality in [qualityFactor / factor, qualityFactor, qualityFactor * factor] {
        plants.append((resonance * (1 + part * deviation), quality, 1))
        if quality > qualityFactor {
          plants.append((resonance * (1 + part * deviation), quality, quality / qualityFactor))
        }
      }
    }
    return plants
  }

  /// The greatest displacement of any of them, as a share of the limit.
  func peakExcursion(_ drive: [Float]) -> Double {
    let output = protectedOutput(drive)
    return plants.map { plant in
      let moved = SimulatedTransducer(
        resonance: plant.resonance, qualityFactor: plant.qualityFactor, rate: rate
      )
      .response(to: output, as: .displacement)
      return plant.gain * moved.reduce(0) { max($0, abs($1)) } / limit
    }.max() ?? 0
  }

  /// A drive within the ceiling, of one of the kinds that move most.
  func randomDrive(_ numbers: inout SplitMixGenerator) -> [Float] {
    let periods = Double.random(in: 6...20, using: &numbers)
    let count = min(Int(periods * rate / resonance), Int(0.5 * rate))
    let kind = Int.random(in: 0..<7, using: &numbers)
    let ratio = exp(Double.random(in: -0.5...0.5, using: &numbers))
    let sweep = Double.random(in: -0.3...0.3, using: &numbers)
    let other = exp(Double.random(in: -1.5...1.5, using: &numbers))
    let flip = Int.random(in: count / 4...count, using: &numbers)
    let gate = resonance * Double.random(in: 0.05...0.5, using: &numbers)
    var phase = 0.0
    var sign = 1.0
    return (0..<count).map { frame in
      let time = Double(frame) / rate
      phase += resonance * ratio * (1 + sweep * Double(frame) / Double(count)) / rate
      let wave = sin(2 * Double.pi * phase)
      var value: Double
      switch kind {
      case 0:
        value = wave < 0 ? -1 : 1
      case 1:
        value = (wave < 0 ? -1 : 1) * (frame > flip ? -1 : 1)
      case 2:
        value = wave + sin(2 * Double.pi * resonance * other * time)
      case 3:
        if Double.random(in: 0..<1, using: &numbers) < 2 * resonance * ratio / rate {
          sign = -sign
        }
        value = sign
      case 4:
        value = (wave < 0 ? -1 : 1) * (sin(2 * Double.pi * gate * time) > 0 ? 1 : 0.05)
      case 5:
        value = 4 * wave * (time * gate < 1 ? 0.1 : 1)
      default:
        value = frame < flip ? 1 : (wave < 0 ? -1 : 1)
      }
      return Float(0.891 * min(1, max(-1, value)))
    }
  }

  /// A drive with a stretch inverted, silenced, or moved.
  static func mutated(_ drive: [Float], _ numbers: inout SplitMixGenerator) -> [Float] {
    var drive = drive
    let length = Int.random(in: 1...max(1, drive.count / 4), using: &numbers)
    let start = Int.random(in: 0..<max(1, drive.count - length), using: &numbers)
    let kind = Int.random(in: 0..<4, using: &numbers)
    for index in start..<min(drive.count, start + length) {
      switch kind {
      case 0: drive[index] = -drive[index]
      case 1: drive[index] = 0
      case 2: drive[index] = drive[max(0, index - length / 2)]
      default: drive[index] = drive[index] < 0 ? -0.891 : 0.891
      }
    }
    return drive
  }
}
