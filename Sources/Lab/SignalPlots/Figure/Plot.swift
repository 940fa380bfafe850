public import HapticModel
public import HapticRender
public import SignalAnalysis

/// A figure of patterns or sounds: panels stacked above a shared time axis.
///
/// 1. `PlotTake` evaluates the events of a pattern or measures a signal.
/// 2. `PlotPanel` holds the contents, axis and legend of each panel, without pixels.
/// 3. `PlotLayout` computes positions for a width, and `PlotPainter` draws shapes into a
///    `PlotDrawing`.
/// 4. `SVGWriter`, `CairoWriter` and `TerminalWriter` write the drawing as a file or as text.
public struct Plot: Sendable {
  /// The title of the figure.
  public let title: String
  /// The facts about the figure as short texts: duration, contents, and profile.
  public let factTexts: [String]
  /// The range of the time axis, in seconds.
  public let timeRangeSeconds: ClosedRange<Double>
  /// The end time of the last take, in seconds.
  ///
  /// The figure may show only a part of the takes.
  public let durationSeconds: Double
  /// A sentence that describes the figure, for screen readers.
  public let accessibleDescription: String
  let takes: [PlotTake]
  /// The lanes of the figure, at least one.
  let lanes: [PlotLane]
  let plotPanels: [PlotPanel]

  /// The minimum length of the time axis, in seconds.
  static let minimumTimeSpanSeconds = 0.005

  /// The maximum number of patterns and sounds in one figure.
  public static let maximumSubjectCount = 8

  /// The supported widths of a figure, in pixels.
  public static let supportedPixelWidths = 200...10_000

  /// Creates the figure of one pattern or sound.
  ///
  /// - Parameters:
  ///   - subject: The pattern or sound.
  ///   - parts: The panels of the figure.
  ///   - timeRange: The part to show, in seconds; nil for all.
  /// - Throws: `PlotError` for a pattern that cannot be rendered.
  public init(
    of subject: PlotSubject, parts: Set<PlotPart> = Set(PlotPart.allCases),
    timeRangeSeconds timeRange: ClosedRange<Double>? = nil
  ) throws(PlotError) { try self.init(of: [subject], parts: parts, timeRangeSeconds: timeRange) }

  /// Creates a figure that overlays patterns and sounds on shared axes.
  ///
  /// The part that they have in common is gray, and each difference has the color of its take.
  ///
  /// - Parameters:
  ///   - subjects: The patterns and sounds. Those after the first `maximumSubjectCount` are
  ///     ignored.
  ///   - parts: The panels of the figure.
  ///   - timeRange: The part to show, in seconds; nil for all.
  /// - Throws: `PlotError` for a pattern that cannot be rendered.
  public init(
    of subjects: [PlotSubject], parts: Set<PlotPart> = Set(PlotPart.allCases),
    timeRangeSeconds timeRange: ClosedRange<Double>? = nil
  ) throws(PlotError) {
    let shownSubjects = Array(subjects.prefix(Self.maximumSubjectCount))
    let plotTakes = try shownSubjects.map { subject throws(PlotError) in try PlotTake(subject) }
    var plotLanes = try PlotLane.lanes(of: shownSubjects, plotTakes)
    if parts.contains(.score) {
      for index in plotLanes.indices {
        plotLanes[index].measureTracks()
      }
    }
    self.lanes = plotLanes
    durationSeconds = plotTakes.map(\.durationSeconds).filter(\.isFinite).max() ?? 0
    let fullRangeSeconds = 0...max(Self.minimumTimeSpanSeconds, durationSeconds)
    timeRangeSeconds =
      timeRange.map { Self.clampedTimeRange($0, to: fullRangeSeconds) } ?? fullRangeSeconds
    self.takes = plotLanes.count == 1 ? plotLanes[0].takes : plotTakes
    plotPanels = PlotPanel.panels(of: plotLanes, parts: parts, timeRange: timeRangeSeconds)
    let takeNames = plotTakes.map { $0.name.isEmpty ? "a pattern" : $0.name }
    title = plotTakes.count == 1 ? plotTakes[0].name : takeNames.joined(separator: ", ")
    var allFactTexts = Self.facts(
      of: plotTakes, duration: durationSeconds,
      shownRange: timeRange == nil ? nil : timeRangeSeconds)
    allFactTexts += plotLanes[0].mixedChannelTexts
    if shownSubjects.count == 1, shownSubjects[0].composition != nil {
      let laneNames = plotLanes.compactMap(\.name)
      allFactTexts += laneNames.isEmpty ? [] : ["at \(laneNames.joinedWithAnd)"]
    }
    factTexts = allFactTexts
    accessibleDescription = Self.summary(
      of: plotPanels, names: plotTakes.count == 1 ? plotTakes.map(\.name) : takeNames,
      facts: allFactTexts)
  }

