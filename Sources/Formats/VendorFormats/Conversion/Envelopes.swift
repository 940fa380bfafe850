internal import CMath
internal import HapticFormats
internal import HapticModel

/// A breakpoint of an envelope. Level and sharpness are linear between breakpoints.
///
/// Two points with the same time form a jump.
struct EnvelopePoint: Equatable {
  /// The time of the breakpoint, in seconds from the start of the composition.
  var timeSeconds: Double
  /// The level at the breakpoint, 0…1: an intensity or an amplitude.
  var level: Double
  /// The sharpness at the breakpoint, 0…1.
  ///
  /// It is not limited on the scale of a format that states frequencies.
  var sharpness: Double

  static func interpolated(from: EnvelopePoint, to: EnvelopePoint, at time: Double) -> EnvelopePoint
  {
    let timeSpanSeconds = to.timeSeconds - from.timeSeconds
    guard timeSpanSeconds > 0 else { return to }
    let timeFraction = (time - from.timeSeconds) / timeSpanSeconds
    return EnvelopePoint(
      timeSeconds: time, level: from.level + (to.level - from.level) * timeFraction,
      sharpness: from.sharpness + (to.sharpness - from.sharpness) * timeFraction)
  }
}

extension EnvelopePoint {
  /// Returns the points that divide the line to another point into equal parts.
  ///
  /// Both ends are excluded.
  func pointsDividingLine(to end: EnvelopePoint, count: Int) -> [EnvelopePoint] {
    (1..<max(count, 1)).map {
      .interpolated(
        from: self, to: end,
        at: timeSeconds + (end.timeSeconds - timeSeconds) * Double($0) / Double(count))
    }
  }
}

extension [EnvelopePoint] {
  /// Returns the interpolated point of an envelope at a time.
  ///
  /// Returns nil before the first point and from the last point on.
  ///
  /// - Parameters:
  ///   - time: The time, in seconds; not before that of the preceding call.
  ///   - cursor: The index of the segment; start with 0, and pass the same variable to every call.
  func point(at time: Double, cursor: inout Int) -> EnvelopePoint? {
    guard let first, time >= first.timeSeconds else { return nil }
    while cursor + 1 < count, self[cursor + 1].timeSeconds <= time {
      cursor += 1
    }
    return cursor + 1 < count
      ? .interpolated(from: self[cursor], to: self[cursor + 1], at: time) : nil
  }
}

/// The envelope of one haptic event: its level and sharpness over time, including its envelope
/// times and the parameters and curves of its layer.
struct EventEnvelope {
  var eventReference: EventReference
  var kind: HapticEvent.Kind
  /// The breakpoints, sorted by time: one for a transient, at least two for a continuous event.
  var points: [EnvelopePoint]
  /// A Boolean value that indicates whether lines between the points only approximate the level.
  var hasApproximatedLevel = false

  var startSeconds: Double { points[0].timeSeconds }
  /// The end of the event, in seconds; the onset of a transient.
  var endSeconds: Double { points[points.count - 1].timeSeconds }
}

/// The scale of an envelope's levels: the quantity that they measure, and its relation to
/// intensity.
struct EnvelopeLevelScale: Equatable {
  /// The quantity that a level of the envelope measures.
  enum Quantity { case intensity, amplitude }

  var levelQuantity: Quantity
  var amplitudeMapping: AmplitudeMapping

  /// Returns the level of an event with its amplitude multiplied by a gain.
  func level(intensity: Double, gain: Double) -> Double {
    switch levelQuantity {
    case .intensity: intensity * (gain == 1 ? 1 : amplitudeMapping.intensity(ofAmplitude: gain))
    case .amplitude: amplitudeMapping.amplitude(ofIntensity: intensity) * gain
    }
  }

  func amplitude(ofLevel level: Double) -> Double {
    levelQuantity == .amplitude ? level : amplitudeMapping.amplitude(ofIntensity: level)
  }

