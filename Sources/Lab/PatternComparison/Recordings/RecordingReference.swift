internal import CMath
import HapticModel
import HapticRender
import SignalAnalysis

struct RecordingReference {
  /// Frames per second, about 4,000.
  let rate: Double
  var waveforms: [EventWaveform]
  /// Numbers of stems that cannot be distinguished, by time.
  private(set) var indistinguishableWaveforms: [[Int]] = []
  private(set) var mixedSignal: [Float] = []
  private(set) var peak = 0.0
  /// Renders single events again; nil for a sound.
  let renderer: EventRenderer?

  /// Stems that overlap and correlate above this are one.
  private static let minimumSimilarity = 0.97
  /// Samples of a stem at both ends below this share of its peak are left out.
  private static let audibleRatio: Float = 1e-3

  var duration: Double { waveforms.map(\.end).max() ?? 0 }
  /// Whether the clocks of usual devices differ by less than half a millisecond over it.
  var isShort: Bool { duration < 0.6 }

  init(waveforms stems: [EventWaveform], rate: Double, renderer: EventRenderer?) {
    self.rate = rate
    self.renderer = renderer
    self.waveforms = stems.filter { $0.energy > 0 }.sorted { $0.time < $1.time }
    if let end = self.waveforms.map(\.end).max() {
      mixedSignal = [Float](repeating: 0, count: max(0, Int(end * rate)) + 64)
      for stem in self.waveforms {
        stem.column(onset: stem.time, timeScale: 1, count: mixedSignal.count).add(
          to: &mixedSignal, times: 1)
      }
    }
    peak = Double(SignalPair.peak(mixedSignal))
    var columns: [DesignColumn] = []
    for (index, stem) in self.waveforms.enumerated() {
      let column = stem.column(onset: stem.time, timeScale: 1, count: mixedSignal.count)
      let energy = Samples.energy(column.samples)
      let like = indistinguishableWaveforms.indices.suffix(12).first {
        column.dot(columns[$0]) > Self.minimumSimilarity
          * (energy * Samples.energy(columns[$0].samples)).squareRoot()
      }
      if let like {
        indistinguishableWaveforms[like].append(index)
      } else {
        indistinguishableWaveforms.append([index])
        columns.append(column)
      }
    }
  }

  static func trimmed(
    _ event: IndexedEvent, _ samples: ArraySlice<Float>, rate: Double, minimumThreshold least: Float
  ) -> EventWaveform? {
    let threshold = max(SignalPair.peak(samples) * audibleRatio, least)
    guard let first = samples.firstIndex(where: { abs($0) > threshold }),
      let last = samples.lastIndex(where: { abs($0) > threshold })
    else { return nil }
    let margin = Int(0.004 * rate)
    let range = max(samples.startIndex, first - margin)..<min(samples.endIndex, last + 1 + margin)
    return EventWaveform(
      event, time: event.time, sampleOffset: Double(range.lowerBound) / rate - event.time,
      samples: Array(samples[range]),
      rate: rate)
  }
}

extension RecordingReference {
  /// Cuts a sound into what stands between its silences, and there at its onsets.
  ///
  /// - Parameter noise: The mean square of its own noise.
  init(_ signal: LowRateSignal, noise: Double) {
    let silence = max(
      SignalPair.silenceThreshold(of: signal.samples), Float(4.5 * noise.squareRoot()))
    let regions = ActiveRegion.find(in: signal.samples, rate: signal.rate, threshold: silence)
    let onsets = Onsets(in: Signal(signal.samples, rate: signal.rate)).map {
      Int($0.time * signal.rate)
    }
    var parts: [ActiveRegion] = []
    for region in regions {
      var start = region.frames.lowerBound
      for onset in onsets
      where onset > start + Int(0.03 * signal.rate)
        && onset < region.frames.upperBound - Int(0.01 * signal.rate)
      {
        parts.append(ActiveRegion(frames: start..<onset, rate: signal.rate))
        start = onset
      }
      parts.append(ActiveRegion(frames: start..<region.frames.upperBound, rate: signal.rate))
    }
    ActiveRegion.assignOrdinals(to: &parts)
    let margin = Int(0.008 * signal.rate)
    var stems: [EventWaveform] = []
    for (index, part) in parts.prefix(2_000).enumerated() {
      // Neighbours that touch meet where one begins; others keep what fades around them.
      let before = index > 0 ? parts[index - 1].frames.upperBound : 0
      let behind =
        index + 1 < parts.count ? parts[index + 1].frames.lowerBound : signal.samples.count
      let range =
        max(before, part.frames.lowerBound - margin)..<min(behind, part.frames.upperBound + margin)
      stems.append(
        EventWaveform(
          part.event(), time: part.start,
          sampleOffset: Double(range.lowerBound - part.frames.lowerBound) / signal.rate,
          samples: Array(signal.samples[range]), rate: signal.rate))
    }
    self.init(waveforms: stems, rate: signal.rate, renderer: nil)
  }

