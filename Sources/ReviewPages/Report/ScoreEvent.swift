internal import HapticModel
internal import HapticRender
internal import JSONText
internal import SignalPlots

/// One event of a pattern with the values a reader sees.
struct ScoreEvent: Equatable {
  /// What an event is, which also names its two values.
  enum Kind: String {
    /// One short impulse.
    case transient
    /// A vibration.
    case continuous
    /// A tone for the ear.
    case tone
    /// A sound file.
    case file = "sound file"

    /// What its strength and its tone are called.
    var names: (strength: String, tone: String) {
      switch self {
      case .transient, .continuous: ("intensity", "sharpness")
      case .tone, .file: ("volume", "brightness")
      }
    }
  }

  /// What it is.
  var kind: Kind
  /// The second it begins.
  var time: Double
  /// Seconds until it falls silent; 0 for a transient.
  var duration: Double
  /// What it becomes under its controls and its envelope, by rising time.
  var points: [PatternScore.Point]
  /// How its sharpness becomes hertz; nothing for what is only heard.
  var frequency: FrequencyMapping?

  /// The most points that a page holds of one event.
  private static let maximumPointCount = 400

  /// An event as it is drawn.
  init(_ event: PatternScore.Event, profile: TransducerProfile) {
    switch event.kind {
    case .hapticTransient:
      kind = .transient
      frequency = profile.transient.frequency
    case .hapticContinuous:
      kind = .continuous
      frequency = profile.frequency
    case .audioContinuous: kind = .tone
    case .audioCustom: kind = .file
    }
    time = event.time
    duration = kind == .transient ? 0 : event.end - event.time
    let step = max(1, (event.points.count + Self.maximumPointCount - 1) / Self.maximumPointCount)
    points = event.points.enumerated().compactMap { index, point in
      index % step == 0 || index == event.points.count - 1 ? point : nil
    }
  }

  /// The greatest strength it reaches.
  var peak: Double { points.reduce(0) { max($0, $1.intensity) } }

  /// Its tone, sharpness or brightness, where it begins.
  var tone: Double { points.first?.sharpness ?? 0 }

  /// Its frequency where it begins.
  var hertz: Double? { frequency?.hertz(atSharpness: tone) }

  /// Writes what the page's script needs to show the event's values at any time.
  func write(to json: inout JSONObjectWriter) {
    json.member("kind", kind.rawValue)
    json.member("time", time)
    json.member("duration", duration)
    json.member("strength", kind.names.strength)
    json.member("tone", kind.names.tone)
    if let law = frequency {
      json.object("frequency") { json in
        json.member("low", law.low)
        json.member("high", law.high)
        json.member("scale", law.scale.rawValue)
      }
    }
    // Time, strength and tone in turn.
    json.array("points") { list in
      for point in points {
        for value in [point.time, point.intensity, point.sharpness] {
          list.element((value * 1e6).rounded() / 1e6)
        }
      }
    }
  }
}

/// The events of one pattern as a table.
enum EventTable {
  /// The most rows of a table; a longer pattern is cut.
  static let maximumRowCount = 500

  private static let heads = ["Time", "Event", "Lasts", "Strongest", "Sharpness", "Frequency"]

  /// The markup, folded away.
  static func markup(_ events: [ScoreEvent], entry: String, className: String) -> String {
    let rows = events.prefix(maximumRowCount).map(row)
    let count = events.count
    let rest = count - rows.count
    return "    <details class=\"\(className)\" data-lines=\"\(count)\"><summary>\(entry) "
      + "<span class=\"dim\">\(count) event\(count == 1 ? "" : "s")</span></summary>\n"
      + "    <div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"Events\">"
      + "<table class=\"data\"><thead><tr>"
      + heads.map { head in
        "<th scope=\"col\"\(head == "Event" ? "" : " class=\"number\"")>\(head)</th>"
      }.joined() + "</tr></thead>\n<tbody>\n"
      + rows.joined() + "</tbody></table></div>\n"
      + (rest > 0 ? "    <p class=\"dim\">\(rest) more events are not shown.</p>\n" : "")
      + "    </details>\n"
  }

  private static func row(_ event: ScoreEvent) -> String {
    let cells = [
      event.duration > 0 ? PageNumberFormatting.seconds(event.duration) + " s" : "",
      PageNumberFormatting.fixed(event.peak, places: 2),
      PageNumberFormatting.fixed(event.tone, places: 2),
      event.hertz.map { PageNumberFormatting.fixed($0, places: 0) + " Hz" } ?? "",
    ]
    return "<tr><td class=\"number\">\(PageNumberFormatting.seconds(event.time)) s</td>"
      + "<th scope=\"row\">\(event.kind.rawValue)</th>"
      + cells.map { "<td class=\"number\">\($0)</td>" }.joined() + "</tr>\n"
  }
}
