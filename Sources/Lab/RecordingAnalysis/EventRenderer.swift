import HapticModel
import HapticRender
import SignalAnalysis

/// Renders single events of a composition, changed or unchanged.
struct EventRenderer {
  let composition: HapticComposition
  let profile: TransducerProfile
  /// The sample rate of the rendering, in hertz.
  let renderingSampleRate: Double
  /// Decimates the renderings to the rate of the results.
  let decimator: Decimator
  private let renderingCache = Cache()

  /// A cache of renderings, shared by copies of the renderer.
  ///
  /// - Note: The renderer belongs to one comparison and therefore to one thread.
  private final class Cache {
    /// The cached renderings of single events, by the index of the unchanged event.
    var eventRenderings: [Int: [(event: HapticEvent, samples: LowRateSignal)]] = [:]
    var transientBank: [EventWaveform]?
  }

  /// The maximum number of separate renderings for overlapping events.
  private static let maximumRenderingCount = 16
  /// The maximum duration of an event's decay after its release, in seconds.
  private static let maximumTailSeconds = 0.1

  /// A Boolean value that indicates whether dynamic parameters or curves act on the events.
  var hasControls: Bool {
    composition.layers.contains { !$0.pattern.parameters.isEmpty || !$0.pattern.curves.isEmpty }
  }

  /// Renders events in as few renderings as their overlaps require.
  ///
  /// - Parameters:
  ///   - events: The events, sorted by time.
  ///   - count: The number of frames of each rendering.
  /// - Returns: The renderings, each with the sample ranges of its events, or nil if rendering
  ///   fails.
  func renderings(
    of events: [IndexedEvent], count: Int
  ) -> [(samples: [Float], events: [(event: IndexedEvent, range: Range<Int>)])]? {
    var eventListsByRendering: [[IndexedEvent]] = []
    var renderingEndSeconds: [Double] = []
    for event in events {
      let end = event.releaseStartSeconds + event.tailSeconds + Self.maximumTailSeconds
      if let free = renderingEndSeconds.firstIndex(where: { $0 < event.timeSeconds }) {
        eventListsByRendering[free].append(event)
        renderingEndSeconds[free] = end
      } else if eventListsByRendering.count < Self.maximumRenderingCount {
        eventListsByRendering.append([event])
        renderingEndSeconds.append(end)
      } else {
        eventListsByRendering[eventListsByRendering.count - 1].append(event)
        renderingEndSeconds[renderingEndSeconds.count - 1] = max(
          renderingEndSeconds[renderingEndSeconds.count - 1], end)
      }
    }
    var renderings: [(samples: [Float], events: [(event: IndexedEvent, range: Range<Int>)])] = []
    for list in eventListsByRendering {
      guard let low = render(keeping: Set(list.map(\.compositionIndex)), frames: count) else {
        return nil
      }
      // The last 6 ms before an event belong to it because filters reach a few samples back.
      let starts = list.map {
        max(0, Int((($0.timeSeconds - 0.006) * low.decimatedRate).rounded()))
      }
      let renderingEndSeconds = starts.dropFirst() + [low.samples.count]
      let events = zip(list, zip(starts, renderingEndSeconds)).map { ($0, min($1.0, $1.1)..<$1.1) }
      renderings.append((low.samples, events))
    }
    return renderings
  }

  /// Renders the composition with only some of its events and without its sound files.
  private func render(keeping indices: Set<Int>, frames: Int) -> LowRateSignal? {
    var reducedComposition = composition
    var visitedEventCount = 0
    for layer in reducedComposition.layers.indices {
      reducedComposition.layers[layer].signals = []
      reducedComposition.layers[layer].pattern.events = reducedComposition.layers[layer].pattern
        .events.filter { _ in
          visitedEventCount += 1
          return indices.contains(visitedEventCount - 1)
        }
    }
    return lowRateSignal(of: reducedComposition, frames: frames)
  }

  private func lowRateSignal(of composition: HapticComposition, frames: Int) -> LowRateSignal? {
    samples(of: composition, frames: frames).map { decimator.decimated($0) }
  }

