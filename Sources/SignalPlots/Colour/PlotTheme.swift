/// The ground that a picture is drawn on.
public enum PlotTheme: String, CaseIterable, Sendable {
  /// Dark lines on white: for paper and most pages.
  case light
  /// Bright lines on near black.
  case dark
}
