internal import Synchronization

/// Where the control side and one renderer meet: commands one way, figures the other, and no lock.
@safe
public final class RenderLink: @unchecked Sendable {
  /// Commands that may wait for their frame.
  public static let mostScheduled = 4_096

  let memory: UnsafeMutablePointer<Memory>
  private var sentCount = 0

  /// What both sides share.
  @safe
  struct Memory: ~Copyable {
    let queue = CommandQueue()
    let position = Atomic<Int64>(0)
    let voiceCount = Atomic<Int>(0)
    let limitedFrameCount = Atomic<Int64>(0)
    let silencedSampleCount = Atomic<Int64>(0)
    let changeCount = Atomic<Int>(0)
    let doneCount = Atomic<Int>(0)
    let peaks: UnsafeMutableBufferPointer<Atomic<UInt32>>

    init(channelCount: Int) {
      unsafe peaks = .allocate(capacity: channelCount)
      for channel in 0..<channelCount {
        unsafe peaks.initializeElement(at: channel, to: Atomic(0))
      }
    }

    deinit {
      unsafe peaks.deinitialize()
      unsafe peaks.deallocate()
    }

    /// Notes a channel's magnitude where it is the greatest since the control side last asked.
    @_noLocks
    func raisePeak(of channel: Int, to magnitude: Float) {
      // The bits of floats that are not negative order as the floats do.
      _ = unsafe peaks[channel].max(magnitude.bitPattern, ordering: .relaxed)
    }
  }

  /// A link for a renderer of some channels.
  public init(channelCount: Int) {
    unsafe memory = .allocate(capacity: 1)
    unsafe memory.initialize(to: Memory(channelCount: channelCount))
  }

  deinit {
    unsafe memory.deinitialize(count: 1)
    unsafe memory.deallocate()
  }

  /// Sends commands that belong together, all or none: [one control thread at a time].
  ///
  /// - Returns: Whether there was room.
  public func send(_ commands: [RenderCommand]) -> Bool {
    let waiting = unsafe sentCount - memory.pointee.doneCount.load(ordering: .acquiring)
    // What is to be done at once has room of its own, so that a full schedule can still be stopped.
    let isScheduling = commands.contains { $0.time > 0 }
    let room = Self.mostScheduled + (isScheduling ? 0 : CommandQueue.capacity / 2)
    guard waiting + commands.count <= room, unsafe memory.pointee.queue.send(commands) else {
      return false
    }
    sentCount += commands.count
    return true
  }

  /// Frames rendered so far: the frame that comes next.
  public var position: Int64 { unsafe memory.pointee.position.load(ordering: .acquiring) }

  /// Voices that sounded in the last block.
  public var voiceCount: Int { unsafe memory.pointee.voiceCount.load(ordering: .relaxed) }

  /// Frames in which a limiter held the level down, summed over channels that differ.
  public var limitedFrameCount: Int64 {
    unsafe memory.pointee.limitedFrameCount.load(ordering: .relaxed)
  }

  /// Samples that were no finite number and became silence.
  public var silencedSampleCount: Int64 {
    unsafe memory.pointee.silencedSampleCount.load(ordering: .relaxed)
  }

  /// Grows whenever a player starts, ends or is let go.
  public var changeCount: Int { unsafe memory.pointee.changeCount.load(ordering: .acquiring) }

  /// The greatest magnitude of a channel since it was last asked: [one control thread].
  public func takePeak(ofChannel channel: Int) -> Float {
    guard unsafe memory.pointee.peaks.indices.contains(channel) else { return 0 }
    return unsafe Float(
      bitPattern: memory.pointee.peaks[channel].exchange(0, ordering: .relaxed))
  }
}
