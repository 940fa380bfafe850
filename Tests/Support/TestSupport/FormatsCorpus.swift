internal import Foundation
public import HapticFormats
import Testing

/// The files of other formats in the folder that the environment variable `TEMBLOR_TEST_FORMATS`
/// names, with one folder for each format.
public enum FormatsCorpus {
  /// The folder, or nil if there is no corpus.
  public static let folder = ProcessInfo.processInfo.environment["TEMBLOR_TEST_FORMATS"]

  /// Returns the sorted names of a format's files with a suffix; empty if there is no corpus.
  ///
  /// Fails if a corpus contains no such file.
  public static func names(in formatFolder: String, suffix: String) throws -> [String] {
    guard let folder else { return [] }
    let allNames = try FileManager.default.contentsOfDirectory(atPath: "\(folder)/\(formatFolder)")
    let names = allNames.filter { $0.hasSuffix(suffix) }.sorted()
    try #require(!names.isEmpty, "no \(suffix) in \(formatFolder)")
    return names
  }

  /// Returns the files of formats with a suffix, by name; empty if there is no corpus.
  ///
  /// Fails if a corpus contains no such file in one of the folders.
  public static func files(
    in formatFolders: String..., suffix: String
  ) throws -> [SourceFile] {
    try formatFolders.flatMap { formatFolder in
      try names(in: formatFolder, suffix: suffix).map { try file("\(formatFolder)/\($0)") }
    }
  }

  /// Returns the path of a file in the file system, by its path in the corpus.
  public static func path(of file: String) -> String { "\(folder ?? "")/\(file)" }

  /// Returns a file by its path in the corpus.
  public static func file(_ path: String) throws -> SourceFile {
    let data = try Data(contentsOf: URL(filePath: Self.path(of: path)))
    return SourceFile(Array(data), name: String(path.split(separator: "/").last ?? ""))
  }
}
