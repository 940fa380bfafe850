public import HapticFormats

extension FormatRegistry {
  /// The formats of this package.
  public static let standard = FormatRegistry(
    apple.formats + [
      HapticClipFormat(), VoicesFormat(), HEFormat(), OHFormat(), AndroidXMLFormat(), AndroidArraysFormat(),
      VibrateFormat(), HJIFFormat(), HMPGFormat(),
    ])
}
