public import HapticModel
public import HapticRender
public import SignalAnalysis

/// A figure: pictures above one another that share an axis of time.
///
/// A plain value that knows nothing of pixels; it is drawn at any width, as a file or as text.
public struct Plot: Sendable {
  /// The title.
  public let title: String
  /// Length, contents and profile.
  public let facts: [String]
  /// The seconds that the axis of time covers.
  public let timeRange: ClosedRange<Double>
  /// Seconds until nothing sounds in any of what is shown, whatever part of it is.
  public let duration: Double
  /// The figure in a sentence, for those who do not see it.
  public let summary: String
  let takes: [PlotTake]
  let panels: [PlotPanel]

  /// The shortest time that is shown, in seconds.
  static let minimumTimeSpan = 0.005

  /// The most subjects that one figure shows.
  public static let maximumSubjectCount = 8

  /// The widths that a picture can have, in pixels.
  public static let allowedWidths = 200...10_000

  /// The figure of one pattern or sound; a `PlotError` for a pattern that cannot be rendered.
  public init(
    of subject: PlotSubject, parts: Set<PlotPart> = Set(PlotPart.allCases),
    timeRange seconds: ClosedRange<Double>? = nil
  ) throws(PlotError) { try self.init(of: [subject], parts: parts, timeRange: seconds) }

  /// The figure of patterns and sounds, at most `maximumSubjectCount` of them, over one another on
  /// shared axes: what all have is grey, what only one has is in its colour.
  ///
  /// - Parameter seconds: The part of time that is shown; nil for all.
  /// - Throws: A `PlotError` for a pattern that cannot be rendered.
  public init(
    of subjects: [PlotSubject], parts: Set<PlotPart> = Set(PlotPart.allCases),
    timeRange seconds: ClosedRange<Double>? = nil
  ) throws(PlotError) {
    var takes = try subjects.prefix(Self.maximumSubjectCount).map(PlotTake.init)
    if parts.contains(.score), takes.contains(where: { $0.eventPlot == nil }) {
      for index in takes.indices {
        takes[index].signalTrack = takes[index].signal.map { SignalTrack(of: $0) }
      }
    }
    duration = takes.map(\.duration).filter(\.isFinite).max() ?? 0
    let all = 0...max(Self.minimumTimeSpan, duration)
    timeRange = seconds.map { Self.clamped($0, to: all) } ?? all
    self.takes = takes
    panels = PlotPanel.panels(of: takes, parts: parts, timeRange: timeRange)
    let names = takes.map { $0.name.isEmpty ? "a pattern" : $0.name }
    title = takes.count == 1 ? takes[0].name : names.joined(separator: ", ")
    facts = Self.facts(of: takes, duration: duration, timeRange: seconds == nil ? nil : timeRange)
    summary = Self.summary(
      of: panels, names: takes.count == 1 ? takes.map(\.name) : names, facts: facts)
  }

  /// Draws the figure: the bytes of a file, the same ones with the same version of Cairo and the
  /// same fonts.
  ///
  /// - Parameters:
  ///   - width: Pixels, or points on paper; what lies outside `widths` is brought into it.
  ///   - theme: The colours; nil for those of the page that an SVG is shown on, and for light ones
  ///     in other files.
  public func draw(as format: PlotFormat, width: Int = 860, theme: PlotTheme? = nil)
    throws(PlotError) -> [UInt8]
  {
    try drawing(width: width).bytes(as: format, theme: theme)
  }

  func drawing(width: Int) -> PlotDrawing { PlotPainter.makeDrawing(of: self, width: width) }

  private static func clamped(_ range: ClosedRange<Double>, to all: ClosedRange<Double>)
    -> ClosedRange<Double>
  {
    let from = min(max(range.lowerBound, 0), all.upperBound - minimumTimeSpan)
    return max(0, from)...max(from + minimumTimeSpan, min(range.upperBound, all.upperBound))
  }

