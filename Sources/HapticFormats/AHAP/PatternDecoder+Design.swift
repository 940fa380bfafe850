import Diagnostics
import HapticModel
import JSONText

/// Rules of design: what feels clear, kind and deliberate.
///
/// Source of the figures: published guides for feedback in learning applications, by which taps are
/// 50 ms apart or more, three or four at most, heavy ones rare, patterns 200 to 500 ms long,
/// nothing harsh or sustained, and no spacing erratic.
extension PatternDecoder {
  /// The shortest gap, in seconds, between taps that are felt as two.
  private static let shortestGap = 0.05
  /// The most taps of a sequence.
  private static let tapLimit = 4
  /// The most heavy taps of a sequence.
  private static let heavyLimit = 2
  /// The intensity and sharpness that are harsh together.
  private static let harshLevel: Float = 0.9
  /// The intensity that should not go on, and for how many seconds.
  private static let strongLevel = 0.8
  private static let longestStrong = 1.0
  /// The pattern length, in seconds, beyond which feedback is unusual.
  private static let defaultLength = 5.0
  /// How many pieces of curves are looked at for sustained vibration. More are in no pattern a
  /// person or tool has made, but a hostile file may lay a million events over a million points.
  private static let stretchBudget = 4_000_000

  /// Checks the pattern against the rules of design.
  mutating func checkDesign() {
    let intensity = ControlTimeline(of: .hapticIntensityControl, in: pattern)
    checkTaps(intensity)
    checkStrongSpans(intensity)
    if let entries, pattern.duration > Self.defaultLength {
      log.add(
        .patternLength, at: entries,
        "the pattern lasts \(pattern.duration.secondsText); feedback usually lasts 0.2 to 0.5 s")
    }
  }

  // MARK: - Taps

  private mutating func checkTaps(_ intensity: ControlTimeline) {
    let sharpness = ControlTimeline(of: .hapticSharpnessControl, in: pattern)
    var taps: [Tap] = []
    for (event, value) in zip(pattern.events, eventValues) where event.kind == .hapticTransient {
      let strength = event.value(of: .hapticIntensity) * Float(intensity.value(at: event.time))
      let edge = event.value(of: .hapticSharpness) + Float(sharpness.value(at: event.time))
      taps.append(
        Tap(value: value, time: event.time, intensity: strength, sharpness: min(max(edge, 0), 1)))
    }
    taps.sort { $0.time < $1.time }
    for (tap, previous) in zip(taps.dropFirst(), taps) {
      let gap = tap.time - previous.time
      guard gap < Self.shortestGap - TapSequence.timeTolerance else { continue }
      log.add(
        .transientGap, at: self.value(tap),
        "the transient follows after \(gap.millisecondsText); at least 50 ms are needed to feel two"
      )
    }
    for tap in taps where tap.intensity >= Self.harshLevel && tap.sharpness >= Self.harshLevel {
      log.add(
        .harsh, at: self.value(tap),
        "a transient of intensity \(tap.intensity) and sharpness \(tap.sharpness) feels harsh")
    }
    checkSequences(taps)
  }

  private mutating func checkSequences(_ taps: [Tap]) {
    var hasHeavySequence = false
    for sequence in TapSequence.all(of: taps) {
      guard let first = sequence.taps.first else { continue }
      let name = "the sequence from \(first.time.secondsText)"
      if sequence.taps.count > Self.tapLimit {
        log.add(
          .transientCount, at: value(sequence.taps[sequence.taps.startIndex + Self.tapLimit]),
          "\(name) has \(sequence.taps.count) transients; more than \(Self.tapLimit) are hard to tell apart"
        )
      }
      if !sequence.isRegular {
        log.add(.transientSpacing, at: value(first), "\(name) has irregular spacing")
      }
      let heavy = sequence.taps.filter(\.isHeavy)
      if heavy.count > Self.heavyLimit {
        hasHeavySequence = true
        log.add(
          .heavyOveruse, at: value(heavy[Self.heavyLimit]),
          "\(name) has \(heavy.count) heavy transients; use at most \(Self.heavyLimit)")
      }
    }
    let heavy = taps.filter(\.isHeavy)
    if !hasHeavySequence, taps.count > 3, heavy.count * 2 > taps.count {
      log.add(
        .heavyOveruse, at: value(heavy[0]),
        "\(heavy.count) of \(taps.count) transients are heavy; reserve them for important events")
    }
  }

  private func value(_ tap: Tap) -> JSONValue { JSONValue(document: json, index: tap.value) }

  // MARK: - Sustained vibration

  /// Finds where continuous haptic events, alone or one upon the other, stay strong for too long.
  ///
  /// What counts is the strength felt: intensity times intensity control. An event that is not
  /// sustained fades and is left out; a break of less than 50 ms is none.
  private mutating func checkStrongSpans(_ intensity: ControlTimeline) {
    var budget = Self.stretchBudget
    var strong: [(span: ClosedRange<Double>, value: Int)] = []
    for (event, value) in zip(pattern.events, eventValues) where event.kind == .hapticContinuous {
      let level = Double(event.value(of: .hapticIntensity))
      guard level >= Self.strongLevel - 1e-6, event.value(of: .sustained) > 0,
        let duration = event.duration
      else { continue }
      let needed = (Self.strongLevel - 1e-6) / level
      let range = event.time...event.time + duration
      for span in intensity.spans(of: needed, in: range, budget: &budget) {
        strong.append((span, value))
      }
    }
    strong.sort { $0.span.lowerBound < $1.span.lowerBound }
    var index = 0
    while index < strong.count {
      let start = strong[index]
      var end = start.span.upperBound
      index += 1
      while index < strong.count, strong[index].span.lowerBound - end < Self.shortestGap {
        end = max(end, strong[index].span.upperBound)
        index += 1
      }
      let length = end - start.span.lowerBound
      guard length > Self.longestStrong + TapSequence.timeTolerance else { continue }
      log.add(
        .sustained, at: JSONValue(document: json, index: start.value),
        "vibration of intensity 0.8 or more lasts \(length.secondsText) from "
          + "\(start.span.lowerBound.secondsText) on")
    }
  }
}

extension Double {
  /// A time for a message, to the millisecond.
  var secondsText: String { "\((self * 1000).rounded() / 1000) s" }

  /// A short time for a message, to a tenth of a millisecond.
  fileprivate var millisecondsText: String { "\((self * 10000).rounded() / 10) ms" }
}
