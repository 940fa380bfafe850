internal import HapticRender
internal import SignalAnalysis

extension PlotPainter {
  mutating func drawWaveform(_ traces: [SoundTrace]) {
    let isOne = traces.count == 1
    if SoundTrace.showsSamples(in: plot.timeRange) {
      for (index, trace) in traces.enumerated() {
        let ink = PlotDrawing.Stroke(paint: .role(.ink), width: 1.25 * scale)
        drawing.stroke([sampleLine(of: trace)], isOne ? ink : stroke(ofTake: index, width: 1.5))
      }
    } else if layout.isTerminal || isOne {
      for (index, trace) in traces.enumerated() {
        drawMinMax(of: trace, role: isOne ? .signal : .take(index))
      }
    } else {
      drawAreas(
        traces.map(columnPeaks), baseline: y(of: 0), tolerance: 0.006 * axis.range.upperBound,
        isMirrored: true)
    }
  }

  private func sampleLine(of trace: SoundTrace) -> [PlotPoint] {
    LineSimplification.decimated(
      clippedToPanel(
        trace.samples.enumerated().map { index, sample in
          point(
            atTime: trace.start + Double(index) / trace.rate,
            value: sample.isFinite ? Double(sample) : 0)
        }))
  }

  /// How far a sound reaches around each column, and its effective value.
  private mutating func drawMinMax(of trace: SoundTrace, role: PlotRole) {
    // Half a pixel a column, as all columns are.
    let pixel =
      (plot.timeRange.upperBound - plot.timeRange.lowerBound) / (layout.right - layout.left)
    let step = max(1, 0.5 * scale * pixel * trace.rate)
    let columns = SampleColumns(trace.samples, rate: trace.rate, samplesPerColumn: step)
    func places(_ values: [Double], at shares: [Double] = [0.5]) -> [PlotPoint] {
      values.enumerated().flatMap { index, value in
        shares.map { share in
          let seconds = trace.start + (Double(index) + (step > 1 ? share : 0)) * step / trace.rate
          return PlotPoint(min(layout.x(atTime: seconds), box.right), y(of: value))
        }
      }
    }
    if layout.isTerminal {
      // Dots are so few that each column shows its samples alone.
      let reach =
        places(columns.maxima, at: [0, 1]) + places(columns.minima, at: [0, 1]).reversed()
      return drawing.fill([reach], .role(role))
    }
    let reach = Int((Self.peakWindowSeconds / 2 * trace.rate / step).rounded())
    let peaks = SlidingMaximum.of(columns.peaks, radius: reach)
    // Silence is a line, too.
    let least = 0.35 * scale
    let outline = [1.0, -1].map { side in
      LineSimplification.simplified(
        places(peaks.map { $0 * side }).map { PlotPoint($0.x, $0.y - side * least) }, tolerance: 0.2
      )
    }
    drawing.fill([outline[0] + outline[1].reversed()], .role(role))
    let effective = [1.0, -1].map { side in
      LineSimplification.simplified(places(columns.rms.map { $0 * side }), tolerance: 0.15)
    }
    drawing.stroke(effective, .init(paint: .role(.ink), width: 1.25 * scale))
  }

  /// Seconds within which the greatest magnitude counts.
  private static let peakWindowSeconds = 0.006

  private func columnPeaks(of trace: SoundTrace) -> [Double] {
    let step = (plot.timeRange.upperBound - plot.timeRange.lowerBound) / Double(columnCount)
    let columns = SampleColumns(
      trace.samples, rate: trace.rate, samplesPerColumn: max(1, 0.001 * trace.rate))
    let around = SlidingMaximum.of(columns.peaks, radius: Int(Self.peakWindowSeconds / 2 * 1_000))
    return (0..<columnCount).map { column in
      let start = (plot.timeRange.lowerBound + Double(column) * step - trace.start) * 1_000
      let first = max(0, Int(start.rounded()))
      let last = min(around.count - 1, max(first, Int((start + step * 1_000).rounded()) - 1))
      return first <= last ? around[first...last].max() ?? 0 : 0
    }
  }

  /// Draws levels as covers over colours: those of sharpness for one take; grey for what all takes
  /// have and a take's own for what it has more.
  /// - Parameter band: Whether the band of the profile is marked.
  mutating func drawSpectrogram(
    _ traces: [SpectrogramTrace], shownTakes shown: [Int], marksBand band: Bool
  ) {
    // A cell is a pixel across and two down, and at least the step of what is measured.
    let columns = max(1, min(1_500, Int((box.width / scale).rounded(.up))))
    let rows = max(1, Int((box.height / scale / 2).rounded(.up)))
    let shares = traces.map {
      $0.normalizedLevels(
        columnCount: columns, rowCount: rows, axis: axis, timeRange: plot.timeRange)
    }
    func cover(_ paint: PlotDrawing.Paint, _ level: (Int) -> UInt8) {
      let levels = shares[0].indices.map(level)
      drawing.add(
        .raster(PlotDrawing.Raster(coverages: levels, columnCount: columns, box: box, paint: paint))
      )
    }
    if traces.count == 1 {
      cover(spectrogramPaint(for: traces[0].frequencyMapping)) {
        Self.coverage(ofLevel: shares[0][$0])
      }
    } else {
      let both = shares[0].indices.map { cell in shares.map { $0[cell] }.min() ?? 0 }
      cover(.role(.sharedLine)) { Self.coverage(ofLevel: both[$0]) }
      for take in shown {
        // Of two takes one is above the other, of more each is above what all have.
        let own = shares[take]
        cover(.role(.take(take))) { cell in
          min(
            Self.coverage(ofLevel: own[cell]),
            Self.excessCoverage(ofDifference: own[cell] - both[cell]))
        }
      }
    }
    guard band, let law = traces[shown.first ?? 0].frequencyMapping else { return }
    for hertz in [law.low, law.high] where axis.range.contains(hertz) {
      let dashes = [2 * scale, 4 * scale]
      drawing.stroke(
        [horizontalLine(atY: y(of: hertz))],
        .init(paint: .role(.muted), width: scale, dashes: dashes))
    }
  }

  /// How much what only one take has covers, 0…255: two decibels are not seen, twenty-five are all
  /// of it.
  private static func excessCoverage(ofDifference share: Double) -> UInt8 {
    UInt8((255 * min(max((share - 0.035) * 2.6, 0), 0.95)).rounded())
  }

  /// At each frequency the colour of the sharpness that becomes it; without a law the colour of
  /// text.
  private func spectrogramPaint(for law: FrequencyMapping?) -> PlotDrawing.Paint {
    guard let law, law.low > 0, law.high > 0, law.low != law.high else { return .role(.ink) }
    let stops = (0...16).map { step in
      let sharpness = Double(step) / 16
      let share = min(max(axis.fraction(of: law.hertz(atSharpness: sharpness)), 0), 1)
      return PlotDrawing.GradientStop(offset: share, color: Colormap.sharpness.color(at: sharpness))
    }
    return .gradient(
      stops.sorted { $0.offset < $1.offset }, from: PlotPoint(0, box.bottom),
      to: PlotPoint(0, box.top))
  }
}
