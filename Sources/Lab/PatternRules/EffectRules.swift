public import HapticModel
public import Reading

/// The rules about events and controls without effect.
extension PatternRules {
  /// The rules about playback: undocumented defaults, too many voices, and damaged sound files.
  public static let playbackRules: [Rule] = [.unsetParameter, .excessivePolyphony, .damagedSound]

  /// The maximum number of simultaneous voices.
  ///
  /// With more voices, rendering is slow and no device plays all of them.
  private static let maximumVoiceCount = 256

  /// Returns a finding about more simultaneous voices than real-time rendering allows.
  public static func polyphonyFindings(
    voiceCount: Int, location: (CompositionElement) -> FileLocation
  ) -> [Finding] {
    guard voiceCount > maximumVoiceCount else { return [] }
    return [
      Finding(
        .excessivePolyphony, location: location(.composition),
        """
        up to \(voiceCount) events overlap; rendering is slow, and devices play only a few events \
        at once
        """
      )
    ]
  }

  /// Returns the findings about haptic events with undocumented default values.
  ///
  /// There is one finding for each kind of event and parameter.
  public static func unsetParameterFindings(
    in composition: HapticComposition, location: (CompositionElement) -> FileLocation
  ) -> [Finding] {
    var log = CompositionFindingLog()
    reportUnsetParameters(of: composition, log: &log)
    return log.findings(location: location)
  }

  /// The maximum level of silent intensities and volumes: −120 dB.
  private static let maximumSilentLevel = 1e-6
  /// The maximum release time of an event, in seconds.
  private static let maximumReleaseSeconds = 2.0

  /// Checks a composition for silent patterns, duplicate events, and controls without effect.
  @Sendable static func checkEffects(
    of composition: HapticComposition, log: inout CompositionFindingLog
  ) {
    checkSilence(of: composition, log: &log)
    for (layer, content) in composition.layers.enumerated() {
      checkDuplicateEvents(of: content.pattern.events, layer: layer, log: &log)
      checkControlsReachEvents(of: content.pattern, layer: layer, log: &log)
    }
  }

  // MARK: - Silence

  /// Reports a composition that has no audible or perceptible event.
  private static func checkSilence(
    of composition: HapticComposition, log: inout CompositionFindingLog
  ) {
    guard composition.layers.contains(where: { !$0.isEmpty }) else { return }
    var segmentBudget = maximumControlSegmentCount
    for content in composition.layers {
      guard content.signals.isEmpty else { return }
      let hapticControl = ControlTimeline(of: .hapticIntensityControl, in: content.pattern)
      let audioControl = ControlTimeline(of: .audioVolumeControl, in: content.pattern)
      let hasPerceptibleEvent = content.pattern.events.contains { event in
        let eventControl = event.kind.isHaptic ? hapticControl : audioControl
        return isPerceptible(event, under: eventControl, budget: &segmentBudget)
      }
      if hasPerceptibleEvent { return }
    }
    log.add(
      .silentPattern, at: .composition,
      "no haptics and no sound: all events have level 0 under their controls")
  }

  /// Returns whether an event is above the silence threshold at any time.
  ///
  /// Returns true without a check if the budget is used up.
  private static func isPerceptible(
    _ event: HapticEvent, under control: ControlTimeline, budget: inout Int
  ) -> Bool {
    let eventLevel = Double(event.value(of: event.kind.isHaptic ? .hapticIntensity : .audioVolume))
    guard eventLevel > maximumSilentLevel else { return false }
    if eventLevel * control.value(at: event.time) > maximumSilentLevel { return true }
    guard !event.kind.isTransient else { return false }
    let endTime = event.time + (event.duration ?? HapticEvent.defaultDurationSeconds)
    guard endTime.isFinite, endTime > event.time else { return false }
    let audibleSpans = control.spans(
      atLeast: maximumSilentLevel / eventLevel, in: event.time...endTime, budget: &budget)
    return !audibleSpans.isEmpty || budget <= 0
  }

  // MARK: - Reach

  /// Reports parameters and curves that act on no event of their layer.
  ///
  /// A control needs an event that has not ended.
  private static func checkControlsReachEvents(
    of pattern: HapticPattern, layer: Int, log: inout CompositionFindingLog
  ) {
    let hapticEndTime = lastEventEndTime(of: pattern.events.filter { $0.kind.isHaptic })
    let audioEndTime = lastEventEndTime(of: pattern.events.filter { !$0.kind.isHaptic })
    for (index, parameter) in pattern.parameters.enumerated() {
      reportIneffectiveControl(
        parameter.id, time: parameter.time,
        lastEventEnd: parameter.id.isHaptic ? hapticEndTime : audioEndTime,
        at: .parameter(layer: layer, index: index), log: &log)
    }
    for (index, curve) in pattern.curves.enumerated() {
      let endTime = curve.id.isHaptic ? hapticEndTime : audioEndTime
      let element = CompositionElement.curve(layer: layer, index: index)
      let isReported = reportIneffectiveControl(
        curve.id, time: curve.time, lastEventEnd: endTime, at: element, log: &log)
      if !isReported, let endTime {
        reportLateControlPoints(of: curve, lastEventEnd: endTime, at: element, log: &log)
      }
    }
  }

