/// How sensitive a seated body is to vertical vibration of the seat.
///
/// The frequency weighting Wk of ISO 2631-1:1997, annex A, from the corner frequencies and qualities of its table A.1.
/// Its band limits at 0.4 and 100 Hz are left out: they end the range of a measurement, not what is felt. The standard
/// covers 0.5–80 Hz; beyond, the weighting goes on as it falls, in proportion to 1/f.
enum SeatSensitivity {
  /// The transition from acceleration to velocity.
  private static let transition = (corner: 12.5, quality: 0.63)
  /// The upward step.
  private static let step = (from: 2.37, to: 3.35, quality: 0.91)
  /// The peak acceleration in m/s² that half of the people notice, weighted by Wk: ISO 2631-1:1997, annex C.
  private static let noticed = 0.015

  /// The factor by which an acceleration counts.
  static func weight(atHertz hertz: Double) -> Double {
    func square(_ corner: Double, _ quality: Double) -> Double {
      let (squared, sharp) = (hertz * hertz, quality * quality)
      let edge = corner * corner
      return squared * squared * sharp + squared * edge * (1 - 2 * sharp) + edge * edge * sharp
    }
    let corner = transition.corner
    let edge = corner * corner
    let fall =
      (hertz * hertz + edge) / edge * edge * edge * transition.quality * transition.quality
      / square(corner, transition.quality)
    let rise = square(step.from, step.quality) / square(step.to, step.quality)
    return (fall * rise).squareRoot()
  }

  /// The weakest acceleration that is felt, in decibels relative to 1 g, in thirds of an octave from 0.5 to 400 Hz.
  static let thresholds: [TransducerProfile.Threshold] = (-3...26).map { third in
    let hertz = raised(10, to: Double(third) / 10)
    let acceleration = noticed / weight(atHertz: hertz) / 9.80665
    return TransducerProfile.Threshold(hertz: hertz, decibels: decibels(ofAmplitude: acceleration))
  }
}
