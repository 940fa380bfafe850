internal import CMath
internal import HapticModel
internal import HapticRender
internal import SignalAnalysis

/// A panel of a figure, with contents, value axis, ticks and legend.
///
/// All panels share the time axis.
struct PlotPanel: Sendable {
  enum Content: Sendable {
    /// The intensity of the events of all takes, or the levels of sounds.
    case intensity
    /// The sharpness of the events of all takes, or the frequencies of sounds.
    case sharpness
    /// The volume of one take's audio events.
    case audio(take: Int)
    /// The waveform of a sound, or the overlaid waveforms of all takes.
    case waveform([SoundTrace])
    /// The spectrograms of all takes.
    ///
    /// Only the takes with the indices `shownTakes` are drawn.
    case spectrogram([SpectrogramTrace], shownTakes: [Int])
  }

  /// An entry of a legend: a symbol or a color scale, with labels.
  enum LegendEntry: Equatable, Sendable {
    case sharpnessScale
    case intensityCurve
    case samplePeak
    case rmsLevel
    /// The length of the spectrogram's analysis window, in seconds.
    case analysisWindow(Double)
    /// The frequency band of a profile, with the profile's name.
    case profileBand(String)
    /// The levels of the lightest and the darkest color, in dBFS.
    case levelScale(from: Int, to: Int)
  }

  var title: String
  /// The index of the lane that the panel shows.
  var laneIndex = 0
  /// The unit or meaning of the values, shown after the panel's title.
  var valueUnit: String
  var content: Content
  var valueAxis: PlotAxis
  var leftTicks: [AxisTick]
  var rightTicks: [AxisTick] = []
  var legendEntries: [LegendEntry] = []
  /// The height of the panel's box, in pixels at a drawing scale of 1.
  var boxHeight: Double
  /// The text in the middle of an empty panel.
  var emptyMessage: String?

  /// The noun for the panel in the summary of the figure.
  var summaryNoun: String {
    if case .audio = content { return "audio events" }
    return title.prefix { $0 != "," }.lowercased()
  }

  /// Returns the panels of a figure from top to bottom.
  ///
  /// The score panels of each lane precede the waveforms, and the spectrograms follow.
  static func panels(
    of lanes: [PlotLane], parts: Set<PlotPart>, timeRange: ClosedRange<Double>
  ) -> [PlotPanel] {
    var allPanels: [PlotPanel] = []
    func addPanels(_ lanePanels: [PlotPanel], of laneIndex: Int) {
      allPanels += lanePanels.map { panel in
        var panel = panel
        panel.title += lanes[laneIndex].titleSuffix
        panel.laneIndex = laneIndex
        return panel
      }
    }
    if parts.contains(.score) {
      for (index, lane) in lanes.enumerated() {
        addPanels(scorePanels(lane.takes), of: index)
      }
      // Audio events are heard everywhere, so the first lane has all of them.
      for (index, take) in lanes[0].takes.enumerated()
      where take.eventPlot?.audioEvents.isEmpty == false {
        allPanels.append(audioPanel(takeIndex: index, takes: lanes[0].takes))
      }
    }
    if parts.contains(.waveform) {
      let height = waveformHeight(panelCount: lanes.count)
      for (index, lane) in lanes.enumerated() {
        addPanels(waveformPanels(lane.takes, timeRange: timeRange, height: height), of: index)
      }
    }
    if parts.contains(.spectrogram) {
      let lanePanels = spectrogramPanels(lanes.map(\.takes), timeRange: timeRange)
      for (index, panelsOfLane) in lanePanels.enumerated() {
        addPanels(panelsOfLane, of: index)
      }
    }
    return allPanels
  }

  /// Returns the score panels of a lane: intensity and sharpness, or level and frequency.
  private static func scorePanels(_ takes: [PlotTake]) -> [PlotPanel] {
    takes.allSatisfy { $0.eventPlot != nil } ? eventPanels(takes) : trackPanels(takes)
  }

  /// The axis for intensities 0…1, with space above for the heads of transients.
  static let intensityAxis = PlotAxis(valueRange: 0...1.057)
  /// The axis for values 0…1 in a small panel, with space above and below.
  static let sharpnessAxis = PlotAxis(valueRange: -0.058...1.096)