  /// Renders the events of a pattern by themselves; nil where they do not add up to its sound.
  ///
  /// Events that do not overlap are rendered at once. What no event that was rendered accounts for,
  /// a sound file's sound above all, is cut like a sound.
  ///
  /// - Parameter target: Frames per second that the reference's rate is near.
  init?(_ take: Take, target: Double = 4_000) {
    guard let composition = take.composition else { return nil }
    let renderer = EventRenderer(
      composition: composition, profile: take.profile, rate: take.signal.rate, targetRate: target)
    let signal = LowRateSignal(of: take.signal.mono, rate: take.signal.rate, targetRate: target)
    let events = IndexedEvent.events(of: composition).filter { !$0.kind.playsFile }
    guard events.count <= 2_000,
      let parts = renderer.renderings(of: events, count: take.signal.frameCount)
    else {
      return nil
    }
    var rest = signal.samples
    for part in parts {
      Samples.add(part.samples, times: -1, to: &rest, at: 0)
    }
    let least = SignalPair.peak(signal.samples) * 1e-4
    var stems: [EventWaveform] = []
    for part in parts {
      for (event, range) in part.events {
        let slice = part.samples[range.clamped(to: part.samples.indices)]
        if let stem = Self.trimmed(event, slice, rate: signal.rate, minimumThreshold: least) {
          stems.append(stem)
        }
      }
    }
    let hasSounds = composition.layers.contains {
      !$0.signals.isEmpty || $0.pattern.events.contains { $0.kind.playsFile }
    }
    let share = Samples.energy(rest) / max(Samples.energy(signal.samples), 1e-30)
    if share > 0.1, !hasSounds { return nil }
    if share > 1e-8 {
      Self.distributeResidual(rest, over: &stems, rate: signal.rate, hasSounds: hasSounds)
    }
    self.init(waveforms: stems, rate: signal.rate, renderer: renderer)
  }

  /// Adds what the events rendered by themselves do not account for to the loudest of them there.
  private static func distributeResidual(
    _ rest: [Float], over stems: inout [EventWaveform], rate: Double, hasSounds: Bool
  ) {
    var samples = stems.map(\.samples)
    let starts = stems.map { Int(($0.start * rate).rounded()) }
    let block = Int(0.01 * rate)
    var left = rest
    for first in stride(from: 0, to: rest.count, by: block) {
      let range = first..<min(rest.count, first + block)
      guard Samples.energy(rest, range) > 0 else { continue }
      var best = (energy: 0.0, stem: -1)
      for index in samples.indices
      where starts[index] <= range.lowerBound
        && starts[index] + samples[index].count >= range.upperBound
      {
        let energy = Samples.energy(
          samples[index], range.lowerBound - starts[index]..<range.upperBound - starts[index])
        if energy > best.energy {
          best = (energy, index)
        }
      }
      guard best.stem >= 0, Samples.energy(rest, range) < best.energy || !hasSounds else {
        continue
      }
      for index in range {
        samples[best.stem][index - starts[best.stem]] += rest[index]
        left[index] = 0
      }
    }
    for index in stems.indices {
      stems[index] = stems[index].replacing(samples: samples[index])
    }
    guard hasSounds else { return }
    let islands = RecordingReference(
      LowRateSignal(of: left, rate: rate, targetRate: rate), noise: 0)
    for var stem in islands.waveforms {
      let number = stem.event.ordinal
      stem.event = IndexedEvent(HapticEvent(kind: .audioCustom, time: stem.time), index: 0)
      stem.event.ordinal = number
      stems.append(stem)
    }
  }
}

