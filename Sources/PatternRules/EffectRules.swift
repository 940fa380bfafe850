public import Reading
public import HapticModel

/// Rules of effect: what a pattern says and nobody feels.
extension PatternRules {
  /// What is left to the reader of a pattern, and what a file or a device may not bear.
  public static let defaults: [Rule] = [.defaultParameter, .polyphony, .soundDamaged]

  /// Voices at once beyond which rendering is slow and no device plays all.
  private static let voiceLimit = 256

  /// Notes that more voices sound at once than anybody can render in real time.
  public static func polyphonyFindings(voiceCount: Int, places: (CompositionElement) -> SourcePlace) -> [Finding] {
    guard voiceCount > voiceLimit else { return [] }
    return [
      Finding(
        .polyphony, place: places(.composition),
        "up to \(voiceCount) events sound at once; rendering takes long, and devices play few at once")
    ]
  }

  /// Notes the defaults that haptic events play with, one for each kind and parameter.
  public static func defaultFindings(in composition: HapticComposition, places: (CompositionElement) -> SourcePlace)
    -> [Finding]
  {
    var log = CompositionLog()
    noteDefaults(of: composition, &log)
    return log.findings(places)
  }

  /// Intensities and volumes below this are nothing: −120 dB.
  private static let nothing = 1e-6
  /// The longest release of an event, in seconds.
  private static let longestRelease = 2.0
  /// How many segments of controls are looked at.
  private static let segmentBudget = 4_000_000

  @Sendable static func checkEffects(of composition: HapticComposition, _ log: inout CompositionLog) {
    checkSilence(of: composition, &log)
    for (layer, content) in composition.layers.enumerated() {
      checkDuplicates(of: content.pattern.events, layer, &log)
      checkReach(of: content.pattern, layer, &log)
    }
  }

  // MARK: - Silence

  private static func checkSilence(of composition: HapticComposition, _ log: inout CompositionLog) {
    guard composition.layers.contains(where: { !$0.isEmpty }) else { return }
    var budget = segmentBudget
    for content in composition.layers {
      guard content.signals.isEmpty else { return }
      let haptic = ControlTimeline(of: .hapticIntensityControl, in: content.pattern)
      let audio = ControlTimeline(of: .audioVolumeControl, in: content.pattern)
      for event in content.pattern.events {
        let isHaptic = event.kind.isHaptic
        let level = Double(event.value(of: isHaptic ? .hapticIntensity : .audioVolume))
        guard level > nothing else { continue }
        let control = isHaptic ? haptic : audio
        if level * control.value(at: event.time) > nothing { return }
        guard !event.kind.isTransient else { continue }
        let end = event.time + (event.duration ?? HapticEvent.unlimitedDuration)
        guard end.isFinite, end > event.time else { continue }
        let spans = control.spans(of: nothing / level, in: event.time...end, budget: &budget)
        if !spans.isEmpty || budget <= 0 { return }
      }
    }
    log.add(.silent, at: .composition, "nothing is felt or heard: every event has level 0 under its controls")
  }

  // MARK: - Reach

  /// Parameters and curves act on events of their layer that are not over.
  private static func checkReach(of pattern: HapticPattern, _ layer: Int, _ log: inout CompositionLog) {
    let haptic = lastMoment(of: pattern.events.filter { $0.kind.isHaptic })
    let audio = lastMoment(of: pattern.events.filter { !$0.kind.isHaptic })
    for (index, parameter) in pattern.parameters.enumerated() {
      note(
        parameter.id, from: parameter.time, parameter.id.isHaptic ? haptic : audio,
        at: .parameter(layer: layer, index: index), &log)
    }
    for (index, curve) in pattern.curves.enumerated() {
      let end = curve.id.isHaptic ? haptic : audio
      let element = CompositionElement.curve(layer: layer, index: index)
      if note(curve.id, from: curve.time, end, at: element, &log) { continue }
      guard let end else { continue }
      let late = curve.controlPoints.filter { curve.time + $0.time > end + longestRelease }
      // One point behind the end is where a line leads that begins before it.
      guard late.count > 1, let first = late.first else { continue }
      log.add(
        .noEffect, at: element,
        "\(late.count) control points of \(curve.id.rawValue), from \((curve.time + first.time).secondsText) on, have no effect; the last event ends at \(end.secondsText)"
      )
    }
  }

  @discardableResult private static func note(
    _ id: DynamicParameterID, from time: Double, _ end: Double?, at element: CompositionElement,
    _ log: inout CompositionLog
  ) -> Bool {
    guard let end else {
      log.add(.noEffect, at: element, "\(id.rawValue) has no effect; no event of the layer responds to it")
      return true
    }
    guard time > end + longestRelease else { return false }
    log.add(
      .noEffect, at: element,
      "\(id.rawValue) at \(time.secondsText) has no effect; the last event ends at \(end.secondsText)")
    return true
  }

  /// When the last of some events ends; infinite where the length of a sound file decides, nil without events.
  private static func lastMoment(of events: [HapticEvent]) -> Double? {
    events.map { $0.time + ($0.length ?? .infinity) }.max()
  }

  // MARK: - Duplicates

  private static func checkDuplicates(of events: [HapticEvent], _ layer: Int, _ log: inout CompositionLog) {
    struct Key: Hashable {
      var kind: HapticEvent.Kind
      var time: Double
      var duration: Double?
    }
    var seen: [Key: [Int]] = [:]
    for (index, event) in events.enumerated() {
      let key = Key(kind: event.kind, time: event.time, duration: event.duration)
      // A hostile file may lay a million different events on one moment.
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

  private static func noteDefaults(of composition: HapticComposition, _ log: inout CompositionLog) {
    for kind in HapticEvent.Kind.allCases where kind.isHaptic {
      for id in [EventParameterID.hapticIntensity, .hapticSharpness] {
        var first: EventReference?
        var count = 0
        for (layer, content) in composition.layers.enumerated() {
          for (index, event) in content.pattern.events.enumerated()
          where event.kind == kind && event.parameters[id] == nil {
            count += 1
            if first == nil { first = EventReference(layer: layer, event: index) }
          }
        }
        guard let first else { continue }
        let events = count == 1 ? "the event plays" : "this and \(count - 1) more events play"
        log.add(
          .defaultParameter, at: .event(first),
          "\(id.rawValue) is not given; \(events) at \(id.defaultValue(for: kind)), a default that Apple does not document"
        )
      }
    }
  }
}

extension Rule {
  static let silent = warning(
    "silent", "grammar", "A pattern should have an event with a level above 0 under its controls.")
  static let noEffect = warning(
    "no-effect", "grammar", "Parameters, curves and control points should act on an event that is not over.")
  static let duplicateEvent = warning(
    "duplicate-event", "grammar", "An event should not be repeated at the same time; both play, twice as strong.")
  static let polyphony = warning("polyphony", "compatibility", "At most 256 events should sound at once.")
  /// A sound file with samples that cannot be played.
  public static let soundDamaged = warning(
    "sound-damaged", "compatibility",
    "Sound files should be as long as their headers announce, and have finite samples.")
  static let defaultParameter = note(
    "default-parameter", "compatibility",
    "An event should have HapticIntensity and HapticSharpness; their defaults are not documented by Apple.")
}
