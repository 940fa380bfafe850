internal import RealtimeMemory

/// One channel of the output: a strip's signal, delayed, turned over, interleaved.
struct OutputChannel: ~Copyable {
  /// The strip it carries.
  let strip: Int
  private let sign: Float
  private let delayed: FixedBuffer<Float>
  private var place = 0
  private var peak: Float = 0

  /// A channel at rest.
  init(_ channel: OutputRouting.Channel, strip: Int) {
    self.strip = strip
    sign = channel.isInverted ? -1 : 1
    delayed = FixedBuffer(repeating: 0, count: channel.delay)
  }

  /// The greatest magnitude written since this was last asked.
  @_noLocks
  mutating func takePeak() -> Float {
    let taken = peak
    peak = 0
    return taken
  }

  /// Forgets what is delayed.
  @_noLocks
  mutating func rest() {
    var index = 0
    while index < delayed.count {
      delayed[index] = 0
      index &+= 1
    }
  }

  /// Writes a strip's frames to every so-manieth sample of a block.
  @_noLocks
  mutating func write(
    _ output: BufferView<Float>, gains: BufferView<Float>?,
    count: Int, to block: inout MutableSpan<Float>, at start: Int, stride: Int
  ) {
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
