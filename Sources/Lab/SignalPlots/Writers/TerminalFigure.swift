/// An assembler of a text figure: title, panels with tick labels, and time axis.
struct TerminalFigure {
  let plot: Plot
  let columnCount: Int
  let terminalStyle: TerminalStyle

  /// The width of the tick labels, in columns.
  private var labelColumnCount: Int {
    let labelCharacterCounts = terminalPanels.flatMap { $0.leftTicks.map(\.labelText.count) }
    return min(7, max(2, labelCharacterCounts.max() ?? 2))
  }

  /// The width of the panels, in columns.
  private var plotColumnCount: Int { max(8, columnCount - labelColumnCount - 2) }

  /// The panels adapted to characters.
  ///
  /// They have no space above the axis. The right ticks are on the left side if there are no left
  /// ticks.
  private var terminalPanels: [PlotPanel] {
    plot.plotPanels.map { panel in
      var panel = panel
      if panel.leftTicks.isEmpty {
        panel.leftTicks = panel.rightTicks
      }
      switch panel.content {
      case .waveform, .spectrogram: break
      case .intensity, .sharpness, .audio: panel.valueAxis = PlotAxis(valueRange: 0...1)
      }
      return panel
    }
  }

  /// Returns the figure as text. Each line ends in a line break.
  func text() -> String {
    var figureLines: [String] = []
    for title in [plot.title, plot.factTexts.joined(separator: " · ")] where !title.isEmpty {
      figureLines += wrappedLines(title)
    }
    for panel in terminalPanels {
      figureLines.append("")
      figureLines += headingLines(of: panel)
      for (take, grid) in grids(of: panel) {
        if plot.takes.count > 1 {
          figureLines.append(nameLine(ofTake: take))
        }
        let labels = tickLabels(of: panel, height: grid.rowCount)
        for row in 0..<grid.rowCount {
          let label = terminalStyle.displayable(labels[row] ?? "")
          let edge =
            labels[row] == nil
            ? terminalStyle.leftEdgeCharacters.plain : terminalStyle.leftEdgeCharacters.marked
          let cells = grid.rowText(row, usesColors: terminalStyle.usesColors)
          figureLines.append(rightAligned(label) + " \(edge)" + cells)
        }
      }
    }
    if !plot.plotPanels.isEmpty {
      figureLines += timeAxisLines()
    }
    return figureLines.map { $0.trimmedAtEnd + "\n" }.joined()
  }

  /// Returns the character grids of a panel, one grid per shown take.
  private func grids(of panel: PlotPanel) -> [(take: Int, grid: TerminalGrid)] {
    var usesDots = false
    var shownTakeIndices = Array(plot.takes.indices)
    let singleRowCount: Int
    let overlayRowCount: Int
    switch panel.content {
    case .intensity:
      singleRowCount = 10
      overlayRowCount = 5
    case .sharpness:
      singleRowCount = 4
      overlayRowCount = 3
    case .audio(let take):
      singleRowCount = 2
      overlayRowCount = 2
      shownTakeIndices = [take]
    case .waveform:
      singleRowCount = 7
      overlayRowCount = 5
      usesDots = true
    case .spectrogram(_, let shownTakes):
      singleRowCount = 8
      overlayRowCount = 5
      shownTakeIndices = shownTakes
    }
    let isOverlay = plot.takes.count > 1
    let drawing = PlotPainter.makeDrawing(
      ofPanel: panel, in: plot, columnCount: plotColumnCount,
      rowCount: isOverlay ? overlayRowCount : singleRowCount,
      cell: TerminalWriter.cellSizePixels)
    var takeGrids = shownTakeIndices.map { take in
      TerminalWriter(
        drawing, take: isOverlay ? take : nil, usesDots: usesDots, terminalStyle: terminalStyle
      ).grid
    }
    if usesDots, isOverlay {
      TerminalGrid.colorSharedCells(
        in: &takeGrids, color: PlotPalette(.dark).color(of: .sharedLine))
    }
    return Array(zip(shownTakeIndices, takeGrids))
  }

