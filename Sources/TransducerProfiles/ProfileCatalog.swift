public import HapticRender
import ShippedProfiles

/// The profiles that come with Temblor.
public enum ProfileCatalog {
  /// Their names: the default, the one for listening, real transducers, others' mappings.
  public static let names = ShippedProfiles.names

  /// A profile, or nothing where none has the name; its text is read at every call.
  public static func profile(named name: String) -> TransducerProfile? {
    guard let text = ShippedProfiles.text(named: name) else { return nil }
    // The tests read every shipped text.
    return try? ProfileFile.read(text: text, name: name)
  }
}
