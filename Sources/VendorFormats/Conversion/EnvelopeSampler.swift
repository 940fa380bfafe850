internal import HapticFormats
import HapticModel

/// Turns the haptic events of a composition into envelopes by the laws of the model.
///
/// Every corner that controls and envelope times have is a corner of the result; where the exact
/// level is not linear between two, points are added until it is within the tolerance.
struct EnvelopeSampler {
  /// What the levels are.
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

  /// The controls of one layer that act on haptic events.
  private struct Controls {
    let intensity: ControlTimeline
    let sharpness: ControlTimeline
    let attack: ControlTimeline
    let decay: ControlTimeline
    let release: ControlTimeline

    init(of pattern: HapticPattern) {
      intensity = ControlTimeline(of: .hapticIntensityControl, in: pattern)
      sharpness = ControlTimeline(of: .hapticSharpnessControl, in: pattern)
      attack = ControlTimeline(of: .hapticAttackTimeControl, in: pattern)
      decay = ControlTimeline(of: .hapticDecayTimeControl, in: pattern)
      release = ControlTimeline(of: .hapticReleaseTimeControl, in: pattern)
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
