internal import Foundation
public import HapticFormats

/// The files of other formats in the folder that the environment variable `TEMBLOR_TEST_FORMATS`
/// names, with one folder for each format.
public enum FormatsCorpus {
  /// The folder, or nil if there is no corpus.
  public static let folder = ProcessInfo.processInfo.environment["TEMBLOR_TEST_FORMATS"]

  /// Returns the files of a folder with an ending, by name; empty if there is no corpus.
  public static func files(_ name: String, ending: String) throws -> [SourceFile] {
    guard let folder else { return [] }
    let names = try FileManager.default.contentsOfDirectory(atPath: "\(folder)/\(name)").sorted()
    return try names.filter { $0.hasSuffix("." + ending) }.map { try file("\(name)/\($0)") }
  }

  /// Returns a file by its path in the corpus.
  public static func file(_ path: String) throws -> SourceFile {
    let data = try Data(contentsOf: URL(filePath: "\(folder ?? "")/\(path)"))
    return SourceFile(Array(data), name: String(path.split(separator: "/").last ?? ""))
  }
}
