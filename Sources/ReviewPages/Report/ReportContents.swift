internal import SignalAnalysis

/// All that a report shows, worked out and not yet written as a page.
struct ReportContents {
  /// One of the things compared.
  struct Entry {
    /// A, B, C …
    var letter: String
    /// A file's or a pattern's name.
    var name: String
    /// What it is, as `pattern, 0.6 s`.
    var kind: String
    /// What its file says it feels like.
    var feeling: String?
    /// What is heard; behind the first, what is heard on small speakers.
    var signals: [Signal]
    /// The factor for each signal that makes all entries equally strong.
    var gains: [Double]
    /// What happens in it; empty for sounds.
    var events: [ScoreEvent]
    /// The text of its file.
    var text: String?

    /// Seconds it lasts.
    var duration: Double { signals.first?.duration ?? 0 }
  }

  /// One thing that differs.
  struct DifferenceItem {
    /// What a musician would say.
    var sentence: String
    /// Seconds of it.
    var range: ClosedRange<Double>
    /// Whether it is true of the whole.
    var isThroughout: Bool
    /// Whether it is great enough to be felt.
    var isNoticeable: Bool
    /// What differs, in a word.
    var kind: String
    /// By how much.
    var amount: String
    /// The reference's value and the other's, where there are some.
    var values: String
  }

  /// What was found when one take was compared with the first.
  struct Pair {
    /// The other take's place among the entries.
    var other: Int
    /// What differs, the clearest first; empty where nothing does.
    var findings: [DifferenceItem]
    /// What is said where nothing differs.
    var summary: String
  }

  /// The program and its version.
  var generator: String
  /// What the takes were rendered with, for readers.
  var facts: String
  /// What is compared; the first is the reference.
  var entries: [Entry]
  /// Each other take against the first.
  var pairs: [Pair]
  /// Pictures in the order they are shown.
  var pictures: [ReportPicture]
  /// What is measured, with a value for each entry.
  var measures: [(name: String, values: [String])]
  /// By what levels are matched, in a word.
  var levelMatch: String
  /// The profile that patterns were rendered with.
  var profile: String
  /// The version of the rendering model.
  var renderingModel: Int
}
