/// A ring buffer of frames, indexed by frame number, in memory that is allocated once.
///
/// One thread writes and another reads at the same time. The threads agree on the frames that are
/// valid, for example by an atomic number of written frames.
@safe final class FrameRing: @unchecked Sendable {
  let channelCount: Int
  /// The number of frames in the ring, a power of two.
  let frameCapacity: Int
  private let samples: UnsafeMutablePointer<Float>

  init(minimumCapacity: Int, channelCount: Int) {
    self.channelCount = channelCount
    var ringCapacity = 1
    while ringCapacity < minimumCapacity {
      ringCapacity *= 2
    }
    self.frameCapacity = ringCapacity
    unsafe samples = .allocate(capacity: ringCapacity * channelCount)
    // Writing to the memory avoids page faults on the real-time thread.
    unsafe samples.initialize(repeating: 0, count: ringCapacity * channelCount)
  }

  deinit { unsafe samples.deallocate() }

  /// Stores interleaved frames in the ring, beginning at the given frame number.
  func write(_ source: Span<Float>, at first: Int) {
    unsafe source.withUnsafeBufferPointer { source in
      guard let start = source.baseAddress else { return }
      var done = 0
      while done < source.count {
        let part = contiguousSampleRange(
          at: first + done / channelCount, sampleCount: source.count - done)
        unsafe (samples + part.offset).update(from: start + done, count: part.count)
        done += part.count
      }
    }
  }

  /// Copies frames from the ring until the destination is full, beginning at the given frame
  /// number.
  func read(into destination: inout MutableSpan<Float>, at first: Int) {
    unsafe destination.withUnsafeMutableBufferPointer { destination in
      guard let start = destination.baseAddress else { return }
      var done = 0
      while done < destination.count {
        let part = contiguousSampleRange(
          at: first + done / channelCount, sampleCount: destination.count - done)
        unsafe (start + done).update(from: samples + part.offset, count: part.count)
        done += part.count
      }
    }
  }

  /// Returns the offset and count of the samples that are contiguous in memory from the given frame
  /// on.
  private func contiguousSampleRange(at frame: Int, sampleCount: Int) -> (offset: Int, count: Int) {
    let ringSlot = frame & (frameCapacity - 1)
    return (ringSlot * channelCount, min(sampleCount, (frameCapacity - ringSlot) * channelCount))
  }
}
