internal import CMath
internal import HapticFormats
internal import HapticModel

/// A breakpoint of a level and a sharpness that are linear between breakpoints. Two points with the
/// same time are a jump.
struct EnvelopePoint: Equatable {
  /// The time from the start of the composition, in seconds.
  var time: Double
  /// The level, 0…1: an intensity or an amplitude.
  var level: Double
  /// The sharpness: 0…1, or unlimited on the scale of a writer with frequencies.
  var sharpness: Double

  static func interpolated(from: EnvelopePoint, to: EnvelopePoint, at time: Double) -> EnvelopePoint
  {
    let timeSpan = to.time - from.time
    guard timeSpan > 0 else { return to }
    let fraction = (time - from.time) / timeSpan
    return EnvelopePoint(
      time: time, level: from.level + (to.level - from.level) * fraction,
      sharpness: from.sharpness + (to.sharpness - from.sharpness) * fraction)
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
  var eventReference: EventReference
  var kind: HapticEvent.Kind
  /// The breakpoints, sorted by time: one for a transient, at least two for a continuous event.
  var points: [EnvelopePoint]
  /// A Boolean value that indicates whether lines between the points approximate the level.
  var isApproximated = false

  var startTime: Double { points[0].time }
  /// The end of the event, in seconds; the onset of a transient.
  var endTime: Double { points[points.count - 1].time }
}

/// The quantity of an envelope's levels, and its relation to intensity.
struct EnvelopeScale: Equatable {
  /// The quantity of a level.
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
  /// A Boolean value that indicates whether the level is a linear function of the amplitude gain.
  var isLinearInGain: Bool { quantity == .amplitude || mapping == .linear }
}

/// The conversion of a layer's sharpness to the scale of a writer.
private struct PitchConversion {
  /// The scale of the layer.
  private let sourceScale: SharpnessScale
  /// The scale of the writer.
  private let targetScale: SharpnessScale
  /// A Boolean value that indicates whether the sharpness of the layer is limited to 0…1.
  let clampsSharpness: Bool

  /// Creates a conversion.
  ///
  /// - Parameters:
  ///   - source: The scale of a layer that states hertz, or nil for sharpness, which has the
  ///     frequencies of the default profile.
  ///   - target: The scale of a writer with frequencies, or nil for sharpness.
  init(from source: SharpnessScale?, to target: SharpnessScale?) {
    self.sourceScale = source ?? .phone
    self.targetScale = target ?? source ?? .phone
    clampsSharpness = source == nil || target == nil
  }

  /// A Boolean value that indicates whether the conversion maps lines to lines.
  var isLinear: Bool { sourceScale.isLogarithmic == targetScale.isLogarithmic }

  /// Returns the sharpness of an event on the scale of the layer.
  func sharpness(of event: HapticEvent) -> Double {
    clampsSharpness ? Double(event.value(of: .hapticSharpness)) : event.unclampedSharpness
  }

  /// Returns the sharpness on the scale of the writer.
  ///
  /// - Parameter sum: The sum of an event's sharpness and its control.
  func sharpness(_ sum: Double) -> Double {
    let effectiveSharpness = clampsSharpness ? min(max(sum, 0), 1) : sum
    if sourceScale == targetScale { return effectiveSharpness }
    return targetScale.sharpness(ofHertz: sourceScale.hertz(ofSharpness: effectiveSharpness))
  }
}

/// Converts the haptic events of a composition into piecewise linear envelopes.
///
/// 1. Collect the breakpoints of the envelope times and controls that act on an event.
/// 2. Add the times at which the sharpness reaches or leaves its range.
/// 3. Compute the exact level at these times. Between two of them, if the level is not linear, add
///    points by bisection until the lines are within the tolerance.
struct EnvelopeSampler {
  let levelScale: EnvelopeScale
  let tolerance: Double
  /// The scale of the writer's frequencies, on which sharpness is not limited; nil for sharpness.
  let targetSharpnessScale: SharpnessScale?

  /// The maximum number of bisections between two breakpoints.
  private static let maximumSubdivisionDepth = 14

  init(
    _ quantity: EnvelopeScale.Quantity, mapping: AmplitudeMapping = .root,
    tolerance: Double = WritingOptions.defaultTolerance, frequencies: SharpnessScale? = nil
  ) {
    self.targetSharpnessScale = frequencies
    levelScale = EnvelopeScale(quantity: quantity, mapping: mapping)
    self.tolerance = max(tolerance, 1e-6)
  }

