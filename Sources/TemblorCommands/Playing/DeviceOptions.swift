import ALSAOutput
import PCMSamples

/// The options by which live verbs choose a device and what to ask of it.
struct DeviceOptions: Sendable {
  /// The device that plays where no other is named.
  static let usualDevice = "default"
  /// The word for the best samples that a device has itself.
  private static let automatic = "auto"

  static let group = OptionGroup(
    title: "Device",
    options: [
      Option(
        "-d", "--device", value: "NAME",
        help: "An output as ALSA names it, such as plughw:1 or null.",
        defaultText: usualDevice),
      Option(
        "--rate", value: "HZ", help: "Frames per second, 8000 to 192000.",
        defaultText: "48000, or the nearest that the device has"),
      Option(
        "--channels", value: "N", help: "Channels, 1 to 64.",
        defaultText: "two, or as many as are routed"),
      Option(
        "--format", value: "FORMAT", help: "How a sample is handed over.",
        defaultText: automatic, choices: [automatic] + SampleEncoding.allCases.map(\.rawValue)),
      Option(
        "--period", value: "FRAMES", help: "Frames handed over at a time, 16 to 16384.",
        defaultText: "240"),
      Option(
        "--buffer", value: "FRAMES",
        help: "Frames on their way at most, at least two periods: more is safer, and later.",
        defaultText: "four periods"),
    ])

  /// What is asked of the device.
  let request: PCMRequest
  /// Whether the user named the device.
  let isNamed: Bool

  /// What a command line asks for.
  ///
  /// - Parameter leastChannelCount: Channels that are needed for what is routed.
  init(_ arguments: ParsedArguments, leastChannelCount: Int = 1) throws(UsageError) {
    var request = PCMRequest()
    if let name = arguments.value("--device") {
      guard !name.isEmpty, !name.utf8.contains(0) else {
        throw UsageError(
          .correctValue, "'--device' takes the name of an output, not \(name.inQuotes)")
      }
      request.device = name
      isNamed = true
    } else {
      request.device = Self.usualDevice
      isNamed = false
    }
    if let rate = try arguments.int("--rate", in: 8_000...192_000) {
      request.rate = rate
    } else {
      request.allowsOtherRate = true
    }
    request.channels = .atLeast(max(2, leastChannelCount))
    if let count = try arguments.int("--channels", in: 1...64) {
      guard count >= leastChannelCount else {
        throw UsageError(
          .correctValue,
          "channel \(leastChannelCount) is routed, and '--channels' asks for \(count)")
      }
      request.channels = .exactly(count)
    }
    if let word = arguments.value("--format"), word != Self.automatic {
      request.encoding = SampleEncoding(rawValue: word)
    }
    if let period = try arguments.int("--period", in: 16...16_384) {
      request.periodLength = period
      request.bufferLength = 4 * period
    }
    if let buffer = try arguments.int("--buffer", in: 32...262_144) {
      if arguments.value("--period") == nil { request.periodLength = max(16, buffer / 4) }
      guard buffer >= 2 * request.periodLength else {
        throw UsageError(
          .correctValue,
          "'--buffer' takes at least two periods, \(2 * request.periodLength), not '\(buffer)'")
      }
      request.bufferLength = buffer
    }
    self.request = request
  }
}