struct EventWaveform {
  var event: IndexedEvent
  /// Seconds of the reference at which it begins.
  var time: Double
  /// Seconds from there to the first sample.
  private(set) var sampleOffset: Double
  private(set) var samples: [Float]
  /// Frames per second.
  let rate: Double
  private(set) var energy: Double
  private var splineCoefficients: [Float]

  private static let paddingCount = 8

  init(
    _ event: IndexedEvent, time: Double, sampleOffset origin: Double, samples: [Float], rate: Double
  ) {
    self.event = event
    self.time = time
    self.sampleOffset = origin
    self.samples = samples
    self.rate = rate
    energy = Samples.energy(samples)
    let silence = [Float](repeating: 0, count: Self.paddingCount)
    splineCoefficients = Self.splineCoefficients(of: silence + samples + silence)
  }

  /// Seconds of the reference at which the samples begin and end.
  var start: Double { time + sampleOffset }
  var end: Double { start + Double(samples.count) / rate }

  func replacing(samples: [Float], sampleOffset origin: Double? = nil) -> EventWaveform {
    EventWaveform(
      event, time: time, sampleOffset: origin ?? self.sampleOffset, samples: samples, rate: rate)
  }

  func scaled(by factor: Double) -> EventWaveform {
    replacing(samples: samples.map { $0 * Float(factor) })
  }

  /// The mean frequency, in hertz, weighted by power, from how often the samples turn.
  var meanFrequency: Double {
    // For a narrow band, the energy of the difference over that of the sum is tan²(πf / rate).
    var differences = 0.0
    var sums = 0.0
    for (a, b) in zip(samples, samples.dropFirst()) {
      differences += Double((b - a) * (b - a))
      sums += Double((b + a) * (b + a))
    }
    return sums > 0 ? atan((differences / sums).squareRoot()) * rate / .pi : 0
  }

  private static func splineCoefficients(of samples: [Float]) -> [Float] {
    let pole = Float(3.0.squareRoot() - 2)
    var c = samples
    guard c.count > 1 else { return c }
    for index in 1..<c.count {
      c[index] += pole * c[index - 1]
    }
    c[c.count - 1] = pole / (pole * pole - 1) * (c[c.count - 1] + pole * c[c.count - 2])
    for index in (0..<c.count - 1).reversed() {
      c[index] = pole * (c[index + 1] - c[index])
    }
    return c.map { $0 * 6 }
  }

  /// The stem as it lies in a take: its event begins at `onset` seconds, and each of its seconds
  /// takes `speed`.
  func column(onset: Double, timeScale speed: Double, count: Int) -> DesignColumn {
    let first = Int(((onset + sampleOffset * speed) * rate).rounded(.down))
    let last = first + Int(Double(samples.count) * speed) + 2
    let range = max(0, first)..<max(0, first, min(count, last))
    guard !range.isEmpty, !samples.isEmpty else { return DesignColumn(start: 0, samples: []) }
    let step = 1 / speed
    let from =
      (Double(range.lowerBound) / rate - onset) * step * rate - sampleOffset * rate
      + Double(Self.paddingCount)
    var output = [Float](repeating: 0, count: range.count)
    unsafe splineCoefficients.withUnsafeBufferPointer { c in
      unsafe output.withUnsafeMutableBufferPointer { output in
        for index in 0..<output.count {
          let place = from + Double(index) * step
          let lower = Int(place.rounded(.down))
          guard lower >= 1, lower &+ 2 < c.count else { continue }
          let f = Float(place - Double(lower))
          let g = 1 - f
          let a = g * g * g
          let b = f * f * f
          let p = 4 - 6 * f * f + 3 * b
          let q = 4 - 6 * g * g + 3 * a
          unsafe output[index] =
            (a * c[lower &- 1] + p * c[lower] + q * c[lower &+ 1] + b * c[lower &+ 2]) / 6
        }
      }
    }
    return DesignColumn(start: range.lowerBound, samples: output)
  }
}

struct DesignColumn {
  var start: Int
  var samples: [Float]

  var range: Range<Int> { start..<start + samples.count }

  /// The column through a filter, cut where the take ends and silent where the filter starts.
  func whitened(by taps: [Float], count: Int) -> DesignColumn {
    guard !samples.isEmpty else { return self }
    let tail = min(taps.count - 1, max(0, count - start - samples.count))
    var output = Samples.filtered(samples, by: taps, tail: tail)
    if start < taps.count, taps.count > 1 {
      for index in 0..<min(taps.count - start, output.count) {
        output[index] = 0
      }
    }
    return DesignColumn(start: start, samples: output)
  }

