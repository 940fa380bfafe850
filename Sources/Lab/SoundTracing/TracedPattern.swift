internal import CMath
internal import HapticModel
import SignalAnalysis

/// The haptic pattern that is created from traced transients and continuous events.
///
/// 1. Each traced tone becomes one continuous event. If its intensity or sharpness varies, a curve
///    follows it, simplified to a tolerance.
/// 2. Tones that sound together share their curves (`SharedMovement`).
/// 3. Curves act on transients as well. The intensity of each transient is divided by the control
///    at its onset, and the control is subtracted from its sharpness. If the result is outside the
///    range of the parameter, the control passes through the required value for ±1 ms.
struct TracedPattern {
  private(set) var pattern = HapticPattern()
  private var intensityControl = ControlTrack(neutralValue: 1)
  private var sharpnessControl = ControlTrack(neutralValue: 0)

  /// The maximum error of an intensity curve, relative to the intensity.
  private let relativeIntensityTolerance: Double
  /// The maximum error of a sharpness curve.
  private let sharpnessTolerance: Double
  /// The intensity curve error that is always allowed.
  ///
  /// Due to this minimum, low intensities don't require many points.
  private static let minimumIntensityTolerance = 0.02
  /// The interval between values of a curve before its simplification, in seconds.
  private static let curveStepSeconds = 0.002
  /// The minimum fraction of an event's values near their median for omitting the curve.
  ///
  /// A value is near the median if it is within the tolerance.
  private static let minimumConstantValueFraction = 0.97
  /// The minimum overlap of simultaneous events, in seconds.
  private static let minimumOverlapSeconds = 0.004
  /// The interval between values of a shared curve before its simplification, in seconds.
  private static let sharedCurveStepSeconds = 0.004
  /// The maximum error of a shared sharpness curve.
  private static let sharedSharpnessTolerance = 0.004
  /// The minimum number of values of a continuous event.
  private static let minimumEventValueCount = 4

  /// Creates a pattern from traced events, within tolerances of their curves.
  ///
  /// - Parameters:
  ///   - transients: The traced transients.
  ///   - continuous: The traced continuous events.
  ///   - tolerance: The maximum deviation of curves, in decibels of felt level.
  init(transients: [TracedTransient], continuous: [TracedContinuousEvent], tolerance: Double) {
    // In most profiles, the level is proportional to the square of intensity.
    relativeIntensityTolerance = (pow(10, tolerance / 20) - 1) / 2
    sharpnessTolerance = 0.05 * max(1, tolerance)
    for group in Self.overlappingGroups(of: continuous) {
      if group.count == 1 {
        add(group[0])
      } else {
        add(group)
      }
    }
    for transient in transients {
      add(transient)
    }
    pattern.events.sort { ($0.time, $0.kind.rawValue) < ($1.time, $1.kind.rawValue) }
    pattern.curves =
      intensityControl.curves(.hapticIntensityControl)
      + sharpnessControl.curves(.hapticSharpnessControl)
  }

  /// Returns the weight of a transient for limiting the number of events: its squared intensity.
  static func weight(of transient: TracedTransient) -> Double {
    transient.intensity * transient.intensity
  }

  /// Returns the weight of a continuous event: its squared intensity, summed over units of 25 ms.
  static func weight(of event: TracedContinuousEvent) -> Double {
    event.intensities.reduce(0) { $0 + $1 * $1 } * event.stepSeconds / 0.025
  }

  // MARK: - Continuous events

