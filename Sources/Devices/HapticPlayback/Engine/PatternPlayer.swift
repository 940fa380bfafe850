public import HapticModel
public import HapticRender
internal import Synchronization

/// A player that starts, stops, and changes a loaded pattern at exact times, any number of times.
///
/// Every call may come from any thread and returns at once. Calls take effect in the order of their
/// times. Calls for the same time take effect in the order in which they were made. After a player
/// is released, its pattern plays to the end, and a loop plays to the end of the current pass. A
/// paused pattern is discarded.
public final class PatternPlayer: Sendable {
  /// The minimum duration of one pass of a loop, in seconds.
  public static let minimumLoopDuration = 0.01

  private let playerSet: PlayerSet
  var firstCore: PlayerCore { playerSet.cores[0] }
  /// The render player of the first bus, which also renders the audio.
  package var audioRenderPlayer: RenderPlayer { firstCore.renderPlayers[0] }
  private var engine: PlaybackEngine { playerSet.engine }

  init(_ core: PlayerCore, of engine: PlaybackEngine) {
    playerSet = PlayerSet(cores: [core], engine: engine)
  }

  deinit {
    // No call can end the loop after this point, so the current pass is the last.
    if firstCore.withState({ $0.loopsEndlessly }) {
      try? loop(passCount: 1)
    }
    firstCore.withState { $0.isReleasedByOwner = true }
    engine.update()
  }

  /// The playback phase, as of the last block.
  public var phase: PlayerStatus.Phase { firstCore.phase }

  /// The elapsed time of the pattern in seconds, as of the last block.
  public var position: Double { firstCore.position }

  /// The pattern's duration in seconds.
  public var duration: Double { firstCore.duration }

  /// The number of times that the pattern has ended or was stopped.
  public var endCount: Int { firstCore.endCount }

  /// A Boolean value that indicates whether a start is scheduled and the pattern has not started
  /// yet.
  public var isWaitingToStart: Bool { firstCore.isWaitingToStart }

  /// The frame of the engine at which the pattern last ended.
  public var endFrame: Int64 { firstCore.endFrame }

  /// The frame of the engine at which the pattern last started, or nil before the first start.
  public var startFrame: Int64? { firstCore.startFrame }

  /// The total number of voices that were dropped because all voices were in use.
  public var droppedVoiceCount: Int { firstCore.droppedVoiceCount }

  /// A closure that is called once for each end, on the driver's control thread. It must not block.
  public var endHandler: (@Sendable () -> Void)? {
    get { firstCore.withState { $0.endHandler } }
    set { firstCore.withState { $0.endHandler = newValue } }
  }

  package func makeEndWaiterID() -> Int {
    firstCore.withState { state in
      state.lastEndWaiterID += 1
      return state.lastEndWaiterID
    }
  }

  /// Calls a closure once, as soon as `endCount` exceeds `count`, the engine's driver stops, or
  /// `resumeEndWaiter(_:)` is called.
  ///
  /// - Parameters:
  ///   - waiter: The ID from `makeEndWaiterID()`.
  ///   - count: The end count that must be exceeded.
  ///   - resume: The closure. If a condition already holds, it is called before this method
  ///     returns.
  package func addEndWaiter(
    _ waiter: Int, afterEndCount count: Int, resume: @escaping @Sendable () -> Void
  ) {
    firstCore.withState { $0.endWaiters[waiter] = (count, resume) }
    firstCore.resumeEndWaiters()
  }

  package func resumeEndWaiter(_ waiter: Int) {
    firstCore.withState { $0.endWaiters.removeValue(forKey: waiter)?.resume }?()
  }

  /// Starts or restarts the pattern.
  ///
  /// - Parameters:
  ///   - time: The time at which the pattern starts.
  ///   - offset: The position in the pattern in seconds; nil for the position of the last seek, or
  ///     the beginning.
  public func start(at time: PlaybackTime = .now, from offset: Double? = nil) throws(PlaybackError)
  {
    try playerSet.start(at: time, from: offset)
  }

