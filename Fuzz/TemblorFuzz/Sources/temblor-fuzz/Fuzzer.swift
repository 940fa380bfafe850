import CLibFuzzer
import Glibc

/// Hands the command line to libFuzzer, which calls back with one text after the other.
///
/// Every reader gets every text; with the id of a format in `TEMBLOR_FUZZ_FORMAT` only its reader does,
/// which is many times faster.
@main
struct Fuzzer {
  /// The id of the only format that is fuzzed, or nil for all formats and profiles.
  static let format = unsafe getenv("TEMBLOR_FUZZ_FORMAT").map { unsafe String(cString: $0) }

  /// Whether what was read is written and rendered, too: where one reader is fuzzed, seldom.
  static func looksBeyondReading(_ choices: inout Choices) -> Bool {
    format == nil || choices.number(below: 16) == 0
  }

  static func main() {
    var count = CommandLine.argc
    var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? =
      unsafe CommandLine.unsafeArgv
    let status = unsafe LLVMFuzzerRunDriver(&count, &arguments) { bytes, count in
      let text = unsafe Array(UnsafeBufferPointer(start: bytes, count: count))
      if Fuzzer.format == nil || Fuzzer.format == "ahap" { PatternTrial(text: text).run() }
      if Fuzzer.format == nil { ProfileTrial(text: text).run() }
      if Fuzzer.format != "ahap" { FormatTrial(text: text).run() }
      return 0
    }
    exit(status)
  }
}

/// Stops with a message, which libFuzzer takes for a crash and keeps the input of.
func require(_ condition: Bool, _ message: @autoclosure () -> String) {
  if !condition { fatalError(message()) }
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
