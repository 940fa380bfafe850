/// Puts a figure together as lines of text: titles, panels with their labels, and the axis of time.
struct TerminalFigure {
  let plot: Plot
  let width: Int
  let style: TerminalStyle

  private var labelWidth: Int {
    let counts = panels.flatMap { $0.ticks.map(\.label.count) }
    return min(7, max(2, counts.max() ?? 2))
  }

  private var timeWidth: Int { max(8, width - labelWidth - 2) }

  /// The panels without the little space above that characters have not, at their left hertz where
  /// nothing else is.
  private var panels: [PlotPanel] {
    plot.panels.map { panel in
      var panel = panel
      if panel.ticks.isEmpty {
        panel.ticks = panel.rightTicks
      }
      switch panel.content {
      case .waveform, .spectrogram: break
      case .strength, .tone, .audio: panel.axis = PlotAxis(range: 0...1)
      }
      return panel
    }
  }

  func text() -> String {
    var lines: [String] = []
    for title in [plot.title, plot.facts.joined(separator: " · ")] where !title.isEmpty {
      lines += wrapped(title)
    }
    for panel in panels {
      lines.append("")
      lines += heading(of: panel)
      for (take, sheet) in sheets(of: panel) {
        if plot.takes.count > 1 {
          lines.append(name(of: take))
        }
        let labels = labelRows(of: panel, height: sheet.height)
        for row in 0..<sheet.height {
          let label = style.text(labels[row] ?? "")
          let line = labels[row] == nil ? style.side.plain : style.side.marked
          lines.append(padded(label) + " \(line)" + sheet.text(row: row, colors: style.colors))
        }
      }
    }
    if !plot.panels.isEmpty {
      lines += timeAxis()
    }
    return lines.map { $0.trimmedAtEnd + "\n" }.joined()
  }

