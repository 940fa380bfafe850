import Glibc
import TestSupport

@testable import HapticRender

/// A drive that passes protection, and the excursion of all transducers within the uncertainty of
/// the figures.
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

  /// Returns the output of protection.
  func protectedOutput(_ drive: [Float]) -> [Double] {
    var limiter = TransducerLimiter(settings, temperatureRise: TransducerThermalState())
    var statistics = RenderStatistics()
    var block = drive + [Float](repeating: 0, count: limiter.delayFrameCount)
    var span = block.mutableSpan
    limiter.process(&span, count: span.count, statistics: &statistics)
    return block.map(Double.init)
  }

  /// The transducers within the uncertainty: the resonance, the quality factor, and the displacement
  /// at resonance relative to the nominal transducer, for a level known at resonance or at rest.
  var plants: [(resonance: Double, qualityFactor: Double, gain: Double)] {
    guard uncertainty != .exact else { return [(resonance, qualityFactor, 1)] }
    var plants: [(Double, Double, Double)] = []
    // Mounting and heat shift even a measured resonance as much as a data sheet may deviate.
    let deviation = max(uncertainty.resonanceDeviationFraction, 0.15)
    let factor = uncertainty.trueToStatedQualityFactorRatio
    for deviationRatio in [-1, -0.7, -0.31, 0, 0.23, 0.64, 1] {
      for trueQuality in [qualityFactor / factor, qualityFactor, qualityFactor * factor] {
        plants.append((resonance * (1 + deviationRatio * deviation), trueQuality, 1))
        if trueQuality > qualityFactor {
          plants.append(
            (resonance * (1 + deviationRatio * deviation), trueQuality, trueQuality / qualityFactor)
          )
        }
      }
    }
    return plants
  }

  /// Returns the maximum displacement of any transducer, as a fraction of the limit.
  func peakExcursion(_ drive: [Float]) -> Double {
    let output = protectedOutput(drive)
    return plants.map { plant in
      let displacement = SimulatedTransducer(
        resonance: plant.resonance, qualityFactor: plant.qualityFactor, rate: rate
      )
      .response(to: output, as: .displacement)
      return plant.gain * displacement.reduce(0) { max($0, abs($1)) } / limit
    }.max() ?? 0
  }

  /// Returns a random drive within the ceiling, of a kind that causes large excursions.
  func randomDrive(_ generator: inout SplitMixGenerator) -> [Float] {
    let periods = Double.random(in: 6...20, using: &generator)
    let count = min(Int(periods * rate / resonance), Int(0.5 * rate))
    let kind = Int.random(in: 0..<7, using: &generator)
    let ratio = exp(Double.random(in: -0.5...0.5, using: &generator))
    let sweep = Double.random(in: -0.3...0.3, using: &generator)
    let secondRatio = exp(Double.random(in: -1.5...1.5, using: &generator))
    let flipFrame = Int.random(in: count / 4...count, using: &generator)
    let gateHertz = resonance * Double.random(in: 0.05...0.5, using: &generator)
    var phase = 0.0
    var sign = 1.0
    return (0..<count).map { frame in
      let time = Double(frame) / rate
      phase += resonance * ratio * (1 + sweep * Double(frame) / Double(count)) / rate
      let sine = sin(2 * Double.pi * phase)
      var sample: Double
      switch kind {
      case 0:
        sample = sine < 0 ? -1 : 1
      case 1:
        sample = (sine < 0 ? -1 : 1) * (frame > flipFrame ? -1 : 1)
      case 2:
        sample = sine + sin(2 * Double.pi * resonance * secondRatio * time)
      case 3:
        if Double.random(in: 0..<1, using: &generator) < 2 * resonance * ratio / rate {
          sign = -sign
        }
        sample = sign
      case 4:
        sample = (sine < 0 ? -1 : 1) * (sin(2 * Double.pi * gateHertz * time) > 0 ? 1 : 0.05)
      case 5:
        sample = 4 * sine * (time * gateHertz < 1 ? 0.1 : 1)
      default:
        sample = frame < flipFrame ? 1 : (sine < 0 ? -1 : 1)
      }
      return Float(0.891 * min(1, max(-1, sample)))
    }
  }

  /// Returns a drive with a range inverted, silenced, moved, or clipped.
  static func mutated(_ drive: [Float], _ generator: inout SplitMixGenerator) -> [Float] {
    var drive = drive
    let length = Int.random(in: 1...max(1, drive.count / 4), using: &generator)
    let start = Int.random(in: 0..<max(1, drive.count - length), using: &generator)
    let kind = Int.random(in: 0..<4, using: &generator)
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
