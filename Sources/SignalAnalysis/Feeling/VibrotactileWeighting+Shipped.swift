extension VibrotactileWeighting {
  /// The weightings there are; the first is used where none is named.
  public static let all = [hand, handArm, wholeBody]

  /// The skin of a hand that holds a device: the inverse of the threshold of feeling, 1 at 100 Hz.
  ///
  /// The curve is Android's, by which it makes vibrations of all frequencies feel equally strong:
  /// `BasicToPwleSegmentAdapter.java` in `frameworks/base`, 20 to 400 Hz of its 41 points. Between
  /// 40 and 250 Hz it is even within 4 dB. Outside of the points nothing is felt.
  public static let hand = VibrotactileWeighting(
    name: "hand", bodyPart: "hand that holds a device",
    thresholds: [
      (20, -40.36), (21.5, -39.6), (25, -37.48), (25.8, -36.93), (30, -34.31), (35, -33.13),
      (40, -32.81), (50, -31.94), (60, -31.77), (70, -31.59), (72, -31.55), (80, -31.77),
      (86.4, -31.94), (90, -31.73), (100, -31.9), (103.68, -31.77), (124.42, -31.7),
      (149.3, -31.38), (150, -31.35), (179.16, -31.02), (200, -30.86), (215, -30.35),
      (250, -28.98), (258, -28.68), (300, -26.81), (400, -19.81),
    ].map { Threshold(hertz: $0.0, decibels: $0.1) })

  /// A hand on a vibrating handle: Wh of ISO 5349-1:2001, with the exact figures of ISO 8041.
  public static let handArm = VibrotactileWeighting(
    name: "hand-arm", bodyPart: "hand and arm at a vibrating handle",
    filter: WeightingFilter(
      highPass: 6.309_573, lowPass: 1_258.925,
      transition: .init(velocity: 15.915_494, quality: 0.64)))

  /// A seated or standing body on what shakes it up and down: Wk of ISO 2631-1:1997.
  public static let wholeBody = VibrotactileWeighting(
    name: "whole-body", bodyPart: "whole body on a shaken seat or floor",
    filter: WeightingFilter(
      highPass: 0.4, lowPass: 100, transition: .init(velocity: 12.5, quality: 0.63),
      step: .init(from: 2.37, quality: 0.91, to: 3.35, quality: 0.91)))

  /// The weighting of a name.
  public static func named(_ name: String) -> VibrotactileWeighting? {
    all.first { $0.name == name }
  }
}
