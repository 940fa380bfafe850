import HapticModel

extension Comparison {
  /// Compares two patterns event by event; nil where they have too little in common.
  func eventDifferences() -> [Difference]? {
    guard let composition = reference.composition,
      let otherComposition = other.composition,
      reference.profile == other.profile
    else { return nil }
    let match = EventMatch(composition, otherComposition)
    let least = min(match.reference.count, match.other.count)
    guard match.pairs.count * 2 >= least else { return nil }
    let events = EventDifferences(match, profile: reference.profile, options: options)
    let controls = ControlDifferences(
      composition, otherComposition, match: match, profile: reference.profile, options: options)
    return events.found + controls.found
  }
}
