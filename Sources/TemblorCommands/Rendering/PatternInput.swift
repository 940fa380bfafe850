import AHAP
import HapticModel
import ShippedPatterns

/// A pattern as the user named it: a file, a shipped pattern, or standard input.
struct PatternInput: Equatable, Sendable {
  /// Where the text is.
  enum Origin: Equatable, Sendable {
    case file(String)
    case shipped(String)
    case standardInput
  }

  var origin: Origin
  /// The path below the folder that was named, without its ending: what an output is called.
  var outputStem: String

  /// The name messages give the pattern.
  var name: String {
    switch origin {
    case .file(let path): path
    case .shipped(let name): name
    case .standardInput: "standard input"
    }
  }

  /// The folder sound files are looked up in; a shipped pattern has none.
  var folder: String? {
    switch origin {
    case .file(let path): FileSystem.folder(of: path)
    case .shipped: nil
    case .standardInput: ""
    }
  }

  /// What the user's words stand for, and what is wrong with some of them.
  ///
  /// A folder stands for the patterns in and below it.
  static func find(_ words: [String]) -> (inputs: [PatternInput], problems: [FileError]) {
    var inputs: [PatternInput] = []
    var problems: [FileError] = []
    for word in words {
      do throws(FileError) {
        inputs += try find(word)
      } catch {
        problems.append(error)
      }
    }
    return (inputs, problems)
  }

  private static func find(_ word: String) throws(FileError) -> [PatternInput] {
    if word == "-" { return [PatternInput(origin: .standardInput, outputStem: "pattern")] }
    switch FileSystem.entry(at: word) {
    case .file, .other:
      return [PatternInput(origin: .file(word), outputStem: FileSystem.stem(of: word))]
    case .folder:
      let found = try patterns(in: word, below: "")
      guard !found.isEmpty else { throw FileError(word, "holds no file that ends in .ahap") }
      return found
    case .nothing:
      let plain = word.hasSuffix(".ahap") ? String(word.dropLast(5)) : word
      guard ShippedPatterns.names.contains(plain) else {
        let question = Suggestion.question(plain, among: ShippedPatterns.names)
        throw FileError(word, "no such file, and no shipped pattern has this name\(question)")
      }
      return [PatternInput(origin: .shipped(plain), outputStem: plain)]
    }
  }

  private static func patterns(in folder: String, below stem: String) throws(FileError)
    -> [PatternInput]
  {
    var inputs: [PatternInput] = []
    for name in try FileSystem.names(in: folder) {
      let path = FileSystem.join(folder, name)
      switch FileSystem.entry(at: path) {
      case .folder: inputs += try patterns(in: path, below: FileSystem.join(stem, name))
      case .file where name.lowercased().hasSuffix(".ahap"):
        let output = FileSystem.join(stem, FileSystem.stem(of: name))
        inputs.append(PatternInput(origin: .file(path), outputStem: output))
      default: continue
      }
    }
    return inputs
  }

  /// The text.
  func text() throws(FileError) -> [UInt8] {
    switch origin {
    case .file(let path): try FileSystem.read(path)
    case .shipped(let name): ShippedPatterns.text(named: name) ?? []
    case .standardInput: try FileSystem.read("-")
    }
  }

  /// The parsed text.
  func document() throws -> AHAPDocument {
    try AHAPDocument(text: text(), name: name)
  }
}
