internal import HapticFormats
internal import HapticModel
internal import Reading

/// A builder that converts a composition into a RichTap document in one of the two dialects.
///
/// Events with curves that fit the format are written directly. Other events are written as their
/// envelope, which includes all controls.
struct RichTapBuilder {
  private let dialect: RichTapDialect
  private let levelTolerance: Double
  private var events: [RichTapDocument.Event] = []
  var losses: LossLog
  private var quantizer = TimeAndLevelQuantizer()

  /// The maximum pause between events within a pattern, in milliseconds.
  ///
  /// Source: OpenHarmony's converter (openharmony/sensors_miscdevice, 9394f74, utils/tools).
  private static let maximumEventGapMilliseconds = 1_000

  init(
    _ composition: HapticComposition, dialect: RichTapDialect, levelTolerance tolerance: Double,
    losses initialLosses: LossLog
  ) {
    self.dialect = dialect
    self.levelTolerance = tolerance
    losses = initialLosses
    let hasTwoBodyLocations = composition.bodyLocationCount == RichTapDocument.Vibrator.right.number
    losses.addNonHapticLosses(of: composition, keepsBodyLocations: hasTwoBodyLocations)
    let envelopeSampler = EnvelopeSampler(.intensity, levelTolerance: tolerance)
    let curvesByLayer = composition.layers.map { SingleEventCurves(of: $0.pattern) }
    for envelope in envelopeSampler.envelopes(of: composition) {
      let layer = envelope.eventReference.layerIndex
      let event = composition.layers[layer].pattern.events[envelope.eventReference.eventIndex]
      let vibrator =
        hasTwoBodyLocations
        ? RichTapDocument.Vibrator(number: composition.layers[layer].bodyLocation?.number ?? 0)
          ?? .both
        : .both
      if event.kind == .hapticTransient {
        addTransient(envelope, vibrator: vibrator)
      } else if let curve = curvesByLayer[layer].curve(of: event), fitsMaximumDuration(event) {
        addContinuous(event, curve: curve, vibrator: vibrator, reference: envelope.eventReference)
      } else {
        addEnvelope(envelope, vibrator: vibrator)
      }
    }
    quantizer.reportErrors(to: &losses)
  }

  /// The converted events, sorted by time.
  private var eventsSortedByTime: [RichTapDocument.Event] {
    events.indices.sorted {
      (events[$0].startMilliseconds, $0) < (events[$1].startMilliseconds, $1)
    }.map { events[$0] }
  }

  /// Returns true if an event does not exceed the maximum duration of the format.
  private func fitsMaximumDuration(_ event: HapticEvent) -> Bool {
    (event.duration ?? 0) * 1000 < Double(dialect.durationRangeMilliseconds.upperBound) + 0.5
  }

  // MARK: Events

  private mutating func addTransient(
    _ envelope: EventEnvelope, vibrator: RichTapDocument.Vibrator
  ) {
    let onsetPoint = envelope.points[0]
    events.append(
      RichTapDocument.Event(
        kind: .transient,
        startMilliseconds: quantizer.quantizeToMilliseconds(onsetPoint.timeSeconds),
        targetVibrator: vibrator,
        intensityPercent: quantizer.quantizeToPercent(onsetPoint.level),
        frequencyPercent: quantizer.quantizeToPercent(onsetPoint.sharpness)))
  }

  private mutating func addContinuous(
    _ event: HapticEvent, curve: [SingleEventCurves.Point], vibrator: RichTapDocument.Vibrator,
    reference: EventReference
  ) {
    let startMilliseconds = quantizer.quantizeToMilliseconds(event.time)
    let richTapEvent = RichTapDocument.Event(
      kind: .continuous, startMilliseconds: startMilliseconds,
      durationMilliseconds: quantizer.quantizeToMilliseconds(event.time + (event.duration ?? 0))
        - startMilliseconds,
      targetVibrator: vibrator,
      intensityPercent: quantizer.quantizeToPercent(Double(event.value(of: .hapticIntensity))),
      frequencyPercent: quantizer.quantizeToPercent(Double(event.value(of: .hapticSharpness))))
    let curvePoints = curve.map { point in
      RichTapDocument.CurvePoint(
        timeMilliseconds: quantizer.quantizeToMilliseconds(event.time + point.eventSeconds)
          - startMilliseconds, intensityFactor: Float(point.intensityGain),
        frequencyOffsetPercent: quantizer.quantizeToPercent(point.sharpnessOffset))
    }
    appendEvent(richTapEvent, curve: curvePoints, of: reference)
  }

