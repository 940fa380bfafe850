/// What a terminal can show, and the characters that stand for things on it.
struct TerminalStyle {
  /// Whether colours may be used.
  let colours: Bool
  /// Whether block and braille characters may be used.
  let unicode: Bool

  /// A cell filled from below by eighths; ASCII knows empty, half and full.
  func fill(eighths: Int) -> Character {
    if eighths <= 0 { return " " }
    guard unicode else { return eighths >= 6 ? "#" : (eighths >= 3 ? ":" : ".") }
    return Self.character(0x2580 + UInt32(min(eighths, 8)))
  }

  /// The stem of a transient.
  var stem: Character { unicode ? "┃" : "|" }
  /// The head of a transient.
  var head: Character { unicode ? "●" : "o" }
  /// The curve of intensity control.
  var curve: Character { unicode ? "·" : "+" }
  /// The line at the left, plain and with a label.
  var side: (plain: Character, marked: Character) { unicode ? ("│", "┤") : ("|", "+") }
  /// The line below: its corner, its stretch and its tick.
  var ground: (corner: Character, line: Character, tick: Character) {
    unicode ? ("└", "─", "┬") : ("+", "-", "+")
  }

  /// A level 0…1 of a spectrogram without colours.
  func shade(_ level: Double) -> Character {
    let shades = Array(unicode ? " ░▒▓█" : " .:-=+*#")
    return shades[min(shades.count - 1, max(0, Int(level * Double(shades.count))))]
  }

  /// A character of braille, whose eight dots are the bits of a byte.
  func dots(_ bits: UInt8) -> Character { Self.character(0x2800 + UInt32(bits)) }

  /// A text in ASCII where nothing else can be shown.
  func text(_ text: String) -> String {
    guard !unicode else { return text }
    return String(
      text.map { character -> Character in
        switch character {
        case _ where character.isASCII: character
        case "–", "−", "·": "-"
        case "…": "."
        default: "?"
        }
      })
  }

  private static func character(_ value: UInt32) -> Character {
    Character(Unicode.Scalar(value) ?? " ")
  }
}
