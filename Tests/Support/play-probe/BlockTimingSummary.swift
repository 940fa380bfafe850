import HapticPlayback

/// Counts the late blocks by cause, and summarizes the load of the render thread.
///
/// A block is late if it was written after the device had played all previous frames. The cause is
/// rendering if it took more than half of the duration of the block; the system if the block would
/// have been in time without the time that the thread waited for a processor; and otherwise the
/// device, which requested the block too late.
struct BlockTimingSummary: CustomStringConvertible {
  private let rate: Double
  private let periodSeconds: Double
  private var blockCount = 0
  private var frameCount = 0
  private var lateBlockCounts = (rendering: 0, system: 0, device: 0)
  private var longestRenderSeconds = 0.0
  private var peakLoad = 0.0
  private var totalProcessorSeconds = 0.0
  private var longestRunDelaySeconds = 0.0
  private var longestGapSeconds = 0.0
  private var loadHistogram = [Int](repeating: 0, count: 1_001)
  private var previous: BlockTiming?
  /// The total time that the thread had waited for a processor when the previous block was written.
  private var previousRunDelay: Duration?
  private var traces: [ObservedTime.Trace] = []

  init(rate: Double, periodSize: Int) {
    self.rate = rate
    periodSeconds = Double(periodSize) / rate
  }

  /// Adds blocks, and the traces of the clock during them.
  mutating func add(_ records: [BlockTiming], traces newTraces: [ObservedTime.Trace]) {
    traces += newTraces
    for record in records {
      addRecord(record)
    }
    if let last = records.last {
      traces.removeAll { $0.wallTime < last.writeEnd }
    }
  }

  private mutating func addRecord(_ record: BlockTiming) {
    blockCount += 1
    frameCount += record.frameCount
    let wallTime = record.renderEnd - record.renderStart
    longestRenderSeconds = max(longestRenderSeconds, wallTime / .seconds(1))
    let startTrace = traces.firstIndex { $0.wallTime == record.renderStart }
    let renderedTrace = traces.firstIndex { $0.wallTime == record.renderEnd }
    let writtenTrace = traces.lastIndex { $0.wallTime == record.writeEnd }
    defer { previous = record }
    guard let startTrace, let renderedTrace, let writtenTrace else { return }
    let renderTime =
      (traces[renderedTrace].processorTime - traces[startTrace].processorTime) / .seconds(1)
    // The load is the processor time relative to the duration of the block.
    let load = renderTime / (Double(record.frameCount) / rate)
    totalProcessorSeconds += renderTime
    peakLoad = max(peakLoad, load)
    loadHistogram[min(1_000, Int(load * 1_000))] += 1
    let runDelaySeconds =
      (traces[startTrace].runDelay - (previousRunDelay ?? traces[startTrace].runDelay))
      / .seconds(1)
    previousRunDelay = traces[writtenTrace].runDelay
    longestRunDelaySeconds = max(longestRunDelaySeconds, runDelaySeconds)
    guard let previous, previous.position + Int64(previous.frameCount) == record.position else {
      return
    }
    longestGapSeconds = max(
      longestGapSeconds, (record.renderStart - previous.writeEnd) / .seconds(1))
    let dueTime = previous.writeEnd + .seconds(Double(previous.delayFrameCount) / rate)
    guard record.writeEnd > dueTime else { return }
    let processorTime = traces[writtenTrace].processorTime - traces[startTrace].processorTime
    let interruptedTime =
      (record.writeEnd - record.renderStart) - processorTime + .seconds(runDelaySeconds)
    if processorTime / .seconds(1) > Double(record.frameCount) / rate / 2 {
      lateBlockCounts.rendering += 1
    } else if record.writeEnd - interruptedTime <= dueTime {
      lateBlockCounts.system += 1
    } else {
      lateBlockCounts.device += 1
    }
  }

  /// Returns the load below which a fraction of all blocks is.
  private func loadQuantile(at fraction: Double) -> Double {
    var remainingCount = Int(Double(loadHistogram.reduce(0, +)) * fraction)
    for (index, count) in loadHistogram.enumerated() {
      remainingCount -= count
      if remainingCount < 0 { return Double(index + 1) / 1_000 }
    }
    return 0
  }

  var description: String {
    "blocks \(blockCount) frames \(frameCount) late-by-rendering \(lateBlockCounts.rendering) "
      + "late-by-system \(lateBlockCounts.system) late-by-device \(lateBlockCounts.device) "
      + "mean-share \(Self.percent(totalProcessorSeconds * rate / Double(max(1, frameCount)))) "
      + "median-share \(Self.percent(loadQuantile(at: 0.5))) "
      + "p999-share \(Self.percent(loadQuantile(at: 0.999))) "
      + "worst-share \(Self.percent(peakLoad)) "
      + "worst-share-with-interruptions \(Self.percent(longestRenderSeconds / periodSeconds)) "
      + "worst-kept-ms \(Self.milliseconds(longestRunDelaySeconds)) "
      + "worst-gap-ms \(Self.milliseconds(longestGapSeconds))"
  }

  private static func percent(_ load: Double) -> String { "\((load * 10_000).rounded() / 100)%" }

  private static func milliseconds(_ seconds: Double) -> String {
    "\((seconds * 1e5).rounded() / 100)"
  }
}
