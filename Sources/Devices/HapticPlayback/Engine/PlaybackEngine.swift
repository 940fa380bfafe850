public import HapticModel
public import HapticRender
internal import Synchronization

/// Plays many patterns at once on one clock: the control side of a renderer.
///
/// Every call returns at once, from any thread. What is requested is done on the render thread, at
/// its frame. A driver renders: `LivePlayback` in real time, `VirtualPlayback` as fast as the
/// machine can.
public final class PlaybackEngine: Sendable {
  /// Seconds over which strength and mute move.
  public static let strengthRamp = 0.01

  /// Frames per second.
  public let rate: Double
  /// What the channels carry.
  public let routing: OutputRouting
  /// The profile of each haptic bus.
  public let profiles: [TransducerProfile]

  let port: RendererPort
  /// The time that passes while the device rests.
  let idleClock = Locked<IdleClock?>(nil)
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
  }

  /// An engine at frame 0, at the rate of the sink that plays it, with a strength of 0…1.
  ///
  /// The last profile serves the buses beyond. Where one has hardware, its channels are fitted to
  /// it and protect it.
  public init(
    rate: Double = 48_000, routing: OutputRouting = OutputRouting(),
    profiles: [TransducerProfile] = [.phone],
    strength: Float = 1
  ) {
    self.rate = rate
    let last = profiles.last ?? .phone
    let count = routing.hapticBusCount
    self.profiles = (0..<count).map { $0 < profiles.count ? profiles[$0] : last }
    self.routing = routing.fitted(to: self.profiles)
    port = RendererPort(channelCount: routing.channels.count)
    state = Locked(State(strength: min(max(strength, 0), 1)))
  }

  /// The frame that is rendered next.
  public var position: Int64 { idleClock.withLock { $0?.position } ?? port.position }

  /// Iterations of the thread that renders, by which another sees that it answers: [any thread].
  package var iterationCount: Int { iterations.load(ordering: .relaxed) }
  let iterations = Atomic<Int>(0)

  /// The longest that a call of the device has taken: [any thread].
  package var maximumCallDuration: Duration {
    .nanoseconds(maximumCallNanoseconds.load(ordering: .relaxed))
  }
  private let maximumCallNanoseconds = Atomic<Int64>(0)
  func recordCall(duration call: Duration) {
    maximumCallNanoseconds.max(Int64(call / .nanoseconds(1)), ordering: .relaxed)
  }

  /// The engine's clock: seconds rendered so far.
  public var seconds: Double { Double(position) / rate }

  /// How long nothing has to sound or to play before a device that can is stopped, so that it and
  /// the machine may sleep; nil, the default, for never. Commands start it again at once.
  ///
  /// Takes effect for drivers that are started afterwards.
  public var idleDelay: Duration? {
    get { state.withLock { $0.idleDelay } }
    set { state.withLock { $0.idleDelay = newValue } }
  }

  /// Has somebody called when commands are sent while the renderer rests.
  func setWakeHandler(_ handler: @escaping @Sendable () -> Void) {
    state.withLock { _ in port.wakeHandler = handler }
  }

  /// Voices that sounded in the last block.
  public var voiceCount: Int { port.voiceCount }

  /// Frames in which a limiter held the level down, summed over channels that differ.
  public var limitedFrameCount: Int64 { port.limitedFrameCount }

  /// Frames in which a transducer was kept from moving too far, summed over channels that differ.
  public var excursionLimitedFrameCount: Int64 { port.excursionLimitedFrameCount }
  /// The greatest movement of a transducer so far, as a fraction of its limit.
  public var peakExcursion: Float { port.peakExcursion }

  /// Frames in which a transducer was kept from growing too warm, summed over channels that differ.
  public var powerLimitedFrameCount: Int64 { port.powerLimitedFrameCount }

  /// The least factor by which a transducer was protected since this was last asked.
  public func drainMinimumProtectionGain() -> Float { port.drainMinimumProtectionGain() }

  /// How warm the transducer of each channel is; set before anything drives the engine, it begins
  /// as warm.
  public var temperatureRises: [TransducerThermalState] {
    get { port.temperatureRises }
    set { port.temperatureRises = newValue }
  }

  /// Players that hold memory, those included that were released and still play.
  public var loadedPlayerCount: Int { state.withLock { $0.players.count } }

  /// The greatest magnitude of a channel since this was last asked.
  public func drainPeak(ofChannel channel: Int) -> Float { port.drainPeak(ofChannel: channel) }

  /// The factor on everything, 0…1; moves smoothly within 10 ms.
  public var strength: Float {
    get { state.withLock { $0.strength } }
    set {
      state.withLock { state in
        state.strength = min(max(newValue, 0), 1)
        sendStrength(state)
      }
    }
  }

  /// Moves the factor on everything, 0…1, over some seconds, at least 10 ms; `strength` is the new
  /// one at once.
  public func setStrength(
    _ strength: Float, over ramp: Double = strengthRamp, at time: PlaybackTime = .now
  )
    throws(PlaybackError)
  {
    let strength = strength.isFinite ? min(max(strength, 0), 1) : 0
    let frame = time.frame(rate: rate)
    let length = Int(FrameConversion.frame(seconds: max(ramp, Self.strengthRamp), rate: rate))
    let isTaken = state.withLock { state in
      // Muted, it is heard when the mute ends.
      guard state.isMuted || port.send([.masterGain(Double(strength), over: length, at: frame)])
      else { return false }
      state.strength = strength
      return true
    }
    guard isTaken else { throw .tooManyCommands }
  }

  /// Whether everything is muted while it plays on.
  public var isMuted: Bool {
    get { state.withLock { $0.isMuted } }
    set {
      state.withLock { state in
        state.isMuted = newValue
        sendStrength(state)
      }
    }
  }

  /// Mutes all haptics while they play on, or unmutes them, within 10 ms; at once where nothing
  /// sounds.
  public func setHapticsMuted(_ isMuted: Bool) {
    send(.hapticGain(isMuted ? 0 : 1, over: muteRampFrameCount, at: 0))
  }

  /// Mutes all audio while it plays on, or unmutes it, within 10 ms; at once where nothing sounds.
  public func setAudioMuted(_ isMuted: Bool) {
    send(.audioGain(isMuted ? 0 : 1, over: muteRampFrameCount, at: 0))
  }

  /// Frames over which a mute moves: none where there is nothing that could click.
  private var muteRampFrameCount: Int { voiceCount == 0 ? 0 : Int(Self.strengthRamp * rate) }

  /// Compiles a pattern, once for each haptic bus, and loads it with its sound files at the
  /// engine's rate, by path.
  public func player(for pattern: HapticPattern, samples: [String: AudioBuffer] = [:]) throws
    -> PatternPlayer
  {
    try player(for: HapticComposition(pattern), samples: samples)
  }

  /// Compiles the layers of a composition, once for each haptic bus, and loads them as one player.
  ///
  /// What is sent to the player acts on every layer. Its loop points are the defaults of
  /// `loop(passCount:from:end:at:)`. Samples are the sound files, at the engine's rate, by the
  /// paths that name them.
  public func player(for composition: HapticComposition, samples: [String: AudioBuffer] = [:])
    throws -> PatternPlayer
  {
    var plans: [RenderPlan] = []
    for (bus, profile) in profiles.enumerated() {
      let same = profiles.firstIndex(of: profile) ?? bus
      if same < bus {
        plans.append(plans[same])
      } else {
        plans.append(
          try RenderPlan(compiling: composition, profile: profile, rate: rate, samples: samples))
      }
    }
    return try player(for: plans, duration: composition.duration)
  }

  /// Loads plans that were compiled before: one for each haptic bus, at the engine's rate, of a
  /// pattern of some seconds. Shares are the send gains of the buses over the pattern, none for 1;
  /// where changes are kept, the first part has a record of what it does.
  public func player(
    for plans: [RenderPlan], duration: Double, sendGains shares: [SendAutomation] = [],
    recordsChanges keepsChanges: Bool = false
  ) throws(PlaybackError) -> PatternPlayer {
    precondition(plans.count == profiles.count, "one plan for each haptic bus")
    precondition(plans.allSatisfy { $0.rate == rate }, "plans at the engine's rate")
    let core = PlayerCore(
      plans: plans, duration: duration, sendGains: shares, recordsChanges: keepsChanges)
    try state.withLock { (state) throws(PlaybackError) in
      let loaded = state.players.reduce(0) { $0 + $1.renderPlayers.count }
      guard loaded + core.renderPlayers.count <= Renderer.maximumPlayerCount else {
        throw .tooManyPlayers
      }
      guard port.send(core.renderPlayers.map { .add($0) }) else { throw .tooManyCommands }
      state.players.append(core)
      if state.isStopped {
        core.markStopped()
      }
    }
    return PatternPlayer(core, of: self)
  }

  /// Lets a live voice sound on all haptic channels beside the players, under one limiter; the
  /// engine keeps it until it has left.
  ///
  /// - Throws: `tooManyPlayers` where there are `LiveVoice.maximumCount` already.
  public func attach(_ voice: LiveVoice) throws(PlaybackError) {
    try state.withLock { (state) throws(PlaybackError) in
      guard state.liveVoices.count + state.detachingVoices.count < LiveVoice.maximumCount else {
        throw .tooManyPlayers
      }
      guard port.send([.attach(voice)]) else { throw .tooManyCommands }
      state.liveVoices.append(voice)
    }
  }

  /// Fades a live voice out, which may not be attached again.
  public func detach(_ voice: LiveVoice) {
    state.withLock { state in
      guard let index = state.liveVoices.firstIndex(where: { $0 === voice }),
        port.send([.detach(voice)])
      else { return }
      state.detachingVoices.append(state.liveVoices.remove(at: index))
    }
  }

  /// Makes the renderer that does what this engine is asked; there must be no more than one. Where
  /// it is not open, sound passes once the driver opens the gate.
  func makeRenderer(isGateOpen isOpen: Bool) -> Renderer {
    Renderer(
      rate: rate, settings: RenderSettings(routing: routing, gain: strength), port: port,
      isGateOpen: isOpen)
  }

  /// Is called after every update: whenever commands were done or players ended.
  public var updateHandler: (@Sendable () -> Void)? {
    get { state.withLock { $0.updateHandler } }
    set { state.withLock { $0.updateHandler = newValue } }
  }

  /// Frees what the render thread has released, and reports players that ended.
  ///
  /// A driver calls it whenever something changed; handlers run on the caller's thread.
  public func update() {
    let (cores, handler) = state.withLock { state in
      state.pendingCuePoints.removeAll { $0.isReleased }
      state.detachingVoices.removeAll { $0.isReleased }
      state.players.removeAll { $0.isReleased }
      return (state.players, state.updateHandler)
    }
    defer { handler?() }
    for core in cores {
      core.reportEnds()
      guard core.canBeRemoved else { continue }
      state.withLock { _ in
        // Another thread may have been here first.
        if core.canBeRemoved, port.send(core.renderPlayers.map { .remove($0) }) {
          core.markRemoved()
        }
      }
    }
  }

  /// Notes that the driver has ended: tasks that wait for players go on.
  func markDriverEnded() {
    let cores = state.withLock { state in
      state.isStopped = true
      return state.players
    }
    for core in cores {
      core.markStopped()
    }
  }

  /// Sends a number of commands to each part of players together, and keeps what they point to
  /// until it is released.
  func send(
    _ cores: [PlayerCore], commandCount: Int, _ commands: [RenderCommand],
    keeping entries: [SharedCuePoint] = []
  ) throws(PlaybackError) {
    let isTaken = state.withLock { state in
      // Counted first: what was sent must never seem done before.
      for core in cores {
        core.withState { $0.commandCount += commandCount }
      }
      guard port.send(commands) else {
        for core in cores {
          core.withState { $0.commandCount -= commandCount }
        }
        return false
      }
      state.pendingCuePoints.removeAll { $0.isReleased }
      state.pendingCuePoints += entries
      return true
    }
    guard isTaken else { throw .tooManyCommands }
  }

  /// Sends a command for everything; space for what is at once is kept free.
  private func send(_ command: RenderCommand) { state.withLock { _ in _ = port.send([command]) } }

  private func sendStrength(_ state: borrowing State) {
    // A lost one would leave the level wrong; space for what is at once is kept free.
    _ = port.send([
      .masterGain(
        state.isMuted ? 0 : Double(state.strength), over: Int(Self.strengthRamp * rate), at: 0)
    ])
  }
}
