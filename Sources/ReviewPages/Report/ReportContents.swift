internal import HapticModel
internal import HapticRender
internal import PatternComparison
internal import SignalAnalysis
internal import SignalPlots

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

extension ReportContents.Entry {
  /// What a report shows of a take.
  ///
  /// - Parameters:
  ///   - index: Its place, which gives the letter.
  ///   - delay: The seconds that were put before it.
  init(
    _ take: Take, index: Int, delay: Double, speakerSignal: Signal?, gains: [Double]
  ) throws(ReviewPageError) {
    letter = Take.letter(index)
    name = take.name
    feeling = take.feeling
    signals = [take.signal] + (speakerSignal.map { [$0] } ?? [])
    self.gains = gains
    text = take.text
    if let composition = take.composition {
      do throws(PlotError) {
        let score = try PatternScore(of: composition, profile: take.profile)
        events = score.events.map { ScoreEvent($0, profile: take.profile) }
      } catch {
        throw ReviewPageError(.notDrawn, "\(take.name): \(error.description)")
      }
    } else {
      events = []
    }
    let what = take.composition == nil ? "Sound" : "Pattern"
    kind = "\(what), \(PageNumberFormatting.plain(take.signal.duration - delay, places: 3)) s"
    if take.signal.channels.count > 1 { kind += ", \(take.signal.channels.count) channels" }
    if delay >= 0.0005 {
      kind += ", shifted by \(PageNumberFormatting.plain(delay, places: 3)) s to align the takes"
    }
  }
}

extension ReportContents.Pair {
  /// What a report shows of a comparison.
  init(_ comparison: Comparison, other: Int, delay: Double) {
    self.other = other
    summary = comparison.verdict ?? comparison.sentences.joined(separator: " ")
    findings = comparison.differences.map { ReportContents.DifferenceItem($0, delay: delay) }
  }
}

extension ReportContents.DifferenceItem {
  /// A difference, in words and figures.
  init(_ difference: Difference, delay: Double) {
    sentence = difference.sentence
    range = difference.range.lowerBound + delay...difference.range.upperBound + delay
    isThroughout = difference.isThroughout
    isNoticeable = difference.isNoticeable
    kind = difference.kind.rawValue
    amount = PageNumberFormatting.shown(Self.amount(of: difference))
    values = [difference.before, difference.after].compactMap { value in
      value.map { PageNumberFormatting.shown(PageNumberFormatting.plain($0, places: 3)) }
    }.joined(separator: " → ")
  }

  private static func amount(of difference: Difference) -> String {
    let sign = difference.amount > 0 ? "+" : ""
    switch difference.unit {
    case .none: return ""
    case .seconds:
      return "\(sign)\(PageNumberFormatting.plain(difference.amount * 1_000, places: 1)) ms"
    case .count: return sign + PageNumberFormatting.plain(difference.amount, places: 0)
    case .decibels, .fullScale, .percent:
      return
        "\(sign)\(PageNumberFormatting.plain(difference.amount, places: 2)) \(difference.unit.rawValue)"
    }
  }
}

extension Signal {
  /// The signal behind some silence; the delay is rounded to frames.
  func delayed(by seconds: Double) -> Signal {
    let count = Int((seconds * rate).rounded())
    guard count > 0 else { return self }
    let silence = [Float](repeating: 0, count: count)
    return Signal(channels: channels.map { silence + $0 }, rate: rate)
  }
}

extension Take {
  /// The take, its pattern too, behind some silence.
  func delayed(by seconds: Double) -> Take {
    guard seconds > 0 else { return self }
    var take = self
    take.signal = signal.delayed(by: seconds)
    if case .pattern(var composition) = source {
      for layer in composition.layers.indices {
        composition.layers[layer].delay(by: seconds)
      }
      take.source = .pattern(composition)
    }
    return take
  }
}
