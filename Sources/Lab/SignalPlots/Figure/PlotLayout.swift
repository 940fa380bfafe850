internal import CMath

/// Where everything in a picture of some width is: plain arithmetic, the same with every font.
struct PlotLayout: Equatable, Sendable {
  struct Panel: Equatable, Sendable {
    var titlePosition: PlotPoint
    /// Whether what its numbers mean stands behind the title.
    var showsUnit: Bool
    var legendPositions: [PlotPoint]
    var box: PlotBox
  }

  struct TextLine: Equatable, Sendable {
    var text: String
    var position: PlotPoint
    var anchor = PlotDrawing.Anchor.start
  }

  /// Pixels.
  let width: Double
  private(set) var height = 0.0
  /// How much larger everything is than at a width of 900 pixels.
  let scale: Double
  let left, right: Double
  /// The title; of an overlay, the names of its takes.
  private(set) var title: TextLine?
  private(set) var takeNames: [TextLine] = []
  private(set) var factLines: [TextLine] = []
  private(set) var panels: [Panel] = []
  let timeTicks: TimeTicks
  let showsRightTicks: Bool
  let isTerminal: Bool
  private let timeRange: ClosedRange<Double>

  /// The sizes of a figure's title, of a panel's title and of labels.
  static let titleFontSize = 16.0
  static let panelTitleFontSize = 12.0
  static let labelFontSize = 11.0
  /// Pixels of a picture below which gutters are narrow.
  private static let narrowWidth = 520.0
  /// Pixels of a legend's sign.
  static let legendSymbolWidth = 26.0

  init(_ plot: Plot, width: Int) {
    let width = Double(
      min(max(width, Plot.allowedWidths.lowerBound), Plot.allowedWidths.upperBound))
    self.width = width
    isTerminal = false
    // Wider pictures are looked at from farther away, or made smaller.
    scale = max(1, pow(width / 900, 0.6))
    timeRange = plot.timeRange
    let isNarrow = width < Self.narrowWidth * scale
    showsRightTicks = plot.panels.contains { !$0.rightTicks.isEmpty } && width >= 280
    let labels = plot.panels.flatMap { $0.ticks.map { TextWidth.inEms($0.label) } }.max() ?? 0
    let room = labels * Self.labelFontSize + 14
    left = (max(isNarrow ? 30 : 58, room) * scale).rounded()
    right = (width - (showsRightTicks ? (isNarrow ? 52 : 66) : 30) * scale).rounded()
    timeTicks = TimeTicks(
      in: plot.timeRange, atMost: max(2, Int((right - left) / ((isNarrow ? 44 : 52) * scale))))
    var top = layOutHeader(of: plot)
    for panel in plot.panels {
      let place = makePanel(for: panel, below: top)
      panels.append(place)
      top = place.box.bottom
    }
    height = (top + 40 * scale).rounded()
  }

  /// One box of cells of characters, without labels; a cell is as wide as the scale.
  init(columnCount cells: Int, columnWidth scale: Double, timeRange span: ClosedRange<Double>) {
    width = Double(cells) * scale
    right = width
    self.scale = scale
    left = 0
    isTerminal = true
    showsRightTicks = false
    timeTicks = TimeTicks(in: span, atMost: 2)
    self.timeRange = span
  }

  func x(atTime seconds: Double) -> Double {
    left + (right - left) * (seconds - timeRange.lowerBound)
      / (timeRange.upperBound - timeRange.lowerBound)
  }

  func time(atX x: Double) -> Double {
    timeRange.lowerBound + (timeRange.upperBound - timeRange.lowerBound) * (x - left)
      / (right - left)
  }

  func y(of value: Double, on axis: PlotAxis, in box: PlotBox) -> Double {
    box.bottom - box.height * axis.fraction(of: value)
  }

  /// A text cut to a width in pixels, with an ellipsis where something is missing; of a path the
  /// end is kept.
  func truncated(_ text: String, fontSize size: Double, width room: Double, isBold: Bool = false)
    -> String
  {
    guard width(of: text, fontSize: size, isBold: isBold) > room else { return text }
    let isPath = text.contains("/")
    var kept = text[...]
    while !kept.isEmpty, width(of: kept + "…", fontSize: size, isBold: isBold) > room {
      kept = isPath ? kept.dropFirst() : kept.dropLast()
    }
    return isPath ? "…" + kept : kept + "…"
  }

