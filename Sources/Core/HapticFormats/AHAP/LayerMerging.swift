internal import CMath
import HapticModel

/// Merges the layers of a composition into one pattern. The controls of the pattern affect all
/// events.
///
/// Exactly one layer may have intensity and sharpness controls. The merge preserves the sensation
/// of every event as far as the AHAP value ranges permit:
///
/// 1. The controlled layer's events carry a base value, and its controls become relative to the
///    base, so that their sum or product is unchanged. The base is chosen to give the other events
///    as much range as possible.
/// 2. The sharpness and intensity of the other events compensate for the control value at their
///    onset.
/// 3. The remaining differences are measured with the mappings of the default profile.
struct LayerMerging {
  /// The pattern that contains the events and controls of all layers.
  private(set) var mergedPattern = HapticPattern()
  /// The maximum frequency difference between the composition and the merged pattern, in hertz.
  private(set) var maximumFrequencyErrorHertz = 0.0
  /// The maximum level difference between the composition and the merged pattern, in decibels.
  private(set) var maximumLevelErrorDecibels = 0.0
  /// The number of events silenced by the controls of another layer.
  private(set) var silencedEventCount = 0

  private let sharpnessControl: ControlTimeline
  private let intensityControl: ControlTimeline
  private let controlledPattern: HapticPattern
  /// The haptic events of the layers that have no controls.
  private let uncontrolledHapticEvents: [HapticEvent]

  /// The minimum differences that are reported as losses.
  private static let minimumReportedErrors = (hertz: 0.1, decibels: 0.05)
  /// The maximum gain of a silent event.
  private static let silenceGainThreshold = 1e-3
  /// The exponent that maps intensity to amplitude in the default profile.
  private static let phoneAmplitudeExponent = 2.0

  /// Merges the layers if exactly one layer has controls.
  ///
  /// Otherwise, or if the controls affect more than intensity and sharpness, returns nil.
  init?(_ composition: HapticComposition) {
    let layers = composition.layers
    let controlledLayerIndices = layers.indices.filter { index in
      !layers[index].pattern.parameters.isEmpty || !layers[index].pattern.curves.isEmpty
    }
    guard layers.allSatisfy({ $0.signals.isEmpty }), controlledLayerIndices.count == 1 else {
      return nil
    }
    let controlledLayerPattern = layers[controlledLayerIndices[0]].pattern
    let usedControlIDs =
      controlledLayerPattern.parameters.map { $0.id } + controlledLayerPattern.curves.map { $0.id }
    guard
      usedControlIDs.allSatisfy({ $0 == .hapticIntensityControl || $0 == .hapticSharpnessControl }),
      controlledLayerPattern.events.allSatisfy({ $0.kind.isHaptic })
    else { return nil }
    self.controlledPattern = controlledLayerPattern
    sharpnessControl = ControlTimeline(of: .hapticSharpnessControl, in: controlledLayerPattern)
    intensityControl = ControlTimeline(of: .hapticIntensityControl, in: controlledLayerPattern)
    var otherLayers = layers
    otherLayers.remove(at: controlledLayerIndices[0])
    let otherLayerEvents = otherLayers.flatMap { $0.pattern.events }
    uncontrolledHapticEvents = otherLayerEvents.filter { $0.kind.isHaptic }
    merge(unaffectedEvents: otherLayerEvents.filter { !$0.kind.isHaptic })
  }

  /// Reports the remaining differences as losses.
  func addLosses(to losses: inout LossLog) {
    if maximumFrequencyErrorHertz > Self.minimumReportedErrors.hertz {
      losses.add(
        .approximated, .composition,
        "the curves of one layer move the events of others by up to # Hz",
        size: maximumFrequencyErrorHertz)
    }
    if maximumLevelErrorDecibels > Self.minimumReportedErrors.decibels {
      losses.add(
        .approximated, .composition,
        "the curves of one layer change the level of the events of others by up to # dB",
        size: maximumLevelErrorDecibels)
    }
    if silencedEventCount > 0 {
      losses.add(
        .dropped, .composition, "the curves of one layer silence # events of others",
        size: Double(silencedEventCount))
    }
  }

