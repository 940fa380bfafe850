internal import HapticRender

/// What the transducers of channels would do with what drives them.
struct SimulatedAcceleration {
  /// One for each channel that drives a transducer whose resonance is known.
  private var transducers: [TransducerSimulation?]

  /// Transducers at rest.
  init(_ routing: OutputRouting, rate: Double) {
    transducers = routing.channels.map { channel in
      guard let hardware = channel.transducer?.hardware, let model = hardware.model else { return nil }
      return TransducerSimulation(model, modes: hardware.modes, rate: rate)
    }
  }

  /// Puts the acceleration in the place of the drive, in the first frames of a block.
  mutating func replace(_ block: inout [Float], frameCount: Int) {
    let count = transducers.count
    for channel in 0..<count {
      guard var transducer = transducers[channel] else { continue }
      for index in stride(from: channel, to: frameCount * count, by: count) {
        block[index] = transducer.acceleration(drive: block[index])
      }
      transducers[channel] = transducer
    }
  }
}