  private static func facts(
    of takes: [PlotTake], duration: Double, timeRange span: ClosedRange<Double>?
  )
    -> [String]
  {
    func time(_ seconds: Double) -> String { AxisTick.shortText(seconds, decimalPlaces: 3) }
    var facts = [
      (span.map { "\(time($0.lowerBound))–\(time($0.upperBound)) s of " } ?? "")
        + durationText(duration)
    ]
    if takes.count > 1 {
      facts.append("grey: in \(takes.count == 2 ? "both" : "all")")
    } else if let score = takes.first?.eventPlot {
      facts += eventCountTexts(of: score)
    }
    // Of a recording it is not known what made it.
    let profiles = takes.compactMap { $0.profile?.name }
    guard profiles.count == takes.count, !profiles.isEmpty else { return facts }
    let names = profiles.uniqued
    return facts + ["profile\(names.count == 1 ? "" : "s") \(names.joined(separator: ", "))"]
  }

  private static func durationText(_ seconds: Double) -> String {
    if seconds >= TimeTicks.minimumSecondsForMinutes {
      return TimeTicks.clockText(seconds) + " min"
    }
    return seconds < 0.1
      ? AxisTick.text(seconds * 1_000, decimalPlaces: 0) + " ms"
      : AxisTick.shortText(seconds, decimalPlaces: seconds < 10 ? 2 : 1) + " s"
  }

  /// `3 continuous events`, `1 transient`.
  private static func eventCountTexts(of score: EventPlot) -> [String] {
    let counted = HapticEvent.Kind.allCases.compactMap { kind -> String? in
      let count = score.events.count { $0.kind == kind }
      return count == 0 ? nil : "\(count) \(kind.noun)\(count == 1 ? "" : "s")"
    }
    return counted.isEmpty ? ["no events"] : counted
  }

  private static func summary(of panels: [PlotPanel], names: [String], facts: [String]) -> String {
    let kinds = panels.map(\.summaryNoun).uniqued
    let shown = kinds.isEmpty ? "empty picture" : kinds.joinedWithAnd
    let named = names.filter { !$0.isEmpty }
    return shown.capitalizedFirst + (named.isEmpty ? "" : " of \(named.joinedWithAnd)")
      + ": \(facts.joined(separator: ", "))."
  }
}

extension String { package var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() } }

extension [String] {
  /// `a`, `a and b`, or `a, b and c`.
  package var joinedWithAnd: String {
    count < 2 ? joined() : dropLast().joined(separator: ", ") + " and " + self[count - 1]
  }

  /// Each once, where it is first.
  fileprivate var uniqued: [String] {
    reduce(into: []) {
      if !$0.contains($1) {
        $0.append($1)
      }
    }
  }
}

extension PlotDrawing {
  func bytes(as format: PlotFormat, theme: PlotTheme?) throws(PlotError) -> [UInt8] {
    guard format == .svg else {
      return try CairoWriter.bytes(of: self, theme: theme ?? .light, isPDF: format == .pdf)
    }
    var writer = SVGWriter(self, theme: theme)
    return Array(try writer.document().utf8)
  }
}

/// What a picture shows: a pattern, its sound, or a sound alone.
public struct PlotSubject: Sendable {
  /// The name in the title.
  public var name: String
  /// The pattern, all its layers, where there is one.
  public var composition: HapticComposition?
  /// The sound, where it is shown.
  public var signal: Signal?
  /// What it is rendered with; nil for a recording, whose band is not known.
  public var profile: TransducerProfile?
  /// The pattern's sound files, for their lengths.
  public var samples: [String: AudioBuffer]

  /// Names what is to be shown.
  public init(
    name: String, composition: HapticComposition? = nil, signal: Signal? = nil,
    profile: TransducerProfile? = nil,
    samples: [String: AudioBuffer] = [:]
  ) {
    self.name = name
    self.composition = composition
    self.signal = signal
    self.profile = profile
    self.samples = samples
  }
}

/// A way to look at a pattern or a sound; the raw value is what users call it.
public enum PlotPart: String, CaseIterable, Sendable {
  /// Intensity and sharpness of events with the curves over them; level and frequency of a
  /// recording.
  case score
  /// The sound's samples over time.
  case waveform
  /// The sound's frequencies over time.
  case spectrogram
}

extension HapticComposition {
  /// Whether its events say all of it: of sampled signals, only the sound does.
  package var containsOnlyEvents: Bool { layers.allSatisfy(\.signals.isEmpty) }
}

