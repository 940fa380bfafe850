public import HapticModel
public import Reading

/// The formats that a program knows. A value: tests and library users add formats to a copy.
public struct FormatRegistry: Sendable {
  /// Apple's format alone.
  public static let apple = FormatRegistry([.ahap])

  private static let ambiguousFormat = Rule.error(
    "format-ambiguous", "syntax", "The format of a file must be recognizable.")

  private static let wrongFileKind = Rule.error(
    "file-kind", "syntax", "A file must be a pattern, not a sound, a picture or an archive.")

  private static let unknownFormat = Rule.error(
    "format-unknown", "syntax", "A file must be in a format that is read.")

  /// The note of a file whose content is of another format than its name stands for.
  public static let misnamedFile = Rule.note(
    "format-name", "syntax", "The ending of a file name should be one of the file's format.")

  /// The formats; of equally good ones the first is taken.
  public private(set) var formats: [HapticFormat]

  /// Makes a registry of formats; at least one.
  public init(_ formats: [HapticFormat]) {
    precondition(!formats.isEmpty, "a registry has at least one format")
    self.formats = formats
  }

  /// A registry with one more format.
  public func adding(_ format: HapticFormat) -> FormatRegistry {
    FormatRegistry(formats + [format])
  }

  /// The endings of file names of all formats, in lower case and without the dot.
  public var fileExtensions: [String] { formats.flatMap { $0.fileExtensions } }

  /// The rules of all formats, and of reading itself.
  public var rules: [Rule] {
    (formats.count > 1
      ? [Self.wrongFileKind, Self.unknownFormat, Self.ambiguousFormat, Self.misnamedFile] : [])
      + formats.flatMap { $0.rules } + ReadResult.rules
  }

  /// The format with a name, or nil.
  public func format(id: String) -> HapticFormat? { formats.first { $0.id == id } }

  /// The format that the ending of a file name stands for, the first of several, or nil.
  public func format(forFileName name: String) -> HapticFormat? { formats(forFileName: name).first }

  /// The formats that the ending of a file name stands for.
  public func formats(forFileName name: String) -> [HapticFormat] {
    let name = name.lowercased()
    return formats.filter { format in format.fileExtensions.contains { name.hasSuffix(".\($0)") } }
  }

  /// A file name without the ending of a format, where it has one.
  public func stem(of name: String) -> String {
    let lower = name.lowercased()
    let ending = fileExtensions.filter { lower.hasSuffix(".\($0)") }.max { $0.count < $1.count }
    return ending.map { String(name.dropLast($0.count + 1)) } ?? name
  }

  /// The format of a file: the one that recognises its content best, of equal ones the one its name
  /// stands for.
  ///
  /// A file that no format is certain of is of the format its name stands for, so that its errors
  /// have a place.
  public func format(of file: SourceFile) throws(InputError) -> HapticFormat {
    if formats.count == 1 { return formats[0] }
    let named = formats(forFileName: file.name)
    // No other can be better.
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

  /// Reads a file of any format and reports everything there is to say about it.
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

  /// Reads the composition of a file of any format, as fast as possible, or reports its first
  /// error.
  public func read(_ file: SourceFile, curveTimes: ReadingOptions.CurveTimes = .automatic)
    throws(InputError)
    -> HapticComposition
  { try examine(file, options: ReadingOptions(curveTimes: curveTimes, wantsFindings: false)).get() }
}

extension FormatRegistry: Equatable {
  /// Whether both know formats of the same names, in the same order.
  public static func == (one: FormatRegistry, other: FormatRegistry) -> Bool {
    one.formats.map { $0.id } == other.formats.map { $0.id }
  }
}

/// A kind of file other than a pattern, by its first bytes.
package struct FileKind: Sendable {
  /// How many bytes of a file are looked at.
  package static let signatureLength = 12

  /// The kind as a noun: `a WAV sound file`.
  package let name: String
  /// Whether it holds sound, which can be played and measured by itself.
  package let isSound: Bool
  /// What can be done with it, or nil.
  package let suggestion: String?
  private let signature: [UInt8]
  /// What stands behind the first eight bytes, if the start is not enough.
  private let formType: [UInt8]

  private init(
    _ name: String, _ start: [UInt8], formType form: String = "", isSound: Bool = false,
    _ suggestion: String? = nil
  ) {
    self.name = name
    self.isSound = isSound
    self.suggestion =
      isSound ? "hear it with 'temblor audition', measure it with 'temblor info'" : suggestion
    self.signature = start
    self.formType = Array(form.utf8)
  }

  private static func sound(_ name: String, _ start: String, formType form: String = "") -> FileKind
  {
    FileKind("\(name) sound file", Array(start.utf8), formType: form, isSound: true)
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

  /// The kind of a file, or nil where its first bytes are of none that is known.
  package init?(of bytes: some Collection<UInt8>) {
    guard
      let kind = Self.binaryKinds.first(where: {
        bytes.starts(with: $0.signature) && bytes.dropFirst(8).starts(with: $0.formType)
      })
    else { return nil }
    self = kind
  }

  /// Texts in JSON that are known by their outermost keys, and by keys of objects inside.
  private static let jsonKinds: [(kind: FileKind, keys: [String], nested: [String])] = [
    (FileKind("a bHaptics pattern (.tact)", []), ["project"], ["tracks"]),
    (FileKind("a haptic material of Interhaptics, version 6", []), ["vibration", "stiffness"], []),
    (FileKind("an actuator configuration of Meta (.acf)", []), ["continuous", "emphasis"], []),
    (
      FileKind("a transducer profile", [], "use it with '--profile'"), ["summary", "frequency"], []
    ),
    (FileKind("a transducer array", [], "use it with '--array'"), ["transducers"], []),
  ]

  /// The kind of a text in JSON, or nil where its keys are of none that is known.
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

/// The names of keys in a JSON text, found by a quick look: enough to recognise a format. The text
/// may have any errors. Only its beginning is looked at, so that a look costs the same for texts of
/// all sizes; keys with escapes are left out.
package struct JSONOutline {
  /// The keys of the outermost object, in their order.
  package private(set) var rootKeys: [String] = []
  package private(set) var nestedKeys: Set<String> = []
  /// How many bytes are looked at for keys of the outermost object.
  private static let maximumScannedBytes = 1 << 20
  /// How many bytes are looked at for other keys.
  private static let maximumNestedScanBytes = 1 << 16
  /// The longest key that is kept; formats have none so long.
  private static let maximumKeyLength = 40

  /// Looks at a text; nil where it does not begin as an object.
  package init?(_ text: Span<UInt8>) {
    var position = text.count >= 3 && text[0] == 0xEF && text[1] == 0xBB && text[2] == 0xBF ? 3 : 0
    while position < text.count, Self.isWhitespace(text[position]) {
      position += 1
    }
    guard position < text.count, text[position] == UInt8(ascii: "{") else { return nil }
    var depth = 0
    // Whether each open container is an object; deeper ones than this are none of a format's.
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

  /// Whether a key is one of patterns, as Apple's format or another spells it.
  var looksLikePattern: Bool {
    hasRootKey("Version") || rootKeys.contains { $0.lowercased() == "pattern" }
  }

  package func hasRootKey(_ key: String) -> Bool { rootKeys.contains(key) }

  private static func isWhitespace(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D
  }
}
