import CommandLineKit
import HapticOutputs
import HapticPlayback
import HapticRender
import PatternWorkflows
import PlaybackSessions
import SoundFile
import SystemSupport

struct LiveOptions {
  static let soundGroup = OptionGroup(
    "Sound", SharedOptions.profile, SharedOptions.strength,
    Option(
      "--keep-awake",
      help:
        """
        Play an imperceptible tone (\(Int(KeepAwakeTone.frequency)) Hz at -60 dBFS) that keeps \
        amplifiers out of standby.
        """
    ),
    Option(
      "--record", value: "FILE", help: "Also record the output to a 24-bit sound file.",
      completion: .file, writes: []
    ), Option("--force", help: "Let --record replace a file that Temblor did not write."))

  /// The sound options of a command that must not be recorded, since the recording would reveal the
  /// answer.
  static let unrecordedSoundGroup = OptionGroup(
    soundGroup.title,
    soundGroup.options.filter { !$0.names.contains("--record") && !$0.names.contains("--force") })

  static let recordLimit = Option(
    "--record-limit", value: "MINUTES",
    help: "Stop recording after this time; playback continues. 1 to 1440."
  ).double(in: 1...1_440, default: 60)

  static let recordRotate = Option(
    "--record-rotate", value: "MINUTES",
    help:
      """
      Start a new recording file each time this interval ends, 1 to 1440. The date and time are \
      added to the file name before the extension.
      """
  ).double(in: 1...1_440)
  static let recordReserve = Option(
    "--record-reserve", value: "PERCENT",
    help:
      """
      With --record-rotate, keep this percentage of the disk free. Recording pauses when less is \
      free. 0 to 50.
      """
  ).double(in: 0...50, default: 5)

  static let groups = [soundGroup, RoutingOptions.group, DeviceOptions.group]
  static let quiet = Option("-q", "--quiet", help: "Print errors only.")
  static let json = Option("--json", help: "Print a JSON summary on exit.")

  let device: DeviceOptions
  let routing: ChannelRouting
  /// The profile of channels without a profile of their own.
  let profile: TransducerProfile
  private let isProfileExplicit: Bool
  /// The gain of all output, 0 to 1.
  let strength: Double
  private let keepsAwake: Bool
  private let recordPath: String?
  /// A Boolean value that indicates whether the output is also recorded.
  var isRecorded: Bool { recordPath != nil }
  /// A Boolean value that indicates whether a recording is divided into files.
  var rotatesRecording: Bool { rotation != nil }
  private let replacesAnyFile: Bool
  /// The maximum duration of a recording, in seconds, or nil for no limit.
  private let recordingLimitSeconds: Double?
  private let rotation: LiveRecording.Rotation?
  private let isQuiet: Bool
  let printsJSON: Bool

  init(_ arguments: ParsedArguments) throws {
    routing = try RoutingOptions.routing(arguments)
    device = try DeviceOptions(arguments, minimumChannelCount: routing.minimumChannelCount)
    profile = try SharedOptions.profile(arguments)
    isProfileExplicit = arguments.value("--profile") != nil || routing.hasChannelProfiles
    strength = try arguments[SharedOptions.strength]
    keepsAwake = arguments.flag("--keep-awake")
    let isRecordable = arguments.command.option(named: "--record") != nil
    recordPath = isRecordable ? arguments.value("--record") : nil
    replacesAnyFile = isRecordable && arguments.flag("--force")
    let isBounded = arguments.command.option(named: "--record-limit") != nil
    recordingLimitSeconds = isBounded ? 60 * (try arguments[Self.recordLimit]) : nil
    let minutes = isBounded ? try arguments[Self.recordRotate] : nil
    rotation = try minutes.map {
      LiveRecording.Rotation(
        seconds: 60 * $0, reservedFraction: try arguments[Self.recordReserve] / 100)
    }
    if rotation != nil, arguments.value("--record-limit") != nil {
      throw UsageError("'--record-rotate' and '--record-limit' cannot be used together")
    }
    isQuiet = arguments.flag("--quiet")
    // A command that answers other commands prints no summary.
    printsJSON = arguments.command.option(named: "--json") != nil && arguments.flag("--json")
    if let recordPath, SoundFileFormat.container(ofName: recordPath) == nil {
      throw UsageError(
        """
        unknown file extension of \(recordPath.inQuotes); use .wav, .flac, .aiff, .w64, .rf64, \
        .caf, or .ogg
        """
      )
    }
  }

