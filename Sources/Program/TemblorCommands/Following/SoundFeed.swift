import HapticPlayback
import HapticRender
import SoundFollowing
import SystemSupport

/// A feed of live sound from a source into a voice, which compensates for drift between the clocks
/// of the source and the output.
///
/// Each iteration reads the source, follows its sound, resamples it to the output's rate, and
/// appends it to the voice's queue:
///
/// 1. Counts of frames over tens of seconds show how the clocks of source and output differ. A
/// control loop adds a small correction to that ratio, so that the number of waiting frames stays
/// near the reserve.
/// 2. An underrun enlarges the reserve, since the source delivers in bursts.
/// 3. A queue that never fell to its reserve during a second has too many frames. They are
/// discarded within a short fade.
///
/// All iterations belong to one thread; only the voice is shared with the render thread.
final class SoundFeed: @unchecked Sendable {
  struct FeedStatus: Equatable, Sendable {
    /// The peak amplitude of the source in the last iteration; 1 is full scale.
    var peakAmplitude = 0.0
    var gateGain = 1.0
    /// The clock drift in ppm, positive if the source runs faster than the output; nil until it is
    /// known.
    var clockDriftPPM: Double?
    /// The number of frames that the source has delivered.
    var sourceFrameCount: Int64 = 0
    /// The number of frames in the queue of the voice.
    var queuedFrameCount = 0
    /// The number of frames that were discarded because too many were queued, or because the queue
    /// was full.
    var droppedFrameCount = 0
  }

  let liveVoice: LiveVoice
  private(set) var status = FeedStatus()
  private let captureSource: any CaptureSource
  private let outputRateHertz: Double
  private let time: any TimeSource
  private var follower: SoundFollower
  private var resampler = VariableRateResampler()
  private var driftLoop: DriftLoop
  private var sourceRateEstimator: ClockRateEstimator
  private var outputRateEstimator: ClockRateEstimator
  private let readOutputPosition: @Sendable () -> Int64
  private var lastIterationTime: Duration
  private var sourceSamples: [Float] = []

  /// The number of excess frames that are to be discarded.
  private var frameCountToDiscard = 0
  private var discardFadeGain: Float = 1
  /// The minimum number of queued frames since the start of the measuring window.
  private var minimumQueuedFrameCount = Int.max
  private var excessMeasurementStartTime = Duration.zero
  private var underrunFrameCount: Int64 = 0
  /// A Boolean value that indicates whether the voice has sounded since the last underrun.
  private var hasSoundedSinceUnderrun = false
  private let additionalDelayFrameCount: Int

  /// The reserve of queued sound for a late thread, in seconds, in addition to two periods.
  private static let queueReserveForLateThreadSeconds = 0.002
  /// The maximum reserve of queued sound for sources that deliver in bursts, in seconds.
  private static let maximumQueueReserveSeconds = 0.12
  private static let queueReserveGrowthFactor = 1.5
  /// The duration over which the minimum of queued frames is measured, in seconds.
  private static let excessMeasurementSeconds = 1.0
  private static let excessQueueThresholdSeconds = 0.01
  /// The duration of the fade before frames are discarded, in seconds.
  private static let discardFadeSeconds = 0.005
  /// The interval between iterations, as a fraction of a period.
  /// It is not a simple fraction, so that iterations and periods do not beat.
  private static let iterationToPeriodRatio = 0.382

  /// The interval between iterations, in seconds.
  let iterationIntervalSeconds: Double

  /// - Parameters:
  ///   - source: The source.
  ///   - options: The options for following sound.
  ///   - outputRateHertz: The sample rate of the output in hertz.
  ///   - period: The period of the devices in seconds.
  ///   - delay: The additional delay in seconds.
  ///   - time: The clock.
  ///   - readOutputPosition: A closure that returns the number of frames that the output has
  ///     played.
  init(
    _ source: any CaptureSource, _ options: FollowingOptions, outputRateHertz: Double,
    period: Double,
    delay: Double,
    time: any TimeSource = SystemTimeSource(),
    readOutputPosition: @escaping @Sendable () -> Int64
  ) {
    self.captureSource = source
    self.outputRateHertz = outputRateHertz
    self.time = time
    self.additionalDelayFrameCount = Int(delay * outputRateHertz)
    let reserveFrameCount = Int(
      (2 * period + Self.queueReserveForLateThreadSeconds) * outputRateHertz)
    liveVoice = LiveVoice(
      rate: outputRateHertz,
      capacity: self.additionalDelayFrameCount
        + Int(10 * Self.maximumQueueReserveSeconds * outputRateHertz),
      queuedFrameCountAtStart: self.additionalDelayFrameCount + reserveFrameCount)
    follower = SoundFollower(options, sampleRate: source.rate)
    driftLoop = DriftLoop(sourceSampleRate: outputRateHertz)
    sourceRateEstimator = ClockRateEstimator(nominalRate: source.rate)
    outputRateEstimator = ClockRateEstimator(nominalRate: outputRateHertz)
    self.readOutputPosition = readOutputPosition
    iterationIntervalSeconds = Self.iterationToPeriodRatio * period
    lastIterationTime = time.now
  }