  /// Returns the intensity and sharpness panels for takes with events.
  private static func eventPanels(_ takes: [PlotTake]) -> [PlotPanel] {
    let eventPlots = takes.compactMap(\.eventPlot)
    let hapticEvents = eventPlots.flatMap(\.hapticEvents)
    let hasCurves = eventPlots.contains { !$0.curves.isEmpty }
    let hasAudioEvents = !eventPlots.allSatisfy(\.audioEvents.isEmpty)
    guard !hapticEvents.isEmpty || hasCurves || !hasAudioEvents else {
      return []
    }
    var intensityPanel = PlotPanel(
      title: "Intensity", valueUnit: hasCurves ? "after curves" : "", content: .intensity,
      valueAxis: intensityAxis,
      leftTicks: [AxisTick(0, "0"), AxisTick(0.5, "0.5"), AxisTick(1, "1")],
      boxHeight: 130)
    if hapticEvents.isEmpty {
      intensityPanel.emptyMessage = "no haptic events"
    }
    if takes.count == 1 {
      let hasIntensityCurve = eventPlots[0].curves.contains {
        $0.controlID == .hapticIntensityControl
      }
      intensityPanel.legendEntries =
        hasIntensityCurve ? [.intensityCurve, .sharpnessScale] : [.sharpnessScale]
    }
    guard !hapticEvents.isEmpty else { return [intensityPanel] }
    var sharpnessPanel = PlotPanel(
      title: "Sharpness",
      valueUnit: hasCurves
        ? "after curves, and the resulting frequency" : "and the resulting frequency",
      content: .sharpness, valueAxis: sharpnessAxis,
      leftTicks: [AxisTick(0, "0"), AxisTick(1, "1")],
      boxHeight: 60)
    // Frequencies are labeled only if all takes have the same mapping.
    let frequencyMappings = takes.compactMap { $0.profile?.frequency }
    if let sharedMapping = frequencyMappings.first,
      frequencyMappings.allSatisfy({ $0 == sharedMapping })
    {
      sharpnessPanel.rightTicks = [0.0, 1].map { sharpness in
        AxisTick(sharpness, frequencyLabel(sharedMapping.hertz(atSharpness: sharpness)))
      }
    } else {
      sharpnessPanel.valueUnit = hasCurves ? "after curves" : ""
    }
    return [intensityPanel, sharpnessPanel]
  }

  private static func audioPanel(takeIndex: Int, takes: [PlotTake]) -> PlotPanel {
    PlotPanel(
      title: "Audio events" + (takes.count == 1 ? "" : ", \(letter(ofTake: takeIndex))"),
      valueUnit: "volume", content: .audio(take: takeIndex), valueAxis: intensityAxis,
      leftTicks: [AxisTick(0, "0"), AxisTick(1, "1")], boxHeight: 54)
  }

  /// Returns the letter of the take at an index: A, B, C …
  static func letter(ofTake index: Int) -> String {
    String(UnicodeScalar(UInt8(ascii: "A") + UInt8(min(index, 25))))
  }

  static func frequencyLabel(_ value: Double) -> String {
    AxisTick.text(value, decimalPlaces: 0) + " Hz"
  }

  /// Returns the level and frequency panels for takes without known events.
  private static func trackPanels(_ takes: [PlotTake]) -> [PlotPanel] {
    guard takes.contains(where: { $0.signalTrack != nil }) else { return [] }
    let levelAxis = PlotAxis(valueRange: SignalTrack.levelRangeDecibels)
    let frequencyAxis = SignalTrack.frequencyAxis
    let minimumLevelDecibels = SignalTrack.levelRangeDecibels.lowerBound
    let areTakesSilent = takes.allSatisfy { take in
      take.signalTrack?.levelsDecibels.allSatisfy { $0 < minimumLevelDecibels } ?? true
    }
    return [
      PlotPanel(
        title: "Level", valueUnit: "dBFS, of a sine of equal strength", content: .intensity,
        valueAxis: intensityAxis,
        leftTicks: [-60.0, -40, -20, 0].map { level in
          AxisTick(levelAxis.fraction(of: level), AxisTick.text(level, decimalPlaces: 0))
        },
        boxHeight: 130, emptyMessage: areTakesSilent ? "silence" : nil),
      PlotPanel(
        title: "Frequency", valueUnit: "if tonal", content: .sharpness,
        valueAxis: sharpnessAxis, leftTicks: [],
        rightTicks: [50.0, 100, 200, 400].map { hertz in
          AxisTick(frequencyAxis.fraction(of: hertz), frequencyLabel(hertz))
        },
        boxHeight: 60),
    ]
  }

