internal import HapticModel
internal import HapticFormats
internal import CMath

/// A generator of a vectorial wave's values at ascending positions. Amplitude and frequency are
/// linear between the key frames that have them; the phase is the integral of the frequency.
struct VectorialWaveGenerator {
  private let amplitudeBreakpoints: [(position: Double, value: Double)]
  /// The frequencies of the wave, with the phase at each key frame in radians.
  private let frequencyBreakpoints: [(position: Double, hertz: Double, phase: Double)]
  private let initialPhaseRadians: Double
  private let baseSignal: MPEGBaseSignal
  private let ticksPerSecond: Double
  private var nextAmplitudeBreakpointIndex = 0
  private var nextFrequencyBreakpointIndex = 0

  init(_ effect: MPEGDocument.Effect, ticksPerSecond timescale: Int) {
    amplitudeBreakpoints = effect.keyframes.filter { !$0.amplitude.isNaN }.map {
      (Double($0.offsetTicks), Double($0.amplitude))
    }
    let secondsPerTick = 1 / Double(timescale)
    var accumulatedPhaseRadians = effect.initialPhaseRadians
    var frequencies: [(position: Double, hertz: Double, phase: Double)] = []
    for keyframe in effect.keyframes where !keyframe.hertz.isNaN {
      let position = Double(keyframe.offsetTicks)
      let hertz = Double(keyframe.hertz)
      if let last = frequencies.last {
        accumulatedPhaseRadians +=
          .pi * (position - last.position) * secondsPerTick * (last.hertz + hertz)
      } else {
        accumulatedPhaseRadians += 2 * .pi * position * secondsPerTick * hertz
      }
      frequencies.append((position, hertz, accumulatedPhaseRadians))
    }
    self.frequencyBreakpoints = frequencies
    self.initialPhaseRadians = effect.initialPhaseRadians
    self.ticksPerSecond = Double(timescale)
    baseSignal = effect.baseSignal
  }

  /// Returns the value of the wave at a position, in ticks from the start of the effect. Positions
  /// must not descend from call to call.
  mutating func sample(at position: Double) -> Double {
    while nextAmplitudeBreakpointIndex < amplitudeBreakpoints.count,
      amplitudeBreakpoints[nextAmplitudeBreakpointIndex].position < position
    {
      nextAmplitudeBreakpointIndex += 1
    }
    while nextFrequencyBreakpointIndex < frequencyBreakpoints.count,
      frequencyBreakpoints[nextFrequencyBreakpointIndex].position < position
    {
      nextFrequencyBreakpointIndex += 1
    }
    return amplitude(at: position) * unitWaveValue(at: position)
  }

  private func amplitude(at position: Double) -> Double {
    guard let lastAmplitude = amplitudeBreakpoints.last else { return 1 }
    guard nextAmplitudeBreakpointIndex < amplitudeBreakpoints.count else {
      return lastAmplitude.value
    }
    let nextAmplitude = amplitudeBreakpoints[nextAmplitudeBreakpointIndex]
    guard nextAmplitudeBreakpointIndex > 0 else { return nextAmplitude.value }
    let previousAmplitude = amplitudeBreakpoints[nextAmplitudeBreakpointIndex - 1]
    let segmentFraction =
      (position - previousAmplitude.position)
      / (nextAmplitude.position - previousAmplitude.position)
    return previousAmplitude.value + (nextAmplitude.value - previousAmplitude.value)
      * segmentFraction
  }

  private func unitWaveValue(at position: Double) -> Double {
    guard let lastFrequency = frequencyBreakpoints.last else {
      return baseSignalValue(seconds: 0, hertz: 0, phase: initialPhaseRadians)
    }
    guard nextFrequencyBreakpointIndex < frequencyBreakpoints.count else {
      return baseSignalValue(
        seconds: (position - lastFrequency.position) / ticksPerSecond, hertz: lastFrequency.hertz,
        phase: lastFrequency.phase)
    }
    let nextFrequency = frequencyBreakpoints[nextFrequencyBreakpointIndex]
    guard nextFrequencyBreakpointIndex > 0 else {
      return baseSignalValue(
        seconds: position / ticksPerSecond, hertz: nextFrequency.hertz, phase: initialPhaseRadians)
    }
    let previousFrequency = frequencyBreakpoints[nextFrequencyBreakpointIndex - 1]
    let elapsedTicks = position - previousFrequency.position
    let hertzPerTick =
      (nextFrequency.hertz - previousFrequency.hertz)
      / (nextFrequency.position - previousFrequency.position)
    return baseSignalValue(
      seconds: elapsedTicks / ticksPerSecond,
      hertz: previousFrequency.hertz + hertzPerTick * elapsedTicks / 2,
      phase: previousFrequency.phase)
  }

