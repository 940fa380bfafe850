internal import PatternComparison
internal import SignalPlots

extension ReportPicture {
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
      (Kind.score, PlotPart.score), (.waveform, .wave), (.spectrogram, .spectrum),
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
