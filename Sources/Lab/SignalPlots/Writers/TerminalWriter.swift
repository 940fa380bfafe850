/// Puts a figure together as lines of text: titles, panels with their labels, and the axis of time.
struct TerminalFigure {
  let plot: Plot
  let width: Int
  let style: TerminalStyle

  private var labelWidth: Int {
    let counts = terminalPanels.flatMap { $0.ticks.map(\.label.count) }
    return min(7, max(2, counts.max() ?? 2))
  }

  private var plotWidth: Int { max(8, width - labelWidth - 2) }

  /// The panels without the little space above that characters have not, at their left hertz where
  /// nothing else is.
  private var terminalPanels: [PlotPanel] {
    plot.panels.map { panel in
      var panel = panel
      if panel.ticks.isEmpty {
        panel.ticks = panel.rightTicks
      }
      switch panel.content {
      case .waveform, .spectrogram: break
      case .intensity, .sharpness, .audio: panel.axis = PlotAxis(range: 0...1)
      }
      return panel
    }
  }

  func text() -> String {
    var lines: [String] = []
    for title in [plot.title, plot.facts.joined(separator: " · ")] where !title.isEmpty {
      lines += wrapped(title)
    }
    for panel in terminalPanels {
      lines.append("")
      lines += headingLines(of: panel)
      for (take, sheet) in grids(of: panel) {
        if plot.takes.count > 1 {
          lines.append(nameLine(ofTake: take))
        }
        let labels = tickLabels(of: panel, height: sheet.height)
        for row in 0..<sheet.height {
          let label = style.displayable(labels[row] ?? "")
          let line = labels[row] == nil ? style.leftEdge.plain : style.leftEdge.marked
          lines.append(
            rightAligned(label) + " \(line)" + sheet.text(row: row, usesColors: style.usesColors))
        }
      }
    }
    if !plot.panels.isEmpty {
      lines += timeAxisLines()
    }
    return lines.map { $0.trimmedAtEnd + "\n" }.joined()
  }

  private func grids(of panel: PlotPanel) -> [(take: Int, sheet: TerminalGrid)] {
    var isDotted = false
    var takes = Array(plot.takes.indices)
    // Rows of one take, and of each of several.
    var rows: (one: Int, several: Int)
    switch panel.content {
    case .intensity:
      rows = (10, 5)
    case .sharpness:
      rows = (4, 3)
    case .audio(let take):
      rows = (2, 2)
      takes = [take]
    case .waveform:
      rows = (7, 5)
      isDotted = true
    case .spectrogram(_, let shown):
      rows = (8, 5)
      takes = shown
    }
    let isOverlay = plot.takes.count > 1
    let drawing = PlotPainter.makeDrawing(
      ofPanel: panel, in: plot, columnCount: plotWidth,
      rowCount: isOverlay ? rows.several : rows.one,
      cell: TerminalWriter.cell)
    var sheets = takes.map {
      TerminalWriter(drawing, take: isOverlay ? $0 : nil, usesDots: isDotted, style: style).grid
    }
    if isDotted, isOverlay {
      TerminalGrid.colorSharedCells(in: &sheets, color: PlotPalette(.dark).color(of: .sharedLine))
    }
    return Array(zip(takes, sheets))
  }

  private func nameLine(ofTake take: Int) -> String {
    let letter = PlotPanel.letter(ofTake: take)
    let name = style.displayable(plot.takes[take].name).prefix(max(0, width - labelWidth - 3))
    guard style.usesColors else { return rightAligned(letter) + " " + name }
    let color = PlotPalette(.dark).color(of: .take(take)).terminalIndex
    return String(repeating: " ", count: labelWidth - 1)
      + "\u{1B}[38;5;\(color)m\(letter)\u{1B}[0m " + name
  }

  private func rightAligned(_ label: String) -> String {
    let cut = label.prefix(labelWidth)
    return String(repeating: " ", count: labelWidth - cut.count) + cut
  }

