internal import HapticFormats
internal import HapticModel

/// Makes a composition into a document that a dialect can hold.
///
/// Events whose curves a file can hold are written as they are; others as the envelope that
/// everything that acts on them makes.
struct RichTapBuilder {
  private let dialect: RichTapDialect
  private let tolerance: Double
  private var events: [RichTapDocument.Event] = []
  private(set) var losses: LossLog

  private var quantizer = Quantizer()

  init(_ composition: HapticComposition, dialect: RichTapDialect, tolerance: Double, losses known: LossLog) {
    self.dialect = dialect
    self.tolerance = tolerance
    losses = known
    let hasTwoPlaces = composition.placeCount == RichTapDocument.Vibrator.right.index
    losses.dropAllButHaptics(of: composition, keepsPlaces: hasTwoPlaces)
    let sampler = EnvelopeSampler(.intensity, tolerance: tolerance)
    let own = composition.layers.map { RichTapCurves(of: $0.pattern) }
    for envelope in sampler.envelopes(of: composition) {
      let layer = envelope.event.layer
      let event = composition.layers[layer].pattern.events[envelope.event.event]
      let vibrator =
        hasTwoPlaces ? RichTapDocument.Vibrator(index: composition.layers[layer].place?.number ?? 0) ?? .both : .both
      if event.kind == .hapticTransient {
        addTransient(envelope, vibrator)
      } else if let curve = own[layer].curve(of: event), isShort(event) {
        addContinuous(event, curve: curve, vibrator, envelope.event)
      } else {
        addEnvelope(envelope, vibrator)
      }
    }
    quantizer.note(in: &losses)
  }

  /// The events by time.
  var sorted: [RichTapDocument.Event] {
    events.indices.sorted { (events[$0].time, $0) < (events[$1].time, $1) }.map { events[$0] }
  }

  /// Whether the event fits the format's longest duration.
  private func isShort(_ event: HapticEvent) -> Bool {
    (event.duration ?? 0) * 1000 < Double(dialect.durations.upperBound) + 0.5
  }

  // MARK: Events

  private mutating func addTransient(_ envelope: EventEnvelope, _ vibrator: RichTapDocument.Vibrator) {
    let point = envelope.points[0]
    events.append(
      RichTapDocument.Event(
        isTransient: true, time: quantizer.milliseconds(point.time), vibrator: vibrator,
        intensity: quantizer.percent(point.level),
        frequency: quantizer.percent(point.sharpness)))
  }

  /// Adds an event with the curves of its layer as they are.
  private mutating func addContinuous(
    _ event: HapticEvent, curve: [RichTapCurves.Point], _ vibrator: RichTapDocument.Vibrator,
    _ reference: EventReference
  ) {
    let start = quantizer.milliseconds(event.time)
    let made = RichTapDocument.Event(
      isTransient: false, time: start, duration: quantizer.milliseconds(event.time + (event.duration ?? 0)) - start,
      vibrator: vibrator, intensity: quantizer.percent(Double(event.value(of: .hapticIntensity))),
      frequency: quantizer.percent(Double(event.value(of: .hapticSharpness))))
    let points = curve.map { point in
      RichTapDocument.CurvePoint(
        time: quantizer.milliseconds(event.time + point.time) - start, gain: Float(point.gain),
        offset: quantizer.percent(point.offset))
    }
    append(made, points, of: reference)
  }

