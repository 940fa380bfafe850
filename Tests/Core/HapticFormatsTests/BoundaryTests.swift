import Foundation
import Testing

/// Only the folders of formats may name a format.
@Suite struct BoundaryTests {
  /// The recordings of haptic tests are AHAP. Benchmarks measure the AHAP reader.
  private static let allowed = [
    "Apple/CoreHapticsTesting/HapticSnapshot.swift",
    "Apple/CoreHapticsTesting/PlayedHaptics.swift",
    "Devices/ShippedFiles/",
    // The text of a document is AHAP, whichever format was opened.
    "Program/StudioCore/",
    "Program/temblor-bench/",
  ]

  @Test func onlyTheAHAPFolderMentionsAHAP() throws {
    let sources = URL(filePath: #filePath).deletingLastPathComponent().appending(
      path: "../../../Sources"
    )
    .standardizedFileURL
    let files = try #require(
      FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil))
    var count = 0
    for case let file as URL in files where file.pathExtension == "swift" {
      let path = String(file.path().dropFirst(sources.path().count)).trimmingPrefix("/")
      guard !path.hasPrefix("Core/HapticFormats/"), !Self.allowed.contains(where: path.hasPrefix)
      else {
        continue
      }
      count += 1
      let text = try String(contentsOf: file, encoding: .utf8)
      #expect(text.firstMatch(of: /\bAHAP[A-Z]\w*/) == nil, "\(path) names a type of AHAP")
      #expect(text.firstMatch(of: /"\.?ahap"/) == nil, "\(path) names the ending of AHAP")
    }
    #expect(count > 200)
  }
}
