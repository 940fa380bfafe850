/// The colours of a theme.
///
/// Text has a contrast of at least 4.5 to 1 to its background, lines and shapes of 3 to 1. The two signals of
/// a comparison are blue and orange, which every kind of colour vision distinguishes, and differ in
/// line style too.
public struct PlotPalette: Sendable {
  /// The ground.
  public let paper: PlotColor
  /// Titles, and the curve of intensity control.
  public let ink: PlotColor
  /// Labels.
  public let label: PlotColor
  /// Frames and ticks.
  public let frame: PlotColor
  /// Lines behind the picture, which need no contrast.
  public let grid: PlotColor
  /// The signal, or the first of two.
  public let first: PlotColor
  /// The second of two signals.
  public let second: PlotColor
  /// The curve of sharpness control.
  public let control: PlotColor
  /// Colours of sharpness 0…1.
  public let sharpness: Colormap
  /// Colours of the share of a spectrogram's range.
  public let energy: Colormap

  /// The colours of a theme.
  public init(_ theme: PlotTheme) {
    switch theme {
    case .light:
      paper = PlotColor(0xFFFFFF)
      ink = PlotColor(0x1A2230)
      label = PlotColor(0x4F5A68)
      frame = PlotColor(0x7D8794)
      grid = PlotColor(0xE6EAEE)
      first = PlotColor(0x0B62A4)
      second = PlotColor(0xC2410C)
      control = PlotColor(0x00796B)
      // Beyond, the scale comes too close to white.
      sharpness = .plasma.part(0...0.62)
      energy = Colormap.viridis.rising(from: paper, isReversed: true)
    case .dark:
      paper = PlotColor(0x10151C)
      ink = PlotColor(0xE8EDF3)
      label = PlotColor(0xA8B2BF)
      frame = PlotColor(0x6B7684)
      grid = PlotColor(0x252E39)
      first = PlotColor(0x5FB0F0)
      second = PlotColor(0xFFA45C)
      control = PlotColor(0x22B296)
      // Before, the scale comes too close to the dark ground.
      sharpness = .plasma.part(0.41...1)
      energy = Colormap.viridis.rising(from: paper, isReversed: false)
    }
  }
}
