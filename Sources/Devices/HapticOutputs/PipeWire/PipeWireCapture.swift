package import HapticPlayback
internal import Synchronization

/// Records only one named PipeWire source, or the sound of one named sink.
///
/// Frames arrive only while all links of the stream are known to come from that node. A source that
/// disappears is recorded again when it returns.
package final class PipeWireCapture: CaptureSource {
  /// The time that the session manager has to connect a stream.
  private static let connectTimeout = Duration.seconds(3)
  /// The maximum number of channels to record.
  private static let maximumChannelCount = 2

  /// The sample rate in hertz.
  package let rate: Double
  /// The number of interleaved channels, 1 or 2.
  package let channelCount: Int

  private let connection: PipeWireConnection
  private let recorder: PipeWireRecorder
  private let clock: any TimeSource
  private var events: [CaptureEvent] = []
  private var lossTime: Duration?
  private var reportedLostCount = 0
  private var chunk: [Float]

  /// Opens a source and starts to record.
  ///
  /// - Parameters:
  ///   - device: The name of a source or a sink, such as `pipewire:microphone`.
  ///   - rate: The sample rate in hertz; the server converts to it.
  ///   - periodSeconds: The interval between deliveries in seconds.
  package convenience init(_ device: String, rate: Int, periodSeconds: Double) throws(OutputError) {
    guard let node = NamedSink(device: device), node.server == .pipeWire else {
      throw OutputError(
        .invalidName, output: device, "cannot read the source's name; use 'pipewire:NODE'")
    }
    let (endpoint, source) = try Self.find(node, device: device)
    let channels = Array(source.channels.prefix(Self.maximumChannelCount))
    guard !channels.isEmpty else {
      throw OutputError(.unsupportedFormat, output: device, "the source has no channels")
    }
    let request = PipeWireStreamRequest(
      target: node.sink, endpoint: endpoint, rate: rate,
      cycleSize: max(32, Int(periodSeconds * Double(rate))), channels: channels)
    try self.init(request, device: device, clock: SystemTimeSource()) {
      PipeWireLibraryClient(remote: node.remote, handler: $0)
    }
    let isConnected = connection.wait(within: Self.connectTimeout) { $0.isVerified }
    guard isConnected else {
      connection.close()
      throw OutputError(
        .unresponsive, output: device,
        """
        PipeWire did not connect the stream to this source; check that its session manager, such \
        as WirePlumber, is running
        """)
    }
  }

  /// Creates a capture on a client.
  init(
    _ request: PipeWireStreamRequest, device: String, clock: any TimeSource,
    makeClient: (PipeWireHandler) -> (any PipeWireClient)?
  ) throws(OutputError) {
    rate = Double(request.rate)
    channelCount = request.channels.count
    recorder = PipeWireRecorder(rate: rate, channelCount: channelCount)
    self.clock = clock
    chunk = [Float](repeating: 0, count: 4_096 * channelCount)
    var machine = PipeWireMachine(target: request.target, endpoint: request.endpoint)
    machine.request = request
    do throws(PlaybackError) {
      let connection = try PipeWireConnection(
        machine, clock: clock, changeSignal: try WakeSignal(), owner: recorder.owner,
        makeClient: makeClient)
      guard let connection else { throw PlaybackError.fileLimitReached }
      try connection.start()
      self.connection = connection
    } catch {
      throw OutputError(.other, output: device, error.description)
    }
  }

  deinit { connection.close() }

  /// Finds a sink or a source by its name.
  private static func find(_ node: NamedSink, device: String) throws(OutputError) -> (
    PipeWireGraph.Endpoint, SoundServers.Sink
  ) {
    do throws(OutputError) {
      return (.monitor, try node.find(on: .system))
    } catch {
      guard error.kind == .notFound,
        case .success(let sources) = SoundServers.system.pipeWireSources(node.remote)
      else { throw error }
      let matches = sources.filter { $0.name == node.sink }
      if matches.count == 1 { return (.source, matches[0]) }
      let names = (error.alternatives + sources.map(\.name)).sorted()
      throw OutputError(
        .notFound, output: device,
        "no such PipeWire source or sink; available: \(names.joined(separator: ", "))",
        alternatives: names)
    }
  }

  /// Appends the interleaved frames since the last call. It never waits.
  ///
  /// - Returns: The oldest event that has not been returned yet; nil if there is none.
  package func read(into samples: inout [Float]) -> CaptureEvent? {
    while true {
      var space = chunk.mutableSpan
      let count = recorder.read(into: &space)
      guard count > 0 else { break }
      samples.append(contentsOf: chunk.prefix(count * channelCount))
    }
    receiveNotices()
    let lostCount = recorder.lostCount
    if lostCount > reportedLostCount {
      let milliseconds = 1_000 * Double(lostCount - reportedLostCount) / rate
      reportedLostCount = lostCount
      events.append(.interrupted("\(max(1, Int(milliseconds.rounded()))) ms of audio lost"))
      events.append(.resumed(.seconds(milliseconds / 1_000)))
    }
    return events.isEmpty ? nil : events.removeFirst()
  }

  private func receiveNotices() {
    for notice in connection.withMachine({ $0.drainNotices() }) {
      switch notice {
      case .interrupted(let reason):
        lossTime = clock.now
        events.append(.interrupted(reason))
      case .resumed:
        events.append(.resumed(lossTime.map { clock.now - $0 } ?? .zero))
        lossTime = nil
      case .lacksChannels(let count):
        events.append(
          .interrupted(
            "the source reconnected with only \(count == 1 ? "1 channel" : "\(count) channels")"))
      }
    }
  }
}

