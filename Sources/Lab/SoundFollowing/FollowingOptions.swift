/// The options of the conversion from sound to vibration.
public struct FollowingOptions: Equatable, Sendable {
  /// The kind of conversion from sound to vibration.
  public enum ConversionStyle: String, CaseIterable, Sendable {
    /// The vibration consists of the low frequencies of the sound.
    case bass
    /// The vibration consists of a burst for each transient.
    case impacts
    /// The vibration is a tone with the level of the low frequencies, for engines and rumble.
    case engine
    /// The vibration consists of the low frequencies and a burst for each transient.
    case full
    /// The vibration comes from the signal chain of HapticGenerator in Android's open source.
    case android
  }

  /// The kind of conversion from sound to vibration.
  public var conversionStyle: ConversionStyle
  /// The frequency band of the vibration, in hertz.
  public var bandHertz: ClosedRange<Double>
  /// A Boolean value that indicates whether speech in the source causes vibration.
  ///
  /// With the style `android`, it always does.
  public var keepsVoices: Bool
  /// A Boolean value that indicates whether the vibration follows the level of the source.
  ///
  /// In that case, there is no automatic gain of up to ±12 dB. With the style `android`, the
  /// vibration always follows the level.
  public var keepsLevel: Bool

  /// Creates options for the conversion from sound to vibration.
  ///
  /// - Parameters:
  ///   - style: The kind of conversion.
  ///   - band: The frequencies of the vibration, in hertz.
  ///   - keepsVoices: Pass true to convert speech as well.
  ///   - keepsLevel: Pass true to keep the level of the source.
  public init(
    conversionStyle style: ConversionStyle = .full, bandHertz band: ClosedRange<Double> = 25...100,
    keepsVoices: Bool = false,
    keepsLevel: Bool = false
  ) {
    self.conversionStyle = style
    self.bandHertz = band
    self.keepsVoices = keepsVoices
    self.keepsLevel = keepsLevel
  }
}
