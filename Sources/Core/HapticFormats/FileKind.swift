/// A kind of file that is not a readable pattern, identified by its first bytes, keys, or name.
package struct FileKind: Sendable {
  /// The number of leading bytes that suffice to identify a binary file.
  package static let signatureByteCount = 12

  /// The kind as a noun phrase for messages, such as `a WAV sound file`.
  package let nounPhrase: String
  /// A Boolean value that indicates whether the file is a playable and measurable sound file.
  package let isSoundFile: Bool
  /// A Boolean value that indicates whether the file may be a pattern in an unsupported format.
  let isForeignFormat: Bool
  /// A hint about how to use such a file, or nil.
  package let errorSuggestion: String?
  /// The bytes at the start of every file of this kind.
  private let signatureBytes: [UInt8]
  /// The bytes at offset 8, which distinguish the content types of a container format.
  private let formTypeBytes: [UInt8]

  private init(
    _ name: String, _ signature: [UInt8], formTypeBytes formType: String = "",
    isSoundFile: Bool = false,
    isForeignFormat: Bool = false, _ suggestion: String? = nil
  ) {
    self.nounPhrase = name
    self.isSoundFile = isSoundFile
    self.isForeignFormat = isForeignFormat
    self.errorSuggestion =
      isSoundFile ? "create a pattern from it with 'temblor trace'" : suggestion
    self.signatureBytes = signature
    self.formTypeBytes = Array(formType.utf8)
  }

  /// Creates the kind of a sound file.
  private static func soundFile(_ name: String, _ signature: String, formType: String = "")
    -> FileKind
  {
    FileKind(
      "\(name) sound file", Array(signature.utf8), formTypeBytes: formType, isSoundFile: true)
  }

  /// The kinds of binary files that are identified by their first bytes.
  private static let binaryKinds = [
    soundFile("a WAV", "RIFF", formType: "WAVE"), soundFile("an RF64", "RF64"),
    soundFile("a W64", "riff"),
    soundFile("an AIFF", "FORM", formType: "AIF"), soundFile("a FLAC", "fLaC"),
    soundFile("an Ogg", "OggS"),
    soundFile("a CAF", "caff"), soundFile("an AU", ".snd"), soundFile("an MP3", "ID3"),
    // MPEG-1 and MPEG-2 layer III frames, without a leading tag.
    FileKind("an MP3 sound file", [0xFF, 0xFB], isSoundFile: true),
    FileKind("an MP3 sound file", [0xFF, 0xF3], isSoundFile: true),
    FileKind("a MIDI file", Array("MThd".utf8)),
    FileKind("a PNG image", [0x89] + Array("PNG".utf8)),
    FileKind("a JPEG image", [0xFF, 0xD8, 0xFF]),
    FileKind("a PDF document", Array("%PDF".utf8)),
    FileKind("a ZIP archive", Array("PK".utf8) + [3, 4], "unpack it first"),
    FileKind("a gzip archive", [0x1F, 0x8B], "unpack it first"),
    FileKind("an ELF program", [0x7F] + Array("ELF".utf8)),
    FileKind("UTF-16 text", [0xFF, 0xFE], "save it as UTF-8"),
    FileKind("UTF-16 text", [0xFE, 0xFF], "save it as UTF-8"),
  ]

  /// Identifies a file by its first bytes, or returns nil for an unknown kind.
  package init?(of bytes: some Collection<UInt8>) {
    guard
      let kind = Self.binaryKinds.first(where: {
        bytes.starts(with: $0.signatureBytes) && bytes.dropFirst(8).starts(with: $0.formTypeBytes)
      })
    else { return nil }
    self = kind
  }

  /// Creates the kind of a pattern file in an unsupported format.
  private static func unsupportedFormat(_ name: String, _ suggestion: String? = nil) -> FileKind {
    FileKind(name, [], isForeignFormat: true, suggestion)
  }

  // MARK: JSON texts

  /// The kinds of JSON files, with the root and nested keys that identify them.
  private static let jsonKinds: [(kind: FileKind, keys: [String], nested: [String])] = [
    (unsupportedFormat("a bHaptics pattern (.tact)"), ["project"], ["tracks"]),
    (
      unsupportedFormat("an Interhaptics haptic material, version 6", interhapticsExportSuggestion),
      ["vibration", "stiffness"], []
    ),
    (actuatorConfiguration, ["continuous", "emphasis"], []),
    (
      unsupportedFormat("a list of durations and intensities", numberArraysSuggestion),
      ["pattern", "intensities"],
      []
    ),
    (
      unsupportedFormat("a Pulsar preset for web pages", "use the preset for phones"), ["pattern"],
      ["type", "timestamp"]
    ),
    (
      unsupportedFormat("a transducer profile", "use it with '--profile'"),
      ["summary", "frequency"], []
    ),
    (unsupportedFormat("a transducer array", "use it with '--array'"), ["transducers"], []),
  ]

  private static let interhapticsExportSuggestion = "export it as version 5 (.haps)"
  private static let numberArraysSuggestion =
    "name the keys \"timings\" and \"amplitudes\", as in Android's arrays"
  private static let actuatorConfiguration = unsupportedFormat(
    "a Meta actuator configuration (.acf)",
    "it describes a device; convert the .haptic clip instead")

  /// Identifies a JSON file by its keys, or returns nil for an unknown kind.
  init?(of outline: JSONOutline) {
    guard
      let candidate = Self.jsonKinds.first(where: { candidate in
        candidate.keys.allSatisfy { outline.hasRootKey($0) }
          && candidate.nested.allSatisfy { outline.nestedKeys.contains($0) }
      })
    else { return nil }
    self = candidate.kind
  }

  // MARK: Other texts

  /// The number of leading bytes that are searched for the marks of text files.
  private static let searchedTextByteCount = 4_096

  /// Lowercase texts that identify a kind of text file by their presence.
  private struct TextSignature {
    var kind: FileKind
    /// The text at the start of the file, after any byte-order mark and white space.
    var initialText: String
    /// A text that occurs near the start of the file.
    var containedText: String
  }

  private static let textSignatures: [TextSignature] = [
    TextSignature(
      kind: FileKind("a Git LFS pointer", [], "download the file with 'git lfs pull'"),
      initialText: "version https://git-lfs", containedText: ""),
    TextSignature(kind: propertyList, initialText: "<", containedText: "<plist"),
    TextSignature(kind: propertyList, initialText: "bplist", containedText: ""),
    TextSignature(kind: immersionEffect, initialText: "<", containedText: "<ivs-file"),
    TextSignature(kind: htmlPage, initialText: "<", containedText: "<!doctype html"),
    TextSignature(kind: htmlPage, initialText: "<", containedText: "<html"),
    TextSignature(kind: FileKind("an SVG image", []), initialText: "<", containedText: "<svg"),
    TextSignature(
      kind: FileKind(
        "a Unity asset", [], "use the haptic file that the asset was imported from"),
      initialText: "%yaml", containedText: "tag:unity3d.com"),
    TextSignature(kind: actuatorConfiguration, initialText: "", containedText: "emphasis_ducking"),
  ]

  private static let propertyList = unsupportedFormat(
    "a property list", "convert it to JSON, for example with 'plutil -convert json'")
  private static let immersionEffect = unsupportedFormat(
    "an Immersion effect (.ivs)", "record the effect, and trace the sound with 'temblor trace'")
  private static let htmlPage = FileKind(
    "an HTML page", [], "download the file itself instead of the page that shows it")

  /// The kinds of files that are identified only by their extension.
  private static let namedKinds = [
    (
      suffix: ".bnvib",
      kind: unsupportedFormat(
        "a Nintendo vibration file (.bnvib)",
        "Temblor does not read this proprietary format; use the sound that it was made from")
    )
  ]

  /// Identifies a file that no format recognizes, by its first characters or its extension. Returns
  /// nil for an unknown kind.
  package init?(ofUnrecognized file: SourceFile) {
    var searchedBytes = file.bytes.prefix(Self.searchedTextByteCount)
    if searchedBytes.starts(with: [0xEF, 0xBB, 0xBF]) {
      searchedBytes = searchedBytes.dropFirst(3)
    }
    let whitespaceBytes: [UInt8] = [0x20, 0x09, 0x0A, 0x0D]
    let lowercasedStart = searchedBytes.drop { whitespaceBytes.contains($0) }.map { byte in
      (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte + 32 : byte
    }
    let matchingMark = Self.textSignatures.first { mark in
      lowercasedStart.starts(with: mark.initialText.utf8)
        && Self.contains(mark.containedText, in: lowercasedStart)
    }
    let lowercasedName = file.name.lowercased()
    let namedKind = Self.namedKinds.first { lowercasedName.hasSuffix($0.suffix) }
    guard let kind = matchingMark?.kind ?? namedKind?.kind else { return nil }
    self = kind
  }

  /// Returns true if a text contains a string.
  private static func contains(_ content: String, in text: [UInt8]) -> Bool {
    let contentBytes = Array(content.utf8)
    guard let firstContentByte = contentBytes.first else { return true }
    return text.indices.contains { index in
      text[index] == firstContentByte && text[index...].starts(with: contentBytes)
    }
  }

  /// The sentence for error messages that states why the file cannot be read.
  var unreadableReason: String {
    isForeignFormat
      ? "\(nounPhrase) is not a supported pattern format" : "\(nounPhrase), not a pattern"
  }
}
