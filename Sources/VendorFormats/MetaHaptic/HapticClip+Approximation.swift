internal import HapticFormats
import HapticModel

extension HapticClip {
  /// Seconds that the envelope lasts behind the last tap where nothing else does.
  static let tail = 0.02
  /// Taps nearer to a point than this stand on it.
  private static let sameTime = 1e-6

  /// A clip that is as near to a composition as the format allows, with what it does not.
  init(approximating composition: HapticComposition, options: WritingOptions, losses: inout LossLog) {
    losses.dropAllButHaptics(of: composition)
    let given = composition.unrolled(passes: options.loops, losses: &losses)
    let sampler = EnvelopeSampler(.amplitude, law: options.amplitude, tolerance: options.tolerance / 2)
    let envelopes = sampler.envelopes(of: given, losses: &losses)
    let merged = MergedEnvelope(envelopes, sampler: sampler)
    losses.add(merged)
    let taps = envelopes.filter { $0.kind == .hapticTransient }
    let corners = Self.covering(merged.points, taps.map { $0.start })
    let level = PointReduction(corners, tolerance: options.tolerance / 2, sharpnessWeight: 0)
    amplitude = level.points.map { Point(time: $0.time, amplitude: Float($0.level)) }
    let tones = PointReduction(
      Self.frequencies(corners, tolerance: options.tolerance / 2), tolerance: options.tolerance / 2, sharpnessWeight: 0)
    frequency = tones.points.map { FrequencyPoint(time: $0.time, frequency: Float($0.level)) }
    let wasSampled = corners.contains { $0.level != 0 } && !Self.isConstant(corners)
    if wasSampled {
      losses.add(
        .approximated, .composition,
        "the envelope is made of straight lines of amplitude, within # of full scale",
        size: max(options.tolerance / 2 + level.error, tones.error))
    }
    place(taps, law: options.amplitude, losses: &losses)
  }

  /// Whether levels and sharpnesses only jump, so that the lines are exact.
  private static func isConstant(_ points: [EnvelopePoint]) -> Bool {
    zip(points, points.dropFirst()).allSatisfy {
      $0.time == $1.time || ($0.level == $1.level && $0.sharpness == $1.sharpness)
    }
  }

  /// Corners from 0 to behind all taps: silence where nothing sounds.
  private static func covering(_ points: [EnvelopePoint], _ taps: [Double]) -> [EnvelopePoint] {
    var points = points
    let sharpness = points.first?.sharpness ?? 0.5
    if points.isEmpty { points = [EnvelopePoint(time: 0, level: 0, sharpness: sharpness)] }
    if points[0].time > 0 {
      let silence = EnvelopePoint(time: 0, level: 0, sharpness: sharpness)
      var edge = silence
      edge.time = points[0].time
      points.insert(contentsOf: edge == points[0] ? [silence] : [silence, edge], at: 0)
    }
    var last = points[points.count - 1]
    if let tap = taps.last, tap >= last.time || points.count == 1 {
      if last.level > 0 {
        last.level = 0
        points.append(last)
      }
      last.time = max(tap, last.time) + tail
      points.append(last)
    } else if points.count == 1 {
      last.time += tail
      points.append(last)
    }
    return points
  }

  /// The frequency envelope: the square of a sharpness that moves along straight lines.
  private static func frequencies(_ points: [EnvelopePoint], tolerance: Double) -> [EnvelopePoint] {
    var tones: [EnvelopePoint] = []
    func append(_ time: Double, _ sharpness: Double) {
      let tone = EnvelopePoint(time: time, level: FrequencyLaw.frequency(ofSharpness: sharpness), sharpness: 0)
      if tones.last != tone { tones.append(tone) }
    }
    for (index, point) in points.enumerated() {
      if index > 0, points[index - 1].time < point.time {
        // A chord of a parabola is a quarter of the squared difference from it at most.
        let last = points[index - 1]
        let steps = (abs(point.sharpness - last.sharpness) / (2 * tolerance.squareRoot())).rounded(.up)
        for step in 1..<max(FrameConversion.integer(steps.rounded(.down), in: 0...1000), 1) {
          let share = Double(step) / steps
          append(
            last.time + (point.time - last.time) * share, last.sharpness + (point.sharpness - last.sharpness) * share)
        }
      }
      append(point.time, point.sharpness)
    }
    return tones
  }

  /// Puts taps on points of the envelope, inserting those that are missing.
  private mutating func place(_ taps: [EventEnvelope], law: AmplitudeLaw, losses: inout LossLog) {
    var points: [Point] = []
    points.reserveCapacity(amplitude.count + taps.count)
    var next = 0
    for tap in taps {
      let time = tap.start
      let level = Float(min(tap.points[0].level, 1))
      guard level > 0 else {
        losses.add(.dropped, .event(tap.event), "a silent transient is left out")
        continue
      }
      while next < amplitude.count, amplitude[next].time < time - Self.sameTime {
        points.append(amplitude[next])
        next += 1
      }
      // Of the points at one time the lowest bears the tap, so that its amplitude need not change.
      var chosen: Int?
      while next < amplitude.count, amplitude[next].time <= time + Self.sameTime {
        points.append(amplitude[next])
        next += 1
      }
      for index in points.indices.reversed() {
        guard points[index].time >= time - Self.sameTime else { break }
        if chosen.map({ points[index].amplitude < points[$0].amplitude }) ?? true { chosen = index }
      }
      let index = chosen ?? points.count
      if chosen == nil { points.append(Point(time: time, amplitude: between(points.last, next, at: time))) }
      let emphasis = Emphasis(
        amplitude: max(level, points[index].amplitude), frequency: Float(min(max(tap.points[0].sharpness, 0), 1)))
      if let other = points[index].emphasis {
        losses.add(.dropped, .event(tap.event), "of transients at one time only the strongest is kept")
        guard emphasis.amplitude > other.amplitude else { continue }
      }
      if emphasis.amplitude > level {
        losses.add(
          .approximated, .event(tap.event), "the amplitude of a transient is raised by # to the envelope's",
          size: Double(emphasis.amplitude - level))
      }
      points[index].emphasis = emphasis
    }
    amplitude = points + amplitude[next...]
  }

  /// The amplitude of the envelope between two points at a time.
  private func between(_ last: Point?, _ next: Int, at time: Double) -> Float {
    guard let last, next < amplitude.count else { return 0 }
    let point = EnvelopePoint.between(
      EnvelopePoint(time: last.time, level: Double(last.amplitude), sharpness: 0),
      EnvelopePoint(time: amplitude[next].time, level: Double(amplitude[next].amplitude), sharpness: 0), at: time)
    return Float(point.level)
  }
}
