/// A grid of characters with colors, which is written as lines of text.
struct TerminalGrid {
  struct Cell: Equatable {
    var character: Character = " "
    /// The color index in a terminal's 256-color palette, or nil for the default color.
    var colorIndex: Int?
  }

  let columnCount: Int
  let rowCount: Int
  /// The cells of the grid, row by row from the top.
  private var cells: [Cell]

  init(columnCount width: Int, rowCount height: Int) {
    self.columnCount = max(1, width)
    self.rowCount = max(1, height)
    cells = Array(repeating: Cell(), count: self.columnCount * self.rowCount)
  }

  /// The cell at a row, counted from the top, and a column.
  subscript(row: Int, column: Int) -> Cell {
    get { cells[row * columnCount + column] }
    set { cells[row * columnCount + column] = newValue }
  }

  /// Sets the color of the cells with the same character in all grids.
  static func colorSharedCells(in grids: inout [TerminalGrid], color: PlotColor) {
    for cell in grids[0].cells.indices {
      let character = grids[0].cells[cell].character
      guard character != " ", grids.allSatisfy({ $0.cells[cell].character == character }) else {
        continue
      }
      for index in grids.indices {
        grids[index].cells[cell].colorIndex = color.terminalColorIndex
      }
    }
  }

  /// Returns a row as text, with SGR control sequences (ECMA-48) for colors.
  func rowText(_ row: Int, usesColors: Bool) -> String {
    var rowText = ""
    var currentColorIndex: Int?
    // The last cell resets the color.
    for cell in cells[row * columnCount..<(row + 1) * columnCount] + [Cell()] {
      if usesColors, cell.colorIndex != currentColorIndex {
        rowText += "\u{1B}[" + (cell.colorIndex.map { "38;5;\($0)" } ?? "0") + "m"
        currentColorIndex = cell.colorIndex
      }
      rowText.append(cell.character)
    }
    return rowText
  }
}

/// The capabilities of a terminal, and the characters that drawings use.
struct TerminalStyle {
  let usesColors: Bool
  let usesUnicode: Bool

  /// Returns a block character that is filled from the bottom by some eighths.
  ///
  /// ASCII has three levels.
  func block(eighths: Int) -> Character {
    if eighths <= 0 { return " " }
    if usesUnicode { return Self.character(0x2580 + UInt32(min(eighths, 8))) }
    if eighths >= 6 { return "#" }
    return eighths >= 3 ? ":" : "."
  }

  var stemCharacter: Character { usesUnicode ? "┃" : "|" }
  /// The character for the head of a transient that is silent or common to all takes.
  var hollowHeadCharacter: Character { usesUnicode ? "○" : "0" }
  /// The character for the head of a transient.
  var filledHeadCharacter: Character { usesUnicode ? "●" : "o" }
  var lineCharacter: Character { usesUnicode ? "━" : "-" }
  var curveCharacter: Character { usesUnicode ? "·" : "+" }
  var leftEdgeCharacters: (plain: Character, marked: Character) {
    usesUnicode ? ("│", "┤") : ("|", "+")
  }
  var timeAxisCharacters: (corner: Character, line: Character, tick: Character) {
    usesUnicode ? ("└", "─", "┬") : ("+", "-", "+")
  }

  /// Returns the shading character for a level 0…1.
  func shade(forLevel level: Double) -> Character {
    let shadeCharacters = Array(usesUnicode ? " ░▒▓█" : " .:-=+*#")
    return shadeCharacters[
      min(shadeCharacters.count - 1, max(0, Int(level * Double(shadeCharacters.count))))]
  }

  /// The number of braille dots in each row and in each column of a cell.
  var dotsPerCell: (across: Int, down: Int) { usesUnicode ? (2, 4) : (1, 2) }

  /// Returns the braille character for the bits of its dots, in the bit order of Unicode.
  func dotCharacter(bits: UInt8) -> Character {
    if usesUnicode { return Self.character(0x2800 + UInt32(bits)) }
    if bits.nonzeroBitCount > 1 { return "#" }
    return bits & 1 != 0 ? "'" : "."
  }

  /// Returns a text with ASCII replacements if the terminal does not show Unicode.
  func displayable(_ text: String) -> String {
    guard !usesUnicode else { return text }
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

  private static func character(_ codePoint: UInt32) -> Character {
    Character(Unicode.Scalar(codePoint) ?? " ")
  }
}
