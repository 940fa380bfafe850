internal import CMath
import HapticModel
import HapticRender
import RecordingAnalysis

extension Difference.Kind {
  /// The difference kinds that concern an event's duration or an event parameter.
  static let eventParameterKinds: [Self] = [
    .level, .frequency, .duration, .attack, .decay, .release, .sustain, .pan, .brightness,
  ]

  /// Returns the event parameter that differences of this kind concern.
  ///
  /// Returns nil for the duration and for kinds that concern no parameter.
  func parameter(of kind: HapticEvent.Kind) -> EventParameterID? {
    switch self {
    case .level: kind.isHaptic ? .hapticIntensity : .audioVolume
    case .frequency: kind.isHaptic ? .hapticSharpness : .audioPitch
    case .attack: .attackTime
    case .decay: .decayTime
    case .release: .releaseTime
    case .sustain: .sustained
    case .pan: .audioPan
    case .brightness: .audioBrightness
    default: nil
    }
  }

  /// Returns the event value that differences of this kind concern.
  ///
  /// Returns nil if the event has no such value.
  func value(of event: IndexedEvent) -> Double? {
    if self == .duration { return event.durationSeconds }
    guard let parameterID = parameter(of: event.kind), event.kind.responds(to: parameterID) else {
      return nil
    }
    return event.value(parameterID)
  }

  /// Returns the name of the event value in sentences.
  func valueName(of kind: HapticEvent.Kind) -> String {
    switch self {
    case .level: kind.isHaptic ? "intensity" : "volume"
    case .frequency: kind.isHaptic ? "sharpness" : "pitch"
    default: rawValue
    }
  }

  /// Returns the values of both takes as text, such as `intensity 0.71 instead of 0.75`.
  ///
  /// Returns nil if the values add nothing to the sentence.
  func valueText(
    from before: Double, to after: Double, of kind: HapticEvent.Kind, profile: TransducerProfile
  ) -> String? {
    let valuesText = SentenceFormatting.values(after, insteadOf: before)
    switch self {
    case .sustain:
      return nil
    case .duration:
      return valuesText + " s"
    case .frequency where !kind.playsFile:
      let hertz = SentenceFormatting.frequencies(
        profile.hertz(after, of: kind),
        insteadOf: profile.hertz(before, of: kind))
      return "\(hertz) (\(valueName(of: kind)) \(valuesText))"
    default:
      return "\(valueName(of: kind)) \(valuesText)"
    }
  }

  /// Returns the rendered difference between two event values, in the unit of this kind.
  ///
  /// The rendering depends on the profile.
  func amount(
    from before: Double, to after: Double, of kind: HapticEvent.Kind, profile: TransducerProfile
  ) -> Double {
    switch self {
    case .level:
      guard kind.isHaptic else { return Self.decibels(from: before, to: after) }
      let intensityMapping = profile.intensity
      return Self.decibels(
        from: intensityMapping.amplitude(atIntensity: before),
        to: intensityMapping.amplitude(atIntensity: after))
    case .frequency:
      return 100
        * (profile.hertz(after, of: kind)
          / profile.hertz(before, of: kind) - 1)
    case .attack, .decay, .release:
      return EnvelopeTimes.seconds(normalized: Float(after))
        - EnvelopeTimes.seconds(normalized: Float(before))
    case .pan, .brightness:
      return 100 * (after - before)
    default:
      return after - before
    }
  }

  /// Returns the ratio of two amplitudes in decibels, limited to ±60 dB.
  private static func decibels(from before: Double, to after: Double) -> Double {
    if before == after { return 0 }
    guard after > 0 else { return -maximumLevelDifferenceDecibels }
    guard before > 0 else { return maximumLevelDifferenceDecibels }
    return min(
      max(20 * log10(after / before), -maximumLevelDifferenceDecibels),
      maximumLevelDifferenceDecibels)
  }
}

/// The values of events after dynamic parameters and curves are applied.
///
/// Different values in the file can have the same effect, because intensity and sharpness are
/// clamped to 0...1.
struct EffectiveValues {
  private let timelinesByLayer: [[DynamicParameterID: ControlTimeline]]

  init(_ composition: HapticComposition) {
    timelinesByLayer = composition.layers.map { layer in
      var timelines: [DynamicParameterID: ControlTimeline] = [:]
      for id in [DynamicParameterID.hapticIntensityControl, .hapticSharpnessControl] {
        let timeline = ControlTimeline(of: id, in: layer.pattern)
        if timeline.isSetByPattern {
          timelines[id] = timeline
        }
      }
      return timelines
    }
  }

  /// Returns the maximum difference that a changed value causes while an event sounds.
  ///
  /// Returns nil if both values have the same effect.
  ///
  /// - Parameters:
  ///   - kind: The kind of the value.
  ///   - before: The reference's value.
  ///   - after: The candidate's value.
  ///   - event: The event of the reference.
  ///   - profile: The profile.
  func amount(
    of kind: Difference.Kind, from before: Double, to after: Double, _ event: IndexedEvent,
    _ profile: TransducerProfile
  ) -> Double? {
    let writtenAmount = kind.amount(from: before, to: after, of: event.kind, profile: profile)
    guard event.isHaptic, kind == .level || kind == .frequency,
      timelinesByLayer.indices.contains(event.layerIndex)
    else { return writtenAmount }
    let controlID: DynamicParameterID =
      kind == .level ? .hapticIntensityControl : .hapticSharpnessControl
    guard let controlTimeline = timelinesByLayer[event.layerIndex][controlID] else {
      return writtenAmount
    }
    func effectiveValue(_ value: Double, _ control: Double) -> Double {
      min(1, max(0, kind == .level ? value * control : value + control))
    }
    let startSeconds = max(0, event.timeSeconds)
    let endSeconds =
      event.kind.isTransient ? startSeconds : max(startSeconds, event.releaseStartSeconds)
    var evaluationTimes = [startSeconds, endSeconds]
    // A segment ends with a value of its own where the next one begins.
    for segment in controlTimeline.segments
    where segment.startPosition > startSeconds && segment.startPosition < endSeconds {
      evaluationTimes += [segment.startPosition, segment.startPosition.nextDown]
    }
    let effectiveAmounts = evaluationTimes.map { time in
      let controlValue = controlTimeline.value(at: time)
      return kind.amount(
        from: effectiveValue(before, controlValue), to: effectiveValue(after, controlValue),
        of: event.kind,
        profile: profile)
    }
    // Rounding errors of equal values do not count.
    guard let maximumAmount = effectiveAmounts.max(by: { abs($0) < abs($1) }),
      abs(maximumAmount) > 1e-6
    else {
      return nil
    }
    return abs(maximumAmount - writtenAmount) < 1e-6 * abs(writtenAmount)
      ? writtenAmount : maximumAmount
  }
}