  /// Adds an envelope as one event, or as adjacent events of at most the maximum duration.
  private mutating func addEnvelope(_ envelope: EventEnvelope, vibrator: RichTapDocument.Vibrator) {
    let startMilliseconds = quantizer.quantizeToMilliseconds(envelope.startSeconds)
    let endMilliseconds = quantizer.quantizeToMilliseconds(envelope.endSeconds)
    let maximumSegmentMilliseconds = dialect.durationRangeMilliseconds.upperBound
    let segmentCount = max(
      1,
      (endMilliseconds - startMilliseconds + maximumSegmentMilliseconds - 1)
        / maximumSegmentMilliseconds)
    if segmentCount > 1 {
      losses.add(
        .approximated, .event(envelope.eventReference),
        "an event longer than \(maximumSegmentMilliseconds) ms is split into # adjacent events",
        size: Double(segmentCount))
    }
    var pointIndex = 0
    for segmentIndex in 0..<segmentCount {
      let from =
        startMilliseconds + (endMilliseconds - startMilliseconds) * segmentIndex / segmentCount
      let to =
        startMilliseconds + (endMilliseconds - startMilliseconds) * (segmentIndex + 1)
        / segmentCount
      var points: [EnvelopePoint] = []
      let range = (Double(from) / 1000, Double(to) / 1000)
      while pointIndex < envelope.points.count - 1,
        envelope.points[pointIndex + 1].timeSeconds <= range.0,
        segmentIndex > 0
      {
        pointIndex += 1
      }
      var next = pointIndex
      if segmentIndex > 0, next + 1 < envelope.points.count,
        envelope.points[next].timeSeconds < range.0
      {
        points.append(
          .interpolated(from: envelope.points[next], to: envelope.points[next + 1], at: range.0))
        next += 1
      }
      while next < envelope.points.count,
        segmentIndex == segmentCount - 1 || envelope.points[next].timeSeconds <= range.1
      {
        points.append(envelope.points[next])
        next += 1
      }
      if segmentIndex < segmentCount - 1, next < envelope.points.count, let last = points.last,
        last.timeSeconds < range.1
      {
        points.append(
          .interpolated(from: envelope.points[next - 1], to: envelope.points[next], at: range.1))
      }
      addSegment(points, from: from, to: to, vibrator: vibrator, reference: envelope.eventReference)
    }
  }

  private mutating func addSegment(
    _ points: [EnvelopePoint], from: Int, to: Int, vibrator: RichTapDocument.Vibrator,
    reference: EventReference
  ) {
    guard let strongestPoint = points.max(by: { $0.level < $1.level }) else { return }
    let intensityPercent = quantizer.quantizeToPercent(strongestPoint.level)
    // A level that rounds to 0 is still written, as a silent point.
    let segmentMaximumIntensity = Double(intensityPercent) / 100
    var segmentEvent = RichTapDocument.Event(
      kind: .continuous, startMilliseconds: from, durationMilliseconds: to - from,
      targetVibrator: vibrator, intensityPercent: intensityPercent,
      frequencyPercent: quantizer.quantizeToPercent(strongestPoint.sharpness))
    if segmentEvent.durationMilliseconds < dialect.durationRangeMilliseconds.lowerBound {
      segmentEvent.durationMilliseconds = dialect.durationRangeMilliseconds.lowerBound
    }
    let pointReduction = PointReduction(
      points, maximumCount: maximumInnerCurvePointCount,
      tolerance: TimeAndLevelQuantizer.maximumUnreportedError)
    reportPointReduction(error: pointReduction.maximumCurveDeviation, of: reference)
    let segmentCurve = pointReduction.remainingPoints.map { point in
      RichTapDocument.CurvePoint(
        timeMilliseconds: min(
          max(quantizer.quantizeToMilliseconds(point.timeSeconds) - from, 0),
          segmentEvent.durationMilliseconds),
        intensityFactor: segmentMaximumIntensity > 0
          ? Float(min(point.level / segmentMaximumIntensity, 1)) : 0,
        frequencyOffsetPercent: quantizer.quantizeToPercent(point.sharpness)
          - segmentEvent.frequencyPercent)
    }
    appendEvent(segmentEvent, curve: segmentCurve, of: reference)
  }

