internal import Foundation

/// A logger that writes messages to standard error, one line for each message.
///
/// Any thread may call.
public struct Logger: Sendable {
  private let messagePrefix: String

  /// Creates a logger for a subsystem and a category.
  public init(subsystem: String, category: String) { messagePrefix = "[\(subsystem):\(category)] " }

  /// Creates a logger without a subsystem.
  public init() { messagePrefix = "" }

  /// Writes a debug message.
  public func debug(_ message: OSLogMessage) { write(level: "debug", message: message) }

  /// Writes an informational message.
  public func info(_ message: OSLogMessage) { write(level: "info", message: message) }

  /// Writes a message of the default level.
  public func notice(_ message: OSLogMessage) { write(level: "notice", message: message) }

  /// Writes a message of the default level.
  public func log(_ message: OSLogMessage) { write(level: "notice", message: message) }

  /// Writes a debug message.
  public func trace(_ message: OSLogMessage) { write(level: "debug", message: message) }

  /// Writes a warning message.
  public func warning(_ message: OSLogMessage) { write(level: "warning", message: message) }

  /// Writes an error message.
  public func error(_ message: OSLogMessage) { write(level: "error", message: message) }

  /// Writes a message about an error in the program itself.
  public func fault(_ message: OSLogMessage) { write(level: "fault", message: message) }

  /// Writes a message about a critical error.
  public func critical(_ message: OSLogMessage) { write(level: "critical", message: message) }

  private func write(level: String, message: OSLogMessage) {
    FileHandle.standardError.write(Data("\(messagePrefix)\(level): \(message.text)\n".utf8))
  }
}

/// The privacy of a value in a log message. Here, all values are shown.
public struct OSLogPrivacy: Sendable {
  /// The privacy of a value that is shown in messages.
  public static let `public` = OSLogPrivacy()
  /// The privacy of a value that is hidden on Apple's systems.
  public static let `private` = OSLogPrivacy()
  /// The privacy of a sensitive value, which is hidden on Apple's systems.
  public static let sensitive = OSLogPrivacy()
  /// The privacy of a value that the system chooses.
  public static let auto = OSLogPrivacy()
}

/// The text of a log message, which is created from a string literal.
public struct OSLogMessage: ExpressibleByStringInterpolation, Sendable {
  let text: String

  /// Creates a message from a literal without values.
  public init(stringLiteral value: String) { text = value }

  /// Creates a message from a literal with values.
  public init(stringInterpolation: StringInterpolation) { text = stringInterpolation.text }

  /// The interpolation of a log message, to which literals and values are appended in order.
  public struct StringInterpolation: StringInterpolationProtocol {
    var text = ""

    /// Creates an empty interpolation.
    public init(literalCapacity: Int, interpolationCount: Int) {}

    /// Appends the text of a literal.
    public mutating func appendLiteral(_ literal: String) { text += literal }

    /// Appends the description of a value.
    public mutating func appendInterpolation<Value>(
      _ value: @autoclosure () -> Value, privacy: OSLogPrivacy = .auto
    ) {
      text += "\(value())"
    }
  }
}
