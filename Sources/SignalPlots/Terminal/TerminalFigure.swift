internal import HapticModel

/// Puts a figure together as lines of text: titles, panels with their labels, and the axis of time.
struct TerminalFigure {
  /// The figure.
  let plot: Plot
  /// Columns that may be used.
  let width: Int
  /// What can be shown.
  let style: TerminalStyle

  /// Columns of the labels at the left.
  private var labelWidth: Int {
    let counts = plot.panels.flatMap { labels(of: $0).map(\.label.count) }
    return min(7, max(2, counts.max() ?? 2))
  }

  /// Columns that time has.
  private var timeWidth: Int { max(8, width - labelWidth - 2) }

  /// All lines, each with its line break.
  func text() -> String {
    var lines: [String] = []
    for title in [plot.title, plot.facts.joined(separator: " · ")] where !title.isEmpty { lines += wrapped(title) }
    for panel in plot.panels {
      lines.append("")
      lines += heading(of: panel)
      let sheets = TerminalPanel(style: style, plot: plot, width: timeWidth).sheets(of: panel)
      for (take, sheet) in sheets {
        if plot.takes.count > 1 { lines.append(name(of: take)) }
        let labels = labelRows(of: panel, height: sheet.height)
        for row in 0..<sheet.height {
          let label = style.text(labels[row] ?? "")
          let line = labels[row] == nil ? style.side.plain : style.side.marked
          lines.append(padded(label) + " \(line)" + sheet.text(row: row, colors: style.colors))
        }
      }
    }
    if !plot.panels.isEmpty { lines += timeAxis() }
    return lines.map { $0.trimmedAtEnd + "\n" }.joined()
  }

  /// The letter and the name of a take of an overlay, cut to the width.
  private func name(of take: Int) -> String {
    let letter = PlotPanel.letter(take)
    let name = style.text(plot.takes[take].name).prefix(max(0, width - labelWidth - 3))
    guard style.colors else { return padded(letter) + " " + name }
    let color = PlotPalette(.dark).color(of: .take(take)).terminalIndex
    return String(repeating: " ", count: labelWidth - 1) + "\u{1B}[38;5;\(color)m\(letter)\u{1B}[0m " + name
  }

  private func padded(_ label: String) -> String {
    let cut = label.prefix(labelWidth)
    return String(repeating: " ", count: labelWidth - cut.count) + cut
  }

  /// The caption and what the signs mean.
  private func heading(of panel: PlotPanel) -> [String] {
    // Colours take no columns, so the columns of each part are counted beside it.
    var parts: [(text: String, columns: Int)] = []
    func add(_ text: String) { parts.append((style.text(text), text.count)) }
    add(panel.title)
    if let remark = panel.remark { add(remark) }
    switch panel.content {
    case .strength where plot.takes.count == 1 && plot.takes[0].score != nil:
      add("\(style.head) transient")
      add("\(style.fill(eighths: 8)) continuous")
      if panel.legend.contains(.intensityCurve) { add("\(style.curve) intensity curve") }
      if style.colors { parts.append(("dull \(sharpnessScale) sharp", 17)) }
    case .strength, .spectrogram:
      if case .spectrogram(let traces, _) = panel.content, let highest = traces.first?.highest {
        let lowest = AxisTick.text(Double(highest - SpectrogramTrace.depth), places: 0)
        add("Hz, \(lowest) to \(AxisTick.text(Double(highest), places: 0)) dBFS")
      }
      if plot.takes.count > 1, !style.colors {
        add("\(style.shade(0.3)) in \(plot.takes.count == 2 ? "both" : "all")")
        add("\(style.shade(1)) more")
      }
    case .tone, .audio, .waveform: break
    }
    var lines: [String] = []
    var used = 0
    for part in parts {
      if lines.isEmpty || used + 2 + part.columns > width {
        lines.append(part.text)
        used = part.columns
      } else {
        lines[lines.count - 1] += "  " + part.text
        used += 2 + part.columns
      }
    }
    return lines
  }

