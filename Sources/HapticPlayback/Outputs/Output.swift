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
  /// Frames between two wake-ups; the nearest possible is taken.
  public var periodSize: Int
  /// Frames that fit in all; the nearest possible is taken.
  public var bufferSize: Int

  /// Makes a request; by default for a buffer of 20 ms in four periods.
  public init(
    rate: Int = 48_000, allowsOtherRate: Bool = false, channels: Channels = .atLeast(2), encoding: String? = nil,
    periodSize: Int = 240, bufferSize: Int = 960
  ) {
    self.rate = rate
    self.allowsOtherRate = allowsOtherRate
    self.channels = channels
    self.encoding = encoding
    self.periodSize = periodSize
    self.bufferSize = bufferSize
  }

  /// The format of an output that grants everything.
  public var format: SinkFormat {
    SinkFormat(rate: Double(rate), channelCount: channels.count, periodSize: periodSize, bufferSize: bufferSize)
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

  /// Makes an opened output.
  public init(sink: any AudioSink, name: String, encoding: String = "float", isHardware: Bool = false) {
    self.sink = sink
    self.name = name
    self.encoding = encoding
    self.isHardware = isHardware
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

  /// Makes an error.
  public init(_ kind: Kind, output: String, _ description: String) {
    self.kind = kind
    self.output = output
    self.description = description
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
      rates: [Int], channelCounts: [Int], encodings: [String], periodSizes: ClosedRange<Int>, isHardware: Bool
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
  public var problem: OutputError?

  /// Makes an entry.
  public init(name: String, description: String, capabilities: Capabilities? = nil, problem: OutputError? = nil) {
    self.name = name
    self.description = description
    self.capabilities = capabilities
    self.problem = problem
  }
}
