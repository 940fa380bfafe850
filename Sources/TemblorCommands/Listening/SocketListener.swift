internal import CommandLineKit
internal import Glibc
internal import HapticPlayback
internal import SystemSupport

/// A socket in the file system at which several clients send lines and are answered.
///
/// Nothing here waits: ask `watched()` what to wait for, then `receive()` what came. Only the user who
/// runs the program can connect.
final class SocketListener {
  /// Clients at once; more are told and turned away.
  static let maximumClientCount = 64
  /// Bytes that wait for a client who does not read; beyond, the client is let go.
  static let longestQueue = 1 << 20
  /// Bytes that may wait for a client while more commands are taken from it.
  static let patientQueue = 1 << 16

  /// A client, by a number that is not given twice.
  typealias Client = Int

  /// Something a client did.
  enum Event: Equatable {
    case connected(Client)
    case line(Client, LineReader.Line)
    /// The client is gone; nothing reached it after its last line was answered.
    case left(Client)
  }

  private let place: SocketFile
  private var connections: [(client: Client, connection: SocketConnection)] = []
  private var nextClient = 1
  /// Clients that were let go and not told of yet.
  private var left: [Client] = []
  /// A descriptor to give up for turning a client away when the process has no other left.
  private var spare = unsafe open("/dev/null", O_RDONLY | O_CLOEXEC)

  /// Opens a socket at a path, in the place of one at which nobody answers any more.
  init(_ path: String) throws(FileError) { place = try SocketFile(path) }

  deinit { close(spare) }

  /// The clients that can be sent to, in the order they came.
  var clients: [Client] { connections.map(\.client) }

  /// Lets those go who have all they get, and answers what to wait for.
  func watched() -> [PollDescriptor] {
    left += connections.filter { $0.connection.isDone }.map(\.client)
    connections.removeAll { $0.connection.isDone }
    return [PollDescriptor(place.descriptor)] + connections.map { $0.connection.watched }
  }

  /// Accepts who came, sends what waits, and answers what happened, without waiting.
  func receive() -> [Event] {
    var events = left.map { Event.left($0) }
    left = []
    events += accept()
    for (client, connection) in connections {
      connection.flush()
      events += connection.lines().map { .line(client, $0) }
    }
    return events
  }

  /// Sends a line to a client, as far as it takes it now and later; nothing to one who is gone.
  func send(_ reply: ListenReply, to client: Client) {
    connections.first { $0.client == client }?.connection.send(reply.line)
  }

  /// Sends a line to all clients.
  func sendToAll(_ reply: ListenReply) {
    for (_, connection) in connections { connection.send(reply.line) }
  }

  /// Leaves a client's lines where they are, or takes them again.
  func hold(_ client: Client, _ isHeld: Bool) {
    connections.first { $0.client == client }?.connection.isHeld = isHeld
  }

  /// Takes nothing from a client any more and lets it go when it has what waits for it.
  func end(_ client: Client) {
    connections.first { $0.client == client }?.connection.end()
  }

  private func accept() -> [Event] {
    var events: [Event] = []
    while true {
      let descriptor = Glibc.accept(place.descriptor, nil, nil)
      if descriptor >= 0 {
        admit(SocketConnection(descriptor), &events)
      } else if errno == EMFILE || errno == ENFILE, spare >= 0 {
        turnAway()
      } else if errno != EINTR && errno != ECONNABORTED {
        return events
      }
    }
  }

  private func admit(_ connection: SocketConnection, _ events: inout [Event]) {
    guard connections.count < Self.maximumClientCount else {
      let text = "too many clients; at most \(Self.maximumClientCount) can connect"
      return connection.send(ListenReply.error(ListenError(.busy, text)).line)
    }
    connections.append((nextClient, connection))
    events.append(.connected(nextClient))
    nextClient += 1
  }

  /// Closes a connection for which there is no descriptor, lest it wake the program for ever.
  private func turnAway() {
    close(spare)
    let descriptor = Glibc.accept(place.descriptor, nil, nil)
    if descriptor >= 0 { close(descriptor) }
    spare = unsafe open("/dev/null", O_RDONLY | O_CLOEXEC)
  }
}
