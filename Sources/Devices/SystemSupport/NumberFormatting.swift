internal import CMath

extension String {
  /// The text on one line, safe for a terminal.
  /// Names and contents of files may contain control characters.
  package var printable: String { unicodeScalars.map { $0.printable }.joined() }

  /// The text in quotes, safe for a terminal.
  /// Control characters are escaped, and the length is limited to 80 characters.
  package var inQuotes: String {
    "'" + unicodeScalars.prefix(80).map { $0.printable }.joined()
      + (unicodeScalars.count > 80 ? "…'" : "'")
  }

  private static let asciiReplacements: [Unicode.Scalar: String] = [
    "–": "-", "−": "-", "…": "...", "→": "->", "±": "+/-", "×": "x", "·": ".", "µ": "u", "Ω": "ohm",
    "π": "pi",
    "²": "^2",
  ]

  /// The text with the program's own symbols, such as dashes, replaced by ASCII characters. Text
  /// from files is not changed.
  package var asASCII: String {
    if utf8.allSatisfy({ $0 < 0x80 }) { return self }
    var asciiText = ""
    for scalar in unicodeScalars {
      switch scalar {
      // Block elements, which fill less or more than half a column.
      case "\u{2581}"..."\u{2583}", "\u{258D}"..."\u{258F}":
        asciiText += ":"
      case "\u{2584}"..."\u{258C}":
        asciiText += "#"
      default:
        if let sign = Self.asciiReplacements[scalar] {
          asciiText += sign
        } else {
          asciiText.unicodeScalars.append(scalar)
        }
      }
    }
    return asciiText
  }
}

extension Unicode.Scalar {
  fileprivate var printable: String {
    switch properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator: escaped(asASCII: true)
    default: String(self)
    }
  }
}

extension StringProtocol {
  /// Returns the range of the first occurrence of a nonempty text, compared byte by byte; nil if
  /// there is none.
  ///
  /// The standard library's search would link its regular expressions, a megabyte of the program.
  package func byteRange(of text: String) -> Range<Index>? {
    for start in utf8.indices where utf8[start...].starts(with: text.utf8) {
      return start..<utf8.index(start, offsetBy: text.utf8.count)
    }
    return nil
  }

  package func containsText(_ text: String) -> Bool { byteRange(of: text) != nil }
}

extension [String] {
  /// The elements joined as a list of alternatives, such as `a`, `a or b`, or `a, b, or c`.
  package var joinedWithOr: String {
    guard count > 1 else { return joined() }
    return dropLast().joined(separator: ", ") + (count > 2 ? ", or " : " or ") + self[count - 1]
  }
}

package enum Suggestion {
  /// Returns a question such as `; did you mean '--output'?`, or an empty text if no name is
  /// similar.
  package static func didYouMeanText(for word: String, among names: [String]) -> String {
    closestName(to: word, among: names).map { "; did you mean '\($0)'?" } ?? ""
  }

  /// Returns the most similar name, or nil.
  /// At most a third of the letters of a similar name differ, or it begins with the word.
  package static func closestName(to word: String, among names: [String]) -> String? {
    let typedLetters = comparableLetters(of: word)
    guard !typedLetters.isEmpty, typedLetters.count <= 64 else { return nil }
    var closestMatch: (name: String, distance: Int)?
    for name in names where name != word {
      let target = comparableLetters(of: name)
      let limit = max(1, target.count / 3)
      let isBegun = typedLetters.count >= 2 && target.starts(with: typedLetters)
      // The edit distance is at least the difference of the lengths.
      guard isBegun || abs(typedLetters.count - target.count) <= limit else { continue }
      let distance = editDistance(typedLetters, target)
      let isNear = distance <= limit && distance < target.count
      guard isNear || isBegun, distance < closestMatch?.distance ?? .max else { continue }
      closestMatch = (name, distance)
    }
    return closestMatch?.name
  }

  /// Returns the letters of a word in lowercase, without leading dashes.
  private static func comparableLetters(of word: String) -> [UInt8] {
    Array(word.lowercased().utf8.drop { $0 == UInt8(ascii: "-") })
  }

  private static func editDistance(_ a: [UInt8], _ b: [UInt8]) -> Int {
    var secondLastRow: [Int] = []
    var lastRow = Array(0...b.count)
    for i in a.indices {
      var row = [i + 1]
      for j in b.indices {
        var cost = min(lastRow[j + 1] + 1, row[j] + 1, lastRow[j] + (a[i] == b[j] ? 0 : 1))
        if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] {
          cost = min(cost, secondLastRow[j - 1] + 1)
        }
        row.append(cost)
      }
      secondLastRow = lastRow
      lastRow = row
    }
    return lastRow[b.count]
  }
}

package enum NumberFormatting {
  /// Returns a duration as text in the form `2.22 s`.
  package static func secondsText(_ seconds: Double) -> String {
    "\(roundedText(seconds, places: 3)) s"
  }

  /// Returns the level of an amplitude in dBFS, or −200 for silence.
  package static func decibels(ofAmplitude magnitude: Float) -> Double {
    magnitude > 1e-10 ? 20 * log10(Double(magnitude)) : -200
  }

  package static func amplitude(decibels: Double) -> Double { pow(10, decibels / 20) }

  /// Returns the value of an exponential decay that starts at 1, after the given number of time
  /// constants.
  package static func decayFactor(timeConstants constants: Double) -> Double { exp(-constants) }

  /// Returns a peak level as text in the form `peak -3.2 dBFS`, or `silent`.
  package static func peakText(ofAmplitude magnitude: Float) -> String {
    magnitude > 1e-10
      ? "peak \(roundedText(decibels(ofAmplitude: magnitude), places: 1)) dBFS" : "silent"
  }

  /// Returns a gain as text in the form `-2.1 dB`, or `0 dB` for a factor of 1.
  package static func gainText(ofFactor factor: Double) -> String {
    let decibelText = roundedText(decibels(ofAmplitude: Float(factor)), places: 1)
    return (decibelText == "-0" ? "0" : decibelText) + " dB"
  }

  /// Returns a number as text with at most the given number of decimal places.
  package static func roundedText(_ value: Double, places: Int) -> String {
    let decimalScale = pow(10, Double(places))
    // Adding 0 turns a negative zero into zero.
    return plainText((value * decimalScale).rounded() / decimalScale + 0)
  }

  /// Returns a number as text with exactly the given number of decimal places, so that columns
  /// align.
  package static func fixedText(_ value: Double, places: Int) -> String {
    let numberParts = roundedText(value, places: places).split(separator: ".")
    let decimalDigits = numberParts.count > 1 ? numberParts[1] : ""
    return numberParts[0]
      + (places > 0
        ? "." + decimalDigits + String(repeating: "0", count: max(0, places - decimalDigits.count))
        : "")
  }

  /// Returns a number as text with all its digits, such as `8` rather than `8.0`.
  package static func plainText(_ value: Double) -> String {
    let digitText = "\(value)"
    return digitText.hasSuffix(".0") ? String(digitText.dropLast(2)) : digitText
  }
}
