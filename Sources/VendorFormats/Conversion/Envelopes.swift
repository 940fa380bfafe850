internal import HapticFormats
import HapticModel

/// A corner of a level and a sharpness that move along straight lines; two corners at one time are a
/// jump.
struct EnvelopePoint: Equatable {
  /// Seconds from the start of the composition.
  var time: Double
  /// Intensity or amplitude, 0…1.
  var level: Double
  /// 0…1.
  var sharpness: Double

  static func between(_ from: EnvelopePoint, _ to: EnvelopePoint, at time: Double) -> EnvelopePoint {
    let span = to.time - from.time
    guard span > 0 else { return to }
    let share = (time - from.time) / span
    return EnvelopePoint(
      time: time, level: from.level + (to.level - from.level) * share,
      sharpness: from.sharpness + (to.sharpness - from.sharpness) * share)
  }
}

/// What one haptic event is over its time, with everything that acts on it: its envelope times, the
/// parameters and the curves of its layer.
struct EventEnvelope {
  var event: EventReference
  var kind: HapticEvent.Kind
  /// The corners by rising time; one for a transient, at least two for a continuous event.
  var points: [EnvelopePoint]

  var start: Double { points[0].time }
  /// The second at which it is over; the onset of a transient.
  var end: Double { points[points.count - 1].time }
}

struct EnvelopeScale: Equatable {
  enum Quantity { case intensity, amplitude }

  var quantity: Quantity
  var law: AmplitudeLaw

  /// The level of an event whose intensity is changed by a factor on amplitude.
  func level(intensity: Double, gain: Double) -> Double {
    switch quantity {
    case .intensity: intensity * (gain == 1 ? 1 : law.intensity(ofAmplitude: gain))
    case .amplitude: law.amplitude(ofIntensity: intensity) * gain
    }
  }

  func amplitude(ofLevel level: Double) -> Double { quantity == .amplitude ? level : law.amplitude(ofIntensity: level) }

  func level(ofAmplitude amplitude: Double) -> Double {
    quantity == .amplitude ? amplitude : law.intensity(ofAmplitude: amplitude)
  }

  /// Whether the level is linear where intensity is.
  var isLinearInIntensity: Bool { quantity == .intensity || law == .linear }
}

/// Turns the haptic events of a composition into envelopes by the laws of the model.
///
/// Every corner that controls and envelope times have is a corner of the result; where the exact
/// level is not linear between two, points are added until it is within the tolerance.
struct EnvelopeSampler {
  let scale: EnvelopeScale
  /// How far the lines may be from the exact level.
  let tolerance: Double

  /// The most halvings of the time between two corners.
  private static let depthLimit = 14

  init(
    _ quantity: EnvelopeScale.Quantity, law: AmplitudeLaw = .root, tolerance: Double = WritingOptions.defaultTolerance
  ) {
    scale = EnvelopeScale(quantity: quantity, law: law)
    self.tolerance = max(tolerance, 1e-6)
  }

  /// The envelopes of all haptic events by rising start, those of one start in their order.
  ///
  /// Continuous events that last no time are left out. Takes time in proportion to the corners, and
  /// to the logarithm of the events.
  func envelopes(of composition: HapticComposition) -> [EventEnvelope] {
    var all: [EventEnvelope] = []
    for (layer, each) in composition.layers.enumerated() {
      let controls = Controls(of: each.pattern)
      for (index, event) in each.pattern.events.enumerated() where event.kind.isHaptic {
        let points = points(of: event, controls)
        guard !points.isEmpty else { continue }
        all.append(
          EventEnvelope(
            event: EventReference(layer: layer, event: index),
            kind: event.kind.isTransient ? .hapticTransient : .hapticContinuous, points: points))
      }
    }
    return all.indices.sorted { (all[$0].start, $0) < (all[$1].start, $1) }.map { all[$0] }
  }

  /// The same without those that end more than a day after the start, which no reader takes.
  func envelopes(of composition: HapticComposition, losses: inout LossLog) -> [EventEnvelope] {
    let all = Dictionary(grouping: envelopes(of: composition)) { $0.end <= FrameConversion.longest }
    for late in all[false] ?? [] {
      losses.add(.dropped, .event(late.event), "the event ends more than a day after the start")
    }
    return all[true] ?? []
  }

  /// The controls of one layer that act on haptic events.
  private struct Controls {
    let intensity, sharpness, attack, decay, release: ControlTimeline

    init(of pattern: HapticPattern) {
      func control(_ id: DynamicParameterID) -> ControlTimeline { ControlTimeline(of: id, in: pattern) }
      (intensity, sharpness) = (control(.hapticIntensityControl), control(.hapticSharpnessControl))
      (attack, decay) = (control(.hapticAttackTimeControl), control(.hapticDecayTimeControl))
      release = control(.hapticReleaseTimeControl)
    }
  }

