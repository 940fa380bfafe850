/// Draws overlaid takes, with the common part in gray.
///
/// Each difference has the color of its take.
extension PlotPainter {
  /// The opacity of the area between two different takes.
  private static let excessAreaOpacity = 0.34

  /// The minimum value of a visible column.
  private static let minimumVisibleColumnValue = 0.0005

  /// The stroke for the common part of all takes.
  private var sharedStroke: PlotDrawing.Stroke {
    if takes.count > 1 {
      return .init(paint: .role(.sharedLine), widthPixels: 1.5 * drawingScale)
    }
    return .init(paint: .role(.foreground), widthPixels: 1.25 * drawingScale)
  }

  /// Draws the sharpness lines of all takes.
  mutating func drawSharpnessOverlay() {
    let sharpnessesByTake = takes.map { columnValues(of: $0).map(\.sharpness) }
    let isEqualByColumn = sharpnessesByTake[0].indices.map { column in
      let sharpnesses = sharpnessesByTake.compactMap { $0[column] }
      guard sharpnesses.count == sharpnessesByTake.count, let minimum = sharpnesses.min(),
        let maximum = sharpnesses.max()
      else { return false }
      return maximum - minimum < ColumnValue.maximumEqualSharpnessDifference
    }
    for (take, sharpnesses) in sharpnessesByTake.enumerated() {
      // The shared line is drawn once, with the first take.
      for drawsEqual in take == 0 ? [true, false] : [false] {
        let lines = Self.polylines(
          in: sharpnesses.indices,
          where: { sharpnesses[$0] != nil && isEqualByColumn[$0] == drawsEqual },
          point: { PlotPoint(columnCenterX($0), y(of: sharpnesses[$0] ?? 0)) })
        drawing.stroke(lines, drawsEqual ? sharedStroke : stroke(ofTake: take))
      }
    }
  }

  /// Draws the overlaid intensity curves of takes.
  ///
  /// A gray area is below all curves. For two takes, an area in the take's color shows the excess
  /// of one over the other.
  ///
  /// - Parameters:
  ///   - values: The values of each take, one for each column of the time axis.
  ///   - baseline: The y coordinate of a value of 0.
  ///   - tolerance: The maximum difference of equal values.
  ///   - isMirrored: True to mirror the curves below the baseline.
  mutating func drawAreas(
    _ values: [[Double]], baseline: Double, tolerance: Double, isMirrored: Bool
  ) {
    let mirrorSigns = isMirrored ? [1.0, -1] : [1.0]
    let columnIndices = values[0].indices
    let isOverlay = values.count > 1
    let minimumValues = columnIndices.map { column in values.map { $0[column] }.min() ?? 0 }
    func areaPolygons(_ top: [Double], above bottom: [Double]?) -> [[PlotPoint]] {
      let runs = columnIndices.runs { column in
        top[column] > (bottom.map { $0[column] + tolerance / 2 } ?? Self.minimumVisibleColumnValue)
      }
      let wideRuns = runs.filter { $0.count > 1 }
      return mirrorSigns.flatMap { sign in
        wideRuns.map { run in
          let topLine = columnLine(top, in: run, baseline: baseline, sign: sign)
          let bottomLine = columnLine(bottom, in: run, baseline: baseline, sign: sign)
          return topLine + bottomLine.reversed()
        }
      }
    }
    drawing.fill(areaPolygons(minimumValues, above: nil), .role(isOverlay ? .sharedArea : .signal))
    if values.count == 2 || layout.usesTerminalCells && isOverlay {
      for (take, takeValues) in values.enumerated() {
        drawing.fill(
          areaPolygons(takeValues, above: minimumValues), .role(.take(take)),
          opacity: Self.excessAreaOpacity)
      }
    }
    let differsByColumn = columnIndices.map { column in
      (values.map { $0[column] }.max() ?? 0) - minimumValues[column] > tolerance
    }
    drawOutlines(values, differs: differsByColumn, baseline: baseline, signs: mirrorSigns)
  }

  /// Draws the outline of the common part of all takes.
  ///
  /// At the times when takes differ, the outlines of all takes are drawn.
  ///
  /// - Parameters:
  ///   - values: The values of each take, one for each column.
  ///   - differs: True for the columns in which takes differ.
  ///   - baseline: The y coordinate of a value of 0.
  ///   - signs: 1 for the curve above the baseline, −1 for its mirror image.
  private mutating func drawOutlines(
    _ values: [[Double]], differs: [Bool], baseline: Double, signs: [Double]
  ) {
    for (take, takeValues) in values.enumerated() {
      for drawsEqual in take == 0 ? [true, false] : [false] {
        func isDrawn(_ column: Int) -> Bool {
          // A line includes one column on either side, so that it meets the other lines and the
          // baseline.
          let neighbors = max(0, column - 1)...min(takeValues.count - 1, column + 1)
          let isAboveBaseline = takeValues[neighbors].contains {
            $0 > Self.minimumVisibleColumnValue
          }
          guard isAboveBaseline else { return false }
          return drawsEqual ? !differs[column] : differs[neighbors].contains(true)
        }
        let lines = signs.flatMap { sign in
          Self.polylines(
            in: takeValues.indices, where: isDrawn,
            point: { columnPoint($0, takeValues[$0], baseline: baseline, sign: sign) })
        }
        drawing.stroke(lines, drawsEqual ? sharedStroke : stroke(ofTake: take, width: 1.75))
      }
    }
  }

  /// Returns a simplified line through a run of column values, in which nil becomes 0.
  private func columnLine(
    _ values: [Double]?, in run: Range<Int>, baseline: Double, sign: Double
  ) -> [PlotPoint] {
    let linePoints = run.map { column in
      columnPoint(column, values?[column] ?? 0, baseline: baseline, sign: sign)
    }
    return LineSimplification.simplified(linePoints, tolerance: 0.15)
  }

  private func columnPoint(
    _ column: Int, _ value: Double, baseline: Double, sign: Double
  ) -> PlotPoint {
    PlotPoint(columnCenterX(column), baseline + (y(of: value) - baseline) * sign)
  }
}