  func width(of text: String, fontSize size: Double, isBold: Bool = false) -> Double {
    TextWidth.inEms(text) * size * scale * (isBold ? 1.08 : 1)
  }

  /// Places the title and the facts, on one line where they fit, and returns where they end.
  private mutating func layOutHeader(of plot: Plot) -> Double {
    let room = right - left
    var y = 32 * scale
    var end = left
    if plot.takes.count > 1 {
      end = layOutTakeNames(plot.takes.map(\.name), y: &y)
    } else if !plot.title.isEmpty {
      let text = truncated(plot.title, fontSize: Self.titleFontSize, width: room, isBold: true)
      title = TextLine(text: text, position: PlotPoint(left, y.rounded()))
      end = left + width(of: text, fontSize: Self.titleFontSize, isBold: true)
    }
    let line = plot.facts.joined(separator: " · ")
    if end + 20 * scale + width(of: line, fontSize: Self.labelFontSize) <= right {
      factLines = [TextLine(text: line, position: PlotPoint(right, y.rounded()), anchor: .end)]
      return y
    }
    for text in wrappedLines(plot.facts, width: room) {
      y += 18 * scale
      let fitted = truncated(text, fontSize: Self.labelFontSize, width: room)
      factLines.append(TextLine(text: fitted, position: PlotPoint(left, y.rounded())))
    }
    return y
  }

  /// Places the names of the takes of an overlay in lines, and returns where the last one ends.
  private mutating func layOutTakeNames(_ names: [String], y: inout Double) -> Double {
    var x = left
    let sign = (Self.legendSymbolWidth + 24) * scale
    for name in names {
      let text = truncated(name, fontSize: Self.panelTitleFontSize, width: right - left - sign)
      let total = sign + width(of: text, fontSize: Self.panelTitleFontSize)
      if x > left, x + total > right {
        x = left
        y += 20 * scale
      }
      takeNames.append(TextLine(text: text, position: PlotPoint(x, y.rounded())))
      x += total + 16 * scale
    }
    return x
  }

  /// Parts in lines of at most a width, where that can be.
  private func wrappedLines(_ parts: [String], width room: Double) -> [String] {
    parts.reduce(into: [String]()) { lines, part in
      if let longer = lines.last.map({ $0 + " · " + part }),
        width(of: longer, fontSize: Self.labelFontSize) <= room
      {
        lines[lines.count - 1] = longer
      } else {
        lines.append(part)
      }
    }
  }

  private func makePanel(for panel: PlotPanel, below top: Double) -> Panel {
    let isFirst = panels.isEmpty
    let title = PlotPoint(left, (top + (isFirst ? 36 : 28) * scale).rounded())
    let titleEnd = left + width(of: panel.title, fontSize: Self.panelTitleFontSize, isBold: true)
    let unitEnd =
      panel.unit.isEmpty
      ? titleEnd : titleEnd + 8 * scale + width(of: panel.unit, fontSize: Self.labelFontSize)
    let widths = panel.legend.map { legendWidth(of: $0) }
    let total = widths.reduce(0, +) + 16 * scale * Double(max(0, widths.count - 1))
    var legend: [PlotPoint] = []
    var baseline = title.y
    let isBeside = widths.isEmpty || titleEnd + 16 * scale + total <= right
    var x = isBeside ? right - total : left
    if !isBeside {
      baseline += (18 * scale).rounded()
    }
    for width in widths {
      if !isBeside, x > left, x + width > right {
        x = left
        baseline += (18 * scale).rounded()
      }
      legend.append(PlotPoint(x, baseline))
      x += width + 16 * scale
    }
    let boxTop = (baseline + 10 * scale).rounded()
    return Panel(
      titlePosition: title,
      showsUnit: unitEnd + (isBeside && total > 0 ? 16 * scale + total : 0) <= right,
      legendPositions: legend,
      box: PlotBox(
        left: left, top: boxTop, right: right, bottom: (boxTop + panel.height * scale).rounded()))
  }

