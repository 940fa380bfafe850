import HapticModel
import Reading
import Testing

@testable import HapticFormats
@testable import VendorFormats

/// Files that the reference software wrote and rendered, if the environment names a folder of them.
@Suite struct MPEGCorpusTests {
  private func isEqual(_ samples: [Int], toThoseOf name: String, in folder: String) throws {
    let expected = try MPEGFixtures.samples(ofWAV: MPEGFixtures.bytes(folder, name + ".rm8000.wav"))
    #expect(samples.count == expected.count, "\(name)")
    #expect(zip(samples, expected).allSatisfy { abs($0 - $1) <= 1 }, "\(name)")
  }

  @Test func textsAreSynthesizedLikeTheReference() throws {
    for name in try MPEGFixtures.corpus("hjif", ".hjif") {
      try isEqual(
        ReferenceSynthesis.samples(hjif: MPEGFixtures.bytes("hjif", name)), toThoseOf: name,
        in: "hjif")
    }
  }

  @Test func textsAreReadWithoutErrors() throws {
    for name in try MPEGFixtures.corpus("hjif", ".hjif") {
      let file = SourceFile(try MPEGFixtures.bytes("hjif", name), name: "x")
      #expect(try FormatRegistry.standard.format(of: file).id == "hjif", "\(name)")
      let examination = FormatRegistry.standard.examine(file)
      #expect(
        examination.findings.filter { $0.severity > .note && $0.rule != "hjif/clamped" }.isEmpty,
        "\(name)")
      #expect(examination.composition?.layers.contains { !$0.isEmpty } == true, "\(name)")
    }
  }

  @Test func binaryFilesAreSynthesizedLikeTheReference() throws {
    for name in try MPEGFixtures.corpus("hmpg", ".hmpg") {
      var decoder = HMPGDecoder(try MPEGFixtures.bytes("hmpg", name))
      decoder.decode()
      #expect(decoder.log.errorCount == 0, "\(name)")
      try isEqual(ReferenceSynthesis.samples(of: decoder.document), toThoseOf: name, in: "hmpg")
    }
  }

  @Test func binaryFilesAreDecodedLikeTheReference() throws {
    for name in try MPEGFixtures.corpus("hmpg", ".hmpg") {
      let file = SourceFile(try MPEGFixtures.bytes("hmpg", name), name: "x")
      #expect(try FormatRegistry.standard.format(of: file).id == "hmpg", "\(name)")
      var decoder = HMPGDecoder(file.bytes)
      decoder.decode()
      #expect(decoder.log.findings { _, _ in FileLocation(name: "") }.isEmpty, "\(name)")
      let decodedName = name.replacing(".hmpg", with: ".rm-decoded.hjif")
      var reader = HJIFReader(wantsFindings: true)
      let text = reader.decodeDocument(
        from: try JSONDocument(text: MPEGFixtures.bytes("hmpg", decodedName), name: decodedName))
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
