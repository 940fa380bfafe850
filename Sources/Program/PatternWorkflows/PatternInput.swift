public import HapticFormats
internal import ShippedFiles
public import SystemSupport
public import VendorFormats

/// A pattern that the user specified: a file, a shipped pattern, or standard input.
public struct PatternInput: Equatable, Sendable {
  /// The origin of the pattern's content.
  public enum Origin: Equatable, Sendable {
    /// The pattern is in the file at this path.
    case file(String)
    /// The pattern is the shipped pattern with this name.
    case shipped(String)
    /// The pattern comes from standard input.
    case standardInput
  }

  /// The folder in which the sound files of a pattern are looked up.
  public enum SoundLookup: Equatable, Sendable {
    /// The sound files are in the folder of the pattern.
    case patternFolder
    /// The sound files are in the folder at this path.
    case folder(String)
    /// Sound files are not looked up. Events that play sound files are omitted.
    case none
  }

  /// The origin of the pattern's content.
  public var origin: Origin
  /// The path relative to the folder that the user named, without extension, which determines the
  /// name of the output.
  public var outputStem: String
  /// A Boolean value that indicates whether the pattern was found in a folder that the user named.
  public var isFromFolder: Bool
  /// The formats that are recognized when the pattern is read.
  public var formats: FormatRegistry
  /// The folder in which the pattern's sound files are looked up.
  public var soundLookup = SoundLookup.patternFolder
  /// The pattern to read from a file that contains several patterns; nil to read all of them in
  /// sequence.
  public var filePart: SourceFile.Part?
  /// The channels of a sound file that are played as a pattern, from 0; nil for all channels.
  public var soundChannels: [Int]?

  /// Creates a pattern input from the origin of its content.
  public init(
    origin: Origin, outputStem: String, isFromFolder: Bool = false,
    formats: FormatRegistry = .standard
  ) {
    self.origin = origin
    self.outputStem = outputStem
    self.isFromFolder = isFromFolder
    self.formats = formats
  }

  /// The name of the pattern in messages.
  public var name: String {
    switch origin {
    case .file(let path): filePart.map { "\(path) (\($0.name))" } ?? path
    case .shipped(let name): name
    case .standardInput: InputStream.standardInputName
    }
  }

  /// The folder with the pattern's sound files; nil for a shipped pattern.
  public var soundFolder: String? {
    if case .folder(let path) = soundLookup { return path }
    return switch origin {
    case .file(let path): FileSystem.folderPath(of: path)
    case .shipped: nil
    case .standardInput: ""
    }
  }

  /// The paths of the pattern's file and its sound files. The file is read, unless it is standard
  /// input.
  package var sourcePaths: [String] {
    guard case .file(let path) = origin else { return [] }
    guard soundLookup != .none, !TakeInput.isSoundFile(path), let file = try? readFile()
    else {
      return [path]
    }
    let referencedSounds = formats.examine(file, options: ReadingOptions(wantsFindings: false))
      .soundReferences
    return [path] + referencedSounds.map { FileSystem.joinPath(soundFolder ?? "", $0.path) }
  }

  /// Resolves the arguments of a command to patterns, and collects errors.
  ///
  /// An argument is a file, a folder, the name of a shipped pattern, or `-`. A file with several
  /// patterns stands for all of them. A folder stands for all patterns in it and in its subfolders;
  /// links to folders are not followed. A file whose extension other kinds of files share is
  /// included only if its content is recognized with certainty.
  ///
  /// - Parameters:
  ///   - arguments: The arguments.
  ///   - formats: The formats that are recognized.
  ///   - soundLookup: The folder in which the sound files of patterns are looked up.
  ///   - soundChannels: The channels of sound files that are played, or nil for all channels.
  ///   - includesSounds: Pass true to also find the sound files in folders.
  public static func find(
    _ arguments: [String], formats: FormatRegistry = .standard,
    soundLookup: SoundLookup = .patternFolder, soundChannels: [Int]? = nil,
    includesSounds: Bool = false
  ) -> (inputs: [PatternInput], problems: [FileError]) {
    var inputs: [PatternInput] = []
    var problems: [FileError] = []
    let folderSearch = FolderSearch(formats: formats, includesSounds: includesSounds)
    for argument in arguments {
      do throws(FileError) {
        inputs += try find(argument, folderSearch, &problems)
      } catch {
        problems.append(error)
      }
    }
    for index in inputs.indices {
      inputs[index].soundLookup = soundLookup
      inputs[index].soundChannels = soundChannels
    }
    return (inputs, problems)
  }

