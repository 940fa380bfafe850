public import HapticFormats

extension FormatRegistry {
  /// The registry of the small module, which reads AHAP only. It replaces the registry of the same
  /// name in VendorFormats.
  public static let standard = apple
}
