/// Draws a waveform: all it reaches in each column, or its line where there are few samples.
struct WaveDrawing {
  /// The figure that the panel is in.
  let figure: FigureDrawing
  /// The axis of pressure.
  let axis: PlotAxis
  /// Where the panel lies.
  let box: PlotBox

  /// Draws one waveform with its effective value, or a second one over the first.
  func draw(_ first: SoundTrace, over second: SoundTrace?) throws(PlotError) {
    try figure.canvas.clipped(to: box) { () throws(PlotError) in
      let columns = columns(of: first)
      figure.canvas.use(figure.palette.first, opacity: second == nil ? 0.85 : 0.55)
      drawRange(of: first, columns)
      if let second {
        drawEdges(of: second)
      } else {
        drawEffective(columns, of: first)
      }
    }
  }

  /// Samples in a column of one pixel.
  private func samplesPerPixel(_ trace: SoundTrace) -> Double {
    let layout = figure.layout
    return (layout.seconds(at: 1) - layout.seconds(at: 0)) * trace.rate
  }

  private func columns(of trace: SoundTrace) -> SampleColumns {
    SampleColumns(
      trace.samples, rate: trace.rate, samplesPerColumn: samplesPerPixel(trace))
  }

  private func y(_ value: Double) -> Double { figure.layout.y(value, on: axis, in: box) }

  /// Where the columns of a trace lie, each at its middle.
  private func x(_ column: Int, of trace: SoundTrace) -> Double {
    let step = max(1, samplesPerPixel(trace))
    let middle = step > 1 ? 0.5 : 0
    return figure.layout.x((Double(column) + middle) * step / trace.rate)
  }

  private func drawRange(of trace: SoundTrace, _ columns: SampleColumns) {
    if samplesPerPixel(trace) < 2 {
      figure.canvas.stroke(line(of: trace), width: 0.14 * figure.em, isRound: true)
      return
    }
    // Silence is a line, too.
    let least = figure.hairline
    var upper: [PlotPoint] = []
    var lower: [PlotPoint] = []
    for column in columns.high.indices {
      var (top, bottom) = (y(columns.high[column]), y(columns.low[column]))
      if bottom - top < least {
        let middle = (top + bottom) / 2
        (top, bottom) = (middle - least / 2, middle + least / 2)
      }
      let x = x(column, of: trace)
      upper.append(PlotPoint(x, top))
      lower.append(PlotPoint(x, bottom))
    }
    if upper.count > 1 { figure.canvas.fill(upper + lower.reversed()) }
  }

  private func line(of trace: SoundTrace) -> [PlotPoint] {
    PolylineThinning.thinned(
      trace.samples.enumerated().map { index, sample in
        PlotPoint(
          figure.layout.x(Double(index) / trace.rate), y(sample.isFinite ? Double(sample) : 0))
      })
  }

  /// The effective value, above and below.
  private func drawEffective(_ columns: SampleColumns, of trace: SoundTrace) {
    for side in [1.0, -1] {
      let line = PolylineThinning.straightened(
        columns.effective.enumerated().map { column, value in
          PlotPoint(x(column, of: trace), y(side * value))
        }, tolerance: 0.15)
      figure.canvas.use(figure.palette.paper, opacity: 0.6)
      figure.canvas.stroke(line, width: 0.3 * figure.em, isRound: true)
      figure.canvas.use(figure.palette.ink)
      figure.canvas.stroke(line, width: 0.12 * figure.em, isRound: true)
    }
  }

  /// The second of two: its upper and lower edge as dashed lines.
  private func drawEdges(of trace: SoundTrace) {
    let dashes = [0.45 * figure.em, 0.28 * figure.em]
    figure.canvas.use(figure.palette.second)
    if samplesPerPixel(trace) < 2 {
      figure.canvas.stroke(line(of: trace), width: 0.14 * figure.em, dashes: dashes)
      return
    }
    // Edges of columns of half a hundredth of a second follow the level, not each period.
    let pixels = max(1, (0.0125 * trace.rate / samplesPerPixel(trace)).rounded(.up))
    let step = samplesPerPixel(trace) * pixels
    let columns = SampleColumns(trace.samples, rate: trace.rate, samplesPerColumn: step)
    for edge in [columns.high, columns.low] {
      let line = edge.enumerated().map { column, value in
        PlotPoint(figure.layout.x((Double(column) + 0.5) * step / trace.rate), y(value))
      }
      figure.canvas.stroke(line, width: 0.14 * figure.em, dashes: dashes, isRound: false)
    }
  }
}