  private func legendWidth(of entry: PlotPanel.LegendEntry) -> Double {
    let texts = entry.labels.reduce(0) { $0 + width(of: $1, fontSize: Self.labelFontSize) }
    let sign =
      switch entry {
      case .sharpnessScale: 84.0 + 12
      case .levelScale: 62.0 + 12
      case .analysisWindow(let seconds):
        max(4, x(atTime: timeRange.lowerBound + seconds) - left) / scale + 6
      default: Self.legendSymbolWidth + 6
      }
    return texts + sign * scale
  }
}

extension PlotPanel.LegendEntry {
  var labels: [String] {
    switch self {
    case .sharpnessScale:
      ["dull", "sharp"]
    case .intensityCurve:
      ["intensity curve"]
    case .peak:
      ["peak"]
    case .rms:
      ["RMS"]
    case .analysisWindow(let seconds):
      ["window \(AxisTick.text(seconds * 1_000, decimalPlaces: 0)) ms"]
    case .profileBand(let name):
      ["band of \(name)"]
    case .levelScale(let low, let high):
      [
        AxisTick.text(Double(low), decimalPlaces: 0),
        AxisTick.text(Double(high), decimalPlaces: 0) + " dBFS",
      ]
    }
  }
}

/// About how wide text is in common fonts, which need not be there.
enum TextWidth {
  /// The width as a multiple of the size: that of Arial and its likes, by classes of letters.
  static func inEms(_ text: String) -> Double {
    text.unicodeScalars.reduce(0) { $0 + emWidth(of: $1) }
  }

  private static func emWidth(of scalar: Unicode.Scalar) -> Double {
    switch scalar {
    case "i", "j", "l", "t", "f", "I", "r", ".", ",", ":", ";", "·", "'", "|", " ", "/", "-", "(",
      ")":
      0.3
    case "m", "w", "M", "W", "%", "@", "…":
      0.9
    case "A"..."Z":
      0.7
    case "\u{20}"..."\u{2FF}", "–", "−":
      0.56
    default:
      1
    }
  }
}

/// An axis that goes up: its range, its ticks, and the position of values along it.
struct PlotAxis: Equatable, Sendable {
  var range: ClosedRange<Double>
  /// Whether equal factors are equal lengths; the range is then above 0.
  var isLogarithmic = false

  /// How far up a value lies, 0…1 within the range and beyond it outside.
  func fraction(of value: Double) -> Double {
    if isLogarithmic {
      return log(max(value, 1e-9) / range.lowerBound) / log(range.upperBound / range.lowerBound)
    }
    return (value - range.lowerBound) / (range.upperBound - range.lowerBound)
  }

  func value(atFraction share: Double) -> Double {
    isLogarithmic
      ? range.lowerBound * pow(range.upperBound / range.lowerBound, share)
      : range.lowerBound + (range.upperBound - range.lowerBound) * share
  }

  func ticks(atMost count: Int) -> [AxisTick] {
    guard isLogarithmic else { return AxisTick.roundTicks(in: range, atMost: count) }
    // Of the values of one, two or three in each decade, the most that fit.
    return [[1.0, 2, 5], [1, 3], [1]].lazy.map { factors in
      ticks(at: (0...5).flatMap { decade in factors.map { $0 * pow(10, Double(decade)) } })
    }.first { $0.count <= count && !$0.isEmpty } ?? []
  }

  /// The octaves of 25 Hz in the range.
  var octaveTicks: [AxisTick] { ticks(at: (0...7).map { 25 * pow(2, Double($0)) }) }

  private func ticks(at values: [Double]) -> [AxisTick] {
    values.filter { range.contains($0) }.map { AxisTick($0, AxisTick.text($0, decimalPlaces: 0)) }
  }
}

/// A place on an axis that has a label.
public struct AxisTick: Equatable, Sendable {
  /// The value, in the axis's unit.
  public let value: Double
  /// What is written there.
  public let label: String

  /// Makes a tick.
  public init(_ value: Double, _ label: String) {
    self.value = value
    self.label = label
  }

  /// Round values in a range, 1, 2 or 5 times a power of ten apart, and no more than a number of
  /// them.
  public static func roundTicks(in range: ClosedRange<Double>, atMost count: Int) -> [AxisTick] {
    let length = range.upperBound - range.lowerBound
    guard length > 0, length.isFinite, count > 0 else { return [] }
    let step = roundStep(for: length, atMost: count)
    return multiples(of: step, in: range).map { AxisTick($0, text($0, step: step)) }
  }

