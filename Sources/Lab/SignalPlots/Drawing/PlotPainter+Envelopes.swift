internal import HapticModel

/// Draws many events of one take as envelopes.
///
/// An envelope shows the minimum and maximum of the events in each column.
extension PlotPainter {
  /// The maximum number of visible events for separate drawing.
  ///
  /// More events are drawn as envelopes.
  private static let maximumSeparateEventCount = 300
  /// The width of an envelope's columns, in pixels at a drawing scale of 1.
  private static let envelopeColumnWidthPixels = 3.0
  /// The maximum number of consecutive empty columns within an envelope's shape.
  private static let maximumEmptyColumnGap = 8
  /// The averaging radius of a column's color, in columns.
  private static let colorAveragingRadiusColumns = 6

  /// The ranges of intensity and sharpness among the events in a column.
  private struct EnvelopeColumn {
    var minimumIntensity = Double.infinity
    var maximumIntensity = 0.0
    var minimumSharpness = 1.0
    var maximumSharpness = 0.0
    var sharpnessSum = 0.0
    var pointCount = 0.0

    mutating func add(_ point: EventPlot.Point) {
      minimumIntensity = min(minimumIntensity, point.intensity)
      maximumIntensity = max(maximumIntensity, point.intensity)
      minimumSharpness = min(minimumSharpness, point.sharpness)
      maximumSharpness = max(maximumSharpness, point.sharpness)
      sharpnessSum += point.sharpness
      pointCount += 1
    }
  }

  /// The events of a single take if there are too many to draw separately, or nil.
  var denseEventPlot: EventPlot? {
    guard !layout.usesTerminalCells, takes.count == 1, let eventPlot = takes[0].eventPlot else {
      return nil
    }
    let continuousCount = eventPlot.events.count { $0.kind.isVibration && isEventVisible($0) }
    let transientCount = eventPlot.events.count {
      $0.kind.isTransient && isTimeVisible($0.onsetSeconds)
    }
    let isDense =
      continuousCount + transientCount > Self.maximumSeparateEventCount
      || transientMarkerScale(count: transientCount) == nil
    return isDense ? eventPlot : nil
  }

  /// Returns the columns with events and their x coordinates, divided at long gaps.
  private func envelopeColumns(
    of eventPlot: EventPlot
  ) -> [[(x: Double, column: EnvelopeColumn)]] {
    let columnWidth = Self.envelopeColumnWidthPixels * drawingScale
    let columnCount = max(1, Int((layout.panelRight - layout.panelLeft) / columnWidth))
    var columns = [EnvelopeColumn](repeating: EnvelopeColumn(), count: columnCount)
    func columnIndex(atTime seconds: Double) -> Int {
      Int(((layout.x(atTime: seconds) - layout.panelLeft) / columnWidth).rounded(.down))
    }
    for event in eventPlot.events
    where (event.kind.isVibration || event.kind.isTransient) && isEventVisible(event) {
      guard let strongest = event.points.max(by: { $0.intensity < $1.intensity }) else { continue }
      let first = max(0, columnIndex(atTime: event.onsetSeconds))
      let last = min(columnCount - 1, columnIndex(atTime: event.endSeconds))
      guard first <= last else { continue }
      if event.kind.isTransient || first == last {
        columns[first].add(strongest)
        continue
      }
      for point in event.points
      where (first...last).contains(columnIndex(atTime: point.timeSeconds)) {
        columns[columnIndex(atTime: point.timeSeconds)].add(point)
      }
    }
    var columnRuns: [[(x: Double, column: EnvelopeColumn)]] = []
    var lastFilledIndex = -Self.maximumEmptyColumnGap - 1
    for (index, column) in columns.enumerated() where column.pointCount > 0 {
      if index - lastFilledIndex > Self.maximumEmptyColumnGap {
        columnRuns.append([])
      }
      // The first column of a run has points at both edges, so that a single column has a width.
      for edge in columnRuns[columnRuns.count - 1].isEmpty ? [0.0, 1] : [1] {
        columnRuns[columnRuns.count - 1].append(
          (layout.panelLeft + (Double(index) + edge) * columnWidth, column))
      }
      lastFilledIndex = index
    }
    return columnRuns
  }

  /// Draws the maximum intensity as a pale shape and the minimum as an opaque shape.
  ///
  /// The color shows the mean sharpness of the surrounding columns.
  mutating func drawIntensityEnvelope(of eventPlot: EventPlot) {
    for columns in envelopeColumns(of: eventPlot) {
      let colors = columns.indices.map { index -> (time: Double, sharpness: Double) in
        let first = max(0, index - Self.colorAveragingRadiusColumns)
        let last = min(columns.count - 1, index + Self.colorAveragingRadiusColumns)
        var sharpnessSum = 0.0
        var count = 0.0
        for neighbor in columns[first...last] {
          sharpnessSum += neighbor.column.sharpnessSum
          count += neighbor.column.pointCount
        }
        return (layout.time(atX: columns[index].x), sharpnessSum / count)
      }
      for (value, opacity) in [
        (\EnvelopeColumn.maximumIntensity, 0.45), (\.minimumIntensity, 0.82),
      ] {
        let line = columns.map { PlotPoint($0.x, y(of: $0.column[keyPath: value])) }
        fillToBaseline(line, colors: colors, opacity: opacity)
      }
    }
  }

  /// Draws a band between the minimum and maximum sharpness, and a line of the mean sharpness.
  mutating func drawSharpnessEnvelope(of eventPlot: EventPlot, paint: PlotDrawing.Paint) {
    let columnRuns = envelopeColumns(of: eventPlot)
    func envelopeLines(_ value: (EnvelopeColumn) -> Double) -> [[PlotPoint]] {
      columnRuns.map { run in
        run.map { PlotPoint($0.x, y(of: value($0.column))) }
      }
    }
    let envelopeBands = zip(envelopeLines(\.maximumSharpness), envelopeLines(\.minimumSharpness))
      .map { upper, lower in
        upper + lower.reversed()
      }
    drawing.fill(envelopeBands, paint, opacity: 0.3)
    drawing.stroke(
      envelopeLines { $0.sharpnessSum / $0.pointCount },
      .init(paint: paint, widthPixels: 1.5 * drawingScale))
  }
}
