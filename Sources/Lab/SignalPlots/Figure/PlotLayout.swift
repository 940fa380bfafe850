internal import CMath

/// The layout of a figure of a given width, in pixels from the top left.
///
/// From top to bottom: the title or the names of the takes, the facts, and for each panel its
/// title with its legend and its box. The tick labels of the time axis are below the last box.
/// Text widths are estimated, so that a layout does not depend on installed fonts.
struct PlotLayout: Equatable, Sendable {
  /// The layout of one panel.
  struct Panel: Equatable, Sendable {
    /// The position of the start of the title's baseline.
    var titlePosition: PlotPoint
    /// A Boolean value that indicates whether the unit fits after the title.
    var showsUnit: Bool
    /// The position of the start of each legend entry's baseline.
    var legendPositions: [PlotPoint]
    /// The rectangle of the panel's contents.
    var contentBox: PlotBox
  }

  /// A line of text with its position.
  struct TextLine: Equatable, Sendable {
    var text: String
    /// The position of the text's anchor on the baseline.
    var baselinePosition: PlotPoint
    var textAnchor = PlotDrawing.Anchor.start
  }

  /// The width of the figure, in pixels.
  let figureWidth: Double
  /// The height of the figure, in pixels.
  private(set) var figureHeight = 0.0
  /// The size of text and lines, relative to a figure that is 900 pixels wide.
  let drawingScale: Double
  /// The x coordinate of the left edge of all panels.
  let panelLeft: Double
  /// The x coordinate of the right edge of all panels.
  let panelRight: Double
  /// The title line of a figure with one take.
  private(set) var title: TextLine?
  /// The text lines with the names of the takes in an overlay.
  private(set) var takeNames: [TextLine] = []
  private(set) var factLines: [TextLine] = []
  private(set) var panelLayouts: [Panel] = []
  let timeTicks: TimeTicks
  let showsRightTicks: Bool
  /// A Boolean value that indicates whether the figure is drawn with the characters of a terminal.
  let usesTerminalCells: Bool
  private let timeRangeSeconds: ClosedRange<Double>

  /// The font size of the figure's title, in pixels at a drawing scale of 1.
  static let titleFontPixels = 16.0
  /// The font size of the panels' titles, in pixels at a drawing scale of 1.
  static let panelTitleFontPixels = 12.0
  /// The font size of labels, in pixels at a drawing scale of 1.
  static let labelFontPixels = 11.0
  /// The minimum figure width for wide side margins, in pixels at a drawing scale of 1.
  private static let wideGutterMinimumFigureWidth = 520.0
  /// The width of a symbol in a legend, in pixels at a drawing scale of 1.
  static let legendSymbolPixels = 26.0
  /// The ratio of the text width in a wide font, such as DejaVu Sans, to the estimate.
  private static let wideFontTextWidthRatio = 1.15

  /// Lays out a figure at a width in pixels.
  ///
  /// The width is clamped to `Plot.supportedPixelWidths`.
  init(_ plot: Plot, figureWidth width: Int) {
    let figurePixels = Self.supportedWidth(width)
    self.figureWidth = figurePixels
    usesTerminalCells = false
    drawingScale = Self.drawingScale(forWidth: figurePixels)
    timeRangeSeconds = plot.timeRangeSeconds
    let isNarrowFigure = figurePixels < Self.wideGutterMinimumFigureWidth * drawingScale
    showsRightTicks = plot.plotPanels.contains { !$0.rightTicks.isEmpty } && figurePixels >= 280
    let leftLabelTexts = plot.plotPanels.flatMap(\.leftTicks).map(\.labelText)
    let leftLabelEms = leftLabelTexts.map(TextWidth.inEms).max() ?? 0
    let leftGutterPixels = max(isNarrowFigure ? 30 : 58, leftLabelEms * Self.labelFontPixels + 14)
    panelLeft = (leftGutterPixels * drawingScale).rounded()
    let rightLabelGutter: Double = isNarrowFigure ? 52 : 66
    let rightGutterPixels: Double = showsRightTicks ? rightLabelGutter : 30
    panelRight = (figurePixels - rightGutterPixels * drawingScale).rounded()
    let tickSpacingPixels: Double = isNarrowFigure ? 44 : 52
    timeTicks = TimeTicks(
      in: plot.timeRangeSeconds,
      atMost: max(2, Int((panelRight - panelLeft) / (tickSpacingPixels * drawingScale))))
    var contentBottom = layOutHeader(of: plot)
    for panel in plot.plotPanels {
      let panelLayout = makePanel(for: panel, below: contentBottom)
      panelLayouts.append(panelLayout)
      contentBottom = panelLayout.contentBox.bottom
    }
    figureHeight = (contentBottom + 40 * drawingScale).rounded()
  }