  /// Draws the figure and returns the bytes of a file.
  ///
  /// The bytes are reproducible with the same version of Cairo and the same fonts.
  ///
  /// - Parameters:
  ///   - format: The file format.
  ///   - width: The width in pixels, or in points for PDF, clamped to `supportedPixelWidths`.
  ///   - theme: The colors. With nil, an SVG follows the page that shows it, and other files are
  ///     light.
  /// - Throws: `PlotError` if Cairo is missing or cannot draw the figure.
  public func draw(as format: PlotFormat, width: Int = 860, theme: PlotTheme? = nil)
    throws(PlotError) -> [UInt8]
  {
    try drawing(width: width).fileBytes(as: format, theme: theme)
  }

  func drawing(width: Int) -> PlotDrawing { PlotPainter.makeDrawing(of: self, width: width) }

  /// Returns the part of a range within the figure, at least `minimumTimeSpanSeconds` long.
  private static func clampedTimeRange(
    _ range: ClosedRange<Double>, to fullRange: ClosedRange<Double>
  )
    -> ClosedRange<Double>
  {
    let startSeconds = min(max(range.lowerBound, 0), fullRange.upperBound - minimumTimeSpanSeconds)
    let endSeconds = max(
      startSeconds + minimumTimeSpanSeconds, min(range.upperBound, fullRange.upperBound))
    return max(0, startSeconds)...endSeconds
  }

  private static func facts(
    of takes: [PlotTake], duration: Double, shownRange: ClosedRange<Double>?
  ) -> [String] {
    func timeText(_ seconds: Double) -> String { AxisTick.shortText(seconds, decimalPlaces: 3) }
    let rangeText = shownRange.map { range in
      "\(timeText(range.lowerBound))–\(timeText(range.upperBound)) s of "
    }
    var factTexts = [(rangeText ?? "") + durationText(duration)]
    if takes.count > 1 {
      factTexts.append("gray: in \(takes.count == 2 ? "both" : "all")")
    } else if let eventPlot = takes.first?.eventPlot {
      factTexts += eventCountTexts(of: eventPlot)
    }
    // The profile of a recording is unknown.
    let profileNames = takes.compactMap { $0.profile?.name }
    guard profileNames.count == takes.count, !profileNames.isEmpty else { return factTexts }
    let uniqueProfileNames = profileNames.uniqued
    let profileNoun = uniqueProfileNames.count == 1 ? "profile" : "profiles"
    return factTexts + ["\(profileNoun) \(uniqueProfileNames.joined(separator: ", "))"]
  }

  private static func durationText(_ seconds: Double) -> String {
    if seconds >= TimeTicks.minimumSecondsForMinutes {
      return TimeTicks.clockText(seconds) + " min"
    }
    if seconds < 0.1 {
      return AxisTick.text(seconds * 1_000, decimalPlaces: 0) + " ms"
    }
    return AxisTick.shortText(seconds, decimalPlaces: seconds < 10 ? 2 : 1) + " s"
  }

  /// Returns the numbers of events as texts, such as `3 continuous events` and `1 transient`.
  private static func eventCountTexts(of eventPlot: EventPlot) -> [String] {
    let countTexts = HapticEvent.Kind.allCases.compactMap { kind -> String? in
      let count = eventPlot.events.count { $0.kind == kind }
      return count == 0 ? nil : "\(count) \(kind.noun)\(count == 1 ? "" : "s")"
    }
    return countTexts.isEmpty ? ["no events"] : countTexts
  }

