internal import HapticFormats
internal import HapticModel
internal import Reading

/// Converts a document into layers. For each vibrator, all events without curves share one layer,
/// and events with curves use as few layers as possible, because a curve acts on all events of its
/// layer.
struct RichTapComposition {
  let composition: HapticComposition
  private(set) var references: [[EventReference]]
  let losses: [Loss]

  init(_ document: RichTapDocument) {
    var log = LossLog()
    var layers: [HapticComposition.Layer] = []
    references = document.groups.map {
      Array(repeating: EventReference(event: 0), count: $0.events.count)
    }
    let hasOffsets = document.groups.contains { group in
      group.events.contains { event in event.curve.contains { $0.frequencyOffset != 0 } }
    }
    for vibrator in RichTapDocument.Vibrator.allCases {
      var builder = LayerBuilder()
      var sources: [(group: Int, event: Int, time: Int)] = []
      for (group, content) in document.groups.enumerated() {
        for (index, event) in content.events.enumerated()
        where (content.vibrator == .both ? event.vibrator : content.vibrator) == vibrator {
          sources.append((group, index, content.time + event.time))
        }
      }
      sources.sort { ($0.time, $0.group, $0.event) < ($1.time, $1.group, $1.event) }
      for source in sources {
        Self.add(
          document.groups[source.group].events[source.event], at: source.time,
          withFrequencyOffsets: hasOffsets, to: &builder)
      }
      guard !sources.isEmpty else { continue }
      let (own, places) = builder.build()
      for (source, place) in zip(sources, places) {
        let reference = EventReference(layer: layers.count + place.layer, event: place.event)
        references[source.group][source.event] = reference
        let frequency = document.groups[source.group].events[source.event].frequency
        let excess = frequency - Self.clampedFrequency(frequency)
        if excess != 0 {
          log.add(
            .approximated, .event(reference),
            "frequencies outside 0 to 100 become the nearest sharpness, up to # of full scale away",
            size: PercentScale.fraction(ofPercent: Double(abs(excess))))
        }
      }
      layers += own.map {
        .init($0.pattern, name: vibrator.rawValue, bodyLocation: vibrator.bodyLocation)
      }
    }
    if layers.isEmpty {
      layers = [.init(HapticPattern())]
    }
    composition = HapticComposition(layers: layers, notes: document.notes)
    losses = log.finish()
  }

  private static func clampedFrequency(_ frequency: Int) -> Int { min(max(frequency, 0), 100) }