  /// Adds what an envelope is, as events of at most the greatest duration.
  private mutating func addEnvelope(_ envelope: EventEnvelope, _ vibrator: RichTapDocument.Vibrator) {
    let start = quantizer.milliseconds(envelope.start)
    let end = quantizer.milliseconds(envelope.end)
    let longest = dialect.durations.upperBound
    let count = max(1, (end - start + longest - 1) / longest)
    if count > 1 {
      losses.add(
        .approximated, .event(envelope.event), "an event of more than \(longest) ms is split into # adjacent events",
        size: Double(count))
    }
    var index = 0
    for piece in 0..<count {
      let from = start + (end - start) * piece / count
      let to = start + (end - start) * (piece + 1) / count
      var points: [EnvelopePoint] = []
      let range = (Double(from) / 1000, Double(to) / 1000)
      while index < envelope.points.count - 1, envelope.points[index + 1].time <= range.0, piece > 0 { index += 1 }
      var next = index
      if piece > 0, next + 1 < envelope.points.count, envelope.points[next].time < range.0 {
        points.append(.between(envelope.points[next], envelope.points[next + 1], at: range.0))
        next += 1
      }
      while next < envelope.points.count, piece == count - 1 || envelope.points[next].time <= range.1 {
        points.append(envelope.points[next])
        next += 1
      }
      if piece < count - 1, next < envelope.points.count, let last = points.last, last.time < range.1 {
        points.append(.between(envelope.points[next - 1], envelope.points[next], at: range.1))
      }
      addPiece(points, from: from, to: to, vibrator, envelope.event)
    }
  }

  private mutating func addPiece(
    _ points: [EnvelopePoint], from: Int, to: Int, _ vibrator: RichTapDocument.Vibrator, _ reference: EventReference
  ) {
    guard let loudest = points.max(by: { $0.level < $1.level }) else { return }
    let intensity = quantizer.percent(loudest.level)
    // A level that rounds to nothing is still written, as silence.
    let base = Double(intensity) / 100
    var made = RichTapDocument.Event(
      isTransient: false, time: from, duration: to - from, vibrator: vibrator, intensity: intensity,
      frequency: quantizer.percent(loudest.sharpness))
    if made.duration < dialect.durations.lowerBound { made.duration = dialect.durations.lowerBound }
    let reduced = PointReduction(points, count: pointLimit, tolerance: Quantizer.exactness)
    if reduced.error > tolerance {
      losses.add(
        .approximated, .event(reference),
        "a curve of more than \(RichTapDialect.curvePointCounts.upperBound) points is reduced, by up to # of full scale",
        size: reduced.error)
    }
    let curve = reduced.points.map { point in
      RichTapDocument.CurvePoint(
        time: min(max(quantizer.milliseconds(point.time) - from, 0), made.duration),
        gain: base > 0 ? Float(min(point.level / base, 1)) : 0,
        offset: quantizer.percent(point.sharpness) - made.frequency)
    }
    append(made, curve, of: reference)
  }

  /// How many points of an envelope a curve has place for, the corners at its ends apart.
  private var pointLimit: Int { RichTapDialect.curvePointCounts.upperBound - (dialect == .he ? 2 : 0) }

  /// Adds an event with a curve that the dialect accepts.
  private mutating func append(
    _ event: RichTapDocument.Event, _ points: [RichTapDocument.CurvePoint], of reference: EventReference
  ) {
    var event = event
    var curve = RichTapCurveFitting(points, duration: event.duration)
    let least = dialect == .he || !curve.isFlat ? RichTapDialect.curvePointCounts.lowerBound - 1 : 0
    if event.duration < least {
      losses.add(
        .approximated, .event(reference), "an event is lengthened by # ms, to \(least) ms",
        size: Double(least - event.duration))
      event.duration = least
      curve = RichTapCurveFitting(points, duration: least)
    }
    switch dialect {
    case .oh: event.curve = curve.isFlat ? [] : curve.finish()
    case .he:
      if curve.isFlat {
        event.curve = RichTapDialect.plateau(duration: event.duration)
      } else {
        if curve.closeEnds() {
          losses.add(
            .approximated, .event(reference), "a curve is ramped from and to Intensity 0 within # ms of its ends",
            size: Double(RichTapDialect.edge))
        }
        event.curve = curve.finish()
      }
    }
    if curve.error > tolerance {
      losses.add(
        .approximated, .event(reference),
        "a curve of more than \(RichTapDialect.curvePointCounts.upperBound) points is reduced, by up to # of full scale",
        size: curve.error)
    }
    events.append(event)
  }
}
