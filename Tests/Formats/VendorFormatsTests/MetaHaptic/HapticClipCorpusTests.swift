import Reading
import Foundation
import HapticModel
import TestSupport
import Testing

@testable import HapticFormats
@testable import VendorFormats

/// The makers' own files against what the makers' own programs make of them.
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

  @Test func aTapAloneReturnsAlone() throws {
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
    let place = examination.sourceMap.location(of: .event(EventReference(eventIndex: 0)))
    #expect(place.path.hasSuffix(".emphasis"))
  }

  @Test func everyFileIsReadOrRefusedAsByItsMakers() throws {
    for folder in Self.folders {
      for file in try FormatsCorpus.files(folder, ending: "haptic") {
        let name = file.name.contains("invalid_fields") ? file.name : "x"
        let examination = FormatRegistry.standard.examine(SourceFile(file.bytes, name: name))
        let error = examination.findings.first { $0.severity == .error }
        #expect(error?.rule == errorRule(of: file), "\(file.name)")
        if let error {
          guard case .text(let line, let column) = error.location.position else {
            Issue.record("\(file.name): no place")
            continue
          }
          #expect(line >= 1 && column >= 1, "\(file.name)")
        }
      }
    }
  }

  private func clip(_ file: SourceFile) throws -> HapticClip {
    var decoder = HapticClipDecoder()
    var read = HapticClipFile()
    HapticClipDecoder.fileSchema.read(
      try JSONDocument(text: file.bytes, name: file.name).root, into: &read, reader: &decoder)
    #expect(decoder.findingLog.errorCount == 0, "\(file.name)")
    return read.clip
  }

  @Test func everyNumberSurvivesWritingTheComposition() throws {
    for folder in Self.folders {
      for file in try FormatsCorpus.files(folder, ending: "haptic") where errorRule(of: file) == nil
      {
        for law in AmplitudeMapping.allCases {
          let examination = HapticFormat.hapticClip.examine(
            file, options: ReadingOptions(amplitudeMapping: law))
          let writing = try #require(
            try HapticFormat.hapticClip.write(
              examination.get(), options: WritingOptions(amplitudeMapping: law)))
          #expect(writing.losses == [], "\(file.name)")
          var given = try clip(file)
          var back = try clip(SourceFile(writing.files[0].bytes, name: file.name))
          // The intensity of a transient is a Float, in which squares are not kept exactly.
          for index in given.amplitudePoints.indices {
            guard let emphasis = given.amplitudePoints[index].emphasis else { continue }
            let level = back.amplitudePoints[index].emphasis?.amplitude ?? -1
            #expect(abs(level - emphasis.amplitude) <= 2 * emphasis.amplitude.ulp, "\(file.name)")
            given.amplitudePoints[index].emphasis?.amplitude = 1
            back.amplitudePoints[index].emphasis?.amplitude = 1
          }
          #expect(given == back, "\(file.name)")
        }
      }
    }
  }

  @Test func formattingKeepsEveryNumberAndIsStable() throws {
    for folder in Self.folders {
      for file in try FormatsCorpus.files(folder, ending: "haptic") where errorRule(of: file) == nil
      {
        let once = try #require(try HapticFormat.hapticClip.canonicalText(of: file))
        let again = SourceFile(once, name: file.name)
        #expect(try HapticFormat.hapticClip.canonicalText(of: again) == once, "\(file.name)")
        #expect(try clip(again) == clip(file), "\(file.name)")
      }
    }
  }
}
