/// One distinct mix of the buses with the output chain behind it; channels with equal mixes share it.
@safe
struct ChannelStrip: ~Copyable {
  /// The haptic bus, or −1.
  let hapticBus: Int
  let hapticGain: Float
  let audio: OutputRouting.Channel.Audio
  let audioGain: Float
  /// What leaves the chain.
  let output: UnsafeMutableBufferPointer<Float>
  private var chain: OutputChain

  /// A strip at rest.
  init(
    _ channel: OutputRouting.Channel, rate: Double, warmth: TransducerWarmth, capacity: Int
  ) {
    hapticBus = channel.hapticBus ?? -1
    hapticGain = channel.hapticGain
    audio = channel.audio
    audioGain = channel.audioGain
    unsafe output = .allocate(capacity: capacity)
    unsafe output.initialize(repeating: 0)
    chain = OutputChain(
      rate: rate, transducer: channel.transducer?.transducerSettings(rate: rate), warmth: warmth,
      capacity: capacity)
  }

  deinit { unsafe output.deallocate() }

  /// Frames of delay.
  var latency: Int { chain.limiter.delay }

  /// How warm the transducer is.
  var warmth: TransducerWarmth {
    @_noLocks get { chain.warmth }
  }

  /// Mixes the buses and sends them through the chain.
  @_noLocks
  mutating func process(
    _ buses: borrowing BusSet, hapticGains: UnsafeMutableBufferPointer<Float>,
    audioGains: UnsafeMutableBufferPointer<Float>, count: Int, statistics: inout RenderStatistics
  ) {
    var mix = unsafe output.mutableSpan
    unsafe mixHaptics(buses, gain: hapticGains, count: count, to: &mix)
    unsafe mixAudio(buses, gain: audioGains, count: count, to: &mix)
    chain.process(&mix, count: count, statistics: &statistics)
  }

  /// Forgets what is on its way.
  @_noLocks
  mutating func rest() { chain.rest() }

  @_noLocks
  private func mixHaptics(
    _ buses: borrowing BusSet, gain: UnsafeMutableBufferPointer<Float>, count: Int,
    to mix: inout MutableSpan<Float>
  ) {
    var index = 0
    guard hapticBus >= 0 else {
      while index < count {
        mix[index] = 0
        index &+= 1
      }
      return
    }
    let bus = unsafe buses.haptics(hapticBus)
    while index < count {
      unsafe mix[index] = bus[index] * (gain[index] * hapticGain)
      index &+= 1
    }
  }

  @_noLocks
  private func mixAudio(
    _ buses: borrowing BusSet, gain: UnsafeMutableBufferPointer<Float>, count: Int,
    to mix: inout MutableSpan<Float>
  ) {
    var index = 0
    let left = unsafe buses.left
    let right = unsafe buses.right
    switch audio {
    case .none: return
    case .left:
      while index < count {
        unsafe mix[index] += left[index] * (gain[index] * audioGain)
        index &+= 1
      }
    case .right:
      while index < count {
        unsafe mix[index] += right[index] * (gain[index] * audioGain)
        index &+= 1
      }
    case .both:
      while index < count {
        let factor = unsafe gain[index] * audioGain
        unsafe mix[index] += (left[index] * factor + right[index] * factor) * 0.5
        index &+= 1
      }
    }
  }
}
