/// Brings live sound from a source into a voice: the turns of one thread, to which all but the
/// voice belongs.
final class SoundFeed: @unchecked Sendable {
  struct Figures: Equatable, Sendable {
    /// The greatest level of the last turn, 1 for full scale, and what the speech gate lets
    /// through.
    var level = 0.0
    var opening = 1.0
    /// Parts per million by which the source runs faster than the output.
    var drift = 0.0
    /// Frames that wait.
    var waiting = 0
    /// Frames that were left out, since too many waited.
    var dropped = 0
  }

  let voice: LiveVoice
  private(set) var figures = Figures()
  private let source: any CaptureSource
  private let outputRate: Double
  private let time: any TimeSource
  private var follower: SoundFollower
  private var resampler = VaryingResampler()
  private var drift: DriftLoop
  private var last: Duration
  private var samples: [Float] = []

  /// How many frames less are to wait, and how much of the sound is let through while that is
  /// brought about.
  private var excess = 0
  private var presence: Float = 1
  /// The fewest that waited since a moment.
  private var least = Int.max
  private var window = Duration.zero
  private var missed: Int64 = 0
  /// Whether the voice has sounded since the last gap.
  private var isSteady = false
  private let delay: Int

  /// Seconds beyond a period of each device that wait in the voice, for a thread that comes late.
  private static let margin = 0.002
  /// Seconds that wait at most, where a source turns out to come in bursts, and by how much more
  /// each gap asks for.
  private static let mostReserve = 0.12
  private static let growth = 1.5
  /// Seconds over which more than these too many must have waited before some are left out.
  private static let patience = 1.0
  private static let tooMany = 0.01
  /// Seconds in which the sound fades before frames are left out.
  private static let fade = 0.005
  /// How often a turn is due, as a part of a period: no simple fraction, so that it does not beat
  /// with one.
  private static let turnShare = 0.382

  /// Seconds until the next turn.
  let pause: Double

  /// `period` and `delay` are in seconds.
  init(
    _ source: any CaptureSource, _ options: FollowingOptions, outputRate: Double, period: Double,
    delay: Double,
    time: any TimeSource = SystemTimeSource()
  ) {
    self.source = source
    self.outputRate = outputRate
    self.time = time
    self.delay = Int(delay * outputRate)
    let reserve = Int((2 * period + Self.margin) * outputRate)
    voice = LiveVoice(
      rate: outputRate, capacity: self.delay + Int(10 * Self.mostReserve * outputRate),
      reserve: self.delay + reserve)
    follower = SoundFollower(options, rate: source.rate)
    drift = DriftLoop(rate: outputRate)
    pause = Self.turnShare * period
    last = time.now
  }

  func turn() -> CaptureEvent? {
    samples.removeAll(keepingCapacity: true)
    let event = source.read(into: &samples)
    if event != nil {
      drift.hold()
    }
    let followed = follower.follow(interleaved: samples, channelCount: source.channelCount)
    figures.level = Double(follower.peak)
    var output = resampler.resample(followed, step: source.rate / outputRate * drift.ratio)
    leaveOut(&output)
    if !output.isEmpty, !voice.write(output.span) {
      figures.dropped += output.count
    }
    figures.waiting = voice.waitingFrameCount
    let now = time.now
    steer(at: now)
    last = now
    figures.drift = drift.partsPerMillion
    figures.opening = follower.opening
    return event
  }

  /// Follows the clocks by how many frames wait, whose mean over odd moments does not know periods.
  private func steer(at now: Duration) {
    let isGap = voice.missedFrameCount != missed
    missed = voice.missedFrameCount
    if isGap {
      // A source that comes in bursts needs more in reserve.
      if isSteady {
        let reserve = min(
          Self.mostReserve * outputRate, Double(voice.reserve - delay) * Self.growth)
        voice.reserve = delay + Int(reserve)
      }
      isSteady = false
    }
    if !isSteady {
      // Not before the voice sounds.
      isSteady = !isGap && figures.waiting >= voice.reserve
      least = .max
      window = now
      drift.hold()
      return
    }
    least = min(least, figures.waiting)
    if (now - window).inSeconds > Self.patience {
      // What waited all the time is not needed.
      let more = least - voice.reserve
      if Double(more) > Self.tooMany * outputRate {
        excess = more
        drift.hold()
      }
      least = .max
      window = now
    }
    drift.update(
      Double(figures.waiting), target: Double(voice.reserve), after: (now - last).inSeconds)
  }

  /// Leaves out frames of which too many wait, behind a fade and before another.
  private func leaveOut(_ frames: inout [Float]) {
    guard excess > 0 || presence < 1 else { return }
    let step = Float(1 / (Self.fade * outputRate))
    frames = frames.compactMap { frame in
      if excess > 0, presence <= 0 {
        excess -= 1
        figures.dropped += 1
        return nil
      }
      presence = min(1, max(0, presence + (excess > 0 ? -step : step)))
      return frame * presence
    }
  }
}
