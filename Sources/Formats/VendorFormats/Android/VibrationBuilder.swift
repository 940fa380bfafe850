internal import HapticFormats
internal import HapticModel

/// Converts a composition into Android vibration effects. Overlapping events are merged, because an
/// Android vibration has only one envelope.
struct VibrationBuilder {
  private let composition: HapticComposition
  private let amplitudeMapping: AmplitudeMapping
  private let levelTolerance: Double
  private(set) var losses: LossLog
  private var quantizer = TimeAndLevelQuantizer()

  /// The rise and fall times of a transient within an envelope, in milliseconds.
  static let transientPulseMilliseconds = (rise: 1, fall: 12)
  /// The maximum distance of a removed point from a straight line, as a fraction of full scale.
  private static let collinearityToleranceFraction = 0.0025

  init(_ composition: HapticComposition, options: WritingOptions) {
    self.composition = composition
    amplitudeMapping = options.amplitudeMapping
    levelTolerance = options.curveToleranceFraction
    losses = LossLog()
    losses.addNonHapticLosses(of: composition)
  }

  // MARK: Envelopes

  /// Returns a basic envelope, which repeats if the composition has a loop.
  mutating func makeBasicEnvelope() -> VibrationEffect {
    makeEffect(of: mergedPoints(.intensity), isBasic: true)
  }

  /// Returns a waveform envelope, which repeats if the composition has a loop.
  mutating func makeWaveformEnvelope() -> VibrationEffect {
    let phoneScale = SharpnessScale.phone
    // The format interpolates in hertz, so convert the lines to hertz.
    var hertzPoints: [EnvelopePoint] = []
    func appendInHertz(_ point: EnvelopePoint) {
      hertzPoints.append(
        EnvelopePoint(
          timeSeconds: point.timeSeconds, level: point.level,
          sharpness: phoneScale.hertz(ofSharpness: point.sharpness) / phoneScale.maximumHertz))
    }
    for point in mergedPoints(.amplitude, frequencies: phoneScale) {
      if let last = hertzPoints.last, last.timeSeconds < point.timeSeconds {
        let from = EnvelopePoint(
          timeSeconds: last.timeSeconds, level: last.level,
          sharpness: phoneScale.sharpness(ofHertz: last.sharpness * phoneScale.maximumHertz))
        let count = FrameConversion.clampedInteger(
          (abs(point.sharpness - from.sharpness) * Self.hertzLinesPerSharpnessUnit).rounded(.up))
        for intermediate in from.pointsDividingLine(to: point, count: count) {
          appendInHertz(intermediate)
        }
      }
      appendInHertz(point)
    }
    return makeEffect(of: removingCollinearPoints(hertzPoints), isBasic: false)
  }

  /// The number of frequency lines for a sharpness change from 0 to 1 within the tolerance.
  ///
  /// The lines are straight in hertz.
  private static let hertzLinesPerSharpnessUnit = 8.0

  /// Returns the points of an envelope without redundant points.
  ///
  /// A redundant point only approximates a line between two breakpoints of the composition.
  private func removingCollinearPoints(_ points: [EnvelopePoint]) -> [EnvelopePoint] {
    var anchorMicroseconds: Set<Double> = []
    func addAnchor(_ seconds: Double) { anchorMicroseconds.insert((seconds * 1e6).rounded()) }
    for layer in composition.layers {
      for event in layer.pattern.events {
        addAnchor(event.time)
        addAnchor(event.time + (event.duration ?? 0))
      }
      for curve in layer.pattern.curves where curve.id == .hapticIntensityControl {
        for point in curve.controlPoints {
          addAnchor(curve.time + point.time)
        }
      }
    }
    var remainingPoints: [EnvelopePoint] = []
    var collinearRun: [EnvelopePoint] = []
    for point in points {
      collinearRun.append(point)
      guard anchorMicroseconds.contains((point.timeSeconds * 1e6).rounded()) else { continue }
      remainingPoints += PointReduction(collinearRun, tolerance: Self.collinearityToleranceFraction)
        .remainingPoints
        .dropFirst(
          remainingPoints.isEmpty ? 0 : 1)
      collinearRun = [point]
    }
    return remainingPoints
      + PointReduction(collinearRun, tolerance: Self.collinearityToleranceFraction).remainingPoints
      .dropFirst(
        remainingPoints.isEmpty ? 0 : 1)
  }

