public import HapticModel
public import HapticRender
internal import Synchronization

/// A pattern loaded into an engine, to be started, stopped and changed at exact times, any number
/// of times.
///
/// Every call may come from any thread and returns at once. Calls take effect in the order of their
/// times, and of one time in the order they were made. A pattern that plays goes on to its end when
/// its player is released, a loop to the end of its pass; one that is paused is forgotten.
public final class PatternPlayer: Sendable {
  /// The shortest pass of a loop, in seconds.
  public static let minimumLoopDuration = 0.01

  private let playerSet: PlayerSet
  var core: PlayerCore { playerSet.cores[0] }
  /// The part that lays the audio.
  package var audioRenderPlayer: RenderPlayer { core.renderPlayers[0] }
  private var engine: PlaybackEngine { playerSet.engine }

  init(_ core: PlayerCore, of engine: PlaybackEngine) {
    playerSet = PlayerSet(cores: [core], engine: engine)
  }

  deinit {
    // Nobody could end it any more, so the running pass is the last.
    if core.withState({ $0.isEndless }) {
      try? loop(passCount: 1)
    }
    core.withState { $0.isOrphaned = true }
    engine.update()
  }

  /// What the player does, as of the last block.
  public var phase: PlayerStatus.Phase { core.phase }

  /// Seconds of the pattern that have run, as of the last block.
  public var position: Double { core.position }

  /// The pattern's duration in seconds.
  public var duration: Double { core.duration }

  /// How often it has ended, by itself or by a stop.
  public var endCount: Int { core.endCount }

  /// Whether a start is still to come.
  public var isWaitingToStart: Bool { core.isWaitingToStart }

  /// The engine's frame of the last end.
  public var endFrame: Int64 { core.endFrame }

  /// The engine's frame of the last start, or nothing before the first.
  public var startFrame: Int64? { core.startFrame }

  /// Voices that found no space, in all.
  public var droppedVoiceCount: Int { core.droppedVoiceCount }

  /// Is called once for each end, on the driver's control thread; it must not wait.
  public var endHandler: (@Sendable () -> Void)? {
    get { core.withState { $0.endHandler } }
    set { core.withState { $0.endHandler = newValue } }
  }

  package func makeWaiterID() -> Int {
    core.withState { state in
      state.lastWaiterID += 1
      return state.lastWaiterID
    }
  }

  /// Calls back once: when the player has ended more often than a number of times, when nothing
  /// drives the engine any more, or at `resume(_:)`; at once where that is so.
  package func wait(_ waiter: Int, afterEndCount count: Int, resume: @escaping @Sendable () -> Void)
  {
    core.withState { $0.waiters[waiter] = (count, resume) }
    core.resumeWaiters()
  }

  package func resumeWaiter(_ waiter: Int) {
    core.withState { $0.waiters.removeValue(forKey: waiter)?.resume }?()
  }

  /// Plays from the beginning, from where the last seek led, or from a time of the pattern;
  /// restarts where it plays.
  public func start(at time: PlaybackTime = .now, from offset: Double? = nil) throws(PlaybackError)
  {
    try playerSet.start(at: time, from: offset)
  }

  /// Ends playing; what sounds fades out within 2 ms.
  public func stop(at time: PlaybackTime = .now) throws(PlaybackError) {
    try playerSet.send(at: time) { .stop($0, at: $1) }
  }

  /// Pauses the pattern.
  public func pause(at time: PlaybackTime = .now) throws(PlaybackError) {
    try playerSet.send(at: time) { .pause($0, at: $1) }
  }

  /// Resumes a paused pattern.
  public func resume(at time: PlaybackTime = .now) throws(PlaybackError) {
    try playerSet.send(at: time) { .resume($0, at: $1) }
  }

  /// Goes on at a time of the pattern; a player that does not play starts there next.
  ///
  /// At or behind the end it ends, or, in a loop, returns to its beginning. Looks at every event
  /// before the place.
  public func seek(to offset: Double, at time: PlaybackTime = .now) throws(PlaybackError) {
    try playerSet.seek(to: offset, at: time)
  }

  /// Stops at once and forgets every call that waits for its time.
  public func cancel() throws(PlaybackError) {
    try playerSet.send(at: .now) { part, _ in .cancel(part) }
  }

