package import HapticPlayback
package import SystemSupport

/// The statistics of the rendering load and the latency over all blocks of a run.
package struct RenderLoadStatistics: Equatable, Sendable {
  package private(set) var blockCount = 0
  /// The maximum load, which is the render time of a block as a fraction of its duration.
  package private(set) var peakLoad = 0.0
  package var meanLoad: Double { blockCount > 0 ? loadSum / Double(blockCount) : 0 }
  /// The maximum number of frames that were not yet heard when a block had been written.
  package private(set) var maximumDelayFrames = 0
  private var loadSum = 0.0

  package init() {}

  package mutating func add(_ timings: [BlockTiming], rate: Double) {
    for timing in timings where timing.frameCount > 0 {
      let load =
        (timing.renderEnd - timing.renderStart).inSeconds * rate / Double(timing.frameCount)
      blockCount += 1
      loadSum += load
      peakLoad = max(peakLoad, load)
      maximumDelayFrames = max(maximumDelayFrames, timing.delay)
    }
  }

  package func fields(rate: Double) -> JSONObject {
    [
      "blocks": blockCount, "meanRenderLoad": meanLoad, "peakRenderLoad": peakLoad,
      "greatestDelaySeconds": Double(maximumDelayFrames) / rate,
    ]
  }
}
