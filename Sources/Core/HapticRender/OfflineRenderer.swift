/// Renders a plan from its first frame to a given length, with the renderer's latency taken out.
public struct OfflineRenderer: ~Copyable {
  /// Frames of silence behind the sound, in seconds, that a rendering ends with by default,
  /// where no hardware needs more.
  public static let defaultTail = 0.02
  /// Seconds of the fade into the end of a rendering.
  public static let fadeDuration = 0.01

  private var renderer: Renderer
  private var remainingLatency: Int
  private var remainingLength: Int64

  /// Prepares a rendering of `settings.length` frames, or of the plan's own length where that is
  /// absent.
  public init(plan: RenderPlan, settings: RenderSettings = RenderSettings()) {
    self.init(plans: [plan], settings: settings)
  }

  /// Prepares a rendering of one pattern's plans in step, as `Renderer` describes it.
  public init(
    plans: [RenderPlan], sendGains shares: [SendAutomation] = [],
    settings: RenderSettings = RenderSettings()
  ) {
    var settings = settings
    let length = settings.length ?? plans.map { $0.length }.max() ?? 0
    settings.length = length
    renderer = Renderer(plans: plans, sendGains: shares, settings: settings)
    remainingLatency = renderer.latency
    remainingLength = length
  }

  /// What has happened so far.
  public var statistics: RenderStatistics { renderer.statistics }
  /// Frames still to come.
  public var remainingFrameCount: Int64 { remainingLength }

  /// Renders the next frames.
  ///
  /// - Returns: Frames written: as many as fit, fewer at the end, then 0.
  @_noLocks public mutating func read(into block: inout MutableSpan<Float>) -> Int {
    let channelCount = renderer.channelCount
    let capacity = block.count / channelCount
    guard capacity > 0 else { return 0 }
    while remainingLatency > 0 {
      let count = min(remainingLatency, capacity)
      var skipped = block._mutatingExtracting(first: count &* channelCount)
      renderer.render(into: &skipped)
      remainingLatency &-= count
    }
    let count = Int(min(Int64(capacity), remainingLength))
    guard count > 0 else { return 0 }
    var wanted = block._mutatingExtracting(first: count &* channelCount)
    renderer.render(into: &wanted)
    remainingLength &-= Int64(count)
    return count
  }

  /// Renders all that is still to come, interleaved: four bytes a sample.
  public mutating func samples() -> [Float] {
    var samples = [Float](repeating: 0, count: Int(max(1, remainingLength)) * renderer.channelCount)
    let count: Int
    do {
      var span = samples.mutableSpan
      count = read(into: &span)
    }
    samples.removeLast(samples.count - count * renderer.channelCount)
    return samples
  }
}
