package import HapticPlayback
internal import RealtimeMemory
internal import Synchronization

/// Records from one named PipeWire source, or the output of one named sink, and from no other node.
///
/// Frames arrive only while all links of the stream are known to come from that node. A source that
/// disappears is recorded again when it returns.
package final class PipeWireCapture: CaptureSource {
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
  private var interruptionTime: Duration?
  private var reportedLostFrameCount = 0
  private var chunkSamples: [Float]

  /// Opens a source and starts to record.
  ///
  /// - Parameters:
  ///   - device: The name of a source or a sink, such as `pipewire:microphone`.
  ///   - rate: The sample rate in hertz; the server converts to it.
  ///   - periodSeconds: The interval between deliveries in seconds.
  package init(_ device: String, rate: Int, periodSeconds: Double) throws(OutputError) {
    guard let captureNode = NamedSink(device: device), captureNode.server == .pipeWire else {
      throw OutputError(
        .invalidName, output: device, "cannot read the source's name; use 'pipewire:NODE'")
    }
    try captureNode.validateSinkName()
    let clock = SystemTimeSource()
    let connection = try PipeWireRegistry.connect(
      to: captureNode.remoteServerName, clock: clock,
      within: .seconds(SoundServers.queryTimeoutSeconds)
    ).valueOrOutputError(for: device)
    do throws(OutputError) {
      let contents = connection.withMachine { PipeWireRegistry.Contents($0) }
      let (endpoint, source) = try Self.findNode(captureNode, in: contents, device: device)
      let channels = Array(source.channelNames.prefix(Self.maximumChannelCount))
      guard !channels.isEmpty else { throw OutputError.lacksPorts(device, nodeKind: "source") }
      let recorder = PipeWireRecorder(rate: Double(rate), channelCount: channels.count)
      let request = PipeWireStreamRequest(
        targetName: captureNode.sinkName, endpoint: endpoint, rate: rate,
        cycleSize: max(32, Int(periodSeconds * Double(rate))), channelNames: channels)
      connection.requestStream(request, for: recorder.streamCallbacks)
      try connection.startStream(of: device, to: "source")
      self.recorder = recorder
    } catch {
      connection.close()
      throw error
    }
    self.connection = connection
    self.clock = clock
    self.rate = Double(rate)
    channelCount = recorder.channelCount
    chunkSamples = [Float](repeating: 0, count: 4_096 * recorder.channelCount)
  }

  deinit { connection.close() }

  /// Finds a sink or a source by its name.
  private static func findNode(
    _ node: NamedSink, in contents: PipeWireRegistry.Contents, device: String
  ) throws(OutputError) -> (PipeWireGraph.Endpoint, SoundServers.Sink) {
    do throws(OutputError) {
      return (.monitor, try node.findSink(among: contents.sinks))
    } catch {
      guard error.kind == .notFound else { throw error }
      let matches = contents.sources.filter { $0.name == node.sinkName }
      if matches.count == 1 { return (.source, matches[0]) }
      let names = (error.alternativeNames + contents.sources.map(\.name)).sorted()
      throw OutputError(
        .notFound, output: device,
        "no such PipeWire source or sink; available: \(names.joined(separator: ", "))",
        alternativeNames: names)
    }
  }

  /// Appends the interleaved frames since the last call. It never waits.
  ///
  /// - Returns: The oldest event that has not been returned yet; nil if there is none.
  package func read(into samples: inout [Float]) -> CaptureEvent? {
    while true {
      let sampleCount = recorder.drain(into: &chunkSamples)
      guard sampleCount > 0 else { break }
      samples.append(contentsOf: chunkSamples.prefix(sampleCount))
    }
    receiveConnectionNotices()
    let lostFrameCount = recorder.lostFrameCount
    if lostFrameCount > reportedLostFrameCount {
      let milliseconds = 1_000 * Double(lostFrameCount - reportedLostFrameCount) / rate
      reportedLostFrameCount = lostFrameCount
      events.append(.interrupted("\(max(1, Int(milliseconds.rounded()))) ms of audio lost"))
      events.append(.resumed(.seconds(milliseconds / 1_000)))
    }
    return events.isEmpty ? nil : events.removeFirst()
  }

  private func receiveConnectionNotices() {
    for notice in connection.withMachine({ $0.drainNotices() }) {
      switch notice {
      case .interrupted(let reason):
        interruptionTime = clock.now
        events.append(.interrupted(reason))
      case .resumed:
        events.append(.resumed(interruptionTime.map { clock.now - $0 } ?? .zero))
        interruptionTime = nil
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
  /// The length of the buffer in seconds. A busy machine may delay reading by this time.
  private static let bufferSeconds = 1.0

  let channelCount: Int
  private let sampleQueue: RingQueue<Float>
  private let isGateOpen = Atomic<Bool>(false)
  private let isNewStream = Atomic<Bool>(false)
  private let lostFrameCounter = Atomic<Int>(0)
  // [real-time thread]
  private var timeline: PipeWireTimeline

  init(rate: Double, channelCount: Int) {
    self.channelCount = channelCount
    let frameCount = max(Int(Self.bufferSeconds * rate), 4 * PipeWireTransfer.maximumCycleSize)
    sampleQueue = RingQueue(capacity: frameCount * channelCount, filler: 0)
    timeline = PipeWireTimeline(rate: rate)
  }

  /// The number of frames that were lost because the server skipped them or the buffer was full.
  var lostFrameCount: Int { lostFrameCounter.load(ordering: .relaxed) }

  /// The callbacks through which the connection delivers the recorded stream.
  var streamCallbacks: PipeWireConnection.StreamCallbacks {
    PipeWireConnection.StreamCallbacks(
      setStreamGateOpen: { self.isGateOpen.store($0, ordering: .releasing) },
      prepareForStream: { self.isNewStream.store(true, ordering: .releasing) },
      process: { self.process(&$0, $1) })
  }

  /// Stores the frames of a cycle. PipeWire's real-time thread calls this method.
  func process(_ input: inout MutableSpan<Float>, _ cycle: PipeWireCycle) {
    let cycleTimes = PipeWireTimeline.Cycle(cycle)
    if isNewStream.exchange(false, ordering: .acquiringAndReleasing) {
      timeline.start(at: .init(frame: timeline.nextFrame, seconds: cycleTimes.startSeconds))
    }
    let expectedFrame = timeline.nextFrame
    let firstFrame = timeline.beginCycle(cycleTimes)
    timeline.endCycle(heard: 0..<0, starved: 0..<0)
    guard isGateOpen.load(ordering: .acquiring) else { return }
    if firstFrame > expectedFrame {
      lostFrameCounter.wrappingAdd(firstFrame - expectedFrame, ordering: .relaxed)
    }
    if !sampleQueue.write(input.span) {
      lostFrameCounter.wrappingAdd(cycle.frameCount, ordering: .relaxed)
    }
  }

  /// Moves the oldest samples, in whole frames, to the start of an array whose length is a multiple
  /// of the number of channels. Only one thread may read.
  ///
  /// - Returns: The number of samples.
  func drain(into destination: inout [Float]) -> Int { sampleQueue.drain(into: &destination) }
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
    if let pipeWireNode = NamedSink(device: device), pipeWireNode.server == .pipeWire,
      device.hasPrefix(PipeWireBackend.scheme + ":")
    {
      if PipeWireLibraryClient.hasStreams, let rate = rates.first {
        return try PipeWireCapture(device, rate: rate, periodSeconds: periodSeconds)
      }
      return try LiveCapture(
        pipeWireNode.plugInDeviceName, rates: rates, periodSeconds: periodSeconds)
    }
    return try LiveCapture(device, rates: rates, periodSeconds: periodSeconds)
  }
}
