import HapticPlayback

/// Reports of every block whether it was late, and whose doing that was.
///
/// A block is late when it was handed over after the device had played all that it had. It was late
/// by rendering where that took more than half the time that the block lasts; by the system where
/// it would have been in time had the thread always run when it could; else by the device, which
/// asked too late.
struct BlockJudge: CustomStringConvertible {
  private let rate: Double
  private let period: Double
  private var blockCount = 0
  private var frameCount = 0
  private var late = (rendering: 0, system: 0, device: 0)
  private var worstWall = 0.0
  private var worstRun = 0.0
  private var sumRun = 0.0
  private var worstKept = 0.0
  private var worstGap = 0.0
  private var shares = [Int](repeating: 0, count: 1_001)
  private var previous: BlockTiming?
  /// What the thread had been kept waiting in all when the previous block was handed over.
  private var keptBefore: Duration?
  private var traces: [ObservedTime.Trace] = []

  init(rate: Double, periodSize: Int) {
    self.rate = rate
    period = Double(periodSize) / rate
  }

  /// Takes in blocks, and the looks at the clock around them.
  mutating func look(at records: [BlockTiming], traces new: [ObservedTime.Trace]) {
    traces += new
    for record in records {
      judge(record)
    }
    if let last = records.last {
      traces.removeAll { $0.wall < last.writeEnd }
    }
  }

  private mutating func judge(_ record: BlockTiming) {
    blockCount += 1
    frameCount += record.frameCount
    let wall = record.renderEnd - record.renderStart
    worstWall = max(worstWall, wall / .seconds(1))
    let began = traces.firstIndex { $0.wall == record.renderStart }
    let rendered = traces.firstIndex { $0.wall == record.renderEnd }
    let handed = traces.lastIndex { $0.wall == record.writeEnd }
    defer { previous = record }
    guard let began, let rendered, let handed else { return }
    let run = (traces[rendered].ran - traces[began].ran) / .seconds(1)
    // Shares are of the time that the block lasts: what a single period would take.
    let share = run / (Double(record.frameCount) / rate)
    sumRun += run
    worstRun = max(worstRun, share)
    shares[min(1_000, Int(share * 1_000))] += 1
    let kept = (traces[began].kept - (keptBefore ?? traces[began].kept)) / .seconds(1)
    keptBefore = traces[handed].kept
    worstKept = max(worstKept, kept)
    guard let previous, previous.position + Int64(previous.frameCount) == record.position else {
      return
    }
    worstGap = max(worstGap, (record.renderStart - previous.writeEnd) / .seconds(1))
    let due = previous.writeEnd + .seconds(Double(previous.delayFrameCount) / rate)
    guard record.writeEnd > due else { return }
    let work = traces[handed].ran - traces[began].ran
    let lost = (record.writeEnd - record.renderStart) - work + .seconds(kept)
    if work / .seconds(1) > Double(record.frameCount) / rate / 2 {
      late.rendering += 1
    } else if record.writeEnd - lost <= due {
      late.system += 1
    } else {
      late.device += 1
    }
  }

  /// The share below which a part of all blocks lies.
  private func share(of part: Double) -> Double {
    var left = Int(Double(shares.reduce(0, +)) * part)
    for (index, count) in shares.enumerated() {
      left -= count
      if left < 0 { return Double(index + 1) / 1_000 }
    }
    return 0
  }

  var description: String {
    "blocks \(blockCount) frames \(frameCount) late-by-rendering \(late.rendering) "
      + "late-by-system \(late.system) late-by-device \(late.device) "
      + "mean-share \(Self.percent(sumRun * rate / Double(max(1, frameCount)))) "
      + "median-share \(Self.percent(share(of: 0.5))) p999-share \(Self.percent(share(of: 0.999))) "
      + "worst-share \(Self.percent(worstRun)) "
      + "worst-share-with-interruptions \(Self.percent(worstWall / period)) "
      + "worst-kept-ms \(Self.milliseconds(worstKept)) worst-gap-ms \(Self.milliseconds(worstGap))"
  }

  private static func percent(_ share: Double) -> String { "\((share * 10_000).rounded() / 100)%" }

  private static func milliseconds(_ seconds: Double) -> String {
    "\((seconds * 1e5).rounded() / 100)"
  }
}
