import Foundation

/// The files of this checkout, as a reader finds them.
enum Checkout {
  /// The folder that holds `Package.swift`.
  static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()
    .deletingLastPathComponent()

  /// The pages at the root.
  static let pages = [
    "README.md", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "RELEASING.md",
    "SECURITY.md",
  ]

  /// The folders with documents.
  static let documentFolders = [
    "Conformance", "Documentation", "Examples", "Patterns", "Profiles", "Python", "Sources", "Web",
    ".github",
  ]

  /// Returns all documents: the pages at the root, the articles, and the other pages.
  static func documents() throws -> [File] {
    let root = try pages.map {
      File(path: $0, lines: try text($0).components(separatedBy: "\n"))
    }
    return root + (try files(in: documentFolders, endings: ["md"]))
  }

  /// A file by its path below the root.
  struct File {
    let path: String
    let lines: [String]
  }

  /// Returns the text of a file.
  static func text(_ path: String) throws -> String {
    try String(contentsOf: root.appending(path: path), encoding: .utf8)
  }

  /// Returns the files in the given folders that have one of the given endings, sorted by path.
  static func files(in folders: [String], endings: Set<String>) throws -> [File] {
    var files: [File] = []
    for folder in folders {
      for path in try FileManager.default.subpathsOfDirectory(atPath: root.path + "/" + folder)
      where endings.contains(URL(filePath: path).pathExtension)
        && !path.contains(/Fixtures|\.build\//)
      {
        let text = try text(folder + "/" + path)
        files.append(File(path: folder + "/" + path, lines: text.components(separatedBy: "\n")))
      }
    }
    return files.sorted { $0.path < $1.path }
  }
}