  /// Returns the envelopes of all haptic events, sorted by start; events that start together keep
  /// their order. Continuous events without a duration are omitted.
  ///
  /// - Complexity: O(*p* + *n* log *n*) for *p* breakpoints and *n* events.
  func envelopes(of composition: HapticComposition) -> [EventEnvelope] {
    var envelopes: [EventEnvelope] = []
    for (layerIndex, layer) in composition.layers.enumerated() {
      let controls = Controls(
        of: layer, pitch: PitchConversion(from: layer.sharpnessScale, to: targetSharpnessScale))
      for (index, event) in layer.pattern.events.enumerated() where event.kind.isHaptic {
        let (points, isApproximated) = points(of: event, controls: controls)
        guard !points.isEmpty else { continue }
        envelopes.append(
          EventEnvelope(
            eventReference: EventReference(layer: layerIndex, event: index),
            kind: event.kind.isTransient ? .hapticTransient : .hapticContinuous, points: points,
            isApproximated: isApproximated))
      }
    }
    return envelopes.indices.sorted {
      (envelopes[$0].startTime, $0) < (envelopes[$1].startTime, $1)
    }.map {
      envelopes[$0]
    }
  }

  /// Returns the envelopes, excluding those that end more than a day after the start, which readers
  /// reject.
  func envelopes(of composition: HapticComposition, losses: inout LossLog) -> [EventEnvelope] {
    let envelopesByValidity = Dictionary(grouping: envelopes(of: composition)) {
      $0.endTime <= FrameConversion.maximumSeconds
    }
    for envelope in envelopesByValidity[false] ?? [] {
      losses.add(
        .dropped, .event(envelope.eventReference),
        "the event ends more than a day after the start of the pattern")
    }
    return envelopesByValidity[true] ?? []
  }

  /// Adds a loss if lines approximate the level of an event.
  func addApproximation(of envelopes: [EventEnvelope], to losses: inout LossLog) {
    guard envelopes.contains(where: { $0.isApproximated }) else { return }
    losses.add(
      .approximated, .composition,
      "envelopes are approximated by straight lines, with an error of up to # of full scale",
      size: tolerance)
  }

  /// The controls of a layer that act on haptic events.
  private struct Controls {
    let intensity: ControlTimeline
    let sharpness: ControlTimeline
    let attack: ControlTimeline
    let decay: ControlTimeline
    let release: ControlTimeline
    let pitch: PitchConversion

    init(of layer: HapticComposition.Layer, pitch: PitchConversion) {
      self.pitch = pitch
      func control(_ id: DynamicParameterID) -> ControlTimeline {
        ControlTimeline(of: id, in: layer)
      }
      intensity = control(.hapticIntensityControl)
      sharpness = control(.hapticSharpnessControl)
      attack = control(.hapticAttackTimeControl)
      decay = control(.hapticDecayTimeControl)
      release = control(.hapticReleaseTimeControl)
    }
  }

  /// Returns the points of an event, and whether the lines between them approximate its level.
  private func points(
    of event: HapticEvent, controls: Controls
  ) -> (points: [EnvelopePoint], isApproximated: Bool) {
    guard event.kind.isVibration else {
      return ([transientPoint(of: event, controls: controls)], false)
    }
    let intensity = Double(event.value(of: .hapticIntensity))
    let sharpness = controls.pitch.sharpness(of: event)
    let holdDuration = event.duration ?? HapticEvent.defaultDuration
    guard holdDuration > 0, (event.time + holdDuration).isFinite else { return ([], false) }
    let envelopeShape = Self.shape(of: event, hold: holdDuration, controls: controls)
    let times = breakpointTimes(of: event, shape: envelopeShape, controls: controls)
    var points: [EnvelopePoint] = []
    var isApproximated = false
    var cursors = (
      intensity: controls.intensity.segmentIndex(at: times[0]),
      sharpness: controls.sharpness.segmentIndex(at: times[0])
    )
    func append(_ point: EnvelopePoint) {
      if points.last != point {
        points.append(point)
      }
    }
    for (from, to) in zip(times, times.dropFirst()) where to > from {
      _ = controls.intensity.value(at: from, cursor: &cursors.intensity)
      _ = controls.sharpness.value(at: from, cursor: &cursors.sharpness)
      let intensitySegment = controls.intensity.segments[cursors.intensity]
      let sharpnessSegment = controls.sharpness.segments[cursors.sharpness]
      // Within the interval, each control is a single line, so evaluate it at both ends.
      let gains = (
        Self.envelopeGain(of: envelopeShape, at: from - event.time, isLineStart: true),
        Self.envelopeGain(of: envelopeShape, at: to - event.time, isLineStart: false)
      )
      func point(at time: Double) -> EnvelopePoint {
        let fraction = (time - from) / (to - from)
        let gain = gains.0 + (gains.1 - gains.0) * fraction
        let level = min(max(intensitySegment.value(at: time), 0), 1) * intensity
        return EnvelopePoint(
          time: time, level: levelScale.level(intensity: level, gain: gain),
          sharpness: controls.pitch.sharpness(sharpnessSegment.value(at: time) + sharpness))
      }
      let first = point(at: from)
      let last = point(at: to)
      append(first)
      let isLevelStraight =
        gains.0 == gains.1
        ? levelScale.isLinearInIntensity || intensitySegment.slope == 0
        : intensitySegment.slope == 0 && levelScale.isLinearInGain
      let isStraight =
        isLevelStraight && (controls.pitch.isLinear || sharpnessSegment.slope == 0)
      if !isStraight {
        isApproximated = true
        subdivide(from: first, to: last, point, append: append)
      }
      append(last)
    }
    return (points, isApproximated)
  }

