public import HapticModel
public import Reading

/// The formats that a program knows. A registry is a value: tests and library users add formats to
/// a copy.
public struct FormatRegistry: Sendable {
  /// The registry with only Apple's format.
  public static let apple = FormatRegistry([.ahap])

  private static let ambiguousFormat = Rule.error(
    "format-ambiguous", "syntax", "The format of a file must be recognizable.")

  private static let wrongFileKind = Rule.error(
    "file-kind", "syntax", "A file must be a pattern, not a sound, a picture or an archive.")

  private static let unknownFormat = Rule.error(
    "format-unknown", "syntax", "A file must be in a format that is read.")

  /// The rule for a file whose content is of another format than its name suggests.
  public static let misnamedFile = Rule.note(
    "format-name", "syntax", "The ending of a file name should be one of the file's format.")

  /// The formats. Of several that recognize a file equally well, the first is chosen.
  public private(set) var formats: [HapticFormat]

  /// Creates a registry of at least one format.
  public init(_ formats: [HapticFormat]) {
    precondition(!formats.isEmpty, "a registry has at least one format")
    self.formats = formats
  }

  /// Returns a registry with one more format.
  public func adding(_ format: HapticFormat) -> FormatRegistry {
    FormatRegistry(formats + [format])
  }

  /// The file extensions of all formats in lower case, without the dot.
  public var fileExtensions: [String] { formats.flatMap { $0.fileExtensions } }

  /// The rules of all formats, and of recognizing and reading files.
  public var rules: [Rule] {
    (formats.count > 1
      ? [Self.wrongFileKind, Self.unknownFormat, Self.ambiguousFormat, Self.misnamedFile] : [])
      + formats.flatMap { $0.rules } + ReadResult.rules
  }

  /// Returns the format with an id, or nil.
  public func format(id: String) -> HapticFormat? { formats.first { $0.id == id } }

  /// Returns the first format with the extension of a file name, or nil.
  public func format(forFileName name: String) -> HapticFormat? { formats(forFileName: name).first }

  /// Returns the formats with the extension of a file name.
  public func formats(forFileName name: String) -> [HapticFormat] {
    let name = name.lowercased()
    return formats.filter { format in format.fileExtensions.contains { name.hasSuffix(".\($0)") } }
  }

  /// Returns a file name without the extension of a format.
  public func stem(of name: String) -> String {
    let lower = name.lowercased()
    let ending = fileExtensions.filter { lower.hasSuffix(".\($0)") }.max { $0.count < $1.count }
    return ending.map { String(name.dropLast($0.count + 1)) } ?? name
  }

  /// Returns the format that recognizes the content of a file with the highest confidence. Of
  /// several, the extension of the file decides.
  ///
  /// A file that no format recognizes with certainty has the format of its extension, so that its
  /// errors have locations.
  ///
  /// - Throws: An error for another kind of file, an unknown format, or an ambiguous one.
  public func format(of file: SourceFile) throws(InputError) -> HapticFormat {
    if formats.count == 1 { return formats[0] }
    let named = formats(forFileName: file.name)
    // No other format can have a higher confidence.
    if named.count == 1, named[0].recognize(file.bytes.span) == .certain {
      return named[0]
    }
    let ranks = formats.map { $0.recognize(file.bytes.span) }
    let best = ranks.max() ?? .unrecognized
    let candidates = zip(formats, ranks).filter { $0.1 == best }.map { $0.0 }
    let outline = best < .certain ? JSONOutline(file.bytes.span) : nil
    if let kind = best == .unrecognized
      ? FileKind(of: file.bytes) : outline.flatMap({ FileKind(of: $0) })
    {
      throw InputError(
        Finding(
          Self.wrongFileKind, location: FileLocation(name: file.name),
          best == .unrecognized
            ? "\(kind.name), not a pattern"
            : "this looks like \(kind.name), which is not read as a pattern",
          suggestion: kind.suggestion))
    }
    if named.isEmpty, let outline, let key = outline.rootKeys.first, !outline.looksLikePattern {
      throw InputError(
        Finding(
          Self.unknownFormat, location: FileLocation(name: file.name),
          "an object with the key \(key.quoted()) is not in a format that is read",
          suggestion: "'temblor formats' lists the formats; '--from' of 'convert' names one"))
    }
    if best < .certain, named.count == 1 { return named[0] }
    if best == .unrecognized { return formats[0] }
    if let match = candidates.first(where: { one in named.contains { $0.id == one.id } }) {
      return match
    }
    guard candidates.count > 1 else { return candidates[0] }
    let names = candidates.map { $0.id }.joined(separator: " or ")
    throw InputError(
      Finding(
        Self.ambiguousFormat, location: FileLocation(name: file.name),
        "the content may be \(names)",
        suggestion: "give the file the ending of its format, or convert it with '--from'"))
  }

