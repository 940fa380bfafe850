internal import SignalAnalysis

/// Draws a waveform: all it reaches in each column, or its line where there are few samples.
struct WaveformDrawing {
  /// The figure that the panel is in.
  let figure: FigureDrawing
  /// The axis of pressure.
  let axis: PlotAxis
  /// Where the panel lies.
  let box: PlotBox

  /// Draws one waveform with its effective value, or a second one over the first.
  func draw(_ first: SoundTrace, over second: SoundTrace?) throws(PlotError) {
    try figure.canvas.clipped(to: box) { () throws(PlotError) in
      if let second {
        drawCompared(first, second)
      } else {
        let columns = columns(of: first)
        figure.canvas.use(figure.palette.first, opacity: 0.85)
        drawRange(of: first, columns)
        drawEffective(columns, of: first)
      }
    }
  }

  /// From how many pixels in ten milliseconds on two waveforms are drawn themselves, not their envelopes.
  private static let finePixels = 20.0

  /// The first as a shape, the second as a dashed line over it.
  private func drawCompared(_ first: SoundTrace, _ second: SoundTrace) {
    let layout = figure.layout
    let dashes = [0.45 * figure.em, 0.28 * figure.em]
    if (layout.x(0.01) - layout.x(0)) >= Self.finePixels {
      figure.canvas.use(figure.palette.first)
      figure.canvas.stroke(line(of: first), width: 0.2 * figure.em, isRound: true)
      figure.canvas.use(figure.palette.second)
      figure.canvas.stroke(line(of: second), width: 0.14 * figure.em, dashes: dashes)
      return
    }
    let shape = edge(of: first)
    figure.canvas.use(figure.palette.first, opacity: 0.7)
    figure.canvas.fill(shape.map { PlotPoint($0.x, 2 * y(0) - $0.y) } + shape.reversed())
    figure.canvas.stroke(
      [PlotPoint(layout.timeLeft, y(0)), PlotPoint(layout.x(first.duration), y(0))],
      width: 0.1 * figure.em)
    figure.canvas.use(figure.palette.second)
    let upper = edge(of: second)
    for line in [upper, upper.map { PlotPoint($0.x, 2 * y(0) - $0.y) }] {
      figure.canvas.stroke(line, width: 0.14 * figure.em, dashes: dashes)
    }
  }

  /// The envelope of a sound, above zero.
  private func edge(of trace: SoundTrace) -> [PlotPoint] {
    let step = max(0.001, trace.duration / 20_000)
    let envelope = AmplitudeEnvelope(of: Signal(trace.samples, rate: trace.rate), step: step)
    return PolylineThinning.straightened(
      PolylineThinning.thinned(
        envelope.values.enumerated().map {
          PlotPoint(figure.layout.x(Double($0.offset) * envelope.step), y(Double($0.element)))
        }), tolerance: 0.15)
  }

  /// Samples in a column of one pixel.
  private func samplesPerPixel(_ trace: SoundTrace) -> Double {
    let layout = figure.layout
    return (layout.seconds(at: 1) - layout.seconds(at: 0)) * trace.rate
  }

  private func columns(of trace: SoundTrace) -> SampleColumns {
    SampleColumns(trace.samples, rate: trace.rate, samplesPerColumn: samplesPerPixel(trace))
  }

  private func y(_ value: Double) -> Double { figure.layout.y(value, on: axis, in: box) }

  /// Where the columns of a trace lie, each at its middle.
  private func x(_ column: Int, of trace: SoundTrace) -> Double {
    let step = max(1, samplesPerPixel(trace))
    return figure.layout.x((Double(column) + (step > 1 ? 0.5 : 0)) * step / trace.rate)
  }

  private func drawRange(of trace: SoundTrace, _ columns: SampleColumns) {
    if samplesPerPixel(trace) < 2 {
      figure.canvas.stroke(line(of: trace), width: 0.14 * figure.em, isRound: true)
      return
    }
    // Silence is a line, too.
    let least = 0.12 * figure.em
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
        columns.effective.enumerated().map {
          PlotPoint(x($0.offset, of: trace), y(side * $0.element))
        }, tolerance: 0.15)
      figure.canvas.use(figure.palette.paper, opacity: 0.6)
      figure.canvas.stroke(line, width: 0.3 * figure.em, isRound: true)
      figure.canvas.use(figure.palette.ink)
      figure.canvas.stroke(line, width: 0.12 * figure.em, isRound: true)
    }
  }
}

/// Draws a spectrogram as cells of colour, with the profile's band marked by dashed lines.
struct SpectrogramDrawing {
  /// The figure that the panel is in.
  let figure: FigureDrawing
  /// The axis of frequency.
  let axis: PlotAxis
  /// Where the panel lies.
  let box: PlotBox

  /// Draws a spectrogram.
  func draw(_ trace: SpectrogramTrace) throws(PlotError) {
    try figure.canvas.clipped(to: box) { () throws(PlotError) in
      let layout = figure.layout
      let columns = Int(((layout.timeRight - layout.timeLeft) / figure.cellSize).rounded(.up))
      let rows = Int((box.height / figure.cellSize).rounded(.up))
      // A cell ends inside the time that the sound lasts, and the last may reach a little farther.
      let area = PlotBox(
        left: layout.timeLeft, top: box.top,
        right: layout.timeLeft + Double(columns) * figure.cellSize,
        bottom: box.top + Double(rows) * figure.cellSize)
      let shares = trace.shares(
        columns: columns, rows: rows, axis: axis,
        seconds: layout.seconds(at: area.left)...layout.seconds(at: area.right))
      // Few colours make small files, and more cannot be distinguished.
      let colors = (0...Self.steps).map {
        figure.palette.energy.color(at: Double($0) / Double(Self.steps)).packed
      }
      try figure.canvas.drawCells(
        shares.map { colors[Int(($0 * Double(Self.steps)).rounded())] }, columns: columns,
        over: area)
      if let band = trace.band { draw(band) }
    }
  }

  /// Steps between the weakest and the strongest colour.
  private static let steps = 48

  private func draw(_ band: ClosedRange<Double>) {
    let em = figure.em
    for hertz in [band.lowerBound, band.upperBound] {
      let y = figure.sharp(figure.layout.y(hertz, on: axis, in: box))
      let line = [PlotPoint(box.left, y), PlotPoint(box.right, y)]
      figure.canvas.use(figure.palette.ink)
      figure.canvas.stroke(line, width: 0.1 * em, dashes: [0.3 * em, 0.25 * em])
    }
  }
}
