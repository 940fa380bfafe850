package import HapticPlayback
internal import HapticModel
internal import HapticRender

/// A switcher that plays several takes in sync with a common play head and loop region. One take is
/// audible at a time.
package final class TakeSwitcher {
  /// The duration of the crossfade from one take to another, in seconds.
  package static let crossfadeSeconds = 0.01
  /// The duration of each of the two fades when takes change through silence, in seconds.
  package static let silenceFadeSeconds = 0.005
  /// The time from the request for a change through silence until the fade-out begins, in seconds.
  /// It is longer than the time by which frames are rendered ahead.
  package static let secondsBeforeFadeToSilence = 0.03
  /// The distance by which a key press moves the play head, as a fraction of the duration.
  package static let playheadStepToDurationRatio = 1.0 / 16
  /// The loop end of a take that does not repeat, in seconds. It is later than the end of any
  /// pattern.
  private static let unreachableEndSeconds = 2 * FrameConversion.maximumSeconds

  private let engine: PlaybackEngine
  private let playerGroup: PlayerGroup
  /// The duration of the silence between two passes, in seconds.
  private let loopGapSeconds: Double
  /// The duration of the longest take, in seconds.
  package let maximumDurationSeconds: Double
  /// The loop region in seconds, or nil for the whole duration.
  package private(set) var loopRegionSeconds: ClosedRange<Double>?
  package private(set) var isLooping: Bool
  package private(set) var isPaused = false
  /// The target of a seek that the engine has not performed yet, and the position before the seek,
  /// which the last block still reports; otherwise nil.
  private var pendingSeekPositionsSeconds: (target: Double, previous: Double)?

  /// Creates a switcher that starts the takes.
  ///
  /// - Parameters:
  ///   - takes: The takes.
  ///   - engine: The engine.
  ///   - region: The loop region in seconds; nil for the whole duration.
  ///   - isLooping: A Boolean value that indicates whether the takes repeat.
  ///   - gap: The silence between two passes in seconds.
  ///   - gains: The gains of the takes.
  package init(
    _ takes: [CompiledPattern], on engine: PlaybackEngine, region: ClosedRange<Double>? = nil,
    isLooping: Bool = true,
    gap: Double = 0, gains: [Double]
  ) throws {
    self.engine = engine
    self.loopGapSeconds = gap
    self.isLooping = isLooping
    maximumDurationSeconds = takes.map(\.durationSeconds).max() ?? 0
    playerGroup = PlayerGroup(
      try takes.map { try engine.player(for: $0.plansByHapticBus, duration: $0.durationSeconds) },
      of: engine)
    self.loopRegionSeconds = region
    try playerGroup.setGains(gains, over: 0)
    try applyLoop()
    let startFrame = FrameConversion.frame(
      seconds: SingleTrackPlayer.initialSilenceSeconds, rate: engine.rate)
    try playerGroup.start(at: .frame(startFrame), from: loopStartSeconds)
  }

  package var state: PlaybackState {
    if isPaused { return .paused }
    return isAtEnd ? .idle : .playing
  }

  package var playheadSeconds: Double {
    guard let pendingSeekPositionsSeconds,
      isPaused || playerGroup.position == pendingSeekPositionsSeconds.previous
    else {
      return playerGroup.position
    }
    return pendingSeekPositionsSeconds.target
  }

  package var positionAndDurationSeconds: (position: Double, duration: Double?) {
    (min(playheadSeconds, maximumDurationSeconds), maximumDurationSeconds)
  }
  private var isAtEnd: Bool { !isLooping && playheadSeconds >= maximumDurationSeconds }
  package var loopStartSeconds: Double { isLooping ? loopRegionSeconds?.lowerBound ?? 0 : 0 }

  package func setGains(_ gains: [Double]) throws {
    try playerGroup.setGains(gains, over: Self.crossfadeSeconds)
  }

  /// Changes the gains of the takes with a fade to silence in between, which sounds the same for
  /// every take.
  package func setGainsThroughSilence(_ gains: [Double]) throws {
    try playerGroup.setGainsThroughSilence(
      gains, over: Self.silenceFadeSeconds, at: .frame(silenceFadeStartFrame))
  }

  package func restartThroughSilence(_ gains: [Double]) throws {
    let fadeStartFrame = silenceFadeStartFrame
    try playerGroup.setGainsThroughSilence(
      gains, over: Self.silenceFadeSeconds, at: .frame(fadeStartFrame))
    let silenceStartFrame =
      fadeStartFrame + FrameConversion.frame(seconds: Self.silenceFadeSeconds, rate: engine.rate)
    try playerGroup.seek(to: loopStartSeconds, at: .frame(silenceStartFrame))
    pendingSeekPositionsSeconds = nil
    if isPaused {
      try playerGroup.resume(at: .frame(silenceStartFrame))
    }
    isPaused = false
  }

  private var silenceFadeStartFrame: Int64 {
    engine.position
      + FrameConversion.frame(seconds: Self.secondsBeforeFadeToSilence, rate: engine.rate)
  }

  package func togglePause() throws {
    if isAtEnd {
      try movePlayhead(to: 0)
      if !isPaused { return }
    }
    isPaused.toggle()
    if isPaused {
      pendingSeekPositionsSeconds = nil
      try playerGroup.pause()
    } else {
      try playerGroup.resume()
    }
  }

  /// Moves the play head to a time in seconds. A position at or after the end of the loop region is
  /// its start.
  package func movePlayhead(to seconds: Double) throws {
    var targetSeconds = min(max(0, seconds), maximumDurationSeconds)
    if isLooping, let loopRegionSeconds, targetSeconds >= loopRegionSeconds.upperBound {
      targetSeconds = loopRegionSeconds.lowerBound
    }
    try playerGroup.seek(to: targetSeconds)
    pendingSeekPositionsSeconds = (targetSeconds, playerGroup.position)
  }

  package func movePlayhead(bySteps count: Double) throws {
    try movePlayhead(
      to: min(playheadSeconds, maximumDurationSeconds) + count * maximumDurationSeconds
        * Self.playheadStepToDurationRatio)
  }

  /// Sets the start of the loop region to the play head.
  /// If the region's end would precede its start, the region extends to the end of the take.
  package func beginLoopRegionAtPlayhead() throws {
    let startSeconds = min(
      playheadSeconds, maximumDurationSeconds - PatternPlayer.minimumLoopDuration)
    guard startSeconds >= 0 else { return }
    let endSeconds = loopRegionSeconds?.upperBound ?? maximumDurationSeconds
    try setLoopRegion(
      startSeconds...(endSeconds - startSeconds < PatternPlayer.minimumLoopDuration
        ? maximumDurationSeconds : endSeconds))
  }

  /// Sets the end of the loop region to the play head.
  /// If the region's start would follow its end, the region begins at the start of the take.
  package func endLoopRegionAtPlayhead() throws {
    let endSeconds = min(
      max(playheadSeconds, PatternPlayer.minimumLoopDuration), maximumDurationSeconds)
    let startSeconds = loopRegionSeconds?.lowerBound ?? 0
    let isRegionTooShort = endSeconds - startSeconds < PatternPlayer.minimumLoopDuration
    try setLoopRegion((isRegionTooShort ? 0 : startSeconds)...endSeconds)
  }

  package func setLoopRegion(_ region: ClosedRange<Double>?) throws {
    self.loopRegionSeconds = region
    isLooping = true
    try applyLoop()
  }

  /// Turns looping on or off, for the loop region or for the whole take.
  package func toggleLooping() throws {
    isLooping.toggle()
    try applyLoop()
  }

  private func applyLoop() throws {
    // Without a loop, the takes continue in silence after their ends, and so stay in sync.
    let loopEndSeconds =
      isLooping
      ? loopRegionSeconds?.upperBound ?? (maximumDurationSeconds + loopGapSeconds)
      : Self.unreachableEndSeconds
    try playerGroup.loop(
      from: isLooping ? loopRegionSeconds?.lowerBound ?? 0 : 0, end: loopEndSeconds)
  }
}
