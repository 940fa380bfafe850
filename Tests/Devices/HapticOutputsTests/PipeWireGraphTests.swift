import Testing

@testable import HapticOutputs

/// A stream with two channels, node 50, and two stereo sinks: `shaker`, node 10, and `desktop`,
/// node 20.
@Suite struct PipeWireGraphTests {
  private var graph = PipeWireGraph()

  init() {
    for (id, name) in [(UInt32(10), "shaker"), (20, "desktop")] {
      graph.insert(.init(name: name, description: "", mediaClass: "Audio/Sink"), id: id)
      for (position, channel) in ["FL", "FR"].enumerated() {
        let position = UInt32(position)
        graph.insert(
          .init(
            nodeID: id, portIndex: position, channelName: channel, isInput: true, isMonitor: false),
          id: id + 1 + position)
        graph.insert(
          .init(
            nodeID: id, portIndex: position, channelName: channel, isInput: false, isMonitor: true),
          id: id + 3 + position)
      }
    }
  }

  private static func link(port: UInt32, to node: UInt32, isActive: Bool = true)
    -> PipeWireGraph.Link
  {
    .init(
      outputNodeID: 50, outputPortID: port, inputNodeID: node, inputPortID: node + 1,
      isActive: isActive)
  }

  private func route() -> PipeWireGraph.LinkState {
    graph.linkState(of: 50, to: 10, channelCount: 2, isCapture: false)
  }

  @Test("A stream without links has no route")
  func noLink() { #expect(route() == .incomplete) }

  @Test("A route needs an active link of every channel")
  mutating func everyChannelNeedsALink() {
    graph.insert(Self.link(port: 51, to: 10), id: 100)
    #expect(route() == .incomplete)
    graph.insert(Self.link(port: 51, to: 10), id: 101)
    #expect(route() == .incomplete)
    graph.insert(Self.link(port: 52, to: 10, isActive: false), id: 102)
    #expect(route() == .incomplete)
    graph.setLink(102, isActive: true)
    #expect(route() == .verified)
    graph.remove(102)
    #expect(route() == .incomplete)
  }

  @Test("A link to another node is stray, even before it is active")
  mutating func strayLink() {
    graph.insert(Self.link(port: 51, to: 10), id: 100)
    graph.insert(Self.link(port: 52, to: 10), id: 101)
    graph.insert(Self.link(port: 52, to: 20, isActive: false), id: 102)
    #expect(route() == .stray(name: "desktop"))
    graph.remove(102)
    #expect(route() == .verified)
  }

  @Test("A node with the identifier of a removed node is another node")
  mutating func identifierIsReused() {
    graph.remove(10)
    graph.insert(.init(name: "hdmi", description: "", mediaClass: "Audio/Sink"), id: 10)
    #expect(graph.nodeIDs(named: "shaker", .sink) == [])
  }

  @Test("A link of other nodes does not belong to the stream")
  mutating func linksOfOthers() {
    graph.insert(
      .init(outputNodeID: 60, outputPortID: 61, inputNodeID: 20, inputPortID: 21, isActive: true),
      id: 100)
    #expect(route() == .incomplete)
  }

  @Test("A recording stream is linked from its source")
  mutating func capture() {
    for (port, id) in [(UInt32(51), UInt32(100)), (52, 101)] {
      graph.insert(
        .init(
          outputNodeID: 10, outputPortID: 13, inputNodeID: 50, inputPortID: port, isActive: true),
        id: id)
    }
    #expect(graph.linkState(of: 50, to: 10, channelCount: 2, isCapture: true) == .verified)
    #expect(
      graph.linkState(of: 50, to: 20, channelCount: 2, isCapture: true) == .stray(name: "shaker"))
  }

  @Test("The channels of a node are those of its ports, in their order")
  func channels() {
    #expect(graph.channelNames(of: 10, .sink) == ["FL", "FR"])
    #expect(graph.channelNames(of: 10, .monitor) == ["FL", "FR"])
    #expect(graph.channelNames(of: 10, .source) == [])
    #expect(graph.endpointNodeIDs(.sink) == [10, 20])
    #expect(graph.endpointNodeIDs(.source) == [])
  }
}
