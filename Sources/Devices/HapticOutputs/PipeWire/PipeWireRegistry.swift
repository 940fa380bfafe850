internal import HapticPlayback

/// Reads the nodes of a PipeWire server.
enum PipeWireRegistry {
  /// The sinks and sources of a server.
  struct Contents: Equatable {
    var sinks: [SoundServers.Sink] = []
    var sources: [SoundServers.Sink] = []
  }

  /// Connects to a server, reads its nodes, and disconnects.
  ///
  /// - Parameters:
  ///   - remote: The name of the server; nil for the user's.
  ///   - limit: The time that the server has to answer.
  static func read(_ remote: String?, within limit: Duration) -> Result<
    Contents, SoundServers.QueryProblem
  > {
    connect(to: remote, clock: SystemTimeSource(), within: limit).map { connection in
      defer { connection.close() }
      return connection.withMachine { Contents($0) }
    }
  }

  /// Connects to a server, and waits until it has reported its nodes.
  ///
  /// - Parameters:
  ///   - remote: The name of the server; nil for the user's.
  ///   - clock: The clock.
  ///   - limit: The time that the server has to answer.
  /// - Returns: A connection without a stream and without a thread, which must be closed.
  static func connect(
    to remote: String?, clock: any TimeSource, within limit: Duration
  ) -> Result<PipeWireConnection, SoundServers.QueryProblem> {
    guard PipeWireLibraryClient.isInstalled else { return .failure(.libraryMissing) }
    guard let changeSignal = try? WakeSignal(),
      let connection = try? PipeWireConnection(
        PipeWireStateMachine(), clock: clock, changeSignal: changeSignal, owner: .none,
        makeClient: { PipeWireLibraryClient(remote: remote, handler: $0) })
    else {
      return .failure(.absent)
    }
    connection.performDueActions()
    let isEnumerationFinished = connection.waitForMachine(within: limit) { !$0.isWaitingForObjects }
    let isComplete = connection.withMachine(\.isGraphComplete)
    guard isEnumerationFinished, isComplete else {
      connection.close()
      return .failure(isEnumerationFinished ? .absent : .noReply)
    }
    return .success(connection)
  }
}

extension PipeWireRegistry.Contents {
  /// Collects the sinks and sources that the server has reported to a state machine.
  init(_ machine: PipeWireStateMachine) {
    func listEndpoints(_ endpoint: PipeWireGraph.Endpoint) -> [SoundServers.Sink] {
      machine.graph.endpointNodeIDs(endpoint).compactMap { id in
        machine.graph.nodes[id].map { node in
          SoundServers.Sink(
            name: node.name,
            description: node.description.isEmpty ? node.name : node.description,
            channelNames: machine.graph.channelNames(of: id, endpoint), graphRate: machine.graphRate
          )
        }
      }
    }
    sinks = listEndpoints(.sink)
    sources = listEndpoints(.source)
  }
}
