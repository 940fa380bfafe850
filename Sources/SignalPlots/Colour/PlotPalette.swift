/// The colours of a theme.
///
/// Text stands out from its ground by 4.5 to 1 and more, lines and shapes by 3 to 1. The two signals of
/// a comparison are blue and orange, which every kind of colour vision tells apart, and differ in
/// line style too.
public struct PlotPalette: Sendable {
  /// The ground.
  public let paper: PlotColour
  /// Titles, and the curve of intensity control.
  public let ink: PlotColour
  /// Labels.
  public let label: PlotColour
  /// Frames and ticks.
  public let frame: PlotColour
  /// Lines behind the picture, which need not stand out.
  public let grid: PlotColour
  /// The signal, or the first of two.
  public let first: PlotColour
  /// The second of two signals.
  public let second: PlotColour
  /// The curve of sharpness control.
  public let control: PlotColour
  /// Colours of sharpness 0…1.
  public let sharpness: ColourRamp
  /// Colours of the share of a spectrogram's range.
  public let energy: ColourRamp

  /// The colours of a theme.
  public init(_ theme: PlotTheme) {
    switch theme {
    case .light:
      paper = PlotColour(0xFFFFFF)
      ink = PlotColour(0x1A2230)
      label = PlotColour(0x4F5A68)
      frame = PlotColour(0x7D8794)
      grid = PlotColour(0xE6EAEE)
      first = PlotColour(0x0B62A4)
      second = PlotColour(0xC2410C)
      control = PlotColour(0x00796B)
      // Beyond, the scale comes too close to white.
      sharpness = .plasma.part(0...0.62)
      energy = ColourRamp.viridis.rising(from: paper, isReversed: true)
    case .dark:
      paper = PlotColour(0x10151C)
      ink = PlotColour(0xE8EDF3)
      label = PlotColour(0xA8B2BF)
      frame = PlotColour(0x6B7684)
      grid = PlotColour(0x252E39)
      first = PlotColour(0x5FB0F0)
      second = PlotColour(0xFFA45C)
      control = PlotColour(0x22B296)
      // Before, the scale comes too close to the dark ground.
      sharpness = .plasma.part(0.41...1)
      energy = ColourRamp.viridis.rising(from: paper, isReversed: false)
    }
  }
}
