internal import CMath
internal import HapticModel
internal import HapticRender
internal import SignalAnalysis

/// One of the panels of a figure, which share an axis of time.
struct PlotPanel: Sendable {
  enum Content: Sendable {
    /// How strong every take is: the intensity of events, or the level of sounds.
    case intensity
    /// How sharp every take is: the sharpness of events, or the frequency of sounds.
    case sharpness
    case audio(take: Int)
    /// One sound, or one of each take over one another.
    case waveform([SoundTrace])
    /// The frequencies of one take among all that are shown, or of two over one another.
    case spectrogram([SpectrogramTrace], shownTakes: [Int])
  }

  enum LegendEntry: Equatable, Sendable {
    case sharpnessScale
    case intensityCurve
    case peak
    case rms
    /// The time that one spectrum looks at, in seconds.
    case analysisWindow(Double)
    /// The profile's band, and the name of the profile.
    case profileBand(String)
    case levelScale(from: Int, to: Int)
  }

  var title: String
  var unit: String
  var content: Content
  var axis: PlotAxis
  var ticks: [AxisTick]
  var rightTicks: [AxisTick] = []
  var legend: [LegendEntry] = []
  /// Its height in pixels, where text has its smallest size.
  var height: Double
  var emptyMessage: String?

  var summaryNoun: String {
    if case .audio = content { return "audio events" }
    return title.prefix { $0 != "," }.lowercased()
  }

  static func panels(
    of takes: [PlotTake], parts: Set<PlotPart>, timeRange span: ClosedRange<Double>
  )
    -> [PlotPanel]
  {
    var panels: [PlotPanel] = []
    if parts.contains(.score) {
      panels += takes.allSatisfy { $0.eventPlot != nil } ? eventPanels(takes) : trackPanels(takes)
      for (index, take) in takes.enumerated() where take.eventPlot?.audioEvents.isEmpty == false {
        panels.append(audioPanel(takeIndex: index, takes: takes))
      }
    }
    if parts.contains(.waveform) {
      panels += waveformPanels(takes, timeRange: span)
    }
    if parts.contains(.spectrogram) {
      panels += spectrogramPanels(takes, timeRange: span)
    }
    return panels
  }

  /// The axis of what goes from 0 to 1, with space above for heads.
  static let unitAxis = PlotAxis(range: 0...1.057)
  static let compactUnitAxis = PlotAxis(range: -0.058...1.096)

  private static func eventPanels(_ takes: [PlotTake]) -> [PlotPanel] {
    let scores = takes.compactMap(\.eventPlot)
    let haptic = scores.flatMap(\.hapticEvents)
    let hasCurves = scores.contains { !$0.curves.isEmpty }
    guard !haptic.isEmpty || hasCurves || scores.allSatisfy(\.audioEvents.isEmpty) else {
      return []
    }
    var strength = PlotPanel(
      title: "Intensity", unit: hasCurves ? "after curves" : "", content: .intensity,
      axis: unitAxis,
      ticks: [AxisTick(0, "0"), AxisTick(0.5, "0.5"), AxisTick(1, "1")], height: 130)
    if haptic.isEmpty {
      strength.emptyMessage = "no haptic events"
    }
    if takes.count == 1 {
      let hasIntensityCurve = scores[0].curves.contains { $0.id == .hapticIntensityControl }
      strength.legend = hasIntensityCurve ? [.intensityCurve, .sharpnessScale] : [.sharpnessScale]
    }
    guard !haptic.isEmpty else { return [strength] }
    var tone = PlotPanel(
      title: "Sharpness",
      unit: hasCurves
        ? "after curves, and the frequency it becomes" : "and the frequency it becomes",
      content: .sharpness,
      axis: compactUnitAxis, ticks: [AxisTick(0, "0"), AxisTick(1, "1")], height: 60)
    // A scale that holds for all takes, or none.
    let laws = takes.compactMap { $0.profile?.frequency }
    if let law = laws.first, laws.allSatisfy({ $0 == law }) {
      tone.rightTicks = [0.0, 1].map { AxisTick($0, frequencyLabel(law.hertz(atSharpness: $0))) }
    } else {
      tone.unit = hasCurves ? "after curves" : ""
    }
    return [strength, tone]
  }

