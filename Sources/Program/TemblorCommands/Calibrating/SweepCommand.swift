import CommandLineKit
import HapticOutputs
import HapticPlayback
import HapticRender
import PatternWorkflows
import SignalAnalysis
import SoundFile
import SystemSupport
import TransducerCalibration
import TransducerProfiles

enum SweepCommand {
  static let definition = Command(
    "sweep", abstract: "Write or play the measurement signal for a transducer.",
    discussion: """
      The signal consists of two rising sweeps, six tones, and six bursts. The first sweep is 6 dB \
      weaker than the second. The tones and bursts let you feel the transducer at several \
      frequencies. Record the signal with a sensor on the transducer, and measure the recording \
      with 'temblor calibrate'. The signal has a low level, fades in slowly, and contains no \
      frequencies below half the start frequency. Temblor rejects a level that exceeds the limits \
      of the profile.

      With --quick, the signal lasts 5 s and is intended for 'temblor calibrate --quick'.
      """,
    options: [
      SweepOptions.profileOption, SweepOptions.quickOption,
      Option(
        "-o", "--output", value: "FILE", help: "Output file, with 24 bits per sample.",
        completion: .file(withExtension: "wav", "flac"),
        writes: []), hapticChannelsOption,
    ], optionGroups: [SweepOptions.optionGroup, DeviceOptions.optionGroup],
    examples: [
      .init("temblor sweep --profile dayton-bst-1 -o sweep.wav", "Write a sound file."),
      .init(
        "temblor sweep --profile dayton-bst-1 --device plughw:1 --haptics 2",
        "Play the signal on the second channel of a sound card."),
    ]
  ) { arguments, terminal in try run(arguments, terminal, time: SystemTimeSource()) }

  static let hapticChannelsOption = Option(
    "--haptics", value: "LIST", help: RoutingOptions.transducerChannelsHelp, defaultValueText: "all"
  )

  /// Returns the output channels of the transducer, numbered from 1; empty for all channels.
  static func channelNumbers(_ arguments: ParsedArguments) throws(UsageError) -> [Int] {
    guard let channelList = arguments.value("--haptics") else { return [] }
    return try RoutingOptions.parseChannelNumbers(channelList)
  }

  static func run(_ arguments: ParsedArguments, _ terminal: Terminal, time: any TimeSource) throws
    -> ExitStatus
  {
    let options = try SweepOptions(arguments)
    try options.checkTransducerLimits()
    let outputPath = arguments.value("--output")
    let hasDevice = arguments.value("--device") != nil
    guard (outputPath == nil) == hasDevice else {
      throw UsageError("specify either '--output' or '--device'")
    }
    if let outputPath {
      let rate = try arguments[SharedOptions.sampleRateOption]
      try writeSignal(options, rate: rate, to: outputPath)
      try terminal.output.write(
        "\(outputPath.printable): \(signalSummary(options))\n"
          + measurementInstructions(options, file: outputPath))
      return .success
    }
    let sweepPlayer = try SweepPlayer(arguments, options: options, time: time)
    try terminal.output.writeLine("playing \(signalSummary(options))")
    try sweepPlayer.playSweep()
    try terminal.output.write(measurementInstructions(options, file: nil))
    return .success
  }

  private static func writeSignal(_ options: SweepOptions, rate: Int, to path: String) throws {
    guard let container = SoundFileFormat.container(ofName: path) else {
      throw UsageError("unknown file extension of \(path.inQuotes); use .wav or .flac")
    }
    let sweepSamples = try options.makeSamples(rate: Double(rate))
    let soundFormat = SoundFileFormat(
      container: container, sampleFormat: container == .ogg ? .float : .s24)
    var outputFile = try AtomicFileWriter(path)
    var soundWriter = try SoundFileWriter(
      descriptor: outputFile.descriptor, path: path, format: soundFormat, rate: rate,
      channelCount: 1,
      frameCount: Int64(sweepSamples.count),
      tags: SoundFileTags(
        title: "sweep", software: "Temblor \(temblorVersion)",
        comment: "temblor sweep --profile \(options.profile.name)\(options.commandLineText)"))
    try soundWriter.write(sweepSamples.span)
    try soundWriter.close()
    try outputFile.commit()
  }

