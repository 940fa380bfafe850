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
        writes: []), hapticsOption,
    ], optionGroups: [SweepOptions.optionGroup, DeviceOptions.optionGroup],
    examples: [
      .init("temblor sweep --profile dayton-bst-1 -o sweep.wav", "Write a sound file."),
      .init(
        "temblor sweep --profile dayton-bst-1 --device plughw:1 --haptics 2",
        "Play the signal on the second channel of a sound card."),
    ]
  ) { arguments, terminal in try run(arguments, terminal, time: SystemTimeSource()) }

  static let hapticsOption = Option(
    "--haptics", value: "LIST", help: RoutingOptions.transducerChannelsHelp, defaultText: "all")

  /// Returns the output channels of the transducer, numbered from 1; empty for all channels.
  static func channelNumbers(_ arguments: ParsedArguments) throws(UsageError) -> [Int] {
    guard let text = arguments.value("--haptics") else { return [] }
    return try RoutingOptions.parseChannelNumbers(text)
  }

  static func run(_ arguments: ParsedArguments, _ terminal: Terminal, time: any TimeSource) throws
    -> ExitStatus
  {
    let options = try SweepOptions(arguments)
    try options.checkLimits()
    let output = arguments.value("--output")
    let hasDevice = arguments.value("--device") != nil
    guard (output == nil) == hasDevice else {
      throw UsageError("specify either '--output' or '--device'")
    }
    if let output {
      let rate = try arguments[SharedOptions.rateOption]
      try writeSignal(options, rate: rate, to: output)
      try terminal.output.write(
        "\(output.printable): \(signalSummary(options))\n"
          + measurementInstructions(options, file: output))
      return .success
    }
    let player = try SweepPlayer(arguments, options: options, time: time)
    try terminal.output.writeLine("playing \(signalSummary(options))")
    try player.playSweep()
    try terminal.output.write(measurementInstructions(options, file: nil))
    return .success
  }

  private static func writeSignal(_ options: SweepOptions, rate: Int, to path: String) throws {
    guard let container = SoundFileFormat.container(ofName: path) else {
      throw UsageError("unknown file extension of \(path.inQuotes); use .wav or .flac")
    }
    let samples = try options.makeSamples(rate: Double(rate))
    let format = SoundFileFormat(
      container: container, sampleFormat: container == .ogg ? .float : .s24)
    var file = try AtomicFileWriter(path)
    var writer = try SoundFileWriter(
      descriptor: file.descriptor, path: path, format: format, rate: rate, channelCount: 1,
      frameCount: Int64(samples.count),
      tags: SoundFileTags(
        title: "sweep", software: "Temblor \(temblorVersion)",
        comment: "temblor sweep --profile \(options.profile.name)\(options.commandLineText)"))
    try writer.write(samples.span)
    try writer.close()
    try file.commit()
  }

  /// Returns a summary of the signal, for example `22 s, 10 to 1000 Hz at -12 dBFS for
  /// dayton-bst-1`.
  static func signalSummary(_ options: SweepOptions) -> String {
    let signal = options.sweepSignal
    let low = SweepOptions.numberText(signal.bandHertz.lowerBound)
    let high = SweepOptions.numberText(signal.bandHertz.upperBound)
    return
      """
      \(signal.totalSeconds.text(places: 1)) s, \(low) to \(high) Hz at \
      \(SweepOptions.numberText(signal.levelDecibels)) dBFS for \(options.profile.name)
      """
  }

  private static func measurementInstructions(_ options: SweepOptions, file: String?) -> String {
    let recordingSeconds = Int(options.sweepSignal.totalSeconds.rounded(.up)) + 5
    var text = ""
    if !SweepLimits(options.profile).hasLimits {
      text += "The profile has no power or excursion limit. Start at a low volume.\n"
    }
    text += """
      Attach an accelerometer to the mounted transducer, or hold a microphone against it.
      Record the complete signal without interruption, with automatic gain control off and without \
      clipping:
        arecord -f S16_LE -r 48000 -d \(recordingSeconds) take.wav

      """
    if let file {
      text += "While recording, play the signal:\n  aplay \(file.printable)\n"
    }
    let quick = options.isQuick ? " --quick" : ""
    let output = options.isQuick ? "" : " -o mine.json"
    return text
      + """
      Then measure the recording:
        temblor calibrate\(quick) take.wav --profile \
      \(options.profileArgument)\(options.commandLineText)\(output)

      """
  }
}

