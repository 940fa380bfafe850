internal import CMath
import HapticModel
import HapticRender
import SignalAnalysis

/// Renders events of a composition by themselves, all its controls acting.
struct EventRenderer {
  let composition: HapticComposition
  let profile: TransducerProfile
  /// Frames per second that are rendered, before the rate is lowered.
  let rate: Double
  private let known = Known()

  /// What was rendered before and is asked for again.
  private final class Known {
    var events: [Int: (samples: LowRateSignal, origin: Double)] = [:]
    var bank: [Column]?
  }

  /// The most renderings that overlapping events are spread over.
  private static let greatestPartCount = 16
  /// Seconds that an event sounds behind its end at most, its release not counted.
  private static let ring = 0.1

  init(_ composition: HapticComposition, profile: TransducerProfile, rate: Double) {
    self.composition = composition
    self.profile = profile
    self.rate = rate
  }

  /// Events that do not overlap, rendered together.
  struct Part {
    /// The sound at the low rate.
    var samples: [Float]
    /// The events, each with the samples that are its own.
    var events: [(event: ListedEvent, range: Range<Int>)]
  }

  /// Renders events in as few parts as their overlaps need; nil where one cannot be rendered.
  ///
  /// - Parameters:
  ///   - events: By time.
  ///   - count: Frames of a rendering.
  func parts(of events: [ListedEvent], count: Int) -> [Part]? {
    var lists: [[ListedEvent]] = []
    var ends: [Double] = []
    for event in events {
      let end = end(of: event)
      if let free = ends.firstIndex(where: { $0 < event.time }) {
        lists[free].append(event)
        ends[free] = end
      } else if lists.count < Self.greatestPartCount {
        lists.append([event])
        ends.append(end)
      } else {
        lists[lists.count - 1].append(event)
        ends[ends.count - 1] = max(ends[ends.count - 1], end)
      }
    }
    var parts: [Part] = []
    for list in lists {
      let chosen = Set(list.map(\.index))
      guard let low = render(keeping: { chosen.contains($0) }, frames: count) else { return nil }
      // A tenth of the gap is the later event's: filters reach a few samples back.
      let starts = list.map { max(0, Int((($0.time - 0.006) * low.rate).rounded())) }
      parts.append(
        Part(
          samples: low.samples,
          events: list.indices.map { index in
            let end = index + 1 < list.count ? starts[index + 1] : low.samples.count
            return (list[index], min(starts[index], end)..<end)
          }))
    }
    return parts
  }

  /// Seconds at which an event is silent again.
  private func end(of event: ListedEvent) -> Double {
    let release =
      event.kind.isTransient ? 0.04 : EnvelopeTimes.seconds(normalised: Float(event.value(.releaseTime)))
    return event.end + max(release, EnvelopeTimes.shortestEdge) + Self.ring
  }

  private func render(keeping: (Int) -> Bool, frames: Int) -> LowRateSignal? {
    var kept = composition
    var number = 0
    for layer in kept.layers.indices {
      kept.layers[layer].signals = []
      kept.layers[layer].pattern.events = kept.layers[layer].pattern.events.filter { _ in
        number += 1
        return keeping(number - 1)
      }
    }
    return render(kept, frames: frames)
  }

  private func render(_ composition: HapticComposition, frames: Int) -> LowRateSignal? {
    guard let plan = try? RenderPlan(compiling: composition, profile: profile, rate: rate) else { return nil }
    let settings = RenderSettings(routing: OutputRouting(channelCount: 1).fitted(to: [profile]), length: Int64(frames))
    var rendering = OfflineRenderer(plan: plan, settings: settings)
    return LowRateSignal(of: rendering.samples(), rate: rate)
  }

  /// An event, rendered by itself with a little silence before it; once for all.
  ///
  /// - Returns: The samples at the low rate, and seconds from the event to the first of them.
  func event(_ index: Int) -> (samples: LowRateSignal, origin: Double)? {
    if let event = known.events[index] { return event }
    let event = event(index) { _ in }
    known.events[index] = event
    return event
  }

  /// An event after a change, rendered by itself with a little silence before it.
  func event(_ index: Int, _ change: (inout HapticEvent) -> Void) -> (samples: LowRateSignal, origin: Double)? {
    var first = 0
    for layer in composition.layers {
      defer { first += layer.pattern.events.count }
      guard layer.pattern.events.indices.contains(index - first) else { continue }
      var pattern = layer.pattern
      var event = pattern.events[index - first]
      change(&event)
      // All is moved so that the event begins soon; controls may start before a pattern does.
      let lead = 0.02
      let later = lead - event.time
      event.time = lead
      pattern.events = [event]
      for index in pattern.parameters.indices { pattern.parameters[index].time += later }
      for index in pattern.curves.indices { pattern.curves[index].time += later }
      let seconds = end(of: ListedEvent(event, index: 0)) + lead
      guard seconds < 120, let low = render(HapticComposition(pattern), frames: Int(seconds * rate)) else { return nil }
      return (low, -lead)
    }
    return nil
  }

  /// The composition with all times of its events and controls multiplied.
  func stretched(by factor: Double) -> EventRenderer {
    var stretched = composition
    for layer in stretched.layers.indices {
      var pattern = stretched.layers[layer].pattern
      for index in pattern.events.indices {
        pattern.events[index].time *= factor
        if let duration = pattern.events[index].duration { pattern.events[index].duration = duration * factor }
      }
      for index in pattern.parameters.indices { pattern.parameters[index].time *= factor }
      for index in pattern.curves.indices {
        pattern.curves[index].time *= factor
        for point in pattern.curves[index].controlPoints.indices {
          pattern.curves[index].controlPoints[point].time *= factor
        }
      }
      stretched.layers[layer].pattern = pattern
    }
    return EventRenderer(stretched, profile: profile, rate: rate)
  }

  /// The whole as a take, for a reference of its own.
  func take() -> Take? {
    guard let plan = try? RenderPlan(compiling: composition, profile: profile, rate: rate) else { return nil }
    let settings = RenderSettings(
      routing: OutputRouting(channelCount: 1).fitted(to: [profile]),
      length: plan.length + Int64(OfflineRenderer.defaultTail * rate))
    var rendering = OfflineRenderer(plan: plan, settings: settings)
    return Take(
      name: "", source: .pattern(composition), signal: Signal(rendering.samples(), rate: rate), profile: profile)
  }

  /// Transients of nine sharpnesses, as the profile renders them: what may have been added.
  func bank() -> [Column] {
    if let bank = known.bank { return bank }
    let bank = (0...8).compactMap { step -> Column? in
      let event = HapticEvent(
        kind: .hapticTransient, time: 0.02, parameters: [.hapticIntensity: 1, .hapticSharpness: Float(step) / 8])
      guard let low = render(HapticComposition(HapticPattern(events: [event])), frames: Int(0.08 * rate)),
        let stem = RecordingReference.trimmed(ListedEvent(event, index: 0), low.samples[...], rate: low.rate, least: 0)
      else { return nil }
      return Column(start: 0, samples: stem.samples)
    }
    known.bank = bank
    return bank
  }
}
