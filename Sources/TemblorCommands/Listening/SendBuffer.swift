internal import Glibc

/// Lines on their way to a reader who takes them in his own time.
struct SendBuffer {
  private var bytes: [UInt8] = []
  private var sentCount = 0

  /// Bytes that wait.
  var count: Int { bytes.count - sentCount }

  /// Adds a line.
  mutating func append(_ line: String) {
    bytes += line.utf8
    bytes.append(UInt8(ascii: "\n"))
  }

  /// Sends what waits, as far as it is taken; answers whether the reader is still there.
  ///
  /// - Parameter send: One system call: how many of the bytes it took, or below 0 with `errno`.
  mutating func flush(_ send: (UnsafeRawBufferPointer) -> Int) -> Bool {
    var isThere = true
    while count > 0 && isThere {
      let taken = unsafe bytes.withUnsafeBytes { all in
        unsafe send(UnsafeRawBufferPointer(rebasing: all[sentCount...]))
      }
      if taken >= 0 {
        sentCount += taken
      } else if errno == EAGAIN {
        break
      } else if errno != EINTR {
        isThere = false
      }
    }
    // Moving the rest forward each time would cost more than it frees.
    if sentCount == bytes.count || sentCount > SocketListener.patientQueue {
      bytes.removeFirst(sentCount)
      sentCount = 0
    }
    return isThere
  }
}
