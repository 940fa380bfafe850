internal import HapticFormats
internal import HapticModel

/// Converts a composition into effects. Overlapping events are merged into one envelope, because an
/// Android vibration has only one.
struct VibrationBuilder {
  private let composition: HapticComposition
  private let mapping: AmplitudeMapping
  private let tolerance: Double
  private(set) var losses: LossLog
  private var quantizer = Quantizer()

  /// The rise and fall times of a transient within an envelope, in milliseconds.
  static let transientPulse = (rise: 1, fall: 12)
  /// The maximum distance of a removed point from a straight line, as a fraction of full scale.
  private static let lineTolerance = 0.0025

  init(_ composition: HapticComposition, options: WritingOptions) {
    self.composition = composition
    mapping = options.amplitudeMapping
    tolerance = options.tolerance
    losses = LossLog()
    losses.addNonHapticLosses(of: composition)
  }

  // MARK: Envelopes

  /// Returns a basic envelope, which repeats if the composition has a loop.
  mutating func basicEnvelope() -> VibrationEffect {
    effect(of: mergedPoints(.intensity), isBasic: true)
  }

  /// Returns a waveform envelope, which repeats if the composition has a loop.
  mutating func waveformEnvelope() -> VibrationEffect {
    let scale = SharpnessScale.phone
    // The format interpolates frequencies in hertz, so the lines are converted to hertz.
    var points: [EnvelopePoint] = []
    func append(_ point: EnvelopePoint) {
      points.append(
        EnvelopePoint(
          time: point.time, level: point.level,
          sharpness: scale.hertz(ofSharpness: point.sharpness) / scale.maximumHertz))
    }
    for point in mergedPoints(.amplitude, frequencies: scale) {
      if let last = points.last, last.time < point.time {
        let from = EnvelopePoint(
          time: last.time, level: last.level,
          sharpness: scale.sharpness(ofHertz: last.sharpness * scale.maximumHertz))
        let count = FrameConversion.integer(
          (abs(point.sharpness - from.sharpness) * Self.linesPerSharpnessUnit).rounded(.up))
        for intermediate in from.subdivided(to: point, count: count) {
          append(intermediate)
        }
      }
      append(point)
    }
    return effect(of: removingCollinear(points), isBasic: false)
  }

  /// The number of lines of hertz that represent a change in sharpness from 0 to 1 within the line
  /// tolerance.
  private static let linesPerSharpnessUnit = 8.0

  /// Returns the points without those that only approximate a line between two breakpoints of the
  /// composition.
  private func removingCollinear(_ points: [EnvelopePoint]) -> [EnvelopePoint] {
    var anchors: Set<Double> = []
    func anchor(_ seconds: Double) { anchors.insert((seconds * 1e6).rounded()) }
    for layer in composition.layers {
      for event in layer.pattern.events {
        anchor(event.time)
        anchor(event.time + (event.duration ?? 0))
      }
      for curve in layer.pattern.curves where curve.id == .hapticIntensityControl {
        for point in curve.controlPoints {
          anchor(curve.time + point.time)
        }
      }
    }
    var remainingPoints: [EnvelopePoint] = []
    var run: [EnvelopePoint] = []
    for point in points {
      run.append(point)
      guard anchors.contains((point.time * 1e6).rounded()) else { continue }
      remainingPoints += PointReduction(run, tolerance: Self.lineTolerance).points.dropFirst(
        remainingPoints.isEmpty ? 0 : 1)
      run = [point]
    }
    return remainingPoints
      + PointReduction(run, tolerance: Self.lineTolerance).points.dropFirst(
        remainingPoints.isEmpty ? 0 : 1)
  }

