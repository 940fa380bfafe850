/// What a program wants of an output; what it gets is the format of the sink.
public struct OutputRequest: Equatable, Sendable {
  /// How many channels are wanted.
  public enum Channels: Equatable, Sendable {
    /// This many; an output that has another number is refused.
    case exactly(Int)
    /// The smallest number from this on that the output has, or else its greatest.
    case atLeast(Int)

    /// The number that is named.
    public var count: Int {
      switch self {
      case .exactly(let count), .atLeast(let count): count
      }
    }
  }

  /// Frames per second.
  public var rate: Int
  /// Whether the output's nearest rate will do where it does not support this one.
  public var allowsOtherRate: Bool
  /// How many channels are wanted.
  public var channels: Channels
  /// The sample format by its name, such as `s16`; nil takes the best that the output has.
  public var encoding: String?
  /// Frames between two wake-ups at the rate asked for; at another, as many as last as long.
  public var periodSize: Int
  /// Frames that fit in all at the rate asked for; at another, as many as last as long.
  public var bufferSize: Int

  /// Makes a request; by default for a buffer of 20 ms in four periods, at any rate.
  public init(
    rate: Int = 48_000, allowsOtherRate: Bool = false, channels: Channels = .atLeast(2),
    encoding: String? = nil,
    periodSize: Int? = nil, bufferSize: Int? = nil
  ) {
    self.rate = rate
    self.allowsOtherRate = allowsOtherRate
    self.channels = channels
    self.encoding = encoding
    self.periodSize = periodSize ?? rate / 200
    self.bufferSize = bufferSize ?? rate / 50
  }

  /// The format of an output that grants everything.
  public var requestedFormat: SinkFormat {
    SinkFormat(
      rate: Double(rate), channelCount: channels.count, periodSize: periodSize,
      bufferSize: bufferSize)
  }
}

/// An output that was opened: its sink, and what it granted.
///
/// Not sendable: it is handed over to the thread that renders.
public struct OpenedOutput {
  /// Takes the frames.
  public let sink: any AudioSink
  /// The output's name, without its scheme.
  public let name: String
  /// The sample format by its name.
  public let encoding: String
  /// Whether a sound card plays the frames without a sound server between.
  public let isHardware: Bool
  /// A Boolean value that indicates whether PulseAudio or PipeWire plays the frames.
  public let isServerStream: Bool

  /// Makes an opened output.
  public init(
    sink: any AudioSink, name: String, encoding: String = "float", isHardware: Bool = false,
    isServerStream: Bool = false
  ) {
    self.sink = sink
    self.name = name
    self.encoding = encoding
    self.isHardware = isHardware
    self.isServerStream = isServerStream
  }

  /// What was granted.
  public var format: SinkFormat { sink.format }
}

/// Why an output cannot be used. Decisions depend on the kind, never on the wording.
public struct OutputError: Error, Equatable, Sendable, CustomStringConvertible {
  /// What can be done about it.
  public enum Kind: String, Sendable {
    /// The name is not one of an output: correct it.
    case invalidName
    /// No output has this name: connect it, or choose another.
    case notFound
    /// Something else plays on it: end that, or choose another.
    case busy
    /// It went away while it was open: connect it again.
    case disconnected
    /// The sound server behind the name does not run: start it.
    case serverUnavailable
    /// The system does not let this user have it.
    case permissionDenied
    /// It does not answer: connect it again, restart its sound server, or choose another.
    case unresponsive
    /// It does not play: choose another.
    case notPlayback
    /// It does not support the rate, the channels or the sample format: request what it has.
    case unsupportedFormat
    /// What it recorded was not taken in time: leave the machine more time.
    case overrun
    /// The file cannot be written: choose another, or free space.
    case cannotWrite
    /// The system refused for another reason, which the description names.
    case other
  }

  /// What can be done about it.
  public var kind: Kind
  /// The output, as the user named it.
  public var output: String
  /// One line for the user, without the output's name.
  public var description: String
  /// The names that exist in the place of one that was not found, if the description lists them.
  public var alternatives: [String]

  /// Makes an error.
  public init(_ kind: Kind, output: String, _ description: String, alternatives: [String] = []) {
    self.kind = kind
    self.output = output
    self.description = description
    self.alternatives = alternatives
  }
}

/// One output in a list.
public struct OutputListing: Equatable, Sendable {
  /// What an output supports by itself, without conversion.
  public struct Capabilities: Equatable, Sendable {
    /// The common rates in hertz, or the ends of a range.
    public var rates: [Int]
    /// The numbers of channels, up to 64.
    public var channelCounts: [Int]
    /// The sample formats by their names, best first.
    public var encodings: [String]
    /// Frames of a period, least and most.
    public var periodSizes: ClosedRange<Int>
    /// Whether a sound card plays the frames without a sound server between.
    public var isHardware: Bool

    /// Makes capabilities.
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

  /// The name to open it by.
  public var name: String
  /// What it is, on one line.
  public var description: String
  /// What it supports; nil where it was not probed.
  public var capabilities: Capabilities?
  /// Why it could not be probed.
  public var probeError: OutputError?

  /// Makes an entry.
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

/// A kind of output, such as the devices of a sound system or files.
public protocol OutputBackend: Sendable {
  /// The word before the colon of its names.
  var scheme: String { get }

  /// What follows the colon, in one word for help, such as `DEVICE`; nil where nothing does.
  var parameter: String? { get }

  /// The outputs that have a name now; where they are probed, each is opened briefly to query its
  /// capabilities.
  func outputs(probing: Bool) -> [OutputListing]

  /// An entry of a list that was not probed, with its capabilities or its problem; by default as it
  /// is.
  func probed(_ listing: OutputListing) -> OutputListing

