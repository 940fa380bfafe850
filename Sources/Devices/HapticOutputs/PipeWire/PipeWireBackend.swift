public import HapticPlayback

/// The output backend for PipeWire sinks, which are selected by name.
///
/// A stream is silent until all its links are known to lead to the named sink.
public struct PipeWireBackend: OutputBackend {
  /// Creates the backend.
  public init() {}

  /// The scheme in the names of PipeWire outputs.
  public static let scheme = "pipewire"

  /// The scheme `pipewire`.
  public var scheme: String { Self.scheme }
  /// The placeholder `NODE`: the name of a sink.
  public var addressPlaceholder: String? { "NODE" }

  /// The cycle size that is requested by default, in frames: a power of two near 5 ms.
  private static let defaultCycleSize = 256

  /// Returns the sinks of the user's server with their channels.
  public func outputs(probing: Bool) -> [OutputListing] {
    guard case .success(let sinks) = SoundServers.system.pipeWireSinks(nil) else { return [] }
    return sinks.map { $0.listing(as: "sink") }
  }

  /// Returns whether the sink exists.
  public func isAvailable(_ name: String) -> Bool {
    (try? Self.namedSink(name).findSink(on: .system)) != nil
  }

  /// Opens a sink.
  ///
  /// - Parameters:
  ///   - name: The name of the sink, or `NODE=NAME`.
  ///   - request: The requested properties.
  ///   - time: The clock, which must be the machine's.
  public func open(_ name: String, _ request: OutputRequest, time: any TimeSource)
    throws(OutputError)
    -> sending OpenedOutput
  {
    let namedSink = try Self.namedSink(name)
    let deviceName = "\(scheme):\(name)"
    guard !PipeWireLibraryClient.isInstalled || PipeWireLibraryClient.hasStreams else {
      // Libraries before version 0.3.50 do not state the time of a stream.
      return try ALSABackend().open(
        namedSink.plugInDeviceName, request, time: time)
    }
    try namedSink.validateSinkName()
    let connectionTimeout = Duration.seconds(SoundServers.queryTimeoutSeconds)
    let connection = try PipeWireRegistry.connect(
      to: namedSink.remoteServerName, clock: time, within: connectionTimeout
    ).valueOrOutputError(for: deviceName)
    do throws(OutputError) {
      let contents = connection.withMachine { PipeWireRegistry.Contents($0) }
      let sink = try namedSink.findSink(among: contents.sinks)
      let stream = try Self.streamRequest(
        request, on: sink, named: namedSink.sinkName, device: deviceName)
      let transfer = Self.makeTransfer(stream, request, signal: connection.changeSignal)
      connection.requestStream(stream, for: transfer.streamCallbacks)
      try connection.startStream(of: deviceName, to: "sink")
      return Self.makeOpenedOutput(
        (connection, transfer), request, stream, device: deviceName, isPresent: true, time)
    } catch {
      connection.close()
      throw error
    }
  }

  /// Returns an output that plays as soon as its sink is present.
  ///
  /// - Parameters:
  ///   - name: The name of the sink, or `NODE=NAME`.
  ///   - request: The requested properties.
  ///   - time: The clock, which must be the machine's.
  public func openPlaceholder(for name: String, _ request: OutputRequest, time: any TimeSource)
    -> sending OpenedOutput?
  {
    let deviceName = "\(scheme):\(name)"
    guard let namedSink = try? Self.namedSink(name), (try? namedSink.validateSinkName()) != nil,
      PipeWireLibraryClient.hasStreams
    else { return nil }
    let channelNames = [String](repeating: "", count: request.channels.count)
    let streamRequest = PipeWireStreamRequest(
      targetName: namedSink.sinkName, endpoint: .sink, rate: request.rate,
      cycleSize: Self.cycleSize(request), channelNames: channelNames)
    guard
      let parts = try? Self.makeWaitingConnection(
        streamRequest, request, namedSink.remoteServerName, time)
    else { return nil }
    return Self.makeOpenedOutput(
      parts, request, streamRequest, device: deviceName, isPresent: false, time)
  }

  // MARK: - Parts

  private typealias StreamParts = (connection: PipeWireConnection, transfer: PipeWireTransfer)

  static func namedSink(_ name: String) throws(OutputError) -> NamedSink {
    let deviceName = "\(scheme):\(name)"
    guard let sink = NamedSink(device: deviceName), sink.server == .pipeWire else {
      throw OutputError(
        .invalidName, output: deviceName, "cannot read the sink's name; use 'pipewire:NODE'")
    }
    return sink
  }