  /// Lays out a single panel of character cells without labels.
  ///
  /// A drawing scale of 1 corresponds to one cell's width.
  ///
  /// - Parameters:
  ///   - columnCount: The number of cells in a row.
  ///   - columnWidth: The width of a cell.
  ///   - timeRange: The range of the time axis, in seconds.
  init(columnCount: Int, columnWidth: Double, timeRangeSeconds timeRange: ClosedRange<Double>) {
    figureWidth = Double(columnCount) * columnWidth
    panelRight = figureWidth
    drawingScale = columnWidth
    panelLeft = 0
    usesTerminalCells = true
    showsRightTicks = false
    timeTicks = TimeTicks(in: timeRange, atMost: 2)
    self.timeRangeSeconds = timeRange
  }

  /// Returns a width in pixels, clamped to `Plot.supportedPixelWidths`.
  static func supportedWidth(_ width: Int) -> Double {
    Double(
      min(max(width, Plot.supportedPixelWidths.lowerBound), Plot.supportedPixelWidths.upperBound))
  }

  /// Returns the size of text and lines in a figure, relative to a figure that is 900 pixels wide.
  static func drawingScale(forWidth width: Double) -> Double {
    // Wider figures are viewed from farther away or reduced in size.
    max(1, pow(width / 900, 0.6))
  }

  func x(atTime seconds: Double) -> Double {
    panelLeft + (panelRight - panelLeft) * (seconds - timeRangeSeconds.lowerBound)
      / (timeRangeSeconds.upperBound - timeRangeSeconds.lowerBound)
  }

  func time(atX x: Double) -> Double {
    timeRangeSeconds.lowerBound + (timeRangeSeconds.upperBound - timeRangeSeconds.lowerBound)
      * (x - panelLeft)
      / (panelRight - panelLeft)
  }

  func y(of value: Double, on axis: PlotAxis, in box: PlotBox) -> Double {
    box.bottom - box.height * axis.fraction(of: value)
  }

  /// Returns a text truncated to a width, with an ellipsis. A path keeps its end.
  ///
  /// - Parameters:
  ///   - text: The text.
  ///   - fontSize: The font size, in pixels at a drawing scale of 1.
  ///   - maximumWidth: The maximum width in pixels.
  ///   - isBold: True for bold text.
  func truncated(
    _ text: String, fontSize: Double, width maximumWidth: Double, isBold: Bool = false
  ) -> String {
    guard width(of: text, fontSize: fontSize, isBold: isBold) > maximumWidth else { return text }
    let isFilePath = text.contains("/")
    var keptText = text[...]
    while !keptText.isEmpty,
      width(of: keptText + "…", fontSize: fontSize, isBold: isBold) > maximumWidth
    {
      keptText = isFilePath ? keptText.dropFirst() : keptText.dropLast()
    }
    return isFilePath ? "…" + keptText : keptText + "…"
  }

  /// Returns the estimated width of a text in pixels.
  func width(of text: String, fontSize: Double, isBold: Bool = false) -> Double {
    TextWidth.inEms(text) * fontSize * drawingScale * (isBold ? 1.08 : 1)
  }