  /// Merges all events into a single envelope of levels and sharpness.
  ///
  /// - Parameters:
  ///   - quantity: The quantity of the levels.
  ///   - frequencies: The scale of a dialect with frequencies, or nil for sharpness.
  private mutating func mergedPoints(
    _ quantity: EnvelopeLevelScale.Quantity, frequencies: SharpnessScale? = nil
  ) -> [EnvelopePoint] {
    let envelopeSampler = EnvelopeSampler(
      quantity, mapping: amplitudeMapping, levelTolerance: levelTolerance, frequencies: frequencies)
    var transientCount = 0
    let envelopes = envelopeSampler.envelopes(of: composition).map { envelope in
      guard envelope.kind == .hapticTransient else { return envelope }
      transientCount += 1
      let point = envelope.points[0]
      let times = [
        0, Self.transientPulseMilliseconds.rise,
        Self.transientPulseMilliseconds.rise + Self.transientPulseMilliseconds.fall,
      ]
      return EventEnvelope(
        eventReference: envelope.eventReference, kind: .hapticContinuous,
        points: zip(times, [0, point.level, 0]).map { time, level in
          EnvelopePoint(
            timeSeconds: point.timeSeconds + Double(time) / 1000, level: level,
            sharpness: point.sharpness)
        })
    }
    if transientCount > 0 {
      losses.add(
        .approximated, .composition,
        """
        transients (# in total) are written as pulses with a rise time of \
        \(Self.transientPulseMilliseconds.rise) ms and a fall time of \
        \(Self.transientPulseMilliseconds.fall) ms
        """,
        size: Double(transientCount))
    }
    if quantity == .intensity || !hasOnlySquaredIntensityCurves {
      envelopeSampler.addApproximationLosses(of: envelopes, to: &losses)
    }
    let mergedEnvelope = MergedEnvelope(envelopes, envelopeSampler: envelopeSampler)
    losses.add(mergedEnvelope)
    return Self.roundedToFloat(mergedEnvelope.mergedPoints)
  }

  /// A Boolean value that indicates whether all intensity curves are lines of amplitude.
  private var hasOnlySquaredIntensityCurves: Bool {
    composition.layers.allSatisfy { layer in
      layer.pattern.curves.allSatisfy {
        $0.id != .hapticIntensityControl || $0.interpolation == .squared
      }
    }
  }

  /// Returns the points in the precision of the file.
  ///
  /// Rounding errors at one time thus don't become jumps.
  private static func roundedToFloat(_ points: [EnvelopePoint]) -> [EnvelopePoint] {
    var roundedPoints: [EnvelopePoint] = []
    for var point in points {
      point.level = abs(point.level) < 1e-9 ? 0 : Double(Float(point.level))
      point.sharpness = abs(point.sharpness) < 1e-9 ? 0 : Double(Float(point.sharpness))
      if roundedPoints.last != point {
        roundedPoints.append(point)
      }
    }
    return roundedPoints
  }

  private mutating func makeEffect(of points: [EnvelopePoint], isBasic: Bool) -> VibrationEffect {
    defer { quantizer.reportErrors(to: &losses) }
    guard let loop = composition.loop else {
      return envelopeEffect(points, from: 0, to: nil, isBasic: isBasic)
    }
    let loopEndSeconds = loop.endSeconds ?? composition.durationSeconds
    let loopStartSeconds = min(max(loop.startSeconds, 0), loopEndSeconds)
    let loopEndMillisecond = quantizer.quantizeToMilliseconds(loopEndSeconds)
    let loopStartMillisecond = min(
      quantizer.quantizeToMilliseconds(loopStartSeconds), max(loopEndMillisecond - 1, 0))
    let repeatingEnvelope = envelopeEffect(
      Self.clippedPoints(of: points, from: loopStartSeconds, to: loopEndSeconds),
      from: loopStartMillisecond, to: loopEndMillisecond, isBasic: isBasic)
    guard loopStartMillisecond > 0 else { return .repeating(preamble: nil, repeatingEnvelope) }
    let preambleEnvelope = envelopeEffect(
      Self.clippedPoints(of: points, from: 0, to: loopStartSeconds),
      from: 0, to: loopStartMillisecond, isBasic: isBasic)
    return .repeating(preamble: preambleEnvelope, repeatingEnvelope)
  }

