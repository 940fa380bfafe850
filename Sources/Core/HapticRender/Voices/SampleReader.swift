internal import RealtimeMemory

/// A reader of a sound at a variable speed.
///
/// It has a fixed-point position and a low-pass for brightness.
struct SampleReader: BitwiseCopyable, Sendable {
  /// One frame in fixed point: 2³².
  static var fixedPointUnitsPerFrame: UInt64 { @_noLocks get { 4_294_967_296 } }

  /// The playback parameters of a sound file.
  struct Playback: BitwiseCopyable {
    let isLooping: Bool
    /// The length of the fade-out at the end of the sound, in frames.
    let fadeOutFrameCount: Int
    /// The level of the sound on the left audio bus.
    let leftLevel: LinearRamp
    /// The level of the sound on the right audio bus.
    let rightLevel: LinearRamp
    /// The coefficient of the low-pass per frame; 1 means no filter.
    let smoothingCoefficient: Float

    @_noLocks init(
      isLooping: Bool, fadeOutFrameCount fadeLength: Int, left: LinearRamp, right: LinearRamp,
      smoothing: Float
    ) {
      self.isLooping = isLooping
      self.fadeOutFrameCount = fadeLength
      self.leftLevel = left
      self.rightLevel = right
      self.smoothingCoefficient = smoothing
    }
  }

  /// The position of the next output frame in the sound, in fixed point.
  var fixedPointPosition: UInt64 = 0
  /// The number of sound frames per output frame, in fixed point.
  var fixedPointIncrement: UInt64 = 4_294_967_296
  private var leftFilterState: Float = 0
  private var rightFilterState: Float = 0

  @_noLocks init() {}

  /// Advances the reading position by a number of output frames without output.
  @_noLocks mutating func advance(by frameCount: Int) {
    fixedPointPosition = fixedPointPosition &+ fixedPointIncrement &* UInt64(frameCount)
  }

  /// Adds the sound to a range of frames of the audio buses, with linear interpolation.
  ///
  /// - Parameters:
  ///   - sound: The sound.
  ///   - playback: The playback parameters.
  ///   - first: The frame of the levels at the start of the range.
  ///   - leftBus: The left bus.
  ///   - rightBus: The right bus.
  ///   - range: The frames of the buses.
  @_noLocks mutating func add(
    _ sound: AudioBufferView, _ playback: Playback, first: Int,
    to leftBus: inout MutableSpan<Float>, _ rightBus: inout MutableSpan<Float>,
    at range: Range<Int>
  ) {
    let soundSamples = sound.interleavedSamples
    let soundFrameCount = sound.frameCount
    let channelCount = sound.channelCount
    let leftRamp = playback.leftLevel
    let rightRamp = playback.rightLevel
    let smoothingCoefficient = playback.smoothingCoefficient
    let isFiltered = smoothingCoefficient < 1
    let fadeOutFrames = playback.fadeOutFrameCount
    let soundEndPosition = UInt64(soundFrameCount) &<< 32
    let fadeStartPosition = UInt64(soundFrameCount &- fadeOutFrames) &<< 32
    let fadePerPositionUnit = fadeOutFrames > 0 ? 1 / (4_294_967_296 * Float(fadeOutFrames)) : 0
    var outputFrame = range.lowerBound
    var levelRampFrame = Float(first)
    while outputFrame < range.upperBound {
      if fixedPointPosition >= soundEndPosition {
        guard playback.isLooping else { return }
        fixedPointPosition = fixedPointPosition % soundEndPosition
      }
      let index = Int(fixedPointPosition &>> 32)
      let fraction = Float(UInt32(truncatingIfNeeded: fixedPointPosition)) * (1 / 4_294_967_296)
      let lastNext = playback.isLooping ? 0 : index
      let next = index &+ 1 < soundFrameCount ? index &+ 1 : lastNext
      let current = soundSamples[index &* channelCount]
      let sampleLeft = current + (soundSamples[next &* channelCount] - current) * fraction
      var sampleRight = sampleLeft
      if channelCount == 2 {
        let currentRight = soundSamples[index &* 2 &+ 1]
        sampleRight = currentRight + (soundSamples[next &* 2 &+ 1] - currentRight) * fraction
      }
      leftFilterState += smoothingCoefficient * (sampleLeft - leftFilterState)
      rightFilterState += smoothingCoefficient * (sampleRight - rightFilterState)
      let fade =
        fadeOutFrames > 0 && fixedPointPosition > fadeStartPosition
        ? Float(soundEndPosition &- fixedPointPosition) * fadePerPositionUnit : 1
      let leftLevel = leftRamp.startAmplitude + leftRamp.slopePerFrame * levelRampFrame
      let rightLevel = rightRamp.startAmplitude + rightRamp.slopePerFrame * levelRampFrame
      leftBus[outputFrame] += (isFiltered ? leftFilterState : sampleLeft) * leftLevel * fade
      rightBus[outputFrame] += (isFiltered ? rightFilterState : sampleRight) * rightLevel * fade
      fixedPointPosition = fixedPointPosition &+ fixedPointIncrement
      outputFrame &+= 1
      levelRampFrame += 1
    }
  }

  /// Adds a mono sound to a range of frames of a bus at normal speed, without interpolation.
  ///
  /// - Parameters:
  ///   - sound: The sound.
  ///   - level: The level.
  ///   - first: The frame of the level's ramp at the start of the range.
  ///   - bus: The bus.
  ///   - range: The frames of the bus.
  @_noLocks mutating func add(
    _ sound: AudioBufferView, level: LinearRamp, first: Int, to bus: inout MutableSpan<Float>,
    at range: Range<Int>
  ) {
    var soundFrame = Int(fixedPointPosition &>> 32)
    var outputFrame = range.lowerBound
    var levelRampFrame = Float(first)
    while outputFrame < range.upperBound, soundFrame < sound.frameCount {
      bus[outputFrame] +=
        sound.interleavedSamples[soundFrame]
        * (level.startAmplitude + level.slopePerFrame * levelRampFrame)
      soundFrame &+= 1
      outputFrame &+= 1
      levelRampFrame += 1
    }
    advance(by: range.count)
  }
}
