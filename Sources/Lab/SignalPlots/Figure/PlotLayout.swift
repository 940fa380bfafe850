internal import CMath

/// Where everything in a picture of some width is: plain arithmetic, the same with every font.
struct PlotLayout: Equatable, Sendable {
  struct Panel: Equatable, Sendable {
    var title: PlotPoint
    /// Whether what its numbers mean stands behind the title.
    var showsUnit: Bool
    var legend: [PlotPoint]
    var box: PlotBox
  }

  struct HeadLine: Equatable, Sendable {
    var text: String
    var place: PlotPoint
    var anchor = PlotDrawing.Anchor.start
  }

  /// Pixels.
  let width: Double
  private(set) var height = 0.0
  /// How much larger everything is than at a width of 900 pixels.
  let scale: Double
  let left, right: Double
  /// The title; of an overlay, the names of its takes.
  private(set) var title: HeadLine?
  private(set) var takes: [HeadLine] = []
  private(set) var facts: [HeadLine] = []
  private(set) var panels: [Panel] = []
  let time: TimeTicks
  let showsRightTicks: Bool
  let isText: Bool
  private let span: ClosedRange<Double>

  /// The sizes of a figure's title, of a panel's title and of labels.
  static let titleSize = 16.0
  static let panelSize = 12.0
  static let labelSize = 11.0
  /// Pixels of a picture below which gutters are narrow.
  private static let narrow = 520.0
  /// Pixels of a legend's sign.
  static let signWidth = 26.0

  init(_ plot: Plot, width: Int) {
    let width = Double(min(max(width, Plot.widths.lowerBound), Plot.widths.upperBound))
    self.width = width
    isText = false
    // Wider pictures are looked at from farther away, or made smaller.
    scale = max(1, pow(width / 900, 0.6))
    span = plot.span
    let isNarrow = width < Self.narrow * scale
    showsRightTicks = plot.panels.contains { !$0.rightTicks.isEmpty } && width >= 280
    let labels = plot.panels.flatMap { $0.ticks.map { TextWidth.of($0.label) } }.max() ?? 0
    let room = labels * Self.labelSize + 14
    left = (max(isNarrow ? 30 : 58, room) * scale).rounded()
    right = (width - (showsRightTicks ? (isNarrow ? 52 : 66) : 30) * scale).rounded()
    time = TimeTicks(
      in: plot.span, atMost: max(2, Int((right - left) / ((isNarrow ? 44 : 52) * scale))))
    var top = placeHead(plot)
    for panel in plot.panels {
      let place = place(panel, below: top)
      panels.append(place)
      top = place.box.bottom
    }
    height = (top + 40 * scale).rounded()
  }

  /// One box of cells of characters, without labels; a cell is as wide as the scale.
  init(cells: Int, of scale: Double, span: ClosedRange<Double>) {
    width = Double(cells) * scale
    right = width
    self.scale = scale
    left = 0
    isText = true
    showsRightTicks = false
    time = TimeTicks(in: span, atMost: 2)
    self.span = span
  }

  func x(_ seconds: Double) -> Double {
    left + (right - left) * (seconds - span.lowerBound) / (span.upperBound - span.lowerBound)
  }

  func seconds(at x: Double) -> Double {
    span.lowerBound + (span.upperBound - span.lowerBound) * (x - left) / (right - left)
  }

  func y(_ value: Double, on axis: PlotAxis, in box: PlotBox) -> Double {
    box.bottom - box.height * axis.share(of: value)
  }

  /// A text cut to a width in pixels, with an ellipsis where something is missing; of a path the
  /// end is kept.
  func fitted(_ text: String, size: Double, to room: Double, isBold: Bool = false) -> String {
    guard width(of: text, size: size, isBold: isBold) > room else { return text }
    let isPath = text.contains("/")
    var kept = text[...]
    while !kept.isEmpty, width(of: kept + "…", size: size, isBold: isBold) > room {
      kept = isPath ? kept.dropFirst() : kept.dropLast()
    }
    return isPath ? "…" + kept : kept + "…"
  }

