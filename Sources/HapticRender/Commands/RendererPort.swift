internal import RealtimeMemory
internal import Synchronization

/// Where the control side and one renderer meet: commands one way, figures the other, and no lock.
public final class RendererPort: @unchecked Sendable {
  /// Commands that may wait for their frame.
  public static let maximumScheduledCommandCount = 4_096
  /// Commands that fit on their way to the render thread.
  static let commandCapacity = 1_024

  let memory: Cell<Memory>
  private var sentCount = 0
  /// Called after commands were sent to a renderer that rests: [the control thread that sends].
  public var wakeHandler: (@Sendable () -> Void)?

  /// What both sides share.
  struct Memory: ~Copyable {
    let queue = RingQueue(capacity: commandCapacity, filler: RenderCommand(.nothing, at: 0))
    let position = Atomic<Int64>(0)
    let voiceCount = Atomic<Int>(0)
    let limitedFrameCount = Atomic<Int64>(0)
    let nonFiniteSampleCount = Atomic<Int64>(0)
    let changeCount = Atomic<Int>(0)
    let doneCount = Atomic<Int>(0)
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
      if gain < 1 { _ = minimumProtectionGain.min(gain.bitPattern, ordering: .relaxed) }
    }
  }

  /// A link for a renderer of some channels.
  public init(channelCount: Int) { memory = Cell(Memory(channelCount: channelCount)) }

  /// Sends commands that belong together, all or none: [one control thread at a time].
  ///
  /// - Returns: Whether there was space.
  public func send(_ commands: [RenderCommand]) -> Bool {
    let waiting = sentCount - memory.value.doneCount.load(ordering: .acquiring)
    // What is to be done at once has space of its own, so that a full schedule can still be stopped.
    let isScheduling = commands.contains { $0.time > 0 }
    let room = Self.maximumScheduledCommandCount + (isScheduling ? 0 : Self.commandCapacity / 2)
    guard waiting + commands.count <= room, memory.value.queue.write(commands.span) else { return false }
    sentCount += commands.count
    if let wakeHandler {
      // With the fence of `beginIdle`: either this thread sees the rest, or the renderer the commands.
      atomicMemoryFence(ordering: .sequentiallyConsistent)
      if memory.value.isIdle.load(ordering: .relaxed) { wakeHandler() }
    }
    return true
  }

  /// Frames rendered so far: the frame that comes next.
  public var position: Int64 { memory.value.position.load(ordering: .acquiring) }

  /// Voices that sounded in the last block.
  public var voiceCount: Int { memory.value.voiceCount.load(ordering: .relaxed) }

  /// Frames in which a limiter held the level down, summed over channels that differ.
  public var limitedFrameCount: Int64 { memory.value.limitedFrameCount.load(ordering: .relaxed) }

  /// Samples that were NaN or infinite and became silence.
  public var nonFiniteSampleCount: Int64 { memory.value.nonFiniteSampleCount.load(ordering: .relaxed) }

  /// Frames in which a transducer was kept from moving too far, summed over channels that differ.
  public var excursionLimitedFrameCount: Int64 { memory.value.excursionLimitedFrameCount.load(ordering: .relaxed) }

  /// Frames in which a transducer was kept from growing too warm, summed over channels that differ.
  public var powerLimitedFrameCount: Int64 { memory.value.powerLimitedFrameCount.load(ordering: .relaxed) }

  /// The least factor by which a transducer was protected since it was last asked: [one control thread].
  public func takeMinimumProtectionGain() -> Float {
    let bits = memory.value.minimumProtectionGain.exchange(Float(1).bitPattern, ordering: .relaxed)
    return Float(bitPattern: bits)
  }

  /// The greatest movement of a transducer so far, as a fraction of its limit.
  public var peakExcursion: Float { Float(bitPattern: memory.value.peakExcursion.load(ordering: .relaxed)) }

  /// How warm the transducer of each channel is; set before a renderer is made, it begins as warm.
  public var temperatureRise: [TransducerThermalState] {
    get {
      (0..<memory.value.thermalStates.count).map { channel in
        TransducerThermalState(bits: memory.value.thermalStates[channel].load(ordering: .relaxed))
      }
    }
    set {
      for (channel, temperatureRise) in zip(0..<memory.value.thermalStates.count, newValue) {
        memory.value.thermalStates[channel].store(temperatureRise.bits, ordering: .relaxed)
      }
    }
  }

  /// Grows whenever a player starts, ends or is released.
  public var changeCount: Int { memory.value.changeCount.load(ordering: .acquiring) }

  /// The greatest magnitude of a channel since it was last asked: [one control thread].
  public func takePeak(ofChannel channel: Int) -> Float {
    guard (0..<memory.value.peaks.count).contains(channel) else { return 0 }
    return Float(bitPattern: memory.value.peaks[channel].exchange(0, ordering: .relaxed))
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
