internal import HapticModel
internal import HapticFormats
internal import CMath

/// The waveform of a vectorial wave at ascending positions. Amplitude and frequency are linear
/// between the key frames that have them; the phase is the integral of the frequency.
struct VectorialWave {
  private let amplitudes: [(position: Double, value: Double)]
  /// The frequencies, with the phase at each key frame, in radians.
  private let frequencies: [(position: Double, hertz: Double, phase: Double)]
  private let initialPhase: Double
  private let baseSignal: MPEGBaseSignal
  private let timescale: Double
  private var nextAmplitudeIndex = 0
  private var nextFrequencyIndex = 0

  init(_ effect: MPEGDocument.Effect, timescale: Int) {
    amplitudes = effect.keyframes.filter { !$0.amplitude.isNaN }.map {
      (Double($0.position), Double($0.amplitude))
    }
    let tick = 1 / Double(timescale)
    var phase = effect.phase
    var frequencies: [(position: Double, hertz: Double, phase: Double)] = []
    for keyframe in effect.keyframes where !keyframe.frequency.isNaN {
      let position = Double(keyframe.position)
      let hertz = Double(keyframe.frequency)
      if let last = frequencies.last {
        phase += .pi * (position - last.position) * tick * (last.hertz + hertz)
      } else {
        phase += 2 * .pi * position * tick * hertz
      }
      frequencies.append((position, hertz, phase))
    }
    self.frequencies = frequencies
    self.initialPhase = effect.phase
    self.timescale = Double(timescale)
    baseSignal = effect.baseSignal
  }

  /// Returns the value at a position in ticks from the start of the effect; not before that of the
  /// preceding call.
  mutating func value(at position: Double) -> Double {
    while nextAmplitudeIndex < amplitudes.count, amplitudes[nextAmplitudeIndex].position < position
    {
      nextAmplitudeIndex += 1
    }
    while nextFrequencyIndex < frequencies.count,
      frequencies[nextFrequencyIndex].position < position
    {
      nextFrequencyIndex += 1
    }
    return amplitude(at: position) * wave(at: position)
  }

  private func amplitude(at position: Double) -> Double {
    guard let last = amplitudes.last else { return 1 }
    guard nextAmplitudeIndex < amplitudes.count else { return last.value }
    let to = amplitudes[nextAmplitudeIndex]
    guard nextAmplitudeIndex > 0 else { return to.value }
    let from = amplitudes[nextAmplitudeIndex - 1]
    let fraction = (position - from.position) / (to.position - from.position)
    return from.value + (to.value - from.value) * fraction
  }

  private func wave(at position: Double) -> Double {
    guard let last = frequencies.last else {
      return signalValue(seconds: 0, hertz: 0, phase: initialPhase)
    }
    guard nextFrequencyIndex < frequencies.count else {
      return signalValue(
        seconds: (position - last.position) / timescale, hertz: last.hertz, phase: last.phase)
    }
    let to = frequencies[nextFrequencyIndex]
    guard nextFrequencyIndex > 0 else {
      return signalValue(seconds: position / timescale, hertz: to.hertz, phase: initialPhase)
    }
    let from = frequencies[nextFrequencyIndex - 1]
    let elapsed = position - from.position
    let slope = (to.hertz - from.hertz) / (to.position - from.position)
    return signalValue(
      seconds: elapsed / timescale, hertz: from.hertz + slope * elapsed / 2, phase: from.phase)
  }

  private func signalValue(seconds: Double, hertz: Double, phase: Double) -> Double {
    let turns = hertz == 0 ? 0 : hertz * (seconds + phase / (2 * .pi * hertz))
    switch baseSignal {
    case .sine: return hertz == 0 ? sin(phase) : sin(2 * .pi * turns)
    case .square: return 1 - 2 * (turns - floor(turns)).rounded()
    case .triangle: return 1 - 4 * abs((turns - 0.25).rounded() - (turns - 0.25))
    case .sawToothUp: return 2 * (turns - floor(turns + 0.5))
    case .sawToothDown: return 2 * (floor(turns + 0.5) - turns)
    }
  }
}

/// The samples of a curve effect, whose amplitude is the signal.
struct CurveInterpolator {
  /// A key frame, with its position in samples from the start.
  struct Point: Equatable {
    var position: Double
    var value: Double
  }

  /// The key frames, sorted by position.
  let points: [Point]

  /// The key frames without duplicate positions; the last of them remains. Linear and cubic curves
  /// use all key frames, because they may jump.
  private var distinctPoints: [Point] {
    var distinct: [Point] = []
    for point in points {
      if distinct.last?.position == point.position {
        distinct.removeLast()
      }
      distinct.append(point)
    }
    return distinct
  }

  /// Returns the samples from 0 to the last key frame.
  func samples(of kind: MPEGCurveKind) -> [Double] {
    guard points.count > 1, let last = points.last, last.position >= 0 else { return [] }
    var samples = [Double](repeating: 0, count: Int(last.position) + 1)
    if points.count == 2 {
      addSegments(to: &samples) { $0 }
      return samples
    }
    switch kind {
    case .linear: addSegments(to: &samples) { $0 }
    case .cubic, .unknown: addSegments(to: &samples) { (3 - 2 * $0) * $0 * $0 }
    case .akima: addAkima(distinctPoints, to: &samples)
    case .bezier: addBezier(distinctPoints, to: &samples)
    case .bSpline: addBSpline(distinctPoints, to: &samples)
    }
    return samples
  }