/// A subject with what is evaluated and measured of it.
struct PlotTake: Sendable {
  let name: String
  /// What it is rendered with, where that is known.
  let profile: TransducerProfile?
  let eventPlot: EventPlot?
  fileprivate(set) var signalTrack: SignalTrack?
  let signal: Signal?
  /// Seconds until nothing sounds.
  let duration: Double

  /// The share of the peak that still counts as sound behind the last event.
  private static let minimumTailRatio: Float = 1e-3

  init(_ subject: PlotSubject) throws(PlotError) {
    name = subject.name
    signal = subject.signal
    guard let composition = subject.composition else {
      eventPlot = nil
      profile = subject.profile
      duration = subject.signal?.duration ?? 0
      return
    }
    let profile = subject.profile ?? .phone
    self.profile = profile
    let events = try EventPlot(of: composition, profile: profile, samples: subject.samples)
    eventPlot = composition.containsOnlyEvents ? events : nil
    // The silence behind a rendering is not part of the pattern.
    duration = max(events.duration, subject.signal.map(Self.soundEnd) ?? 0)
  }

  /// The second behind which there is nothing but silence.
  private static func soundEnd(of signal: Signal) -> Double {
    let peak = signal.channels.joined().reduce(Float(0)) { max($0, abs($1)) }
    guard peak > 0 else { return 0 }
    let last = signal.channels.map { samples in
      samples.lastIndex { abs($0) > minimumTailRatio * peak } ?? -1
    }
    return Double((last.max() ?? -1) + 1) / signal.rate
  }

  /// The part of its sound within a range of seconds, and the second at which that starts.
  func excerpt(_ range: ClosedRange<Double>, margin: Double = 0) -> (signal: Signal, start: Double)?
  {
    guard let signal else { return nil }
    let from = Int(max(0, (range.lowerBound - margin) * signal.rate).rounded(.down))
    // The frame behind the end is where the line goes to.
    let end = min(
      Double(signal.frameCount), ((range.upperBound + margin) * signal.rate).rounded(.up) + 1)
    guard from < Int(end) else { return (Signal(channels: [[]], rate: signal.rate), 0) }
    if from == 0, Int(end) == signal.frameCount { return (signal, 0) }
    let channels = signal.channels.map { Array($0[from..<Int(end)]) }
    return (Signal(channels: channels, rate: signal.rate), Double(from) / signal.rate)
  }
}

/// The kind of file that a picture is; the raw value is the ending of its name.
public enum PlotFormat: String, CaseIterable, Sendable {
  /// Pixels.
  case png
  /// Shapes for pages, sharp at any size.
  case svg
  /// Shapes for paper.
  case pdf

  /// The format that a file's name asks for by its ending, in capitals or not.
  public init?(ofName name: String) {
    guard let dot = name.lastIndex(of: ".") else { return nil }
    self.init(rawValue: name[name.index(after: dot)...].lowercased())
  }
}

/// The background that a picture is drawn on.
public enum PlotTheme: String, CaseIterable, Sendable {
  /// Dark lines on white: for paper and most pages.
  case light
  /// Bright lines on near black.
  case dark
}

/// Why a picture could not be drawn.
public struct PlotError: Error, Equatable, Sendable, CustomStringConvertible {
  /// What can be done about it.
  public enum Kind: String, Sendable {
    /// A library is missing: install it.
    case missingLibrary
    /// The picture is too large for its format or for memory: draw a smaller one.
    case tooLarge
    /// The library refused for a reason of its own.
    case drawingFailed
    /// The pattern cannot be rendered either: change it.
    case invalidPattern
  }

  /// What can be done about it.
  public var kind: Kind
  /// One line for the user.
  public var description: String

  /// Makes an error.
  public init(_ kind: Kind, _ description: String) {
    self.kind = kind
    self.description = description
  }
}