  /// Returns the points of an envelope between two times, excluding jumps at the ends.
  private static func clippedPoints(of points: [EnvelopePoint], from start: Double, to end: Double)
    -> [EnvelopePoint]
  {
    var segmentPoints: [EnvelopePoint] = []
    for (index, point) in points.enumerated() {
      if point.timeSeconds < start {
        if index + 1 < points.count, points[index + 1].timeSeconds > start {
          segmentPoints.append(.interpolated(from: point, to: points[index + 1], at: start))
        }
      } else if point.timeSeconds > end {
        if index > 0, points[index - 1].timeSeconds < end {
          segmentPoints.append(.interpolated(from: points[index - 1], to: point, at: end))
        }
        break
      } else if point.timeSeconds == end, let last = segmentPoints.last, last.timeSeconds == end {
        continue
      } else {
        if point.timeSeconds == start, start > 0 {
          segmentPoints.removeAll()
        }
        segmentPoints.append(point)
      }
    }
    return segmentPoints
  }

  private mutating func reportJumpAsRamp() {
    losses.add(.approximated, .composition, "jumps are written as ramps of # ms", size: 1)
  }

  private static func silentPoint(like point: EnvelopePoint) -> EnvelopePoint {
    EnvelopePoint(timeSeconds: point.timeSeconds, level: 0, sharpness: point.sharpness)
  }

  /// Returns true if two points differ by less than the tolerance for removing points.
  ///
  /// The sharpness of silence does not count.
  private static func arePointsClose(_ first: EnvelopePoint, _ second: EnvelopePoint) -> Bool {
    let areBothSilent = first.level == 0 && second.level == 0
    return abs(first.level - second.level) <= collinearityToleranceFraction
      && (areBothSilent || abs(first.sharpness - second.sharpness) <= collinearityToleranceFraction)
  }

  /// Returns the ends of lines of whole milliseconds, and the sharpness at the start.
  ///
  /// The lines start and end at level 0.
  private mutating func lineEndsInMilliseconds(
    _ points: [EnvelopePoint], from start: Int, to end: Int?
  ) -> (
    sharpness: Double, ends: [(point: EnvelopePoint, duration: Int)]
  ) {
    var lineEnds: [(point: EnvelopePoint, duration: Int)] = []
    var currentMillisecond = start
    // The end of the last line, without later points of the same millisecond.
    var lastLineEnd = Self.silentPoint(
      like: points.first ?? EnvelopePoint(timeSeconds: 0, level: 0, sharpness: 0))
    for (index, point) in points.enumerated() {
      var target = quantizer.quantizeToMilliseconds(point.timeSeconds)
      if index == 0, target > currentMillisecond {
        lineEnds.append((lastLineEnd, target - currentMillisecond))
        currentMillisecond = target
      }
      let isJump =
        index == 0 ? point.level != 0 : points[index - 1].timeSeconds == point.timeSeconds
      if isJump {
        target = max(target, currentMillisecond + 1)
      }
      if isJump, (index == 0 ? 0 : points[index - 1].level) != point.level {
        reportJumpAsRamp()
      }
      if target <= currentMillisecond {
        // A new end of the last line would bend all of it, so that silence before a short ramp
        // would become a ramp.
        let isShort = lineEnds.last?.duration == 1
        if isShort || Self.arePointsClose(point, lastLineEnd) {
          // A level other than 0 is that of the last line.
          if isShort || lastLineEnd.level != 0 {
            lineEnds[lineEnds.count - 1].point = point
          }
          continue
        }
        // The target of a jump is after the current millisecond, so this point is not a jump and is
        // not reported yet.
        target = currentMillisecond + 1
        reportJumpAsRamp()
      }
      lastLineEnd = point
      lineEnds.append((point, target - currentMillisecond))
      currentMillisecond = target
    }
    if var lastEndPoint = lineEnds.last?.point, lastEndPoint.level != 0 {
      lastEndPoint.level = 0
      lineEnds.append((lastEndPoint, 1))
      currentMillisecond += 1
    }
    if let end, end > currentMillisecond || lineEnds.isEmpty {
      var lastEndPoint =
        lineEnds.last?.point ?? EnvelopePoint(timeSeconds: 0, level: 0, sharpness: 0)
      lastEndPoint.level = 0
      lineEnds.append((lastEndPoint, max(end - currentMillisecond, 1)))
    }
    if lineEnds.isEmpty {
      lineEnds = [(EnvelopePoint(timeSeconds: 0, level: 0, sharpness: 0), 1)]
    }
    return (points.first?.sharpness ?? lineEnds[0].point.sharpness, lineEnds)
  }

