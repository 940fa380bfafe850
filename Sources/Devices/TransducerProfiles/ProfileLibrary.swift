internal import Glibc
import HapticRender
import Reading

/// A library of the profiles that are available by name: the user's, the system's, and the shipped
/// profiles.
///
/// The first folder with a file `NAME.json` determines the profile, so a file can replace a shipped
/// profile. Folders that do not exist, or that this process cannot access, are skipped.
public struct ProfileLibrary: Equatable, Sendable {
  /// The folder of the user's profiles, to which new profiles are written; nil if it is unknown.
  public var userFolder: String?
  /// The folders of the system's profiles, the most important first.
  public var systemFolders: [String]

  /// Creates a library of folders. The folders need not exist.
  public init(userFolder: String?, systemFolders: [String] = []) {
    self.userFolder = userFolder
    self.systemFolders = systemFolders
  }

  /// Returns the library entry with the given name, or nil if there is none. The search makes one
  /// system call for each folder.
  public func entry(named name: String) -> ProfileEntry? {
    guard ProfileName.isValid(name) else { return nil }
    for (folder, origin) in searchFolders {
      let path = Self.profilePath(of: name, in: folder)
      if ProfileFileSystem.fileExists(path) {
        return ProfileEntry(name: name, origin: origin, path: path)
      }
    }
    guard ProfileCatalog.names.contains(name) else { return nil }
    return ProfileEntry(name: name, origin: .shipped)
  }

  /// Returns all profiles: first the user's profiles, sorted by name, then the system's, then the
  /// shipped profiles.
  ///
  /// No file is opened. Each entry lists the origins of the profiles that it shadows.
  public func allEntries() -> [ProfileEntry] {
    var profileEntries: [ProfileEntry] = []
    func addEntry(_ entry: ProfileEntry) {
      if let index = profileEntries.firstIndex(where: { $0.name == entry.name }) {
        profileEntries[index].shadowedOrigins.append(entry.origin)
      } else {
        profileEntries.append(entry)
      }
    }
    for (folder, origin) in searchFolders {
      for stem in Self.profileNames(in: folder) where ProfileName.isValid(stem) {
        addEntry(
          ProfileEntry(name: stem, origin: origin, path: Self.profilePath(of: stem, in: folder)))
      }
    }
    for name in ProfileCatalog.names {
      addEntry(ProfileEntry(name: name, origin: .shipped))
    }
    return profileEntries
  }

  /// Returns the profiles whose name or product contains all words of the given text. If there are
  /// none, returns the profiles whose summary contains them. Case, hyphens, and spaces are ignored.
  /// All profiles are read.
  public func entries(matching text: String) -> [ProfileEntry] {
    let searchWords = text.split { $0 == " " || $0 == "," }.map(Self.lowercasedLetters).filter {
      !$0.isEmpty
    }
    guard searchWords.contains(where: { $0.utf8.count > 2 }) else { return [] }
    let readProfiles = allEntries().compactMap { entry in
      (try? ProfileFile.read(text: entry.readText(), name: entry.name)).map {
        (entry: entry, profile: $0)
      }
    }
    func matchingEntries(_ text: (String, TransducerProfile) -> String) -> [ProfileEntry] {
      readProfiles.filter { entry, profile in
        let letters = Array(Self.lowercasedLetters(of: text(entry.name, profile)).utf8)
        return searchWords.allSatisfy { word in
          letters.indices.contains { letters[$0...].starts(with: word.utf8) }
        }
      }.map { $0.entry }
    }
    let entriesByName = matchingEntries { name, profile in
      name + (profile.hardware?.product ?? "")
    }
    return entriesByName.isEmpty ? matchingEntries { $1.summary } : entriesByName
  }

  /// Returns the profiles whose name or product contains the text as a sequence of whole words.
  ///
  /// Case, hyphens, and spaces are ignored: `BST-1` and `bst1` match two words of `dayton-bst-1`.
  /// Part of a word, such as `phon`, does not match. All profiles are read.
  ///
  /// - Parameter text: At least three letters or digits.
  public func entries(spelledAs text: String) -> [ProfileEntry] {
    let searchedLetters = Self.lowercasedLetters(of: text)
    guard searchedLetters.utf8.count > 2 else { return [] }
    return allEntries().filter { entry in
      if Self.areWholeWords(searchedLetters, of: entry.name) { return true }
      guard let profile = try? ProfileFile.read(text: entry.readText(), name: entry.name) else {
        return false
      }
      return Self.areWholeWords(searchedLetters, of: profile.hardware?.product ?? "")
    }
  }

