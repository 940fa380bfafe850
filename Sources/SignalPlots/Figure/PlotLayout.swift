internal import Glibc

/// Where everything in a picture of some width lies: plain arithmetic, the same with every font.
struct PlotLayout: Equatable, Sendable {
  /// Where one panel lies.
  struct Panel: Equatable, Sendable {
    /// The place of the caption's base line.
    var caption: PlotPoint
    /// Where each entry of the legend begins, on its base line.
    var legend: [PlotPoint]
    /// What is drawn in.
    var box: PlotBox
  }

  /// The width in pixels.
  let width: Double
  /// The height in pixels.
  private(set) var height = 0.0
  /// The size of text in pixels.
  let textSize: Double
  /// The size of the title's text in pixels.
  let titleSize: Double
  /// The distance of text from the edge.
  let margin: Double
  /// The left edge of every panel's box.
  let boxLeft: Double
  /// The right edge of every panel's box.
  let boxRight: Double
  /// The place of the axis's first second.
  let timeLeft: Double
  /// The place of the axis's last second.
  let timeRight: Double
  /// The place of the title's base line.
  let title: PlotPoint
  /// The lines of the subtitle.
  let subtitle: [String]
  /// The place of the subtitle's first base line.
  let subtitlePlace: PlotPoint
  /// Where each panel lies, from above.
  private(set) var panels: [Panel] = []
  /// The labels of the axis of time.
  let time: TimeTicks
  /// Whether axes at the right have space for their labels.
  let showsRightAxes: Bool
  /// The seconds of the axis.
  private let span: ClosedRange<Double>

  /// The width of a letter as a share of the text's size, rather too much for any common font.
  static let letter = 0.6
  /// The size of text in pixels up to a width of 900 pixels.
  static let smallestText = 12.0

  init(_ plot: Plot, width: Int) {
    let width = Double(min(max(width, Plot.widths.lowerBound), Plot.widths.upperBound))
    self.width = width
    // Wider pictures are looked at from farther away, or made smaller.
    let em = Self.smallestText * max(1, pow(width / 900, 0.6))
    textSize = em
    titleSize = 1.25 * em
    margin = em
    span = plot.span
    showsRightAxes = width >= 40 * em && plot.panels.contains { !$0.rightTicks.isEmpty }
    let labels = plot.panels.flatMap { panel in
      (panel.ownTicks ?? panel.axis.ticks(atMost: 9)).map(\.label.count)
    }
    boxLeft = (margin + Double(max(2, labels.max() ?? 0)) * Self.letter * em + 0.6 * em).rounded()
    let rightLabels = plot.panels.flatMap { $0.rightTicks.map(\.label.count) }.max() ?? 0
    boxRight =
      (width - margin
      - (showsRightAxes ? Double(rightLabels) * Self.letter * em + 0.6 * em : 0)).rounded()
    timeLeft = boxLeft + (0.7 * em).rounded()
    timeRight = boxRight - (0.7 * em).rounded()
    title = PlotPoint(margin, margin + titleSize)
    subtitle = Self.lines(of: plot.subtitle, most: Int((width - 2 * em) / (Self.letter * em)))
    subtitlePlace = PlotPoint(margin, title.y + 1.5 * em)
    time = TimeTicks(in: plot.span, atMost: max(2, Int((timeRight - timeLeft) / (5 * em))))
    let last = subtitlePlace.y + 1.4 * em * Double(subtitle.count - 1)
    var top = plot.title.isEmpty && plot.subtitle.isEmpty ? 0.4 * em : last
    for panel in plot.panels {
      let place = place(panel, below: top)
      panels.append(place)
      top = place.box.bottom + 0.3 * em
    }
    height = (top + 3.9 * em).rounded()
  }

  /// The place of a second.
  func x(_ seconds: Double) -> Double {
    timeLeft + (timeRight - timeLeft) * (seconds - span.lowerBound)
      / (span.upperBound - span.lowerBound)
  }