  /// Lays out the title and the facts, and returns the last baseline.
  ///
  /// They are on one line if they fit.
  private mutating func layOutHeader(of plot: Plot) -> Double {
    let availableWidth = panelRight - panelLeft
    var baselineY = 32 * drawingScale
    var headerEndX = panelLeft
    if plot.takes.count > 1 {
      headerEndX = layOutTakeNames(plot.takes.map(\.name), y: &baselineY)
    } else if !plot.title.isEmpty {
      let text = truncated(
        plot.title, fontSize: Self.titleFontPixels, width: availableWidth, isBold: true)
      title = TextLine(text: text, baselinePosition: PlotPoint(panelLeft, baselineY.rounded()))
      headerEndX = panelLeft + width(of: text, fontSize: Self.titleFontPixels, isBold: true)
    }
    let factsLine = plot.factTexts.joined(separator: " · ")
    if headerEndX + 20 * drawingScale + width(of: factsLine, fontSize: Self.labelFontPixels)
      <= panelRight
    {
      factLines = [
        TextLine(
          text: factsLine, baselinePosition: PlotPoint(panelRight, baselineY.rounded()),
          textAnchor: .end)
      ]
      return baselineY
    }
    for line in wrappedLines(plot.factTexts, width: availableWidth) {
      baselineY += 18 * drawingScale
      let text = truncated(line, fontSize: Self.labelFontPixels, width: availableWidth)
      factLines.append(
        TextLine(text: text, baselinePosition: PlotPoint(panelLeft, baselineY.rounded())))
    }
    return baselineY
  }

  /// Lays out the names of the takes of an overlay in lines.
  ///
  /// - Parameters:
  ///   - names: The names of the takes.
  ///   - y: The baseline of the first line on entry and of the last line on return.
  /// - Returns: The end of the last name.
  private mutating func layOutTakeNames(_ names: [String], y: inout Double) -> Double {
    var nextNameX = panelLeft
    let symbolWidth = (Self.legendSymbolPixels + 24) * drawingScale
    for name in names {
      let text = truncated(
        name, fontSize: Self.panelTitleFontPixels, width: panelRight - panelLeft - symbolWidth)
      let totalWidth = symbolWidth + width(of: text, fontSize: Self.panelTitleFontPixels)
      if nextNameX > panelLeft, nextNameX + totalWidth > panelRight {
        nextNameX = panelLeft
        y += 20 * drawingScale
      }
      takeNames.append(TextLine(text: text, baselinePosition: PlotPoint(nextNameX, y.rounded())))
      nextNameX += totalWidth + 16 * drawingScale
    }
    return nextNameX
  }

  /// Returns texts joined into lines of limited width.
  ///
  /// A text that is longer has a line of its own.
  private func wrappedLines(_ texts: [String], width maximumWidth: Double) -> [String] {
    var joinedLines: [String] = []
    for text in texts {
      if let lastLine = joinedLines.last {
        let longerLine = lastLine + " · " + text
        if width(of: longerLine, fontSize: Self.labelFontPixels) <= maximumWidth {
          joinedLines[joinedLines.count - 1] = longerLine
          continue
        }
      }
      joinedLines.append(text)
    }
    return joinedLines
  }

