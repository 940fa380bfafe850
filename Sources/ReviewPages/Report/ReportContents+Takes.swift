internal import HapticModel
internal import HapticRender
internal import PatternComparison
internal import SignalAnalysis
internal import SignalPlots

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
  /// What a report tells of a comparison.
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
