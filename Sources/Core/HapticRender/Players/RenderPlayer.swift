public import Synchronization
internal import RealtimeMemory

/// A player of a plan. The control side owns it, with all the memory that the render thread needs.
///
/// The player must outlive its use by the render thread. After a `remove` command, wait until
/// `isReleased` is true.
public final class RenderPlayer: @unchecked Sendable {
  /// The maximum number of simultaneous voices of a live player; further voices are dropped.
  public static let maximumVoiceCount = 4_096

  /// The supported playback rates, as multiples of the normal speed.
  public static let playbackRates = TempoMap.minimumPlaybackRate...TempoMap.maximumPlaybackRate

  /// The plan that the player plays.
  public let plan: RenderPlan
  let playerCell: Cell<Player>
  var playerReference: Reference<Player> { unsafe playerCell.reference }
  private let liveControls = Cell(LiveControls())
  private let status = Cell(PlayerStatus())
  private let changes: Cell<PlayerChanges>
  private let voices: FixedBuffer<Voice>
  private let sendSegments: FixedBuffer<ControlSegment>
  /// The parameters for creating an identical player.
  let creationParameters: CreationParameters

  /// The parameters of a player, without its memory.
  struct CreationParameters {
    let plan: RenderPlan
    let hapticBus: Int?
    let rendersAudio: Bool
    let sendGain: SendAutomation?
    let voiceCapacity: Int

    func makePlayer() -> RenderPlayer {
      RenderPlayer(
        plan: plan, hapticBus: hapticBus, rendersAudio: rendersAudio, sendGain: sendGain,
        voiceCapacity: voiceCapacity, recordsChanges: false)
    }
  }

  /// Creates an idle player.
  ///
  /// - Parameters:
  ///   - plan: The plan.
  ///   - hapticBus: The haptic bus, or nil for none.
  ///   - rendersAudio: Whether audio events are audible.
  ///   - sendGain: The send gain of the bus, or nil for 1.
  public convenience init(
    plan: RenderPlan, hapticBus: Int? = 0, rendersAudio: Bool = true,
    sendGain: SendAutomation? = nil
  ) {
    self.init(
      plan: plan, hapticBus: hapticBus, rendersAudio: rendersAudio, sendGain: sendGain,
      recordsChanges: false)
  }

  /// Creates an idle player.
  ///
  /// - Parameters:
  ///   - plan: The plan.
  ///   - hapticBus: The haptic bus, or nil for none.
  ///   - rendersAudio: Whether audio events are audible.
  ///   - sendGain: The send gain of the bus, or nil for 1.
  ///   - voiceCapacity: The maximum number of simultaneous voices, or nil for that of the plan.
  ///   - recordsChanges: Whether the player records its state changes for `drainChanges`.
  package init(
    plan: RenderPlan, hapticBus: Int?, rendersAudio: Bool, sendGain: SendAutomation?,
    voiceCapacity: Int? = nil, recordsChanges: Bool
  ) {
    let plannedVoiceCapacity = plan.voiceCapacity(passCount: nil, allowsLiveEnvelopes: true)
    let voiceCapacity = voiceCapacity ?? min(max(64, plannedVoiceCapacity), Self.maximumVoiceCount)
    self.plan = plan
    creationParameters = CreationParameters(
      plan: plan, hapticBus: hapticBus, rendersAudio: rendersAudio, sendGain: sendGain,
      voiceCapacity: voiceCapacity)
    changes = Cell(PlayerChanges(isEnabled: recordsChanges))
    voices = FixedBuffer(repeating: Voice.placeholder, count: voiceCapacity)
    sendSegments = FixedBuffer(sendGain?.segments ?? [])
    unsafe playerCell = Cell(
      Player(
        plan: plan.planView.reference, liveControls: liveControls.reference,
        sharedStatus: status.reference,
        changes: changes.reference, voices: voices.view, hapticBusIndex: hapticBus ?? -1,
        rendersAudio: rendersAudio, sendSegments: sendSegments.view))
  }

  /// A Boolean value that indicates whether the render thread has released the player.
  public var isReleased: Bool { status.value.isReleased.load(ordering: .acquiring) }

  /// Returns the state changes since the previous call. Call this method only between blocks.
  package func drainChanges() -> [PlayerChange] { changes.value.drain() }

  /// Calls a function with the most recent status of the player. Any thread may call this method.
  public func withStatus<Result>(_ body: (borrowing PlayerStatus) -> Result) -> Result {
    body(status.value)
  }
}