  private static func waveformPanels(
    _ takes: [PlotTake], timeRange: ClosedRange<Double>, height: Double
  ) -> [PlotPanel] {
    let takeExcerpts = takes.map { $0.excerpt(timeRange) }
    guard takeExcerpts.contains(where: { $0 != nil }) else { return [] }
    guard takes.count == 1, let (signal, start) = takeExcerpts[0] else {
      let traces = takeExcerpts.map { excerpt in
        SoundTrace(
          samples: excerpt?.signal.mono ?? [], sampleRate: excerpt?.signal.rate ?? 48_000,
          startSeconds: excerpt?.start ?? 0)
      }
      return [
        waveformPanel(titleSuffix: "", traces: traces, timeRange: timeRange, height: height)
      ]
    }
    let channels = signal.channels
    func makePanel(_ titleSuffix: String, _ samples: [Float], height: Double = height) -> PlotPanel
    {
      let trace = SoundTrace(samples: samples, sampleRate: signal.rate, startSeconds: start)
      return waveformPanel(
        titleSuffix: titleSuffix, traces: [trace], timeRange: timeRange, height: height)
    }
    if channels.allSatisfy({ $0 == channels[0] }) {
      return [makePanel("", channels.first ?? [])]
    }
    if channels.count > FigureLanes.maximumLaneCount {
      return [makePanel(", mean of \(channels.count) channels", signal.mono)]
    }
    return channels.enumerated().map { index, samples in
      makePanel(
        ", channel \(index + 1)", samples, height: waveformHeight(panelCount: channels.count))
    }
  }

  /// Returns the height of a waveform panel, in pixels at a drawing scale of 1.
  ///
  /// The height depends on the number of waveforms.
  private static func waveformHeight(panelCount: Int) -> Double {
    switch panelCount {
    case 1: 90
    case 2: 76
    default: 56
    }
  }

  private static func waveformPanel(
    titleSuffix: String, traces: [SoundTrace], timeRange: ClosedRange<Double>, height: Double
  ) -> PlotPanel {
    let peakMagnitude = traces.map(\.peakMagnitude).max() ?? 0
    let axisMaximum = axisLimit(forPeak: peakMagnitude)
    let decimalPlaces = max(0, Int((-log10(axisMaximum)).rounded(.up)))
    let topLevelDecibels = (20 * log10(axisMaximum)).rounded()
    let labeledLevels = [
      ("dBFS", topLevelDecibels), ("dB", topLevelDecibels - 6), ("dB", topLevelDecibels - 20),
    ]
    let rightTicks = labeledLevels.map { unit, decibels in
      AxisTick(pow(10, decibels / 20), AxisTick.text(decibels, decimalPlaces: 0) + " " + unit)
    }
    var panel = PlotPanel(
      title: "Waveform\(titleSuffix)", valueUnit: "", content: .waveform(traces),
      valueAxis: PlotAxis(valueRange: -axisMaximum * 1.02...axisMaximum * 1.02),
      leftTicks: [-axisMaximum, 0, axisMaximum].map { value in
        AxisTick(value, AxisTick.text(value, decimalPlaces: value == 0 ? 0 : decimalPlaces))
      },
      rightTicks: rightTicks, boxHeight: height)
    if peakMagnitude == 0 {
      panel.emptyMessage = "silence"
    } else if SoundTrace.showsSamples(in: timeRange) {
      panel.valueUnit = "samples"
    } else if traces.count > 1 {
      panel.valueUnit = "peak within 6 ms"
    } else {
      // In a long range, one column covers more than 6 ms.
      let isLong = timeRange.upperBound - timeRange.lowerBound > 5
      panel.valueUnit = isLong ? "peak, and RMS" : "peak within 6 ms, and RMS over 25 ms"
      panel.legendEntries = [.samplePeak, .rmsLevel]
    }
    return panel
  }

