public import HapticModel
internal import RealtimeMemory
internal import Synchronization

/// A lock-free connection between the control side and a renderer. Commands go to the renderer, and
/// status comes back.
public final class RendererPort: @unchecked Sendable {
  /// The maximum number of scheduled commands that have not been performed.
  public static let maximumScheduledCommandCount = 4_096
  /// The maximum number of sent commands that the renderer has not yet received.
  static let commandCapacity = 1_024

  let sharedState: Cell<SharedState>
  private var sentCommandCount = 0
  /// A function that the sending thread calls after it sends commands to an idle renderer.
  public var wakeHandler: (@Sendable () -> Void)?

  /// The state that the control thread and the render thread share.
  struct SharedState: ~Copyable {
    let commandQueue = RingQueue(
      capacity: commandCapacity, filler: RenderCommand(.noOperation, at: 0))
    let renderedFrameCount = Atomic<Int64>(0)
    let voiceCount = Atomic<Int>(0)
    let limitedFrameCount = Atomic<Int64>(0)
    let nonFiniteSampleCount = Atomic<Int64>(0)
    let playerChangeCount = Atomic<Int>(0)
    let completedCommandCount = Atomic<Int>(0)
    let isIdle = Atomic<Bool>(false)
    let excursionLimitedFrameCount = Atomic<Int64>(0)
    let powerLimitedFrameCount = Atomic<Int64>(0)
    let minimumProtectionGainBits = Atomic<UInt32>(Float(1).bitPattern)
    let peakExcursionBits = Atomic<UInt32>(0)
    let channelPeaks: FixedBuffer<Atomic<UInt32>>
    let thermalStates: FixedBuffer<Atomic<UInt64>>

    init(channelCount: Int) {
      channelPeaks = FixedBuffer(count: channelCount) { _ in Atomic(0) }
      thermalStates = FixedBuffer(count: channelCount) { _ in Atomic(0) }
    }

    /// Raises the peak of a channel to a magnitude if that is higher. The control side resets the
    /// peak when it reads it.
    @_noLocks func raisePeak(of channel: Int, to magnitude: Float) {
      // The bits of non-negative floating-point numbers have the order of the numbers.
      _ = channelPeaks[channel].max(magnitude.bitPattern, ordering: .relaxed)
    }

    /// Lowers the minimum protection gain to a gain if that is lower. The control side resets the
    /// minimum when it reads it.
    @_noLocks func lowerProtectionGain(to gain: Float) {
      if gain < 1 {
        _ = minimumProtectionGainBits.min(gain.bitPattern, ordering: .relaxed)
      }
    }
  }

  /// Creates a port for a renderer with a number of channels.
  public init(channelCount: Int) { sharedState = Cell(SharedState(channelCount: channelCount)) }

  /// Sends a group of commands, either all or none. Only one thread may send at a time.
  ///
  /// - Returns: True if there was enough space.
  public func send(_ commands: [RenderCommand]) -> Bool {
    let waitingCommandCount =
      sentCommandCount - sharedState.value.completedCommandCount.load(ordering: .acquiring)
    // Immediate commands have their own space, so that players can be stopped even if the schedule
    // is full.
    let isScheduling = commands.contains { $0.outputFrame > 0 }
    let availableCommandCapacity =
      Self.maximumScheduledCommandCount + (isScheduling ? 0 : Self.commandCapacity / 2)
    guard waitingCommandCount + commands.count <= availableCommandCapacity,
      sharedState.value.commandQueue.write(commands.span)
    else {
      return false
    }
    sentCommandCount += commands.count
    if let wakeHandler {
      // With the fence in `beginIdle`, either this thread sees the idle state, or the renderer sees
      // the commands.
      atomicMemoryFence(ordering: .sequentiallyConsistent)
      if sharedState.value.isIdle.load(ordering: .relaxed) {
        wakeHandler()
      }
    }
    return true
  }

