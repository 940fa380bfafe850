internal import CMath
internal import HapticFormats
package import HapticModel

/// A mapping between sharpness and frequency, for formats that store frequencies in hertz.
public struct SharpnessScale: Equatable, Sendable {
  /// The frequency of sharpness 0, in hertz.
  public var minimumHertz: Double
  /// The frequency of sharpness 1, in hertz.
  public var maximumHertz: Double
  /// A Boolean value that indicates whether equal steps of sharpness are equal frequency ratios
  /// instead of equal frequency differences.
  public var isLogarithmic: Bool

  /// The scale of the profile `phone`, 80–230 Hz in equal ratios. The default for formats without a
  /// scale of their own.
  public static let phone = SharpnessScale(minimumHertz: 80, maximumHertz: 230, isLogarithmic: true)
  /// The scale of MPEG-I haptics, 65–300 Hz in equal differences.
  ///
  /// Source: MPEGGroup/HapticReferenceSoftware, 2de9ff1, the AHAP input of its encoder.
  public static let mpeg = SharpnessScale(minimumHertz: 65, maximumHertz: 300, isLogarithmic: false)

  /// Returns the frequency of a sharpness, in hertz, without clamping.
  public func hertz(ofSharpness sharpness: Double) -> Double {
    isLogarithmic
      ? minimumHertz * pow(maximumHertz / minimumHertz, sharpness)
      : minimumHertz + (maximumHertz - minimumHertz) * sharpness
  }

  /// Returns the sharpness of a positive frequency, without clamping: values outside 0…1 are beyond
  /// the scale.
  public func sharpness(ofHertz hertz: Double) -> Double {
    isLogarithmic
      ? log(hertz / minimumHertz) / log(maximumHertz / minimumHertz)
      : (hertz - minimumHertz) / (maximumHertz - minimumHertz)
  }
}

/// The mapping between sharpness and the frequency envelope of `.haptic` files: sharpness is the
/// square root of frequency. The frequency of an emphasis equals its sharpness.
///
/// Source: as for ``AmplitudeMapping/root``.
enum ClipFrequencyMapping {
  static func sharpness(ofFrequency frequency: Double) -> Double { frequency.squareRoot() }
  static func frequency(ofSharpness sharpness: Double) -> Double { sharpness * sharpness }
}

/// Conversions between fractions and percent.
enum PercentScale {
  static func fraction(ofPercent percent: Double) -> Double { percent / 100 }
  static func percent(ofFraction share: Double) -> Double { share * 100 }
}

struct Quantizer {
  /// The maximum rounding error of floating-point numbers that is not reported as a loss.
  static let roundingTolerance = 1e-6

  /// The maximum rounding errors of times, in milliseconds, and of levels, as a fraction of full
  /// scale.
  private var maximumErrors = (time: 0.0, level: 0.0)

  mutating func milliseconds(_ seconds: Double) -> Int {
    let exact = min(max(seconds, 0), FrameConversion.maximumSeconds) * 1000
    maximumErrors.time = max(maximumErrors.time, abs(exact.rounded() - exact))
    return FrameConversion.integer(exact)
  }

  mutating func percent(_ share: Double) -> Int {
    let exact = PercentScale.percent(ofFraction: share)
    maximumErrors.level = max(maximumErrors.level, abs(exact.rounded() - exact) / 100)
    return FrameConversion.integer(exact)
  }

  func reportErrors(to losses: inout LossLog) {
    if maximumErrors.time > Self.roundingTolerance * 1000 {
      losses.add(
        .approximated, .composition, "times are rounded to milliseconds, by up to # ms",
        size: maximumErrors.time)
    }
    if maximumErrors.level > Self.roundingTolerance {
      losses.add(
        .approximated, .composition, "levels are rounded to percent, by up to # of full scale",
        size: maximumErrors.level)
    }
  }
}

extension LossLog {
  mutating func add(_ merged: MergedEnvelope) {
    for event in merged.overlappingEvents.sorted() {
      add(.approximated, .event(event), "events that sound together are merged into one envelope")
    }
    for event in merged.droppedEvents {
      add(.dropped, .event(event), "too many events sound at once")
    }
  }
}

