import HapticFormats
import VendorFormats
import TestSupport
import Testing

/// Formats are recognized by content, regardless of file names.
@Suite struct DetectionTests {
  /// The format of each folder of the corpus.
  private static let folders = [
    "haptic": "haptic", "haptic-conformance": "haptic", "he": "he", "he-converter": "he",
    "ohjson": "oh",
    "hjif": "hjif", "hmpg": "hmpg", "android-xml": "android",
  ]

  @Test func corpusFilesAreRecognized() throws {
    let formats = FormatRegistry.standard
    var mismatches: [String] = []
    for (folder, id) in Self.folders where formats.format(id: id) != nil {
      let fileExtension = ["ohjson": "json", "android-xml": "xml"][folder] ?? id
      for file in try FormatsCorpus.files(in: folder, suffix: "." + fileExtension)
      where !file.name.contains("invalid_fields") {
        let name = file.name
        let formatID = try? formats.format(of: SourceFile(file.bytes, name: "x")).id
        // Some files of the vendors are results of conversions with the name of the source.
        let expectedID = name.contains("_to_he") ? "he" : id
        if formatID != expectedID {
          mismatches.append("\(folder)/\(name): \(formatID ?? "ambiguous")")
        }
      }
    }
    #expect(mismatches == [])
  }

  private func rank(of bytes: [UInt8], in format: HapticFormat) -> Recognition {
    format.recognize(bytes.span)
  }

  @Test func otherTextsAreNotRecognizedWithCertainty() {
    var generator = SplitMixGenerator(state: 5)
    let tokens = [
      "\"name\"", "\"time\"", "\"amplitude\"", "\"version\"", "\"events\"", "1", "0.5", "true",
      "null", "\"x\"",
    ]
    func json(_ depth: Int) -> String {
      switch generator.next() % (depth > 3 ? 1 : 3) {
      case 0:
        return tokens[Int(generator.next() % UInt64(tokens.count))]
      case 1:
        return "["
          + (0..<Int(generator.next() % 4)).map { _ in json(depth + 1) }.joined(separator: ",")
          + "]"
      default:
        return "{"
          + (0..<Int(generator.next() % 4)).map { _ in
            tokens[Int(generator.next() % 5)] + ": " + json(depth + 1)
          }.joined(
            separator: ",") + "}"
      }
    }
    for round in 0..<1000 {
      let bytes: [UInt8]
      switch round % 3 {
      case 0:
        bytes = Array(json(0).utf8)
      case 1:
        let tags = ["html", "svg", "plist", "note"]
        let tag = tags[Int(generator.next() % 4)]
        bytes = Array("<?xml version=\"1.0\"?>\n<\(tag) a=\"1\"><b/></\(tag)>".utf8)
      default:
        bytes = (0..<Int(generator.next() % 200)).map { _ in
          UInt8.random(in: 0...255, using: &generator)
        }
      }
      for format in FormatRegistry.standard.formats {
        let rank = rank(of: bytes, in: format)
        #expect(rank < .certain, "\(format.id): \(String(decoding: bytes, as: UTF8.self))")
      }
    }
  }
}
