/// One channel of the output: a strip's signal, delayed, turned over, interleaved.
@safe
struct OutputChannel: ~Copyable {
  /// The strip it carries.
  let strip: Int
  private let sign: Float
  private let delayed: UnsafeMutableBufferPointer<Float>
  private var place = 0
  private var peak: Float = 0

  /// A channel at rest.
  init(_ channel: OutputRouting.Channel, strip: Int) {
    self.strip = strip
    sign = channel.isInverted ? -1 : 1
    unsafe delayed = .allocate(capacity: channel.delay)
    unsafe delayed.initialize(repeating: 0)
  }

  deinit { unsafe delayed.deallocate() }

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
    while unsafe index < delayed.count {
      unsafe delayed[index] = 0
      index &+= 1
    }
  }

  /// Writes a strip's frames to every so-manieth sample of a block.
  @_noLocks
  mutating func write(
    _ output: UnsafeMutableBufferPointer<Float>, gains: UnsafeMutableBufferPointer<Float>?,
    count: Int, to block: inout MutableSpan<Float>, at start: Int, stride: Int
  ) {
    var target = start
    var highest: Float = 0
    var index = 0
    while index < count {
      var sample = unsafe output[index] * sign
      if unsafe delayed.count > 0 {
        let arriving = sample
        sample = unsafe delayed[place]
        unsafe delayed[place] = arriving
        place = unsafe place &+ 1 == delayed.count ? 0 : place &+ 1
      }
      if let gains = unsafe gains { sample *= unsafe gains[index] }
      block[target] = sample
      let magnitude = sample < 0 ? -sample : sample
      if magnitude > highest { highest = magnitude }
      target &+= stride
      index &+= 1
    }
    if highest > peak { peak = highest }
  }
}