/// A breakpoint of a level and a sharpness that are linear between breakpoints. Two points with the
/// same time are a jump.
struct EnvelopePoint: Equatable {
  /// The time from the start of the composition, in seconds.
  var time: Double
  /// The level, 0…1: an intensity or an amplitude.
  var level: Double
  /// The sharpness, 0…1.
  var sharpness: Double

  static func interpolated(from: EnvelopePoint, to: EnvelopePoint, at time: Double) -> EnvelopePoint
  {
    let span = to.time - from.time
    guard span > 0 else { return to }
    let share = (time - from.time) / span
    return EnvelopePoint(
      time: time, level: from.level + (to.level - from.level) * share,
      sharpness: from.sharpness + (to.sharpness - from.sharpness) * share)
  }
}

extension EnvelopePoint {
  /// Returns the points that divide the line to another point into equal parts, without its ends.
  func subdivided(to end: EnvelopePoint, count: Int) -> [EnvelopePoint] {
    (1..<max(count, 1)).map {
      .interpolated(from: self, to: end, at: time + (end.time - time) * Double($0) / Double(count))
    }
  }
}

extension [EnvelopePoint] {
  /// Returns the interpolated point at a time, or nil before the first point and from the last
  /// point on.
  ///
  /// - Parameters:
  ///   - time: The time, in seconds; not before that of the preceding call.
  ///   - cursor: The index of the segment; start with 0, and pass the same variable to every call.
  func point(at time: Double, cursor: inout Int) -> EnvelopePoint? {
    guard let first, time >= first.time else { return nil }
    while cursor + 1 < count, self[cursor + 1].time <= time {
      cursor += 1
    }
    return cursor + 1 < count
      ? .interpolated(from: self[cursor], to: self[cursor + 1], at: time) : nil
  }
}

/// The level and sharpness of one haptic event over time, including its envelope times and the
/// parameters and curves of its layer.
struct EventEnvelope {
  var event: EventReference
  var kind: HapticEvent.Kind
  /// The breakpoints, sorted by time: one for a transient, at least two for a continuous event.
  var points: [EnvelopePoint]

  var start: Double { points[0].time }
  /// The end of the event, in seconds; the onset of a transient.
  var end: Double { points[points.count - 1].time }
}

struct EnvelopeScale: Equatable {
  enum Quantity { case intensity, amplitude }

  var quantity: Quantity
  var mapping: AmplitudeMapping

  /// Returns the level of an event whose amplitude is multiplied by a gain.
  func level(intensity: Double, gain: Double) -> Double {
    switch quantity {
    case .intensity: intensity * (gain == 1 ? 1 : mapping.intensity(ofAmplitude: gain))
    case .amplitude: mapping.amplitude(ofIntensity: intensity) * gain
    }
  }

  func amplitude(ofLevel level: Double) -> Double {
    quantity == .amplitude ? level : mapping.amplitude(ofIntensity: level)
  }

  func level(ofAmplitude amplitude: Double) -> Double {
    quantity == .amplitude ? amplitude : mapping.intensity(ofAmplitude: amplitude)
  }

  /// A Boolean value that indicates whether the level is a linear function of intensity.
  var isLinearInIntensity: Bool { quantity == .intensity || mapping == .linear }
}

/// Converts the haptic events of a composition into piecewise linear envelopes.
///
/// 1. Collect the breakpoints of the envelope times and controls that act on an event.
/// 2. Add the times at which the sharpness reaches or leaves its range.
/// 3. Compute the exact level at these times. Between two of them, if the level is not linear, add
///    points by bisection until the lines are within the tolerance.
struct EnvelopeSampler {
  let scale: EnvelopeScale
  let tolerance: Double

  /// The maximum number of bisections between two breakpoints.
  private static let maximumDepth = 14

  init(
    _ quantity: EnvelopeScale.Quantity, mapping law: AmplitudeMapping = .root,
    tolerance: Double = WritingOptions.defaultTolerance
  ) {
    scale = EnvelopeScale(quantity: quantity, mapping: law)
    self.tolerance = max(tolerance, 1e-6)
  }

