internal import HapticPlayback

/// The stream that a program requests from a PipeWire server.
struct PipeWireStreamRequest: Equatable, Sendable {
  /// The name of the node to connect to.
  var target: String
  var endpoint: PipeWireGraph.Endpoint
  /// The sample rate in hertz.
  var rate: Int
  /// The requested cycle size, in frames.
  var cycleSize: Int
  /// The channels of the target that the stream uses.
  var channels: [String]
}

/// Decides when to connect to a server and when to open a stream, and whether the stream may be
/// heard.
///
///     server absent ──connect──▶ objects arrive ──▶ target exists ──open──▶ links ──▶ verified
///           ▲                                            │                              │
///           └──────── lost ◀─────────────────────────────┴── removed, refused ◀─────────┘
///
/// The machine calls nothing: it receives events and results, and returns the next action. Tests
/// can therefore describe any sequence of faults as plain values.
struct PipeWireMachine {
  enum Event {
    case addNode(PipeWireGraph.Node, id: UInt32)
    case addPort(PipeWireGraph.Port, id: UInt32)
    case addLink(PipeWireGraph.Link, id: UInt32)
    case removeObject(id: UInt32)
    case changeLink(id: UInt32, isActive: Bool)
    case streamConnecting(node: UInt32)
    case streamReady(node: UInt32)
    case streamFailed
    case setRate(Int)
    case complete
    case serverLost
  }

  enum Action: Equatable {
    case connect
    case disconnect
    case openStream(PipeWireStreamRequest)
    case closeStream
  }

  /// A change that the owner of the stream reports.
  enum Notice: Equatable {
    /// The stream is no longer heard, for the stated reason.
    case interrupted(String)
    /// The stream is heard again.
    case resumed
    /// The target has fewer channels than the stream.
    case lacksChannels(count: Int)
  }

  private enum Server: Equatable {
    case absent(nextAttempt: Duration)
    case connected(isComplete: Bool)
    case lost
  }

  private enum Stream: Equatable {
    case closed(nextAttempt: Duration)
    case open(node: UInt32?)
    case failed
  }

  /// The interval between attempts to connect to an absent server.
  private static let connectInterval = Duration.milliseconds(100)
  /// The interval between attempts to open a stream that the session manager has refused.
  private static let openInterval = Duration.milliseconds(500)
  /// The timeout for the links of a resumed stream to become active.
  private static let settlingTimeout = Duration.seconds(1)
  /// The timeout for the ports of a target node to appear.
  private static let portTimeout = Duration.seconds(1)

  /// The name of the requested node.
  private(set) var target: String
  private(set) var endpoint: PipeWireGraph.Endpoint
  /// The requested stream; nil if the machine only reads the objects of the server.
  private(set) var request: PipeWireStreamRequest?

  private(set) var graph = PipeWireGraph()
  /// The default sample rate of the graph in hertz; nil before the server reports it.
  private(set) var graphRate: Int?
  /// A Boolean value that indicates whether the stream may be heard.
  private(set) var isVerified = false
  private var server = Server.absent(nextAttempt: .zero)
  private var stream = Stream.closed(nextAttempt: .zero)
  /// The identifier of the node for which the open stream was requested.
  private var streamTarget: UInt32?
  /// A Boolean value that indicates whether the most recent notice reported an interruption, or the
  /// stream has never been heard.
  private var isInterrupted = true
  private var hasBeenVerified = false
  /// A Boolean value that indicates whether the owner has paused the stream.
  private var isPaused = false
  /// The time until which the links of a resumed stream may remain inactive; nil if the stream was
  /// not just resumed.
  private var settlingEnd: Duration?
  private var targetTime: Duration?
  private var hasReportedChannels = false
  private var notices: [Notice] = []

  /// Creates a machine that only reads the objects of a server until a stream is requested.
  init() {
    target = ""
    endpoint = .sink
  }

  /// Creates a machine for a stream that is not open.
  ///
  /// - Parameters:
  ///   - request: The requested stream.
  ///   - reportsFirstConnection: A Boolean value that indicates whether the first connection is
  ///     reported as a reconnection.
  init(_ request: PipeWireStreamRequest, reportsFirstConnection: Bool = false) {
    self.init()
    requestStream(request)
    hasBeenVerified = reportsFirstConnection
  }

  /// Requests the stream, which opens as soon as its target exists.
  mutating func requestStream(_ request: PipeWireStreamRequest) {
    self.request = request
    target = request.target
    endpoint = request.endpoint
  }

  /// A Boolean value that indicates whether the server is running and has reported all its objects.
  var isComplete: Bool { server == .connected(isComplete: true) }

  /// A Boolean value that indicates whether the server is running but has not reported all its
  /// objects.
  var isWaitingForObjects: Bool { server == .connected(isComplete: false) }

  /// The requested node; nil if it does not exist or its name is not unique.
  var targetNode: UInt32? {
    let matches = graph.nodes(named: target, endpoint)
    return matches.count == 1 ? matches.first : nil
  }

  /// The state of the links between the open stream and its target.
  private var route: PipeWireGraph.Route {
    guard isComplete, case .open(let node?) = stream, let streamTarget, streamTarget == targetNode,
      let request
    else {
      return .incomplete
    }
    return graph.route(
      of: node, to: streamTarget, channelCount: request.channels.count,
      isCapture: endpoint.isCapture)
  }

  // MARK: - Events

