public import HapticModel
internal import RealtimeMemory
internal import Synchronization

/// Where the control side and one renderer meet: commands one way, figures the other, and no lock.
public final class RendererPort: @unchecked Sendable {
  /// Commands that may wait for their frame.
  public static let maximumScheduledCommandCount = 4_096
  /// Commands that fit on their way to the render thread.
  static let commandCapacity = 1_024

  let sharedState: Cell<SharedState>
  private var sentCommandCount = 0
  /// Called after commands were sent to a renderer that rests: [the control thread that sends].
  public var wakeHandler: (@Sendable () -> Void)?

  struct SharedState: ~Copyable {
    let queue = RingQueue(capacity: commandCapacity, filler: RenderCommand(.noOperation, at: 0))
    let position = Atomic<Int64>(0)
    let voiceCount = Atomic<Int>(0)
    let limitedFrameCount = Atomic<Int64>(0)
    let nonFiniteSampleCount = Atomic<Int64>(0)
    let changeCount = Atomic<Int>(0)
    let completedCommandCount = Atomic<Int>(0)
    let isIdle = Atomic<Bool>(false)
    let excursionLimitedFrameCount = Atomic<Int64>(0)
    let powerLimitedFrameCount = Atomic<Int64>(0)
    let minimumProtectionGain = Atomic<UInt32>(Float(1).bitPattern)
    let peakExcursion = Atomic<UInt32>(0)
    let peaks: FixedBuffer<Atomic<UInt32>>
    let thermalStates: FixedBuffer<Atomic<UInt64>>

    init(channelCount: Int) {
      peaks = FixedBuffer(count: channelCount) { _ in Atomic(0) }
      thermalStates = FixedBuffer(count: channelCount) { _ in Atomic(0) }
    }

    /// Notes a channel's magnitude where it is the greatest since the control side last asked.
    @_noLocks func raisePeak(of channel: Int, to magnitude: Float) {
      // The bits of floats that are not negative order as the floats do.
      _ = peaks[channel].max(magnitude.bitPattern, ordering: .relaxed)
    }

    /// Notes the factor on a drive where it is the least since the control side last asked.
    @_noLocks func lowerProtectionGain(to gain: Float) {
      if gain < 1 {
        _ = minimumProtectionGain.min(gain.bitPattern, ordering: .relaxed)
      }
    }
  }

  /// A link for a renderer of some channels.
  public init(channelCount: Int) { sharedState = Cell(SharedState(channelCount: channelCount)) }

  /// Sends commands that belong together, all or none: [one control thread at a time].
  ///
  /// - Returns: Whether there was space.
  public func send(_ commands: [RenderCommand]) -> Bool {
    let waiting =
      sentCommandCount - sharedState.value.completedCommandCount.load(ordering: .acquiring)
    // What is to be done at once has space of its own, so that a full schedule can still be
    // stopped.
    let isScheduling = commands.contains { $0.frame > 0 }
    let room = Self.maximumScheduledCommandCount + (isScheduling ? 0 : Self.commandCapacity / 2)
    guard waiting + commands.count <= room, sharedState.value.queue.write(commands.span) else {
      return false
    }
    sentCommandCount += commands.count
    if let wakeHandler {
      // With the fence of `beginIdle`: either this thread sees the rest, or the renderer the
      // commands.
      atomicMemoryFence(ordering: .sequentiallyConsistent)
      if sharedState.value.isIdle.load(ordering: .relaxed) {
        wakeHandler()
      }
    }
    return true
  }

  /// Frames rendered so far: the frame that comes next.
  public var position: Int64 { sharedState.value.position.load(ordering: .acquiring) }
  /// Voices that sounded in the last block.
  public var voiceCount: Int { sharedState.value.voiceCount.load(ordering: .relaxed) }
  /// Frames in which a limiter held the level down, summed over channels that differ.
  public var limitedFrameCount: Int64 {
    sharedState.value.limitedFrameCount.load(ordering: .relaxed)
  }
  /// Samples that were NaN or infinite and became silence.
  public var nonFiniteSampleCount: Int64 {
    sharedState.value.nonFiniteSampleCount.load(ordering: .relaxed)
  }
  /// Frames in which a transducer was kept from moving too far, summed over channels that differ.
  public var excursionLimitedFrameCount: Int64 {
    sharedState.value.excursionLimitedFrameCount.load(ordering: .relaxed)
  }
  /// Frames in which a transducer was kept from growing too warm, summed over channels that differ.
  public var powerLimitedFrameCount: Int64 {
    sharedState.value.powerLimitedFrameCount.load(ordering: .relaxed)
  }

