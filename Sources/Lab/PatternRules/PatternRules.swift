public import HapticModel
public import Reading

/// Checks of a composition, independent of its format and origin.
///
/// A composition is checked as it is felt: the transients of all layers together, each with the
/// controls of its own layer.
public enum PatternRules {
  private typealias Check = @Sendable (HapticComposition, inout CompositionFindingLog) -> Void

  /// The checks with their rules: differences between programs and devices, content without effect,
  /// and design.
  private static let checks: [(rules: [Rule], run: Check)] = [
    ([.noEvents, .curveOverlap, .severalBodyLocations], checkPortability),
    ([.silent, .noEffect, .duplicateEvent], checkEffects),
    (
      [
        .transientGap, .transientCount, .transientSpacing, .heavyOveruse, .harsh, .sustained,
        .patternLength,
      ],
      checkDesign
    ),
  ]

  /// The rules that need only a composition, in the order of lists.
  public static let compositionRules = checks.flatMap { $0.rules }

  /// Checks a composition against ``compositionRules``.
  ///
  /// - Parameters:
  ///   - composition: The composition to check.
  ///   - location: Returns the location of a part. Use `ReadResult.sourceMap` for a composition
  ///     that was read, and `SourceMap.inMemory(name:)` for one that was made in code.
  /// - Returns: The findings by rule: at most 1,000 of a rule, and one with the number of the
  ///   others.
  /// - Complexity: Proportional to the events and the segments of control curves that they span, of
  ///   which at most four million are visited.
  public static func findings(
    in composition: HapticComposition, location: (CompositionElement) -> FileLocation
  )
    -> [Finding]
  {
    var log = CompositionFindingLog()
    for check in checks {
      check.run(composition, &log)
    }
    return log.findings(location: location)
  }
}

/// The findings about parts of a composition, in the order of addition.
struct CompositionFindingLog {
  private var log = FindingLog()
  private var elements: [CompositionElement] = []

  mutating func add(
    _ rule: Rule, at element: CompositionElement, _ message: @autoclosure () -> String
  ) {
    log.add(rule, valueIndex: elements.count, offset: elements.count, message())
    elements.append(element)
  }

  func findings(location: (CompositionElement) -> FileLocation) -> [Finding] {
    log.findings { index, _ in location(elements[index]) }
  }
}

extension Double {
  /// The time for a message, rounded to the millisecond.
  var secondsText: String { "\((self * 1000).rounded() / 1000) s" }
}

extension PatternRules {
  /// The maximum difference, in seconds, between times that a tool wrote as equal.
  private static let timeTolerance = 1e-6

  @Sendable static func checkPortability(
    of composition: HapticComposition, log: inout CompositionFindingLog
  ) {
    if composition.layers.allSatisfy({ $0.isEmpty }) {
      log.add(.noEvents, at: .composition, "the pattern has no events and plays nothing")
    }
    if let merged = mergedBodyLocationsText(of: composition) {
      log.add(.severalBodyLocations, at: .composition, merged)
    }
    for (layer, content) in composition.layers.enumerated() {
      checkCurveOverlaps(of: content.pattern.curves, layer: layer, log: &log)
    }
  }

  /// Returns the finding that several body locations of a composition play together; nil for fewer
  /// than two.
  package static func mergedBodyLocations(of composition: HapticComposition, at location: FileLocation)
    -> Finding?
  {
    mergedBodyLocationsText(of: composition).map {
      Finding(
        .severalBodyLocations, location: location, $0,
        suggestion:
          "use '--channels \(composition.bodyLocationCount)', or '--channel 1=source=PLACE'")
    }
  }

  private static func mergedBodyLocationsText(of composition: HapticComposition) -> String? {
    let count = composition.bodyLocationCount
    let places = composition.bodyLocations.map { $0.displayName }
    return count > 1
      ? """
      \(count) places (\(places.joined(separator: ", "))) sound together except on \(count) \
      channels of haptics
      """
      : nil
  }

