/// Memory in which one player is rendered apart: to be faded, or to be heard at another gain.
@safe
struct FadeScratch: ~Copyable {
  /// Seconds of a fade between silence and sound at a start in the middle, a stop, a pause, a mute.
  static let duration = 0.002

  /// Frames of a fade.
  let fadeLength: Int
  let haptics: UnsafeMutableBufferPointer<Float>
  let left: UnsafeMutableBufferPointer<Float>
  let right: UnsafeMutableBufferPointer<Float>
  /// The gain of each frame.
  let gain: UnsafeMutableBufferPointer<Float>
  private let memory: UnsafeMutableBufferPointer<Float>

  /// Memory for turns and fades.
  init(rate: Double, turnLength: Int) {
    fadeLength = max(2, Int((Self.duration * rate).rounded()))
    let capacity = max(turnLength, fadeLength)
    unsafe memory = .allocate(capacity: capacity * 4)
    unsafe memory.initialize(repeating: 0)
    unsafe haptics = .init(rebasing: memory[0..<capacity])
    unsafe left = .init(rebasing: memory[capacity..<capacity * 2])
    unsafe right = .init(rebasing: memory[capacity * 2..<capacity * 3])
    unsafe gain = .init(rebasing: memory[capacity * 3..<capacity * 4])
  }

  deinit { unsafe memory.deallocate() }

  /// Silences the first frames.
  @_noLocks
  func clear(count: Int) {
    var index = 0
    while index < count {
      unsafe haptics[index] = 0
      unsafe left[index] = 0
      unsafe right[index] = 0
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
      unsafe haptics[index] = haptics[index] * (factor * share)
      unsafe left[index] = left[index] * factor
      unsafe right[index] = right[index] * factor
      index &+= 1
    }
  }
}