  /// The least factor by which a transducer was protected since it was last asked: [one control
  /// thread].
  public func drainMinimumProtectionGain() -> Float {
    let bits = sharedState.value.minimumProtectionGain.exchange(
      Float(1).bitPattern, ordering: .relaxed)
    return Float(bitPattern: bits)
  }

  /// The greatest movement of a transducer so far, as a fraction of its limit.
  public var peakExcursion: Float {
    Float(bitPattern: sharedState.value.peakExcursion.load(ordering: .relaxed))
  }

  /// How warm the transducer of each channel is; set before a renderer is made, it begins as warm.
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

  /// Grows whenever a player starts, ends or is released.
  public var changeCount: Int { sharedState.value.changeCount.load(ordering: .acquiring) }

  /// The greatest magnitude of a channel since it was last asked: [one control thread].
  public func drainPeak(ofChannel channel: Int) -> Float {
    guard (0..<sharedState.value.peaks.count).contains(channel) else { return 0 }
    return Float(bitPattern: sharedState.value.peaks[channel].exchange(0, ordering: .relaxed))
  }
}

/// What happened while rendering, for the control side to read.
public struct RenderStatistics: Equatable, Sendable {
  /// Frames rendered, the limiter's delay included.
  public var frameCount: Int64 = 0
  /// Frames in which a limiter held the level down, summed over channels that differ.
  public var limitedFrameCount: Int64 = 0
  /// Samples that were NaN or infinite and became silence.
  public var nonFiniteSampleCount: Int64 = 0
  /// Voices that sounded in the last sub-block.
  public var voiceCount = 0
  /// The most voices in one block.
  public var peakVoiceCount = 0
  /// The greatest magnitude before the limiter, its offset taken out.
  public var peak: Float = 0
  /// Frames in which a transducer was kept from moving too far, summed over channels that differ.
  public var excursionLimitedFrameCount: Int64 = 0
  /// Frames in which a transducer was kept from growing too warm, summed over channels that differ.
  public var powerLimitedFrameCount: Int64 = 0
  /// The least factor on the drive in these frames; 1 where there were none.
  public var minimumProtectionGain: Float = 1
  /// The greatest movement of a transducer as a fraction of its limit.
  public var peakExcursion: Float = 0
  /// The greatest temperature rise of a transducer as a fraction of its limit.
  public var peakTemperatureRise: Float = 0

  /// Nothing rendered yet.
  @_noLocks public init() {}
}

/// One change the control side asks of the render thread, at a frame of the output.
///
/// The memory a change refers to belongs to the control side, which keeps it until the render
/// thread has released it. A frame that has been rendered already means now.
public struct RenderCommand: BitwiseCopyable, @unchecked Sendable {
  enum Change: BitwiseCopyable {
    /// A gap: the command was dropped.
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
    /// Over the usual fade where no length is given.
    case gain(Float, frameCount: Int?)
    case sendGain(Float, frameCount: Int, serial: Int64)
    case control(LiveControlID, value: Float, slope: Float)
    case envelopeTime(EnvelopeTimeID, value: Float, slope: Float)
  }

  /// The output's frame.
  var frame: Int64
  /// The order among commands of one frame, given by the schedule.
  var sequenceNumber: UInt64 = 0
  var change: Change

  @_noLocks init(_ change: Change, at time: Int64) {
    self.change = change
    self.frame = time
  }

  private init(_ player: RenderPlayer, _ change: PlayerAction, at time: Int64 = 0) {
    self.init(.player(player.reference, change), at: time)
  }

  /// Takes a player in; the first command for any player.
  public static func add(_ player: RenderPlayer) -> RenderCommand { RenderCommand(player, .add) }

