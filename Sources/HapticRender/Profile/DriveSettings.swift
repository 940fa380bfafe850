/// How a profile's signal is fitted to its hardware; without hardware it says nothing.
///
/// What is absent is decided by what is known of the hardware.
public struct DriveSettings: Equatable, Sendable {
  /// Whether the frequency laws are narrowed to what the hardware makes felt.
  public var isBandMapped: Bool?
  /// Decibels below the best frequency that are still used, 1–40.
  public var reach: Double
  /// Whether the drive is filtered by the inverse of the hardware's resonance.
  public var isEqualized: Bool?
  /// The most decibels the drive rises, 0–12.
  public var boost: Double
  /// How many times as damped the hardware appears behind the filter, 1–20.
  public var damping: Double
  /// Whether equal intensity is felt equally at each sharpness.
  public var hasEqualSensation: Bool?
  /// The corner of the high-pass in hertz; absent: half the lowest frequency.
  public var highPass: Double?

  /// Makes a law; the defaults help most hardware.
  public init(
    isBandMapped: Bool? = nil, reach: Double = 6, isEqualized: Bool? = nil, boost: Double = 6,
    damping: Double = 5, hasEqualSensation: Bool? = nil, highPass: Double? = nil
  ) {
    self.isBandMapped = isBandMapped
    self.reach = reach
    self.isEqualized = isEqualized
    self.boost = boost
    self.damping = damping
    self.hasEqualSensation = hasEqualSensation
    self.highPass = highPass
  }
}