  private mutating func merge(unaffectedEvents: [HapticEvent]) {
    let baseSharpnessShift = sharpnessControl.isSetByPattern ? sharpnessShift : 0
    let baseIntensityScale = intensityControl.isSetByPattern ? intensityScale : 1
    mergedPattern = controlledPattern
    for index in mergedPattern.events.indices {
      let event = mergedPattern.events[index]
      if baseSharpnessShift != 0 {
        mergedPattern.events[index].parameters[.hapticSharpness] =
          event.value(of: .hapticSharpness) + Float(baseSharpnessShift)
      }
      if baseIntensityScale != 1 {
        mergedPattern.events[index].parameters[.hapticIntensity] =
          event.value(of: .hapticIntensity) * Float(baseIntensityScale)
      }
    }
    for index in mergedPattern.parameters.indices {
      let parameter = mergedPattern.parameters[index]
      mergedPattern.parameters[index].value = Self.controlValue(
        parameter.value, of: parameter.id, relativeToShift: baseSharpnessShift,
        scale: baseIntensityScale)
    }
    for index in mergedPattern.curves.indices {
      let id = mergedPattern.curves[index].id
      for point in mergedPattern.curves[index].controlPoints.indices {
        let value = mergedPattern.curves[index].controlPoints[point].value
        mergedPattern.curves[index].controlPoints[point].value = Self.controlValue(
          value, of: id, relativeToShift: baseSharpnessShift, scale: baseIntensityScale)
      }
    }
    mergedPattern.events += uncontrolledHapticEvents.map {
      compensatedEvent($0, shift: baseSharpnessShift, scale: baseIntensityScale)
    }
    mergedPattern.events += unaffectedEvents
  }

  /// Returns the value of a control relative to the base sharpness or intensity.
  private static func controlValue(
    _ value: Float, of id: DynamicParameterID, relativeToShift shift: Double, scale: Double
  ) -> Float {
    id == .hapticSharpnessControl ? value - Float(shift) : value / Float(scale)
  }

  /// The sharpness offset that is moved from the control to the events of the controlled layer.
  ///
  /// The preferred value is the control value at the first event, clamped to the values with which
  /// all other events can compensate for the control. If there are no such values, the midpoint of
  /// the limits minimizes the maximum error.
  private var sharpnessShift: Double {
    guard let firstEventTime = controlledPattern.events.map({ $0.time }).min(),
      isSetBeforeFirstEvent(sharpnessControl)
    else {
      return 0
    }
    let baseSharpnessValues = controlledPattern.events.map {
      Double($0.value(of: .hapticSharpness))
    }
    let controlCornerValues = segmentEndValues(of: sharpnessControl)
    let minimumShift = max(-(baseSharpnessValues.min() ?? 0), (controlCornerValues.max() ?? 0) - 1)
    let maximumShift = min(
      1 - (baseSharpnessValues.max() ?? 0), (controlCornerValues.min() ?? 0) + 1)
    guard minimumShift <= maximumShift else { return 0 }
    // An event's compensated sharpness, w − (c − shift), must be in 0…1.
    let minimumRequiredShifts = uncontrolledHapticEvents.map { event in
      sharpnessControl.value(at: event.time) - Double(event.value(of: .hapticSharpness))
    }
    var preferredShift = sharpnessControl.value(at: firstEventTime)
    if let minimumCompensableShift = minimumRequiredShifts.max(),
      let maximumCompensableShift = minimumRequiredShifts.min().map({ $0 + 1 })
    {
      preferredShift =
        minimumCompensableShift <= maximumCompensableShift
        ? min(max(preferredShift, minimumCompensableShift), maximumCompensableShift)
        : (minimumCompensableShift + maximumCompensableShift) / 2
    }
    return min(max(preferredShift, minimumShift), maximumShift)
  }

  /// The factor that is moved from the control to the events of the controlled layer. It is the
  /// maximum of the control, so that the control attenuates the other events as little as possible.
  private var intensityScale: Double {
    let maximumIntensity = segmentEndValues(of: intensityControl).max() ?? 1
    guard isSetBeforeFirstEvent(intensityControl), maximumIntensity > Self.silenceGainThreshold
    else {
      return 1
    }
    return min(maximumIntensity, 1)
  }

