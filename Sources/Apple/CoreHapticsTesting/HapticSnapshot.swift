internal import CoreHaptics
public import Foundation

/// A snapshot of the haptics that a test played, stored as AHAP next to the test and compared with
/// later runs.
///
/// The file is `__Haptics__/TESTFILE/NAME.ahap` in the folder of the test. The environment variable
/// `TEMBLOR_RECORD` determines whether it is written: `all` writes every snapshot, `missing` writes
/// missing snapshots (the default), and `never` writes none (the default if `CI` is set).
public enum HapticSnapshot {
  private static let maximumListedDifferenceCount = 12

  /// Compares haptics with a snapshot, or writes the snapshot. Returns the reason for a failed
  /// comparison, or nil.
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
    within tolerance: HapticTolerance = .perceptible,
    filePath path: String = #filePath,
    environment: [String: String] = ProcessInfo.processInfo.environment
  ) -> String? {
    let test = URL(filePath: path)
    let folder = test.deletingLastPathComponent().appending(path: "__Haptics__").appending(
      path: test.deletingPathExtension().lastPathComponent)
    let file = folder.appending(path: fileName(forSnapshot: name) + ".ahap")
    let exists = FileManager.default.fileExists(atPath: file.path)
    let mode = environment["TEMBLOR_RECORD"] ?? (environment["CI"] == nil ? "missing" : "never")
    guard ["all", "missing", "never"].contains(mode) else {
      return
        """
        Cannot use snapshot \(file.path): TEMBLOR_RECORD is '\(mode)'; expected all, missing, or \
        never
        """
    }
    do {
      if mode == "all" || mode == "missing" && !exists {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try played.ahap().write(to: file, options: .atomic)
        return "Snapshot created at \(file.path). Run the test again to compare."
      }
      guard exists else {
        return "No snapshot at \(file.path). To create it, set TEMBLOR_RECORD=missing."
      }
      let differences = played.differences(
        from: try PlayedHaptics(contentsOf: file), within: tolerance)
      if differences.isEmpty { return nil }
      return
        (["Played haptics differ from \(file.path):"]
        + differences.prefix(maximumListedDifferenceCount)
        + (differences.count > maximumListedDifferenceCount
          ? ["… and \(differences.count - maximumListedDifferenceCount) more."] : []))
        .joined(
          separator: "\n  ")
    } catch let error as CHHapticError {
      return "The snapshot cannot be read: \(error.localizedDescription)"
    } catch {
      return "Cannot read or write snapshot \(file.path): \(error)"
    }
  }

  private static func fileName(forSnapshot name: String) -> String {
    String(
      name.prefix { $0 != "(" }.map { $0.isLetter || $0.isNumber || "-_. ".contains($0) ? $0 : "-" }
    )
  }
}
