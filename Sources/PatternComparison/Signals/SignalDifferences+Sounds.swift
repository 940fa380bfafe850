internal import CMath

extension SignalDifferences {
  /// The maximum number of segments of one sound with a sentence each.
  private static let maximumSegmentCount = 3

  /// The value that at least six in ten share within a tolerance, or all where they are two.
  static func common(_ values: [Double], within tolerance: Double) -> Double? {
    let sorted = values.sorted()
    guard !sorted.isEmpty else { return nil }
    var best: ArraySlice<Double> = []
    var end = 0
    for start in sorted.indices {
      while end < sorted.count, sorted[end] - sorted[start] <= tolerance { end += 1 }
      if end - start > best.count { best = sorted[start..<end] }
    }
    let needed = max(Double(sorted.count) * 0.6, min(2, Double(sorted.count)))
    guard Double(best.count) >= needed else { return nil }
    return best[(best.startIndex + best.endIndex) / 2]
  }

  /// Groups measures whose values differ from 0 by the same, in order of time within.
  private func groups(_ values: [(SoundMeasure, Double)], within tolerance: Double) -> [[(SoundMeasure, Double)]] {
    var groups: [[(SoundMeasure, Double)]] = []
    for value in values.sorted(by: { $0.1 < $1.1 }) {
      if let start = groups.last?.first?.1, value.1 - start <= tolerance {
        groups[groups.count - 1].append(value)
      } else {
        groups.append([value])
      }
    }
    for index in groups.indices { groups[index].sort { $0.0.region.start < $1.0.region.start } }
    return groups
  }

  private func range(_ group: [(SoundMeasure, Double)]) -> ClosedRange<Double> {
    let start = group.first?.0.region.start ?? 0
    return start...max(start, group.last?.0.region.end ?? start)
  }

  /// Reports what comes later as a whole, then which sounds do besides.
  mutating func addTimes() {
    // One sound is the whole only where there is no other.
    let isAlone = measures.count == 1 && !hasUnmatched
    let whole = measures.count > 1 || isAlone ? Self.common(measures.map(\.time), within: 0.000_1) ?? 0 : 0
    let shift = options.alignment == .start ? whole : delay + whole
    set(delay: delay + whole)
    // Where shapes differ, times are those of the first sound, which the shape moves.
    let isExact = measures.count { $0.isExact } * 2 > measures.count
    if abs(shift) > (isExact ? 0.000_04 : 0.001) {
      add(
        Difference(
          .time, in: self.whole, isThroughout: true, amount: shift, unit: .seconds,
          sentence: "\(names.owner) as a whole comes \(SentenceFormatting.shift(shift))."))
    }
    let late = measures.map { ($0, $0.time - whole) }.filter {
      abs($0.1) > ($0.0.isExact ? SoundMeasure.leastTime : 0.001)
    }
    for group in groups(late, within: 0.000_2) {
      let (measure, shift) = group[0]
      let event = partner(measure)
      let sentence =
        group.count == 1
        ? "\(names.short(event)) comes \(SentenceFormatting.shift(shift)), at \(SentenceFormatting.moment(event.time))."
        : "\(names.subject(group.map { partner($0.0) }).verb("comes", "come")) \(SentenceFormatting.shift(shift))."
      add(
        Difference(
          .time, in: range(group), amount: shift, unit: .seconds, before: group.count == 1 ? measure.region.start : nil,
          after: group.count == 1 ? event.time : nil, sentence: sentence))
    }
  }

  /// Reports what is stronger as a whole, then the sounds and segments that differ from that.
  mutating func addLevels() {
    let even = measures.filter { $0.segments.isEmpty }
    let shared = Self.common(even.map(\.level), within: 0.1) ?? 0
    let isShared = measures.allSatisfy { $0.segments.isEmpty && abs($0.level - shared) <= 0.1 }
    // Without a match every level is reported as it is, unless all are the same.
    let whole = options.levelMatch == LevelMatch.none && !isShared ? 0 : shared
    if abs(whole) >= SoundMeasure.leastLevel {
      set(level: whole)
      add(
        Difference(
          .level, in: self.whole, isThroughout: true, amount: whole, unit: .decibels,
          sentence: "\(names.owner) is \(SentenceFormatting.strength(whole)) throughout."))
    }
    let uneven = even.map { ($0, $0.level - whole) }.filter { abs($0.1) > 0.15 }
    for group in groups(uneven, within: 0.1) {
      let subject = names.subject(group.map { partner($0.0) })
      add(
        Difference(
          .level, in: range(group), amount: group[0].1, unit: .decibels,
          sentence: "\(subject.verb("is", "are")) \(SentenceFormatting.strength(group[0].1))."))
    }
    for measure in measures { addSegments(of: measure, whole: whole) }
  }