  /// Throws an error for a recording or an output file that would overwrite an input, the other
  /// file, or a file of another program.
  func checkOutputs(reading sources: [String]) throws(UsageError) {
    let inputs = InputOverwriteCheck(reading: sources)
    if let recordPath {
      try inputs.check(recordPath, option: "--record")
      guard rotation != nil || replacesAnyFile || LiveRecording.isReplaceableRecording(recordPath)
      else {
        throw UsageError(
          """
          '--record': \(recordPath.inQuotes) exists and was not written by Temblor; use \
          '--force' to replace it
          """
        )
      }
    }
    guard let file = device.file else { return }
    try inputs.check(file, option: "--device")
    if let recordPath,
      InputOverwriteCheck.comparablePath(of: recordPath)
        == InputOverwriteCheck.comparablePath(of: file)
    {
      throw UsageError("'--record' and '--device' cannot both write \(file.inQuotes)")
    }
  }

  /// - Parameter showsStatus: False for a command without a live line.
  func makeSession(
    in backend: any PlaybackEnvironment, _ terminal: Terminal,
    wantsBlockTimings: Bool = false,
    showsStatus: Bool = true
  )
    -> LiveSession
  {
    LiveSession(
      in: backend, terminal: terminal, isQuiet: isQuiet || !showsStatus,
      wantsBlockTimings: wantsBlockTimings || printsJSON)
  }

  /// Plays an activity in a session.
  ///
  /// - Parameters:
  ///   - session: The session.
  ///   - placeCount: The number of body locations.
  ///   - channelCounts: The numbers of channels of the recordings to play.
  ///   - isListened: True to show the frequency range to a person who listens or feels.
  ///   - check: A closure that may refuse the opened device.
  ///   - makeTask: A closure that creates the activity.
  func play<Task: PlaybackActivity>(
    in session: LiveSession, placeCount: Int = 0, recordingsOf channelCounts: [Int] = [],
    isListened: Bool = true,
    check: (DeviceSummary) throws -> Void = { _ in }, makeTask: (PlaybackEngine) throws -> Task
  ) throws -> (outcome: LiveOutcome, task: Task) {
    do {
      return try session.run(
        device, keepsAwake: keepsAwake, recording: recordPath,
        maximumSeconds: recordingLimitSeconds,
        rotation: rotation
      ) { granted in
        try check(granted)
        let engine = try engine(
          for: granted, bodyLocationCount: placeCount, recordingChannelCounts: channelCounts)
        for note in engine.profiles.compactMap({ CalibrationAge.reminder(for: $0) }) {
          session.console.hint(note)
        }
        if isListened, !isProfileExplicit {
          session.console.hint(
            """
            \(profile.frequency.text): for a shaker or headphones; on a laptop, use '--profile \
            \(ReviewTake.speakerProfileName)'
            """
          )
        }
        return (engine, try makeTask(engine))
      }
    } catch let error as OutputError where device.origin != nil || !device.isExplicit {
      throw DeviceUnavailableError(reason: error, origin: device.origin)
    }
  }

  func report(_ outcome: LiveOutcome, _ fields: JSONObject, _ terminal: Terminal) throws
    -> ExitStatus
  {
    if printsJSON {
      try terminal.output.write(json: fields + outcome.fields)
    }
    return outcome.status
  }

