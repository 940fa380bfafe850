internal import CSoundServers
internal import HapticPlayback
internal import Synchronization

/// An interface to the PipeWire client library. Tests replace it.
///
/// The calls come from one thread, except for `setActive`.
protocol PipeWireClient: AnyObject, Sendable {
  /// Connects to the server, which then reports its objects as events.
  func connect() -> Bool
  func disconnect()
  func openStream(_ request: PipeWireStreamRequest) -> Bool
  func closeStream()
  /// Pauses or resumes the stream. Any thread may call this method.
  func setActive(_ isActive: Bool)
  /// Disconnects from the server and releases the client. No event is sent after this call.
  func free()
}

/// The callbacks that receive the events and process cycles of a PipeWire client.
struct PipeWireHandler: Sendable {
  /// Receives an event on the connection's thread.
  var receive: @Sendable (PipeWireStateMachine.Event) -> Void
  /// Processes a cycle on the real-time thread.
  var process: @Sendable (_ samples: inout MutableSpan<Float>, _ cycle: PipeWireCycle) -> Void
}

/// The timing of a PipeWire process cycle, as the server reports it.
struct PipeWireCycle: Equatable, Sendable {
  var frameCount: Int
  var ticks: UInt64
  var secondsPerTick: Double
  var startNanoseconds: Int64
  var delayNanoseconds: Int64
}

/// The PipeWire client library, which is loaded on first use.
@safe final class PipeWireLibraryClient: PipeWireClient, @unchecked Sendable {
  /// A Boolean value that indicates whether the library is installed.
  static var isInstalled: Bool { temblor_has_pipewire() }
  /// A Boolean value that indicates whether the library supports streams with exact times.
  static var hasStreams: Bool { temblor_has_pipewire_streams() }

  private let handler: PipeWireHandler
  private let channelCount = Atomic<Int>(0)
  private let connection = unsafe Atomic<OpaquePointer?>(nil)

  /// Creates a client that is not connected.
  ///
  /// - Parameters:
  ///   - remote: The name of the server; nil for the user's.
  ///   - handler: The receiver of events, which the client retains.
  /// - Returns: Nil without the library or without resources.
  init?(remote: String?, handler: PipeWireHandler) {
    self.handler = handler
    var events = unsafe temblor_pipewire_events()
    // `free` ends all calls before this object disappears.
    unsafe events.context = Unmanaged.passUnretained(self).toOpaque()
    unsafe events.add_object = { context, object in
      guard let object = unsafe object?.pointee else { return }
      unsafe PipeWireLibraryClient.forward(context, PipeWireStateMachine.Event(object))
    }
    unsafe events.remove_object = { context, id in
      unsafe PipeWireLibraryClient.forward(context, .removeObject(id: id))
    }
    unsafe events.change_link = { context, id, isActive in
      unsafe PipeWireLibraryClient.forward(context, .changeLink(id: id, isActive: isActive))
    }
    unsafe events.change_stream = { context, state, node in
      switch state {
      case TEMBLOR_PIPEWIRE_STREAM_FAILED:
        unsafe PipeWireLibraryClient.forward(context, .streamFailed)
      case TEMBLOR_PIPEWIRE_STREAM_READY:
        unsafe PipeWireLibraryClient.forward(context, .streamReady(node: node))
      default:
        unsafe PipeWireLibraryClient.forward(context, .streamConnecting(node: node))
      }
    }
    unsafe events.set_rate = { context, rate in
      unsafe PipeWireLibraryClient.forward(context, .setRate(Int(rate)))
    }
    unsafe events.complete = { unsafe PipeWireLibraryClient.forward($0, .initialObjectsComplete) }
    unsafe events.lose_server = { unsafe PipeWireLibraryClient.forward($0, .serverLost) }
    unsafe events.process = { context, samples, frameCount, cycle in
      guard let context = unsafe context, let samples = unsafe samples,
        let cycle = unsafe cycle?.pointee
      else { return }
      let client = unsafe Unmanaged<PipeWireLibraryClient>.fromOpaque(context)
      unsafe client._withUnsafeGuaranteedRef { client in
        let count = Int(frameCount) * client.channelCount.load(ordering: .acquiring)
        var span = unsafe MutableSpan(_unsafeStart: samples, count: count)
        client.handler.process(
          &span,
          PipeWireCycle(
            frameCount: Int(frameCount), ticks: cycle.ticks, secondsPerTick: cycle.tick_seconds,
            startNanoseconds: cycle.nanoseconds, delayNanoseconds: cycle.delay_nanoseconds))
      }
    }
    guard let connectionPointer = unsafe temblor_pipewire_new(remote, &events) else { return nil }
    unsafe connection.store(connectionPointer, ordering: .releasing)
  }

