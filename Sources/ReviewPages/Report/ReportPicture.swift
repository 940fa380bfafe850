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
  /// Its take's place among the entries, or nothing where several are drawn.
  var take: Int?
  /// What is said of the picture to those who do not see it.
  var words: String
  /// Length, counts and the like.
  var facts: String
  /// For screens and paper.
  var wide: Drawing
  /// For phones.
  var narrow: Drawing
}
