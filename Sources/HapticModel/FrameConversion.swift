/// The one place where seconds become frames.
public enum FrameConversion {
  /// The longest time a pattern can be rendered to, in seconds: one day.
  public static let longest = 86_400.0

  /// The frame nearest to a time: `round(seconds · rate)`, halves away from zero.
  ///
  /// Times outside ± one day are clamped to it, so that any number gives a frame; not-a-number is 0.
  public static func frame(seconds: Double, rate: Double) -> Int64 {
    guard !seconds.isNaN else { return 0 }
    let bounded = min(max(seconds, -longest), longest)
    return Int64((bounded * rate).rounded())
  }
}
