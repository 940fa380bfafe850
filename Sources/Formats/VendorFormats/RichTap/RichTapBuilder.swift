internal import HapticFormats
internal import HapticModel
internal import Reading

/// Converts a composition into a document of a dialect. Events whose curves fit the format are
/// written as they are. Other events are written as their envelope, which includes everything that
/// acts on them.
struct RichTapBuilder {
  private let dialect: RichTapDialect
  private let tolerance: Double
  private var events: [RichTapDocument.Event] = []
  var losses: LossLog
  private var quantizer = Quantizer()

  /// The maximum pause within a pattern, in milliseconds.
  ///
  /// Source: OpenHarmony's converter (openharmony/sensors_miscdevice, 9394f74, utils/tools).
  private static let maximumGapMilliseconds = 1_000

  init(
    _ composition: HapticComposition, dialect: RichTapDialect, tolerance: Double,
    losses initialLosses: LossLog
  ) {
    self.dialect = dialect
    self.tolerance = tolerance
    losses = initialLosses
    let hasTwoPlaces = composition.bodyLocationCount == RichTapDocument.Vibrator.right.number
    losses.addNonHapticLosses(of: composition, keepsBodyLocations: hasTwoPlaces)
    let sampler = EnvelopeSampler(.intensity, tolerance: tolerance)
    let curvesByLayer = composition.layers.map { IndividualCurves(of: $0.pattern) }
    for envelope in sampler.envelopes(of: composition) {
      let layer = envelope.event.layer
      let event = composition.layers[layer].pattern.events[envelope.event.event]
      let vibrator =
        hasTwoPlaces
        ? RichTapDocument.Vibrator(number: composition.layers[layer].bodyLocation?.number ?? 0)
          ?? .both
        : .both
      if event.kind == .hapticTransient {
        addTransient(envelope, vibrator: vibrator)
      } else if let curve = curvesByLayer[layer].curve(of: event), fitsMaximumDuration(event) {
        addContinuous(event, curve: curve, vibrator: vibrator, reference: envelope.event)
      } else {
        addEnvelope(envelope, vibrator: vibrator)
      }
    }
    quantizer.reportErrors(to: &losses)
  }

  /// The events, sorted by time.
  private var sortedEvents: [RichTapDocument.Event] {
    events.indices.sorted { (events[$0].time, $0) < (events[$1].time, $1) }.map { events[$0] }
  }

  /// Returns whether an event does not exceed the maximum duration of the format.
  private func fitsMaximumDuration(_ event: HapticEvent) -> Bool {
    (event.duration ?? 0) * 1000 < Double(dialect.durationRange.upperBound) + 0.5
  }

  // MARK: Events

  private mutating func addTransient(
    _ envelope: EventEnvelope, vibrator: RichTapDocument.Vibrator
  ) {
    let point = envelope.points[0]
    events.append(
      RichTapDocument.Event(
        kind: .transient, time: quantizer.milliseconds(point.time), vibrator: vibrator,
        intensity: quantizer.percent(point.level), frequency: quantizer.percent(point.sharpness)))
  }

  private mutating func addContinuous(
    _ event: HapticEvent, curve: [IndividualCurves.Point], vibrator: RichTapDocument.Vibrator,
    reference: EventReference
  ) {
    let start = quantizer.milliseconds(event.time)
    let richTapEvent = RichTapDocument.Event(
      kind: .continuous, time: start,
      duration: quantizer.milliseconds(event.time + (event.duration ?? 0)) - start,
      vibrator: vibrator, intensity: quantizer.percent(Double(event.value(of: .hapticIntensity))),
      frequency: quantizer.percent(Double(event.value(of: .hapticSharpness))))
    let points = curve.map { point in
      RichTapDocument.CurvePoint(
        time: quantizer.milliseconds(event.time + point.time) - start, gain: Float(point.gain),
        frequencyOffset: quantizer.percent(point.sharpnessOffset))
    }
    append(richTapEvent, curve: points, of: reference)
  }