  /// Reports control points after the end of the last event.
  private static func reportLateControlPoints(
    of curve: ParameterCurve, lastEventEnd: Double, at element: CompositionElement,
    log: inout CompositionFindingLog
  ) {
    let latePoints = curve.controlPoints.filter {
      curve.time + $0.time > lastEventEnd + maximumReleaseSeconds
    }
    // A single point after the end completes a line that begins before the end.
    guard latePoints.count > 1, let firstPoint = latePoints.first else { return }
    log.add(
      .ineffectiveControl, at: element,
      """
      \(latePoints.count) control points of \(curve.id.rawValue), starting at \
      \((curve.time + firstPoint.time).secondsText), have no effect: the last event ends at \
      \(lastEventEnd.secondsText)
      """)
  }

  /// Reports a parameter or curve after the last event or in a layer without events.
  ///
  /// Returns true if it reported one.
  @discardableResult private static func reportIneffectiveControl(
    _ id: DynamicParameterID, time: Double, lastEventEnd: Double?,
    at element: CompositionElement,
    log: inout CompositionFindingLog
  ) -> Bool {
    guard let lastEventEnd else {
      log.add(
        .ineffectiveControl, at: element,
        "\(id.rawValue) has no effect: no event of the layer responds to it"
      )
      return true
    }
    guard time > lastEventEnd + maximumReleaseSeconds else { return false }
    log.add(
      .ineffectiveControl, at: element,
      """
      \(id.rawValue) at \(time.secondsText) has no effect: the last event ends at \
      \(lastEventEnd.secondsText)
      """
    )
    return true
  }

  /// Returns the end time of the last event, or nil without events.
  ///
  /// The result is infinity if the length of a sound file determines it.
  private static func lastEventEndTime(of events: [HapticEvent]) -> Double? {
    events.map { $0.time + ($0.secondsUntilRelease ?? .infinity) }.max()
  }

  // MARK: - Duplicates

  /// Reports events that duplicate an earlier event.
  private static func checkDuplicateEvents(
    of events: [HapticEvent], layer: Int, log: inout CompositionFindingLog
  ) {
    struct Key: Hashable {
      var kind: HapticEvent.Kind
      var time: Double
      var duration: Double?
    }
    var indicesByKey: [Key: [Int]] = [:]
    for (index, event) in events.enumerated() {
      let key = Key(kind: event.kind, time: event.time, duration: event.duration)
      // The limit protects against a file with a million different events at the same time.
      let candidates = indicesByKey[key]?.prefix(8) ?? []
      if let duplicateIndex = candidates.first(where: { events[$0] == event }) {
        log.add(
          .duplicateEvent, at: .event(EventReference(layerIndex: layer, eventIndex: index)),
          "duplicate of event \(duplicateIndex + 1) at \(event.time.secondsText); both play")
      } else {
        indicesByKey[key, default: []].append(index)
      }
    }
  }

  // MARK: - Defaults

  /// Reports the first event of each kind with an undocumented default of a parameter.
  private static func reportUnsetParameters(
    of composition: HapticComposition, log: inout CompositionFindingLog
  ) {
    for kind in HapticEvent.Kind.allCases where kind.isHaptic {
      for id in [EventParameterID.hapticIntensity, .hapticSharpness] {
        let affected = composition.referencedEvents.filter {
          $0.event.kind == kind && $0.event.parameters[id] == nil
        }
        guard let firstAffected = affected.first else { continue }
        let events =
          affected.count == 1
          ? "the event plays" : "this and \(affected.count - 1) more events play"
        log.add(
          .unsetParameter, at: .event(firstAffected.reference),
          """
          \(id.rawValue) is missing; \(events) at \(id.defaultValue(for: kind)), a default that \
          Apple does not document
          """
        )
      }
    }
  }
}

extension Rule {
  static let silentPattern = warning(
    "silent", "grammar", "At least one event should have a level above 0 under its controls.")
  static let ineffectiveControl = warning(
    "no-effect", "grammar",
    "Parameters, curves, and control points should affect an event that is still playing.")
  static let duplicateEvent = warning(
    "duplicate-event", "grammar",
    "An event should not be repeated at the same time. Both events play, twice as strong.")
  static let excessivePolyphony = warning(
    "polyphony", "compatibility", "At most 256 events should overlap.")
  /// The rule for a damaged sound file, whose samples cannot all be played.
  public static let damagedSound = warning(
    "sound-damaged", "compatibility",
    "Sound files should be as long as their headers specify, and their samples should be finite.")
  static let unsetParameter = note(
    "default-parameter", "compatibility",
    """
    An event should set HapticIntensity and HapticSharpness. Apple does not document their defaults.
    """
  )
}
