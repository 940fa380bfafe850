internal import SignalAnalysis

extension Comparison {
  /// Fills in what differs.
  mutating func compare() {
    let isIdentical = reference.signal == other.signal
    if let found = eventDifferences() {
      differences = Self.ordered(found)
      equality = isIdentical ? .identical : .different
      return
    }
    equality = isIdentical ? .identical : .different
  }

  /// First what is true of the whole, then what is felt most, then what comes first.
  static func ordered(_ differences: [Difference]) -> [Difference] {
    differences.sorted { a, b in
      if a.isThroughout != b.isThroughout { return a.isThroughout }
      if a.significance != b.significance { return a.significance > b.significance }
      return a.range.lowerBound < b.range.lowerBound
    }
  }

  /// Whether all that differs lies within a tolerance.
  public func isEqual(within tolerance: Tolerance) -> Bool {
    guard equality != .identical else { return true }
    let peak = reference.signal.channels.reduce(0 as Float) { peak, channel in
      channel.reduce(peak) { max($0, abs($1)) }
    }
    return differences.allSatisfy { tolerance.allows($0, referencePeak: Double(peak)) }
  }
}
