/// What one turn of the render loop did, for measurements.
public struct BlockTiming: BitwiseCopyable, Sendable {
  /// The engine's frame of the block's first frame.
  public var position: Int64
  /// Frames in the block.
  public var frameCount: Int
  /// When rendering began.
  public var began: Duration
  /// When rendering was done.
  public var rendered: Duration
  /// When the sink had taken the block.
  public var handed: Duration
  /// Frames handed over and not yet heard, the block included.
  public var delay: Int

  /// A place for a record.
  static let empty = BlockTiming(
    position: 0, frameCount: 0, began: .zero, rendered: .zero, handed: .zero, delay: 0)
}