  /// Returns the line with the letter and the name of a take.
  private func nameLine(ofTake take: Int) -> String {
    let takeLetter = PlotPanel.letter(ofTake: take)
    let takeName = terminalStyle.displayable(plot.takes[take].name).prefix(
      max(0, columnCount - labelColumnCount - 3))
    guard terminalStyle.usesColors else { return rightAligned(takeLetter) + " " + takeName }
    let takeColorIndex = PlotPalette(.dark).color(of: .take(take)).terminalColorIndex
    return String(repeating: " ", count: labelColumnCount - 1)
      + "\u{1B}[38;5;\(takeColorIndex)m\(takeLetter)\u{1B}[0m " + takeName
  }

  private func rightAligned(_ label: String) -> String {
    let truncatedLabel = label.prefix(labelColumnCount)
    return String(repeating: " ", count: labelColumnCount - truncatedLabel.count) + truncatedLabel
  }

  /// Returns the title of a panel with its legend, wrapped to the width of the figure.
  private func headingLines(of panel: PlotPanel) -> [String] {
    let entries = headingEntries(of: panel)
    // Control sequences of colors have no width, so each text has a separate column count.
    var entryTexts = entries.map { (text: terminalStyle.displayable($0), columnCount: $0.count) }
    if panel.legendEntries.contains(.sharpnessScale), terminalStyle.usesColors {
      entryTexts.append(("dull \(sharpnessScale) sharp", 17))
    }
    var outputLines: [String] = []
    var usedColumnCount = self.columnCount
    for (text, columnCount) in entryTexts {
      usedColumnCount += 2 + columnCount
      if usedColumnCount > self.columnCount {
        outputLines.append(text)
        usedColumnCount = columnCount
      } else {
        outputLines[outputLines.count - 1] += "  " + text
      }
    }
    return outputLines
  }

  /// Returns the texts of a panel's heading: its title and its legend entries.
  private func headingEntries(of panel: PlotPanel) -> [String] {
    var entries = [panel.title] + (panel.emptyMessage.map { [$0] } ?? [])
    switch panel.content {
    case .intensity where plot.takes.count == 1 && plot.takes[0].eventPlot != nil:
      entries += [
        "\(terminalStyle.filledHeadCharacter) transient",
        "\(terminalStyle.block(eighths: 8)) continuous",
      ]
      if panel.legendEntries.contains(.intensityCurve) {
        entries.append("\(terminalStyle.curveCharacter) intensity curve")
      }
    case .intensity, .spectrogram:
      if case .spectrogram(let traces, _) = panel.content,
        let maximum = traces.first?.maximumDecibels
      {
        let minimum = maximum - SpectrogramTrace.dynamicRangeDecibels
        let minimumText = AxisTick.text(Double(minimum), decimalPlaces: 0)
        let maximumText = AxisTick.text(Double(maximum), decimalPlaces: 0)
        entries.append("Hz, \(minimumText) to \(maximumText) dBFS")
      }
      if plot.takes.count > 1, !terminalStyle.usesColors {
        entries += [
          "\(terminalStyle.shade(forLevel: 0.3)) in \(plot.takes.count == 2 ? "both" : "all")",
          "\(terminalStyle.shade(forLevel: 1)) more",
        ]
      }
    case .sharpness, .audio, .waveform:
      break
    }
    return entries
  }

  /// The legend of the sharpness scale: six blocks in the colors of sharpness.
  private var sharpnessScale: String {
    var scaleGrid = TerminalGrid(columnCount: 6, rowCount: 1)
    for column in 0..<6 {
      let color = Colormap.sharpness.color(at: Double(column) / 5)
      scaleGrid[0, column] = .init(
        character: terminalStyle.block(eighths: 8), colorIndex: color.terminalColorIndex)
    }
    return String(scaleGrid.rowText(0, usesColors: true).dropLast())
  }

