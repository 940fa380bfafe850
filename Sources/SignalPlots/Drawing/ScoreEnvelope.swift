internal import HapticModel

/// Many events of one take: what they reach in columns of time, as one shape.
extension FigureDrawing {
  /// Where more events than this are in sight, their envelope is drawn.
  static let maximumEventCount = 300
  /// Pixels across of a column.
  private static let envelopeWidth = 3.0
  /// Columns without an event behind which a shape ends.
  private static let longestGap = 8
  /// Columns to each side over which colours are averaged.
  private static let colorReach = 6

  /// What the events in a column reach.
  private struct Column {
    var weakest = Double.infinity
    var strongest = 0.0
    var dullest = 1.0
    var sharpest = 0.0
    var sharpnesses = 0.0
    var count = 0.0

    mutating func add(_ point: PatternScore.Point, strength: Double) {
      weakest = min(weakest, strength)
      strongest = max(strongest, strength)
      dullest = min(dullest, point.sharpness)
      sharpest = max(sharpest, point.sharpness)
      sharpnesses += point.sharpness
      count += 1
    }
  }

  /// The score of a take with more events in sight than can be drawn one by one; nil for other plots.
  var denseScore: PatternScore? {
    guard !layout.isText, plot.takes.count == 1, let score = plot.takes[0].score else { return nil }
    let lasting = score.events.count { $0.kind.isVibration && isSeen($0) }
    let transients = score.events.count { $0.kind.isTransient && isShown($0.time) }
    return lasting + transients > Self.maximumEventCount || fineness(count: transients) == nil ? score : nil
  }

  private func isSeen(_ event: PatternScore.Event) -> Bool {
    event.end >= plot.span.lowerBound && event.time <= plot.span.upperBound
  }

  /// The columns in which events begin or last, with their places, in runs without long gaps.
  private func envelope(of score: PatternScore) -> [[(place: Double, column: Column)]] {
    let width = Self.envelopeWidth * scale
    let count = max(1, Int((layout.right - layout.left) / width))
    var columns = [Column](repeating: Column(), count: count)
    func column(_ seconds: Double) -> Int { Int(((layout.x(seconds) - layout.left) / width).rounded(.down)) }
    for event in score.events where (event.kind.isVibration || event.kind.isTransient) && isSeen(event) {
      guard let strongest = event.points.max(by: { $0.intensity < $1.intensity }) else { continue }
      let (first, last) = (max(0, column(event.time)), min(count - 1, column(event.end)))
      guard first <= last else { continue }
      if event.kind.isTransient || first == last {
        columns[first].add(strongest, strength: strongest.intensity)
        continue
      }
      for point in event.points where (first...last).contains(column(point.time)) {
        columns[column(point.time)].add(point, strength: point.intensity)
      }
    }
    var runs: [[(place: Double, column: Column)]] = []
    var end = -Self.longestGap - 1
    for (index, column) in columns.enumerated() where column.count > 0 {
      if index - end > Self.longestGap { runs.append([]) }
      // A run of one column is as wide as that.
      for side in runs[runs.count - 1].isEmpty ? [0.0, 1] : [1] {
        runs[runs.count - 1].append((layout.left + (Double(index) + side) * width, column))
      }
      end = index
    }
    return runs
  }

  /// The strongest in each column as a pale shape, the weakest as a full one, in the colour of the sharpness around.
  mutating func drawStrengthEnvelope(of score: PatternScore, _ panel: PlotPanel, in box: PlotBox) {
    for columns in envelope(of: score) {
      let colors = columns.indices.map { index -> (time: Double, sharpness: Double) in
        let near = columns[max(0, index - Self.colorReach)...min(columns.count - 1, index + Self.colorReach)]
        let sum = near.reduce((0, 0)) { ($0.0 + $1.column.sharpnesses, $0.1 + $1.column.count) }
        return (layout.seconds(at: columns[index].place), sum.0 / sum.1)
      }
      for (value, opacity) in [(\Column.strongest, 0.45), (\.weakest, 0.82)] {
        let line = columns.map { PlotPoint($0.place, layout.y($0.column[keyPath: value], on: panel.axis, in: box)) }
        fill(line, colors: colors, opacity: opacity, in: box)
      }
    }
  }

  /// The band from the dullest to the sharpest in each column, and the line of their mean.
  mutating func drawToneEnvelope(
    of score: PatternScore, paint: PlotDrawing.Paint, _ panel: PlotPanel, in box: PlotBox
  ) {
    let runs = envelope(of: score)
    func lines(_ value: (Column) -> Double) -> [[PlotPoint]] {
      runs.map { $0.map { PlotPoint($0.place, layout.y(value($0.column), on: panel.axis, in: box)) } }
    }
    drawing.fill(zip(lines(\.sharpest), lines(\.dullest)).map { $0 + $1.reversed() }, paint, opacity: 0.3)
    drawing.stroke(lines { $0.sharpnesses / $0.count }, .init(paint: paint, width: 1.5 * scale))
  }
}