  /// The second at a place.
  func seconds(at x: Double) -> Double {
    span.lowerBound + (span.upperBound - span.lowerBound) * (x - timeLeft) / (timeRight - timeLeft)
  }

  /// The height of a value in a panel.
  func y(_ value: Double, on axis: PlotAxis, in box: PlotBox) -> Double {
    box.bottom - box.height * axis.share(of: value)
  }

  /// A text cut to a width in pixels, with an ellipsis where something is missing.
  func fitted(_ text: String, size: Double, to width: Double, isBold: Bool = false) -> String {
    let most = Int(width / (size * (isBold ? Self.letter * 1.12 : Self.letter)))
    return text.count <= most ? text : text.prefix(max(0, most - 1)) + "…"
  }

  /// A text broken at its dots into lines of at most so many letters, where it can be.
  private static func lines(of text: String, most: Int) -> [String] {
    var lines: [String] = []
    for part in text.split(separator: " · ") {
      if let last = lines.last, last.count + 3 + part.count <= most {
        lines[lines.count - 1] = last + " · " + part
      } else {
        lines.append(String(part))
      }
    }
    return lines
  }

  private func place(_ panel: PlotPanel, below top: Double) -> Panel {
    let em = textSize
    let caption = PlotPoint(boxLeft, (top + 1.9 * em).rounded())
    let widths = panel.legend.map { $0.width(textSize: em) }
    let captionEnd = boxLeft + Double(panel.caption.count) * Self.letter * 1.1 * em + 1.5 * em
    var legend: [PlotPoint] = []
    var baseline = caption.y
    let whole = widths.reduce(0, +)
    if captionEnd + whole <= boxRight {
      var x = boxRight - whole
      for width in widths {
        legend.append(PlotPoint(x, baseline))
        x += width
      }
    } else {
      var x = boxRight
      for width in widths {
        if x > boxLeft, x + width > boxRight + em {
          x = boxLeft
          baseline += (1.5 * em).rounded()
        }
        legend.append(PlotPoint(x, baseline))
        x += width
      }
    }
    let boxTop = (baseline + 0.7 * em).rounded()
    return Panel(
      caption: caption, legend: legend,
      box: PlotBox(
        left: boxLeft, top: boxTop, right: boxRight, bottom: (boxTop + panel.lines * em).rounded()))
  }
}

extension PlotPanel.LegendEntry {
  /// What is written.
  var text: String {
    switch self {
    case .sharpness: "sharpness"
    case .intensityControl: "intensity control"
    case .sharpnessControl: "sharpness control, −1 to +1"
    case .first(let name), .second(let name), .band(let name): name
    case .effective: "RMS"
    case .decibels: "dBFS"
    }
  }

  /// The width of the sign before or behind the text, in sizes of text.
  var signWidth: Double {
    switch self {
    case .sharpness: 7.2
    case .decibels: 10
    default: 2.2
    }
  }

  /// The width of the whole entry with the gap behind it, in pixels.
  func width(textSize em: Double) -> Double {
    (signWidth + Double(text.count) * PlotLayout.letter + 1.2) * em
  }
}

/// A place in a picture, in pixels from the top left.
struct PlotPoint: Equatable, Sendable {
  /// Pixels to the right.
  var x: Double
  /// Pixels down.
  var y: Double

  /// Makes a place.
  init(_ x: Double, _ y: Double) { (self.x, self.y) = (x, y) }
}

/// A rectangle in a picture, in pixels from the top left.
struct PlotBox: Equatable, Sendable {
  /// The left edge.
  var left: Double
  /// The upper edge.
  var top: Double
  /// The right edge.
  var right: Double
  /// The lower edge.
  var bottom: Double

  /// Pixels from left to right.
  var width: Double { right - left }
  /// Pixels from top to bottom.
  var height: Double { bottom - top }

  /// The rectangle made smaller by so many pixels on each side.
  func inset(_ pixels: Double) -> PlotBox {
    PlotBox(left: left + pixels, top: top + pixels, right: right - pixels, bottom: bottom - pixels)
  }
}