  /// Returns the upper end of a waveform's value axis: the next round value above the peak.
  private static func axisLimit(forPeak peak: Double) -> Double {
    peak > 1e-6 && peak.isFinite ? AxisTick.roundStep(for: peak, atMost: 1) : 1
  }

  /// Returns the spectrogram panels of all lanes.
  ///
  /// A lane has a single panel for up to two takes, or a panel for each take if there are more. All
  /// lanes have the same axis and colors.
  ///
  /// - Parameters:
  ///   - lanes: The takes of each lane.
  ///   - timeRange: The range of the time axis, in seconds.
  private static func spectrogramPanels(
    _ lanes: [[PlotTake]], timeRange: ClosedRange<Double>
  ) -> [[PlotPanel]] {
    var spectrogramTraces = lanes.joined().compactMap {
      SpectrogramTrace(of: $0, timeRange: timeRange)
    }
    let takeCount = lanes[0].count
    guard spectrogramTraces.count == takeCount * lanes.count,
      let scale = SpectrogramTrace.applySharedScale(to: &spectrogramTraces)
    else { return [] }
    return lanes.indices.map { index in
      let laneTraces = Array(spectrogramTraces[index * takeCount..<(index + 1) * takeCount])
      var panels = spectrogramPanels(
        lanes[index], laneTraces, axis: scale.axis, maximumDecibels: scale.maximumDecibels,
        timeRange: timeRange)
      if lanes.count > 1 {
        for panelIndex in panels.indices {
          let height = panels[panelIndex].boxHeight
          panels[panelIndex].boxHeight = min(height, multiLaneSpectrogramHeight)
        }
      }
      return panels
    }
  }

  /// The height of a spectrogram in a figure with several lanes, in pixels at a drawing scale of 1.
  private static let multiLaneSpectrogramHeight = 76.0

  /// Returns the spectrogram panels of one lane.
  private static func spectrogramPanels(
    _ takes: [PlotTake], _ traces: [SpectrogramTrace], axis: PlotAxis, maximumDecibels: Int,
    timeRange: ClosedRange<Double>
  ) -> [PlotPanel] {
    // The band is marked only if all takes have the same mapping.
    let takeProfiles = takes.map(\.profile)
    let haveEqualBands = takeProfiles.allSatisfy { $0?.frequency == takeProfiles[0]?.frequency }
    let bandProfile = haveEqualBands ? takeProfiles[0] : nil
    var panel = PlotPanel(
      title: "Spectrogram", valueUnit: "Hz",
      content: .spectrogram(traces, shownTakes: Array(takes.indices)), valueAxis: axis,
      leftTicks: axis.octaveTicks, boxHeight: 110)
    if traces[0].windowSeconds < 0.5 * (timeRange.upperBound - timeRange.lowerBound) {
      panel.legendEntries.append(.analysisWindow(traces[0].windowSeconds))
    } else {
      let milliseconds = AxisTick.text(traces[0].windowSeconds * 1_000, decimalPlaces: 0)
      panel.valueUnit = "Hz, a single window of \(milliseconds) ms"
    }
    if let bandProfile {
      panel.legendEntries.append(.profileBand(bandProfile.name))
      let bandEdges = [bandProfile.frequency.lowHertz, bandProfile.frequency.highHertz].sorted()
      panel.rightTicks = bandEdges.map { AxisTick($0, frequencyLabel($0)) }
    }
    let minimumDecibels = maximumDecibels - SpectrogramTrace.dynamicRangeDecibels
    panel.legendEntries.append(.levelScale(from: minimumDecibels, to: maximumDecibels))
    guard takes.count > 2 else { return [panel] }
    return takes.indices.map { index in
      var takePanel = panel
      takePanel.title += ", \(letter(ofTake: index))"
      takePanel.content = .spectrogram(traces, shownTakes: [index])
      takePanel.boxHeight = 60
      if index > 0 {
        takePanel.legendEntries = []
      }
      return takePanel
    }
  }
}

/// The samples of a mono sound with their start time.
struct SoundTrace: Sendable {
  var samples: [Float]
  /// The sample rate of the sound, in hertz.
  var sampleRate: Double
  /// The time of the first sample, in seconds.
  var startSeconds = 0.0

