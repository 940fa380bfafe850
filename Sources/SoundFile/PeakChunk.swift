internal import Glibc

/// The time of day in an RF64 file of floating-point samples, which libsndfile cannot be told to leave out.
enum PeakChunk {
  /// Sets the time to 0, so that equal sounds are equal files.
  ///
  /// The chunk's fields are, after its name and size, a version and the time, four bytes each.
  static func erase(in descriptor: Int32, path: String) throws(SoundFileError) {
    var place = off_t(12)
    var head: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0]
    while unsafe pread(descriptor, &head, head.count, place) == head.count {
      let name = String(decoding: head[..<4], as: UTF8.self)
      // Zeros are what stands where a full disk kept the header from being written.
      if name == "data" || head.allSatisfy({ $0 == 0 }) { return }
      if name == "PEAK" {
        let time: [UInt8] = [0, 0, 0, 0]
        guard unsafe pwrite(descriptor, time, time.count, place + 12) == time.count else {
          throw SoundFileError(
            kind: .systemRefused, path: path,
            description: "cannot write: \(unsafe String(cString: strerror(errno)))")
        }
        return
      }
      let size = head[4...].reversed().reduce(off_t(0)) { $0 << 8 | off_t($1) }
      place += 8 + size + size & 1
    }
  }
}
