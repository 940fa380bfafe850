import Foundation
import HapticFormats
import HapticModel
import Reading
import Testing
import VendorFormats

/// The verdicts of the folders `Conformance/haptic` and `Conformance/android`.
@Suite struct ConformanceCaseTests {
  private struct Case: Decodable {
    let id: String
    let verdict: String
  }

  private static let root = URL(filePath: #filePath).deletingLastPathComponent().appending(
    path: "../../../Conformance/")

  @Test(arguments: [("haptic", "haptic", 80), ("android", "xml", 96)])
  func filesAreReadOrRefused(folder: String, fileExtension: String, count: Int) throws {
    let folderURL = Self.root.appending(path: folder)
    let text = try String(
      contentsOf: folderURL.appending(path: "cases.jsonl"), encoding: .utf8)
    let cases = try text.split(separator: "\n").map { line in
      try JSONDecoder().decode(Case.self, from: Data(line.utf8))
    }
    #expect(cases.count == count)
    var wrongIDs: [String] = []
    for conformanceCase in cases where conformanceCase.verdict != "either" {
      let name = "\(conformanceCase.id).\(fileExtension)"
      let bytes = Array(try Data(contentsOf: folderURL.appending(path: name)))
      let result = FormatRegistry.standard.examine(SourceFile(bytes, name: name))
      let hasError = result.findings.contains { $0.severity == .error }
      if (result.composition != nil && !hasError) != (conformanceCase.verdict == "accept") {
        wrongIDs.append(conformanceCase.id)
      }
    }
    #expect(wrongIDs == [])
  }
}