  /// Stops the pattern. Active voices fade out within 2 ms.
  public func stop(at time: PlaybackTime = .now) throws(PlaybackError) {
    try playerSet.sendCommands(at: time) { .stop($0, at: $1) }
  }

  /// Pauses the pattern at a time on the engine's clock.
  public func pause(at time: PlaybackTime = .now) throws(PlaybackError) {
    try playerSet.sendCommands(at: time) { .pause($0, at: $1) }
  }

  /// Resumes a paused pattern at a time on the engine's clock.
  public func resume(at time: PlaybackTime = .now) throws(PlaybackError) {
    try playerSet.sendCommands(at: time) { .resume($0, at: $1) }
  }

  /// Moves to a position in the pattern. A player that is not playing starts from there next time.
  /// A position at or after the end ends the pattern, or returns a loop to its beginning.
  ///
  /// - Parameters:
  ///   - offset: The position in seconds.
  ///   - time: The time of the move.
  /// - Complexity: O(*n*) in the number of events before the position.
  public func seek(to offset: Double, at time: PlaybackTime = .now) throws(PlaybackError) {
    try playerSet.seek(to: offset, at: time)
  }

  /// Stops the pattern at once and discards every scheduled call.
  public func cancel() throws(PlaybackError) {
    try playerSet.sendCommands(at: .now) { part, _ in .cancel(part) }
  }

  /// Sets the number of passes of each start. Voices that are active at the start of a later pass
  /// fade in.
  ///
  /// - Parameters:
  ///   - passCount: The number of passes, including the current pass; nil for an endless loop.
  ///   - start: The position in seconds at which later passes begin; nil for the pattern's loop
  ///     start, or its beginning.
  ///   - end: The position in seconds at which all passes except the last end; nil for the
  ///     pattern's loop end, or its end.
  ///   - time: The time of the change.
  public func loop(
    passCount: Int?, from start: Double? = nil, end: Double? = nil, at time: PlaybackTime = .now
  )
    throws(PlaybackError)
  {
    let startFrame = time.frame(rate: engine.rate)
    let loopRegion = LoopRegion(from: start, end: end, of: firstCore, rate: engine.rate)
    try playerSet.sendCommands(keeping: loopRegion.startCuePoints) {
      .loop(
        $0.renderPlayer, passCount: passCount,
        from: loopRegion.startCuePoint(ofRenderPlayer: $0.renderPlayerIndex),
        end: loopRegion.endFrame, at: startFrame)
    }
    firstCore.withState { $0.loopsEndlessly = passCount == nil }
  }

  /// Sets the playback rate, 1/64 to 64, without changing the pitch.
  ///
  /// A rate that is not positive is ignored.
  public func setPlaybackRate(_ rate: Double, at time: PlaybackTime = .now) throws(PlaybackError) {
    guard rate > 0 else { return }
    try playerSet.sendCommands(at: time) { .playbackRate($0, rate, at: $1) }
  }

  /// Changes the gain of the player.
  ///
  /// - Parameters:
  ///   - gain: The gain, 0 or more.
  ///   - ramp: The duration of the change in seconds; nil for 2 ms, which avoids a click.
  ///   - time: The start of the change.
  public func setGain(_ gain: Double, over ramp: Double? = nil, at time: PlaybackTime = .now)
    throws(PlaybackError)
  {
    let finiteGain = gain.isFinite ? max(0, gain) : 0
    let isMuted = firstCore.withState { state in
      state.gain = finiteGain
      return state.isMuted
    }
    if !isMuted {
      try sendGain(finiteGain, over: ramp, at: time)
    }
  }

  /// Mutes or unmutes the player, which continues to play.
  public func setMuted(_ isMuted: Bool, at time: PlaybackTime = .now) throws(PlaybackError) {
    let unmutedGain = firstCore.withState { state in
      state.isMuted = isMuted
      return state.gain
    }
    try sendGain(isMuted ? 0 : unmutedGain, at: time)
  }

