internal import Glibc

/// An output path that comes from the content of an input file, relative to a folder that the user
/// selects.
///
/// The input may come from anyone. Therefore, the path stays below the folder, none of its
/// components begins with a dot, no link below the folder is followed, and no existing file is
/// replaced. The component `.` is omitted. The folder itself is the user's choice, and may be a
/// link.
package struct ReceivedPath: Equatable, Sendable {
  /// The state of a path before a file is written to it.
  package enum FileState {
    /// Nothing exists at the path, so that a file can be created.
    case free
    /// A regular file exists at the path.
    case occupied
  }

  /// The path component that names the folder itself.
  private static let currentFolder = "."

  private let outputFolder: String
  private let pathComponents: [String]

  /// The whole path, without repeated slashes and the component `.`.
  package var path: String { Self.joinPath(outputFolder, pathComponents[...]) }

  /// Creates a path from a name in an input file, and validates the name.
  ///
  /// - Parameters:
  ///   - name: A path relative to the folder.
  ///   - folder: The output folder; empty for the current one.
  /// - Throws: A `FileError` that names the rule that the name breaks.
  package init(_ name: String, in folder: String) throws(FileError) {
    guard !name.hasPrefix("/") else {
      throw FileError(name, "is an absolute path; the file is not written")
    }
    let allComponents = name.split(separator: "/").map(String.init)
    let pathComponents = allComponents.filter { $0 != Self.currentFolder }
    guard let lastComponent = allComponents.last, lastComponent != Self.currentFolder,
      !name.hasSuffix("/"), !name.utf8.contains(0)
    else {
      throw FileError(name, "is not a valid file name; the file is not written")
    }
    guard !pathComponents.contains(where: { $0.hasPrefix(".") }) else {
      throw FileError(name, "has a component that starts with a dot; the file is not written")
    }
    self.outputFolder = folder
    self.pathComponents = pathComponents
  }

  /// Checks that the path contains no link, and no file in place of a folder, and returns whether a
  /// file exists at the path.
  ///
  /// - Throws: A `FileError` that names the obstacle.
  package func checkState() throws(FileError) -> FileState {
    try Self.checkLinks(to: pathComponents.joined(separator: "/"), below: outputFolder)
    for index in pathComponents.indices {
      let part = Self.joinPath(outputFolder, pathComponents[...index])
      let isLast = index == pathComponents.count - 1
      switch FileSystem.entryKind(at: part) {
      case .missing:
        return .free
      case .folder where isLast:
        throw FileError(part, "is a folder; choose a different output folder")
      case .folder:
        continue
      case .file where isLast:
        return .occupied
      case .file, .other:
        throw FileError(part, "exists and is not a folder; choose a different output folder")
      }
    }
    return .free
  }

  /// Throws an error if any component of a path below the output folder is a link.
  ///
  /// - Parameters:
  ///   - name: A path relative to the folder.
  ///   - folder: The output folder; empty for the current one.
  /// - Throws: A `FileError` that names the first link.
  package static func checkLinks(to name: String, below folder: String) throws(FileError) {
    let pathComponents = name.split(separator: "/").map(String.init)
    for index in pathComponents.indices {
      let part = joinPath(folder, pathComponents[...index])
      guard FileSystem.isSymbolicLink(part) else { continue }
      throw FileError(
        part,
        """
        is a link, and links are not followed for names from an input; choose a different output \
        folder
        """)
    }
  }

  /// Creates the file and its missing folders.
  ///
  /// - Throws: A `FileError` if a file now exists at the path. That file is not changed.
  package func createFile(_ bytes: [UInt8]) throws(FileError) {
    guard try checkState() == .free else {
      throw FileError(path, "already exists; choose a different output folder")
    }
    try FileSystem.makeFolder(FileSystem.folderPath(of: path))
    var fileWriter = try AtomicFileWriter(path)
    try fileWriter.write(bytes)
    try fileWriter.commit(replaces: false)
  }

  private static func joinPath(_ folder: String, _ components: ArraySlice<String>) -> String {
    FileSystem.joinPath(folder, components.joined(separator: "/"))
  }
}