  /// Fades a player out, drops its commands and releases it; the last command for any player.
  public static func remove(_ player: RenderPlayer) -> RenderCommand {
    RenderCommand(player, .remove)
  }

  /// Stops a player at once and drops its commands.
  public static func cancel(_ player: RenderPlayer) -> RenderCommand {
    RenderCommand(player, .cancel)
  }

  /// Lets a live voice sound; one that finds no place is released.
  public static func attach(_ voice: LiveVoice) -> RenderCommand {
    RenderCommand(.attach(voice.reference), at: 0)
  }

  /// Fades a live voice out over 5 ms and releases it; the last command for any voice.
  public static func detach(_ voice: LiveVoice) -> RenderCommand {
    RenderCommand(.detach(voice.reference), at: 0)
  }

  /// Plays from the beginning or from a cue point; a player that plays restarts.
  public static func start(
    _ player: RenderPlayer, at time: Int64, from entry: SharedCuePoint? = nil
  ) -> RenderCommand {
    RenderCommand(player, .start(from: entry?.reference), at: time)
  }

  /// Ends playing.
  public static func stop(_ player: RenderPlayer, at time: Int64) -> RenderCommand {
    RenderCommand(player, .stop, at: time)
  }

  /// Pauses the pattern.
  public static func pause(_ player: RenderPlayer, at time: Int64) -> RenderCommand {
    RenderCommand(player, .pause, at: time)
  }

  /// Resumes a paused pattern.
  public static func resume(_ player: RenderPlayer, at time: Int64) -> RenderCommand {
    RenderCommand(player, .resume, at: time)
  }

  /// Continues at a cue point; a player that is idle starts there next.
  public static func seek(_ player: RenderPlayer, to entry: SharedCuePoint, at time: Int64)
    -> RenderCommand
  {
    RenderCommand(player, .seek(to: entry.reference), at: time)
  }

  /// Sets how many passes follow, the running one included, and where each ends.
  ///
  /// - Parameters:
  ///   - passCount: At least 1, or nil for endlessly.
  ///   - entry: Where every further pass begins, before the end, or nil for the pattern's
  ///     beginning.
  ///   - end: The frame of the pattern at which a pass ends, or 0 for the pattern's own end.
  public static func loop(
    _ player: RenderPlayer, passCount: Int?, from entry: SharedCuePoint? = nil, end: Int64,
    at time: Int64
  ) -> RenderCommand {
    RenderCommand(
      player, .loop(passCount: max(1, passCount ?? .max), from: entry?.reference, end: max(0, end)),
      at: time)
  }

  /// Sets how fast the pattern runs, 1/64 to 64.
  public static func playbackRate(_ player: RenderPlayer, _ rate: Double, at time: Int64)
    -> RenderCommand
  {
    RenderCommand(player, .playbackRate(rate), at: time)
  }

  /// Ramps a player's gain over some frames, or over the usual fade.
  public static func gain(
    _ player: RenderPlayer, _ gain: Double, over frameCount: Int? = nil, at time: Int64
  )
    -> RenderCommand
  { RenderCommand(player, .gain(Float(gain), frameCount: frameCount.map { max(0, $0) }), at: time) }

  /// Ramps a player's bus-send gain over some frames; audio stays.
  ///
  /// - Parameters:
  ///   - gain: The gain at the end, 0 or more.
  ///   - serial: At least 1, and greater with each order; moves of an older order are ignored once
  ///     a newer one has begun.
  public static func sendGain(
    _ player: RenderPlayer, _ gain: Double, over frameCount: Int, serial: Int64, at time: Int64
  ) -> RenderCommand {
    RenderCommand(
      player, .sendGain(Float(gain), frameCount: max(0, frameCount), serial: serial), at: time)
  }

  /// Puts a value of one dynamic parameter in force, growing by a slope with each frame.
  ///
  /// Attack, decay and release act on events that start later.
  public static func control(
    _ player: RenderPlayer, _ id: DynamicParameterID, value: Double, slope: Double = 0,
    at time: Int64
  ) -> RenderCommand {
    let value = Float(value)
    let slope = Float(slope)
    if let id = LiveControlID(id) {
      return RenderCommand(player, .control(id, value: value, slope: slope), at: time)
    }
    guard let id = EnvelopeTimeID(id) else { return RenderCommand(.noOperation, at: time) }
    return RenderCommand(player, .envelopeTime(id, value: value, slope: slope), at: time)
  }