  /// The number of frames rendered so far, which is also the position of the next frame.
  public var renderedFrameCount: Int64 {
    sharedState.value.renderedFrameCount.load(ordering: .acquiring)
  }
  /// The number of voices at the end of the last block.
  public var voiceCount: Int { sharedState.value.voiceCount.load(ordering: .relaxed) }
  /// The number of frames with gain reduction by a limiter, summed over distinct channels.
  public var limitedFrameCount: Int64 {
    sharedState.value.limitedFrameCount.load(ordering: .relaxed)
  }
  /// The number of samples that were NaN or infinite, which the renderer replaced with silence.
  public var nonFiniteSampleCount: Int64 {
    sharedState.value.nonFiniteSampleCount.load(ordering: .relaxed)
  }
  /// The number of frames with reduced excursion, summed over distinct channels.
  public var excursionLimitedFrameCount: Int64 {
    sharedState.value.excursionLimitedFrameCount.load(ordering: .relaxed)
  }
  /// The number of frames with reduced power, summed over distinct channels.
  public var powerLimitedFrameCount: Int64 {
    sharedState.value.powerLimitedFrameCount.load(ordering: .relaxed)
  }

  /// Returns the minimum protection gain since the previous call, and resets it. Only one control
  /// thread may call this method.
  public func drainMinimumProtectionGain() -> Float {
    let gainBits = sharedState.value.minimumProtectionGainBits.exchange(
      Float(1).bitPattern, ordering: .relaxed)
    return Float(bitPattern: gainBits)
  }

  /// The peak excursion of any transducer so far, as a fraction of its limit.
  public var peakExcursionFraction: Float {
    Float(bitPattern: sharedState.value.peakExcursionBits.load(ordering: .relaxed))
  }

  /// The temperature rise of each channel's transducer. A new renderer starts with the values set
  /// here.
  public var temperatureRises: [TransducerThermalState] {
    get {
      (0..<sharedState.value.thermalStates.count).map { channel in
        TransducerThermalState(
          bitPattern: sharedState.value.thermalStates[channel].load(ordering: .relaxed))
      }
    }
    set {
      for (channel, rise) in zip(0..<sharedState.value.thermalStates.count, newValue) {
        sharedState.value.thermalStates[channel].store(rise.bitPattern, ordering: .relaxed)
      }
    }
  }

  /// A counter that increases when a player starts, ends, or is released.
  public var playerChangeCount: Int {
    sharedState.value.playerChangeCount.load(ordering: .acquiring)
  }

  /// Returns the peak of a channel since the previous call, and resets it. Only one control thread
  /// may call this method.
  public func drainPeak(ofChannel channel: Int) -> Float {
    guard (0..<sharedState.value.channelPeaks.count).contains(channel) else { return 0 }
    return Float(
      bitPattern: sharedState.value.channelPeaks[channel].exchange(0, ordering: .relaxed))
  }
}

/// Statistics collected while rendering.
public struct RenderStatistics: Equatable, Sendable {
  /// The number of rendered frames, including those that only fill the limiter's delay.
  public var frameCount: Int64 = 0
  /// The number of frames with gain reduction by a limiter, summed over distinct channels.
  public var limitedFrameCount: Int64 = 0
  /// The number of samples that were NaN or infinite, which the renderer replaced with silence.
  public var nonFiniteSampleCount: Int64 = 0
  /// The number of voices in the last sub-block.
  public var latestVoiceCount = 0
  /// The maximum number of voices in any sub-block.
  public var peakVoiceCount = 0
  /// The peak magnitude before gain reduction by the limiter, after DC removal.
  public var peakMagnitudeBeforeLimiter: Float = 0
  /// The number of frames with reduced excursion, summed over distinct channels.
  public var excursionLimitedFrameCount: Int64 = 0
  /// The number of frames with reduced power, summed over distinct channels.
  public var powerLimitedFrameCount: Int64 = 0
  /// The minimum protection gain in frames with reduced excursion or power; 1 if there were none.
  public var minimumProtectionGain: Float = 1
  /// The peak excursion of any transducer, as a fraction of its limit.
  public var peakExcursionFraction: Float = 0
  /// The peak temperature rise of any transducer, as a fraction of its limit.
  public var peakTemperatureRiseFraction: Float = 0

  /// Creates empty statistics.
  @_noLocks public init() {}
}

