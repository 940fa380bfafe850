import HapticPlayback
import Testing

@testable import HapticOutputs

/// A PipeWire server in virtual time, with faults on request.
///
/// The clock of the server advances in waits. At every cycle, the server calls the stream. Every
/// two milliseconds, the connection performs its due actions, as on its own thread.
final class FakePipeWire: PipeWireClient, TimeSource, @unchecked Sendable {
  static let rate = 48_000
  static let cycleSize = 256

  /// A change of the server.
  enum Change {
    case removeSink
    case addSink
    case addTwin
    case removeTwin
    case stopServer
    case startServer
    case linkToDesktop
    case unlinkFromDesktop
    /// The session manager ends the stream.
    case refuseStream
    case unlink
    case relink
    /// The server runs no cycles.
    case stall
    /// The server runs cycles again.
    case continueCycles
    /// The server discards the frames of the last cycle.
    case repeatCycle
  }

  /// The output of the stream in a cycle.
  struct Output {
    var seconds: Double
    /// The position of the first sample in the cycle that is not zero.
    var offset: Int
    /// The samples that are not zero, which are consecutive numbers.
    var playedFrames: Range<Int>
    /// A Boolean value that indicates whether all links lead to the sink.
    var isConnected: Bool
  }

  private(set) var outputs: [Output] = []
  private var samples = [Float](repeating: 0, count: 2 * cycleSize)
  var changes: [(time: Duration, change: Change)] = []
  var handler: PipeWireHandler?
  weak var connection: PipeWireConnection?
  private let systemTime = SystemTimeSource()

  private(set) var now = Duration.seconds(100)
  private var nextCycle = Duration.seconds(100)
  private var ticks: UInt64 = 4_711
  private var isRunning = true
  private var isConnected = false
  private var isStalled = false
  private var isActive = true
  private var sinkID: UInt32? = 30
  private var twinID: UInt32?
  private var streamID: UInt32?
  private var links: [UInt32: PipeWireGraph.Link] = [:]
  private var nextID: UInt32 = 100
  private var nextStep = Duration.seconds(100)

  // MARK: - Client

  func connect() -> Bool {
    guard isRunning else { return false }
    isConnected = true
    send(.setRate(Self.rate))
    announce(sink: "desktop", id: 20)
    if let sinkID {
      announce(sink: "shaker", id: sinkID)
    }
    if let twinID {
      announce(sink: "shaker", id: twinID)
    }
    send(.initialObjectsComplete)
    return true
  }

  func disconnect() {
    isConnected = false
    closeStream()
  }

  func openStream(_ request: PipeWireStreamRequest) -> Bool {
    guard isConnected, isRunning, request.targetName == "shaker", streamID == nil else {
      return false
    }
    let id = newID()
    streamID = id
    isActive = true
    send(.streamConnecting(node: .max))
    send(.streamReady(node: id))
    if let sinkID {
      link(to: sinkID)
    }
    return true
  }

  func closeStream() {
    for id in links.keys {
      send(.removeObject(id: id))
    }
    links = [:]
    streamID = nil
  }

  func setActive(_ isActive: Bool) {
    self.isActive = isActive
    for id in links.keys {
      links[id]?.isActive = isActive
      send(.changeLink(id: id, isActive: isActive))
    }
  }

  func free() { closeStream() }

  // MARK: - Time

  func wait(for descriptors: inout [PollDescriptor], timeout: Duration?) {
    let end = now + (timeout ?? .seconds(1))
    while true {
      systemTime.wait(for: &descriptors, timeout: .zero)
      let isReady = descriptors.contains { $0.descriptor >= 0 && $0.receivedEvents != 0 }
      if isReady || now >= end { return }
      advance(to: end)
    }
  }

  /// Advances to the next change, step, or cycle, but not past a time.
  private func advance(to end: Duration) {
    let nextChange = changes.first?.time ?? end
    now = max(now, min(end, nextCycle, nextStep, nextChange))
    while let change = changes.first, change.time <= now {
      changes.removeFirst()
      apply(change.change)
    }
    if now >= nextStep {
      nextStep = now + .milliseconds(2)
      connection?.performDueActions()
    }
    if now >= nextCycle {
      runCycle()
      nextCycle += .nanoseconds(Int64(1e9 * Double(Self.cycleSize) / Double(Self.rate)))
      ticks += UInt64(Self.cycleSize)
    }
  }