/// Receives the frames of a recording stream on the real-time thread of PipeWire.
final class PipeWireRecorder: @unchecked Sendable {
  /// The length of the buffer in seconds, which is how long a busy machine may delay reading.
  private static let bufferSeconds = 1.0

  let ring: FrameRing
  private let isGateOpen = Atomic<Bool>(false)
  private let isNewStream = Atomic<Bool>(false)
  private let writtenCount = Atomic<Int>(0)
  private let readCount = Atomic<Int>(0)
  private let lost = Atomic<Int>(0)
  // [real-time thread]
  private var timeline: PipeWireTimeline

  init(rate: Double, channelCount: Int) {
    ring = FrameRing(
      minimumCapacity: max(Int(Self.bufferSeconds * rate), 4 * PipeWireTransfer.maximumCycleSize),
      channelCount: channelCount)
    timeline = PipeWireTimeline(rate: rate)
  }

  /// The number of frames that the server or the buffer lost.
  var lostCount: Int { lost.load(ordering: .relaxed) }

  /// The owner of a stream that is recorded.
  var owner: PipeWireConnection.Owner {
    PipeWireConnection.Owner(
      setGate: { self.isGateOpen.store($0, ordering: .releasing) },
      prepareForStream: { self.isNewStream.store(true, ordering: .releasing) },
      process: { self.process(&$0, $1) })
  }

  /// Stores the frames of a cycle: [real-time thread].
  func process(_ input: inout MutableSpan<Float>, _ cycle: PipeWireCycle) {
    let times = PipeWireTimeline.Cycle(cycle)
    if isNewStream.exchange(false, ordering: .acquiringAndReleasing) {
      timeline.start(at: .init(frame: timeline.position, seconds: times.startSeconds))
    }
    let expected = timeline.position
    let first = timeline.begin(times)
    timeline.end(heard: 0..<0, starved: 0..<0)
    guard isGateOpen.load(ordering: .acquiring) else { return }
    if first > expected {
      lost.wrappingAdd(first - expected, ordering: .relaxed)
    }
    let written = writtenCount.load(ordering: .relaxed)
    guard written + cycle.frameCount - readCount.load(ordering: .acquiring) <= ring.capacity else {
      lost.wrappingAdd(cycle.frameCount, ordering: .relaxed)
      return
    }
    ring.write(input.span, at: written)
    writtenCount.store(written + cycle.frameCount, ordering: .releasing)
  }

  /// Copies the oldest frames: [one reading thread].
  ///
  /// - Returns: The number of frames.
  func read(into samples: inout MutableSpan<Float>) -> Int {
    let position = readCount.load(ordering: .relaxed)
    let capacity = samples.count / ring.channelCount
    let count = min(capacity, writtenCount.load(ordering: .acquiring) - position)
    guard count > 0 else { return 0 }
    var part = samples._mutatingExtracting(first: count * ring.channelCount)
    ring.read(into: &part, at: position)
    readCount.store(position + count, ordering: .releasing)
    return count
  }
}

/// Opens sources of live sound by name.
package enum CaptureDevices {
  /// Opens a PipeWire node or an ALSA device, and starts to record.
  ///
  /// - Parameters:
  ///   - device: The name of the source.
  ///   - rates: The sample rates to try, in hertz.
  ///   - periodSeconds: The interval between deliveries in seconds.
  package static func open(_ device: String, rates: [Int], periodSeconds: Double)
    throws(OutputError)
    -> any CaptureSource
  {
    if let node = NamedSink(device: device), node.server == .pipeWire,
      device.hasPrefix(PipeWireBackend.scheme + ":")
    {
      if PipeWireLibraryClient.hasStreams, let rate = rates.first {
        return try PipeWireCapture(device, rate: rate, periodSeconds: periodSeconds)
      }
      return try LiveCapture(
        node.plugInDevice, rates: rates, periodSeconds: periodSeconds)
    }
    return try LiveCapture(device, rates: rates, periodSeconds: periodSeconds)
  }
}
