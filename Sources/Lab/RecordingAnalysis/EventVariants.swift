internal import CMath
import HapticModel
import HapticRender
import SignalAnalysis

/// Variants of a reference's single events, rendered again at other times or frequencies.
struct EventVariants {
  /// The waveform of an event at another frequency.
  struct RetunedEvent {
    var retunedWaveform: EventWaveform
    /// The frequency of the unchanged event, in hertz.
    var originalHertz: Double
    /// The frequency of the retuned event, in hertz.
    var newHertz: Double
  }

  let reference: RecordingReference

  /// Returns an event with its frequency multiplied by a ratio.
  ///
  /// Returns nil if the event cannot have that frequency.
  ///
  /// An event of a pattern is rendered again, with its length and level. A region of a sound is
  /// modulated.
  func retunedEvent(_ index: Int, by ratio: Double) -> RetunedEvent? {
    let waveform = reference.waveforms[index]
    guard let renderer = reference.eventRenderer, !waveform.indexedEvent.kind.playsFile else {
      return frequencyShiftedEvent(waveform, by: ratio)
    }
    let frequencyParameterID: EventParameterID =
      waveform.indexedEvent.isHaptic ? .hapticSharpness : .audioPitch
    let originalValue = waveform.indexedEvent.value(frequencyParameterID)
    let changedValue =
      originalValue
      + frequencyParameterStep(
        of: waveform.indexedEvent, value: originalValue, ratio: ratio, profile: renderer.profile)
    let validRange = frequencyParameterID.range
    guard
      (Double(validRange.lowerBound)...Double(validRange.upperBound)).contains(changedValue),
      let retunedWaveform = rerenderedWaveform(
        waveform, with: renderer,
        changedBy: { $0.parameters[frequencyParameterID] = Float(changedValue) })
    else { return nil }
    let profile = renderer.profile
    return RetunedEvent(
      retunedWaveform: retunedWaveform,
      originalHertz: profile.hertz(originalValue, of: waveform.indexedEvent.kind),
      newHertz: profile.hertz(changedValue, of: waveform.indexedEvent.kind))
  }

  /// Returns the frequency ratio of an event, clamped to the range of the event's sharpness.
  func clampedRatio(_ ratio: Double, of index: Int) -> Double {
    let event = reference.waveforms[index].indexedEvent
    guard let profile = reference.eventRenderer?.profile, event.isHaptic else { return ratio }
    let eventSharpness = event.value(.hapticSharpness)
    let eventHertz = profile.hertz(eventSharpness, of: event.kind)
    let frequencyRatioLimits = [0, 1].map { profile.hertz($0, of: event.kind) / eventHertz }
      .sorted()
    return min(max(ratio, frequencyRatioLimits[0] + 1e-6), frequencyRatioLimits[1] - 1e-6)
  }

  /// Returns the change of sharpness or pitch that multiplies an event's frequency by a ratio.
  private func frequencyParameterStep(
    of event: IndexedEvent, value: Double, ratio: Double, profile: TransducerProfile
  ) -> Double {
    guard event.isHaptic else { return log2(ratio) }
    let frequencyMapping = profile.frequencyAndLevel(of: event.kind).frequency
    switch frequencyMapping.scale {
    case .logarithmic:
      return log(ratio) / max(1e-9, log(frequencyMapping.highHertz / frequencyMapping.lowHertz))
    case .linear:
      return frequencyMapping.hertz(atSharpness: value) * (ratio - 1)
        / max(1e-9, frequencyMapping.highHertz - frequencyMapping.lowHertz)
    }
  }

  /// Returns an event at another time, or nil if rendering fails.
  ///
  /// Controls do not move with the event, so under controls it is rendered again.
  func shiftedWaveform(_ index: Int, by seconds: Double) -> EventWaveform? {
    var movedWaveform = reference.waveforms[index]
    movedWaveform.eventSeconds += seconds
    guard let renderer = reference.eventRenderer, !movedWaveform.indexedEvent.kind.playsFile,
      renderer.hasControls
    else { return movedWaveform }
    return rerenderedWaveform(movedWaveform, with: renderer) { $0.time = max(0, $0.time + seconds) }
  }

