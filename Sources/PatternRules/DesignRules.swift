import Reading
import HapticModel

/// Rules of design: what feels clear, kind and deliberate.
///
/// Source of the figures: published guides for feedback in learning applications, by which transients are
/// 50 ms apart or more, three or four at most, heavy ones rare, patterns 200 to 500 ms long,
/// nothing harsh or sustained, and no spacing erratic.
extension PatternRules {
  /// The shortest gap, in seconds, between transients that are felt as two.
  private static let shortestGap = 0.05
  /// How many transients in a row without a gap that is felt are a texture.
  private static let textureCount = 8
  /// The most transients of a sequence.
  private static let transientLimit = 4
  /// The most heavy transients of a sequence.
  private static let heavyLimit = 2
  /// The intensity and sharpness that are harsh together.
  private static let harshLevel: Float = 0.9
  /// The intensity that should not go on, and for how many seconds.
  private static let strongLevel = 0.8
  private static let longestStrong = 1.0
  /// The pattern length, in seconds, beyond which feedback is unusual.
  private static let usualLength = 5.0
  /// How many segments of controls are looked at for sustained vibration. More are in no pattern a
  /// person or tool has made, but a hostile file may lay a million events over a million points.
  private static let segmentBudget = 4_000_000

  @Sendable static func checkDesign(of composition: HapticComposition, _ log: inout CompositionLog) {
    checkTransients(of: composition, &log)
    checkStrongSpans(of: composition, &log)
    // What is longer than any pattern may be is an error, and no matter of taste.
    if composition.duration > usualLength, composition.duration <= FrameConversion.longest {
      log.add(
        .patternLength, at: .composition,
        "the pattern lasts \(composition.duration.secondsText); feedback usually lasts 0.2 to 0.5 s")
    }
  }

  // MARK: - Transients

  private static func checkTransients(of composition: HapticComposition, _ log: inout CompositionLog) {
    let transients = FeltTransient.all(of: composition)
    let countable = checkGaps(of: transients, &log)
    for transient in transients where transient.intensity >= harshLevel && transient.sharpness >= harshLevel {
      log.add(
        .harsh, at: .event(transient.event),
        "a transient of intensity \(transient.intensity) and sharpness \(transient.sharpness) feels harsh")
    }
    checkSequences(of: countable, &log)
  }

  /// Notes once that transients are too close to be felt as several, and how many.
  ///
  /// A run of many is a texture, a technique: it is neither noted nor counted as taps.
  /// - Returns: The transients that are not part of a texture.
  private static func checkGaps(of transients: [FeltTransient], _ log: inout CompositionLog) -> [FeltTransient] {
    var countable: [FeltTransient] = []
    var close: (first: FeltTransient, count: Int, gap: Double)?
    var start = 0
    while start < transients.count {
      var end = start + 1
      var shortest = Double.infinity
      while end < transients.count {
        let gap = transients[end].time - transients[end - 1].time
        guard gap < shortestGap - TransientSequence.timeTolerance else { break }
        shortest = min(shortest, gap)
        end += 1
      }
      let count = end - start
      if count < textureCount {
        countable += transients[start..<end]
        if count > 1 {
          close = (
            close?.first ?? transients[start + 1], (close?.count ?? 0) + count - 1,
            min(close?.gap ?? shortest, shortest)
          )
        }
      }
      start = end
    }
    if let close {
      let gap = (close.gap * 10_000).rounded() / 10
      let what =
        close.count == 1
        ? "the transient follows after \(gap) ms; at least 50 ms are needed to feel two"
        : "\(close.count) transients follow others after \(gap) ms and more; at least 50 ms are needed to feel each"
      log.add(.transientGap, at: .event(close.first.event), what)
    }
    return countable
  }

