internal import HapticFormats
import Reading

/// The rules of one of the two files; their names begin with its id.
struct MPEGRules {
  let format: String

  private func rule(_ name: String, _ group: String, _ severity: Severity, _ explanation: String) -> Rule {
    Rule(RuleID("\(format)/\(name)"), group: group, severity, explanation)
  }

  // MARK: Both files

  var unknownReference: Rule {
    rule(
      "unknown-reference", "grammar", .warning,
      "A Reference effect must name an effect of its perception's library; others are silent.")
  }
  var duplicateID: Rule {
    rule(
      "duplicate-id", "grammar", .warning,
      "Effects of a library should have ids of their own; the first of two is used.")
  }
  var missingKeys: Rule {
    rule(
      "missing-keyframes", "grammar", .warning,
      "A Basis effect should have the key frames that its band needs; without them it is silent.")
  }
  var missingAmplitude: Rule {
    rule(
      "missing-amplitude", "grammar", .warning,
      "Key frames of transients and curves must have an amplitude; others are ignored.")
  }
  var missingFrequency: Rule {
    rule(
      "missing-frequency", "grammar", .warning,
      "A vectorial wave must have a key frame with a frequency; others are silent.")
  }
  var keyOrder: Rule {
    rule(
      "keyframe-order", "compatibility", .warning,
      "Key frames should be sorted by position; others are sorted on reading.")
  }
  var frequencyOutsideBand: Rule {
    rule(
      "frequency-outside-band", "range", .warning,
      "Frequencies should be within the limits of their band; others are clamped.")
  }
  var blockLength: Rule {
    rule(
      "block-length", "range", .warning,
      "A wavelet band must have blocks of a power of two samples, 4 to 4096; others are silent.")
  }
  var tooLarge: Rule {
    rule(
      "too-large", "range", .error,
      "The effects, with all that they refer to, must not be too many or too long to be played.")
  }

  private var shared: [Rule] {
    [
      unknownReference, duplicateID, missingKeys, missingAmplitude, missingFrequency, keyOrder, frequencyOutsideBand,
      blockLength, tooLarge,
    ]
  }

  // MARK: HJIF

  static let hjif = MPEGRules(format: "hjif")

  var syntax: Rule { rule("syntax", "syntax", .error, "The text must be JSON in UTF-8.") }
  var trailingComma: Rule {
    rule("trailing-comma", "syntax", .warning, "A comma before a closing bracket is not valid JSON.")
  }
  var byteOrderMark: Rule { rule("byte-order-mark", "syntax", .warning, "A byte-order mark is not valid in JSON.") }
  var duplicateKey: Rule {
    rule("duplicate-key", "syntax", .warning, "A key should appear only once in an object; Temblor uses the last one.")
  }
  var structure: Rule {
    rule(
      "structure", "grammar", .error, "The file must be an object with perceptions, their channels, bands and effects.")
  }
  var wrongType: Rule { rule("wrong-type", "grammar", .error, "A value must have the type that its key requires.") }
  var missingKey: Rule {
    rule(
      "missing-key", "grammar", .warning, "An object should have the keys that the schema of ISO/IEC 23090-31 requires."
    )
  }
  var unknownKey: Rule { rule("unknown-key", "grammar", .note, "Unknown keys are ignored.") }
  var unknownName: Rule {
    rule(
      "unknown-name", "grammar", .warning,
      "A name must be one that the schema lists; types of bands and effects must be known.")
  }
  var formerName: Rule {
    rule(
      "former-name", "compatibility", .note,
      "Names of drafts of the standard are read; the reference software refuses them.")
  }
  var version: Rule {
    rule("version", "compatibility", .note, "The version should be 2023 or later; files of drafts are read.")
  }
  var date: Rule { rule("date", "compatibility", .note, "The date should be in the form of ISO 8601.") }
  var outOfRange: Rule {
    rule("out-of-range", "range", .warning, "A value should be within its range; others are clamped.")
  }
  var wholeNumber: Rule {
    rule("whole-number", "range", .warning, "Ticks and ids are whole numbers; others are rounded.")
  }
  var waveletStream: Rule {
    rule(
      "wavelet-stream", "grammar", .error, "A wavelet stream must be a text of letters, digits, + and /, six bits each."
    )
  }

  // MARK: HMPG

  static let hmpg = MPEGRules(format: "hmpg")

  var truncated: Rule { rule("truncated", "syntax", .error, "Units, packets and their fields must be complete.") }
  var stream: Rule {
    rule(
      "structure", "syntax", .error, "The file must be units of packets, an initialization unit with its timing first.")
  }
  var unknownPacket: Rule { rule("unknown-packet", "syntax", .warning, "Packets of unknown types are skipped.") }
  var leftOver: Rule { rule("left-over", "syntax", .note, "A packet should end with its last field and zero bits.") }
  var checksum: Rule { rule("crc", "syntax", .warning, "Checksums should be those of the packets before them.") }
  var unknownID: Rule {
    rule(
      "unknown-id", "grammar", .error, "Packets must name perceptions, channels and bands that were described before.")
  }
  var unknownCode: Rule { rule("unknown-code", "grammar", .error, "Codes of types must be known.") }
  var count: Rule {
    rule("count", "grammar", .warning, "There should be as many perceptions, channels and bands as the file announces.")
  }

  /// All rules of the file, in the order in which they are listed.
  var all: [Rule] {
    format == "hjif"
      ? [
        syntax, trailingComma, byteOrderMark, duplicateKey, structure, wrongType, missingKey, unknownKey, unknownName,
        formerName, version, date, outOfRange, wholeNumber, waveletStream,
      ] + shared : [truncated, stream, unknownPacket, leftOver, checksum, unknownID, unknownCode, count] + shared
  }
}
