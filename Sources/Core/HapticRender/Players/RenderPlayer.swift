public import Synchronization
internal import RealtimeMemory

/// One playing of a plan, as the control side holds it: all memory that the render thread needs for
/// it.
///
/// It must live until the render thread has released it: `isReleased` after a `remove` command.
public final class RenderPlayer: @unchecked Sendable {
  /// The most voices that sound together when rendered live; more are dropped and counted.
  public static let maximumVoiceCount = 4_096

  /// How fast a pattern can run, as a multiple of its own speed.
  public static let playbackRates = TempoMap.minimumRate...TempoMap.maximumRate

  /// What is played.
  public let plan: RenderPlan
  let player: Cell<Player>
  var reference: Reference<Player> { unsafe player.reference }
  private let liveControls = Cell(LiveControls())
  private let status = Cell(PlayerStatus())
  private let changes: Cell<PlayerChanges>
  private let voices: FixedBuffer<Voice>
  private let sendSegments: FixedBuffer<ControlSegment>

  /// A player that has not started.
  ///
  /// - Parameters:
  ///   - hapticBus: The bus its haptics sound on, or nothing for none.
  ///   - share: The send gain of the bus, or nil for 1.
  public convenience init(
    plan: RenderPlan, hapticBus: Int? = 0, rendersAudio: Bool = true,
    sendGain share: SendAutomation? = nil
  ) {
    self.init(
      plan: plan, hapticBus: hapticBus, rendersAudio: rendersAudio, sendGain: share,
      recordsChanges: false)
  }

  /// - Parameters:
  ///   - voiceCapacity: How many voices may sound at once, or nil for what the plan may need live.
  ///   - keepsChanges: Whether `takeChanges` reports what it does.
  package init(
    plan: RenderPlan, hapticBus: Int?, rendersAudio: Bool, sendGain share: SendAutomation?,
    voiceCapacity: Int? = nil,
    recordsChanges keepsChanges: Bool
  ) {
    let voiceCapacity =
      voiceCapacity
      ?? min(
        max(64, plan.voiceCapacity(passCount: nil, allowsLiveEnvelopes: true)),
        Self.maximumVoiceCount)
    self.plan = plan
    changes = Cell(PlayerChanges(isEnabled: keepsChanges))
    voices = FixedBuffer(repeating: Voice.placeholder, count: voiceCapacity)
    sendSegments = FixedBuffer(share?.segments ?? [])
    unsafe player = Cell(
      Player(
        plan: plan.view.reference, liveControls: liveControls.reference, status: status.reference,
        changes: changes.reference,
        voices: voices.view, bus: hapticBus ?? -1, rendersAudio: rendersAudio,
        sendSegments: sendSegments.view))
  }

  /// Whether the render thread has released it for good.
  public var isReleased: Bool { status.value.isReleased.load(ordering: .acquiring) }

  /// Takes what it has done since the last call: [between blocks].
  package func drainChanges() -> [PlayerChange] { changes.value.drain() }

  /// Reads what the player last reported: [any thread].
  public func withStatus<Result>(_ body: (borrowing PlayerStatus) -> Result) -> Result {
    body(status.value)
  }
}

/// What a player reports to the control side; written by the render thread, read by any.
public struct PlayerStatus: ~Copyable, Sendable {
  /// What a player does; `idle` before its start and behind its end.
  public enum Phase: UInt8, BitwiseCopyable, Sendable {
    case idle, playing, paused

    var isIdle: Bool {
      @_noLocks get {
        if case .idle = self {
          true
        } else {
          false
        }
      }
    }
    var isPlaying: Bool {
      @_noLocks get {
        if case .playing = self {
          true
        } else {
          false
        }
      }
    }
    var isPaused: Bool {
      @_noLocks get {
        if case .paused = self {
          true
        } else {
          false
        }
      }
    }
  }

  /// How often it has come to an end, by itself or by a stop.
  public let endCount = Atomic<Int>(0)
  /// The frame of the last end.
  public let endFrame = Atomic<Int64>(0)
  /// How often it has started.
  public let startCount = Atomic<Int>(0)
  /// How many starts were dropped before their frame.
  public let droppedStartCount = Atomic<Int>(0)
  /// How many commands have been done or dropped.
  public let completedCommandCount = Atomic<Int>(0)
  /// The frame of the last start.
  public let startFrame = Atomic<Int64>(0)
  /// The frame of the pattern at the end of the last block.
  public let position = Atomic<Int64>(0)
  /// Voices that found no space, in all.
  public let droppedVoiceCount = Atomic<Int>(0)
  /// Whether the render thread has released the player for good.
  public let isReleased = Atomic<Bool>(false)
  private let phaseCode = Atomic<UInt8>(0)

  /// What the player did at the end of the last block.
  public var phase: Phase { Phase(rawValue: phaseCode.load(ordering: .acquiring)) ?? .idle }

  @_noLocks func report(_ phase: Phase) { phaseCode.store(phase.rawValue, ordering: .releasing) }
}

/// A place in the middle of a plan to start from: the voices that sound there.
struct CuePoint: ~Copyable {
  let frame: Int64
  let nextVoiceIndex: Int
  let soundingVoiceIndices: FixedBuffer<Int32>
  let isReleased = Atomic<Bool>(false)
}

