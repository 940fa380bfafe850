internal import CSoundServers
internal import SystemSupport
package import HapticPlayback

/// The user's sound servers, queried through their own client libraries.
package struct SoundServers: Sendable {
  /// A sink or a source of a sound server.
  package struct Sink: Equatable, Sendable {
    package var name: String
    package var description: String
    /// The source that records the sink; nil if the server does not name it.
    package var monitorSourceName: String?
    /// The channels, such as `FL`, in the order of its ports; empty if the server does not name
    /// them.
    package var channelNames: [String]
    /// The default rate of PipeWire's graph in hertz; nil for other servers.
    package var graphRate: Int?

    package init(
      name: String, description: String = "", monitor: String? = nil,
      channelNames: [String] = [],
      graphRate: Int? = nil
    ) {
      self.name = name
      self.description = description
      self.monitorSourceName = monitor
      self.channelNames = channelNames
      self.graphRate = graphRate
    }
  }

  /// A PulseAudio server, or a PipeWire server that replaces it.
  package struct PulseAudioServer: Equatable, Sendable {
    package var name: String
    package var defaultSinkName: String
    package var defaultSourceName: String
    package var sinks: [Sink]

    package init(
      name: String = "pulseaudio", defaultSinkName: String = "",
      defaultSourceName: String = "",
      sinks: [Sink] = []
    ) {
      self.name = name
      self.defaultSinkName = defaultSinkName
      self.defaultSourceName = defaultSourceName
      self.sinks = sinks
    }

    /// A Boolean value that indicates whether the server is PipeWire, which replaces PulseAudio.
    package var isPipeWire: Bool { name.containsText("PipeWire") }
  }

  /// The reason that a server does not answer.
  package enum QueryProblem: Error, Equatable, Sendable {
    case libraryMissing
    case absent
    case noReply

    package func error(for device: String) -> OutputError {
      switch self {
      case .libraryMissing:
        OutputError(
          .serverUnavailable, output: device,
          """
          the sound server's client library is not installed; install libpulse0 or \
          libpipewire-0.3-0
          """
        )
      case .absent:
        OutputError(
          .serverUnavailable, output: device, "the sound server does not respond; start it")
      case .noReply:
        OutputError(.unresponsive, output: device, "the sound server does not respond; restart it")
      }
    }
  }

  /// The sinks of a PipeWire server by server name; nil for the user's server.
  package var pipeWireSinks: @Sendable (_ remote: String?) -> Result<[Sink], QueryProblem>
  /// The sources of a PipeWire server by server name; nil for the user's server.
  package var pipeWireSources: @Sendable (_ remote: String?) -> Result<[Sink], QueryProblem>
  /// The PulseAudio server, which is started on request if the user's settings allow that.
  package var pulseAudio: @Sendable (_ mayStart: Bool) -> Result<PulseAudioServer, QueryProblem>

  package init(
    pipeWireSinks: @escaping @Sendable (String?) -> Result<[Sink], QueryProblem>,
    pipeWireSources: @escaping @Sendable (String?) -> Result<[Sink], QueryProblem> = { _ in
      .failure(.absent)
    },
    pulseAudio: @escaping @Sendable (Bool) -> Result<PulseAudioServer, QueryProblem>
  ) {
    self.pipeWireSinks = pipeWireSinks
    self.pipeWireSources = pipeWireSources
    self.pulseAudio = pulseAudio
  }

  /// The sound servers that are running on this system.
  package static let system = SoundServers(
    pipeWireSinks: {
      PipeWireRegistry.read($0, within: .seconds(queryTimeoutSeconds)).map(\.sinks)
    },
    pipeWireSources: {
      PipeWireRegistry.read($0, within: .seconds(queryTimeoutSeconds)).map(\.sources)
    },
    pulseAudio: { mayStart in
      var answer = ServerAnswer()
      let status = unsafe withUnsafeMutablePointer(to: &answer) {
        unsafe temblor_pulse_sinks(
          mayStart, queryTimeoutSeconds, ServerAnswer.setServer, ServerAnswer.addSink, $0)
      }
      return ServerAnswer.result(status, answer.server)
    })

  /// The timeout for a server's reply in seconds, which includes the time to start a server.
  static let queryTimeoutSeconds = 5.0

  /// Returns the sinks of PulseAudio, each with the name of the ALSA plug-in device that plays on
  /// it. The sinks of PipeWire have a separate backend.
  ///
  /// - Parameter plugIns: The names of ALSA's configuration.
  func listings(plugIns: Set<String>) -> [OutputListing] {
    guard plugIns.contains("pulse"), case .success(let server) = pulseAudio(false) else {
      return []
    }
    // PipeWire's sinks already have a name in their own backend.
    if server.isPipeWire, case .success(let sinks) = pipeWireSinks(nil), !sinks.isEmpty {
      return []
    }
    return server.sinks.map { sink in
      let description = sink.description.isEmpty ? sink.name : sink.description
      return OutputListing(
        name: NamedSink.Server.pulseAudio.deviceName(sink.name),
        description: "PulseAudio sink, \(description)")
    }
  }
}

extension SoundServers {
  /// The sources of PipeWire, which `follow` records by name.
  package var sourceListings: [OutputListing] {
    guard case .success(let sources) = pipeWireSources(nil) else { return [] }
    return sources.map { $0.listing(as: "source") }
  }
}

extension SoundServers.Sink {
  /// Returns the listing of a PipeWire node for lists of devices.
  ///
  /// - Parameter noun: The type of the node: `sink` or `source`.
  func listing(as noun: String) -> OutputListing {
    let sinkLabel = description.isEmpty ? name : description
    let channelMapText =
      channelNames.isEmpty ? "" : ", channels \(channelNames.joined(separator: " "))"
    return OutputListing(
      name: NamedSink.Server.pipeWire.deviceName(name),
      description: "PipeWire \(noun), \(sinkLabel)\(channelMapText)")
  }
}

/// The part of a server's reply that has arrived so far.
private struct ServerAnswer {
  var server = SoundServers.PulseAudioServer(name: "")

  static let setServer: temblor_server_visitor = { context, name, sink, source in
    guard let serverAnswer = unsafe context?.assumingMemoryBound(to: ServerAnswer.self) else {
      return
    }
    unsafe serverAnswer.pointee.server.name = text(name)
    unsafe serverAnswer.pointee.server.defaultSinkName = text(sink)
    unsafe serverAnswer.pointee.server.defaultSourceName = text(source)
  }

  static let addSink: temblor_sink_visitor = { context, name, description, monitor in
    guard let sinkAnswer = unsafe context?.assumingMemoryBound(to: ServerAnswer.self) else {
      return
    }
    let sink = unsafe SoundServers.Sink(
      name: text(name), description: text(description),
      monitor: monitor.map { unsafe String(cString: $0) })
    unsafe sinkAnswer.pointee.server.sinks.append(sink)
  }

  static func result<Value>(_ status: temblor_server_answer, _ value: Value) -> Result<
    Value, SoundServers.QueryProblem
  > {
    switch status {
    case TEMBLOR_SERVER_ANSWERED: .success(value)
    case TEMBLOR_SERVER_LIBRARY_MISSING: .failure(.libraryMissing)
    case TEMBLOR_SERVER_SILENT: .failure(.noReply)
    default: .failure(.absent)
    }
  }

  private static func text(_ pointer: UnsafePointer<CChar>?) -> String {
    unsafe pointer.map { unsafe String(cString: $0) } ?? ""
  }
}
