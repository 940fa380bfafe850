import Glibc
import Testing

/// A folder of its own for one test.
public final class TemporaryFolder: Sendable {
  /// The folder.
  public let path: String

  /// Makes the folder; it goes with this value.
  public init() throws {
    var template = Array("/tmp/temblor-XXXXXX".utf8CString)
    let made = unsafe try #require(mkdtemp(&template))
    path = unsafe String(cString: made)
  }

  deinit { remove(path) }

  /// The path of a name in the folder.
  public func callAsFunction(_ name: String) -> String { path + "/" + name }

  /// Writes a file and closes it.
  public func write(_ text: String, to name: String) throws { close(try createFile(name, text)) }

  /// Writes the bytes of a file and closes it.
  public func write(_ bytes: [UInt8], to name: String) throws {
    let descriptor = try createFile(name, "")
    defer { close(descriptor) }
    try #require(unsafe Glibc.write(descriptor, bytes, bytes.count) == bytes.count)
  }

  /// Writes a file and leaves it open.
  public func createFile(_ name: String, _ text: String) throws -> Int32 {
    let descriptor = unsafe open(self(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    try #require(descriptor >= 0)
    try append(text, to: descriptor)
    return descriptor
  }

  /// Writes on in a file that was left open.
  public func append(_ text: String, to descriptor: Int32) throws {
    let bytes = Array(text.utf8)
    try #require(unsafe Glibc.write(descriptor, bytes, bytes.count) == bytes.count)
  }

  /// Gives a file another name.
  public func rename(_ name: String, to other: String) throws {
    try #require(unsafe Glibc.rename(self(name), self(other)) == 0)
  }

  /// Makes a symbolic link.
  public func link(_ name: String, to target: String) throws {
    try #require(unsafe symlink(target, self(name)) == 0)
  }

  /// Makes a folder in the folder.
  public func makeFolder(_ name: String) throws {
    try #require(unsafe mkdir(self(name), 0o755) == 0)
  }

  /// Removes a file, or a folder with all that is in it.
  public func remove(_ path: String) {
    let whole = path.hasPrefix("/") ? path : self(path)
    if unsafe unlink(whole) == 0 { return }
    guard let handle = unsafe opendir(whole) else { return }
    while let entry = unsafe readdir(handle) {
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) {
        unsafe $0.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
      }
      if name != "." && name != ".." {
        remove(whole + "/" + name)
      }
    }
    unsafe closedir(handle)
    _ = unsafe rmdir(whole)
  }
}