  private func headingLines(of panel: PlotPanel) -> [String] {
    var parts = [panel.title] + (panel.emptyMessage.map { [$0] } ?? [])
    switch panel.content {
    case .intensity where plot.takes.count == 1 && plot.takes[0].eventPlot != nil:
      parts += ["\(style.filledHead) transient", "\(style.block(eighths: 8)) continuous"]
      if panel.legend.contains(.intensityCurve) {
        parts.append("\(style.curve) intensity curve")
      }
    case .intensity, .spectrogram:
      if case .spectrogram(let traces, _) = panel.content,
        let highest = traces.first?.maximumDecibels
      {
        let lowest = AxisTick.text(
          Double(highest - SpectrogramTrace.dynamicRange), decimalPlaces: 0)
        parts.append("Hz, \(lowest) to \(AxisTick.text(Double(highest), decimalPlaces: 0)) dBFS")
      }
      if plot.takes.count > 1, !style.usesColors {
        parts += [
          "\(style.shade(forLevel: 0.3)) in \(plot.takes.count == 2 ? "both" : "all")",
          "\(style.shade(forLevel: 1)) more",
        ]
      }
    case .sharpness, .audio, .waveform:
      break
    }
    // Colours take no columns, so the columns of each part are counted beside it.
    var counted = parts.map { (text: style.displayable($0), columns: $0.count) }
    if panel.legend.contains(.sharpnessScale), style.usesColors {
      counted.append(("dull \(sharpnessScale) sharp", 17))
    }
    var lines: [String] = []
    var used = width
    for (text, columns) in counted {
      used += 2 + columns
      if used > width {
        lines.append(text)
        used = columns
      } else {
        lines[lines.count - 1] += "  " + text
      }
    }
    return lines
  }

  private var sharpnessScale: String {
    var sheet = TerminalGrid(width: 6, height: 1)
    for column in 0..<6 {
      let color = Colormap.sharpness.color(at: Double(column) / 5)
      sheet[0, column] = .init(character: style.block(eighths: 8), color: color.terminalIndex)
    }
    return String(sheet.text(row: 0, usesColors: true).dropLast())
  }

  /// The labels by row; of two that share a row, the one nearest to its middle.
  private func tickLabels(of panel: PlotPanel, height: Int) -> [Int: String] {
    var rows: [Int: (distance: Double, label: String)] = [:]
    for tick in panel.ticks {
      let place = (1 - panel.axis.fraction(of: tick.value)) * Double(height)
      let row = min(height - 1, max(0, Int(place)))
      let distance = abs(place - Double(row) - 0.5)
      if let other = rows[row], other.distance <= distance { continue }
      rows[row] = (distance, tick.label)
    }
    return rows.mapValues(\.label)
  }

  private func timeAxisLines() -> [String] {
    let time = TimeTicks(in: plot.timeRange, atMost: max(2, plotWidth / 9))
    var line = Array(repeating: style.timeAxis.line, count: plotWidth)
    var labels = Array(repeating: Character(" "), count: labelWidth + 2 + plotWidth)
    var free = 0
    for tick in time.ticks {
      let share = PlotAxis(range: plot.timeRange).fraction(of: tick.value)
      let column = min(plotWidth - 1, Int(share * Double(plotWidth)))
      line[column] = style.timeAxis.tick
      let label = style.displayable(tick.label)
      let start = min(max(0, labelWidth + 2 + column - label.count / 2), labels.count - label.count)
      guard start >= free else { continue }
      for (offset, character) in label.enumerated() {
        labels[start + offset] = character
      }
      free = start + label.count + 1
    }
    let unit = time.unit
    let indent = String(repeating: " ", count: labelWidth + 1)
    let below = String(labels).trimmedAtEnd
    let axis = indent + String(style.timeAxis.corner) + String(line)
    return below.count + 2 + unit.count <= width
      ? [axis, below + "  " + unit] : [axis, below, indent + " " + unit]
  }

  private func wrapped(_ text: String) -> [String] {
    var lines: [String] = []
    var remaining = style.displayable(text)[...]
    while remaining.count > width {
      let end =
        remaining.prefix(width).lastIndex(of: " ")
        ?? remaining.index(remaining.startIndex, offsetBy: width)
      lines.append(String(remaining[..<end]))
      remaining = remaining[end...].drop { $0 == " " }
    }
    return lines + [String(remaining)]
  }
}

extension String {
  fileprivate var trimmedAtEnd: String {
    guard let last = lastIndex(where: { $0 != " " }) else { return "" }
    return String(self[...last])
  }
}

extension Plot {
  /// The figure drawn with characters, in at least 20 columns; each line ends in a line break.
  ///
  /// - Parameters:
  ///   - colors: Whether sequences for 256 colours may be used.
  ///   - unicode: Whether block and braille characters may be used, or ASCII only.
  public func terminalText(width: Int, usesColors colors: Bool, usesUnicode unicode: Bool = true)
    -> String
  {
    TerminalFigure(
      plot: self, width: min(max(20, width), 1_000),
      style: TerminalStyle(usesColors: colors, usesUnicode: unicode)
    ).text()
  }
}