  /// Ramps the gain on all haptics.
  public static func hapticGain(_ gain: Double, over frameCount: Int, at time: Int64)
    -> RenderCommand
  {
    RenderCommand(.gain(.haptics, to: Float(gain), frameCount: frameCount), at: time)
  }

  /// Ramps the gain on all audio.
  public static func audioGain(_ gain: Double, over frameCount: Int, at time: Int64)
    -> RenderCommand
  {
    RenderCommand(.gain(.audio, to: Float(gain), frameCount: frameCount), at: time)
  }

  /// Ramps the gain on everything.
  public static func masterGain(_ gain: Double, over frameCount: Int, at time: Int64)
    -> RenderCommand
  {
    RenderCommand(.gain(.everything, to: Float(gain), frameCount: frameCount), at: time)
  }
}

extension RenderCommand.PlayerAction {
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
  /// Reports that it is no longer read: [render thread].
  @_noLocks func release() { value.isReleased.store(true, ordering: .releasing) }
}

/// The commands that wait for their frame, in a heap: the earliest first, equals in the order they
/// came.
struct CommandSchedule: ~Copyable {
  private let commands: FixedBuffer<RenderCommand>
  private(set) var count = 0
  private var nextOrder: UInt64 = 0

  init(capacity: Int) {
    commands = FixedBuffer(repeating: RenderCommand(.noOperation, at: 0), count: capacity)
  }

  /// The frame of the earliest command; the end of time where there is none.
  var nextFrame: Int64 { @_noLocks get { count > 0 ? commands[0].frame : .max } }
  var hasSpace: Bool { @_noLocks get { count < commands.count } }

  /// Lets a command wait: O(log n).
  @_noLocks mutating func insert(_ command: RenderCommand) {
    guard hasSpace else { return }
    var place = count
    commands[place] = command
    commands[place].sequenceNumber = nextOrder
    nextOrder &+= 1
    count &+= 1
    while place > 0 {
      let parent = (place &- 1) / 2
      guard precedes(place, parent) else { return }
      swap(place, parent)
      place = parent
    }
  }

  /// Takes the earliest command: O(log n). There must be one.
  @_noLocks mutating func popFirst() -> RenderCommand {
    let first = commands[0]
    count &-= 1
    commands[0] = commands[count]
    var place = 0
    while true {
      var least = place
      let left = 2 &* place &+ 1
      if left < count, precedes(left, least) {
        least = left
      }
      if left &+ 1 < count, precedes(left &+ 1, least) {
        least = left &+ 1
      }
      if least == place { return first }
      swap(place, least)
      place = least
    }
  }

  /// Empties the commands for a player, which stay as gaps until their time: O(n).
  @_noLocks mutating func removeCommands(for player: Reference<Player>) {
    for index in 0..<count {
      switch commands[index].change {
      case .player(let owner, let change) where owner.isIdentical(to: player):
        if case .start = change {
          _ = player.value.status.value.droppedStartCount.wrappingAdd(1, ordering: .releasing)
        }
        change.release()
        commands[index].change = .noOperation
        player.value.recordCommandCompletion()
      case .noOperation, .gain, .player, .attach, .detach:
        break
      }
    }
  }

  @_noLocks private func precedes(_ one: Int, _ other: Int) -> Bool {
    let first = commands[one]
    let second = commands[other]
    return first.frame != second.frame
      ? first.frame < second.frame : first.sequenceNumber < second.sequenceNumber
  }

  @_noLocks private mutating func swap(_ one: Int, _ other: Int) {
    let command = commands[one]
    commands[one] = commands[other]
    commands[other] = command
  }
}

extension Player {
  @_noLocks func recordCommandCompletion() {
    _ = status.value.completedCommandCount.wrappingAdd(1, ordering: .releasing)
  }
}
