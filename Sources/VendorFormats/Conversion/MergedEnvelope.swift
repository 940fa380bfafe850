internal import HapticFormats
import HapticModel

/// Envelopes of continuous events that sound together, as one: amplitudes add up to 1 at most, and
/// sharpness is their mean, weighted by amplitude.
struct MergedEnvelope {
  /// The corners by rising time, from the first start to the last end; the level is 0 between events.
  private(set) var points: [EnvelopePoint] = []
  /// The events that sound while another does.
  private(set) var overlapping: Set<EventReference> = []
  /// The events that were left out because too many sound at once.
  private(set) var dropped: [EventReference] = []

  /// The most events that sound at once; more are left out.
  static let overlapLimit = 256

  private let sampler: EnvelopeSampler

  /// Merges the continuous events among envelopes that are sorted by their start.
  init(_ envelopes: [EventEnvelope], sampler: EnvelopeSampler) {
    self.sampler = sampler
    let events = envelopes.filter { $0.kind == .hapticContinuous }
    var active: [Track] = []
    var next = 0
    var time = events.first?.start ?? 0
    while next < events.count || !active.isEmpty {
      while next < events.count, events[next].start <= time {
        if active.count < Self.overlapLimit {
          active.append(Track(events[next]))
        } else {
          dropped.append(events[next].event)
        }
        next += 1
      }
      var end = next < events.count ? events[next].start : .infinity
      for index in active.indices {
        active[index].move(to: time)
        end = min(end, active[index].lineEnd)
      }
      active.removeAll { $0.isOver }
      if active.isEmpty {
        guard next < events.count else { break }
        end = events[next].start
      }
      if end > time { append(active, from: time, to: end) }
      time = end
    }
  }

  /// One event on the way through its corners.
  private struct Track {
    let envelope: EventEnvelope
    private var index = 0

    init(_ envelope: EventEnvelope) { self.envelope = envelope }

    /// Whether the last corner is reached.
    var isOver: Bool { index + 1 >= envelope.points.count }
    /// Where the line ends; infinite behind the last corner.
    var lineEnd: Double { isOver ? .infinity : envelope.points[index + 1].time }

    mutating func move(to time: Double) {
      while index + 1 < envelope.points.count, envelope.points[index + 1].time <= time { index += 1 }
    }

    func point(at time: Double) -> EnvelopePoint {
      let (from, to) = (envelope.points[index], envelope.points[index + 1])
      if time == from.time { return from }
      if time == to.time { return to }
      return .between(from, to, at: time)
    }
  }

  private mutating func append(_ active: [Track], from start: Double, to end: Double) {
    switch active.count {
    case 0:
      let sharpness = points.last?.sharpness ?? 0
      append(EnvelopePoint(time: start, level: 0, sharpness: sharpness))
      append(EnvelopePoint(time: end, level: 0, sharpness: sharpness))
    case 1:
      append(active[0].point(at: start))
      append(active[0].point(at: end))
    default:
      overlapping.formUnion(active.map(\.envelope.event))
      let scale = sampler.scale
      func sum(at time: Double) -> EnvelopePoint {
        var amplitude = 0.0
        var weighted = 0.0
        var mean = 0.0
        for track in active {
          let point = track.point(at: time)
          let own = scale.amplitude(ofLevel: point.level)
          amplitude += own
          weighted += own * point.sharpness
          mean += point.sharpness / Double(active.count)
        }
        return EnvelopePoint(
          time: time, level: scale.level(ofAmplitude: min(amplitude, 1)),
          sharpness: amplitude > 0 ? weighted / amplitude : mean)
      }
      let (first, last) = (sum(at: start), sum(at: end))
      append(first)
      var between: [EnvelopePoint] = []
      sampler.subdivide(from: first, to: last, sum) { between.append($0) }
      for point in between { append(point) }
      append(last)
    }
  }

  private mutating func append(_ point: EnvelopePoint) { if points.last != point { points.append(point) } }
}