  /// Returns whether the given letters consist of consecutive whole words of a name.
  private static func areWholeWords(_ letters: String, of name: String) -> Bool {
    let nameWords = name.lowercased().split { !$0.isLetter && !$0.isNumber }
    return nameWords.indices.contains { start in
      var spelled = ""
      for word in nameWords[start...] {
        spelled += word
        if spelled == letters { return true }
      }
      return false
    }
  }

  /// Returns the letters and digits of a text in lower case.
  private static func lowercasedLetters(of text: some StringProtocol) -> String {
    text.lowercased().filter { $0.isLetter || $0.isNumber }
  }

  /// Returns the files in the profile folders whose names are not valid profile names.
  public func misnamedFiles() -> [String] {
    searchFolders.flatMap { folder, _ in
      Self.profileNames(in: folder).filter { !ProfileName.isValid($0) && !$0.hasSuffix(".schema") }
        .map {
          Self.profilePath(of: $0, in: folder)
        }
    }
  }

  /// Returns the path at which the user's profile with the given name is stored, or nil if the
  /// user's folder is unknown.
  public func userPath(of name: String) -> String? {
    userFolder.map { Self.profilePath(of: name, in: $0) }
  }

  private var searchFolders: [(path: String, origin: ProfileEntry.Origin)] {
    (userFolder.map { [($0, .user)] } ?? []) + systemFolders.map { ($0, .system) }
  }

  /// Returns the names of all files in a folder that end in `.json`, without the extension, sorted
  /// by bytes.
  private static func profileNames(in folder: String) -> [String] {
    ProfileFileSystem.fileNames(in: folder).filter { $0.hasSuffix(".json") && !$0.hasPrefix(".") }
      .map {
        String($0.dropLast(5))
      }
  }

  private static func profilePath(of name: String, in folder: String) -> String {
    joinPath(folder, name + ".json")
  }

  /// Returns the library for the environment variables of this process.
  public static func fromEnvironment() -> ProfileLibrary {
    ProfileLibrary { name in
      guard let value = unsafe getenv(name) else { return nil }
      return unsafe String(cString: value)
    }
  }

  /// Creates the library for the given environment variables, from the folders `temblor/profiles`
  /// in `XDG_CONFIG_HOME` and `XDG_CONFIG_DIRS`.
  ///
  /// If these are unset or empty, their defaults are `$HOME/.config` and `/etc/xdg`. Relative paths
  /// are ignored. Source: XDG Base Directory Specification 0.8.
  public init(environment value: (String) -> String?) {
    let folderList = value("XDG_CONFIG_DIRS") ?? ""
    let systemFolders = (folderList.isEmpty ? "/etc/xdg" : folderList).split(separator: ":")
      .filter { $0.first == "/" }
    self.init(
      userFolder: Self.settingsFolder(value).map { Self.joinPath($0, "profiles") },
      systemFolders: systemFolders.map { Self.joinPath(String($0), "temblor/profiles") })
  }

  /// Returns the folder of the user's settings for the given environment variables: `temblor` in
  /// `XDG_CONFIG_HOME`.
  static func settingsFolder(_ value: (String) -> String?) -> String? {
    func absolutePath(_ name: String) -> String? {
      value(name).flatMap { $0.hasPrefix("/") ? $0 : nil }
    }
    let configurationFolder =
      absolutePath("XDG_CONFIG_HOME") ?? absolutePath("HOME").map { joinPath($0, ".config") }
    return configurationFolder.map { joinPath($0, "temblor") }
  }

  /// Returns the path of the profile file with the given name in a folder.
  static func joinPath(_ folder: String, _ name: String) -> String {
    folder + (folder.hasSuffix("/") ? "" : "/") + name
  }
}

/// A profile that is available by name, with its origin.
public struct ProfileEntry: Equatable, Sendable {
  /// The origin of a profile.
  public enum Origin: String, Sendable {
    /// The profile is in the user's folder.
    case user
    /// The profile is in a folder of the system.
    case system
    /// The profile comes with Temblor.
    case shipped
  }

  /// The name that users type, which is the file's name regardless of `name` in its text.
  public var name: String
  /// The origin of the profile.
  public var origin: Origin
  /// The path of the profile file, or nil for a shipped profile.
  public var path: String?
  /// The origins of the profiles with the same name that this profile shadows.
  public var shadowedOrigins: [Origin] = []

  /// The name by which errors refer to the text, which is the file's path or the profile's name.
  public var sourceName: String { path ?? name }

  /// Returns the text of the profile, which is read from its file at every call.
  public func readText() throws(ProfileFileError) -> [UInt8] {
    if let path { return try ProfileFileSystem.read(path) }
    return ProfileCatalog.text(named: name) ?? []
  }
}

/// The file system operations of the profile library.
enum ProfileFileSystem {
  static func fileExists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

