public import HapticRender
internal import ShippedFiles

/// The profiles that come with Temblor, embedded so that they are found from any folder.
public enum ProfileCatalog {
  /// Their names: the default, the one for listening, real transducers, others' mappings.
  public static let names = ShippedFiles.profiles.names.map { String($0.dropLast(5)) }

  /// A profile, or nothing where none has the name; its text is read at every call.
  public static func profile(named name: String) -> TransducerProfile? {
    guard let text = text(named: name) else { return nil }
    // The tests read every shipped text.
    return try? ProfileFile.read(text: text, name: name)
  }

  /// The JSON text of a profile, or nothing where none has the name.
  public static func text(named name: String) -> [UInt8]? { ShippedFiles.profiles.bytes(named: name + ".json") }
}
