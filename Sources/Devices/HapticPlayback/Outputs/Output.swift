/// The properties that are requested when an output is opened. The granted properties are in the
/// format of its sink.
public struct OutputRequest: Equatable, Sendable {
  /// The requested number of channels.
  public enum Channels: Equatable, Sendable {
    /// Exactly this number of channels. An output with a different number is refused.
    case exactly(Int)
    /// The smallest available number of channels that is at least this number.
    /// If there is none, the largest available number.
    case atLeast(Int)

    /// The requested number of channels.
    public var count: Int {
      switch self {
      case .exactly(let count), .atLeast(let count): count
      }
    }
  }

  /// The requested sample rate, in hertz.
  public var rate: Int
  /// A Boolean value that indicates whether the output may use its nearest rate if it does not
  /// support the requested rate.
  public var allowsOtherRate: Bool
  /// The requested number of channels.
  public var channels: Channels
  /// The name of the sample format, such as `s16`, or nil for the output's best format.
  public var encoding: String?
  /// The number of frames between two wake-ups at the requested rate. At another rate, the period
  /// has the same duration.
  public var periodSize: Int
  /// The number of frames in the buffer at the requested rate. At another rate, the buffer has the
  /// same duration.
  public var bufferSize: Int
  /// A Boolean value that indicates whether an output of a sound server may choose its own
  /// periods and buffer, and enlarge the buffer after underruns.
  public var adaptsBuffer: Bool

  /// Creates a request. By default, it is for a buffer of 20 ms in four periods, at any rate.
  public init(
    rate: Int = 48_000, allowsOtherRate: Bool = false, channels: Channels = .atLeast(2),
    encoding: String? = nil,
    periodSize: Int? = nil, bufferSize: Int? = nil, adaptsBuffer: Bool = false
  ) {
    self.rate = rate
    self.allowsOtherRate = allowsOtherRate
    self.channels = channels
    self.encoding = encoding
    self.periodSize = periodSize ?? rate / 200
    self.bufferSize = bufferSize ?? rate / 50
    self.adaptsBuffer = adaptsBuffer
  }

  /// The format of the sink if the output grants every requested property.
  public var requestedFormat: SinkFormat {
    SinkFormat(
      rate: Double(rate), channelCount: channels.count, periodSize: periodSize,
      bufferSize: bufferSize)
  }
}

/// An open output, with its sink and its granted properties.
///
/// It is not sendable, because it is handed over to the render thread.
public struct OpenedOutput {
  /// The sink that accepts frames.
  public let sink: any AudioSink
  /// The name of the output, without its scheme.
  public let name: String
  /// The name of the granted sample format.
  public let encoding: String
  /// A Boolean value that indicates whether a sound card plays the frames without a sound server.
  public let isHardware: Bool
  /// A Boolean value that indicates whether PulseAudio or PipeWire plays the frames.
  public let isServerStream: Bool
  /// A Boolean value that indicates whether the output's device is present. Otherwise, the sink
  /// waits for the device.
  public let isDevicePresent: Bool

  /// Creates an open output.
  public init(
    sink: any AudioSink, name: String, encoding: String = "float", isHardware: Bool = false,
    isServerStream: Bool = false, isDevicePresent: Bool = true
  ) {
    self.sink = sink
    self.name = name
    self.encoding = encoding
    self.isHardware = isHardware
    self.isServerStream = isServerStream
    self.isDevicePresent = isDevicePresent
  }

  /// The format that the sink granted.
  public var format: SinkFormat { sink.format }
}

