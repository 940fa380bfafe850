internal import CMath
internal import HapticRender

/// Draws waveforms with characters: dots of braille, eight to a character, or ASCII.
struct TerminalWaveform {
  /// What can be shown.
  let style: TerminalStyle
  /// The seconds that are shown.
  let span: ClosedRange<Double>
  /// The axis of pressure.
  let axis: PlotAxis
  /// Columns that time has.
  let width: Int

  /// Rows of a waveform, and of each of several.
  private static let rows = (one: 7, several: 5)

  /// The bits of a character's dots, by row and column of dots.
  private static let bits: [[UInt8]] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]]

  /// One of some waveforms; characters that all have alike are in the first colour, others in the second.
  func sheet(of traces: [SoundTrace], index: Int, colors: (common: PlotColor, own: PlotColor)) -> TerminalSheet {
    let rows = traces.count == 1 ? Self.rows.one : Self.rows.several
    let bits = traces.map { dots(of: $0, rows: rows) }
    var sheet = TerminalSheet(width: width, height: rows)
    for (place, own) in bits[index].enumerated() where own != 0 {
      let isShared = bits.allSatisfy { $0[place] == own }
      let color = traces.count == 1 ? nil : (isShared ? colors.common : colors.own)
      sheet[place / width, place % width] = TerminalSheet.Cell(character: character(own), color: color)
    }
    return sheet
  }

  /// The dots of all characters, row by row.
  private func dots(of trace: SoundTrace, rows: Int) -> [UInt8] {
    let (across, down) = style.unicode ? (2, 4) : (1, 2)
    let dots = (columns: width * across, rows: rows * down)
    let step = (span.upperBound - span.lowerBound) * trace.rate / Double(dots.columns)
    let offset = (trace.start - span.lowerBound) * trace.rate
    let columns = SampleColumns(trace.samples, rate: trace.rate, samplesPerColumn: step)
    var bits = [UInt8](repeating: 0, count: width * rows)
    for index in columns.high.indices {
      // Where samples are fewer than dots, each is at its own time.
      let column = Int((Double(index) * max(1, step) + offset) / step + 1e-6)
      guard (0..<dots.columns).contains(column) else { continue }
      let top = row(columns.high[index], of: dots.rows)
      let bottom = row(columns.low[index], of: dots.rows)
      for row in top...max(top, bottom) {
        bits[row / down * width + column / across] |= Self.bits[row % down][column % across]
      }
    }
    return bits
  }

  private func row(_ value: Double, of count: Int) -> Int {
    let place = (1 - axis.share(of: value)) * Double(count)
    // What is far outside the axis has no row, but is seen at the edge.
    return Int(min(max(place, 0), Double(count - 1)))
  }

  private func character(_ bits: UInt8) -> Character {
    if style.unicode { return style.dots(bits) }
    return bits.nonzeroBitCount > 1 ? "#" : (bits & 1 != 0 ? "'" : ".")
  }
}

/// Draws spectrograms with characters: shades in the colours of the sharpness that becomes a frequency.
struct TerminalSpectrogram {
  /// What can be shown.
  let style: TerminalStyle
  /// The seconds that are shown.
  let span: ClosedRange<Double>
  /// The axis of frequency.
  let axis: PlotAxis
  /// Columns that time has.
  let width: Int

  /// Rows of a spectrogram, and of each of several.
  private static let rows = (one: 8, several: 5)
  /// What of the range of levels one take must have more to be seen: three decibels.
  private static let leastExcess = 0.05

  /// One of some spectrograms; cells that all have alike are in the first colour, others in the second.
  func sheet(of traces: [SpectrogramTrace], index: Int, colors: (common: PlotColor, own: PlotColor)) -> TerminalSheet {
    let rows = traces.count == 1 ? Self.rows.one : Self.rows.several
    let shares = traces.map { $0.shares(columns: width, rows: rows, axis: axis, seconds: span) }
    var sheet = TerminalSheet(width: width, height: rows)
    for (place, share) in shares[index].enumerated() {
      let least = shares.map { $0[place] }.min() ?? share
      let isApart = share - least > Self.leastExcess
      let color = traces.count == 1 ? nil : (isApart ? colors.own : colors.common)
      // Without colours only what a take has more is dark.
      let shown = traces.count == 1 || style.colors || isApart ? share : min(share, 0.3)
      sheet[place / width, place % width] = TerminalSheet.Cell(
        character: style.shade(shown),
        color: shown > 0 ? color ?? sharpness(of: place / width, rows, traces[index]) : nil)
    }
    return sheet
  }

  /// The colour of a row's frequency; nil where no law is known.
  private func sharpness(of row: Int, _ rows: Int, _ trace: SpectrogramTrace) -> PlotColor? {
    guard let law = trace.law, law.low > 0, law.high > law.low else { return nil }
    let hertz = axis.value(atShare: 1 - (Double(row) + 0.5) / Double(rows))
    return Colormap.sharpness.color(at: log(hertz / law.low) / log(law.high / law.low))
  }
}
