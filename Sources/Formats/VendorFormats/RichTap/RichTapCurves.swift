internal import HapticFormats
internal import HapticModel
internal import Reading

/// The curves of one layer, each of which acts on only one event.
struct SingleEventCurves {
  /// A breakpoint of a curve: the time from the start of the event in seconds, the intensity gain,
  /// and the sharpness offset.
  struct Point: Equatable {
    var eventSeconds: Double
    var intensityGain: Double
    var sharpnessOffset: Double
  }

  /// The curves and parameters of one control, sorted by start.
  private struct ControlTrack {
    var curveStartSeconds: [Double] = []
    var curves: [ParameterCurve?] = []

    /// Returns the only active curve in a time range.
    ///
    /// Returns a curve without control points if no curve is active. Returns nil if several curves
    /// are active, or if the curve began before the range.
    func onlyCurve(in range: ClosedRange<Double>, of id: DynamicParameterID) -> ParameterCurve? {
      let onset = range.lowerBound
      // The first curve that starts at or after the onset.
      let first = curveStartSeconds.prefixEndIndex { $0 < onset }
      let startsAtOnset = first < curveStartSeconds.count && curveStartSeconds[first] == onset
      let next = startsAtOnset ? first + 1 : first
      if next < curveStartSeconds.count, curveStartSeconds[next] < range.upperBound { return nil }
      if startsAtOnset { return curves[first] }
      return first == 0 ? ParameterCurve(id: id, time: onset, controlPoints: []) : nil
    }
  }

  private var intensityTrack = ControlTrack()
  private var sharpnessTrack = ControlTrack()
  private let hasEnvelopeControls: Bool

  init(of pattern: HapticPattern) {
    hasEnvelopeControls =
      pattern.parameters.contains { $0.id.eventParameter.isEnvelopeTime }
      || pattern.curves.contains { $0.id.eventParameter.isEnvelopeTime }
    intensityTrack = Self.controlTrack(of: .hapticIntensityControl, in: pattern)
    sharpnessTrack = Self.controlTrack(of: .hapticSharpnessControl, in: pattern)
  }

  private static func controlTrack(of id: DynamicParameterID, in pattern: HapticPattern)
    -> ControlTrack
  {
    var trackEntries: [(start: Double, curve: ParameterCurve?)] = pattern.parameters.filter {
      $0.id == id
    }
    .map {
      ($0.time, nil)
    }
    trackEntries += pattern.curves.filter { $0.id == id }.map { curve in
      (curve.time, curve.interpolation == .linear && !curve.controlPoints.isEmpty ? curve : nil)
    }
    let entryOrder = trackEntries.indices.sorted {
      (trackEntries[$0].start, $0) < (trackEntries[$1].start, $1)
    }
    return ControlTrack(
      curveStartSeconds: entryOrder.map { trackEntries[$0].start },
      curves: entryOrder.map { trackEntries[$0].curve }
    )
  }

  /// Returns the breakpoints of the curves that act only on one event. The result is empty if no
  /// curve acts on the event, and nil if the format cannot represent the event.
  func curve(of event: HapticEvent) -> [Point]? {
    guard let eventSeconds = event.duration, eventSeconds > 0, !hasEnvelopeControls,
      ![.attackTime, .decayTime, .releaseTime].contains(where: { event.value(of: $0) != 0 }),
      event.value(of: .sustained) >= 0.5,
      let intensity = intensityTrack.onlyCurve(
        in: event.time...event.time + eventSeconds, of: .hapticIntensityControl),
      let sharpness = sharpnessTrack.onlyCurve(
        in: event.time...event.time + eventSeconds, of: .hapticSharpnessControl)
    else { return nil }
    let gainPoints = Self.sortedPoints(of: intensity)
    let sharpnessOffsetPoints = Self.sortedPoints(of: sharpness)
    let pointTimes = (gainPoints.isEmpty ? sharpnessOffsetPoints : gainPoints).map { $0.time }
    guard
      gainPoints.isEmpty || sharpnessOffsetPoints.isEmpty
        || sharpnessOffsetPoints.map({ $0.time }) == pointTimes,
      pointTimes.allSatisfy({ 0...eventSeconds + 0.0005 ~= $0 })
    else { return nil }
    return pointTimes.indices.map { index in
      Point(
        eventSeconds: pointTimes[index],
        intensityGain: gainPoints.isEmpty ? 1 : gainPoints[index].value,
        sharpnessOffset: sharpnessOffsetPoints.isEmpty ? 0 : sharpnessOffsetPoints[index].value)
    }
  }

  private static func sortedPoints(of curve: ParameterCurve) -> [(time: Double, value: Double)] {
    let controlPoints = curve.controlPoints
    return controlPoints.indices.sorted {
      (controlPoints[$0].time, $0) < (controlPoints[$1].time, $1)
    }.map {
      (controlPoints[$0].time, curve.id.clamped(controlPoints[$0].value))
    }
  }
}

extension EventParameterID {
  fileprivate var isEnvelopeTime: Bool {
    self == .attackTime || self == .decayTime || self == .releaseTime
  }
}

/// Fits a curve to the number of points and the whole milliseconds that the format allows.
///
/// 1. Remove points if there are too many.
/// 2. Separate points with equal times.
/// 3. Insert points if there are too few.
struct RichTapCurveFitter {
  var curvePoints: [RichTapDocument.CurvePoint]
  let durationMilliseconds: Int
  /// The maximum distance between the fitted curve and the given points.
  private(set) var maximumGainError = 0.0

  var hasConstantUnitGain: Bool {
    curvePoints.allSatisfy { $0.intensityFactor == 1 && $0.frequencyOffsetPercent == 0 }
  }

