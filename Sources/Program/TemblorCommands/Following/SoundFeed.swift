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
  struct Status: Equatable, Sendable {
    /// The peak amplitude of the source in the last iteration; 1 is full scale.
    var peakAmplitude = 0.0
    var gateGain = 1.0
    /// The clock drift in ppm, positive if the source runs faster than the output; nil until it is
    /// known.
    var driftPPM: Double?
    /// The number of frames that the source has delivered.
    var sourceFrameCount: Int64 = 0
    /// The number of frames in the queue of the voice.
    var queuedFrameCount = 0
    /// The number of frames that were discarded because too many were queued, or because the queue
    /// was full.
    var droppedFrameCount = 0
  }

  let liveVoice: LiveVoice
  private(set) var status = Status()
  private let captureSource: any CaptureSource
  private let outputRateHertz: Double
  private let time: any TimeSource
  private var follower: SoundFollower
  private var resampler = VariableRateResampler()
  private var driftLoop: DriftLoop
  private var sourceClock: ClockRateEstimator
  private var outputClock: ClockRateEstimator
  private let outputPosition: @Sendable () -> Int64
  private var lastIterationTime: Duration
  private var sourceSamples: [Float] = []

  /// The number of excess frames that are to be discarded.
  private var excessFrameCount = 0
  private var fadeGain: Float = 1
  /// The minimum number of queued frames since the start of the measuring window.
  private var minimumQueuedFrameCount = Int.max
  private var excessWindowStartTime = Duration.zero
  private var underrunFrameCount: Int64 = 0
  /// A Boolean value that indicates whether the voice has sounded since the last underrun.
  private var hasSoundedSinceUnderrun = false
  private let additionalDelayFrameCount: Int

  /// The reserve of queued sound for a late thread, in seconds, in addition to two periods.
  private static let lateThreadReserveSeconds = 0.002
  /// The maximum reserve of queued sound for sources that deliver in bursts, in seconds.
  private static let maximumReserveSeconds = 0.12
  private static let reserveGrowthFactor = 1.5
  /// The duration over which the minimum of queued frames is measured, in seconds.
  private static let excessWindowSeconds = 1.0
  private static let excessThresholdSeconds = 0.01
  /// The duration of the fade before frames are discarded, in seconds.
  private static let discardFadeSeconds = 0.005
  /// The interval between iterations, as a fraction of a period.
  /// It is not a simple fraction, so that iterations and periods do not beat.
  private static let iterationPeriodFraction = 0.382

  /// The interval between iterations, in seconds.
  let iterationIntervalSeconds: Double

  /// - Parameters:
  ///   - source: The source.
  ///   - options: The options for following sound.
  ///   - outputRateHertz: The sample rate of the output in hertz.
  ///   - period: The period of the devices in seconds.
  ///   - delay: The additional delay in seconds.
  ///   - time: The clock.
  ///   - outputPosition: A closure that returns the number of frames that the output has played.
  init(
    _ source: any CaptureSource, _ options: FollowingOptions, outputRateHertz: Double,
    period: Double,
    delay: Double,
    time: any TimeSource = SystemTimeSource(), outputPosition: @escaping @Sendable () -> Int64
  ) {
    self.captureSource = source
    self.outputRateHertz = outputRateHertz
    self.time = time
    self.additionalDelayFrameCount = Int(delay * outputRateHertz)
    let reserveFrameCount = Int((2 * period + Self.lateThreadReserveSeconds) * outputRateHertz)
    liveVoice = LiveVoice(
      rate: outputRateHertz,
      capacity: self.additionalDelayFrameCount
        + Int(10 * Self.maximumReserveSeconds * outputRateHertz),
      reserveFrameCount: self.additionalDelayFrameCount + reserveFrameCount)
    follower = SoundFollower(options, sampleRate: source.rate)
    driftLoop = DriftLoop(sourceSampleRate: outputRateHertz)
    sourceClock = ClockRateEstimator(nominalRate: source.rate)
    outputClock = ClockRateEstimator(nominalRate: outputRateHertz)
    self.outputPosition = outputPosition
    iterationIntervalSeconds = Self.iterationPeriodFraction * period
    lastIterationTime = time.now
  }

  func runIteration() -> CaptureEvent? {
    sourceSamples.removeAll(keepingCapacity: true)
    let captureEvent = captureSource.read(into: &sourceSamples)
    if captureEvent != nil {
      driftLoop.holdRatio()
      sourceClock.restart()
    }
    let readTime = time.now.inSeconds
    status.sourceFrameCount += Int64(sourceSamples.count / captureSource.channelCount)
    sourceClock.record(frameCount: status.sourceFrameCount, atSeconds: readTime)
    outputClock.record(frameCount: outputPosition(), atSeconds: readTime)
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
    status.driftPPM = clockDriftFraction.map { $0 * 1e6 }
    status.gateGain = follower.speechGateGain
    return captureEvent
  }

  /// The deviation of the source's clock rate from the output's clock rate, as a fraction.
  private var clockDriftFraction: Double? {
    guard let sourceDeviation = sourceClock.rateDeviationFraction,
      let outputDeviation = outputClock.rateDeviationFraction
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
          Self.maximumReserveSeconds * outputRateHertz,
          Double(liveVoice.reserveFrameCount - additionalDelayFrameCount) * Self.reserveGrowthFactor
        )
        liveVoice.reserveFrameCount = additionalDelayFrameCount + Int(reserve)
      }
      hasSoundedSinceUnderrun = false
    }
    if !hasSoundedSinceUnderrun {
      // The measurement starts when the voice sounds.
      hasSoundedSinceUnderrun =
        !hasNewUnderrun && status.queuedFrameCount >= liveVoice.reserveFrameCount
      minimumQueuedFrameCount = .max
      excessWindowStartTime = now
      driftLoop.holdRatio()
      return
    }
    minimumQueuedFrameCount = min(minimumQueuedFrameCount, status.queuedFrameCount)
    if (now - excessWindowStartTime).inSeconds > Self.excessWindowSeconds {
      // Frames that were queued during the whole window are not needed.
      let more = minimumQueuedFrameCount - liveVoice.reserveFrameCount
      if Double(more) > Self.excessThresholdSeconds * outputRateHertz {
        excessFrameCount = more
        driftLoop.holdRatio()
      }
      minimumQueuedFrameCount = .max
      excessWindowStartTime = now
    }
    driftLoop.update(
      waitingFrames: Double(status.queuedFrameCount), target: Double(liveVoice.reserveFrameCount),
      elapsedSeconds: (now - lastIterationTime).inSeconds, estimate: clockDriftFraction)
  }

  /// Discards excess frames between a fade-out and a fade-in.
  private func discardExcessFrames(from frames: inout [Float]) {
    guard excessFrameCount > 0 || fadeGain < 1 else { return }
    let fadeStep = Float(1 / (Self.discardFadeSeconds * outputRateHertz))
    frames = frames.compactMap { frame in
      if excessFrameCount > 0, fadeGain <= 0 {
        excessFrameCount -= 1
        status.droppedFrameCount += 1
        return nil
      }
      fadeGain = min(1, max(0, fadeGain + (excessFrameCount > 0 ? -fadeStep : fadeStep)))
      return frame * fadeGain
    }
  }
}