  private func baseSignalValue(seconds: Double, hertz: Double, phase: Double) -> Double {
    let elapsedCycles = hertz == 0 ? 0 : hertz * (seconds + phase / (2 * .pi * hertz))
    switch baseSignal {
    case .sine: return hertz == 0 ? sin(phase) : sin(2 * .pi * elapsedCycles)
    case .square: return 1 - 2 * (elapsedCycles - floor(elapsedCycles)).rounded()
    case .triangle: return 1 - 4 * abs((elapsedCycles - 0.25).rounded() - (elapsedCycles - 0.25))
    case .sawToothUp: return 2 * (elapsedCycles - floor(elapsedCycles + 0.5))
    case .sawToothDown: return 2 * (floor(elapsedCycles + 0.5) - elapsedCycles)
    }
  }
}

/// The samples of a curve effect. The curve's amplitude is the signal.
struct CurveInterpolator {
  /// A key frame of the curve, with its position in samples from the start.
  struct Point: Equatable {
    var samplePosition: Double
    var amplitude: Double
  }

  /// The key frames, sorted by position.
  let points: [Point]

  /// The key frames without duplicate positions; the last of them remains. Linear and cubic curves
  /// use all key frames, because they may jump.
  private var distinctPoints: [Point] {
    var distinctPoints: [Point] = []
    for point in points {
      if distinctPoints.last?.samplePosition == point.samplePosition {
        distinctPoints.removeLast()
      }
      distinctPoints.append(point)
    }
    return distinctPoints
  }

  /// Returns the samples of the curve from position 0 to the last key frame.
  func samples(of kind: MPEGCurveKind) -> [Double] {
    guard points.count > 1, let lastPoint = points.last, lastPoint.samplePosition >= 0 else {
      return []
    }
    var curveSamples = [Double](repeating: 0, count: Int(lastPoint.samplePosition) + 1)
    if points.count == 2 {
      addEasedSegments(to: &curveSamples) { $0 }
      return curveSamples
    }
    switch kind {
    case .linear: addEasedSegments(to: &curveSamples) { $0 }
    case .cubic, .unknown: addEasedSegments(to: &curveSamples) { (3 - 2 * $0) * $0 * $0 }
    case .akima: addAkimaCurve(distinctPoints, to: &curveSamples)
    case .bezier: addBezierCurve(distinctPoints, to: &curveSamples)
    case .bSpline: addBSplineCurve(distinctPoints, to: &curveSamples)
    }
    return curveSamples
  }

  /// Adds the samples of the curve between successive key frames.
  ///
  /// - Parameters:
  ///   - samples: The output.
  ///   - easing: Maps the fraction of the elapsed time to the fraction of the change in value.
  private func addEasedSegments(to samples: inout [Double], easing: (Double) -> Double) {
    for (from, to) in zip(points, points.dropFirst()) where to.samplePosition > from.samplePosition
    {
      for index in Self.sampleIndices(from: from.samplePosition, to: to.samplePosition, in: samples)
      {
        let fraction = easing(
          (Double(index) - from.samplePosition) / (to.samplePosition - from.samplePosition))
        samples[index] = from.amplitude + (to.amplitude - from.amplitude) * fraction
      }
    }
  }

  /// Returns the indices of the samples between two positions, both included.
  private static func sampleIndices(
    from: Double, to: Double, in samples: [Double]
  ) -> ClosedRange<Int> {
    let firstSampleIndex = FrameConversion.clampedInteger(
      from.rounded(.up), in: 0...samples.count - 1)
    return
      firstSampleIndex...max(
        firstSampleIndex,
        FrameConversion.clampedInteger(to.rounded(.down), in: 0...samples.count - 1))
  }