  /// Returns a summary of the signal, for example `22 s, 10 to 1000 Hz at -12 dBFS for
  /// dayton-bst-1`.
  static func signalSummary(_ options: SweepOptions) -> String {
    let sweepSignal = options.sweepSignal
    let lowHertzText = SweepOptions.numberText(sweepSignal.bandHertz.lowerBound)
    let highHertzText = SweepOptions.numberText(sweepSignal.bandHertz.upperBound)
    return
      """
      \(sweepSignal.totalSeconds.text(places: 1)) s, \(lowHertzText) to \(highHertzText) Hz at \
      \(SweepOptions.numberText(sweepSignal.levelDecibels)) dBFS for \(options.profile.name)
      """
  }

  private static func measurementInstructions(_ options: SweepOptions, file: String?) -> String {
    let recordingSeconds = Int(options.sweepSignal.totalSeconds.rounded(.up)) + 5
    var instructions = ""
    if !SweepLimits(options.profile).hasLimits {
      instructions += "The profile has no power or excursion limit. Start at a low volume.\n"
    }
    instructions += """
      Attach an accelerometer to the mounted transducer, or hold a microphone against it.
      Record the complete signal without interruption, with automatic gain control off and without \
      clipping:
        arecord -f S16_LE -r 48000 -d \(recordingSeconds) take.wav

      """
    if let file {
      instructions += "While recording, play the signal:\n  aplay \(file.printable)\n"
    }
    let quickOption = options.isQuick ? " --quick" : ""
    let outputOption = options.isQuick ? "" : " -o mine.json"
    return instructions
      + """
      Then measure the recording:
        temblor calibrate\(quickOption) take.wav --profile \
      \(options.profileArgument)\(options.commandLineText)\(outputOption)

      """
  }
}

/// The options of the sweep signal, which `sweep` and `calibrate` share.
struct SweepOptions {
  static let optionGroup = OptionGroup(
    "Signal",
    Option(
      "--low", value: "HZ", help: "Start frequency, 1 to 10000 Hz.",
      defaultValueText: numberText(SweepSignal.defaultBandHertz.lowerBound)),
    Option(
      "--high", value: "HZ", help: "End frequency, 4 to 1000 times the start frequency.",
      defaultValueText: numberText(SweepSignal.defaultBandHertz.upperBound)),
    Option(
      "--sweep-duration", value: "SECONDS", help: "Duration of each sweep, 0.5 to 30.",
      defaultValueText: numberText(SweepSignal.defaultSweepSeconds)),
    Option(
      "--level", value: "DB", help: "Peak level in dBFS, -40 to -3.",
      defaultValueText: numberText(SweepSignal.defaultLevelDecibels)))

  static let profileOption = Option(
    "--profile", value: "PROFILE",
    help:
      """
      Profile of the transducer: a name from 'temblor profiles', part of a name such as 'BST-1', \
      or a file.
      """,
    completion: SharedOptions.profileCompletion)

  static let quickOption = Option(
    "--quick", help: "Use a 5 s signal to check the resonance and the Q factor of a profile.")

  let profile: TransducerProfile
  let profilePath: String?
  let profileArgument: String
  let sweepSignal: SweepSignal
  let isQuick: Bool

  init(_ arguments: ParsedArguments) throws {
    guard let profileArgument = arguments.value("--profile") else {
      throw UsageError("missing '--profile'; run 'temblor profiles' to list profiles")
    }
    self.profileArgument = profileArgument
    let profileInput = try ProfileInput.read(profileArgument)
    profile = try profileInput.parseProfile()
    profilePath = profileInput.libraryEntry?.path
    isQuick = arguments.hasFlag("--quick")
    let levelDecibels =
      try arguments.number("--level", in: SweepSignal.supportedLevelDecibels)
      ?? SweepSignal.defaultLevelDecibels
    if isQuick {
      try SharedOptions.refuseOptions(
        ["--low", "--high", "--sweep-duration"], with: "--quick", in: arguments)
      do {
        sweepSignal = try SweepSignal(checking: profile, levelDecibels: levelDecibels)
      } catch {
        throw UsageError(error.description)
      }
      return
    }
    let requestedLowHertz = try arguments.number("--low", in: SweepSignal.supportedHertz)
    let requestedHighHertz = try arguments.number("--high", in: SweepSignal.supportedHertz)
    let defaultBand = SweepSignal.defaultBandHertz
    let lowHertz =
      requestedLowHertz
      ?? min(defaultBand.lowerBound, (requestedHighHertz ?? defaultBand.upperBound) / 4)
    let highHertz = requestedHighHertz ?? max(defaultBand.upperBound, lowHertz * 4)
    guard lowHertz < highHertz else {
      throw UsageError("'--high' must be above '--low', not \(Self.numberText(highHertz).inQuotes)")
    }
    let frequencyMapping = profile.frequency
    do {
      sweepSignal = try SweepSignal(
        bandHertz: lowHertz...highHertz,
        sweepSeconds: try arguments.number(
          "--sweep-duration", in: SweepSignal.supportedSweepSeconds)
          ?? SweepSignal.defaultSweepSeconds,
        levelDecibels: levelDecibels,
        toneBandHertz: min(
          frequencyMapping.lowHertz, frequencyMapping.highHertz)...max(
            frequencyMapping.lowHertz, frequencyMapping.highHertz))
    } catch let error as CalibrationError {
      throw UsageError(error.description)
    }
  }

