/// A kind of file other than a pattern, by its first bytes.
package struct FileKind: Sendable {
  /// How many bytes of a file are looked at.
  package static let markLength = 12

  /// The kind as a noun: `a WAV sound file`.
  package let name: String
  /// Whether it holds sound, which can be played and measured by itself.
  package let isSound: Bool
  /// What can be done with it, or nil.
  package let suggestion: String?
  private let start: [UInt8]
  /// What stands behind the first eight bytes, if the start is not enough.
  private let form: [UInt8]

  private init(_ name: String, _ start: [UInt8], form: String = "", isSound: Bool = false, _ suggestion: String? = nil)
  {
    self.name = name
    self.isSound = isSound
    self.suggestion = isSound ? "hear it with 'temblor audition', measure it with 'temblor info'" : suggestion
    self.start = start
    self.form = Array(form.utf8)
  }

  private static func sound(_ name: String, _ start: String, form: String = "") -> FileKind {
    FileKind("\(name) sound file", Array(start.utf8), form: form, isSound: true)
  }

  private static let all = [
    sound("a WAV", "RIFF", form: "WAVE"), sound("an RF64", "RF64"), sound("a W64", "riff"),
    sound("an AIFF", "FORM", form: "AIF"), sound("a FLAC", "fLaC"), sound("an Ogg", "OggS"), sound("a CAF", "caff"),
    sound("an AU", ".snd"), sound("an MP3", "ID3"),
    // Frames of MPEG-1 and MPEG-2, layer III, without a tag.
    FileKind("an MP3 sound file", [0xFF, 0xFB], isSound: true),
    FileKind("an MP3 sound file", [0xFF, 0xF3], isSound: true),
    FileKind("a MIDI file", Array("MThd".utf8)), FileKind("a PNG picture", [0x89] + Array("PNG".utf8)),
    FileKind("a JPEG picture", [0xFF, 0xD8, 0xFF]), FileKind("a PDF document", Array("%PDF".utf8)),
    FileKind("a ZIP archive", Array("PK".utf8) + [3, 4], "unpack it first"),
    FileKind("a gzip archive", [0x1F, 0x8B], "unpack it first"),
    FileKind("an ELF program", [0x7F] + Array("ELF".utf8)),
    FileKind("a UTF-16 text", [0xFF, 0xFE], "save it as UTF-8"),
    FileKind("a UTF-16 text", [0xFE, 0xFF], "save it as UTF-8"),
  ]

  /// The kind of a file, or nil where its first bytes are of none that is known.
  package init?(of bytes: some Collection<UInt8>) {
    guard
      let kind = Self.all.first(where: { bytes.starts(with: $0.start) && bytes.dropFirst(8).starts(with: $0.form) })
    else { return nil }
    self = kind
  }

  /// Texts in JSON that are known by their outermost keys, and by keys of objects inside.
  private static let texts: [(kind: FileKind, keys: [String], nested: [String])] = [
    (FileKind("a bHaptics pattern (.tact)", []), ["project"], ["tracks"]),
    (FileKind("a haptic material of Interhaptics, version 6", []), ["vibration", "stiffness"], []),
    (FileKind("an actuator configuration of Meta (.acf)", []), ["continuous", "emphasis"], []),
    (FileKind("a transducer profile", [], "use it with '--profile'"), ["summary", "frequency"], []),
    (FileKind("a transducer array", [], "use it with '--array'"), ["transducers"], []),
  ]

  /// The kind of a text in JSON, or nil where its keys are of none that is known.
  init?(of outline: JSONOutline) {
    guard
      let text = Self.texts.first(where: { text in
        text.keys.allSatisfy { outline.has($0) } && text.nested.allSatisfy { outline.nestedKeys.contains($0) }
      })
    else { return nil }
    self = text.kind
  }
}