  func add(to take: inout [Float], from first: Int = 0, times factor: Double) {
    Samples.add(samples, times: factor, to: &take, at: start - first)
  }

  mutating func silence(_ ranges: [Range<Int>]) {
    for range in ranges {
      let part = range.clamped(to: self.range)
      guard !part.isEmpty else { continue }
      Samples.silence(&samples, in: part.lowerBound - start..<part.upperBound - start)
    }
  }

  func energy(in range: Range<Int>) -> Double {
    let part = range.clamped(to: self.range)
    return part.isEmpty
      ? 0 : Samples.energy(samples, part.lowerBound - start..<part.upperBound - start)
  }

  func dot(_ other: DesignColumn) -> Double {
    let first = max(start, other.start)
    let last = min(start + samples.count, other.start + other.samples.count)
    return Samples.dot(
      samples, from: first - start, other.samples, from: first - other.start, count: last - first)
  }

  func dot(_ take: [Float]) -> Double {
    Samples.dot(samples, from: 0, take, from: start, count: min(samples.count, take.count - start))
  }
}

struct EventRenderer {
  let composition: HapticComposition
  let profile: TransducerProfile
  /// Frames per second that are rendered, before the rate is lowered.
  let rate: Double
  /// Frames per second that the lower rate is near.
  let targetRate: Double
  private let cache = Cache()

  private final class Cache {
    var events: [Int: [(event: HapticEvent, samples: LowRateSignal)]] = [:]
    var transientBank: [EventWaveform]?
  }

  /// The most renderings that overlapping events are spread over.
  private static let maximumRenderingCount = 16
  /// Seconds that an event sounds on behind its end at most.
  private static let maximumTail = 0.1

  var hasControls: Bool {
    composition.layers.contains { !$0.pattern.parameters.isEmpty || !$0.pattern.curves.isEmpty }
  }

  /// Renders events, by time, in as few parts as their overlaps need; nil where one cannot be
  /// rendered.
  func renderings(of events: [IndexedEvent], count: Int) -> [(
    samples: [Float], events: [(event: IndexedEvent, range: Range<Int>)]
  )]? {
    var lists: [[IndexedEvent]] = []
    var ends: [Double] = []
    for event in events {
      let end = event.end + event.tailDuration + Self.maximumTail
      if let free = ends.firstIndex(where: { $0 < event.time }) {
        lists[free].append(event)
        ends[free] = end
      } else if lists.count < Self.maximumRenderingCount {
        lists.append([event])
        ends.append(end)
      } else {
        lists[lists.count - 1].append(event)
        ends[ends.count - 1] = max(ends[ends.count - 1], end)
      }
    }
    var parts: [(samples: [Float], events: [(event: IndexedEvent, range: Range<Int>)])] = []
    for list in lists {
      guard let low = render(keeping: Set(list.map(\.index)), frames: count) else { return nil }
      // A tenth of the gap is the later event's: filters reach a few samples back.
      let starts = list.map { max(0, Int((($0.time - 0.006) * low.rate).rounded())) }
      let ends = starts.dropFirst() + [low.samples.count]
      let events = zip(list, zip(starts, ends)).map { ($0, min($1.0, $1.1)..<$1.1) }
      parts.append((low.samples, events))
    }
    return parts
  }

  private func render(keeping chosen: Set<Int>, frames: Int) -> LowRateSignal? {
    var kept = composition
    var number = 0
    for layer in kept.layers.indices {
      kept.layers[layer].signals = []
      kept.layers[layer].pattern.events = kept.layers[layer].pattern.events.filter { _ in
        number += 1
        return chosen.contains(number - 1)
      }
    }
    return lowRateSignal(of: kept, frames: frames)
  }

  private func lowRateSignal(of composition: HapticComposition, frames: Int) -> LowRateSignal? {
    samples(of: composition, frames: frames).map {
      LowRateSignal(of: $0, rate: rate, targetRate: targetRate)
    }
  }

  private func samples(of composition: HapticComposition, frames: Int? = nil) -> [Float]? {
    guard let plan = try? RenderPlan(compiling: composition, profile: profile, rate: rate) else {
      return nil
    }
    let length = frames.map(Int64.init) ?? plan.length + Int64(OfflineRenderer.defaultTail * rate)
    let settings = RenderSettings(
      routing: OutputRouting(channelCount: 1).fitted(to: [profile]), length: length)
    var rendering = OfflineRenderer(plan: plan, settings: settings)
    return rendering.samples()
  }