  func width(of text: String, size: Double, isBold: Bool = false) -> Double {
    TextWidth.of(text) * size * scale * (isBold ? 1.08 : 1)
  }

  /// Places the title and the facts, on one line where they fit, and returns where they end.
  private mutating func placeHead(_ plot: Plot) -> Double {
    let room = right - left
    var y = 32 * scale
    var end = left
    if plot.takes.count > 1 {
      end = placeNames(plot.takes.map(\.name), y: &y)
    } else if !plot.title.isEmpty {
      let text = fitted(plot.title, size: Self.titleSize, to: room, isBold: true)
      title = HeadLine(text: text, place: PlotPoint(left, y.rounded()))
      end = left + width(of: text, size: Self.titleSize, isBold: true)
    }
    let line = plot.facts.joined(separator: " · ")
    if end + 20 * scale + width(of: line, size: Self.labelSize) <= right {
      facts = [HeadLine(text: line, place: PlotPoint(right, y.rounded()), anchor: .end)]
      return y
    }
    for text in lines(plot.facts, to: room) {
      y += 18 * scale
      let fitted = fitted(text, size: Self.labelSize, to: room)
      facts.append(HeadLine(text: fitted, place: PlotPoint(left, y.rounded())))
    }
    return y
  }

  /// Places the names of the takes of an overlay in lines, and returns where the last one ends.
  private mutating func placeNames(_ names: [String], y: inout Double) -> Double {
    var x = left
    let sign = (Self.signWidth + 24) * scale
    for name in names {
      let text = fitted(name, size: Self.panelSize, to: right - left - sign)
      let total = sign + width(of: text, size: Self.panelSize)
      if x > left, x + total > right {
        x = left
        y += 20 * scale
      }
      takes.append(HeadLine(text: text, place: PlotPoint(x, y.rounded())))
      x += total + 16 * scale
    }
    return x
  }

  /// Parts in lines of at most a width, where that can be.
  private func lines(_ parts: [String], to room: Double) -> [String] {
    parts.reduce(into: [String]()) { lines, part in
      if let longer = lines.last.map({ $0 + " · " + part }),
        width(of: longer, size: Self.labelSize) <= room
      {
        lines[lines.count - 1] = longer
      } else {
        lines.append(part)
      }
    }
  }

  private func place(_ panel: PlotPanel, below top: Double) -> Panel {
    let isFirst = panels.isEmpty
    let title = PlotPoint(left, (top + (isFirst ? 36 : 28) * scale).rounded())
    let titleEnd = left + width(of: panel.title, size: Self.panelSize, isBold: true)
    let unitEnd =
      panel.unit.isEmpty
      ? titleEnd : titleEnd + 8 * scale + width(of: panel.unit, size: Self.labelSize)
    let widths = panel.legend.map { legendWidth($0) }
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
      title: title, showsUnit: unitEnd + (isBeside && total > 0 ? 16 * scale + total : 0) <= right,
      legend: legend,
      box: PlotBox(
        left: left, top: boxTop, right: right, bottom: (boxTop + panel.height * scale).rounded()))
  }

  private func legendWidth(_ entry: PlotPanel.LegendEntry) -> Double {
    let texts = entry.texts.reduce(0) { $0 + width(of: $1, size: Self.labelSize) }
    let sign =
      switch entry {
      case .sharpness: 84.0 + 12
      case .decibels: 62.0 + 12
      case .window(let seconds): max(4, x(span.lowerBound + seconds) - left) / scale + 6
      default: Self.signWidth + 6
      }
    return texts + sign * scale
  }
}

