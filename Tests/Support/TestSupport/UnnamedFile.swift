internal import Glibc
import Testing

/// A file without a name, which the system deletes when the value is released.
public final class UnnamedFile: Sendable {
  /// The open descriptor, for reading and writing.
  public let descriptor: Int32

  /// Creates a file with contents. The offset of the descriptor is 0.
  public init(_ bytes: [UInt8] = []) throws {
    var template = Array("/tmp/temblor-XXXXXX".utf8CString)
    descriptor = unsafe mkstemp(&template)
    try #require(descriptor >= 0)
    unsafe unlink(template)
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    try #require(unsafe pwrite(descriptor, bytes, bytes.count, 0) == bytes.count)
  }

  deinit { close(descriptor) }

  /// A path by which this process can open the file.
  public var path: String { "/proc/self/fd/\(descriptor)" }

  /// The contents of the file. Reading does not change the offset of the descriptor.
  public var bytes: [UInt8] {
    var contents: [UInt8] = []
    var block = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = unsafe pread(descriptor, &block, block.count, contents.count)
      if count <= 0 { return contents }
      contents += block.prefix(count)
    }
  }
}
