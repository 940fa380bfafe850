internal import CMath
import HapticModel

/// Merges the layers of a composition into one pattern, in which controls act on all events.
///
/// One layer has controls of intensity and sharpness, and the other layers have none. The merge
/// keeps how every event is felt as far as the ranges of AHAP permit:
///
/// 1. The events of the controlled layer carry a base value, and its controls are relative to it.
///    Their sum, or product, is unchanged. The base leaves the most room for the other events.
/// 2. The sharpness and intensity of the other events compensate for the control at their onset.
/// 3. The remaining differences are measured on the scale of the default profile.
struct LayerMerging {
  /// The merged pattern.
  private(set) var pattern = HapticPattern()
  /// The maximum difference in frequency, in hertz.
  private(set) var maximumHertz = 0.0
  /// The maximum change of level of an event that is still felt, in decibels.
  private(set) var maximumDecibels = 0.0
  /// The number of events that the controls silence.
  private(set) var silencedCount = 0

  private let sharpness: ControlTimeline
  private let intensity: ControlTimeline
  private let controlled: HapticPattern
  /// The haptic events that the controls did not affect before.
  private let otherEvents: [HapticEvent]

  /// Differences below these values are not losses.
  private static let tolerance = (hertz: 0.1, decibels: 0.05)
  /// The gain below which an event is silent.
  private static let silentGain = 1e-3
  /// The exponent of the default profile, from intensity to amplitude.
  private static let amplitudeExponent = 2.0

  /// Merges layers, or returns nil if the controls are of another kind or in several layers.
  init?(_ composition: HapticComposition) {
    let layers = composition.layers
    let controlledIndices = layers.indices.filter { index in
      !layers[index].pattern.parameters.isEmpty || !layers[index].pattern.curves.isEmpty
    }
    guard layers.allSatisfy({ $0.signals.isEmpty }), controlledIndices.count == 1 else {
      return nil
    }
    let controlled = layers[controlledIndices[0]].pattern
    let controls = controlled.parameters.map { $0.id } + controlled.curves.map { $0.id }
    guard
      controls.allSatisfy({ $0 == .hapticIntensityControl || $0 == .hapticSharpnessControl }),
      controlled.events.allSatisfy({ $0.kind.isHaptic })
    else { return nil }
    self.controlled = controlled
    sharpness = ControlTimeline(of: .hapticSharpnessControl, in: controlled)
    intensity = ControlTimeline(of: .hapticIntensityControl, in: controlled)
    var otherLayers = layers
    otherLayers.remove(at: controlledIndices[0])
    let events = otherLayers.flatMap { $0.pattern.events }
    otherEvents = events.filter { $0.kind.isHaptic }
    merge(unaffectedEvents: events.filter { !$0.kind.isHaptic })
  }

  /// Adds the remaining differences as losses.
  func addLosses(to losses: inout LossLog) {
    if maximumHertz > Self.tolerance.hertz {
      losses.add(
        .approximated, .composition,
        "the curves of one layer move the events of others by up to # Hz", size: maximumHertz)
    }
    if maximumDecibels > Self.tolerance.decibels {
      losses.add(
        .approximated, .composition,
        "the curves of one layer change the level of the events of others by up to # dB",
        size: maximumDecibels)
    }
    if silencedCount > 0 {
      losses.add(
        .dropped, .composition, "the curves of one layer silence # events of others",
        size: Double(silencedCount))
    }
  }

  private mutating func merge(unaffectedEvents: [HapticEvent]) {
    let shift = sharpness.isSet ? sharpnessShift : 0
    let scale = intensity.isSet ? intensityScale : 1
    pattern = controlled
    for index in pattern.events.indices {
      let event = pattern.events[index]
      if shift != 0 {
        pattern.events[index].parameters[.hapticSharpness] =
          event.value(of: .hapticSharpness) + Float(shift)
      }
      if scale != 1 {
        pattern.events[index].parameters[.hapticIntensity] =
          event.value(of: .hapticIntensity) * Float(scale)
      }
    }
    for index in pattern.parameters.indices {
      let parameter = pattern.parameters[index]
      pattern.parameters[index].value = Self.relative(
        parameter.value, of: parameter.id, shift: shift, scale: scale)
    }
    for index in pattern.curves.indices {
      let id = pattern.curves[index].id
      for point in pattern.curves[index].controlPoints.indices {
        let value = pattern.curves[index].controlPoints[point].value
        pattern.curves[index].controlPoints[point].value = Self.relative(
          value, of: id, shift: shift, scale: scale)
      }
    }
    pattern.events += otherEvents.map { compensated($0, shift: shift, scale: scale) }
    pattern.events += unaffectedEvents
  }

  /// Returns the value of a control relative to the base values.
  private static func relative(
    _ value: Float, of id: DynamicParameterID, shift: Double, scale: Double
  ) -> Float {
    id == .hapticSharpnessControl ? value - Float(shift) : value / Float(scale)
  }

