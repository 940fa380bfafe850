/// A renderer of a plan up to a given length, without latency.
///
/// The latency of the renderer is removed from the output.
public struct OfflineRenderer: ~Copyable {
  /// The minimum silence at the end of a rendering, in seconds. The filters for hardware may decay
  /// more slowly and need more.
  public static let defaultTailSeconds = 0.02
  /// The duration of the fade at the end of a rendering, in seconds.
  public static let fadeOutSeconds = 0.01

  private var renderer: Renderer
  private var remainingLatencyFrameCount: Int
  private var unreadFrameCount: Int64

  /// Creates a renderer with `settings.outputFrameCount` frames of output.
  ///
  /// If the count is nil, the output has as many frames as the plan.
  public init(plan: RenderPlan, settings: RenderSettings = RenderSettings()) {
    self.init(plans: [plan], settings: settings)
  }

  /// Creates a renderer that plays several plans of one pattern in sync.
  ///
  /// - Parameters:
  ///   - plans: The plan of each haptic bus, as for `Renderer`.
  ///   - sendGains: The send gain of each haptic bus; missing gains are 1.
  ///   - settings: The routing, the level, and the length.
  public init(
    plans: [RenderPlan], sendGains: [SendAutomation] = [],
    settings: RenderSettings = RenderSettings()
  ) {
    var settings = settings
    let outputFrameCount = settings.outputFrameCount ?? plans.map { $0.frameCount }.max() ?? 0
    settings.outputFrameCount = outputFrameCount
    renderer = Renderer(plans: plans, sendGains: sendGains, settings: settings)
    remainingLatencyFrameCount = renderer.latencyFrameCount
    unreadFrameCount = outputFrameCount
  }

  /// The statistics of all frames rendered so far.
  public var statistics: RenderStatistics { renderer.statistics }
  /// The number of frames that have not been rendered yet.
  public var remainingFrameCount: Int64 { unreadFrameCount }

  /// Renders as many frames as fit into a block, and returns their number.
  ///
  /// - Parameter block: The interleaved samples to overwrite.
  /// - Returns: The number of frames written: fewer than fit at the end, then 0.
  @_noLocks public mutating func read(into block: inout MutableSpan<Float>) -> Int {
    let channelCount = renderer.channelCount
    let blockFrameCapacity = block.count / channelCount
    guard blockFrameCapacity > 0 else { return 0 }
    while remainingLatencyFrameCount > 0 {
      let count = min(remainingLatencyFrameCount, blockFrameCapacity)
      var skipped = block._mutatingExtracting(first: count &* channelCount)
      renderer.render(into: &skipped)
      remainingLatencyFrameCount &-= count
    }
    let readFrameCount = Int(min(Int64(blockFrameCapacity), unreadFrameCount))
    guard readFrameCount > 0 else { return 0 }
    var outputBlock = block._mutatingExtracting(first: readFrameCount &* channelCount)
    renderer.render(into: &outputBlock)
    unreadFrameCount &-= Int64(readFrameCount)
    return readFrameCount
  }

  /// Renders all remaining frames, and returns their interleaved samples.
  public mutating func samples() -> [Float] {
    var renderedSamples = [Float](
      repeating: 0, count: Int(max(1, unreadFrameCount)) * renderer.channelCount)
    let readFrameCount: Int
    do {
      var span = renderedSamples.mutableSpan
      readFrameCount = read(into: &span)
    }
    renderedSamples.removeLast(renderedSamples.count - readFrameCount * renderer.channelCount)
    return renderedSamples
  }
}
