import CommandLineKit
import HapticOutputs
import HapticPlayback
import HapticRender
import Reading
import SoundFile
import SystemSupport

/// The options by which live verbs choose a device and what to ask of it.
struct DeviceOptions: Sendable {
  /// The device that plays where no other is named.
  static let defaultDevice = "default"
  private static let automatic = "auto"

  static let group = OptionGroup(
    title: "Device",
    options: [
      Option(
        "-d", "--device", value: "NAME", help: "Output: an ALSA device such as plughw:1, or wav:FILE.",
        defaultText: defaultDevice, completion: Completion(query: "devices --names")),
      rate, channels,
      Option(
        "--sample-format", value: "FORMAT", help: "Sample format.", defaultText: automatic,
        choices: [automatic] + SampleEncoding.allCases.map(\.rawValue)),
      periodSize, bufferSize,
    ])

  private static let rate = Option(
    "--rate", value: "HZ", help: "Sample rate, \(SharedOptions.sampleRateText).",
    defaultText: "48000, or the nearest that the device has"
  ).int(in: SharedOptions.sampleRates)
  private static let channels = Option(
    "--channels", value: "N", help: "Number of channels, 1 to 64.", defaultText: "two, or as many as are routed"
  ).int(in: OutputRouting.channelCounts)
  private static let periodSize = Option(
    "--period-size", value: "FRAMES", help: "Period size in frames, 16 to 16384.", defaultText: "240"
  ).int(in: 16...16_384)
  private static let bufferSize = Option(
    "--buffer-size", value: "FRAMES",
    help: "Buffer size in frames, at least two periods; larger is safer but adds latency.", defaultText: "four periods"
  ).int(in: 32...262_144)

  let device: String
  let request: OutputRequest
  let isNamed: Bool
  var file: String? {
    let name = OutputRegistry.standard.name(device)
    return name.scheme == SoundFileBackend.scheme ? name.rest : nil
  }

  /// What a command line asks for.
  ///
  /// - Parameter minimumChannelCount: Channels that are needed for what is routed.
  init(_ arguments: ParsedArguments, minimumChannelCount: Int = 1) throws(UsageError) {
    var request = OutputRequest()
    let name = arguments.value("--device")
    if let name, name.isEmpty || name.utf8.contains(0) {
      throw UsageError(.invalidValue, "'--device' requires the name of an output device, not \(name.inQuotes)")
    }
    device = name ?? Self.defaultDevice
    isNamed = name != nil
    if let rate = try arguments[Self.rate] {
      request.rate = rate
    } else {
      request.allowsOtherRate = true
    }
    request.channels = .atLeast(max(2, minimumChannelCount))
    if let count = try arguments[Self.channels] {
      guard count >= minimumChannelCount else {
        throw UsageError(.invalidValue, "channel \(minimumChannelCount) is routed, but '--channels' is \(count)")
      }
      request.channels = .exactly(count)
    }
    if let word = arguments.value("--sample-format"), word != Self.automatic { request.encoding = word }
    let period = try arguments[Self.periodSize]
    if let period {
      request.periodSize = period
      request.bufferSize = 4 * period
    }
    if let buffer = try arguments[Self.bufferSize] {
      if period == nil { request.periodSize = max(16, buffer / 4) }
      guard buffer >= 2 * request.periodSize else {
        throw UsageError(
          .invalidValue, "'--buffer-size' must be at least two periods (\(2 * request.periodSize)), not '\(buffer)'")
      }
      request.bufferSize = buffer
    }
    self.request = request
    if let file { try arguments.inputs.check(file, option: "--device") }
  }
}

extension OutputError {
  var message: String {
    // The list of devices is this program's own to name.
    let reason = kind == .notFound ? "no such device; run 'temblor devices' to list devices" : description
    return "\(output.printable): \(reason)"
  }
}

/// The default device cannot be opened.
struct NoDefaultDevice: Error, Equatable, CustomStringConvertible {
  var reason: OutputError

  /// One line: the reason, that nothing was done, and how to get a file.
  var description: String {
    "\(reason.message); nothing was played or written; for a sound file, use '--device wav:FILE' or "
      + "'temblor render'"
  }
}

/// The device that plays, and what it granted.
struct DeviceSummary: Equatable, Sendable {
  var name: String
  /// Frames per second, channels, periods.
  var format: SinkFormat
  var encoding: String
  /// Whether a sound card plays the frames without a sound server between.
  var isHardware = false

  init(_ output: OpenedOutput) {
    name = output.name
    format = output.format
    encoding = output.encoding
    isHardware = output.isHardware
  }

  /// `default: 2 channels at 48000 Hz, float, periods of 240 in 960 frames`.
  var description: String {
    "\(name.printable): \(format.channelCount) channel\(format.channelCount == 1 ? "" : "s") at "
      + "\(Int(format.rate)) Hz, \(encoding), period \(format.periodSize), buffer \(format.bufferSize) frames"
  }

  var fields: JSONFields {
    [
      "name": name, "rate": Int(format.rate), "channels": format.channelCount, "format": encoding,
      "periodSize": format.periodSize, "bufferSize": format.bufferSize, "hardware": isHardware,
    ]
  }
}
