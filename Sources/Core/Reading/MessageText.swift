extension String {
  /// Returns the text in double quotes for a message. Control characters are escaped, and text
  /// beyond `limit` scalars is omitted.
  public func quoted(limit: Int = 60) -> String {
    var jsonWriter = JSONWriter(layout: .compact)
    let exceedsLimit = unicodeScalars.count > limit
    jsonWriter.writeString(exceedsLimit ? String(unicodeScalars.prefix(limit)) + "…" : self)
    return String(decoding: jsonWriter.writtenBytes, as: UTF8.self).escapingInvisibles
  }

  /// The text with invisible characters replaced by escapes such as `\u0085`.
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
  /// A Boolean value that indicates whether the character is invisible and disruptive.
  ///
  /// Such a character could break a line or control a terminal.
  ///
  /// This includes C0 and C1 control characters, line separators, and format characters such as
  /// those that reverse text direction.
  public var isInvisible: Bool {
    switch properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator: true
    default: false
    }
  }
}