  private func points(of event: HapticEvent, _ controls: Controls) -> [EnvelopePoint] {
    let intensity = Double(event.value(of: .hapticIntensity))
    let sharpness = Double(event.value(of: .hapticSharpness))
    guard event.kind.isVibration else {
      let level = intensity * controls.intensity.value(at: event.time)
      let tone = min(max(sharpness + controls.sharpness.value(at: event.time), 0), 1)
      return [EnvelopePoint(time: event.time, level: scale.level(intensity: level, gain: 1), sharpness: tone)]
    }
    let hold = event.duration ?? HapticEvent.unlimitedDuration
    guard hold > 0, (event.time + hold).isFinite else { return [] }
    func seconds(_ id: EventParameterID, _ control: ControlTimeline) -> Double {
      EnvelopeTimes.seconds(normalised: event.value(of: id) + Float(control.value(at: event.time)))
    }
    let shape = EnvelopeShape(
      hold: hold, attack: seconds(.attackTime, controls.attack), decay: seconds(.decayTime, controls.decay),
      release: seconds(.releaseTime, controls.release), isSustained: event.value(of: .sustained) >= 0.5)
    var times = [event.time, event.time + shape.riseEnd, event.time + shape.releaseStart, event.time + shape.end]
    let range = times[0]...times[3]
    for control in [controls.intensity, controls.sharpness] {
      var index = control.index(at: range.lowerBound) + 1
      while index < control.segments.count, control.segments[index].start < range.upperBound {
        times.append(control.segments[index].start)
        index += 1
      }
    }
    times.append(contentsOf: clampings(of: controls.sharpness, offset: sharpness, in: range))
    times.sort()
    var points: [EnvelopePoint] = []
    var cursors = (
      intensity: controls.intensity.index(at: range.lowerBound),
      sharpness: controls.sharpness.index(at: range.lowerBound)
    )
    func append(_ point: EnvelopePoint) { if points.last != point { points.append(point) } }
    for (from, to) in zip(times, times.dropFirst()) where to > from {
      _ = controls.intensity.value(at: from, cursor: &cursors.intensity)
      _ = controls.sharpness.value(at: from, cursor: &cursors.sharpness)
      let line = controls.intensity.segments[cursors.intensity]
      let toneLine = controls.sharpness.segments[cursors.sharpness]
      // Inside the interval everything is on one line each, so ends are taken from the inside.
      let gains = (
        Self.gain(of: shape, at: from - event.time, from: true), Self.gain(of: shape, at: to - event.time, from: false)
      )
      func point(at time: Double) -> EnvelopePoint {
        let share = (time - from) / (to - from)
        let gain = gains.0 + (gains.1 - gains.0) * share
        let level = min(max(line.value(at: time), 0), 1) * intensity
        return EnvelopePoint(
          time: time, level: scale.level(intensity: level, gain: gain),
          sharpness: min(max(toneLine.value(at: time) + sharpness, 0), 1))
      }
      let (first, last) = (point(at: from), point(at: to))
      append(first)
      let isStraight =
        gains.0 == gains.1
        ? scale.isLinearInIntensity || line.slope == 0
        : line.slope == 0 && (scale.quantity == .amplitude || scale.law == .linear)
      if !isStraight { subdivide(from: first, to: last, point, append: append) }
      append(last)
    }
    return points
  }

  /// The factor on amplitude at a time from the onset, on the line that starts or ends there.
  private static func gain(of shape: EnvelopeShape, at time: Double, from starts: Bool) -> Double {
    if time < shape.riseEnd || (time == shape.riseEnd && !starts && shape.riseEnd > 0) {
      return shape.riseLevel * (time / shape.riseEnd)
    }
    if time < shape.releaseStart || (time == shape.releaseStart && !starts) {
      let span = shape.releaseStart - shape.riseEnd
      guard span > 0 else { return shape.releaseLevel }
      return shape.riseLevel + (shape.releaseLevel - shape.riseLevel) * (time - shape.riseEnd) / span
    }
    let span = shape.end - shape.releaseStart
    return span > 0 ? max(shape.releaseLevel * (shape.end - time) / span, 0) : shape.releaseLevel
  }

  /// When a sharpness that is added to a control leaves or enters its range.
  private func clampings(of control: ControlTimeline, offset: Double, in range: ClosedRange<Double>) -> [Double] {
    var times: [Double] = []
    var index = control.index(at: range.lowerBound)
    while index < control.segments.count, control.segments[index].start < range.upperBound {
      let segment = control.segments[index]
      let next = index + 1 < control.segments.count ? control.segments[index + 1].start : .infinity
      if segment.slope != 0 {
        for bound in [0.0, 1.0] {
          let time = segment.start + (bound - offset - segment.value) / segment.slope
          if time > segment.start, time < next, range.contains(time) { times.append(time) }
        }
      }
      index += 1
    }
    return times
  }