  /// Returns everything as one line of levels and sharpness.
  ///
  /// - Parameters:
  ///   - quantity: The quantity of the levels.
  ///   - frequencies: The scale of a dialect with frequencies, or nil for sharpness.
  private mutating func mergedPoints(
    _ quantity: EnvelopeScale.Quantity, frequencies: SharpnessScale? = nil
  ) -> [EnvelopePoint] {
    let sampler = EnvelopeSampler(
      quantity, mapping: mapping, tolerance: tolerance, frequencies: frequencies)
    var pulses = 0
    let envelopes = sampler.envelopes(of: composition).map { envelope in
      guard envelope.kind == .hapticTransient else { return envelope }
      pulses += 1
      let point = envelope.points[0]
      let times = [
        0, Self.transientPulse.rise, Self.transientPulse.rise + Self.transientPulse.fall,
      ]
      return EventEnvelope(
        event: envelope.event, kind: .hapticContinuous,
        points: zip(times, [0, point.level, 0]).map { time, level in
          EnvelopePoint(
            time: point.time + Double(time) / 1000, level: level, sharpness: point.sharpness)
        })
    }
    if pulses > 0 {
      losses.add(
        .approximated, .composition,
        """
        transients (# in total) are written as pulses with a rise time of \
        \(Self.transientPulse.rise) ms and a fall time of \(Self.transientPulse.fall) ms
        """,
        size: Double(pulses))
    }
    let merged = MergedEnvelope(envelopes, sampler: sampler)
    losses.add(merged)
    return Self.roundedToFloat(merged.points)
  }

  /// Returns the points in the precision of the file, so that rounding errors at one time don't
  /// become jumps.
  private static func roundedToFloat(_ points: [EnvelopePoint]) -> [EnvelopePoint] {
    var exact: [EnvelopePoint] = []
    for var point in points {
      point.level = abs(point.level) < 1e-9 ? 0 : Double(Float(point.level))
      point.sharpness = abs(point.sharpness) < 1e-9 ? 0 : Double(Float(point.sharpness))
      if exact.last != point {
        exact.append(point)
      }
    }
    return exact
  }

  private mutating func effect(of points: [EnvelopePoint], isBasic: Bool) -> VibrationEffect {
    defer { quantizer.reportErrors(to: &losses) }
    guard let loop = composition.loop else {
      return envelope(points, from: 0, to: nil, isBasic: isBasic)
    }
    let end = loop.end ?? composition.duration
    let start = min(max(loop.start, 0), end)
    let last = quantizer.milliseconds(end)
    let first = min(quantizer.milliseconds(start), max(last - 1, 0))
    let repeating = envelope(
      Self.segment(of: points, from: start, to: end), from: first, to: last, isBasic: isBasic)
    guard first > 0 else { return .repeating(preamble: nil, repeating) }
    let preamble = envelope(
      Self.segment(of: points, from: 0, to: start), from: 0, to: first, isBasic: isBasic)
    return .repeating(preamble: preamble, repeating)
  }

  /// Returns the points between two times, excluding jumps at the ends.
  private static func segment(of points: [EnvelopePoint], from start: Double, to end: Double)
    -> [EnvelopePoint]
  {
    var part: [EnvelopePoint] = []
    for (index, point) in points.enumerated() {
      if point.time < start {
        if index + 1 < points.count, points[index + 1].time > start {
          part.append(.interpolated(from: point, to: points[index + 1], at: start))
        }
      } else if point.time > end {
        if index > 0, points[index - 1].time < end {
          part.append(.interpolated(from: points[index - 1], to: point, at: end))
        }
        break
      } else if point.time == end, let last = part.last, last.time == end {
        continue
      } else {
        if point.time == start, start > 0 {
          part.removeAll()
        }
        part.append(point)
      }
    }
    return part
  }

  private mutating func reportRamp() {
    losses.add(.approximated, .composition, "jumps are written as ramps of # ms", size: 1)
  }