/// The level and the frequency of a signal over time, for takes whose events are not known.
package struct SignalTrack: Equatable, Sendable {
  /// Seconds between values.
  package let interval: Double
  /// Levels in dBFS, of the sine that is as strong.
  package let levels: [Double]
  /// Hertz; 0 where there is no tone.
  package private(set) var frequencies: [Double]

  private static let maximumValueCount = 4_000
  /// The finest step in seconds.
  private static let minimumInterval = 0.005
  /// Quieter levels are silence, in dBFS.
  package static let minimumLevel = -80.0
  /// The levels that pictures show, in dBFS.
  package static let levelRange = -60.0...0
  /// The frequencies that pictures show, in hertz.
  package static let frequencyRange = 30.0...600

  package init(of signal: Signal) {
    let step = max(Self.minimumInterval, signal.duration / Double(Self.maximumValueCount))
    let envelope = AmplitudeEnvelope(of: signal, step: step)
    self.interval = envelope.step
    levels = envelope.values.map { max(Self.minimumLevel, Decibels.of(amplitude: Double($0))) }
    frequencies = Array(repeating: 0, count: levels.count)
    for point in FrequencyTrack(of: signal, step: step).points {
      let index = Int((point.time / envelope.step).rounded())
      if frequencies.indices.contains(index) {
        frequencies[index] = point.hertz
      }
    }
  }

  /// The index of the value at a time; that of no value behind the ends.
  package func index(at time: Double) -> Int { Int((time / interval).rounded()) }

  /// How strong it is at a value's index: where the level stands in the range that is shown, 0…1.
  package func normalizedLevel(at index: Int) -> Double {
    levels.indices.contains(index)
      ? min(max(0, PlotAxis(range: Self.levelRange).fraction(of: levels[index])), 1) : 0
  }

  /// Where the frequency at a value's index stands in the range that is shown, 0…1; nil without a
  /// tone that is as strong as what is shown.
  package func normalizedFrequency(at index: Int) -> Double? {
    guard normalizedLevel(at: index) > 0, frequencies.indices.contains(index),
      frequencies[index] > 0
    else { return nil }
    return min(max(0, Self.frequencyAxis.fraction(of: frequencies[index])), 1)
  }

  static let frequencyAxis = PlotAxis(range: frequencyRange, isLogarithmic: true)
}

/// How strong and how sharp a take is at a time, as shares of what pictures show.
struct ColumnValue: Equatable, Sendable {
  /// The intensity of what lasts, or the level of a sound, 0…1.
  var intensity: Double
  /// The sharpness, or where the frequency stands in its range, 0…1; nil for what is not seen.
  var sharpness: Double?

  /// Weaker events have no sharpness to be seen.
  static let minimumVisibleIntensity = 0.003
  /// What intensities and levels may differ by to count as equal.
  static let intensityTolerance = 0.012
  /// What sharpnesses may differ by.
  static let sharpnessTolerance = 0.008
}

extension PlotTake {
  /// What is read in each of so many columns of a range of seconds; of several values the strongest
  /// counts.
  func columnValues(columnCount count: Int, timeRange span: ClosedRange<Double>) -> [ColumnValue] {
    let step = (span.upperBound - span.lowerBound) / Double(count)
    guard let signalTrack else {
      let continuous = (eventPlot?.events ?? []).filter { $0.kind.isVibration }
      return EventColumns.strongestPoints(of: continuous, count: count) {
        ($0 - span.lowerBound) / step
      }.map {
        ColumnValue(
          intensity: $0.intensity,
          sharpness: $0.intensity > ColumnValue.minimumVisibleIntensity ? $0.sharpness : nil)
      }
    }
    return (0..<count).map { column in
      let start = span.lowerBound + Double(column) * step
      let first = Int((start / signalTrack.interval).rounded())
      let last = max(first, Int(((start + step) / signalTrack.interval).rounded()) - 1)
      var best = first
      for index in first...last
      where signalTrack.normalizedLevel(at: index) > signalTrack.normalizedLevel(at: best) {
        best = index
      }
      guard step < signalTrack.interval else {
        return ColumnValue(
          intensity: signalTrack.normalizedLevel(at: best),
          sharpness: signalTrack.normalizedFrequency(at: best))
      }
      // Between values the level is a straight line.
      let place = (start + step / 2) / signalTrack.interval
      let before = Int(place)
      let share = place - place.rounded(.down)
      let from = signalTrack.normalizedLevel(at: before)
      return ColumnValue(
        intensity: from + (signalTrack.normalizedLevel(at: before + 1) - from) * share,
        sharpness: signalTrack.normalizedFrequency(at: best)
      )
    }
  }
}
