internal import HapticPlayback

/// The stream that a program requests from a PipeWire server.
struct PipeWireStreamRequest: Equatable, Sendable {
  /// The name of the node to connect to.
  var targetName: String
  var endpoint: PipeWireGraph.Endpoint
  /// The sample rate in hertz.
  var rate: Int
  /// The requested cycle size, in frames.
  var cycleSize: Int
  /// The channels of the target that the stream uses.
  var channelNames: [String]
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
struct PipeWireStateMachine {
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
    case initialObjectsComplete
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

  private enum ServerState: Equatable {
    case absent(nextAttempt: Duration)
    case connected(isComplete: Bool)
    case lost
  }

  private enum StreamState: Equatable {
    case closed(nextAttempt: Duration)
    case open(node: UInt32?)
    case failed
  }

  /// The interval between attempts to connect to an absent server.
  private static let connectRetryInterval = Duration.milliseconds(100)
  /// The interval between attempts to open a stream that the session manager has refused.
  private static let openRetryInterval = Duration.milliseconds(500)
  /// The timeout for the links of a resumed stream to become active.
  private static let linkSettlingTimeout = Duration.seconds(1)
  /// The timeout for the ports of a target node to appear.
  private static let portAppearanceTimeout = Duration.seconds(1)

  /// The name of the requested node.
  private(set) var targetName: String
  private(set) var targetEndpoint: PipeWireGraph.Endpoint
  /// The requested stream; nil if the machine only reads the objects of the server.
  private(set) var streamRequest: PipeWireStreamRequest?

  private(set) var graph = PipeWireGraph()
  /// The default sample rate of the graph in hertz; nil before the server reports it.
  private(set) var graphRate: Int?
  /// A Boolean value that indicates whether the stream may be heard.
  private(set) var isRouteVerified = false
  private var server = ServerState.absent(nextAttempt: .zero)
  private var stream = StreamState.closed(nextAttempt: .zero)
  /// The identifier of the node for which the open stream was requested.
  private var streamTargetID: UInt32?
  /// A Boolean value that indicates whether the most recent notice reported an interruption, or the
  /// stream has never been heard.
  private var isStreamInterrupted = true
  private var hasRouteBeenVerified = false
  /// A Boolean value that indicates whether the owner has paused the stream.
  private var isStreamPaused = false
  /// The time until which the links of a resumed stream may remain inactive; nil if the stream was
  /// not just resumed.
  private var linkSettlingDeadline: Duration?
  private var targetFoundTime: Duration?
  private var hasReportedMissingChannels = false
  private var notices: [Notice] = []

  /// Creates a machine that only reads the objects of a server until a stream is requested.
  init() {
    targetName = ""
    targetEndpoint = .sink
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
    hasRouteBeenVerified = reportsFirstConnection
  }

  /// Requests the stream, which opens as soon as its target exists.
  mutating func requestStream(_ request: PipeWireStreamRequest) {
    self.streamRequest = request
    targetName = request.targetName
    targetEndpoint = request.endpoint
  }

  /// A Boolean value that indicates whether the server is running and has reported all its objects.
  var isGraphComplete: Bool { server == .connected(isComplete: true) }

  /// A Boolean value that indicates whether the server is running but has not reported all its
  /// objects.
  var isWaitingForObjects: Bool { server == .connected(isComplete: false) }

  /// The requested node; nil if it does not exist or its name is not unique.
  var targetNodeID: UInt32? {
    let matchingNodeIDs = graph.nodeIDs(named: targetName, targetEndpoint)
    return matchingNodeIDs.count == 1 ? matchingNodeIDs.first : nil
  }

  /// The state of the links between the open stream and its target.
  private var linkState: PipeWireGraph.LinkState {
    guard isGraphComplete, case .open(let node?) = stream, let streamTargetID,
      streamTargetID == targetNodeID,
      let streamRequest
    else {
      return .incomplete
    }
    return graph.linkState(
      of: node, to: streamTargetID, channelCount: streamRequest.channelNames.count,
      isCapture: targetEndpoint.isCapture)
  }

  // MARK: - Events