/// An error that states why an output cannot be used. Callers distinguish errors by their kind,
/// never by their wording.
public struct OutputError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The kind of an error, which determines the remedy.
  public enum Kind: String, Sendable {
    /// The name is not a valid output name. The remedy is to correct it.
    case invalidName
    /// No output has this name. The remedy is to connect it, or to choose another output.
    case notFound
    /// Another program uses the output. The remedy is to close that program, or to choose another
    /// output.
    case busy
    /// The output was disconnected while it was open. The remedy is to reconnect it.
    case disconnected
    /// The output's sound server does not run. The remedy is to start it.
    case serverUnavailable
    /// The user has no permission to use the output.
    case permissionDenied
    /// The output does not respond. The remedy is to reconnect it, to restart its sound server, or
    /// to choose another output.
    case unresponsive
    /// The output cannot play. The remedy is to choose another output.
    case notPlayback
    /// The device cannot record. The remedy is to choose another device.
    case notCapture
    /// The output does not support the sample rate, the channels, or the sample format. The remedy
    /// is to request supported values.
    case unsupportedFormat
    /// The recorded frames were not read in time. The remedy is to reduce the load of the machine.
    case overrun
    /// The file cannot be written. The remedy is to choose another file, or to free space.
    case cannotWrite
    /// The system refused for another reason, which the description states.
    case other

    /// A Boolean value that indicates whether the output may be available later without a change of
    /// its name or request.
    public var isTemporary: Bool {
      switch self {
      case .notFound, .busy, .disconnected, .serverUnavailable, .unresponsive: true
      case .invalidName, .permissionDenied, .notPlayback, .notCapture, .unsupportedFormat,
        .overrun, .cannotWrite, .other:
        false
      }
    }
  }

  /// The kind of the error, which determines the remedy.
  public var kind: Kind
  /// The name of the output, as the user named it.
  public var output: String
  /// The message for the user on one line, without the output's name.
  public var description: String
  /// The existing names that the description lists in place of a name that was not found.
  public var alternativeNames: [String]

  /// Creates an error.
  public init(
    _ kind: Kind, output: String, _ description: String,
    alternativeNames: [String] = []
  ) {
    self.kind = kind
    self.output = output
    self.description = description
    self.alternativeNames = alternativeNames
  }
}

/// An entry in a list of outputs.
public struct OutputListing: Equatable, Sendable {
  /// The properties that an output supports without conversion.
  public struct Capabilities: Equatable, Sendable {
    /// The supported common sample rates in hertz, or the ends of the supported range.
    public var rates: [Int]
    /// The supported numbers of channels, at most 64.
    public var channelCounts: [Int]
    /// The names of the supported sample formats, best first.
    public var encodings: [String]
    /// The supported range of periods, in frames.
    public var periodSizes: ClosedRange<Int>
    /// A Boolean value that indicates whether a sound card plays the frames without a sound server.
    public var isHardware: Bool

    /// Creates capabilities.
    public init(
      rates: [Int], channelCounts: [Int], encodings: [String], periodSizes: ClosedRange<Int>,
      isHardware: Bool
    ) {
      self.rates = rates
      self.channelCounts = channelCounts
      self.encodings = encodings
      self.periodSizes = periodSizes
      self.isHardware = isHardware
    }
  }

  /// The name with which the output is opened.
  public var name: String
  /// The description of the output, on one line.
  public var description: String
  /// The capabilities of the output, or nil if the output was not probed.
  public var capabilities: Capabilities?
  /// The reason that the output could not be probed, or nil.
  public var probeError: OutputError?

  /// Creates an entry.
  public init(
    name: String, description: String, capabilities: Capabilities? = nil,
    probeError problem: OutputError? = nil
  ) {
    self.name = name
    self.description = description
    self.capabilities = capabilities
    self.probeError = problem
  }
}

/// A type of output, such as sound files or the devices of a sound system.
public protocol OutputBackend: Sendable {
  /// The scheme of the names of these outputs, which is the word before the colon.
  var scheme: String { get }

  /// The placeholder in help for the part after the colon, such as `DEVICE`; nil if the names have
  /// no such part.
  var addressPlaceholder: String? { get }

  /// Returns the available outputs.
  ///
  /// - Parameter probing: True to open each output briefly and read its capabilities.
  func outputs(probing: Bool) -> [OutputListing]

  /// Returns an entry with its capabilities or its error. By default, returns the entry itself.
  func probedListing(_ listing: OutputListing) -> OutputListing

  /// Returns whether the output could be opened now. By default, returns true.
  func isAvailable(_ name: String) -> Bool

  /// Opens an output by name.
  ///
  /// - Parameters:
  ///   - name: The part of its name after the colon.
  ///   - request: The requested properties.
  ///   - time: The clock of a sink that has no clock of its own.
  func open(_ name: String, _ request: OutputRequest, time: any TimeSource) throws(OutputError)
    -> sending OpenedOutput

