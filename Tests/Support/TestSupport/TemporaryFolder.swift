import Glibc
import Testing

/// A temporary folder for one test, which is removed with its contents when the value is released.
public final class TemporaryFolder: Sendable {
  /// The path of the folder.
  public let path: String

  /// Creates the folder.
  public init() throws {
    var template = Array("/tmp/temblor-XXXXXX".utf8CString)
    let createdPath = unsafe try #require(mkdtemp(&template))
    path = unsafe String(cString: createdPath)
  }

  deinit { remove(path) }

  /// Returns the path of a file in the folder.
  public func callAsFunction(_ name: String) -> String { path + "/" + name }

  /// Returns the bytes of a file, or nil if it cannot be opened.
  public func bytes(_ name: String) -> [UInt8]? {
    let descriptor = unsafe open(self(name), O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var contents: [UInt8] = []
    var block = [UInt8](repeating: 0, count: 1 << 18)
    while true {
      let count = unsafe read(descriptor, &block, block.count)
      if count <= 0 { return contents }
      contents += block.prefix(count)
    }
  }

  /// Writes a text to a file, and creates the subfolders of its path.
  public func write(_ text: String, to name: String) throws { close(try createFile(name, text)) }

  /// Writes bytes to a file, and creates the subfolders of its path.
  public func write(_ bytes: [UInt8], to name: String) throws {
    let descriptor = try createFile(name, "")
    defer { close(descriptor) }
    try #require(unsafe Glibc.write(descriptor, bytes, bytes.count) == bytes.count)
  }

  /// Writes a text to a file, and returns its open descriptor. Creates the subfolders of its path.
  public func createFile(_ name: String, _ text: String) throws -> Int32 {
    try makeParentFolder(of: name)
    let descriptor = unsafe open(self(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    try #require(descriptor >= 0)
    try append(text, to: descriptor)
    return descriptor
  }

  /// Appends a text to an open file.
  public func append(_ text: String, to descriptor: Int32) throws {
    let bytes = Array(text.utf8)
    try #require(unsafe Glibc.write(descriptor, bytes, bytes.count) == bytes.count)
  }

  /// Renames a file.
  public func rename(_ name: String, to newName: String) throws {
    try #require(unsafe Glibc.rename(self(name), self(newName)) == 0)
  }

  /// Creates a symbolic link.
  public func link(_ name: String, to target: String) throws {
    try #require(unsafe symlink(target, self(name)) == 0)
  }

  /// Creates a subfolder and its parent folders, if they do not exist.
  public func makeFolder(_ name: String) throws {
    try makeParentFolder(of: name)
    let exists = unsafe mkdir(self(name), 0o755) == 0 || errno == EEXIST
    try #require(exists)
  }

  private func makeParentFolder(of name: String) throws {
    guard let slash = name.lastIndex(of: "/"), slash > name.startIndex else { return }
    try makeFolder(String(name[..<slash]))
  }

  /// Removes a file, or a folder with its contents, by its name or its absolute path.
  public func remove(_ path: String) {
    let absolutePath = path.hasPrefix("/") ? path : self(path)
    if unsafe unlink(absolutePath) == 0 { return }
    guard let handle = unsafe opendir(absolutePath) else { return }
    while let entry = unsafe readdir(handle) {
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) {
        unsafe $0.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
      }
      if name != "." && name != ".." {
        remove(absolutePath + "/" + name)
      }
    }
    unsafe closedir(handle)
    _ = unsafe rmdir(absolutePath)
  }
}