  /// Receives an event of the server. Its effect on `isVerified` is immediate.
  mutating func receive(_ event: Event) {
    switch event {
    case .addNode(let node, let id): graph.insert(node, id: id)
    case .addPort(let port, let id): graph.insert(port, id: id)
    case .addLink(let link, let id): graph.insert(link, id: id)
    case .removeObject(let id): graph.remove(id)
    case .changeLink(let id, let isActive): graph.setLink(id, isActive: isActive)
    case .streamConnecting(let node), .streamReady(let node):
      guard case .open = stream else { break }
      stream = .open(node: node == .max ? nil : node)
    case .streamFailed:
      if case .open = stream {
        stream = .failed
      }
    case .setRate(let rate): graphRate = rate
    case .complete:
      if case .connected = server {
        server = .connected(isComplete: true)
      }
    case .serverLost:
      if case .connected = server {
        server = .lost
      }
    }
    verify()
  }

  /// Updates `isVerified`, and reports its changes.
  private mutating func verify() {
    let route = route
    isVerified = route == .verified
    if isVerified {
      settlingEnd = nil
    }
    if isVerified, isInterrupted {
      isInterrupted = false
      if hasBeenVerified {
        notices.append(.resumed)
      }
      hasBeenVerified = true
    } else if !isVerified, !isInterrupted, !isExpectedToReturn(route) {
      isInterrupted = true
      notices.append(.interrupted(reason(route)))
    }
  }

  /// Returns whether the stream is expected to be heard again, because it is paused or was just
  /// resumed and its links are merely inactive.
  private func isExpectedToReturn(_ route: PipeWireGraph.Route) -> Bool {
    guard isPaused || settlingEnd != nil else { return false }
    guard isComplete, case .open = stream, streamTarget == targetNode else { return false }
    return route == .incomplete
  }

  /// Records that the owner pauses or resumes the stream. A pause deactivates the stream's links.
  mutating func setPaused(_ isPaused: Bool, at now: Duration) {
    self.isPaused = isPaused
    settlingEnd = isPaused ? nil : now + Self.settlingTimeout
    verify()
  }

  private func reason(_ route: PipeWireGraph.Route) -> String {
    if !isComplete { return "the sound server stopped" }
    let noun = endpoint == .source ? "source" : "sink"
    let matchCount = graph.nodes(named: target, endpoint).count
    if matchCount == 0 { return "the \(noun) disappeared" }
    if matchCount > 1 { return "\(matchCount) \(noun)s have this name" }
    if case .stray(let name) = route {
      return "muted because a link connects the stream to '\(name)'; remove this link"
    }
    return "the \(noun) was disconnected"
  }

  /// Returns and removes the notices, oldest first.
  mutating func drainNotices() -> [Notice] {
    defer { notices = [] }
    return notices
  }

  // MARK: - Actions

  /// Returns the action that is due; nil if there is none until `timeout` has passed or an event
  /// arrives.
  mutating func nextAction(at now: Duration) -> Action? {
    if let end = settlingEnd, now >= end {
      settlingEnd = nil
      verify()
    }
    switch server {
    case .lost:
      return .disconnect
    case .absent(let nextAttempt):
      return now >= nextAttempt ? .connect : nil
    case .connected(let isComplete):
      guard isComplete else { return nil }
    }
    let node = targetNode
    switch stream {
    case .failed:
      return .closeStream
    case .open:
      return streamTarget == node ? nil : .closeStream
    case .closed(let nextAttempt):
      guard let node, var request else {
        targetTime = nil
        return nil
      }
      let channels = graph.channels(of: node, endpoint)
      guard channels.count >= request.channels.count else {
        reportChannels(channels.count, at: now)
        return nil
      }
      guard now >= nextAttempt else { return nil }
      request.channels = Array(channels.prefix(request.channels.count))
      return .openStream(request)
    }
  }

  /// Reports a target with too few channels, after the timeout for its ports to appear.
  private mutating func reportChannels(_ count: Int, at now: Duration) {
    guard let since = targetTime else {
      targetTime = now
      hasReportedChannels = false
      return
    }
    guard now - since >= Self.portTimeout, !hasReportedChannels else { return }
    hasReportedChannels = true
    notices.append(.lacksChannels(count: count))
  }

  /// Returns the time until an action may be due if no event arrives; nil if none will be due.
  func timeout(at now: Duration) -> Duration? {
    switch server {
    case .lost:
      return .zero
    case .absent(let nextAttempt):
      return max(.zero, nextAttempt - now)
    case .connected(let isComplete):
      guard isComplete, targetNode != nil, request != nil else { return nil }
    }
    guard case .closed(let nextAttempt) = stream else {
      return settlingEnd.map { max(.zero, $0 - now) }
    }
    if let targetTime, !hasReportedChannels {
      return max(.zero, targetTime + Self.portTimeout - now)
    }
    return nextAttempt > now ? nextAttempt - now : nil
  }

  /// Records the start of an action. Call this method before the events of the action can arrive.
  mutating func begin(_ action: Action, at now: Duration) {
    switch action {
    case .connect:
      graph = PipeWireGraph()
      server = .connected(isComplete: false)
      stream = .closed(nextAttempt: .zero)
    case .disconnect:
      server = .absent(nextAttempt: now)
      stream = .closed(nextAttempt: .zero)
      streamTarget = nil
      graph = PipeWireGraph()
    case .openStream(let request):
      self.request?.channels = request.channels
      streamTarget = targetNode
      stream = .open(node: nil)
      targetTime = nil
    case .closeStream:
      let hasFailed = stream == .failed
      stream = .closed(nextAttempt: hasFailed ? now + Self.openInterval : now)
      streamTarget = nil
    }
    verify()
  }

  /// Records the failure of an action that has begun.
  mutating func fail(_ action: Action, at now: Duration) {
    switch action {
    case .connect:
      server = .absent(nextAttempt: now + Self.connectInterval)
    case .openStream:
      stream = .closed(nextAttempt: now + Self.openInterval)
      streamTarget = nil
    case .disconnect, .closeStream:
      break
    }
    verify()
  }
}
