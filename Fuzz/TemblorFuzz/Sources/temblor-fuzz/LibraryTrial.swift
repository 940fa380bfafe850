import CRandomCalls
import TemblorLibrary

/// Calls the functions of the C library with arguments that follow from a text, and checks the
/// guarantees of the header.
struct LibraryTrial {
  let text: [UInt8]

  func run() {
    let failure = unsafe random_calls_from(text, text.count).map { unsafe String(cString: $0) }
    require(failure == nil, failure ?? "")
  }
}