/// Writes the shapes of one panel as characters, where SVG and Cairo write pixels.
///
/// A cell is 8 pixels wide and 16 high: at a scale of 8, a column of a drawing is half a cell and a
/// raster has one level a cell.
struct TerminalWriter {
  private let style: TerminalStyle
  /// The take of an overlay whose own shapes are drawn; nil where there is one take.
  private let take: Int?
  private let usesDots: Bool
  private(set) var grid: TerminalGrid
  private var dotBits: [UInt8]
  /// How much of each cell is covered: eighths from below, or the share of a level.
  private var cellLevels: [Double]

  static let cell = (width: 8.0, height: 16.0)
  /// The bits of a character of braille, by row and column of dots.
  private static let brailleBits: [[UInt8]] = [
    [0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80],
  ]
  /// The least level of what a take has more, 0…1: three decibels.
  private static let minimumExcess = 0.04

  /// - Parameter take: The take of an overlay, of which what all takes have is told apart; nil for
  ///   one take.
  init(_ drawing: PlotDrawing, take: Int?, usesDots isDotted: Bool, style: TerminalStyle) {
    grid = TerminalGrid(
      width: Int(drawing.width / Self.cell.width), height: Int(drawing.height / Self.cell.height))
    dotBits = Array(repeating: 0, count: grid.width * grid.height)
    cellLevels = Array(repeating: 0, count: dotBits.count)
    self.style = style
    self.take = take
    self.usesDots = isDotted
    let hasAreas = drawing.items.contains {
      if case .path(_, .some, nil) = $0 {
        true
      } else {
        false
      }
    }
    for item in drawing.items {
      switch item {
      case .path(let lines, let fill?, nil):
        for line in lines where isShown(fill.paint) {
          self.fillArea(line, paint: fill.paint)
        }
      case .path(let lines, nil, let stroke?):
        for line in lines where isShown(stroke.paint) {
          drawLine(line, stroke: stroke, hasAreas: hasAreas)
        }
      case .path(let lines, let fill?, .some):
        let points = Array(lines.joined())
        let (x, y) = points.reduce((0, 0)) { ($0.0 + $1.x, $0.1 + $1.y) }
        drawMarker(
          at: PlotPoint(x / Double(points.count), y / Double(points.count)), paint: fill.paint)
      case .disc(let centre, _, let fill?, let stroke):
        if fill.paint != .role(.paper) {
          drawMarker(at: centre, paint: fill.paint)
        } else if let stroke, stroke.paint != .role(.ink) {
          setCell(
            style.hollowHead, paint: stroke.paint, row: row(centre.y), column: column(centre.x))
        }
      case .raster(let raster):
        drawRaster(raster)
      case .path, .disc, .rectangle, .text:
        break
      }
    }
  }

  private func isShown(_ paint: PlotDrawing.Paint) -> Bool {
    switch paint {
    case .role(.paper), .role(.muted): false
    case .role(.take(let other)): other == take
    default: true
    }
  }

  private func isShared(_ paint: PlotDrawing.Paint) -> Bool {
    paint == .role(.sharedArea) || paint == .role(.sharedLine)
  }

  /// The colour in the middle of a cell; nil for the terminal's own.
  private func color(of paint: PlotDrawing.Paint, row: Int, column: Int) -> Int? {
    let color: PlotColor? =
      switch paint {
      case .role(.take(let take)):
        PlotPalette(.dark).color(of: .take(take))
      case .role:
        isShared(paint) ? PlotPalette(.dark).color(of: .sharedLine) : nil
      case .color(let color):
        color
      case .gradient:
        paint.color(
          at: PlotPoint(
            (Double(column) + 0.5) * Self.cell.width, (Double(row) + 0.5) * Self.cell.height))
      }
    return color?.terminalIndex
  }

  private mutating func setCell(
    _ character: Character, paint: PlotDrawing.Paint, row: Int, column: Int
  ) {
    grid[row, column] = TerminalGrid.Cell(
      character: character, color: color(of: paint, row: row, column: column))
  }

  private func column(_ x: Double) -> Int { min(grid.width - 1, max(0, Int(x / Self.cell.width))) }

  /// A hair below the upper edge of a row is that edge, since values are short decimals of 32 bits.
  private func row(_ y: Double) -> Int {
    min(grid.height - 1, max(0, Int(y / Self.cell.height + 1e-3)))
  }

