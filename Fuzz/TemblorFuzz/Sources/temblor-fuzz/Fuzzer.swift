import CLibFuzzer
import Glibc
import HapticFormats
import VendorFormats

/// Hands the command line to libFuzzer, which calls back with one text after the other.
///
/// Every trial gets every text; with the id of a format or the name of a trial in
/// `TEMBLOR_FUZZ_ONLY` only that one does, which is many times faster.
@main
struct Fuzzer {
  /// The id of the only format that is fuzzed, the name of the only trial, or nil for all.
  static let only = unsafe getenv("TEMBLOR_FUZZ_ONLY").map { unsafe String(cString: $0) }

  /// The trials in addition to the formats. When all trials run, a trial gets one of `share` texts,
  /// so that slow trials do not delay the others.
  private static let trials: [(name: String, share: Int, run: @Sendable ([UInt8]) -> Void)] = [
    ("profile", 1, { ProfileTrial(text: $0).run() }),
    ("array", 1, { ArrayTrial(text: $0).run() }),
    ("listen", 1, { ListenTrial(text: $0).run() }),
    ("options", 1, { OptionTrial(text: $0).run() }),
    ("blind", 1, { BlindTrial(text: $0).run() }),
    ("table", 1, { TableTrial(text: $0).run() }),
    ("server", 16, { ServerTrial(text: $0).run() }),
    ("sound", 4, { SoundTrial(text: $0).run() }),
    ("vibration", 16, { SoundPatternTrial(text: $0).run() }),
    ("library", 64, { LibraryTrial(text: $0).run() }),
    ("calibration", 256, { CalibrationTrial(text: $0).run() }),
    ("report", 256, { ReportTrial(text: $0).run() }),
  ]

  private static func run(_ text: [UInt8]) {
    var choices = Choices(text)
    if only == nil || only == "ahap" { PatternTrial(text: text).run() }
    for trial in trials {
      if only == trial.name { return trial.run(text) }
      if only == nil, choices.number(below: trial.share) == 0 { trial.run(text) }
    }
    if only != "ahap" { FormatTrial(text: text).run() }
  }

  /// Whether what was read is written and rendered, too: where one reader is fuzzed, seldom.
  static func looksBeyondReading(_ choices: inout Choices) -> Bool {
    only == nil || choices.number(below: 16) == 0
  }

  static func main() {
    let names = trials.map(\.name) + FormatRegistry.standard.formats.map(\.id)
    if let only, !names.contains(only) {
      fatalError("TEMBLOR_FUZZ_ONLY names none of \(names)")
    }
    var count = CommandLine.argc
    var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? =
      unsafe CommandLine.unsafeArgv
    let status = unsafe LLVMFuzzerRunDriver(&count, &arguments) { bytes, count in
      Fuzzer.run(unsafe Array(UnsafeBufferPointer(start: bytes, count: count)))
      return 0
    }
    exit(status)
  }
}

/// Stops with a message, which libFuzzer takes for a crash and keeps the input of.
func require(_ condition: Bool, _ message: @autoclosure () -> String) {
  if !condition { fatalError(message()) }
}

/// Stops unless all samples are finite and at most −1 dBFS, the ceiling of the limiter.
func requireBelowCeiling(_ samples: [Float]) {
  // −1 dBFS, rounded up.
  let ceiling: Float = 0.8913
  for sample in samples {
    require(sample.isFinite && abs(sample) <= ceiling, "a sample of \(sample)")
  }
}

/// Stops unless a message is one line that a terminal shows as it stands.
func requireOneLine(_ message: String) {
  let unseen: Set<Unicode.GeneralCategory> = [
    .control, .format, .lineSeparator, .paragraphSeparator,
  ]
  let isLine = message.unicodeScalars.allSatisfy {
    $0.isASCII ? 0x20..<0x7F ~= $0.value : !unseen.contains($0.properties.generalCategory)
  }
  require(isLine && !message.isEmpty, "no single line: \(message.debugDescription)")
}