  /// Sets a dynamic parameter, which replaces the pattern's own value until the pattern changes it.
  ///
  /// Attack, decay, and release affect events that start later.
  public func set(_ id: DynamicParameterID, to value: Float, at time: PlaybackTime = .now)
    throws(PlaybackError)
  {
    let clampedValue = id.clamped(value)
    try playerSet.sendCommands(at: time) { .control($0, id, value: clampedValue, at: $1) }
  }

  /// Schedules a parameter curve to start at the given time. The curve's own start time is ignored.
  public func schedule(_ curve: ParameterCurve, at time: PlaybackTime = .now) throws(PlaybackError)
  {
    let requestedFrame = time.frame(rate: engine.rate)
    // A curve scheduled for `now` starts with the next block, and its point times are relative to
    // that block.
    let startFrame = max(requestedFrame, engine.position)
    let sortedPoints = curve.controlPoints.filter { $0.time.isFinite }.sorted { $0.time < $1.time }
    let breakpoints = sortedPoints.map { point in
      (
        frame: startFrame + FrameConversion.frame(seconds: max(0, point.time), rate: engine.rate),
        value: curve.id.clamped(point.value)
      )
    }
    guard let firstPoint = breakpoints.first, let lastPoint = breakpoints.last else { return }
    var curveSegments = [(frame: startFrame, value: firstPoint.value, slope: 0.0)]
    for (from, to) in zip(breakpoints, breakpoints.dropFirst()) where to.frame > from.frame {
      let slope = (to.value - from.value) / Double(to.frame - from.frame)
      curveSegments.append((from.frame, from.value, slope))
    }
    curveSegments.append((lastPoint.frame, lastPoint.value, 0))
    try engine.send(
      [firstCore], commandCount: curveSegments.count,
      curveSegments.flatMap { line in
        firstCore.renderPlayers.map {
          .control($0, curve.id, value: line.value, slope: line.slope, at: line.frame)
        }
      })
  }

  private func sendGain(_ gain: Double, over ramp: Double? = nil, at time: PlaybackTime)
    throws(PlaybackError)
  {
    let rampFrames = ramp.map { Int(FrameConversion.frame(seconds: max(0, $0), rate: engine.rate)) }
    try playerSet.sendCommands(at: time) { .gain($0, gain, over: rampFrames, at: $1) }
  }

  /// Changes the send gains of the pattern for all haptic buses, in the same frames. Audio is not
  /// affected.
  ///
  /// A later call replaces an earlier one whose changes are not complete.
  ///
  /// - Parameters:
  ///   - steps: The send gains of all buses, one list for each equal part of the ramp.
  ///   - ramp: The duration of all steps in seconds; 0 sets the last list at once.
  ///   - time: The start of the first step.
  public func setSendGains(_ steps: [[Double]], over ramp: Double = 0, at time: PlaybackTime = .now)
    throws(PlaybackError)
  {
    let requestedFrame = time.frame(rate: engine.rate)
    let rampFrames = FrameConversion.frame(seconds: max(0, ramp), rate: engine.rate)
    let gainSteps = rampFrames > 0 ? steps : Array(steps.suffix(1))
    guard !gainSteps.isEmpty else { return }
    // Changes scheduled for `now` start with the next block, and their steps are timed from that
    // block.
    let rampStartFrame = gainSteps.count > 1 ? max(requestedFrame, engine.position) : requestedFrame
    let gainSerial = firstCore.withState { state in
      state.lastSendGainSerialNumber += 1
      return state.lastSendGainSerialNumber
    }
    var gainCommands: [RenderCommand] = []
    for (index, gains) in gainSteps.enumerated() {
      let stepStart = rampFrames * Int64(index) / Int64(gainSteps.count)
      let stepEnd = rampFrames * Int64(index + 1) / Int64(gainSteps.count)
      for (bus, renderPlayer) in firstCore.renderPlayers.enumerated() {
        let gain = bus < gains.count ? gains[bus] : 1
        gainCommands.append(
          .sendGain(
            renderPlayer, gain.isFinite ? max(0, gain) : 0, over: Int(stepEnd - stepStart),
            requestSerialNumber: gainSerial,
            at: rampStartFrame + stepStart)
        )
      }
    }
    try engine.send([firstCore], commandCount: gainSteps.count, gainCommands)
  }
}

