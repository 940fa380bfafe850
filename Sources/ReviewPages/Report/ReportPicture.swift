internal import PatternComparison
internal import SignalPlots

/// A picture of one take or of all, in the forms that screens and paper need.
struct ReportPicture {
  /// What is drawn.
  enum Kind: String, CaseIterable {
    /// Two takes on one another.
    case overlay
    /// Events with their intensity and sharpness.
    case score
    /// Samples over time, with their envelope.
    case waveform
    /// Frequencies over time.
    case spectrogram

    /// What its button says.
    var title: String {
      switch self {
      case .score: "Score"
      case .waveform: "Waveform"
      case .spectrogram: "Spectrogram"
      case .overlay: "Overlay"
      }
    }
  }

  /// A drawing for one width of the page.
  struct Drawing {
    /// The picture on a light ground, an SVG.
    var light: [UInt8]
    /// The picture on a dark ground, an SVG.
    var dark: [UInt8]
    /// Width and height in the picture's own units.
    var size: (width: Int, height: Int)
    /// The seconds at the ends of the time axis, and where they lie as shares of the width.
    var axis: (start: Double, end: Double, left: Double, right: Double)
  }

  /// What is drawn.
  var kind: Kind
  /// Its take's place among the entries, or nil where several are drawn.
  var take: Int?
  /// What is said of the picture to those who do not see it.
  var words: String
  /// Length, counts and the like.
  var facts: String
  /// For screens and paper.
  var wide: Drawing
  /// For phones.
  var narrow: Drawing

  /// The widths at which a report's pictures are drawn, in CSS pixels: for desks and paper, and for phones.
  private static let widths = (wide: 1_040, narrow: 360)

  /// All pictures of a report: what two takes share, then scores, waveforms and spectrograms.
  static func pictures(of takes: [Take]) throws(ReviewPageError) -> [ReportPicture] {
    var pictures: [ReportPicture] = []
    let subjects = takes.map { take in
      PlotSubject(
        name: "", composition: take.composition, signal: take.signal, profile: take.profile)
    }
    if takes.count > 1 {
      pictures.append(
        try picture(.overlay, of: nil, named: takes[0].name) { () throws(PlotError) in
          var pair = subjects
          pair[0].name = takes[0].name
          pair[1].name = takes[1].name
          return try Plot(comparing: pair[0], with: pair[1])
        })
    }
    for (kind, part) in [
      (Kind.score, PlotPart.score), (.waveform, .waveform), (.spectrogram, .spectrogram),
    ] {
      for (index, take) in takes.enumerated() where part != .score || take.composition != nil {
        pictures.append(
          try picture(kind, of: index, named: take.name) { () throws(PlotError) in
            try Plot(of: subjects[index], parts: [part])
          })
      }
    }
    return pictures
  }

  private static func picture(
    _ kind: Kind, of take: Int?, named name: String, plot make: () throws(PlotError) -> Plot
  ) throws(ReviewPageError) -> ReportPicture {
    do throws(PlotError) {
      var plot = try make()
      // The page says it beside the picture.
      let facts = plot.subtitle
      (plot.title, plot.subtitle) = ("", "")
      return ReportPicture(
        kind: kind, take: take, words: plot.summary, facts: facts,
        wide: try Drawing(plot, width: widths.wide),
        narrow: try Drawing(plot, width: widths.narrow))
    } catch {
      throw ReviewPageError(.notDrawn, "\(name): \(error.description)")
    }
  }
}

extension ReportPicture.Drawing {
  /// A plot at a width, in both themes.
  init(_ plot: Plot, width: Int) throws(PlotError) {
    light = try plot.draw(as: .svg, width: width, theme: .light)
    dark = try plot.draw(as: .svg, width: width, theme: .dark)
    size = (width, plot.height(width: width))
    let time = plot.timeAxis(width: width)
    axis = (time.startSeconds, time.endSeconds, time.left, time.right)
  }
}

/// A picture that follows the width and the theme of the page; paper gets the wide, light one.
enum PictureElement {
  /// Pages narrower than this show the drawings for phones, in CSS pixels.
  static let narrowWidth = 640

  /// The markup of a picture of a report.
  static func markup(_ picture: ReportPicture) -> String {
    let narrow = "screen and (max-width: \(narrowWidth)px)"
    let dark = "(prefers-color-scheme: dark)"
    return "<picture>"
      + source(picture.narrow.dark, picture.narrow.size, for: "\(narrow) and \(dark)")
      + source(picture.narrow.light, picture.narrow.size, for: narrow)
      + source(picture.wide.dark, picture.wide.size, for: "screen and \(dark)")
      + "<img src=\"\(address(picture.wide.light))\" width=\"\(picture.wide.size.width)\" "
      + "height=\"\(picture.wide.size.height)\" alt=\"\(picture.words.escapedForMarkup)\"></picture>"
  }

  private static func source(
    _ drawing: [UInt8], _ size: (width: Int, height: Int), for media: String
  ) -> String {
    "<source media=\"\(media)\" srcset=\"\(address(drawing))\" width=\"\(size.width)\" "
      + "height=\"\(size.height)\">"
  }

  /// An SVG within the page.
  private static func address(_ drawing: [UInt8]) -> String {
    "data:image/svg+xml;base64," + String(decoding: Base64.encoded(drawing), as: UTF8.self)
  }
}

extension ReportPicture.Drawing {
  /// The axis as the page's script reads it.
  var axisText: String {
    [axis.start, axis.end, axis.left, axis.right]
      .map { PageNumberFormatting.plain($0, places: 6) }.joined(separator: " ")
  }
}