  private mutating func add(_ event: TracedContinuousEvent) {
    let trimmedEvent = event.trimmedToStart
    let durationSeconds = Double(trimmedEvent.intensities.count) * trimmedEvent.stepSeconds
    guard durationSeconds <= HapticEvent.defaultDurationSeconds else {
      for half in trimmedEvent.halves {
        add(half)
      }
      return
    }
    let eventIntensities = trimmedEvent.intensities
    guard eventIntensities.count >= Self.minimumEventValueCount,
      let maximumIntensity = eventIntensities.max(), maximumIntensity > 0
    else {
      return
    }
    let intensityFit = baseIntensity(of: eventIntensities)
    let sharpnessFit = baseSharpness(of: trimmedEvent, peak: intensityFit.peak)
    pattern.events.append(
      HapticEvent(
        kind: .hapticContinuous, time: Self.rounded(seconds: trimmedEvent.startSeconds),
        duration: Self.rounded(seconds: durationSeconds),
        parameters: [
          .hapticIntensity: Self.rounded(value: intensityFit.value),
          .hapticSharpness: Self.rounded(value: sharpnessFit.value),
        ]))
    let valuesPerStep = max(1, Int(Self.curveStepSeconds / trimmedEvent.stepSeconds))
    let curveIndices = Array(stride(from: 0, to: eventIntensities.count, by: valuesPerStep))
    let curveSeconds = curveIndices.map {
      trimmedEvent.startSeconds + Double($0) * trimmedEvent.stepSeconds
    }
    if !intensityFit.isConstant {
      let values = curveIndices.map { eventIntensities[$0] }
      let tolerances = values.map { tolerance(ofIntensity: $0) }
      let kept = Self.simplified(curveSeconds, values, within: tolerances)
      intensityControl.append(
        kept.map { (curveSeconds[$0], min(1, values[$0] / intensityFit.value)) })
    }
    if !sharpnessFit.isConstant {
      let values = curveIndices.map { trimmedEvent.sharpnesses[$0] }
      // The sharpness of a weak tone is less exact, and felt less.
      let tolerances = curveIndices.map {
        sharpnessTolerance * min(6, max(1, intensityFit.peak / max(eventIntensities[$0], 1e-3)))
      }
      let kept = Self.simplified(curveSeconds, values, within: tolerances)
      sharpnessControl.append(kept.map { (curveSeconds[$0], values[$0] - sharpnessFit.value) })
    }
  }

  private func tolerance(ofIntensity intensity: Double) -> Double {
    max(Self.minimumIntensityTolerance, relativeIntensityTolerance * intensity)
  }

  /// Returns the base intensity of an event: the median if it is constant, or the peak.
  ///
  /// The peak ignores the highest 0.5 % of the values.
  private func baseIntensity(
    of levels: [Double]
  ) -> (value: Double, peak: Double, isConstant: Bool) {
    let peakLevel = Statistics.quantile(of: levels, 0.995)
    let medianLevel = Statistics.median(of: levels)
    let isNearlyConstant = levels.allSatisfy {
      abs($0 - medianLevel) < 1.6 * tolerance(ofIntensity: $0)
    }
    let constantCount = levels.count { abs($0 - medianLevel) < tolerance(ofIntensity: $0) }
    let isConstant =
      isNearlyConstant
      || Self.countFraction(constantCount, of: levels.count) > Self.minimumConstantValueFraction
    return (isConstant ? medianLevel : peakLevel, peakLevel, isConstant)
  }

  /// Returns the base sharpness of an event.
  ///
  /// It is the median of the event's loud part if it is constant, or the mean weighted by
  /// intensity.
  private func baseSharpness(
    of event: TracedContinuousEvent, peak: Double
  ) -> (value: Double, isConstant: Bool) {
    let eventLevels = event.intensities
    let sharpnesses = event.sharpnesses
    let loudIndices = eventLevels.indices.filter { eventLevels[$0] > 0.35 * peak }
    let medianSharpness = Statistics.median(of: loudIndices.map { sharpnesses[$0] })
    let constantCount = loudIndices.count {
      abs(sharpnesses[$0] - medianSharpness) < sharpnessTolerance
    }
    if Self.countFraction(constantCount, of: loudIndices.count) > Self.minimumConstantValueFraction
    {
      return (medianSharpness, true)
    }
    let sharpnessWeights = eventLevels.map { $0 + 1e-6 }
    let weightedSharpnessSum = zip(sharpnesses, sharpnessWeights).reduce(0) { $0 + $1.0 * $1.1 }
    return (weightedSharpnessSum / sharpnessWeights.reduce(0, +), false)
  }

  private static func countFraction(_ count: Int, of total: Int) -> Double {
    Double(count) / Double(max(1, total))
  }

  // MARK: - Simultaneous events