  func checkTransducerLimits() throws(UsageError) {
    do {
      try SweepLimits(profile).check(sweepSignal)
    } catch {
      throw UsageError(error.description)
    }
  }

  func makeSamples(rate: Double) throws(UsageError) -> [Float] {
    do {
      return try sweepSignal.samples(rate: rate)
    } catch {
      throw UsageError(error.description)
    }
  }

  /// The signal options that differ from their defaults, as text for a command line.
  var commandLineText: String {
    let bandHertz = sweepSignal.bandHertz
    let defaultBand = SweepSignal.defaultBandHertz
    let optionValues = [
      ("--low", bandHertz.lowerBound, defaultBand.lowerBound),
      ("--high", bandHertz.upperBound, defaultBand.upperBound),
      ("--sweep-duration", sweepSignal.sweepSeconds, SweepSignal.defaultSweepSeconds),
      ("--level", sweepSignal.levelDecibels, SweepSignal.defaultLevelDecibels),
    ]
    return optionValues.dropFirst(isQuick ? 3 : 0).filter { $0.1 != $0.2 }.map {
      " \($0.0) \(Self.numberText($0.1))"
    }.joined()
  }

  static func numberText(_ value: Double) -> String { value.text(places: 3) }
}

/// Plays the sweep on a device, and optionally records at the same time.
struct SweepPlayer {
  private let deviceName: String
  private let outputRequest: OutputRequest
  private let options: SweepOptions
  /// The output channels, numbered from 1; empty for all channels.
  private let channelNumbers: [Int]
  private let time: any TimeSource

  /// The duration of the recording after the signal, in seconds. Sound servers and networks have
  /// latencies of up to 3 s.
  private static let trailingRecordingSeconds = 3.25
  /// The duration of the recording after a quick sweep, in seconds.
  private static let quickTrailingRecordingSeconds = 0.5
  /// The time after which devices run steadily and their clocks can be compared, in seconds.
  private static let deviceSettlingSeconds = 0.25
  /// The default number of frames in a period. A low latency is not required.
  private static let defaultPeriodFrameCount = 1_024

  init(_ arguments: ParsedArguments, options: SweepOptions, time: any TimeSource) throws(UsageError)
  {
    channelNumbers = try SweepCommand.channelNumbers(arguments)
    let deviceOptions = try DeviceOptions(arguments, minimumChannelCount: channelNumbers.max() ?? 1)
    var outputRequest = deviceOptions.outputRequest
    if arguments.value("--period-size") == nil, arguments.value("--buffer-size") == nil {
      outputRequest.periodSize = Self.defaultPeriodFrameCount
      outputRequest.bufferSize = 8 * Self.defaultPeriodFrameCount
    }
    deviceName = deviceOptions.deviceName
    self.outputRequest = outputRequest
    self.options = options
    self.time = time
  }

  func playSweep() throws {
    let audioSink = try openSink()
    let sweepSamples = try options.makeSamples(rate: audioSink.format.rate)
    try writeSamples(sweepSamples, count: sweepSamples.count, to: audioSink) { _ in true }
  }