/// A change that the control side requests from the render thread, at an output frame.
///
/// The control side owns the memory that a command refers to, and keeps it until the render thread
/// has released it. A frame in the past means immediately.
public struct RenderCommand: BitwiseCopyable, @unchecked Sendable {
  enum Change: BitwiseCopyable {
    /// No operation, which replaces a dropped command.
    case noOperation
    case gain(MasterGain, to: Float, frameCount: Int)
    case player(Reference<Player>, PlayerAction)
    case attach(Reference<LiveVoiceState>)
    case detach(Reference<LiveVoiceState>)
  }

  enum MasterGain: BitwiseCopyable { case everything, haptics, audio }

  enum PlayerAction: BitwiseCopyable {
    case add, remove, cancel, stop, pause, resume
    case start(from: Reference<CuePoint>?)
    case seek(to: Reference<CuePoint>)
    case loop(passCount: Int, from: Reference<CuePoint>?, end: Int64)
    case playbackRate(Double)
    /// A ramp to a gain over a number of frames.
    ///
    /// If `frameCount` is nil, the ramp has the length of a fade.
    case gain(Float, frameCount: Int?)
    case sendGain(Float, frameCount: Int, requestSerialNumber: Int64)
    case control(LiveControlID, value: Float, slope: Float)
    case envelopeTime(EnvelopeTimeID, value: Float, slope: Float)
  }

  /// The output frame of the command's execution.
  var outputFrame: Int64
  /// The serial number that orders commands of the same frame; the schedule assigns it.
  var sequenceNumber: UInt64 = 0
  var change: Change

  @_noLocks init(_ change: Change, at frame: Int64) {
    self.change = change
    self.outputFrame = frame
  }

  private init(_ player: RenderPlayer, _ action: PlayerAction, at frame: Int64 = 0) {
    self.init(.player(player.playerReference, action), at: frame)
  }

  /// Adds a player. This must be the first command for the player.
  public static func add(_ player: RenderPlayer) -> RenderCommand { RenderCommand(player, .add) }

  /// Fades a player out, drops its commands, and releases it. This must be the last command for the
  /// player.
  public static func remove(_ player: RenderPlayer) -> RenderCommand {
    RenderCommand(player, .remove)
  }

  /// Stops a player immediately and drops its commands.
  public static func cancel(_ player: RenderPlayer) -> RenderCommand {
    RenderCommand(player, .cancel)
  }

  /// Attaches a live voice. If there are already too many voices, the voice is released.
  public static func attach(_ voice: LiveVoice) -> RenderCommand {
    RenderCommand(.attach(voice.stateReference), at: 0)
  }

  /// Fades a live voice out over 5 ms and releases it. This must be the last command for the voice.
  public static func detach(_ voice: LiveVoice) -> RenderCommand {
    RenderCommand(.detach(voice.stateReference), at: 0)
  }

  /// Starts a player at the beginning or at a cue point; a playing player restarts.
  public static func start(
    _ player: RenderPlayer, at frame: Int64, from cue: SharedCuePoint? = nil
  ) -> RenderCommand {
    RenderCommand(player, .start(from: cue?.cueReference), at: frame)
  }

  /// Returns the command that stops a player at an output frame.
  public static func stop(_ player: RenderPlayer, at frame: Int64) -> RenderCommand {
    RenderCommand(player, .stop, at: frame)
  }

  /// Returns the command that pauses a player at an output frame.
  public static func pause(_ player: RenderPlayer, at frame: Int64) -> RenderCommand {
    RenderCommand(player, .pause, at: frame)
  }

  /// Returns the command that resumes a paused player at an output frame.
  public static func resume(_ player: RenderPlayer, at frame: Int64) -> RenderCommand {
    RenderCommand(player, .resume, at: frame)
  }

  /// Moves a playing player to a cue point. An idle player starts there the next time it is
  /// started.
  public static func seek(
    _ player: RenderPlayer, to cue: SharedCuePoint, at frame: Int64
  ) -> RenderCommand {
    RenderCommand(player, .seek(to: cue.cueReference), at: frame)
  }

