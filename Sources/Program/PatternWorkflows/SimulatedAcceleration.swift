internal import HapticRender

/// A processing stage that replaces the drive signals of transducers by their simulated
/// acceleration.
struct SimulatedAcceleration {
  /// The simulation of each channel, or nil for a channel without a transducer of known resonance.
  private var simulationsByChannel: [TransducerSimulation?]

  init(_ routing: OutputRouting, rate: Double) {
    simulationsByChannel = routing.channels.map { channel in
      channel.transducer?.hardware.flatMap { hardware in
        hardware.model.map {
          TransducerSimulation($0, modes: hardware.additionalResonances, rate: rate)
        }
      }
    }
  }

  /// Replaces the drive signals by the simulated acceleration in the first frames of a block.
  mutating func replaceDrive(in block: inout [Float], frameCount: Int) {
    let channelCount = simulationsByChannel.count
    for channel in 0..<channelCount {
      guard var transducer = simulationsByChannel[channel] else { continue }
      for index in stride(from: channel, to: frameCount * channelCount, by: channelCount) {
        block[index] = transducer.nextAcceleration(drive: block[index])
      }
      simulationsByChannel[channel] = transducer
    }
  }
}
