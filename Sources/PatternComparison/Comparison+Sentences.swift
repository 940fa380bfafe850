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
      if let noise { rest.append("noise at \(Words.number(noise, places: 0)) dBFS") }
      if rest.isEmpty { return "\(b) is equal to \(a)." }
      return "\(b) is equal to \(a) but for \(rest.joined(separator: " and "))."
    case .different: return nil
    }
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