/// An error that the engine reports, with its remedy.
public struct PlaybackError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The kind of a playback error, which determines the remedy.
  public enum Kind: String, Sendable {
    /// Too many commands are pending. The remedy is to wait until earlier commands are complete, or
    /// to send fewer.
    case tooManyCommands
    /// Too many players are loaded. The remedy is to release players that are no longer needed.
    case tooManyPlayers
    /// A resource of the process is exhausted. The remedy is to close files, end threads, or raise
    /// the limits of the process.
    case noResources
  }

  /// The kind of the error, which determines the remedy.
  public var kind: Kind
  /// The message for the user, on one line.
  public var description: String

  static let tooManyCommands = PlaybackError(
    kind: .tooManyCommands, description: "too many scheduled commands; the command was not sent")
  package static let fileLimitReached = PlaybackError(
    kind: .noResources,
    description: "no free file descriptors; close files, or raise the limit with 'ulimit -n'")
  static let threadLimitReached = PlaybackError(
    kind: .noResources,
    description:
      "cannot start more threads; close other programs, or raise the limit with 'ulimit -u'")
  static let tooManyPlayers = PlaybackError(
    kind: .tooManyPlayers, description: "too many patterns loaded; release some")
}

/// A time on the engine's clock.
public enum PlaybackTime: Equatable, Sendable {
  /// The time of the next rendered block.
  case now
  /// The time of a frame. A frame that has already been rendered means now.
  case frame(Int64)
  /// The time in seconds after the engine's frame 0. A time in the past means now.
  case seconds(Double)

  /// Returns the frame of the time at a sample rate.
  /// For `now` and NaN, the frame is 0, which is always in the past.
  func frame(rate: Double) -> Int64 {
    switch self {
    case .now:
      return 0
    case .frame(let frame):
      return max(0, frame)
    case .seconds(let startSeconds):
      guard startSeconds > 0 else { return 0 }
      // 1e9 seconds are 30 years, longer than any session.
      return Int64((min(startSeconds, 1e9) * rate).rounded())
    }
  }
}

/// A set of pattern players. All their render players receive each command in the same frame.
struct PlayerSet: Sendable {
  /// The loaded patterns of the set, each with its render players.
  let cores: [PlayerCore]
  let engine: PlaybackEngine

  /// A render player with the index of its pattern player and its own index in the set.
  struct IndexedRenderPlayer {
    let patternPlayerIndex: Int
    let renderPlayer: RenderPlayer
    let renderPlayerIndex: Int
  }

  var indexedRenderPlayers: [IndexedRenderPlayer] {
    let indexedPlayers = cores.enumerated().flatMap { player, core in
      core.renderPlayers.map { (player, $0) }
    }
    return indexedPlayers.enumerated().map {
      IndexedRenderPlayer(patternPlayerIndex: $1.0, renderPlayer: $1.1, renderPlayerIndex: $0)
    }
  }

  func start(at time: PlaybackTime, from offset: Double?) throws(PlaybackError) {
    let startFrame = time.frame(rate: engine.rate)
    let cuePoints = offset.map { self.cuePoints(at: $0) }
    for core in cores {
      core.withState { $0.sentStartCount += 1 }
    }
    do throws(PlaybackError) {
      try sendCommands(keeping: cuePoints ?? []) {
        .start($0.renderPlayer, at: startFrame, from: cuePoints?[$0.renderPlayerIndex])
      }
    } catch {
      for core in cores {
        core.withState { $0.sentStartCount -= 1 }
      }
      throw error
    }
  }

