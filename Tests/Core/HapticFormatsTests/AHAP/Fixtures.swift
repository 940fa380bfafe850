import HapticFormats
import VendorFormats
import HapticModel
import Reading
import Foundation
import PatternRules
import Testing

/// The files of the Fixtures folder.
enum Fixtures {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent().appending(
    path: "../Fixtures/")

  static func text(_ path: String) throws -> [UInt8] {
    Array(try Data(contentsOf: root.appending(path: path)))
  }

  /// Returns the names of the files in a folder.
  static func names(in folder: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: root.appending(path: folder).path())
      .sorted()
  }
}

/// Files that are named for the behavior they prove: in `Lossy`, for the rule they violate.
@Suite struct FixtureTests {
  @Test func validFilesHaveNoFindings() throws {
    let names = try Fixtures.names(in: "Valid")
    #expect(!names.isEmpty)
    for name in names {
      let document = try AHAPDocument(text: Fixtures.text("Valid/" + name), name: name)
      let result = document.examine()
      #expect(result.pattern != nil, "\(name)")
      #expect(result.allFindings.filter { $0.severity != .note } == [], "\(name)")
    }
  }

  @Test func readsLossyFilesAndReportsTheRuleInTheirName() throws {
    let names = try Fixtures.names(in: "Lossy")
    #expect(!names.isEmpty)
    for name in names {
      let document = try AHAPDocument(text: Fixtures.text("Lossy/" + name), name: name)
      let result = document.examine()
      #expect(result.pattern != nil, "\(name)")
      let rules = Set(result.allFindings.map(\.rule.text))
      #expect(rules.contains { name.hasPrefix($0) }, "\(name)")
    }
  }
}

extension ReadResult {
  /// Returns the findings of the text and of its composition, with the suppressions applied.
  var allFindings: [Finding] {
    let compositionFindings =
      composition.map { PatternRules.findings(in: $0, location: sourceMap.location(of:)) } ?? []
    return findings(
      adding: compositionFindings,
      rules: FormatRegistry.standard.rules + PatternRules.compositionRules)
  }

  /// The only layer, or nil for a file with errors.
  var pattern: HapticPattern? { composition?.layers[0].pattern }
}

extension AHAPContent {
  func eventCount(of kind: HapticEvent.Kind) -> Int { pattern.events.count { $0.kind == kind } }
}
