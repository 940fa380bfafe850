internal import PatternComparison

/// What a comparison came to in one sentence, for a reader who wants no list.
enum ComparisonSummary {
  /// The least difference of two ends, in seconds, that is worth a word.
  private static let leastSeconds = 0.02

  /// `B is stronger and duller, lacks an event and ends 0.2 s later.`
  static func text(of comparison: Comparison) -> String {
    let label = comparison.options.otherLabel
    let felt = comparison.differences.filter(\.isNoticeable)
    guard !felt.isEmpty else {
      return comparison.differences.isEmpty
        ? comparison.verdict ?? "\(label) is equal to \(comparison.options.referenceLabel)."
        : "\(label) feels like \(comparison.options.referenceLabel): no difference is above the threshold."
    }
    let qualities = [
      word(felt.filter { $0.unit == .decibels && $0.kind != .spectrum }, more: "stronger", less: "weaker"),
      word(
        felt.filter { $0.unit == .percent && $0.kind != .tempo && $0.kind != .pan }, more: "sharper", less: "duller"),
      word(felt.filter { $0.kind == .tempo }, more: "slower", less: "faster"),
    ].compactMap(\.self)
    var parts = qualities.isEmpty ? [] : ["is \(list(qualities))"]
    for (kind, verb) in [(Difference.Kind.missing, "lacks"), (.added, "has")] {
      let count = felt.filter { $0.kind == kind }.reduce(0) {
        $0 + max(1, (kind == .missing ? $1.referenceEvents : $1.otherEvents).count)
      }
      let extra = kind == .added ? "extra " : ""
      if count > 0 { parts.append("\(verb) \(count == 1 ? "an \(extra)event" : "\(count) \(extra)events")") }
    }
    let times = felt.filter { $0.kind == .time }
    let ends = comparison.measurements.map { $0["duration"] ?? 0 }
    let end = ends[1] - ends[0]
    if abs(end) >= leastSeconds {
      parts.append("ends \(SentenceFormatting.size(end, .seconds)) \(end > 0 ? "later" : "earlier")")
    } else if !times.isEmpty {
      let count = times.reduce(0) { $0 + max(1, $1.referenceEvents.count) }
      parts.append("moves \(count == 1 ? "one event" : "\(count) events")")
    }
    return "\(label) \(parts.isEmpty ? "differs in its details" : list(parts))."
  }

  /// What is more or less; where it is both, that it is so in parts.
  private static func word(_ differences: [Difference], more: String, less: String) -> String? {
    guard !differences.isEmpty else { return nil }
    let isMore = differences.contains { ($0.spread?.upperBound ?? $0.amount) > 0 }
    let isLess = differences.contains { ($0.spread?.lowerBound ?? $0.amount) < 0 }
    return isMore && isLess ? "partly \(more), partly \(less)" : isMore ? more : less
  }

  private static func list(_ words: [String]) -> String {
    guard words.count > 1, let last = words.last else { return words.first ?? "" }
    return words.dropLast().joined(separator: ", ") + " and " + last
  }
}