  func seek(to offset: Double, at time: PlaybackTime) throws(PlaybackError) {
    let seekFrame = time.frame(rate: engine.rate)
    let seekCuePoints = cuePoints(at: offset)
    try sendCommands(keeping: seekCuePoints) {
      .seek($0.renderPlayer, to: seekCuePoints[$0.renderPlayerIndex], at: seekFrame)
    }
  }

  func sendCommands(at time: PlaybackTime, _ command: (RenderPlayer, Int64) -> RenderCommand)
    throws(PlaybackError)
  {
    let commandFrame = time.frame(rate: engine.rate)
    try sendCommands { command($0.renderPlayer, commandFrame) }
  }

  func sendCommands(
    keeping cuePoints: [SharedCuePoint] = [], _ command: (IndexedRenderPlayer) -> RenderCommand
  )
    throws(PlaybackError)
  {
    try engine.send(cores, commandCount: 1, indexedRenderPlayers.map(command), keeping: cuePoints)
  }

  private func cuePoints(at offset: Double) -> [SharedCuePoint] {
    let cueFrame = FrameConversion.frame(seconds: max(0, offset), rate: engine.rate)
    return cores.flatMap { $0.cuePoints(at: cueFrame) }
  }
}

/// A group that plays several patterns in sync.
/// Every command applies to all players in the same frame, and each player has its own gain.
///
/// A group lets a program switch between several patterns under one play head. While a group is in
/// use, its players must not receive other commands. Every call may come from any thread and
/// returns at once.
public final class PlayerGroup: Sendable {
  /// The players of the group, in the order of the gains that its methods expect.
  public let players: [PatternPlayer]
  private let playerSet: PlayerSet
  private var engine: PlaybackEngine { playerSet.engine }
  private var cores: [PlayerCore] { playerSet.cores }

  /// Creates a group.
  ///
  /// - Parameters:
  ///   - players: At least one player.
  ///   - engine: The engine of all players.
  public init(_ players: [PatternPlayer], of engine: PlaybackEngine) {
    precondition(!players.isEmpty, "a group has a player")
    self.players = players
    playerSet = PlayerSet(cores: players.map(\.firstCore), engine: engine)
  }

  /// The playback phase, as of the last block.
  public var phase: PlayerStatus.Phase { cores[0].phase }

  /// The elapsed time of the patterns in seconds, as of the last block.
  public var position: Double { cores[0].position }

  /// The frame of the engine at the last start, or nil before the first start.
  public var startFrame: Int64? { cores[0].startFrame }

  /// Starts or restarts the patterns.
  ///
  /// - Parameters:
  ///   - time: The time at which the patterns start.
  ///   - offset: The position in the patterns in seconds.
  public func start(at time: PlaybackTime = .now, from offset: Double = 0) throws(PlaybackError) {
    try playerSet.start(at: time, from: offset)
  }

  /// Pauses all patterns of the group.
  public func pause(at time: PlaybackTime = .now) throws(PlaybackError) {
    try playerSet.sendCommands(at: time) { .pause($0, at: $1) }
  }

  /// Resumes all paused patterns of the group.
  public func resume(at time: PlaybackTime = .now) throws(PlaybackError) {
    try playerSet.sendCommands(at: time) { .resume($0, at: $1) }
  }

  /// Moves to a position in the patterns, in seconds. The position after the end of a loop is the
  /// start of the loop.
  public func seek(to offset: Double, at time: PlaybackTime = .now) throws(PlaybackError) {
    try playerSet.seek(to: offset, at: time)
  }