  /// Returns the tick labels by row.
  ///
  /// If two labels fall in one row, the row has the label that is closer to its center.
  private func tickLabels(of panel: PlotPanel, height: Int) -> [Int: String] {
    var labelsByRow: [Int: (distance: Double, label: String)] = [:]
    for tick in panel.leftTicks {
      let position = (1 - panel.valueAxis.fraction(of: tick.axisValue)) * Double(height)
      let row = min(height - 1, max(0, Int(position)))
      let distance = abs(position - Double(row) - 0.5)
      if let existing = labelsByRow[row], existing.distance <= distance { continue }
      labelsByRow[row] = (distance, tick.labelText)
    }
    return labelsByRow.mapValues(\.label)
  }

  /// Returns the line of the time axis and the line of its labels.
  ///
  /// The unit follows the labels or has a line of its own.
  private func timeAxisLines() -> [String] {
    let timeTicks = TimeTicks(in: plot.timeRangeSeconds, atMost: max(2, plotColumnCount / 9))
    var axisCharacters = Array(
      repeating: terminalStyle.timeAxisCharacters.line, count: plotColumnCount)
    var labelCharacters = Array(
      repeating: Character(" "), count: labelColumnCount + 2 + plotColumnCount)
    var firstFreeColumn = 0
    for tick in timeTicks.axisTicks {
      let fraction = PlotAxis(valueRange: plot.timeRangeSeconds).fraction(of: tick.axisValue)
      let column = min(plotColumnCount - 1, Int(fraction * Double(plotColumnCount)))
      axisCharacters[column] = terminalStyle.timeAxisCharacters.tick
      let label = terminalStyle.displayable(tick.labelText)
      let start = min(
        max(0, labelColumnCount + 2 + column - label.count / 2), labelCharacters.count - label.count
      )
      guard start >= firstFreeColumn else { continue }
      for (offset, character) in label.enumerated() {
        labelCharacters[start + offset] = character
      }
      firstFreeColumn = start + label.count + 1
    }
    let unitText = timeTicks.labelUnit
    let indentText = String(repeating: " ", count: labelColumnCount + 1)
    let labelLine = String(labelCharacters).trimmedAtEnd
    let axisLine =
      indentText + String(terminalStyle.timeAxisCharacters.corner) + String(axisCharacters)
    return labelLine.count + 2 + unitText.count <= columnCount
      ? [axisLine, labelLine + "  " + unitText]
      : [axisLine, labelLine, indentText + " " + unitText]
  }

  /// Returns a text wrapped to the width of the figure.
  private func wrappedLines(_ text: String) -> [String] {
    var wrappedLines: [String] = []
    var remainingText = terminalStyle.displayable(text)[...]
    while remainingText.count > columnCount {
      let end =
        remainingText.prefix(columnCount).lastIndex(of: " ")
        ?? remainingText.index(remainingText.startIndex, offsetBy: columnCount)
      wrappedLines.append(String(remainingText[..<end]))
      remainingText = remainingText[end...].drop { $0 == " " }
    }
    return wrappedLines + [String(remainingText)]
  }
}

extension String {
  /// The text with trailing spaces removed.
  fileprivate var trimmedAtEnd: String {
    guard let lastVisibleIndex = lastIndex(where: { $0 != " " }) else { return "" }
    return String(self[...lastVisibleIndex])
  }
}

extension Plot {
  /// Draws the figure with characters, as text. Each line ends in a line break.
  ///
  /// - Parameters:
  ///   - width: The width in columns, clamped to 20…1,000.
  ///   - usesColors: True to allow the control sequences of 256 colors.
  ///   - usesUnicode: True to allow block and braille characters, false for ASCII only.
  public func terminalText(width: Int, usesColors: Bool, usesUnicode: Bool = true) -> String {
    TerminalFigure(
      plot: self, columnCount: min(max(20, width), 1_000),
      terminalStyle: TerminalStyle(usesColors: usesColors, usesUnicode: usesUnicode)
    ).text()
  }
}
