import CommandLineKit
import HapticRender
import SystemSupport
import TransducerCalibration

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
        "--sweep-length", value: "SECONDS", help: "Duration of each sweep, 0.5 to 30.",
        defaultText: text(SweepSignal.defaultDuration)),
      Option(
        "--level", value: "DB", help: "Peak level in dBFS, -40 to -3.",
        defaultText: text(SweepSignal.defaultLevel)),
    ])

  static let profile = Option(
    "--profile", value: "PROFILE",
    help: "Profile of the transducer: a name from 'temblor profiles' or a file.",
    completion: SharedOptions.profileNames)

  /// The profile.
  let profile: TransducerProfile
  /// The word it was asked for by.
  let profileWord: String
  /// The signal.
  let signal: SweepSignal

  /// What a command line asks for.
  ///
  /// - Throws: `UsageError` for a signal that cannot be, or that the transducer cannot take.
  init(_ arguments: ParsedArguments) throws {
    guard let word = arguments.value("--profile") else {
      throw UsageError(
        .missingValue,
        "missing '--profile'; run 'temblor profiles' to list profiles"
      )
    }
    profileWord = word
    profile = try SharedOptions.profile(named: word)
    let low = try arguments.double("--from", in: SweepSignal.frequencies)
    let high = try arguments.double("--to", in: SweepSignal.frequencies)
    let usual = SweepSignal.defaultBand
    let first = low ?? min(usual.lowerBound, (high ?? usual.upperBound) / 4)
    let last = high ?? max(usual.upperBound, first * 4)
    guard first < last else {
      throw UsageError(
        .invalidValue, "'--to' must be above '--from', not \(Self.text(last).inQuotes)")
    }
    let law = profile.frequency
    do {
      signal = try SweepSignal(
        band: first...last,
        duration: try arguments.double("--sweep-length", in: SweepSignal.durations)
          ?? SweepSignal.defaultDuration,
        level: try arguments.double("--level", in: SweepSignal.levels) ?? SweepSignal.defaultLevel,
        toneBand: min(law.low, law.high)...max(law.low, law.high))
    } catch let error as CalibrationError {
      throw UsageError(.invalidValue, error.description)
    }
  }

  /// Refuses what the transducer cannot take.
  func checkLimits() throws(UsageError) {
    do {
      try SweepLimits(profile).check(signal)
    } catch {
      throw UsageError(.invalidValue, error.description)
    }
  }

  /// The samples at a rate.
  func samples(rate: Double) throws(UsageError) -> [Float] {
    do {
      return try signal.samples(rate: rate)
    } catch {
      throw UsageError(.invalidValue, error.description)
    }
  }

  /// The options that `calibrate` needs to know the signal again.
  var words: String {
    var words = ""
    if signal.band.lowerBound != SweepSignal.defaultBand.lowerBound {
      words += " --from \(Self.text(signal.band.lowerBound))"
    }
    if signal.band.upperBound != SweepSignal.defaultBand.upperBound {
      words += " --to \(Self.text(signal.band.upperBound))"
    }
    if signal.duration != SweepSignal.defaultDuration {
      words += " --sweep-length \(Self.text(signal.duration))"
    }
    if signal.level != SweepSignal.defaultLevel { words += " --level \(Self.text(signal.level))" }
    return words
  }

  /// A figure as options have it.
  static func text(_ value: Double) -> String { NumberFormatting.rounded(value, places: 3) }
}