  /// Loops a region of all patterns endlessly. If the region extends beyond the end of a pattern,
  /// the pattern is silent there.
  ///
  /// The current pass continues. If it is already beyond the end of the region, it ends at once.
  ///
  /// - Parameters:
  ///   - start: The start of the region in seconds.
  ///   - end: The end of the region in seconds.
  ///   - time: The time of the change.
  public func loop(from start: Double = 0, end: Double, at time: PlaybackTime = .now)
    throws(PlaybackError)
  {
    let loopChangeFrame = time.frame(rate: engine.rate)
    let loopRegions = cores.map { LoopRegion(from: start, end: end, of: $0, rate: engine.rate) }
    let startCuePoints = loopRegions.flatMap(\.startCuePoints)
    try playerSet.sendCommands(keeping: startCuePoints) {
      .loop(
        $0.renderPlayer, passCount: nil,
        from: startCuePoints.isEmpty ? nil : startCuePoints[$0.renderPlayerIndex],
        end: loopRegions[0].endFrame, at: loopChangeFrame)
    }
    for core in cores {
      core.withState { $0.loopsEndlessly = true }
    }
  }

  /// Changes the gain of each player.
  ///
  /// - Parameters:
  ///   - gains: The gains of all players, 0 or more.
  ///   - ramp: The duration of the change in seconds.
  ///   - time: The start of the change.
  public func setGains(_ gains: [Double], over ramp: Double, at time: PlaybackTime = .now)
    throws(PlaybackError)
  {
    try setGains([(gains, time)], over: ramp)
  }

  /// Fades all players to silence and then to their gains, so that two patterns are never heard at
  /// the same time.
  ///
  /// The fades shorten if their first frames have already been rendered.
  ///
  /// - Parameters:
  ///   - gains: The gains of all players, 0 or more.
  ///   - ramp: The duration of each of the two fades in seconds.
  ///   - time: The start of the first fade.
  public func setGainsThroughSilence(_ gains: [Double], over ramp: Double, at time: PlaybackTime)
    throws(PlaybackError)
  {
    let rampFrames = FrameConversion.frame(seconds: max(0, ramp), rate: engine.rate)
    let secondFadeFrame = time.frame(rate: engine.rate) + rampFrames
    try setGains([(gains.map { _ in 0 }, time), (gains, .frame(secondFadeFrame))], over: ramp)
  }

  private func setGains(_ moves: [(gains: [Double], time: PlaybackTime)], over ramp: Double)
    throws(PlaybackError)
  {
    let rampFrames = Int(FrameConversion.frame(seconds: max(0, ramp), rate: engine.rate))
    let gainCommands = moves.flatMap { gains, time in
      let frame = time.frame(rate: engine.rate)
      return playerSet.indexedRenderPlayers.map { member in
        let gain = gains[member.patternPlayerIndex]
        return RenderCommand.gain(
          member.renderPlayer, gain.isFinite ? max(0, gain) : 0, over: rampFrames, at: frame)
      }
    }
    try engine.send(cores, commandCount: moves.count, gainCommands)
    guard let lastMove = moves.last else { return }
    for (core, gain) in zip(cores, lastMove.gains) {
      core.withState { $0.gain = gain }
    }
  }
}

/// The engine's internal representation of a loaded pattern. It has one render player for each
/// haptic bus, and all of them receive the same commands.
final class PlayerCore: Sendable {
  /// The render players, one for each haptic bus. The first player also renders the audio.
  let renderPlayers: [RenderPlayer]
  /// The pattern's duration in seconds.
  let duration: Double
  private let state = Locked(State())

  struct State {
    var endHandler: (@Sendable () -> Void)?
    var reportedPlaybackEndCount = 0
    /// The closures to call when the pattern ends, by waiter ID, each with the end count to exceed.
    var endWaiters: [Int: (after: Int, resume: @Sendable () -> Void)] = [:]
    var lastEndWaiterID = 0
    /// A Boolean value that indicates whether the pattern can no longer end, because no driver runs
    /// the engine.
    var hasDriverEnded = false
    var sentCommandCount = 1
    var sentStartCount = 0
    /// A Boolean value that indicates whether the owner has released the player.
    var isReleasedByOwner = false
    var isRemovedFromEngine = false
    var loopsEndlessly = false
    var gain = 1.0
    var isMuted = false
    var lastSendGainSerialNumber: Int64 = 0
  }