  /// The peak: the maximum magnitude of the finite samples.
  var peakMagnitude: Double {
    let finiteSamples = samples.lazy.filter(\.isFinite)
    return Double(finiteSamples.reduce(Float(0)) { max($0, abs($1)) })
  }

  /// Returns whether individual samples are drawn in a time range.
  ///
  /// In longer ranges, peaks and RMS are drawn instead.
  static func showsSamples(in timeRange: ClosedRange<Double>) -> Bool {
    timeRange.upperBound - timeRange.lowerBound < 0.16
  }
}

/// A spectrogram of a take, with the level range of its colors.
struct SpectrogramTrace: Sendable {
  /// The length of the spectrogram's analysis window, in seconds.
  let windowSeconds: Double
  /// The level of the darkest color, in dB relative to a full-scale sine.
  fileprivate(set) var maximumDecibels = 0
  /// The mapping of sharpness to frequency, or nil without a profile.
  let frequencyMapping: FrequencyMapping?
  private let spectrogram: Spectrogram
  /// The time of the first spectrum, in seconds.
  private let startSeconds: Double

  /// The level range from the lightest to the darkest color, in decibels.
  ///
  /// This is about the range that is perceptible next to a strong vibration.
  static let dynamicRangeDecibels = 60
  /// The approximate maximum number of spectra in a spectrogram.
  private static let maximumFrameCount = 12_000.0
  /// The maximum frequency that a spectrogram measures, in hertz.
  private static let maximumMeasuredHertz = 2_000.0

  /// Measures a take within a time range, or returns nil if the take has no sound.
  init?(of take: PlotTake, timeRange: ClosedRange<Double>) {
    let rangeSeconds = timeRange.upperBound - timeRange.lowerBound
    let stepSeconds = max(0.002, rangeSeconds / Self.maximumFrameCount)
    // A window of 64 ms resolves tones 30 Hz apart. A window of 30 ms resolves only tones 70 Hz
    // apart, but transients in quick succession. A window is at least twice the step, so that no
    // part of the signal is skipped.
    let windowSeconds = min(max(min(max(rangeSeconds / 16, 0.03), 0.064), 2 * stepSeconds), 1)
    guard let excerpt = take.excerpt(timeRange, margin: windowSeconds) else { return nil }
    self.windowSeconds = windowSeconds
    startSeconds = excerpt.start
    spectrogram = Spectrogram(
      of: excerpt.signal, window: windowSeconds, step: stepSeconds,
      upTo: min(Self.maximumMeasuredHertz, excerpt.signal.rate / 2))
    frequencyMapping = take.profile?.frequency
  }

  /// The level range for selecting the ends of the frequency axis, in decibels.
  ///
  /// The axis includes all frequencies whose levels are within this range below the maximum.
  private static let frequencyAxisLevelRangeDecibels = 25

  /// Applies a shared color scale to all spectrograms, and returns a shared frequency axis.
  ///
  /// The darkest color of all spectrograms has the same level.
  ///
  /// The axis includes the bands of the profiles and the frequencies within
  /// `frequencyAxisLevelRangeDecibels` of the maximum. Its ends are round values, so that
  /// figures of similar sounds have the same axis.
  ///
  /// - Returns: The axis and the level in decibels, or nil without traces.
  static func applySharedScale(
    to traces: inout [SpectrogramTrace]
  ) -> (axis: PlotAxis, maximumDecibels: Int)? {
    guard !traces.isEmpty else { return nil }
    let spectraDecibels = traces.flatMap(\.spectrogram.levelsDecibels)
    let peakDecibels = Double(spectraDecibels.map { $0.max() ?? -200 }.max() ?? -200)
    // Multiples of 20 dB give figures of typical levels the same scale.
    let maximumDecibels = peakDecibels < -120 ? 0 : Int((peakDecibels / 20).rounded(.up)) * 20
    let frequencyMappings = traces.compactMap(\.frequencyMapping)
    var minimumHertz = frequencyMappings.map { min($0.lowHertz, $0.highHertz) }.min() ?? 80
    var maximumHertz = (frequencyMappings.map { max($0.lowHertz, $0.highHertz) }.max() ?? 0) * 1.3
    for trace in traces {
      let frequencies = trace.spectrogram.binHertz
      for levels in trace.spectrogram.levelsDecibels {
        let isFramed = { (level: Float) in
          Int(level) > maximumDecibels - frequencyAxisLevelRangeDecibels
        }
        if let bin = levels.lastIndex(where: isFramed) {
          maximumHertz = max(maximumHertz, frequencies[bin])
        }
        // Lower bins than the maximum only contain leakage of the window.
        if let peakLevel = levels.max(), isFramed(peakLevel),
          let bin = levels.firstIndex(of: peakLevel)
        {
          minimumHertz = min(minimumHertz, frequencies[bin])
        }
      }
    }
    let topHertz = [500.0, 1_000].first { $0 >= maximumHertz } ?? maximumHertz
    let bottomHertz = [40.0, 20].first { $0 <= minimumHertz } ?? 10
    let measuredTopsHertz = traces.map { $0.spectrogram.binHertz.last ?? maximumHertz }
    let measuredTopHertz = measuredTopsHertz.max() ?? topHertz
    for index in traces.indices {
      traces[index].maximumDecibels = maximumDecibels
    }
    let axisRangeHertz = bottomHertz...max(2 * bottomHertz, min(topHertz, measuredTopHertz))
    return (PlotAxis(valueRange: axisRangeHertz, isLogarithmic: true), maximumDecibels)
  }