  private static func checkCurveOverlaps(
    of curves: [ParameterCurve], layer: Int, log: inout CompositionFindingLog
  ) {
    var ends: [DynamicParameterID: Double] = [:]
    let order = curves.indices.sorted { (curves[$0].time, $0) < (curves[$1].time, $1) }
    for index in order {
      let curve = curves[index]
      if let end = ends[curve.id], curve.time < end - timeTolerance {
        log.add(
          .curveOverlap, at: .curve(layer: layer, index: index),
          """
          overlaps another curve of \(curve.id.rawValue) that ends at \(end.secondsText); this \
          one takes precedence
          """
        )
      }
      let end = curve.time + (curve.controlPoints.last?.time ?? 0)
      ends[curve.id] = max(ends[curve.id] ?? 0, end)
    }
  }
}

/// The rules about content without effect.
extension PatternRules {
  /// The rules about playback: undocumented defaults, too many voices, and damaged sound files.
  public static let playbackRules: [Rule] = [.defaultParameter, .polyphony, .soundDamaged]

  /// The number of simultaneous voices above which rendering is slow and no device plays all of
  /// them.
  private static let maximumVoiceCount = 256

  /// Returns a finding if more voices sound at once than can be rendered in real time.
  public static func polyphonyFindings(
    voiceCount: Int, location: (CompositionElement) -> FileLocation
  )
    -> [Finding]
  {
    guard voiceCount > maximumVoiceCount else { return [] }
    return [
      Finding(
        .polyphony, location: location(.composition),
        """
        up to \(voiceCount) events sound at once; rendering takes long, and devices play few at \
        once
        """
      )
    ]
  }

  /// Returns the findings about undocumented defaults of haptic events, one for each kind and
  /// parameter.
  public static func defaultFindings(
    in composition: HapticComposition, location: (CompositionElement) -> FileLocation
  )
    -> [Finding]
  {
    var log = CompositionFindingLog()
    reportDefaults(of: composition, log: &log)
    return log.findings(location: location)
  }

  /// The level below which intensities and volumes are silent: −120 dB.
  private static let silenceThreshold = 1e-6
  /// The maximum release time of an event, in seconds.
  private static let maximumReleaseSeconds = 2.0

  @Sendable static func checkEffects(
    of composition: HapticComposition, log: inout CompositionFindingLog
  ) {
    checkSilence(of: composition, log: &log)
    for (layer, content) in composition.layers.enumerated() {
      checkDuplicates(of: content.pattern.events, layer: layer, log: &log)
      checkControlReach(of: content.pattern, layer: layer, log: &log)
    }
  }

  // MARK: - Silence

  private static func checkSilence(
    of composition: HapticComposition, log: inout CompositionFindingLog
  ) {
    guard composition.layers.contains(where: { !$0.isEmpty }) else { return }
    var budget = segmentBudget
    for content in composition.layers {
      guard content.signals.isEmpty else { return }
      let haptic = ControlTimeline(of: .hapticIntensityControl, in: content.pattern)
      let audio = ControlTimeline(of: .audioVolumeControl, in: content.pattern)
      for event in content.pattern.events {
        let isHaptic = event.kind.isHaptic
        let level = Double(event.value(of: isHaptic ? .hapticIntensity : .audioVolume))
        guard level > silenceThreshold else { continue }
        let control = isHaptic ? haptic : audio
        if level * control.value(at: event.time) > silenceThreshold { return }
        guard !event.kind.isTransient else { continue }
        let end = event.time + (event.duration ?? HapticEvent.defaultDuration)
        guard end.isFinite, end > event.time else { continue }
        let spans = control.spans(
          atLeast: silenceThreshold / level, in: event.time...end, budget: &budget)
        if !spans.isEmpty || budget <= 0 { return }
      }
    }
    log.add(
      .silent, at: .composition,
      "nothing is felt or heard: every event has level 0 under its controls")
  }

  // MARK: - Reach

  /// Checks that parameters and curves act on an event of their layer: they need an event that has
  /// not ended.
  private static func checkControlReach(
    of pattern: HapticPattern, layer: Int, log: inout CompositionFindingLog
  ) {
    let haptic = latestEnd(of: pattern.events.filter { $0.kind.isHaptic })
    let audio = latestEnd(of: pattern.events.filter { !$0.kind.isHaptic })
    for (index, parameter) in pattern.parameters.enumerated() {
      reportWithoutEffect(
        parameter.id, time: parameter.time, lastEventEnd: parameter.id.isHaptic ? haptic : audio,
        at: .parameter(layer: layer, index: index), log: &log)
    }
    for (index, curve) in pattern.curves.enumerated() {
      let end = curve.id.isHaptic ? haptic : audio
      let element = CompositionElement.curve(layer: layer, index: index)
      if reportWithoutEffect(curve.id, time: curve.time, lastEventEnd: end, at: element, log: &log)
      {
        continue
      }
      guard let end else { continue }
      let late = curve.controlPoints.filter { curve.time + $0.time > end + maximumReleaseSeconds }
      // A single point after the end completes a line that begins before the end.
      guard late.count > 1, let first = late.first else { continue }
      log.add(
        .noEffect, at: element,
        """
        \(late.count) control points of \(curve.id.rawValue), from \
        \((curve.time + first.time).secondsText) on, have no effect; the last event ends at \
        \(end.secondsText)
        """
      )
    }
  }