  /// An event by itself at the low rate, changed or as it is, and seconds from it to the first
  /// sample.
  func renderedEvent(at index: Int, changedBy change: (inout HapticEvent) -> Void = { _ in }) -> (
    samples: LowRateSignal, origin: Double
  )? {
    var first = 0
    for layer in composition.layers {
      defer { first += layer.pattern.events.count }
      guard layer.pattern.events.indices.contains(index - first) else { continue }
      var pattern = layer.pattern
      var event = pattern.events[index - first]
      change(&event)
      let lead = 0.02
      let same = cache.events[index, default: []].first { $0.event == event }
      if let same { return (same.samples, -lead) }
      let original = event
      // All is moved so that the event begins soon; controls may start before a pattern does.
      let later = lead - event.time
      event.time = lead
      pattern.events = [event]
      for index in pattern.parameters.indices {
        pattern.parameters[index].time += later
      }
      for index in pattern.curves.indices {
        pattern.curves[index].time += later
      }
      let listed = IndexedEvent(event, index: 0)
      let seconds = listed.end + listed.tailDuration + Self.maximumTail + lead
      guard seconds < 120,
        let samples = lowRateSignal(of: HapticComposition(pattern), frames: Int(seconds * rate))
      else {
        return nil
      }
      cache.events[index, default: []].append((original, samples))
      return (samples, -lead)
    }
    return nil
  }

  func stretched(by factor: Double) -> EventRenderer {
    var stretched = composition
    for layer in stretched.layers.indices {
      var pattern = stretched.layers[layer].pattern
      for index in pattern.events.indices {
        pattern.events[index].time *= factor
        if let duration = pattern.events[index].duration {
          pattern.events[index].duration = duration * factor
        }
      }
      for index in pattern.parameters.indices {
        pattern.parameters[index].time *= factor
      }
      for index in pattern.curves.indices {
        pattern.curves[index].time *= factor
        for point in pattern.curves[index].controlPoints.indices {
          pattern.curves[index].controlPoints[point].time *= factor
        }
      }
      stretched.layers[layer].pattern = pattern
    }
    return EventRenderer(
      composition: stretched, profile: profile, rate: rate, targetRate: targetRate)
  }

  func renderedTake() -> Take? {
    samples(of: composition).map {
      Take(
        name: "", source: .pattern(composition), signal: Signal($0, rate: rate), profile: profile)
    }
  }

  /// Transients of nine sharpnesses, as the profile renders them: what may have been added.
  func transientBank() -> [EventWaveform] {
    if let bank = cache.transientBank { return bank }
    let bank = (0...8).compactMap { step -> EventWaveform? in
      let event = HapticEvent(
        kind: .hapticTransient, time: 0.02,
        parameters: [.hapticIntensity: 1, .hapticSharpness: Float(step) / 8])
      return lowRateSignal(
        of: HapticComposition(HapticPattern(events: [event])), frames: Int(0.08 * rate)
      )
      .flatMap {
        RecordingReference.trimmed(
          IndexedEvent(event, index: 0), $0.samples[...], rate: $0.rate, minimumThreshold: 0)
      }
    }
    cache.transientBank = bank
    return bank
  }
}

struct EventVariants {
  let reference: RecordingReference

  /// A stem whose frequency is multiplied; nil where the event cannot have it.
  ///
  /// An event of a pattern is rendered again, so that its length and level follow; a part of a
  /// sound is modulated.
  func retuned(_ index: Int, by ratio: Double) -> (
    stem: EventWaveform, before: Double, after: Double
  )? {
    let stem = reference.waveforms[index]
    guard let renderer = reference.renderer, !stem.event.kind.playsFile else {
      return frequencyShifted(stem, by: ratio)
    }
    let id: EventParameterID = stem.event.isHaptic ? .hapticSharpness : .audioPitch
    let before = stem.event.value(id)
    let after =
      before + parameterStep(of: stem.event, value: before, ratio: ratio, profile: renderer.profile)
    guard (Double(id.range.lowerBound)...Double(id.range.upperBound)).contains(after),
      let rendered = rerendered(
        stem, with: renderer, changedBy: { $0.parameters[id] = Float(after) })
    else { return nil }
    let profile = renderer.profile
    return (
      rendered, Difference.Kind.hertz(before, of: stem.event.kind, profile: profile),
      Difference.Kind.hertz(after, of: stem.event.kind, profile: profile)
    )
  }

