import Glibc
@testable import SystemSupport
import Testing

@testable import TemblorCommands

/// A folder of its own for one test.
final class Scratch: Sendable {
  let path: String

  init() throws {
    var template = Array("/tmp/temblor-XXXXXX".utf8CString)
    guard let made = unsafe mkdtemp(&template) else { throw FileError.system("/tmp", "is full") }
    path = unsafe String(cString: made)
  }

  deinit { remove(path) }

  /// The path of a name in the folder.
  func callAsFunction(_ name: String) -> String { path + "/" + name }

  /// Writes a file and closes it.
  func write(_ text: String, to name: String) throws {
    close(try begin(name, text))
  }

  /// Writes the bytes of a file and closes it.
  func write(_ bytes: [UInt8], to name: String) throws {
    let descriptor = try begin(name, "")
    defer { close(descriptor) }
    try #require(unsafe Glibc.write(descriptor, bytes, bytes.count) == bytes.count)
  }

  /// Writes a file and leaves it open.
  func begin(_ name: String, _ text: String) throws -> Int32 {
    let descriptor = unsafe open(self(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    try #require(descriptor >= 0)
    try append(text, to: descriptor)
    return descriptor
  }

  func append(_ text: String, to descriptor: Int32) throws {
    let bytes = Array(text.utf8)
    try #require(unsafe Glibc.write(descriptor, bytes, bytes.count) == bytes.count)
  }

  func rename(_ name: String, to other: String) throws {
    try #require(unsafe Glibc.rename(self(name), self(other)) == 0)
  }

  func link(_ name: String, to target: String) throws {
    try #require(unsafe symlink(target, self(name)) == 0)
  }

  func makeFolder(_ name: String) throws {
    try #require(unsafe mkdir(self(name), 0o755) == 0)
  }

  /// Removes a file, or a folder with all that is in it.
  func remove(_ path: String) {
    let whole = path.hasPrefix("/") ? path : self(path)
    if unsafe unlink(whole) == 0 { return }
    guard let handle = unsafe opendir(whole) else { return }
    while let entry = unsafe readdir(handle) {
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) {
        unsafe $0.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
      }
      if name != "." && name != ".." { remove(whole + "/" + name) }
    }
    unsafe closedir(handle)
    _ = unsafe rmdir(whole)
  }
}

/// Whether a descriptor has something to read now.
func isReadable(_ descriptor: Int32) -> Bool {
  var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
  return unsafe poll(&ready, 1, 0) == 1
}