  /// Returns the format that an output would grant, without opening it, if opening it would replace
  /// a file; by default, nil.
  ///
  /// - Parameters:
  ///   - name: The part of its name after the colon.
  ///   - request: The requested properties.
  /// - Throws: The error with which opening would fail.
  func expectedFormat(_ name: String, _ request: OutputRequest) throws(OutputError) -> SinkFormat?

  /// Returns an output that opens its device as soon as the device is present. By default, returns
  /// nil.
  ///
  /// - Parameters:
  ///   - name: The part of its name after the colon.
  ///   - request: The requested properties.
  ///   - time: The clock.
  func openPlaceholder(for name: String, _ request: OutputRequest, time: any TimeSource)
    -> sending OpenedOutput?
}

extension OutputBackend {
  /// Returns nil, because the output can be opened and closed without an effect.
  public func expectedFormat(
    _ name: String, _ request: OutputRequest
  ) throws(OutputError) -> SinkFormat? { nil }

  /// Returns nil, because the output has no device to wait for.
  public func openPlaceholder(for name: String, _ request: OutputRequest, time: any TimeSource)
    -> sending OpenedOutput?
  { nil }

  /// Returns the entry itself, because there is nothing to probe.
  public func probedListing(_ listing: OutputListing) -> OutputListing { listing }

  /// Returns true, because opening has no condition that could be checked.
  public func isAvailable(_ name: String) -> Bool { true }
}

/// The name of an output, which consists of a scheme and an address within the scheme.
public struct OutputName: Hashable, Sendable {
  /// The scheme of the name, which selects the backend.
  public let scheme: String
  /// The address within the backend's outputs, or an empty text if the backend has only one output.
  public let address: String

  /// Creates a name.
  public init(scheme: String, address: String = "") {
    self.scheme = scheme
    self.address = address
  }
}

/// A registry of the types of output that a program supports.
///
/// A registry is a value: tests and programs add backends to their own copies.
public struct OutputRegistry: Sendable {
  /// The backends of the registry, in the order in which their outputs are listed.
  public let backends: [any OutputBackend]
  /// The scheme of the names that do not state a scheme.
  public let defaultScheme: String

  /// Creates a registry.
  public init(_ backends: [any OutputBackend], defaultScheme: String) {
    self.backends = backends
    self.defaultScheme = defaultScheme
  }

  /// Returns a copy of the registry with another backend, which replaces any backend of the same
  /// scheme.
  public func adding(_ backend: any OutputBackend) -> OutputRegistry {
    OutputRegistry(
      backends.filter { $0.scheme != backend.scheme } + [backend], defaultScheme: defaultScheme)
  }

  /// The forms of output names, one for each backend, such as `alsa:DEVICE` and `null`.
  public var nameForms: [String] {
    backends.map { backend in
      backend.addressPlaceholder.map { "\(backend.scheme):\($0)" } ?? backend.scheme
    }
  }

  /// Parses a name in the form `SCHEME:ADDRESS`. A name without a known scheme is an address in the
  /// default scheme.
  ///
  /// A scheme requires its colon here: `null:` is the null output, but `null` is a device of the
  /// default scheme.
  public func parseName(_ text: String) -> OutputName {
    if let (scheme, address) = Self.splitScheme(text), backend(forScheme: scheme) != nil {
      return OutputName(scheme: scheme, address: address)
    }
    return OutputName(scheme: defaultScheme, address: text)
  }

  /// Parses a name that must have a scheme, in one of the `nameForms`. Returns nil if the name is
  /// not valid.
  public func parseQualifiedName(_ text: String) -> OutputName? {
    let (scheme, address) = Self.splitScheme(text) ?? (text, "")
    guard let backend = backend(forScheme: scheme),
      address.isEmpty == (backend.addressPlaceholder == nil)
    else {
      return nil
    }
    return OutputName(scheme: scheme, address: address)
  }

  /// Opens an output by its name in text form.
  ///
  /// - Parameters:
  ///   - name: The name, in the form that `parseName(_:)` accepts.
  ///   - request: The requested properties.
  ///   - time: The clock of a sink that has no clock of its own.
  public func open(
    _ name: String, _ request: OutputRequest, time: any TimeSource = SystemTimeSource()
  )
    throws(OutputError) -> sending OpenedOutput
  { try open(parseName(name), request, time: time) }

