import HapticModel

extension Comparison {
  /// Compares two patterns event by event, or answers nothing where they have too little in common.
  func eventDifferences() -> [Difference]? {
    guard let pattern = reference.pattern, let otherPattern = other.pattern,
      reference.profile == other.profile
    else { return nil }
    let match = EventMatch(pattern, otherPattern)
    let most = max(match.reference.count, match.other.count)
    guard match.pairs.count * 3 >= most || most <= 3 else { return nil }
    let events = EventDifferences(match, profile: reference.profile, options: options)
    let ends = (match.reference + match.other).map(\.end)
    let starts = (match.reference + match.other).map(\.time)
    // Without events nothing is controlled.
    guard let start = starts.min(), let end = ends.max() else { return events.found }
    let controls = ControlDifferences(
      pattern, otherPattern, clock: match.clock, in: min(0, start)...(end + 0.05),
      profile: reference.profile, options: options)
    return events.found + controls.found
  }
}