  /// Returns the normalized levels of a grid of spectrogram cells, row by row from the top.
  ///
  /// A level is 0 for the lightest color, and 1 for the darkest.
  ///
  /// A cell shows the maximum of its frames. Levels between frequency bins are interpolated
  /// linearly.
  ///
  /// - Parameters:
  ///   - columnCount: The number of cells in a row.
  ///   - rowCount: The number of rows.
  ///   - axis: The frequency axis.
  ///   - timeRange: The range of the time axis, in seconds.
  func normalizedLevels(
    columnCount: Int, rowCount: Int, axis: PlotAxis, timeRange: ClosedRange<Double>
  ) -> [Double] {
    var cellLevels = [Double](repeating: 0, count: columnCount * rowCount)
    let frameCenterSeconds = spectrogram.frameCenterSeconds
    guard frameCenterSeconds.count > 0, spectrogram.binHertz.count > 1 else { return cellLevels }
    let frameStepSeconds =
      frameCenterSeconds.count > 1 ? frameCenterSeconds[1] - frameCenterSeconds[0] : 1
    let binWidthHertz = spectrogram.binHertz[1]
    let minimumDecibels = Double(maximumDecibels - Self.dynamicRangeDecibels)
    let rangeDecibels = Double(Self.dynamicRangeDecibels)
    let columnSeconds = (timeRange.upperBound - timeRange.lowerBound) / Double(columnCount)
    let rowBins = (0..<rowCount).map { row in
      axis.value(atFraction: 1 - (Double(row) + 0.5) / Double(rowCount)) / binWidthHertz
    }
    for column in 0..<columnCount {
      let columnStart = timeRange.lowerBound - startSeconds + Double(column) * columnSeconds
      let first = Int((columnStart / frameStepSeconds).rounded())
      let last = max(first, Int(((columnStart + columnSeconds) / frameStepSeconds).rounded()) - 1)
      guard first < frameCenterSeconds.count, last >= 0 else { continue }
      let frames = max(0, first)...min(last, frameCenterSeconds.count - 1)
      for row in 0..<rowCount {
        let level = maximumLevel(atBin: rowBins[row], in: frames)
        let normalizedLevel = min(max((level - minimumDecibels) / rangeDecibels, 0), 1)
        cellLevels[row * columnCount + column] = normalizedLevel
      }
    }
    return cellLevels
  }

  /// Returns the maximum level among several spectra at a fractional bin, in decibels.
  private func maximumLevel(atBin fractionalBin: Double, in frames: ClosedRange<Int>) -> Double {
    let lowerBin = min(Int(fractionalBin), spectrogram.binHertz.count - 2)
    let binFraction = min(1, fractionalBin - Double(lowerBin))
    var maximumDecibels = -Double.infinity
    for frame in frames {
      let levels = spectrogram.levelsDecibels[frame]
      let level = Double(levels[lowerBin])
      maximumDecibels = max(
        maximumDecibels, level + (Double(levels[lowerBin + 1]) - level) * binFraction)
    }
    return maximumDecibels
  }
}
