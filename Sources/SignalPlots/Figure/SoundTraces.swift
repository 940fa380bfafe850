internal import CMath
internal import HapticRender
internal import SignalAnalysis

/// Samples to draw, from a second on.
struct SoundTrace: Sendable {
  /// Samples of one channel.
  var samples: [Float]
  /// Frames per second.
  var rate: Double
  /// The second of the first sample.
  var start = 0.0

  /// The greatest magnitude among the samples that are finite.
  var peak: Double { Double(samples.reduce(Float(0)) { $1.isFinite ? max($0, abs($1)) : $0 }) }

  /// Whether a part of time is so short that samples are drawn themselves, not how far they reach.
  static func isFine(_ span: ClosedRange<Double>) -> Bool { span.upperBound - span.lowerBound < 0.16 }
}

/// A spectrogram to draw, with the levels that its colours show.
struct SpectrogramTrace: Sendable {
  /// Seconds that one spectrum looks at.
  let window: Double
  /// The level of the strongest colour, in dB re a full-scale sine.
  fileprivate(set) var highest = 0
  /// The frequencies that are used, where they are known.
  let law: FrequencyMapping?
  private let spectrogram: Spectrogram
  /// The second of the first frame.
  private let start: Double

  /// Decibels from the weakest colour to the strongest: about what is felt beside what is strong.
  static let depth = 60
  /// The greatest number of frames that are measured, whatever the length.
  private static let maximumFrameCount = 12_000.0
  /// The highest frequency that is measured, in hertz.
  private static let reach = 2_000.0

  /// Measures the part of a take that is shown; nil without a sound.
  init?(of take: PlotTake, span: ClosedRange<Double>) {
    let seconds = span.upperBound - span.lowerBound
    let step = max(0.002, seconds / Self.maximumFrameCount)
    // Windows of 30 to 64 ms resolve tones 70 to 30 Hz apart, shorter ones transients that follow closely.
    // One shorter than the step would miss what is between.
    let window = min(max(min(max(seconds / 16, 0.03), 0.064), 2 * step), 1)
    guard let part = take.part(span, margin: window) else { return nil }
    self.window = window
    start = part.start
    spectrogram = Spectrogram(of: part.signal, window: window, step: step, upTo: min(Self.reach, part.signal.rate / 2))
    law = take.profile?.frequency
  }

  /// What spectrograms over one another have in common.
  struct Scale {
    /// The axis of frequency.
    let axis: PlotAxis
    /// The level of the strongest colour, in dB re a full-scale sine.
    let highest: Int
    /// The lowest level whose frequency the axis is made to show, below the strongest.
    private static let shownDepth = 25

    /// The scale on which all of some spectrograms can be read, which they then have; nil for none.
    init?(of traces: inout [SpectrogramTrace]) {
      guard !traces.isEmpty else { return nil }
      let peaks = traces.flatMap { $0.spectrogram.decibels.map { $0.max() ?? -200 } }
      let peak = Double(peaks.max() ?? -200)
      // Steps of 20 dB, so that pictures of usual levels have one scale.
      let highest = peak < -120 ? 0 : Int((peak / 20).rounded(.up)) * 20
      var low = traces.compactMap { $0.law.map { min($0.low, $0.high) } }.min() ?? 80
      var high = (traces.compactMap { $0.law.map { max($0.low, $0.high) } }.max() ?? 0) * 1.3
      for trace in traces {
        let frequencies = trace.spectrogram.frequencies
        for levels in trace.spectrogram.decibels {
          let isShown = { (level: Float) in Int(level) > highest - Self.shownDepth }
          if let bin = levels.lastIndex(where: isShown) { high = max(high, frequencies[bin]) }
          // Below the strongest there is the width of the window only.
          if let most = levels.max(), isShown(most), let bin = levels.firstIndex(of: most) {
            low = min(low, frequencies[bin])
          }
        }
      }
      let reach = traces.map { $0.spectrogram.frequencies.last ?? SpectrogramTrace.reach }.max()
      let top = [500.0, 1_000].first { $0 >= high } ?? SpectrogramTrace.reach
      let bottom = [40.0, 20].first { $0 <= low } ?? 10
      axis = PlotAxis(range: bottom...max(2 * bottom, min(top, reach ?? top)), isLogarithmic: true)
      self.highest = highest
      for index in traces.indices { traces[index].highest = highest }
    }
  }

  /// How strong each cell of a grid is, 0…1 between the weakest and the strongest colour; rows from above.
  ///
  /// A cell that spans several frames shows the strongest; between frequencies levels are straight lines.
  func shares(columns: Int, rows: Int, axis: PlotAxis, seconds: ClosedRange<Double>) -> [Double] {
    var shares = [Double](repeating: 0, count: columns * rows)
    let frames = spectrogram.frameTimes
    guard frames.count > 0, spectrogram.frequencies.count > 1 else { return shares }
    let step = frames.count > 1 ? frames[1] - frames[0] : 1
    let width = spectrogram.frequencies[1]
    let (low, depth) = (Double(highest - Self.depth), Double(Self.depth))
    let length = (seconds.upperBound - seconds.lowerBound) / Double(columns)
    let bins = (0..<rows).map { row in axis.value(atShare: 1 - (Double(row) + 0.5) / Double(rows)) / width }
    for column in 0..<columns {
      let start = seconds.lowerBound - start + Double(column) * length
      let first = Int((start / step).rounded())
      let last = max(first, Int(((start + length) / step).rounded()) - 1)
      guard first < frames.count, last >= 0 else { continue }
      for row in 0..<rows {
        let bin = min(Int(bins[row]), spectrogram.frequencies.count - 2)
        let part = min(1, bins[row] - Double(bin))
        var level = -Double.infinity
        for frame in max(0, first)...min(last, frames.count - 1) {
          let levels = spectrogram.decibels[frame]
          level = max(level, Double(levels[bin]) + (Double(levels[bin + 1]) - Double(levels[bin])) * part)
        }
        shares[row * columns + column] = min(max((level - low) / depth, 0), 1)
      }
    }
    return shares
  }
}