  /// Sets how often a start runs through the pattern, the running pass included, or nothing for
  /// endlessly; what sounds where a further pass begins fades in.
  ///
  /// Without a start further passes begin at the pattern's loop point or its beginning; without an
  /// end those that are not the last end at its loop point or its own end. Both are in seconds of
  /// the pattern.
  public func loop(
    passCount: Int?, from start: Double? = nil, end: Double? = nil, at time: PlaybackTime = .now
  )
    throws(PlaybackError)
  {
    let frame = time.frame(rate: engine.rate)
    let region = LoopRegion(from: start, end: end, of: core, rate: engine.rate)
    try playerSet.send(keeping: region.startCuePoints) {
      .loop(
        $0.renderPlayer, passCount: passCount, from: region.startCuePoint(ofPart: $0.index),
        end: region.endFrame, at: frame)
    }
    core.withState { $0.isEndless = passCount == nil }
  }

  /// Sets how fast the pattern runs, 1/64 to 64, without changing any pitch.
  ///
  /// A rate that is not positive is ignored.
  public func setPlaybackRate(_ rate: Double, at time: PlaybackTime = .now) throws(PlaybackError) {
    guard rate > 0 else { return }
    try playerSet.send(at: time) { .playbackRate($0, rate, at: $1) }
  }

  /// Moves the player's own gain, 0 or more, over some seconds, or over 2 ms, which do not click.
  public func setGain(_ gain: Double, over ramp: Double? = nil, at time: PlaybackTime = .now)
    throws(PlaybackError)
  {
    let gain = gain.isFinite ? max(0, gain) : 0
    let isMuted = core.withState { state in
      state.gain = gain
      return state.isMuted
    }
    if !isMuted {
      try sendGain(gain, over: ramp, at: time)
    }
  }

  /// Mutes the player while it plays on, or unmutes it.
  public func setMuted(_ isMuted: Bool, at time: PlaybackTime = .now) throws(PlaybackError) {
    let gain = core.withState { state in
      state.isMuted = isMuted
      return state.gain
    }
    try sendGain(isMuted ? 0 : gain, at: time)
  }

  /// Puts a dynamic parameter in force, replacing what the pattern itself says until its next
  /// change.
  ///
  /// Attack, decay and release act on events that start later.
  public func set(_ id: DynamicParameterID, to value: Float, at time: PlaybackTime = .now)
    throws(PlaybackError)
  {
    let value = id.clamped(value)
    try playerSet.send(at: time) { .control($0, id, value: value, at: $1) }
  }

  /// Runs a parameter curve from a time on; its own time is not regarded.
  public func schedule(_ curve: ParameterCurve, at time: PlaybackTime = .now) throws(PlaybackError)
  {
    let asked = time.frame(rate: engine.rate)
    // What is to start now starts with the next block; its points count from there.
    let start = max(asked, engine.position)
    let points = curve.controlPoints.filter { $0.time.isFinite }.sorted { $0.time < $1.time }.map {
      point in
      (
        frame: start + FrameConversion.frame(seconds: max(0, point.time), rate: engine.rate),
        value: curve.id.clamped(point.value)
      )
    }
    guard let first = points.first, let last = points.last else { return }
    var lines = [(frame: start, value: first.value, slope: 0.0)]
    for (from, to) in zip(points, points.dropFirst()) where to.frame > from.frame {
      let slope = (to.value - from.value) / Double(to.frame - from.frame)
      lines.append((from.frame, from.value, slope))
    }
    lines.append((last.frame, last.value, 0))
    try engine.send(
      [core], commandCount: lines.count,
      lines.flatMap { line in
        core.renderPlayers.map {
          .control($0, curve.id, value: line.value, slope: line.slope, at: line.frame)
        }
      })
  }

  private func sendGain(_ gain: Double, over ramp: Double? = nil, at time: PlaybackTime)
    throws(PlaybackError)
  {
    let length = ramp.map { Int(FrameConversion.frame(seconds: max(0, $0), rate: engine.rate)) }
    try playerSet.send(at: time) { .gain($0, gain, over: length, at: $1) }
  }