  @discardableResult private static func reportWithoutEffect(
    _ id: DynamicParameterID, time: Double, lastEventEnd: Double?,
    at element: CompositionElement,
    log: inout CompositionFindingLog
  ) -> Bool {
    guard let lastEventEnd else {
      log.add(
        .noEffect, at: element, "\(id.rawValue) has no effect; no event of the layer responds to it"
      )
      return true
    }
    guard time > lastEventEnd + maximumReleaseSeconds else { return false }
    log.add(
      .noEffect, at: element,
      """
      \(id.rawValue) at \(time.secondsText) has no effect; the last event ends at \
      \(lastEventEnd.secondsText)
      """
    )
    return true
  }

  /// Returns the end of the last event: infinity if the length of a sound file determines it, nil
  /// without events.
  private static func latestEnd(of events: [HapticEvent]) -> Double? {
    events.map { $0.time + ($0.holdDuration ?? .infinity) }.max()
  }

  // MARK: - Duplicates

  private static func checkDuplicates(
    of events: [HapticEvent], layer: Int, log: inout CompositionFindingLog
  ) {
    struct Key: Hashable {
      var kind: HapticEvent.Kind
      var time: Double
      var duration: Double?
    }
    var seen: [Key: [Int]] = [:]
    for (index, event) in events.enumerated() {
      let key = Key(kind: event.kind, time: event.time, duration: event.duration)
      // The limit protects against a file with a million different events at the same time.
      let others = seen[key]?.prefix(8) ?? []
      if let first = others.first(where: { events[$0] == event }) {
        log.add(
          .duplicateEvent, at: .event(EventReference(layer: layer, event: index)),
          "the event is the same as event \(first + 1), at \(event.time.secondsText); both play")
      } else {
        seen[key, default: []].append(index)
      }
    }
  }

  // MARK: - Defaults

  private static func reportDefaults(
    of composition: HapticComposition, log: inout CompositionFindingLog
  ) {
    for kind in HapticEvent.Kind.allCases where kind.isHaptic {
      for id in [EventParameterID.hapticIntensity, .hapticSharpness] {
        let plain = composition.referencedEvents.filter {
          $0.event.kind == kind && $0.event.parameters[id] == nil
        }
        guard let first = plain.first else { continue }
        let events =
          plain.count == 1 ? "the event plays" : "this and \(plain.count - 1) more events play"
        log.add(
          .defaultParameter, at: .event(first.reference),
          """
          \(id.rawValue) is not given; \(events) at \(id.defaultValue(for: kind)), a default \
          that Apple does not document
          """
        )
      }
    }
  }
}

/// The rules about design: clear, gentle, and deliberate feedback.
///
/// Source: published guides for feedback in learning applications. Transients are at least 50 ms
/// apart, at most three or four in a sequence, and rarely heavy. Patterns last 200 to 500 ms.
/// Nothing is harsh or sustained, and spacing is regular.
extension PatternRules {
  /// The minimum gap, in seconds, between transients that are felt as separate.
  private static let minimumGapSeconds = 0.05
  /// The minimum number of transients without perceptible gaps that count as a texture.
  private static let minimumTextureCount = 8
  /// The maximum number of transients in a sequence.
  private static let maximumTransientCount = 4
  /// The maximum number of heavy transients in a sequence.
  private static let maximumHeavyCount = 2
  /// The intensity and sharpness from which a transient is harsh.
  private static let harshLevel: Float = 0.9
  /// The intensity that must not be sustained.
  private static let strongLevel = 0.8
  /// The maximum duration of strong vibration, in seconds.
  private static let maximumStrongSeconds = 1.0
  /// The maximum length of typical feedback, in seconds.
  private static let typicalMaximumSeconds = 5.0
  /// The maximum number of control segments that are visited.
  ///
  /// No pattern from a person or a tool has as many, but a malicious file may combine a million
  /// events with a million points.
  private static let segmentBudget = 4_000_000

