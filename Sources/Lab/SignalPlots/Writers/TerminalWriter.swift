/// Draws the shapes of one panel with the characters of a terminal.
///
/// A cell is 8 pixels wide and 16 pixels high. At a scale of 8, a column of a drawing is half a
/// cell wide, and a raster has one coverage for each cell. Areas are drawn with blocks of eighths,
/// waveforms with braille dots, and rasters with shades.
struct TerminalWriter {
  private let terminalStyle: TerminalStyle
  /// The index of the drawn take in an overlay, or nil for a single take.
  private let takeIndex: Int?
  /// A Boolean value that indicates whether areas and lines are drawn with braille dots.
  private let usesDots: Bool
  private(set) var grid: TerminalGrid
  /// The Braille dots of each cell, as bits.
  private var brailleBitsByCell: [UInt8]
  /// The filled height of each cell in eighths, or the opacity 0…1 of a raster cell.
  private var cellLevels: [Double]

  /// The size of a cell, in pixels.
  static let cellSizePixels = (width: 8.0, height: 16.0)
  /// The bit of each dot in a braille character, by row and column.
  private static let brailleDotBits: [[UInt8]] = [
    [0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80],
  ]
  /// The minimum opacity 0…1 of the excess of a take.
  ///
  /// It corresponds to an excess of about 3 dB.
  private static let minimumDrawnExcessOpacity = 0.04

  /// Draws the items of a drawing.
  ///
  /// - Parameters:
  ///   - drawing: The drawing of one panel.
  ///   - take: The take of an overlay to draw next to the common part, or nil for a single take.
  ///   - usesDots: True to draw areas and lines with braille dots.
  ///   - style: The characters.
  init(_ drawing: PlotDrawing, take: Int?, usesDots: Bool, terminalStyle style: TerminalStyle) {
    grid = TerminalGrid(
      columnCount: Int(drawing.width / Self.cellSizePixels.width),
      rowCount: Int(drawing.height / Self.cellSizePixels.height))
    brailleBitsByCell = Array(repeating: 0, count: grid.columnCount * grid.rowCount)
    cellLevels = Array(repeating: 0, count: brailleBitsByCell.count)
    self.terminalStyle = style
    self.takeIndex = take
    self.usesDots = usesDots
    let hasAreas = drawing.items.contains { item in
      if case .path(_, .some, nil) = item { return true }
      return false
    }
    for item in drawing.items {
      draw(item, hasAreas: hasAreas)
    }
  }

  /// Draws an item of a plot into the character grid.
  ///
  /// - Parameters:
  ///   - item: The item.
  ///   - hasAreas: True if the drawing has areas, whose outlines are not drawn.
  private mutating func draw(_ item: PlotDrawing.Item, hasAreas: Bool) {
    switch item {
    case .path(let lines, let fill?, nil):
      for line in lines where isShown(fill.paint) {
        fillArea(line, paint: fill.paint)
      }
    case .path(let lines, nil, let stroke?):
      for line in lines where isShown(stroke.paint) {
        drawLine(line, stroke: stroke, hasAreas: hasAreas)
      }
    case .path(let lines, let fill?, .some):
      // The head of a transient: its center is the mean of its corners.
      let points = Array(lines.joined())
      let sumX = points.reduce(0) { $0 + $1.x }
      let sumY = points.reduce(0) { $0 + $1.y }
      let count = Double(points.count)
      drawMarker(at: PlotPoint(sumX / count, sumY / count), paint: fill.paint)
    case .disc(let center, _, let fill?, let stroke):
      if fill.paint != .role(.background) {
        drawMarker(at: center, paint: fill.paint)
      } else if let stroke, stroke.paint != .role(.foreground) {
        setCell(
          terminalStyle.hollowHeadCharacter, paint: stroke.paint, row: cellRow(atY: center.y),
          column: cellColumn(atX: center.x))
      }
    case .raster(let raster):
      drawRaster(raster)
    case .path, .disc, .rectangle, .text:
      break
    }
  }

  /// Returns whether shapes with a paint are drawn.
  ///
  /// The grid shows the shapes of the drawn take and those common to all takes.
  private func isShown(_ paint: PlotDrawing.Paint) -> Bool {
    switch paint {
    case .role(.background), .role(.muted): false
    case .role(.take(let index)): index == takeIndex
    default: true
    }
  }

  /// Returns true for the paints that mark the common part of all takes.
  private func isShared(_ paint: PlotDrawing.Paint) -> Bool {
    paint == .role(.sharedArea) || paint == .role(.sharedLine)
  }

