/// Finds where a recorder or an amplifier cut the peaks off.
///
/// A swept resonance is near its greatest value for a moment only. Where much of all that comes near it lies
/// flat at the very top, something was cut.
enum ClippingDetector {
  /// What counts as the very top, as a share of the peak.
  private static let top = 0.998
  /// What counts as near it.
  private static let near = 0.968
  /// The part of what is near that lies at the top where peaks are cut; a steady sine has a quarter.
  private static let share = 0.5
  /// The level at which whole numbers end.
  private static let full: Float = 0.9995
  /// Samples there that may be chance.
  private static let chance = 3

  /// The first frame of a range that is cut off, or nothing.
  static func firstFrame(in samples: [Float], range: Range<Int>) -> Int? {
    let range = range.clamped(to: samples.indices)
    let atFull = range.filter { abs(samples[$0]) >= full }
    if atFull.count > chance { return atFull[0] }
    for sign in [Float(1), -1] {
      var peak: Float = 0
      for frame in range { peak = max(peak, sign * samples[frame]) }
      guard peak > 0 else { continue }
      let topLevel = peak * Float(top)
      let nearLevel = peak * Float(near)
      var topCount = 0
      var nearCount = 0
      var first: Int?
      for frame in range where sign * samples[frame] >= nearLevel {
        nearCount += 1
        guard sign * samples[frame] >= topLevel else { continue }
        topCount += 1
        if first == nil { first = frame }
      }
      if topCount > 10 * chance, Double(topCount) > share * Double(nearCount) { return first }
    }
    return nil
  }
}
