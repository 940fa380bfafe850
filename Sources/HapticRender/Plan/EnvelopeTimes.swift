/// What Core Haptics' normalised envelope times mean in seconds.
///
/// Apple documents an exponential scale and no figures. Ours is `2 s · (100ⁿ − 1) / 99`: 0 is 0 s,
/// 0.25 is 44 ms, 0.5 is 0.18 s, 0.75 is 0.62 s, 1 is 2 s.
public enum EnvelopeTimes {
  /// Seconds of a normalised time of 1.
  public static let longest = 2.0
  /// The growth of the exponential over the whole range.
  public static let growth = 100.0
  /// The shortest ramp, in seconds, of an edge that has no envelope time, so that nothing pops.
  public static let shortestEdge = 0.001

  /// Seconds of a normalised envelope time, which is clamped to 0…1.
  public static func seconds(normalised: Float) -> Double {
    let n = min(max(Double(normalised), 0), 1)
    return longest * (raised(growth, to: n) - 1) / (growth - 1)
  }
}