/// A place in the middle of a plan, as the control side holds it.
///
/// It must live until the render thread has released it.
public final class SharedCuePoint: @unchecked Sendable {
  let cell: Cell<CuePoint>
  var reference: Reference<CuePoint> { unsafe cell.reference }

  /// Finds the continuous voices that sound at a frame: a look at every voice that may have begun
  /// and not ended.
  ///
  /// What has ended by then is past, and so are transients that have begun.
  public init(of plan: RenderPlan, at frame: Int64) {
    let frame = max(0, frame)
    let planned = plan.view.value.voices
    // Voices before it have ended.
    var next = planned.firstIndex(startingAt: frame - plan.view.value.maximumHoldLength)
    var found: [Int32] = []
    while next < planned.count && planned[next].onset < frame {
      let voice = planned[next]
      if !voice.source.isBurst, voice.onset + voice.envelope.end > frame {
        found.append(Int32(clamping: next))
      }
      next += 1
    }
    cell = Cell(
      CuePoint(frame: frame, nextVoiceIndex: next, soundingVoiceIndices: FixedBuffer(found)))
  }

  /// Whether the render thread has released it.
  public var isReleased: Bool { cell.value.isReleased.load(ordering: .acquiring) }
}

/// Frames that are made elsewhere while they sound, as of a sound that is followed: added to all
/// haptic buses.
///
/// Where none are there in time, the voice fades out over 5 ms, and sounds again once its reserve
/// is full. It must live until the render thread has released it: `isReleased` after a `detach`
/// command.
public final class LiveVoice: @unchecked Sendable {
  /// The most voices of a renderer.
  public static let maximumCount = 8
  /// Seconds in which a voice sets in and fades out.
  static let fadeDuration = 0.005

  let state: Cell<LiveVoiceState>
  var reference: Reference<LiveVoiceState> { unsafe state.reference }

  /// A voice that waits for frames.
  ///
  /// - Parameters:
  ///   - rate: Frames per second, of the renderer that plays it.
  ///   - capacity: Frames that may wait; 4 bytes each.
  ///   - reserve: Frames that must wait before the first sounds, at the beginning and behind a gap.
  public init(rate: Double, capacity: Int, reserve: Int) {
    state = Cell(
      LiveVoiceState(
        capacity: capacity, reserve: reserve, fadeStep: Float(1 / max(1, Self.fadeDuration * rate)))
    )
  }

  /// Frames that must wait before the first sounds, at the beginning and behind a gap; it may grow
  /// up to the capacity.
  public var reserve: Int {
    get { state.value.reserve.load(ordering: .relaxed) }
    set {
      state.value.reserve.store(
        max(1, min(newValue, state.value.queue.capacity)), ordering: .relaxed)
    }
  }

  /// Puts frames behind those that wait, all or none: [one writing thread].
  ///
  /// - Parameter samples: One for each frame, in −1…1.
  /// - Returns: Whether there was space.
  public func write(_ samples: Span<Float>) -> Bool { state.value.queue.write(samples) }

  /// Frames that wait: [any thread].
  public var queuedFrameCount: Int { state.value.queue.count }
  /// Frames that were due and not there since the first that sounded: [any thread].
  public var underrunFrameCount: Int64 { state.value.underrunFrameCount.load(ordering: .relaxed) }
  /// Whether the render thread has released it for good: [any thread].
  public var isReleased: Bool { state.value.isReleased.load(ordering: .acquiring) }
}

struct LiveVoiceState: ~Copyable {
  let queue: RingQueue<Float>
  let underrunFrameCount = Atomic<Int64>(0)
  let isReleased = Atomic<Bool>(false)
  /// Whether it fades out for good.
  var isDetached = false
  let reserve: Atomic<Int>
  private let fadeStep: Float
  private var hasStarted = false
  private var isPlaying = false
  /// The last frame, which is held while it fades, and how much of it sounds.
  private var latestSample: Float = 0
  private var fadeGain: Float = 0

  init(capacity: Int, reserve: Int, fadeStep step: Float) {
    queue = RingQueue(capacity: max(capacity, reserve), filler: 0)
    self.reserve = Atomic(max(1, reserve))
    self.fadeStep = step
  }

  /// Adds the next frames to all haptic buses; false once it has left.
  @_noLocks mutating func mix(count: Int, into buses: Reference<BusSet>) -> Bool {
    var missed: Int64 = 0
    for index in 0..<count {
      if !isPlaying, fadeGain == 0 {
        isPlaying = queue.count >= reserve.load(ordering: .relaxed)
      }
      if isPlaying {
        isPlaying = queue.pop(&latestSample)
        hasStarted = true
      }
      if isPlaying, !isDetached {
        fadeGain = min(1, fadeGain + fadeStep)
      } else {
        fadeGain = max(0, fadeGain - fadeStep)
      }
      if !isPlaying, hasStarted {
        missed &+= 1
      }
      let sample = latestSample * fadeGain
      for bus in 0..<buses.value.hapticCount {
        let frames = buses.value.haptics(bus)
        frames[index] = frames[index] + sample
      }
    }
    if missed > 0, !isDetached {
      _ = underrunFrameCount.wrappingAdd(missed, ordering: .relaxed)
    }
    return !isDetached || fadeGain > 0
  }
}
