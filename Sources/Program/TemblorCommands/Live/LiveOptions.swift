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
    "Sound", SharedOptions.profileOption, SharedOptions.strengthOption,
    Option(
      "--keep-awake",
      help:
        """
        Play an imperceptible tone (\(Int(KeepAwakeTone.toneHertz)) Hz at -60 dBFS) that keeps \
        amplifiers out of standby.
        """
    ),
    Option(
      "--record", value: "FILE", help: "Also record the output to a 24-bit sound file.",
      completion: .file, writes: []
    ), Option("--force", help: "Let --record replace a file that Temblor did not write."))

  /// The sound options of a command whose output must not be recorded, because a recording would
  /// reveal the answer.
  static let soundOptionsWithoutRecording = OptionGroup(
    soundGroup.title,
    soundGroup.options.filter {
      !$0.spellings.contains("--record") && !$0.spellings.contains("--force")
    })

  static let recordLimitOption = Option(
    "--record-limit", value: "MINUTES",
    help: "Stop recording after this time; playback continues. 1 to 1440."
  ).double(in: 1...1_440, default: 60)

  static let recordRotateOption = Option(
    "--record-rotate", value: "MINUTES",
    help:
      """
      Start a new recording file at this interval, 1 to 1440. The date and time are added to the \
      file name before the extension.
      """
  ).double(in: 1...1_440)
  static let recordReserveOption = Option(
    "--record-reserve", value: "PERCENT",
    help:
      """
      With --record-rotate, keep this percentage of the disk free. Recording pauses when less is \
      free. 0 to 50.
      """
  ).double(in: 0...50, default: 5)

  static let optionGroups = [soundGroup, RoutingOptions.optionGroup, DeviceOptions.optionGroup]
  static let quietOption = Option("-q", "--quiet", help: "Print errors only.")
  static let jsonOption = Option("--json", help: "Print a JSON summary on exit.")

  let deviceOptions: DeviceOptions
  let channelRouting: ChannelRouting
  /// The profile of output channels for which no profile is specified.
  let profile: TransducerProfile
  private let isProfileExplicit: Bool
  /// The master gain, which applies to all output, 0 to 1.
  let masterGain: Double
  private let keepsAmplifierAwake: Bool
  private let recordPath: String?
  /// A Boolean value that indicates whether the output is also recorded.
  var isRecorded: Bool { recordPath != nil }
  /// A Boolean value that indicates whether a recording is divided into files.
  var rotatesRecording: Bool { recordingRotation != nil }
  private let replacesExistingRecording: Bool
  /// The maximum duration of a recording, in seconds, or nil for no limit.
  private let recordingLimitSeconds: Double?
  private let recordingRotation: LiveRecording.RotationSettings?
  private let isQuiet: Bool
  let printsJSON: Bool

  init(_ arguments: ParsedArguments) throws {
    channelRouting = try RoutingOptions.parseRouting(arguments)
    deviceOptions = try DeviceOptions(
      arguments, minimumChannelCount: channelRouting.minimumChannelCount)
    profile = try SharedOptions.loadProfile(arguments)
    isProfileExplicit = arguments.value("--profile") != nil || channelRouting.hasChannelProfiles
    masterGain = try arguments[SharedOptions.strengthOption]
    keepsAmplifierAwake = arguments.hasFlag("--keep-awake")
    let isRecordable = arguments.command.option(named: "--record") != nil
    recordPath = isRecordable ? arguments.value("--record") : nil
    replacesExistingRecording = isRecordable && arguments.hasFlag("--force")
    let isBounded = arguments.command.option(named: "--record-limit") != nil
    recordingLimitSeconds = isBounded ? 60 * (try arguments[Self.recordLimitOption]) : nil
    let rotationMinutes = isBounded ? try arguments[Self.recordRotateOption] : nil
    recordingRotation = try rotationMinutes.map {
      LiveRecording.RotationSettings(
        seconds: 60 * $0, reservedFraction: try arguments[Self.recordReserveOption] / 100)
    }
    if recordingRotation != nil, arguments.value("--record-limit") != nil {
      throw UsageError("'--record-rotate' and '--record-limit' cannot be used together")
    }
    isQuiet = arguments.hasFlag("--quiet")
    // A command that answers other commands prints no summary.
    printsJSON = arguments.command.option(named: "--json") != nil && arguments.hasFlag("--json")
    if let recordPath, SoundFileFormat.container(ofName: recordPath) == nil {
      throw UsageError(
        """
        unknown file extension of \(recordPath.inQuotes); use .wav, .flac, .aiff, .w64, .rf64, \
        .caf, or .ogg
        """
      )
    }
  }

  /// Throws an error if the recording or the output file would overwrite an input or a file of
  /// another program, or if both would be the same file.
  func checkOutputs(reading sources: [String]) throws(UsageError) {
    let overwriteCheck = InputOverwriteCheck(reading: sources)
    if let recordPath {
      try overwriteCheck.checkOutputPath(recordPath, option: "--record")
      guard
        recordingRotation != nil || replacesExistingRecording
          || LiveRecording.isReplaceableRecording(recordPath)
      else {
        throw UsageError(
          """
          '--record': \(recordPath.inQuotes) exists and was not written by Temblor; use \
          '--force' to replace it
          """
        )
      }
    }
    guard let outputFilePath = deviceOptions.outputFilePath else { return }
    try overwriteCheck.checkOutputPath(outputFilePath, option: "--device")
    if let recordPath,
      InputOverwriteCheck.comparablePath(of: recordPath)
        == InputOverwriteCheck.comparablePath(of: outputFilePath)
    {
      throw UsageError("'--record' and '--device' cannot both write \(outputFilePath.inQuotes)")
    }
  }

  /// - Parameter showsStatus: False for a command without a status line.
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
  ///   - check: A closure that throws an error to reject the opened device.
  ///   - makeTask: A closure that creates the activity.
  func play<Task: PlaybackActivity>(
    in session: LiveSession, placeCount: Int = 0, recordingsOf channelCounts: [Int] = [],
    isListened: Bool = true,
    check: (DeviceSummary) throws -> Void = { _ in }, makeTask: (PlaybackEngine) throws -> Task
  ) throws -> (outcome: LiveOutcome, task: Task) {
    do {
      return try session.run(
        deviceOptions, keepsAwake: keepsAmplifierAwake, recording: recordPath,
        maximumSeconds: recordingLimitSeconds,
        rotation: recordingRotation
      ) { granted in
        try check(granted)
        let engine = try makeEngine(
          for: granted, bodyLocationCount: placeCount, recordingChannelCounts: channelCounts)
        for note in engine.profiles.compactMap({ CalibrationAge.reminder(for: $0) }) {
          session.console.reportHint(note)
        }
        if isListened, !isProfileExplicit {
          session.console.reportHint(
            """
            \(profile.frequency.bandText): for a shaker or headphones; on a laptop, use '--profile \
            \(ReviewTake.speakerProfileName)'
            """
          )
        }
        return (engine, try makeTask(engine))
      }
    } catch let error as OutputError
      where deviceOptions.deviceNameOrigin != nil || !deviceOptions.isDeviceExplicit
    {
      throw DeviceUnavailableError(
        openingError: error, deviceNameOrigin: deviceOptions.deviceNameOrigin)
    }
  }

  func reportOutcome(_ outcome: LiveOutcome, _ fields: JSONObject, _ terminal: Terminal) throws
    -> ExitStatus
  {
    if printsJSON {
      try terminal.output.writeJSON(fields + outcome.jsonFields)
    }
    return outcome.exitStatus
  }

  /// Throws an error for a device that cannot play with these options.
  func checkDevice(_ granted: DeviceSummary) throws(UsageError) {
    _ = try makeEngine(for: granted, bodyLocationCount: 0, recordingChannelCounts: [])
  }

  private func makeEngine(
    for granted: DeviceSummary, bodyLocationCount: Int, recordingChannelCounts: [Int]
  ) throws(UsageError) -> PlaybackEngine {
    let channelCount = granted.format.channelCount
    guard channelCount >= channelRouting.minimumChannelCount else {
      throw UsageError(
        "channel \(channelRouting.minimumChannelCount) is in use, but \(granted.name.inQuotes) has "
          + "\(channelCount == 1 ? "one channel" : "\(channelCount) channels")")
    }
    try channelRouting.checkFilters(rate: granted.format.rate)
    var (channels, profiles) = channelRouting.resolvedRouting(
      channelCount: channelCount, rate: granted.format.rate, profile: profile,
      bodyLocationCount: bodyLocationCount)
    (channels, profiles) = RecordingChannels.separatingBuses(
      channels, profiles, for: recordingChannelCounts)
    return PlaybackEngine(
      rate: granted.format.rate, routing: channels, profiles: profiles, strength: Float(masterGain))
  }
}