  private static func summary(of panels: [PlotPanel], names: [String], facts: [String]) -> String {
    let panelNouns = panels.map(\.summaryNoun).uniqued
    let contentsText = panelNouns.isEmpty ? "empty plot" : panelNouns.joinedWithAnd
    let takeNames = names.filter { !$0.isEmpty }
    return contentsText.capitalizedFirst
      + (takeNames.isEmpty ? "" : " of \(takeNames.joinedWithAnd)")
      + ": \(facts.joined(separator: ", "))."
  }
}

extension String {
  /// The text with an uppercase first letter.
  package var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}

extension [String] {
  /// The elements as a list in a sentence: `a`, `a and b`, or `a, b, and c`.
  package var joinedWithAnd: String {
    guard count > 1 else { return joined() }
    return dropLast().joined(separator: ", ") + (count > 2 ? ", and " : " and ") + self[count - 1]
  }

  /// The distinct elements, in the order of their first occurrences.
  var uniqued: [String] {
    reduce(into: []) {
      if !$0.contains($1) {
        $0.append($1)
      }
    }
  }
}

extension PlotDrawing {
  /// Returns the drawing as the bytes of a file.
  ///
  /// SVG without a theme uses the colors of the page that shows it; other formats default to the
  /// light theme.
  func fileBytes(as format: PlotFormat, theme: PlotTheme?) throws(PlotError) -> [UInt8] {
    guard format == .svg else {
      return try CairoWriter.bytes(of: self, theme: theme ?? .light, isPDF: format == .pdf)
    }
    var svgWriter = SVGWriter(self, theme: theme)
    return Array(try svgWriter.makeDocument().utf8)
  }
}

/// The subject of a plot: a pattern, a pattern with its sound, or only a sound.
public struct PlotSubject: Sendable {
  /// The name of the subject in the figure's title.
  public var name: String
  /// The pattern with all its layers, or nil for a recording.
  public var composition: HapticComposition?
  /// The sound of the subject, or nil if the plot does not show a sound.
  ///
  /// The sound of a pattern with body locations has a channel for each of the composition's
  /// `separateLocations`.
  public var signal: Signal?
  /// The profile that renders the pattern, or nil for a recording.
  ///
  /// The frequency band of a recording is unknown.
  public var profile: TransducerProfile?
  /// The sound files of the pattern, by path. The plot uses their durations.
  public var soundFilesByPath: [String: AudioBuffer]

  /// Creates the subject of a plot from a pattern, a sound, or both.
  ///
  /// - Parameters:
  ///   - name: The name in the title.
  ///   - composition: The pattern with all layers, or nil for a recording.
  ///   - signal: The sound, with a channel for each body location, or nil if the plot does not show
  ///     it.
  ///   - profile: The profile that renders the pattern, or nil for a recording.
  ///   - samples: The sound files of the pattern by path, for their durations.
  public init(
    name: String, composition: HapticComposition? = nil, signal: Signal? = nil,
    profile: TransducerProfile? = nil, soundFilesByPath samples: [String: AudioBuffer] = [:]
  ) {
    self.name = name
    self.composition = composition
    self.signal = signal
    self.profile = profile
    self.soundFilesByPath = samples
  }
}

/// A group of panels in a plot. The raw value is the name that users type.
public enum PlotPart: String, CaseIterable, Sendable {
  /// The intensity and sharpness panels with control curves.
  ///
  /// For a recording, these panels show the level and the frequency.
  case score
  /// The waveform: the samples of the sound over time.
  case waveform
  /// The spectrogram: the frequencies of the sound over time.
  case spectrogram
}

extension HapticComposition {
  /// A Boolean value that indicates whether the pattern consists only of events.
  ///
  /// A pattern with sampled signals is shown by its sound instead.
  package var containsOnlyEvents: Bool { layers.allSatisfy(\.signals.isEmpty) }
}