  /// Adds an envelope as one event, or as adjacent events of at most the maximum duration.
  private mutating func addEnvelope(_ envelope: EventEnvelope, vibrator: RichTapDocument.Vibrator) {
    let start = quantizer.milliseconds(envelope.start)
    let end = quantizer.milliseconds(envelope.end)
    let maximumDuration = dialect.durationRange.upperBound
    let count = max(1, (end - start + maximumDuration - 1) / maximumDuration)
    if count > 1 {
      losses.add(
        .approximated, .event(envelope.event),
        "an event longer than \(maximumDuration) ms is split into # adjacent events",
        size: Double(count))
    }
    var index = 0
    for segmentIndex in 0..<count {
      let from = start + (end - start) * segmentIndex / count
      let to = start + (end - start) * (segmentIndex + 1) / count
      var points: [EnvelopePoint] = []
      let range = (Double(from) / 1000, Double(to) / 1000)
      while index < envelope.points.count - 1, envelope.points[index + 1].time <= range.0,
        segmentIndex > 0
      {
        index += 1
      }
      var next = index
      if segmentIndex > 0, next + 1 < envelope.points.count, envelope.points[next].time < range.0 {
        points.append(
          .interpolated(from: envelope.points[next], to: envelope.points[next + 1], at: range.0))
        next += 1
      }
      while next < envelope.points.count,
        segmentIndex == count - 1 || envelope.points[next].time <= range.1
      {
        points.append(envelope.points[next])
        next += 1
      }
      if segmentIndex < count - 1, next < envelope.points.count, let last = points.last,
        last.time < range.1
      {
        points.append(
          .interpolated(from: envelope.points[next - 1], to: envelope.points[next], at: range.1))
      }
      addSegment(points, from: from, to: to, vibrator: vibrator, reference: envelope.event)
    }
  }

  private mutating func addSegment(
    _ points: [EnvelopePoint], from: Int, to: Int, vibrator: RichTapDocument.Vibrator,
    reference: EventReference
  ) {
    guard let strongest = points.max(by: { $0.level < $1.level }) else { return }
    let intensity = quantizer.percent(strongest.level)
    // A level that rounds to 0 is still written, as silence.
    let maximumGain = Double(intensity) / 100
    var segmentEvent = RichTapDocument.Event(
      kind: .continuous, time: from, duration: to - from, vibrator: vibrator, intensity: intensity,
      frequency: quantizer.percent(strongest.sharpness))
    if segmentEvent.duration < dialect.durationRange.lowerBound {
      segmentEvent.duration = dialect.durationRange.lowerBound
    }
    let reduced = PointReduction(
      points, maximumCount: maximumPointCount, tolerance: Quantizer.roundingTolerance)
    reportReduction(error: reduced.maximumError, of: reference)
    let curve = reduced.points.map { point in
      RichTapDocument.CurvePoint(
        time: min(max(quantizer.milliseconds(point.time) - from, 0), segmentEvent.duration),
        gain: maximumGain > 0 ? Float(min(point.level / maximumGain, 1)) : 0,
        frequencyOffset: quantizer.percent(point.sharpness) - segmentEvent.frequency)
    }
    append(segmentEvent, curve: curve, of: reference)
  }

  private mutating func reportReduction(error: Double, of reference: EventReference) {
    guard error > tolerance else { return }
    losses.add(
      .approximated, .event(reference),
      """
      a curve with more than \(RichTapDialect.curvePointCountRange.upperBound) points is reduced, \
      by up to # of full scale
      """,
      size: error)
  }

  /// The maximum number of envelope points in a curve, without the ramps that HE requires at its
  /// ends.
  private var maximumPointCount: Int {
    RichTapDialect.curvePointCountRange.upperBound - (dialect == .he ? 2 : 0)
  }

  private mutating func append(
    _ event: RichTapDocument.Event, curve points: [RichTapDocument.CurvePoint],
    of reference: EventReference
  ) {
    var event = event
    var curve = RichTapCurveFitter(points: points, duration: event.duration)
    let minimumDuration =
      dialect == .he || !curve.isFlat ? RichTapDialect.curvePointCountRange.lowerBound - 1 : 0
    if event.duration < minimumDuration {
      losses.add(
        .approximated, .event(reference),
        "an event is lengthened by # ms, to \(minimumDuration) ms",
        size: Double(minimumDuration - event.duration))
      event.duration = minimumDuration
      curve = RichTapCurveFitter(points: points, duration: minimumDuration)
    }
    switch dialect {
    case .oh:
      event.curve = curve.isFlat ? [] : curve.fittedPoints()
    case .he:
      if curve.isFlat {
        event.curve = RichTapDialect.constantCurve(duration: event.duration)
      } else {
        if curve.rampEndsToZero() {
          losses.add(
            .approximated, .event(reference),
            "a curve is extended to Intensity 0 within # ms of its ends",
            size: Double(RichTapDialect.rampMilliseconds))
        }
        event.curve = curve.fittedPoints()
      }
    }
    reportReduction(error: curve.maximumError, of: reference)
    events.append(event)
  }

