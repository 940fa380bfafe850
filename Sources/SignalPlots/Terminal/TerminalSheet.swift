/// Rows of characters with colours, which become lines of text.
struct TerminalSheet {
  /// One character and its colours; nothing is the terminal's own.
  struct Cell: Equatable {
    /// The character.
    var character: Character = " "
    /// The colour of the character.
    var color: PlotColor?
    /// The colour behind it.
    var ground: PlotColor?
  }

  /// Characters in a row.
  let width: Int
  /// The number of rows.
  let height: Int
  private var cells: [Cell]

  /// Makes an empty sheet.
  init(width: Int, height: Int) {
    self.width = max(1, width)
    self.height = max(1, height)
    cells = Array(repeating: Cell(), count: self.width * self.height)
  }

  /// The cell of a row, counted from above, and a column; what lies outside is ignored.
  subscript(row: Int, column: Int) -> Cell {
    get { contains(row, column) ? cells[row * width + column] : Cell() }
    set { if contains(row, column) { cells[row * width + column] = newValue } }
  }

  private func contains(_ row: Int, _ column: Int) -> Bool { row >= 0 && row < height && column >= 0 && column < width }

  /// A row as text without the blanks at its end.
  func text(row: Int, colors: Bool) -> String {
    let row = cells[row * width..<(row + 1) * width]
    let end = row.lastIndex { $0.character != " " || $0.ground != nil } ?? row.startIndex - 1
    var text = ""
    var current = Cell()
    for cell in row[row.startIndex..<max(row.startIndex, end + 1)] {
      if colors, cell.color != current.color || cell.ground != current.ground {
        text += Self.sequence(from: current, to: cell)
        current = cell
      }
      text.append(cell.character)
    }
    if current.color != nil || current.ground != nil { text += "\u{1B}[0m" }
    return text
  }

  /// The control sequence, ECMA-48's SGR, that changes from one cell's colours to another's.
  private static func sequence(from old: Cell, to new: Cell) -> String {
    var parts: [String] = []
    let drops = new.color == nil && old.color != nil || new.ground == nil && old.ground != nil
    if drops { parts.append("0") }
    if let color = new.color { parts.append("38;5;\(color.terminalIndex)") }
    if let ground = new.ground { parts.append("48;5;\(ground.terminalIndex)") }
    return "\u{1B}[" + parts.joined(separator: ";") + "m"
  }
}

/// What a terminal can show, and the characters of its drawings.
struct TerminalStyle {
  /// Whether colours may be used.
  let colors: Bool
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
  /// A line of sharpness.
  var line: Character { unicode ? "━" : "-" }
  /// The curve of intensity control.
  var curve: Character { unicode ? "·" : "+" }
  /// The line at the left, plain and with a label.
  var side: (plain: Character, marked: Character) { unicode ? ("│", "┤") : ("|", "+") }
  /// The line below: its corner, its line and its tick.
  var ground: (corner: Character, line: Character, tick: Character) { unicode ? ("└", "─", "┬") : ("+", "-", "+") }

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

  private static func character(_ value: UInt32) -> Character { Character(Unicode.Scalar(value) ?? " ") }
}