  /// Sorts events by time, and groups those that overlap.
  private static func overlappingGroups(
    of events: [TracedContinuousEvent]
  ) -> [[TracedContinuousEvent]] {
    var eventGroups: [[TracedContinuousEvent]] = []
    var groupEndSeconds = -Double.infinity
    for event in events.sorted(by: { $0.startSeconds < $1.startSeconds }) {
      if event.startSeconds > groupEndSeconds - minimumOverlapSeconds {
        eventGroups.append([])
      }
      eventGroups[eventGroups.count - 1].append(event)
      groupEndSeconds = max(groupEndSeconds, event.endSeconds)
    }
    return eventGroups
  }

  /// Adds events that sound together.
  ///
  /// A curve acts on all of them, so each curve is the mean of their changes over time.
  private mutating func add(_ group: [TracedContinuousEvent]) {
    let dividedEvents = group.flatMap { $0.trimmedToStart.dividedToMaximumDuration }.filter {
      $0.intensities.count >= Self.minimumEventValueCount && ($0.intensities.max() ?? 0) > 0
    }
    var intensityFits = dividedEvents.map { baseIntensity(of: $0.intensities) }
    var sharpnessFits = zip(dividedEvents, intensityFits).map {
      baseSharpness(of: $0, peak: $1.peak)
    }
    if !intensityFits.allSatisfy({ $0.isConstant }) {
      var movement = SharedMovement(
        dividedEvents, step: Self.sharedCurveStepSeconds, isRelative: true)
      movement.normalize()
      for index in dividedEvents.indices {
        intensityFits[index].value = min(1, movement.eventBases[index])
      }
      let tolerances = movement.sharedValues.map { tolerance(ofIntensity: $0) / 2 }
      let kept = Self.simplified(movement.timesInSeconds, movement.sharedValues, within: tolerances)
      intensityControl.append(kept.map { (movement.timesInSeconds[$0], movement.sharedValues[$0]) })
    }
    if !sharpnessFits.allSatisfy({ $0.isConstant }) {
      let movement = SharedMovement(
        dividedEvents, step: Self.sharedCurveStepSeconds, isRelative: false)
      for index in dividedEvents.indices {
        sharpnessFits[index].value = movement.eventBases[index]
      }
      // An error of a frequency shifts the beat.
      let tolerances = movement.sharedValues.map { _ in Self.sharedSharpnessTolerance }
      let kept = Self.simplified(movement.timesInSeconds, movement.sharedValues, within: tolerances)
      sharpnessControl.append(kept.map { (movement.timesInSeconds[$0], movement.sharedValues[$0]) })
    }
    for index in dividedEvents.indices {
      let sharpness = min(1, max(0, sharpnessFits[index].value))
      pattern.events.append(
        HapticEvent(
          kind: .hapticContinuous, time: Self.rounded(seconds: dividedEvents[index].startSeconds),
          duration: Self.rounded(
            seconds: dividedEvents[index].endSeconds - dividedEvents[index].startSeconds),
          parameters: [
            .hapticIntensity: Self.rounded(value: intensityFits[index].value),
            .hapticSharpness: Float(Self.rounded(seconds: sharpness)),
          ]))
    }
  }

  // MARK: - Transients

  private mutating func add(_ transient: TracedTransient) {
    let transientSeconds = max(0, transient.timeSeconds)
    if intensityControl.value(at: transientSeconds) < transient.intensity {
      intensityControl.pass(through: min(1, transient.intensity), at: transientSeconds)
    }
    let requiredSharpness = transient.sharpness - sharpnessControl.value(at: transientSeconds)
    if requiredSharpness < -0.03 || requiredSharpness > 1.03 {
      sharpnessControl.pass(through: 0, at: transientSeconds)
    }
    let relativeIntensity = min(
      1, transient.intensity / max(intensityControl.value(at: transientSeconds), 1e-3))
    let relativeSharpness = min(
      1, max(0, transient.sharpness - sharpnessControl.value(at: transientSeconds)))
    pattern.events.append(
      HapticEvent(
        kind: .hapticTransient, time: Self.rounded(seconds: transientSeconds),
        parameters: [
          .hapticIntensity: Self.rounded(value: relativeIntensity),
          .hapticSharpness: Self.rounded(value: relativeSharpness),
        ]))
  }

