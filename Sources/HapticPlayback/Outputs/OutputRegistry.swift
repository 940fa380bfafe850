/// A kind of output, such as the devices of a sound system or files.
public protocol OutputBackend: Sendable {
  /// The word before the colon of its names.
  var scheme: String { get }

  /// What follows the colon, in one word for help, such as `DEVICE`; nil where nothing does.
  var parameter: String? { get }

  /// The outputs that have a name now.
  ///
  /// - Parameter probing: Whether each is opened briefly to query its capabilities.
  func outputs(probing: Bool) -> [OutputListing]

  /// An entry of a list that was not probed, with its capabilities or its problem; by default as it is.
  func probed(_ listing: OutputListing) -> OutputListing

  /// Whether an output could be opened now; true by default.
  func isAvailable(_ name: String) -> Bool

  /// Opens an output.
  ///
  /// - Parameters:
  ///   - name: What follows the colon.
  ///   - request: Rate, channels and buffer that are wanted.
  ///   - time: The clock of a sink that has none of its own.
  func open(_ name: String, _ request: OutputRequest, time: any TimeSource) throws(OutputError) -> sending OpenedOutput
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
  public let rest: String

  /// Makes a name.
  public init(scheme: String, rest: String = "") {
    self.scheme = scheme
    self.rest = rest
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
    OutputRegistry(backends.filter { $0.scheme != backend.scheme } + [backend], defaultScheme: defaultScheme)
  }

  /// How outputs can be named, one form for each backend: `alsa:DEVICE`, `null`.
  public var forms: [String] {
    backends.map { backend in backend.parameter.map { "\(backend.scheme):\($0)" } ?? backend.scheme }
  }

  /// What a word names: `SCHEME:REST` where a backend has the scheme, else an output of the default scheme.
  ///
  /// A scheme needs its colon here, so that devices can have any name: `null:` is the null output, `null` is
  /// a device of the default scheme.
  public func name(_ word: String) -> OutputName {
    if let (scheme, rest) = Self.split(word), backend(scheme) != nil { return OutputName(scheme: scheme, rest: rest) }
    return OutputName(scheme: defaultScheme, rest: word)
  }

  /// What a word names that must have a scheme, in one of the `forms`; nil where it is not valid.
  public func qualifiedName(_ word: String) -> OutputName? {
    let (scheme, rest) = Self.split(word) ?? (word, "")
    guard let backend = backend(scheme), rest.isEmpty == (backend.parameter == nil) else { return nil }
    return OutputName(scheme: scheme, rest: rest)
  }

  /// Opens an output by a word, as `name(_:)` reads it.
  public func open(_ word: String, _ request: OutputRequest, time: any TimeSource = SystemTimeSource())
    throws(OutputError) -> sending OpenedOutput
  { try open(name(word), request, time: time) }

  /// Opens an output.
  ///
  /// - Parameters:
  ///   - name: The kind of output, and what it is called among its kind.
  ///   - request: Rate, channels and buffer that are wanted.
  ///   - time: The clock of sinks that have none of their own.
  public func open(_ name: OutputName, _ request: OutputRequest, time: any TimeSource = SystemTimeSource())
    throws(OutputError) -> sending OpenedOutput
  {
    guard let backend = backend(name.scheme) else {
      throw OutputError(.invalidName, output: name.scheme, "no outputs of this kind")
    }
    guard name.rest.isEmpty == (backend.parameter == nil) else {
      let form = backend.parameter.map { "'\(name.scheme):\($0)'" } ?? "'\(name.scheme):' alone"
      throw OutputError(.invalidName, output: "\(name.scheme):\(name.rest)", "invalid output name; use \(form)")
    }
    return try backend.open(name.rest, request, time: time)
  }

  /// Whether an output could be opened now.
  public func isAvailable(_ name: OutputName) -> Bool { backend(name.scheme)?.isAvailable(name.rest) ?? false }

  /// The outputs of all backends that have a name now.
  ///
  /// - Parameter probing: Whether each is opened briefly to query its capabilities. Nothing is played, and an
  ///   output in use is left alone; a sound server may need a moment to answer.
  public func outputs(probing: Bool = true) -> [OutputListing] { backends.flatMap { $0.outputs(probing: probing) } }

  /// Probes the outputs of all backends one after the other, and hands on each as soon as it is known.
  public func probeOutputs(_ body: (OutputListing) throws -> Void) rethrows {
    for backend in backends { for listing in backend.outputs(probing: false) { try body(backend.probed(listing)) } }
  }

  private func backend(_ scheme: String) -> (any OutputBackend)? { backends.first { $0.scheme == scheme } }

  private static func split(_ word: String) -> (scheme: String, rest: String)? {
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
  public func open(_ name: String, _ request: OutputRequest, time: any TimeSource) throws(OutputError)
    -> sending OpenedOutput
  { OpenedOutput(sink: NullSink(request.format, time: time), name: "null") }
}