  /// Returns whether a path stays within a folder, both as written and, for an existing file, with
  /// links resolved.
  ///
  /// - Parameters:
  ///   - path: The path to check.
  ///   - word: The path as it was written, relative to the folder.
  ///   - folder: The folder.
  static func containsFile(_ path: String, asWritten word: String, in folder: String) -> Bool {
    guard !word.hasPrefix("/"), !word.split(separator: "/").contains("..") else { return false }
    guard let realFolder = realPath(folder.isEmpty ? "." : folder), let realFile = realPath(path)
    else {
      return true
    }
    return realFile.hasPrefix(realFolder.hasSuffix("/") ? realFolder : realFolder + "/")
  }

  private static func realPath(_ path: String) -> String? {
    guard let realPathPointer = unsafe realpath(path, nil) else { return nil }
    defer { unsafe free(realPathPointer) }
    return unsafe String(cString: realPathPointer)
  }

  /// Returns the file names in a folder, sorted by bytes; empty if the folder cannot be read.
  static func fileNames(in folder: String) -> [String] {
    guard let folderHandle = unsafe opendir(folder) else { return [] }
    defer { unsafe closedir(folderHandle) }
    var entryNames: [String] = []
    while let folderEntry = unsafe readdir(folderHandle) {
      entryNames.append(
        unsafe withUnsafePointer(to: &folderEntry.pointee.d_name) {
          unsafe $0.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
        })
    }
    return entryNames.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }

  /// Returns the bytes of a file, without blocking on a pipe.
  static func read(_ path: String) throws(ProfileFileError) -> [UInt8] {
    let fileDescriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard fileDescriptor >= 0 else { throw .systemError(path, "cannot be opened") }
    defer { close(fileDescriptor) }
    var fileStatus = stat()
    guard unsafe fstat(fileDescriptor, &fileStatus) == 0, fileStatus.st_mode & S_IFMT == S_IFREG
    else {
      throw ProfileFileError(kind: .noFile, path: path, reason: "is not a regular file")
    }
    var fileBytes: [UInt8] = []
    var chunkBuffer = [UInt8](repeating: 0, count: 16_384)
    while fileBytes.count <= ProfileFile.maximumByteCount {
      let count = unsafe Glibc.read(fileDescriptor, &chunkBuffer, chunkBuffer.count)
      if count < 0 && errno == EINTR { continue }
      guard count >= 0 else { throw .systemError(path, "cannot be read") }
      if count == 0 { return fileBytes }
      fileBytes += chunkBuffer[..<count]
    }
    throw ProfileFileError(
      kind: .tooLarge, path: path,
      reason: "is too large; the limit is \(ProfileFile.maximumByteCount >> 20) MiB")
  }
}

extension ProfileFileError {
  fileprivate static func systemError(_ path: String, _ failure: String) -> ProfileFileError {
    let reason = unsafe String(cString: strerror(errno))
    return ProfileFileError(kind: .access, path: path, reason: "\(failure): \(reason)")
  }
}

/// The reason why an existing profile file cannot be read.
public struct ProfileFileError: Error, Equatable, CustomStringConvertible, Sendable {
  /// The kind of a file error, which implies the remedy.
  public enum Kind: Equatable, Sendable {
    /// The file cannot be accessed. The remedy is to grant this process the right to read it, or to
    /// repair the disk.
    case access
    /// The path is a folder, a device, or a pipe. The remedy is a regular file.
    case noFile
    /// The file is too large. The remedy is a smaller file.
    case tooLarge
  }

  /// The kind of the file error.
  public var kind: Kind
  /// The path of the profile file.
  public var path: String
  /// The reason for the error, without a full stop.
  public var reason: String

  /// The message of the error on one line, in the form `FILE: REASON`.
  public var description: String { "\(path): \(reason)" }
}

extension ProfileSchema {
  /// Returns the JSON Schema of profiles (draft 2020-12) for editors and other programs, the text
  /// of `Profiles/profile.schema.json`.
  ///
  /// The schema accepts the texts that the reader accepts, except for comparisons of values.
  public static func schemaText() -> [UInt8] {
    var jsonWriter = JSONWriter()
    jsonWriter.writeObject { schema in
      schema.writeMember("$schema", "https://json-schema.org/draft/2020-12/schema")
      schema.writeMember("title", "Transducer profile")
      schema.writeMember(
        "description",
        """
        Defines how a haptic pattern is rendered for one kind of transducer: frequency, level, and \
        waveform.
        """
      )
      schema.writeFields(ProfileSchema.profile.schema)
      schema.writeThresholdConditions()
    }
    return jsonWriter.finishedText()
  }
}

