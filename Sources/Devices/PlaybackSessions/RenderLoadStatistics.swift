package import HapticPlayback
package import SystemSupport

/// The statistics of the rendering load and the latency over all blocks of a run.
package struct RenderLoadStatistics: Equatable, Sendable {
  package private(set) var blockCount = 0
  /// The maximum load, which is the render time of a block as a fraction of its duration.
  package private(set) var peakLoadFraction = 0.0
  package var meanLoadFraction: Double { blockCount > 0 ? loadFractionSum / Double(blockCount) : 0 }
  /// The maximum number of frames that were not yet heard when a block had been written.
  package private(set) var maximumUnheardFrameCount = 0
  private var loadFractionSum = 0.0

  package init() {}

  package mutating func addTimings(_ timings: [BlockTiming], rate: Double) {
    for timing in timings where timing.frameCount > 0 {
      let load =
        (timing.renderEnd - timing.renderStart).inSeconds * rate / Double(timing.frameCount)
      blockCount += 1
      loadFractionSum += load
      peakLoadFraction = max(peakLoadFraction, load)
      maximumUnheardFrameCount = max(maximumUnheardFrameCount, timing.delayFrameCount)
    }
  }

  package func jsonFields(rate: Double) -> JSONObject {
    [
      "blocks": blockCount, "meanRenderLoad": meanLoadFraction, "peakRenderLoad": peakLoadFraction,
      "greatestDelaySeconds": Double(maximumUnheardFrameCount) / rate,
    ]
  }
}