/// The status of a player, which the render thread writes and any thread may read.
public struct PlayerStatus: ~Copyable, Sendable {
  /// The phase of a player, which is `idle` before its start and after its end.
  public enum Phase: UInt8, BitwiseCopyable, Sendable {
    case idle, playing, paused

    var isIdle: Bool {
      @_noLocks get {
        switch self {
        case .idle: true
        case .playing, .paused: false
        }
      }
    }
    var isPlaying: Bool {
      @_noLocks get {
        switch self {
        case .playing: true
        case .idle, .paused: false
        }
      }
    }
    var isPaused: Bool {
      @_noLocks get {
        switch self {
        case .paused: true
        case .idle, .playing: false
        }
      }
    }
  }

  /// The number of times the player has ended or was stopped.
  public let endCount = Atomic<Int>(0)
  /// The output frame at which the player last ended or was stopped.
  public let endOutputFrame = Atomic<Int64>(0)
  /// The number of times the player has started.
  public let startCount = Atomic<Int>(0)
  /// The number of scheduled starts that were dropped before their frame was reached.
  public let droppedStartCount = Atomic<Int>(0)
  /// The number of commands that were performed or dropped.
  public let completedCommandCount = Atomic<Int>(0)
  /// The output frame at which the player last started.
  public let startOutputFrame = Atomic<Int64>(0)
  /// The pattern frame that the player had reached at the end of the last block.
  public let patternFrame = Atomic<Int64>(0)
  /// The number of voices that were dropped for lack of memory.
  public let droppedVoiceCount = Atomic<Int>(0)
  /// A Boolean value that indicates whether the render thread has released the player.
  public let isReleased = Atomic<Bool>(false)
  private let phaseCode = Atomic<UInt8>(0)

  /// The phase of the player at the end of the last block.
  public var phase: Phase { Phase(rawValue: phaseCode.load(ordering: .acquiring)) ?? .idle }

  @_noLocks func setPhase(_ phase: Phase) { phaseCode.store(phase.rawValue, ordering: .releasing) }
}

/// A start position of playback in a plan, with the voices that are sounding there.
struct CuePoint: ~Copyable {
  let patternFrame: Int64
  let nextVoiceIndex: Int
  let soundingVoiceIndices: FixedBuffer<Int32>
  let isReleased = Atomic<Bool>(false)
}

/// A start position of playback in a plan. The control side owns it.
///
/// The cue point must outlive its use by the render thread.
public final class SharedCuePoint: @unchecked Sendable {
  let cueCell: Cell<CuePoint>
  var cueReference: Reference<CuePoint> { unsafe cueCell.reference }

  /// Creates a cue point with the continuous voices that sound at a frame.
  ///
  /// Transients that started before the frame are omitted.
  ///
  /// - Complexity: O(*n*) in the number of voices that may sound at the frame.
  public init(of plan: RenderPlan, at frame: Int64) {
    let clampedFrame = max(0, frame)
    let plannedVoices = plan.planView.value.voices
    // Earlier voices have already ended.
    var nextVoiceIndex = plannedVoices.firstVoiceIndex(
      startingAt: clampedFrame - plan.planView.value.maximumVoiceFrameCount)
    var soundingVoiceIndices: [Int32] = []
    while nextVoiceIndex < plannedVoices.count
      && plannedVoices[nextVoiceIndex].onsetFrame < clampedFrame
    {
      let voice = plannedVoices[nextVoiceIndex]
      if !voice.source.isBurst, voice.onsetFrame + voice.envelope.endFrame > clampedFrame {
        soundingVoiceIndices.append(Int32(clamping: nextVoiceIndex))
      }
      nextVoiceIndex += 1
    }
    cueCell = Cell(
      CuePoint(
        patternFrame: clampedFrame, nextVoiceIndex: nextVoiceIndex,
        soundingVoiceIndices: FixedBuffer(soundingVoiceIndices))
    )
  }

  /// A Boolean value that indicates whether the render thread has released the cue point.
  public var isReleased: Bool { cueCell.value.isReleased.load(ordering: .acquiring) }
}

/// A voice with samples that the caller streams during playback.
///
/// The voice is added to all haptic buses.
///
/// After an underrun, the voice fades out over 5 ms and restarts once its reserve is full. The
/// voice must outlive its use by the render thread. After a `detach` command, wait until
/// `isReleased` is true.
public final class LiveVoice: @unchecked Sendable {
  /// The maximum number of live voices of a renderer.
  public static let maximumCountPerRenderer = 8
  /// The duration of a fade-in or fade-out, in seconds.
  static let fadeSeconds = 0.005

