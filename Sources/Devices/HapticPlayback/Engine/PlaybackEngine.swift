public import HapticModel
public import HapticRender
internal import Synchronization

/// An engine that plays many patterns at once on one clock. It is the control side of a renderer.
///
/// Every call returns at once, from any thread. The render thread carries out each request at its
/// frame. A driver runs the renderer: `LivePlayback` in real time, `VirtualPlayback` as fast as the
/// machine can.
public final class PlaybackEngine: Sendable {
  /// The duration of the ramp when the strength changes or the output is muted or unmuted, in
  /// seconds.
  public static let strengthRampSeconds = 0.01

  /// The sample rate of the engine, in hertz.
  public let rate: Double
  /// The content of each output channel.
  public let routing: OutputRouting
  /// The profile of each haptic bus.
  public let profiles: [TransducerProfile]

  let port: RendererPort
  /// The clock that replaces the render position while the device is idle; nil while the device is
  /// running.
  let idlePositionClock = Locked<IdlePositionClock?>(nil)
  private let state: Locked<State>

  private struct State {
    var players: [PlayerCore] = []
    var pendingCuePoints: [SharedCuePoint] = []
    var liveVoices: [LiveVoice] = []
    var detachingVoices: [LiveVoice] = []
    var strength: Float
    var isMuted = false
    var isStopped = false
    var updateHandler: (@Sendable () -> Void)?
    var idleDelay: Duration?
    var commandRecorder: (@Sendable (_ position: Int64, RecordedCommands) -> Void)?
  }

  /// Creates an engine at frame 0.
  ///
  /// - Parameters:
  ///   - rate: The sample rate of the sink in hertz.
  ///   - routing: The content of each output channel. Channels whose profile describes hardware are
  ///     adapted to it and protect it.
  ///   - profiles: The profiles of the haptic buses. The last profile also serves all further
  ///     buses.
  ///   - strength: The factor for all output, 0…1.
  public init(
    rate: Double = 48_000, routing: OutputRouting = OutputRouting(),
    profiles: [TransducerProfile] = [.phone],
    strength: Float = 1
  ) {
    self.rate = rate
    let fallbackProfile = profiles.last ?? .phone
    let hapticBusCount = routing.hapticBusCount
    self.profiles = (0..<hapticBusCount).map {
      $0 < profiles.count ? profiles[$0] : fallbackProfile
    }
    self.routing = routing.assigningTransducers(of: self.profiles)
    port = RendererPort(channelCount: routing.channels.count)
    state = Locked(State(strength: min(max(strength, 0), 1)))
  }

  /// The position of the engine, which is the next frame to render.
  public var position: Int64 {
    idlePositionClock.withLock { $0?.position } ?? port.renderedFrameCount
  }

  /// The number of iterations of the render thread, from which any thread can detect whether the
  /// render thread responds.
  package var renderIterationCount: Int { renderIterations.load(ordering: .relaxed) }
  let renderIterations = Atomic<Int>(0)

  /// The longest duration of any call to the device so far. Any thread may read it.
  package var maximumSinkCallDuration: Duration {
    .nanoseconds(maximumSinkCallNanoseconds.load(ordering: .relaxed))
  }
  private let maximumSinkCallNanoseconds = Atomic<Int64>(0)
  func recordSinkCall(duration call: Duration) {
    maximumSinkCallNanoseconds.max(Int64(call / .nanoseconds(1)), ordering: .relaxed)
  }

  /// The time on the engine's clock, in rendered seconds.
  public var positionSeconds: Double { Double(position) / rate }

  /// The duration of silence after which the device is stopped, so that the device and the machine
  /// can sleep. Nil, the default, keeps the device running. A command restarts a stopped device at
  /// once.
  ///
  /// A change applies to drivers that start afterward.
  public var idleDelay: Duration? {
    get { state.withLock { $0.idleDelay } }
    set { state.withLock { $0.idleDelay = newValue } }
  }

  /// Sets a closure that is called when commands are sent while the renderer is idle.
  func setWakeHandler(_ handler: @escaping @Sendable () -> Void) {
    state.withLock { _ in port.wakeHandler = handler }
  }

