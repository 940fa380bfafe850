import HapticRender
import JSONText

/// Where the profiles come from that an array names: the library, or files beside the array's own.
struct ArrayProfiles {
  /// Where relative paths begin; nothing for the working folder.
  let folder: String?
  let library: ProfileLibrary

  /// No profile has the name.
  struct Missing: Error {
    /// A name that is much like it.
    var nearest: String?
  }

  /// The profile of a name, or of a path, which has a slash or ends in `.json`.
  func profile(_ word: String) throws -> TransducerProfile {
    if word.contains("/") || word.hasSuffix(".json") {
      let isBeside = !word.hasPrefix("/") && folder?.isEmpty == false
      let path = isBeside ? "\(folder ?? "")/\(word)" : word
      return try ProfileFile.read(text: ProfileFolder.read(path), name: path)
    }
    guard let entry = library.entry(named: word) else {
      throw Missing(nearest: JSONNames(library.entries().map(\.name)).nearest(to: word))
    }
    return try ProfileFile.read(text: entry.text(), name: entry.textName)
  }
}
