import CLibFuzzer
import Glibc

/// Hands the command line to libFuzzer, which calls back with one text after the other.
@main
struct Fuzzer {
  static func main() {
    var count = CommandLine.argc
    var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? =
      unsafe CommandLine.unsafeArgv
    let status = unsafe LLVMFuzzerRunDriver(&count, &arguments) { bytes, count in
      let text = unsafe Array(UnsafeBufferPointer(start: bytes, count: count))
      PatternTrial(text: text).run()
      ProfileTrial(text: text).run()
      FormatTrial(text: text).run()
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