  /// Returns the waveform of an event with a changed frequency or time, at its original level.
  ///
  /// Returns nil for other kinds of changes.
  func waveform(of change: RecordingChange) -> EventWaveform? {
    guard let waveformIndex = change.waveformIndex else { return nil }
    return switch change.kind {
    case .frequency: retunedEvent(waveformIndex, by: 1 + change.signedAmount / 100)?.retunedWaveform
    case .time: shiftedWaveform(waveformIndex, by: change.signedAmount)
    default: nil
    }
  }

  /// Renders an event with and without a change, and adds the difference to its waveform.
  private func rerenderedWaveform(
    _ waveform: EventWaveform, with renderer: EventRenderer,
    changedBy change: (inout HapticEvent) -> Void
  ) -> EventWaveform? {
    guard
      let changedRendering = renderer.renderedEvent(
        at: waveform.indexedEvent.compositionIndex, changedBy: change),
      let unchangedRendering = renderer.renderedEvent(at: waveform.indexedEvent.compositionIndex)
    else {
      return nil
    }
    let renderingShiftSeconds =
      changedRendering.firstSampleOffsetSeconds - waveform.firstSampleOffsetSeconds
    let renderingShiftSamples = Int((renderingShiftSeconds * waveform.sampleRate).rounded())
    let sampleCount = max(
      waveform.samples.count, changedRendering.samples.samples.count + renderingShiftSamples, 1)
    let leadSamples = max(0, -renderingShiftSamples)
    var combinedSamples = [Float](repeating: 0, count: leadSamples + sampleCount)
    Vector.add(waveform.samples, times: 1, to: &combinedSamples, at: leadSamples)
    Vector.add(
      changedRendering.samples.samples, times: 1, to: &combinedSamples,
      at: leadSamples + renderingShiftSamples)
    Vector.add(
      unchangedRendering.samples.samples, times: -1, to: &combinedSamples,
      at: leadSamples + renderingShiftSamples)
    let leadSeconds = Double(leadSamples) / waveform.sampleRate
    return waveform.replacing(
      samples: combinedSamples,
      firstSampleOffsetSeconds: waveform.firstSampleOffsetSeconds - leadSeconds)
  }

  /// Returns an event's waveform with its spectrum shifted.
  ///
  /// The result is the real part of the waveform's analytic signal times a rotating phase.
  private func frequencyShiftedEvent(_ waveform: EventWaveform, by ratio: Double) -> RetunedEvent? {
    let originalHertz = waveform.meanHertz
    guard originalHertz > 0 else { return nil }
    let paddingSampleCount = 32
    let transformLength = FourierTransform.fastLength(
      atLeast: waveform.samples.count + 2 * paddingSampleCount)
    var transform = FourierTransform(length: transformLength)
    let silence = [Float](repeating: 0, count: paddingSampleCount)
    var spectrumBins = transform.forward(silence + waveform.samples)
    let realPart = transform.backward(spectrumBins)
    for bin in spectrumBins.indices {
      spectrumBins[bin] = ComplexNumber(spectrumBins[bin].imaginary, -spectrumBins[bin].real)
    }
    let imaginaryPart = transform.backward(spectrumBins)
    let phaseIncrement = 2 * .pi * originalHertz * (ratio - 1) / waveform.sampleRate
    let onsetSample =
      -waveform.firstSampleOffsetSeconds * waveform.sampleRate + Double(paddingSampleCount)
    let shiftedSamples = (paddingSampleCount..<paddingSampleCount + waveform.samples.count).map {
      index in
      let phase = phaseIncrement * (Double(index) - onsetSample)
      return realPart[index] * Float(cos(phase)) - imaginaryPart[index] * Float(sin(phase))
    }
    return RetunedEvent(
      retunedWaveform: waveform.replacing(samples: shiftedSamples), originalHertz: originalHertz,
      newHertz: originalHertz * ratio)
  }
}