/// A pattern or a recording in a plot, with the data to draw.
///
/// The data are the effective values of the events, or the measured level and frequency.
struct PlotTake: Sendable {
  let name: String
  /// The profile that renders the take, or nil if it is unknown.
  let profile: TransducerProfile?
  /// The evaluated events, or nil for a recording or a pattern with sampled signals.
  private(set) var eventPlot: EventPlot?
  /// The measured level and frequency of the signal, if any take in the figure has no events.
  var signalTrack: SignalTrack?
  private(set) var signal: Signal?
  /// The start time of the trailing silence, in seconds.
  let durationSeconds: Double

  /// The minimum level of sound after the last event, relative to the peak: −60 dB.
  private static let minimumTailToPeakRatio: Float = 1e-3

  /// Evaluates the events of a subject, or measures its sound.
  init(_ subject: PlotSubject) throws(PlotError) {
    name = subject.name
    signal = subject.signal
    guard let composition = subject.composition else {
      eventPlot = nil
      profile = subject.profile
      durationSeconds = subject.signal?.durationSeconds ?? 0
      return
    }
    let renderedProfile = subject.profile ?? .phone
    self.profile = renderedProfile
    let evaluatedPlot = try EventPlot(
      of: composition, profile: renderedProfile, samples: subject.soundFilesByPath)
    eventPlot = composition.containsOnlyEvents ? evaluatedPlot : nil
    // The trailing silence of a rendering is not part of the pattern.
    durationSeconds = max(
      evaluatedPlot.durationSeconds, subject.signal.map(Self.soundEndSeconds) ?? 0)
  }

  /// Returns the take limited to one body location or channel.
  ///
  /// - Parameters:
  ///   - position: The index of the location or channel in the names of the source.
  ///   - source: The lane source of the take.
  ///   - composition: The pattern of the take, or nil for a sound.
  func lanePart(
    _ position: Int, of source: LaneSource, composition: HapticComposition?
  ) -> PlotTake {
    var partTake = self
    if let composition {
      let location = source.locations[position]
      partTake.eventPlot = eventPlot?.keepingHaptics { layer in
        composition.layers[layer].isFelt(at: location)
      }
    }
    if let signal, source.hasChannelForEachName(signal) {
      partTake.signal = Signal(signal.channels[position], rate: signal.rate)
    }
    return partTake
  }

  /// Returns the take without haptic events, for a lane of another body location.
  ///
  /// The take does not address the body location.
  func withoutHaptics() throws(PlotError) -> PlotTake {
    var silentTake = self
    silentTake.eventPlot = try EventPlot(of: HapticComposition(HapticPattern()))
    silentTake.signal = signal.map { Signal(channels: [[]], rate: $0.rate) }
    return silentTake
  }

  /// Returns the start time of a signal's trailing silence, in seconds.
  private static func soundEndSeconds(of signal: Signal) -> Double {
    let peakMagnitude = signal.channels.joined().reduce(Float(0)) { max($0, abs($1)) }
    guard peakMagnitude > 0 else { return 0 }
    let lastAudibleIndices = signal.channels.map { samples in
      samples.lastIndex { abs($0) > minimumTailToPeakRatio * peakMagnitude } ?? -1
    }
    return Double((lastAudibleIndices.max() ?? -1) + 1) / signal.rate
  }

  /// Returns the sound within a time range, with its start time in seconds.
  ///
  /// Returns nil without a sound.
  ///
  /// - Parameters:
  ///   - range: The time range, in seconds.
  ///   - margin: The time to add on either side, in seconds.
  func excerpt(
    _ range: ClosedRange<Double>, margin: Double = 0
  ) -> (signal: Signal, start: Double)? {
    guard let signal else { return nil }
    let startFrame = Int(max(0, (range.lowerBound - margin) * signal.rate).rounded(.down))
    // The line continues to the frame after the end.
    let lastFrame = ((range.upperBound + margin) * signal.rate).rounded(.up) + 1
    let endFrame = Int(min(Double(signal.frameCount), lastFrame))
    guard startFrame < endFrame else { return (Signal(channels: [[]], rate: signal.rate), 0) }
    if startFrame == 0, endFrame == signal.frameCount { return (signal, 0) }
    let excerptChannels = signal.channels.map { Array($0[startFrame..<endFrame]) }
    return (Signal(channels: excerptChannels, rate: signal.rate), Double(startFrame) / signal.rate)
  }
}