  /// Opens an output by name.
  ///
  /// - Parameters:
  ///   - name: The name.
  ///   - request: The requested properties.
  ///   - time: The clock of a sink that has no clock of its own.
  public func open(
    _ name: OutputName, _ request: OutputRequest, time: any TimeSource = SystemTimeSource()
  )
    throws(OutputError) -> sending OpenedOutput
  {
    guard let backend = backend(forScheme: name.scheme) else {
      throw OutputError(.invalidName, output: name.scheme, "no outputs of this kind")
    }
    guard name.address.isEmpty == (backend.addressPlaceholder == nil) else {
      let form = backend.addressPlaceholder.map { "'\(name.scheme):\($0)'" } ?? "'\(name.scheme):'"
      throw OutputError(
        .invalidName, output: "\(name.scheme):\(name.address)", "invalid output name; use \(form)")
    }
    return try backend.open(name.address, request, time: time)
  }

  /// Returns an output that opens its device as soon as the device is present; nil if outputs of
  /// this kind have no device to wait for.
  ///
  /// - Parameters:
  ///   - name: The name, in the form that `parseName(_:)` accepts.
  ///   - request: The requested properties.
  ///   - time: The clock.
  public func openPlaceholder(
    for name: String, _ request: OutputRequest, time: any TimeSource = SystemTimeSource()
  ) -> sending OpenedOutput? {
    let outputName = parseName(name)
    return backend(forScheme: outputName.scheme)?.openPlaceholder(
      for: outputName.address, request, time: time)
  }

  /// Returns the format of an output file without opening it, so that no file is replaced.
  ///
  /// The result is nil for outputs that can be opened without replacing a file.
  ///
  /// - Parameters:
  ///   - name: The name, in the form that `parseName(_:)` accepts.
  ///   - request: The requested properties.
  /// - Throws: The error with which opening would fail.
  public func expectedFormat(
    _ name: String, _ request: OutputRequest
  ) throws(OutputError) -> SinkFormat? {
    let outputName = parseName(name)
    return try backend(forScheme: outputName.scheme)?.expectedFormat(outputName.address, request)
  }

  /// Returns whether the output with the given name could be opened now.
  public func isAvailable(_ name: OutputName) -> Bool {
    backend(forScheme: name.scheme)?.isAvailable(name.address) ?? false
  }

  /// Returns the available outputs of all backends.
  ///
  /// Probing opens each output briefly and reads its capabilities. It plays nothing and skips
  /// outputs that are in use. A sound server may take a moment to answer.
  public func outputs(probing: Bool = true) -> [OutputListing] {
    backends.flatMap { $0.outputs(probing: probing) }
  }

  /// Probes the outputs of all backends one by one, and passes each output to a closure as soon as
  /// it is known.
  public func probeOutputs(_ body: (OutputListing) throws -> Void) rethrows {
    for backend in backends {
      for listing in backend.outputs(probing: false) {
        try body(backend.probedListing(listing))
      }
    }
  }

  private func backend(forScheme scheme: String) -> (any OutputBackend)? {
    backends.first { $0.scheme == scheme }
  }

  private static func splitScheme(_ text: String) -> (scheme: String, address: String)? {
    guard let colonIndex = text.firstIndex(of: ":") else { return nil }
    return (String(text[..<colonIndex]), String(text[text.index(after: colonIndex)...]))
  }
}

/// An output that discards every frame at the pace of a clock.
public struct NullOutput: OutputBackend {
  /// Creates the backend of the null output.
  public init() {}

  /// The scheme of the null output: `null`.
  public var scheme: String { "null" }
  /// The placeholder for the address in names of outputs, which is nil because there is only one
  /// null output.
  public var addressPlaceholder: String? { nil }

  /// Returns the null output.
  public func outputs(probing: Bool) -> [OutputListing] {
    [OutputListing(name: "null:", description: "Discards the frames in real time")]
  }

  /// Opens the null output, which grants every request.
  public func open(_ name: String, _ request: OutputRequest, time: any TimeSource)
    throws(OutputError)
    -> sending OpenedOutput
  { OpenedOutput(sink: NullSink(request.requestedFormat, time: time), name: "null") }
}
