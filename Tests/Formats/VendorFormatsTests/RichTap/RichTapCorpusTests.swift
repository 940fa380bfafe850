import HapticFormats
import HapticModel
import Reading
import TestSupport
import Testing
import VendorFormats

@Suite struct RichTapCorpusTests {
  private static let he = HapticFormat.richTapHE
  private static let oh = HapticFormat.harmonyOS

  private func errors(_ examination: ReadResult) -> [String] {
    examination.findings.filter { $0.severity == .error }.map(\.description)
  }

  @Test func readsEveryFileOfTheVendor() throws {
    for file in try FormatsCorpus.files(in: "he", suffix: ".he") {
      let unnamed = SourceFile(file.bytes, name: "x")
      #expect(try FormatRegistry.standard.format(of: unnamed).id == "he", "\(file.name)")
      let examination = Self.he.examine(file, options: ReadingOptions())
      #expect(errors(examination) == [], "\(file.name)")
      #expect(examination.findings.allSatisfy { $0.severity < .warning }, "\(file.name)")
    }
  }

  /// Files of OpenHarmony's tests, whose names state the results of its decoder.
  @Test func acceptsAndRefusesAsOpenHarmonysTestsDo() throws {
    let files =
      try FormatsCorpus.files(in: "he-converter", suffix: ".he")
      + FormatsCorpus.files(in: "ohjson", suffix: ".json")
    for file in files {
      let unnamed = SourceFile(file.bytes, name: "x")
      let isHE = file.name.hasSuffix(".he") || file.name.contains("_to_he_")
      #expect(try FormatRegistry.standard.format(of: unnamed).id == (isHE ? "he" : "oh"))
      let examination = FormatRegistry.standard.examine(unnamed)
      let rules = Set(examination.findings.filter { $0.severity > .note }.map(\.rule.text))
      let expected: Set<String> =
        switch true {
        case file.name.contains("big_file_size"): ["oh/file-size"]
        case isHE: ["he/no-event-wrapper", "he/percent-curve", "he/curve-ends"]
        case file.name.contains("he_v1_sample"): ["oh/percent-curve"]
        default: []
        }
      #expect(rules == expected, "\(file.name)")
      #expect((examination.composition == nil) == file.name.contains("big_file_size"))
    }
  }

  @Test func otherFormatPreservesTheComposition() throws {
    for file in try FormatsCorpus.files(in: "he", "he-converter", suffix: ".he") {
      let composition = try #require(Self.he.examine(file, options: ReadingOptions()).composition)
      let firstFile = try #require(try Self.he.write(composition))
      let harmonyOSFile = try #require(try Self.oh.write(composition))
      let harmonyOSComposition = try read(harmonyOSFile, Self.oh)
      let fileWrittenBack = try #require(try Self.he.write(harmonyOSComposition))
      #expect(fileWrittenBack.files == firstFile.files, "\(file.name)")
      // OpenHarmony's converter writes curves that do not end at 0, which HE cannot hold.
      let isSteep = file.name.contains("oh_sample")
      #expect(
        harmonyOSFile.losses == [] && fileWrittenBack.losses.isEmpty == !isSteep, "\(file.name)")
      let rereadComposition = try read(firstFile, Self.he)
      #expect(
        (rereadComposition == composition) == !isSteep && (harmonyOSComposition == composition),
        "\(file.name)")
    }
    for file in try FormatsCorpus.files(in: "ohjson", suffix: ".json") {
      guard let composition = Self.oh.examine(file, options: ReadingOptions()).composition else {
        continue
      }
      let richTapFile = try #require(try Self.he.write(composition))
      let compositionReadBack = try read(richTapFile, Self.he)
      let isSteep = file.name.contains("he_v1_sample")
      #expect((compositionReadBack == composition) == !isSteep, "\(file.name)")
      #expect(richTapFile.losses.isEmpty == !isSteep, "\(file.name) \(richTapFile.losses)")
    }
  }

  private func read(_ writing: WrittenFiles, _ format: HapticFormat) throws -> HapticComposition {
    let examination = format.examine(
      SourceFile(writing.files[0].bytes, name: "w"), options: ReadingOptions())
    #expect(examination.findings.filter { $0.severity > .note }.isEmpty, "\(examination.findings)")
    return try examination.get()
  }

  @Test func canonicalTextsAreEquivalent() throws {
    for file in try FormatsCorpus.files(in: "he", suffix: ".he")
      + FormatsCorpus.files(in: "ohjson", suffix: ".json")
    {
      let format = try FormatRegistry.standard.format(of: file)
      let original = format.examine(file, options: ReadingOptions())
      guard let composition = original.composition else { continue }
      let canonicalText = try #require(try format.canonicalText(of: file))
      let canonicalFile = SourceFile(canonicalText, name: file.name)
      #expect(try format.canonicalText(of: canonicalFile) == canonicalText, "\(file.name)")
      let isEqual =
        format.examine(canonicalFile, options: ReadingOptions()).composition == composition
      #expect(isEqual, "\(file.name)")
    }
  }
}
