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
  public static let playbackRates = TempoMap.slowest...TempoMap.fastest

  /// What is played.
  public let plan: RenderPlan
  let player: Cell<Player>
  var reference: Reference<Player> { unsafe player.reference }
  private let live = Cell(LiveControls())
  private let state = Cell(PlayerStatus())
  private let changes: Cell<PlayerChanges>
  private let voices: FixedBuffer<Voice>
  private let sendSegments: FixedBuffer<ControlSegment>

  /// A player that has not started.
  ///
  /// - Parameters:
  ///   - hapticBus: The bus its haptics sound on, or nothing for none.
  ///   - share: The send gain of the bus, or nil for 1.
  public convenience init(
    plan: RenderPlan, hapticBus: Int? = 0, rendersAudio: Bool = true, share: SendAutomation? = nil
  ) {
    self.init(
      plan: plan, hapticBus: hapticBus, rendersAudio: rendersAudio, share: share,
      keepsChanges: false)
  }

  /// - Parameters:
  ///   - voiceCapacity: How many voices may sound at once, or nil for what the plan may need live.
  ///   - keepsChanges: Whether `takeChanges` reports what it does.
  package init(
    plan: RenderPlan, hapticBus: Int?, rendersAudio: Bool, share: SendAutomation?,
    voiceCapacity: Int? = nil,
    keepsChanges: Bool
  ) {
    let voiceCapacity =
      voiceCapacity
      ?? min(max(64, plan.voiceCapacity(passCount: nil, isSent: true)), Self.maximumVoiceCount)
    self.plan = plan
    changes = Cell(PlayerChanges(isKept: keepsChanges))
    voices = FixedBuffer(repeating: Voice.unused, count: voiceCapacity)
    sendSegments = FixedBuffer(share?.pieces ?? [])
    unsafe player = Cell(
      Player(
        plan: plan.view.reference, live: live.reference, status: state.reference,
        changes: changes.reference,
        voices: voices.view, bus: hapticBus ?? -1, rendersAudio: rendersAudio,
        sendSegments: sendSegments.view))
  }

  /// Whether the render thread has released it for good.
  public var isReleased: Bool { state.value.isReleased.load(ordering: .acquiring) }

  /// Takes what it has done since the last call: [between blocks].
  package func takeChanges() -> [PlayerChange] { changes.value.take() }

  /// Reads what the player last reported: [any thread].
  public func withStatus<Result>(_ body: (borrowing PlayerStatus) -> Result) -> Result {
    body(state.value)
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
  public let commandCount = Atomic<Int>(0)
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
  let nextVoice: Int
  let sounding: FixedBuffer<Int32>
  let isReleased = Atomic<Bool>(false)
}

/// A place in the middle of a plan, as the control side holds it.
///
/// It must live until the render thread has released it.
public final class SharedCuePoint: @unchecked Sendable {
  let entry: Cell<CuePoint>
  var cue: Reference<CuePoint> { unsafe entry.reference }

  /// Finds the continuous voices that sound at a frame: a look at every voice that may have begun
  /// and not ended.
  ///
  /// What has ended by then is past, and so are transients that have begun.
  public init(of plan: RenderPlan, at frame: Int64) {
    let frame = max(0, frame)
    let planned = plan.view.value.voices
    // Voices before it have ended.
    var next = planned.firstIndex(from: frame - plan.view.value.longestHold)
    var found: [Int32] = []
    while next < planned.count && planned[next].onset < frame {
      let voice = planned[next]
      if !voice.source.isBurst, voice.onset + voice.envelope.end > frame {
        found.append(Int32(clamping: next))
      }
      next += 1
    }
    entry = Cell(CuePoint(frame: frame, nextVoice: next, sounding: FixedBuffer(found)))
  }

  /// Whether the render thread has released it.
  public var isReleased: Bool { entry.value.isReleased.load(ordering: .acquiring) }
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
  static let fade = 0.005

  let frames: Cell<LiveFrames>
  var reference: Reference<LiveFrames> { unsafe frames.reference }

  /// A voice that waits for frames.
  ///
  /// - Parameters:
  ///   - rate: Frames per second, of the renderer that plays it.
  ///   - capacity: Frames that may wait; 4 bytes each.
  ///   - reserve: Frames that must wait before the first sounds, at the beginning and behind a gap.
  public init(rate: Double, capacity: Int, reserve: Int) {
    frames = Cell(
      LiveFrames(capacity: capacity, reserve: reserve, step: Float(1 / max(1, Self.fade * rate))))
  }

  /// Frames that must wait before the first sounds, at the beginning and behind a gap; it may grow
  /// up to the capacity.
  public var reserve: Int {
    get { frames.value.reserve.load(ordering: .relaxed) }
    set {
      frames.value.reserve.store(
        max(1, min(newValue, frames.value.queue.capacity)), ordering: .relaxed)
    }
  }

  /// Puts frames behind those that wait, all or none: [one writing thread].
  ///
  /// - Parameter samples: One for each frame, in −1…1.
  /// - Returns: Whether there was space.
  public func write(_ samples: Span<Float>) -> Bool { frames.value.queue.write(samples) }

  /// Frames that wait: [any thread].
  public var waitingFrameCount: Int { frames.value.queue.count }
  /// Frames that were due and not there since the first that sounded: [any thread].
  public var missedFrameCount: Int64 { frames.value.missedCount.load(ordering: .relaxed) }
  /// Whether the render thread has released it for good: [any thread].
  public var isReleased: Bool { frames.value.isReleased.load(ordering: .acquiring) }
}

struct LiveFrames: ~Copyable {
  let queue: RingQueue<Float>
  let missedCount = Atomic<Int64>(0)
  let isReleased = Atomic<Bool>(false)
  /// Whether it fades out for good.
  var isLeaving = false
  let reserve: Atomic<Int>
  private let step: Float
  private var hasBegun = false
  private var isRunning = false
  /// The last frame, which is held while it fades, and how much of it sounds.
  private var last: Float = 0
  private var presence: Float = 0

  init(capacity: Int, reserve: Int, step: Float) {
    queue = RingQueue(capacity: max(capacity, reserve), filler: 0)
    self.reserve = Atomic(max(1, reserve))
    self.step = step
  }

  /// Adds the next frames to all haptic buses; false once it has left.
  @_noLocks mutating func mix(count: Int, into buses: Reference<BusSet>) -> Bool {
    var missed: Int64 = 0
    for index in 0..<count {
      if !isRunning, presence == 0 {
        isRunning = queue.count >= reserve.load(ordering: .relaxed)
      }
      if isRunning {
        isRunning = queue.take(&last)
        hasBegun = true
      }
      if isRunning, !isLeaving {
        presence = min(1, presence + step)
      } else {
        presence = max(0, presence - step)
      }
      if !isRunning, hasBegun {
        missed &+= 1
      }
      let sample = last * presence
      for bus in 0..<buses.value.hapticCount {
        let frames = buses.value.haptics(bus)
        frames[index] = frames[index] + sample
      }
    }
    if missed > 0, !isLeaving {
      _ = missedCount.wrappingAdd(missed, ordering: .relaxed)
    }
    return !isLeaving || presence > 0
  }
}