  private static func audioPanel(takeIndex index: Int, takes: [PlotTake]) -> PlotPanel {
    PlotPanel(
      title: "Audio events" + (takes.count == 1 ? "" : ", \(letter(ofTake: index))"),
      unit: "volume",
      content: .audio(take: index), axis: unitAxis, ticks: [AxisTick(0, "0"), AxisTick(1, "1")],
      height: 54)
  }

  static func letter(ofTake index: Int) -> String {
    String(UnicodeScalar(UInt8(ascii: "A") + UInt8(min(index, 25))))
  }

  static func frequencyLabel(_ value: Double) -> String {
    AxisTick.text(value, decimalPlaces: 0) + " Hz"
  }

  private static func trackPanels(_ takes: [PlotTake]) -> [PlotPanel] {
    guard takes.contains(where: { $0.signalTrack != nil }) else { return [] }
    let levels = PlotAxis(range: SignalTrack.levelRange)
    let frequencies = SignalTrack.frequencyAxis
    let isSilent = takes.allSatisfy {
      $0.signalTrack?.levels.allSatisfy { $0 < levels.range.lowerBound } ?? true
    }
    return [
      PlotPanel(
        title: "Level", unit: "dBFS, of the sine that is as strong", content: .intensity,
        axis: unitAxis,
        ticks: [-60.0, -40, -20, 0].map {
          AxisTick(levels.fraction(of: $0), AxisTick.text($0, decimalPlaces: 0))
        }, height: 130,
        emptyMessage: isSilent ? "silence" : nil),
      PlotPanel(
        title: "Frequency", unit: "where there is a tone", content: .sharpness,
        axis: compactUnitAxis, ticks: [],
        rightTicks: [50.0, 100, 200, 400].map {
          AxisTick(frequencies.fraction(of: $0), frequencyLabel($0))
        },
        height: 60),
    ]
  }

  /// The most channels that have a picture each; more are drawn as one.
  private static let maximumChannelCount = 8

  private static func waveformPanels(_ takes: [PlotTake], timeRange span: ClosedRange<Double>)
    -> [PlotPanel]
  {
    let parts = takes.map { $0.excerpt(span) }
    guard parts.contains(where: { $0 != nil }) else { return [] }
    guard takes.count == 1, let (signal, start) = parts[0] else {
      let traces = parts.map { part in
        SoundTrace(
          samples: part?.signal.mono ?? [], rate: part?.signal.rate ?? 48_000,
          start: part?.start ?? 0)
      }
      return [waveformPanel(titleSuffix: "", traces: traces, timeRange: span)]
    }
    let channels = signal.channels
    func one(_ title: String, _ samples: [Float], height: Double = 90) -> PlotPanel {
      waveformPanel(
        titleSuffix: title, traces: [SoundTrace(samples: samples, rate: signal.rate, start: start)],
        timeRange: span,
        height: height)
    }
    if channels.allSatisfy({ $0 == channels[0] }) {
      return [one("", channels.first ?? [])]
    }
    if channels.count > maximumChannelCount {
      return [one(", mean of \(channels.count) channels", signal.mono)]
    }
    return channels.enumerated().map { index, samples in
      one(", channel \(index + 1)", samples, height: channels.count == 2 ? 76 : 56)
    }
  }