  // MARK: - Rounding and simplification

  /// Returns a time rounded to a tenth of a millisecond, so that files are readable.
  static func rounded(seconds: Double) -> Double { (max(0, seconds) * 1e4).rounded() / 1e4 }

  /// Returns a value rounded to a thousandth.
  static func rounded(value: Double) -> Float { Float((value * 1_000).rounded() / 1_000) }

  /// Returns the indices of the points that remain after simplifying a line.
  ///
  /// The simplified line is within a tolerance of each original point.
  ///
  /// Source: D. Douglas, T. Peucker, "Algorithms for the reduction of the number of points required
  /// to represent a digitized line", Cartographica 10, 1973.
  ///
  /// - Parameters:
  ///   - times: The times of the points.
  ///   - values: The values of the points.
  ///   - tolerances: The tolerance of each value.
  private static func simplified(
    _ times: [Double], _ values: [Double], within tolerances: [Double]
  ) -> [Int] {
    var keptIndices = [0, times.count - 1]
    var openSegments = [(0, times.count - 1)]
    while let (first, last) = openSegments.popLast() {
      guard last - first > 1 else { continue }
      var worst = (excess: 1.0, index: -1)
      for index in first + 1..<last {
        let fraction = (times[index] - times[first]) / (times[last] - times[first])
        let line = values[first] + (values[last] - values[first]) * fraction
        let excess = abs(line - values[index]) / tolerances[index]
        if excess > worst.excess {
          worst = (excess, index)
        }
      }
      guard worst.index >= 0 else { continue }
      keptIndices.append(worst.index)
      openSegments += [(first, worst.index), (worst.index, last)]
    }
    return Array(Set(keptIndices)).sorted()
  }
}

extension TracedContinuousEvent {
  /// The event without its samples before the start of the sound.
  fileprivate var trimmedToStart: TracedContinuousEvent {
    let skippedValueCount = max(0, Int((-startSeconds / stepSeconds).rounded()))
    return TracedContinuousEvent(
      startSeconds: max(0, startSeconds + Double(skippedValueCount) * stepSeconds),
      stepSeconds: stepSeconds,
      intensities: Array(intensities.dropFirst(skippedValueCount)),
      sharpnesses: Array(sharpnesses.dropFirst(skippedValueCount)))
  }

  /// The event, divided into parts that do not exceed the maximum duration of a continuous event.
  fileprivate var dividedToMaximumDuration: [TracedContinuousEvent] {
    guard endSeconds - startSeconds > HapticEvent.defaultDurationSeconds else { return [self] }
    return halves.flatMap { $0.dividedToMaximumDuration }
  }

  /// The two halves of the event.
  fileprivate var halves: [TracedContinuousEvent] {
    let halfCount = intensities.count / 2
    return [0..<halfCount, halfCount..<intensities.count].map { range in
      TracedContinuousEvent(
        startSeconds: startSeconds + Double(range.lowerBound) * stepSeconds,
        stepSeconds: stepSeconds,
        intensities: Array(intensities[range]), sharpnesses: Array(sharpnesses[range]))
    }
  }
}

/// The value of a control over time: piecewise linear segments, with a neutral value between them.
private struct ControlTrack {
  typealias Point = (time: Double, value: Double)
  let neutralValue: Double
  private var lineSegments: [[Point]] = []

  /// The duration of the return to neutral after a segment, in seconds.
  ///
  /// It is also the time before and after a point at which `pass(through:at:)` changes the line.
  private static let returnDurationSeconds = 0.001
  /// The maximum number of points of a curve.
  ///
  /// Longer lines are divided into curves that share an end point. Source: Apple's documentation of
  /// `CHHapticParameterCurve`.
  private static let maximumCurvePointCount = 16

  init(neutralValue: Double) { self.neutralValue = neutralValue }