  private static func checkSequences(of transients: [FeltTransient], _ log: inout CompositionLog) {
    var hasHeavySequence = false
    var irregular: [FeltTransient] = []
    for sequence in TransientSequence.all(of: transients) {
      guard let first = sequence.transients.first else { continue }
      let name = "the sequence from \(first.time.secondsText)"
      let count = sequence.transients.count
      if count > transientLimit {
        let excess = sequence.transients[sequence.transients.startIndex + transientLimit]
        log.add(
          .transientCount, at: .event(excess.event),
          "\(name) has \(count) transients; more than \(transientLimit) are hard to tell apart")
      }
      if !sequence.isRegular { irregular.append(first) }
      let heavy = sequence.transients.filter { $0.isHeavy }
      if heavy.count > heavyLimit {
        hasHeavySequence = true
        log.add(
          .heavyOveruse, at: .event(heavy[heavyLimit].event),
          "\(name) has \(heavy.count) heavy transients; use at most \(heavyLimit)")
      }
    }
    if let first = irregular.first {
      let others = irregular.count - 1
      let what = others == 0 ? " has" : " and \(others) other\(others == 1 ? "" : "s") have"
      log.add(
        .transientSpacing, at: .event(first.event),
        "the sequence from \(first.time.secondsText)\(what) irregular spacing")
    }
    let heavy = transients.filter { $0.isHeavy }
    if !hasHeavySequence, transients.count > 3, heavy.count * 2 > transients.count {
      log.add(
        .heavyOveruse, at: .event(heavy[0].event),
        "\(heavy.count) of \(transients.count) transients are heavy; reserve them for important events")
    }
  }

  // MARK: - Sustained vibration

  /// Finds where continuous haptic events, alone or one upon the other, stay strong for too long.
  ///
  /// What counts is the strength felt: intensity times intensity control. An event that is not
  /// sustained fades and is left out; a break of less than 50 ms is none.
  private static func checkStrongSpans(of composition: HapticComposition, _ log: inout CompositionLog) {
    var budget = segmentBudget
    var strong: [(span: ClosedRange<Double>, event: EventReference)] = []
    for (layer, content) in composition.layers.enumerated() {
      let control = ControlTimeline(of: .hapticIntensityControl, in: content.pattern)
      for (index, event) in content.pattern.events.enumerated() where event.kind.isVibration {
        let level = Double(event.value(of: .hapticIntensity))
        guard level >= strongLevel - 1e-6, event.value(of: .sustained) > 0, let duration = event.duration, duration > 0
        else { continue }
        let needed = (strongLevel - 1e-6) / level
        let range = event.time...event.time + duration
        for span in control.spans(of: needed, in: range, budget: &budget) {
          strong.append((span, EventReference(layer: layer, event: index)))
        }
      }
    }
    strong.sort { ($0.span.lowerBound, $0.event) < ($1.span.lowerBound, $1.event) }
    var index = 0
    while index < strong.count {
      let start = strong[index]
      var end = start.span.upperBound
      index += 1
      while index < strong.count, strong[index].span.lowerBound - end < shortestGap {
        end = max(end, strong[index].span.upperBound)
        index += 1
      }
      let length = end - start.span.lowerBound
      guard length > longestStrong + TransientSequence.timeTolerance else { continue }
      log.add(
        .sustained, at: .event(start.event),
        "vibration of intensity 0.8 or more lasts \(length.secondsText) from "
          + "\(start.span.lowerBound.secondsText) on")
    }
  }
}

/// One transient, with the intensity and sharpness that the controls of its layer leave it.
struct FeltTransient {
  var event: EventReference
  var time: Double
  var intensity: Float
  var sharpness: Float

  /// Whether it should be reserved for what is significant.
  var isHeavy: Bool { intensity >= 0.95 }

  /// The transients of all layers by time.
  static func all(of composition: HapticComposition) -> [FeltTransient] {
    var transients: [FeltTransient] = []
    for (layer, content) in composition.layers.enumerated() {
      let intensity = ControlTimeline(of: .hapticIntensityControl, in: content.pattern)
      let sharpness = ControlTimeline(of: .hapticSharpnessControl, in: content.pattern)
      for (index, event) in content.pattern.events.enumerated() where event.kind.isTransient {
        let edge = event.value(of: .hapticSharpness) + Float(sharpness.value(at: event.time))
        transients.append(
          FeltTransient(
            event: EventReference(layer: layer, event: index), time: event.time,
            intensity: event.value(of: .hapticIntensity) * Float(intensity.value(at: event.time)),
            sharpness: min(max(edge, 0), 1)))
      }
    }
    return transients.sorted { ($0.time, $0.event) < ($1.time, $1.event) }
  }
}