  private mutating func reportPointReduction(error: Double, of reference: EventReference) {
    guard error > levelTolerance else { return }
    losses.add(
      .approximated, .event(reference),
      """
      a curve with more than \(RichTapDialect.curvePointCountRange.upperBound) points is reduced, \
      by up to # of full scale
      """,
      size: error)
  }

  /// The maximum number of inner envelope points in a curve.
  ///
  /// They exclude the ramps that HE requires at both ends of a curve.
  private var maximumInnerCurvePointCount: Int {
    RichTapDialect.curvePointCountRange.upperBound - (dialect == .richTapHE ? 2 : 0)
  }

  private mutating func appendEvent(
    _ event: RichTapDocument.Event, curve points: [RichTapDocument.CurvePoint],
    of reference: EventReference
  ) {
    var event = event
    var curveFitter = RichTapCurveFitter(
      curvePoints: points, durationMilliseconds: event.durationMilliseconds)
    let minimumDurationMilliseconds =
      dialect == .richTapHE || !curveFitter.hasConstantUnitGain
      ? RichTapDialect.curvePointCountRange.lowerBound - 1 : 0
    if event.durationMilliseconds < minimumDurationMilliseconds {
      losses.add(
        .approximated, .event(reference),
        "an event is lengthened by # ms, to \(minimumDurationMilliseconds) ms",
        size: Double(minimumDurationMilliseconds - event.durationMilliseconds))
      event.durationMilliseconds = minimumDurationMilliseconds
      curveFitter = RichTapCurveFitter(
        curvePoints: points, durationMilliseconds: minimumDurationMilliseconds)
    }
    switch dialect {
    case .harmonyOS:
      event.curve = curveFitter.hasConstantUnitGain ? [] : curveFitter.fittedPoints()
    case .richTapHE:
      if curveFitter.hasConstantUnitGain {
        event.curve = RichTapDialect.constantIntensityCurve(duration: event.durationMilliseconds)
      } else {
        if curveFitter.rampEndsToZeroGain() {
          losses.add(
            .approximated, .event(reference),
            "a curve is extended to Intensity 0 within # ms of its ends",
            size: Double(RichTapDialect.curveEdgeRampMilliseconds))
        }
        event.curve = curveFitter.fittedPoints()
      }
    }
    reportPointReduction(error: curveFitter.maximumGainError, of: reference)
    events.append(event)
  }

  // MARK: HE

  /// Returns the text of a RichTap HE file of version 2, with patterns of at most 16 events.
  mutating func patternListText(notes: String?) -> [UInt8] {
    var eventGroups: [RichTapDocument.Group] = []
    let sortedEvents = eventsSortedByTime
    var previousEndMilliseconds = 0
    var maximumDelayMilliseconds = 0
    for var event in sortedEvents {
      let length =
        event.isTransient
        ? RichTapDialect.transientDurationMilliseconds : event.durationMilliseconds
      let after = event.startMilliseconds + length
      let last = eventGroups.last
      if last == nil || last?.events.count == dialect.maximumEventCount
        || event.startMilliseconds - previousEndMilliseconds > Self.maximumEventGapMilliseconds
      {
        eventGroups.append(
          RichTapDocument.Group(
            startMilliseconds: max(
              event.startMilliseconds, last.map { $0.startMilliseconds + 1 } ?? 0)))
      }
      event.startMilliseconds -= eventGroups[eventGroups.count - 1].startMilliseconds
      maximumDelayMilliseconds = max(maximumDelayMilliseconds, -event.startMilliseconds)
      event.startMilliseconds = max(event.startMilliseconds, 0)
      eventGroups[eventGroups.count - 1].events.append(event)
      previousEndMilliseconds = max(previousEndMilliseconds, after)
    }
    if maximumDelayMilliseconds > 0 {
      losses.add(
        .approximated, .composition,
        "more than 16 events at the same time are spread by up to # ms",
        size: Double(maximumDelayMilliseconds))
    }
    reportEmptyFile()
    return RichTapSchema.schema(of: .richTapHE).fileSchema.text(
      RichTapDocument(formatVersion: 2, notes: notes, groups: eventGroups))
  }