  /// Returns the stream request for a sink, adapted to the channels and the rate that the sink
  /// supports.
  static func streamRequest(
    _ request: OutputRequest, on sink: SoundServers.Sink, named name: String, device: String
  ) throws(OutputError) -> PipeWireStreamRequest {
    func unsupportedFormatError(_ text: String) -> OutputError {
      OutputError(.unsupportedFormat, output: device, text)
    }
    if let encoding = request.encoding, encoding != "float" {
      throw unsupportedFormatError(
        "PipeWire supports only the sample format 'float', not '\(encoding)'")
    }
    let sinkChannelCount = sink.channelNames.count
    guard sinkChannelCount > 0 else { throw .lacksPorts(device, nodeKind: "sink") }
    let channelCount: Int
    switch request.channels {
    case .exactly(let requiredCount):
      guard requiredCount <= sinkChannelCount else {
        let sinkChannelText =
          sinkChannelCount == 1 ? "one channel" : "\(sinkChannelCount) channels"
        throw unsupportedFormatError("the sink has \(sinkChannelText), not \(requiredCount)")
      }
      channelCount = requiredCount
    case .atLeast(let minimumCount):
      channelCount = min(minimumCount, sinkChannelCount)
    }
    let streamRate = request.allowsOtherRate ? sink.graphRate ?? request.rate : request.rate
    return PipeWireStreamRequest(
      targetName: name, endpoint: .sink, rate: streamRate, cycleSize: cycleSize(request),
      channelNames: Array(sink.channelNames.prefix(channelCount)))
  }

  /// Returns the cycle size to request, in frames.
  private static func cycleSize(_ request: OutputRequest) -> Int {
    request.adaptsBuffer ? defaultCycleSize : request.periodSize
  }

  private static func makeTransfer(
    _ stream: PipeWireStreamRequest, _ request: OutputRequest, signal: WakeSignal
  ) -> PipeWireTransfer {
    PipeWireTransfer(
      rate: Double(stream.rate), channelCount: stream.channelNames.count,
      maximumFill: bufferGrowth(request).maximumBufferFrameCount, signal: signal)
  }

  /// Creates a connection that waits until the server is running and the sink is present.
  private static func makeWaitingConnection(
    _ stream: PipeWireStreamRequest, _ request: OutputRequest, _ remote: String?,
    _ time: any TimeSource
  ) throws(PlaybackError) -> StreamParts {
    let changeSignal = try WakeSignal()
    let frameTransfer = makeTransfer(stream, request, signal: changeSignal)
    let connection = try PipeWireConnection(
      PipeWireStateMachine(stream, reportsFirstConnection: true), clock: time,
      changeSignal: changeSignal,
      owner: frameTransfer.streamCallbacks
    ) { PipeWireLibraryClient(remote: remote, handler: $0) }
    guard let connection else { throw PlaybackError.fileLimitReached }
    try connection.start()
    return (connection, frameTransfer)
  }

  private static func bufferGrowth(_ request: OutputRequest) -> BufferGrowth {
    // By default, the buffer grows from 11 ms to 85 ms at 48 kHz.
    let initialFrameCount = request.adaptsBuffer ? 2 * defaultCycleSize : request.bufferSize
    return BufferGrowth(initial: initialFrameCount, adaptsBuffer: request.adaptsBuffer)
  }

  private static func makeOpenedOutput(
    _ parts: StreamParts, _ request: OutputRequest, _ stream: PipeWireStreamRequest, device: String,
    isPresent: Bool, _ time: any TimeSource
  ) -> OpenedOutput {
    let sink = PipeWireSink(
      device: device, connection: parts.connection, transfer: parts.transfer,
      growth: bufferGrowth(request), periodSize: stream.cycleSize, isPresent: isPresent, clock: time
    )
    return OpenedOutput(
      sink: sink, name: device, isServerStream: true, isDevicePresent: isPresent)
  }
}

extension OutputError {
  /// Returns the error for a node without ports.
  ///
  /// The error is temporary, because the session manager creates the ports of a node after the
  /// server has started.
  ///
  /// - Parameters:
  ///   - output: The name of the output.
  ///   - nodeKind: The kind of the node, `sink` or `source`.
  static func lacksPorts(_ output: String, nodeKind: String) -> OutputError {
    OutputError(
      .unresponsive, output: output,
      """
      the \(nodeKind) has no channels; check that PipeWire's session manager, such as \
      WirePlumber, is running
      """
    )
  }
}