  /// Adds a piecewise cubic curve through points.
  ///
  /// The slope at a key frame is a weighted mean of the adjacent slopes. Two slopes are
  /// extrapolated at each end.
  ///
  /// Source: H. Akima, *A new method of interpolation and smooth curve fitting based on local
  /// procedures*, 1970.
  private func addAkimaCurve(_ points: [Point], to samples: inout [Double]) {
    guard points.count > 2 else {
      return CurveInterpolator(points: points).addEasedSegments(to: &samples) { $0 }
    }
    let secantSlopes = zip(points, points.dropFirst()).map {
      ($1.amplitude - $0.amplitude) / ($1.samplePosition - $0.samplePosition)
    }
    let firstSecantSlope = secantSlopes[0]
    let secondSecantSlope = secantSlopes[1]
    let lastSecantSlope = secantSlopes[secantSlopes.count - 1]
    let secondLastSecantSlope = secantSlopes[secantSlopes.count - 2]
    let extendedSlopes =
      [3 * firstSecantSlope - 2 * secondSecantSlope, 2 * firstSecantSlope - secondSecantSlope]
      + secantSlopes + [
        2 * lastSecantSlope - secondLastSecantSlope,
        3 * lastSecantSlope - 2 * secondLastSecantSlope,
      ]
    let slopeChanges = zip(extendedSlopes, extendedSlopes.dropFirst()).map { abs($1 - $0) }
    let slopeWeights = points.indices.map { slopeChanges[$0 + 2] + slopeChanges[$0] }
    let minimumSlopeWeight = 1e-8 * (slopeWeights.max() ?? 0)
    let tangentSlopes = points.indices.map { index in
      guard slopeWeights[index] > minimumSlopeWeight else { return extendedSlopes[index + 1] }
      return
        (slopeChanges[index + 2] * extendedSlopes[index + 1] + slopeChanges[index]
        * extendedSlopes[index + 2])
        / slopeWeights[index]
    }
    for (index, (from, to)) in zip(points, points.dropFirst()).enumerated() {
      let width = to.samplePosition - from.samplePosition
      let start = tangentSlopes[index]
      let end = tangentSlopes[index + 1]
      let square = (3 * secantSlopes[index] - 2 * start - end) / width
      let cube = (start + end - 2 * secantSlopes[index]) / (width * width)
      for sample in Self.sampleIndices(
        from: from.samplePosition, to: to.samplePosition, in: samples)
      {
        let offset = Double(sample) - from.samplePosition
        samples[sample] = ((offset * cube + square) * offset + start) * offset + from.amplitude
      }
    }
  }

  /// Adds quadratic Bézier curves. Every second key frame is a control point.
  private func addBezierCurve(_ points: [Point], to samples: inout [Double]) {
    var arcStartIndex = 0
    while arcStartIndex + 2 < points.count {
      Self.addQuadraticBezierArc(
        points[arcStartIndex], points[arcStartIndex + 1], points[arcStartIndex + 2], to: &samples)
      arcStartIndex += 2
    }
    if arcStartIndex + 2 == points.count {
      CurveInterpolator(points: Array(points[arcStartIndex...])).addEasedSegments(to: &samples) {
        $0
      }
    }
  }

  /// Adds the samples of a quadratic Bézier curve. The parameter *t* at each sample solves the
  /// quadratic equation for its position.
  private static func addQuadraticBezierArc(
    _ start: Point, _ control: Point, _ end: Point, to samples: inout [Double]
  ) {
    guard end.samplePosition > start.samplePosition else { return }
    let positionSecondDifference =
      start.samplePosition - 2 * control.samplePosition + end.samplePosition
    let controlOffset = control.samplePosition - start.samplePosition
    for index in sampleIndices(from: start.samplePosition, to: end.samplePosition, in: samples) {
      let offset = Double(index) - start.samplePosition
      let t: Double
      if abs(positionSecondDifference) > 1e-9 * (end.samplePosition - start.samplePosition) {
        t =
          (max(controlOffset * controlOffset + positionSecondDifference * offset, 0).squareRoot()
            - controlOffset) / positionSecondDifference
      } else {
        t = offset / (2 * controlOffset)
      }
      samples[index] =
        (1 - t) * (1 - t) * start.amplitude + 2 * t * (1 - t) * control.amplitude + t * t
        * end.amplitude
    }
  }

  /// Adds a clamped quadratic B-spline with uniform knots: arcs that meet halfway between key
  /// frames.
  private func addBSplineCurve(_ points: [Point], to samples: inout [Double]) {
    guard points.count > 2 else {
      return CurveInterpolator(points: points).addEasedSegments(to: &samples) { $0 }
    }
    func midpointAfter(_ index: Int) -> Point {
      Point(
        samplePosition: (points[index].samplePosition + points[index + 1].samplePosition) / 2,
        amplitude: (points[index].amplitude + points[index + 1].amplitude) / 2)
    }
    let lastSegmentStartIndex = points.count - 3
    for index in 0...lastSegmentStartIndex {
      Self.addQuadraticBezierArc(
        index == 0 ? points[0] : midpointAfter(index), points[index + 1],
        index == lastSegmentStartIndex
          ? points[lastSegmentStartIndex + 2] : midpointAfter(index + 1),
        to: &samples)
    }
  }
}
