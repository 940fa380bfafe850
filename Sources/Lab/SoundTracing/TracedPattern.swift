internal import CMath
internal import HapticModel

/// Transients and continuous events as the events and curves of a pattern.
///
/// A hum is one continuous event, with curves where it moves. A curve acts on transients too: each
/// is divided by the control at its onset, and where that does not suffice, the control passes
/// through the needed value for ±1 ms.
struct TracedPattern {
  private(set) var pattern = HapticPattern()
  private var intensityControl = ControlTrack(neutralValue: 1)
  private var sharpnessControl = ControlTrack(neutralValue: 0)

  /// The part of intensity, and the sharpness, within which a hum does not move.
  private let intensityTolerance, sharpnessTolerance: Double
  private static let minimumIntensityTolerance = 0.02

  /// - Parameter tolerance: How far lines may be from what was found, in decibels of felt level.
  init(transients: [TracedTransient], continuous: [TracedContinuous], tolerance: Double) {
    // Level follows the square of intensity in most profiles.
    intensityTolerance = (pow(10, tolerance / 20) - 1) / 2
    sharpnessTolerance = 0.05 * max(1, tolerance)
    for hum in continuous {
      add(hum)
    }
    for tap in transients {
      add(tap)
    }
    pattern.events.sort { ($0.time, $0.kind.rawValue) < ($1.time, $1.kind.rawValue) }
    pattern.curves =
      intensityControl.curves(.hapticIntensityControl)
      + sharpnessControl.curves(.hapticSharpnessControl)
  }

  /// What an event weighs where only some may be kept: intensity squared, by 25 ms.
  static func weight(of tap: TracedTransient) -> Double { tap.intensity * tap.intensity }
  static func weight(of hum: TracedContinuous) -> Double {
    hum.intensities.reduce(0) { $0 + $1 * $1 } * hum.step / 0.025
  }

  private mutating func add(_ hum: TracedContinuous) {
    let skipped = max(0, Int((-hum.start / hum.step).rounded(.up)))
    let levels = Array(hum.intensities.dropFirst(skipped))
    let tones = Array(hum.sharpnesses.dropFirst(skipped))
    let start = hum.start + Double(skipped) * hum.step
    guard Double(levels.count) * hum.step <= HapticEvent.defaultDuration else {
      let half = levels.count / 2
      for part in [0..<half, half..<levels.count] {
        add(
          TracedContinuous(
            start: start + Double(part.lowerBound) * hum.step, step: hum.step,
            intensities: Array(levels[part]),
            sharpnesses: Array(tones[part])))
      }
      return
    }
    guard levels.count >= 4, let greatest = levels.max(), greatest > 0 else { return }
    let sorted = levels.sorted()
    let top = sorted[min(sorted.count - 1, Int(0.995 * Double(sorted.count)))]
    let median = sorted[sorted.count / 2]
    func tolerance(_ level: Double) -> Double {
      max(Self.minimumIntensityTolerance, intensityTolerance * level)
    }
    func share(_ count: Int, of all: Int) -> Double { Double(count) / Double(max(1, all)) }
    let isFlat =
      levels.allSatisfy { abs($0 - median) < 1.6 * tolerance($0) }
      || share(levels.count { abs($0 - median) < tolerance($0) }, of: levels.count) > 0.97
    let loud = levels.indices.filter { levels[$0] > 0.35 * top }
    let middle = loud.map { tones[$0] }.sorted()[loud.count / 2]
    let isSteady =
      share(loud.count { abs(tones[$0] - middle) < sharpnessTolerance }, of: loud.count) > 0.97
    let weights = levels.map { $0 + 1e-6 }
    let mean = zip(tones, weights).reduce(0) { $0 + $1.0 * $1.1 } / weights.reduce(0, +)
    let own = (intensity: isFlat ? median : top, sharpness: isSteady ? middle : mean)
    let event = HapticEvent(
      kind: .hapticContinuous, time: Self.rounded(seconds: start),
      duration: Self.rounded(seconds: Double(levels.count) * hum.step),
      parameters: [
        .hapticIntensity: Self.rounded(value: own.intensity),
        .hapticSharpness: Self.rounded(value: own.sharpness),
      ])
    pattern.events.append(event)
    // Every 2 ms.
    let step = max(1, Int(0.002 / hum.step))
    let indices = Array(stride(from: 0, to: levels.count, by: step))
    let times = indices.map { start + Double($0) * hum.step }
    if !isFlat {
      intensityControl.append(
        Self.simplified(
          times, indices.map { levels[$0] }, within: indices.map { tolerance(levels[$0]) }
        ).map {
          (times[$0], min(1, levels[indices[$0]] / own.intensity))
        })
    }
    if !isSteady {
      let within = indices.map { sharpnessTolerance * min(6, max(1, top / max(levels[$0], 1e-3))) }
      sharpnessControl.append(
        Self.simplified(times, indices.map { tones[$0] }, within: within).map {
          (times[$0], tones[indices[$0]] - own.sharpness)
        })
    }
  }