  /// Whether an output could be opened now; true by default.
  func isAvailable(_ name: String) -> Bool

  /// Opens an output by what follows the colon; the time is the clock of a sink that has none of
  /// its own.
  func open(_ name: String, _ request: OutputRequest, time: any TimeSource) throws(OutputError)
    -> sending OpenedOutput
}

extension OutputBackend {
  /// The entry as it is: there is nothing to probe.
  public func probed(_ listing: OutputListing) -> OutputListing { listing }

  /// True: opening has no condition that could be asked for without opening.
  public func isAvailable(_ name: String) -> Bool { true }
}

/// The name of an output: a scheme and what the backend of the scheme makes of the rest.
public struct OutputName: Hashable, Sendable {
  /// The backend.
  public let scheme: String
  /// The output among those of the backend; empty where there is only one.
  public let address: String

  /// Makes a name.
  public init(scheme: String, address rest: String = "") {
    self.scheme = scheme
    self.address = rest
  }
}

/// The kinds of output that a program knows.
///
/// A value: tests and programs add backends to copies of their own.
public struct OutputRegistry: Sendable {
  /// All kinds, in the order of lists.
  public let backends: [any OutputBackend]
  /// The scheme of names without one.
  public let defaultScheme: String

  /// Makes a registry.
  public init(_ backends: [any OutputBackend], defaultScheme: String) {
    self.backends = backends
    self.defaultScheme = defaultScheme
  }

  /// The registry with one more backend, which takes the place of one with the same scheme.
  public func adding(_ backend: any OutputBackend) -> OutputRegistry {
    OutputRegistry(
      backends.filter { $0.scheme != backend.scheme } + [backend], defaultScheme: defaultScheme)
  }

  /// How outputs can be named, one form for each backend: `alsa:DEVICE`, `null`.
  public var nameForms: [String] {
    backends.map { backend in backend.parameter.map { "\(backend.scheme):\($0)" } ?? backend.scheme
    }
  }

  /// What a word names: `SCHEME:REST` where a backend has the scheme, else an output of the default
  /// scheme.
  ///
  /// A scheme needs its colon here: `null:` is the null output, `null` is a device of the default
  /// scheme.
  public func parseName(_ word: String) -> OutputName {
    if let (scheme, rest) = Self.splitScheme(word), backend(forScheme: scheme) != nil {
      return OutputName(scheme: scheme, address: rest)
    }
    return OutputName(scheme: defaultScheme, address: word)
  }

  /// What a word names that must have a scheme, in one of the `forms`; nil where it is not valid.
  public func parseQualifiedName(_ word: String) -> OutputName? {
    let (scheme, rest) = Self.splitScheme(word) ?? (word, "")
    guard let backend = backend(forScheme: scheme), rest.isEmpty == (backend.parameter == nil)
    else {
      return nil
    }
    return OutputName(scheme: scheme, address: rest)
  }

  /// Opens an output by a word, as `name(_:)` reads it.
  public func open(
    _ word: String, _ request: OutputRequest, time: any TimeSource = SystemTimeSource()
  )
    throws(OutputError) -> sending OpenedOutput
  { try open(parseName(word), request, time: time) }

  /// Opens an output; the time is the clock of a sink that has none of its own.
  public func open(
    _ name: OutputName, _ request: OutputRequest, time: any TimeSource = SystemTimeSource()
  )
    throws(OutputError) -> sending OpenedOutput
  {
    guard let backend = backend(forScheme: name.scheme) else {
      throw OutputError(.invalidName, output: name.scheme, "no outputs of this kind")
    }
    guard name.address.isEmpty == (backend.parameter == nil) else {
      let form = backend.parameter.map { "'\(name.scheme):\($0)'" } ?? "'\(name.scheme):' alone"
      throw OutputError(
        .invalidName, output: "\(name.scheme):\(name.address)", "invalid output name; use \(form)")
    }
    return try backend.open(name.address, request, time: time)
  }

  /// Whether an output could be opened now.
  public func isAvailable(_ name: OutputName) -> Bool {
    backend(forScheme: name.scheme)?.isAvailable(name.address) ?? false
  }

  /// The outputs of all backends that have a name now. Where they are probed, each is opened
  /// briefly to query its capabilities: nothing is played, and an output in use is left alone; a
  /// sound server may need a moment to answer.
  public func outputs(probing: Bool = true) -> [OutputListing] {
    backends.flatMap { $0.outputs(probing: probing) }
  }

  /// Probes the outputs of all backends one after the other, and hands on each as soon as it is
  /// known.
  public func probeOutputs(_ body: (OutputListing) throws -> Void) rethrows {
    for backend in backends {
      for listing in backend.outputs(probing: false) {
        try body(backend.probed(listing))
      }
    }
  }

  private func backend(forScheme scheme: String) -> (any OutputBackend)? {
    backends.first { $0.scheme == scheme }
  }

  private static func splitScheme(_ word: String) -> (scheme: String, rest: String)? {
    guard let colon = word.firstIndex(of: ":") else { return nil }
    return (String(word[..<colon]), String(word[word.index(after: colon)...]))
  }
}

/// Discards every frame at the pace of a clock.
public struct NullOutput: OutputBackend {
  /// Makes the backend.
  public init() {}

  /// `null`.
  public var scheme: String { "null" }
  /// Nothing: there is one null output.
  public var parameter: String? { nil }

  /// The null output.
  public func outputs(probing: Bool) -> [OutputListing] {
    [OutputListing(name: "null:", description: "Discards the frames in real time")]
  }

  /// Grants whatever is requested.
  public func open(_ name: String, _ request: OutputRequest, time: any TimeSource)
    throws(OutputError)
    -> sending OpenedOutput
  { OpenedOutput(sink: NullSink(request.requestedFormat, time: time), name: "null") }
}
