package import Glibc
package import HapticPlayback
package import SystemSupport

/// A socket in the file system on which several clients of this user send lines and receive
/// replies. Its methods never block.
package final class SocketListener {
  static let maximumClientCount = 64

  package typealias ClientID = Int

  package enum Event: Equatable {
    case connected(ClientID)
    case line(ClientID, LineReader.Line)
    /// The client disconnected. Replies that it has not received are lost.
    case disconnected(ClientID)
  }

  private let socketFile: SocketFile?
  private let listeningDescriptor: Int32
  private var connections: [(client: ClientID, connection: LineConnection)] = []
  private var nextClientID = 1
  private var disconnectedClientIDs: [ClientID] = []
  private var spareDescriptor = unsafe open("/dev/null", O_RDONLY | O_CLOEXEC)

  package init(_ path: String) throws(FileError) {
    let createdSocketFile = try SocketFile(path)
    socketFile = createdSocketFile
    listeningDescriptor = createdSocketFile.descriptor
  }

  /// Adopts a socket that already accepts connections; its creator owns its file.
  package init(activated descriptor: Int32) {
    socketFile = nil
    self.listeningDescriptor = descriptor
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
  }

  deinit {
    close(spareDescriptor)
    if socketFile == nil {
      close(listeningDescriptor)
    }
  }

  package var clientIDs: [ClientID] { connections.map(\.client) }
  package var hasUnfinishedConnections: Bool { connections.contains { !$0.connection.isFinished } }

  package func watchedDescriptors() -> [PollDescriptor] {
    disconnectedClientIDs += connections.filter { $0.connection.isFinished }.map(\.client)
    connections.removeAll { $0.connection.isFinished }
    return [PollDescriptor(listeningDescriptor)]
      + connections.flatMap { $0.connection.watchedDescriptors }
  }

  package func receive() -> [Event] {
    var listenerEvents = disconnectedClientIDs.map { Event.disconnected($0) }
    disconnectedClientIDs = []
    listenerEvents += acceptConnections()
    for (client, connection) in connections {
      connection.flush()
      listenerEvents += connection.readLines().map { .line(client, $0) }
    }
    return listenerEvents
  }

  package func send(_ reply: CommandReply, to client: ClientID) {
    connections.first { $0.client == client }?.connection.send(reply)
  }

  package func sendToAll(_ reply: CommandReply) {
    for (_, connection) in connections {
      connection.send(reply)
    }
  }

  /// Pauses or resumes reading from a client.
  package func setPaused(_ client: ClientID, _ isPaused: Bool) {
    connections.first { $0.client == client }?.connection.isReadingPaused = isPaused
  }

  /// Ends reading from a client, and disconnects it when it has received its replies.
  package func disconnect(_ client: ClientID) {
    connections.first { $0.client == client }?.connection.markInputAtEnd()
  }

  private func acceptConnections() -> [Event] {
    var connectionEvents: [Event] = []
    while true {
      let descriptor = Glibc.accept(self.listeningDescriptor, nil, nil)
      if descriptor >= 0 {
        admitConnection(LineConnection(socket: descriptor), &connectionEvents)
      } else if errno == EMFILE || errno == ENFILE {
        // The system may also report this without a waiting connection.
        if !rejectConnection() { return connectionEvents }
      } else if errno != EINTR && errno != ECONNABORTED {
        return connectionEvents
      }
    }
  }

  private func admitConnection(_ connection: LineConnection, _ events: inout [Event]) {
    guard connections.count < Self.maximumClientCount else {
      let text = "too many clients; the maximum is \(Self.maximumClientCount)"
      return connection.send(.error(CommandError(.busy, text)))
    }
    connections.append((nextClientID, connection))
    events.append(.connected(nextClientID))
    nextClientID += 1
  }

  /// Accepts and closes a connection after the process has run out of descriptors, because the
  /// waiting connection would otherwise wake the program endlessly. Returns whether a connection
  /// was waiting.
  private func rejectConnection() -> Bool {
    if spareDescriptor >= 0 {
      close(spareDescriptor)
    }
    let rejectedDescriptor = Glibc.accept(self.listeningDescriptor, nil, nil)
    if rejectedDescriptor >= 0 {
      close(rejectedDescriptor)
    }
    spareDescriptor = unsafe open("/dev/null", O_RDONLY | O_CLOEXEC)
    return rejectedDescriptor >= 0
  }
}