  func clampedRatio(_ ratio: Double, of index: Int) -> Double {
    let event = reference.waveforms[index].event
    guard let profile = reference.renderer?.profile, event.isHaptic else { return ratio }
    let value = event.value(.hapticSharpness)
    let hertz = Difference.Kind.hertz(value, of: event.kind, profile: profile)
    let ends = [0, 1].map { Difference.Kind.hertz($0, of: event.kind, profile: profile) / hertz }
      .sorted()
    return min(max(ratio, ends[0] + 1e-6), ends[1] - 1e-6)
  }

  private func parameterStep(
    of event: IndexedEvent, value: Double, ratio: Double, profile: TransducerProfile
  ) -> Double {
    guard event.isHaptic else { return log2(ratio) }
    let law = profile.frequencyAndLevel(of: event.kind).frequency
    switch law.scale {
    case .logarithmic: return log(ratio) / max(1e-9, log(law.high / law.low))
    case .linear: return law.hertz(atSharpness: value) * (ratio - 1) / max(1e-9, law.high - law.low)
    }
  }

  func shifted(_ index: Int, by seconds: Double) -> EventWaveform? {
    var moved = reference.waveforms[index]
    moved.time += seconds
    guard let renderer = reference.renderer, !moved.event.kind.playsFile, renderer.hasControls
    else { return moved }
    return rerendered(moved, with: renderer) { $0.time = max(0, $0.time + seconds) }
  }

  /// The sound of a change of frequency or time at the level of the whole; nil for other changes.
  func waveform(of change: RecordingChange) -> EventWaveform? {
    guard let index = change.waveformIndex else { return nil }
    return switch change.kind {
    case .frequency: retuned(index, by: 1 + change.amount / 100)?.stem
    case .time: shifted(index, by: change.amount)
    default: nil
    }
  }

  private func rerendered(
    _ stem: EventWaveform, with renderer: EventRenderer,
    changedBy change: (inout HapticEvent) -> Void
  ) -> EventWaveform? {
    guard let changed = renderer.renderedEvent(at: stem.event.index, changedBy: change),
      let plain = renderer.renderedEvent(at: stem.event.index)
    else {
      return nil
    }
    let shift = Int(((changed.origin - stem.sampleOffset) * stem.rate).rounded())
    let count = max(stem.samples.count, changed.samples.samples.count + shift, 1)
    let lead = max(0, -shift)
    var samples = [Float](repeating: 0, count: lead + count)
    Samples.add(stem.samples, times: 1, to: &samples, at: lead)
    Samples.add(changed.samples.samples, times: 1, to: &samples, at: lead + shift)
    Samples.add(plain.samples.samples, times: -1, to: &samples, at: lead + shift)
    return stem.replacing(
      samples: samples, sampleOffset: stem.sampleOffset - Double(lead) / stem.rate)
  }

  /// A stem with its spectrum moved: the real part of its analytic signal times a turning phase.
  private func frequencyShifted(_ stem: EventWaveform, by ratio: Double) -> (
    stem: EventWaveform, before: Double, after: Double
  )? {
    let hertz = stem.meanFrequency
    guard hertz > 0 else { return nil }
    let padding = 32
    let length = FourierTransform.fastLength(atLeast: stem.samples.count + 2 * padding)
    var transform = FourierTransform(length: length)
    let silence = [Float](repeating: 0, count: padding)
    var bins = transform.forward(silence + stem.samples)
    let real = transform.backward(bins)
    for bin in bins.indices {
      bins[bin] = ComplexNumber(bins[bin].imaginary, -bins[bin].real)
    }
    let imaginary = transform.backward(bins)
    let step = 2 * .pi * hertz * (ratio - 1) / stem.rate
    let onset = -stem.sampleOffset * stem.rate + Double(padding)
    let samples = (padding..<padding + stem.samples.count).map { index in
      let phase = step * (Double(index) - onset)
      return real[index] * Float(cos(phase)) - imaginary[index] * Float(sin(phase))
    }
    return (stem.replacing(samples: samples), hertz, hertz * ratio)
  }
}
