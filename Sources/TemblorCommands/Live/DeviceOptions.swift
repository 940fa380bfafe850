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
      Option(
        "--rate", value: "HZ", help: "Sample rate, \(SharedOptions.sampleRateText).",
        defaultText: "48000, or the nearest that the device has"),
      Option(
        "--channels", value: "N", help: "Number of channels, 1 to 64.", defaultText: "two, or as many as are routed"),
      Option(
        "--sample-format", value: "FORMAT", help: "Sample format.", defaultText: automatic,
        choices: [automatic] + SampleEncoding.allCases.map(\.rawValue)),
      Option(
        "--period-size", value: "FRAMES", help: "Period size in frames, 16 to 16384.", defaultText: "240"),
      Option(
        "--buffer-size", value: "FRAMES",
        help: "Buffer size in frames, at least two periods; larger is safer but adds latency.",
        defaultText: "four periods"),
    ])

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
    if let name = arguments.value("--device") {
      guard !name.isEmpty, !name.utf8.contains(0) else {
        throw UsageError(.invalidValue, "'--device' requires the name of an output device, not \(name.inQuotes)")
      }
      device = name
      isNamed = true
    } else {
      device = Self.defaultDevice
      isNamed = false
    }
    if let rate = try arguments.int("--rate", in: SharedOptions.sampleRates) {
      request.rate = rate
    } else {
      request.allowsOtherRate = true
    }
    request.channels = .atLeast(max(2, minimumChannelCount))
    if let count = try arguments.int("--channels", in: OutputRouting.channelCounts) {
      guard count >= minimumChannelCount else {
        throw UsageError(.invalidValue, "channel \(minimumChannelCount) is routed, but '--channels' is \(count)")
      }
      request.channels = .exactly(count)
    }
    if let word = arguments.value("--sample-format"), word != Self.automatic { request.encoding = word }
    if let period = try arguments.int("--period-size", in: 16...16_384) {
      request.periodSize = period
      request.bufferSize = 4 * period
    }
    if let buffer = try arguments.int("--buffer-size", in: 32...262_144) {
      if arguments.value("--period-size") == nil { request.periodSize = max(16, buffer / 4) }
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

/// Nobody named a device, and the default one cannot be opened.
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

  func write(to entry: inout JSONObjectWriter) {
    entry.member("name", name)
    entry.member("rate", Int(format.rate))
    entry.member("channels", format.channelCount)
    entry.member("format", encoding)
    entry.member("periodSize", format.periodSize)
    entry.member("bufferSize", format.bufferSize)
    entry.member("hardware", isHardware)
  }
}