struct DeviceOptions: Sendable {
  static let defaultDevice = "default"
  private static let automaticKeyword = "auto"

  static let optionGroup = OptionGroup(
    "Device", deviceOption, SharedOptions.noConfigOption, sampleRateOption, channelCountOption,
    Option(
      "--sample-format", value: "FORMAT", help: "Sample format.",
      defaultValueText: automaticKeyword,
      choices: [automaticKeyword] + SampleEncoding.allCases.map(\.rawValue)), periodSizeOption,
    bufferSizeOption)

  static let deviceOption = Option(
    "-d", "--device", value: "NAME",
    help:
      """
      Output device: an ALSA device (plughw:1), a sound card (card:ID or \
      usb:VENDOR:PRODUCT[:SERIAL]), a sink (pipewire:NODE or pulse:DEVICE=NAME), or wav:FILE.
      """,
    defaultValueText: defaultDevice, completion: Completion(candidateCommand: "devices --names"))
  private static let sampleRateOption = Option(
    "--rate", value: "HZ", help: "Sample rate, \(SharedOptions.sampleRateText).",
    defaultValueText: "48000, or the nearest rate that the device supports"
  ).int(in: SharedOptions.sampleRatesHertz)
  private static let channelCountOption = Option(
    "--channels", value: "N", help: "Number of output channels, 1 to 64.",
    defaultValueText: "the number of channels in use, but at least two"
  ).int(in: OutputRouting.channelCounts)
  private static let periodSizeOption = Option(
    "--period-size", value: "FRAMES", help: "Period size in frames, 16 to 16384.",
    defaultValueText: "5 ms"
  ).int(in: 16...16_384)
  private static let bufferSizeOption = Option(
    "--buffer-size", value: "FRAMES",
    help: """
      Buffer size in frames, at least two periods. A larger buffer prevents underruns but adds \
      latency.
      """,
    defaultValueText: "four periods"
  ).int(in: 32...262_144)

