internal import HapticFormats
internal import HapticModel

extension LossLog {
  /// Records the events that were merged or dropped.
  mutating func add(_ merged: MergedEnvelope) {
    for event in merged.overlappingEvents.sorted() {
      add(.approximated, .event(event), "overlapping events are merged into one envelope")
    }
    for event in merged.droppedEvents {
      add(.dropped, .event(event), "too many overlapping events")
    }
  }
}

/// The sum of overlapping continuous events as one envelope: amplitudes add up to 1 at most, and
/// sharpness is the mean, weighted by amplitude.
struct MergedEnvelope {
  /// The breakpoints, sorted by time, from the start of the first event to the end of the last. The
  /// level is 0 between events.
  private(set) var points: [EnvelopePoint] = []
  private(set) var overlappingEvents: Set<EventReference> = []
  private(set) var droppedEvents: [EventReference] = []

  /// The maximum number of overlapping events. Additional events are dropped.
  static let maximumOverlapCount = 256

  private let sampler: EnvelopeSampler

  /// Merges the continuous events of envelopes that are sorted by start.
  init(_ envelopes: [EventEnvelope], sampler: EnvelopeSampler) {
    self.sampler = sampler
    let events = envelopes.filter { $0.kind == .hapticContinuous }
    var active: [ActiveEnvelope] = []
    var next = 0
    var time = events.first?.start ?? 0
    while next < events.count || !active.isEmpty {
      while next < events.count, events[next].start <= time {
        if active.count < Self.maximumOverlapCount {
          active.append(ActiveEnvelope(envelope: events[next]))
        } else {
          droppedEvents.append(events[next].event)
        }
        next += 1
      }
      var end = next < events.count ? events[next].start : .infinity
      for index in active.indices {
        active[index].advance(to: time)
        end = min(end, active[index].segmentEnd)
      }
      active.removeAll { $0.isFinished }
      if active.isEmpty {
        guard next < events.count else { break }
        end = events[next].start
      }
      if end > time {
        append(active, from: time, to: end)
      }
      time = end
    }
  }

  /// An envelope that is sounding, with the index of its current segment.
  private struct ActiveEnvelope {
    let envelope: EventEnvelope
    var index = 0

    var isFinished: Bool { index + 1 >= envelope.points.count }
    /// The end of the current segment, in seconds; infinite after the last point.
    var segmentEnd: Double { isFinished ? .infinity : envelope.points[index + 1].time }

    mutating func advance(to time: Double) {
      while index + 1 < envelope.points.count, envelope.points[index + 1].time <= time {
        index += 1
      }
    }

    func point(at time: Double) -> EnvelopePoint {
      let from = envelope.points[index]
      let to = envelope.points[index + 1]
      if time == from.time { return from }
      if time == to.time { return to }
      return .interpolated(from: from, to: to, at: time)
    }
  }

  private mutating func append(_ active: [ActiveEnvelope], from start: Double, to end: Double) {
    switch active.count {
    case 0:
      let sharpness = points.last?.sharpness ?? 0
      append(EnvelopePoint(time: start, level: 0, sharpness: sharpness))
      append(EnvelopePoint(time: end, level: 0, sharpness: sharpness))
    case 1:
      append(active[0].point(at: start))
      append(active[0].point(at: end))
    default:
      overlappingEvents.formUnion(active.map { $0.envelope.event })
      let scale = sampler.scale
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
          time: time, level: scale.level(ofAmplitude: min(amplitude, 1)),
          sharpness: amplitude > 0 ? weighted / amplitude : mean)
      }
      let first = sum(at: start)
      let last = sum(at: end)
      append(first)
      var between: [EnvelopePoint] = []
      sampler.subdivide(from: first, to: last, sum) { between.append($0) }
      for point in between {
        append(point)
      }
      append(last)
    }
  }

  private mutating func append(_ point: EnvelopePoint) {
    if points.last != point {
      points.append(point)
    }
  }
}
