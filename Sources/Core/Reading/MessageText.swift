extension String {
  /// Returns the text in double quotes for a message: control characters are escaped, and long
  /// texts shortened to `limit` scalars.
  public func quoted(limit: Int = 60) -> String {
    var writer = JSONWriter(layout: .compact)
    let exceedsLimit = unicodeScalars.count > limit
    writer.writeString(exceedsLimit ? String(unicodeScalars.prefix(limit)) + "…" : self)
    return String(decoding: writer.bytes, as: UTF8.self).escapingInvisibles
  }

  /// The text with invisible characters escaped, such as `\u0085`.
  package var escapingInvisibles: String {
    var escapedText = ""
    for scalar in unicodeScalars {
      if scalar.isInvisible {
        for unit in String(scalar).utf16 {
          escapedText += JSONString.unicodeEscape(unit)
        }
      } else {
        escapedText.unicodeScalars.append(scalar)
      }
    }
    return escapedText
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