  // MARK: HE

  /// Returns the text of version 2, in patterns of at most 16 events.
  mutating func patternListText(notes: String?) -> [UInt8] {
    var groups: [RichTapDocument.Group] = []
    let events = sortedEvents
    var end = 0
    var shift = 0
    for var event in events {
      let length = event.isTransient ? RichTapDialect.transientMilliseconds : event.duration
      let after = event.time + length
      let last = groups.last
      if last == nil || last?.events.count == dialect.maximumEventCount
        || event.time - end > Self.maximumGapMilliseconds
      {
        groups.append(RichTapDocument.Group(time: max(event.time, last.map { $0.time + 1 } ?? 0)))
      }
      event.time -= groups[groups.count - 1].time
      shift = max(shift, -event.time)
      event.time = max(event.time, 0)
      groups[groups.count - 1].events.append(event)
      end = max(end, after)
    }
    if shift > 0 {
      losses.add(
        .approximated, .composition,
        "more than 16 events at the same time are spread by up to # ms",
        size: Double(shift))
    }
    reportEmptyFile()
    return RichTapSchema.schema(of: .he).file.text(
      RichTapDocument(version: 2, notes: notes, groups: groups))
  }

  mutating func singlePatternText(notes: String?) -> [UInt8] {
    let maximumCount = RichTapDialect.he.maximumEventCount
    if events.count > maximumCount {
      losses.add(
        .approximated, .composition,
        "a file of version 1 has # events; HarmonyOS rejects more than \(maximumCount)",
        size: Double(events.count))
    }
    reportEmptyFile()
    return RichTapSchema.schema(of: .he).file.text(
      RichTapDocument(
        version: 1, notes: notes, groups: [RichTapDocument.Group(events: sortedEvents)]))
  }

  private mutating func reportEmptyFile() {
    if !events.isEmpty { return }
    losses.add(
      .approximated, .composition, "a file without events is written; devices reject it")
  }

  // MARK: HarmonyOS

  mutating func channelsText(notes: String?) -> [UInt8] {
    var groups: [RichTapDocument.Group] = []
    let events = sortedEvents
    let usedVibrators = RichTapDocument.Vibrator.allCases.filter { vibrator in
      events.contains { $0.vibrator == vibrator }
    }
    // A file has at most two channels. If each vibrator also plays on its own, events for both are
    // written to both channels.
    var channels = usedVibrators.isEmpty ? [.both] : usedVibrators
    if usedVibrators.count > 2 {
      channels = [.left, .right]
    }
    for vibrator in channels {
      var channelEvents = events.filter {
        $0.vibrator == vibrator || !channels.contains($0.vibrator)
      }
      let lateCount = channelEvents.count { $0.time > RichTapDialect.oh.timeRange.upperBound }
      if lateCount > 0 {
        channelEvents.removeAll { $0.time > RichTapDialect.oh.timeRange.upperBound }
        losses.add(
          .dropped, .composition, "events after 30 minutes are omitted, # in total",
          size: Double(lateCount))
      }
      let maximumCount = RichTapDialect.oh.maximumEventCount
      if channelEvents.count > maximumCount {
        losses.add(
          .dropped, .composition,
          "events beyond \(maximumCount) per channel are omitted, # in total",
          size: Double(channelEvents.count - maximumCount))
        channelEvents.removeLast(channelEvents.count - maximumCount)
      }
      groups.append(RichTapDocument.Group(vibrator: vibrator, events: channelEvents))
    }
    let document = RichTapDocument(channelCount: groups.count, notes: notes, groups: groups)
    let text = RichTapSchema.schema(of: .oh).file.text(document)
    guard text.count > RichTapDialect.oh.maximumFileSize else { return text }
    let compact = RichTapSchema.schema(of: .oh).file.text(document, layout: .compact)
    if compact.count > RichTapDialect.oh.maximumFileSize {
      losses.add(
        .approximated, .composition,
        "the file has # bytes; HarmonyOS rejects more than \(RichTapDialect.oh.maximumFileSize)",
        size: Double(compact.count))
    }
    return compact
  }
}
