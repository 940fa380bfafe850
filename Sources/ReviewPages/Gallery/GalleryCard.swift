internal import HapticModel
internal import PatternComparison
internal import SignalAnalysis
internal import SignalPlots

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
    let name = HTMLEscaping.escaped(name)
    return """
          <li class="card" id="pattern-\(index)">
            <h2>\(name) <span class="length">\(PageNumberFormatting.plain(duration, places: 2)) s</span></h2>
            <p class="feeling">\(HTMLEscaping.escaped(feeling))</p>
            <div class="picture">\(picture)<span class="head"></span></div>
            <div class="row"><button class="round" aria-label="Play \(name)"><svg viewBox="0 0 24 24" \
      aria-hidden="true"><path class="when-stopped" d="M8 5v14l11-7z"/><path class="when-playing" \
      d="M7 7h10v10H7z"/></svg></button><p class="holds">\(HTMLEscaping.escaped(holds))</p></div>
          </li>

      """
  }
}
