internal import SignalAnalysis

/// One of the pictures that stand above one another in a figure.
struct PlotPanel: Sendable {
  /// What is drawn.
  enum Content: Sendable {
    /// One score, or a second one mirrored below it.
    case score(PatternScore, mirrored: PatternScore?)
    /// The audio events of a score.
    case audio(PatternScore)
    /// One sound, or a second one over it.
    case wave(SoundTrace, over: SoundTrace?)
    /// The frequencies of a sound.
    case spectrum(SpectrogramTrace)
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

  /// What stands above it.
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
    case .wave(let trace, nil): trace.peak == 0 ? "silence" : nil
    default: nil
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