/// The file format of a drawing. The raw value is the file extension.
public enum PlotFormat: String, CaseIterable, Sendable {
  /// Portable Network Graphics: pixels.
  case png
  /// Scalable Vector Graphics: shapes for web pages.
  case svg
  /// Portable Document Format: shapes for print.
  case pdf

  /// Returns the format of a file name by its extension, in either case, or nil if unknown.
  public init?(ofName name: String) {
    guard let dotIndex = name.lastIndex(of: ".") else { return nil }
    self.init(rawValue: name[name.index(after: dotIndex)...].lowercased())
  }
}

/// The color theme of a drawing.
public enum PlotTheme: String, CaseIterable, Sendable {
  /// Dark lines on white, for print and most web pages.
  case light
  /// Bright lines on a nearly black background.
  case dark
}

/// The reason that a figure cannot be drawn.
public struct PlotError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The cause of a plot error, which determines the remedy.
  public enum Kind: String, Sendable {
    /// A required library is missing: install it.
    case missingLibrary
    /// The drawing is too large for its format or for memory: draw a smaller one.
    case tooLarge
    /// The drawing library reported a different error.
    case drawingFailed
    /// The pattern cannot be rendered: change the pattern.
    case invalidPattern
  }

  /// The cause of the error, which determines the remedy.
  public var kind: Kind
  /// A one-line message for the user.
  public var description: String

  /// Creates an error of a kind with a message.
  public init(_ kind: Kind, _ description: String) {
    self.kind = kind
    self.description = description
  }
}

/// The level and frequency of a signal over time, for takes without known events.
package struct SignalTrack: Equatable, Sendable {
  /// The interval between measured values, in seconds.
  package let intervalSeconds: Double
  /// The levels of the signal in dBFS, where a full-scale sine has a level of 0.
  package let levelsDecibels: [Double]
  /// The frequencies of the signal in hertz; 0 at times without a tone.
  package private(set) var hertzByInterval: [Double]

  /// The approximate maximum number of measured values.
  private static let maximumValueCount = 4_000
  /// The minimum interval between measured values, in seconds.
  private static let minimumIntervalSeconds = 0.005
  /// The minimum level, in dBFS. Lower levels are raised to it.
  package static let minimumLevelDecibels = -80.0
  /// The range of the level axis, in dBFS.
  package static let levelRangeDecibels = -60.0...0
  /// The range of the frequency axis, in hertz.
  package static let frequencyRangeHertz = 30.0...600

  /// Measures the level and the frequency of a signal.
  package init(of signal: Signal) {
    let stepSeconds = max(
      Self.minimumIntervalSeconds, signal.durationSeconds / Double(Self.maximumValueCount))
    let envelope = AmplitudeEnvelope(of: signal, step: stepSeconds)
    self.intervalSeconds = envelope.stepSeconds
    levelsDecibels = envelope.amplitudes.map {
      max(Self.minimumLevelDecibels, Decibels.of(amplitude: Double($0)))
    }
    hertzByInterval = Array(repeating: 0, count: levelsDecibels.count)
    for point in FrequencyTrack(of: signal, step: stepSeconds).points {
      let index = Int((point.seconds / envelope.stepSeconds).rounded())
      if hertzByInterval.indices.contains(index) {
        hertzByInterval[index] = point.hertz
      }
    }
  }

  /// Returns the index of the measured value at a time in seconds.
  ///
  /// The index is out of bounds after the end.
  package func intervalIndex(at time: Double) -> Int { Int((time / intervalSeconds).rounded()) }

  /// Returns the level at an index as a position 0…1 within `levelRangeDecibels`.
  package func normalizedLevel(atInterval index: Int) -> Double {
    levelsDecibels.indices.contains(index)
      ? min(
        max(0, PlotAxis(valueRange: Self.levelRangeDecibels).fraction(of: levelsDecibels[index])), 1
      ) : 0
  }

  /// Returns the frequency at an index as a logarithmic position 0…1.
  ///
  /// The positions 0 and 1 are the ends of `frequencyRangeHertz`.
  ///
  /// Returns nil without a tone, or if the level is below `levelRangeDecibels`.
  package func normalizedFrequency(atInterval index: Int) -> Double? {
    guard normalizedLevel(atInterval: index) > 0, hertzByInterval.indices.contains(index),
      hertzByInterval[index] > 0
    else { return nil }
    return min(max(0, Self.frequencyAxis.fraction(of: hertzByInterval[index])), 1)
  }

  static let frequencyAxis = PlotAxis(valueRange: frequencyRangeHertz, isLogarithmic: true)
}