  /// Lays out a panel below the previous panel.
  ///
  /// A legend that does not fit next to the title has lines of its own.
  private func makePanel(for panel: PlotPanel, below top: Double) -> Panel {
    let isFirstPanel = panelLayouts.isEmpty
    let titlePosition = PlotPoint(
      panelLeft, (top + (isFirstPanel ? 36 : 28) * drawingScale).rounded())
    let titleEnd =
      panelLeft + width(of: panel.title, fontSize: Self.panelTitleFontPixels, isBold: true)
    let unitEnd =
      panel.valueUnit.isEmpty
      ? titleEnd
      : titleEnd + 8 * drawingScale + width(of: panel.valueUnit, fontSize: Self.labelFontPixels)
    let legendEntryWidths = panel.legendEntries.map { legendWidth(of: $0) }
    let totalLegendWidth =
      legendEntryWidths.reduce(0, +) + 16 * drawingScale
      * Double(max(0, legendEntryWidths.count - 1))
    var legendPositions: [PlotPoint] = []
    var legendBaseline = titlePosition.y
    let isLegendNextToTitle =
      legendEntryWidths.isEmpty || titleEnd + 16 * drawingScale + totalLegendWidth <= panelRight
    var legendX = isLegendNextToTitle ? panelRight - totalLegendWidth : panelLeft
    if !isLegendNextToTitle {
      legendBaseline += (18 * drawingScale).rounded()
    }
    for width in legendEntryWidths {
      if !isLegendNextToTitle, legendX > panelLeft, legendX + width > panelRight {
        legendX = panelLeft
        legendBaseline += (18 * drawingScale).rounded()
      }
      legendPositions.append(PlotPoint(legendX, legendBaseline))
      legendX += width + 16 * drawingScale
    }
    let boxTop = (legendBaseline + 10 * drawingScale).rounded()
    let boxBottom = (boxTop + panel.boxHeight * drawingScale).rounded()
    let legendSpace =
      isLegendNextToTitle && totalLegendWidth > 0 ? 16 * drawingScale + totalLegendWidth : 0
    return Panel(
      titlePosition: titlePosition,
      showsUnit: unitEnd + legendSpace <= panelRight,
      legendPositions: legendPositions,
      contentBox: PlotBox(left: panelLeft, top: boxTop, right: panelRight, bottom: boxBottom))
  }

  private func legendWidth(of entry: PlotPanel.LegendEntry) -> Double {
    let estimatedLabelWidth = entry.labels.reduce(0) {
      $0 + width(of: $1, fontSize: Self.labelFontPixels)
    }
    let labelWidth = estimatedLabelWidth * Self.wideFontTextWidthRatio
    let symbolWidth =
      switch entry {
      case .sharpnessScale: 84.0 + 12
      case .levelScale: 62.0 + 12
      case .analysisWindow(let seconds):
        max(4, x(atTime: timeRangeSeconds.lowerBound + seconds) - panelLeft) / drawingScale + 6
      default: Self.legendSymbolPixels + 6
      }
    return labelWidth + symbolWidth * drawingScale
  }
}

extension PlotPanel.LegendEntry {
  /// The labels of the legend entry: one after a symbol, or two at the ends of a color scale.
  var labels: [String] {
    switch self {
    case .sharpnessScale:
      ["dull", "sharp"]
    case .intensityCurve:
      ["intensity curve"]
    case .samplePeak:
      ["peak"]
    case .rmsLevel:
      ["RMS"]
    case .analysisWindow(let seconds):
      ["window \(AxisTick.text(seconds * 1_000, decimalPlaces: 0)) ms"]
    case .profileBand(let name):
      ["band of \(name)"]
    case .levelScale(let minimum, let maximum):
      [
        AxisTick.text(Double(minimum), decimalPlaces: 0),
        AxisTick.text(Double(maximum), decimalPlaces: 0) + " dBFS",
      ]
    }
  }
}

/// An estimate of the width of text that does not depend on installed fonts.
enum TextWidth {
  /// Returns the estimated width of a text in ems.
  ///
  /// The estimate uses the typical widths of letter classes in Arial.
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

/// A linear or logarithmic axis with its range and ticks.
struct PlotAxis: Equatable, Sendable {
  /// The values at the two ends of the axis; positive on a logarithmic axis.
  var valueRange: ClosedRange<Double>
  /// A Boolean value that indicates whether the axis is logarithmic.
  ///
  /// On a logarithmic axis, equal ratios have equal lengths.
  var isLogarithmic = false

  /// Returns the position of a value along the axis: 0 at the lower end, 1 at the upper end.
  func fraction(of value: Double) -> Double {
    if isLogarithmic {
      return log(max(value, 1e-9) / valueRange.lowerBound)
        / log(valueRange.upperBound / valueRange.lowerBound)
    }
    return (value - valueRange.lowerBound) / (valueRange.upperBound - valueRange.lowerBound)
  }

