internal import SignalAnalysis

extension Comparison {
  /// Fills in what differs.
  mutating func compare() {
    let isIdentical = reference.signal == other.signal
    if let found = eventDifferences(), isIdentical || !found.isEmpty {
      differences = found
      equality = isIdentical ? .identical : .different
      alignPatterns()
      matchLevelsOfPatterns()
    } else if isIdentical {
      equality = .identical
    } else {
      compareSignals()
    }
    differences = Self.ordered(differences)
  }

  /// Takes the delay of the whole out of what differs between two patterns, where that was asked for.
  private mutating func alignPatterns() {
    guard options.alignment == .start,
      let index = differences.firstIndex(where: { $0.kind == .time && $0.isThroughout })
    else { return }
    alignment.seconds = differences.remove(at: index).amount
    if differences.isEmpty, equality == .different {
      equality = .within(noise: nil, decibels: 0)
    }
  }

  /// Takes the level of the whole out of what differs between two patterns, where that was asked for.
  private mutating func matchLevelsOfPatterns() {
    guard let match = options.levelMatch, match != .none else { return }
    let gains = match.gains(for: takes)
    (referenceGain, matchGain) = (gains[0], gains[1])
    otherGain = matchGain
    differences.removeAll { $0.kind == .level && $0.isThroughout }
    if differences.isEmpty, equality == .different {
      equality = .within(noise: nil, decibels: 0)
    }
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