  /// Returns the envelopes of all haptic events, sorted by start; events that start together keep
  /// their order. Continuous events without a duration are omitted.
  ///
  /// - Complexity: O(*p* + *n* log *n*) for *p* breakpoints and *n* events.
  func envelopes(of composition: HapticComposition) -> [EventEnvelope] {
    var all: [EventEnvelope] = []
    for (layer, each) in composition.layers.enumerated() {
      let controls = Controls(of: each.pattern)
      for (index, event) in each.pattern.events.enumerated() where event.kind.isHaptic {
        let points = points(of: event, controls: controls)
        guard !points.isEmpty else { continue }
        all.append(
          EventEnvelope(
            event: EventReference(layer: layer, event: index),
            kind: event.kind.isTransient ? .hapticTransient : .hapticContinuous, points: points))
      }
    }
    return all.indices.sorted { (all[$0].start, $0) < (all[$1].start, $1) }.map { all[$0] }
  }

  /// Returns the envelopes without those that end more than a day after the start, which no reader
  /// accepts.
  func envelopes(of composition: HapticComposition, losses: inout LossLog) -> [EventEnvelope] {
    let all = Dictionary(grouping: envelopes(of: composition)) {
      $0.end <= FrameConversion.maximumSeconds
    }
    for late in all[false] ?? [] {
      losses.add(.dropped, .event(late.event), "the event ends more than a day after the start")
    }
    return all[true] ?? []
  }

  private struct Controls {
    let intensity, sharpness, attack, decay, release: ControlTimeline

    init(of pattern: HapticPattern) {
      func control(_ id: DynamicParameterID) -> ControlTimeline {
        ControlTimeline(of: id, in: pattern)
      }
      intensity = control(.hapticIntensityControl)
      sharpness = control(.hapticSharpnessControl)
      attack = control(.hapticAttackTimeControl)
      decay = control(.hapticDecayTimeControl)
      release = control(.hapticReleaseTimeControl)
    }
  }

  private func points(of event: HapticEvent, controls: Controls) -> [EnvelopePoint] {
    let intensity = Double(event.value(of: .hapticIntensity))
    let sharpness = Double(event.value(of: .hapticSharpness))
    guard event.kind.isVibration else {
      let level = intensity * controls.intensity.value(at: event.time)
      let tone = min(max(sharpness + controls.sharpness.value(at: event.time), 0), 1)
      return [
        EnvelopePoint(
          time: event.time, level: scale.level(intensity: level, gain: 1), sharpness: tone)
      ]
    }
    let hold = event.duration ?? HapticEvent.defaultDuration
    guard hold > 0, (event.time + hold).isFinite else { return [] }
    func seconds(_ id: EventParameterID, _ control: ControlTimeline) -> Double {
      EnvelopeTimes.seconds(normalized: event.value(of: id) + Float(control.value(at: event.time)))
    }
    let shape = EnvelopeShape(
      hold: hold, attack: seconds(.attackTime, controls.attack),
      decay: seconds(.decayTime, controls.decay),
      release: seconds(.releaseTime, controls.release),
      isSustained: event.value(of: .sustained) >= 0.5)
    var times = [
      event.time, event.time + shape.riseEnd, event.time + shape.releaseStart,
      event.time + shape.end,
    ]
    let range = times[0]...times[3]
    for control in [controls.intensity, controls.sharpness] {
      var index = control.index(at: range.lowerBound) + 1
      while index < control.segments.count, control.segments[index].start < range.upperBound {
        times.append(control.segments[index].start)
        index += 1
      }
    }
    times.append(contentsOf: clampingTimes(of: controls.sharpness, offset: sharpness, in: range))
    times.sort()
    var points: [EnvelopePoint] = []
    var cursors = (
      intensity: controls.intensity.index(at: range.lowerBound),
      sharpness: controls.sharpness.index(at: range.lowerBound)
    )
    func append(_ point: EnvelopePoint) {
      if points.last != point {
        points.append(point)
      }
    }
    for (from, to) in zip(times, times.dropFirst()) where to > from {
      _ = controls.intensity.value(at: from, cursor: &cursors.intensity)
      _ = controls.sharpness.value(at: from, cursor: &cursors.sharpness)
      let line = controls.intensity.segments[cursors.intensity]
      let toneLine = controls.sharpness.segments[cursors.sharpness]
      // Each control is a single line within the interval, so the values at its ends are taken from
      // this line.
      let gains = (
        Self.gain(of: shape, at: from - event.time, isLineStart: true),
        Self.gain(of: shape, at: to - event.time, isLineStart: false)
      )
      func point(at time: Double) -> EnvelopePoint {
        let share = (time - from) / (to - from)
        let gain = gains.0 + (gains.1 - gains.0) * share
        let level = min(max(line.value(at: time), 0), 1) * intensity
        return EnvelopePoint(
          time: time, level: scale.level(intensity: level, gain: gain),
          sharpness: min(max(toneLine.value(at: time) + sharpness, 0), 1))
      }
      let first = point(at: from)
      let last = point(at: to)
      append(first)
      let isStraight =
        gains.0 == gains.1
        ? scale.isLinearInIntensity || line.slope == 0
        : line.slope == 0 && (scale.quantity == .amplitude || scale.mapping == .linear)
      if !isStraight {
        subdivide(from: first, to: last, point, append: append)
      }
      append(last)
    }
    return points
  }

