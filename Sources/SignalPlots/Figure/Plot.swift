internal import HapticModel
internal import HapticRender
internal import SignalAnalysis

/// A figure: pictures above one another that share an axis of time.
///
/// A plain value that knows nothing of pixels; it is drawn at any width, as a file or as text.
public struct Plot: Sendable {
  /// The title.
  public let title: String
  /// Length, contents and profile.
  public let facts: [String]
  /// The seconds that the axis of time covers.
  public let span: ClosedRange<Double>
  /// Seconds until nothing sounds in any of what is shown, whatever part of it is.
  public let duration: Double
  /// The figure in a sentence, for those who do not see it.
  public let summary: String
  /// What is shown, in the order of its letters.
  let takes: [PlotTake]
  let panels: [PlotPanel]

  /// The shortest time that is shown, in seconds.
  static let minimumSpan = 0.005

  /// The most subjects that one figure shows.
  public static let maximumSubjectCount = 8

  /// The widths that a picture can have, in pixels.
  public static let widths = 200...10_000

  /// The figure of one pattern or sound.
  ///
  /// - Parameters:
  ///   - subject: What is shown.
  ///   - parts: The panels, in the order score, waveform, spectrogram.
  ///   - seconds: The part of time that is shown; nil for all.
  /// - Throws: A `PlotError` for a pattern that cannot be rendered.
  public init(
    of subject: PlotSubject, parts: Set<PlotPart> = Set(PlotPart.allCases), seconds: ClosedRange<Double>? = nil
  ) throws(PlotError) { try self.init(of: [subject], parts: parts, seconds: seconds) }

  /// The figure of patterns and sounds over one another, on shared axes: what all have is grey, what only
  /// one has is in its colour.
  ///
  /// - Parameters:
  ///   - subjects: What is shown, no more than `maximumSubjectCount`; others are left out.
  ///   - parts: The panels, in the order score, waveform, spectrogram.
  ///   - seconds: The part of time that is shown; nil for all.
  /// - Throws: A `PlotError` for a pattern that cannot be rendered.
  public init(
    of subjects: [PlotSubject], parts: Set<PlotPart> = Set(PlotPart.allCases), seconds: ClosedRange<Double>? = nil
  ) throws(PlotError) {
    var takes: [PlotTake] = []
    for subject in subjects.prefix(Self.maximumSubjectCount) { takes.append(try PlotTake(subject)) }
    if parts.contains(.score), takes.contains(where: { $0.score == nil }) {
      for index in takes.indices { takes[index].follow() }
    }
    duration = takes.map(\.duration).filter(\.isFinite).max() ?? 0
    let whole = 0...max(Self.minimumSpan, duration)
    span = seconds.map { Self.part($0, of: whole) } ?? whole
    self.takes = takes
    panels = PlotPanel.panels(of: takes, parts: parts, span: span)
    let names = takes.map { $0.name.isEmpty ? "a pattern" : $0.name }
    title = takes.count == 1 ? takes[0].name : names.joined(separator: ", ")
    facts = Self.facts(of: takes, duration: duration, span: seconds == nil ? nil : span)
    summary = Self.summary(of: panels, names: takes.count == 1 ? takes.map(\.name) : names, facts)
  }

  /// Draws the figure: the bytes of a file.
  ///
  /// The same figure gives the same bytes with the same version of Cairo and the same fonts.
  ///
  /// - Parameters:
  ///   - format: The kind of file.
  ///   - width: Pixels, or points on paper; what lies outside `widths` is brought into it.
  ///   - theme: The colours; nil for those of the page that an SVG is shown on, and for light ones in other files.
  public func draw(as format: PlotFormat, width: Int = 860, theme: PlotTheme? = nil) throws(PlotError) -> [UInt8] {
    try drawing(width: width).bytes(as: format, theme: theme)
  }

  /// The figure as shapes and texts.
  func drawing(width: Int) -> PlotDrawing { FigureDrawing.draw(self, width: width) }

  /// A range within another that is long enough to be seen.
  private static func part(_ range: ClosedRange<Double>, of whole: ClosedRange<Double>) -> ClosedRange<Double> {
    let from = min(max(range.lowerBound, 0), whole.upperBound - minimumSpan)
    return max(0, from)...max(from + minimumSpan, min(range.upperBound, whole.upperBound))
  }

  // MARK: Words

  private static func facts(of takes: [PlotTake], duration: Double, span: ClosedRange<Double>?) -> [String] {
    var facts: [String] = []
    if let span {
      facts.append("\(time(span.lowerBound))–\(time(span.upperBound)) s of \(length(duration))")
    } else {
      facts.append(length(duration))
    }
    if takes.count > 1 {
      facts.append("grey: in \(takes.count == 2 ? "both" : "all")")
    } else if let score = takes.first?.score {
      facts += counts(of: score)
    }
    // Of a recording it is not known what made it.
    let profiles = takes.compactMap { $0.profile?.name }
    guard profiles.count == takes.count else { return facts }
    let names = profiles.reduce(into: [String]()) { if !$0.contains($1) { $0.append($1) } }
    if !names.isEmpty { facts.append("profile\(names.count == 1 ? "" : "s") \(names.joined(separator: ", "))") }
    return facts
  }

  private static func time(_ seconds: Double) -> String { AxisTick.short(seconds, places: 3) }

  private static func length(_ seconds: Double) -> String {
    if seconds >= TimeTicks.minutesFrom { return TimeTicks.clock(seconds) + " min" }
    return seconds < 0.1
      ? AxisTick.text(seconds * 1_000, places: 0) + " ms" : AxisTick.short(seconds, places: seconds < 10 ? 2 : 1) + " s"
  }

  /// `3 continuous events`, `1 transient`.
  private static func counts(of score: PatternScore) -> [String] {
    let counted = HapticEvent.Kind.allCases.compactMap { kind -> String? in
      let count = score.events.count { $0.kind == kind }
      return count == 0 ? nil : "\(count) \(kind.noun)\(count == 1 ? "" : "s")"
    }
    return counted.isEmpty ? ["no events"] : counted
  }

  private static func summary(of panels: [PlotPanel], names: [String], _ facts: [String]) -> String {
    func list(_ words: [String]) -> String {
      words.count > 1 ? words.dropLast().joined(separator: ", ") + " and " + words[words.count - 1] : words.first ?? ""
    }
    let kinds = panels.reduce(into: [String]()) { kinds, panel in
      if !kinds.contains(panel.noun) { kinds.append(panel.noun) }
    }
    let shown = kinds.isEmpty ? "empty picture" : list(kinds)
    let named = names.filter { !$0.isEmpty }
    return shown.prefix(1).uppercased() + shown.dropFirst() + (named.isEmpty ? "" : " of \(list(named))")
      + ": \(facts.joined(separator: ", "))."
  }
}

extension PlotDrawing {
  /// The bytes of a file.
  func bytes(as format: PlotFormat, theme: PlotTheme?) throws(PlotError) -> [UInt8] {
    switch format {
    case .svg:
      var writer = SVGWriter(self, theme: theme)
      return Array(try writer.text().utf8)
    case .png: return try CairoWriter.bytes(of: self, theme: theme ?? .light, isPDF: false)
    case .pdf: return try CairoWriter.bytes(of: self, theme: theme ?? .light, isPDF: true)
    }
  }
}