  /// Appends a segment. The previous segment returns to neutral, unless this segment follows
  /// without a pause.
  mutating func append(_ line: [Point]) {
    let previousEndSeconds = lineSegments.last?.last?.time ?? -.infinity
    let laterPoints = line.filter { $0.time > previousEndSeconds }
    guard !laterPoints.isEmpty else { return }
    if let lastPoint = lineSegments.last?.last,
      laterPoints[0].time - lastPoint.time > 3 * Self.returnDurationSeconds
    {
      returnToNeutral()
    }
    lineSegments.append(laterPoints)
  }

  private mutating func returnToNeutral() {
    guard let lastPoint = lineSegments.last?.last else { return }
    lineSegments[lineSegments.count - 1].append(
      (lastPoint.time + Self.returnDurationSeconds, neutralValue))
  }

  /// Returns the index of the segment at a time, or nil if there is none.
  private func segmentIndex(at time: Double) -> Int? {
    lineSegments.firstIndex { $0[0].time - 1e-9 <= time && time <= $0[$0.count - 1].time }
  }

  /// Returns the interpolated value of a line at a time in seconds.
  private static func value(_ line: [Point], at time: Double) -> Double {
    guard let nextIndex = line.firstIndex(where: { $0.time > time }), nextIndex > 0 else {
      return time < line[0].time ? line[0].value : line[line.count - 1].value
    }
    let previousPoint = line[nextIndex - 1]
    let nextPoint = line[nextIndex]
    return previousPoint.value + (nextPoint.value - previousPoint.value)
      * (time - previousPoint.time)
      / max(nextPoint.time - previousPoint.time, 1e-9)
  }

  /// Returns the value of the control at a time.
  func value(at time: Double) -> Double {
    segmentIndex(at: time).map { Self.value(lineSegments[$0], at: time) } ?? neutralValue
  }

  /// Changes the segment at a time to pass through a value. Without a segment, nothing changes.
  mutating func pass(through value: Double, at time: Double) {
    guard let lineIndex = segmentIndex(at: time) else { return }
    let segmentPoints = lineSegments[lineIndex]
    let returnStartSeconds = max(segmentPoints[0].time, time - Self.returnDurationSeconds)
    let returnEndSeconds = min(
      segmentPoints[segmentPoints.count - 1].time, time + Self.returnDurationSeconds)
    let insertedPoints: [Point] = [
      (returnStartSeconds, Self.value(segmentPoints, at: returnStartSeconds)), (time, value),
      (returnEndSeconds, Self.value(segmentPoints, at: returnEndSeconds)),
    ]
    lineSegments[lineIndex] =
      segmentPoints.prefix { $0.time < returnStartSeconds } + insertedPoints
      + segmentPoints.drop { $0.time <= returnEndSeconds }
  }

  /// Converts all segments to parameter curves.
  func curves(_ id: DynamicParameterID) -> [ParameterCurve] {
    var closedTrack = self
    closedTrack.returnToNeutral()
    return closedTrack.lineSegments.flatMap { Self.curves(id, of: Self.withDistinctTimes($0)) }
  }

  /// Removes all but the last of the points that have the same rounded time.
  private static func withDistinctTimes(_ line: [Point]) -> [Point] {
    line.indices.filter { index in
      guard index + 1 < line.count else { return true }
      let time = TracedPattern.rounded(seconds: line[index].time)
      return time < TracedPattern.rounded(seconds: line[index + 1].time)
    }.map { line[$0] }
  }

  /// Converts a line to parameter curves with at most `maximumCurvePointCount` points each.
  private static func curves(_ id: DynamicParameterID, of points: [Point]) -> [ParameterCurve] {
    let firstIndices = stride(
      from: 0, to: max(1, points.count - 1), by: maximumCurvePointCount - 1)
    return firstIndices.map { first in
      let start = TracedPattern.rounded(seconds: points[first].time)
      let end = min(points.count, first + maximumCurvePointCount)
      let controlPoints = points[first..<end].map { point in
        let time = TracedPattern.rounded(seconds: point.time) - start
        return ParameterCurve.ControlPoint(
          time: TracedPattern.rounded(seconds: time),
          value: TracedPattern.rounded(value: point.value))
      }
      return ParameterCurve(id: id, time: start, controlPoints: controlPoints)
    }
  }
}
