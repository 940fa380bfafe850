import CommandLineKit
import HapticPlayback
import HapticRender
import PatternWorkflows
import SystemSupport

/// The options that all live verbs share.
struct LiveOptions {
  static let soundGroup = OptionGroup(
    title: "Sound",
    options: [
      SharedOptions.profile, SharedOptions.strength,
      Option(
        "--keep-awake",
        help:
          "Play an imperceptible tone (\(Int(KeepAwakeTone.frequency)) Hz at -60 dBFS) so that amplifiers do not enter standby."
      ),
      Option(
        "--record", value: "FILE", help: "Also record the output to a 24-bit sound file.", completion: .file, writes: []
      ),
    ])

  /// The sound options of a verb whose recording would tell too much.
  static let unrecordedSoundGroup = OptionGroup(
    title: soundGroup.title, options: soundGroup.options.filter { !$0.names.contains("--record") })

  static let recordLimit = Option(
    "--record-limit", value: "MINUTES", help: "Stop the recording after this long, while playback goes on; 1 to 1440."
  ).double(in: 1...1_440, default: 60)

  static let groups = [soundGroup, RoutingOptions.group, DeviceOptions.group]
  static let quiet = Option("-q", "--quiet", help: "Print errors only.")
  static let json = Option("--json", help: "Print one JSON object at the end.")

  let device: DeviceOptions
  let routing: ChannelRouting
  /// The profile of channels that have none of their own.
  let profile: TransducerProfile
  private let strength: Double
  private let keepsAwake: Bool
  private let recordPath: String?
  /// Seconds that a recording may last.
  private let recordSeconds: Double?
  private let isQuiet: Bool
  let asJSON: Bool

  init(_ arguments: ParsedArguments) throws {
    routing = try RoutingOptions.routing(arguments)
    device = try DeviceOptions(arguments, minimumChannelCount: routing.minimumChannelCount)
    profile = try SharedOptions.profile(arguments)
    strength = try arguments[SharedOptions.strength]
    keepsAwake = arguments.flag("--keep-awake")
    let isRecordable = arguments.command.option(named: "--record") != nil
    recordPath = isRecordable ? arguments.value("--record") : nil
    let isBounded = arguments.command.option(named: "--record-limit") != nil
    recordSeconds = isBounded ? 60 * (try arguments[Self.recordLimit]) : nil
    isQuiet = arguments.flag("--quiet")
    // Not for a verb that answers commands.
    asJSON = arguments.command.option(named: "--json") != nil && arguments.flag("--json")
    if let recordPath, let unsupportedReason = LiveRecording.unsupportedReason(to: recordPath) {
      throw UsageError(.invalidValue, unsupportedReason)
    }
  }

  /// Refuses a recording, or a file in the place of a device, that would replace what is played or the other.
  ///
  /// - Parameter sources: The files that are played, which the command line need not name.
  func checkOutputs(reading sources: [String]) throws(UsageError) {
    let inputs = OutputGuard(reading: sources)
    if let recordPath { try inputs.check(recordPath, option: "--record") }
    guard let file = device.file else { return }
    try inputs.check(file, option: "--device")
    if let recordPath, OutputGuard.place(of: recordPath) == OutputGuard.place(of: file) {
      throw UsageError(.invalidValue, "'--record' and '--device' would both write \(file.inQuotes)")
    }
  }

  /// - Parameter isWatched: Whether anybody may want to look while it plays.
  func session(on backend: any SessionBackend, _ terminal: Terminal, wantsRecords: Bool = false, isWatched: Bool = true)
    -> LiveSession
  { LiveSession(on: backend, terminal: terminal, isQuiet: isQuiet || !isWatched, wantsRecords: wantsRecords || asJSON) }

  /// Plays in a session.
  ///
  /// - Parameters:
  ///   - channelCounts: The channels of recordings that are to be heard apart.
  ///   - makeTask: Makes what plays on an engine of the device's rate and channels.
  ///
  /// - Throws: `OutputError` where a device that the user named cannot be opened, `NoDefaultDevice` where it
  ///   is the default.
  func play(
    in session: LiveSession, recordingsOf channelCounts: [Int] = [],
    makeTask: (PlaybackEngine) throws -> any SessionTask
  ) throws -> LiveOutcome {
    do {
      return try session.run(device, keepsAwake: keepsAwake, recording: recordPath, upTo: recordSeconds) { granted in
        let engine = try engine(for: granted, recordingsOf: channelCounts)
        return (engine, try makeTask(engine))
      }
    } catch let error as OutputError where !device.isNamed { throw NoDefaultDevice(reason: error) }
  }

  /// Prints the result as JSON where that was asked for; returns the exit status.
  func report(_ outcome: LiveOutcome, _ fields: JSONFields, _ terminal: Terminal) throws -> ExitStatus {
    if asJSON { try terminal.output.write(json: .formatVersion + fields + outcome.fields) }
    return outcome.status
  }

  private func engine(for granted: DeviceSummary, recordingsOf channelCounts: [Int]) throws(UsageError)
    -> PlaybackEngine
  {
    let count = granted.format.channelCount
    guard count >= routing.minimumChannelCount else {
      throw UsageError(
        .invalidValue,
        "channel \(routing.minimumChannelCount) is routed, and \(granted.name.inQuotes) has "
          + "\(count == 1 ? "one channel" : "\(count) channels")")
    }
    var (channels, profiles) = routing.routing(channelCount: count, rate: granted.format.rate, profile: profile)
    (channels, profiles) = RecordingChannels.separated(channels, profiles, for: channelCounts)
    return PlaybackEngine(rate: granted.format.rate, routing: channels, profiles: profiles, strength: Float(strength))
  }
}
