/// A stream of text or bytes to the user, with what it can show.
///
/// Writes are not gathered: one call is one `write`, so hand over whole pieces.
struct Output: Sendable {
  /// Takes all bytes or throws.
  typealias Sink = @Sendable (_ bytes: Span<UInt8>) throws(OutputError) -> Void

  let isTerminal: Bool
  /// Columns for text, asked for anew each time since a window can be resized.
  var width: Int { columns() }
  /// Whether bold and colour may be used.
  let isColoured: Bool
  private let columns: @Sendable () -> Int
  private let foreground: @Sendable () -> Bool
  private let sink: Sink

  init(
    isTerminal: Bool, width: @autoclosure @escaping @Sendable () -> Int = 80, isColoured: Bool,
    isForeground: @autoclosure @escaping @Sendable () -> Bool = true, sink: @escaping Sink
  ) {
    self.isTerminal = isTerminal
    self.isColoured = isColoured
    columns = width
    foreground = isForeground
    self.sink = sink
  }

  /// Whether the stream is a terminal that no other job has: a line can be rewritten in place.
  var canRewrite: Bool { isTerminal && foreground() }

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