  /// Adds ramps from and to a gain of 0 at the ends of a curve. Returns true if the curve started
  /// or ended at a different gain.
  mutating func rampEndsToZeroGain() -> Bool {
    guard let firstPoint = curvePoints.first, let lastPoint = curvePoints.last else { return false }
    var hasAddedRamp = false
    let edgeMilliseconds = RichTapDialect.curveEdgeRampMilliseconds
    if firstPoint.timeMilliseconds != 0 || firstPoint.intensityFactor != 0 {
      hasAddedRamp = hasAddedRamp || firstPoint.intensityFactor != 0
      for index in curvePoints.indices where curvePoints[index].timeMilliseconds < edgeMilliseconds
      {
        curvePoints[index].timeMilliseconds = edgeMilliseconds
      }
      curvePoints.insert(
        .init(
          timeMilliseconds: 0, intensityFactor: 0,
          frequencyOffsetPercent: firstPoint.frequencyOffsetPercent), at: 0)
    }
    if lastPoint.timeMilliseconds != durationMilliseconds || lastPoint.intensityFactor != 0 {
      hasAddedRamp = hasAddedRamp || lastPoint.intensityFactor != 0
      for index in curvePoints.indices
      where curvePoints[index].timeMilliseconds > durationMilliseconds - edgeMilliseconds {
        curvePoints[index].timeMilliseconds = durationMilliseconds - edgeMilliseconds
      }
      curvePoints.append(
        .init(
          timeMilliseconds: durationMilliseconds, intensityFactor: 0,
          frequencyOffsetPercent: lastPoint.frequencyOffsetPercent))
    }
    return hasAddedRamp
  }

  /// Returns the curve with an allowed number of points, at ascending times within the event.
  mutating func fittedPoints() -> [RichTapDocument.CurvePoint] {
    reduceToMaximumPointCount()
    separateEqualTimes()
    padToMinimumPointCount()
    return curvePoints
  }

  private mutating func reduceToMaximumPointCount() {
    let maximumPointCount = max(
      2, min(RichTapDialect.curvePointCountRange.upperBound, durationMilliseconds + 1))
    guard curvePoints.count > maximumPointCount else { return }
    let pointReduction = PointReduction(
      curvePoints.enumerated().map { index, point in
        EnvelopePoint(
          timeSeconds: Double(point.timeMilliseconds), level: Double(point.intensityFactor),
          sharpness: Double(point.frequencyOffsetPercent) / 100
        )
      }, maximumCount: maximumPointCount)
    maximumGainError = max(maximumGainError, pointReduction.maximumCurveDeviation)
    curvePoints = pointReduction.remainingPoints.map { point in
      .init(
        timeMilliseconds: FrameConversion.clampedInteger(point.timeSeconds),
        intensityFactor: Float(point.level),
        frequencyOffsetPercent: FrameConversion.clampedInteger(point.sharpness * 100))
    }
  }

  /// Moves points with equal times, such as the two points of a jump, one millisecond apart.
  private mutating func separateEqualTimes() {
    for index in curvePoints.indices.dropFirst()
    where curvePoints[index].timeMilliseconds <= curvePoints[index - 1].timeMilliseconds {
      curvePoints[index].timeMilliseconds = curvePoints[index - 1].timeMilliseconds + 1
    }
    var latestMilliseconds = durationMilliseconds
    for index in curvePoints.indices.reversed() {
      curvePoints[index].timeMilliseconds = min(
        curvePoints[index].timeMilliseconds, latestMilliseconds)
      latestMilliseconds = curvePoints[index].timeMilliseconds - 1
    }
    curvePoints.removeAll { $0.timeMilliseconds < 0 }
  }

  private mutating func padToMinimumPointCount() {
    while curvePoints.count < RichTapDialect.curvePointCountRange.lowerBound,
      let last = curvePoints.last
    {
      var widestIndex: Int?
      for index in curvePoints.indices.dropLast() {
        let span = curvePoints[index + 1].timeMilliseconds - curvePoints[index].timeMilliseconds
        let maximumSpan =
          widestIndex.map {
            curvePoints[$0 + 1].timeMilliseconds - curvePoints[$0].timeMilliseconds
          } ?? 1
        if span > maximumSpan {
          widestIndex = index
        }
      }
      guard let index = widestIndex else {
        // There is no space between points: hold the last value, or the first.
        if last.timeMilliseconds < durationMilliseconds {
          curvePoints.append(
            .init(
              timeMilliseconds: last.timeMilliseconds + 1, intensityFactor: last.intensityFactor,
              frequencyOffsetPercent: last.frequencyOffsetPercent))
        } else if curvePoints[0].timeMilliseconds > 0 {
          curvePoints.insert(
            .init(
              timeMilliseconds: curvePoints[0].timeMilliseconds - 1,
              intensityFactor: curvePoints[0].intensityFactor,
              frequencyOffsetPercent: curvePoints[0].frequencyOffsetPercent), at: 0)
        } else {
          return
        }
        continue
      }
      let from = curvePoints[index]
      let to = curvePoints[index + 1]
      let time = (from.timeMilliseconds + to.timeMilliseconds) / 2
      let fraction =
        Float(time - from.timeMilliseconds) / Float(to.timeMilliseconds - from.timeMilliseconds)
      curvePoints.insert(
        .init(
          timeMilliseconds: time,
          intensityFactor: from.intensityFactor + (to.intensityFactor - from.intensityFactor)
            * fraction,
          frequencyOffsetPercent: FrameConversion.clampedInteger(
            Double(
              Float(from.frequencyOffsetPercent) + Float(
                to.frequencyOffsetPercent - from.frequencyOffsetPercent)
                * fraction
            ))),
        at: index + 1)
    }
  }
}