  /// Returns the amplitude gain at a time after the onset. At a breakpoint, the gain belongs to the
  /// segment that starts there if `startsSegment` is true, otherwise to the segment that ends
  /// there.
  private static func gain(of shape: EnvelopeShape, at time: Double, isLineStart starts: Bool)
    -> Double
  {
    if time < shape.riseEnd || (time == shape.riseEnd && !starts && shape.riseEnd > 0) {
      return shape.riseLevel * (time / shape.riseEnd)
    }
    if time < shape.releaseStart || (time == shape.releaseStart && !starts) {
      let span = shape.releaseStart - shape.riseEnd
      guard span > 0 else { return shape.releaseLevel }
      return shape.riseLevel + (shape.releaseLevel - shape.riseLevel) * (time - shape.riseEnd)
        / span
    }
    let span = shape.end - shape.releaseStart
    return span > 0 ? max(shape.releaseLevel * (shape.end - time) / span, 0) : shape.releaseLevel
  }

  /// Returns the times at which the sum of a control and an offset enters or leaves 0…1.
  private func clampingTimes(
    of control: ControlTimeline, offset: Double, in range: ClosedRange<Double>
  )
    -> [Double]
  {
    var times: [Double] = []
    var index = control.index(at: range.lowerBound)
    while index < control.segments.count, control.segments[index].start < range.upperBound {
      let segment = control.segments[index]
      let next = index + 1 < control.segments.count ? control.segments[index + 1].start : .infinity
      if segment.slope != 0 {
        for bound in [0.0, 1.0] {
          let time = segment.start + (bound - offset - segment.value) / segment.slope
          if time > segment.start, time < next, range.contains(time) {
            times.append(time)
          }
        }
      }
      index += 1
    }
    return times
  }

