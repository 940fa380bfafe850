import HapticModel
import Reading
import TestSupport
import Testing

@testable import HapticFormats
@testable import VendorFormats

/// Files that the reference software wrote and rendered, if the environment names a folder of them.
@Suite struct MPEGCorpusTests {
  /// Expects the samples that the reference software made of a file, up to rounding.
  private func expectReference(_ samples: [Int], of file: SourceFile, in folder: String) throws {
    let referenceFile = try FormatsCorpus.file("\(folder)/\(file.name).rm8000.wav")
    let expected = try MPEGFixtures.samples(ofWAV: referenceFile.bytes)
    #expect(samples.count == expected.count, "\(file.name)")
    #expect(zip(samples, expected).allSatisfy { abs($0 - $1) <= 1 }, "\(file.name)")
  }

  @Test func textsAreSynthesizedLikeTheReference() throws {
    for file in try FormatsCorpus.files(in: "hjif", suffix: ".hjif") {
      try expectReference(ReferenceSynthesis.samples(hjif: file.bytes), of: file, in: "hjif")
    }
  }

  @Test func textsAreReadWithoutErrors() throws {
    for corpusFile in try FormatsCorpus.files(in: "hjif", suffix: ".hjif") {
      let name = corpusFile.name
      let unnamed = SourceFile(corpusFile.bytes, name: "x")
      #expect(try FormatRegistry.standard.format(of: unnamed).id == "hjif", "\(name)")
      let examination = FormatRegistry.standard.examine(unnamed)
      #expect(
        examination.findings.filter { $0.severity > .note && $0.rule != "hjif/clamped" }.isEmpty,
        "\(name)")
      #expect(examination.composition?.layers.contains { !$0.isEmpty } == true, "\(name)")
    }
  }

  @Test func binaryFilesAreSynthesizedLikeTheReference() throws {
    for file in try FormatsCorpus.files(in: "hmpg", suffix: ".hmpg") {
      var decoder = HMPGDecoder(file.bytes)
      decoder.decode()
      #expect(decoder.log.errorCount == 0, "\(file.name)")
      try expectReference(ReferenceSynthesis.samples(of: decoder.document), of: file, in: "hmpg")
    }
  }

  @Test func binaryFilesAreDecodedLikeTheReference() throws {
    for file in try FormatsCorpus.files(in: "hmpg", suffix: ".hmpg") {
      let name = file.name
      let unnamed = SourceFile(file.bytes, name: "x")
      #expect(try FormatRegistry.standard.format(of: unnamed).id == "hmpg", "\(name)")
      var decoder = HMPGDecoder(file.bytes)
      decoder.decode()
      #expect(decoder.log.findings { _, _ in FileLocation(name: "") }.isEmpty, "\(name)")
      let decodedName = name.replacing(".hmpg", with: ".rm-decoded.hjif")
      let decodedFile = try FormatsCorpus.file("hmpg/\(decodedName)")
      var reader = HJIFReader(wantsFindings: true)
      let text = reader.decodeDocument(
        from: try JSONDocument(text: decodedFile.bytes, name: decodedName))
      let perceptionPairs = zip(decoder.document.perceptions, text.perceptions)
      for (binary, text) in perceptionPairs {
        #expect(binary.modality == text.modality && binary.channels.count == text.channels.count)
        for (binary, text) in zip(binary.channels, text.channels) {
          #expect(
            binary.channelGain == text.channelGain && binary.bands.count == text.bands.count,
            "\(name)")
          for (binary, text) in zip(binary.bands, text.bands) {
            #expect(
              binary.kind == text.kind && binary.lowerHertz == text.lowerHertz
                && binary.upperHertzOrSampleRate == text.upperHertzOrSampleRate)
            #expect(binary.effects.map(\.startTicks) == text.effects.map(\.startTicks), "\(name)")
            #expect(binary.effects.map(\.keyframes) == text.effects.map(\.keyframes), "\(name)")
          }
        }
      }
      #expect(decoder.document.perceptions.count == text.perceptions.count)
      #expect(decoder.document.ticksPerSecond == text.ticksPerSecond)
    }
  }
}