  private static func add(
    _ event: RichTapDocument.Event, at time: Int, withFrequencyOffsets hasOffsets: Bool,
    to builder: inout LayerBuilder
  ) {
    let start = Double(time) / 1000
    let made = HapticEvent(
      kind: event.isTransient ? .hapticTransient : .hapticContinuous, time: start,
      duration: event.isTransient ? nil : Double(event.duration) / 1000,
      parameters: [
        .hapticIntensity: Float(event.intensity) / 100,
        .hapticSharpness: Float(clampedFrequency(event.frequency)) / 100,
      ])
    guard !event.curve.isEmpty,
      event.curve != RichTapDialect.constantCurve(duration: event.duration)
    else {
      builder.add(made)
      return
    }
    func curve(_ id: DynamicParameterID, _ value: (RichTapDocument.CurvePoint) -> Float)
      -> ParameterCurve
    {
      ParameterCurve(
        id: id, time: start,
        controlPoints: event.curve.map { .init(time: Double($0.time) / 1000, value: value($0)) })
    }
    // The last value of a curve holds, so if one event has frequency offsets, every event with
    // curves needs them.
    var curves = [curve(.hapticIntensityControl) { $0.gain }]
    if hasOffsets {
      curves.append(curve(.hapticSharpnessControl) { Float($0.frequencyOffset) / 100 })
    }
    builder.add(made, curves: curves, until: Double(time + event.duration) / 1000)
  }
}

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
    losses known: LossLog
  ) {
    self.dialect = dialect
    self.tolerance = tolerance
    losses = known
    let hasTwoPlaces = composition.bodyLocationCount == RichTapDocument.Vibrator.right.number
    losses.addNonHapticLosses(of: composition, keepsBodyLocations: hasTwoPlaces)
    let sampler = EnvelopeSampler(.intensity, tolerance: tolerance)
    let own = composition.layers.map { IndividualCurves(of: $0.pattern) }
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
      } else if let curve = own[layer].curve(of: event), fitsMaximumDuration(event) {
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
    let made = RichTapDocument.Event(
      kind: .continuous, time: start,
      duration: quantizer.milliseconds(event.time + (event.duration ?? 0)) - start,
      vibrator: vibrator, intensity: quantizer.percent(Double(event.value(of: .hapticIntensity))),
      frequency: quantizer.percent(Double(event.value(of: .hapticSharpness))))
    let points = curve.map { point in
      RichTapDocument.CurvePoint(
        time: quantizer.milliseconds(event.time + point.time) - start, gain: Float(point.gain),
        frequencyOffset: quantizer.percent(point.sharpnessOffset))
    }
    append(made, curve: points, of: reference)
  }

  /// Adds an envelope as one event, or as adjacent events of at most the maximum duration.
  private mutating func addEnvelope(_ envelope: EventEnvelope, vibrator: RichTapDocument.Vibrator) {
    let start = quantizer.milliseconds(envelope.start)
    let end = quantizer.milliseconds(envelope.end)
    let longest = dialect.durationRange.upperBound
    let count = max(1, (end - start + longest - 1) / longest)
    if count > 1 {
      losses.add(
        .approximated, .event(envelope.event),
        "an event of more than \(longest) ms is split into # adjacent events",
        size: Double(count))
    }
    var index = 0
    for piece in 0..<count {
      let from = start + (end - start) * piece / count
      let to = start + (end - start) * (piece + 1) / count
      var points: [EnvelopePoint] = []
      let range = (Double(from) / 1000, Double(to) / 1000)
      while index < envelope.points.count - 1, envelope.points[index + 1].time <= range.0, piece > 0
      {
        index += 1
      }
      var next = index
      if piece > 0, next + 1 < envelope.points.count, envelope.points[next].time < range.0 {
        points.append(
          .interpolated(from: envelope.points[next], to: envelope.points[next + 1], at: range.0))
        next += 1
      }
      while next < envelope.points.count,
        piece == count - 1 || envelope.points[next].time <= range.1
      {
        points.append(envelope.points[next])
        next += 1
      }
      if piece < count - 1, next < envelope.points.count, let last = points.last,
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
    guard let loudest = points.max(by: { $0.level < $1.level }) else { return }
    let intensity = quantizer.percent(loudest.level)
    // A level that rounds to 0 is still written, as silence.
    let base = Double(intensity) / 100
    var made = RichTapDocument.Event(
      kind: .continuous, time: from, duration: to - from, vibrator: vibrator, intensity: intensity,
      frequency: quantizer.percent(loudest.sharpness))
    if made.duration < dialect.durationRange.lowerBound {
      made.duration = dialect.durationRange.lowerBound
    }
    let reduced = PointReduction(
      points, maximumCount: maximumPointCount, tolerance: Quantizer.roundingTolerance)
    reportReduction(error: reduced.maximumError, of: reference)
    let curve = reduced.points.map { point in
      RichTapDocument.CurvePoint(
        time: min(max(quantizer.milliseconds(point.time) - from, 0), made.duration),
        gain: base > 0 ? Float(min(point.level / base, 1)) : 0,
        frequencyOffset: quantizer.percent(point.sharpness) - made.frequency)
    }
    append(made, curve: curve, of: reference)
  }

  private mutating func reportReduction(error: Double, of reference: EventReference) {
    guard error > tolerance else { return }
    losses.add(
      .approximated, .event(reference),
      """
      a curve of more than \(RichTapDialect.curvePointCountRange.upperBound) points is reduced, by \
      up to # of full scale
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
    let least =
      dialect == .he || !curve.isFlat ? RichTapDialect.curvePointCountRange.lowerBound - 1 : 0
    if event.duration < least {
      losses.add(
        .approximated, .event(reference), "an event is lengthened by # ms, to \(least) ms",
        size: Double(least - event.duration))
      event.duration = least
      curve = RichTapCurveFitter(points: points, duration: least)
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
            "a curve is ramped from and to Intensity 0 within # ms of its ends",
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
        "more than 16 events of one time are moved apart by up to # ms",
        size: Double(shift))
    }
    reportEmptyFile()
    return RichTapSchema.schema(of: .he).file.text(
      RichTapDocument(version: 2, notes: notes, groups: groups))
  }

  mutating func singlePatternText(notes: String?) -> [UInt8] {
    let most = RichTapDialect.he.maximumEventCount
    if events.count > most {
      losses.add(
        .approximated, .composition,
        "a file of version 1 has # events; HarmonyOS refuses more than \(most)",
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
      .approximated, .composition, "a file without events is written, which devices refuse")
  }

  // MARK: HarmonyOS

  mutating func channelsText(notes: String?) -> [UInt8] {
    var groups: [RichTapDocument.Group] = []
    let events = sortedEvents
    let used = RichTapDocument.Vibrator.allCases.filter { vibrator in
      events.contains { $0.vibrator == vibrator }
    }
    // A file has at most two channels. If each vibrator also plays on its own, events for both are
    // written to both channels.
    let channels = used.count > 2 ? [.left, .right] : used.isEmpty ? [.both] : used
    for vibrator in channels {
      var own = events.filter { $0.vibrator == vibrator || !channels.contains($0.vibrator) }
      let late = own.count { $0.time > RichTapDialect.oh.timeRange.upperBound }
      if late > 0 {
        own.removeAll { $0.time > RichTapDialect.oh.timeRange.upperBound }
        losses.add(
          .dropped, .composition, "events later than 30 minutes are left out, # in all",
          size: Double(late))
      }
      let most = RichTapDialect.oh.maximumEventCount
      if own.count > most {
        losses.add(
          .dropped, .composition, "events beyond \(most) of a channel are left out, # in all",
          size: Double(own.count - most))
        own.removeLast(own.count - most)
      }
      groups.append(RichTapDocument.Group(vibrator: vibrator, events: own))
    }
    let document = RichTapDocument(channelCount: groups.count, notes: notes, groups: groups)
    let text = RichTapSchema.schema(of: .oh).file.text(document)
    guard text.count > RichTapDialect.oh.maximumFileSize else { return text }
    let compact = RichTapSchema.schema(of: .oh).file.text(document, layout: .compact)
    if compact.count > RichTapDialect.oh.maximumFileSize {
      losses.add(
        .approximated, .composition,
        "the file has # bytes; HarmonyOS refuses more than \(RichTapDialect.oh.maximumFileSize)",
        size: Double(compact.count))
    }
    return compact
  }
}

/// The curves of one layer, if each curve acts on only one event.
struct IndividualCurves {
  /// A breakpoint: the time from the start of the event in seconds, the intensity gain, and the
  /// sharpness offset.
  struct Point: Equatable {
    var time: Double
    var gain: Double
    var sharpnessOffset: Double
  }

  /// The curves and parameters of one control, sorted by start.
  private struct ControlTrack {
    var starts: [Double] = []
    var curves: [ParameterCurve?] = []

    /// Returns the only curve that is active in a range, without control points if no curve is
    /// active. Returns nil if several curves are active, or if the curve began before the range.
    func onlyCurve(in range: ClosedRange<Double>, of id: DynamicParameterID) -> ParameterCurve? {
      let onset = range.lowerBound
      // Find the first curve that starts at or after the onset.
      var low = 0
      var high = starts.count
      while low < high {
        let middle = (low + high) / 2
        if starts[middle] < onset {
          low = middle + 1
        } else {
          high = middle
        }
      }
      let next = low < starts.count && starts[low] == onset ? low + 1 : low
      if next < starts.count, starts[next] < range.upperBound { return nil }
      if next > low { return curves[low] }
      return low == 0 ? ParameterCurve(id: id, time: onset, controlPoints: []) : nil
    }
  }

  private var intensity = ControlTrack()
  private var sharpness = ControlTrack()
  private let hasEnvelopeControls: Bool

  init(of pattern: HapticPattern) {
    hasEnvelopeControls =
      pattern.parameters.contains { $0.id.target.isEnvelopeTime }
      || pattern.curves.contains { $0.id.target.isEnvelopeTime }
    intensity = Self.track(of: .hapticIntensityControl, in: pattern)
    sharpness = Self.track(of: .hapticSharpnessControl, in: pattern)
  }

  private static func track(of id: DynamicParameterID, in pattern: HapticPattern) -> ControlTrack {
    var all: [(start: Double, curve: ParameterCurve?)] = pattern.parameters.filter { $0.id == id }
      .map {
        ($0.time, nil)
      }
    all += pattern.curves.filter { $0.id == id }.map { curve in
      (curve.time, curve.interpolation == .linear && !curve.controlPoints.isEmpty ? curve : nil)
    }
    let order = all.indices.sorted { (all[$0].start, $0) < (all[$1].start, $1) }
    return ControlTrack(starts: order.map { all[$0].start }, curves: order.map { all[$0].curve })
  }

  /// Returns the breakpoints of the curves that act only on an event. The result is empty if no
  /// curve does, and nil if the format cannot hold the event.
  func curve(of event: HapticEvent) -> [Point]? {
    guard let duration = event.duration, duration > 0, !hasEnvelopeControls,
      ![.attackTime, .decayTime, .releaseTime].contains(where: { event.value(of: $0) != 0 }),
      event.value(of: .sustained) >= 0.5,
      let intensity = intensity.onlyCurve(
        in: event.time...event.time + duration, of: .hapticIntensityControl),
      let sharpness = sharpness.onlyCurve(
        in: event.time...event.time + duration, of: .hapticSharpnessControl)
    else { return nil }
    let gains = Self.sortedPoints(of: intensity)
    let offsets = Self.sortedPoints(of: sharpness)
    let times = (gains.isEmpty ? offsets : gains).map { $0.time }
    guard gains.isEmpty || offsets.isEmpty || offsets.map({ $0.time }) == times,
      times.allSatisfy({ 0...duration + 0.0005 ~= $0 })
    else { return nil }
    return times.indices.map { index in
      Point(
        time: times[index], gain: gains.isEmpty ? 1 : gains[index].value,
        sharpnessOffset: offsets.isEmpty ? 0 : offsets[index].value)
    }
  }

  private static func sortedPoints(of curve: ParameterCurve) -> [(time: Double, value: Double)] {
    let points = curve.controlPoints
    return points.indices.sorted { (points[$0].time, $0) < (points[$1].time, $1) }.map {
      (points[$0].time, curve.id.clamped(points[$0].value))
    }
  }
}

extension EventParameterID {
  fileprivate var isEnvelopeTime: Bool {
    self == .attackTime || self == .decayTime || self == .releaseTime
  }
}

struct RichTapCurveFitter {
  var points: [RichTapDocument.CurvePoint]
  let duration: Int
  /// The maximum distance between the fitted curve and the given points.
  private(set) var maximumError = 0.0

  var isFlat: Bool { points.allSatisfy { $0.gain == 1 && $0.frequencyOffset == 0 } }

  /// Adds ramps from and to a gain of 0, and returns whether the curve started or ended at another
  /// gain.
  mutating func rampEndsToZero() -> Bool {
    guard let first = points.first, let last = points.last else { return false }
    var isChanged = false
    let edge = RichTapDialect.rampMilliseconds
    if first.time != 0 || first.gain != 0 {
      isChanged = isChanged || first.gain != 0
      for index in points.indices where points[index].time < edge {
        points[index].time = edge
      }
      points.insert(.init(time: 0, gain: 0, frequencyOffset: first.frequencyOffset), at: 0)
    }
    if last.time != duration || last.gain != 0 {
      isChanged = isChanged || last.gain != 0
      for index in points.indices where points[index].time > duration - edge {
        points[index].time = duration - edge
      }
      points.append(.init(time: duration, gain: 0, frequencyOffset: last.frequencyOffset))
    }
    return isChanged
  }

  /// Returns the curve with an allowed number of points, at ascending times within the event.
  mutating func fittedPoints() -> [RichTapDocument.CurvePoint] {
    reduceToMaximum()
    separateEqualTimes()
    padToMinimum()
    return points
  }

  private mutating func reduceToMaximum() {
    let most = max(2, min(RichTapDialect.curvePointCountRange.upperBound, duration + 1))
    guard points.count > most else { return }
    let reduced = PointReduction(
      points.enumerated().map { index, point in
        EnvelopePoint(
          time: Double(point.time), level: Double(point.gain),
          sharpness: Double(point.frequencyOffset) / 100
        )
      }, maximumCount: most)
    maximumError = max(maximumError, reduced.maximumError)
    points = reduced.points.map { point in
      .init(
        time: FrameConversion.integer(point.time), gain: Float(point.level),
        frequencyOffset: FrameConversion.integer(point.sharpness * 100))
    }
  }

  /// Moves points with equal times, such as those of jumps, one millisecond apart.
  private mutating func separateEqualTimes() {
    for index in points.indices.dropFirst() where points[index].time <= points[index - 1].time {
      points[index].time = points[index - 1].time + 1
    }
    var end = duration
    for index in points.indices.reversed() {
      points[index].time = min(points[index].time, end)
      end = points[index].time - 1
    }
    points.removeAll { $0.time < 0 }
  }

  private mutating func padToMinimum() {
    while points.count < RichTapDialect.curvePointCountRange.lowerBound, let last = points.last {
      var longest: Int?
      for index in points.indices.dropLast() {
        let span = points[index + 1].time - points[index].time
        let most = longest.map { points[$0 + 1].time - points[$0].time } ?? 1
        if span > most {
          longest = index
        }
      }
      guard let index = longest else {
        // There is no space between points: hold the last value, or the first.
        if last.time < duration {
          points.append(
            .init(time: last.time + 1, gain: last.gain, frequencyOffset: last.frequencyOffset))
        } else if points[0].time > 0 {
          points.insert(
            .init(
              time: points[0].time - 1, gain: points[0].gain,
              frequencyOffset: points[0].frequencyOffset), at: 0)
        } else {
          return
        }
        continue
      }
      let from = points[index]
      let to = points[index + 1]
      let time = (from.time + to.time) / 2
      let share = Float(time - from.time) / Float(to.time - from.time)
      points.insert(
        .init(
          time: time, gain: from.gain + (to.gain - from.gain) * share,
          frequencyOffset: FrameConversion.integer(
            Double(
              Float(from.frequencyOffset) + Float(to.frequencyOffset - from.frequencyOffset) * share
            ))),
        at: index + 1)
    }
  }
}