  private static func waveformPanel(
    titleSuffix channels: String, traces: [SoundTrace], timeRange span: ClosedRange<Double>,
    height: Double = 90
  ) -> PlotPanel {
    let peak = traces.map(\.peak).max() ?? 0
    let limit = axisLimit(forPeak: peak)
    let isFine = SoundTrace.showsSamples(in: span)
    let places = max(0, Int((-log10(limit)).rounded(.up)))
    let top = (20 * log10(limit)).rounded()
    let rightTicks = [("dBFS", top), ("dB", top - 6), ("dB", top - 20)].map { unit, decibels in
      AxisTick(pow(10, decibels / 20), AxisTick.text(decibels, decimalPlaces: 0) + " " + unit)
    }
    var panel = PlotPanel(
      title: "Waveform\(channels)", unit: "", content: .waveform(traces),
      axis: PlotAxis(range: -limit * 1.02...limit * 1.02),
      ticks: [-limit, 0, limit].map {
        AxisTick($0, AxisTick.text($0, decimalPlaces: $0 == 0 ? 0 : places))
      },
      rightTicks: rightTicks, height: height)
    if peak == 0 {
      panel.emptyMessage = "silence"
    } else if isFine {
      panel.unit = "samples"
    } else if traces.count > 1 {
      panel.unit = "peak within 6 ms"
    } else {
      // Over many seconds a column of a picture is longer.
      let isLong = span.upperBound - span.lowerBound > 5
      panel.unit = isLong ? "peak, and RMS" : "peak within 6 ms, and RMS over 25 ms"
      panel.legend = [.peak, .rms]
    }
    return panel
  }

  private static func axisLimit(forPeak peak: Double) -> Double {
    peak > 1e-6 && peak.isFinite ? AxisTick.roundStep(for: peak, atMost: 1) : 1
  }

  private static func spectrogramPanels(_ takes: [PlotTake], timeRange span: ClosedRange<Double>)
    -> [PlotPanel]
  {
    var traces = takes.compactMap { SpectrogramTrace(of: $0, timeRange: span) }
    guard traces.count == takes.count, let scale = SpectrogramTrace.applySharedScale(to: &traces)
    else {
      return []
    }
    let profiles = takes.map(\.profile)
    // A band that holds for all takes, or none.
    let band = profiles.allSatisfy { $0?.frequency == profiles[0]?.frequency } ? profiles[0] : nil
    var panel = PlotPanel(
      title: "Spectrogram", unit: "Hz",
      content: .spectrogram(traces, shownTakes: Array(takes.indices)),
      axis: scale.axis,
      ticks: scale.axis.octaveTicks, height: 110)
    if traces[0].window < 0.5 * (span.upperBound - span.lowerBound) {
      panel.legend.append(.analysisWindow(traces[0].window))
    } else {
      let milliseconds = AxisTick.text(traces[0].window * 1_000, decimalPlaces: 0)
      panel.unit = "Hz, one window of \(milliseconds) ms for all of it"
    }
    if let band {
      panel.legend.append(.profileBand(band.name))
      panel.rightTicks = [band.frequency.low, band.frequency.high].sorted().map {
        AxisTick($0, frequencyLabel($0))
      }
    }
    panel.legend.append(
      .levelScale(from: scale.highest - SpectrogramTrace.dynamicRange, to: scale.highest))
    guard takes.count > 2 else { return [panel] }
    return takes.indices.map { index in
      var own = panel
      own.title += ", \(letter(ofTake: index))"
      own.content = .spectrogram(traces, shownTakes: [index])
      own.height = 60
      if index > 0 {
        own.legend = []
      }
      return own
    }
  }
}

struct SoundTrace: Sendable {
  var samples: [Float]
  /// Frames per second.
  var rate: Double
  /// The second of the first sample.
  var start = 0.0

  var peak: Double { Double(samples.reduce(Float(0)) { $1.isFinite ? max($0, abs($1)) : $0 }) }

  /// Whether a part of time is so short that samples are drawn themselves, not how far they reach.
  static func showsSamples(in span: ClosedRange<Double>) -> Bool {
    span.upperBound - span.lowerBound < 0.16
  }
}

/// A spectrogram to draw, with the levels that its colours show.
struct SpectrogramTrace: Sendable {
  /// Seconds that one spectrum looks at.
  let window: Double
  /// The level of the strongest colour, in dB re a full-scale sine.
  fileprivate(set) var maximumDecibels = 0
  let frequencyMapping: FrequencyMapping?
  private let spectrogram: Spectrogram
  /// The second of the first frame.
  private let start: Double

  /// Decibels from the weakest colour to the strongest: about what is felt beside what is strong.
  static let dynamicRange = 60
  /// The greatest number of frames that are measured, whatever the length.
  private static let maximumFrameCount = 12_000.0
  /// The highest frequency that is measured, in hertz.
  private static let maximumFrequency = 2_000.0

