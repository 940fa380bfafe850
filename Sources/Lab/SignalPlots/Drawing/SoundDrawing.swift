internal import HapticRender
internal import SignalAnalysis

extension FigureDrawing {
  mutating func drawWaveform(_ traces: [SoundTrace]) {
    let isOne = traces.count == 1
    if SoundTrace.isFine(plot.span) {
      for (index, trace) in traces.enumerated() {
        let ink = PlotDrawing.Stroke(paint: .role(.ink), width: 1.25 * scale)
        drawing.stroke([line(of: trace)], isOne ? ink : stroke(of: index, width: 1.5))
      }
    } else if layout.isText || isOne {
      for (index, trace) in traces.enumerated() {
        drawReach(of: trace, as: isOne ? .signal : .take(index))
      }
    } else {
      drawAreas(
        traces.map(peaks), ground: y(0), least: 0.006 * axis.range.upperBound, isMirrored: true)
    }
  }

  private func line(of trace: SoundTrace) -> [PlotPoint] {
    PolylineThinning.thinned(
      visible(
        trace.samples.enumerated().map { index, sample in
          at(trace.start + Double(index) / trace.rate, sample.isFinite ? Double(sample) : 0)
        }))
  }

  /// How far a sound reaches around each column, and its effective value.
  private mutating func drawReach(of trace: SoundTrace, as role: PlotRole) {
    // Half a pixel a column, as all columns are.
    let pixel = (plot.span.upperBound - plot.span.lowerBound) / (layout.right - layout.left)
    let step = max(1, 0.5 * scale * pixel * trace.rate)
    let columns = SampleColumns(trace.samples, rate: trace.rate, samplesPerColumn: step)
    func places(_ values: [Double], at shares: [Double] = [0.5]) -> [PlotPoint] {
      values.enumerated().flatMap { index, value in
        shares.map { share in
          let seconds = trace.start + (Double(index) + (step > 1 ? share : 0)) * step / trace.rate
          return PlotPoint(min(layout.x(seconds), box.right), y(value))
        }
      }
    }
    if layout.isText {
      // Dots are so few that each column shows its samples alone.
      let reach = places(columns.high, at: [0, 1]) + places(columns.low, at: [0, 1]).reversed()
      return drawing.fill([reach], .role(role))
    }
    let reach = Int((Self.peakSeconds / 2 * trace.rate / step).rounded())
    let peaks = SlidingMaximum.of(columns.magnitudes, reach: reach)
    // Silence is a line, too.
    let least = 0.35 * scale
    let outline = [1.0, -1].map { side in
      PolylineThinning.straightened(
        places(peaks.map { $0 * side }).map { PlotPoint($0.x, $0.y - side * least) }, tolerance: 0.2
      )
    }
    drawing.fill([outline[0] + outline[1].reversed()], .role(role))
    let effective = [1.0, -1].map { side in
      PolylineThinning.straightened(places(columns.effective.map { $0 * side }), tolerance: 0.15)
    }
    drawing.stroke(effective, .init(paint: .role(.ink), width: 1.25 * scale))
  }

  /// Seconds within which the greatest magnitude counts.
  private static let peakSeconds = 0.006

  private func peaks(of trace: SoundTrace) -> [Double] {
    let step = (plot.span.upperBound - plot.span.lowerBound) / Double(columnCount)
    let columns = SampleColumns(
      trace.samples, rate: trace.rate, samplesPerColumn: max(1, 0.001 * trace.rate))
    let around = SlidingMaximum.of(columns.magnitudes, reach: Int(Self.peakSeconds / 2 * 1_000))
    return (0..<columnCount).map { column in
      let start = (plot.span.lowerBound + Double(column) * step - trace.start) * 1_000
      let first = max(0, Int(start.rounded()))
      let last = min(around.count - 1, max(first, Int((start + step * 1_000).rounded()) - 1))
      return first <= last ? around[first...last].max() ?? 0 : 0
    }
  }

  /// Draws levels as covers over colours: those of sharpness for one take; grey for what all takes
  /// have and a take's own for what it has more.
  /// - Parameter band: Whether the band of the profile is marked.
  mutating func drawSpectrogram(_ traces: [SpectrogramTrace], shown: [Int], band: Bool) {
    // A cell is a pixel across and two down, and at least the step of what is measured.
    let columns = max(1, min(1_500, Int((box.width / scale).rounded(.up))))
    let rows = max(1, Int((box.height / scale / 2).rounded(.up)))
    let shares = traces.map {
      $0.shares(columns: columns, rows: rows, axis: axis, seconds: plot.span)
    }
    func cover(_ paint: PlotDrawing.Paint, _ level: (Int) -> UInt8) {
      let levels = shares[0].indices.map(level)
      drawing.add(
        .raster(PlotDrawing.Raster(levels: levels, columns: columns, box: box, paint: paint)))
    }
    if traces.count == 1 {
      cover(sharpnessPaint(of: traces[0].law)) { Self.coverage(shares[0][$0]) }
    } else {
      let both = shares[0].indices.map { cell in shares.map { $0[cell] }.min() ?? 0 }
      cover(.role(.equalLine)) { Self.coverage(both[$0]) }
      for take in shown {
        // Of two takes one is above the other, of more each is above what all have.
        let own = shares[take]
        cover(.role(.take(take))) { cell in
          min(Self.coverage(own[cell]), Self.excess(own[cell] - both[cell]))
        }
      }
    }
    guard band, let law = traces[shown.first ?? 0].law else { return }
    for hertz in [law.low, law.high] where axis.range.contains(hertz) {
      let dashes = [2 * scale, 4 * scale]
      drawing.stroke([across(y(hertz))], .init(paint: .role(.muted), width: scale, dashes: dashes))
    }
  }

  /// How much what only one take has covers, 0…255: two decibels are not seen, twenty-five are all
  /// of it.
  private static func excess(_ share: Double) -> UInt8 {
    UInt8((255 * min(max((share - 0.035) * 2.6, 0), 0.95)).rounded())
  }

  /// At each frequency the colour of the sharpness that becomes it; without a law the colour of
  /// text.
  private func sharpnessPaint(of law: FrequencyMapping?) -> PlotDrawing.Paint {
    guard let law, law.low > 0, law.high > 0, law.low != law.high else { return .role(.ink) }
    let stops = (0...16).map { step in
      let sharpness = Double(step) / 16
      let share = min(max(axis.share(of: law.hertz(atSharpness: sharpness)), 0), 1)
      return PlotDrawing.Stop(share: share, color: Colormap.sharpness.color(at: sharpness))
    }
    return .gradient(
      stops.sorted { $0.share < $1.share }, from: PlotPoint(0, box.bottom),
      to: PlotPoint(0, box.top))
  }
}