  /// Returns the value at a position along the axis: 0 at the lower end, 1 at the upper end.
  func value(atFraction fraction: Double) -> Double {
    isLogarithmic
      ? valueRange.lowerBound * pow(valueRange.upperBound / valueRange.lowerBound, fraction)
      : valueRange.lowerBound + (valueRange.upperBound - valueRange.lowerBound) * fraction
  }

  /// Returns ticks at round values, at most a given number.
  func ticks(atMost count: Int) -> [AxisTick] {
    guard isLogarithmic else { return AxisTick.roundTicks(in: valueRange, atMost: count) }
    // The densest of three, two or one tick in each decade.
    for factors in [[1.0, 2, 5], [1, 3], [1]] {
      let values = (0...5).flatMap { decade in factors.map { $0 * pow(10, Double(decade)) } }
      let ticks = ticks(at: values)
      if ticks.count <= count, !ticks.isEmpty { return ticks }
    }
    return []
  }

  /// The ticks at 25 Hz and its octaves.
  var octaveTicks: [AxisTick] { ticks(at: (0...7).map { 25 * pow(2, Double($0)) }) }

  private func ticks(at values: [Double]) -> [AxisTick] {
    values.filter { valueRange.contains($0) }.map {
      AxisTick($0, AxisTick.text($0, decimalPlaces: 0))
    }
  }
}

/// A labeled value on an axis.
public struct AxisTick: Equatable, Sendable {
  /// The value of the tick, in the unit of the axis.
  public let axisValue: Double
  /// The text of the tick's label.
  public let labelText: String

  /// Creates a tick at a value with a label.
  public init(_ value: Double, _ label: String) {
    self.axisValue = value
    self.labelText = label
  }

  /// Returns ticks in a range at the multiples of a round step.
  ///
  /// A round step is 1, 2 or 5 times a power of ten.
  ///
  /// - Parameters:
  ///   - range: The range of the axis.
  ///   - count: The maximum number of intervals that the range is divided into.
  public static func roundTicks(in range: ClosedRange<Double>, atMost count: Int) -> [AxisTick] {
    let rangeLength = range.upperBound - range.lowerBound
    guard rangeLength > 0, rangeLength.isFinite, count > 0 else { return [] }
    let tickStep = roundStep(for: rangeLength, atMost: count)
    return multiples(of: tickStep, in: range).map { AxisTick($0, text($0, step: tickStep)) }
  }

  /// Returns the smallest round step for at most a given number of intervals.
  ///
  /// The step is 1, 2 or 5 times a power of ten.
  static func roundStep(for length: Double, atMost count: Int) -> Double {
    let minimumStep = length / Double(max(1, count))
    let stepDecade = pow(10, log10(minimumStep).rounded(.down))
    // The tolerance accounts for rounding in powers of ten.
    for factor in [1.0, 2, 5, 10] where factor * stepDecade >= minimumStep * (1 - 1e-9) {
      return factor * stepDecade
    }
    return 10 * stepDecade
  }

  /// Returns the multiples of a step in a range.
  ///
  /// Multiplication avoids the rounding errors of a sum.
  static func multiples(of step: Double, in range: ClosedRange<Double>) -> [Double] {
    let roundingSlack = step * 1e-6
    let firstMultiple = ((range.lowerBound - roundingSlack) / step).rounded(.up)
    let lastMultiple = ((range.upperBound + roundingSlack) / step).rounded(.down)
    guard firstMultiple <= lastMultiple, lastMultiple - firstMultiple < 10_000 else { return [] }
    return (0...Int(lastMultiple - firstMultiple)).map { (firstMultiple + Double($0)) * step + 0 }
  }

  /// Returns a value as text with the decimal places for multiples of a step.
  static func text(_ value: Double, step: Double) -> String {
    let decimalPlaces = step >= 1 ? 0 : Int((-log10(step) - 1e-9).rounded(.up))
    return shortText(value, decimalPlaces: min(decimalPlaces, 9))
  }

