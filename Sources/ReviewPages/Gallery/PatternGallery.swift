internal import HapticModel
internal import HapticRender
internal import JSONText
public import PatternComparison
public import SignalAnalysis
internal import SignalPlots

/// Many patterns on one page, each with its picture, its player and what it feels like.
public struct PatternGallery: Sendable {
  /// What the page is called.
  public var title: String
  /// The program and its version.
  public var generator: String
  /// What is heard, beside the takes' own signals, on small speakers; in their order, or none.
  public var speakerSignals: [Signal]

  /// Makes a gallery.
  public init(title: String, generator: String, speakerSignals: [Signal] = []) {
    self.title = title
    self.generator = generator
    self.speakerSignals = speakerSignals
  }

  /// The whole page; equal takes give equal bytes.
  ///
  /// - Throws: `nothingToShow`, `tooLarge` or `notDrawn`.
  public func html(_ takes: [Take]) throws(ReviewPageError) -> [UInt8] {
    guard let first = takes.first else {
      throw ReviewPageError(.nothingToShow, "there is no pattern to show")
    }
    let hasSpeakers = speakerSignals.count == takes.count
    let sounds = takes.enumerated().map { index, take in
      ([take.signal] + (hasSpeakers ? [speakerSignals[index]] : [])).map(EmbeddedSound.init)
    }
    let size = sounds.joined().reduce(0) { $0 + $1.textLength }
    try EmbeddedSound.check(size: size, count: takes.count)
    var cards: [GalleryCard] = []
    for (index, take) in takes.enumerated() { cards.append(try GalleryCard(take, index: index)) }
    let script = PageResource.script([PageResource.keys, PageResource.sound, PageResource.gallery])
    let style = PageResource.page + PageResource.galleryStyle + ScoreThumbnail.style
    let count = "\(takes.count) pattern\(takes.count == 1 ? "" : "s")"
    let fillings: [String: [UInt8]] = [
      "policy": Array(ContentSecurityPolicy.text(script: script, style: style).utf8),
      "generator": escaped(generator),
      "title": escaped(title),
      "style": style,
      "script": script,
      "facts": escaped("\(count), rendered with the profile \(first.profile.name)."),
      "note": escaped(Self.note(hasSpeakers: hasSpeakers)),
      "cards": Array(cards.map(\.markup).joined().utf8),
      "footer": escaped("Made with \(generator). Self-contained; works offline."),
      "data": data(cards, soundCount: hasSpeakers ? 2 : 1, rate: first.signal.rate),
      "sounds": ReportPage.elements(sounds),
    ]
    return PageTemplate(PageResource.galleryPage).filled(with: fillings, capacity: size * 5 / 4)
  }

  private func escaped(_ text: String) -> [UInt8] { Array(text.escapedForMarkup.utf8) }

  private static func note(hasSpeakers: Bool) -> String {
    let felt =
      "These patterns are made for actuators; laptop and phone speakers cannot reproduce 80 Hz."
    return hasSpeakers
      ? felt + " “For small speakers” shifts them to an audible band."
      : felt + " Use headphones or a bass shaker."
  }

  private func data(_ cards: [GalleryCard], soundCount: Int, rate: Double) -> [UInt8] {
    EmbeddedJSON.object { json in
      json.member("rate", rate)
      json.member("left", ScoreThumbnail.axis.left)
      json.member("right", ScoreThumbnail.axis.right)
      json.array("patterns") { list in
        for (index, card) in cards.enumerated() {
          list.object { json in
            json.member("name", card.name)
            json.member("duration", card.duration)
            json.member("events", card.eventCount)
            json.array("sounds") { list in
              for sound in 0..<soundCount { list.element("sound-\(index)-\(sound)") }
            }
          }
        }
      }
    }
  }
}

/// One pattern of a gallery.
struct GalleryCard {
  /// What the pattern is called.
  let name: String
  /// Seconds that it sounds.
  let duration: Double
  /// How many events it has.
  let eventCount: Int
  private let feeling: String
  private let holds: String
  private let picture: String
  private let index: Int

  /// The card of a take.
  ///
  /// - Parameter index: Its place among the takes.
  init(_ take: Take, index: Int) throws(ReviewPageError) {
    name = take.name
    duration = take.signal.duration
    feeling = take.feeling ?? ""
    self.index = index
    let events = take.composition.map { $0.layers.flatMap(\.pattern.events) }
    eventCount = events?.count ?? 0
    holds = events.map(Self.counts) ?? "a sound"
    guard let composition = take.composition else {
      picture = ""
      return
    }
    do throws(PlotError) {
      let score = try PatternScore(of: composition, profile: take.profile)
      picture = ScoreThumbnail(
        score.events.map { ScoreEvent($0, profile: take.profile) }, signal: take.signal
      ).markup(words: "Score: \(holds), \(PageNumberFormatting.plain(duration, places: 2)) s")
    } catch {
      throw ReviewPageError(.notDrawn, "\(take.name): \(error.description)")
    }
  }

  /// `2 transients, 1 continuous event`.
  private static func counts(of events: [HapticEvent]) -> String {
    let kinds: [(HapticEvent.Kind, String, String)] = [
      (.hapticTransient, "transient", "transients"),
      (.hapticContinuous, "continuous event", "continuous events"),
      (.audioContinuous, "audio tone", "audio tones"), (.audioCustom, "sound file", "sound files"),
    ]
    let counted = kinds.compactMap { kind, one, many -> String? in
      let count = events.count { $0.kind == kind }
      return count == 0 ? nil : "\(count) \(count == 1 ? one : many)"
    }
    return counted.isEmpty ? "no events" : counted.joined(separator: ", ")
  }

  /// The card in the page.
  var markup: String {
    let name = name.escapedForMarkup
    return """
          <li class="card" id="pattern-\(index)">
            <h2>\(name) <span class="length">\(PageNumberFormatting.plain(duration, places: 2)) s</span></h2>
            <p class="feeling">\(feeling.escapedForMarkup)</p>
            <div class="picture">\(picture)<span class="head"></span></div>
            <div class="row"><button class="round" aria-label="Play \(name)"><svg viewBox="0 0 24 24" \
      aria-hidden="true"><path class="when-stopped" d="M8 5v14l11-7z"/><path class="when-playing" \
      d="M7 7h10v10H7z"/></svg></button><p class="holds">\(holds.escapedForMarkup)</p></div>
          </li>

      """
  }
}