  /// Measures the part of a take that is shown; nil without a sound.
  init?(of take: PlotTake, timeRange span: ClosedRange<Double>) {
    let seconds = span.upperBound - span.lowerBound
    let step = max(0.002, seconds / Self.maximumFrameCount)
    // Windows of 30 to 64 ms resolve tones 70 to 30 Hz apart, shorter ones transients that follow
    // closely. One shorter than the step would miss what is between.
    let window = min(max(min(max(seconds / 16, 0.03), 0.064), 2 * step), 1)
    guard let part = take.excerpt(span, margin: window) else { return nil }
    self.window = window
    start = part.start
    spectrogram = Spectrogram(
      of: part.signal, window: window, step: step,
      upTo: min(Self.maximumFrequency, part.signal.rate / 2))
    frequencyMapping = take.profile?.frequency
  }

  /// The lowest level whose frequency the axis is made to show, below the strongest.
  private static let framedRange = 25

  /// The axis and the level of the strongest colour on which all of some spectrograms can be read,
  /// which they then have; nil for none.
  static func applySharedScale(to traces: inout [SpectrogramTrace]) -> (
    axis: PlotAxis, highest: Int
  )? {
    guard !traces.isEmpty else { return nil }
    let peak = Double(
      traces.flatMap { $0.spectrogram.decibels.map { $0.max() ?? -200 } }.max() ?? -200)
    // Steps of 20 dB, so that pictures of usual levels have one scale.
    let highest = peak < -120 ? 0 : Int((peak / 20).rounded(.up)) * 20
    let laws = traces.compactMap(\.frequencyMapping)
    var low = laws.map { min($0.low, $0.high) }.min() ?? 80
    var high = (laws.map { max($0.low, $0.high) }.max() ?? 0) * 1.3
    for trace in traces {
      let frequencies = trace.spectrogram.frequencies
      for levels in trace.spectrogram.decibels {
        let isShown = { (level: Float) in Int(level) > highest - framedRange }
        if let bin = levels.lastIndex(where: isShown) {
          high = max(high, frequencies[bin])
        }
        // Below the strongest there is the width of the window only.
        if let most = levels.max(), isShown(most), let bin = levels.firstIndex(of: most) {
          low = min(low, frequencies[bin])
        }
      }
    }
    let top = [500.0, 1_000].first { $0 >= high } ?? maximumFrequency
    let bottom = [40.0, 20].first { $0 <= low } ?? 10
    let reached = traces.map { $0.spectrogram.frequencies.last ?? maximumFrequency }.max() ?? top
    for index in traces.indices {
      traces[index].maximumDecibels = highest
    }
    return (
      PlotAxis(range: bottom...max(2 * bottom, min(top, reached)), isLogarithmic: true), highest
    )
  }

  /// How strong each cell of a grid is, 0…1 between the weakest and the strongest colour; rows from
  /// above.
  ///
  /// A cell that spans several frames shows the strongest; between frequencies levels are straight
  /// lines.
  func normalizedLevels(
    columnCount columns: Int, rowCount rows: Int, axis: PlotAxis,
    timeRange seconds: ClosedRange<Double>
  ) -> [Double] {
    var shares = [Double](repeating: 0, count: columns * rows)
    let frames = spectrogram.frameTimes
    guard frames.count > 0, spectrogram.frequencies.count > 1 else { return shares }
    let step = frames.count > 1 ? frames[1] - frames[0] : 1
    let width = spectrogram.frequencies[1]
    let low = Double(maximumDecibels - Self.dynamicRange)
    let depth = Double(Self.dynamicRange)
    let length = (seconds.upperBound - seconds.lowerBound) / Double(columns)
    let bins = (0..<rows).map { row in
      axis.value(atFraction: 1 - (Double(row) + 0.5) / Double(rows)) / width
    }
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
          level = max(
            level, Double(levels[bin]) + (Double(levels[bin + 1]) - Double(levels[bin])) * part)
        }
        shares[row * columns + column] = min(max((level - low) / depth, 0), 1)
      }
    }
    return shares
  }
}