  /// Moves what each haptic bus gets of the pattern, all in the same frames; audio stays as it is.
  ///
  /// Each list of factors for the buses takes an equal part of the ramp, in seconds; 0 sets the
  /// last list at once. A later call takes the place of an earlier one whose moves are not over.
  public func setSendGains(_ steps: [[Double]], over ramp: Double = 0, at time: PlaybackTime = .now)
    throws(PlaybackError)
  {
    let asked = time.frame(rate: engine.rate)
    let length = FrameConversion.frame(seconds: max(0, ramp), rate: engine.rate)
    let steps = length > 0 ? steps : Array(steps.suffix(1))
    guard !steps.isEmpty else { return }
    // What is to move now moves with the next block; its steps count from there.
    let start = steps.count > 1 ? max(asked, engine.position) : asked
    let serial = core.withState { state in
      state.sendGainSerial += 1
      return state.sendGainSerial
    }
    var commands: [RenderCommand] = []
    for (index, shares) in steps.enumerated() {
      let begin = length * Int64(index) / Int64(steps.count)
      let end = length * Int64(index + 1) / Int64(steps.count)
      for (bus, part) in core.renderPlayers.enumerated() {
        let share = bus < shares.count ? shares[bus] : 1
        commands.append(
          .sendGain(
            part, share.isFinite ? max(0, share) : 0, over: Int(end - begin), serial: serial,
            at: start + begin)
        )
      }
    }
    try engine.send([core], commandCount: steps.count, commands)
  }
}

/// Why the engine did not take a command, and what to do.
public struct PlaybackError: Error, Equatable, Sendable, CustomStringConvertible {
  /// What to do.
  public enum Kind: String, Sendable {
    /// Wait until commands that were sent have been done, or send fewer.
    case tooManyCommands
    /// Release players that are no longer needed.
    case tooManyPlayers
    /// Close files or end threads, or raise the limits of the process.
    case noResources
  }

  /// What to do.
  public var kind: Kind
  /// One line for the user.
  public var description: String

  static let tooManyCommands = PlaybackError(
    kind: .tooManyCommands, description: "too many scheduled commands; the command was not sent")
  package static let noDescriptors = PlaybackError(
    kind: .noResources,
    description: "no file descriptor is left; close files, or raise the limit with 'ulimit -n'")
  static let noThreads = PlaybackError(
    kind: .noResources,
    description: "no more threads can be started; end some, or raise the limit with 'ulimit -u'")
  static let tooManyPlayers = PlaybackError(
    kind: .tooManyPlayers, description: "too many patterns loaded; release some")
}

/// When something is to happen, on the engine's clock.
public enum PlaybackTime: Equatable, Sendable {
  /// As soon as possible: with the next block.
  case now
  /// At a frame; one that has been rendered already means now.
  case frame(Int64)
  /// Seconds after the engine's frame 0; a time that has passed means now.
  case seconds(Double)

  /// The frame at a rate; 0, which is always past, for now and for NaN.
  func frame(rate: Double) -> Int64 {
    switch self {
    case .now:
      return 0
    case .frame(let frame):
      return max(0, frame)
    case .seconds(let seconds):
      guard seconds > 0 else { return 0 }
      // Thirty years fit, and no session lasts as long.
      return Int64((min(seconds, 1e9) * rate).rounded())
    }
  }
}

/// Players that are commanded together, all their parts in one frame.
struct PlayerSet: Sendable {
  let cores: [PlayerCore]
  let engine: PlaybackEngine

  /// A part with the number of its player, and its own among all parts.
  struct Member {
    let playerIndex: Int
    let renderPlayer: RenderPlayer
    let index: Int
  }

  var members: [Member] {
    let all = cores.enumerated().flatMap { player, core in core.renderPlayers.map { (player, $0) } }
    return all.enumerated().map { Member(playerIndex: $1.0, renderPlayer: $1.1, index: $0) }
  }

  func start(at time: PlaybackTime, from offset: Double?) throws(PlaybackError) {
    let frame = time.frame(rate: engine.rate)
    let entries = offset.map { self.cuePoints(at: $0) }
    for core in cores {
      core.withState { $0.startCount += 1 }
    }
    do throws(PlaybackError) {
      try send(keeping: entries ?? []) {
        .start($0.renderPlayer, at: frame, from: entries?[$0.index])
      }
    } catch {
      for core in cores {
        core.withState { $0.startCount -= 1 }
      }
      throw error
    }
  }

