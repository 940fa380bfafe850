import Foundation
import HapticFormats
import VendorFormats

/// Files of other formats, where the environment names a folder of them: one folder a format.
enum FormatsCorpus {
  static let folder = ProcessInfo.processInfo.environment["TEMBLOR_TEST_FORMATS"]

  /// The files of a folder with an ending, by name; empty where there is no corpus.
  static func files(_ name: String, ending: String) throws -> [SourceFile] {
    guard let folder else { return [] }
    let names = try FileManager.default.contentsOfDirectory(atPath: "\(folder)/\(name)").sorted()
    return try names.filter { $0.hasSuffix("." + ending) }.map { try file("\(name)/\($0)") }
  }

  /// One file by its path below the folder; nil where there is none.
  static func file(_ path: String) throws -> SourceFile {
    let data = try Data(contentsOf: URL(filePath: "\(folder ?? "")/\(path)"))
    return SourceFile(Array(data), name: String(path.split(separator: "/").last ?? ""))
  }

  /// A file beside another, or nil.
  static func neighbour(_ path: String) -> [UInt8]? {
    (try? Data(contentsOf: URL(filePath: "\(folder ?? "")/\(path)"))).map(Array.init)
  }
}
