internal import HapticFormats
internal import HapticModel

extension LossLog {
  /// Records a loss for each event that was merged with others or dropped.
  mutating func add(_ merged: MergedEnvelope) {
    for event in merged.overlappingEvents.sorted() {
      add(.approximated, .event(event), "overlapping events are merged into one envelope")
    }
    for event in merged.droppedEvents {
      add(.dropped, .event(event), "too many overlapping events")
    }
  }
}

/// The sum of overlapping continuous events as one envelope. Amplitudes are added, up to a sum of
/// 1, and the sharpness is the mean weighted by amplitude.
struct MergedEnvelope {
  /// The breakpoints, sorted by time, from the start of the first event to the end of the last. The
  /// level is 0 between events.
  private(set) var mergedPoints: [EnvelopePoint] = []
  private(set) var overlappingEvents: Set<EventReference> = []
  private(set) var droppedEvents: [EventReference] = []

  /// The maximum number of events that overlap at one time. Additional events are dropped.
  static let maximumOverlapCount = 256

  private let envelopeSampler: EnvelopeSampler

  /// Merges the continuous events of envelopes that are sorted by start.
  init(_ envelopes: [EventEnvelope], envelopeSampler sampler: EnvelopeSampler) {
    self.envelopeSampler = sampler
    let continuousEnvelopes = envelopes.filter { $0.kind == .hapticContinuous }
    var activeEnvelopes: [ActiveEnvelope] = []
    var nextEnvelopeIndex = 0
    var currentTimeSeconds = continuousEnvelopes.first?.startSeconds ?? 0
    while nextEnvelopeIndex < continuousEnvelopes.count || !activeEnvelopes.isEmpty {
      while nextEnvelopeIndex < continuousEnvelopes.count,
        continuousEnvelopes[nextEnvelopeIndex].startSeconds <= currentTimeSeconds
      {
        if activeEnvelopes.count < Self.maximumOverlapCount {
          activeEnvelopes.append(
            ActiveEnvelope(eventEnvelope: continuousEnvelopes[nextEnvelopeIndex]))
        } else {
          droppedEvents.append(continuousEnvelopes[nextEnvelopeIndex].eventReference)
        }
        nextEnvelopeIndex += 1
      }
      var end =
        nextEnvelopeIndex < continuousEnvelopes.count
        ? continuousEnvelopes[nextEnvelopeIndex].startSeconds : .infinity
      for index in activeEnvelopes.indices {
        activeEnvelopes[index].advance(to: currentTimeSeconds)
        end = min(end, activeEnvelopes[index].segmentEndSeconds)
      }
      activeEnvelopes.removeAll { $0.isFinished }
      if activeEnvelopes.isEmpty {
        guard nextEnvelopeIndex < continuousEnvelopes.count else { break }
        end = continuousEnvelopes[nextEnvelopeIndex].startSeconds
      }
      if end > currentTimeSeconds {
        appendSum(of: activeEnvelopes, from: currentTimeSeconds, to: end)
      }
      currentTimeSeconds = end
    }
  }

  /// An envelope that is active at the current time, with the index of its current segment.
  private struct ActiveEnvelope {
    let eventEnvelope: EventEnvelope
    var segmentIndex = 0

    var isFinished: Bool { segmentIndex + 1 >= eventEnvelope.points.count }
    /// The end of the current segment, in seconds; infinite after the last point.
    var segmentEndSeconds: Double {
      isFinished ? .infinity : eventEnvelope.points[segmentIndex + 1].timeSeconds
    }

    mutating func advance(to time: Double) {
      while segmentIndex + 1 < eventEnvelope.points.count,
        eventEnvelope.points[segmentIndex + 1].timeSeconds <= time
      {
        segmentIndex += 1
      }
    }

    func point(at time: Double) -> EnvelopePoint {
      let from = eventEnvelope.points[segmentIndex]
      let to = eventEnvelope.points[segmentIndex + 1]
      if time == from.timeSeconds { return from }
      if time == to.timeSeconds { return to }
      return .interpolated(from: from, to: to, at: time)
    }
  }

  private mutating func appendSum(of active: [ActiveEnvelope], from start: Double, to end: Double) {
    switch active.count {
    case 0:
      let sharpness = mergedPoints.last?.sharpness ?? 0
      appendPoint(EnvelopePoint(timeSeconds: start, level: 0, sharpness: sharpness))
      appendPoint(EnvelopePoint(timeSeconds: end, level: 0, sharpness: sharpness))
    case 1:
      appendPoint(active[0].point(at: start))
      appendPoint(active[0].point(at: end))
    default:
      overlappingEvents.formUnion(active.map { $0.eventEnvelope.eventReference })
      let scale = envelopeSampler.levelScale
      func sum(at time: Double) -> EnvelopePoint {
        var amplitude = 0.0
        var weighted = 0.0
        var mean = 0.0
        for track in active {
          let point = track.point(at: time)
          let trackAmplitude = scale.amplitude(ofLevel: point.level)
          amplitude += trackAmplitude
          weighted += trackAmplitude * point.sharpness
          mean += point.sharpness / Double(active.count)
        }
        return EnvelopePoint(
          timeSeconds: time, level: scale.level(ofAmplitude: min(amplitude, 1)),
          sharpness: amplitude > 0 ? weighted / amplitude : mean)
      }
      let first = sum(at: start)
      let last = sum(at: end)
      appendPoint(first)
      var between: [EnvelopePoint] = []
      envelopeSampler.subdivideLine(from: first, to: last, sum) { between.append($0) }
      for point in between {
        appendPoint(point)
      }
      appendPoint(last)
    }
  }

  private mutating func appendPoint(_ point: EnvelopePoint) {
    if mergedPoints.last != point {
      mergedPoints.append(point)
    }
  }
}