  func seek(to offset: Double, at time: PlaybackTime) throws(PlaybackError) {
    let frame = time.frame(rate: engine.rate)
    let entries = cuePoints(at: offset)
    try send(keeping: entries) { .seek($0.renderPlayer, to: entries[$0.index], at: frame) }
  }

  func send(at time: PlaybackTime, _ command: (RenderPlayer, Int64) -> RenderCommand)
    throws(PlaybackError)
  {
    let frame = time.frame(rate: engine.rate)
    try send { command($0.renderPlayer, frame) }
  }

  func send(keeping entries: [SharedCuePoint] = [], _ command: (Member) -> RenderCommand)
    throws(PlaybackError)
  {
    try engine.send(cores, commandCount: 1, members.map(command), keeping: entries)
  }

  private func cuePoints(at offset: Double) -> [SharedCuePoint] {
    let frame = FrameConversion.frame(seconds: max(0, offset), rate: engine.rate)
    return cores.flatMap { $0.cuePoints(at: frame) }
  }
}

/// Players that run in step: what is asked of the group is done to all in one frame, and each has
/// its gain.
///
/// So several patterns can be heard in turn under one play head. While a group is used, its players
/// must not be commanded by anything else. Every call may come from any thread and returns at once.
public final class PlayerGroup: Sendable {
  /// The players, in the order of their gains.
  public let players: [PatternPlayer]
  private let playerSet: PlayerSet
  private var engine: PlaybackEngine { playerSet.engine }
  private var cores: [PlayerCore] { playerSet.cores }

  /// A group of players of one engine, at least one.
  public init(_ players: [PatternPlayer], of engine: PlaybackEngine) {
    precondition(!players.isEmpty, "a group has a player")
    self.players = players
    playerSet = PlayerSet(cores: players.map(\.core), engine: engine)
  }

  /// What the players do, as of the last block.
  public var phase: PlayerStatus.Phase { cores[0].phase }

  /// Seconds that have run, as of the last block.
  public var position: Double { cores[0].position }

  /// The frame of the last start, or nothing before the first.
  public var startFrame: Int64? { cores[0].startFrame }

  /// Plays from a time of the patterns; players that play restart.
  public func start(at time: PlaybackTime = .now, from offset: Double = 0) throws(PlaybackError) {
    try playerSet.start(at: time, from: offset)
  }

  /// Pauses the patterns.
  public func pause(at time: PlaybackTime = .now) throws(PlaybackError) {
    try playerSet.send(at: time) { .pause($0, at: $1) }
  }

  /// Resumes paused patterns.
  public func resume(at time: PlaybackTime = .now) throws(PlaybackError) {
    try playerSet.send(at: time) { .resume($0, at: $1) }
  }

  /// Goes on at a time of the patterns; behind the end of a loop, at its start.
  public func seek(to offset: Double, at time: PlaybackTime = .now) throws(PlaybackError) {
    try playerSet.seek(to: offset, at: time)
  }

  /// Repeats a region endlessly; where it lies behind the end of a pattern it is silent.
  ///
  /// The running pass goes on, and is over at once where it is beyond the end.
  public func loop(from start: Double = 0, end: Double, at time: PlaybackTime = .now)
    throws(PlaybackError)
  {
    let frame = time.frame(rate: engine.rate)
    let regions = cores.map { LoopRegion(from: start, end: end, of: $0, rate: engine.rate) }
    let entries = regions.flatMap(\.startCuePoints)
    try playerSet.send(keeping: entries) {
      .loop(
        $0.renderPlayer, passCount: nil, from: entries.isEmpty ? nil : entries[$0.index],
        end: regions[0].endFrame, at: frame)
    }
    for core in cores {
      core.withState { $0.isEndless = true }
    }
  }

  /// Moves the gain of each player, 0 or more, over some seconds.
  public func setGains(_ gains: [Double], over ramp: Double, at time: PlaybackTime = .now)
    throws(PlaybackError)
  {
    try setGains([(gains, time)], over: ramp)
  }

  /// Silences all players and then moves each to its gain, so that no two are ever heard at once;
  /// each of the two moves lasts for the ramp, in seconds. Frames that have been rendered when the
  /// first begins are lost to it.
  public func setGainsThroughSilence(_ gains: [Double], over ramp: Double, at time: PlaybackTime)
    throws(PlaybackError)
  {
    let length = FrameConversion.frame(seconds: max(0, ramp), rate: engine.rate)
    let second = time.frame(rate: engine.rate) + length
    try setGains([(gains.map { _ in 0 }, time), (gains, .frame(second))], over: ramp)
  }