  let stateCell: Cell<LiveVoiceState>
  var stateReference: Reference<LiveVoiceState> { unsafe stateCell.reference }

  /// Creates a live voice, which is silent until enough frames are queued.
  ///
  /// - Parameters:
  ///   - rate: The sample rate of the renderer, in hertz.
  ///   - capacity: The maximum number of queued frames, of 4 bytes each.
  ///   - reserve: The number of queued frames at which playback starts, initially and after an
  ///     underrun.
  public init(rate: Double, capacity: Int, queuedFrameCountAtStart reserve: Int) {
    stateCell = Cell(
      LiveVoiceState(
        capacity: capacity, reserve: reserve, fadeStep: Float(1 / max(1, Self.fadeSeconds * rate)))
    )
  }

  /// The number of queued frames that starts playback, initially and after an underrun.
  ///
  /// The number is at most the capacity.
  public var queuedFrameCountAtStart: Int {
    get { stateCell.value.queuedFrameCountAtStart.load(ordering: .relaxed) }
    set {
      stateCell.value.queuedFrameCountAtStart.store(
        max(1, min(newValue, stateCell.value.sampleQueue.capacity)), ordering: .relaxed)
    }
  }

  /// Queues either all or none of the given frames. Only one thread may write.
  ///
  /// - Parameter samples: The frames, −1…1.
  /// - Returns: True if there was enough space.
  public func write(_ samples: Span<Float>) -> Bool { stateCell.value.sampleQueue.write(samples) }

  /// The number of queued frames. Any thread may read it.
  public var queuedFrameCount: Int { stateCell.value.sampleQueue.count }
  /// The number of frames that were missing when they were due since playback started. Any thread
  /// may read it.
  public var underrunFrameCount: Int64 {
    stateCell.value.underrunFrameCount.load(ordering: .relaxed)
  }
  /// A Boolean value that indicates whether the render thread has released the voice. Any thread
  /// may read it.
  public var isReleased: Bool { stateCell.value.isReleased.load(ordering: .acquiring) }
}

/// The state of a live voice on the render thread.
struct LiveVoiceState: ~Copyable {
  let sampleQueue: RingQueue<Float>
  let underrunFrameCount = Atomic<Int64>(0)
  let isReleased = Atomic<Bool>(false)
  /// A Boolean value that indicates whether the voice is detached.
  ///
  /// A detached voice is released after fading out.
  var isDetached = false
  let queuedFrameCountAtStart: Atomic<Int>
  private let fadeGainPerFrame: Float
  private var hasStarted = false
  private var isPlaying = false
  /// The most recent sample, which is held during a fade-out.
  private var latestSample: Float = 0
  /// The current gain of the fade-in or fade-out.
  private var fadeGain: Float = 0

  init(capacity: Int, reserve: Int, fadeStep: Float) {
    sampleQueue = RingQueue(capacity: max(capacity, reserve), filler: 0)
    self.queuedFrameCountAtStart = Atomic(max(1, reserve))
    self.fadeGainPerFrame = fadeStep
  }

  /// Adds the next frames to all haptic buses. Returns false once a detached voice has faded out.
  @_noLocks mutating func mix(count: Int, into buses: Reference<BusSet>) -> Bool {
    var newUnderrunCount: Int64 = 0
    for index in 0..<count {
      if !isPlaying, fadeGain == 0 {
        isPlaying = sampleQueue.count >= queuedFrameCountAtStart.load(ordering: .relaxed)
      }
      if isPlaying {
        isPlaying = sampleQueue.pop(&latestSample)
        hasStarted = true
      }
      if isPlaying, !isDetached {
        fadeGain = min(1, fadeGain + fadeGainPerFrame)
      } else {
        fadeGain = max(0, fadeGain - fadeGainPerFrame)
      }
      if !isPlaying, hasStarted {
        newUnderrunCount &+= 1
      }
      let sample = latestSample * fadeGain
      for bus in 0..<buses.value.hapticBusCount {
        let frames = buses.value.hapticBus(at: bus)
        frames[index] = frames[index] + sample
      }
    }
    if newUnderrunCount > 0, !isDetached {
      _ = underrunFrameCount.wrappingAdd(newUnderrunCount, ordering: .relaxed)
    }
    return !isDetached || fadeGain > 0
  }
}
