public import HapticRender
import JSONText

/// Profiles as JSON text, for people to write.
///
/// Only `name`, `summary` and `frequency` must be there; the rest has the defaults of
/// `TransducerProfile`. `Profiles/README.md` lists the keys with units and ranges.
///
/// ```json
/// {
///   "name": "puck",
///   "summary": "The puck under my chair.",
///   "frequency": { "low": 25, "high": 80 }
/// }
/// ```
public enum ProfileFile {
  /// Reads a profile; nothing is guessed, and the first thing that is wrong refuses the text.
  ///
  /// - Parameter text: UTF-8, at most 1 MiB.
  /// - Parameter name: What errors call the text, usually the file's path.
  public static func read(text: [UInt8], name: String) throws(ProfileError) -> TransducerProfile {
    let document: JSONDocument
    do {
      document = try JSONDocument(
        text: text, name: name, limits: JSONLimits(textBytes: 1 << 20, values: 1 << 16, depth: 16))
    } catch {
      throw ProfileError(error)
    }
    for tolerance in document.tolerances {
      let value = document.value(of: tolerance)
      switch tolerance.kind {
      case .byteOrderMark: continue
      case .trailingComma:
        throw ProfileError(
          kind: .syntax, place: document.place(at: tolerance.offset), path: value.path,
          message: "a comma stands in front of a closing bracket", suggestion: "remove it")
      case .duplicateKey:
        throw ProfileError(
          atKeyOf: value, "the key \((value.key ?? "").quoted()) is there twice",
          hint: "keep one of them")
      }
    }
    return try TransducerProfile(profile: document.root)
  }

  /// Writes a profile so that it reads back equal; what has its default value is left out.
  ///
  /// All figures must be finite. Keys have a fixed order, so equal profiles give equal bytes.
  public static func write(_ profile: TransducerProfile) -> [UInt8] {
    var json = JSONWriter()
    json.object { file in profile.write(to: &file) }
    return json.finish()
  }
}