  /// Reports the segments in which one sound is stronger or weaker; many as one.
  private mutating func addSegments(of measure: SoundMeasure, whole: Double) {
    let segments = measure.segments.map { segment in
      let isEven = abs(segment.greatest - segment.usual) < 0.5
      return (range: segment.range, amount: (isEven ? segment.usual : segment.greatest) - whole, isEven)
    }.filter { abs($0.amount) > LevelDifferenceCurve.least }
    guard segments.count > Self.maximumSegmentCount else {
      for (range, amount, isEven) in segments {
        add(
          Difference(
            .level, in: range, amount: amount, unit: .decibels,
            sentence: "\(names.owner) is \(isEven ? "" : "up to ")\(SentenceFormatting.strength(amount)) between "
              + "\(SentenceFormatting.range(range))."))
      }
      return
    }
    let amounts = segments.map(\.amount)
    let low = amounts.min() ?? 0
    let high = amounts.max() ?? 0
    let range = segments[0].range.lowerBound...segments[segments.count - 1].range.upperBound
    add(
      Difference(
        .level, in: range, amount: abs(low) > high ? low : high, unit: .decibels,
        sentence: "\(names.owner)'s level has a different course between \(SentenceFormatting.range(range)): "
          + "\(SentenceFormatting.span(low, to: high))."))
  }

  /// Reports what is higher as a whole, then which sounds are besides.
  mutating func addFrequencies() {
    let changes = measures.map { $0.frequency?.percent ?? 0 }
    var whole = Self.common(changes, within: 0.6) ?? 0
    // A single sound is reported with its frequencies.
    if measures.count == 1 { whole = 0 }
    if abs(whole) >= SoundMeasure.leastPercent {
      add(
        Difference(
          .frequency, in: self.whole, isThroughout: true, amount: whole, unit: .percent,
          sentence: "\(names.owner) is \(SentenceFormatting.percent(whole)) \(whole > 0 ? "higher" : "lower") "
            + "throughout."))
    }
    for measure in measures {
      guard let frequency = measure.frequency, abs(frequency.percent - whole) > 1 else { continue }
      let event = partner(measure)
      let word =
        measure.partner.isTap
        ? (frequency.percent > 0 ? "sharper" : "duller") : (frequency.percent > 0 ? "higher" : "lower")
      add(
        Difference(
          .frequency, in: measure.region.start...measure.region.end, amount: frequency.percent, unit: .percent,
          before: frequency.before, after: frequency.after,
          sentence: "\(names.subject([event]).verb("is", "are")) "
            + "\(SentenceFormatting.percent(frequency.percent)) \(word): "
            + "\(SentenceFormatting.hertz(frequency.after, insteadOf: frequency.before))."))
    }
  }

  /// Tells which sounds last longer, and which differ in a way that has no other name.
  mutating func addRest() {
    for measure in measures {
      let event = partner(measure)
      let range = measure.region.start...measure.region.end
      if measure.duration != 0 {
        add(
          Difference(
            .duration, in: range, amount: measure.duration, unit: .seconds, before: measure.region.duration,
            after: measure.partner.duration,
            sentence: "\(names.subject([event]).verb("lasts", "last")) "
              + "\(SentenceFormatting.span(measure.duration)) \(measure.duration > 0 ? "longer" : "less")."))
      }
      guard let unexplained = measure.unexplained else { continue }
      add(
        Difference(
          .spectrum, in: range, amount: unexplained, unit: .decibels, significance: max(0, (unexplained + 30) / 6),
          sentence:
            "\(names.subject([event]).verb("has", "have")) a different waveform (residual \(SentenceFormatting.number(unexplained, places: 0)) dB)."
        ))
    }
  }
}
