internal import RealtimeMemory
internal import Synchronization

/// Frames that are made elsewhere while they sound, as of a sound that is followed: added to all haptic buses.
///
/// Where none are there in time, the voice fades out over 5 ms, and sounds again once its reserve is full. It must live until
/// the render thread has released it: `isReleased` after a `detach` command.
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
    frames = Cell(LiveFrames(capacity: capacity, reserve: reserve, step: Float(1 / max(1, Self.fade * rate))))
  }

  /// Frames that must wait before the first sounds, at the beginning and behind a gap; it may grow up to the capacity.
  public var reserve: Int {
    get { frames.value.reserve.load(ordering: .relaxed) }
    set { frames.value.reserve.store(max(1, min(newValue, frames.value.queue.capacity)), ordering: .relaxed) }
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

/// The memory of a live voice.
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
      if !isRunning, presence == 0 { isRunning = queue.count >= reserve.load(ordering: .relaxed) }
      if isRunning {
        isRunning = queue.take(&last)
        hasBegun = true
      }
      if isRunning, !isLeaving { presence = min(1, presence + step) } else { presence = max(0, presence - step) }
      if !isRunning, hasBegun { missed &+= 1 }
      let sample = last * presence
      for bus in 0..<buses.value.hapticCount {
        let frames = buses.value.haptics(bus)
        frames[index] = frames[index] + sample
      }
    }
    if missed > 0, !isLeaving { _ = missedCount.wrappingAdd(missed, ordering: .relaxed) }
    return !isLeaving || presence > 0
  }
}
