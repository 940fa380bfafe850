internal import HapticRender
internal import SignalAnalysis

/// Draws waveforms and spectrograms.
extension PlotPainter {
  /// The window for measuring each waveform peak, in seconds.
  private static let peakWindowSeconds = 0.006

  /// Draws waveforms as lines through the samples, or as peaks with RMS.
  ///
  /// Lines are drawn in a short time range.
  mutating func drawWaveform(_ traces: [SoundTrace]) {
    let isOverlay = traces.count > 1
    if SoundTrace.showsSamples(in: plot.timeRangeSeconds) {
      let ink = PlotDrawing.Stroke(paint: .role(.foreground), widthPixels: 1.25 * drawingScale)
      for (take, trace) in traces.enumerated() {
        let stroke = isOverlay ? stroke(ofTake: take, width: 1.5) : ink
        drawing.stroke([sampleLine(of: trace)], stroke)
      }
    } else if layout.usesTerminalCells || !isOverlay {
      for (take, trace) in traces.enumerated() {
        drawSampleExtremes(of: trace, role: isOverlay ? .take(take) : .signal)
      }
    } else {
      drawAreas(
        traces.map(columnPeaks), baseline: y(of: 0),
        tolerance: 0.006 * currentPanelAxis.valueRange.upperBound,
        isMirrored: true)
    }
  }

  private func sampleLine(of trace: SoundTrace) -> [PlotPoint] {
    let samplePoints = trace.samples.enumerated().map { index, sample in
      point(
        atTime: trace.startSeconds + Double(index) / trace.sampleRate,
        value: sample.isFinite ? Double(sample) : 0)
    }
    return LineSimplification.decimated(clippedToPanel(samplePoints))
  }

  /// Draws the area between the negative and positive peaks of a sound, and its RMS on both sides.
  private mutating func drawSampleExtremes(of trace: SoundTrace, role: PlotColorRole) {
    // A column is half a pixel wide, like the columns of all panels.
    let secondsPerPixel =
      (plot.timeRangeSeconds.upperBound - plot.timeRangeSeconds.lowerBound)
      / (layout.panelRight - layout.panelLeft)
    let samplesPerColumn = max(1, 0.5 * drawingScale * secondsPerPixel * trace.sampleRate)
    let sampleColumns = SampleColumns(
      trace.samples, rate: trace.sampleRate, samplesPerColumn: samplesPerColumn)
    func samplePolyline(_ values: [Double], atFractions fractions: [Double] = [0.5]) -> [PlotPoint]
    {
      values.enumerated().flatMap { index, value in
        fractions.map { fraction in
          let position = Double(index) + (samplesPerColumn > 1 ? fraction : 0)
          let seconds = trace.startSeconds + position * samplesPerColumn / trace.sampleRate
          return PlotPoint(min(layout.x(atTime: seconds), currentPanelBox.right), y(of: value))
        }
      }
    }
    if layout.usesTerminalCells {
      // The dots of a terminal are so coarse that each column shows only its own samples.
      let upperLine = samplePolyline(sampleColumns.maximumSamples, atFractions: [0, 1])
      let lowerLine = samplePolyline(sampleColumns.minimumSamples, atFractions: [0, 1])
      return drawing.fill([upperLine + lowerLine.reversed()], .role(role))
    }
    let peakRadiusColumns = Int(
      (Self.peakWindowSeconds / 2 * trace.sampleRate / samplesPerColumn).rounded())
    let peakMagnitudes = SlidingExtremum.maximum(
      of: sampleColumns.peakMagnitudes, radius: peakRadiusColumns)
    // The minimum height makes silence a visible line.
    let minimumHalfHeight = 0.35 * drawingScale
    let peakOutlines = [1.0, -1].map { sign in
      let points = samplePolyline(peakMagnitudes.map { $0 * sign })
      let raised = points.map { PlotPoint($0.x, $0.y - sign * minimumHalfHeight) }
      return LineSimplification.simplified(raised, tolerance: 0.2)
    }
    drawing.fill([peakOutlines[0] + peakOutlines[1].reversed()], .role(role))
    let rmsLines = [1.0, -1].map { sign in
      LineSimplification.simplified(
        samplePolyline(sampleColumns.rmsLevels.map { $0 * sign }), tolerance: 0.15)
    }
    drawing.stroke(rmsLines, .init(paint: .role(.foreground), widthPixels: 1.25 * drawingScale))
  }