  /// Returns the color index at the center of a cell, or nil for the default color.
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
            (Double(column) + 0.5) * Self.cellSizePixels.width,
            (Double(row) + 0.5) * Self.cellSizePixels.height
          ))
      }
    return color?.terminalColorIndex
  }

  private mutating func setCell(
    _ character: Character, paint: PlotDrawing.Paint, row: Int, column: Int
  ) {
    grid[row, column] = TerminalGrid.Cell(
      character: character, colorIndex: color(of: paint, row: row, column: column))
  }

  private func cellColumn(atX x: Double) -> Int {
    min(grid.columnCount - 1, max(0, Int(x / Self.cellSizePixels.width)))
  }

  /// Returns the index of the character row that contains a y coordinate.
  private func cellRow(atY y: Double) -> Int {
    // The tolerance accounts for decimal values of 32 bits that are slightly above an edge.
    min(grid.rowCount - 1, max(0, Int(y / Self.cellSizePixels.height + 1e-3)))
  }

  /// Returns the y coordinates of a line at both edges of each column of cells or dots.
  private func columnExtents(
    from start: PlotPoint, to end: PlotPoint
  ) -> [(column: Int, start: Double, end: Double)] {
    let leftPoint = start.x < end.x ? start : end
    let rightPoint = start.x < end.x ? end : start
    guard rightPoint.x > leftPoint.x else { return [] }
    let columnWidth =
      usesDots
      ? Self.cellSizePixels.width / Double(terminalStyle.dotsPerCell.across)
      : Self.cellSizePixels.width
    let maximumColumn = Int(Double(grid.columnCount) * Self.cellSizePixels.width / columnWidth) - 1
    // A line that covers at most 2 % of a column is not drawn in it.
    let firstColumn = min(maximumColumn, max(0, Int(leftPoint.x / columnWidth + 0.02)))
    let lastColumn = max(
      firstColumn, min(maximumColumn, Int((rightPoint.x / columnWidth - 0.02).rounded(.up)) - 1))
    func interpolatedY(_ x: Double) -> Double {
      leftPoint.y + (rightPoint.y - leftPoint.y)
        * min(max((x - leftPoint.x) / (rightPoint.x - leftPoint.x), 0), 1)
    }
    return (firstColumn...lastColumn).map { column in
      let columnStart = Double(column) * columnWidth
      let columnEnd = Double(column + 1) * columnWidth
      // A line across a whole cell counts with its middle, and one that ends in a cell with both
      // ends.
      guard usesDots || leftPoint.x > columnStart + 0.1 || rightPoint.x < columnEnd - 0.1 else {
        let middle = interpolatedY((columnStart + columnEnd) / 2)
        return (column, middle, middle)
      }
      return (column, interpolatedY(columnStart), interpolatedY(columnEnd))
    }
  }

  /// Fills a polygon that consists of one vertical range in each column.
  private mutating func fillArea(_ polygon: [PlotPoint], paint: PlotDrawing.Paint) {
    guard let firstCorner = polygon.first else { return }
    var extentsByColumn: [Int: (top: Double, bottom: Double)] = [:]
    for (from, to) in zip(polygon, polygon.dropFirst() + [firstCorner]) {
      for (column, start, end) in columnExtents(from: from, to: to) {
        let extent = extentsByColumn[column] ?? (.infinity, -.infinity)
        extentsByColumn[column] = (min(extent.top, start, end), max(extent.bottom, start, end))
      }
    }
    for (column, extent) in extentsByColumn {
      if usesDots {
        setDots(column: column, top: extent.top, bottom: extent.bottom, paint: paint)
      } else if extent.bottom - extent.top > 0.01 {
        fillColumn(column, top: extent.top, bottom: extent.bottom, paint: paint)
      }
    }
  }

  /// Fills the cells of a column between two y coordinates.
  ///
  /// The top cell is filled in eighths of its height.
  private mutating func fillColumn(
    _ column: Int, top: Double, bottom: Double, paint: PlotDrawing.Paint
  ) {
    let lastRow = cellRow(atY: bottom - 0.1)
    for row in min(lastRow, cellRow(atY: top))...lastRow {
      let topInCell = top - Double(row) * Self.cellSizePixels.height
      // A sound of any level fills at least one eighth of the bottom row.
      let minimumEighths = row == grid.rowCount - 1 ? 1 : 0
      let eighths = min(8, max(minimumEighths, 8 - Int((topInCell / 2).rounded())))
      let isShaded = takeIndex != nil && !terminalStyle.usesColors
      let index = row * grid.columnCount + column
      guard isShaded || Double(eighths) >= max(1, cellLevels[index]) else { continue }
      cellLevels[index] = Double(eighths)
      let character = isShaded ? overlayShade(of: paint) : terminalStyle.block(eighths: eighths)
      setCell(character, paint: paint, row: row, column: column)
    }
  }

  /// Returns the shading character for a paint in an overlay without colors.
  ///
  /// The shade of the common part is light.
  private func overlayShade(of paint: PlotDrawing.Paint) -> Character {
    terminalStyle.shade(forLevel: isShared(paint) ? 0.3 : 1)
  }

  /// Draws a vertical line as a stem, and any other line column by column.
  private mutating func drawLine(_ line: [PlotPoint], stroke: PlotDrawing.Stroke, hasAreas: Bool) {
    if line.count == 2, line[0].x == line[1].x {
      let top = min(line[0].y, line[1].y)
      let bottom = max(line[0].y, line[1].y)
      // A stem on top of another stem excludes the last row of that stem.
      let end =
        bottom > Double(grid.rowCount) * Self.cellSizePixels.height - 0.1
        ? grid.rowCount : cellRow(atY: bottom)
      let stem =
        takeIndex == nil || terminalStyle.usesColors
        ? terminalStyle.stemCharacter : overlayShade(of: stroke.paint)
      for row in cellRow(atY: top)..<max(cellRow(atY: top), end) {
        setCell(stem, paint: stroke.paint, row: row, column: cellColumn(atX: line[0].x))
      }
      return
    }
    // The outlines of areas are redundant. Control curves are translucent.
    guard !hasAreas || stroke.opacity < 1 else { return }
    for (from, to) in zip(line, line.dropFirst()) {
      for (column, start, end) in columnExtents(from: from, to: to) {
        if usesDots {
          setDots(
            column: column, top: min(start, end), bottom: max(start, end), paint: stroke.paint)
        } else if case let row = cellRow(atY: (start + end) / 2), grid[row, column].character == " "
        {
          setCell(
            stroke.opacity < 1 ? terminalStyle.curveCharacter : terminalStyle.lineCharacter,
            paint: stroke.paint, row: row,
            column: column)
        }
      }
    }
  }

  /// Sets the dots between two y coordinates in a column of dots.
  private mutating func setDots(
    column dotColumn: Int, top: Double, bottom: Double, paint: PlotDrawing.Paint
  ) {
    let (across, down) = terminalStyle.dotsPerCell
    let dotHeight = Self.cellSizePixels.height / Double(down)
    let maximumDotRow = grid.rowCount * down - 1
    let firstDotRow = min(maximumDotRow, max(0, Int(top / dotHeight)))
    let lastDotRow = min(maximumDotRow, max(0, Int(max(top, bottom) / dotHeight)))
    for dotRow in firstDotRow...lastDotRow {
      let row = dotRow / down
      let column = dotColumn / across
      let index = row * grid.columnCount + column
      brailleBitsByCell[index] |= Self.brailleDotBits[dotRow % down][dotColumn % across]
      setCell(
        terminalStyle.dotCharacter(bits: brailleBitsByCell[index]), paint: paint, row: row,
        column: column)
    }
  }

  /// Draws the head of a transient.
  private mutating func drawMarker(at center: PlotPoint, paint: PlotDrawing.Paint) {
    guard isShown(paint) else { return }
    let isMutedMarker = takeIndex != nil && !terminalStyle.usesColors && isShared(paint)
    setCell(
      isMutedMarker ? terminalStyle.hollowHeadCharacter : terminalStyle.filledHeadCharacter,
      paint: paint,
      row: cellRow(atY: center.y),
      column: cellColumn(atX: center.x))
  }

  private mutating func drawRaster(_ raster: PlotDrawing.Raster) {
    guard isShown(raster.paint) else { return }
    let isExcess = !isShared(raster.paint)
    for (index, byte) in raster.cellOpacities.enumerated() where cellLevels.indices.contains(index)
    {
      let coverage = Double(byte) / 255
      guard !isExcess || takeIndex == nil || coverage > Self.minimumDrawnExcessOpacity else {
        continue
      }
      cellLevels[index] = max(cellLevels[index], coverage)
      let level = PlotPainter.level(ofCoverage: cellLevels[index])
      // Without colors, only the excess of a take has dark shades.
      let isFullScale = takeIndex == nil || terminalStyle.usesColors || isExcess
      let character = terminalStyle.shade(forLevel: isFullScale ? level : min(level, 0.3))
      let row = index / raster.columnCount
      let column = index % raster.columnCount
      grid[row, column].character = character
      grid[row, column].colorIndex =
        character == " " ? nil : color(of: raster.paint, row: row, column: column)
    }
  }
}
