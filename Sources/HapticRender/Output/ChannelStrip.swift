internal import CSampleKernels
internal import RealtimeMemory

/// One distinct mix of the buses with the output chain behind it; channels with equal mixes share it.
struct ChannelStrip: ~Copyable {
  /// The haptic bus, or −1.
  let hapticBus: Int
  let hapticGain: Float
  let audio: OutputRouting.Channel.Audio
  let audioGain: Float
  /// What leaves the chain.
  private let memory: FixedBuffer<Float>
  /// What leaves the chain.
  var output: BufferView<Float> { @_noLocks get { unsafe memory.view } }
  private var chain: OutputChain

  /// A strip at rest.
  init(_ channel: OutputRouting.Channel, rate: Double, temperatureRise: TransducerThermalState, capacity: Int) {
    hapticBus = channel.hapticBus ?? -1
    hapticGain = channel.hapticGain
    audio = channel.audio
    audioGain = channel.audioGain
    memory = FixedBuffer(repeating: 0, count: capacity)
    chain = OutputChain(
      rate: rate, transducer: channel.transducer?.transducerSettings(rate: rate), temperatureRise: temperatureRise)
  }

  /// Frames of delay.
  var latency: Int { chain.delay }

  /// How warm the transducer is.
  var temperatureRise: TransducerThermalState { @_noLocks get { chain.temperatureRise } }

  /// Mixes the buses and sends them through the chain.
  @_noLocks mutating func process(
    _ buses: borrowing BusSet, hapticGains: BusGain, audioGains: BusGain, count: Int, statistics: inout RenderStatistics
  ) {
    var mix = output.mutableSpan
    let peak = mixHaptics(buses, gain: hapticGains, count: count, to: &mix)
    let isMixed = mixAudio(buses, gain: audioGains, count: count, to: &mix)
    chain.process(
      &mix, count: count,
      peak: isMixed || peak == nil ? unsafe temblor_peak(output.address, count) : peak ?? 0,
      statistics: &statistics)
  }

  /// Forgets what is buffered.
  @_noLocks mutating func reset() { chain.reset() }

  /// Lays the haptic bus down; returns the greatest magnitude, negative where a sample is not finite, if it is
  /// known.
  @_noLocks private func mixHaptics(
    _ buses: borrowing BusSet, gain: BusGain, count: Int, to mix: inout MutableSpan<Float>
  ) -> Float? {
    precondition(count <= output.count, "frames beyond the block")
    guard hapticBus >= 0 else {
      unsafe output.address.update(repeating: 0, count: count)
      return 0
    }
    let bus = buses.haptics(hapticBus)
    if let steady = gain.steady {
      return unsafe temblor_scale(bus.address, steady * hapticGain, output.address, count)
    }
    let gain = gain.frames
    var index = 0
    while index < count {
      mix[index] = bus[index] * (gain[index] * hapticGain)
      index &+= 1
    }
    return nil
  }

  /// Adds the audio buses, if they are wanted; returns whether they are.
  @_noLocks private func mixAudio(
    _ buses: borrowing BusSet, gain: BusGain, count: Int, to mix: inout MutableSpan<Float>
  ) -> Bool {
    if case .none = audio { return false }
    var index = 0
    let left = buses.left
    let right = buses.right
    let gain = gain.frames
    switch audio {
    case .none: return false
    case .left:
      while index < count {
        mix[index] += left[index] * (gain[index] * audioGain)
        index &+= 1
      }
    case .right:
      while index < count {
        mix[index] += right[index] * (gain[index] * audioGain)
        index &+= 1
      }
    case .both:
      while index < count {
        let factor = gain[index] * audioGain
        mix[index] += (left[index] * factor + right[index] * factor) * 0.5
        index &+= 1
      }
    }
    return true
  }
}

/// One channel of the output: a strip's signal, delayed, inverted where asked, interleaved.
struct OutputChannel: ~Copyable {
  /// The strip it carries.
  let strip: Int
  private let sign: Float
  private let delayed: FixedBuffer<Float>
  private var place = 0
  private var peak: Float = 0

  /// A channel at rest.
  ///
  /// - Parameter padding: Frames by which its strip is ahead of the one that lags most.
  init(_ channel: OutputRouting.Channel, strip: Int, padding: Int) {
    self.strip = strip
    sign = channel.isInverted ? -1 : 1
    delayed = FixedBuffer(repeating: 0, count: channel.delay + padding)
  }

  /// The greatest magnitude written since this was last asked.
  @_noLocks mutating func takePeak() -> Float {
    let taken = peak
    peak = 0
    return taken
  }

  /// Forgets what is delayed.
  @_noLocks mutating func reset() {
    var index = 0
    while index < delayed.count {
      delayed[index] = 0
      index &+= 1
    }
  }

  /// Writes a strip's frames to every `stride`-th sample of a block.
  @_noLocks mutating func write(
    _ output: BufferView<Float>, gains: BufferView<Float>?, count: Int, to block: inout MutableSpan<Float>,
    at start: Int, stride: Int
  ) {
    if stride == 1, delayed.count == 0, gains == nil {
      precondition(start &+ count <= block.count, "frames beyond the block")
      guard let first = unsafe block.address() else { return }
      let highest = unsafe temblor_scale(output.address, sign, first + start, count)
      if highest > peak { peak = highest }
      return
    }
    var target = start
    var highest: Float = 0
    var index = 0
    while index < count {
      var sample = output[index] * sign
      if delayed.count > 0 {
        let arriving = sample
        sample = delayed[place]
        delayed[place] = arriving
        place = place &+ 1 == delayed.count ? 0 : place &+ 1
      }
      if let gains = gains { sample *= gains[index] }
      block[target] = sample
      let magnitude = sample < 0 ? -sample : sample
      if magnitude > highest { highest = magnitude }
      target &+= stride
      index &+= 1
    }
    if highest > peak { peak = highest }
  }
}

/// The gain of a bus over a sub-block.
struct BusGain: BitwiseCopyable {
  /// The gain of each frame.
  let frames: BufferView<Float>
  /// The gain of all frames, where it does not move.
  let steady: Float?

  @_noLocks init(frames: BufferView<Float>, steady: Float?) {
    self.frames = frames
    self.steady = steady
  }
}
