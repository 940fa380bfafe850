extension Sequence<Float> {
  /// Returns the indices of the samples at which sound starts after silence.
  ///
  /// - Parameters:
  ///   - threshold: The magnitude above which a sample is sound.
  ///   - silentFrameCount: The minimum number of silent samples before an onset. The first sound is
  ///     always an onset.
  public func onsetFrames(above threshold: Float, afterSilence silentFrameCount: Int) -> [Int] {
    var onsets: [Int] = []
    var precedingSilence = silentFrameCount
    for (frame, sample) in enumerated() {
      guard abs(sample) > threshold else {
        precedingSilence += 1
        continue
      }
      if precedingSilence >= silentFrameCount {
        onsets.append(frame)
      }
      precedingSilence = 0
    }
    return onsets
  }
}