  func runIteration() -> CaptureEvent? {
    sourceSamples.removeAll(keepingCapacity: true)
    let captureEvent = captureSource.read(into: &sourceSamples)
    if captureEvent != nil {
      driftLoop.holdRatio()
      sourceRateEstimator.restart()
    }
    let readTime = time.now.inSeconds
    status.sourceFrameCount += Int64(sourceSamples.count / captureSource.channelCount)
    sourceRateEstimator.record(frameCount: status.sourceFrameCount, atSeconds: readTime)
    outputRateEstimator.record(frameCount: readOutputPosition(), atSeconds: readTime)
    let followedSamples = follower.follow(
      interleaved: sourceSamples, channelCount: captureSource.channelCount)
    status.peakAmplitude = Double(follower.blockPeakMagnitude)
    var outputSamples = resampler.resample(
      followedSamples, step: captureSource.rate / outputRateHertz * driftLoop.resamplingRatio)
    discardExcessFrames(from: &outputSamples)
    if !outputSamples.isEmpty, !liveVoice.write(outputSamples.span) {
      status.droppedFrameCount += outputSamples.count
    }
    status.queuedFrameCount = liveVoice.queuedFrameCount
    let now = time.now
    adjustDriftCorrection(at: now)
    lastIterationTime = now
    status.clockDriftPPM = clockDriftFraction.map { $0 * 1e6 }
    status.gateGain = follower.speechGateGain
    return captureEvent
  }

  /// The deviation of the source's clock rate from the output's clock rate, as a fraction.
  private var clockDriftFraction: Double? {
    guard let sourceDeviation = sourceRateEstimator.rateDeviationFraction,
      let outputDeviation = outputRateEstimator.rateDeviationFraction
    else {
      return nil
    }
    return (1 + sourceDeviation) / (1 + outputDeviation) - 1
  }

  /// Adjusts the resampling ratio to the clock drift, and brings the number of queued frames back
  /// to the reserve. The mean of queued frames over irregular times is independent of the periods.
  private func adjustDriftCorrection(at now: Duration) {
    let hasNewUnderrun = liveVoice.underrunFrameCount != underrunFrameCount
    underrunFrameCount = liveVoice.underrunFrameCount
    if hasNewUnderrun {
      // A source that delivers in bursts needs a larger reserve.
      if hasSoundedSinceUnderrun {
        let reserve = min(
          Self.maximumQueueReserveSeconds * outputRateHertz,
          Double(liveVoice.queuedFrameCountAtStart - additionalDelayFrameCount)
            * Self.queueReserveGrowthFactor
        )
        liveVoice.queuedFrameCountAtStart = additionalDelayFrameCount + Int(reserve)
      }
      hasSoundedSinceUnderrun = false
    }
    if !hasSoundedSinceUnderrun {
      // The measurement starts when the voice sounds.
      hasSoundedSinceUnderrun =
        !hasNewUnderrun && status.queuedFrameCount >= liveVoice.queuedFrameCountAtStart
      minimumQueuedFrameCount = .max
      excessMeasurementStartTime = now
      driftLoop.holdRatio()
      return
    }
    minimumQueuedFrameCount = min(minimumQueuedFrameCount, status.queuedFrameCount)
    if (now - excessMeasurementStartTime).inSeconds > Self.excessMeasurementSeconds {
      // Frames that were queued during the whole window are not needed.
      let more = minimumQueuedFrameCount - liveVoice.queuedFrameCountAtStart
      if Double(more) > Self.excessQueueThresholdSeconds * outputRateHertz {
        frameCountToDiscard = more
        driftLoop.holdRatio()
      }
      minimumQueuedFrameCount = .max
      excessMeasurementStartTime = now
    }
    driftLoop.update(
      waitingFrames: Double(status.queuedFrameCount),
      target: Double(liveVoice.queuedFrameCountAtStart),
      elapsedSeconds: (now - lastIterationTime).inSeconds, estimate: clockDriftFraction)
  }

  /// Discards excess frames between a fade-out and a fade-in.
  private func discardExcessFrames(from frames: inout [Float]) {
    guard frameCountToDiscard > 0 || discardFadeGain < 1 else { return }
    let fadeStep = Float(1 / (Self.discardFadeSeconds * outputRateHertz))
    frames = frames.compactMap { frame in
      if frameCountToDiscard > 0, discardFadeGain <= 0 {
        frameCountToDiscard -= 1
        status.droppedFrameCount += 1
        return nil
      }
      discardFadeGain = min(
        1, max(0, discardFadeGain + (frameCountToDiscard > 0 ? -fadeStep : fadeStep)))
      return frame * discardFadeGain
    }
  }
}
