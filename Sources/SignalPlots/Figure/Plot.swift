public import HapticModel
public import HapticRender
public import SignalAnalysis

/// A figure: pictures above one another that share an axis of time.
///
/// A plain value that knows nothing of pixels; it is drawn at any width, as a file or as text.
public struct Plot: Sendable {
  /// The title.
  public var title: String
  /// The smaller text below the title.
  public var subtitle: String
  /// The seconds that the axis of time covers.
  public let span: ClosedRange<Double>
  /// The figure in a sentence, for those who do not see it.
  public let summary: String
  let panels: [PlotPanel]

  /// The shortest time that is shown, in seconds.
  static let minimumSpan = 0.005

  init(title: String, subtitle: String, duration: Double, panels: [PlotPanel], summary: String) {
    self.title = title
    self.subtitle = subtitle
    self.summary = summary
    self.panels = panels
    span = 0...max(Self.minimumSpan, duration.isFinite ? duration : 0)
  }

  /// Where a picture's axis of time lies, so that a page can put a play head over it.
  public struct TimeAxis: Equatable, Sendable {
    /// The second at the left end.
    public let startSeconds: Double
    /// The second at the right end.
    public let endSeconds: Double
    /// The left end as a share of the picture's width.
    public let left: Double
    /// The right end as a share of the picture's width.
    public let right: Double
  }

  /// Where the axis of time lies in a picture of a width in pixels.
  public func timeAxis(width: Int) -> TimeAxis {
    let layout = PlotLayout(self, width: width)
    return TimeAxis(
      startSeconds: span.lowerBound, endSeconds: span.upperBound,
      left: layout.timeLeft / layout.width, right: layout.timeRight / layout.width)
  }

  /// The height in pixels of a picture of a width in pixels.
  public func height(width: Int) -> Int { Int(PlotLayout(self, width: width).height) }

  /// The widths that a picture can have, in pixels.
  public static let widths = 200...10_000

  /// Draws the figure: the bytes of a file.
  ///
  /// The same figure gives the same bytes with the same version of Cairo and the same fonts.
  ///
  /// - Parameters:
  ///   - format: The kind of file.
  ///   - width: Pixels, or points on paper; what lies outside `widths` is brought into it.
  ///   - theme: The colours.
  ///   - idPrefix: What names inside an SVG begin with; pictures on one page need different ones.
  public func draw(
    as format: PlotFormat, width: Int = 860, theme: PlotTheme = .light, idPrefix: String = "p"
  ) throws(PlotError) -> [UInt8] {
    let layout = PlotLayout(self, width: width)
    let canvas = try CairoCanvas(
      format, width: Int(layout.width), height: Int(layout.height), title: title)
    let drawing = FigureDrawing(
      layout: layout, canvas: canvas, palette: PlotPalette(theme), cellSize: format == .png ? 1 : 2)
    try drawing.draw(self)
    let bytes = try canvas.finish()
    guard format == .svg else { return bytes }
    var text = SVGPostprocessor(bytes)
    return text.readable(title: title, description: summary, idPrefix: idPrefix)
  }

  /// The events and curves of all layers.
  public static func score(
    of composition: HapticComposition, profile: TransducerProfile = .phone, title: String = ""
  ) throws(PlotError) -> Plot {
    try Plot(
      of: PlotSubject(name: title, composition: composition, profile: profile), parts: [.score])
  }

  /// A sound's waveform, one picture for each channel that differs.
  public static func waveform(of signal: Signal, title: String = "") throws(PlotError) -> Plot {
    try Plot(of: PlotSubject(name: title, signal: signal), parts: [.waveform])
  }

  /// A sound's frequencies over time, with a profile's band marked.
  public static func spectrogram(
    of signal: Signal, profile: TransducerProfile = .phone, title: String = ""
  ) throws(PlotError) -> Plot {
    try Plot(of: PlotSubject(name: title, signal: signal, profile: profile), parts: [.spectrogram])
  }

