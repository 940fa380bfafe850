import CommandLineKit
import HapticPlayback
import HapticRender
import PatternWorkflows
import SoundFile
import SystemSupport
import TransducerCalibration
import TransducerProfiles

/// `temblor sweep`: the signal that a transducer is measured with.
enum SweepVerb {
  static let description = CommandDescription(
    "sweep", abstract: "Write or play the measurement signal for a transducer.",
    discussion: """
      The signal consists of two rising sweeps, the first 6 dB weaker, then six tones and six bursts to feel. Record it with a sensor on the transducer and measure the recording with 'temblor calibrate'. The level is low, fades in slowly and contains nothing below half the lowest frequency. Levels beyond the limits of the profile are rejected.

      With --quick, the signal takes 5 s, for 'temblor calibrate --quick'.
      """,
    options: [
      SweepOptions.profile, SweepOptions.quick,
      Option(
        "-o", "--output", value: "FILE", help: "Output file, 24 bits.", completion: .file(endingIn: "wav", "flac"),
        writes: []), playChannel,
    ], groups: [SweepOptions.group, DeviceOptions.group],
    examples: [
      .init("temblor sweep --profile dayton-bst-1 -o sweep.wav", "Write a file to play."),
      .init(
        "temblor sweep --profile dayton-bst-1 --device plughw:1 --play-channel 2",
        "Play it on the second channel of a card."),
    ]
  ) { arguments, terminal in try run(arguments, terminal, time: SystemTimeSource()) }

  static let playChannel = Option("--play-channel", value: "N", help: "Output channel, 1 to 64.", defaultText: "all")

  /// Writes or plays by a clock.
  static func run(_ arguments: ParsedArguments, _ terminal: Terminal, time: any TimeSource) throws -> ExitStatus {
    let options = try SweepOptions(arguments)
    try options.checkLimits()
    let output = arguments.value("--output")
    guard (output == nil) != (arguments.value("--device") == nil) else {
      throw UsageError(output == nil ? .missingValue : .remove, "use either '--output' or '--device'")
    }
    if let output {
      let rate = try SharedOptions.rate(arguments)
      try write(options, rate: rate, to: output)
      try terminal.output.write("\(output.printable): \(summary(options))\n" + advice(options, file: output))
      return .done
    }
    let player = try SweepPlayer(arguments, options: options, time: time)
    try terminal.output.line("playing \(summary(options))")
    try player.play()
    try terminal.output.write(advice(options, file: nil))
    return .done
  }

  private static func write(_ options: SweepOptions, rate: Int, to path: String) throws {
    guard let container = SoundFileFormat.container(ofName: path) else {
      throw UsageError(.invalidValue, "unknown file extension of \(path.inQuotes); use .wav or .flac")
    }
    let samples = try options.samples(rate: Double(rate))
    let format = SoundFileFormat(container: container, samples: container == .ogg ? .float : .s24)
    var file = try AtomicFileWriter(path)
    var writer = try SoundFileWriter(
      descriptor: file.descriptor, path: path, format: format, rate: rate, channelCount: 1,
      frameCount: Int64(samples.count),
      tags: SoundFileTags(
        title: "sweep", software: "Temblor \(temblorVersion)",
        comment: "temblor sweep --profile \(options.profile.name)\(options.words)"))
    try writer.write(samples.span)
    try writer.close()
    try file.commit()
  }

  /// `22 s, 10 to 1000 Hz at -12 dBFS for dayton-bst-1`.
  static func summary(_ options: SweepOptions) -> String {
    let signal = options.signal
    return "\(NumberFormatting.rounded(signal.length, places: 1)) s, "
      + "\(SweepOptions.text(signal.band.lowerBound)) to "
      + "\(SweepOptions.text(signal.band.upperBound)) Hz at \(SweepOptions.text(signal.level)) dBFS "
      + "for \(options.profile.name)"
  }

  /// What to do next.
  private static func advice(_ options: SweepOptions, file: String?) -> String {
    var text = ""
    if !SweepLimits(options.profile).isKnown {
      text += "The profile has no power or excursion limit: start at a low volume.\n"
    }
    text += """
      Attach an accelerometer to the mounted transducer, or hold a microphone against it.
      Record the whole signal in one take, with automatic gain control off and without clipping:
        arecord -f S16_LE -r 48000 -d \(Int(options.signal.length.rounded(.up)) + 5) take.wav

      """
    if let file { text += "While recording, play:\n  aplay \(file.printable)\n" }
    return text
      + "Then measure:\n  temblor calibrate\(options.isQuick ? " --quick" : "") take.wav --profile \(options.profileWord)"
      + "\(options.words)\(options.isQuick ? "" : " -o mine.json")\n"
  }
}

