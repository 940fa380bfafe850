internal import Foundation

/// A log of a subsystem and a category, for the function `os_log`.
public final class OSLog: Sendable {
  /// The default log, without a subsystem.
  public static let `default` = OSLog(messagePrefix: "")
  /// A log that writes nothing.
  public static let disabled = OSLog(messagePrefix: nil)

  private let messagePrefix: String?

  /// Creates a log for a subsystem and a category.
  public convenience init(subsystem: String, category: String) {
    self.init(messagePrefix: "[\(subsystem):\(category)] ")
  }

  private init(messagePrefix: String?) { self.messagePrefix = messagePrefix }

  func write(level: String, text: String) {
    guard let messagePrefix else { return }
    FileHandle.standardError.write(Data("\(messagePrefix)\(level): \(text)\n".utf8))
  }
}

/// The level of a log message.
public struct OSLogType: Equatable, Sendable {
  let levelName: String

  /// The default level, for notable messages.
  public static let `default` = OSLogType(levelName: "notice")
  /// The level of an informational message.
  public static let info = OSLogType(levelName: "info")
  /// The level of a debug message.
  public static let debug = OSLogType(levelName: "debug")
  /// The level of an error.
  public static let error = OSLogType(levelName: "error")
  /// The level of an error in the program itself.
  public static let fault = OSLogType(levelName: "fault")
}

/// Writes a message to standard error.
///
/// - Parameters:
///   - message: The format, such as `"%{public}@ started"`. Privacy is ignored.
///   - log: The log.
///   - type: The level.
///   - arguments: The values of the format.
public func os_log(
  _ message: StaticString, log: OSLog = .default, type: OSLogType = .default, _ arguments: Any...
) {
  log.write(level: type.levelName, text: OSLogFormat.formattedText("\(message)", arguments))
}

/// Writes a message to standard error.
public func os_log(_ type: OSLogType, log: OSLog = .default, _ message: OSLogMessage) {
  log.write(level: type.levelName, text: message.text)
}

/// A formatter for the format strings of `os_log`.
///
/// They are those of `printf`, with optional privacy specifiers.
enum OSLogFormat {
  /// Returns a message with its format specifiers replaced by values. Missing values are omitted.
  static func formattedText(_ format: String, _ arguments: [Any]) -> String {
    var remainingArguments = arguments[...]
    return format.replacing(/%(?:\{[^}]*\})?([-+ #0-9.]*)(?:hh|h|ll|l|q|z|t|j)?([@a-zA-Z%])/) {
      match in
      if match.2 == "%" { return "%" }
      guard let value = remainingArguments.popFirst() else { return "" }
      return text(of: value, flags: match.1, conversion: match.2)
    }
  }

  private static func text(of value: Any, flags: Substring, conversion: Substring) -> String {
    let isFloatingPoint = "aAeEfFgG".contains(conversion)
    return switch value {
    case let number as Double where isFloatingPoint:
      String(format: "%\(flags)\(conversion)", number)
    case let number as Float where isFloatingPoint:
      String(format: "%\(flags)\(conversion)", Double(number))
    case let number as any BinaryInteger where conversion == "x" || conversion == "X":
      String(Int64(truncatingIfNeeded: number), radix: 16, uppercase: conversion == "X")
    default: "\(value)"
    }
  }
}
