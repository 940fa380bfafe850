/// Brings live sound from a source into a voice: the turns of one thread, to which all but the
/// voice belongs.
final class SoundFeed: @unchecked Sendable {
  struct Status: Equatable, Sendable {
    /// The greatest level of the last turn, 1 for full scale, and what the speech gate lets
    /// through.
    var level = 0.0
    var gateGain = 1.0
    /// Parts per million by which the source runs faster than the output.
    var drift = 0.0
    /// Frames that wait.
    var queuedFrameCount = 0
    /// Frames that were left out, since too many waited.
    var droppedFrameCount = 0
  }

  let voice: LiveVoice
  private(set) var status = Status()
  private let source: any CaptureSource
  private let outputRate: Double
  private let time: any TimeSource
  private var follower: SoundFollower
  private var resampler = VariableRateResampler()
  private var driftLoop: DriftLoop
  private var lastIterationTime: Duration
  private var samples: [Float] = []

  /// How many frames less are to wait, and how much of the sound is let through while that is
  /// brought about.
  private var excessFrameCount = 0
  private var fadeGain: Float = 1
  /// The fewest that waited since a moment.
  private var minimumQueuedFrameCount = Int.max
  private var windowStart = Duration.zero
  private var underrunFrameCount: Int64 = 0
  /// Whether the voice has sounded since the last gap.
  private var isSteady = false
  private let delayFrameCount: Int

  /// Seconds beyond a period of each device that wait in the voice, for a thread that comes late.
  private static let marginSeconds = 0.002
  /// Seconds that wait at most, where a source turns out to come in bursts, and by how much more
  /// each gap asks for.
  private static let maximumReserveSeconds = 0.12
  private static let reserveGrowth = 1.5
  /// Seconds over which more than these too many must have waited before some are left out.
  private static let excessWindowSeconds = 1.0
  private static let excessThresholdSeconds = 0.01
  /// Seconds in which the sound fades before frames are left out.
  private static let fadeSeconds = 0.005
  /// How often a turn is due, as a part of a period: no simple fraction, so that it does not beat
  /// with one.
  private static let iterationFraction = 0.382

  /// Seconds until the next turn.
  let iterationSeconds: Double

  /// `period` and `delay` are in seconds.
  init(
    _ source: any CaptureSource, _ options: FollowingOptions, outputRate: Double, period: Double,
    delay: Double,
    time: any TimeSource = SystemTimeSource()
  ) {
    self.source = source
    self.outputRate = outputRate
    self.time = time
    self.delayFrameCount = Int(delay * outputRate)
    let reserve = Int((2 * period + Self.marginSeconds) * outputRate)
    voice = LiveVoice(
      rate: outputRate,
      capacity: self.delayFrameCount + Int(10 * Self.maximumReserveSeconds * outputRate),
      reserve: self.delayFrameCount + reserve)
    follower = SoundFollower(options, rate: source.rate)
    driftLoop = DriftLoop(rate: outputRate)
    iterationSeconds = Self.iterationFraction * period
    lastIterationTime = time.now
  }

  func runIteration() -> CaptureEvent? {
    samples.removeAll(keepingCapacity: true)
    let event = source.read(into: &samples)
    if event != nil {
      driftLoop.holdRatio()
    }
    let followed = follower.follow(interleaved: samples, channelCount: source.channelCount)
    status.level = Double(follower.peak)
    var output = resampler.resample(followed, step: source.rate / outputRate * driftLoop.ratio)
    discardExcess(from: &output)
    if !output.isEmpty, !voice.write(output.span) {
      status.droppedFrameCount += output.count
    }
    status.queuedFrameCount = voice.queuedFrameCount
    let now = time.now
    adjustDrift(at: now)
    lastIterationTime = now
    status.drift = driftLoop.partsPerMillion
    status.gateGain = follower.gateGain
    return event
  }

  /// Follows the clocks by how many frames wait, whose mean over odd moments does not know periods.
  private func adjustDrift(at now: Duration) {
    let isGap = voice.underrunFrameCount != underrunFrameCount
    underrunFrameCount = voice.underrunFrameCount
    if isGap {
      // A source that comes in bursts needs more in reserve.
      if isSteady {
        let reserve = min(
          Self.maximumReserveSeconds * outputRate,
          Double(voice.reserve - delayFrameCount) * Self.reserveGrowth)
        voice.reserve = delayFrameCount + Int(reserve)
      }
      isSteady = false
    }
    if !isSteady {
      // Not before the voice sounds.
      isSteady = !isGap && status.queuedFrameCount >= voice.reserve
      minimumQueuedFrameCount = .max
      windowStart = now
      driftLoop.holdRatio()
      return
    }
    minimumQueuedFrameCount = min(minimumQueuedFrameCount, status.queuedFrameCount)
    if (now - windowStart).inSeconds > Self.excessWindowSeconds {
      // What waited all the time is not needed.
      let more = minimumQueuedFrameCount - voice.reserve
      if Double(more) > Self.excessThresholdSeconds * outputRate {
        excessFrameCount = more
        driftLoop.holdRatio()
      }
      minimumQueuedFrameCount = .max
      windowStart = now
    }
    driftLoop.update(
      waitingFrames: Double(status.queuedFrameCount), target: Double(voice.reserve),
      elapsedSeconds: (now - lastIterationTime).inSeconds)
  }

  /// Leaves out frames of which too many wait, behind a fade and before another.
  private func discardExcess(from frames: inout [Float]) {
    guard excessFrameCount > 0 || fadeGain < 1 else { return }
    let step = Float(1 / (Self.fadeSeconds * outputRate))
    frames = frames.compactMap { frame in
      if excessFrameCount > 0, fadeGain <= 0 {
        excessFrameCount -= 1
        status.droppedFrameCount += 1
        return nil
      }
      fadeGain = min(1, max(0, fadeGain + (excessFrameCount > 0 ? -step : step)))
      return frame * fadeGain
    }
  }
}
