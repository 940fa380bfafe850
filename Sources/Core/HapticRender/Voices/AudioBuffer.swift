internal import RealtimeMemory

/// A decoded mono or stereo sound at the sample rate of the renderer.
public final class AudioBuffer: @unchecked Sendable {
  /// The number of frames in the sound.
  public let frameCount: Int
  /// The number of channels in the sound, 1 or 2.
  public let channelCount: Int
  let interleavedSamples: FixedBuffer<Float>

  /// Creates a sound from interleaved samples.
  ///
  /// - Parameters:
  ///   - interleaved: The samples, −1…1; samples that aren't finite become silence.
  ///   - channelCount: The number of channels, of which the first two are kept.
  public init(interleaved: [Float], channelCount: Int) {
    precondition(channelCount > 0, "a sound has at least one channel")
    let keptChannelCount = min(channelCount, 2)
    self.channelCount = keptChannelCount
    frameCount = interleaved.count / channelCount
    interleavedSamples = FixedBuffer(repeating: 0, count: frameCount * keptChannelCount)
    for frame in 0..<frameCount {
      for channel in 0..<keptChannelCount {
        let sample = interleaved[frame * channelCount + channel]
        interleavedSamples[frame * keptChannelCount + channel] = sample.isFinite ? sample : 0
      }
    }
  }
}