  /// Adds points between two points until straight lines are within the tolerance of the exact
  /// level.
  ///
  /// - Parameters:
  ///   - first: The start of the line.
  ///   - last: The end of the line.
  ///   - depth: The number of bisections so far.
  ///   - exact: Returns the exact point at a time.
  ///   - append: Receives the added points, in order.
  func subdivide(
    from first: EnvelopePoint, to last: EnvelopePoint, depth: Int = 0,
    _ exact: (Double) -> EnvelopePoint,
    append: (EnvelopePoint) -> Void
  ) {
    let span = last.time - first.time
    guard depth < Self.maximumDepth, span > 1e-7 else { return }
    let error = [0.25, 0.5, 0.75].reduce(0.0) { worst, share in
      let point = exact(first.time + span * share)
      let line = EnvelopePoint.interpolated(from: first, to: last, at: point.time)
      return max(worst, abs(point.level - line.level), abs(point.sharpness - line.sharpness))
    }
    guard error > tolerance else { return }
    let middle = exact(first.time + span / 2)
    subdivide(from: first, to: middle, depth: depth + 1, exact, append: append)
    append(middle)
    subdivide(from: middle, to: last, depth: depth + 1, exact, append: append)
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
          let own = scale.amplitude(ofLevel: point.level)
          amplitude += own
          weighted += own * point.sharpness
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

/// A simplified curve by the Ramer–Douglas–Peucker algorithm: a segment is divided at the point
/// farthest from its chord for as long as the distance exceeds the tolerance. Distances are
/// measured between values at the same time.
///
/// Source: D. Douglas, T. Peucker, *Algorithms for the reduction of the number of points required
/// to represent a digitized line*, 1973.
struct PointReduction {
  /// The remaining points, including the first and the last.
  private(set) var points: [EnvelopePoint]
  /// The maximum distance between the simplified curve and the original.
  private(set) var maximumError: Double

  /// The number of points that are simplified together. It bounds the worst case, which is
  /// quadratic.
  private static let blockLength = 2048

  /// Removes as many points as a tolerance allows.
  ///
  /// - Parameters:
  ///   - original: The points, sorted by time.
  ///   - tolerance: The maximum distance.
  ///   - sharpnessWeight: The weight of sharpness differences relative to level differences; 0 for
  ///     curves with one value.
  init(_ given: [EnvelopePoint], tolerance: Double, sharpnessWeight: Double = 1) {
    var kept: [Int] = []
    var worst = 0.0
    var start = 0
    while start < given.count - 1 {
      let end = min(start + Self.blockLength, given.count - 1)
      var stack = [(start, end)]
      while let (from, to) = stack.popLast() {
        let (error, index) = Self.farthestPoint(
          in: given, from: from, to: to, sharpnessWeight: sharpnessWeight)
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
    if let last = given.indices.last {
      kept.append(last)
    }
    points = kept.map { given[$0] }
    maximumError = worst
  }

  /// Keeps the most important points.
  ///
  /// - Parameters:
  ///   - original: The points, sorted by time.
  ///   - maximumCount: The maximum number of points, at least 2.
  ///   - tolerance: The distance at which no more points are added.
  ///   - sharpnessWeight: The weight of sharpness differences relative to level differences.
  init(
    _ given: [EnvelopePoint], maximumCount count: Int, tolerance: Double = 0,
    sharpnessWeight: Double = 1
  ) {
    guard given.count > 2 else {
      points = given
      maximumError = 0
      return
    }
    typealias Segment = (error: Double, from: Int, to: Int, index: Int?)
    func segment(_ from: Int, _ to: Int) -> Segment {
      let (error, index) = Self.farthestPoint(
        in: given, from: from, to: to, sharpnessWeight: sharpnessWeight)
      return (error, from, to, index)
    }
    var segments = [segment(0, given.count - 1)]
    while segments.count + 1 < count,
      let worst = segments.indices.max(by: { segments[$0].error < segments[$1].error }),
      segments[worst].error > tolerance, let index = segments[worst].index
    {
      let (_, from, to, _) = segments[worst]
      segments[worst] = segment(from, index)
      segments.insert(segment(index, to), at: worst + 1)
    }
    points = segments.map { given[$0.from] } + [given[given.count - 1]]
    maximumError = segments.map { $0.error }.max() ?? 0
  }

  /// Returns the point between two points that is farthest from their chord, and its distance.
  private static func farthestPoint(
    in points: [EnvelopePoint], from: Int, to: Int, sharpnessWeight weight: Double
  )
    -> (Double, Int?)
  {
    guard to - from > 1 else { return (0, nil) }
    let first = points[from]
    let last = points[to]
    var worst = -1.0
    var index: Int?
    for candidate in from + 1..<to {
      let point = points[candidate]
      let line = EnvelopePoint.interpolated(from: first, to: last, at: point.time)
      let error = max(abs(point.level - line.level), weight * abs(point.sharpness - line.sharpness))
      if error > worst {
        worst = error
        index = candidate
      }
    }
    return (worst, index)
  }
}

/// Distributes events among as few layers as possible, so that no curve acts on an event that it
/// doesn't belong to.
///
/// All events without curves share the first layer. The others are assigned by greedy interval
/// partitioning: each goes to the layer that became free first, or to a new layer if none is free.
struct LayerBuilder {
  private struct CurvedEvent {
    var event: HapticEvent
    var curves: [ParameterCurve]
    var end: Double
  }

  private var plainEvents: [HapticEvent] = []
  private var curvedEvents: [CurvedEvent] = []
  /// For each added event: layer 0 and its index in `plainEvents`, or layer 1 and its index in
  /// `curvedEvents`.
  private var references: [EventReference] = []

  /// Adds an event without curves.
  ///
  /// - Returns: The index of the event in the order of addition.
  @discardableResult mutating func add(_ event: HapticEvent) -> Int {
    references.append(EventReference(layer: 0, event: plainEvents.count))
    plainEvents.append(event)
    return references.count - 1
  }

  /// Adds an event with the curves that act only on it. Each curve must start no later than the
  /// event.
  ///
  /// - Parameters:
  ///   - event: The event.
  ///   - curves: The curves of the event.
  ///   - end: The end of the event's release, in seconds; curves of other events may follow from
  ///     then on.
  /// - Returns: The index of the event in the order of addition.
  @discardableResult mutating func add(
    _ event: HapticEvent, curves: [ParameterCurve], until end: Double
  ) -> Int {
    if curves.isEmpty { return add(event) }
    references.append(EventReference(layer: 1, event: curvedEvents.count))
    curvedEvents.append(CurvedEvent(event: event, curves: curves, end: max(event.time, end)))
    return references.count - 1
  }

  /// Returns the layers, at least one, and the position of each added event in them.
  func build() -> (layers: [HapticComposition.Layer], references: [EventReference]) {
    var order = Array(curvedEvents.indices)
    let isSorted = zip(order, order.dropFirst()).allSatisfy {
      curvedEvents[$0].event.time <= curvedEvents[$1].event.time
    }
    if !isSorted {
      order.sort { (curvedEvents[$0].event.time, $0) < (curvedEvents[$1].event.time, $1) }
    }
    let first = plainEvents.isEmpty ? 0 : 1
    var places = Array(repeating: EventReference(event: 0), count: curvedEvents.count)
    var counts: [Int] = []
    // The end time of each free layer, in descending order.
    var free: [(end: Double, layer: Int)] = []
    for index in order {
      var layer = counts.count
      if let last = free.last, last.end <= curvedEvents[index].event.time {
        layer = last.layer
        free.removeLast()
      } else {
        counts.append(0)
      }
      // The layer that becomes free first is the last of the list; of several, the one with the
      // lowest index.
      let entry = (end: curvedEvents[index].end, layer: layer)
      var low = 0
      var high = free.count
      while low < high {
        let middle = (low + high) / 2
        if (free[middle].end, free[middle].layer) > (entry.end, entry.layer) {
          low = middle + 1
        } else {
          high = middle
        }
      }
      free.insert(entry, at: low)
      places[index] = EventReference(layer: first + layer, event: counts[layer])
      counts[layer] += 1
    }
    var patterns = plainEvents.isEmpty ? [] : [HapticPattern(events: plainEvents)]
    for count in counts {
      patterns.append(HapticPattern())
      patterns[patterns.count - 1].events.reserveCapacity(count)
      patterns[patterns.count - 1].curves.reserveCapacity(count)
    }
    for index in order {
      patterns[places[index].layer].events.append(curvedEvents[index].event)
      patterns[places[index].layer].curves += curvedEvents[index].curves
    }
    if patterns.isEmpty {
      patterns.append(HapticPattern())
    }
    return (
      patterns.map { HapticComposition.Layer($0) },
      references.map { $0.layer == 0 ? $0 : places[$0.event] }
    )
  }
}

/// The perceived difference between two compositions, as a fraction of full scale.
///
/// Continuous events are compared by their summed amplitude in windows of 20 ms, and by their
/// sharpness where both compositions are audible. Transients are compared one by one. Phases, and
/// the division into events and layers, make no difference.
package struct CompositionDifference: Equatable, Sendable {
  /// The maximum difference in the amplitude of continuous events.
  package private(set) var levelError = 0.0
  package private(set) var sharpnessError = 0.0
  /// The maximum difference in the amplitude or sharpness of transients. A missing transient counts
  /// with its amplitude.
  package private(set) var transientError = 0.0
  /// A Boolean value that indicates whether audio events or sampled signals differ.
  package private(set) var differsInSound = false

  /// The maximum of all differences; 1 if sound differs.
  package var maximum: Double {
    max(levelError, sharpnessError, transientError, differsInSound ? 1 : 0)
  }

  /// The length of a window, in seconds.
  private static let windowDuration = 0.02
  private static let stepsPerWindow = 10
  /// The offset of a sample within its step. It avoids whole milliseconds, where many formats jump.
  private static let stepOffset = 0.37
  /// The maximum number of windows that are compared.
  private static let maximumWindowCount = 100_000
  private static let timeTolerance = 0.003
  /// The amplitude above which sharpness is compared.
  private static let minimumAmplitude = 0.05

  /// Compares two compositions, with amplitude as the square of intensity.
  package init(_ one: HapticComposition, _ other: HapticComposition) {
    let sampler = EnvelopeSampler(.amplitude, tolerance: 1e-4)
    let left = sampler.envelopes(of: one)
    let right = sampler.envelopes(of: other)
    compareEnvelopes(
      MergedEnvelope(left, sampler: sampler).points, MergedEnvelope(right, sampler: sampler).points)
    compareTransients(
      left.filter { $0.kind == .hapticTransient }.map { $0.points[0] },
      right.filter { $0.kind == .hapticTransient }.map { $0.points[0] })
    differsInSound =
      Self.audioEvents(of: one) != Self.audioEvents(of: other)
      || Self.signals(of: one) != Self.signals(of: other)
  }

  private static func audioEvents(of composition: HapticComposition) -> [HapticEvent] {
    composition.layers.flatMap { $0.pattern.events }.filter { !$0.kind.isHaptic }
  }

  private static func signals(of composition: HapticComposition) -> [SampledSignal] {
    composition.layers.flatMap { $0.signals }
  }

  private mutating func compareEnvelopes(_ left: [EnvelopePoint], _ right: [EnvelopePoint]) {
    let end = max(left.last?.time ?? 0, right.last?.time ?? 0)
    let count = Int(min((end / Self.windowDuration).rounded(.up), Double(Self.maximumWindowCount)))
    let silence = EnvelopePoint(time: 0, level: 0, sharpness: 0)
    var cursors = (0, 0)
    for window in 0..<count {
      var means = (left: 0.0, right: 0.0)
      var weighted = (left: 0.0, right: 0.0)
      for step in 0..<Self.stepsPerWindow {
        let time =
          (Double(window) + (Double(step) + Self.stepOffset) / Double(Self.stepsPerWindow))
          * Self.windowDuration
        let one = left.point(at: time, cursor: &cursors.0) ?? silence
        let other = right.point(at: time, cursor: &cursors.1) ?? silence
        means.left += one.level / Double(Self.stepsPerWindow)
        means.right += other.level / Double(Self.stepsPerWindow)
        weighted.left += one.level * one.sharpness / Double(Self.stepsPerWindow)
        weighted.right += other.level * other.sharpness / Double(Self.stepsPerWindow)
      }
      levelError = max(levelError, abs(means.left - means.right))
      guard means.left > Self.minimumAmplitude, means.right > Self.minimumAmplitude else {
        continue
      }
      sharpnessError = max(
        sharpnessError, abs(weighted.left / means.left - weighted.right / means.right))
    }
  }

  private mutating func compareTransients(_ left: [EnvelopePoint], _ right: [EnvelopePoint]) {
    var one = 0
    var other = 0
    while one < left.count || other < right.count {
      let times = (
        one < left.count ? left[one].time : .infinity,
        other < right.count ? right[other].time : .infinity
      )
      if abs(times.0 - times.1) <= Self.timeTolerance {
        transientError = max(transientError, abs(left[one].level - right[other].level))
        transientError = max(transientError, abs(left[one].sharpness - right[other].sharpness))
        one += 1
        other += 1
      } else if times.0 < times.1 {
        transientError = max(transientError, left[one].level)
        one += 1
      } else {
        transientError = max(transientError, right[other].level)
        other += 1
      }
    }
  }
}
