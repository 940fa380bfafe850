import HapticModel

extension Comparison {
  /// Compares two patterns event by event, or answers nothing where they have too little in common.
  func eventDifferences() -> [Difference]? {
    guard let pattern = reference.pattern, let otherPattern = other.pattern,
      reference.profile == other.profile
    else { return nil }
    let match = EventMatch(pattern, otherPattern)
    let least = min(match.reference.count, match.other.count)
    guard match.pairs.count * 2 >= least else { return nil }
    let events = EventDifferences(match, profile: reference.profile, options: options)
    let controls = ControlDifferences(
      pattern, otherPattern, match: match, profile: reference.profile, options: options)
    return events.found + controls.found
  }
}