/// The file of a socket, accessible only to its user and removed at the end.
package final class SocketFile {
  let descriptor: Int32
  private let path: String
  private let createdFileStamp: FileStamp?

  init(_ path: String) throws(FileError) {
    self.path = path
    descriptor = Self.makeSocket()
    guard descriptor >= 0 else {
      createdFileStamp = nil
      throw .systemError(path, "cannot be opened")
    }
    do throws(FileError) {
      createdFileStamp = try Self.bind(descriptor, to: path)
    } catch {
      createdFileStamp = nil
      throw error
    }
  }

  deinit {
    // Another process may have replaced the file.
    if let createdFileStamp, FileStamp(path) == createdFileStamp {
      unsafe unlink(path)
    }
    close(descriptor)
  }

  private static func makeSocket() -> Int32 {
    socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
  }

  private static func bind(_ descriptor: Int32, to path: String) throws(FileError) -> FileStamp? {
    var socketAddress = try makeAddress(path)
    let socketFolder = FileSystem.folderPath(of: path)
    // Two programs that start at the same time must not take each other's new socket for an old
    // one.
    let folderDescriptor = unsafe open(
      socketFolder.isEmpty ? "." : socketFolder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard folderDescriptor >= 0 else { throw .systemError(path, "cannot be created") }
    defer { close(folderDescriptor) }
    guard flock(folderDescriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK else {
      throw FileError(path, "another program is creating the file; try again")
    }
    // The file inherits the permissions of the socket, so other users can never connect.
    fchmod(descriptor, 0o600)
    if !Self.bind(descriptor, &socketAddress) {
      guard errno == EADDRINUSE else { throw .systemError(path, "cannot be created") }
      try removeStaleSocket(path, &socketAddress)
      guard Self.bind(descriptor, &socketAddress) else {
        throw .systemError(path, "cannot be created")
      }
    }
    guard listen(descriptor, SOMAXCONN) == 0 else {
      let error = FileError.systemError(path, "cannot accept connections")
      unsafe unlink(path)
      throw error
    }
    return FileStamp(path)
  }

  private static func bind(_ descriptor: Int32, _ address: inout sockaddr_un) -> Bool {
    unsafe withAddress(&address) { unsafe Glibc.bind(descriptor, $0, $1) } == 0
  }

  private static func removeStaleSocket(_ path: String, _ address: inout sockaddr_un)
    throws(FileError)
  {
    var fileStatus = stat()
    guard unsafe lstat(path, &fileStatus) == 0 else { return }
    guard fileStatus.st_mode & S_IFMT == S_IFSOCK else {
      throw FileError(path, "exists and is not a socket; choose another path")
    }
    let probeSocket = makeSocket()
    guard probeSocket >= 0 else { throw .systemError(path, "cannot be opened") }
    defer { close(probeSocket) }
    let connectResult = unsafe withAddress(&address) { unsafe connect(probeSocket, $0, $1) }
    // A full queue means that another program listens.
    guard connectResult != 0 && errno != EAGAIN else {
      throw FileError(path, "is in use by another program")
    }
    guard errno == ECONNREFUSED else { throw .systemError(path, "exists, but cannot be checked") }
    guard unsafe unlink(path) == 0 else { throw .systemError(path, "cannot be replaced") }
  }

  package static func makeAddress(_ path: String) throws(FileError) -> sockaddr_un {
    var socketAddress = sockaddr_un()
    socketAddress.sun_family = sa_family_t(AF_UNIX)
    let pathBytes = Array(path.utf8)
    let maximumPathByteCount = MemoryLayout.size(ofValue: socketAddress.sun_path) - 1
    guard !pathBytes.isEmpty, pathBytes.count <= maximumPathByteCount else {
      throw FileError(path, "is not a valid socket path; use 1 to \(maximumPathByteCount) bytes")
    }
    unsafe withUnsafeMutableBytes(of: &socketAddress.sun_path) {
      unsafe $0.copyBytes(from: pathBytes)
    }
    return socketAddress
  }

  package static func withAddress<Result>(
    _ address: inout sockaddr_un, length: Int = MemoryLayout<sockaddr_un>.size,
    _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
  ) -> Result {
    unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe body($0, socklen_t(length))
      }
    }
  }
}