  /// Returns the command that sets the loop of a player.
  ///
  /// - Parameters:
  ///   - player: The player.
  ///   - passCount: The number of passes, including the current one, at least 1; nil to loop
  ///     forever.
  ///   - cue: The start of further passes, before the end, or nil for the beginning.
  ///   - end: The pattern frame at which a pass ends, or 0 for the loop length of the plan.
  ///   - frame: The output frame.
  public static func loop(
    _ player: RenderPlayer, passCount: Int?, from cue: SharedCuePoint? = nil, end: Int64,
    at frame: Int64
  ) -> RenderCommand {
    let passCount = max(1, passCount ?? .max)
    return RenderCommand(
      player, .loop(passCount: passCount, from: cue?.cueReference, end: max(0, end)), at: frame)
  }

  /// Sets the playback rate of a player, 1/64 to 64.
  public static func playbackRate(
    _ player: RenderPlayer, _ rate: Double, at frame: Int64
  ) -> RenderCommand {
    RenderCommand(player, .playbackRate(rate), at: frame)
  }

  /// Ramps the gain of a player over a number of frames, or over the length of a fade.
  public static func gain(
    _ player: RenderPlayer, _ gain: Double, over frameCount: Int? = nil, at frame: Int64
  ) -> RenderCommand {
    let frameCount = frameCount.map { max(0, $0) }
    return RenderCommand(player, .gain(Float(gain), frameCount: frameCount), at: frame)
  }

  /// Ramps the send gain of a player's haptic bus; audio is unaffected.
  ///
  /// - Parameters:
  ///   - player: The player.
  ///   - gain: The gain at the end, at least 0.
  ///   - frameCount: The length of the ramp.
  ///   - serial: The serial of the request, at least 1. Once a request has begun, ramps of requests
  ///     with a lower serial are ignored.
  ///   - frame: The output frame.
  public static func sendGain(
    _ player: RenderPlayer, _ gain: Double, over frameCount: Int, requestSerialNumber serial: Int64,
    at frame: Int64
  ) -> RenderCommand {
    let frameCount = max(0, frameCount)
    return RenderCommand(
      player, .sendGain(Float(gain), frameCount: frameCount, requestSerialNumber: serial), at: frame
    )
  }

  /// Returns the command that sets a dynamic parameter of a player.
  ///
  /// Attack, decay, and release affect events that start later.
  ///
  /// - Parameters:
  ///   - player: The player.
  ///   - id: The dynamic parameter.
  ///   - value: The value at the frame.
  ///   - slope: The increase per frame.
  ///   - frame: The output frame.
  public static func control(
    _ player: RenderPlayer, _ id: DynamicParameterID, value: Double, slope: Double = 0,
    at frame: Int64
  ) -> RenderCommand {
    let controlValue = Float(value)
    let controlSlope = Float(slope)
    if let liveControlID = LiveControlID(id) {
      return RenderCommand(
        player, .control(liveControlID, value: controlValue, slope: controlSlope), at: frame)
    }
    guard let envelopeTimeID = EnvelopeTimeID(id) else {
      return RenderCommand(.noOperation, at: frame)
    }
    return RenderCommand(
      player, .envelopeTime(envelopeTimeID, value: controlValue, slope: controlSlope), at: frame)
  }

  /// Returns the command that ramps the gain of all haptics.
  public static func hapticGain(
    _ gain: Double, over frameCount: Int, at frame: Int64
  ) -> RenderCommand {
    RenderCommand(.gain(.haptics, to: Float(gain), frameCount: frameCount), at: frame)
  }

  /// Returns the command that ramps the gain of all audio.
  public static func audioGain(
    _ gain: Double, over frameCount: Int, at frame: Int64
  ) -> RenderCommand {
    RenderCommand(.gain(.audio, to: Float(gain), frameCount: frameCount), at: frame)
  }

  /// Returns the command that ramps the gain of the whole mix.
  public static func masterGain(
    _ gain: Double, over frameCount: Int, at frame: Int64
  ) -> RenderCommand {
    RenderCommand(.gain(.everything, to: Float(gain), frameCount: frameCount), at: frame)
  }
}