  func level(ofAmplitude amplitude: Double) -> Double {
    levelQuantity == .amplitude ? amplitude : amplitudeMapping.intensity(ofAmplitude: amplitude)
  }

  /// A Boolean value that indicates whether the level is a linear function of intensity.
  var isLinearInIntensity: Bool { levelQuantity == .intensity || amplitudeMapping == .linear }
  /// A Boolean value that indicates whether the level is a linear function of the amplitude gain.
  var isLinearInGain: Bool { levelQuantity == .amplitude || amplitudeMapping == .linear }
}

/// The conversion of a layer's sharpness to the frequency scale of a written format.
private struct SharpnessScaleConversion {
  /// The scale on which the layer states sharpness.
  private let sourceScale: SharpnessScale
  /// The scale on which the written format states frequencies.
  private let targetScale: SharpnessScale
  /// A Boolean value that indicates whether the sharpness of the layer is limited to 0…1.
  let clampsSourceSharpness: Bool

  /// Creates the conversion from the scale of a layer to that of a written format.
  ///
  /// - Parameters:
  ///   - source: The scale of a layer that states hertz, or nil for sharpness, which has the
  ///     frequencies of the default profile.
  ///   - target: The scale of a writer with frequencies, or nil for sharpness.
  init(from source: SharpnessScale?, to target: SharpnessScale?) {
    self.sourceScale = source ?? .phone
    self.targetScale = target ?? source ?? .phone
    clampsSourceSharpness = source == nil || target == nil
  }

  /// A Boolean value that indicates whether the conversion maps straight lines to straight lines.
  var preservesStraightLines: Bool { sourceScale.isLogarithmic == targetScale.isLogarithmic }

  /// Returns the sharpness of an event on the layer's scale.
  func sharpness(of event: HapticEvent) -> Double {
    clampsSourceSharpness ? Double(event.value(of: .hapticSharpness)) : event.unclampedSharpness
  }