  private func samples(of composition: HapticComposition, frames: Int? = nil) -> [Float]? {
    guard
      let plan = try? RenderPlan(
        compiling: composition, profile: profile, rate: renderingSampleRate)
    else {
      return nil
    }
    let renderedFrameCount =
      frames.map(Int64.init) ?? plan.frameCount
      + Int64(OfflineRenderer.defaultTailSeconds * renderingSampleRate)
    let settings = RenderSettings(
      routing: OutputRouting(channelCount: 1).assigningTransducers(of: [profile]),
      outputFrameCount: renderedFrameCount)
    var offlineRenderer = OfflineRenderer(plan: plan, settings: settings)
    return offlineRenderer.samples()
  }

  /// Renders an event without the other events.
  ///
  /// - Parameters:
  ///   - index: The index of the event in the composition.
  ///   - change: A change to apply to the event before rendering.
  /// - Returns: The samples, and the offset of the first sample from the event, in seconds; nil if
  ///   rendering fails or if the event is longer than 120 s.
  func renderedEvent(at index: Int, changedBy change: (inout HapticEvent) -> Void = { _ in }) -> (
    samples: LowRateSignal, firstSampleOffsetSeconds: Double
  )? {
    var firstEventIndexInLayer = 0
    for layer in composition.layers {
      defer { firstEventIndexInLayer += layer.pattern.events.count }
      guard layer.pattern.events.indices.contains(index - firstEventIndexInLayer) else { continue }
      var pattern = layer.pattern
      var event = pattern.events[index - firstEventIndexInLayer]
      change(&event)
      let lead = 0.02
      let cached = renderingCache.eventRenderings[index, default: []].first { $0.event == event }
      if let cached { return (cached.samples, -lead) }
      let original = event
      // The event moves to the start of the rendering, and the controls with it.
      let shift = lead - event.time
      event.time = lead
      pattern.events = [event]
      for position in pattern.parameters.indices {
        pattern.parameters[position].time += shift
      }
      for position in pattern.curves.indices {
        pattern.curves[position].time += shift
      }
      let indexed = IndexedEvent(event, compositionIndex: 0)
      let seconds =
        indexed.releaseStartSeconds + indexed.tailSeconds + Self.maximumTailSeconds + lead
      guard seconds < 120,
        let samples = lowRateSignal(
          of: HapticComposition(pattern), frames: Int(seconds * renderingSampleRate))
      else {
        return nil
      }
      renderingCache.eventRenderings[index, default: []].append((original, samples))
      return (samples, -lead)
    }
    return nil
  }

  /// Returns a renderer of the composition at a different tempo and the same pitch.
  func stretched(by factor: Double) -> EventRenderer {
    var stretchedComposition = composition
    for layer in stretchedComposition.layers.indices {
      var pattern = stretchedComposition.layers[layer].pattern
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
      stretchedComposition.layers[layer].pattern = pattern
    }
    return EventRenderer(
      composition: stretchedComposition, profile: profile, renderingSampleRate: renderingSampleRate,
      decimator: decimator)
  }

  /// Renders the whole composition, and returns it as the source of a reference.
  func renderedSource() -> ReferenceSource? {
    samples(of: composition).map {
      ReferenceSource(
        composition: composition, signal: Signal($0, rate: renderingSampleRate), profile: profile)
    }
  }

  /// Returns the waveforms of possible added transients, at nine sharpness values.
  func transientBank() -> [EventWaveform] {
    if let cachedBank = renderingCache.transientBank { return cachedBank }
    let renderedBank = (0...8).compactMap { step -> EventWaveform? in
      let event = HapticEvent(
        kind: .hapticTransient, time: 0.02,
        parameters: [.hapticIntensity: 1, .hapticSharpness: Float(step) / 8])
      return lowRateSignal(
        of: HapticComposition(HapticPattern(events: [event])),
        frames: Int(0.08 * renderingSampleRate)
      )
      .flatMap {
        RecordingReference.trimmedWaveform(
          IndexedEvent(event, compositionIndex: 0), $0.samples[...], rate: $0.decimatedRate,
          minimumThreshold: 0)
      }
    }
    renderingCache.transientBank = renderedBank
    return renderedBank
  }
}
