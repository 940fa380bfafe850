internal import Foundation

/// Writes messages to standard error, one line each.
///
/// Managers of haptics report through it what failed. Any thread may call.
public struct Logger: Sendable {
  private let prefix: String

  /// A logger of an application's part.
  public init(subsystem: String, category: String) { prefix = "[\(subsystem):\(category)] " }

  /// A logger without a part.
  public init() { prefix = "" }

  /// Writes a message of a development build.
  public func debug(_ message: OSLogMessage) { write(level: "debug", message: message) }

  /// Writes a message that helps.
  public func info(_ message: OSLogMessage) { write(level: "info", message: message) }

  /// Writes a message worth a look.
  public func notice(_ message: OSLogMessage) { write(level: "notice", message: message) }

  /// Writes a message worth a look.
  public func log(_ message: OSLogMessage) { write(level: "notice", message: message) }

  /// Writes a message of a development build.
  public func trace(_ message: OSLogMessage) { write(level: "debug", message: message) }

  /// Writes a message about what may fail.
  public func warning(_ message: OSLogMessage) { write(level: "warning", message: message) }

  /// Writes a message about what failed.
  public func error(_ message: OSLogMessage) { write(level: "error", message: message) }

  /// Writes a message about a fault of the program.
  public func fault(_ message: OSLogMessage) { write(level: "fault", message: message) }

  /// Writes a message about what must not happen.
  public func critical(_ message: OSLogMessage) { write(level: "critical", message: message) }

  private func write(level: String, message: OSLogMessage) {
    FileHandle.standardError.write(Data("\(prefix)\(level): \(message.text)\n".utf8))
  }
}

/// How much of a value a log may show; all is shown here.
public struct OSLogPrivacy: Sendable {
  /// All of it.
  public static let `public` = OSLogPrivacy()
  /// Nothing, on Apple's systems.
  public static let `private` = OSLogPrivacy()
  /// Nothing, on Apple's systems.
  public static let sensitive = OSLogPrivacy()
  /// As the system decides.
  public static let auto = OSLogPrivacy()
}

/// The text of a log message, written as a string literal.
public struct OSLogMessage: ExpressibleByStringInterpolation, Sendable {
  let text: String

  /// A message without values.
  public init(stringLiteral value: String) { text = value }

  /// A message with values.
  public init(stringInterpolation: StringInterpolation) { text = stringInterpolation.text }

  /// The parts of a message.
  public struct StringInterpolation: StringInterpolationProtocol {
    var text = ""

    /// An empty message.
    public init(literalCapacity: Int, interpolationCount: Int) {}

    /// Adds text.
    public mutating func appendLiteral(_ literal: String) { text += literal }

    /// Adds a value.
    public mutating func appendInterpolation<Value>(
      _ value: @autoclosure () -> Value, privacy: OSLogPrivacy = .auto
    ) {
      text += "\(value())"
    }
  }
}