/// The options that say which signal a transducer is measured with.
struct SweepOptions {
  static let group = OptionGroup(
    title: "Signal",
    options: [
      Option(
        "--from", value: "HZ", help: "Start frequency, 1 to 10000.",
        defaultText: text(SweepSignal.defaultBand.lowerBound)),
      Option(
        "--to", value: "HZ", help: "End frequency, 4 to 1000 times the start frequency.",
        defaultText: text(SweepSignal.defaultBand.upperBound)),
      Option(
        "--sweep-duration", value: "SECONDS", help: "Duration of each sweep, 0.5 to 30.",
        defaultText: text(SweepSignal.defaultDuration)),
      Option(
        "--level", value: "DB", help: "Peak level in dBFS, -40 to -3.", defaultText: text(SweepSignal.defaultLevel)),
    ])

  static let profile = Option(
    "--profile", value: "PROFILE", help: "Profile of the transducer: a name from 'temblor profiles' or a file.",
    completion: SharedOptions.profileNames)

  static let quick = Option("--quick", help: "Check resonance and Q factor of a profile with a signal of 5 s.")

  /// The profile.
  let profile: TransducerProfile
  /// The file it was found in by its name.
  let profilePath: String?
  /// The word it was asked for by.
  let profileWord: String
  /// The signal.
  let signal: SweepSignal
  /// Whether the profile is only checked.
  let isQuick: Bool

  /// What a command line asks for.
  ///
  /// - Throws: `UsageError` for a signal that cannot be, or that the transducer cannot take.
  init(_ arguments: ParsedArguments) throws {
    guard let word = arguments.value("--profile") else {
      throw UsageError(.missingValue, "missing '--profile'; run 'temblor profiles' to list profiles")
    }
    profileWord = word
    let input = try ProfileInput.find(word)
    profile = try input.profile()
    profilePath = input.entry?.path
    isQuick = arguments.flag("--quick")
    let level = try arguments.double("--level", in: SweepSignal.levels) ?? SweepSignal.defaultLevel
    if isQuick {
      for option in ["--from", "--to", "--sweep-duration"] where arguments.value(option) != nil {
        throw UsageError(.remove, "'\(option)' cannot be used with '--quick'")
      }
      do { signal = try SweepSignal(checking: profile, level: level) } catch {
        throw UsageError(.invalidValue, error.description)
      }
      return
    }
    let low = try arguments.double("--from", in: SweepSignal.frequencies)
    let high = try arguments.double("--to", in: SweepSignal.frequencies)
    let usual = SweepSignal.defaultBand
    let first = low ?? min(usual.lowerBound, (high ?? usual.upperBound) / 4)
    let last = high ?? max(usual.upperBound, first * 4)
    guard first < last else {
      throw UsageError(.invalidValue, "'--to' must be above '--from', not \(Self.text(last).inQuotes)")
    }
    let law = profile.frequency
    do {
      signal = try SweepSignal(
        band: first...last,
        duration: try arguments.double("--sweep-duration", in: SweepSignal.durations) ?? SweepSignal.defaultDuration,
        level: level, toneBand: min(law.low, law.high)...max(law.low, law.high))
    } catch let error as CalibrationError { throw UsageError(.invalidValue, error.description) }
  }

  /// Refuses what the transducer cannot take.
  func checkLimits() throws(UsageError) {
    do { try SweepLimits(profile).check(signal) } catch { throw UsageError(.invalidValue, error.description) }
  }

  /// The samples at a rate.
  func samples(rate: Double) throws(UsageError) -> [Float] {
    do { return try signal.samples(rate: rate) } catch { throw UsageError(.invalidValue, error.description) }
  }

  /// The options that `calibrate` needs to know the signal again.
  var words: String {
    var words = ""
    if isQuick { return levelWords }
    if signal.band.lowerBound != SweepSignal.defaultBand.lowerBound {
      words += " --from \(Self.text(signal.band.lowerBound))"
    }
    if signal.band.upperBound != SweepSignal.defaultBand.upperBound {
      words += " --to \(Self.text(signal.band.upperBound))"
    }
    if signal.duration != SweepSignal.defaultDuration { words += " --sweep-duration \(Self.text(signal.duration))" }
    return words + levelWords
  }

  private var levelWords: String {
    signal.level == SweepSignal.defaultLevel ? "" : " --level \(Self.text(signal.level))"
  }

  /// A figure as options have it.
  static func text(_ value: Double) -> String { NumberFormatting.rounded(value, places: 3) }
}
