public import Synchronization

/// What a player tells the control side; written by the render thread, read by any.
public struct PlayerStatus: ~Copyable, Sendable {
  /// What a player does.
  public enum Phase: UInt8, BitwiseCopyable, Sendable {
    /// It has not started, or has ended.
    case idle
    /// Its pattern runs.
    case playing
    /// Its pattern stands still.
    case paused
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
  public let place = Atomic<Int64>(0)
  /// Voices that found no room, in all.
  public let droppedVoiceCount = Atomic<Int>(0)
  /// Whether the render thread has let go of the player for good.
  public let isReleased = Atomic<Bool>(false)
  let phaseCode = Atomic<UInt8>(0)

  /// A player that has done nothing.
  init() {}

  /// What the player did at the end of the last block.
  public var phase: Phase { Phase(rawValue: phaseCode.load(ordering: .acquiring)) ?? .idle }
}
