internal import Glibc
internal import Synchronization

/// An input that can be read only once: standard input, or a descriptor that a shell opened, such
/// as the `/dev/fd/63` of a process substitution.
///
/// The bytes are kept, so that a command can examine the first bytes, and then read all bytes, even
/// more than once.
package enum InputStream {
  /// The argument that stands for standard input.
  package static let standardInput = "-"
  /// The name of standard input in messages.
  package static let standardInputName = "standard input"

  private static let descriptorFolders = ["/dev/fd/", "/proc/self/fd/"]
  /// The maximum number of bytes that are copied to a temporary file: more than 45 minutes of 48
  /// kHz stereo in 32 bits.
  private static let maximumCopyByteCount = 1 << 30
  private static let contentsByPath = Mutex<[String: StreamContent]>([:])

  /// The content of an input stream, as far as it has been read.
  private struct StreamContent {
    let name: String
    private let descriptor: Int32
    private(set) var bytes: [UInt8] = []
    private var isComplete = false

    init(_ path: String) throws(FileError) {
      name = FileSystem.displayName(of: path)
      guard path != InputStream.standardInput else {
        descriptor = STDIN_FILENO
        return
      }
      descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
      guard descriptor >= 0 else { throw .systemError(path, "cannot be opened") }
    }

    /// Reads from the stream until more than `count` bytes have been read, or to the end.
    mutating func read(beyond count: Int) throws(FileError) {
      while !isComplete, bytes.count <= count {
        let blockSize = min(count + 1 - bytes.count, max(65_536, bytes.count))
        isComplete = try !FileSystem.appendBytes(
          to: &bytes, blockSize, of: descriptor, name: name)
      }
    }
  }

  /// Returns true if a path refers to an input stream instead of a file.
  package static func isStream(_ path: String) -> Bool {
    guard path != standardInput, path != "/dev/stdin" else { return true }
    // A descriptor of a regular file can be opened again.
    return descriptorFolders.contains { path.hasPrefix($0) }
      && FileSystem.entryKind(at: path) == .other
  }

  /// Returns all bytes of an input stream.
  ///
  /// - Parameters:
  ///   - path: The path of the stream.
  ///   - limit: The maximum number of bytes; a longer input is an error.
  static func read(_ path: String, limit: Int) throws(FileError) -> [UInt8] {
    let streamBytes = try bytes(of: path, beyond: limit)
    guard streamBytes.count <= limit else {
      throw FileSystem.tooLargeError(FileSystem.displayName(of: path), limit)
    }
    return streamBytes
  }

  /// Returns the first bytes of an input stream, without waiting for more bytes than requested.
  static func firstBytes(of path: String, count: Int) throws(FileError) -> [UInt8] {
    Array(try bytes(of: path, beyond: count - 1).prefix(count))
  }

  private static func bytes(of path: String, beyond count: Int) throws(FileError) -> [UInt8] {
    try contentsByPath.withLock { contents throws(FileError) in
      var content: StreamContent
      if let openContent = contents.removeValue(forKey: path) {
        content = openContent
      } else {
        content = try StreamContent(path)
      }
      defer { contents[path] = content }
      try content.read(beyond: count)
      return content.bytes
    }
  }

  /// Copies all bytes of an input stream to a temporary file, in which a reader can seek, and opens
  /// the file. The caller closes it.
  static func openCopy(of path: String) throws(FileError) -> Int32 {
    let streamBytes = try read(path, limit: maximumCopyByteCount)
    let displayName = FileSystem.displayName(of: path)
    guard let temporaryFile = unsafe tmpfile() else {
      throw .systemError(displayName, "no space for a temporary file")
    }
    defer { unsafe fclose(temporaryFile) }
    let copyDescriptor = unsafe fcntl(fileno(temporaryFile), F_DUPFD_CLOEXEC, 0)
    guard copyDescriptor >= 0 else { throw .systemError(displayName, "cannot be opened") }
    do {
      try FileSystem.writeBytes(
        streamBytes, to: copyDescriptor, name: displayName,
        problem: "cannot be copied to a temporary file")
    } catch {
      close(copyDescriptor)
      throw error
    }
    lseek(copyDescriptor, 0, SEEK_SET)
    return copyDescriptor
  }
}
