internal import HapticModel

/// Draws the events and control curves of one take in intensity and sharpness panels.
///
/// 1. A few events are drawn one by one: the intensity of an event is a shape in the colors of its
///    sharpness, and its sharpness is a line.
/// 2. Continuous events with too many points are merged: each column shows the strongest event.
/// 3. More than `maximumSeparateEventCount` visible events are drawn as an envelope
///    (`PlotPainter+Envelopes.swift`).
/// 4. The takes of an overlay are compared column by column (`PlotPainter+Overlays.swift`).
/// 5. Transients are drawn last (`PlotPainter+Transients.swift`).
extension PlotPainter {
  /// The maximum total number of points of overlapping events drawn as separate shapes.
  private static let maximumSeparateShapePointCount = 20_000
  /// The maximum number of continuous events that are drawn separately.
  private static let maximumSeparateShapeCount = 400
  /// The minimum mean distance between visible control points, in pixels.
  private static let minimumControlPointSpacingPixels = 12.0

  /// Draws the intensity of events, or the levels of sounds.
  mutating func drawIntensity() {
    guard takes.count == 1, let eventPlot = takes[0].eventPlot else {
      let values = takes.map { take in columnValues(of: take).map(\.intensity) }
      drawAreas(
        values, baseline: currentPanelBox.bottom,
        tolerance: ColumnValue.maximumEqualIntensityDifference,
        isMirrored: false)
      if takes.allSatisfy({ $0.eventPlot != nil }) {
        drawTransients()
      }
      return
    }
    let denseEventPlot = denseEventPlot
    if let denseEventPlot {
      drawIntensityEnvelope(of: denseEventPlot)
    } else {
      drawContinuousEvents(of: eventPlot)
    }
    for curve in eventPlot.curves where curve.controlID == .hapticIntensityControl {
      drawCurve(curve)
    }
    if denseEventPlot == nil {
      drawTransients()
    }
  }

  private mutating func drawContinuousEvents(of eventPlot: EventPlot) {
    let drawnEvents = eventPlot.events.filter { event in
      event.kind.isVibration && event.points.count > 1 && isEventVisible(event)
    }
    let pointCount = drawnEvents.reduce(0) { $0 + $1.points.count }
    guard drawnEvents.count <= Self.maximumSeparateShapeCount,
      pointCount <= Self.maximumSeparateShapePointCount
    else {
      return drawMergedShape(of: drawnEvents)
    }
    let eventOpacity = max(0.2, 0.82 / Double(Self.maximumOverlap(of: drawnEvents)).squareRoot())
    for event in drawnEvents {
      let points = event.points.map { point(atTime: $0.timeSeconds, value: $0.intensity) }
      let line = LineSimplification.decimated(clippedToPanel(points))
      fillToBaseline(
        line, colors: event.points.map { ($0.timeSeconds, $0.sharpness) }, opacity: eventOpacity)
    }
  }

  /// Returns the maximum number of simultaneously sounding events.
  ///
  /// The events must be sorted by onset.
  private static func maximumOverlap(of events: [EventPlot.Event]) -> Int {
    let sortedEndSeconds = events.map(\.endSeconds).sorted()
    var endedCount = 0
    var maximumOverlapCount = 1
    for (index, event) in events.enumerated() {
      while endedCount < sortedEndSeconds.count,
        sortedEndSeconds[endedCount] <= event.onsetSeconds + 1e-3
      {
        endedCount += 1
      }
      maximumOverlapCount = max(maximumOverlapCount, index + 1 - endedCount)
    }
    return maximumOverlapCount
  }

  /// Draws many events as one shape with the strongest event in each column.
  private mutating func drawMergedShape(of events: [EventPlot.Event]) {
    let columnPoints = strongestPoints(of: events)
    for run in columnPoints.indices.runs(where: { columnPoints[$0].intensity > 0 }) {
      let line = run.map { PlotPoint(columnCenterX($0), y(of: columnPoints[$0].intensity)) }
      let colors = run.map { (layout.time(atX: columnCenterX($0)), columnPoints[$0].sharpness) }
      fillToBaseline(
        LineSimplification.simplified(line, tolerance: 0.2), colors: colors, opacity: 0.82)
    }
  }

  /// Fills the area between a line and the bottom of the panel.
  ///
  /// - Parameters:
  ///   - line: The points by ascending x.
  ///   - colors: The sharpness over time, which determines the colors.
  ///   - opacity: The opacity, 0…1.
  mutating func fillToBaseline(
    _ line: [PlotPoint], colors: [(time: Double, sharpness: Double)], opacity: Double
  ) {
    drawing.fill([closedToBaseline(line)], paint(forColors: colors), opacity: opacity)
  }

