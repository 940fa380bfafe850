import CommandLineKit
import PatternWorkflows
import SystemSupport
import TransducerProfiles
import HapticFormats
import HapticRender

/// Options and words that several verbs share.
enum SharedOptions {
  static let patternName = "PATTERN"

  static let patternHelp =
    "A pattern file of any format, a folder of them, the name of a shipped pattern, or - for standard input."

  static func pattern(_ formats: FormatRegistry) -> Argument {
    Argument(patternName, help: patternHelp, completion: .patterns(formats), isRepeatable: true)
  }

  static let profile = Option(
    "--profile", value: "PROFILE",
    help: "Profile that maps intensity and sharpness to sound: a name from 'temblor profiles' or a file.",
    defaultText: TransducerProfile.phone.name, completion: profileNames)

  /// What shells offer where a profile is typed.
  static let profileNames = Completion(query: "profiles --names", paths: .files(endings: ["json"]))

  /// The sample rates that can be rendered, in hertz.
  static let sampleRates =
    Int(RenderPlan.supportedSampleRates.lowerBound)...Int(RenderPlan.supportedSampleRates.upperBound)

  static let sampleRateText = "\(sampleRates.lowerBound) to \(sampleRates.upperBound)"

  static let rate = Option("--rate", value: "HZ", help: "Sample rate, \(sampleRateText).")
    .int(in: sampleRates, default: 48_000)

  static let strength = Option("--strength", value: "S", help: "Overall gain, 0 to 1.").double(in: 0...1, default: 1)

  static let curveTimes = Option(
    "--curve-times", value: "BASE",
    help:
      "Time base of control points: start of the curve (relative), start of the pattern (absolute), or detected (automatic)."
  ).choice(default: ReadingOptions.CurveTimes.automatic)

  static let soundOptions: [any OptionDeclaration] = [
    Option(
      "--sounds", value: "FOLDER", help: "Search the sound files of patterns in this folder.",
      defaultText: "the folder of each pattern", completion: .folder),
    Option("--without-sounds", help: "Leave out events that play sound files."),
  ]

  static func sounds(_ arguments: ParsedArguments) throws(UsageError) -> PatternInput.SoundLookup {
    let folder = arguments.value("--sounds")
    if arguments.flag("--without-sounds") {
      guard folder == nil else { throw UsageError(.remove, "'--sounds' and '--without-sounds' exclude each other") }
      return .none
    }
    guard let folder else { return .besidePattern }
    guard FileSystem.entry(at: folder) == .folder else {
      throw UsageError(.invalidValue, "'--sounds' requires a folder, not \(folder.inQuotes)")
    }
    return .folder(folder)
  }

  static let json = Option("--json", help: "Print the result as JSON.")

  static func profile(_ arguments: ParsedArguments) throws -> TransducerProfile {
    try arguments.value("--profile").map(profile(named:)) ?? .phone
  }

  /// How patterns are read and rendered; given up when the user interrupts.
  static func job(_ arguments: ParsedArguments) throws -> RenderJob {
    var job = RenderJob(profile: try profile(arguments))
    job.reading = try reading(arguments)
    job.isCancelled = { SignalHandling.isRequested }
    return job
  }

  static func profile(named word: String) throws -> TransducerProfile { try ProfileInput.find(word).profile() }

  /// Refuses sound or pictures on a terminal.
  static func checkStandardOutput(_ terminal: Terminal) throws(UsageError) {
    guard terminal.output.isTerminal else { return }
    throw UsageError(.invalidValue, "standard output is a terminal; use '--output FILE' or a pipe")
  }

  static func refuseBoth(_ one: String, _ other: String, in arguments: ParsedArguments) throws(UsageError) {
    guard arguments.flag(one), arguments.flag(other) else { return }
    throw UsageError(.remove, "\(one.inQuotes) and \(other.inQuotes) exclude each other")
  }

  static func reading(_ arguments: ParsedArguments) throws -> ReadingOptions {
    ReadingOptions(curveTimes: try arguments[curveTimes])
  }
}

extension Completion {
  /// What can be compared: patterns and sound files.
  static func takes(_ formats: FormatRegistry) -> Completion {
    patterns(formats, or: "wav", "flac", "aiff", "caf", "ogg")
  }

  /// Shipped patterns, pattern files, and files with other endings, written without the dot.
  static func patterns(_ formats: FormatRegistry, or endings: String...) -> Completion {
    Completion(query: "patterns --names", paths: .files(endings: formats.endings + endings))
  }
}
