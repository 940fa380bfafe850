internal import CMath

/// Where everything in a picture of some width is: plain arithmetic, the same with every font.
struct PlotLayout: Equatable, Sendable {
  /// Where one panel is.
  struct Panel: Equatable, Sendable {
    /// The place of the title's base line.
    var title: PlotPoint
    /// Whether what its numbers mean stands behind the title.
    var showsUnit: Bool
    /// Where each entry of the legend starts, on its base line.
    var legend: [PlotPoint]
    /// What is drawn in.
    var box: PlotBox
  }

  /// A line of text in the head of the picture.
  struct HeadLine: Equatable, Sendable {
    /// The text.
    var text: String
    /// Where it stands.
    var place: PlotPoint
    /// What of it stands there.
    var anchor: PlotDrawing.Anchor
  }

  /// The name of a take of an overlay.
  struct TakeName: Equatable, Sendable {
    /// The number of the take.
    var index: Int
    /// The name, cut where it is too long.
    var text: String
    /// Where its sign starts, on its base line.
    var place: PlotPoint
  }

  /// The width in pixels.
  let width: Double
  /// The height in pixels.
  private(set) var height = 0.0
  /// How much larger everything is than at a width of 900 pixels.
  let scale: Double
  /// The left edge of every panel's box, where the axis of time starts.
  let left: Double
  /// The right edge of every panel's box.
  let right: Double
  /// The title; of an overlay, the names of its takes.
  private(set) var title: HeadLine?
  /// The names of the takes of an overlay.
  private(set) var takes: [TakeName] = []
  /// Length, contents and profile.
  private(set) var facts: [HeadLine] = []
  /// Where each panel is, from above.
  private(set) var panels: [Panel] = []
  /// The labels of the axis of time.
  let time: TimeTicks
  /// Whether there is space for labels at the right.
  let showsRightTicks: Bool
  private let span: ClosedRange<Double>

  /// The size of a figure's title.
  static let titleSize = 16.0
  /// The size of a panel's title.
  static let panelSize = 12.0
  /// The size of labels.
  static let labelSize = 11.0
  /// Pixels of a picture below which gutters are narrow.
  private static let narrow = 520.0
  /// Pixels of a legend's sign.
  static let signWidth = 26.0

  init(_ plot: Plot, width: Int) {
    let width = Double(min(max(width, Plot.widths.lowerBound), Plot.widths.upperBound))
    self.width = width
    // Wider pictures are looked at from farther away, or made smaller.
    scale = max(1, pow(width / 900, 0.6))
    span = plot.span
    let isNarrow = width < Self.narrow * scale
    showsRightTicks = plot.panels.contains { !$0.rightTicks.isEmpty } && width >= 280
    let labels = plot.panels.flatMap { $0.ticks.map { TextWidth.of($0.label) } }.max() ?? 0
    let room = labels * Self.labelSize + 14
    left = (max(isNarrow ? 30 : 58, room) * scale).rounded()
    right = (width - (showsRightTicks ? (isNarrow ? 52 : 66) : 30) * scale).rounded()
    time = TimeTicks(in: plot.span, atMost: max(2, Int((right - left) / ((isNarrow ? 44 : 52) * scale))))
    var top = placeHead(plot)
    for panel in plot.panels {
      let place = place(panel, below: top)
      panels.append(place)
      top = place.box.bottom
    }
    height = (top + 40 * scale).rounded()
  }

  /// The place of a second.
  func x(_ seconds: Double) -> Double {
    left + (right - left) * (seconds - span.lowerBound) / (span.upperBound - span.lowerBound)
  }

  /// The second at a place.
  func seconds(at x: Double) -> Double {
    span.lowerBound + (span.upperBound - span.lowerBound) * (x - left) / (right - left)
  }

  /// The height of a value in a panel.
  func y(_ value: Double, on axis: PlotAxis, in box: PlotBox) -> Double {
    box.bottom - box.height * axis.share(of: value)
  }

  /// A text cut to a width in pixels, with an ellipsis where something is missing; of a path the end
  /// is kept.
  func fitted(_ text: String, size: Double, to room: Double, isBold: Bool = false) -> String {
    guard width(of: text, size: size, isBold: isBold) > room else { return text }
    let isPath = text.contains("/")
    var kept = text[...]
    while !kept.isEmpty, width(of: kept + "…", size: size, isBold: isBold) > room {
      kept = isPath ? kept.dropFirst() : kept.dropLast()
    }
    return isPath ? "…" + kept : kept + "…"
  }

  /// About how wide a text is.
  func width(of text: String, size: Double, isBold: Bool = false) -> Double {
    TextWidth.of(text) * size * scale * (isBold ? 1.08 : 1)
  }

  // MARK: Head

