import Reading
import HapticModel
import TestSupport
import Testing

@testable import HapticFormats
@testable import VendorFormats

/// The files of the vendors, compared with the results of the vendors' programs.
@Suite struct HapticClipCorpusTests {
  private static let folders = ["haptic", "haptic-conformance"]
  private static let invalid: [String: RuleID] = [
    "invalid_empty_amplitude_envelope": "haptic/too-few-points",
    "validation_v1_emphasis_amplitude_range": "haptic/emphasis-range",
    "invalid_fields_v1": "haptic/structure",
    "validation_v1_sequence": "haptic/time-order",
  ]

  private func errorRule(of file: SourceFile) -> RuleID? {
    Self.invalid.first { file.name.contains($0.key) }?.value
  }

  @Test func singleTapIsPreserved() throws {
    let pattern = HapticPattern(events: [
      HapticEvent(
        kind: .hapticTransient, time: 0.25,
        parameters: [.hapticIntensity: 0.6, .hapticSharpness: 0.5])
    ])
    let writing = try #require(try HapticFormat.hapticClip.write(HapticComposition(pattern)))
    let examination = HapticFormat.hapticClip.examine(
      SourceFile(writing.files[0].bytes, name: "t"), options: ReadingOptions())
    let layers = try examination.get().layers
    #expect(
      layers.count == 1 && layers[0].pattern.curves.isEmpty
        && layers[0].pattern.events.map(\.time) == [0.25])
    #expect(abs((layers[0].pattern.events.first?.value(of: .hapticIntensity) ?? 0) - 0.6) < 1e-6)
    let location = examination.sourceMap.location(of: .event(EventReference(eventIndex: 0)))
    #expect(location.path.hasSuffix(".emphasis"))
  }

  @Test func filesAreReadOrRefusedAsByTheirVendors() throws {
    for folder in Self.folders {
      for file in try FormatsCorpus.files(in: folder, suffix: ".haptic") {
        let name = file.name.contains("invalid_fields") ? file.name : "x"
        let examination = FormatRegistry.standard.examine(SourceFile(file.bytes, name: name))
        let error = examination.findings.first { $0.severity == .error }
        #expect(error?.rule == errorRule(of: file), "\(file.name)")
        if let error {
          guard case .text(let line, let column) = error.location.position else {
            Issue.record("\(file.name): no location")
            continue
          }
          #expect(line >= 1 && column >= 1, "\(file.name)")
        }
      }
    }
  }

  private func clip(_ file: SourceFile) throws -> HapticClip {
    var decoder = HapticClipDecoder()
    var clipFile = HapticClipFile()
    HapticClipDecoder.fileSchema.read(
      try JSONDocument(text: file.bytes, name: file.name).root, into: &clipFile, reader: &decoder)
    #expect(decoder.findingLog.errorCount == 0, "\(file.name)")
    return clipFile.clip
  }

  @Test func everyNumberSurvivesWritingTheComposition() throws {
    for folder in Self.folders {
      for file in try FormatsCorpus.files(in: folder, suffix: ".haptic")
      where errorRule(of: file) == nil {
        for mapping in AmplitudeMapping.allCases {
          let examination = HapticFormat.hapticClip.examine(
            file, options: ReadingOptions(amplitudeMapping: mapping))
          let writing = try #require(
            try HapticFormat.hapticClip.write(
              examination.get(), options: WritingOptions(amplitudeMapping: mapping)))
          #expect(writing.losses == [], "\(file.name)")
          var original = try clip(file)
          var reread = try clip(SourceFile(writing.files[0].bytes, name: file.name))
          // The intensity of a transient is a Float, in which squares are not kept exactly.
          for index in original.amplitudePoints.indices {
            guard let emphasis = original.amplitudePoints[index].emphasis else { continue }
            let level = reread.amplitudePoints[index].emphasis?.amplitude ?? -1
            #expect(abs(level - emphasis.amplitude) <= 2 * emphasis.amplitude.ulp, "\(file.name)")
            original.amplitudePoints[index].emphasis?.amplitude = 1
            reread.amplitudePoints[index].emphasis?.amplitude = 1
          }
          #expect(original == reread, "\(file.name)")
        }
      }
    }
  }

  @Test func formattingKeepsEveryNumberAndIsStable() throws {
    for folder in Self.folders {
      for file in try FormatsCorpus.files(in: folder, suffix: ".haptic")
      where errorRule(of: file) == nil {
        let canonicalText = try #require(try HapticFormat.hapticClip.canonicalText(of: file))
        let canonicalFile = SourceFile(canonicalText, name: file.name)
        #expect(
          try HapticFormat.hapticClip.canonicalText(of: canonicalFile) == canonicalText,
          "\(file.name)")
        #expect(try clip(canonicalFile) == clip(file), "\(file.name)")
      }
    }
  }
}