  /// Receives an event of the server. Its effect on `isRouteVerified` is immediate.
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
    case .initialObjectsComplete:
      if case .connected = server {
        server = .connected(isComplete: true)
      }
    case .serverLost:
      if case .connected = server {
        server = .lost
      }
    }
    updateRouteVerification()
  }

  /// Updates `isRouteVerified`, and reports its changes.
  private mutating func updateRouteVerification() {
    let currentLinkState = linkState
    isRouteVerified = currentLinkState == .verified
    if isRouteVerified {
      linkSettlingDeadline = nil
    }
    if isRouteVerified, isStreamInterrupted {
      isStreamInterrupted = false
      if hasRouteBeenVerified {
        notices.append(.resumed)
      }
      hasRouteBeenVerified = true
    } else if !isRouteVerified, !isStreamInterrupted, !isStreamExpectedToResume(currentLinkState) {
      isStreamInterrupted = true
      notices.append(.interrupted(interruptionReason(currentLinkState)))
    }
  }

  /// Returns whether the stream is expected to be heard again, because it is paused or was just
  /// resumed and its links are merely inactive.
  private func isStreamExpectedToResume(_ linkState: PipeWireGraph.LinkState) -> Bool {
    guard isStreamPaused || linkSettlingDeadline != nil else { return false }
    guard isGraphComplete, case .open = stream, streamTargetID == targetNodeID else { return false }
    return linkState == .incomplete
  }

  /// Records that the owner pauses or resumes the stream. A pause deactivates the stream's links.
  mutating func setPaused(_ isPaused: Bool, at now: Duration) {
    self.isStreamPaused = isPaused
    linkSettlingDeadline = isPaused ? nil : now + Self.linkSettlingTimeout
    updateRouteVerification()
  }

  private func interruptionReason(_ linkState: PipeWireGraph.LinkState) -> String {
    if !isGraphComplete { return "the sound server stopped" }
    let endpointNoun = targetEndpoint == .source ? "source" : "sink"
    let matchCount = graph.nodeIDs(named: targetName, targetEndpoint).count
    if matchCount == 0 { return "the \(endpointNoun) disappeared" }
    if matchCount > 1 { return "\(matchCount) \(endpointNoun)s have this name" }
    if case .stray(let strayNodeName) = linkState {
      return "muted because a link connects the stream to '\(strayNodeName)'; remove this link"
    }
    return "the \(endpointNoun) was disconnected"
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
    if let deadline = linkSettlingDeadline, now >= deadline {
      linkSettlingDeadline = nil
      updateRouteVerification()
    }
    switch server {
    case .lost:
      return .disconnect
    case .absent(let nextAttemptTime):
      return now >= nextAttemptTime ? .connect : nil
    case .connected(let isGraphComplete):
      guard isGraphComplete else { return nil }
    }
    let nodeID = targetNodeID
    switch stream {
    case .failed:
      return .closeStream
    case .open:
      return streamTargetID == nodeID ? nil : .closeStream
    case .closed(let nextAttemptTime):
      guard let nodeID, var streamRequest else {
        targetFoundTime = nil
        return nil
      }
      let channels = graph.channelNames(of: nodeID, targetEndpoint)
      guard channels.count >= streamRequest.channelNames.count else {
        reportMissingChannels(channels.count, at: now)
        return nil
      }
      guard now >= nextAttemptTime else { return nil }
      streamRequest.channelNames = Array(channels.prefix(streamRequest.channelNames.count))
      return .openStream(streamRequest)
    }
  }

  /// Reports a target with too few channels, after the timeout for its ports to appear.
  private mutating func reportMissingChannels(_ count: Int, at now: Duration) {
    guard let foundTime = targetFoundTime else {
      targetFoundTime = now
      hasReportedMissingChannels = false
      return
    }
    guard now - foundTime >= Self.portAppearanceTimeout, !hasReportedMissingChannels else { return }
    hasReportedMissingChannels = true
    notices.append(.lacksChannels(count: count))
  }

  /// Returns the time until an action may be due if no event arrives; nil if none will be due.
  func timeUntilNextAction(at now: Duration) -> Duration? {
    switch server {
    case .lost:
      return .zero
    case .absent(let nextAttemptTime):
      return max(.zero, nextAttemptTime - now)
    case .connected(let isGraphComplete):
      guard isGraphComplete, targetNodeID != nil, streamRequest != nil else { return nil }
    }
    guard case .closed(let nextAttemptTime) = stream else {
      return linkSettlingDeadline.map { max(.zero, $0 - now) }
    }
    if let targetFoundTime, !hasReportedMissingChannels {
      return max(.zero, targetFoundTime + Self.portAppearanceTimeout - now)
    }
    return nextAttemptTime > now ? nextAttemptTime - now : nil
  }

  /// Records the start of an action. Call this method before the events of the action can arrive.
  mutating func beginAction(_ action: Action, at now: Duration) {
    switch action {
    case .connect:
      graph = PipeWireGraph()
      server = .connected(isComplete: false)
      stream = .closed(nextAttempt: .zero)
    case .disconnect:
      server = .absent(nextAttempt: now)
      stream = .closed(nextAttempt: .zero)
      streamTargetID = nil
      graph = PipeWireGraph()
    case .openStream(let request):
      self.streamRequest?.channelNames = request.channelNames
      streamTargetID = targetNodeID
      stream = .open(node: nil)
      targetFoundTime = nil
    case .closeStream:
      let hasFailed = stream == .failed
      stream = .closed(nextAttempt: hasFailed ? now + Self.openRetryInterval : now)
      streamTargetID = nil
    }
    updateRouteVerification()
  }

  /// Records the failure of an action that has begun.
  mutating func recordActionFailure(_ action: Action, at now: Duration) {
    switch action {
    case .connect:
      server = .absent(nextAttempt: now + Self.connectRetryInterval)
    case .openStream:
      stream = .closed(nextAttempt: now + Self.openRetryInterval)
      streamTargetID = nil
    case .disconnect, .closeStream:
      break
    }
    updateRouteVerification()
  }
}