  /// Returns a line extended to the bottom of the panel at both ends.
  ///
  /// Returns an empty array for a single point.
  private func closedToBaseline(_ line: [PlotPoint]) -> [PlotPoint] {
    guard let firstPoint = line.first, let lastPoint = line.last, line.count > 1 else { return [] }
    return [PlotPoint(firstPoint.x, currentPanelBox.bottom)] + line + [
      PlotPoint(lastPoint.x, currentPanelBox.bottom)
    ]
  }

  /// Returns a horizontal color gradient that shows the sharpness over time.
  ///
  /// Returns a single color for constant sharpness.
  private func paint(forColors colors: [(time: Double, sharpness: Double)]) -> PlotDrawing.Paint {
    let colormap = Colormap.sharpness
    guard let firstColor = colors.first, let lastColor = colors.last,
      lastColor.time > firstColor.time,
      colors.contains(where: { abs($0.sharpness - firstColor.sharpness) > 1e-3 })
    else { return .color(colormap.color(at: colors.first?.sharpness ?? 0)) }
    let simplifiedColors = LineSimplification.simplified(
      colors.map { PlotPoint($0.time, $0.sharpness) }, tolerance: 0.015)
    let colorSpanSeconds = lastColor.time - firstColor.time
    var gradientStops: [PlotDrawing.GradientStop] = []
    for (from, to) in zip(simplifiedColors, simplifiedColors.dropFirst()) {
      // The colormap is not linear in RGB, so a long slope has intermediate stops.
      let stepCount = max(1, Int((abs(to.y - from.y) * 8).rounded(.up)))
      for step in (gradientStops.isEmpty ? 0 : 1)...stepCount {
        let fraction = Double(step) / Double(stepCount)
        let time = from.x + (to.x - from.x) * fraction
        let sharpness = from.y + (to.y - from.y) * fraction
        gradientStops.append(
          PlotDrawing.GradientStop(
            positionFraction: (time - firstColor.time) / colorSpanSeconds,
            color: colormap.color(at: sharpness)))
      }
    }
    return .gradient(
      gradientStops, from: PlotPoint(layout.x(atTime: firstColor.time), 0),
      to: PlotPoint(layout.x(atTime: lastColor.time), 0))
  }

  private mutating func drawCurve(_ curve: EventPlot.Curve) {
    let curveLine = clippedToPanel(
      curve.polyline.map { point(atTime: $0.timeSeconds, value: $0.value) })
    drawing.stroke(
      [LineSimplification.decimated(curveLine)],
      .init(paint: .role(.foreground), widthPixels: drawingScale, opacity: 0.65))
    let visiblePoints = curve.controlPoints.filter { isTimeVisible($0.timeSeconds) }
    // Too many control points would hide the curve.
    let minimumCurveWidth =
      Double(visiblePoints.count) * Self.minimumControlPointSpacingPixels * drawingScale
    guard minimumCurveWidth <= currentPanelBox.width else { return }
    var occupiedCells = Set<[Int]>()
    for controlPoint in visiblePoints {
      let position = point(atTime: controlPoint.timeSeconds, value: controlPoint.value)
      let cell = [Int(position.x / (7 * drawingScale)), Int(position.y / (7 * drawingScale))]
      if occupiedCells.insert(cell).inserted {
        drawControlPoint(at: position)
      }
    }
  }

  /// Draws the sharpness of events, or the frequencies of sounds.
  mutating func drawSharpness() {
    guard takes.count == 1, let eventPlot = takes[0].eventPlot else {
      drawSharpnessOverlay()
      if takes.allSatisfy({ $0.eventPlot != nil }) {
        drawTransientSharpness()
      }
      return
    }
    // The height of a line is its sharpness, so one vertical gradient colors all lines.
    let gradientPaint = Self.sharpnessGradient(
      from: PlotPoint(0, y(of: 0)), to: PlotPoint(0, y(of: 1)))
    if let denseEventPlot {
      return drawSharpnessEnvelope(of: denseEventPlot, paint: gradientPaint)
    }
    let vibrations = eventPlot.events.filter(\.kind.isVibration)
    var drawnLines = vibrations.filter { isEventVisible($0) }.flatMap { sharpnessLines(of: $0) }
    if drawnLines.count > Self.maximumSeparateShapeCount {
      drawnLines = mergedSharpnessLines(of: vibrations)
    }
    drawing.stroke(drawnLines, .init(paint: gradientPaint, widthPixels: 2.5 * drawingScale))
    drawTransientSharpness()
  }

  /// Returns polylines of an event's sharpness at times of visible intensity.
  private func sharpnessLines(of event: EventPlot.Event) -> [[PlotPoint]] {
    let eventPoints = event.points
    // A line extends to the first and last silent points.
    let visibleRuns = eventPoints.indices.runs { index in
      let neighbors = eventPoints[max(0, index - 1)...min(eventPoints.count - 1, index + 1)]
      return neighbors.contains { $0.intensity > ColumnValue.minimumVisibleIntensity }
    }
    return visibleRuns.map { run in
      let line = clippedToPanel(
        eventPoints[run].map { point(atTime: $0.timeSeconds, value: $0.sharpness) })
      return LineSimplification.simplified(LineSimplification.decimated(line), tolerance: 0.15)
    }
  }