/// Transients that are felt as one figure: none comes more than 250 ms after the one before.
struct TransientSequence {
  /// The longest gap within a sequence, in seconds.
  static let longestGap = 0.25
  /// Decimal times differ from binary ones by less than this, in seconds.
  static let timeTolerance = 1e-6

  let transients: ArraySlice<FeltTransient>

  /// Divides transients in order of time.
  static func all(of transients: [FeltTransient]) -> [TransientSequence] {
    var sequences: [TransientSequence] = []
    var start = 0
    for index in transients.indices {
      let isLast = index + 1 == transients.count
      if isLast || transients[index + 1].time - transients[index].time > longestGap + timeTolerance {
        sequences.append(TransientSequence(transients: transients[start...index]))
        start = index + 1
      }
    }
    return sequences
  }

  /// Whether the transients follow a rule that can be felt.
  ///
  /// They do if there are fewer than four; if all gaps are alike; if no gap is shorter, or none
  /// longer, than the one before, 1 ms aside; or if a group of 2 to 8 gaps repeats, each like the
  /// one it repeats, at least once up to its last transient. Two gaps are alike if one is at most
  /// 25 % longer.
  var isRegular: Bool {
    guard transients.count >= 4 else { return true }
    let gaps = zip(transients.dropFirst(), transients).map { $0.time - $1.time }
    if Self.areAlike(gaps.min() ?? 0, gaps.max() ?? 0) { return true }
    let steps = zip(gaps.dropFirst(), gaps).map { $0 - $1 }
    if steps.allSatisfy({ $0 >= -0.001 }) || steps.allSatisfy({ $0 <= 0.001 }) { return true }
    return (2...8).contains { period in
      gaps.count >= 2 * period - 1 && zip(gaps.dropFirst(period), gaps).allSatisfy { Self.areAlike($0, $1) }
    }
  }

  private static func areAlike(_ left: Double, _ right: Double) -> Bool {
    max(left, right) <= 1.25 * min(left, right) + timeTolerance
  }
}

extension ControlTimeline {
  /// The spans within a range in which the value is at least a level.
  ///
  /// The budget is how many segments may still be looked at; it is lowered by those that were.
  func spans(of level: Double, in range: ClosedRange<Double>, budget: inout Int) -> [ClosedRange<Double>] {
    var spans: [ClosedRange<Double>] = []
    var index = index(at: range.lowerBound)
    while index < segments.count, segments[index].start < range.upperBound, budget > 0 {
      let segment = segments[index]
      index += 1
      budget -= 1
      let from = max(segment.start, range.lowerBound)
      let to = min(index < segments.count ? segments[index].start : .infinity, range.upperBound)
      guard from < to else { continue }
      let first = segment.value(at: from)
      // A flat segment may reach to a time that is not finite.
      let last = segment.slope == 0 ? first : segment.value(at: to)
      guard max(first, last) >= level else { continue }
      if min(first, last) >= level {
        spans.append(from...to)
      } else {
        // Times near the largest number overflow, and then have no crossing worth finding.
        let ideal = from + (to - from) * ((level - first) / (last - first))
        let crossing = ideal.isFinite ? min(max(ideal, from), to) : from
        spans.append(first >= level ? from...crossing : crossing...to)
      }
    }
    return spans
  }
}

extension Rule {
  static let transientGap = warning(
    "transient-gap", "design", "Transients should be at least 50 ms apart to be felt as separate taps.")
  static let transientCount = warning(
    "transient-count", "design", "A sequence (transients at most 250 ms apart) should have at most 4 transients.")
  static let transientSpacing = warning(
    "transient-spacing", "design",
    "Four or more transients should be evenly spaced, accelerate, slow down, or form equal groups.")
  static let heavyOveruse = warning(
    "heavy-overuse", "design",
    "Transients of intensity 0.95 or more should be rare: at most 2 in a sequence, and not the majority.")
  static let harsh = warning(
    "harsh", "design", "A transient should not have both intensity and sharpness of 0.9 or more.")
  static let sustained = warning(
    "sustained", "design", "Vibration of intensity 0.8 or more should not last longer than 1 s without a pause.")
  static let patternLength = note(
    "pattern-length", "design", "A pattern should not be longer than 5 s; feedback usually lasts 0.2 to 0.5 s.")
}