  private mutating func envelopeEffect(
    _ points: [EnvelopePoint], from start: Int, to end: Int?, isBasic: Bool
  )
    -> VibrationEffect
  {
    let (initial, ends) = lineEndsInMilliseconds(points, from: start, to: end)
    // Basic envelopes end in silence; waveform envelopes end at any level.
    if isBasic, let lastPoint = points.last, lastPoint.level != 0 {
      reportJumpAsRamp()
    }
    func toneValue(_ sharpness: Double) -> Float {
      if isBasic { return Float(sharpness) }
      return max(
        Float((max(sharpness, 0) * SharpnessScale.phone.maximumHertz * 1000).rounded() / 1000),
        0.001)
    }
    let controlPoints = ends.map { end in
      VibrationEffect.ControlPoint(
        level: Float(end.point.level), sharpnessOrHertz: toneValue(end.point.sharpness),
        rampDurationMilliseconds: end.duration)
    }
    return .envelope(
      isBasic: isBasic,
      initial: controlPoints.first?.sharpnessOrHertz == toneValue(initial)
        ? nil : toneValue(initial),
      controlPoints)
  }

  // MARK: Primitives

  /// Returns the transients of the composition as primitives. Other events are dropped.
  mutating func makePrimitives() -> VibrationEffect {
    var primitives: [VibrationEffect.Primitive] = []
    var previousStartMilliseconds = 0
    var previousEndMilliseconds = 0
    for envelope in EnvelopeSampler(.intensity).envelopes(of: composition) {
      guard envelope.kind == .hapticTransient else {
        losses.add(
          .dropped, .event(envelope.eventReference), "only transients can be written as primitives")
        continue
      }
      let point = envelope.points[0]
      let nearest = VibrationPrimitives.nearestPrimitive(
        intensity: point.level, sharpness: point.sharpness)
      losses.add(
        .approximated, .event(envelope.eventReference),
        """
        a transient is written as the nearest primitive, an effect of the device, # of full scale \
        away
        """,
        size: nearest.error)
      let start = quantizer.quantizeToMilliseconds(point.timeSeconds)
      let isFromStart = start < previousEndMilliseconds
      primitives.append(
        .init(
          name: nearest.primitive, strengthFactor: nearest.scale,
          delayMilliseconds: start
            - (isFromStart ? previousStartMilliseconds : previousEndMilliseconds),
          delaysFromPreviousStart: isFromStart))
      previousStartMilliseconds = start
      previousEndMilliseconds =
        start
        + VibrationPrimitives.approximation(of: nearest.primitive).vibrationDurationMilliseconds
    }
    if composition.loop != nil {
      losses.add(.dropped, .composition, "loop points cannot be written with primitives")
    }
    quantizer.reportErrors(to: &losses)
    // Android rejects an effect without entries. An imperceptible primitive represents silence.
    return .primitives(primitives.isEmpty ? [.init(name: "tick", strengthFactor: 0)] : primitives)
  }
}
