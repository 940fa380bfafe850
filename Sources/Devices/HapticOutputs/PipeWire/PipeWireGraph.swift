/// The nodes, ports, and links of a PipeWire server, as its registry reports them.
///
/// The graph proves that a stream is connected to one node only. The proof does not depend on the
/// session manager, which creates the links.
struct PipeWireGraph {
  /// The type of a node that a stream can be connected to.
  enum Endpoint: Equatable, Sendable {
    /// A sink that plays.
    case sink
    /// A sink whose sound is recorded.
    case monitor
    /// A source that is recorded.
    case source

    var isCapture: Bool { self != .sink }

    /// The values of the property `media.class` that nodes of this type have.
    fileprivate var mediaClasses: Set<String> {
      switch self {
      case .sink, .monitor: ["Audio/Sink", "Audio/Duplex", "Audio/Sink/Virtual"]
      case .source: ["Audio/Source", "Audio/Duplex", "Audio/Source/Virtual"]
      }
    }
  }

  struct Node: Equatable {
    var name: String
    var description: String
    var mediaClass: String
  }

  struct Port: Equatable {
    var nodeID: UInt32
    /// The index of the port among the ports of its node.
    var portIndex: UInt32
    /// The name of the audio channel, such as `FL`.
    var channelName: String
    var isInput: Bool
    var isMonitor: Bool
  }

  struct Link: Equatable {
    var outputNodeID: UInt32
    var outputPortID: UInt32
    var inputNodeID: UInt32
    var inputPortID: UInt32
    /// A Boolean value that indicates whether samples flow through the link.
    var isActive = false
  }

  /// The state of the links between a stream and its target.
  enum LinkState: Equatable {
    /// At least one channel has no active link yet.
    case incomplete
    /// All channels are linked to the target, and to no other node.
    case verified
    /// At least one link leads to a node other than the target.
    case stray(name: String)
  }

  private(set) var nodes: [UInt32: Node] = [:]
  private var ports: [UInt32: Port] = [:]
  private var links: [UInt32: Link] = [:]

  // MARK: - Changes

  mutating func insert(_ node: Node, id: UInt32) { nodes[id] = node }

  mutating func insert(_ port: Port, id: UInt32) { ports[id] = port }

  mutating func insert(_ link: Link, id: UInt32) { links[id] = link }

  mutating func setLink(_ id: UInt32, isActive: Bool) { links[id]?.isActive = isActive }

  mutating func remove(_ id: UInt32) {
    nodes[id] = nil
    ports[id] = nil
    links[id] = nil
  }

  // MARK: - Endpoints

  /// Returns the identifiers of the nodes that have the given name and type.
  func nodeIDs(named name: String, _ endpoint: Endpoint) -> [UInt32] {
    endpointNodeIDs(endpoint).filter { nodes[$0]?.name == name }
  }

  /// Returns the identifiers of all nodes of a type, in the order of their creation.
  func endpointNodeIDs(_ endpoint: Endpoint) -> [UInt32] {
    let mediaClasses = endpoint.mediaClasses
    return nodes.filter { mediaClasses.contains($0.value.mediaClass) }.keys.sorted()
  }

  /// Returns the channel names of a node, in the order of its ports.
  func channelNames(of node: UInt32, _ endpoint: Endpoint) -> [String] {
    let endpointPorts = ports.values.filter { port in
      port.nodeID == node && port.isInput == !endpoint.isCapture
        && port.isMonitor == (endpoint == .monitor)
    }
    return endpointPorts.sorted { $0.portIndex < $1.portIndex }.map(\.channelName)
  }

  // MARK: - Identity

  /// Returns the state of the links between a stream and its target.
  ///
  /// - Parameters:
  ///   - stream: The node of the stream.
  ///   - target: The node that the stream must be connected to.
  ///   - channelCount: The number of channels, each of which needs an active link.
  ///   - isCapture: A Boolean value that indicates whether the stream records.
  func linkState(of stream: UInt32, to target: UInt32, channelCount: Int, isCapture: Bool)
    -> LinkState
  {
    var linkedPorts: Set<UInt32> = []
    for link in links.values {
      guard (isCapture ? link.inputNodeID : link.outputNodeID) == stream else { continue }
      let peer = isCapture ? link.outputNodeID : link.inputNodeID
      guard peer == target else {
        return .stray(name: nodes[peer]?.name ?? "\(peer)")
      }
      if link.isActive {
        linkedPorts.insert(isCapture ? link.inputPortID : link.outputPortID)
      }
    }
    return linkedPorts.count >= channelCount ? .verified : .incomplete
  }
}