  mutating func singlePatternText(notes: String?) -> [UInt8] {
    let maximumEventCount = RichTapDialect.richTapHE.maximumEventCount
    if events.count > maximumEventCount {
      losses.add(
        .approximated, .composition,
        "a file of version 1 has # events; HarmonyOS rejects more than \(maximumEventCount)",
        size: Double(events.count))
    }
    reportEmptyFile()
    return RichTapSchema.schema(of: .richTapHE).fileSchema.text(
      RichTapDocument(
        formatVersion: 1, notes: notes, groups: [RichTapDocument.Group(events: eventsSortedByTime)])
    )
  }

  private mutating func reportEmptyFile() {
    if !events.isEmpty { return }
    losses.add(
      .approximated, .composition, "a file without events is written; devices reject it")
  }

  // MARK: HarmonyOS

  mutating func channelListText(notes: String?) -> [UInt8] {
    var channelGroups: [RichTapDocument.Group] = []
    let sortedEvents = eventsSortedByTime
    let usedVibrators = RichTapDocument.Vibrator.allCases.filter { vibrator in
      sortedEvents.contains { $0.targetVibrator == vibrator }
    }
    // A file has at most two channels. If each vibrator also plays on its own, events for both are
    // written to both channels.
    var writtenVibrators = usedVibrators.isEmpty ? [.both] : usedVibrators
    if usedVibrators.count > 2 {
      writtenVibrators = [.left, .right]
    }
    for vibrator in writtenVibrators {
      var channelEvents = sortedEvents.filter {
        $0.targetVibrator == vibrator || !writtenVibrators.contains($0.targetVibrator)
      }
      let lateCount = channelEvents.count {
        $0.startMilliseconds > RichTapDialect.harmonyOS.eventTimeRangeMilliseconds.upperBound
      }
      if lateCount > 0 {
        channelEvents.removeAll {
          $0.startMilliseconds > RichTapDialect.harmonyOS.eventTimeRangeMilliseconds.upperBound
        }
        losses.add(
          .dropped, .composition, "events after 30 minutes are omitted, # in total",
          size: Double(lateCount))
      }
      let maximumCount = RichTapDialect.harmonyOS.maximumEventCount
      if channelEvents.count > maximumCount {
        losses.add(
          .dropped, .composition,
          "events beyond \(maximumCount) per channel are omitted, # in total",
          size: Double(channelEvents.count - maximumCount))
        channelEvents.removeLast(channelEvents.count - maximumCount)
      }
      channelGroups.append(RichTapDocument.Group(targetVibrator: vibrator, events: channelEvents))
    }
    let channelDocument = RichTapDocument(
      channelCount: channelGroups.count, notes: notes, groups: channelGroups)
    let indentedText = RichTapSchema.schema(of: .harmonyOS).fileSchema.text(channelDocument)
    let maximumFileBytes = RichTapDialect.harmonyOS.maximumFileByteCount
    guard indentedText.count > maximumFileBytes else { return indentedText }
    let compactText = RichTapSchema.schema(of: .harmonyOS).fileSchema.text(
      channelDocument, layout: .compact)
    if compactText.count > maximumFileBytes {
      losses.add(
        .approximated, .composition,
        "the file has # bytes; HarmonyOS rejects more than \(maximumFileBytes)",
        size: Double(compactText.count))
    }
    return compactText
  }
}