  /// Reads a file of any format and returns its content with all findings and losses.
  public func examine(_ file: SourceFile, options: ReadingOptions = ReadingOptions()) -> ReadResult
  {
    do throws(InputError) {
      let format = try format(of: file)
      var examination = format.examine(file, options: options)
      let named = formats(forFileName: file.name)
      if options.wantsFindings, let other = named.first,
        !named.contains(where: { $0.id == format.id })
      {
        examination.findings.insert(
          Finding(
            Self.misnamedFile, location: FileLocation(name: file.name),
            "the content is \(format.id), but the name stands for \(other.id)",
            suggestion: "rename it with the ending .\(format.fileExtensions.first ?? format.id)"),
          at: 0)
      }
      return examination
    } catch {
      return ReadResult(error)
    }
  }

  /// Reads only the composition of a file of any format, as fast as possible, or throws its first
  /// error.
  public func read(_ file: SourceFile, curveTimes: ReadingOptions.CurveTimes = .automatic)
    throws(InputError)
    -> HapticComposition
  { try examine(file, options: ReadingOptions(curveTimes: curveTimes, wantsFindings: false)).get() }
}

extension FormatRegistry: Equatable {
  /// Returns whether two registries have formats of the same names in the same order.
  public static func == (one: FormatRegistry, other: FormatRegistry) -> Bool {
    one.formats.map { $0.id } == other.formats.map { $0.id }
  }
}

/// A kind of file other than a pattern, by its first bytes.
package struct FileKind: Sendable {
  /// The number of bytes that identify a kind.
  package static let signatureLength = 12

  /// The kind as a noun: `a WAV sound file`.
  package let name: String
  /// A Boolean value that indicates whether the file is a sound, which can be played and measured.
  package let isSound: Bool
  /// A hint for using the file, or nil.
  package let suggestion: String?
  private let signature: [UInt8]
  /// The bytes at offset 8, for containers with several types of content.
  private let formType: [UInt8]

  private init(
    _ name: String, _ start: [UInt8], formType: String = "", isSound: Bool = false,
    _ suggestion: String? = nil
  ) {
    self.name = name
    self.isSound = isSound
    self.suggestion =
      isSound ? "hear it with 'temblor audition', measure it with 'temblor info'" : suggestion
    self.signature = start
    self.formType = Array(formType.utf8)
  }

  private static func sound(_ name: String, _ start: String, formType: String = "") -> FileKind
  {
    FileKind("\(name) sound file", Array(start.utf8), formType: formType, isSound: true)
  }

  private static let binaryKinds = [
    sound("a WAV", "RIFF", formType: "WAVE"), sound("an RF64", "RF64"), sound("a W64", "riff"),
    sound("an AIFF", "FORM", formType: "AIF"), sound("a FLAC", "fLaC"), sound("an Ogg", "OggS"),
    sound("a CAF", "caff"),
    sound("an AU", ".snd"), sound("an MP3", "ID3"),
    // Frames of MPEG-1 and MPEG-2, layer III, without a tag.
    FileKind("an MP3 sound file", [0xFF, 0xFB], isSound: true),
    FileKind("an MP3 sound file", [0xFF, 0xF3], isSound: true),
    FileKind("a MIDI file", Array("MThd".utf8)),
    FileKind("a PNG picture", [0x89] + Array("PNG".utf8)),
    FileKind("a JPEG picture", [0xFF, 0xD8, 0xFF]),
    FileKind("a PDF document", Array("%PDF".utf8)),
    FileKind("a ZIP archive", Array("PK".utf8) + [3, 4], "unpack it first"),
    FileKind("a gzip archive", [0x1F, 0x8B], "unpack it first"),
    FileKind("an ELF program", [0x7F] + Array("ELF".utf8)),
    FileKind("a UTF-16 text", [0xFF, 0xFE], "save it as UTF-8"),
    FileKind("a UTF-16 text", [0xFE, 0xFF], "save it as UTF-8"),
  ]

  /// Identifies a file by its first bytes; nil for an unknown kind.
  package init?(of bytes: some Collection<UInt8>) {
    guard
      let kind = Self.binaryKinds.first(where: {
        bytes.starts(with: $0.signature) && bytes.dropFirst(8).starts(with: $0.formType)
      })
    else { return nil }
    self = kind
  }

  /// Kinds of JSON texts, with the root keys and the nested keys that identify them.
  private static let jsonKinds: [(kind: FileKind, keys: [String], nested: [String])] = [
    (FileKind("a bHaptics pattern (.tact)", []), ["project"], ["tracks"]),
    (FileKind("a haptic material of Interhaptics, version 6", []), ["vibration", "stiffness"], []),
    (FileKind("an actuator configuration of Meta (.acf)", []), ["continuous", "emphasis"], []),
    (
      FileKind("a transducer profile", [], "use it with '--profile'"), ["summary", "frequency"], []
    ),
    (FileKind("a transducer array", [], "use it with '--array'"), ["transducers"], []),
  ]

  /// Identifies a JSON text by its keys; nil for an unknown kind.
  init?(of outline: JSONOutline) {
    guard
      let text = Self.jsonKinds.first(where: { text in
        text.keys.allSatisfy { outline.hasRootKey($0) }
          && text.nested.allSatisfy { outline.nestedKeys.contains($0) }
      })
    else { return nil }
    self = text.kind
  }
}