  /// The number of voices that sounded in the last block.
  public var voiceCount: Int { port.voiceCount }

  /// The number of frames in which a limiter reduced the gain, summed over the channels with
  /// different signals.
  public var limitedFrameCount: Int64 { port.limitedFrameCount }

  /// The number of frames in which excursion protection reduced the gain, summed over the channels
  /// with different signals.
  public var excursionLimitedFrameCount: Int64 { port.excursionLimitedFrameCount }
  /// The peak excursion of a transducer so far, as a fraction of its limit.
  public var peakExcursionFraction: Float { port.peakExcursionFraction }

  /// The number of frames in which thermal protection reduced the gain, summed over the channels
  /// with different signals.
  public var powerLimitedFrameCount: Int64 { port.powerLimitedFrameCount }

  /// Returns the minimum gain that the transducer protection has applied since the last call.
  public func drainMinimumProtectionGain() -> Float { port.drainMinimumProtectionGain() }

  /// The temperature rise of each channel's transducer. A value that is set before a driver starts
  /// is the initial state.
  public var temperatureRises: [TransducerThermalState] {
    get { port.temperatureRises }
    set { port.temperatureRises = newValue }
  }

  /// The number of players that occupy memory, including released players that still play.
  public var loadedPlayerCount: Int { state.withLock { $0.players.count } }

  /// Returns the peak magnitude of a channel's samples since the last call.
  public func drainPeak(ofChannel channel: Int) -> Float { port.drainPeak(ofChannel: channel) }

  /// The master gain, which applies to all output, 0…1. A change takes 10 ms.
  public var strength: Float {
    get { state.withLock { $0.strength } }
    set {
      state.withLock { state in
        state.strength = min(max(newValue, 0), 1)
        sendStrength(state)
      }
    }
  }

  /// Changes the master gain gradually. Setting the property `strength` always takes 10 ms.
  ///
  /// - Parameters:
  ///   - strength: The gain, 0…1.
  ///   - ramp: The duration of the change in seconds, at least 10 ms.
  ///   - time: The start of the change.
  public func setStrength(
    _ strength: Float, over ramp: Double = strengthRampSeconds, at time: PlaybackTime = .now
  )
    throws(PlaybackError)
  {
    let clampedStrength = strength.isFinite ? min(max(strength, 0), 1) : 0
    let changeFrame = time.frame(rate: rate)
    let rampFrames = Int(
      FrameConversion.frame(seconds: max(ramp, Self.strengthRampSeconds), rate: rate))
    let isCommandAccepted = state.withLock { state in
      // During a mute, the new strength applies when the mute ends.
      let command = RenderCommand.masterGain(
        Double(clampedStrength), over: rampFrames, at: changeFrame)
      guard state.isMuted || send([command], state) else { return false }
      state.strength = clampedStrength
      return true
    }
    guard isCommandAccepted else { throw .tooManyCommands }
  }

  /// A Boolean value that indicates whether all output is muted. Playback continues.
  public var isMuted: Bool {
    get { state.withLock { $0.isMuted } }
    set {
      state.withLock { state in
        state.isMuted = newValue
        sendStrength(state)
      }
    }
  }

  /// Mutes or unmutes all haptics within 10 ms, or at once during silence. Playback continues.
  public func setHapticsMuted(_ isMuted: Bool) {
    send(.hapticGain(isMuted ? 0 : 1, over: muteRampFrameCount, at: 0))
  }

  /// Mutes or unmutes all audio within 10 ms, or at once during silence. Playback continues.
  public func setAudioMuted(_ isMuted: Bool) {
    send(.audioGain(isMuted ? 0 : 1, over: muteRampFrameCount, at: 0))
  }

  /// The duration of the fade when the engine is muted or unmuted, in frames; 0 during silence,
  /// when no click is possible.
  private var muteRampFrameCount: Int { voiceCount == 0 ? 0 : Int(Self.strengthRampSeconds * rate) }