  private func runCycle() {
    guard !isStalled, isRunning, isActive, streamID != nil, !links.isEmpty, let handler else {
      return
    }
    var span = samples.mutableSpan
    handler.process(
      &span,
      PipeWireCycle(
        frameCount: Self.cycleSize, ticks: ticks, secondsPerTick: 1 / Double(Self.rate),
        startNanoseconds: Int64(nextCycle / .nanoseconds(1)), delayNanoseconds: 2_000_000))
    outputs.append(output())
  }

  /// Reads the last cycle.
  private func output() -> Output {
    var offset = 0
    var playedFrames = 0..<0
    for index in 0..<Self.cycleSize {
      let frameNumber = Int(samples[2 * index])
      guard frameNumber != 0 else { continue }
      if playedFrames.isEmpty {
        offset = index
        playedFrames = frameNumber..<(frameNumber + 1)
      } else if frameNumber == playedFrames.upperBound {
        playedFrames = playedFrames.lowerBound..<(frameNumber + 1)
      } else {
        Issue.record("frame \(frameNumber) follows frame \(playedFrames.upperBound - 1)")
      }
    }
    return Output(
      seconds: nextCycle / .seconds(1), offset: offset, playedFrames: playedFrames,
      isConnected: links.count == 2 && links.values.allSatisfy { $0.inputNodeID == sinkID })
  }

  // MARK: - Faults

  private func apply(_ change: Change) {
    switch change {
    case .removeSink:
      guard let id = sinkID else { return }
      unlink { $0.inputNodeID == id }
      sinkID = nil
      send(.removeObject(id: id))
    case .addSink:
      guard sinkID == nil else { return }
      let id = newID()
      sinkID = id
      if isConnected {
        announce(sink: "shaker", id: id)
      }
    case .addTwin:
      guard twinID == nil else { return }
      let id = newID()
      twinID = id
      if isConnected {
        announce(sink: "shaker", id: id)
      }
    case .removeTwin:
      guard let id = twinID else { return }
      twinID = nil
      send(.removeObject(id: id))
    case .stopServer:
      guard isRunning else { return }
      isRunning = false
      send(.serverLost)
    case .startServer:
      isRunning = true
    case .linkToDesktop:
      link(to: 20, channels: 1)
    case .unlinkFromDesktop:
      unlink { $0.inputNodeID == 20 }
    case .refuseStream:
      guard streamID != nil else { return }
      send(.streamFailed)
    case .unlink:
      unlink { $0.inputNodeID == self.sinkID }
    case .relink:
      if let sinkID, !links.values.contains(where: { $0.inputNodeID == sinkID }) {
        link(to: sinkID)
      }
    case .stall:
      isStalled = true
    case .continueCycles:
      isStalled = false
    case .repeatCycle:
      // The frames of the last cycle are not heard, and the next cycle has the same ticks.
      guard !isStalled, isRunning, let lastOutput = outputs.last else { return }
      let ageSeconds = now / .seconds(1) - lastOutput.seconds
      if ageSeconds < 0.006, lastOutput.isConnected, !lastOutput.playedFrames.isEmpty {
        outputs.removeLast()
        ticks -= UInt64(Self.cycleSize)
        nextCycle -= .nanoseconds(Int64(1e9 * Double(Self.cycleSize) / Double(Self.rate)))
      }
    }
  }

  private func announce(sink name: String, id: UInt32) {
    send(.addNode(.init(name: name, description: "", mediaClass: "Audio/Sink"), id: id))
    for (position, channel) in ["FL", "FR"].enumerated() {
      send(
        .addPort(
          .init(
            nodeID: id, portIndex: UInt32(position), channelName: channel, isInput: true,
            isMonitor: false), id: newID()))
    }
  }

  private func link(to node: UInt32, channels: Int = 2) {
    guard let streamID else { return }
    for channel in 0..<UInt32(channels) {
      let id = newID()
      let link = PipeWireGraph.Link(
        outputNodeID: streamID, outputPortID: 1_000 + channel, inputNodeID: node,
        inputPortID: 2_000 + channel, isActive: false)
      links[id] = link
      links[id]?.isActive = true
      send(.addLink(link, id: id))
      send(.changeLink(id: id, isActive: true))
    }
  }

  private func unlink(where isChosen: (PipeWireGraph.Link) -> Bool) {
    for (id, link) in links where isChosen(link) {
      links[id] = nil
      send(.removeObject(id: id))
    }
  }

  private func send(_ event: PipeWireStateMachine.Event) {
    if isConnected {
      handler?.receive(event)
    }
  }

  private func newID() -> UInt32 {
    nextID += 1
    return nextID
  }
}