  static func roundStep(for length: Double, atMost count: Int) -> Double {
    let least = length / Double(max(1, count))
    let decade = pow(10, log10(least).rounded(.down))
    // A hair's breadth too small is exact enough, since powers of ten are not exact.
    for factor in [1.0, 2, 5, 10] where factor * decade >= least * (1 - 1e-9) {
      return factor * decade
    }
    return 10 * decade
  }

  /// All multiples of a step in a range, without the rounding errors of adding it up.
  static func multiples(of step: Double, in range: ClosedRange<Double>) -> [Double] {
    let slack = step * 1e-6
    let first = ((range.lowerBound - slack) / step).rounded(.up)
    let last = ((range.upperBound + slack) / step).rounded(.down)
    guard first <= last, last - first < 10_000 else { return [] }
    return (0...Int(last - first)).map { (first + Double($0)) * step + 0 }
  }

  static func text(_ value: Double, step: Double) -> String {
    let places = step >= 1 ? 0 : Int((-log10(step) - 1e-9).rounded(.up))
    return shortText(value, decimalPlaces: min(places, 9))
  }

  static func shortText(_ value: Double, decimalPlaces places: Int) -> String {
    var text = text(value, decimalPlaces: places)
    guard text.contains(".") else { return text }
    while text.hasSuffix("0") {
      text.removeLast()
    }
    return text.hasSuffix(".") ? String(text.dropLast()) : text
  }

  /// A value with so many decimal places; a minus is a minus sign.
  static func text(_ value: Double, decimalPlaces places: Int) -> String {
    let scale = pow(10, Double(places))
    let scaled = (abs(value) * scale).rounded()
    guard scaled < 1e15 else { return "\(value)" }
    let digits = String(Int(scaled))
    let sign = value < 0 && scaled > 0 ? "\u{2212}" : ""
    guard places > 0 else { return sign + digits }
    let padded = String(repeating: "0", count: max(0, places + 1 - digits.utf8.count)) + digits
    return sign + padded.dropLast(places) + "." + padded.suffix(places)
  }
}

/// The labels of a time axis, and the unit that they are in.
public struct TimeTicks: Equatable, Sendable {
  /// The ticks; values are seconds.
  public let ticks: [AxisTick]
  /// The unit of the labels: `s`, `ms`, or `min` for minutes and seconds.
  public let unit: String

  /// Seconds from which labels are minutes.
  static let minimumSecondsForMinutes = 120.0
  /// Seconds up to which labels are milliseconds.
  static let maximumSecondsForMilliseconds = 0.2
  /// Round steps of clocks, in seconds.
  private static let clockSteps: [Double] = [
    10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 10_800, 21_600, 43_200, 86_400,
  ]

  /// Labels for a range of seconds, no more than a number of them.
  public init(in range: ClosedRange<Double>, atMost count: Int) {
    let length = range.upperBound - range.lowerBound
    if length >= Self.minimumSecondsForMinutes {
      let least = length / Double(max(1, count))
      let step =
        Self.clockSteps.first { $0 >= least * (1 - 1e-9) }
        ?? AxisTick.roundStep(for: length, atMost: count)
      unit = "min"
      ticks = AxisTick.multiples(of: step, in: range).map { AxisTick($0, Self.clockText($0)) }
    } else if length <= Self.maximumSecondsForMilliseconds {
      let step = AxisTick.roundStep(for: length * 1_000, atMost: count)
      let inside = range.lowerBound * 1_000...range.upperBound * 1_000
      unit = "ms"
      ticks = AxisTick.multiples(of: step, in: inside).map {
        AxisTick($0 / 1_000, AxisTick.text($0, step: step))
      }
    } else {
      unit = "s"
      ticks = AxisTick.roundTicks(in: range, atMost: count)
    }
  }

  /// Whole seconds as `2:05`, or `1:02:05` from an hour on.
  static func clockText(_ seconds: Double) -> String {
    let total = Int(seconds.rounded())
    func two(_ value: Int) -> String { value < 10 ? "0\(value)" : "\(value)" }
    let minutes = total / 60
    let seconds = total % 60
    return minutes < 60
      ? "\(minutes):\(two(seconds))" : "\(minutes / 60):\(two(minutes % 60)):\(two(seconds))"
  }
}
