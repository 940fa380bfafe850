/// Plays takes in sync under one play head, of which one is heard, with a loop region.
final class TakeSwitcher {
  /// The duration of the crossfade from one take to another, in seconds.
  static let crossfadeSeconds = 0.01
  /// The duration of each of the two fades when takes change through silence, in seconds.
  static let silenceFadeSeconds = 0.005
  /// The time in seconds from the request of a change through silence to its first frame: well
  /// after the frames that are rendered ahead.
  static let silenceLeadSeconds = 0.03
  static let stepFraction = 1.0 / 16
  /// The end in seconds of a take that does not repeat: longer than any pattern.
  private static let unreachableEndSeconds = 2 * FrameConversion.maximumSeconds

  private let engine: PlaybackEngine
  private let group: PlayerGroup
  private let gap: Double
  /// The duration of the longest take in seconds.
  let duration: Double
  /// The loop region in seconds; nil for the whole duration.
  private(set) var region: ClosedRange<Double>?
  private(set) var isLooping: Bool
  private(set) var isPaused = false
  /// The position of the last seek, and the position that the last block still reports.
  private var pendingSeek: (target: Double, previous: Double)?

  /// Creates a switcher that starts the takes.
  ///
  /// - Parameters:
  ///   - pieces: The takes.
  ///   - engine: The engine.
  ///   - region: The loop region in seconds; nil for the whole duration.
  ///   - isLooping: A Boolean value that indicates whether the takes repeat.
  ///   - gap: The silence between two passes in seconds.
  ///   - gains: The gains of the takes.
  init(
    _ pieces: [CompiledPattern], on engine: PlaybackEngine, region: ClosedRange<Double>? = nil,
    isLooping: Bool = true,
    gap: Double = 0, gains: [Double]
  ) throws {
    self.engine = engine
    self.gap = gap
    self.isLooping = isLooping
    duration = pieces.map(\.duration).max() ?? 0
    group = PlayerGroup(
      try pieces.map { try engine.player(for: $0.plans, duration: $0.duration) }, of: engine)
    self.region = region
    try group.setGains(gains, over: 0)
    try applyLoop()
    let start = FrameConversion.frame(seconds: Playlist.leadInSeconds, rate: engine.rate)
    try group.start(at: .frame(start), from: loopStart)
  }

  var state: PlaybackStatus.State {
    if isPaused { return .paused }
    return isAtEnd ? .idle : .playing
  }

  var playheadSeconds: Double {
    guard let pendingSeek, isPaused || group.position == pendingSeek.previous else {
      return group.position
    }
    return pendingSeek.target
  }

  var progress: (position: Double, duration: Double?) { (min(playheadSeconds, duration), duration) }
  private var isAtEnd: Bool { !isLooping && playheadSeconds >= duration }
  private var loopStart: Double { isLooping ? region?.lowerBound ?? 0 : 0 }

  func setGains(_ gains: [Double]) throws { try group.setGains(gains, over: Self.crossfadeSeconds) }

  /// Changes the gains through silence, in the same way for every take.
  func setGainsViaSilence(_ gains: [Double]) throws {
    try group.setGainsThroughSilence(
      gains, over: Self.silenceFadeSeconds, at: .frame(silenceFadeFrame))
  }

  func restartThroughSilence(_ gains: [Double]) throws {
    let frame = silenceFadeFrame
    try group.setGainsThroughSilence(gains, over: Self.silenceFadeSeconds, at: .frame(frame))
    let silent = frame + FrameConversion.frame(seconds: Self.silenceFadeSeconds, rate: engine.rate)
    try group.seek(to: loopStart, at: .frame(silent))
    pendingSeek = nil
    if isPaused {
      try group.resume(at: .frame(silent))
    }
    isPaused = false
  }

  private var silenceFadeFrame: Int64 {
    engine.position + FrameConversion.frame(seconds: Self.silenceLeadSeconds, rate: engine.rate)
  }

  func togglePause() throws {
    if isAtEnd {
      try move(to: 0)
      if !isPaused { return }
    }
    isPaused.toggle()
    if isPaused {
      pendingSeek = nil
      try group.pause()
    } else {
      try group.resume()
    }
  }

