internal import CMath
import HapticModel
import HapticRender
import SignalAnalysis

/// Renders events of a reference at other times or frequencies.
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

  /// Returns an event at a multiple of its frequency, or nil if the event cannot have that
  /// frequency.
  ///
  /// An event of a pattern is rendered again, with its length and level. A region of a sound is
  /// modulated.
  func retunedEvent(_ index: Int, by ratio: Double) -> RetunedEvent? {
    let waveform = reference.waveforms[index]
    guard let renderer = reference.eventRenderer, !waveform.indexedEvent.kind.playsFile else {
      return frequencyShiftedEvent(waveform, by: ratio)
    }
    let id: EventParameterID = waveform.indexedEvent.isHaptic ? .hapticSharpness : .audioPitch
    let originalValue = waveform.indexedEvent.value(id)
    let changedValue =
      originalValue
      + frequencyParameterStep(
        of: waveform.indexedEvent, value: originalValue, ratio: ratio, profile: renderer.profile)
    guard (Double(id.range.lowerBound)...Double(id.range.upperBound)).contains(changedValue),
      let rendered = rerenderedWaveform(
        waveform, with: renderer, changedBy: { $0.parameters[id] = Float(changedValue) })
    else { return nil }
    let profile = renderer.profile
    return RetunedEvent(
      retunedWaveform: rendered,
      originalHertz: profile.hertz(originalValue, of: waveform.indexedEvent.kind),
      newHertz: profile.hertz(changedValue, of: waveform.indexedEvent.kind))
  }

  /// Returns the closest frequency ratio that the event's sharpness can express.
  func clampedRatio(_ ratio: Double, of index: Int) -> Double {
    let event = reference.waveforms[index].indexedEvent
    guard let profile = reference.eventRenderer?.profile, event.isHaptic else { return ratio }
    let eventSharpness = event.value(.hapticSharpness)
    let hertz = profile.hertz(eventSharpness, of: event.kind)
    let frequencyRatioLimits = [0, 1].map { profile.hertz($0, of: event.kind) / hertz }.sorted()
    return min(max(ratio, frequencyRatioLimits[0] + 1e-6), frequencyRatioLimits[1] - 1e-6)
  }

  /// Returns the change of an event's sharpness or pitch that multiplies its frequency by a ratio.
  private func frequencyParameterStep(
    of event: IndexedEvent, value: Double, ratio: Double, profile: TransducerProfile
  ) -> Double {
    guard event.isHaptic else { return log2(ratio) }
    let mapping = profile.frequencyAndLevel(of: event.kind).frequency
    switch mapping.scale {
    case .logarithmic: return log(ratio) / max(1e-9, log(mapping.highHertz / mapping.lowHertz))
    case .linear:
      return mapping.hertz(atSharpness: value) * (ratio - 1)
        / max(1e-9, mapping.highHertz - mapping.lowHertz)
    }
  }

  /// Returns an event at another time, or nil if rendering fails.
  ///
  /// Controls do not move with the event, so under controls it is rendered again.
  func shiftedWaveform(_ index: Int, by seconds: Double) -> EventWaveform? {
    var moved = reference.waveforms[index]
    moved.eventSeconds += seconds
    guard let renderer = reference.eventRenderer, !moved.indexedEvent.kind.playsFile,
      renderer.hasControls
    else { return moved }
    return rerenderedWaveform(moved, with: renderer) { $0.time = max(0, $0.time + seconds) }
  }

  /// Returns the waveform of an event whose frequency or time changed, at its original level.
  /// Returns nil for other kinds of changes.
  func waveform(of change: RecordingChange) -> EventWaveform? {
    guard let index = change.waveformIndex else { return nil }
    return switch change.kind {
    case .frequency: retunedEvent(index, by: 1 + change.signedAmount / 100)?.retunedWaveform
    case .time: shiftedWaveform(index, by: change.signedAmount)
    default: nil
    }
  }

  /// Renders an event with and without a change, and adds the difference to its waveform.
  private func rerenderedWaveform(
    _ waveform: EventWaveform, with renderer: EventRenderer,
    changedBy change: (inout HapticEvent) -> Void
  ) -> EventWaveform? {
    guard
      let changed = renderer.renderedEvent(
        at: waveform.indexedEvent.compositionIndex, changedBy: change),
      let plain = renderer.renderedEvent(at: waveform.indexedEvent.compositionIndex)
    else {
      return nil
    }
    let shiftSeconds = changed.firstSampleOffsetSeconds - waveform.firstSampleOffsetSeconds
    let shiftSamples = Int((shiftSeconds * waveform.sampleRate).rounded())
    let sampleCount = max(waveform.samples.count, changed.samples.samples.count + shiftSamples, 1)
    let leadSamples = max(0, -shiftSamples)
    var samples = [Float](repeating: 0, count: leadSamples + sampleCount)
    Vector.add(waveform.samples, times: 1, to: &samples, at: leadSamples)
    Vector.add(changed.samples.samples, times: 1, to: &samples, at: leadSamples + shiftSamples)
    Vector.add(plain.samples.samples, times: -1, to: &samples, at: leadSamples + shiftSamples)
    let leadSeconds = Double(leadSamples) / waveform.sampleRate
    return waveform.replacing(
      samples: samples,
      firstSampleOffsetSeconds: waveform.firstSampleOffsetSeconds - leadSeconds)
  }

  /// Returns a waveform with a shifted spectrum: the real part of its analytic signal times a
  /// rotating phase.
  private func frequencyShiftedEvent(_ waveform: EventWaveform, by ratio: Double) -> RetunedEvent? {
    let hertz = waveform.meanHertz
    guard hertz > 0 else { return nil }
    let paddingSampleCount = 32
    let transformLength = FourierTransform.fastLength(
      atLeast: waveform.samples.count + 2 * paddingSampleCount)
    var transform = FourierTransform(length: transformLength)
    let silence = [Float](repeating: 0, count: paddingSampleCount)
    var bins = transform.forward(silence + waveform.samples)
    let realPart = transform.backward(bins)
    for bin in bins.indices {
      bins[bin] = ComplexNumber(bins[bin].imaginary, -bins[bin].real)
    }
    let imaginaryPart = transform.backward(bins)
    let phaseIncrement = 2 * .pi * hertz * (ratio - 1) / waveform.sampleRate
    let onsetSample =
      -waveform.firstSampleOffsetSeconds * waveform.sampleRate + Double(paddingSampleCount)
    let samples = (paddingSampleCount..<paddingSampleCount + waveform.samples.count).map { index in
      let phase = phaseIncrement * (Double(index) - onsetSample)
      return realPart[index] * Float(cos(phase)) - imaginaryPart[index] * Float(sin(phase))
    }
    return RetunedEvent(
      retunedWaveform: waveform.replacing(samples: samples), originalHertz: hertz,
      newHertz: hertz * ratio)
  }
}
