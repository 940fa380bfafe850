internal import CoreHaptics
public import Foundation

/// What a test played, kept as AHAP beside the test, and compared with what it plays now.
///
/// The file is `__Haptics__/TESTFILE/NAME.ahap` in the folder of the test. The environment decides whether it is written:
/// `TEMBLOR_RECORD=all` writes always, `missing` where there is none (the default on a desk), `never` not at all (the
/// default where `CI` is set).
public enum HapticSnapshot {
  private static let listed = 12

  /// Compares what was played with its snapshot, or writes it; the name is that of the file without extension.
  ///
  /// A snapshot that was just written is a failure too, once: nothing was compared.
  ///
  /// - Returns: Why the test fails, in a sentence for each difference, or nil where it does not.
  public static func failure(
    of played: PlayedHaptics, named name: String = #function, within tolerance: HapticTolerance = .perceptible,
    filePath path: String = #filePath, environment: [String: String] = ProcessInfo.processInfo.environment
  ) -> String? {
    let test = URL(filePath: path)
    let folder = test.deletingLastPathComponent().appending(path: "__Haptics__").appending(
      path: test.deletingPathExtension().lastPathComponent)
    let file = folder.appending(path: fileName(name) + ".ahap")
    let exists = FileManager.default.fileExists(atPath: file.path)
    let mode = environment["TEMBLOR_RECORD"] ?? (environment["CI"] == nil ? "missing" : "never")
    guard ["all", "missing", "never"].contains(mode) else {
      return
        "The snapshot \(file.path) cannot be written or read: TEMBLOR_RECORD is '\(mode)'; it must be all, missing "
        + "or never"
    }
    do {
      if mode == "all" || mode == "missing" && !exists {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try played.ahap().write(to: file, options: .atomic)
        return "A snapshot was written to \(file.path); run again to compare with it."
      }
      guard exists else { return "There is no snapshot \(file.path); run with TEMBLOR_RECORD=missing to write it." }
      let differences = played.differences(from: try PlayedHaptics(contentsOf: file), within: tolerance)
      if differences.isEmpty { return nil }
      return
        (["What was played differs from \(file.path):"] + differences.prefix(listed)
        + (differences.count > listed ? ["… and \(differences.count - listed) more."] : [])).joined(separator: "\n  ")
    } catch let error as CHHapticError { return "The snapshot cannot be read: \(error.localizedDescription)" } catch {
      return "The snapshot \(file.path) cannot be written or read: \(error)"
    }
  }

  private static func fileName(_ name: String) -> String {
    String(name.prefix { $0 != "(" }.map { $0.isLetter || $0.isNumber || "-_. ".contains($0) ? $0 : "-" })
  }
}
