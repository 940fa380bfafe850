import Foundation
import Testing

/// Formats stay behind their seam: code elsewhere names none of them.
@Suite struct BoundaryTests {
  /// Apple's contract: Core Haptics reads AHAP alone, and what a test of it played is kept as AHAP.
  /// Benchmarks measure its reader.
  private static let allowed = [
    "Apple/CoreHaptics/PatternContent.swift", "Apple/CoreHapticsTesting/PlayedHaptics.swift",
    "Devices/ShippedFiles/",
    // Its text is AHAP, whatever was opened.
    "Program/StudioCore/",
    "Program/temblor-bench/",
  ]

  @Test func onlyItsOwnFolderKnowsAHAP() throws {
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