  /// Moves the play head; a position at or after the end of the loop region is its start.
  func move(to seconds: Double) throws {
    var seconds = min(max(0, seconds), duration)
    if isLooping, let region, seconds >= region.upperBound {
      seconds = region.lowerBound
    }
    try group.seek(to: seconds)
    pendingSeek = (seconds, group.position)
  }

  func step(_ count: Double) throws {
    try move(to: min(playheadSeconds, duration) + count * duration * Self.stepFraction)
  }

  /// Sets the start of the loop region to the play head, and its end to that of the whole if it
  /// would come first.
  func beginRegionHere() throws {
    let start = min(playheadSeconds, duration - PatternPlayer.minimumLoopDuration)
    guard start >= 0 else { return }
    let end = region?.upperBound ?? duration
    try setRegion(start...(end - start < PatternPlayer.minimumLoopDuration ? duration : end))
  }

  /// Sets the end of the loop region to the play head, and its start to that of the whole if it
  /// would come later.
  func endRegionHere() throws {
    let end = min(max(playheadSeconds, PatternPlayer.minimumLoopDuration), duration)
    let start = region?.lowerBound ?? 0
    try setRegion((end - start < PatternPlayer.minimumLoopDuration ? 0 : start)...end)
  }

  func setRegion(_ region: ClosedRange<Double>?) throws {
    self.region = region
    isLooping = true
    try applyLoop()
  }

  private func applyLoop() throws {
    // Without a loop, the takes continue in silence after their ends, and so stay in sync.
    let end = isLooping ? region?.upperBound ?? (duration + gap) : Self.unreachableEndSeconds
    try group.loop(from: isLooping ? region?.lowerBound ?? 0 : 0, end: end)
  }

  static let keys = [
    ("space", "pause"), ("left right", "move"), ("home", "beginning"),
    ("[ ]", "set loop start, end"),
    ("backspace", "loop everything"), ("l", "loop on or off"),
  ]

  func press(_ key: KeyPress) throws -> Bool {
    switch key {
    case .character(" "):
      try togglePause()
    case .left:
      try step(-1)
    case .right:
      try step(1)
    case .pageUp:
      try step(-4)
    case .pageDown:
      try step(4)
    case .home:
      try move(to: loopStart)
    case .character("["):
      try beginRegionHere()
    case .character("]"):
      try endRegionHere()
    case .backspace:
      try setRegion(nil)
    case .character("l"), .character("L"):
      isLooping.toggle()
      try applyLoop()
    default:
      return false
    }
    return true
  }

  var loopText: String {
    guard isLooping else { return "no loop" }
    guard let region else { return "loop" }
    return "loop \(NumberFormatting.rounded(region.lowerBound, places: 2))-"
      + NumberFormatting.rounded(region.upperBound, places: 2)
  }
}

struct LoopRange: Equatable {
  /// The start in seconds; nil to repeat the whole.
  private var start: Double?
  /// The end in seconds; nil for the end of the longest take.
  private var end: Double?
  private var argument = ""

  init(_ arguments: ParsedArguments) throws(UsageError) {
    guard let word = arguments.value("--loop-range") else { return }
    self.argument = word
    let parts = word.split(separator: "-", omittingEmptySubsequences: false)
    let numbers = parts.map { Double($0) }
    guard parts.count == 2, let start = parts[0].isEmpty ? 0 : numbers[0], start.isFinite,
      parts[1].isEmpty || numbers[1]?.isFinite == true
    else {
      throw UsageError.invalidValue(
        of: "--loop-range", expected: "a range in seconds, such as '0.5-1.2'", actual: word)
    }
    self.start = start
    end = numbers[1]
    if let end, end - start < PatternPlayer.minimumLoopDuration {
      throw UsageError(
        "the loop range \(word.inQuotes) is shorter than \(PatternPlayer.minimumLoopDuration) s")
    }
  }

  func region(of duration: Double) throws(UsageError) -> ClosedRange<Double>? {
    guard let start else { return nil }
    let end = min(end ?? duration, duration)
    guard end - start >= PatternPlayer.minimumLoopDuration else {
      throw UsageError(
        """
        the loop range \(argument.inQuotes) starts after the end at \
        \(NumberFormatting.seconds(duration))
        """
      )
    }
    return start...end
  }
}