  /// Throws an error for a device that cannot play with these options.
  func checkDevice(_ granted: DeviceSummary) throws(UsageError) {
    _ = try engine(for: granted, bodyLocationCount: 0, recordingChannelCounts: [])
  }

  private func engine(
    for granted: DeviceSummary, bodyLocationCount: Int, recordingChannelCounts: [Int]
  ) throws(UsageError) -> PlaybackEngine {
    let count = granted.format.channelCount
    guard count >= routing.minimumChannelCount else {
      throw UsageError(
        "channel \(routing.minimumChannelCount) is in use, but \(granted.name.inQuotes) has "
          + "\(count == 1 ? "one channel" : "\(count) channels")")
    }
    try routing.checkFilters(rate: granted.format.rate)
    var (channels, profiles) = routing.resolved(
      channelCount: count, rate: granted.format.rate, profile: profile,
      bodyLocationCount: bodyLocationCount)
    (channels, profiles) = RecordingChannels.separatingBuses(
      channels, profiles, for: recordingChannelCounts)
    return PlaybackEngine(
      rate: granted.format.rate, routing: channels, profiles: profiles, strength: Float(strength))
  }
}

struct DeviceOptions: Sendable {
  static let defaultDevice = "default"
  private static let automatic = "auto"

  static let group = OptionGroup(
    "Device", device, SharedOptions.noConfig, rate, channels,
    Option(
      "--sample-format", value: "FORMAT", help: "Sample format.", defaultText: automatic,
      choices: [automatic] + SampleEncoding.allCases.map(\.rawValue)), periodSize, bufferSize)

  static let device = Option(
    "-d", "--device", value: "NAME",
    help:
      """
      Output device: an ALSA device (plughw:1), a sound card (card:ID or \
      usb:VENDOR:PRODUCT[:SERIAL]), a sink (pipewire:NODE or pulse:DEVICE=NAME), or wav:FILE.
      """,
    defaultText: defaultDevice, completion: Completion(candidateCommand: "devices --names"))
  private static let rate = Option(
    "--rate", value: "HZ", help: "Sample rate, \(SharedOptions.sampleRateText).",
    defaultText: "48000, or the nearest rate that the device supports"
  ).int(in: SharedOptions.sampleRates)
  private static let channels = Option(
    "--channels", value: "N", help: "Number of output channels, 1 to 64.",
    defaultText: "the number of channels in use, but at least two"
  ).int(in: OutputRouting.channelCounts)
  private static let periodSize = Option(
    "--period-size", value: "FRAMES", help: "Period size in frames, 16 to 16384.",
    defaultText: "5 ms"
  ).int(in: 16...16_384)
  private static let bufferSize = Option(
    "--buffer-size", value: "FRAMES",
    help: """
      Buffer size in frames, at least two periods. A larger buffer prevents underruns but adds \
      latency.
      """,
    defaultText: "four periods"
  ).int(in: 32...262_144)

  let device: String
  /// The name that the opened output reports.
  var name: String {
    let name = OutputRegistry.standard.parseName(device)
    return name.scheme == PipeWireBackend.scheme ? device : name.address
  }
  let request: OutputRequest
  let isExplicit: Bool
  /// The source of the device name, or nil for the command line.
  let origin: String?
  var file: String? {
    let name = OutputRegistry.standard.parseName(device)
    return name.scheme == SoundFileBackend.scheme ? name.address : nil
  }

  init(_ device: String, channelCount: Int) {
    self.device = device
    request = OutputRequest(
      allowsOtherRate: true, channels: .atLeast(max(2, channelCount)), adaptsBuffer: true)
    isExplicit = true
    origin = nil
  }

