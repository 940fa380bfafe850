internal import CMath

/// How strong a tone in the air must be to be heard as loud at each frequency, up to 400 Hz.
///
/// The contour of 80 phon of ISO 226:2003, clause 4.1, by the exponents, transfer functions and thresholds of its table 1:
/// the level at which a subwoofer is heard with a shaker, in the middle of the range that the standard covers down to 20 Hz.
/// From 20 to 80 Hz it falls by 23.8 dB; those of 60 and 90 phon by 27.5 and 22.0 dB.
enum EqualLoudness {
  private static let phon = 80.0
  /// Hertz, the exponent of loudness, and decibels: the transfer function relative to 1 kHz, and the threshold of hearing.
  private static let table: [(hertz: Double, exponent: Double, transfer: Double, threshold: Double)] = [
    (20, 0.532, -31.6, 78.5), (25, 0.506, -27.2, 68.7), (31.5, 0.480, -23.0, 59.5), (40, 0.455, -19.1, 51.1),
    (50, 0.432, -15.9, 44.0), (63, 0.409, -13.0, 37.5), (80, 0.387, -10.3, 31.5), (100, 0.367, -8.1, 26.5),
    (125, 0.349, -6.2, 22.1), (160, 0.330, -4.5, 17.9), (200, 0.315, -3.1, 14.4), (250, 0.301, -2.0, 11.4),
    (315, 0.288, -1.1, 8.6), (400, 0.276, -0.4, 6.2),
  ]

  /// The sound pressure level in decibels relative to 20 µPa.
  static let contour: [TransducerProfile.Threshold] = table.map { row in
    let heard = raised(0.4 * raised(10, to: (row.threshold + row.transfer) / 10 - 9), to: row.exponent)
    let sum = 4.47e-3 * (raised(10, to: 0.025 * phon) - 1.15) + heard
    let level = 10 / row.exponent * logarithm2(sum) / logarithm2(10) - row.transfer + 94
    return TransducerProfile.Threshold(hertz: row.hertz, decibels: level)
  }
}
