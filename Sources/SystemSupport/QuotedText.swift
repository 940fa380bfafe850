extension String {
  /// The text on one line, safe on a terminal: what a file is called or says of itself may hold controls.
  package var printable: String {
    var text = ""
    for scalar in unicodeScalars {
      switch scalar.properties.generalCategory {
      case .control, .lineSeparator, .paragraphSeparator: text += scalar.escaped(asASCII: true)
      default: text.unicodeScalars.append(scalar)
      }
    }
    return text
  }

  /// The text between quotes, safe on a terminal: control characters escaped, at most 80 characters.
  package var inQuotes: String {
    var text = "'"
    for (index, scalar) in unicodeScalars.enumerated() {
      if index == 80 {
        text += "…"
        break
      }
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator:
        text += scalar.escaped(asASCII: true)
      default:
        text.unicodeScalars.append(scalar)
      }
    }
    return text + "'"
  }
}

extension [String] {
  /// `a`, `a or b`, `a, b or c`.
  package var joinedWithOr: String {
    count < 2 ? joined() : dropLast().joined(separator: ", ") + " or " + self[count - 1]
  }
}
