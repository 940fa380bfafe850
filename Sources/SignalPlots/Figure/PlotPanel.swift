internal import Glibc
internal import HapticModel
internal import HapticRender
internal import SignalAnalysis

/// One of the panels of a figure, which share an axis of time.
struct PlotPanel: Sendable {
  /// What is drawn.
  enum Content: Sendable {
    /// One score, or a second one mirrored below it.
    case score(PatternScore, mirrored: PatternScore?)
    /// The audio events of a score.
    case audio(PatternScore)
    /// One sound, or a second one over it.
    case waveform(SoundTrace, over: SoundTrace?)
    /// The frequencies of a sound.
    case spectrogram(SpectrogramTrace)
  }

  /// One entry that explains a sign.
  enum LegendEntry: Equatable, Sendable {
    /// The scale of sharpness.
    case sharpness
    /// The curve of intensity control.
    case intensityControl
    /// The curve of sharpness control.
    case sharpnessControl
    /// The first or only signal, and its name.
    case first(String)
    /// The second signal and its name.
    case second(String)
    /// The line of effective values.
    case effective
    /// A scale of decibels from one value up to another.
    case decibels(from: Int, to: Int)
    /// The profile's band, and its name.
    case band(String)
  }

  /// The caption above it.
  var caption: String
  /// What is drawn.
  var content: Content
  /// The axis at its left.
  var axis: PlotAxis
  /// Labels of the left axis that are not round values of it.
  var ownTicks: [AxisTick]? = nil
  /// The ticks of an axis at its right, as values of the left axis.
  var rightTicks: [AxisTick] = []
  /// What its signs mean.
  var legend: [LegendEntry] = []
  /// Its height, in heights of a line of text.
  var lines: Double

  /// What is said where there is nothing to draw.
  var remark: String? {
    switch content {
    case .score(let score, let other):
      score.hapticEvents.isEmpty && other?.hapticEvents.isEmpty ?? true ? "no haptic events" : nil
    case .waveform(let trace, nil): trace.peak == 0 ? "silence" : nil
    default: nil
    }
  }

  /// A score, with a lane below it where it has audio events.
  static func score(_ score: PatternScore) -> [PlotPanel] {
    var panels: [PlotPanel] = []
    if score.audioEvents.isEmpty || !score.hapticEvents.isEmpty || !score.curves.isEmpty {
      var panel = PlotPanel(
        caption: "Score: intensity", content: .score(score, mirrored: nil),
        axis: PlotAxis(range: 0...1.08), legend: [.sharpness], lines: 15)
      panel.ownTicks = [0, 0.25, 0.5, 0.75, 1].map {
        AxisTick($0, AxisTick.text($0, places: $0 == 0 || $0 == 1 ? 0 : ($0 == 0.5 ? 1 : 2)))
      }
      for id in [DynamicParameterID.hapticIntensityControl, .hapticSharpnessControl]
      where score.curves.contains(where: { $0.id == id }) {
        switch id {
        case .hapticIntensityControl: panel.legend.append(.intensityControl)
        case .hapticSharpnessControl:
          panel.legend.append(.sharpnessControl)
          panel.rightTicks = [-1, -0.5, 0, 0.5, 1].map {
            AxisTick(
              ($0 + 1) / 2,
              ($0 > 0 ? "+" : "") + AxisTick.text($0, places: $0 == 0.5 || $0 == -0.5 ? 1 : 0))
          }
        default: continue
        }
      }
      panels.append(panel)
    }
    if !score.audioEvents.isEmpty {
      panels.append(
        PlotPanel(
          caption: "Audio: volume", content: .audio(score), axis: PlotAxis(range: 0...1.08),
          ownTicks: [AxisTick(0, "0"), AxisTick(1, "1")], lines: 4.5))
    }
    return panels
  }

  /// Two scores, one upwards and one downwards.
  static func scores(_ above: PatternScore, _ below: PatternScore, names: [String]) -> PlotPanel {
    PlotPanel(
      caption: "Scores: intensity, A up and B down", content: .score(above, mirrored: below),
      axis: PlotAxis(range: -1.08...1.08),
      ownTicks: [-1, -0.5, 0, 0.5, 1].map {
        AxisTick($0, AxisTick.text(abs($0), places: abs($0) == 0.5 ? 1 : 0))
      }, legend: [.sharpness], lines: 20)
  }

