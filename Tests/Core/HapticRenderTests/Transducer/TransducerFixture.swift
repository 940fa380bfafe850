import Glibc

@testable import HapticRender

/// A transducer behind the chain that a strip has for it.
struct TransducerFixture {
  var resonance = 40.0
  var qualityFactor: Double? = 10
  /// The lowest frequency that is asked for.
  var lowHertz = 25.0
  var continuousWatts: Double? = 50
  /// Watts of a full-scale sine; absent: twice the power.
  var amplifierWatts: Double?
  var drive = DriveSettings()
  var uncertainty = TransducerUncertainty.exact
  var rate = 48_000.0

  var profile: TransducerProfile {
    TransducerProfile(
      name: "rig", summary: "",
      frequency: FrequencyMapping(lowHertz: lowHertz, highHertz: lowHertz * 4),
      hardware: TransducerHardware(
        product: "rig", resonanceHertz: resonance, qualityFactor: qualityFactor,
        continuousWatts: continuousWatts,
        uncertainty: uncertainty), driveSettings: drive,
      amplifier: AmplifierParameters(fullScaleWatts: amplifierWatts))
  }

  /// Sends a signal through filters, protection and limiter, in blocks of given lengths, round and
  /// round.
  func process(
    frameCount: Int, blocks: [Int] = [256],
    temperatureRise: TransducerThermalState = TransducerThermalState(),
    each: (Float) -> Void = { _ in }, signal: (Int) -> Float
  ) -> RenderStatistics {
    var statistics = RenderStatistics()
    var chain = OutputChain(
      rate: rate, transducer: profile.transducerSettings(rate: rate),
      temperatureRise: temperatureRise)
    var done = 0
    var turn = 0
    var block: [Float] = []
    while done < frameCount {
      let count = min(blocks[turn % blocks.count], frameCount - done)
      block.removeAll(keepingCapacity: true)
      for frame in done..<(done + count) {
        block.append(signal(frame))
      }
      let peak =
        block.prefix(count).contains { !$0.isFinite } ? -1 : block.prefix(count).map(abs).max() ?? 0
      var span = block.mutableSpan
      chain.process(&span, count: count, peak: peak, statistics: &statistics)
      for sample in block {
        each(sample)
      }
      done += count
      turn += 1
    }
    return statistics
  }

  /// What leaves the chain.
  func output(frameCount: Int, blocks: [Int] = [256], signal: (Int) -> Float) -> [Float] {
    var output: [Float] = []
    output.reserveCapacity(frameCount)
    _ = process(frameCount: frameCount, blocks: blocks, each: { output.append($0) }, signal: signal)
    return output
  }

  /// A sine.
  func sine(_ hertz: Double, level: Float) -> (Int) -> Float {
    {
      level
        * Float(sin(2 * Double.pi * (hertz / rate * Double($0)).truncatingRemainder(dividingBy: 1)))
    }
  }
}