/// The intensity and sharpness of a take in one column of a figure, each 0…1.
struct ColumnValue: Equatable, Sendable {
  /// The intensity of the strongest continuous event, or the normalized level of a sound.
  var intensity: Double
  /// The sharpness of the strongest event, or the normalized frequency of a sound.
  ///
  /// The value is nil if the sharpness is invisible.
  var sharpness: Double?

  /// The minimum intensity of an event with a visible sharpness.
  static let minimumVisibleIntensity = 0.003
  /// The maximum difference between equal intensities or levels.
  static let maximumEqualIntensityDifference = 0.012
  /// The maximum difference between equal sharpness values.
  static let maximumEqualSharpnessDifference = 0.008
}

extension PlotTake {
  /// Returns the intensity and sharpness in equally wide columns of a time range.
  ///
  /// The value of a column is its maximum.
  func columnValues(columnCount: Int, timeRange: ClosedRange<Double>) -> [ColumnValue] {
    let columnDuration = (timeRange.upperBound - timeRange.lowerBound) / Double(columnCount)
    if let signalTrack {
      return (0..<columnCount).map { column in
        let start = timeRange.lowerBound + Double(column) * columnDuration
        return signalTrack.columnValue(start: start, duration: columnDuration)
      }
    }
    let continuousEvents = (eventPlot?.events ?? []).filter { $0.kind.isVibration }
    let strongestPoints = EventColumns.strongestPoints(of: continuousEvents, count: columnCount) {
      time in
      (time - timeRange.lowerBound) / columnDuration
    }
    return strongestPoints.map { point in
      let isVisible = point.intensity > ColumnValue.minimumVisibleIntensity
      return ColumnValue(
        intensity: point.intensity, sharpness: isVisible ? point.sharpness : nil)
    }
  }
}

extension SignalTrack {
  /// Returns the maximum level in a column, with the frequency at the maximum.
  ///
  /// In a column shorter than the interval between values, the level is interpolated linearly.
  fileprivate func columnValue(start: Double, duration: Double) -> ColumnValue {
    let firstValueIndex = Int((start / intervalSeconds).rounded())
    let lastValueIndex = max(
      firstValueIndex, Int(((start + duration) / intervalSeconds).rounded()) - 1)
    var loudestIndex = firstValueIndex
    for index in firstValueIndex...lastValueIndex
    where normalizedLevel(atInterval: index) > normalizedLevel(atInterval: loudestIndex) {
      loudestIndex = index
    }
    guard duration < intervalSeconds else {
      return ColumnValue(
        intensity: normalizedLevel(atInterval: loudestIndex),
        sharpness: normalizedFrequency(atInterval: loudestIndex))
    }
    let centerPosition = (start + duration / 2) / intervalSeconds
    let intervalIndex = Int(centerPosition)
    let intervalFraction = centerPosition - centerPosition.rounded(.down)
    let startLevel = normalizedLevel(atInterval: intervalIndex)
    return ColumnValue(
      intensity: startLevel + (normalizedLevel(atInterval: intervalIndex + 1) - startLevel)
        * intervalFraction,
      sharpness: normalizedFrequency(atInterval: loudestIndex))
  }
}
