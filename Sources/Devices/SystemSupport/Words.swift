internal import CMath

extension String {
  /// The text on one line, safe on a terminal: what a file is called or says of itself may hold
  /// controls.
  package var printable: String { unicodeScalars.map { $0.printable }.joined() }

  /// The text between quotes, safe on a terminal: control characters escaped, at most 80
  /// characters.
  package var inQuotes: String {
    "'" + unicodeScalars.prefix(80).map { $0.printable }.joined()
      + (unicodeScalars.count > 80 ? "…'" : "'")
  }

  private static let asciiReplacements: [Unicode.Scalar: String] = [
    "–": "-", "−": "-", "…": "...", "→": "->", "±": "+/-", "×": "x", "·": ".", "µ": "u", "Ω": "ohm",
    "π": "pi",
    "²": "^2",
  ]

  /// The text with the program's own signs in ASCII; what files are called or say of themselves
  /// stays as it is.
  package var asASCII: String {
    if utf8.allSatisfy({ $0 < 0x80 }) { return self }
    var text = ""
    for scalar in unicodeScalars {
      switch scalar {
      // Bars of block elements: under half of a column, and more.
      case "\u{2581}"..."\u{2583}", "\u{258D}"..."\u{258F}":
        text += ":"
      case "\u{2584}"..."\u{258C}":
        text += "#"
      default:
        if let sign = Self.asciiReplacements[scalar] {
          text += sign
        } else {
          text.unicodeScalars.append(scalar)
        }
      }
    }
    return text
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
  /// Where a text that is not empty first stands in this one, byte for byte, or nil. The search of
  /// the standard library comes with its regular expressions, a megabyte of the program.
  package func byteRange(of text: String) -> Range<Index>? {
    for start in utf8.indices where utf8[start...].starts(with: text.utf8) {
      return start..<utf8.index(start, offsetBy: text.utf8.count)
    }
    return nil
  }

  package func mentions(_ text: String) -> Bool { byteRange(of: text) != nil }
}

extension [String] {
  /// `a`, `a or b`, `a, b or c`.
  package var joinedWithOr: String {
    count < 2 ? joined() : dropLast().joined(separator: ", ") + " or " + self[count - 1]
  }
}

package enum Suggestion {
  /// `; did you mean '--output'?`, or nothing where no name is near.
  package static func question(for word: String, among names: [String]) -> String {
    nearest(to: word, among: names).map { "; did you mean '\($0)'?" } ?? ""
  }

  /// The nearest name: at most a third of its letters wrong, or begun and not finished.
  package static func nearest(to word: String, among names: [String]) -> String? {
    let typed = comparableLetters(of: word)
    guard !typed.isEmpty, typed.count <= 64 else { return nil }
    var best: (name: String, distance: Int)?
    for name in names where name != word {
      let target = comparableLetters(of: name)
      let limit = max(1, target.count / 3)
      let isBegun = typed.count >= 2 && target.starts(with: typed)
      // Words are at least as far apart as their lengths are.
      guard isBegun || abs(typed.count - target.count) <= limit else { continue }
      let distance = editDistance(typed, target)
      let isNear = distance <= limit && distance < target.count
      guard isNear || isBegun, distance < best?.distance ?? .max else { continue }
      best = (name, distance)
    }
    return best?.name
  }

  /// Dashes and case do not make a word another one.
  private static func comparableLetters(of word: String) -> [UInt8] {
    Array(word.lowercased().utf8.drop { $0 == UInt8(ascii: "-") })
  }

  private static func editDistance(_ a: [UInt8], _ b: [UInt8]) -> Int {
    var beforeLast: [Int] = []
    var last = Array(0...b.count)
    for i in a.indices {
      var row = [i + 1]
      for j in b.indices {
        var cost = min(last[j + 1] + 1, row[j] + 1, last[j] + (a[i] == b[j] ? 0 : 1))
        if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] {
          cost = min(cost, beforeLast[j - 1] + 1)
        }
        row.append(cost)
      }
      beforeLast = last
      last = row
    }
    return last[b.count]
  }
}

package enum NumberFormatting {
  /// `2.22 s`.
  package static func seconds(_ seconds: Double) -> String { "\(rounded(seconds, places: 3)) s" }

  /// A magnitude in decibels relative to full scale; silence is −200.
  package static func decibels(_ magnitude: Float) -> Double {
    magnitude > 1e-10 ? 20 * log10(Double(magnitude)) : -200
  }

  package static func amplitude(decibels: Double) -> Double { pow(10, decibels / 20) }

  /// What is left of 1 after so many time constants.
  package static func decay(timeConstants constants: Double) -> Double { exp(-constants) }

  /// `peak -3.2 dBFS`, or `silent`.
  package static func peak(_ magnitude: Float) -> String {
    magnitude > 1e-10 ? "peak \(rounded(decibels(magnitude), places: 1)) dBFS" : "silent"
  }

  /// `-2.1 dB`; `0 dB` for a factor of 1.
  package static func gain(_ factor: Double) -> String {
    let decibels = rounded(decibels(Float(factor)), places: 1)
    return (decibels == "-0" ? "0" : decibels) + " dB"
  }

  /// A number with at most some decimal places.
  package static func rounded(_ value: Double, places: Int) -> String {
    let scale = pow(10, Double(places))
    // Adding 0 takes the sign from a zero.
    return plain((value * scale).rounded() / scale + 0)
  }

  /// A number with exactly some decimal places, so that a column lines up.
  package static func fixed(_ value: Double, places: Int) -> String {
    let parts = rounded(value, places: places).split(separator: ".")
    let decimals = parts.count > 1 ? parts[1] : ""
    return parts[0]
      + (places > 0
        ? "." + decimals + String(repeating: "0", count: max(0, places - decimals.count)) : "")
  }

  /// A number with all its places: `8` rather than `8.0`.
  package static func plain(_ value: Double) -> String {
    let text = "\(value)"
    return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
  }
}