  /// Compiles a pattern for each haptic bus and loads it.
  ///
  /// - Parameters:
  ///   - pattern: The pattern.
  ///   - samples: The sound files at the engine's sample rate, by the paths that name them.
  public func player(for pattern: HapticPattern, samples: [String: AudioBuffer] = [:]) throws
    -> PatternPlayer
  {
    try player(for: HapticComposition(pattern), samples: samples)
  }

  /// Compiles the layers of a composition for each haptic bus and loads them as one player.
  ///
  /// Commands to the player apply to every layer. The composition's loop points are the defaults of
  /// `loop(passCount:from:end:at:)`.
  ///
  /// - Parameters:
  ///   - composition: The composition.
  ///   - samples: The sound files at the engine's sample rate, by the paths that name them.
  public func player(for composition: HapticComposition, samples: [String: AudioBuffer] = [:])
    throws -> PatternPlayer
  {
    var renderPlans: [RenderPlan] = []
    for (bus, profile) in profiles.enumerated() {
      let same = profiles.firstIndex(of: profile) ?? bus
      if same < bus {
        renderPlans.append(renderPlans[same])
      } else {
        renderPlans.append(
          try RenderPlan(compiling: composition, profile: profile, rate: rate, samples: samples))
      }
    }
    return try player(for: renderPlans, duration: composition.durationSeconds)
  }

  /// Loads compiled plans as one player.
  ///
  /// - Parameters:
  ///   - plans: The plans at the engine's sample rate, one for each haptic bus.
  ///   - duration: The pattern's duration in seconds.
  ///   - sendGains: The send gains of the buses over the pattern; empty for a gain of 1.
  ///   - recordsChanges: A Boolean value that indicates whether the first render player records its
  ///     changes.
  public func player(
    for plans: [RenderPlan], duration: Double, sendGains: [SendAutomation] = [],
    recordsChanges: Bool = false
  ) throws(PlaybackError) -> PatternPlayer {
    precondition(plans.count == profiles.count, "one plan for each haptic bus")
    precondition(plans.allSatisfy { $0.rate == rate }, "plans at the engine's rate")
    let playerCore = PlayerCore(
      plans: plans, duration: duration, sendGains: sendGains, recordsChanges: recordsChanges)
    try state.withLock { (state) throws(PlaybackError) in
      let loaded = state.players.reduce(0) { $0 + $1.renderPlayers.count }
      guard loaded + playerCore.renderPlayers.count <= Renderer.maximumPlayerCount else {
        throw .tooManyPlayers
      }
      let commands = playerCore.renderPlayers.map { RenderCommand.add($0) }
      guard send(commands, adding: playerCore.renderPlayers, state) else { throw .tooManyCommands }
      state.players.append(playerCore)
      if state.isStopped {
        playerCore.markDriverEnded()
      }
    }
    return PatternPlayer(playerCore, of: self)
  }

  /// Adds a live voice to all haptic channels, under the same limiter as the players. The engine
  /// retains the voice until it has faded out.
  ///
  /// - Throws: `tooManyPlayers` if there are already `LiveVoice.maximumCountPerRenderer` voices.
  public func attach(_ voice: LiveVoice) throws(PlaybackError) {
    try state.withLock { (state) throws(PlaybackError) in
      guard state.liveVoices.count + state.detachingVoices.count < LiveVoice.maximumCountPerRenderer
      else {
        throw .tooManyPlayers
      }
      guard port.send([.attach(voice)]) else { throw .tooManyCommands }
      state.liveVoices.append(voice)
    }
  }

  /// Fades a live voice out. The voice cannot be attached again.
  public func detach(_ voice: LiveVoice) {
    state.withLock { state in
      guard let index = state.liveVoices.firstIndex(where: { $0 === voice }),
        port.send([.detach(voice)])
      else { return }
      state.detachingVoices.append(state.liveVoices.remove(at: index))
    }
  }

  /// Creates the renderer for this engine's commands. An engine must have no more than one
  /// renderer.
  ///
  /// - Parameter isGateOpen: False to keep the renderer silent until the driver opens its gate.
  func makeRenderer(isGateOpen: Bool) -> Renderer {
    Renderer(
      rate: rate, settings: RenderSettings(routing: routing, masterGain: strength), port: port,
      isGateOpen: isGateOpen)
  }