  /// The most channels that have a picture each; more are drawn as one.
  private static let maximumChannelCount = 8

  /// Waveforms: one picture for each channel, or one for channels that are all alike.
  static func waves(of signal: Signal) -> [PlotPanel] {
    let channels = signal.channels
    guard channels.count > 1, channels.dropFirst().contains(where: { $0 != channels[0] }) else {
      return [wave(channels.first ?? [], rate: signal.rate, caption: "Waveform", lines: 11)]
    }
    guard channels.count <= maximumChannelCount else {
      return [
        wave(
          signal.mono, rate: signal.rate, caption: "Waveform: mean of \(channels.count) channels",
          lines: 11)
      ]
    }
    return channels.enumerated().map { index, samples in
      wave(
        samples, rate: signal.rate, caption: "Waveform: channel \(index + 1)",
        lines: channels.count == 2 ? 8 : 5)
    }
  }

  private static func wave(
    _ samples: [Float], rate: Double, caption: String, lines: Double
  ) -> PlotPanel {
    let trace = SoundTrace(name: "", samples: samples, rate: rate)
    return PlotPanel(
      caption: caption, content: .waveform(trace, over: nil), axis: waveAxis(trace.peak),
      rightTicks: decibelTicks(trace.peak), legend: [.first("peak"), .effective], lines: lines)
  }

  /// Two waveforms over one another.
  static func waves(_ first: SoundTrace, over second: SoundTrace) -> PlotPanel {
    let peak = max(first.peak, second.peak)
    return PlotPanel(
      caption: "Waveforms", content: .waveform(first, over: second), axis: waveAxis(peak),
      rightTicks: decibelTicks(peak),
      legend: [.first("A: \(first.name)"), .second("B: \(second.name)")], lines: 13)
  }

  /// A spectrogram of the mean of the channels.
  static func spectrogram(of signal: Signal, profile: TransducerProfile) -> PlotPanel {
    let trace = SpectrogramTrace(of: signal, profile: profile)
    return PlotPanel(
      caption: "Spectrogram: Hz", content: .spectrogram(trace), axis: trace.axis,
      legend: [
        .band(trace.bandName),
        .decibels(from: trace.highest - SpectrogramTrace.depth, to: trace.highest),
      ], lines: 10)
  }

  /// The axis around zero that shows a peak: full scale, or a round part or multiple of it.
  private static func waveAxis(_ peak: Double) -> PlotAxis {
    guard peak > 1e-6, peak.isFinite else { return PlotAxis(range: -1...1) }
    let decade = pow(10, log10(peak).rounded(.down))
    let limit = [1, 2, 5, 10].map { $0 * decade }.first { $0 >= peak } ?? 1
    return PlotAxis(range: -limit * 1.05...limit * 1.05)
  }

  /// Where decibels below full scale lie on a waveform's axis.
  private static func decibelTicks(_ peak: Double) -> [AxisTick] {
    let limit = waveAxis(peak).range.upperBound
    return [0, -6, -12, -20, -30, -40, -50, -60].compactMap { decibels in
      let value = pow(10, Double(decibels) / 20)
      // Below a tenth of the axis, labels would lie over one another.
      guard value <= limit, value >= limit * 0.08 else { return nil }
      return AxisTick(value, AxisTick.text(Double(decibels), places: 0) + " dB")
    }
  }
}

/// Samples to draw, with the name of what they are.
struct SoundTrace: Sendable {
  /// What the legend calls it.
  var name: String
  /// Samples of one channel.
  var samples: [Float]
  /// Frames per second.
  var rate: Double

  /// Seconds from the first sample to the end of the last.
  var duration: Double { Double(samples.count) / rate }

  /// The greatest magnitude among the samples that are numbers.
  var peak: Double {
    Double(samples.reduce(Float(0)) { $1.isFinite ? max($0, abs($1)) : $0 })
  }
}
