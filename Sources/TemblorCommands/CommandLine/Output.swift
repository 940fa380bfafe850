/// A stream of text or bytes to the user, with what it can show.
///
/// Writes are not gathered: one call is one `write`, so hand over whole pieces.
struct Output: Sendable {
  /// Takes all bytes or throws.
  typealias Sink = @Sendable (_ bytes: Span<UInt8>) throws(OutputError) -> Void

  let isTerminal: Bool
  /// Columns for text.
  let width: Int
  /// Whether bold and colour may be used.
  let isColoured: Bool
  private let sink: Sink

  init(isTerminal: Bool, width: Int = 80, isColoured: Bool, sink: @escaping Sink) {
    self.isTerminal = isTerminal
    self.width = width
    self.isColoured = isColoured
    self.sink = sink
  }

  func write(_ bytes: Span<UInt8>) throws(OutputError) {
    if !bytes.isEmpty { try sink(bytes) }
  }

  func write(_ text: String) throws(OutputError) {
    try write(text.utf8Span.span)
  }

  /// Writes the text and ends the line.
  func line(_ text: String = "") throws(OutputError) {
    try write(text + "\n")
  }

  /// The text in a style where the stream shows styles, else as it is.
  func styled(_ text: String, _ style: Style) -> String {
    isColoured ? "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m" : text
  }

  /// How text can stand out; the raw value is the parameter of ECMA-48's SGR.
  enum Style: Int, Sendable {
    case bold = 1
    case dim = 2
    case red = 31
    case green = 32
    case yellow = 33
  }
}
