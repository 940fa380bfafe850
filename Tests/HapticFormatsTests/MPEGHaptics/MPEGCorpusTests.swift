import Reading
@testable import HapticFormats
@testable import VendorFormats
import HapticModel
import Testing

/// Files that the reference software wrote and synthesised, where the environment names a folder of them.
@Suite struct MPEGCorpusTests {
  @Test func textsAreSynthesisedAsTheReferenceDoes() throws {
    for name in try MPEG.corpus("hjif", ".hjif") {
      let examination = HJIFFormat().examine(
        SourceFile(try MPEG.bytes("hjif", name), name: name), options: ReadingOptions(asReference: true))
      let composition = try #require(examination.composition, "\(examination.findings.map(\.description))")
      let signal = try #require(composition.layers.first?.signals.first)
      let expected = try MPEG.samples(ofWAV: MPEG.bytes("hjif", name + ".rm8000.wav"))
      #expect(signal.rate == 8_000)
      #expect(signal.samples.count == expected.count, "\(name)")
      let worst = zip(signal.samples, expected).map { abs(MPEG.quantised($0) - $1) }.max() ?? 0
      #expect(worst <= 1, "\(name)")
    }
  }

  @Test func textsAreReadWithoutErrors() throws {
    for name in try MPEG.corpus("hjif", ".hjif") {
      let file = SourceFile(try MPEG.bytes("hjif", name), name: "x")
      #expect(try FormatRegistry.standard.format(of: file).id == "hjif", "\(name)")
      let examination = FormatRegistry.standard.examine(file)
      #expect(examination.findings.filter { $0.severity > .note }.isEmpty, "\(name)")
      #expect(examination.composition?.layers.contains { !$0.isEmpty } == true, "\(name)")
    }
  }

  @Test func binaryFilesAreSynthesisedAsTheReferenceDoes() throws {
    for name in try MPEG.corpus("hmpg", ".hmpg") {
      let examination = HMPGFormat().examine(
        SourceFile(try MPEG.bytes("hmpg", name), name: name), options: ReadingOptions(asReference: true))
      let composition = try #require(examination.composition, "\(examination.findings.map(\.description))")
      let signal = try #require(composition.layers.first?.signals.first)
      let expected = try MPEG.samples(ofWAV: MPEG.bytes("hmpg", name + ".rm8000.wav"))
      #expect(signal.samples.count == expected.count, "\(name)")
      let worst = zip(signal.samples, expected).map { abs(MPEG.quantised($0) - $1) }.max() ?? 0
      #expect(worst <= 1, "\(name)")
    }
  }

  @Test func binaryFilesHoldWhatTheReferenceDecodes() throws {
    for name in try MPEG.corpus("hmpg", ".hmpg") {
      let file = SourceFile(try MPEG.bytes("hmpg", name), name: "x")
      #expect(try FormatRegistry.standard.format(of: file).id == "hmpg", "\(name)")
      var decoder = HMPGDecoder(file.bytes)
      decoder.decode()
      #expect(decoder.log.findings { _, _ in SourcePlace(name: "") }.isEmpty, "\(name)")
      let decoded = name.replacing(".hmpg", with: ".rm-decoded.hjif")
      var text = HJIFDecoder(try JSONDocument(text: MPEG.bytes("hmpg", decoded), name: decoded), wantsFindings: true)
      text.decode()
      let pairs = zip(decoder.document.perceptions, text.document.perceptions)
      for (binary, text) in pairs {
        #expect(binary.modality == text.modality && binary.channels.count == text.channels.count)
        for (binary, text) in zip(binary.channels, text.channels) {
          #expect(binary.gain == text.gain && binary.bands.count == text.bands.count, "\(name)")
          for (binary, text) in zip(binary.bands, text.bands) {
            #expect(binary.kind == text.kind && binary.low == text.low && binary.high == text.high)
            #expect(binary.effects.map(\.position) == text.effects.map(\.position), "\(name)")
            #expect(binary.effects.map(\.keys) == text.effects.map(\.keys), "\(name)")
          }
        }
      }
      #expect(decoder.document.perceptions.count == text.document.perceptions.count)
      #expect(decoder.document.timescale == text.document.timescale)
    }
  }
}