  /// The kinds of files that a search of a folder finds.
  private struct FolderSearch {
    let formats: FormatRegistry
    let includesSounds: Bool
  }

  /// Resolves one argument, or throws its error. Errors in a folder are added to `problems`.
  private static func find(
    _ argument: String, _ search: FolderSearch, _ problems: inout [FileError]
  ) throws(FileError) -> [PatternInput] {
    let formats = search.formats
    if argument == InputStream.standardInput {
      return [PatternInput(origin: .standardInput, outputStem: "pattern", formats: formats)]
    }
    switch FileSystem.entryKind(at: argument) {
    case .file, .other:
      let stem = FileSystem.fileStem(of: argument)
      return PatternInput(origin: .file(argument), outputStem: stem, formats: formats).parts
    case .folder:
      let problemCount = problems.count
      let inputs = try folderInputs(in: argument, below: "", search, &problems)
      guard !inputs.isEmpty || problems.count > problemCount else {
        let kinds = search.includesSounds ? "pattern files or sound files" : "pattern files"
        throw FileError(argument, "contains no \(kinds)")
      }
      return inputs
    case .missing:
      return [try shippedPattern(named: argument, formats: formats)]
    }
  }

  /// Returns the shipped pattern with the given name.
  ///
  /// - Parameters:
  ///   - argument: The name, for which no file was found. It may have the extension of a format.
  ///   - formats: The formats that are recognized.
  /// - Throws: A `FileError` that suggests a similar name if no shipped pattern has this name.
  static func shippedPattern(
    named argument: String, formats: FormatRegistry
  ) throws(FileError) -> PatternInput {
    if argument.isEmpty { throw FileError("''", "is not a valid pattern name") }
    if let reason = fileNameProblem(ofName: argument) { throw FileError(argument, reason) }
    let name = formats.stem(of: argument)
    guard ShippedPatterns.names.contains(name) else {
      let question = Suggestion.didYouMeanText(for: name, among: ShippedPatterns.names)
      throw FileError(argument, "file not found, and no shipped pattern has this name\(question)")
    }
    return PatternInput(origin: .shipped(name), outputStem: name, formats: formats)
  }

  /// Returns the patterns in a folder and its subfolders. Errors are added to `problems`.
  private static func folderInputs(
    in folder: String, below stem: String, _ search: FolderSearch, _ problems: inout [FileError]
  ) throws(FileError) -> [PatternInput] {
    let formats = search.formats
    var inputs: [PatternInput] = []
    for name in try FileSystem.visibleNames(in: folder) {
      let path = FileSystem.joinPath(folder, name)
      let namedFormats = formats.formats(forFileName: name)
      let isNamedPattern =
        namedFormats.contains { !$0.sharesFileExtensions }
        || (!namedFormats.isEmpty && isRecognized(path, formats: namedFormats))
      switch FileSystem.entryKind(at: path) {
      case .folder where !FileSystem.isSymbolicLink(path):
        do throws(FileError) {
          inputs += try folderInputs(
            in: path, below: FileSystem.joinPath(stem, name), search, &problems)
        } catch {
          problems.append(error)
        }
      case .file where isNamedPattern:
        let outputStem = FileSystem.joinPath(stem, FileSystem.fileStem(of: name))
        let input = PatternInput(
          origin: .file(path), outputStem: outputStem, isFromFolder: true, formats: formats)
        inputs += input.parts
      case .file where search.includesSounds && TakeInput.isSound(path):
        let outputStem = FileSystem.joinPath(stem, FileSystem.fileStem(of: name))
        inputs.append(
          PatternInput(
            origin: .file(path), outputStem: outputStem, isFromFolder: true, formats: formats))
      case .missing where isNamedPattern:
        problems.append(FileError(path, fileNameProblem(ofName: name) ?? "is a broken link"))
      default:
        continue
      }
    }
    return inputs
  }

