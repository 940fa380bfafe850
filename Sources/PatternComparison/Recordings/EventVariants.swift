internal import CMath
import HapticModel
import HapticRender
import SignalAnalysis

/// The sounds an event would have made after a change.
struct EventVariants {
  let reference: RecordingReference

  /// A stem whose frequency is multiplied; nil where the event cannot have it.
  ///
  /// An event of a pattern is rendered again, so that its length and level follow; a part of a sound
  /// is modulated.
  func frequency(of index: Int, times ratio: Double) -> (stem: Stem, before: Double, after: Double)? {
    let stem = reference.stems[index]
    guard let renderer = reference.renderer, !stem.event.kind.playsFile else { return modulated(stem, by: ratio) }
    let id: EventParameterID = stem.event.isHaptic ? .hapticSharpness : .audioPitch
    let before = stem.event.value(id)
    let after = before + step(of: stem.event, before, ratio, renderer.profile)
    guard (Double(id.range.lowerBound)...Double(id.range.upperBound)).contains(after),
      let rendered = rendered(stem, renderer, { $0.parameters[id] = Float(after) })
    else { return nil }
    let profile = renderer.profile
    return (
      rendered, EventAttribute.hertz(before, of: stem.event.kind, profile),
      EventAttribute.hertz(after, of: stem.event.kind, profile)
    )
  }

  /// The ratio nearest to one that the event can have.
  func nearest(_ ratio: Double, of index: Int) -> Double {
    let event = reference.stems[index].event
    guard let profile = reference.renderer?.profile, event.isHaptic else { return ratio }
    let value = event.value(.hapticSharpness)
    let hertz = EventAttribute.hertz(value, of: event.kind, profile)
    let low = EventAttribute.hertz(0, of: event.kind, profile) / hertz
    let high = EventAttribute.hertz(1, of: event.kind, profile) / hertz
    return min(max(ratio, min(low, high) + 1e-6), max(low, high) - 1e-6)
  }

  /// What a value grows by when the frequency is multiplied.
  private func step(of event: ListedEvent, _ value: Double, _ ratio: Double, _ profile: TransducerProfile) -> Double {
    guard event.isHaptic else { return log2(ratio) }
    let law = profile.scale(of: event.kind).frequency
    switch law.scale {
    case .logarithmic: return log(ratio) / max(1e-9, log(law.high / law.low))
    case .linear: return law.hertz(atSharpness: value) * (ratio - 1) / max(1e-9, law.high - law.low)
    }
  }

  /// A stem that begins at another time, its controls where they were.
  func time(of index: Int, later seconds: Double) -> Stem? {
    var moved = reference.stems[index]
    moved.time += seconds
    guard let renderer = reference.renderer, !moved.event.kind.playsFile, renderer.hasControls else {
      return moved
    }
    return rendered(reference.stems[index], renderer, later: seconds) { $0.time = max(0, $0.time + seconds) }.map {
      var stem = $0
      stem.time += seconds
      return stem
    }
  }

  /// A stem with what rendering it after a change changes.
  private func rendered(
    _ stem: Stem, _ renderer: EventRenderer, later: Double = 0, _ change: (inout HapticEvent) -> Void
  ) -> Stem? {
    guard let changed = renderer.event(stem.event.index, change), let plain = renderer.event(stem.event.index) else {
      return nil
    }
    let shift = Int(((changed.origin - stem.origin) * stem.rate).rounded())
    let count = max(stem.samples.count, changed.samples.samples.count + shift, 1)
    let lead = max(0, -shift)
    var samples = [Float](repeating: 0, count: lead + count)
    Samples.add(stem.samples, times: 1, to: &samples, at: lead)
    Samples.add(changed.samples.samples, times: 1, to: &samples, at: lead + shift)
    Samples.add(plain.samples.samples, times: -1, to: &samples, at: lead + shift)
    return stem.with(samples: samples, origin: stem.origin - Double(lead) / stem.rate)
  }

  /// A stem with its spectrum moved: the real part of its analytic signal times a turning phase.
  private func modulated(_ stem: Stem, by ratio: Double) -> (stem: Stem, before: Double, after: Double)? {
    let hertz = stem.hertz
    guard hertz > 0 else { return nil }
    let padding = 32
    let length = FourierTransform.fastLength(atLeast: stem.samples.count + 2 * padding)
    var transform = FourierTransform(length: length)
    let silence = [Float](repeating: 0, count: padding)
    var bins = transform.forward(silence + stem.samples)
    let real = transform.backward(bins)
    for bin in bins.indices { bins[bin] = ComplexNumber(bins[bin].imaginary, -bins[bin].real) }
    let imaginary = transform.backward(bins)
    let step = 2 * .pi * hertz * (ratio - 1) / stem.rate
    let onset = -stem.origin * stem.rate + Double(padding)
    let samples = (padding..<padding + stem.samples.count).map { index in
      let phase = step * (Double(index) - onset)
      return real[index] * Float(cos(phase)) - imaginary[index] * Float(sin(phase))
    }
    return (stem.with(samples: samples), hertz, hertz * ratio)
  }
}

extension EventRenderer {
  /// Whether anything but the events' own values changes how they sound.
  var hasControls: Bool { composition.layers.contains { !$0.pattern.parameters.isEmpty || !$0.pattern.curves.isEmpty } }
}
