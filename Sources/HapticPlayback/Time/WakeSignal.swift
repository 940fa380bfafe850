internal import Glibc

/// Wakes a thread that waits: a pipe to the process itself, waited for beside other descriptors.
public final class WakeSignal: Sendable {
  /// Readable while the signal is raised.
  public let descriptor: Int32
  private let entrance: Int32

  /// A signal that is not raised.
  public init() {
    var ends: [Int32] = [-1, -1]
    let result = unsafe pipe(&ends)
    precondition(result == 0, "this process has no file descriptors left")
    for end in ends {
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
    }
    descriptor = ends[0]
    entrance = ends[1]
  }

  deinit {
    close(descriptor)
    close(entrance)
  }

  /// Raises the signal: [any thread, also a signal handler], one system call.
  public func raise() {
    // A full pipe is a raised signal too.
    var byte: UInt8 = 1
    _ = unsafe write(entrance, &byte, 1)
  }

  /// Lowers the signal; returns whether it was raised.
  @discardableResult public func lower() -> Bool {
    var bytes = InlineArray<64, UInt8>(repeating: 0)
    var wasRaised = false
    while true {
      var span = bytes.mutableSpan
      let count = unsafe span.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, 64) }
      if count <= 0 { return wasRaised }
      wasRaised = true
    }
  }
}