  private func transientPoint(of event: HapticEvent, controls: Controls) -> EnvelopePoint {
    let intensity = Double(event.value(of: .hapticIntensity))
    let level = intensity * controls.intensity.value(at: event.time)
    let sharpness = controls.pitch.sharpness(of: event)
    return EnvelopePoint(
      time: event.time, level: levelScale.level(intensity: level, gain: 1),
      sharpness: controls.pitch.sharpness(sharpness + controls.sharpness.value(at: event.time)))
  }

  /// Returns the envelope of an event, with the envelope times of the controls at its start.
  private static func shape(of event: HapticEvent, hold: Double, controls: Controls)
    -> EnvelopeShape
  {
    func seconds(_ id: EventParameterID, _ control: ControlTimeline) -> Double {
      EnvelopeTimes.seconds(normalized: event.value(of: id) + Float(control.value(at: event.time)))
    }
    return EnvelopeShape(
      hold: hold, attack: seconds(.attackTime, controls.attack),
      decay: seconds(.decayTime, controls.decay),
      release: seconds(.releaseTime, controls.release),
      isSustained: event.value(of: .sustained) >= 0.5)
  }

  /// Returns the ascending times between which the envelope and both controls are lines.
  private func breakpointTimes(of event: HapticEvent, shape: EnvelopeShape, controls: Controls)
    -> [Double]
  {
    var times = [
      event.time, event.time + shape.riseEnd, event.time + shape.releaseStart,
      event.time + shape.end,
    ]
    let envelopeRange = times[0]...times[3]
    for control in [controls.intensity, controls.sharpness] {
      var index = control.segmentIndex(at: envelopeRange.lowerBound) + 1
      while index < control.segments.count, control.segments[index].start < envelopeRange.upperBound
      {
        times.append(control.segments[index].start)
        index += 1
      }
    }
    if controls.pitch.clampsSharpness {
      let sharpness = controls.pitch.sharpness(of: event)
      times.append(
        contentsOf: clampingTimes(of: controls.sharpness, offset: sharpness, in: envelopeRange))
    }
    times.sort()
    return times
  }

  /// Returns the amplitude gain at a time after the onset. At a breakpoint, the gain belongs to the
  /// segment that starts there if `isLineStart` is true, otherwise to the segment that ends
  /// there.
  private static func envelopeGain(of shape: EnvelopeShape, at time: Double, isLineStart: Bool)
    -> Double
  {
    if time < shape.riseEnd || (time == shape.riseEnd && !isLineStart && shape.riseEnd > 0) {
      return shape.riseLevel * (time / shape.riseEnd)
    }
    if time < shape.releaseStart || (time == shape.releaseStart && !isLineStart) {
      let span = shape.releaseStart - shape.riseEnd
      guard span > 0 else { return shape.releaseLevel }
      return shape.riseLevel + (shape.releaseLevel - shape.riseLevel) * (time - shape.riseEnd)
        / span
    }
    let releaseDuration = shape.end - shape.releaseStart
    return releaseDuration > 0
      ? max(shape.releaseLevel * (shape.end - time) / releaseDuration, 0) : shape.releaseLevel
  }

  /// Returns the times at which the sum of a control and an offset enters or leaves 0…1.
  private func clampingTimes(
    of control: ControlTimeline, offset: Double, in range: ClosedRange<Double>
  )
    -> [Double]
  {
    var crossingTimes: [Double] = []
    var segmentIndex = control.segmentIndex(at: range.lowerBound)
    while segmentIndex < control.segments.count,
      control.segments[segmentIndex].start < range.upperBound
    {
      let segment = control.segments[segmentIndex]
      let next =
        segmentIndex + 1 < control.segments.count
        ? control.segments[segmentIndex + 1].start : .infinity
      if segment.slope != 0 {
        for bound in [0.0, 1.0] {
          let time = segment.start + (bound - offset - segment.value) / segment.slope
          if time > segment.start, time < next, range.contains(time) {
            crossingTimes.append(time)
          }
        }
      }
      segmentIndex += 1
    }
    return crossingTimes
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
    let timeSpan = last.time - first.time
    guard depth < Self.maximumSubdivisionDepth, timeSpan > 1e-7 else { return }
    let maximumDeviation = [0.25, 0.5, 0.75].reduce(0.0) { worst, share in
      let point = exact(first.time + timeSpan * share)
      let line = EnvelopePoint.interpolated(from: first, to: last, at: point.time)
      return max(worst, abs(point.level - line.level), abs(point.sharpness - line.sharpness))
    }
    guard maximumDeviation > tolerance else { return }
    let exactMidpoint = exact(first.time + timeSpan / 2)
    subdivide(from: first, to: exactMidpoint, depth: depth + 1, exact, append: append)
    append(exactMidpoint)
    subdivide(from: exactMidpoint, to: last, depth: depth + 1, exact, append: append)
  }
}