  init(
    plans: [RenderPlan], duration: Double, sendGains: [SendAutomation],
    recordsChanges: Bool
  ) {
    renderPlayers = plans.enumerated().map { bus, plan in
      RenderPlayer(
        plan: plan, hapticBus: bus, rendersAudio: bus == 0,
        sendGain: bus < sendGains.count ? sendGains[bus] : nil,
        recordsChanges: recordsChanges && bus == 0)
    }
    self.duration = duration
  }

  func withState<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
    state.withLock { body(&$0) }
  }

  /// Returns a cue point at a frame of the pattern for each render player.
  ///
  /// - Complexity: O(*n*) in the number of events before the frame.
  func cuePoints(at frame: Int64) -> [SharedCuePoint] {
    renderPlayers.map { SharedCuePoint(of: $0.plan, at: frame) }
  }

  var isReleased: Bool { renderPlayers.allSatisfy { $0.isReleased } }

  func resumeEndWaiters() {
    let currentEndCount = endCount
    let dueResumptions = state.withLock { state in
      let due = state.endWaiters.filter { state.hasDriverEnded || $0.value.after < currentEndCount }
      for serial in due.keys {
        state.endWaiters[serial] = nil
      }
      return due.values.map(\.resume)
    }
    for resume in dueResumptions {
      resume()
    }
  }

  func markDriverEnded() {
    withState { $0.hasDriverEnded = true }
    resumeEndWaiters()
  }

  var endCount: Int {
    renderPlayers.map { $0.withStatus { $0.endCount.load(ordering: .acquiring) } }.min() ?? 0
  }

  var endFrame: Int64 {
    renderPlayers.map { $0.withStatus { $0.endOutputFrame.load(ordering: .relaxed) } }.max() ?? 0
  }

  /// The frame of the engine at the last start, or nil before the first start.
  var startFrame: Int64? {
    renderPlayers.first?.withStatus { status in
      status.startCount.load(ordering: .acquiring) == 0
        ? nil : status.startOutputFrame.load(ordering: .relaxed)
    }
  }

  var phase: PlayerStatus.Phase {
    let playerPhases = renderPlayers.map { $0.withStatus { $0.phase } }
    return playerPhases.first { $0 != .idle } ?? .idle
  }

  var position: Double {
    guard let firstPlayer = renderPlayers.first else { return 0 }
    return Double(firstPlayer.withStatus { $0.patternFrame.load(ordering: .relaxed) })
      / firstPlayer.plan.rate
  }

  var isWaitingToStart: Bool {
    let sentStartCount = withState { $0.sentStartCount }
    return renderPlayers.contains { part in
      part.withStatus { status in
        status.startCount.load(ordering: .acquiring)
          + status.droppedStartCount.load(ordering: .acquiring) < sentStartCount
      }
    }
  }

  var droppedVoiceCount: Int {
    renderPlayers.reduce(0) { $0 + $1.withStatus { $0.droppedVoiceCount.load(ordering: .relaxed) } }
  }

  /// A Boolean value that indicates whether the player was released, has no pending command, and is
  /// not playing.
  var canBeRemoved: Bool {
    let (isOrphaned, isRemoved, sent) = withState {
      ($0.isReleasedByOwner, $0.isRemovedFromEngine, $0.sentCommandCount)
    }
    guard isOrphaned, !isRemoved else { return false }
    return renderPlayers.allSatisfy { part in
      part.withStatus { status in
        status.completedCommandCount.load(ordering: .acquiring) >= sent && status.phase != .playing
      }
    }
  }

  func markRemoved() { withState { $0.isRemovedFromEngine = true } }

  /// Calls the end handler once for each end since the last call.
  func reportPlaybackEnds() {
    resumeEndWaiters()
    let (count, handler) = withState { state in
      // This count is taken under the lock: several threads report ends, and an older count must
      // not follow a newer one.
      let ended = endCount
      let count = ended - state.reportedPlaybackEndCount
      state.reportedPlaybackEndCount = ended
      return (count, state.endHandler)
    }
    guard count > 0, let handler else { return }
    for _ in 0..<count {
      handler()
    }
  }
}

