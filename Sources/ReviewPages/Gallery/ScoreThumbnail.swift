internal import SignalAnalysis
internal import SignalPlots

/// A score at a glance: height is intensity, colour is sharpness, without a word.
///
/// Part of the page, so that it takes the page's colours, and as small as its text can be.
struct ScoreThumbnail {
  /// Width and height in CSS pixels.
  static let size = (width: 320.0, height: 88.0)
  /// Margins at the sides, so that heads are whole.
  private static let margin = 8.0
  /// Steps of sharpness that have a colour of their own.
  static let toneCount = 16
  /// The most parts that one event is drawn in.
  private static let maximumPartCount = 48

  /// CSS pixels of a column of the sound.
  private static let column = 2.0

  private let events: [ScoreEvent]
  private let signal: Signal
  private let duration: Double

  /// The picture of some events over their sound.
  init(_ events: [ScoreEvent], signal: Signal) {
    self.events = events
    self.signal = signal
    duration = max(0.001, signal.duration)
  }

  /// Where the axis of time lies, as shares of the width.
  static var axis: (left: Double, right: Double) {
    (margin / size.width, 1 - margin / size.width)
  }

  /// The colours of all tones in a theme, as style variables.
  static func variables(_ theme: PlotTheme) -> String {
    let ramp = PlotPalette(theme).sharpness
    return (0..<toneCount).map { tone in
      "--tone-\(tone):\(ramp.color(at: Double(tone) / Double(toneCount - 1)).css);"
    }.joined()
  }

  /// The style that the pictures of a page share.
  static var style: [UInt8] {
    let rules = (0..<toneCount).map { ".tone-\($0){--tone:var(--tone-\($0))}" }.joined()
    return Array(
      """
      :root{\(variables(.light))}
      @media screen and (prefers-color-scheme:dark){:root{\(variables(.dark))}}
      \(rules)

      """.utf8)
  }

  /// The picture, with `words` as its text alternative.
  func markup(words: String) -> String {
    let (width, height) = Self.size
    let areas = events.filter { $0.kind != .transient }.map(area).joined()
    let stems = events.filter { $0.kind == .transient }.map(stem).joined()
    return "<svg viewBox=\"0 0 \(Int(width)) \(Int(height))\" role=\"img\" "
      + "aria-label=\"\(words.escapedForMarkup)\"><path class=\"ground\" "
      + "d=\"M0 \(Self.text(Self.y(0)))H\(Int(width))\"/>\(sound)<g class=\"areas\">\(areas)</g>\(stems)</svg>"
  }

  private func x(_ seconds: Double) -> Double {
    Self.margin + (Self.size.width - 2 * Self.margin) * seconds / duration
  }

  private static func y(_ intensity: Double) -> Double {
    size.height - 2 - (size.height - 12) * intensity
  }

  /// One decimal place is a tenth of a pixel.
  private static func text(_ value: Double) -> String {
    PageNumberFormatting.plain(value, places: 1)
  }

  private static func tone(_ sharpness: Double) -> Int {
    Int((min(max(sharpness, 0), 1) * Double(toneCount - 1)).rounded())
  }

  /// How far the sound swings in each column, the loudest as high as the strongest event.
  private var sound: String {
    let samples = signal.mono
    let count = Int((Self.size.width - 2 * Self.margin) / Self.column)
    let peaks = (0..<count).map { column in
      let range = samples.count * column / count..<samples.count * (column + 1) / count
      return Double(samples[range].reduce(0) { max($0, abs($1)) })
    }
    guard let greatest = peaks.max(), greatest > 0 else { return "" }
    let height = events.map(\.peak).max() ?? 1
    var path = ""
    for (column, peak) in peaks.enumerated() where peak > greatest / 80 {
      let x = Self.margin + (Double(column) + 0.5) * Self.column
      path +=
        "M\(Self.text(x)) \(Self.text(Self.y(0)))V\(Self.text(Self.y(height * peak / greatest)))"
    }
    return "<path class=\"sound\" d=\"\(path)\"/>"
  }

  private func stem(_ event: ScoreEvent) -> String {
    guard let point = event.points.first else { return "" }
    let (x, top) = (Self.text(x(point.time)), Self.text(Self.y(point.intensity)))
    return "<g class=\"stem tone-\(Self.tone(point.sharpness))\"><path d=\"M\(x) "
      + "\(Self.text(Self.y(0)))V\(top)\"/><circle cx=\"\(x)\" cy=\"\(top)\" r=\"4\"/></g>"
  }

  /// An event that lasts, in parts of one colour.
  private func area(_ event: ScoreEvent) -> String {
    let step = max(1, event.points.count / Self.maximumPartCount)
    let points = event.points.enumerated().compactMap { index, point in
      index % step == 0 || index == event.points.count - 1 ? point : nil
    }
    guard points.count > 1 else { return "" }
    var markup = ""
    var first = 0
    while first < points.count - 1 {
      let tone = Self.tone((points[first].sharpness + points[first + 1].sharpness) / 2)
      var last = first + 1
      while last < points.count - 1,
        Self.tone((points[last].sharpness + points[last + 1].sharpness) / 2) == tone
      {
        last += 1
      }
      let ground = Self.text(Self.y(0))
      var path = "M\(Self.text(x(points[first].time))) \(ground)"
      for point in points[first...last] {
        path += "L\(Self.text(x(point.time))) \(Self.text(Self.y(point.intensity)))"
      }
      path += "V\(ground)Z"
      let isAudio = event.kind == .tone || event.kind == .file
      markup += "<path class=\"\(isAudio ? "audio" : "area") tone-\(tone)\" d=\"\(path)\"/>"
      first = last
    }
    return markup
  }
}