  /// Plays the sweep and records it.
  ///
  /// - Parameters:
  ///   - device: The capture device.
  ///   - channelCount: The number of channels to record.
  /// - Returns: The recording, and the time in it at which the device played the signal's first
  ///   sample, in seconds by both clocks.
  func playAndRecord(from device: String, channelCount: Int) throws -> (
    sound: Sound, origin: Double?
  ) {
    let audioSink = try openSink()
    let rateHertz = audioSink.format.rate
    let sweepSamples: [Float]
    do {
      sweepSamples = try options.sweepSignal.samples(rate: rateHertz, includesTones: false)
    } catch {
      throw UsageError(error.description)
    }
    let capture = try ALSACapture(
      device, rate: Int(rateHertz), channelCount: channelCount, clock: time)
    var recordedSamples: [Float] = []
    var playbackStartSeconds: [Double] = []
    let tailSeconds =
      options.isQuick ? Self.quickTrailingRecordingSeconds : Self.trailingRecordingSeconds
    let requiredFrameCount = sweepSamples.count + Int(tailSeconds * rateHertz)
    try capture.start()
    try writeSamples(sweepSamples, count: .max, to: audioSink) { written in
      try capture.read(into: &recordedSamples)
      if Double(written) > Self.deviceSettlingSeconds * rateHertz,
        let first = capture.firstFrameTime()
      {
        let start =
          time.now
          + .roundedToNanoseconds(seconds: Double(audioSink.delayFrames - written) / rateHertz)
        playbackStartSeconds.append((start - first).inSeconds)
      }
      // The capture may have started before the playback.
      let offset = max(0, playbackStartSeconds.last ?? 0)
      return Double(capture.frameCount) >= Double(requiredFrameCount) + offset * rateHertz
    }
    capture.stop()
    playbackStartSeconds.sort()
    let recordedSound = Sound(
      interleaved: recordedSamples, channelCount: channelCount, rate: rateHertz)
    return (
      recordedSound,
      playbackStartSeconds.isEmpty ? nil : playbackStartSeconds[playbackStartSeconds.count / 2]
    )
  }

  private func openSink() throws(OutputError) -> any AudioSink {
    try OutputRegistry.standard.open(deviceName, outputRequest, time: time).sink
  }

  /// Writes samples to a sink, followed by silence.
  ///
  /// - Parameters:
  ///   - samples: The samples, for one channel or all.
  ///   - count: The number of frames to write, or `.max` to write until `isDone` returns true.
  ///   - sink: The output.
  ///   - isDone: A function that is called after each block with the number of written frames.
  private func writeSamples(
    _ samples: [Float], count: Int, to sink: any AudioSink, isDone: (Int) throws -> Bool
  ) throws {
    let channelCount = sink.format.channelCount
    let wake = try WakeSignal()
    var writtenFrameCount = 0
    var sampleBlock = [Float](repeating: 0, count: sink.format.bufferSize * channelCount)
    var hasEnded = false
    defer {
      if !hasEnded {
        finishSink(sink, draining: false)
      }
    }
    while true {
      if SignalHandling.isInterruptRequested { throw FileError(deviceName, "interrupted") }
      switch sink.wait(wake) {
      case .ready(let frameCount):
        for frame in 0..<frameCount {
          let sample =
            writtenFrameCount + frame < samples.count ? samples[writtenFrameCount + frame] : 0
          for index in 0..<channelCount {
            let isPlayed = channelNumbers.isEmpty || channelNumbers.contains(index + 1)
            sampleBlock[frame * channelCount + index] = isPlayed ? sample : 0
          }
        }
        sink.write(sampleBlock.span.extracting(first: frameCount * channelCount))
        writtenFrameCount += frameCount
      case .interrupted:
        break
      case .missed, .late:
        throw outputFailure("underrun during the sweep; use a larger '--buffer-size'")
      case .ended:
        throw outputFailure("disconnected during the sweep; reconnect it")
      }
      let isDone = try isDone(writtenFrameCount)
      if writtenFrameCount >= count || (isDone && count == .max) { break }
    }
    hasEnded = true
    finishSink(sink, draining: count != .max)
  }

  /// The maximum time that a device may take to close.
  private static let closeTimeout = Duration.seconds(1)

  private func finishSink(_ sink: any AudioSink, draining: Bool) {
    sink.finish(draining: draining)
    nonisolated(unsafe) let sink = sink
    let closingThread = try? BackgroundThread { unsafe sink.close() }
    closingThread?.wait(within: Self.closeTimeout)
  }

  private func outputFailure(_ text: String) -> OutputError {
    OutputError(.other, output: deviceName, text)
  }
}