  /// Adds the samples between successive key frames.
  ///
  /// - Parameters:
  ///   - samples: The output.
  ///   - easing: Maps the fraction of the elapsed time to the fraction of the change in value.
  private func addSegments(to samples: inout [Double], easing: (Double) -> Double) {
    for (from, to) in zip(points, points.dropFirst()) where to.position > from.position {
      for index in Self.sampleIndices(from: from.position, to: to.position, in: samples) {
        let fraction = easing((Double(index) - from.position) / (to.position - from.position))
        samples[index] = from.value + (to.value - from.value) * fraction
      }
    }
  }

  /// Returns the indices of the samples from one position to another, including both.
  private static func sampleIndices(from: Double, to: Double, in samples: [Double]) -> ClosedRange<
    Int
  > {
    let first = FrameConversion.integer(from.rounded(.up), in: 0...samples.count - 1)
    return first...max(first, FrameConversion.integer(to.rounded(.down), in: 0...samples.count - 1))
  }

  /// Adds a piecewise cubic curve whose slope at a key frame is a weighted mean of the adjacent
  /// slopes. Two slopes are extrapolated at each end.
  ///
  /// Source: H. Akima, *A new method of interpolation and smooth curve fitting based on local
  /// procedures*, 1970.
  private func addAkima(_ points: [Point], to samples: inout [Double]) {
    guard points.count > 2 else {
      return CurveInterpolator(points: points).addSegments(to: &samples) { $0 }
    }
    let secants = zip(points, points.dropFirst()).map {
      ($1.value - $0.value) / ($1.position - $0.position)
    }
    let first = secants[0]
    let second = secants[1]
    let last = secants[secants.count - 1]
    let next = secants[secants.count - 2]
    let slopes =
      [3 * first - 2 * second, 2 * first - second] + secants + [
        2 * last - next, 3 * last - 2 * next,
      ]
    let changes = zip(slopes, slopes.dropFirst()).map { abs($1 - $0) }
    let weights = points.indices.map { changes[$0 + 2] + changes[$0] }
    let threshold = 1e-8 * (weights.max() ?? 0)
    let tangents = points.indices.map { index in
      guard weights[index] > threshold else { return slopes[index + 1] }
      return (changes[index + 2] * slopes[index + 1] + changes[index] * slopes[index + 2])
        / weights[index]
    }
    for (index, (from, to)) in zip(points, points.dropFirst()).enumerated() {
      let width = to.position - from.position
      let start = tangents[index]
      let end = tangents[index + 1]
      let square = (3 * secants[index] - 2 * start - end) / width
      let cube = (start + end - 2 * secants[index]) / (width * width)
      for sample in Self.sampleIndices(from: from.position, to: to.position, in: samples) {
        let offset = Double(sample) - from.position
        samples[sample] = ((offset * cube + square) * offset + start) * offset + from.value
      }
    }
  }

  /// Adds quadratic Bézier curves, in which every second key frame is a control point.
  private func addBezier(_ points: [Point], to samples: inout [Double]) {
    var index = 0
    while index + 2 < points.count {
      Self.addArc(points[index], points[index + 1], points[index + 2], to: &samples)
      index += 2
    }
    if index + 2 == points.count {
      CurveInterpolator(points: Array(points[index...])).addSegments(to: &samples) { $0 }
    }
  }

  /// Adds the samples of a quadratic Bézier curve. The parameter *t* at each sample solves the
  /// quadratic equation for its position.
  private static func addArc(
    _ start: Point, _ control: Point, _ end: Point, to samples: inout [Double]
  ) {
    guard end.position > start.position else { return }
    let bend = start.position - 2 * control.position + end.position
    let rise = control.position - start.position
    for index in sampleIndices(from: start.position, to: end.position, in: samples) {
      let offset = Double(index) - start.position
      let t: Double
      if abs(bend) > 1e-9 * (end.position - start.position) {
        t = (max(rise * rise + bend * offset, 0).squareRoot() - rise) / bend
      } else {
        t = offset / (2 * rise)
      }
      samples[index] =
        (1 - t) * (1 - t) * start.value + 2 * t * (1 - t) * control.value + t * t * end.value
    }
  }

  /// Adds a clamped quadratic B-spline with uniform knots: arcs that meet halfway between key
  /// frames.
  private func addBSpline(_ points: [Point], to samples: inout [Double]) {
    guard points.count > 2 else {
      return CurveInterpolator(points: points).addSegments(to: &samples) { $0 }
    }
    func middle(_ index: Int) -> Point {
      Point(
        position: (points[index].position + points[index + 1].position) / 2,
        value: (points[index].value + points[index + 1].value) / 2)
    }
    let last = points.count - 3
    for index in 0...last {
      Self.addArc(
        index == 0 ? points[0] : middle(index), points[index + 1],
        index == last ? points[last + 2] : middle(index + 1),
        to: &samples)
    }
  }
}