/// The keys of a JSON text, from a quick scan that recognizes formats.
///
/// The text may have errors. Only its beginning is scanned, so that the time does not grow with the
/// length. Keys with escapes are skipped.
package struct JSONOutline {
  /// The keys of the outermost object, in their order.
  package private(set) var rootKeys: [String] = []
  package private(set) var nestedKeys: Set<String> = []
  /// The number of bytes that are scanned for keys of the outermost object.
  private static let maximumScannedBytes = 1 << 20
  /// The number of bytes that are scanned for nested keys.
  private static let maximumNestedScanBytes = 1 << 16
  /// The maximum length of a recorded key in bytes. No format has a longer one.
  private static let maximumKeyLength = 40

  /// Scans a text; nil if it does not begin with an object.
  package init?(_ text: Span<UInt8>) {
    var position = text.count >= 3 && text[0] == 0xEF && text[1] == 0xBB && text[2] == 0xBF ? 3 : 0
    while position < text.count, Self.isWhitespace(text[position]) {
      position += 1
    }
    guard position < text.count, text[position] == UInt8(ascii: "{") else { return nil }
    var depth = 0
    // For each open container, whether it is an object.
    var objects: [Bool] = []
    var expectsKey = false
    let end = min(text.count, Self.maximumScannedBytes)
    while position < end {
      let byte = text[position]
      position += 1
      switch byte {
      case UInt8(ascii: "\""):
        let start = position
        while position < end, text[position] != UInt8(ascii: "\"") {
          position += text[position] == UInt8(ascii: "\\") ? 2 : 1
        }
        if expectsKey, position < end, position - start <= Self.maximumKeyLength,
          depth == 1 || position < Self.maximumNestedScanBytes
        {
          let key = String(decoding: (start..<position).map { text[$0] }, as: UTF8.self)
          if depth == 1 {
            rootKeys.append(key)
          } else {
            nestedKeys.insert(key)
          }
        }
        expectsKey = false
        position += 1
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        depth += 1
        guard depth <= 256 else { return }
        objects.append(byte == UInt8(ascii: "{"))
        expectsKey = byte == UInt8(ascii: "{")
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        depth -= 1
        _ = objects.popLast()
        if depth <= 0 { return }
        expectsKey = false
      case UInt8(ascii: ","):
        expectsKey = objects.last == true
      default:
        continue
      }
    }
  }

  /// A Boolean value that indicates whether the text has a root key of Apple's format, in any
  /// spelling.
  var looksLikePattern: Bool {
    hasRootKey("Version") || rootKeys.contains { $0.lowercased() == "pattern" }
  }

  package func hasRootKey(_ key: String) -> Bool { rootKeys.contains(key) }

  private static func isWhitespace(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D
  }
}