  /// Returns the peak of a sound in each column of the time axis.
  ///
  /// The peaks are computed from the peaks of each millisecond.
  private func columnPeaks(of trace: SoundTrace) -> [Double] {
    let columnSeconds =
      (plot.timeRangeSeconds.upperBound - plot.timeRangeSeconds.lowerBound)
      / Double(timeColumnCount)
    let millisecondColumns = SampleColumns(
      trace.samples, rate: trace.sampleRate, samplesPerColumn: max(1, 0.001 * trace.sampleRate))
    let peakRadiusMilliseconds = Int(Self.peakWindowSeconds / 2 * 1_000)
    let peakMagnitudes = SlidingExtremum.maximum(
      of: millisecondColumns.peakMagnitudes, radius: peakRadiusMilliseconds)
    return (0..<timeColumnCount).map { column in
      let start =
        (plot.timeRangeSeconds.lowerBound + Double(column) * columnSeconds - trace.startSeconds)
        * 1_000
      let first = max(0, Int(start.rounded()))
      let last = min(
        peakMagnitudes.count - 1, max(first, Int((start + columnSeconds * 1_000).rounded()) - 1))
      return first <= last ? peakMagnitudes[first...last].max() ?? 0 : 0
    }
  }

  /// Draws spectrograms, with levels as opacities.
  ///
  /// A single take has the colors of sharpness. In an overlay, the common part is gray, and the
  /// excess of a take has the take's color.
  ///
  /// - Parameters:
  ///   - traces: The spectrograms of all takes.
  ///   - shownTakes: The indices of the takes whose excess is drawn.
  ///   - marksBand: True to mark the band of the profile.
  mutating func drawSpectrogram(
    _ traces: [SpectrogramTrace], shownTakes: [Int], marksBand: Bool
  ) {
    // A cell is one pixel wide and two pixels high.
    let columnCount = max(1, min(1_500, Int((currentPanelBox.width / drawingScale).rounded(.up))))
    let rowCount = max(1, Int((currentPanelBox.height / drawingScale / 2).rounded(.up)))
    let levelsByTake = traces.map { trace in
      trace.normalizedLevels(
        columnCount: columnCount, rowCount: rowCount, axis: currentPanelAxis,
        timeRange: plot.timeRangeSeconds)
    }
    let cellIndices = levelsByTake[0].indices
    func addRaster(_ paint: PlotDrawing.Paint, coverage: (Int) -> UInt8) {
      let raster = PlotDrawing.Raster(
        cellOpacities: cellIndices.map(coverage), columnCount: columnCount,
        filledBox: currentPanelBox,
        paint: paint)
      drawing.add(.raster(raster))
    }
    if traces.count == 1 {
      addRaster(spectrogramPaint(for: traces[0].frequencyMapping)) { cell in
        Self.coverage(ofLevel: levelsByTake[0][cell])
      }
    } else {
      let minima = cellIndices.map { cell in levelsByTake.map { $0[cell] }.min() ?? 0 }
      addRaster(.role(.sharedLine)) { cell in
        Self.coverage(ofLevel: minima[cell])
      }
      for take in shownTakes {
        let takeLevels = levelsByTake[take]
        addRaster(.role(.take(take))) { cell in
          let excess = Self.excessCoverage(ofDifference: takeLevels[cell] - minima[cell])
          return min(Self.coverage(ofLevel: takeLevels[cell]), excess)
        }
      }
    }
    guard marksBand, let bandMapping = traces[shownTakes.first ?? 0].frequencyMapping else {
      return
    }
    for hertz in [bandMapping.lowHertz, bandMapping.highHertz]
    where currentPanelAxis.valueRange.contains(hertz) {
      let stroke = PlotDrawing.Stroke(
        paint: .role(.muted), widthPixels: drawingScale,
        dashPixelLengths: [2 * drawingScale, 4 * drawingScale])
      drawing.stroke([horizontalLine(atY: y(of: hertz))], stroke)
    }
  }

  /// Returns the opacity 0…255 for one take's excess over the others, in decibels.
  ///
  /// An excess of 2 dB is invisible; 25 dB has the maximum opacity.
  private static func excessCoverage(ofDifference difference: Double) -> UInt8 {
    UInt8((255 * min(max((difference - 0.035) * 2.6, 0), 0.95)).rounded())
  }

  /// Returns the paint of a spectrogram: a vertical gradient of sharpness colors.
  ///
  /// Each frequency has the color of the sharpness that a profile maps to it. Without a mapping,
  /// returns the color of text.
  private func spectrogramPaint(for mapping: FrequencyMapping?) -> PlotDrawing.Paint {
    guard let mapping, mapping.lowHertz > 0, mapping.highHertz > 0,
      mapping.lowHertz != mapping.highHertz
    else {
      return .role(.foreground)
    }
    let gradientStops = (0...16).map { step in
      let sharpness = Double(step) / 16
      let fraction = currentPanelAxis.fraction(of: mapping.hertz(atSharpness: sharpness))
      return PlotDrawing.GradientStop(
        positionFraction: min(max(fraction, 0), 1), color: Colormap.sharpness.color(at: sharpness))
    }
    return .gradient(
      gradientStops.sorted { $0.positionFraction < $1.positionFraction },
      from: PlotPoint(0, currentPanelBox.bottom),
      to: PlotPoint(0, currentPanelBox.top))
  }
}
