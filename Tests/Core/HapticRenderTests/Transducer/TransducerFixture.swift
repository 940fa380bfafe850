import Glibc

@testable import HapticRender

/// A transducer with the output chain that drives it.
struct TransducerFixture {
  var resonance = 40.0
  var qualityFactor: Double? = 10
  /// The lowest requested frequency.
  var lowHertz = 25.0
  var continuousWatts: Double? = 50
  /// The power of a full-scale sine, in watts; nil for twice the continuous power.
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

  /// Processes a signal with filters, protection, and limiter, in blocks whose lengths repeat a list.
  func process(
    frameCount: Int, blocks: [Int] = [256],
    temperatureRise: TransducerThermalState = TransducerThermalState(),
    each: (Float) -> Void = { _ in }, signal: (Int) -> Float
  ) -> RenderStatistics {
    var statistics = RenderStatistics()
    var chain = OutputChain(
      rate: rate, transducer: profile.transducerSettings(rate: rate),
      temperatureRise: temperatureRise)
    var processedCount = 0
    var blockIndex = 0
    var block: [Float] = []
    while processedCount < frameCount {
      let count = min(blocks[blockIndex % blocks.count], frameCount - processedCount)
      block.removeAll(keepingCapacity: true)
      for frame in processedCount..<(processedCount + count) {
        block.append(signal(frame))
      }
      let peak =
        block.prefix(count).contains { !$0.isFinite } ? -1 : block.prefix(count).map(abs).max() ?? 0
      var span = block.mutableSpan
      chain.process(&span, count: count, peak: peak, statistics: &statistics)
      for sample in block {
        each(sample)
      }
      processedCount += count
      blockIndex += 1
    }
    return statistics
  }

  /// Returns the output of the chain.
  func output(frameCount: Int, blocks: [Int] = [256], signal: (Int) -> Float) -> [Float] {
    var output: [Float] = []
    output.reserveCapacity(frameCount)
    _ = process(frameCount: frameCount, blocks: blocks, each: { output.append($0) }, signal: signal)
    return output
  }

  /// Returns a sine as a function of the frame.
  func sine(_ hertz: Double, level: Float) -> (Int) -> Float {
    {
      level
        * Float(sin(2 * Double.pi * (hertz / rate * Double($0)).truncatingRemainder(dividingBy: 1)))
    }
  }
}
