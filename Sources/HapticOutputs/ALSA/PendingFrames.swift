internal import SoundFile

/// Frames in the form a device takes, on their way into its buffer: memory taken once.
///
/// What the device did not take at once stays here until it does.
@safe struct PendingFrames: ~Copyable {
  /// Frames that wait.
  private(set) var count = 0
  private var first = 0
  private let bytes: UnsafeMutableRawBufferPointer
  private let silence: UnsafeMutableRawBufferPointer
  private let frameSize: Int
  private let capacity: Int
  private let silenceCapacity: Int

  /// Space for frames of any encoding.
  init(capacity: Int, silenceCapacity: Int, channelCount: Int, encoding: SampleEncoding) {
    frameSize = channelCount * encoding.byteCount
    self.capacity = capacity
    self.silenceCapacity = silenceCapacity
    unsafe bytes = .allocate(byteCount: capacity * frameSize, alignment: 16)
    unsafe silence = .allocate(byteCount: silenceCapacity * frameSize, alignment: 16)
    // Touched, so that the first period meets no page fault.
    unsafe bytes.initializeMemory(as: UInt8.self, repeating: 0)
    // Zero is silence in every encoding.
    unsafe silence.initializeMemory(as: UInt8.self, repeating: 0)
  }

  deinit {
    unsafe bytes.deallocate()
    unsafe silence.deallocate()
  }

  /// Lays frames down behind those that wait; none are beyond the capacity.
  mutating func stage(_ samples: Span<Float>, frameCount: Int, with encoder: inout SampleEncoder) {
    if count == 0 { first = 0 }
    precondition(first + count + frameCount <= capacity, "more frames than the buffer holds")
    let place = (first + count) * frameSize
    unsafe encoder.encode(samples, into: UnsafeMutableRawBufferPointer(rebasing: bytes[place...]))
    count += frameCount
  }

  /// Gives up the oldest frames.
  mutating func drop(_ frameCount: Int) {
    let dropped = min(frameCount, count)
    first += dropped
    count -= dropped
  }

  /// Hands the oldest frames to a device: the number it took.
  mutating func push(to pcm: PCMBindings, access: PCMAccess) throws(PCMFailure) -> Int {
    guard count > 0 else { return 0 }
    let taken = try unsafe Self.push(
      bytes.baseAddress.unsafelyUnwrapped + first * frameSize, frameCount: count, frameSize: frameSize, to: pcm,
      access: access)
    drop(taken)
    return taken
  }

  /// Hands silence to a device: the number of frames it took.
  func pushSilence(_ frameCount: Int, to pcm: PCMBindings, access: PCMAccess) throws(PCMFailure) -> Int {
    guard frameCount > 0 else { return 0 }
    return try unsafe Self.push(
      silence.baseAddress.unsafelyUnwrapped, frameCount: min(frameCount, silenceCapacity), frameSize: frameSize,
      to: pcm, access: access)
  }

  private static func push(
    _ bytes: UnsafeRawPointer, frameCount: Int, frameSize: Int, to pcm: PCMBindings, access: PCMAccess
  ) throws(PCMFailure) -> Int {
    switch access {
    case .readWrite: return try unsafe min(frameCount, pcm.write(bytes, frameCount: frameCount))
    case .memoryMapped:
      guard let area = try unsafe pcm.mapBegin(frameCount: frameCount) else { return 0 }
      let count = unsafe min(frameCount, area.frameCount)
      unsafe area.start.copyMemory(from: bytes, byteCount: count * frameSize)
      return try unsafe min(count, pcm.mapCommit(offset: area.offset, frameCount: count))
    }
  }
}