  /// The inputs for the patterns in a file with several patterns, or only this input.
  ///
  /// The inputs are named like files in a folder with the name of the file. Each access reads the
  /// file.
  package var parts: [PatternInput] {
    guard case .file(let filePath) = origin,
      formats.formats(forFileName: filePath).contains(where: { $0.openParts != nil }),
      let file = try? readFile(), let format = try? formats.format(of: file),
      let fileParts = try? format.openParts?(file).parts,
      1...Self.maximumPartCount ~= fileParts.count
    else { return [self] }
    var uniqueNames = UniqueNames()
    return fileParts.map { part in
      let name = uniqueNames.addName(Self.fileName(forPatternName: part.name))
      var input = self
      input.filePart = part
      input.isFromFolder = true
      input.outputStem = FileSystem.joinPath(input.outputStem, name)
      return input
    }
  }

  /// The maximum number of patterns in a file that become separate inputs. If there are more
  /// patterns, they play in sequence, because each separate input reads the whole file.
  private static let maximumPartCount = 200

  /// The maximum length, in characters, of a file name that is made from the name of a pattern.
  private static let maximumFileNameLength = 80

  /// Returns a file name for the name of a pattern, with letters, digits, and few other characters,
  /// and no dot at the start.
  private static func fileName(forPatternName name: String) -> String {
    let fileNameCharacters = name.prefix(maximumFileNameLength).map { character -> Character in
      character.isLetter || character.isNumber || " _-+()'".contains(character) ? character : "_"
    }
    let trimmedCharacters = fileNameCharacters.drop { $0 == " " }
    return trimmedCharacters.isEmpty ? "pattern" : String(trimmedCharacters)
  }

  /// Returns whether a file can be read and one of the formats recognizes it with certainty.
  private static func isRecognized(_ path: String, formats: [HapticFormat]) -> Bool {
    guard FileSystem.entryKind(at: path) == .file, let fileBytes = try? FileSystem.read(path) else {
      return false
    }
    return formats.contains { $0.recognize(fileBytes.span) == .certain }
  }

  /// Returns the reason that a file name cannot be used, or nil. Bytes that are not valid UTF-8
  /// were decoded as the replacement character.
  private static func fileNameProblem(ofName name: String) -> String? {
    name.unicodeScalars.contains("\u{FFFD}")
      ? "the file name is not valid UTF-8; rename the file" : nil
  }

  /// Throws an error if a file would be rewritten through a link that was found in a folder,
  /// because the user did not name the target of the link.
  ///
  /// - Throws: A `FileError` that names the link.
  package func checkMayBeRewritten() throws(FileError) {
    guard case .file(let path) = origin, isFromFolder, FileSystem.isSymbolicLink(path) else {
      return
    }
    throw FileError(
      path, "is a link in a folder and is not rewritten; specify the file that it points to")
  }

  /// Reads the content of the pattern's file, without interpreting it as a format.
  public func readFile() throws(FileError) -> SourceFile {
    switch origin {
    case .file(let path):
      SourceFile(try FileSystem.read(path), name: path, part: filePart)
    case .shipped(let shippedName):
      SourceFile(ShippedPatterns.text(named: shippedName) ?? [], name: name)
    case .standardInput:
      SourceFile(try FileSystem.read(InputStream.standardInput), name: name)
    }
  }
}
