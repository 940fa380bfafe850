internal import RealtimeMemory

/// A decoded sound at the render rate, mono or stereo, for the events that play a sound file.
public final class AudioBuffer: @unchecked Sendable {
  /// Frames in the sound.
  public let frameCount: Int
  /// 1 or 2.
  public let channelCount: Int
  let frames: FixedBuffer<Float>

  /// Copies interleaved frames.
  ///
  /// - Parameters:
  ///   - interleaved: Samples in −1…1; what is not finite becomes silence.
  ///   - channelCount: Channels in each frame, of which the first two are kept.
  public init(interleaved: [Float], channelCount: Int) {
    precondition(channelCount > 0, "a sound has at least one channel")
    let kept = min(channelCount, 2)
    self.channelCount = kept
    frameCount = interleaved.count / channelCount
    frames = FixedBuffer(repeating: 0, count: frameCount * kept)
    for frame in 0..<frameCount {
      for channel in 0..<kept {
        let sample = interleaved[frame * channelCount + channel]
        frames[frame * kept + channel] = sample.isFinite ? sample : 0
      }
    }
  }
}
