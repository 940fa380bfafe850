internal import CMath
import HapticModel
import HapticRender
import SignalAnalysis

/// Renders events of a reference at other times or frequencies.
struct EventVariants {
  /// An event at another frequency.
  struct RetunedEvent {
    var waveform: EventWaveform
    /// The original frequency, in hertz.
    var before: Double
    /// The new frequency, in hertz.
    var after: Double
  }

  let reference: RecordingReference

  /// Returns an event at a multiple of its frequency, or nil if the event cannot have that
  /// frequency.
  ///
  /// An event of a pattern is rendered again, with its length and level. A region of a sound is
  /// modulated.
  func retuned(_ index: Int, by ratio: Double) -> RetunedEvent? {
    let waveform = reference.waveforms[index]
    guard let renderer = reference.renderer, !waveform.event.kind.playsFile else {
      return frequencyShifted(waveform, by: ratio)
    }
    let id: EventParameterID = waveform.event.isHaptic ? .hapticSharpness : .audioPitch
    let before = waveform.event.value(id)
    let after =
      before
      + parameterStep(of: waveform.event, value: before, ratio: ratio, profile: renderer.profile)
    guard (Double(id.range.lowerBound)...Double(id.range.upperBound)).contains(after),
      let rendered = rerendered(
        waveform, with: renderer, changedBy: { $0.parameters[id] = Float(after) })
    else { return nil }
    let profile = renderer.profile
    return RetunedEvent(
      waveform: rendered,
      before: profile.hertz(before, of: waveform.event.kind),
      after: profile.hertz(after, of: waveform.event.kind))
  }

  /// Returns the closest frequency ratio that the event's sharpness can express.
  func clampedRatio(_ ratio: Double, of index: Int) -> Double {
    let event = reference.waveforms[index].event
    guard let profile = reference.renderer?.profile, event.isHaptic else { return ratio }
    let value = event.value(.hapticSharpness)
    let hertz = profile.hertz(value, of: event.kind)
    let limits = [0, 1].map { profile.hertz($0, of: event.kind) / hertz }.sorted()
    return min(max(ratio, limits[0] + 1e-6), limits[1] - 1e-6)
  }

  /// Returns the change of sharpness or pitch that multiplies the frequency by a ratio.
  private func parameterStep(
    of event: IndexedEvent, value: Double, ratio: Double, profile: TransducerProfile
  ) -> Double {
    guard event.isHaptic else { return log2(ratio) }
    let mapping = profile.frequencyAndLevel(of: event.kind).frequency
    switch mapping.scale {
    case .logarithmic: return log(ratio) / max(1e-9, log(mapping.high / mapping.low))
    case .linear:
      return mapping.hertz(atSharpness: value) * (ratio - 1) / max(1e-9, mapping.high - mapping.low)
    }
  }

  /// Returns an event at another time, or nil if rendering fails.
  ///
  /// Controls do not move with the event, so under controls it is rendered again.
  func shifted(_ index: Int, by seconds: Double) -> EventWaveform? {
    var moved = reference.waveforms[index]
    moved.time += seconds
    guard let renderer = reference.renderer, !moved.event.kind.playsFile, renderer.hasControls
    else { return moved }
    return rerendered(moved, with: renderer) { $0.time = max(0, $0.time + seconds) }
  }

  /// Returns the waveform of a change of frequency or time, without a change of level, or nil for
  /// other changes.
  func waveform(of change: RecordingChange) -> EventWaveform? {
    guard let index = change.waveformIndex else { return nil }
    return switch change.kind {
    case .frequency: retuned(index, by: 1 + change.amount / 100)?.waveform
    case .time: shifted(index, by: change.amount)
    default: nil
    }
  }

  /// Returns a waveform plus the difference that a change makes to the event's rendering.
  private func rerendered(
    _ waveform: EventWaveform, with renderer: EventRenderer,
    changedBy change: (inout HapticEvent) -> Void
  ) -> EventWaveform? {
    guard let changed = renderer.renderedEvent(at: waveform.event.index, changedBy: change),
      let plain = renderer.renderedEvent(at: waveform.event.index)
    else {
      return nil
    }
    let shift = Int(((changed.sampleOffset - waveform.sampleOffset) * waveform.rate).rounded())
    let count = max(waveform.samples.count, changed.samples.samples.count + shift, 1)
    let lead = max(0, -shift)
    var samples = [Float](repeating: 0, count: lead + count)
    Vector.add(waveform.samples, times: 1, to: &samples, at: lead)
    Vector.add(changed.samples.samples, times: 1, to: &samples, at: lead + shift)
    Vector.add(plain.samples.samples, times: -1, to: &samples, at: lead + shift)
    return waveform.replacing(
      samples: samples, sampleOffset: waveform.sampleOffset - Double(lead) / waveform.rate)
  }

  /// Returns a waveform with a shifted spectrum: the real part of its analytic signal times a
  /// rotating phase.
  private func frequencyShifted(_ waveform: EventWaveform, by ratio: Double) -> RetunedEvent? {
    let hertz = waveform.meanFrequency
    guard hertz > 0 else { return nil }
    let padding = 32
    let length = FourierTransform.fastLength(atLeast: waveform.samples.count + 2 * padding)
    var transform = FourierTransform(length: length)
    let silence = [Float](repeating: 0, count: padding)
    var bins = transform.forward(silence + waveform.samples)
    let real = transform.backward(bins)
    for bin in bins.indices {
      bins[bin] = ComplexNumber(bins[bin].imaginary, -bins[bin].real)
    }
    let imaginary = transform.backward(bins)
    let phaseIncrement = 2 * .pi * hertz * (ratio - 1) / waveform.rate
    let onset = -waveform.sampleOffset * waveform.rate + Double(padding)
    let samples = (padding..<padding + waveform.samples.count).map { index in
      let phase = phaseIncrement * (Double(index) - onset)
      return real[index] * Float(cos(phase)) - imaginary[index] * Float(sin(phase))
    }
    return RetunedEvent(
      waveform: waveform.replacing(samples: samples), before: hertz, after: hertz * ratio)
  }
}
