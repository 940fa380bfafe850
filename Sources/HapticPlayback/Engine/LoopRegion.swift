internal import HapticModel
internal import HapticRender

/// The part of a pattern that a loop repeats, in frames, with the places where its passes begin.
struct LoopRegion {
  /// The frame at which a pass ends, or 0 for the pattern's own end, where all parts have the same.
  let end: Int64
  /// Where further passes begin, one for each part; none for the pattern's beginning.
  let entries: [SharedCuePoint]

  /// A region in seconds; one that is shorter than the shortest loop is made as long.
  init(from start: Double, end: Double?, of core: PlayerCore, rate: Double) {
    let start = start.isFinite ? max(0, start) : 0
    let last = end.map { max($0, start + PatternPlayer.shortestLoop) }
    self.end =
      last.map { FrameConversion.frame(seconds: $0, rate: rate) }
      ?? RenderPlan.commonLoopLength(of: core.parts.map(\.plan))
    entries = start > 0 ? core.entries(at: FrameConversion.frame(seconds: start, rate: rate)) : []
  }

  /// Where further passes of a part begin, or nothing for the beginning.
  func entry(_ part: Int) -> SharedCuePoint? { entries.isEmpty ? nil : entries[part] }
}
