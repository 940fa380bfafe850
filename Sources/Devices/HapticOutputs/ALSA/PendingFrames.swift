internal import SoundFile

/// A queue of frames in the device's encoding, with memory that is allocated once.
@safe struct PendingFrames: ~Copyable {
  private(set) var pendingFrameCount = 0
  private var firstPendingFrameIndex = 0
  private let frameBytes: UnsafeMutableRawBufferPointer
  private let silenceBytes: UnsafeMutableRawBufferPointer
  private let frameByteCount: Int
  private let frameCapacity: Int
  private let silenceFrameCapacity: Int

  init(frameCapacity: Int, silenceFrameCapacity: Int, channelCount: Int, encoding: SampleEncoding) {
    frameByteCount = channelCount * encoding.bytesPerSample
    self.frameCapacity = frameCapacity
    self.silenceFrameCapacity = silenceFrameCapacity
    unsafe frameBytes = .allocate(byteCount: frameCapacity * frameByteCount, alignment: 16)
    unsafe silenceBytes = .allocate(byteCount: silenceFrameCapacity * frameByteCount, alignment: 16)
    // Writing to the memory avoids page faults in the first period.
    unsafe frameBytes.initializeMemory(as: UInt8.self, repeating: 0)
    // Zero is silence in every encoding.
    unsafe silenceBytes.initializeMemory(as: UInt8.self, repeating: 0)
  }

  deinit {
    unsafe frameBytes.deallocate()
    unsafe silenceBytes.deallocate()
  }

  /// Appends frames, which must fit into the capacity.
  mutating func append(_ samples: Span<Float>, frameCount: Int, with encoder: inout SampleEncoder) {
    if pendingFrameCount == 0 {
      firstPendingFrameIndex = 0
    }
    precondition(
      firstPendingFrameIndex + pendingFrameCount + frameCount <= frameCapacity,
      "more frames than the buffer can hold")
    let byteOffset = (firstPendingFrameIndex + pendingFrameCount) * frameByteCount
    unsafe encoder.encode(
      samples, into: UnsafeMutableRawBufferPointer(rebasing: frameBytes[byteOffset...]))
    pendingFrameCount += frameCount
  }

  mutating func removeFirst(_ frameCount: Int) {
    let droppedFrameCount = min(frameCount, pendingFrameCount)
    firstPendingFrameIndex += droppedFrameCount
    pendingFrameCount -= droppedFrameCount
  }

  /// Writes the oldest frames, or silence, to a device. Returns the number of frames that the
  /// device accepted.
  mutating func write(silentCount: Int? = nil, to pcm: PCM, access: PCMAccess)
    throws(PCMFailure) -> Int
  {
    let frameCount = silentCount.map { min($0, silenceFrameCapacity) } ?? pendingFrameCount
    guard frameCount > 0 else { return 0 }
    let sourceBytes = unsafe silentCount == nil ? frameBytes : silenceBytes
    let startPointer =
      unsafe sourceBytes.baseAddress.unsafelyUnwrapped
      + (silentCount == nil ? firstPendingFrameIndex * frameByteCount : 0)
    var acceptedCount = 0
    switch access {
    case .readWrite:
      acceptedCount = try unsafe min(frameCount, pcm.write(startPointer, frameCount: frameCount))
    case .memoryMapped:
      guard let area = try unsafe pcm.mapBegin(frameCount: frameCount) else { return 0 }
      let count = unsafe min(frameCount, area.frameCount)
      unsafe area.start.copyMemory(from: startPointer, byteCount: count * frameByteCount)
      acceptedCount = try unsafe min(count, pcm.mapCommit(offset: area.offset, frameCount: count))
    }
    if silentCount == nil {
      removeFirst(acceptedCount)
    }
    return acceptedCount
  }
}
