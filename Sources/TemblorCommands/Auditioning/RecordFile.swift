import SystemSupport

/// Where the record of a test goes when it is over; nothing is written before.
struct RecordFile: ~Copyable {
  private var file: AtomicFileWriter?

  /// Makes sure that the file can be written, where there is to be one.
  init(_ path: String?) throws(FileError) {
    guard let path else {
      file = nil
      return
    }
    file = try AtomicFileWriter(path)
  }

  /// Writes the record, and gives the file its name.
  mutating func write(_ bytes: [UInt8]) throws(FileError) {
    try file?.write(bytes)
    try file?.commit()
  }
}
