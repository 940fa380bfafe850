import Reading
import HapticFormats
import VendorFormats
import HapticModel
import Testing

/// The findings in texts, and their locations.
@Suite struct HJIFReadingTests {
  private static let validText = MPEGFixtures.text(
    MPEGFixtures.tap, effects: MPEGFixtures.effect([(0, 0.5, 90)]))

  private func findings(_ text: String) -> [String] {
    MPEGFixtures.readResult(text).findings.map(\.description)
  }

  private func findings(replacing old: String, with new: String) -> [String] {
    findings(Self.validText.replacing(old, with: new))
  }

  @Test func validFileHasNoFindings() throws {
    let examination = MPEGFixtures.readResult(Self.validText)
    #expect(examination.findings.isEmpty && examination.losses.isEmpty)
    #expect(
      examination.fileDetails.map { "\($0.name) \($0.value)" } == [
        "version 2023", "profile Main@1", "date 2026-11-21", "timescale 1000",
        "modality Vibrotactile",
      ])
  }

  @Test func errorsHaveLocations() {
    #expect(findings("[]") == ["t:1:1: error: the file must be an object, not an array"])
    #expect(
      findings("{\"perception\": []}").contains(
        "t:1:1: error: the file must have the key \"perceptions\"; "
          + "rename \"perception\" to \"perceptions\""))
    #expect(
      findings(replacing: "\"Transient\"", with: "\"Transiant\"") == [
        "t:5:50: error: unknown band_type \"Transiant\" "
          + "(perceptions[0].channels[0].bands[0].band_type); did you mean \"Transient\"?"
      ])
    #expect(
      findings(replacing: "\"position\": 0", with: "\"position\": \"0\"").first
        == "t:6:81: error: position must be a number, not a string "
        + "(perceptions[0].channels[0].bands[0].effects[0].position); write it without quotes")
    #expect(
      findings(replacing: "\"bands\"", with: "\"bonds\"").contains(
        "t:4:15: error: a channel must have the key \"bands\" (perceptions[0].channels[0]); "
          + "rename \"bonds\" to \"bands\""))
    #expect(
      findings("{\"perceptions\": [").first
        == "t:1:18: error: the text ends inside the array that starts at 1:17")
    let wavelet = Self.validText.replacing("\"Transient\"", with: "\"WaveletWave\"").replacing(
      "\"keyframes\": [", with: "\"wavelet_stream\": \"ab=\", \"keyframes\": [")
    #expect(
      findings(wavelet).contains {
        $0.contains(
          "error: character 3 of the wavelet stream is not one of A–Z, a–z, 0–9, +, and /")
      })
  }

  @Test func filesOfDraftsAreRead() {
    let text = Self.validText.replacing("\"version\": \"2023\"", with: "\"version\": \"1\"")
      .replacing(
        "\"2026-11-21\"", with: "\"Tue Mar  7 10:24:39 2023\\n\""
      ).replacing("mixing_coefficient", with: "mixing_weight").replacing(
        "\"Transient\"", with: "\"Transient\", \"block_length\": 0.0")
    let examination = MPEGFixtures.readResult(text)
    #expect(examination.composition != nil)
    #expect(
      examination.findings.map { "\($0.severity) \($0.rule)" } == [
        "note hjif/version", "note hjif/date", "note hjif/former-name",
      ])
  }

  @Test func valuesOutOfRangeAreClampedAndReported() throws {
    let text = Self.validText.replacing("0.5", with: "1.5").replacing("90", with: "20000")
      .replacing(
        "\"relative_position\": 0", with: "\"relative_position\": 2.6")
    let examination = MPEGFixtures.readResult(text)
    #expect(
      examination.findings.map(\.rule) == [
        "hjif/whole-number", "hjif/out-of-range", "hjif/out-of-range", "hjif/clamped",
      ])
    let event = try #require(examination.composition?.layers[0].pattern.events.first)
    #expect(event.time == 0.003 && event.value(of: .hapticIntensity) == 1)
  }

  private struct SilentBandCase {
    var band: String
    var keys: [(Int, Double?, Double?)]
    var rules: [String]
  }

  private static let silentBandCases: [SilentBandCase] = [
    SilentBandCase(
      band: MPEGFixtures.tap, keys: [(0, nil, 90)],
      rules: ["missing-amplitude", "missing-keyframes"]),
    SilentBandCase(
      band: MPEGFixtures.wave, keys: [(0, 0.5, nil), (9, 0.5, nil)], rules: ["missing-frequency"]),
    SilentBandCase(
      band: MPEGFixtures.wave, keys: [(9, 0.5, 90), (0, 0.5, 90)], rules: ["keyframe-order"]),
    SilentBandCase(
      band: MPEGFixtures.wave, keys: [(0, 0.5, 90), (9, 0.5, 1_500)],
      rules: ["frequency-outside-band"]),
    SilentBandCase(band: MPEGFixtures.wave, keys: [], rules: ["missing-keyframes"]),
    SilentBandCase(band: "\"band_type\": \"WaveletWave\"", keys: [], rules: ["block-length"]),
  ]

  @Test func silentKeyframesAreReported() {
    for silentCase in Self.silentBandCases {
      let text = MPEGFixtures.text(silentCase.band, effects: MPEGFixtures.effect(silentCase.keys))
      let examination = MPEGFixtures.readResult(text)
      #expect(examination.findings.map(\.rule.text) == silentCase.rules.map { "hjif/" + $0 })
      #expect(examination.composition != nil)
    }
  }

  @Test func deviationsFromStrictJSONAreReported() {
    #expect(
      findings(replacing: "}]}]}]}]}", with: "},]}]}]}]}").contains {
        $0.contains("warning: comma before a closing bracket")
      })
    #expect(
      MPEGFixtures.readResult("\u{FEFF}" + Self.validText).findings.map(\.rule) == [
        "hjif/byte-order-mark"
      ])
    let textWithDuplicateKey = Self.validText.replacing(
      "\"description\": \"d\"", with: "\"description\": \"e\", \"description\": \"d\"")
    #expect(
      MPEGFixtures.readResult(textWithDuplicateKey).findings.map(\.rule) == ["hjif/duplicate-key"])
    #expect(MPEGFixtures.readResult(textWithDuplicateKey).composition?.notes == "d")
    #expect(
      findings(replacing: "\"level\"", with: "\"colour\": 1, \"level\"").first
        == "t:1:40: note: unknown key \"colour\" is ignored (colour)")
  }

  @Test func everyFileHasAnOutcome() {
    // Each prefix and each text with one byte changed is read or refused.
    let bytes = Array(Self.validText.utf8)
    for index in stride(from: 0, to: bytes.count, by: 3) {
      let truncatedFile = SourceFile(Array(bytes[..<index]), name: "t")
      let examination = HapticFormat.hjif.examine(truncatedFile, options: ReadingOptions())
      #expect(examination.composition == nil && examination.errorCount > 0)
      for byte in [0x22, 0x30, 0x5D, 0x7B, 0xFF] as [UInt8] {
        var damagedBytes = bytes
        damagedBytes[index] = byte
        let examination = HapticFormat.hjif.examine(
          SourceFile(damagedBytes, name: "t"), options: ReadingOptions())
        #expect((examination.composition == nil) == (examination.errorCount > 0))
      }
    }
  }

  @Test func theFastPathReadsTheSame() {
    let file = SourceFile(Array(Self.validText.utf8), name: "t")
    let fast = HapticFormat.hjif.examine(file, options: ReadingOptions(wantsFindings: false))
    #expect(fast.composition == MPEGFixtures.readResult(Self.validText).composition)
    #expect(fast.findings.isEmpty && fast.losses.isEmpty)
  }

  @Test func canonicalTextIsEquivalent() throws {
    let file = SourceFile(Array(Self.validText.utf8), name: "t")
    let canonicalText = try #require(try HapticFormat.hjif.canonicalText(of: file))
    let reformattedText = try HapticFormat.hjif.canonicalText(
      of: SourceFile(canonicalText, name: "t"))
    #expect(canonicalText == reformattedText)
    let text = String(decoding: canonicalText, as: UTF8.self)
    #expect(
      MPEGFixtures.readResult(text).composition
        == MPEGFixtures.readResult(Self.validText).composition)
    #expect(MPEGFixtures.readResult(text).findings.isEmpty)
  }
}
