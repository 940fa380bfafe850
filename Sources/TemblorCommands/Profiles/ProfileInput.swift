import CommandLineKit
import Reading
import HapticRender
import SystemSupport
import TransducerProfiles

/// A profile as the user named it: by its name, by a file, or on standard input.
struct ProfileInput {
  let name: String
  let text: [UInt8]
  /// Where it was found by its name, or nothing for a file that was named.
  let entry: ProfileEntry?
  /// What the file is called without its ending, where it ends as profiles do.
  let stem: String?

  /// The text behind a name, or behind a path, which has a slash or ends in `.json`.
  ///
  /// - Parameter takesInput: Whether `-` stands for standard input.
  static func find(_ word: String, takesInput: Bool = false) throws -> ProfileInput {
    if word == "-" && takesInput {
      let text = try FileSystem.read("-", limit: ProfileFile.maximumByteCount)
      return ProfileInput(name: "standard input", text: text, entry: nil, stem: nil)
    }
    guard word.contains("/") || word.hasSuffix(".json") else { return try find(named: word) }
    let text = try FileSystem.read(word, limit: ProfileFile.maximumByteCount)
    let stem = word.hasSuffix(".json") ? FileSystem.stem(of: word) : nil
    return ProfileInput(name: word, text: text, entry: nil, stem: stem)
  }

  private static func find(named word: String) throws -> ProfileInput {
    let library = ProfileLibrary.fromEnvironment()
    guard let entry = library.entry(named: word) else {
      let question = Suggestion.question(word, among: library.entries().map(\.name))
      throw UsageError(
        .invalidValue,
        "no profile is called \(word.inQuotes)" + (question.isEmpty ? "; 'temblor profiles' lists them" : question))
    }
    return ProfileInput(
      name: entry.textName, text: try entry.text(), entry: entry, stem: entry.path == nil ? nil : word)
  }

  func profile() throws(ProfileRefusal) -> TransducerProfile {
    do { return try ProfileFile.read(text: text, name: name) } catch { throw ProfileRefusal(error: error) }
  }

  var findings: [Finding] {
    guard ArrayCheckResult.isArrayText(by: text) else { return examine().findings }
    return ArrayCheckResult(text: text, name: name, folder: FileSystem.folder(of: name), library: .fromEnvironment())
      .findings
  }

  func examine() -> ProfileCheckResult { ProfileCheckResult(text: text, name: name, stem: stem) }
}

/// Why a profile or an array is refused, with the verb that shows all its errors.
struct ProfileRefusal: Error, CustomStringConvertible {
  let error: InputError

  var description: String {
    let others = error.otherErrorCount
    return error.description + (others > 0 ? " (and \(others) more; see 'temblor profiles check')" : "")
  }
}