  deinit { free() }

  /// Forwards an event of the library to the handler of the client that the context points to.
  private static func forward(
    _ context: UnsafeMutableRawPointer?, _ event: PipeWireStateMachine.Event
  ) {
    guard let context = unsafe context else { return }
    let client = unsafe Unmanaged<PipeWireLibraryClient>.fromOpaque(context)
    unsafe client._withUnsafeGuaranteedRef { $0.handler.receive(event) }
  }

  private var connectionPointer: OpaquePointer? { unsafe connection.load(ordering: .acquiring) }

  func connect() -> Bool {
    guard let connectionPointer = unsafe connectionPointer else { return false }
    return unsafe temblor_pipewire_connect(connectionPointer)
  }

  func disconnect() {
    guard let connectionPointer = unsafe connectionPointer else { return }
    unsafe temblor_pipewire_disconnect(connectionPointer)
  }

  func openStream(_ request: PipeWireStreamRequest) -> Bool {
    guard let connectionPointer = unsafe connectionPointer else { return false }
    channelCount.store(request.channelNames.count, ordering: .releasing)
    let channelNames = request.channelNames.joined(separator: " ")
    return unsafe request.targetName.withCString { target in
      unsafe channelNames.withCString { channelNames in
        var values = unsafe temblor_pipewire_request()
        unsafe values.target = target
        unsafe values.is_capture = request.endpoint.isCapture
        unsafe values.records_sink = request.endpoint == .monitor
        unsafe values.rate = UInt32(request.rate)
        unsafe values.cycle_size = UInt32(request.cycleSize)
        unsafe values.channel_count = UInt32(request.channelNames.count)
        unsafe values.channels = channelNames
        return unsafe temblor_pipewire_open_stream(connectionPointer, &values)
      }
    }
  }

  func closeStream() {
    guard let connectionPointer = unsafe connectionPointer else { return }
    unsafe temblor_pipewire_close_stream(connectionPointer)
  }

  func setActive(_ isActive: Bool) {
    guard let connectionPointer = unsafe connectionPointer else { return }
    unsafe temblor_pipewire_set_active(connectionPointer, isActive)
  }

  func free() {
    guard let connectionPointer = unsafe connection.exchange(nil, ordering: .acquiringAndReleasing)
    else {
      return
    }
    unsafe temblor_pipewire_free(connectionPointer)
  }
}

extension PipeWireStateMachine.Event {
  /// Creates the event for an object that the server reports.
  fileprivate init(_ object: temblor_pipewire_object) {
    func string(_ pointer: UnsafePointer<CChar>?) -> String {
      unsafe pointer.map { unsafe String(cString: $0) } ?? ""
    }
    switch unsafe object.kind {
    case TEMBLOR_PIPEWIRE_PORT:
      self = unsafe .addPort(
        PipeWireGraph.Port(
          nodeID: object.node, portIndex: object.position, channelName: string(object.channel),
          isInput: object.is_input, isMonitor: object.is_monitor), id: object.id)
    case TEMBLOR_PIPEWIRE_LINK:
      self = unsafe .addLink(
        PipeWireGraph.Link(
          outputNodeID: object.output_node, outputPortID: object.output_port,
          inputNodeID: object.input_node, inputPortID: object.input_port), id: object.id)
    default:
      self = unsafe .addNode(
        PipeWireGraph.Node(
          name: string(object.name), description: string(object.description),
          mediaClass: string(object.media_class)), id: object.id)
    }
  }
}