/// The region of a pattern that a loop repeats.
struct LoopRegion {
  /// The frame at which a pass ends, or 0 for the end of the pattern if all render players end
  /// there.
  let endFrame: Int64
  /// The cue points at which later passes begin, one for each render player; empty if they begin at
  /// the start of the pattern.
  let startCuePoints: [SharedCuePoint]

  /// Creates a loop region, which is extended to the minimum loop duration if necessary.
  ///
  /// - Parameters:
  ///   - start: The start in seconds; nil for the composition's loop start, or its beginning.
  ///   - end: The end in seconds; nil for the composition's loop end, or its end.
  ///   - core: The loaded pattern.
  ///   - rate: The sample rate in hertz.
  init(from start: Double?, end: Double?, of core: PlayerCore, rate: Double) {
    let compositionLoopFrames = core.renderPlayers.first?.plan.loopRange
    let startSeconds = start ?? compositionLoopFrames.map { Double($0.lowerBound) / rate } ?? 0
    let start = startSeconds.isFinite ? max(0, startSeconds) : 0
    let requestedEnd = end ?? compositionLoopFrames.map { Double($0.upperBound) / rate }
    let endSeconds = requestedEnd.map { max($0, start + PatternPlayer.minimumLoopDuration) }
    self.endFrame =
      endSeconds.map { FrameConversion.frame(seconds: $0, rate: rate) }
      ?? RenderPlan.commonLoopFrameCount(of: core.renderPlayers.map(\.plan))
    startCuePoints =
      start > 0 ? core.cuePoints(at: FrameConversion.frame(seconds: start, rate: rate)) : []
  }

  func startCuePoint(ofRenderPlayer part: Int) -> SharedCuePoint? {
    startCuePoints.isEmpty ? nil : startCuePoints[part]
  }
}

/// Stores the temperatures of the transducers that this process has driven, so that the next
/// playback starts with them. A transducer is identified by its profile and its channel. Heating by
/// other processes is not included.
final class ThermalStateStore: Sendable {
  static let shared = ThermalStateStore()

  private struct StoredState {
    var profile: TransducerProfile
    var channelIndex: Int
    var thermalState: TransducerThermalState
    var storageTime: Duration
  }

  private let entries = Locked<[StoredState]>([])

  func store(
    _ thermalStates: [TransducerThermalState], of routing: OutputRouting, at moment: Duration
  ) {
    entries.withLock { entries in
      for (channel, (route, thermalState)) in zip(routing.channels, thermalStates).enumerated() {
        guard let profile = route.transducer else { continue }
        entries.removeAll { $0.channelIndex == channel && $0.profile == profile }
        entries.append(
          StoredState(
            profile: profile, channelIndex: channel, thermalState: thermalState, storageTime: moment
          ))
      }
    }
  }

  func thermalStates(of routing: OutputRouting, at moment: Duration) -> [TransducerThermalState] {
    entries.withLock { entries in
      routing.channels.enumerated().map { channel, route in
        guard let profile = route.transducer,
          let entry = entries.first(where: { $0.channelIndex == channel && $0.profile == profile })
        else { return TransducerThermalState() }
        let seconds = max(0, (moment - entry.storageTime) / .seconds(1))
        let thermal = profile.hardware?.thermalParameters ?? ThermalParameters()
        return entry.thermalState.cooled(for: seconds, by: thermal)
      }
    }
  }
}