  /// Returns a value as text with limited decimal places, without trailing zeros.
  static func shortText(_ value: Double, decimalPlaces: Int) -> String {
    var shortenedText = text(value, decimalPlaces: decimalPlaces)
    guard shortenedText.contains(".") else { return shortenedText }
    while shortenedText.hasSuffix("0") {
      shortenedText.removeLast()
    }
    return shortenedText.hasSuffix(".") ? String(shortenedText.dropLast()) : shortenedText
  }

  /// Returns a value as text with fixed decimal places and the minus sign U+2212.
  static func text(_ value: Double, decimalPlaces: Int) -> String {
    let decimalScale = pow(10, Double(decimalPlaces))
    let scaledMagnitude = (abs(value) * decimalScale).rounded()
    guard scaledMagnitude < 1e15 else { return "\(value)" }
    let digitText = String(Int(scaledMagnitude))
    let signText = value < 0 && scaledMagnitude > 0 ? "\u{2212}" : ""
    guard decimalPlaces > 0 else { return signText + digitText }
    let zeroCount = max(0, decimalPlaces + 1 - digitText.utf8.count)
    let paddedDigits = String(repeating: "0", count: zeroCount) + digitText
    return signText + paddedDigits.dropLast(decimalPlaces) + "."
      + paddedDigits.suffix(decimalPlaces)
  }
}

/// The ticks of a time axis and the unit of their labels.
public struct TimeTicks: Equatable, Sendable {
  /// The ticks, with values in seconds.
  public let axisTicks: [AxisTick]
  /// The unit of the labels: `s`, `ms`, or `min` for minutes and seconds.
  public let labelUnit: String

  /// The minimum length of an axis labeled in minutes, in seconds.
  static let minimumSecondsForMinutes = 120.0
  /// The maximum length of an axis labeled in milliseconds, in seconds.
  static let maximumSecondsForMilliseconds = 0.2
  /// The possible tick steps of an axis labeled in minutes, in seconds.
  private static let clockStepSeconds: [Double] = [
    10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 10_800, 21_600, 43_200, 86_400,
  ]

  /// Creates the ticks of a time axis at round values.
  ///
  /// - Parameters:
  ///   - range: The range of the axis, in seconds.
  ///   - count: The maximum number of intervals that the range is divided into.
  public init(in range: ClosedRange<Double>, atMost count: Int) {
    let rangeSeconds = range.upperBound - range.lowerBound
    if rangeSeconds >= Self.minimumSecondsForMinutes {
      let minimumStep = rangeSeconds / Double(max(1, count))
      let step =
        Self.clockStepSeconds.first { $0 >= minimumStep * (1 - 1e-9) }
        ?? AxisTick.roundStep(for: rangeSeconds, atMost: count)
      labelUnit = "min"
      axisTicks = AxisTick.multiples(of: step, in: range).map { AxisTick($0, Self.clockText($0)) }
    } else if rangeSeconds <= Self.maximumSecondsForMilliseconds {
      let step = AxisTick.roundStep(for: rangeSeconds * 1_000, atMost: count)
      let milliseconds = range.lowerBound * 1_000...range.upperBound * 1_000
      labelUnit = "ms"
      axisTicks = AxisTick.multiples(of: step, in: milliseconds).map {
        AxisTick($0 / 1_000, AxisTick.text($0, step: step))
      }
    } else {
      labelUnit = "s"
      axisTicks = AxisTick.roundTicks(in: range, atMost: count)
    }
  }

  /// Returns whole seconds in the form `2:05`, or `1:02:05` from one hour.
  static func clockText(_ seconds: Double) -> String {
    let totalSeconds = Int(seconds.rounded())
    func twoDigits(_ value: Int) -> String { value < 10 ? "0\(value)" : "\(value)" }
    let wholeMinutes = totalSeconds / 60
    let remainingSeconds = totalSeconds % 60
    if wholeMinutes < 60 { return "\(wholeMinutes):\(twoDigits(remainingSeconds))" }
    return "\(wholeMinutes / 60):\(twoDigits(wholeMinutes % 60)):\(twoDigits(remainingSeconds))"
  }
}