  private func sheets(of panel: PlotPanel) -> [(take: Int, sheet: TerminalSheet)] {
    var isDotted = false
    var takes = Array(plot.takes.indices)
    // Rows of one take, and of each of several.
    var rows: (one: Int, several: Int)
    switch panel.content {
    case .strength:
      rows = (10, 5)
    case .tone:
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
    let drawing = FigureDrawing.draw(
      panel, of: plot, columns: timeWidth, rows: isOverlay ? rows.several : rows.one,
      cell: TerminalWriter.cell)
    var sheets = takes.map {
      TerminalWriter(drawing, take: isOverlay ? $0 : nil, isDotted: isDotted, style: style).sheet
    }
    if isDotted, isOverlay {
      TerminalSheet.markShared(in: &sheets, PlotPalette(.dark).color(of: .equalLine))
    }
    return Array(zip(takes, sheets))
  }

  private func name(of take: Int) -> String {
    let letter = PlotPanel.letter(take)
    let name = style.text(plot.takes[take].name).prefix(max(0, width - labelWidth - 3))
    guard style.colors else { return padded(letter) + " " + name }
    let color = PlotPalette(.dark).color(of: .take(take)).terminalIndex
    return String(repeating: " ", count: labelWidth - 1)
      + "\u{1B}[38;5;\(color)m\(letter)\u{1B}[0m " + name
  }

  private func padded(_ label: String) -> String {
    let cut = label.prefix(labelWidth)
    return String(repeating: " ", count: labelWidth - cut.count) + cut
  }

  private func heading(of panel: PlotPanel) -> [String] {
    var parts = [panel.title] + (panel.remark.map { [$0] } ?? [])
    switch panel.content {
    case .strength where plot.takes.count == 1 && plot.takes[0].score != nil:
      parts += ["\(style.head) transient", "\(style.fill(eighths: 8)) continuous"]
      if panel.legend.contains(.intensityCurve) {
        parts.append("\(style.curve) intensity curve")
      }
    case .strength, .spectrogram:
      if case .spectrogram(let traces, _) = panel.content, let highest = traces.first?.highest {
        let lowest = AxisTick.text(Double(highest - SpectrogramTrace.depth), places: 0)
        parts.append("Hz, \(lowest) to \(AxisTick.text(Double(highest), places: 0)) dBFS")
      }
      if plot.takes.count > 1, !style.colors {
        parts += [
          "\(style.shade(0.3)) in \(plot.takes.count == 2 ? "both" : "all")",
          "\(style.shade(1)) more",
        ]
      }
    case .tone, .audio, .waveform:
      break
    }
    // Colours take no columns, so the columns of each part are counted beside it.
    var counted = parts.map { (text: style.text($0), columns: $0.count) }
    if panel.legend.contains(.sharpness), style.colors {
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
    var sheet = TerminalSheet(width: 6, height: 1)
    for column in 0..<6 {
      let color = Colormap.sharpness.color(at: Double(column) / 5)
      sheet[0, column] = .init(character: style.fill(eighths: 8), color: color.terminalIndex)
    }
    return String(sheet.text(row: 0, colors: true).dropLast())
  }

  /// The labels by row; of two that share a row, the one nearest to its middle.
  private func labelRows(of panel: PlotPanel, height: Int) -> [Int: String] {
    var rows: [Int: (distance: Double, label: String)] = [:]
    for tick in panel.ticks {
      let place = (1 - panel.axis.share(of: tick.value)) * Double(height)
      let row = min(height - 1, max(0, Int(place)))
      let distance = abs(place - Double(row) - 0.5)
      if let other = rows[row], other.distance <= distance { continue }
      rows[row] = (distance, tick.label)
    }
    return rows.mapValues(\.label)
  }

  private func timeAxis() -> [String] {
    let time = TimeTicks(in: plot.span, atMost: max(2, timeWidth / 9))
    var line = Array(repeating: style.ground.line, count: timeWidth)
    var labels = Array(repeating: Character(" "), count: labelWidth + 2 + timeWidth)
    var free = 0
    for tick in time.ticks {
      let share = PlotAxis(range: plot.span).share(of: tick.value)
      let column = min(timeWidth - 1, Int(share * Double(timeWidth)))
      line[column] = style.ground.tick
      let label = style.text(tick.label)
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
    let axis = indent + String(style.ground.corner) + String(line)
    return below.count + 2 + unit.count <= width
      ? [axis, below + "  " + unit] : [axis, below, indent + " " + unit]
  }

  private func wrapped(_ text: String) -> [String] {
    var lines: [String] = []
    var remaining = style.text(text)[...]
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
  public func terminalText(width: Int, colors: Bool, unicode: Bool = true) -> String {
    TerminalFigure(
      plot: self, width: min(max(20, width), 1_000),
      style: TerminalStyle(colors: colors, unicode: unicode)
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
  private let isDotted: Bool
  private(set) var sheet: TerminalSheet
  private var bits: [UInt8]
  /// How much of each cell is covered: eighths from below, or the share of a level.
  private var levels: [Double]

  static let cell = (width: 8.0, height: 16.0)
  /// The bits of a character of braille, by row and column of dots.
  private static let dots: [[UInt8]] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]]
  /// The least level of what a take has more, 0…1: three decibels.
  private static let leastExcess = 0.04

  /// - Parameter take: The take of an overlay, of which what all takes have is told apart; nil for
  ///   one take.
  init(_ drawing: PlotDrawing, take: Int?, isDotted: Bool, style: TerminalStyle) {
    sheet = TerminalSheet(
      width: Int(drawing.width / Self.cell.width), height: Int(drawing.height / Self.cell.height))
    bits = Array(repeating: 0, count: sheet.width * sheet.height)
    levels = Array(repeating: 0, count: bits.count)
    self.style = style
    self.take = take
    self.isDotted = isDotted
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
          self.fill(line, fill.paint)
        }
      case .path(let lines, nil, let stroke?):
        for line in lines where isShown(stroke.paint) {
          draw(line, stroke, hasAreas: hasAreas)
        }
      case .path(let lines, let fill?, .some):
        let points = Array(lines.joined())
        let (x, y) = points.reduce((0, 0)) { ($0.0 + $1.x, $0.1 + $1.y) }
        mark(PlotPoint(x / Double(points.count), y / Double(points.count)), fill.paint)
      case .disc(let centre, _, let fill?, let stroke):
        if fill.paint != .role(.paper) {
          mark(centre, fill.paint)
        } else if let stroke, stroke.paint != .role(.ink) {
          put(style.ring, stroke.paint, row(centre.y), column(centre.x))
        }
      case .raster(let raster):
        shade(raster)
      case .path, .disc, .bar, .text:
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
    paint == .role(.equal) || paint == .role(.equalLine)
  }

  /// The colour in the middle of a cell; nil for the terminal's own.
  private func color(_ paint: PlotDrawing.Paint, _ row: Int, _ column: Int) -> Int? {
    let color: PlotColor? =
      switch paint {
      case .role(.take(let take)):
        PlotPalette(.dark).color(of: .take(take))
      case .role:
        isShared(paint) ? PlotPalette(.dark).color(of: .equalLine) : nil
      case .color(let color):
        color
      case .gradient:
        paint.color(
          at: PlotPoint(
            (Double(column) + 0.5) * Self.cell.width, (Double(row) + 0.5) * Self.cell.height))
      }
    return color?.terminalIndex
  }

  private mutating func put(
    _ character: Character, _ paint: PlotDrawing.Paint, _ row: Int, _ column: Int
  ) {
    sheet[row, column] = TerminalSheet.Cell(character: character, color: color(paint, row, column))
  }

  private func column(_ x: Double) -> Int { min(sheet.width - 1, max(0, Int(x / Self.cell.width))) }

  /// A hair below the upper edge of a row is that edge, since values are short decimals of 32 bits.
  private func row(_ y: Double) -> Int {
    min(sheet.height - 1, max(0, Int(y / Self.cell.height + 1e-3)))
  }

  /// Where a line is in each column of cells or dots that it passes: the heights at the column's
  /// ends.
  private func heights(_ from: PlotPoint, _ to: PlotPoint) -> [(
    column: Int, start: Double, end: Double
  )] {
    let (left, right) = from.x < to.x ? (from, to) : (to, from)
    guard right.x > left.x else { return [] }
    let step = isDotted ? Self.cell.width / Double(style.dots.across) : Self.cell.width
    let most = Int(Double(sheet.width) * Self.cell.width / step) - 1
    // A line that ends in the first fiftieth of a column ends before it.
    let first = min(most, max(0, Int(left.x / step + 0.02)))
    let last = max(first, min(most, Int((right.x / step - 0.02).rounded(.up)) - 1))
    func y(_ x: Double) -> Double {
      left.y + (right.y - left.y) * min(max((x - left.x) / (right.x - left.x), 0), 1)
    }
    return (first...last).map { column in
      let ends = (Double(column) * step, Double(column + 1) * step)
      // Of a line that passes all of a cell, the middle counts; of one that ends in it, all.
      guard isDotted || left.x > ends.0 + 0.1 || right.x < ends.1 - 0.1 else {
        let middle = y((ends.0 + ends.1) / 2)
        return (column, middle, middle)
      }
      return (column, y(ends.0), y(ends.1))
    }
  }

  /// Fills an area that is in one piece over each place: by eighths of cells, or dots.
  private mutating func fill(_ shape: [PlotPoint], _ paint: PlotDrawing.Paint) {
    guard let first = shape.first else { return }
    var reach: [Int: (top: Double, bottom: Double)] = [:]
    for (from, to) in zip(shape, shape.dropFirst() + [first]) {
      for (column, start, end) in heights(from, to) {
        let own = reach[column] ?? (.infinity, -.infinity)
        reach[column] = (min(own.top, start, end), max(own.bottom, start, end))
      }
    }
    for (column, reach) in reach {
      if isDotted {
        dot(column, reach.top, reach.bottom, paint)
        continue
      }
      let last = row(reach.bottom - 0.1)
      for row in min(last, row(reach.top))...last where reach.bottom - reach.top > 0.01 {
        let top = reach.top - Double(row) * Self.cell.height
        // What sounds at all is seen.
        let eighths = min(8, max(row == sheet.height - 1 ? 1 : 0, 8 - Int((top / 2).rounded())))
        let isPlain = take != nil && !style.colors
        let place = row * sheet.width + column
        guard isPlain || Double(eighths) >= max(1, levels[place]) else { continue }
        levels[place] = Double(eighths)
        put(
          isPlain ? style.shade(isShared(paint) ? 0.3 : 1) : style.fill(eighths: eighths), paint,
          row, column)
      }
    }
  }

  private mutating func draw(_ line: [PlotPoint], _ stroke: PlotDrawing.Stroke, hasAreas: Bool) {
    if line.count == 2, line[0].x == line[1].x {
      let top = min(line[0].y, line[1].y)
      let bottom = max(line[0].y, line[1].y)
      // What stands on another stem begins above its last row.
      let end = bottom > Double(sheet.height) * Self.cell.height - 0.1 ? sheet.height : row(bottom)
      let stem =
        take == nil || style.colors ? style.stem : style.shade(isShared(stroke.paint) ? 0.3 : 1)
      for row in row(top)..<max(row(top), end) {
        put(stem, stroke.paint, row, column(line[0].x))
      }
      return
    }
    // The outlines of areas say nothing more, only curves do.
    guard !hasAreas || stroke.opacity < 1 else { return }
    for (from, to) in zip(line, line.dropFirst()) {
      for (column, start, end) in heights(from, to) {
        if isDotted {
          dot(column, min(start, end), max(start, end), stroke.paint)
        } else if case let row = row((start + end) / 2), sheet[row, column].character == " " {
          put(stroke.opacity < 1 ? style.curve : style.line, stroke.paint, row, column)
        }
      }
    }
  }

  private mutating func dot(
    _ column: Int, _ top: Double, _ bottom: Double, _ paint: PlotDrawing.Paint
  ) {
    let (across, down) = style.dots
    let height = Self.cell.height / Double(down)
    let last = sheet.height * down - 1
    for place in min(
      last, max(0, Int(top / height)))...min(last, max(0, Int(max(top, bottom) / height)))
    {
      let row = place / down
      let column = (column, column / across)
      bits[row * sheet.width + column.1] |= Self.dots[place % down][column.0 % across]
      put(style.dots(bits[row * sheet.width + column.1]), paint, row, column.1)
    }
  }

  private mutating func mark(_ centre: PlotPoint, _ paint: PlotDrawing.Paint) {
    guard isShown(paint) else { return }
    let isMuted = take != nil && !style.colors && isShared(paint)
    put(isMuted ? style.ring : style.head, paint, row(centre.y), column(centre.x))
  }

  private mutating func shade(_ raster: PlotDrawing.Raster) {
    guard isShown(raster.paint) else { return }
    for (place, level) in raster.levels.enumerated() where levels.indices.contains(place) {
      let level = Double(level) / 255
      let isOwn = !isShared(raster.paint)
      guard !isOwn || take == nil || level > Self.leastExcess else { continue }
      levels[place] = max(levels[place], level)
      let share = FigureDrawing.share(ofCoverage: levels[place])
      // Without colours only what a take has more is dark.
      let character = style.shade(take == nil || style.colors || isOwn ? share : min(share, 0.3))
      let row = place / raster.columns
      let column = place % raster.columns
      sheet[row, column].character = character
      sheet[row, column].color = character == " " ? nil : color(raster.paint, row, column)
    }
  }
}

/// Rows of characters with colours, which become lines of text.
struct TerminalSheet {
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

  static func markShared(in sheets: inout [TerminalSheet], _ color: PlotColor) {
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
  func text(row: Int, colors: Bool) -> String {
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
  let colors: Bool
  let unicode: Bool

  /// A cell filled from below by eighths; ASCII knows empty, half and full.
  func fill(eighths: Int) -> Character {
    if eighths <= 0 { return " " }
    guard unicode else { return eighths >= 6 ? "#" : (eighths >= 3 ? ":" : ".") }
    return Self.character(0x2580 + UInt32(min(eighths, 8)))
  }

  var stem: Character { unicode ? "┃" : "|" }
  /// The head of a transient, and of one that is silent or shared.
  var ring: Character { unicode ? "○" : "0" }
  var head: Character { unicode ? "●" : "o" }
  var line: Character { unicode ? "━" : "-" }
  var curve: Character { unicode ? "·" : "+" }
  var side: (plain: Character, marked: Character) { unicode ? ("│", "┤") : ("|", "+") }
  var ground: (corner: Character, line: Character, tick: Character) {
    unicode ? ("└", "─", "┬") : ("+", "-", "+")
  }

  /// A level 0…1 of a spectrogram without colours.
  func shade(_ level: Double) -> Character {
    let shades = Array(unicode ? " ░▒▓█" : " .:-=+*#")
    return shades[min(shades.count - 1, max(0, Int(level * Double(shades.count))))]
  }

  var dots: (across: Int, down: Int) { unicode ? (2, 4) : (1, 2) }

  /// A cell whose dots are the bits of a byte, as braille numbers them.
  func dots(_ bits: UInt8) -> Character {
    if unicode { return Self.character(0x2800 + UInt32(bits)) }
    return bits.nonzeroBitCount > 1 ? "#" : (bits & 1 != 0 ? "'" : ".")
  }

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
