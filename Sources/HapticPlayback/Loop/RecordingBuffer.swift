internal import RealtimeMemory
internal import Synchronization

/// A copy of all that is handed to a sink, for another thread to write away.
///
/// Missed time is in it as silence. What the other thread is too slow for is dropped and counted.
public final class RecordingBuffer: Sendable {
  /// Seconds that fit while the other thread is busy.
  public static let capacity = 8.0

  /// Interleaved channels.
  public let channelCount: Int
  private let ring: RingQueue<Float>
  private let dropped = Atomic<Int>(0)

  /// A recording of what a sink of this format is given.
  public init(_ format: SinkFormat) {
    channelCount = format.channelCount
    ring = RingQueue(capacity: Int(Self.capacity * format.rate) * format.channelCount, filler: 0)
  }

  /// Samples that found no space, in all.
  public var droppedSampleCount: Int { dropped.load(ordering: .relaxed) }

  /// Takes samples, oldest first, into the beginning of an array; returns how many: [one thread].
  public func take(into samples: inout [Float]) -> Int { ring.take(into: &samples) }

  /// Puts frames in: [render thread].
  func write(_ frames: Span<Float>) { if !ring.write(frames) { dropped.wrappingAdd(frames.count, ordering: .relaxed) } }
}
