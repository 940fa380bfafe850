import Glibc
import HapticPlayback
import TestSupport
import Testing

@testable import CommandServer
@testable import SystemSupport
@testable import TemblorCommands

@Suite struct SocketListenerTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// Receives until no event is due, and returns all events.
  private func events(_ listener: SocketListener) -> [SocketListener.Event] {
    var events: [SocketListener.Event] = []
    while true {
      let newEvents = listener.receive()
      if newEvents.isEmpty && listener.isQuiet { return events }
      events += newEvents
    }
  }

  private func mode(_ name: String) -> mode_t {
    var status = stat()
    _ = unsafe lstat(folder(name), &status)
    return status.st_mode
  }

  @Test func onlyTheUserMayConnectAndTheFileIsRemovedAtTheEnd() throws {
    do {
      let listener = try SocketListener(folder("s"))
      #expect(mode("s") == S_IFSOCK | 0o600)
      #expect(listener.watchedDescriptors().count == 1)
    }
    #expect(mode("s") == 0)
  }

  @Test func clientsSendLinesAndAreAnswered() throws {
    let listener = try SocketListener(folder("s"))
    let first = try Connection(folder("s"))
    let second = try Connection(folder("s"))
    #expect(events(listener) == [.connected(1), .connected(2)])
    first.send("tap\n@7 play ")
    second.send("status\n")
    #expect(events(listener) == [.line(1, .text("tap")), .line(2, .text("status"))])
    first.send("x\n\u{7}\n")
    #expect(
      events(listener) == [
        .line(1, .text("@7 play x")), .line(1, .invalidUTF8(firstWord: "")),
      ])
    listener.send(.ok(tag: "7"), to: 1)
    listener.sendToAll(.event("finished"))
    #expect(first.received() == "@7 ok\nevent finished\n")
    #expect(second.received() == "event finished\n")
    #expect(listener.clientIDs == [1, 2])
  }

  /// The client ends sending before it reads, as in `echo status | nc -U`.
  @Test func clientThatEndsSendingIsAnswered() throws {
    let listener = try SocketListener(folder("s"))
    let client = try Connection(folder("s"))
    client.send("status\nlist")
    client.finish()
    #expect(listener.receive() == [.connected(1), .line(1, .text("status"))])
    #expect(listener.receive() == [.line(1, .text("list"))])
    listener.send(.ok(), to: 1)
    _ = listener.watchedDescriptors()
    #expect(listener.receive() == [.disconnected(1)])
    listener.send(.ok(), to: 1)
    #expect(client.received() == "ok\n")
    #expect(client.isAtEnd)
    #expect(listener.clientIDs == [])
  }

  @Test func quittingClientReceivesTheReply() throws {
    let listener = try SocketListener(folder("s"))
    let client = try Connection(folder("s"))
    client.send("quit\ntap\n")
    #expect(events(listener).last == .line(1, .text("tap")))
    listener.send(.ok(), to: 1)
    listener.disconnect(1)
    client.send("tap\n")
    #expect(events(listener) == [.disconnected(1)])
    #expect(client.received() == "ok\n")
  }

  @Test func disconnectedClientRaisesNoSignal() throws {
    let listener = try SocketListener(folder("s"))
    do {
      let client = try Connection(folder("s"))
      client.send("tap\n")
    }
    #expect(listener.receive() == [.connected(1), .line(1, .text("tap"))])
    // Without MSG_NOSIGNAL, this would end the process.
    listener.send(.ok(), to: 1)
    listener.send(.ok(), to: 1)
    #expect(events(listener) == [.disconnected(1)])
  }

  @Test func clientThatDoesNotReadIsDisconnected() throws {
    let listener = try SocketListener(folder("s"))
    let slowClient = try Connection(folder("s"))
    let otherClient = try Connection(folder("s"))
    #expect(events(listener) == [.connected(1), .connected(2)])
    let line = String(repeating: "x", count: 65_535)
    var count = 0
    while listener.clientIDs.contains(1) {
      listener.send(.event(line), to: 1)
      count += 1
      if count == 8 {
        // Output is waiting, so no more commands are read.
        slowClient.send("tap\n")
        #expect(events(listener) == [])
      }
      _ = listener.watchedDescriptors()
      try #require(count < 100)
    }
    // The limit is a mebibyte, in addition to the socket buffers of the system.
    #expect(count >= 16)
    #expect(events(listener) == [.disconnected(1)])
    otherClient.send("tap\n")
    #expect(events(listener) == [.line(2, .text("tap"))])
  }

  @Test func clientThatReadsLateReceivesEverything() throws {
    let listener = try SocketListener(folder("s"))
    let client = try Connection(folder("s"))
    #expect(events(listener) == [.connected(1)])
    var expected = ""
    for number in 0..<50_000 {
      listener.send(.ok([.count("n", number)]), to: 1)
      expected += "ok n=\(number)\n"
    }
    #expect(listener.watchedDescriptors()[1].requestedEvents == Int16(POLLOUT))
    var received = ""
    while received.utf8.count < expected.utf8.count {
      received += client.received()
      #expect(listener.receive() == [])
    }
    #expect(received == expected)
    #expect(listener.watchedDescriptors()[1].requestedEvents == Int16(POLLIN))
  }

  @Test func excessClientsAreRefused() throws {
    let listener = try SocketListener(folder("s"))
    let clients = try (0..<SocketListener.maximumClientCount).map { _ in
      try Connection(folder("s"))
    }
    #expect(events(listener).count == clients.count)
    let excessClient = try Connection(folder("s"))
    #expect(events(listener) == [])
    #expect(excessClient.received() == "error busy: too many clients; the maximum is 64\n")
    #expect(excessClient.isAtEnd)
    #expect(listener.clientIDs.count == 64)
  }

  @Test func abandonedSocketIsReplaced() throws {
    let path = folder("s")
    try Connection.leave(path)
    #expect(mode("s") & S_IFMT == S_IFSOCK)
    let listener = try SocketListener(path)
    _ = try Connection(path)
    #expect(listener.receive() == [.connected(1)])
  }

  @Test func pathInUseIsRefused() throws {
    let path = folder("s")
    let listener = try SocketListener(path)
    #expect(throws: FileError(path, "is in use by another program")) {
      _ = try SocketListener(path)
    }
    _ = try Connection(path)
    #expect(events(listener).first == .connected(1))
  }

  @Test func otherFilesAreNotReplaced() throws {
    try folder.write("mine", to: "s")
    #expect(throws: FileError(folder("s"), "exists and is not a socket; choose another path")) {
      _ = try SocketListener(folder("s"))
    }
    #expect(mode("s") & S_IFMT == S_IFREG)
    try folder.link("l", to: "s")
    #expect(throws: FileError(folder("l"), "exists and is not a socket; choose another path")) {
      _ = try SocketListener(folder("l"))
    }
    try folder.makeFolder("f")
    #expect(throws: FileError(folder("f"), "exists and is not a socket; choose another path")) {
      _ = try SocketListener(folder("f"))
    }
    #expect(throws: FileError(folder("x/s"), "cannot be created: No such file or directory")) {
      _ = try SocketListener(folder("x/s"))
    }
    let longPath = folder(String(repeating: "x", count: 100))
    #expect(throws: FileError(longPath, "is not a valid socket path; use 1 to 107 bytes")) {
      _ = try SocketListener(longPath)
    }
  }

  @Test func fileThatReplacedTheSocketIsKept() throws {
    do {
      _ = try SocketListener(folder("s"))
    }
    var listener: SocketListener? = try SocketListener(folder("s"))
    folder.remove("s")
    try folder.write("mine", to: "s")
    #expect(listener?.clientIDs == [])
    listener = nil
    #expect(mode("s") & S_IFMT == S_IFREG)
  }
}

extension SocketListener {
  /// True if there is nothing to read or accept.
  fileprivate var isQuiet: Bool {
    let previousIDs = clientIDs
    var watched = watchedDescriptors()
    if clientIDs != previousIDs { return false }
    SystemTimeSource().wait(for: &watched, timeout: .zero)
    return watched.allSatisfy { $0.receivedEvents & $0.requestedEvents == 0 }
  }
}