extension RenderCommand.PlayerAction {
  /// Releases the cue point of an action that isn't performed. The render thread calls this method.
  @_noLocks func release() {
    switch self {
    case .start(let cue), .loop(_, let cue, _):
      cue?.release()
    case .seek(let cue):
      cue.release()
    case .add, .remove, .cancel, .stop, .pause, .resume, .playbackRate, .gain, .sendGain, .control,
      .envelopeTime:
      return
    }
  }
}

extension Reference<CuePoint> {
  /// Notifies the control side that the cue point is no longer used. The render thread calls this
  /// method.
  @_noLocks func release() { value.isReleased.store(true, ordering: .releasing) }
}

/// A priority queue of the commands that wait for their frame, implemented as a binary heap.
///
/// Commands for the same frame are performed in the order in which they were sent.
struct CommandSchedule: ~Copyable {
  private let commands: FixedBuffer<RenderCommand>
  private(set) var commandCount = 0
  private var nextSequenceNumber: UInt64 = 0

  init(capacity: Int) {
    commands = FixedBuffer(repeating: RenderCommand(.noOperation, at: 0), count: capacity)
  }

  /// The frame of the earliest command, or the maximum frame if there is none.
  var nextCommandFrame: Int64 {
    @_noLocks get { commandCount > 0 ? commands[0].outputFrame : .max }
  }
  var hasFreeCapacity: Bool { @_noLocks get { commandCount < commands.count } }

  /// Adds a command to the schedule, in the order of its frame.
  ///
  /// - Complexity: O(log *n*).
  @_noLocks mutating func insert(_ command: RenderCommand) {
    guard hasFreeCapacity else { return }
    var heapIndex = commandCount
    commands[heapIndex] = command
    commands[heapIndex].sequenceNumber = nextSequenceNumber
    nextSequenceNumber &+= 1
    commandCount &+= 1
    while heapIndex > 0 {
      let parent = (heapIndex &- 1) / 2
      guard precedes(heapIndex, parent) else { return }
      swap(heapIndex, parent)
      heapIndex = parent
    }
  }

  /// Removes and returns the earliest command, which must exist.
  ///
  /// - Complexity: O(log *n*).
  @_noLocks mutating func popFirst() -> RenderCommand {
    let earliestCommand = commands[0]
    commandCount &-= 1
    commands[0] = commands[commandCount]
    var heapIndex = 0
    while true {
      var earliest = heapIndex
      let left = 2 &* heapIndex &+ 1
      if left < commandCount, precedes(left, earliest) {
        earliest = left
      }
      if left &+ 1 < commandCount, precedes(left &+ 1, earliest) {
        earliest = left &+ 1
      }
      if earliest == heapIndex { return earliestCommand }
      swap(heapIndex, earliest)
      heapIndex = earliest
    }
  }

  /// Replaces the scheduled commands for a player with no-operations.
  ///
  /// The no-operations stay in the queue until their frames.
  ///
  /// - Complexity: O(*n*).
  @_noLocks mutating func removeCommands(for player: Reference<Player>) {
    for index in 0..<commandCount {
      switch commands[index].change {
      case .player(let owner, let change) where owner.isIdentical(to: player):
        if case .start = change {
          _ = player.value.sharedStatus.value.droppedStartCount.wrappingAdd(1, ordering: .releasing)
        }
        change.release()
        commands[index].change = .noOperation
        player.value.recordCommandCompletion()
      case .noOperation, .gain, .player, .attach, .detach:
        break
      }
    }
  }

  @_noLocks private func precedes(_ index: Int, _ otherIndex: Int) -> Bool {
    let command = commands[index]
    let otherCommand = commands[otherIndex]
    if command.outputFrame != otherCommand.outputFrame {
      return command.outputFrame < otherCommand.outputFrame
    }
    return command.sequenceNumber < otherCommand.sequenceNumber
  }

  @_noLocks private mutating func swap(_ index: Int, _ otherIndex: Int) {
    let swappedCommand = commands[index]
    commands[index] = commands[otherIndex]
    commands[otherIndex] = swappedCommand
  }
}

extension Player {
  /// Counts a command as performed or dropped.
  @_noLocks func recordCommandCompletion() {
    _ = sharedStatus.value.completedCommandCount.wrappingAdd(1, ordering: .releasing)
  }
}