  /// Converts a sharpness to the scale of the written format.
  ///
  /// - Parameter sum: The sum of an event's sharpness and its control.
  func targetSharpness(ofSum sum: Double) -> Double {
    let effectiveSharpness = clampsSourceSharpness ? min(max(sum, 0), 1) : sum
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
  let levelScale: EnvelopeLevelScale
  let levelTolerance: Double
  /// The scale of the written format's frequencies; nil if the format states sharpness.
  ///
  /// Sharpness is not limited on this scale.
  let targetSharpnessScale: SharpnessScale?

  /// The maximum number of bisections between two breakpoints.
  private static let maximumSubdivisionDepth = 14

  init(
    _ quantity: EnvelopeLevelScale.Quantity, mapping: AmplitudeMapping = .root,
    levelTolerance tolerance: Double = WritingOptions.defaultCurveToleranceFraction,
    frequencies: SharpnessScale? = nil
  ) {
    self.targetSharpnessScale = frequencies
    levelScale = EnvelopeLevelScale(levelQuantity: quantity, amplitudeMapping: mapping)
    self.levelTolerance = max(tolerance, 1e-6)
  }

  /// Returns the envelopes of all haptic events, sorted by start.
  ///
  /// Events that start together keep their order. Continuous events without a duration are omitted.
  ///
  /// - Complexity: O(*p* + *n* log *n*) for *p* breakpoints and *n* events.
  func envelopes(of composition: HapticComposition) -> [EventEnvelope] {
    var eventEnvelopes: [EventEnvelope] = []
    for (layerIndex, layer) in composition.layers.enumerated() {
      let controls = ControlTimelines(
        of: layer,
        sharpnessConversion: SharpnessScaleConversion(
          from: layer.sharpnessScale, to: targetSharpnessScale))
      for (index, event) in layer.pattern.events.enumerated() where event.kind.isHaptic {
        let (points, isApproximated) = breakpoints(of: event, controls: controls)
        guard !points.isEmpty else { continue }
        eventEnvelopes.append(
          EventEnvelope(
            eventReference: EventReference(layerIndex: layerIndex, eventIndex: index),
            kind: event.kind.isTransient ? .hapticTransient : .hapticContinuous, points: points,
            hasApproximatedLevel: isApproximated))
      }
    }
    return eventEnvelopes.indices.sorted {
      (eventEnvelopes[$0].startSeconds, $0) < (eventEnvelopes[$1].startSeconds, $1)
    }.map {
      eventEnvelopes[$0]
    }
  }

  /// Returns the envelopes that end within a day after the start. Readers reject envelopes that end
  /// later.
  func envelopes(of composition: HapticComposition, losses: inout LossLog) -> [EventEnvelope] {
    let envelopesByValidity = Dictionary(grouping: envelopes(of: composition)) {
      $0.endSeconds <= FrameConversion.maximumSeconds
    }
    for envelope in envelopesByValidity[false] ?? [] {
      losses.add(
        .dropped, .event(envelope.eventReference),
        "the event ends more than a day after the start of the pattern")
    }
    return envelopesByValidity[true] ?? []
  }

  /// Adds a loss if straight lines only approximate the level of an event.
  func addApproximationLosses(of envelopes: [EventEnvelope], to losses: inout LossLog) {
    guard envelopes.contains(where: { $0.hasApproximatedLevel }) else { return }
    losses.add(
      .approximated, .composition,
      "envelopes are approximated by straight lines, with an error of up to # of full scale",
      size: levelTolerance)
  }

  /// The controls of a layer that act on haptic events.
  private struct ControlTimelines {
    let intensityTimeline: ControlTimeline
    let sharpnessTimeline: ControlTimeline
    let attackTimeline: ControlTimeline
    let decayTimeline: ControlTimeline
    let releaseTimeline: ControlTimeline
    let sharpnessConversion: SharpnessScaleConversion

    init(of layer: HapticComposition.Layer, sharpnessConversion: SharpnessScaleConversion) {
      self.sharpnessConversion = sharpnessConversion
      func control(_ id: DynamicParameterID) -> ControlTimeline {
        ControlTimeline(of: id, in: layer)
      }
      intensityTimeline = control(.hapticIntensityControl)
      sharpnessTimeline = control(.hapticSharpnessControl)
      attackTimeline = control(.hapticAttackTimeControl)
      decayTimeline = control(.hapticDecayTimeControl)
      releaseTimeline = control(.hapticReleaseTimeControl)
    }
  }

  /// Returns the breakpoints of an event's envelope. Also returns true if the lines between them
  /// only approximate the level.
  private func breakpoints(
    of event: HapticEvent, controls: ControlTimelines
  ) -> (points: [EnvelopePoint], isApproximated: Bool) {
    guard event.kind.isVibration else {
      return ([transientPoint(of: event, controls: controls)], false)
    }
    let eventIntensity = Double(event.value(of: .hapticIntensity))
    let eventSharpness = controls.sharpnessConversion.sharpness(of: event)
    let holdSeconds = event.duration ?? HapticEvent.defaultDurationSeconds
    guard holdSeconds > 0, (event.time + holdSeconds).isFinite else { return ([], false) }
    let envelopeShape = Self.envelopeShape(of: event, hold: holdSeconds, controls: controls)
    let breakpointSeconds = breakpointTimes(of: event, shape: envelopeShape, controls: controls)
    var envelopePoints: [EnvelopePoint] = []
    var isApproximated = false
    var segmentCursors = (
      intensity: controls.intensityTimeline.segmentIndex(at: breakpointSeconds[0]),
      sharpness: controls.sharpnessTimeline.segmentIndex(at: breakpointSeconds[0])
    )
    func appendDistinct(_ point: EnvelopePoint) {
      if envelopePoints.last != point {
        envelopePoints.append(point)
      }
    }
    for (from, to) in zip(breakpointSeconds, breakpointSeconds.dropFirst()) where to > from {
      _ = controls.intensityTimeline.value(at: from, cursor: &segmentCursors.intensity)
      _ = controls.sharpnessTimeline.value(at: from, cursor: &segmentCursors.sharpness)
      let intensitySegment = controls.intensityTimeline.segments[segmentCursors.intensity]
      let sharpnessSegment = controls.sharpnessTimeline.segments[segmentCursors.sharpness]
      // Within the interval, each control is a single line, so evaluate it at both ends.
      let gains = (
        Self.envelopeGain(of: envelopeShape, at: from - event.time, isLineStart: true),
        Self.envelopeGain(of: envelopeShape, at: to - event.time, isLineStart: false)
      )
      func point(at time: Double) -> EnvelopePoint {
        let fraction = (time - from) / (to - from)
        let gain = gains.0 + (gains.1 - gains.0) * fraction
        let level = min(max(intensitySegment.value(at: time), 0), 1) * eventIntensity
        return EnvelopePoint(
          timeSeconds: time, level: levelScale.level(intensity: level, gain: gain),
          sharpness: controls.sharpnessConversion.targetSharpness(
            ofSum: sharpnessSegment.value(at: time) + eventSharpness))
      }
      let first = point(at: from)
      let last = point(at: to)
      appendDistinct(first)
      let isLevelStraight =
        gains.0 == gains.1
        ? levelScale.isLinearInIntensity || intensitySegment.slopePerPositionUnit == 0
        : intensitySegment.slopePerPositionUnit == 0 && levelScale.isLinearInGain
      let isStraight =
        isLevelStraight
        && (controls.sharpnessConversion.preservesStraightLines
          || sharpnessSegment.slopePerPositionUnit == 0)
      if !isStraight {
        isApproximated = true
        subdivideLine(from: first, to: last, point, append: appendDistinct)
      }
      appendDistinct(last)
    }
    return (envelopePoints, isApproximated)
  }

  private func transientPoint(of event: HapticEvent, controls: ControlTimelines) -> EnvelopePoint {
    let eventIntensity = Double(event.value(of: .hapticIntensity))
    let controlledIntensity = eventIntensity * controls.intensityTimeline.value(at: event.time)
    let eventSharpness = controls.sharpnessConversion.sharpness(of: event)
    return EnvelopePoint(
      timeSeconds: event.time, level: levelScale.level(intensity: controlledIntensity, gain: 1),
      sharpness: controls.sharpnessConversion.targetSharpness(
        ofSum: eventSharpness + controls.sharpnessTimeline.value(at: event.time)))
  }

  /// Returns the envelope of an event, with the envelope times of the controls at its start.
  private static func envelopeShape(of event: HapticEvent, hold: Double, controls: ControlTimelines)
    -> EnvelopeShape
  {
    func envelopeSeconds(_ id: EventParameterID, _ control: ControlTimeline) -> Double {
      EnvelopeTimes.seconds(normalized: event.value(of: id) + Float(control.value(at: event.time)))
    }
    return EnvelopeShape(
      hold: hold, attack: envelopeSeconds(.attackTime, controls.attackTimeline),
      decay: envelopeSeconds(.decayTime, controls.decayTimeline),
      release: envelopeSeconds(.releaseTime, controls.releaseTimeline),
      isSustained: event.value(of: .sustained) >= 0.5)
  }

  /// Returns the ascending times between which the envelope and both controls are straight lines.
  private func breakpointTimes(
    of event: HapticEvent, shape: EnvelopeShape, controls: ControlTimelines
  )
    -> [Double]
  {
    var breakpointSeconds = [
      event.time, event.time + shape.riseEndTime, event.time + shape.releaseStartTime,
      event.time + shape.releaseEndTime,
    ]
    let envelopeRange = breakpointSeconds[0]...breakpointSeconds[3]
    for control in [controls.intensityTimeline, controls.sharpnessTimeline] {
      var index = control.segmentIndex(at: envelopeRange.lowerBound) + 1
      while index < control.segments.count,
        control.segments[index].startPosition < envelopeRange.upperBound
      {
        breakpointSeconds.append(control.segments[index].startPosition)
        index += 1
      }
    }
    if controls.sharpnessConversion.clampsSourceSharpness {
      let sharpness = controls.sharpnessConversion.sharpness(of: event)
      breakpointSeconds.append(
        contentsOf: clampingTimes(
          of: controls.sharpnessTimeline, offset: sharpness, in: envelopeRange))
    }
    breakpointSeconds.sort()
    return breakpointSeconds
  }

  /// Returns the amplitude gain of an event at a time after its onset. At a breakpoint, the gain
  /// belongs to the segment that starts there if `isLineStart` is true, otherwise to the segment
  /// that ends there.
  private static func envelopeGain(of shape: EnvelopeShape, at time: Double, isLineStart: Bool)
    -> Double
  {
    if time < shape.riseEndTime
      || (time == shape.riseEndTime && !isLineStart && shape.riseEndTime > 0)
    {
      return shape.riseLevel * (time / shape.riseEndTime)
    }
    if time < shape.releaseStartTime || (time == shape.releaseStartTime && !isLineStart) {
      let span = shape.releaseStartTime - shape.riseEndTime
      guard span > 0 else { return shape.releaseLevel }
      return shape.riseLevel + (shape.releaseLevel - shape.riseLevel) * (time - shape.riseEndTime)
        / span
    }
    let releaseSeconds = shape.releaseEndTime - shape.releaseStartTime
    return releaseSeconds > 0
      ? max(shape.releaseLevel * (shape.releaseEndTime - time) / releaseSeconds, 0)
      : shape.releaseLevel
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
      control.segments[segmentIndex].startPosition < range.upperBound
    {
      let segment = control.segments[segmentIndex]
      let next =
        segmentIndex + 1 < control.segments.count
        ? control.segments[segmentIndex + 1].startPosition : .infinity
      if segment.slopePerPositionUnit != 0 {
        for bound in [0.0, 1.0] {
          let time =
            segment.startPosition + (bound - offset - segment.startValue)
            / segment.slopePerPositionUnit
          if time > segment.startPosition, time < next, range.contains(time) {
            crossingTimes.append(time)
          }
        }
      }
      segmentIndex += 1
    }
    return crossingTimes
  }

  /// Adds points between two points to approximate the exact level by straight lines.
  ///
  /// The lines are within the tolerance.
  ///
  /// - Parameters:
  ///   - first: The start of the line.
  ///   - last: The end of the line.
  ///   - depth: The number of bisections so far.
  ///   - exact: Returns the exact point at a time.
  ///   - append: Receives the added points, in order.
  func subdivideLine(
    from first: EnvelopePoint, to last: EnvelopePoint, depth: Int = 0,
    _ exact: (Double) -> EnvelopePoint,
    append: (EnvelopePoint) -> Void
  ) {
    let lineSeconds = last.timeSeconds - first.timeSeconds
    guard depth < Self.maximumSubdivisionDepth, lineSeconds > 1e-7 else { return }
    let maximumDeviation = [0.25, 0.5, 0.75].reduce(0.0) { worst, share in
      let point = exact(first.timeSeconds + lineSeconds * share)
      let line = EnvelopePoint.interpolated(from: first, to: last, at: point.timeSeconds)
      return max(worst, abs(point.level - line.level), abs(point.sharpness - line.sharpness))
    }
    guard maximumDeviation > levelTolerance else { return }
    let exactMidpoint = exact(first.timeSeconds + lineSeconds / 2)
    subdivideLine(from: first, to: exactMidpoint, depth: depth + 1, exact, append: append)
    append(exactMidpoint)
    subdivideLine(from: exactMidpoint, to: last, depth: depth + 1, exact, append: append)
  }
}