  /// Returns polylines of the sharpness of the strongest event in each column.
  private func mergedSharpnessLines(of events: [EventPlot.Event]) -> [[PlotPoint]] {
    let columnPoints = strongestPoints(of: events)
    return Self.polylines(
      in: columnPoints.indices,
      where: { columnPoints[$0].intensity > ColumnValue.minimumVisibleIntensity },
      point: { PlotPoint(columnCenterX($0), y(of: columnPoints[$0].sharpness)) })
  }

  /// The approximate maximum number of drawn audio events.
  ///
  /// More would not be distinguishable.
  private static let maximumDrawnAudioEventCount = 2_000

  /// Draws the audio events of one take, as their volume and file names.
  mutating func drawAudio(of take: Int) {
    let visibleEvents = (takes[take].eventPlot?.audioEvents ?? []).filter { isEventVisible($0) }
    let eventStride = max(1, visibleEvents.count / Self.maximumDrawnAudioEventCount)
    var lastLabelEndX = -Double.infinity
    for index in stride(from: 0, to: visibleEvents.count, by: eventStride) {
      let event = visibleEvents[index]
      let line = clippedToPanel(
        event.points.map { point(atTime: $0.timeSeconds, value: $0.intensity) })
      let start = max(currentPanelBox.left, layout.x(atTime: event.onsetSeconds))
      if line.count > 1 {
        drawing.fill([closedToBaseline(line)], .role(.signal))
      } else if isTimeVisible(event.onsetSeconds) {
        // The duration of the file is unknown, so only the onset is drawn.
        let top = PlotPoint(start, y(of: event.intensityInFile))
        drawing.drawLine(
          from: PlotPoint(start, currentPanelBox.bottom), to: top, role: .edge,
          width: 2 * drawingScale)
        drawTransientHead(at: top, take: 0, paint: .role(.edge), radius: 4)
      }
      let label = layout.truncated(
        event.filePath ?? "tone", fontSize: PlotLayout.labelFontPixels,
        width: currentPanelBox.right - start - 6 * drawingScale)
      if start > lastLabelEndX, label.count > 1 {
        drawLabel(
          label, at: PlotPoint(start + 6 * drawingScale, currentPanelBox.bottom - 6 * drawingScale),
          role: .foreground)
        lastLabelEndX =
          start + layout.width(of: label, fontSize: PlotLayout.labelFontPixels) + 12 * drawingScale
      }
    }
  }
}

// MARK: - Columns and visibility

extension PlotPainter {
  /// Returns a simplified polyline for each run of matching indices.
  ///
  /// - Parameters:
  ///   - indices: The indices.
  ///   - matches: Returns true for the indices of a run.
  ///   - point: Returns the point of an index.
  static func polylines(
    in indices: Range<Int>, where matches: (Int) -> Bool, point: (Int) -> PlotPoint
  ) -> [[PlotPoint]] {
    indices.runs(where: matches).map { run in
      LineSimplification.simplified(run.map(point), tolerance: 0.15)
    }
  }

  /// Returns the part of a line within the panel's horizontal range.
  ///
  /// The points ascend by x.
  func clippedToPanel(_ points: [PlotPoint]) -> [PlotPoint] {
    LineSimplification.clipped(points, to: layout.panelLeft...layout.panelRight)
  }

  func isEventVisible(_ event: EventPlot.Event) -> Bool {
    event.endSeconds >= plot.timeRangeSeconds.lowerBound
      && event.onsetSeconds <= plot.timeRangeSeconds.upperBound
  }

  func isTimeVisible(_ seconds: Double) -> Bool {
    (plot.timeRangeSeconds.lowerBound - 1e-9...plot.timeRangeSeconds.upperBound + 1e-9).contains(
      seconds)
  }

  /// The number of columns of the time axis.
  ///
  /// A column is half a pixel wide.
  var timeColumnCount: Int {
    max(1, Int(((layout.panelRight - layout.panelLeft) * 2 / drawingScale).rounded(.up)))
  }

  /// Returns the strongest event point in each column.
  private func strongestPoints(of events: [EventPlot.Event]) -> [EventPlot.Point] {
    let columnWidth = (layout.panelRight - layout.panelLeft) / Double(timeColumnCount)
    return EventColumns.strongestPoints(of: events, count: timeColumnCount) { time in
      (layout.x(atTime: time) - layout.panelLeft) / columnWidth
    }
  }

  /// Returns the x coordinate of the center of a column.
  func columnCenterX(_ column: Int) -> Double {
    layout.panelLeft + (layout.panelRight - layout.panelLeft) * (Double(column) + 0.5)
      / Double(timeColumnCount)
  }

  func columnValues(of take: PlotTake) -> [ColumnValue] {
    take.columnValues(columnCount: timeColumnCount, timeRange: plot.timeRangeSeconds)
  }
}
