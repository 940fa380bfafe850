import CoreHaptics
import Foundation
import Testing

@testable import CoreHapticsTesting

/// Snapshots in a temporary folder.
@Suite struct SnapshotTests {
  private let playedHaptics: PlayedHaptics = [
    .transient(at: 0, intensity: 0.7, sharpness: 0.5),
    .continuous(at: 0.5, for: 1, intensity: 0.32, sharpness: 0.25),
  ]

  private func inFolder(_ body: (String) throws -> Void) throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try body(folder.appending(path: "PaceTests.swift").path)
  }

  private func failure(
    _ played: PlayedHaptics, _ path: String, _ environment: [String: String] = [:]
  ) -> String? {
    HapticSnapshot.failure(
      of: played, named: "warmUp(_:)", within: .imperceptible, filePath: path,
      environment: environment)
  }

  @Test func snapshotIsWrittenOnceAndThenCompared() throws {
    try inFolder { path in
      let file = URL(filePath: path).deletingLastPathComponent().appending(
        path: "__Haptics__/PaceTests/warmUp.ahap"
      )
      .path
      #expect(
        failure(playedHaptics, path)
          == "Snapshot created at \(file). Run the test again to compare.")
      #expect(failure(playedHaptics, path) == nil)
      #expect(
        failure([.transient(at: 0.02, intensity: 0.4, sharpness: 0.5)], path) == """
          Played haptics differ from \(file):
            The transient at 0.000 s is 20 ms late.
            The transient at 0.000 s has intensity 0.400 instead of 0.700.
            The continuous event at 0.500 s is missing.
          """)
      let text = try String(contentsOfFile: file, encoding: .utf8)
      #expect(text.contains("0.32") && !text.contains("0.3200"))
    }
  }

  @Test func noSnapshotIsWrittenInCI() throws {
    try inFolder { path in
      let missingSnapshotMessage = failure(playedHaptics, path, ["CI": "true"])
      #expect(
        missingSnapshotMessage?.hasSuffix("warmUp.ahap. To create it, set TEMBLOR_RECORD=missing.")
          == true)
      #expect(missingSnapshotMessage == failure(playedHaptics, path, ["TEMBLOR_RECORD": "never"]))
      #expect(
        failure(playedHaptics, path, ["CI": "true", "TEMBLOR_RECORD": "missing"])
          != missingSnapshotMessage)
      #expect(failure(playedHaptics, path, ["CI": "true"]) == nil)
      #expect(
        failure([], path, ["TEMBLOR_RECORD": "all"])?.hasPrefix("Snapshot created at") == true)
      #expect(failure([], path) == nil)
      #expect(
        failure([], path, ["TEMBLOR_RECORD": "yes"])?.contains("expected all, missing, or never")
          == true)
    }
  }

  @Test func invalidSnapshotIsReportedWithItsLocation() throws {
    try inFolder { path in
      _ = failure(playedHaptics, path)
      let file = URL(filePath: path).deletingLastPathComponent().appending(
        path: "__Haptics__/PaceTests/warmUp.ahap")
      try Data("{\n".utf8).write(to: file)
      #expect(failure(playedHaptics, path)?.contains("warmUp.ahap:2:1: error:") == true)
    }
  }
}