  /// Where a line is in each column of cells or dots that it passes: the heights at the column's
  /// ends.
  private func columnExtents(from: PlotPoint, to: PlotPoint) -> [(
    column: Int, start: Double, end: Double
  )] {
    let (left, right) = from.x < to.x ? (from, to) : (to, from)
    guard right.x > left.x else { return [] }
    let step = usesDots ? Self.cell.width / Double(style.dotsPerCell.across) : Self.cell.width
    let most = Int(Double(grid.width) * Self.cell.width / step) - 1
    // A line that ends in the first fiftieth of a column ends before it.
    let first = min(most, max(0, Int(left.x / step + 0.02)))
    let last = max(first, min(most, Int((right.x / step - 0.02).rounded(.up)) - 1))
    func y(_ x: Double) -> Double {
      left.y + (right.y - left.y) * min(max((x - left.x) / (right.x - left.x), 0), 1)
    }
    return (first...last).map { column in
      let ends = (Double(column) * step, Double(column + 1) * step)
      // Of a line that passes all of a cell, the middle counts; of one that ends in it, all.
      guard usesDots || left.x > ends.0 + 0.1 || right.x < ends.1 - 0.1 else {
        let middle = y((ends.0 + ends.1) / 2)
        return (column, middle, middle)
      }
      return (column, y(ends.0), y(ends.1))
    }
  }

  /// Fills an area that is in one piece over each place: by eighths of cells, or dots.
  private mutating func fillArea(_ shape: [PlotPoint], paint: PlotDrawing.Paint) {
    guard let first = shape.first else { return }
    var reach: [Int: (top: Double, bottom: Double)] = [:]
    for (from, to) in zip(shape, shape.dropFirst() + [first]) {
      for (column, start, end) in columnExtents(from: from, to: to) {
        let own = reach[column] ?? (.infinity, -.infinity)
        reach[column] = (min(own.top, start, end), max(own.bottom, start, end))
      }
    }
    for (column, reach) in reach {
      if usesDots {
        setDots(column: column, top: reach.top, bottom: reach.bottom, paint: paint)
        continue
      }
      let last = row(reach.bottom - 0.1)
      for row in min(last, row(reach.top))...last where reach.bottom - reach.top > 0.01 {
        let top = reach.top - Double(row) * Self.cell.height
        // What sounds at all is seen.
        let eighths = min(8, max(row == grid.height - 1 ? 1 : 0, 8 - Int((top / 2).rounded())))
        let isPlain = take != nil && !style.usesColors
        let place = row * grid.width + column
        guard isPlain || Double(eighths) >= max(1, cellLevels[place]) else { continue }
        cellLevels[place] = Double(eighths)
        setCell(
          isPlain
            ? style.shade(forLevel: isShared(paint) ? 0.3 : 1) : style.block(eighths: eighths),
          paint: paint,
          row: row, column: column)
      }
    }
  }

  private mutating func drawLine(_ line: [PlotPoint], stroke: PlotDrawing.Stroke, hasAreas: Bool) {
    if line.count == 2, line[0].x == line[1].x {
      let top = min(line[0].y, line[1].y)
      let bottom = max(line[0].y, line[1].y)
      // What stands on another stem begins above its last row.
      let end = bottom > Double(grid.height) * Self.cell.height - 0.1 ? grid.height : row(bottom)
      let stem =
        take == nil || style.usesColors
        ? style.stem : style.shade(forLevel: isShared(stroke.paint) ? 0.3 : 1)
      for row in row(top)..<max(row(top), end) {
        setCell(stem, paint: stroke.paint, row: row, column: column(line[0].x))
      }
      return
    }
    // The outlines of areas say nothing more, only curves do.
    guard !hasAreas || stroke.opacity < 1 else { return }
    for (from, to) in zip(line, line.dropFirst()) {
      for (column, start, end) in columnExtents(from: from, to: to) {
        if usesDots {
          setDots(
            column: column, top: min(start, end), bottom: max(start, end), paint: stroke.paint)
        } else if case let row = row((start + end) / 2), grid[row, column].character == " " {
          setCell(
            stroke.opacity < 1 ? style.curve : style.line, paint: stroke.paint, row: row,
            column: column)
        }
      }
    }
  }

  private mutating func setDots(
    column: Int, top: Double, bottom: Double, paint: PlotDrawing.Paint
  ) {
    let (across, down) = style.dotsPerCell
    let height = Self.cell.height / Double(down)
    let last = grid.height * down - 1
    for place in min(
      last, max(0, Int(top / height)))...min(last, max(0, Int(max(top, bottom) / height)))
    {
      let row = place / down
      let column = (column, column / across)
      dotBits[row * grid.width + column.1] |= Self.brailleBits[place % down][column.0 % across]
      setCell(
        style.dotCharacter(bits: dotBits[row * grid.width + column.1]), paint: paint, row: row,
        column: column.1)
    }
  }

  private mutating func drawMarker(at centre: PlotPoint, paint: PlotDrawing.Paint) {
    guard isShown(paint) else { return }
    let isMuted = take != nil && !style.usesColors && isShared(paint)
    setCell(
      isMuted ? style.hollowHead : style.filledHead, paint: paint, row: row(centre.y),
      column: column(centre.x))
  }

