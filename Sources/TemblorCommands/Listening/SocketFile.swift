internal import Glibc
internal import SystemSupport

/// A socket's file, made for its user alone and removed at the end.
final class SocketFile {
  /// Readable when a client waits to be accepted.
  let descriptor: Int32
  private let path: String
  private let stamp: FileStamp?

  /// Makes the file; one that was left by a program that is gone gives way.
  init(_ path: String) throws(FileError) {
    self.path = path
    let kind = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
    descriptor = socket(AF_UNIX, kind, 0)
    guard descriptor >= 0 else {
      stamp = nil
      throw .system(path, "cannot be opened")
    }
    do throws(FileError) {
      stamp = try Self.bind(descriptor, to: path)
    } catch {
      stamp = nil
      throw error
    }
  }

  deinit {
    // Somebody may have removed the file and put another there.
    if let stamp, FileStamp(path) == stamp { unsafe unlink(path) }
    close(descriptor)
  }

  private static func bind(_ descriptor: Int32, to path: String) throws(FileError) -> FileStamp? {
    var address = try address(path)
    let folder = FileSystem.folder(of: path)
    // Two programs that start at once must not take each other's new socket for an old one.
    let lock = unsafe open(folder.isEmpty ? "." : folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard lock >= 0 else { throw .system(path, "cannot be created") }
    defer { close(lock) }
    guard flock(lock, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK else {
      throw FileError(path, "is being created by another program; try again")
    }
    // The file takes the permissions of the socket, so nobody else can connect at any time.
    fchmod(descriptor, 0o600)
    if !Self.bind(descriptor, &address) {
      guard errno == EADDRINUSE else { throw .system(path, "cannot be created") }
      try removeLeftover(path, &address)
      guard Self.bind(descriptor, &address) else { throw .system(path, "cannot be created") }
    }
    guard listen(descriptor, SOMAXCONN) == 0 else {
      let error = FileError.system(path, "cannot accept connections")
      unsafe unlink(path)
      throw error
    }
    return FileStamp(path)
  }

  private static func bind(_ descriptor: Int32, _ address: inout sockaddr_un) -> Bool {
    unsafe withAddress(&address) { unsafe Glibc.bind(descriptor, $0, $1) } == 0
  }

  /// Removes a socket at which nobody answers, and nothing else.
  private static func removeLeftover(
    _ path: String, _ address: inout sockaddr_un
  ) throws(FileError) {
    var status = stat()
    guard unsafe lstat(path, &status) == 0 else { return }
    guard status.st_mode & S_IFMT == S_IFSOCK else {
      throw FileError(path, "exists and is not a socket; choose another path")
    }
    let kind = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
    let probe = socket(AF_UNIX, kind, 0)
    guard probe >= 0 else { throw .system(path, "cannot be opened") }
    defer { close(probe) }
    let result = unsafe withAddress(&address) { unsafe connect(probe, $0, $1) }
    // A queue that is full is somebody's too.
    guard result != 0 && errno != EAGAIN else {
      throw FileError(path, "is in use; another program listens there")
    }
    guard errno == ECONNREFUSED else { throw .system(path, "exists and cannot be checked") }
    guard unsafe unlink(path) == 0 else { throw .system(path, "cannot be replaced") }
  }

  private static func address(_ path: String) throws(FileError) -> sockaddr_un {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8)
    let room = MemoryLayout.size(ofValue: address.sun_path) - 1
    guard !bytes.isEmpty, bytes.count <= room else {
      throw FileError(path, "is not a valid socket path; it must have 1 to \(room) bytes")
    }
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
    return address
  }

  private static func withAddress(
    _ address: inout sockaddr_un, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
  ) -> Int32 {
    unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
  }
}
