extension TransducerProfile {
  /// The weakest acceleration that is felt at each frequency, where a profile names no curve of its own.
  ///
  /// In decibels relative to 1 g, for a device held in the hand. Source: Android 16,
  /// `BasicToPwleSegmentAdapter.java` in the platform's vibrator service, 41 points.
  public static let defaultThresholds: [Threshold] = [
    (0.4, -97.81), (2, -69.86), (3, -62.81), (4, -58.81), (5, -56.69), (6, -54.77), (7.2, -52.85),
    (8, -51.77), (8.64, -50.84), (10, -48.9), (10.37, -48.52), (12.44, -46.5), (14.93, -44.43),
    (15, -44.35), (17.92, -41.96), (20, -40.36), (21.5, -39.6), (25, -37.48), (25.8, -36.93),
    (30, -34.31), (35, -33.13), (40, -32.81), (50, -31.94), (60, -31.77), (70, -31.59),
    (72, -31.55), (80, -31.77), (86.4, -31.94), (90, -31.73), (100, -31.9), (103.68, -31.77),
    (124.42, -31.7), (149.3, -31.38), (150, -31.35), (179.16, -31.02), (200, -30.86),
    (215, -30.35), (250, -28.98), (258, -28.68), (300, -26.81), (400, -19.81),
  ].map { (hertz: Double, decibels: Double) in Threshold(hertz: hertz, decibels: decibels) }
}