  /// Adds points between two until straight lines are within the tolerance of the exact level.
  func subdivide(
    from first: EnvelopePoint, to last: EnvelopePoint, depth: Int = 0, _ exact: (Double) -> EnvelopePoint,
    append: (EnvelopePoint) -> Void
  ) {
    let span = last.time - first.time
    guard depth < Self.depthLimit, span > 1e-7 else { return }
    let error = [0.25, 0.5, 0.75].reduce(0.0) { worst, share in
      let point = exact(first.time + span * share)
      let line = EnvelopePoint.between(first, last, at: point.time)
      return max(worst, abs(point.level - line.level), abs(point.sharpness - line.sharpness))
    }
    guard error > tolerance else { return }
    let middle = exact(first.time + span / 2)
    subdivide(from: first, to: middle, depth: depth + 1, exact, append: append)
    append(middle)
    subdivide(from: middle, to: last, depth: depth + 1, exact, append: append)
  }
}

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

  private struct Track {
    let envelope: EventEnvelope
    private var index = 0

    init(_ envelope: EventEnvelope) { self.envelope = envelope }

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
      overlapping.formUnion(active.map { $0.envelope.event })
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

/// Fewer corners for the same curve, by the algorithm of Douglas and Peucker: of each segment the
/// corner farthest from its chord is kept.
///
/// Source: D. Douglas, T. Peucker, Algorithms for the reduction of the number of points required to
/// represent a digitized line, 1973; distances are those of values at a time.
struct PointReduction {
  /// The corners that are kept; the first and the last are always.
  private(set) var points: [EnvelopePoint]
  /// How far the curve is from the given one at most.
  private(set) var error: Double

  /// Corners of one block are compared with all others of it at worst, so that work is bounded.
  private static let block = 2048

  /// Keeps as few corners as a tolerance allows.
  ///
  /// - Parameter sharpnessWeight: What differences of sharpness count beside those of level; 0 for
  ///   curves of one value.
  init(_ given: [EnvelopePoint], tolerance: Double, sharpnessWeight: Double = 1) {
    var kept: [Int] = []
    var worst = 0.0
    var start = 0
    while start < given.count - 1 {
      let end = min(start + Self.block, given.count - 1)
      var stack = [(start, end)]
      while let (from, to) = stack.popLast() {
        let (error, index) = Self.farthest(given, from, to, sharpnessWeight)
        if error > tolerance, let index {
          stack.append((index, to))
          stack.append((from, index))
        } else {
          worst = max(worst, error)
          kept.append(from)
        }
      }
      start = end
    }
    if let last = given.indices.last { kept.append(last) }
    points = kept.map { given[$0] }
    error = worst
  }

  /// Keeps the most important corners up to a count of at least two, and no more than a tolerance
  /// needs.
  init(_ given: [EnvelopePoint], count: Int, tolerance: Double = 0, sharpnessWeight: Double = 1) {
    guard given.count > 2 else {
      points = given
      error = 0
      return
    }
    typealias Segment = (error: Double, from: Int, to: Int, index: Int?)
    func segment(_ from: Int, _ to: Int) -> Segment {
      let (error, index) = Self.farthest(given, from, to, sharpnessWeight)
      return (error, from, to, index)
    }
    var segments = [segment(0, given.count - 1)]
    while segments.count + 1 < count, let worst = segments.indices.max(by: { segments[$0].error < segments[$1].error }),
      segments[worst].error > tolerance, let index = segments[worst].index
    {
      let (_, from, to, _) = segments[worst]
      segments[worst] = segment(from, index)
      segments.insert(segment(index, to), at: worst + 1)
    }
    points = segments.map { given[$0.from] } + [given[given.count - 1]]
    error = segments.map { $0.error }.max() ?? 0
  }

  /// The corner between two that is farthest from their chord, and how far it is.
  private static func farthest(_ points: [EnvelopePoint], _ from: Int, _ to: Int, _ weight: Double) -> (Double, Int?) {
    guard to - from > 1 else { return (0, nil) }
    let (first, last) = (points[from], points[to])
    var worst = -1.0
    var index: Int?
    for candidate in from + 1..<to {
      let point = points[candidate]
      let line = EnvelopePoint.between(first, last, at: point.time)
      let error = max(abs(point.level - line.level), weight * abs(point.sharpness - line.sharpness))
      if error > worst { (worst, index) = (error, candidate) }
    }
    return (worst, index)
  }
}
