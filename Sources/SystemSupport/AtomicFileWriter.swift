internal import Glibc

/// A file that takes its name only when it is complete, so that failure leaves the old one whole.
///
/// The bytes go to a hidden file beside; `commit()` renames it. A file that is not committed is removed,
/// also when the user interrupts.
package struct AtomicFileWriter: ~Copyable {
  /// Where the bytes go; it can be sought.
  package let descriptor: Int32
  private let target: String
  private let temporary: String
  private var isCommitted = false
  /// Where the hidden file is noted for a signal that ends the process at once.
  private let note: Int?

  /// Makes the hidden file; the target's folder must exist.
  package init(_ path: String) throws(FileError) {
    // A link keeps pointing where it points: its target is replaced.
    let target = FileSystem.realPath(path) ?? path
    switch FileSystem.entry(at: target) {
    case .file, .nothing: break
    case .folder: throw FileError(path, "is a folder; give a file name")
    // To replace the name of a device would be to remove the device.
    case .other: throw FileError(path, "is a device or a pipe; only files can be written")
    }
    guard SignalHandling.begin() else { throw FileError(path, "interrupted; nothing was written") }
    let hidden = FileSystem.join(FileSystem.folder(of: target), ".temblor.XXXXXX")
    var template = hidden.utf8CString
    let descriptor = unsafe template.withUnsafeMutableBufferPointer { buffer -> Int32 in
      guard let name = buffer.baseAddress else { return -1 }
      return unsafe mkstemp(name)
    }
    guard descriptor >= 0 else {
      let error = FileError.system(path, "cannot be written")
      SignalHandling.end()
      throw error
    }
    fchmod(descriptor, Self.mode(of: target))
    self.descriptor = descriptor
    self.target = target
    temporary = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    note = SignalHandling.note(unfinishedPath: temporary)
  }

  /// The old file's permissions, or those a new file gets.
  private static func mode(of path: String) -> mode_t {
    var status = stat()
    if unsafe stat(path, &status) == 0 { return status.st_mode & 0o777 }
    let mask = umask(0)
    umask(mask)
    return 0o666 & ~mask
  }

  /// Gives the file its name.
  package mutating func commit() throws(FileError) {
    guard unsafe rename(temporary, target) == 0 else { throw .system(target, "cannot be written") }
    isCommitted = true
  }

  /// Writes a whole small file.
  package static func write(_ bytes: [UInt8], to path: String) throws(FileError) {
    var file = try AtomicFileWriter(path)
    try file.write(bytes)
    try file.commit()
  }

  /// Adds bytes.
  package func write(_ bytes: [UInt8]) throws(FileError) {
    var done = 0
    while done < bytes.count {
      let count = unsafe bytes.withUnsafeBufferPointer {
        unsafe Glibc.write(descriptor, $0.baseAddress?.advanced(by: done), bytes.count - done)
      }
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else { throw .system(target, "cannot be written") }
      done += count
    }
  }

  deinit {
    close(descriptor)
    if !isCommitted { unsafe unlink(temporary) }
    SignalHandling.forget(unfinishedPath: note)
    SignalHandling.end()
  }
}
