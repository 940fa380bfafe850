internal import Foundation

/// Writes messages to standard error, one line each.
///
/// Any thread may call.
public struct Logger: Sendable {
  private let prefix: String

  /// Creates a logger for a subsystem and a category.
  public init(subsystem: String, category: String) { prefix = "[\(subsystem):\(category)] " }

  /// Creates a logger without a subsystem.
  public init() { prefix = "" }

  /// Writes a debug message.
  public func debug(_ message: OSLogMessage) { write(level: "debug", message: message) }

  /// Writes an informational message.
  public func info(_ message: OSLogMessage) { write(level: "info", message: message) }

  /// Writes a notable message.
  public func notice(_ message: OSLogMessage) { write(level: "notice", message: message) }

  /// Writes a notable message.
  public func log(_ message: OSLogMessage) { write(level: "notice", message: message) }

  /// Writes a debug message.
  public func trace(_ message: OSLogMessage) { write(level: "debug", message: message) }

  /// Writes a warning.
  public func warning(_ message: OSLogMessage) { write(level: "warning", message: message) }

  /// Writes an error.
  public func error(_ message: OSLogMessage) { write(level: "error", message: message) }

  /// Writes an error of the program itself.
  public func fault(_ message: OSLogMessage) { write(level: "fault", message: message) }

  /// Writes a critical error.
  public func critical(_ message: OSLogMessage) { write(level: "critical", message: message) }

  private func write(level: String, message: OSLogMessage) {
    FileHandle.standardError.write(Data("\(prefix)\(level): \(message.text)\n".utf8))
  }
}

/// The privacy of a value in a log. All values are shown here.
public struct OSLogPrivacy: Sendable {
  /// The privacy of a value that is shown in messages.
  public static let `public` = OSLogPrivacy()
  /// The value is hidden on Apple's systems.
  public static let `private` = OSLogPrivacy()
  /// The value is hidden on Apple's systems.
  public static let sensitive = OSLogPrivacy()
  /// The privacy that the system chooses.
  public static let auto = OSLogPrivacy()
}

/// The text of a log message, written as a string literal.
public struct OSLogMessage: ExpressibleByStringInterpolation, Sendable {
  let text: String

  /// Creates a message without values.
  public init(stringLiteral value: String) { text = value }

  /// Creates a message with values.
  public init(stringInterpolation: StringInterpolation) { text = stringInterpolation.text }

  /// The parts of a message.
  public struct StringInterpolation: StringInterpolationProtocol {
    var text = ""

    /// Creates an empty message.
    public init(literalCapacity: Int, interpolationCount: Int) {}

    /// Appends text.
    public mutating func appendLiteral(_ literal: String) { text += literal }

    /// Appends a value.
    public mutating func appendInterpolation<Value>(
      _ value: @autoclosure () -> Value, privacy: OSLogPrivacy = .auto
    ) {
      text += "\(value())"
    }
  }
}
