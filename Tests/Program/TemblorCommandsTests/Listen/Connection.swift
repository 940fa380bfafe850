import Glibc
import Testing

/// A client of a Unix domain socket.
final class Connection {
  private let descriptor: Int32

  init(_ path: String) throws {
    descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    var address = Self.address(path)
    let result = unsafe Self.with(&address) { unsafe connect(descriptor, $0, $1) }
    try #require(result == 0)
  }

  /// Shuts the connection down explicitly, because a process that another test starts at this
  /// moment may have inherited the descriptor.
  deinit {
    shutdown(descriptor, Int32(SHUT_RDWR))
    close(descriptor)
  }

  /// Creates a socket without a listener.
  static func leave(_ path: String) throws {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    var address = address(path)
    let result = unsafe with(&address) { unsafe bind(descriptor, $0, $1) }
    try #require(result == 0)
  }

  func send(_ text: String) {
    let bytes = Array(text.utf8)
    _ = unsafe Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
  }

  /// Ends sending; reading continues.
  func finish() { shutdown(descriptor, Int32(SHUT_WR)) }

  /// Returns all text that is available to read.
  func received() -> String {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = unsafe recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
      if count <= 0 { return String(decoding: bytes, as: UTF8.self) }
      bytes += buffer.prefix(count)
    }
  }

  /// True if the peer has closed the connection.
  var isAtEnd: Bool {
    var byte: UInt8 = 0
    return unsafe recv(descriptor, &byte, 1, Int32(MSG_DONTWAIT)) == 0
  }

  private static func address(_ path: String) -> sockaddr_un {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
    return address
  }

  private static func with(
    _ address: inout sockaddr_un, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
  ) -> Int32 {
    unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
  }
}
