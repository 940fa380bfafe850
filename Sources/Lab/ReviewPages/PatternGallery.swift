internal import HapticRender
public import PatternComparison
internal import SignalPlots
internal import SystemSupport

/// A self-contained HTML page that shows a gallery of patterns.
///
/// Each pattern has a figure, a player, and the notes from its file.
public struct PatternGallery: Sendable {
  /// The title of the gallery page.
  public var title: String
  /// The program that generates the page, with its version.
  public var generator: String
  /// The URL of a studio page that can open patterns, or nil.
  public var studioAddress: String?

  /// Creates a gallery.
  ///
  /// - Parameters:
  ///   - title: The title of the page.
  ///   - generator: The program and its version.
  ///   - studioAddress: The URL of a studio page that can open patterns, or nil.
  public init(title: String, generator: String, studioAddress: String? = nil) {
    self.title = title
    self.generator = generator
    self.studioAddress = studioAddress
  }

  /// Returns the bytes of the HTML page, which are reproducible.
  ///
  /// - Parameters:
  ///   - takes: The patterns.
  ///   - sounds: The sounds of each take. With nil, the page plays the signals of the takes.
  /// - Throws: `nothingToShow`, `tooLarge` or `notDrawn`.
  public func html(
    _ takes: [Take], sounds: [PageSounds]? = nil
  ) throws(ReviewPageError) -> [UInt8] {
    guard let firstTake = takes.first else {
      throw ReviewPageError(.nothingToShow, "there is no pattern to show")
    }
    let pageTakes = try PageTake.makeTakes(takes, sounds: sounds) { index in
      !takes[index].containsOnlyEvents
    }
    let patternCountText = "\(takes.count) pattern\(takes.count == 1 ? "" : "s")"
    let galleryPage = ReviewPage(
      templateBytes: PageResource.galleryPage, script: PageResource.galleryScript,
      style: PageResource.galleryStyle, generator: generator, title: title, takes: pageTakes)
    let footerText = """
      \(patternCountText), rendered with profile \(firstTake.profile.name) · created by \
      \(generator) · self-contained, works offline
      """
    let cardMarkups = pageTakes.enumerated().map { index, take in
      Self.cardMarkup(take, index: index)
    }
    let pageTexts = [
      "count": patternCountText.escapedForMarkup, "cards": cardMarkups.joined(),
      "footer": footerText.escapedForMarkup,
    ]
    let pageData = EmbeddedJSON.objectBytes([
      "title": title, "studio": studioAddress, "profile": firstTake.profile.jsonFields,
      "takes": pageTakes.map { $0.jsonFields(measurementKeys: ["peakDecibels"]) },
    ])
    return galleryPage.makeHTML(texts: pageTexts, data: pageData)
  }

  /// Returns the HTML card of a pattern for browsers without scripts.
  ///
  /// The script of the page also reads the pattern from it.
  private static func cardMarkup(_ take: PageTake, index: Int) -> String {
    let durationText = NumberFormatting.roundedText(take.patternDurationSeconds, places: 3)
    let sourceMarkup = take.sourceText.map { text in
      "<details><summary>Source</summary><pre id=\"source-\(index)\">"
        + "\(text.escapedForContent)</pre></details>"
    }
    return "<article class=\"card\"><header><h2>\(take.name.escapedForMarkup)</h2>"
      + "<span class=\"len\">\(durationText) s</span></header><p class=\"desc\">"
      + "\((take.notes ?? "").escapedForMarkup)</p>\(sourceMarkup ?? "")</article>\n"
  }
}
