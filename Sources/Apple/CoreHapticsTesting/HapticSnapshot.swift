internal import CoreHaptics
public import Foundation

/// A snapshot of the haptics that a test played, for comparison with later runs.
///
/// The snapshot is stored as AHAP next to the test.
///
/// The file is `__Haptics__/TESTFILE/NAME.ahap` in the folder of the test. The environment variable
/// `TEMBLOR_RECORD` determines whether it is written: `all` writes every snapshot, `missing` writes
/// missing snapshots (the default), and `never` writes none (the default if `CI` is set).
public enum HapticSnapshot {
  private static let maximumListedDifferenceCount = 12

  /// Compares haptics with a snapshot, or writes the snapshot.
  ///
  /// Returns the reason for a failed comparison, or nil.
  ///
  /// A snapshot that was just written is also reported once as a failure, because nothing was
  /// compared.
  ///
  /// - Parameters:
  ///   - played: The haptics of the test.
  ///   - name: The name of the file without extension.
  ///   - tolerance: The maximum differences.
  ///   - path: The path of the test file.
  ///   - environment: The environment variables.
  /// - Returns: The reason for a failure, with one sentence for each difference, or nil.
  public static func failure(
    of played: PlayedHaptics, named name: String = #function,
    within tolerance: HapticTolerance = .imperceptible,
    filePath path: String = #filePath,
    environment: [String: String] = ProcessInfo.processInfo.environment
  ) -> String? {
    let testFile = URL(filePath: path)
    let snapshotFolder = testFile.deletingLastPathComponent().appending(path: "__Haptics__")
      .appending(path: testFile.deletingPathExtension().lastPathComponent)
    let snapshotFile = snapshotFolder.appending(path: fileName(forSnapshot: name) + ".ahap")
    let snapshotExists = FileManager.default.fileExists(atPath: snapshotFile.path)
    let recordingMode =
      environment["TEMBLOR_RECORD"] ?? (environment["CI"] == nil ? "missing" : "never")
    guard ["all", "missing", "never"].contains(recordingMode) else {
      return
        """
        Cannot use snapshot \(snapshotFile.path): TEMBLOR_RECORD is '\(recordingMode)'; \
        expected all, missing, or never
        """
    }
    do {
      if recordingMode == "all" || recordingMode == "missing" && !snapshotExists {
        try FileManager.default.createDirectory(
          at: snapshotFolder, withIntermediateDirectories: true)
        try played.ahap().write(to: snapshotFile, options: .atomic)
        return "Snapshot created at \(snapshotFile.path). Run the test again to compare."
      }
      guard snapshotExists else {
        return "No snapshot at \(snapshotFile.path). To create it, set TEMBLOR_RECORD=missing."
      }
      let differences = played.differences(
        from: try PlayedHaptics(contentsOf: snapshotFile), within: tolerance)
      if differences.isEmpty { return nil }
      return
        (["Played haptics differ from \(snapshotFile.path):"]
        + differences.prefix(maximumListedDifferenceCount)
        + (differences.count > maximumListedDifferenceCount
          ? ["… and \(differences.count - maximumListedDifferenceCount) more."] : []))
        .joined(
          separator: "\n  ")
    } catch let error as CHHapticError {
      return "The snapshot cannot be read: \(error.localizedDescription)"
    } catch {
      return "Cannot read or write snapshot \(snapshotFile.path): \(error)"
    }
  }

  private static func fileName(forSnapshot name: String) -> String {
    String(
      name.prefix { $0 != "(" }.map { $0.isLetter || $0.isNumber || "-_. ".contains($0) ? $0 : "-" }
    )
  }
}