  /// What there is to see of one pattern or sound, in the order score, waveform, spectrogram.
  ///
  /// - Throws: A `PlotError` for a pattern that cannot be rendered.
  public init(of subject: PlotSubject, parts: Set<PlotPart> = Set(PlotPart.allCases))
    throws(PlotError)
  {
    var panels: [PlotPanel] = []
    var duration = 0.0
    var facts: [String] = []
    var patternDuration: Double?
    if parts.contains(.score), let composition = subject.composition {
      let score = try PatternScore(
        of: composition, profile: subject.profile, samples: subject.samples)
      panels += PlotPanel.score(score)
      duration = max(duration, score.duration)
      // The silence behind a rendering is not part of the pattern.
      patternDuration = score.duration
      facts.append(Self.counts(of: score))
    }
    if let signal = subject.signal {
      if parts.contains(.waveform) { panels += PlotPanel.waves(of: signal) }
      if parts.contains(.spectrogram) {
        panels.append(.spectrogram(of: signal, profile: subject.profile))
      }
      if parts.contains(.waveform) || parts.contains(.spectrogram) {
        duration = max(duration, signal.duration)
      }
    }
    facts.insert(Self.length(patternDuration ?? duration), at: 0)
    if subject.composition != nil {
      let band = subject.profile.frequency
      facts.append(
        "profile \(subject.profile.name), \(AxisTick.text(band.low, places: 0))–"
          + "\(AxisTick.text(band.high, places: 0)) Hz")
    }
    let subtitle = facts.joined(separator: " · ")
    self.init(
      title: subject.name, subtitle: subtitle, duration: duration, panels: panels,
      summary: Self.summary(of: panels, name: subject.name, facts: facts))
  }

  /// Two patterns or sounds on one axis of time: scores mirrored, waveforms over one another.
  public init(
    comparing first: PlotSubject, with second: PlotSubject,
    parts: Set<PlotPart> = Set(PlotPart.allCases)
  ) throws(PlotError) {
    var panels: [PlotPanel] = []
    var duration = 0.0
    let subjects = [first, second]
    if parts.contains(.score), let upper = first.composition,
      let lower = second.composition
    {
      let above = try PatternScore(of: upper, profile: first.profile, samples: first.samples)
      let below = try PatternScore(of: lower, profile: second.profile, samples: second.samples)
      panels.append(.scores(above, below, names: subjects.map(\.name)))
      duration = max(above.duration, below.duration)
    }
    if parts.contains(.waveform), let upper = first.signal, let lower = second.signal {
      panels.append(
        .waves(
          SoundTrace(name: first.name, samples: upper.mono, rate: upper.rate),
          over: SoundTrace(name: second.name, samples: lower.mono, rate: lower.rate)))
      duration = max(duration, upper.duration, lower.duration)
    }
    if parts.contains(.spectrogram) {
      for (letter, subject) in zip(["A", "B"], subjects) {
        guard let signal = subject.signal else { continue }
        var panel = PlotPanel.spectrogram(of: signal, profile: subject.profile)
        panel.caption += ", \(letter)"
        panels.append(panel)
        duration = max(duration, signal.duration)
      }
    }
    let facts = [Self.length(duration)]
    let title = "A: \(first.name)   B: \(second.name)"
    self.init(
      title: title, subtitle: facts.joined(separator: " · "), duration: duration, panels: panels,
      summary: Self.summary(of: panels, name: "\(first.name) and \(second.name)", facts: facts))
  }

  private static func length(_ seconds: Double) -> String {
    if seconds >= TimeTicks.minutesFrom { return TimeTicks.clock(seconds) + " minutes" }
    return seconds < 0.1
      ? AxisTick.text(seconds * 1_000, places: 1) + " ms"
      : AxisTick.text(seconds, places: seconds < 10 ? 2 : 1) + " s"
  }

  /// `3 continuous events, 1 transient`.
  private static func counts(of score: PatternScore) -> String {
    let kinds: [(HapticEvent.Kind, String, String)] = [
      (.hapticContinuous, "continuous event", "continuous events"),
      (.hapticTransient, "transient", "transients"),
      (.audioContinuous, "tone", "tones"),
      (.audioCustom, "sound file", "sound files"),
    ]
    let counted = kinds.compactMap { kind, one, many -> String? in
      let count = score.events.count { $0.kind == kind }
      return count == 0 ? nil : "\(count) \(count == 1 ? one : many)"
    }
    return counted.isEmpty ? "no events" : counted.joined(separator: ", ")
  }

  private static func summary(of panels: [PlotPanel], name: String, facts: [String]) -> String {
    var kinds: [String] = []
    for panel in panels {
      let kind =
        switch panel.content {
        case .score: "score"
        case .audio: "audio events"
        case .waveform: "waveform"
        case .spectrogram: "spectrogram"
        }
      if !kinds.contains(kind) { kinds.append(kind) }
    }
    let list =
      kinds.count > 1
      ? kinds.dropLast().joined(separator: ", ") + " and " + kinds[kinds.count - 1]
      : (kinds.first ?? "empty picture")
    let text =
      (list.prefix(1).uppercased() + list.dropFirst()) + (name.isEmpty ? "" : " of \(name)")
    return "\(text): \(facts.joined(separator: ", "))."
  }
}