/// The options of the sweep signal, which `sweep` and `calibrate` share.
struct SweepOptions {
  static let optionGroup = OptionGroup(
    "Signal",
    Option(
      "--low", value: "HZ", help: "Start frequency, 1 to 10000 Hz.",
      defaultText: numberText(SweepSignal.defaultBandHertz.lowerBound)),
    Option(
      "--high", value: "HZ", help: "End frequency, 4 to 1000 times the start frequency.",
      defaultText: numberText(SweepSignal.defaultBandHertz.upperBound)),
    Option(
      "--sweep-duration", value: "SECONDS", help: "Duration of each sweep, 0.5 to 30.",
      defaultText: numberText(SweepSignal.defaultSweepSeconds)),
    Option(
      "--level", value: "DB", help: "Peak level in dBFS, -40 to -3.",
      defaultText: numberText(SweepSignal.defaultLevelDecibels)))

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
    let input = try ProfileInput.read(profileArgument)
    profile = try input.parseProfile()
    profilePath = input.libraryEntry?.path
    isQuick = arguments.hasFlag("--quick")
    let level =
      try arguments.number("--level", in: SweepSignal.supportedLevelDecibels)
      ?? SweepSignal.defaultLevelDecibels
    if isQuick {
      try SharedOptions.refuseOptions(
        ["--low", "--high", "--sweep-duration"], with: "--quick", in: arguments)
      do {
        sweepSignal = try SweepSignal(checking: profile, levelDecibels: level)
      } catch {
        throw UsageError(error.description)
      }
      return
    }
    let low = try arguments.number("--low", in: SweepSignal.supportedHertz)
    let high = try arguments.number("--high", in: SweepSignal.supportedHertz)
    let defaultBand = SweepSignal.defaultBandHertz
    let first = low ?? min(defaultBand.lowerBound, (high ?? defaultBand.upperBound) / 4)
    let last = high ?? max(defaultBand.upperBound, first * 4)
    guard first < last else {
      throw UsageError("'--high' must be above '--low', not \(Self.numberText(last).inQuotes)")
    }
    let mapping = profile.frequency
    do {
      sweepSignal = try SweepSignal(
        bandHertz: first...last,
        sweepSeconds: try arguments.number(
          "--sweep-duration", in: SweepSignal.supportedSweepSeconds)
          ?? SweepSignal.defaultSweepSeconds,
        levelDecibels: level,
        toneBandHertz: min(
          mapping.lowHertz, mapping.highHertz)...max(mapping.lowHertz, mapping.highHertz))
    } catch let error as CalibrationError {
      throw UsageError(error.description)
    }
  }

  func checkLimits() throws(UsageError) {
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
    let band = sweepSignal.bandHertz
    let defaultBand = SweepSignal.defaultBandHertz
    let values = [
      ("--low", band.lowerBound, defaultBand.lowerBound),
      ("--high", band.upperBound, defaultBand.upperBound),
      ("--sweep-duration", sweepSignal.sweepSeconds, SweepSignal.defaultSweepSeconds),
      ("--level", sweepSignal.levelDecibels, SweepSignal.defaultLevelDecibels),
    ]
    return values.dropFirst(isQuick ? 3 : 0).filter { $0.1 != $0.2 }.map {
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
  private static let settlingSeconds = 0.25
  /// The default number of frames in a period. A low latency is not required.
  private static let defaultPeriodFrameCount = 1_024

  init(_ arguments: ParsedArguments, options: SweepOptions, time: any TimeSource) throws(UsageError)
  {
    channelNumbers = try SweepCommand.channelNumbers(arguments)
    let output = try DeviceOptions(arguments, minimumChannelCount: channelNumbers.max() ?? 1)
    var request = output.outputRequest
    if arguments.value("--period-size") == nil, arguments.value("--buffer-size") == nil {
      request.periodSize = Self.defaultPeriodFrameCount
      request.bufferSize = 8 * Self.defaultPeriodFrameCount
    }
    deviceName = output.deviceName
    self.outputRequest = request
    self.options = options
    self.time = time
  }

  func playSweep() throws {
    let sink = try openSink()
    let samples = try options.makeSamples(rate: sink.format.rate)
    try writeSamples(samples, count: samples.count, to: sink) { _ in true }
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
    let sink = try openSink()
    let rate = sink.format.rate
    let samples: [Float]
    do {
      samples = try options.sweepSignal.samples(rate: rate, includesTones: false)
    } catch {
      throw UsageError(error.description)
    }
    let capture = try ALSACapture(
      device, rate: Int(rate), channelCount: channelCount, clock: time)
    var recorded: [Float] = []
    var origins: [Double] = []
    let tailDuration =
      options.isQuick ? Self.quickTrailingRecordingSeconds : Self.trailingRecordingSeconds
    let requiredCount = samples.count + Int(tailDuration * rate)
    try capture.start()
    try writeSamples(samples, count: .max, to: sink) { written in
      try capture.read(into: &recorded)
      if Double(written) > Self.settlingSeconds * rate, let first = capture.firstFrameTime() {
        let start =
          time.now + .roundedToNanoseconds(seconds: Double(sink.delayFrames - written) / rate)
        origins.append((start - first).inSeconds)
      }
      // The capture may have started before the playback.
      let offset = max(0, origins.last ?? 0)
      return Double(capture.frameCount) >= Double(requiredCount) + offset * rate
    }
    capture.stop()
    origins.sort()
    let sound = Sound(interleaved: recorded, channelCount: channelCount, rate: rate)
    return (sound, origins.isEmpty ? nil : origins[origins.count / 2])
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
    let channels = sink.format.channelCount
    let wake = try WakeSignal()
    var written = 0
    var block = [Float](repeating: 0, count: sink.format.bufferSize * channels)
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
          let sample = written + frame < samples.count ? samples[written + frame] : 0
          for index in 0..<channels {
            let isPlayed = channelNumbers.isEmpty || channelNumbers.contains(index + 1)
            block[frame * channels + index] = isPlayed ? sample : 0
          }
        }
        sink.write(block.span.extracting(first: frameCount * channels))
        written += frameCount
      case .interrupted:
        break
      case .missed, .late:
        throw outputFailure("underrun during the sweep; use a larger '--buffer-size'")
      case .ended:
        throw outputFailure("disconnected during the sweep; reconnect it")
      }
      let isDone = try isDone(written)
      if written >= count || (isDone && count == .max) { break }
    }
    hasEnded = true
    finishSink(sink, draining: count != .max)
  }

  /// The maximum time that a device may take to close.
  private static let closeTimeout = Duration.seconds(1)

  private func finishSink(_ sink: any AudioSink, draining: Bool) {
    sink.finish(draining: draining)
    nonisolated(unsafe) let sink = sink
    let thread = try? BackgroundThread { unsafe sink.close() }
    thread?.wait(within: Self.closeTimeout)
  }

  private func outputFailure(_ text: String) -> OutputError {
    OutputError(.other, output: deviceName, text)
  }
}