  private mutating func add(_ tap: TracedTransient) {
    let time = max(0, tap.time)
    if intensityControl.value(at: time) < tap.intensity {
      intensityControl.pass(through: min(1, tap.intensity), at: time)
    }
    let tone = tap.sharpness - sharpnessControl.value(at: time)
    if tone < -0.03 || tone > 1.03 {
      sharpnessControl.pass(through: 0, at: time)
    }
    let own = min(1, tap.intensity / max(intensityControl.value(at: time), 1e-3))
    pattern.events.append(
      HapticEvent(
        kind: .hapticTransient, time: Self.rounded(seconds: time),
        parameters: [
          .hapticIntensity: Self.rounded(value: own),
          .hapticSharpness: Self.rounded(
            value: min(1, max(0, tap.sharpness - sharpnessControl.value(at: time)))),
        ]))
  }

  /// Times to a tenth of a millisecond, values to a thousandth: what files are read by people with.
  static func rounded(seconds: Double) -> Double { (max(0, seconds) * 1e4).rounded() / 1e4 }
  static func rounded(value: Double) -> Float { Float((value * 1_000).rounded() / 1_000) }

  /// The fewest points found so that none is farther from the lines than its tolerance (D. Douglas,
  /// T. Peucker, 1973).
  private static func simplified(_ times: [Double], _ values: [Double], within tolerances: [Double])
    -> [Int]
  {
    var kept = [0, times.count - 1]
    var stack = [(0, times.count - 1)]
    while let (first, last) = stack.popLast() {
      guard last - first > 1 else { continue }
      var worst = (excess: 1.0, index: -1)
      for index in first + 1..<last {
        let share = (times[index] - times[first]) / (times[last] - times[first])
        let line = values[first] + (values[last] - values[first]) * share
        let excess = abs(line - values[index]) / tolerances[index]
        if excess > worst.excess {
          worst = (excess, index)
        }
      }
      guard worst.index >= 0 else { continue }
      kept.append(worst.index)
      stack += [(first, worst.index), (worst.index, last)]
    }
    return Array(Set(kept)).sorted()
  }
}

/// The lines of a control over a pattern, by rising time; it rests between them.
private struct ControlTrack {
  typealias Point = (time: Double, value: Double)
  let neutralValue: Double
  private var segments: [[Point]] = []

  /// Seconds in which a control returns behind its hum, and passes through a value.
  private static let returnDuration = 0.001
  /// Points of a curve at most; curves in pieces share an end. Source: Apple's documentation of
  /// `CHHapticParameterCurve`.
  private static let maximumPointCount = 16

  init(neutralValue rest: Double) { self.neutralValue = rest }

  mutating func append(_ line: [Point]) {
    // The one before returns, unless this one follows at once.
    if let last = segments.last?.last, line[0].time - last.time > 3 * Self.returnDuration {
      returnToNeutral()
    }
    segments.append(line)
  }

  private mutating func returnToNeutral() {
    guard let last = segments.last?.last else { return }
    segments[segments.count - 1].append((last.time + Self.returnDuration, neutralValue))
  }

  private func index(at time: Double) -> Int? {
    segments.firstIndex { $0[0].time - 1e-9 <= time && time <= $0[$0.count - 1].time }
  }

  private static func value(_ line: [Point], at time: Double) -> Double {
    guard let next = line.firstIndex(where: { $0.time > time }), next > 0 else {
      return time < line[0].time ? line[0].value : line[line.count - 1].value
    }
    let from = line[next - 1]
    let to = line[next]
    return from.value + (to.value - from.value) * (time - from.time)
      / max(to.time - from.time, 1e-9)
  }

  func value(at time: Double) -> Double {
    index(at: time).map { Self.value(segments[$0], at: time) } ?? neutralValue
  }

  mutating func pass(through value: Double, at time: Double) {
    guard let index = index(at: time) else { return }
    let line = segments[index]
    let first = max(line[0].time, time - Self.returnDuration)
    let last = min(line[line.count - 1].time, time + Self.returnDuration)
    let points = [
      (first, Self.value(line, at: first)), (time, value), (last, Self.value(line, at: last)),
    ]
    segments[index] =
      line.prefix { $0.time < first } + points.map { (time: $0.0, value: $0.1) }
      + line.drop { $0.time <= last }
  }

  func curves(_ id: DynamicParameterID) -> [ParameterCurve] {
    var closed = self
    closed.returnToNeutral()
    return closed.segments.flatMap { line -> [ParameterCurve] in
      // One point at each time, the last.
      let points = line.indices.filter { index in
        index + 1 == line.count
          || TracedPattern.rounded(seconds: line[index].time)
            < TracedPattern.rounded(seconds: line[index + 1].time)
      }.map { line[$0] }
      return stride(from: 0, to: max(1, points.count - 1), by: Self.maximumPointCount - 1).map {
        first in
        let start = TracedPattern.rounded(seconds: points[first].time)
        return ParameterCurve(
          id: id, time: start,
          controlPoints: points[first..<min(points.count, first + Self.maximumPointCount)].map {
            point in
            .init(
              time: TracedPattern.rounded(
                seconds: TracedPattern.rounded(seconds: point.time) - start),
              value: TracedPattern.rounded(value: point.value))
          })
      }
    }
  }
}
