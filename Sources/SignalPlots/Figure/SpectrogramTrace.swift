internal import HapticRender
internal import SignalAnalysis

/// A spectrogram to draw, with the range of levels that its colours show.
struct SpectrogramTrace: Sendable {
  /// The levels.
  let spectrogram: Spectrogram
  /// The level of the strongest colour, in dB re a full-scale sine.
  let highest: Int
  /// The frequencies that the profile uses.
  let band: ClosedRange<Double>?
  /// The name of the profile.
  let bandName: String

  /// Decibels from the weakest colour to the strongest: about what is felt beside what is strong.
  static let depth = 60
  /// The greatest number of frames that are measured, whatever the length.
  private static let maximumFrameCount = 1_500.0
  /// The highest frequency that is measured, in hertz.
  private static let reach = 2_000.0
  /// The lowest level whose frequency the axis is made to show, below the strongest.
  private static let shownDepth = 25

  /// Measures a sound.
  init(of signal: Signal, profile: TransducerProfile?) {
    let seconds = signal.duration
    let step = max(0.002, seconds / Self.maximumFrameCount)
    // Windows of 30 to 64 ms resolve tones 70 to 30 Hz apart, shorter ones transients that follow closely. One
    // shorter than the step would miss what is between.
    let window = min(max(min(max(seconds / 16, 0.03), 0.064), 2 * step), 1)
    spectrogram = Spectrogram(
      of: signal, window: window, step: step, upTo: min(Self.reach, signal.rate / 2))
    let peak = spectrogram.decibels.reduce(Float(-200)) { max($0, $1.max() ?? -200) }
    highest = peak < -120 ? 0 : Int((Double(peak) / 10).rounded(.up)) * 10
    band = profile.map {
      min($0.frequency.low, $0.frequency.high)...max($0.frequency.low, $0.frequency.high)
    }
    bandName = profile.map { "band of \($0.name)" } ?? ""
  }

  /// The axis that shows the band and all that is not weak: from 20 Hz, or 10 for the lowest.
  var axis: PlotAxis {
    var top = (band?.upperBound ?? 0) * 1.3
    let least = Float(highest - Self.shownDepth)
    for levels in spectrogram.decibels {
      if let bin = levels.lastIndex(where: { $0 > least }) {
        top = max(top, spectrogram.frequencies[bin])
      }
    }
    let reach = min(Self.reach, spectrogram.frequencies.last ?? Self.reach)
    let end = [200.0, 300, 500, 1_000, 2_000].first { $0 >= top } ?? Self.reach
    let start = (band?.lowerBound ?? 80) < 25 ? 10.0 : 20
    return PlotAxis(range: start...max(2 * start, min(end, reach)), isLogarithmic: true)
  }

  /// How strong each cell of a grid is, 0…1 between the weakest and the strongest colour; rows from above.
  ///
  /// A cell that spans several frames shows the strongest; between frequencies levels are straight lines.
  func shares(
    columns: Int, rows: Int, axis: PlotAxis, seconds: ClosedRange<Double>
  ) -> [Double] {
    var shares = [Double](repeating: 0, count: columns * rows)
    let frames = spectrogram.frameTimes
    guard frames.count > 0, spectrogram.frequencies.count > 1 else { return shares }
    let step = frames.count > 1 ? frames[1] - frames[0] : 1
    let width = spectrogram.frequencies[1]
    let (low, depth) = (Double(highest - Self.depth), Double(Self.depth))
    let length = (seconds.upperBound - seconds.lowerBound) / Double(columns)
    for column in 0..<columns {
      let start = seconds.lowerBound + Double(column) * length
      let first = Int((start / step).rounded())
      let last = max(first, Int(((start + length) / step).rounded()) - 1)
      guard first < frames.count, last >= 0 else { continue }
      for row in 0..<rows {
        let hertz = axis.value(atShare: 1 - (Double(row) + 0.5) / Double(rows))
        let bin = min(Int(hertz / width), spectrogram.frequencies.count - 2)
        let part = min(1, hertz / width - Double(bin))
        var level = -Double.infinity
        for frame in max(0, first)...min(last, frames.count - 1) {
          let levels = spectrogram.decibels[frame]
          level = max(
            level, Double(levels[bin]) + (Double(levels[bin + 1]) - Double(levels[bin])) * part)
        }
        shares[row * columns + column] = min(max((level - low) / depth, 0), 1)
      }
    }
    return shares
  }
}