  private func setGains(_ moves: [(gains: [Double], time: PlaybackTime)], over ramp: Double)
    throws(PlaybackError)
  {
    let length = Int(FrameConversion.frame(seconds: max(0, ramp), rate: engine.rate))
    let commands = moves.flatMap { gains, time in
      let frame = time.frame(rate: engine.rate)
      return playerSet.members.map { member in
        let gain = gains[member.playerIndex]
        return RenderCommand.gain(
          member.renderPlayer, gain.isFinite ? max(0, gain) : 0, over: length, at: frame)
      }
    }
    try engine.send(cores, commandCount: moves.count, commands)
    guard let last = moves.last else { return }
    for (core, gain) in zip(cores, last.gains) {
      core.withState { $0.gain = gain }
    }
  }
}

/// A loaded pattern as the engine keeps it: one part for each haptic bus, always commanded
/// together.
final class PlayerCore: Sendable {
  /// The first lays the audio.
  let renderPlayers: [RenderPlayer]
  /// The pattern's duration in seconds.
  let duration: Double
  private let state = Locked(State())

  struct State {
    var endHandler: (@Sendable () -> Void)?
    var reportedEndCount = 0
    /// Who waits for an end, with the number of ends before it, by their number.
    var waiters: [Int: (after: Int, resume: @Sendable () -> Void)] = [:]
    var lastWaiterID = 0
    /// Whether no end comes any more, because nothing drives the engine.
    var isStopped = false
    var commandCount = 1
    var startCount = 0
    /// Whether the player was released by its owner.
    var isOrphaned = false
    var isRemoved = false
    var isEndless = false
    var gain = 1.0
    var isMuted = false
    var sendGainSerial: Int64 = 0
  }

  init(
    plans: [RenderPlan], duration: Double, sendGains shares: [SendAutomation],
    recordsChanges keepsChanges: Bool
  ) {
    renderPlayers = plans.enumerated().map { bus, plan in
      RenderPlayer(
        plan: plan, hapticBus: bus, rendersAudio: bus == 0,
        sendGain: bus < shares.count ? shares[bus] : nil,
        recordsChanges: keepsChanges && bus == 0)
    }
    self.duration = duration
  }

  func withState<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
    state.withLock { body(&$0) }
  }

  /// A place in the middle, for each part: a look at every event before it.
  func cuePoints(at frame: Int64) -> [SharedCuePoint] {
    renderPlayers.map { SharedCuePoint(of: $0.plan, at: frame) }
  }

  var isReleased: Bool { renderPlayers.allSatisfy { $0.isReleased } }

  func resumeWaiters() {
    let count = endCount
    let due = state.withLock { state in
      let due = state.waiters.filter { state.isStopped || $0.value.after < count }
      for serial in due.keys {
        state.waiters[serial] = nil
      }
      return due.values.map(\.resume)
    }
    for resume in due {
      resume()
    }
  }

  func markStopped() {
    withState { $0.isStopped = true }
    resumeWaiters()
  }

  var endCount: Int {
    renderPlayers.map { $0.withStatus { $0.endCount.load(ordering: .acquiring) } }.min() ?? 0
  }

  var endFrame: Int64 {
    renderPlayers.map { $0.withStatus { $0.endFrame.load(ordering: .relaxed) } }.max() ?? 0
  }

  /// The frame of the last start, or nothing before the first.
  var startFrame: Int64? {
    renderPlayers.first?.withStatus { status in
      status.startCount.load(ordering: .acquiring) == 0
        ? nil : status.startFrame.load(ordering: .relaxed)
    }
  }

  var phase: PlayerStatus.Phase {
    let phases = renderPlayers.map { $0.withStatus { $0.phase } }
    return phases.first { $0 != .idle } ?? .idle
  }

  var position: Double {
    guard let first = renderPlayers.first else { return 0 }
    return Double(first.withStatus { $0.position.load(ordering: .relaxed) }) / first.plan.rate
  }

  var isWaitingToStart: Bool {
    let sent = withState { $0.startCount }
    return renderPlayers.contains { part in
      part.withStatus { status in
        status.startCount.load(ordering: .acquiring)
          + status.droppedStartCount.load(ordering: .acquiring) < sent
      }
    }
  }

  var droppedVoiceCount: Int {
    renderPlayers.reduce(0) { $0 + $1.withStatus { $0.droppedVoiceCount.load(ordering: .relaxed) } }
  }

  /// Whether the player was released, has no command to come, and does not play.
  var canBeRemoved: Bool {
    let (isOrphaned, isRemoved, sent) = withState { ($0.isOrphaned, $0.isRemoved, $0.commandCount) }
    guard isOrphaned, !isRemoved else { return false }
    return renderPlayers.allSatisfy { part in
      part.withStatus { status in
        status.completedCommandCount.load(ordering: .acquiring) >= sent && status.phase != .playing
      }
    }
  }

  func markRemoved() { withState { $0.isRemoved = true } }

  /// Calls the end handler once for each end since the last call.
  func reportEnds() {
    resumeWaiters()
    let (count, handler) = withState { state in
      // Counted under the lock: several threads report, and an older count must not follow a newer
      // one.
      let ended = endCount
      let count = ended - state.reportedEndCount
      state.reportedEndCount = ended
      return (count, state.endHandler)
    }
    guard count > 0, let handler else { return }
    for _ in 0..<count {
      handler()
    }
  }
}

