internal import Glibc

extension Comparison {
  /// The most differences that are told one by one.
  public static let mostSentences = 12

  /// How equal the two are, as one sentence; nothing where they differ.
  public var verdict: String? {
    let a = options.referenceLabel
    let b = options.otherLabel
    switch equality {
    case .identical where differences.isEmpty:
      return "\(b) is identical to \(a), sample for sample."
    case .identical:
      return "\(b) renders identically to \(a), but is written differently."
    case .within(let noise, let decibels):
      var rest: [String] = []
      if abs(decibels) >= 0.005 { rest.append(SentenceFormatting.decibels(abs(decibels))) }
      if let noise {
        rest.append("a residual at \(SentenceFormatting.number(noise, places: 0)) dBFS")
      }
      if rest.isEmpty { return "\(b) is equal to \(a)." }
      return "\(b) is equal to \(a) except for \(rest.joined(separator: " and "))."
    case .different: return nil
    }
  }

  /// What was done to the takes before they were judged, where it is not told as a difference.
  public var notes: [String] {
    var notes: [String] = []
    if options.alignment == .start, alignment.seconds != 0 {
      let direction = alignment.seconds > 0 ? "earlier" : "later"
      notes.append(
        "\(options.otherLabel) was shifted \(SentenceFormatting.span(alignment.seconds)) \(direction) to align the first sounds."
      )
    }
    guard let match = options.levelMatch, match != .none else { return notes }
    let means = match == .loudness ? "loudness" : "weighted energy"
    for (label, gain) in [
      (options.referenceLabel, referenceGain), (options.otherLabel, matchGain),
    ] where gain > 0 && gain < 1 {
      let decibels = SentenceFormatting.decibels(-20 * log10(gain))
      notes.append("\(label) was attenuated by \(decibels) to match \(means).")
    }
    return notes
  }

  /// What is to be told, most important first: the verdict, the greatest differences, and how many more.
  public var sentences: [String] {
    var sentences = verdict.map { [$0] } ?? []
    sentences += differences.prefix(Self.mostSentences).map(\.sentence)
    let more = differences.count - Self.mostSentences
    if more > 0 { sentences.append("And \(more) more.") }
    return sentences
  }
}