  let deviceName: String
  /// The name that the opened output reports.
  var reportedOutputName: String {
    let parsedName = OutputRegistry.standard.parseName(deviceName)
    return parsedName.scheme == PipeWireBackend.scheme ? deviceName : parsedName.address
  }
  let outputRequest: OutputRequest
  let isDeviceExplicit: Bool
  /// A description of the setting that specified the device name, or nil if the command line did.
  let deviceNameOrigin: String?
  var outputFilePath: String? {
    let parsedName = OutputRegistry.standard.parseName(deviceName)
    return parsedName.scheme == SoundFileBackend.scheme ? parsedName.address : nil
  }

  init(_ device: String, channelCount: Int) {
    self.deviceName = device
    outputRequest = OutputRequest(
      allowsOtherRate: true, channels: .atLeast(max(2, channelCount)), adaptsBuffer: true)
    isDeviceExplicit = true
    deviceNameOrigin = nil
  }

  init(_ arguments: ParsedArguments, minimumChannelCount: Int = 1) throws(UsageError) {
    let rateHertz = try arguments[Self.sampleRateOption]
    var outputRequest = OutputRequest(
      rate: rateHertz ?? 48_000, allowsOtherRate: rateHertz == nil, adaptsBuffer: true)
    let parsedName = try Self.parseName(arguments)
    deviceName = parsedName ?? Self.defaultDevice
    isDeviceExplicit = parsedName != nil
    deviceNameOrigin = arguments.defaultOriginsByOption["--device"]
    outputRequest.channels = .atLeast(max(2, minimumChannelCount))
    if let count = try arguments[Self.channelCountOption] {
      guard count >= minimumChannelCount else {
        throw UsageError("channel \(minimumChannelCount) is in use, but '--channels' is \(count)")
      }
      outputRequest.channels = .exactly(count)
    }
    if let formatWord = arguments.value("--sample-format"), formatWord != Self.automaticKeyword {
      outputRequest.encoding = formatWord
    }
    let periodSize = try arguments[Self.periodSizeOption]
    if let periodSize {
      outputRequest.periodSize = periodSize
      outputRequest.adaptsBuffer = false
      outputRequest.bufferSize = 4 * periodSize
    }
    if let bufferSize = try arguments[Self.bufferSizeOption] {
      if periodSize == nil {
        outputRequest.periodSize = max(16, bufferSize / 4)
      }
      guard bufferSize >= 2 * outputRequest.periodSize else {
        throw UsageError(
          """
          '--buffer-size' must be at least two periods (\(2 * outputRequest.periodSize)), \
          not '\(bufferSize)'
          """
        )
      }
      outputRequest.bufferSize = bufferSize
      outputRequest.adaptsBuffer = false
    }
    self.outputRequest = outputRequest
    if let outputFilePath {
      try arguments.overwriteCheck.checkOutputPath(outputFilePath, option: "--device")
    }
  }

