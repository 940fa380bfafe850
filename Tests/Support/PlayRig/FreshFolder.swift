internal import Glibc

/// A temporary folder, which is removed with its contents when the value is released.
///
/// It corresponds to `TemporaryFolder` of TestSupport, which requires Testing and thus cannot be
/// part of a program.
package final class FreshFolder: Sendable {
  /// The path of the folder, without spaces, commas, or quotes.
  package let path: String

  /// Creates a folder.
  package init() {
    var template = Array("/tmp/temblor-XXXXXX".utf8CString)
    guard let made = unsafe mkdtemp(&template) else {
      preconditionFailure("a temporary folder can be made")
    }
    path = unsafe String(cString: made)
  }

  deinit { Self.remove(path) }

  /// Returns the bytes of a file; empty if the file does not exist.
  package func bytes(_ name: String) -> [UInt8] {
    let descriptor = unsafe open(path + "/" + name, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return [] }
    defer { close(descriptor) }
    var all: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 1 << 18)
    while true {
      let count = unsafe read(descriptor, &piece, piece.count)
      if count <= 0 { return all }
      all += piece.prefix(count)
    }
  }

  /// Writes a text to a file.
  package func write(_ text: String, to name: String) {
    let descriptor = unsafe open(path + "/" + name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    let bytes = Array(text.utf8)
    let count = unsafe Glibc.write(descriptor, bytes, bytes.count)
    precondition(count == bytes.count, "a temporary file can be written")
    close(descriptor)
  }

  private static func remove(_ path: String) {
    if let handle = unsafe opendir(path) {
      while let entry = unsafe readdir(handle) {
        let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) {
          unsafe $0.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
        }
        if name == "." || name == ".." { continue }
        let whole = path + "/" + name
        if unsafe entry.pointee.d_type == UInt8(DT_DIR) {
          remove(whole)
        } else {
          unsafe unlink(whole)
        }
      }
      unsafe closedir(handle)
    }
    unsafe rmdir(path)
  }
}
