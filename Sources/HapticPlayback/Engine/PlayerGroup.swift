internal import HapticModel
public import HapticRender

/// Players that run in step: what is asked of the group is done to all in one frame, and each has its gain.
///
/// So several patterns can be heard in turn under one play head. While a group is used, its players
/// must not be commanded by anything else. Every call may come from any thread and returns at once.
public final class PlayerGroup: Sendable {
  /// The players, in the order of their gains.
  public let players: [PatternPlayer]
  private let engine: PlaybackEngine
  private let cores: [PlayerCore]

  /// A group of players of one engine, at least one.
  public init(_ players: [PatternPlayer], of engine: PlaybackEngine) {
    precondition(!players.isEmpty, "a group has a player")
    self.players = players
    self.engine = engine
    cores = players.map(\.core)
  }

  /// What the players do, as of the last block.
  public var phase: PlayerStatus.Phase { cores[0].phase }

  /// Seconds that have run, as of the last block.
  public var position: Double { cores[0].position }

  /// The frame of the last start, or nothing before the first.
  public var startFrame: Int64? { cores[0].startFrame }

  /// Plays from a time of the patterns; players that play restart.
  public func start(at time: PlaybackTime = .now, from offset: Double = 0) throws(PlaybackError) {
    let frame = time.frame(rate: engine.rate)
    let entries = entries(at: offset)
    for core in cores { core.withState { $0.startCount += 1 } }
    do throws(PlaybackError) {
      try send(keeping: entries) { .start($0.part, at: frame, from: entries[$0.index]) }
    } catch {
      for core in cores { core.withState { $0.startCount -= 1 } }
      throw error
    }
  }

  /// Pauses the patterns.
  public func pause(at time: PlaybackTime = .now) throws(PlaybackError) {
    let frame = time.frame(rate: engine.rate)
    try send { .pause($0.part, at: frame) }
  }

  /// Resumes paused patterns.
  public func resume(at time: PlaybackTime = .now) throws(PlaybackError) {
    let frame = time.frame(rate: engine.rate)
    try send { .resume($0.part, at: frame) }
  }

  /// Goes on at a time of the patterns; behind the end of a loop, at its start.
  public func seek(to offset: Double, at time: PlaybackTime = .now) throws(PlaybackError) {
    let frame = time.frame(rate: engine.rate)
    let entries = entries(at: offset)
    try send(keeping: entries) { .seek($0.part, to: entries[$0.index], at: frame) }
  }

  /// Repeats a region endlessly; where it lies behind the end of a pattern it is silent.
  ///
  /// The running pass goes on, and is over at once where it is beyond the end.
  public func loop(from start: Double = 0, end: Double, at time: PlaybackTime = .now) throws(PlaybackError) {
    let frame = time.frame(rate: engine.rate)
    let regions = cores.map { LoopRegion(from: start, end: end, of: $0, rate: engine.rate) }
    let entries = regions.flatMap(\.entries)
    try send(keeping: entries) {
      .loop($0.part, passCount: nil, from: entries.isEmpty ? nil : entries[$0.index], end: regions[0].end, at: frame)
    }
    for core in cores { core.withState { $0.isEndless = true } }
  }

  /// Moves the gain of each player, 0 or more.
  ///
  /// - Parameters:
  ///   - gains: One for each player.
  ///   - ramp: Seconds over which they move.
  ///   - time: When the moves start.
  public func setGains(_ gains: [Double], over ramp: Double, at time: PlaybackTime = .now) throws(PlaybackError) {
    try setGains([(gains, time)], over: ramp)
  }

  /// Silences all players and then moves each to its gain, so that no two are ever heard at once.
  ///
  /// - Parameters:
  ///   - gains: One for each player.
  ///   - ramp: Seconds of each of the two moves.
  ///   - time: When the first begins; frames that have been rendered by then are lost to it.
  public func setGainsViaSilence(_ gains: [Double], over ramp: Double, at time: PlaybackTime) throws(PlaybackError) {
    let length = FrameConversion.frame(seconds: max(0, ramp), rate: engine.rate)
    let second = time.frame(rate: engine.rate) + length
    try setGains([(gains.map { _ in 0 }, time), (gains, .frame(second))], over: ramp)
  }

  // MARK: -

  private struct Member {
    let player: Int
    let part: RenderPlayer
    let index: Int
  }

  private var members: [Member] {
    let all = cores.enumerated().flatMap { player, core in core.parts.map { (player, $0) } }
    return all.enumerated().map { Member(player: $1.0, part: $1.1, index: $0) }
  }

  private func setGains(_ moves: [(gains: [Double], time: PlaybackTime)], over ramp: Double) throws(PlaybackError) {
    let length = Int(FrameConversion.frame(seconds: max(0, ramp), rate: engine.rate))
    let commands = moves.flatMap { gains, time in
      let frame = time.frame(rate: engine.rate)
      return members.map { member in
        let gain = gains[member.player]
        return RenderCommand.gain(member.part, gain.isFinite ? max(0, gain) : 0, over: length, at: frame)
      }
    }
    try engine.send(cores, commandCount: moves.count, commands)
    guard let last = moves.last else { return }
    for (core, gain) in zip(cores, last.gains) { core.withState { $0.gain = gain } }
  }

  private func entries(at offset: Double) -> [SharedCuePoint] {
    let frame = FrameConversion.frame(seconds: max(0, offset), rate: engine.rate)
    return cores.flatMap { $0.entries(at: frame) }
  }

  private func send(keeping entries: [SharedCuePoint] = [], _ command: (Member) -> RenderCommand) throws(PlaybackError)
  { try engine.send(cores, commandCount: 1, members.map(command), keeping: entries) }
}
