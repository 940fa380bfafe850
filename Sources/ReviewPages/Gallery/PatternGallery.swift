internal import HapticRender
internal import Reading
public import PatternComparison
internal import SignalAnalysis
internal import SignalPlots

/// Many patterns on one page, each with its picture, its player and what its file says about it.
public struct PatternGallery: Sendable {
  /// What the page is called.
  public var title: String
  /// The program and its version.
  public var generator: String

  /// Makes a gallery.
  public init(title: String, generator: String) {
    self.title = title
    self.generator = generator
  }

  /// The whole page; equal takes give equal bytes.
  ///
  /// - Parameters:
  ///   - takes: The patterns in the order of the page.
  ///   - sounds: What the page plays of each take, in the takes' order; without them the
  ///     takes' own signals.
  /// - Throws: `nothingToShow`, `tooLarge` or `notDrawn`.
  public func html(_ takes: [Take], sounds: [PageSounds]? = nil) throws(ReviewPageError) -> [UInt8] {
    guard let first = takes.first else { throw ReviewPageError(.nothingToShow, "there is no pattern to show") }
    let sounds = sounds ?? takes.map { PageSounds(actuator: $0.signal) }
    var shown: [PageTake] = []
    for (index, take) in takes.enumerated() {
      shown.append(try PageTake(take, index: index, sounds: sounds[index], hasTrack: !take.isOfEvents))
    }
    try EmbeddedSound.check(shown.flatMap(\.sounds), takeCount: takes.count)
    let script = PageResource.galleryScript
    let style = PageResource.galleryStyle
    let count = "\(takes.count) pattern\(takes.count == 1 ? "" : "s")"
    let fillings: [String: [UInt8]] = [
      "policy": Array(ContentSecurityPolicy.text(script: script, style: style).utf8), "generator": escaped(generator),
      "title": escaped(title), "style": style, "script": script, "count": escaped(count),
      "cards": Array(shown.enumerated().map { Self.card($1, index: $0) }.joined().utf8),
      "footer": escaped(
        "\(count), rendered with profile \(first.profile.name) · made by \(generator) · "
          + "self-contained, works offline"),
      "data": EmbeddedJSON.object { json in
        json.member("title", title)
        json.object("profile") { PageProfile(first.profile).write(to: &$0) }
        json.array("takes") { list in for take in shown { list.object { take.write(to: &$0, figures: [.peak]) } } }
      },
      "sounds": shown.enumerated().flatMap { index, take in
        take.sounds.enumerated().flatMap { $1.element(id: "sound-\(index)-\($0)") }
      },
    ]
    let size = shown.flatMap(\.sounds).reduce(0) { $0 + $1.textLength }
    return PageTemplate(PageResource.galleryPage).filled(with: fillings, capacity: size + 400_000)
  }

  private func escaped(_ text: String) -> [UInt8] { Array(text.escapedForMarkup.utf8) }

  /// A pattern for readers without script; the source is read by the script, too.
  private static func card(_ take: PageTake, index: Int) -> String {
    let length = PageNumberFormatting.plain(take.duration, places: 2)
    let source = take.text.map {
      "<details><summary>Source</summary><pre id=\"source-\(index)\">" + "\($0.escapedForMarkup)</pre></details>"
    }
    return "<article class=\"card\"><header><h2>\(take.name.escapedForMarkup)</h2>"
      + "<span class=\"len\">\(length) s</span></header><p class=\"desc\">"
      + "\((take.notes ?? "").escapedForMarkup)</p>\(source ?? "")</article>\n"
  }
}