  /// The sharpness that moves from the control to the events of the controlled layer.
  ///
  /// The best value is the control at the first event, limited to values that let all other events
  /// compensate for the control. If no such value exists, it is the midpoint of the limits,
  /// which minimizes the maximum error.
  private var sharpnessShift: Double {
    guard let first = controlled.events.map({ $0.time }).min(), startsWithEvents(sharpness) else {
      return 0
    }
    let bases = controlled.events.map { Double($0.value(of: .hapticSharpness)) }
    let values = corners(of: sharpness)
    let lower = max(-(bases.min() ?? 0), (values.max() ?? 0) - 1)
    let upper = min(1 - (bases.max() ?? 0), (values.min() ?? 0) + 1)
    guard lower <= upper else { return 0 }
    // The compensated sharpness of an event, w − (c − shift), must be within 0…1.
    let requiredShifts = otherEvents.map { event in
      sharpness.value(at: event.time) - Double(event.value(of: .hapticSharpness))
    }
    var shift = sharpness.value(at: first)
    if let minimum = requiredShifts.max(), let maximum = requiredShifts.min().map({ $0 + 1 }) {
      shift =
        minimum <= maximum
        ? min(max(shift, minimum), maximum) : (minimum + maximum) / 2
    }
    return min(max(shift, lower), upper)
  }

  /// The factor that moves from the control to the events of the controlled layer: the maximum of
  /// the control, so that the control weakens the other events as little as possible.
  private var intensityScale: Double {
    let maximum = corners(of: intensity).max() ?? 1
    guard startsWithEvents(intensity), maximum > Self.silentGain else { return 1 }
    return min(maximum, 1)
  }

  /// Returns true if a control has no neutral value while an event plays, because it starts with
  /// the first event or before.
  private func startsWithEvents(_ control: ControlTimeline) -> Bool {
    let events = controlled.events + otherEvents
    guard let first = events.map({ $0.time }).min() else { return false }
    return control.segments[control.index(at: max(first, 0))].sourceStart != nil
  }

  /// Returns the values of a control at the ends of its segments, without its neutral value.
  private func corners(of control: ControlTimeline) -> [Double] {
    var values: [Double] = []
    for (index, segment) in control.segments.enumerated() where segment.sourceStart != nil {
      values.append(segment.value)
      if index + 1 < control.segments.count {
        values.append(segment.value(at: control.segments[index + 1].start))
      }
    }
    return values
  }

  /// Returns an event whose parameters compensate for the control at its onset, and records the
  /// difference that remains.
  private mutating func compensated(
    _ event: HapticEvent, shift: Double, scale: Double
  ) -> HapticEvent {
    var event = event
    let wanted = (
      sharpness: Double(event.value(of: .hapticSharpness)),
      intensity: Double(event.value(of: .hapticIntensity))
    )
    func clamped(_ value: Double) -> Double { min(max(value, 0), 1) }
    func control(at time: Double) -> (sharpness: Double, gain: Double) {
      (
        sharpness.isSet ? sharpness.value(at: time) - shift : 0,
        intensity.isSet ? intensity.value(at: time) / scale : 1
      )
    }
    let onset = control(at: event.time)
    let own = (
      sharpness: clamped(wanted.sharpness - onset.sharpness),
      intensity: onset.gain > Self.silentGain
        ? clamped(wanted.intensity / onset.gain) : wanted.intensity
    )
    if own.sharpness != wanted.sharpness {
      event.parameters[.hapticSharpness] = Float(own.sharpness)
    }
    if own.intensity != wanted.intensity {
      event.parameters[.hapticIntensity] = Float(own.intensity)
    }
    guard wanted.intensity > Self.silentGain else { return event }
    if own.intensity * onset.gain <= Self.silentGain {
      silencedCount += 1
      return event
    }
    let end = event.time + (event.kind.isTransient ? 0 : event.holdDuration ?? 0)
    let span = event.time...max(event.time, end)
    // Frequency and level are monotonic in the controls, so their extremes suffice.
    if sharpness.isSet {
      let range = sharpness.valueRange(in: span)
      let wantedHertz = SharpnessScale.phone.hertz(ofSharpness: wanted.sharpness)
      for value in [range.lowerBound, range.upperBound] {
        let played = clamped(own.sharpness + value - shift)
        let hertz = SharpnessScale.phone.hertz(ofSharpness: played)
        maximumHertz = max(maximumHertz, abs(hertz - wantedHertz))
      }
    }
    if intensity.isSet {
      let range = intensity.valueRange(in: span)
      for value in [range.lowerBound, range.upperBound] {
        let ratio = max(own.intensity * value / scale / wanted.intensity, Self.silentGain)
        maximumDecibels = max(maximumDecibels, abs(20 * Self.amplitudeExponent * log10(ratio)))
      }
    }
    return event
  }
}
