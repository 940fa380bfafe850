extension String {
  /// Returns the text in double quotes for a message: control characters are escaped, and long
  /// texts shortened to `limit` scalars.
  public func quoted(limit: Int = 60) -> String {
    var writer = JSONWriter(layout: .compact)
    let isLong = unicodeScalars.count > limit
    writer.string(isLong ? String(unicodeScalars.prefix(limit)) + "…" : self)
    return String(decoding: writer.bytes, as: UTF8.self).escapingInvisibles
  }

  /// The text with invisible characters escaped, such as `\u0085`.
  package var escapingInvisibles: String {
    var line = ""
    for scalar in unicodeScalars {
      if scalar.isInvisible {
        for unit in String(scalar).utf16 {
          line += JSONString.unicodeEscape(unit)
        }
      } else {
        line.unicodeScalars.append(scalar)
      }
    }
    return line
  }
}

extension Unicode.Scalar {
  /// A Boolean value that indicates whether the character is not displayed, but breaks a line or
  /// controls a terminal.
  ///
  /// True for control characters, including C1, line separators, and format characters such as
  /// those that reverse text.
  public var isInvisible: Bool {
    switch properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator: true
    default: false
    }
  }
}
