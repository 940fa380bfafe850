import HapticRender
import SystemSupport

/// The level of a rendering in words: its peak before the limiter, and what the limiter made of it.
struct LevelText {
  /// `peak -3.2 dBFS`; above the ceiling `peak 0.7 dBFS before the limiter`.
  let peak: String
  /// `limited to -1 dBFS for 0.57 s`, or nothing where the limiter did not act.
  let limiting: String?

  init(_ statistics: RenderStatistics, rate: Double) {
    let frames = statistics.limitedFrameCount
    peak = NumberFormatting.peak(statistics.peak) + (frames > 0 ? " before the limiter" : "")
    guard frames > 0 else {
      limiting = nil
      return
    }
    let ceiling = NumberFormatting.rounded(NumberFormatting.decibels(Float(Renderer.ceiling)), places: 0)
    limiting = "limited to \(ceiling) dBFS for \(NumberFormatting.seconds(Double(frames) / rate))"
  }

  var whole: String { ([peak] + [limiting].compactMap(\.self)).joined(separator: ", ") }
}
