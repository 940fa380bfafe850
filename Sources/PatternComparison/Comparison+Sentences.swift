internal import Glibc

extension Comparison {
  /// The most differences that are told one by one.
  public static let mostSentences = 12

  /// How equal the two are, as one sentence; nothing where they differ.
  public var verdict: String? {
    let a = options.referenceLabel
    let b = options.otherLabel
    switch equality {
    case .identical where differences.isEmpty: return "\(b) is equal to \(a), sample for sample."
    case .identical:
      return "\(b) sounds the same as \(a), sample for sample, though it is written otherwise."
    case .within(let noise, let decibels):
      var rest: [String] = []
      if abs(decibels) >= 0.005 { rest.append(Words.decibels(abs(decibels))) }
      if let noise { rest.append("a residue at \(Words.number(noise, places: 0)) dBFS") }
      if rest.isEmpty { return "\(b) is equal to \(a)." }
      return "\(b) is equal to \(a) but for \(rest.joined(separator: " and "))."
    case .different: return nil
    }
  }

  /// What was done to the takes before they were judged, where it is not told as a difference.
  public var notes: [String] {
    var notes: [String] = []
    if options.alignment == .start, alignment.seconds != 0 {
      let direction = alignment.seconds > 0 ? "earlier" : "later"
      notes.append(
        "\(options.otherLabel) was moved \(Words.span(alignment.seconds)) \(direction), so that the "
          + "first sounds fall together.")
    }
    guard let match = options.levelMatch, match != .none else { return notes }
    let means = match == .loudness ? "loudness" : "felt energy"
    for (label, gain) in [
      (options.referenceLabel, referenceGain), (options.otherLabel, matchGain),
    ] where gain > 0 && gain < 1 {
      let decibels = Words.decibels(-20 * log10(gain))
      notes.append("\(label) was turned down by \(decibels) to match by \(means).")
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
