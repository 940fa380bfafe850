internal import HapticPlayback

/// Reads the nodes of a PipeWire server.
enum PipeWireRegistry {
  /// The sinks and sources of a server.
  struct Contents: Equatable {
    var sinks: [SoundServers.Sink] = []
    var sources: [SoundServers.Sink] = []
  }

  /// Connects to a server, and reads its nodes.
  ///
  /// - Parameters:
  ///   - remote: The name of the server; nil for the user's.
  ///   - limit: The time that the server has to answer.
  static func read(_ remote: String?, within limit: Duration) -> Result<
    Contents, SoundServers.Problem
  > {
    guard PipeWireLibraryClient.isInstalled else { return .failure(.libraryMissing) }
    let machine = PipeWireMachine(target: "", endpoint: .sink)
    guard let signal = try? WakeSignal(),
      let connection = try? PipeWireConnection(
        machine, clock: SystemTimeSource(), changeSignal: signal, owner: .none,
        makeClient: { PipeWireLibraryClient(remote: remote, handler: $0) })
    else {
      return .failure(.absent)
    }
    defer { connection.close() }
    connection.step()
    let isDone = connection.wait(within: limit) { !$0.isWaitingForObjects }
    return connection.withMachine { machine in
      guard isDone else { return .failure(.silent) }
      return machine.isComplete ? .success(Contents(machine)) : .failure(.absent)
    }
  }
}

extension PipeWireRegistry.Contents {
  /// Collects the sinks and sources that a machine knows.
  init(_ machine: PipeWireMachine) {
    func endpoints(_ endpoint: PipeWireGraph.Endpoint) -> [SoundServers.Sink] {
      machine.graph.endpoints(endpoint).compactMap { id in
        machine.graph.nodes[id].map { node in
          SoundServers.Sink(
            name: node.name,
            description: node.description.isEmpty ? node.name : node.description,
            channels: machine.graph.channels(of: id, endpoint), graphRate: machine.graphRate)
        }
      }
    }
    sinks = endpoints(.sink)
    sources = endpoints(.source)
  }
}
