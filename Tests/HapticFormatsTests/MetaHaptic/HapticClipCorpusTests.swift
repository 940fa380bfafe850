import Diagnostics
import Foundation
import HapticModel
import JSONText
import Testing

@testable import HapticFormats

/// The makers' own files against what the makers' own programs make of them.
@Suite struct HapticClipCorpusTests {
  private static let folders = ["haptic", "haptic-conformance"]
  private static let invalid: [String: RuleID] = [
    "invalid_empty_amplitude_envelope": "haptic/too-few-points",
    "validation_v1_emphasis_amplitude_range": "haptic/emphasis-range", "invalid_fields_v1": "haptic/structure",
    "validation_v1_sequence": "haptic/time-order",
  ]

  private func refusal(of file: SourceFile) -> RuleID? { Self.invalid.first { file.name.contains($0.key) }?.value }

  @Test func everyFileIsReadOrRefusedAsByItsMakers() throws {
    for folder in Self.folders {
      for file in try FormatsCorpus.files(folder, ending: "haptic") {
        let name = file.name.contains("invalid_fields") ? file.name : "x"
        let examination = FormatRegistry.standard.examine(SourceFile(file.bytes, name: name))
        let error = examination.findings.first { $0.severity == .error }
        #expect(error?.rule == refusal(of: file), "\(file.name)")
        if let error {
          guard case .text(let line, let column) = error.place.position else {
            Issue.record("\(file.name): no place")
            continue
          }
          #expect(line >= 1 && column >= 1, "\(file.name)")
        }
      }
    }
  }

  @Test func metasConversionIsReproduced() throws {
    var count = 0
    for folder in Self.folders {
      for file in try FormatsCorpus.files(folder, ending: "haptic") where refusal(of: file) == nil {
        let stem = file.name.dropLast(".haptic".count)
        guard let wanted = FormatsCorpus.neighbour("\(folder)/\(stem).expected.ahap") else { continue }
        let composition = try HapticClipFormat().examine(file, options: ReadingOptions()).get()
        let writing = try #require(try AHAPFormat().write(composition, options: WritingOptions(dialect: "meta")))
        #expect(writing.files.count == 1)
        let mine = try JSONDocument(text: writing.files[0].bytes, name: "mine")
        let theirs = try JSONDocument(text: wanted, name: "theirs")
        #expect(difference(mine.root, theirs.root) == nil, "\(file.name)")
        count += 1
      }
    }
    #expect(FormatsCorpus.folder == nil || count >= 32)
  }

  /// The path of the first value in which two documents differ by more than the SDK's precision.
  private func difference(_ one: JSONValue, _ other: JSONValue) -> String? {
    guard one.kind == other.kind else { return one.path }
    if let left = one.number, let right = other.number {
      return abs(left - right) <= 2e-6 * max(1, abs(right)) ? nil : "\(one.path): \(left), \(right)"
    }
    if one.kind == .string { return one.string == other.string ? nil : one.path }
    if one.kind == .array {
      let (left, right) = (Array(one.elements), Array(other.elements))
      guard left.count == right.count else { return "\(one.path): count" }
      return zip(left, right).lazy.compactMap { difference($0, $1) }.first
    }
    let (left, right) = (Array(one.members), Array(other.members))
    guard left.count == right.count else { return "\(one.path): keys" }
    for member in left {
      guard let same = other[member.key ?? ""] else { return member.path }
      if let path = difference(member, same) { return path }
    }
    return nil
  }

  private func clip(_ file: SourceFile) throws -> HapticClip {
    var decoder = HapticClipDecoder(try JSONDocument(text: file.bytes, name: file.name))
    decoder.decode()
    #expect(decoder.log.errorCount == 0, "\(file.name)")
    return decoder.clip
  }

  @Test func everyNumberSurvivesWritingTheComposition() throws {
    for folder in Self.folders {
      for file in try FormatsCorpus.files(folder, ending: "haptic") where refusal(of: file) == nil {
        for law in AmplitudeLaw.allCases {
          let examination = HapticClipFormat().examine(file, options: ReadingOptions(amplitude: law))
          let writing = try #require(
            try HapticClipFormat().write(examination.get(), options: WritingOptions(amplitude: law)))
          #expect(writing.losses == [], "\(file.name)")
          var given = try clip(file)
          var back = try clip(SourceFile(writing.files[0].bytes, name: file.name))
          // The intensity of a transient is a Float, in which squares are not kept exactly.
          for index in given.amplitude.indices {
            guard let emphasis = given.amplitude[index].emphasis else { continue }
            let level = back.amplitude[index].emphasis?.amplitude ?? -1
            #expect(abs(level - emphasis.amplitude) <= 2 * emphasis.amplitude.ulp, "\(file.name)")
            given.amplitude[index].emphasis?.amplitude = 1
            back.amplitude[index].emphasis?.amplitude = 1
          }
          #expect(given == back, "\(file.name)")
        }
      }
    }
  }

  @Test func formattingKeepsEveryNumberAndIsStable() throws {
    for folder in Self.folders {
      for file in try FormatsCorpus.files(folder, ending: "haptic") where refusal(of: file) == nil {
        let once = try #require(try HapticClipFormat().canonical(file))
        let again = SourceFile(once, name: file.name)
        #expect(try HapticClipFormat().canonical(again) == once, "\(file.name)")
        #expect(try clip(again) == clip(file), "\(file.name)")
      }
    }
  }
}