  /// A closure that is called after every update, when commands are complete or players have ended.
  public var updateHandler: (@Sendable () -> Void)? {
    get { state.withLock { $0.updateHandler } }
    set { state.withLock { $0.updateHandler = newValue } }
  }

  /// Frees the memory that the render thread has released, and reports the players that ended.
  ///
  /// A driver calls this method after every change. Handlers run on the caller's thread.
  public func update() {
    let (cores, handler) = state.withLock { state in
      state.pendingCuePoints.removeAll { $0.isReleased }
      state.detachingVoices.removeAll { $0.isReleased }
      state.players.removeAll { $0.isReleased }
      return (state.players, state.updateHandler)
    }
    defer { handler?() }
    for core in cores {
      core.reportPlaybackEnds()
      guard core.canBeRemoved else { continue }
      state.withLock { state in
        // Another thread may have removed the player since then.
        if core.canBeRemoved, send(core.renderPlayers.map { .remove($0) }, state) {
          core.markRemoved()
        }
      }
    }
  }

  /// Records that the driver has ended, and resumes the tasks that wait for players.
  func markDriverEnded() {
    let playerCores = state.withLock { state in
      state.isStopped = true
      return state.players
    }
    for core in playerCores {
      core.markDriverEnded()
    }
  }

  /// Sends commands for all render players of several players in one batch, and retains the cue
  /// points until the render thread has released them.
  ///
  /// - Parameters:
  ///   - cores: The players.
  ///   - commandCount: The number of commands for each render player.
  ///   - commands: The commands.
  ///   - cuePoints: The cue points that the commands refer to.
  func send(
    _ cores: [PlayerCore], commandCount: Int, _ commands: [RenderCommand],
    keeping cuePoints: [SharedCuePoint] = []
  ) throws(PlaybackError) {
    let areCommandsAccepted = state.withLock { state in
      // The count increases first, so that a sent command never appears complete too early.
      for core in cores {
        core.withState { $0.sentCommandCount += commandCount }
      }
      guard send(commands, keeping: cuePoints, state) else {
        for core in cores {
          core.withState { $0.sentCommandCount -= commandCount }
        }
        return false
      }
      state.pendingCuePoints.removeAll { $0.isReleased }
      state.pendingCuePoints += cuePoints
      return true
    }
    guard areCommandsAccepted else { throw .tooManyCommands }
  }

  /// Sends a command that affects the whole engine. The command port reserves space for such
  /// immediate commands.
  private func send(_ command: RenderCommand) {
    state.withLock { state in _ = send([command], state) }
  }

  private func sendStrength(_ state: borrowing State) {
    // A dropped command would leave the wrong level, so the port reserves space for immediate
    // commands.
    let strengthGain = state.isMuted ? 0 : Double(state.strength)
    _ = send([.masterGain(strengthGain, over: Int(Self.strengthRampSeconds * rate), at: 0)], state)
  }

  /// Sends commands to the renderer and records them. The caller must hold the state lock.
  private func send(
    _ commands: [RenderCommand], adding players: [RenderPlayer] = [],
    keeping cuePoints: [SharedCuePoint] = [], _ state: borrowing State
  ) -> Bool {
    let sendPosition = position
    guard port.send(commands) else { return false }
    state.commandRecorder?(
      sendPosition, RecordedCommands(commands, adding: players, cuePoints: cuePoints))
    return true
  }

  /// Sets a closure that receives all later commands, each with the engine's position.
  ///
  /// The closure must not call the engine. Commands of live voices are not recorded.
  package func setCommandRecorder(
    _ recorder: @escaping @Sendable (_ position: Int64, RecordedCommands) -> Void
  ) {
    state.withLock { $0.commandRecorder = recorder }
  }

  /// Sends the commands that were recorded from another engine with the same sample rate and buses.
  package func replay(_ recorded: RecordedCommands, with replay: CommandReplay) {
    let replayedCommands = replay.replayedCommands(recorded)
    state.withLock { _ in _ = port.send(replayedCommands) }
  }
}