  static func parseName(_ arguments: ParsedArguments) throws(UsageError) -> String? {
    let deviceName = arguments.value("--device")
    if let deviceName, deviceName.isEmpty || deviceName.utf8.contains(0) {
      throw UsageError(
        "'--device' requires the name of an output device, not \(deviceName.inQuotes)")
    }
    if let deviceName, let sink = namedSink(deviceName) {
      do throws(OutputError) {
        try sink.validateSinkName()
      } catch {
        throw UsageError("'--device': \(deviceName.printable): \(error.description)")
      }
    }
    return deviceName
  }

  /// Returns the sound server's sink that a device name refers to, or nil if the device is not a
  /// sink.
  static func namedSink(_ device: String) -> NamedSink? {
    let parsedName = OutputRegistry.standard.parseName(device)
    switch parsedName.scheme {
    case ALSABackend().scheme: return NamedSink(device: parsedName.address)
    case PipeWireBackend.scheme: return NamedSink(device: device)
    default: return nil
    }
  }

  /// Sets the name under which the desktop's mixer shows the streams of a live command, and pins
  /// the streams to the sink that the command line names.
  ///
  /// Call it before the process has a second thread.
  static func pinStreams(_ arguments: ParsedArguments) throws {
    guard arguments.command.option(named: "--device") != nil else { return }
    let deviceName = try parseName(arguments)
    // 'setup' asks for the device later, and a source to follow is recorded by its name.
    let isChosenLater = deviceName == nil && arguments.command.name == "setup"
    let recordsSound = arguments.command.name == "follow"
    let namesSink = deviceName.flatMap(namedSink) != nil || isChosenLater || recordsSound
    try SinkPinning.applyVariables(namesSink: namesSink)
  }
}

extension OutputError {
  var messageText: String {
    // The program itself lists devices, so the message names its own command.
    let isListed = kind != .notFound || !alternativeNames.isEmpty
    let reasonText =
      isListed ? description : "no such device; run 'temblor devices' to list devices"
    return "\(output.printable): \(reasonText)"
  }
}

/// The error thrown if a device cannot be opened and was not specified on the command line.
struct DeviceUnavailableError: Error, Equatable, CustomStringConvertible {
  var openingError: OutputError
  /// A description of the setting that specified the device name, or nil for the default device.
  var deviceNameOrigin: String?

  var description: String {
    if let deviceNameOrigin {
      return
        """
        \(openingError.messageText); \(deviceNameOrigin) selects this device: connect it, or use \
        'temblor setup' or '--device'
        """
    }
    return
      """
      \(openingError.messageText); nothing was played or written; for a sound file, use \
      '--device wav:FILE' or 'temblor render'
      """
  }
}

extension DeviceSummary {
  /// A description in the form `default: 2 channels at 48000 Hz, float, period 240, buffer 960
  /// frames`.
  var description: String {
    let channelCountText = format.channelCount.countText("channel")
    return """
      \(name.printable): \(channelCountText) at \(Int(format.rate)) Hz, \(sampleFormatName), \
      period \(format.periodSize), buffer \(format.bufferSize) frames
      """
  }
}