/// The part of a pattern that a loop repeats, in frames, with the places where its passes begin.
struct LoopRegion {
  /// The frame at which a pass ends, or 0 for the pattern's own end, where all parts have the same.
  let endFrame: Int64
  /// Where further passes begin, one for each part; none for the pattern's beginning.
  let startCuePoints: [SharedCuePoint]

  /// A region in seconds; one that is shorter than the shortest loop is made as long. Without a
  /// start or an end it has that of the composition's loop points, if there are any.
  init(from start: Double?, end: Double?, of core: PlayerCore, rate: Double) {
    let range = core.renderPlayers.first?.plan.loopRange
    let begin = start ?? range.map { Double($0.lowerBound) / rate } ?? 0
    let start = begin.isFinite ? max(0, begin) : 0
    let close = end ?? range.map { Double($0.upperBound) / rate }
    let last = close.map { max($0, start + PatternPlayer.minimumLoopDuration) }
    self.endFrame =
      last.map { FrameConversion.frame(seconds: $0, rate: rate) }
      ?? RenderPlan.commonLoopLength(of: core.renderPlayers.map(\.plan))
    startCuePoints =
      start > 0 ? core.cuePoints(at: FrameConversion.frame(seconds: start, rate: rate)) : []
  }

  func startCuePoint(ofPart part: Int) -> SharedCuePoint? {
    startCuePoints.isEmpty ? nil : startCuePoints[part]
  }
}

/// How warm transducers were when they were last driven, for whatever drives them next in this
/// process. A transducer is known by its profile and its channel. Those of other processes are not
/// known.
final class ThermalStateStore: Sendable {
  static let shared = ThermalStateStore()

  private struct Entry {
    var profile: TransducerProfile
    var channel: Int
    var temperatureRise: TransducerThermalState
    var moment: Duration
  }

  private let entries = Locked<[Entry]>([])

  func store(
    _ temperatureRise: [TransducerThermalState], of routing: OutputRouting, at moment: Duration
  ) {
    entries.withLock { entries in
      for (channel, (route, temperatureRise)) in zip(routing.channels, temperatureRise).enumerated()
      {
        guard let profile = route.transducer else { continue }
        entries.removeAll { $0.channel == channel && $0.profile == profile }
        entries.append(
          Entry(
            profile: profile, channel: channel, temperatureRise: temperatureRise, moment: moment))
      }
    }
  }

  func temperatureRise(of routing: OutputRouting, at moment: Duration) -> [TransducerThermalState] {
    entries.withLock { entries in
      routing.channels.enumerated().map { channel, route in
        guard let profile = route.transducer,
          let entry = entries.first(where: { $0.channel == channel && $0.profile == profile })
        else { return TransducerThermalState() }
        let seconds = max(0, (moment - entry.moment) / .seconds(1))
        let thermal = profile.hardware?.thermal ?? ThermalParameters()
        return entry.temperatureRise.cooled(for: seconds, by: thermal)
      }
    }
  }
}
