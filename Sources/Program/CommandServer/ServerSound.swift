internal import HapticModel
internal import HapticPlayback
internal import HapticRender
internal import TransducerProfiles

/// A sound that a client has started.
final class ServerSound {
  /// The name by which commands refer to the sound; nil for a tap.
  let name: String?
  let player: PatternPlayer
  /// The earliest engine frame at which the sound starts.
  let startFrame: Int64
  /// The client that started the sound; nil for a sound of a restored state.
  let clientID: Int?
  /// The priority; sounds of lower priorities are ducked.
  let priority: Int
  var isNoise = false
  /// The name of the pattern in the client's command; nil for a sound that plays no pattern file.
  var patternName: String?
  var playbackRate = 1.0
  var isLooping = false
  /// The end of the loop in seconds; nil for the end of the pattern.
  var loopEndSeconds: Double?
  /// The array position in the text of the client's command; nil before the first `pan`.
  var panPositionText: String?
  var gain = 1.0
  /// The ducking gain, below 1 while a sound with a higher priority plays.
  var duckingGain = 1.0
  var gainIncludingDucking: Double { gain * duckingGain }
  var isPaused = false
  var isMuted = false
  /// The frame at which the sound was requested to stop; nil without such a request. An end from
  /// this frame on is reported as requested.
  var stopFrame: Int64?
  /// The frame at which a new sound with the same name replaces this sound; nil without a
  /// replacement.
  var replacementFrame: Int64?
  /// The latest frame for which a command has been scheduled on the player.
  var lastCommandFrame: Int64
  /// The most recent movement in the transducer array; nil before the first `pan`.
  var panSegment: PanSegment?
  private var controlRamps: [DynamicParameterID: ControlRamp] = [:]

  private struct ControlRamp {
    var startFrame: Int64
    var endFrame: Int64
    var startValue: Double
    var endValue: Double

    func value(at frame: Int64) -> Double {
      if frame >= endFrame { return endValue }
      if frame <= startFrame { return startValue }
      return startValue + (endValue - startValue) * Double(frame - startFrame)
        / Double(endFrame - startFrame)
    }
  }

  init(
    name: String?, player: PatternPlayer, startFrame: Int64, clientID: Int? = 0,
    priority: Int = 0
  ) {
    self.name = name
    self.clientID = clientID
    self.priority = priority
    self.player = player
    self.startFrame = startFrame
    lastCommandFrame = startFrame
  }

  /// The most recently requested values of dynamic parameters.
  var controlValues: [(id: DynamicParameterID, value: Double)] {
    controlRamps.map { (id: $0.key, value: $0.value.endValue) }
  }

  func recordScheduledFrame(_ frame: Int64) { lastCommandFrame = max(lastCommandFrame, frame) }
  var hasStarted: Bool { player.startFrame != nil }
  var hasEnded: Bool { player.endCount > 0 }

  /// The time at which immediate changes take effect: now, or the start time if the sound has not
  /// started yet.
  var earliestChangeTime: PlaybackTime { hasStarted ? .now : .frame(startFrame) }

  /// Ramps a dynamic parameter linearly from the most recently sent value.
  func setControl(
    _ id: DynamicParameterID, to value: Double, over ramp: Double, at moment: ScheduledTime,
    rate: Double
  )
    throws(PlaybackError)
  {
    let startValue = controlRamps[id]?.value(at: moment.frame) ?? Double(id.neutralValue)
    let rampEndFrame = moment.frame + FrameConversion.frame(seconds: ramp, rate: rate)
    if rampEndFrame > moment.frame {
      let curve = ParameterCurve(
        id: id, time: 0,
        controlPoints: [
          .init(time: 0, value: Float(startValue)), .init(time: ramp, value: Float(value)),
        ])
      try player.schedule(curve, at: moment.time)
    } else {
      try player.set(id, to: Float(value), at: moment.time)
    }
    recordScheduledFrame(rampEndFrame)
    controlRamps[id] = ControlRamp(
      startFrame: moment.frame, endFrame: rampEndFrame, startValue: startValue, endValue: value)
  }

  /// The default duration of a parameter change, in seconds.
  private static let defaultRampSeconds = 0.01
  private static let maximumPanCommandCount = 512

  /// Moves the sound in the array along a straight line from its current position.
  func pan(
    to position: ArrayPosition, over ramp: Double, on array: TransducerArray, now: Int64,
    rate: Double
  )
    throws(PlaybackError)
  {
    let panStartFrame = hasStarted ? now : max(now, startFrame)
    let rampSeconds = hasStarted ? max(ramp, Self.defaultRampSeconds) : ramp
    let panEndFrame = panStartFrame + FrameConversion.frame(seconds: rampSeconds, rate: rate)
    let startPosition = panSegment?.position(at: panStartFrame)
    // Without a previous position, there is no path to divide into steps.
    let maximumStepCount = max(1, Self.maximumPanCommandCount / array.transducers.count)
    let stepCount =
      startPosition == nil
      ? 1 : min(max(1, Int((rampSeconds / Self.defaultRampSeconds).rounded(.up))), maximumStepCount)
    let gainSteps = (1...stepCount).map { step in
      array.transducerGains(
        at: startPosition?.interpolated(Double(step) / Double(stepCount), toward: position)
          ?? position)
    }
    try player.setSendGains(gainSteps, over: rampSeconds, at: earliestChangeTime)
    panSegment = PanSegment(
      startFrame: panStartFrame, endFrame: panEndFrame, startPosition: startPosition ?? position,
      endPosition: position)
    recordScheduledFrame(panEndFrame)
  }
}

/// A playback time and the engine frame that it corresponds to. The frame of `.now` is the next
/// frame.
typealias ScheduledTime = (time: PlaybackTime, frame: Int64)

struct PanSegment {
  var startFrame: Int64
  var endFrame: Int64
  var startPosition: ArrayPosition
  var endPosition: ArrayPosition

  /// Returns the position in the transducer array at the given frame.
  func position(at frame: Int64) -> ArrayPosition {
    guard frame < endFrame else { return endPosition }
    let panFraction = Double(max(0, frame - startFrame)) / Double(endFrame - startFrame)
    return startPosition.interpolated(panFraction, toward: endPosition)
  }
}