  /// Places the title and the facts, on one line where they fit, and returns where they end.
  private mutating func placeHead(_ plot: Plot) -> Double {
    let room = right - left
    var y = 32 * scale
    var end = left
    if plot.takes.count > 1 {
      end = placeNames(plot.takes.map(\.name), y: &y)
    } else if !plot.title.isEmpty {
      let text = fitted(plot.title, size: Self.titleSize, to: room, isBold: true)
      title = HeadLine(text: text, place: PlotPoint(left, y.rounded()), anchor: .start)
      end = left + width(of: text, size: Self.titleSize, isBold: true)
    }
    let line = plot.facts.joined(separator: " · ")
    if end + 20 * scale + width(of: line, size: Self.labelSize) <= right {
      facts = [HeadLine(text: line, place: PlotPoint(right, y.rounded()), anchor: .end)]
      return y
    }
    for text in lines(plot.facts, to: room) {
      y += 18 * scale
      facts.append(
        HeadLine(
          text: fitted(text, size: Self.labelSize, to: room), place: PlotPoint(left, y.rounded()), anchor: .start))
    }
    return y
  }

  /// Places the names of the takes of an overlay in lines, and returns where the last one ends.
  private mutating func placeNames(_ names: [String], y: inout Double) -> Double {
    var x = left
    for (index, name) in names.enumerated() {
      let sign = (Self.signWidth + 24) * scale
      let text = fitted(name, size: Self.panelSize, to: right - left - sign)
      let whole = sign + width(of: text, size: Self.panelSize)
      if x > left, x + whole > right {
        x = left
        y += 20 * scale
      }
      takes.append(TakeName(index: index, text: text, place: PlotPoint(x, y.rounded())))
      x += whole + 16 * scale
    }
    return x
  }

  /// Parts in lines of at most a width, where that can be.
  private func lines(_ parts: [String], to room: Double) -> [String] {
    parts.reduce(into: [String]()) { lines, part in
      let longer = lines.last.map { $0 + " · " + part }
      if let longer, width(of: longer, size: Self.labelSize) <= room {
        lines[lines.count - 1] = longer
      } else {
        lines.append(part)
      }
    }
  }

  // MARK: Panels

  private func place(_ panel: PlotPanel, below top: Double) -> Panel {
    let isFirst = panels.isEmpty
    let title = PlotPoint(left, (top + (isFirst ? 36 : 28) * scale).rounded())
    let titleEnd = left + width(of: panel.title, size: Self.panelSize, isBold: true)
    let unitEnd = panel.unit.isEmpty ? titleEnd : titleEnd + 8 * scale + width(of: panel.unit, size: Self.labelSize)
    let widths = panel.legend.map { legendWidth($0) }
    let whole = widths.reduce(0, +) + 16 * scale * Double(max(0, widths.count - 1))
    var legend: [PlotPoint] = []
    var baseline = title.y
    let isBeside = titleEnd + 16 * scale + whole <= right
    var x = isBeside ? right - whole : left
    if !isBeside { baseline += (18 * scale).rounded() }
    for width in widths {
      if !isBeside, x > left, x + width > right {
        x = left
        baseline += (18 * scale).rounded()
      }
      legend.append(PlotPoint(x, baseline))
      x += width + 16 * scale
    }
    if widths.isEmpty { baseline = title.y }
    let boxTop = (baseline + 10 * scale).rounded()
    return Panel(
      title: title, showsUnit: unitEnd + (isBeside && whole > 0 ? 16 * scale + whole : 0) <= right, legend: legend,
      box: PlotBox(left: left, top: boxTop, right: right, bottom: (boxTop + panel.height * scale).rounded()))
  }

  /// The width of an entry of a legend with its sign.
  private func legendWidth(_ entry: PlotPanel.LegendEntry) -> Double {
    let texts = entry.texts.reduce(0) { $0 + width(of: $1, size: Self.labelSize) }
    let sign: Double
    switch entry {
    case .sharpness: sign = 84 + 12
    case .decibels: sign = 62 + 12
    case .window(let seconds): sign = max(4, x(span.lowerBound + seconds) - left) / scale + 6
    default: sign = Self.signWidth + 6
    }
    return texts + sign * scale
  }
}

extension PlotPanel.LegendEntry {
  /// What is written, from left to right.
  var texts: [String] {
    switch self {
    case .sharpness: ["dull", "sharp"]
    case .intensityCurve: ["intensity curve"]
    case .signal(let isLine): [isLine ? "samples" : "peak"]
    case .effective: ["RMS"]
    case .window(let seconds): ["window \(AxisTick.text(seconds * 1_000, places: 0)) ms"]
    case .band(let name): ["band of \(name)"]
    case .decibels(let low, let high):
      [AxisTick.text(Double(low), places: 0), AxisTick.text(Double(high), places: 0) + " dBFS"]
    }
  }
}

/// About how wide text is in common fonts, which need not be there.
enum TextWidth {
  /// The width as a multiple of the size: that of Arial and its likes, by classes of letters.
  static func of(_ text: String) -> Double { text.unicodeScalars.reduce(0) { $0 + width(of: $1) } }

  private static func width(of scalar: Unicode.Scalar) -> Double {
    switch scalar {
    case "i", "j", "l", "t", "f", "I", "r", ".", ",", ":", ";", "·", "'", "|", " ", "/", "-", "(", ")": 0.3
    case "m", "w", "M", "W", "%", "@", "…": 0.9
    case "A"..."Z": 0.7
    case "\u{20}"..."\u{2FF}", "–", "−": 0.56
    default: 1
    }
  }
}
