internal import RealtimeMemory

/// Memory in which one player is rendered apart: to be faded, or to be heard at another gain.
struct FadeOutBuffer: ~Copyable {
  /// Seconds of a fade between silence and sound at a start in the middle, a stop, a pause, a mute.
  static let duration = 0.002

  /// Frames of a fade.
  let fadeLength: Int
  let haptics: BufferView<Float>
  let left: BufferView<Float>
  let right: BufferView<Float>
  /// The gain of each frame.
  let gain: BufferView<Float>
  private let memory: FixedBuffer<Float>

  /// Memory for turns and fades.
  init(rate: Double, subBlockLength: Int) {
    fadeLength = max(2, Int((Self.duration * rate).rounded()))
    let capacity = max(subBlockLength, fadeLength)
    memory = FixedBuffer(repeating: 0, count: capacity * 4)
    let all = unsafe memory.view
    haptics = all.part(from: 0, count: capacity)
    left = all.part(from: capacity, count: capacity)
    right = all.part(from: capacity * 2, count: capacity)
    gain = all.part(from: capacity * 3, count: capacity)
  }

  /// Silences the first frames.
  @_noLocks
  func clear(count: Int) {
    var index = 0
    while index < count {
      haptics[index] = 0
      left[index] = 0
      right[index] = 0
      index &+= 1
    }
  }

  /// Multiplies a fade's frames by a curve without corners, times a gain; haptics by a share too.
  @_noLocks
  func fade(isIn: Bool, gain: Float, share: Float) {
    let perFrame = 1 / Float(fadeLength)
    var index = 0
    while index < fadeLength {
      let x = Float(isIn ? index : fadeLength &- index) * perFrame
      let factor = x * x * (3 - 2 * x) * gain
      haptics[index] = haptics[index] * (factor * share)
      left[index] = left[index] * factor
      right[index] = right[index] * factor
      index &+= 1
    }
  }
}
