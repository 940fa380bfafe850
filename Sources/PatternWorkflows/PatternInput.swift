public import HapticFormats
public import VendorFormats
internal import ShippedFiles
public import SystemSupport

/// A pattern as the user named it: a file, a shipped pattern, or standard input.
public struct PatternInput: Equatable, Sendable {
  /// Where the content is.
  public enum Origin: Equatable, Sendable {
    /// A file, by its path.
    case file(String)
    /// A shipped pattern, by its name.
    case shipped(String)
    /// Standard input.
    case standardInput
  }

  /// Where the sound files of a pattern are looked for.
  public enum SoundLookup: Equatable, Sendable {
    /// The folder of the pattern.
    case besidePattern
    /// Another folder.
    case folder(String)
    /// Nowhere: events that play sound files are left out.
    case none
  }

  /// Where the content is.
  public var origin: Origin
  /// The path below the folder that was named, without its ending: what an output is called.
  public var outputStem: String
  /// Whether it was found in a folder that the user named.
  public var isFromFolder: Bool
  /// The formats it may be of.
  public var formats: FormatRegistry
  /// Where its sound files are.
  public var sounds = SoundLookup.besidePattern

  /// A pattern by the place of its content.
  public init(origin: Origin, outputStem: String, isFromFolder: Bool = false, formats: FormatRegistry = .standard) {
    (self.origin, self.outputStem) = (origin, outputStem)
    (self.isFromFolder, self.formats) = (isFromFolder, formats)
  }

  /// The name messages give the pattern.
  public var name: String {
    switch origin {
    case .file(let path): path
    case .shipped(let name): name
    case .standardInput: "standard input"
    }
  }

  /// The folder sound files are looked up in; a shipped pattern has none.
  public var folder: String? {
    if case .folder(let path) = sounds { return path }
    return switch origin {
    case .file(let path): FileSystem.folder(of: path)
    case .shipped: nil
    case .standardInput: ""
    }
  }

  /// The files that it is made from, its sounds included: reads it, unless it is standard input.
  package var sources: [String] {
    guard case .file(let path) = origin else { return [] }
    guard sounds != .none, let file = try? file() else { return [path] }
    let sounds = formats.examine(file, options: ReadingOptions(wantsFindings: false)).sounds
    return [path] + sounds.map { FileSystem.join(folder ?? "", $0.path) }
  }

  /// What the user's words stand for, and what is wrong with some of them.
  ///
  /// A folder stands for the patterns in and below it; links to folders are not followed. Files whose
  /// ending is that of other kinds of files, too, are taken by their content.
  ///
  /// - Parameters:
  ///   - words: Files, folders, names of shipped patterns, or `-`.
  ///   - formats: The formats that are recognised.
  ///   - sounds: Where the sound files of all of them are.
  public static func find(_ words: [String], formats: FormatRegistry = .standard, sounds: SoundLookup = .besidePattern)
    -> (inputs: [PatternInput], problems: [FileError])
  {
    var inputs: [PatternInput] = []
    var problems: [FileError] = []
    for word in words {
      do throws(FileError) { inputs += try find(word, formats, &problems) } catch { problems.append(error) }
    }
    for index in inputs.indices { inputs[index].sounds = sounds }
    return (inputs, problems)
  }

  private static func find(_ word: String, _ formats: FormatRegistry, _ problems: inout [FileError]) throws(FileError)
    -> [PatternInput]
  {
    if word == "-" { return [PatternInput(origin: .standardInput, outputStem: "pattern", formats: formats)] }
    if word.isEmpty { throw FileError("''", "is not a pattern name") }
    switch FileSystem.entry(at: word) {
    case .file, .other:
      let stem = FileSystem.stem(of: word)
      return [PatternInput(origin: .file(word), outputStem: stem, formats: formats)]
    case .folder:
      let known = problems.count
      let found = try patterns(in: word, below: "", formats, &problems)
      guard !found.isEmpty || problems.count > known else { throw FileError(word, "contains no pattern files") }
      return found
    case .nothing:
      if let reason = nameProblem(word) { throw FileError(word, reason) }
      let plain = formats.stem(of: word)
      guard ShippedPatterns.names.contains(plain) else {
        let question = Suggestion.question(plain, among: ShippedPatterns.names)
        throw FileError(word, "no such file, and no shipped pattern has this name\(question)")
      }
      return [PatternInput(origin: .shipped(plain), outputStem: plain, formats: formats)]
    }
  }

  private static func patterns(
    in folder: String, below stem: String, _ formats: FormatRegistry, _ problems: inout [FileError]
  ) throws(FileError) -> [PatternInput] {
    var inputs: [PatternInput] = []
    for name in try FileSystem.names(in: folder) {
      let path = FileSystem.join(folder, name)
      let named = formats.formats(named: name)
      let isNamedPattern = named.contains { !$0.sharesEndings } || (!named.isEmpty && isCertain(path, named))
      switch FileSystem.entry(at: path) {
      case .folder where !FileSystem.isLink(path):
        do throws(FileError) {
          inputs += try patterns(in: path, below: FileSystem.join(stem, name), formats, &problems)
        } catch { problems.append(error) }
      case .file where isNamedPattern:
        let output = FileSystem.join(stem, FileSystem.stem(of: name))
        inputs.append(PatternInput(origin: .file(path), outputStem: output, isFromFolder: true, formats: formats))
      case .nothing where isNamedPattern: problems.append(FileError(path, nameProblem(name) ?? "is a broken link"))
      default: continue
      }
    }
    return inputs
  }

  /// Whether a file can be read and its content is of one of some formats without doubt.
  private static func isCertain(_ path: String, _ formats: [HapticFormat]) -> Bool {
    guard FileSystem.entry(at: path) == .file, let bytes = try? FileSystem.read(path) else { return false }
    return formats.contains { $0.recognize(bytes.span) == .certain }
  }

  /// Why a name cannot be looked up: bytes that are not text come with a replacement character.
  private static func nameProblem(_ name: String) -> String? {
    name.unicodeScalars.contains("\u{FFFD}") ? "the file name is not valid UTF-8; rename the file" : nil
  }

  /// The content, not yet read as any format.
  public func file() throws(FileError) -> SourceFile {
    let bytes =
      switch origin {
      case .file(let path): try FileSystem.read(path)
      case .shipped(let name): ShippedPatterns.text(named: name) ?? []
      case .standardInput: try FileSystem.read("-")
      }
    return SourceFile(bytes, name: name)
  }
}
