internal import HapticRender
public import PatternComparison
internal import SignalPlots
internal import SystemSupport

/// Many patterns on one page, each with its picture, its player and what its file says about it.
public struct PatternGallery: Sendable {
  /// What the page is called.
  public var title: String
  /// The program and its version.
  public var generator: String
  /// The address of a studio page that patterns are opened in; nil where readers have none.
  public var studioAddress: String?

  /// Makes a gallery.
  public init(title: String, generator: String, studioAddress studio: String? = nil) {
    self.title = title
    self.generator = generator
    self.studioAddress = studio
  }

  /// The whole page; equal takes give equal bytes.
  ///
  /// - Parameter sounds: What the page plays of each take, in the takes' order; without them the
  ///   takes' own signals.
  /// - Throws: `nothingToShow`, `tooLarge` or `notDrawn`.
  public func html(_ takes: [Take], sounds: [PageSounds]? = nil) throws(ReviewPageError) -> [UInt8]
  {
    guard let first = takes.first else {
      throw ReviewPageError(.nothingToShow, "there is no pattern to show")
    }
    let shown = try PageTake.makeTakes(takes, sounds: sounds) { !takes[$0].containsOnlyEvents }
    let count = "\(takes.count) pattern\(takes.count == 1 ? "" : "s")"
    let page = Page(
      template: PageResource.galleryPage, script: PageResource.galleryScript,
      style: PageResource.galleryStyle,
      generator: generator, title: title, takes: shown)
    let texts = [
      "count": count.escapedForMarkup,
      "cards": shown.enumerated().map { Self.card($1, index: $0) }.joined(),
      "footer":
        """
      \(count), rendered with profile \(first.profile.name) · made by \(generator) · \
      self-contained, works offline
      """
      .escapedForMarkup,
    ]
    let data = EmbeddedJSON.object([
      "title": title, "studio": studioAddress, "profile": first.profile.fields,
      "takes": shown.map { $0.fields(measurementKeys: ["peakDecibels"]) },
    ])
    return page.html(texts: texts, data: data)
  }

  /// A pattern for readers without script; the source is read by the script, too.
  private static func card(_ take: PageTake, index: Int) -> String {
    let length = NumberFormatting.rounded(take.soundDuration, places: 2)
    let source = take.sourceText.map {
      "<details><summary>Source</summary><pre id=\"source-\(index)\">"
        + "\($0.escapedForContent)</pre></details>"
    }
    return "<article class=\"card\"><header><h2>\(take.name.escapedForMarkup)</h2>"
      + "<span class=\"len\">\(length) s</span></header><p class=\"desc\">"
      + "\((take.notes ?? "").escapedForMarkup)</p>\(source ?? "")</article>\n"
  }
}