  init(_ arguments: ParsedArguments, minimumChannelCount: Int = 1) throws(UsageError) {
    let rate = try arguments[Self.rate]
    var request = OutputRequest(
      rate: rate ?? 48_000, allowsOtherRate: rate == nil, adaptsBuffer: true)
    let name = try Self.name(arguments)
    device = name ?? Self.defaultDevice
    isExplicit = name != nil
    origin = arguments.origins["--device"]
    request.channels = .atLeast(max(2, minimumChannelCount))
    if let count = try arguments[Self.channels] {
      guard count >= minimumChannelCount else {
        throw UsageError("channel \(minimumChannelCount) is in use, but '--channels' is \(count)")
      }
      request.channels = .exactly(count)
    }
    if let word = arguments.value("--sample-format"), word != Self.automatic {
      request.encoding = word
    }
    let period = try arguments[Self.periodSize]
    if let period {
      request.periodSize = period
      request.adaptsBuffer = false
      request.bufferSize = 4 * period
    }
    if let buffer = try arguments[Self.bufferSize] {
      if period == nil {
        request.periodSize = max(16, buffer / 4)
      }
      guard buffer >= 2 * request.periodSize else {
        throw UsageError(
          """
          '--buffer-size' must be at least two periods (\(2 * request.periodSize)), not '\(buffer)'
          """
        )
      }
      request.bufferSize = buffer
      request.adaptsBuffer = false
    }
    self.request = request
    if let file {
      try arguments.overwriteCheck.check(file, option: "--device")
    }
  }

  static func name(_ arguments: ParsedArguments) throws(UsageError) -> String? {
    let name = arguments.value("--device")
    if let name, name.isEmpty || name.utf8.contains(0) {
      throw UsageError("'--device' requires the name of an output device, not \(name.inQuotes)")
    }
    if let name, let sink = namedSink(name) {
      do throws(OutputError) {
        try sink.validate()
      } catch {
        throw UsageError("'--device': \(name.printable): \(error.description)")
      }
    }
    return name
  }

  /// The sound server's sink that a device name refers to; nil for other devices.
  static func namedSink(_ device: String) -> NamedSink? {
    let name = OutputRegistry.standard.parseName(device)
    switch name.scheme {
    case ALSABackend().scheme: return NamedSink(device: name.address)
    case PipeWireBackend.scheme: return NamedSink(device: device)
    default: return nil
    }
  }

  /// Names the streams of a live command for the desktop's mixer, and pins them to the sink that
  /// the command line names.
  ///
  /// Call it before the process has a second thread.
  static func pin(_ arguments: ParsedArguments) throws {
    guard arguments.command.option(named: "--device") != nil else { return }
    let device = try name(arguments)
    // 'setup' asks for the device later, and a source to follow is recorded by its name.
    let isChosenLater = device == nil && arguments.command.name == "setup"
    let records = arguments.command.name == "follow"
    let namesSink = device.flatMap(namedSink) != nil || isChosenLater || records
    try SinkPinning.apply(namesSink: namesSink)
  }
}

extension OutputError {
  var message: String {
    // The program itself lists devices, so the message names its own command.
    let isListed = kind != .notFound || !alternatives.isEmpty
    let reason = isListed ? description : "no such device; run 'temblor devices' to list devices"
    return "\(output.printable): \(reason)"
  }
}

/// The error of a device that could not be opened and that the command line does not name.
struct DeviceUnavailableError: Error, Equatable, CustomStringConvertible {
  var reason: OutputError
  /// The source of the device's name, or nil for the default device.
  var origin: String?

  var description: String {
    if let origin {
      return
        """
        \(reason.message); \(origin) selects this device: connect it, or use 'temblor setup' or \
        '--device'
        """
    }
    return
      """
      \(reason.message); nothing was played or written; for a sound file, use \
      '--device wav:FILE' or 'temblor render'
      """
  }
}

extension DeviceSummary {
  /// A description in the form `default: 2 channels at 48000 Hz, float, period 240, buffer 960
  /// frames`.
  var description: String {
    let channels = format.channelCount.counted("channel")
    return """
      \(name.printable): \(channels) at \(Int(format.rate)) Hz, \(encoding), \
      period \(format.periodSize), buffer \(format.bufferSize) frames
      """
  }
}