  @Sendable static func checkDesign(
    of composition: HapticComposition, log: inout CompositionFindingLog
  ) {
    checkTransients(of: composition, log: &log)
    checkSustainedVibration(of: composition, log: &log)
    // A pattern above the maximum length is an error, which another rule reports.
    if composition.duration > typicalMaximumSeconds,
      composition.duration <= FrameConversion.maximumSeconds
    {
      log.add(
        .patternLength, at: .composition,
        "the pattern lasts \(composition.duration.secondsText); feedback usually lasts 0.2 to 0.5 s"
      )
    }
  }

  // MARK: - Transients

  private static func checkTransients(
    of composition: HapticComposition, log: inout CompositionFindingLog
  ) {
    let transients = EffectiveTransient.all(of: composition)
    let countable = checkGaps(of: transients, log: &log)
    for transient in transients
    where transient.intensity >= harshLevel && transient.sharpness >= harshLevel {
      log.add(
        .harsh, at: .event(transient.event),
        """
        a transient of intensity \(transient.intensity) and sharpness \(transient.sharpness) \
        feels harsh
        """
      )
    }
    checkSequences(of: countable, log: &log)
  }

  /// Reports transients that are too close to be felt as separate, with one finding for all.
  ///
  /// A long run of close transients is a texture, which is a technique: it is not reported, and its
  /// transients do not count as taps.
  ///
  /// - Returns: The transients that are not part of a texture.
  private static func checkGaps(
    of transients: [EffectiveTransient], log: inout CompositionFindingLog
  )
    -> [EffectiveTransient]
  {
    var countable: [EffectiveTransient] = []
    var close: (first: EffectiveTransient, count: Int, gap: Double)?
    var start = 0
    while start < transients.count {
      var end = start + 1
      var shortest = Double.infinity
      while end < transients.count {
        let gap = transients[end].time - transients[end - 1].time
        guard gap < minimumGapSeconds - TransientSequence.timeTolerance else { break }
        shortest = min(shortest, gap)
        end += 1
      }
      let count = end - start
      if count < minimumTextureCount {
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
        : """
        \(close.count) transients follow others after \(gap) ms and more; at least 50 ms are \
        needed to feel each
        """
      log.add(.transientGap, at: .event(close.first.event), what)
    }
    return countable
  }

  private static func checkSequences(
    of transients: [EffectiveTransient], log: inout CompositionFindingLog
  ) {
    var hasHeavySequence = false
    var irregular: [EffectiveTransient] = []
    for sequence in TransientSequence.all(of: transients) {
      guard let first = sequence.transients.first else { continue }
      let name = "the sequence from \(first.time.secondsText)"
      let count = sequence.transients.count
      if count > maximumTransientCount {
        let excess = sequence.transients[sequence.transients.startIndex + maximumTransientCount]
        log.add(
          .transientCount, at: .event(excess.event),
          "\(name) has \(count) transients; more than \(maximumTransientCount) are hard to tell apart"
        )
      }
      if !sequence.isRegular {
        irregular.append(first)
      }
      let heavy = sequence.transients.filter { $0.isHeavy }
      if heavy.count > maximumHeavyCount {
        hasHeavySequence = true
        log.add(
          .heavyOveruse, at: .event(heavy[maximumHeavyCount].event),
          "\(name) has \(heavy.count) heavy transients; use at most \(maximumHeavyCount)")
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
        """
        \(heavy.count) of \(transients.count) transients are heavy; reserve them for important \
        events
        """
      )
    }
  }

  // MARK: - Sustained vibration

  /// Reports strong vibration that lasts too long.
  ///
  /// The perceived strength is the intensity times the intensity control. Overlapping events and
  /// events less than 50 ms apart are joined. Events that are not sustained decay, and are ignored.
  private static func checkSustainedVibration(
    of composition: HapticComposition, log: inout CompositionFindingLog
  ) {
    var budget = segmentBudget
    var strong: [(span: ClosedRange<Double>, event: EventReference)] = []
    for (layer, content) in composition.layers.enumerated() {
      let control = ControlTimeline(of: .hapticIntensityControl, in: content.pattern)
      for (index, event) in content.pattern.events.enumerated() where event.kind.isVibration {
        let level = Double(event.value(of: .hapticIntensity))
        guard level >= strongLevel - 1e-6, event.value(of: .sustained) > 0,
          let duration = event.duration, duration > 0
        else { continue }
        let needed = (strongLevel - 1e-6) / level
        let range = event.time...event.time + duration
        for span in control.spans(atLeast: needed, in: range, budget: &budget) {
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
      while index < strong.count, strong[index].span.lowerBound - end < minimumGapSeconds {
        end = max(end, strong[index].span.upperBound)
        index += 1
      }
      let length = end - start.span.lowerBound
      guard length > maximumStrongSeconds + TransientSequence.timeTolerance else { continue }
      log.add(
        .sustained, at: .event(start.event),
        "vibration of intensity 0.8 or more lasts \(length.secondsText) from "
          + "\(start.span.lowerBound.secondsText) on")
    }
  }
}

/// A transient with its intensity and sharpness under the controls of its layer.
struct EffectiveTransient {
  var event: EventReference
  var time: Double
  var intensity: Float
  var sharpness: Float

  /// A Boolean value that indicates whether the transient should be reserved for important events.
  var isHeavy: Bool { intensity >= 0.95 }

  /// Returns the transients of all layers, sorted by time.
  static func all(of composition: HapticComposition) -> [EffectiveTransient] {
    var transients: [EffectiveTransient] = []
    for (layer, content) in composition.layers.enumerated() {
      let intensity = ControlTimeline(of: .hapticIntensityControl, in: content.pattern)
      let sharpness = ControlTimeline(of: .hapticSharpnessControl, in: content.pattern)
      for (index, event) in content.pattern.events.enumerated() where event.kind.isTransient {
        let edge = event.value(of: .hapticSharpness) + Float(sharpness.value(at: event.time))
        transients.append(
          EffectiveTransient(
            event: EventReference(layer: layer, event: index), time: event.time,
            intensity: event.value(of: .hapticIntensity) * Float(intensity.value(at: event.time)),
            sharpness: min(max(edge, 0), 1)))
      }
    }
    return transients.sorted { ($0.time, $0.event) < ($1.time, $1.event) }
  }
}

/// Transients that are felt as one sequence: each follows the previous one within 250 ms.
struct TransientSequence {
  /// The maximum gap within a sequence, in seconds.
  static let maximumGapSeconds = 0.25
  /// A bound of the difference between decimal times and their binary representations, in seconds.
  static let timeTolerance = 1e-6

  let transients: ArraySlice<EffectiveTransient>

  static func all(of transients: [EffectiveTransient]) -> [TransientSequence] {
    var sequences: [TransientSequence] = []
    var start = 0
    for index in transients.indices
    where index + 1 == transients.count
      || transients[index + 1].time - transients[index].time > maximumGapSeconds + timeTolerance
    {
      sequences.append(TransientSequence(transients: transients[start...index]))
      start = index + 1
    }
    return sequences
  }

  /// A Boolean value that indicates whether the spacing of the transients has a perceptible
  /// regularity.
  ///
  /// One of these conditions is sufficient:
  ///
  /// - There are fewer than four transients.
  /// - All gaps are similar: the largest is at most 25 % longer than the smallest.
  /// - The gaps only grow or only shrink, within 1 ms.
  /// - A group of 2 to 8 gaps repeats at least once with similar gaps, up to the last transient.
  var isRegular: Bool {
    guard transients.count >= 4 else { return true }
    let gaps = zip(transients.dropFirst(), transients).map { $0.time - $1.time }
    if Self.areAlike(gaps.min() ?? 0, gaps.max() ?? 0) { return true }
    let steps = zip(gaps.dropFirst(), gaps).map { $0 - $1 }
    if steps.allSatisfy({ $0 >= -0.001 }) || steps.allSatisfy({ $0 <= 0.001 }) {
      return true
    }
    return (2...8).contains { period in
      gaps.count >= 2 * period - 1
        && zip(gaps.dropFirst(period), gaps).allSatisfy { Self.areAlike($0, $1) }
    }
  }

  private static func areAlike(_ left: Double, _ right: Double) -> Bool {
    max(left, right) <= 1.25 * min(left, right) + timeTolerance
  }
}

extension ControlTimeline {
  /// Calls a function for each linear segment in a range, with the values at its ends.
  ///
  /// - Parameters:
  ///   - range: The range of times, in seconds.
  ///   - budget: The number of segments that may still be visited, which is reduced.
  ///   - body: Receives the start and the end of the segment, and the values there.
  func forEachSegment(
    in range: ClosedRange<Double>, budget: inout Int,
    _ body: (_ from: Double, _ to: Double, _ first: Double, _ last: Double) -> Void
  ) {
    var index = index(at: range.lowerBound)
    while index < segments.count, segments[index].start < range.upperBound, budget > 0 {
      let segment = segments[index]
      index += 1
      budget -= 1
      let from = max(segment.start, range.lowerBound)
      let to = min(index < segments.count ? segments[index].start : .infinity, range.upperBound)
      let first = segment.value(at: from)
      // A constant segment may extend to infinity.
      body(from, to, first, segment.slope == 0 ? first : segment.value(at: to))
    }
  }

  /// Returns the spans of a range in which the value is at least a level.
  ///
  /// - Parameters:
  ///   - level: The minimum value.
  ///   - range: The range of times, in seconds.
  ///   - budget: The number of segments that may still be visited, which is reduced.
  func spans(atLeast level: Double, in range: ClosedRange<Double>, budget: inout Int)
    -> [ClosedRange<
      Double
    >]
  {
    var spans: [ClosedRange<Double>] = []
    forEachSegment(in: range, budget: &budget) { from, to, first, last in
      guard from < to, max(first, last) >= level else { return }
      if min(first, last) >= level { return spans.append(from...to) }
      // Times near the largest finite number overflow; their crossing is irrelevant.
      let ideal = from + (to - from) * ((level - first) / (last - first))
      let crossing = ideal.isFinite ? min(max(ideal, from), to) : from
      spans.append(first >= level ? from...crossing : crossing...to)
    }
    return spans
  }
}

extension Rule {
  static let severalBodyLocations = note(
    "several-places", "compatibility",
    "Places sound apart only where there are as many channels of haptics.")
  static let noEvents = warning(
    "no-events", "grammar", "A pattern should have events; without them it is silent.")
  static let curveOverlap = warning(
    "curve-overlap", "compatibility",
    "Curves of one parameter should not overlap; devices differ in which one applies."
  )

  static let silent = warning(
    "silent", "grammar", "A pattern should have an event with a level above 0 under its controls.")
  static let noEffect = warning(
    "no-effect", "grammar",
    "Parameters, curves and control points should act on an event that is not over.")
  static let duplicateEvent = warning(
    "duplicate-event", "grammar",
    "An event should not be repeated at the same time; both play, twice as strong.")
  static let polyphony = warning(
    "polyphony", "compatibility", "At most 256 events should sound at once.")
  /// The rule for a sound file with samples that cannot be played.
  public static let soundDamaged = warning(
    "sound-damaged", "compatibility",
    "Sound files should be as long as their headers announce, and have finite samples.")
  static let defaultParameter = note(
    "default-parameter", "compatibility",
    """
    An event should have HapticIntensity and HapticSharpness; their defaults are not documented \
    by Apple.
    """
  )

  static let transientGap = warning(
    "transient-gap", "design",
    "Transients should be at least 50 ms apart to be felt as separate taps.")
  static let transientCount = warning(
    "transient-count", "design",
    "A sequence (transients at most 250 ms apart) should have at most 4 transients.")
  static let transientSpacing = warning(
    "transient-spacing", "design",
    "Four or more transients should be evenly spaced, accelerate, slow down, or form equal groups.")
  static let heavyOveruse = warning(
    "heavy-overuse", "design",
    """
    Transients of intensity 0.95 or more should be rare: at most 2 in a sequence, and not the \
    majority.
    """
  )
  static let harsh = warning(
    "harsh", "design", "A transient should not have both intensity and sharpness of 0.9 or more.")
  static let sustained = warning(
    "sustained", "design",
    "Vibration of intensity 0.8 or more should not last longer than 1 s without a pause.")
  static let patternLength = note(
    "pattern-length", "design",
    "A pattern should not be longer than 5 s; feedback usually lasts 0.2 to 0.5 s.")
}