  /// The colours of sharpness, in six columns.
  private var sharpnessScale: String {
    var sheet = TerminalSheet(width: 6, height: 1)
    for column in 0..<6 {
      sheet[0, column] = TerminalSheet.Cell(
        character: style.fill(eighths: 8), color: Colormap.sharpness.color(at: Double(column) / 5))
    }
    return sheet.text(row: 0, colors: true)
  }

  /// The labels of a panel's axis at its left; hertz where there are no others.
  private func labels(of panel: PlotPanel) -> [AxisTick] { panel.ticks.isEmpty ? panel.rightTicks : panel.ticks }

  /// The labels by row; of two that share a row, the one nearest to its middle.
  private func labelRows(of panel: PlotPanel, height: Int) -> [Int: String] {
    var rows: [Int: (distance: Double, label: String)] = [:]
    for tick in labels(of: panel) {
      // Other axes have a little space above, which characters have not.
      let axis =
        switch panel.content {
        case .waveform, .spectrogram: panel.axis
        case .strength, .tone, .audio: PlotAxis(range: 0...1)
        }
      let place = (1 - axis.share(of: tick.value)) * Double(height)
      let row = min(height - 1, max(0, Int(place)))
      let distance = abs(place - Double(row) - 0.5)
      if let other = rows[row], other.distance <= distance { continue }
      rows[row] = (distance, tick.label)
    }
    return rows.mapValues(\.label)
  }

  /// The line below all, its labels and its unit.
  private func timeAxis() -> [String] {
    let time = TimeTicks(in: plot.span, atMost: max(2, timeWidth / 9))
    var line = Array(repeating: style.ground.line, count: timeWidth)
    var labels = Array(repeating: Character(" "), count: labelWidth + 2 + timeWidth)
    var free = 0
    for tick in time.ticks {
      let share = (tick.value - plot.span.lowerBound) / (plot.span.upperBound - plot.span.lowerBound)
      let column = min(timeWidth - 1, Int(share * Double(timeWidth)))
      line[column] = style.ground.tick
      let label = style.text(tick.label)
      let start = min(max(0, labelWidth + 2 + column - label.count / 2), labels.count - label.count)
      guard start >= free else { continue }
      for (offset, character) in label.enumerated() { labels[start + offset] = character }
      free = start + label.count + 1
    }
    let unit = time.unit
    let indent = String(repeating: " ", count: labelWidth + 1)
    let below = String(labels).trimmedAtEnd
    let axis = indent + String(style.ground.corner) + String(line)
    return below.count + 2 + unit.count <= width ? [axis, below + "  " + unit] : [axis, below, indent + " " + unit]
  }

  private func wrapped(_ text: String) -> [String] {
    var lines: [String] = []
    var rest = style.text(text)[...]
    while rest.count > width {
      let end = rest.prefix(width).lastIndex(of: " ") ?? rest.index(rest.startIndex, offsetBy: width)
      lines.append(String(rest[..<end]))
      rest = rest[end...].drop { $0 == " " }
    }
    return lines + [String(rest)]
  }
}

extension String {
  /// The text without the blanks at its end.
  fileprivate var trimmedAtEnd: String {
    guard let last = lastIndex(where: { $0 != " " }) else { return "" }
    return String(self[...last])
  }
}

extension Plot {
  /// The figure drawn with characters; each line ends in a line break.
  ///
  /// - Parameters:
  ///   - width: Columns that may be used, at least 20.
  ///   - colors: Whether sequences for 256 colours may be used.
  ///   - unicode: Whether block and braille characters may be used, or ASCII only.
  public func terminalText(width: Int, colors: Bool, unicode: Bool = true) -> String {
    TerminalFigure(
      plot: self, width: min(max(20, width), 1_000), style: TerminalStyle(colors: colors, unicode: unicode)
    ).text()
  }
}
