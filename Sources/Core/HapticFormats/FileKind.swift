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
  /// The first bytes of a file.
  private let signature: [UInt8]
  /// The bytes at offset 8, for containers with several types of content.
  private let formType: [UInt8]

  private init(
    _ name: String, _ signature: [UInt8], formType: String = "", isSound: Bool = false,
    _ suggestion: String? = nil
  ) {
    self.name = name
    self.isSound = isSound
    self.suggestion =
      isSound ? "play it with 'temblor audition' or measure it with 'temblor info'" : suggestion
    self.signature = signature
    self.formType = Array(formType.utf8)
  }

  /// Returns the kind of a sound file.
  private static func sound(_ name: String, _ signature: String, formType: String = "")
    -> FileKind
  {
    FileKind("\(name) sound file", Array(signature.utf8), formType: formType, isSound: true)
  }

  /// Kinds of files, with the first bytes that identify them.
  private static let binaryKinds = [
    sound("a WAV", "RIFF", formType: "WAVE"), sound("an RF64", "RF64"), sound("a W64", "riff"),
    sound("an AIFF", "FORM", formType: "AIF"), sound("a FLAC", "fLaC"), sound("an Ogg", "OggS"),
    sound("a CAF", "caff"), sound("an AU", ".snd"), sound("an MP3", "ID3"),
    // Frames of MPEG-1 and MPEG-2, layer III, without a tag.
    FileKind("an MP3 sound file", [0xFF, 0xFB], isSound: true),
    FileKind("an MP3 sound file", [0xFF, 0xF3], isSound: true),
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
    (FileKind("an Interhaptics haptic material, version 6", []), ["vibration", "stiffness"], []),
    (FileKind("a Meta actuator configuration (.acf)", []), ["continuous", "emphasis"], []),
    (
      FileKind("a transducer profile", [], "use it with '--profile'"), ["summary", "frequency"], []
    ),
    (FileKind("a transducer array", [], "use it with '--array'"), ["transducers"], []),
  ]

  /// Identifies a JSON text by its keys; nil for an unknown kind.
  init?(of outline: JSONOutline) {
    guard
      let candidate = Self.jsonKinds.first(where: { candidate in
        candidate.keys.allSatisfy { outline.hasRootKey($0) }
          && candidate.nested.allSatisfy { outline.nestedKeys.contains($0) }
      })
    else { return nil }
    self = candidate.kind
  }
}
