extension Plot {
  /// The figure drawn with characters; each line ends in a line break.
  ///
  /// - Parameters:
  ///   - width: Columns that may be used, at least 20.
  ///   - colours: Whether sequences for 256 colours may be used.
  ///   - unicode: Whether block and braille characters may be used, or ASCII only.
  public func terminalText(width: Int, colours: Bool, unicode: Bool = true) -> String {
    TerminalFigure(
      plot: self, width: min(max(20, width), 1_000),
      style: TerminalStyle(colours: colours, unicode: unicode)
    ).text()
  }
}