extension JSONObjectWriter {
  fileprivate mutating func writeType(_ type: JSONType) {
    switch type {
    case .number(let numberRange):
      writeMember("type", "number")
      numberRange.lowerBound.write("minimum", omitsPoint: true, to: &self)
      numberRange.upperBound.write("maximum", omitsPoint: true, to: &self)
    case .integer(let integerRange):
      writeMember("type", "integer")
      writeMember("minimum", integerRange.lowerBound)
      writeMember("maximum", integerRange.upperBound)
    case .boolean:
      writeMember("type", "boolean")
    case .string(let textPattern):
      writeMember("type", "string")
      if let textPattern {
        writeMember("pattern", textPattern)
      } else {
        writeMember("minLength", 1)
      }
    case .any:
      break
    case .enumeration(let permittedWords):
      self.writeStrings("enum", permittedWords)
    case .array(let entryType, let entryCount):
      writeMember("type", "array")
      if let entryCount {
        writeMember("minItems", entryCount.lowerBound)
        writeMember("maxItems", entryCount.upperBound)
      }
      writeObject("items") { $0.writeType(entryType) }
    case .object(let objectShape):
      writeFields(objectShape())
    }
  }

  fileprivate mutating func writeFields(_ shape: JSONSchema) {
    writeMember("type", "object")
    writeObject("properties") { properties in
      for key in shape.keys {
        properties.writeObject(key.name) { property in
          property.writeMember("description", key.explanation)
          property.writeType(key.type)
          if let usual = key.defaultValue {
            usual.write("default", omitsPoint: true, to: &property)
          }
          if case .enumeration(let words) = key.type, let first = words.first {
            property.writeMember("default", first)
          }
        }
      }
    }
    writeStrings("required", shape.keys.filter { $0.presence == .required }.map { $0.name })
    writeMember("additionalProperties", false)
    if shape === ProfileSchema.transient.schema {
      writeObject("dependentSchemas") { dependents in
        dependents.writeObject("duration") {
          $0.writeForbiddenKeys(ProfileSchema.keysReplacedByDuration)
        }
      }
    }
    if let discriminator = shape.discriminator {
      writeVariants(of: discriminator)
    }
  }

  /// Writes a schema condition for each value of the discriminator, with the keys that are valid
  /// for that value. If the discriminator is absent, the keys of the first value are valid.
  private mutating func writeVariants(of choice: JSONSchema.Discriminator) {
    guard let defaultVariant = choice.variants.first else { return }
    writeArray("allOf") { list in
      for branch in choice.variants {
        let others = choice.variants.flatMap { $0.keys }.filter { !branch.keys.contains($0) }
        list.writeObject { rule in
          rule.writeObject("if") { condition in
            condition.writeObject("properties", layout: .singleLine) { properties in
              properties.writeObject(choice.keyName) { $0.writeMember("const", branch.value) }
            }
            if branch.value != defaultVariant.value {
              condition.writeStrings("required", [choice.keyName])
            }
          }
          rule.writeObject("then") { consequence in
            consequence.writeStrings("required", branch.required)
            consequence.writeForbiddenKeys(others)
          }
        }
      }
    }
  }

  /// Writes the schema conditions for perception thresholds. The sensation law requires thresholds.
  /// Other laws permit them only with hardware that equalizes sensation across frequencies.
  fileprivate mutating func writeThresholdConditions() {
    writeObject("if") { condition in
      condition.writeObject("properties", layout: .singleLine) { properties in
        properties.writeObject("intensity") { intensity in
          intensity.writeObject("properties") { properties in
            properties.writeObject("law") { $0.writeMember("const", "sensation") }
          }
          intensity.writeStrings("required", ["law"])
        }
      }
      condition.writeStrings("required", ["intensity"])
    }
    writeObject("then", layout: .singleLine) { $0.writeStrings("required", ["thresholds"]) }
    writeObject("else") { otherwise in
      otherwise.writeObject("if") { condition in
        condition.writeObject("properties", layout: .singleLine) { properties in
          properties.writeObject("drive") { drive in
            drive.writeObject("properties") { properties in
              properties.writeObject("equalSensation") { $0.writeMember("const", true) }
            }
          }
        }
        condition.writeStrings("required", ["hardware"])
      }
      otherwise.writeObject("else", layout: .singleLine) { $0.writeForbiddenKeys(["thresholds"]) }
    }
  }

  private mutating func writeForbiddenKeys(_ keys: [String]) {
    if keys.isEmpty { return }
    writeObject("properties", layout: .singleLine) { properties in
      for key in keys {
        properties.writeMember(key, false)
      }
    }
  }

  private mutating func writeStrings(_ key: String, _ words: [String]) {
    if words.isEmpty { return }
    writeArray(key, layout: .singleLine) { list in
      for word in words {
        list.writeElement(word)
      }
    }
  }
}