  /// Returns the ends of lines of whole milliseconds, from level 0 at the start back to level 0,
  /// and the sharpness at the start.
  private mutating func lines(_ points: [EnvelopePoint], from start: Int, to end: Int?) -> (
    sharpness: Double, ends: [(point: EnvelopePoint, duration: Int)]
  ) {
    var lineEnds: [(point: EnvelopePoint, duration: Int)] = []
    var time = start
    for (index, point) in points.enumerated() {
      var target = quantizer.milliseconds(point.time)
      if index == 0, target > time {
        var silence = point
        silence.level = 0
        lineEnds.append((silence, target - time))
        time = target
      }
      let isJump = index == 0 ? point.level != 0 : points[index - 1].time == point.time
      if isJump {
        target = max(target, time + 1)
      }
      if isJump, (index == 0 ? 0 : points[index - 1].level) != point.level {
        reportRamp()
      }
      if target > time {
        lineEnds.append((point, target - time))
        time = target
      } else if !lineEnds.isEmpty {
        lineEnds[lineEnds.count - 1].point = point
      }
    }
    if var last = lineEnds.last?.point, last.level != 0 {
      last.level = 0
      lineEnds.append((last, 1))
      time += 1
    }
    if let end, end > time || lineEnds.isEmpty {
      var last = lineEnds.last?.point ?? EnvelopePoint(time: 0, level: 0, sharpness: 0)
      last.level = 0
      lineEnds.append((last, max(end - time, 1)))
    }
    if lineEnds.isEmpty {
      lineEnds = [(EnvelopePoint(time: 0, level: 0, sharpness: 0), 1)]
    }
    return (points.first?.sharpness ?? lineEnds[0].point.sharpness, lineEnds)
  }

  private mutating func envelope(
    _ points: [EnvelopePoint], from start: Int, to end: Int?, isBasic: Bool
  )
    -> VibrationEffect
  {
    let (initial, ends) = lines(points, from: start, to: end)
    // Basic envelopes end in silence; waveform envelopes end at any level.
    if isBasic, let last = points.last, last.level != 0 {
      reportRamp()
    }
    func tone(_ sharpness: Double) -> Float {
      if isBasic { return Float(sharpness) }
      return max(
        Float((max(sharpness, 0) * SharpnessScale.phone.maximumHertz * 1000).rounded() / 1000),
        0.001)
    }
    let lines = ends.map { end in
      VibrationEffect.ControlPoint(
        level: Float(end.point.level), tone: tone(end.point.sharpness), duration: end.duration)
    }
    return .envelope(
      isBasic: isBasic, initial: lines.first?.tone == tone(initial) ? nil : tone(initial), lines)
  }

  // MARK: Primitives

  /// Returns the transients as primitives. Other events are dropped.
  mutating func primitives() -> VibrationEffect {
    var primitives: [VibrationEffect.Primitive] = []
    var previous = 0
    var end = 0
    for envelope in EnvelopeSampler(.intensity).envelopes(of: composition) {
      guard envelope.kind == .hapticTransient else {
        losses.add(.dropped, .event(envelope.event), "only transients can be written as primitives")
        continue
      }
      let point = envelope.points[0]
      let nearest = VibrationPrimitives.nearest(intensity: point.level, sharpness: point.sharpness)
      losses.add(
        .approximated, .event(envelope.event),
        """
        a transient is written as the nearest primitive, an effect of the device, # of full scale \
        away
        """,
        size: nearest.error)
      let start = quantizer.milliseconds(point.time)
      let isFromStart = start < end
      primitives.append(
        .init(
          name: nearest.primitive, scale: nearest.scale,
          delay: start - (isFromStart ? previous : end),
          delaysFromPreviousStart: isFromStart))
      previous = start
      end = start + VibrationPrimitives.approximation(of: nearest.primitive).durationMilliseconds
    }
    if composition.loop != nil {
      losses.add(.dropped, .composition, "loop points cannot be written with primitives")
    }
    quantizer.reportErrors(to: &losses)
    // Android rejects an effect without entries. An imperceptible primitive represents silence.
    return .primitives(primitives.isEmpty ? [.init(name: "tick", scale: 0)] : primitives)
  }
}