  private mutating func drawRaster(_ raster: PlotDrawing.Raster) {
    guard isShown(raster.paint) else { return }
    for (place, level) in raster.coverages.enumerated() where cellLevels.indices.contains(place) {
      let level = Double(level) / 255
      let isOwn = !isShared(raster.paint)
      guard !isOwn || take == nil || level > Self.minimumExcess else { continue }
      cellLevels[place] = max(cellLevels[place], level)
      let share = PlotPainter.level(ofCoverage: cellLevels[place])
      // Without colours only what a take has more is dark.
      let character = style.shade(
        forLevel: take == nil || style.usesColors || isOwn ? share : min(share, 0.3))
      let row = place / raster.columnCount
      let column = place % raster.columnCount
      grid[row, column].character = character
      grid[row, column].color =
        character == " " ? nil : color(of: raster.paint, row: row, column: column)
    }
  }
}

/// Rows of characters with colours, which become lines of text.
struct TerminalGrid {
  struct Cell: Equatable {
    var character: Character = " "
    /// The number of a terminal's colour; nil for its own.
    var color: Int?
  }

  let width, height: Int
  private var cells: [Cell]

  init(width: Int, height: Int) {
    self.width = max(1, width)
    self.height = max(1, height)
    cells = Array(repeating: Cell(), count: self.width * self.height)
  }

  /// The cell of a row, counted from above, and a column.
  subscript(row: Int, column: Int) -> Cell {
    get { cells[row * width + column] }
    set { cells[row * width + column] = newValue }
  }

  static func colorSharedCells(in sheets: inout [TerminalGrid], color: PlotColor) {
    for place in sheets[0].cells.indices {
      let character = sheets[0].cells[place].character
      guard character != " ", sheets.allSatisfy({ $0.cells[place].character == character }) else {
        continue
      }
      for index in sheets.indices {
        sheets[index].cells[place].color = color.terminalIndex
      }
    }
  }

  /// A row with the control sequences, ECMA-48's SGR, of its colours.
  func text(row: Int, usesColors colors: Bool) -> String {
    var text = ""
    var current: Int?
    for cell in cells[row * width..<(row + 1) * width] + [Cell()] {
      if colors, cell.color != current {
        text += "\u{1B}[" + (cell.color.map { "38;5;\($0)" } ?? "0") + "m"
        current = cell.color
      }
      text.append(cell.character)
    }
    return text
  }
}

/// What a terminal can show, and the characters of its drawings.
struct TerminalStyle {
  let usesColors: Bool
  let usesUnicode: Bool

  /// A cell filled from below by eighths; ASCII knows empty, half and full.
  func block(eighths: Int) -> Character {
    if eighths <= 0 { return " " }
    guard usesUnicode else { return eighths >= 6 ? "#" : (eighths >= 3 ? ":" : ".") }
    return Self.character(0x2580 + UInt32(min(eighths, 8)))
  }

  var stem: Character { usesUnicode ? "┃" : "|" }
  /// The head of a transient, and of one that is silent or shared.
  var hollowHead: Character { usesUnicode ? "○" : "0" }
  var filledHead: Character { usesUnicode ? "●" : "o" }
  var line: Character { usesUnicode ? "━" : "-" }
  var curve: Character { usesUnicode ? "·" : "+" }
  var leftEdge: (plain: Character, marked: Character) { usesUnicode ? ("│", "┤") : ("|", "+") }
  var timeAxis: (corner: Character, line: Character, tick: Character) {
    usesUnicode ? ("└", "─", "┬") : ("+", "-", "+")
  }

  /// A level 0…1 of a spectrogram without colours.
  func shade(forLevel level: Double) -> Character {
    let shades = Array(usesUnicode ? " ░▒▓█" : " .:-=+*#")
    return shades[min(shades.count - 1, max(0, Int(level * Double(shades.count))))]
  }

  var dotsPerCell: (across: Int, down: Int) { usesUnicode ? (2, 4) : (1, 2) }

  /// A cell whose dots are the bits of a byte, as braille numbers them.
  func dotCharacter(bits: UInt8) -> Character {
    if usesUnicode { return Self.character(0x2800 + UInt32(bits)) }
    return bits.nonzeroBitCount > 1 ? "#" : (bits & 1 != 0 ? "'" : ".")
  }

  /// A text in ASCII where nothing else can be shown.
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

  private static func character(_ value: UInt32) -> Character {
    Character(Unicode.Scalar(value) ?? " ")
  }
}