  /// Returns true if a control is set at or before the first event.
  ///
  /// Such a control has no neutral value during any event.
  private func isSetBeforeFirstEvent(_ control: ControlTimeline) -> Bool {
    let hapticEvents = controlledPattern.events + uncontrolledHapticEvents
    guard let firstEventTime = hapticEvents.map({ $0.time }).min() else { return false }
    return control.segments[control.segmentIndex(at: max(firstEventTime, 0))].sourceStartPosition
      != nil
  }

  /// Returns the control values at the ends of all segments, without the initial neutral value.
  private func segmentEndValues(of control: ControlTimeline) -> [Double] {
    var controlValues: [Double] = []
    for (index, segment) in control.segments.enumerated() where segment.sourceStartPosition != nil {
      controlValues.append(segment.startValue)
      if index + 1 < control.segments.count {
        controlValues.append(segment.value(at: control.segments[index + 1].startPosition))
      }
    }
    return controlValues
  }

  /// Returns an event with compensation for the controls at its onset.
  ///
  /// Records the remaining difference.
  private mutating func compensatedEvent(
    _ event: HapticEvent, shift: Double, scale: Double
  ) -> HapticEvent {
    var event = event
    let originalParameters = (
      sharpness: Double(event.value(of: .hapticSharpness)),
      intensity: Double(event.value(of: .hapticIntensity))
    )
    func clampedToUnit(_ value: Double) -> Double { min(max(value, 0), 1) }
    func controlValues(at time: Double) -> (sharpness: Double, gain: Double) {
      (
        sharpnessControl.isSetByPattern ? sharpnessControl.value(at: time) - shift : 0,
        intensityControl.isSetByPattern ? intensityControl.value(at: time) / scale : 1
      )
    }
    let controlAtOnset = controlValues(at: event.time)
    let compensatedParameters = (
      sharpness: clampedToUnit(originalParameters.sharpness - controlAtOnset.sharpness),
      intensity: controlAtOnset.gain > Self.silenceGainThreshold
        ? clampedToUnit(originalParameters.intensity / controlAtOnset.gain)
        : originalParameters.intensity
    )
    if compensatedParameters.sharpness != originalParameters.sharpness {
      event.parameters[.hapticSharpness] = Float(compensatedParameters.sharpness)
    }
    if compensatedParameters.intensity != originalParameters.intensity {
      event.parameters[.hapticIntensity] = Float(compensatedParameters.intensity)
    }
    guard originalParameters.intensity > Self.silenceGainThreshold else { return event }
    if compensatedParameters.intensity * controlAtOnset.gain <= Self.silenceGainThreshold {
      silencedEventCount += 1
      return event
    }
    let eventEndSeconds = event.time + (event.kind.isTransient ? 0 : event.secondsUntilRelease ?? 0)
    let eventTimeRange = event.time...max(event.time, eventEndSeconds)
    // Frequency and level are monotonic in the controls, so checking the extremes suffices.
    if sharpnessControl.isSetByPattern {
      let range = sharpnessControl.valueRange(in: eventTimeRange)
      let wantedHertz = SharpnessScale.phone.hertz(ofSharpness: originalParameters.sharpness)
      for value in [range.lowerBound, range.upperBound] {
        let played = clampedToUnit(compensatedParameters.sharpness + value - shift)
        let hertz = SharpnessScale.phone.hertz(ofSharpness: played)
        maximumFrequencyErrorHertz = max(maximumFrequencyErrorHertz, abs(hertz - wantedHertz))
      }
    }
    if intensityControl.isSetByPattern {
      let range = intensityControl.valueRange(in: eventTimeRange)
      for value in [range.lowerBound, range.upperBound] {
        let ratio = max(
          compensatedParameters.intensity * value / scale / originalParameters.intensity,
          Self.silenceGainThreshold)
        maximumLevelErrorDecibels = max(
          maximumLevelErrorDecibels, abs(20 * Self.phoneAmplitudeExponent * log10(ratio)))
      }
    }
    return event
  }
}