extension PlotPanel.LegendEntry {
  var texts: [String] {
    switch self {
    case .sharpness:
      ["dull", "sharp"]
    case .intensityCurve:
      ["intensity curve"]
    case .signal:
      ["peak"]
    case .effective:
      ["RMS"]
    case .window(let seconds):
      ["window \(AxisTick.text(seconds * 1_000, places: 0)) ms"]
    case .band(let name):
      ["band of \(name)"]
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
  func share(of value: Double) -> Double {
    if isLogarithmic {
      return log(max(value, 1e-9) / range.lowerBound) / log(range.upperBound / range.lowerBound)
    }
    return (value - range.lowerBound) / (range.upperBound - range.lowerBound)
  }

  func value(atShare share: Double) -> Double {
    isLogarithmic
      ? range.lowerBound * pow(range.upperBound / range.lowerBound, share)
      : range.lowerBound + (range.upperBound - range.lowerBound) * share
  }

  func ticks(atMost count: Int) -> [AxisTick] {
    guard isLogarithmic else { return AxisTick.round(in: range, atMost: count) }
    // Of the values of one, two or three in each decade, the most that fit.
    return [[1.0, 2, 5], [1, 3], [1]].lazy.map { factors in
      ticks(at: (0...5).flatMap { decade in factors.map { $0 * pow(10, Double(decade)) } })
    }.first { $0.count <= count && !$0.isEmpty } ?? []
  }

  /// The octaves of 25 Hz in the range.
  var octaves: [AxisTick] { ticks(at: (0...7).map { 25 * pow(2, Double($0)) }) }

  private func ticks(at values: [Double]) -> [AxisTick] {
    values.filter { range.contains($0) }.map { AxisTick($0, AxisTick.text($0, places: 0)) }
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
  public static func round(in range: ClosedRange<Double>, atMost count: Int) -> [AxisTick] {
    let length = range.upperBound - range.lowerBound
    guard length > 0, length.isFinite, count > 0 else { return [] }
    let step = step(for: length, atMost: count)
    return multiples(of: step, in: range).map { AxisTick($0, text($0, step: step)) }
  }

  static func step(for length: Double, atMost count: Int) -> Double {
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
    return short(value, places: min(places, 9))
  }

  static func short(_ value: Double, places: Int) -> String {
    var text = text(value, places: places)
    guard text.contains(".") else { return text }
    while text.hasSuffix("0") {
      text.removeLast()
    }
    return text.hasSuffix(".") ? String(text.dropLast()) : text
  }

  /// A value with so many decimal places; a minus is a minus sign.
  static func text(_ value: Double, places: Int) -> String {
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
  static let minutesFrom = 120.0
  /// Seconds up to which labels are milliseconds.
  static let millisecondsTo = 0.2
  /// Round steps of clocks, in seconds.
  private static let clockSteps: [Double] = [
    10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 10_800, 21_600, 43_200, 86_400,
  ]

  /// Labels for a range of seconds, no more than a number of them.
  public init(in range: ClosedRange<Double>, atMost count: Int) {
    let length = range.upperBound - range.lowerBound
    if length >= Self.minutesFrom {
      let least = length / Double(max(1, count))
      let step =
        Self.clockSteps.first { $0 >= least * (1 - 1e-9) }
        ?? AxisTick.step(for: length, atMost: count)
      unit = "min"
      ticks = AxisTick.multiples(of: step, in: range).map { AxisTick($0, Self.clock($0)) }
    } else if length <= Self.millisecondsTo {
      let step = AxisTick.step(for: length * 1_000, atMost: count)
      let inside = range.lowerBound * 1_000...range.upperBound * 1_000
      unit = "ms"
      ticks = AxisTick.multiples(of: step, in: inside).map {
        AxisTick($0 / 1_000, AxisTick.text($0, step: step))
      }
    } else {
      unit = "s"
      ticks = AxisTick.round(in: range, atMost: count)
    }
  }

  /// Whole seconds as `2:05`, or `1:02:05` from an hour on.
  static func clock(_ seconds: Double) -> String {
    let total = Int(seconds.rounded())
    func two(_ value: Int) -> String { value < 10 ? "0\(value)" : "\(value)" }
    let minutes = total / 60
    let seconds = total % 60
    return minutes < 60
      ? "\(minutes):\(two(seconds))" : "\(minutes / 60):\(two(minutes % 60)):\(two(seconds))"
  }
}
