import Glibc
import TestSupport

/// A client of a socket, which waits for a connection and for each line, at most until
/// the hang limit.
final class SocketClient {
  private let descriptor: Int32
  private var pending: [UInt8] = []

  init(_ path: String) throws {
    descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    var isConnected = false
    // A socket refuses connections between its creation and the first call of `listen`.
    let deadline = ContinuousClock.now + HangLimit.duration
    while !isConnected {
      isConnected = Self.connect(descriptor, to: path)
      guard !isConnected else { break }
      guard errno == ECONNREFUSED, ContinuousClock.now < deadline else { break }
      poll(nil, 0, 5)
    }
    guard isConnected else { throw SystemCallFailure() }
  }

  private static func connect(_ descriptor: Int32, to path: String) -> Bool {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
    return unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
      }
    }
  }

  deinit { close(descriptor) }

  func send(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    _ = unsafe Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
  }

  /// Returns the next line that is not an underrun, which a busy machine may cause; nil at the end
  /// or after the limit.
  func line() -> String? {
    while let line = anyLine() {
      if !line.hasPrefix("event underrun ") {
        return line
      }
    }
    return nil
  }

  private func anyLine() -> String? {
    while true {
      if let end = pending.firstIndex(of: UInt8(ascii: "\n")) {
        defer { pending.removeFirst(end + 1) }
        return String(decoding: pending[..<end], as: UTF8.self)
      }
      guard HangLimit.waitForEvents(POLLIN, of: descriptor) else { return nil }
      var buffer = [UInt8](repeating: 0, count: 4_096)
      let count = unsafe recv(descriptor, &buffer, buffer.count, 0)
      if count <= 0 { return nil }
      pending += buffer.prefix(count)
    }
  }
}
