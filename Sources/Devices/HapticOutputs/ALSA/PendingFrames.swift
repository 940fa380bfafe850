internal import SoundFile

/// A queue of frames in the device's encoding, with memory that is allocated once.
@safe struct PendingFrames: ~Copyable {
  private(set) var count = 0
  private var firstIndex = 0
  private let bytes: UnsafeMutableRawBufferPointer
  private let silence: UnsafeMutableRawBufferPointer
  private let frameSize: Int
  private let capacity: Int
  private let silenceCapacity: Int

  init(capacity: Int, silenceCapacity: Int, channelCount: Int, encoding: SampleEncoding) {
    frameSize = channelCount * encoding.byteCount
    self.capacity = capacity
    self.silenceCapacity = silenceCapacity
    unsafe bytes = .allocate(byteCount: capacity * frameSize, alignment: 16)
    unsafe silence = .allocate(byteCount: silenceCapacity * frameSize, alignment: 16)
    // Writing to the memory avoids page faults in the first period.
    unsafe bytes.initializeMemory(as: UInt8.self, repeating: 0)
    // Zero is silence in every encoding.
    unsafe silence.initializeMemory(as: UInt8.self, repeating: 0)
  }

  deinit {
    unsafe bytes.deallocate()
    unsafe silence.deallocate()
  }

  /// Appends frames, which must fit into the capacity.
  mutating func append(_ samples: Span<Float>, frameCount: Int, with encoder: inout SampleEncoder) {
    if count == 0 {
      firstIndex = 0
    }
    precondition(
      firstIndex + count + frameCount <= capacity, "more frames than the buffer can hold")
    let offset = (firstIndex + count) * frameSize
    unsafe encoder.encode(samples, into: UnsafeMutableRawBufferPointer(rebasing: bytes[offset...]))
    count += frameCount
  }

  mutating func removeFirst(_ frameCount: Int) {
    let dropped = min(frameCount, count)
    firstIndex += dropped
    count -= dropped
  }

  /// Writes the oldest frames, or silence, to a device. Returns the number of frames that it
  /// accepted.
  mutating func write(silentCount: Int? = nil, to pcm: PCM, access: PCMAccess)
    throws(PCMFailure) -> Int
  {
    let frameCount = silentCount.map { min($0, silenceCapacity) } ?? count
    guard frameCount > 0 else { return 0 }
    let source = unsafe silentCount == nil ? bytes : silence
    let start =
      unsafe source.baseAddress.unsafelyUnwrapped
      + (silentCount == nil ? firstIndex * frameSize : 0)
    var acceptedCount = 0
    switch access {
    case .readWrite:
      acceptedCount = try unsafe min(frameCount, pcm.write(start, frameCount: frameCount))
    case .memoryMapped:
      guard let area = try unsafe pcm.mapBegin(frameCount: frameCount) else { return 0 }
      let count = unsafe min(frameCount, area.frameCount)
      unsafe area.start.copyMemory(from: start, byteCount: count * frameSize)
      acceptedCount = try unsafe min(count, pcm.mapCommit(offset: area.offset, frameCount: count))
    }
    if silentCount == nil {
      removeFirst(acceptedCount)
    }
    return acceptedCount
  }
}
