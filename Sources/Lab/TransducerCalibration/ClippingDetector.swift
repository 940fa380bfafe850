/// Detects peaks that a recorder or an amplifier clipped.
///
/// The amplitude of a swept resonance is near its maximum only for a moment. If a large fraction of
/// the samples near the peak are at the peak itself, the signal was clipped.
enum ClippingDetector {
  /// The minimum magnitude of a sample at the peak, relative to the peak.
  private static let atPeakMagnitudeFraction = Float(0.998)
  /// The minimum magnitude of a sample near the peak, relative to the peak.
  private static let nearPeakMagnitudeFraction = Float(0.968)
  /// The minimum ratio of samples at the peak to samples near the peak in a clipped signal.
  ///
  /// The ratio of a steady sine is a quarter.
  private static let minimumClippedSampleFraction = 0.5
  /// The minimum magnitude of a full-scale sample.
  private static let fullScaleMagnitude = Float(0.9995)
  /// The number of full-scale samples that are tolerated, because they can occur by chance.
  private static let toleratedFullScaleSampleCount = 3

  /// Returns the first clipped frame of a range, or nil if there is none.
  static func firstClippedFrame(in samples: [Float], range: Range<Int>) -> Int? {
    let searchRange = range.clamped(to: samples.indices)
    let fullScaleFrames = searchRange.filter { abs(samples[$0]) >= fullScaleMagnitude }
    if fullScaleFrames.count > toleratedFullScaleSampleCount { return fullScaleFrames[0] }
    for sign in [Float(1), -1] {
      let peak = searchRange.reduce(Float(0)) { max($0, sign * samples[$1]) }
      guard peak > 0 else { continue }
      let nearPeak = searchRange.filter { sign * samples[$0] >= peak * nearPeakMagnitudeFraction }
      let atPeak = nearPeak.filter { sign * samples[$0] >= peak * atPeakMagnitudeFraction }
      if atPeak.count > 10 * toleratedFullScaleSampleCount,
        Double(atPeak.count) > minimumClippedSampleFraction * Double(nearPeak.count)
      {
        return atPeak[0]
      }
    }
    return nil
  }
}
