internal import HapticModel
internal import HapticRender
internal import PatternComparison
internal import SignalAnalysis
internal import SignalPlots
internal import SystemSupport

/// A take with its events, sounds and measurements, as a page shows it.
struct PageTake {
  /// The polylines of a layer's controls.
  ///
  /// A polyline has alternating times in seconds and values. It is nil for a control that the layer
  /// does not set.
  private struct ControlLines {
    let intensityPolyline: [Double]?
    let sharpnessPolyline: [Double]?
  }

  /// The letter of the take, such as A, B, or C.
  let letter: String
  let name: String
  let notes: String?
  /// The duration of the sounds, in seconds.
  let soundDurationSeconds: Double
  /// The start time of the pattern's trailing silence, in seconds.
  let patternDurationSeconds: Double
  /// The events by ascending onset, or nil if the pattern has sampled signals.
  private(set) var events: [PageEvent]?
  /// The number of control curves and parameter changes.
  let controlItemCount: Int
  /// The control polylines of each layer of the pattern.
  private let layerControls: [ControlLines]
  private var signalTrack: SignalTrack?
  /// The level and frequency tracks of the channels that have separate lanes.
  private var channelTracks: [SignalTrack] = []
  /// The body locations of a pattern, or the channels of a sound, that have separate lanes.
  let laneSource: LaneSource
  /// The text of the take's file. Long JSON texts are compacted.
  let sourceText: String?
  /// The SHA-256 hash of the original text before compaction, in hexadecimal.
  let sourceSHA256: String?
  var origin: TakeOrigin?
  let measurements: TakeMeasurements
  /// The sound for the actuator and, if present, the sound for small speakers.
  let embeddedSounds: [EmbeddedSound]
  /// The gain of each sound, which equalizes the levels of all takes.
  var soundGains: [Double] = []

  /// The minimum size of a file text to compact, in bytes.
  private static let minimumCompactedTextByteCount = 100_000

  /// Creates a take for a page.
  ///
  /// - Parameters:
  ///   - take: The take.
  ///   - index: The index of the take, which determines its letter.
  ///   - sounds: The sounds that the page plays.
  ///   - measurements: The measurements of the take, or nil to measure it.
  ///   - needsTrack: True to measure its level and frequency over time.
  init(
    _ take: Take, index: Int, sounds: PageSounds, measurements: TakeMeasurements? = nil,
    needsTrack: Bool = false
  ) throws(ReviewPageError) {
    letter = Take.letter(at: index)
    name = take.name
    patternDurationSeconds = take.durationSeconds
    notes = take.feelingDescription
    sourceText = take.sourceText.map { text in
      text.utf8.count > Self.minimumCompactedTextByteCount ? JSONLayout.compactText(text) : text
    }
    sourceSHA256 = take.sourceText.map { SHA256.hash(of: Array($0.utf8)) }
    self.measurements = measurements ?? TakeMeasurements(take)
    var takeSounds = [try EmbeddedSound(sounds.actuatorSignal)]
    if let speakerSignal = sounds.speakerSignal {
      takeSounds.append(try EmbeddedSound(speakerSignal))
    }
    self.embeddedSounds = takeSounds
    laneSource = LaneSource(take.composition, signal: take.signal)
    if needsTrack {
      signalTrack = SignalTrack(of: take.signal)
      if laneSource.hasChannelForEachName(take.signal) {
        channelTracks = take.signal.channels.map {
          SignalTrack(of: Signal($0, rate: take.signal.rate))
        }
      }
    }
    soundDurationSeconds = take.signal.durationSeconds
    guard take.containsOnlyEvents, let composition = take.composition else {
      events = nil
      controlItemCount = 0
      layerControls = []
      return
    }
    let eventPlot: EventPlot
    do throws(PlotError) {
      eventPlot = try EventPlot(of: composition, profile: take.profile)
    } catch {
      throw ReviewPageError(.notDrawn, "\(take.name): \(error.description)")
    }
    let bodyLocations = laneSource.locations
    let locationIndices = composition.layers.map { layer in
      layer.bodyLocation.flatMap { location in
        bodyLocations.firstIndex { $0.isSameLocation(as: location) }
      }
    }
    events = eventPlot.events.map { event in
      PageEvent(
        event, of: composition, layerLocationIndex: locationIndices[event.eventReference.layerIndex]
      )
    }
    controlItemCount = composition.layers.reduce(0) {
      $0 + $1.pattern.curves.count + $1.pattern.parameters.count
    }
    layerControls = composition.layers.map { layer in
      func line(_ id: DynamicParameterID) -> [Double]? {
        Self.controlPolyline(id, of: layer.pattern, until: eventPlot.durationSeconds)
      }
      return ControlLines(
        intensityPolyline: line(.hapticIntensityControl),
        sharpnessPolyline: line(.hapticSharpnessControl))
    }
  }

  /// The maximum number of points of a control polyline.
  private static let maximumControlPointCount = 2_000

  /// Returns the polyline of a control as alternating times and values.
  ///
  /// Returns nil if the pattern does not set the control. A jump has two points at the same time.
  private static func controlPolyline(
    _ id: DynamicParameterID, of pattern: HapticPattern, until end: Double
  ) -> [Double]? {
    let controlSegments = ControlTimeline(of: id, in: pattern).segments
    guard controlSegments.count > 1 || controlSegments.first?.sourceStartPosition != nil else {
      return nil
    }
    var pointNumbers: [Double] = []
    for (index, segment) in controlSegments.enumerated().prefix(maximumControlPointCount / 2)
    where segment.startPosition <= end {
      pointNumbers += [segment.startPosition, segment.startValue]
      let segmentEnd =
        index + 1 < controlSegments.count ? min(controlSegments[index + 1].startPosition, end) : end
      if segmentEnd > segment.startPosition {
        pointNumbers += [segmentEnd, segment.value(at: segmentEnd)]
      }
    }
    return pointNumbers.isEmpty ? nil : pointNumbers.map(roundedForPage)
  }

  /// Creates the takes that a page shows.
  ///
  /// - Parameters:
  ///   - takes: The takes.
  ///   - sounds: The sounds of each take. With nil, the page plays the signals of the takes.
  ///   - measurements: The measurements of each take, or nil to measure them.
  ///   - needsTrack: Returns true for the indices of takes whose level and frequency are measured.
  static func makeTakes(
    _ takes: [Take], sounds: [PageSounds]?, measurements: [TakeMeasurements]? = nil,
    needsTrack: (Int) -> Bool
  ) throws(ReviewPageError) -> [PageTake] {
    let pageTakes = try takes.enumerated().map {
      (index, take) throws(ReviewPageError) -> PageTake in
      try PageTake(
        take, index: index, sounds: sounds?[index] ?? PageSounds(actuatorSignal: take.signal),
        measurements: measurements?[index], needsTrack: needsTrack(index))
    }
    try EmbeddedSound.checkTotalSize(
      of: pageTakes.flatMap(\.embeddedSounds), takeCount: takes.count)
    return pageTakes
  }

  /// Returns the take as JSON for the script of the page.
  ///
  /// - Parameter measurementKeys: The keys of the measurements to include; nil for all.
  func jsonFields(measurementKeys: [String]? = nil) -> JSONObject {
    let includedMeasurements = measurements.measurements.filter {
      measurementKeys?.contains($0.key) ?? true
    }
    let hasControls = layerControls.contains {
      $0.intensityPolyline != nil || $0.sharpnessPolyline != nil
    }
    return [
      "letter": letter, "name": name, "notes": notes,
      "places": laneSource.names.isEmpty ? nil : laneSource.names,
      "isSound": laneSource.isSound ? true : nil, "duration": roundedForPage(soundDurationSeconds),
      // The page rounds to milliseconds, and must not round a value that is already rounded.
      "length": (patternDurationSeconds * 1e6).rounded() / 1e6,
      "soundCount": embeddedSounds.count,
      "origin": origin.map {
        ["path": $0.path, "modified": $0.modificationTime, "sha256": $0.sha256Hash] as JSONObject
      },
      "gains": soundGains.isEmpty ? nil : soundGains, "events": events?.map(\.jsonFields),
      "controlCount": events == nil ? nil : controlItemCount,
      "controls": hasControls
        ? layerControls.map {
          ["intensity": $0.intensityPolyline, "sharpness": $0.sharpnessPolyline] as JSONObject
        }
        : nil,
      "track": signalTrack.map(Self.jsonFields(of:)),
      "tracks": channelTracks.isEmpty ? nil : channelTracks.map(Self.jsonFields(of:)),
      "figures": includedMeasurements.reduce([:] as JSONObject) { fields, measurement in
        let value = measurement.value.map(roundedForPage)
        return fields + [measurement.key: JSONElement.finiteNumber(value)]
      },
    ]
  }

  private static func jsonFields(of track: SignalTrack) -> JSONObject {
    [
      "step": track.intervalSeconds,
      "levels": track.levelsDecibels.map { ($0 * 10).rounded() / 10 },
      "frequencies": track.hertzByInterval.map { $0.rounded() },
    ]
  }

  /// Returns the part of the take in a lane.
  func lanePart(showing content: FigureLanes.LaneContent) -> PageTake {
    var partTake = self
    switch content {
    case .whole:
      break
    case .part(let position):
      partTake.events?.removeAll { $0.bodyLocationIndex != nil && $0.bodyLocationIndex != position }
      if channelTracks.indices.contains(position) {
        partTake.signalTrack = channelTracks[position]
      }
    case .nothing:
      partTake.events?.removeAll { $0.kind.isHaptic }
    }
    return partTake
  }

  /// Returns the intensity at a time, 0…1.
  ///
  /// The intensity is that of the strongest continuous event, or the normalized level of a
  /// recording.
  func intensity(atSeconds time: Double) -> Double {
    if let signalTrack {
      return signalTrack.normalizedLevel(atInterval: signalTrack.intervalIndex(at: time))
    }
    return strongestPoint(atSeconds: time)?.intensity ?? 0
  }

  /// Returns the sharpness at a time, 0…1, or nil in silence.
  ///
  /// The sharpness is that of the strongest continuous event, or the normalized frequency of a
  /// recording.
  func sharpness(atSeconds time: Double) -> Double? {
    if let signalTrack {
      return signalTrack.normalizedFrequency(atInterval: signalTrack.intervalIndex(at: time))
    }
    return strongestPoint(atSeconds: time).flatMap { $0.intensity > 0.003 ? $0.sharpness : nil }
  }

  /// Returns the point of the strongest continuous event at a time, or nil in silence.
  private func strongestPoint(atSeconds time: Double) -> EventPlot.Point? {
    let soundingEvents = (events ?? []).lazy.filter { event in
      !event.kind.isTransient && event.onsetSeconds <= time
        && time < event.onsetSeconds + event.soundingDurationSeconds
    }
    return soundingEvents.map { $0.interpolatedPoint(atSeconds: time) }.max {
      $0.intensity < $1.intensity
    }
  }
}

extension Take {
  /// A Boolean value that indicates whether the take consists only of events.
  ///
  /// Recordings and patterns with sampled signals are shown by their sound.
  var containsOnlyEvents: Bool { composition?.containsOnlyEvents ?? false }
}

/// An event of a take, as a page shows it.
struct PageEvent: Equatable {
  let kind: HapticEvent.Kind
  /// The start of the event, in seconds.
  let onsetSeconds: Double
  /// The duration from the onset until silence, including the release, in seconds.
  ///
  /// The value is 0 for a transient.
  let soundingDurationSeconds: Double
  /// The duration of the event in the file, in seconds; 0 for a transient.
  let writtenDurationSeconds: Double
  /// The intensity of the event in the file. For an audio event, its volume.
  let writtenIntensity: Double
  /// The sharpness of the event in the file. For an audio event, its brightness.
  let writtenSharpness: Double
  /// The index of the layer that contains the event.
  let layerIndex: Int
  /// The index of the haptic event's body location in the take's names, or nil for all locations.
  let bodyLocationIndex: Int?
  /// The points of the event's played intensity and sharpness, by ascending time.
  ///
  /// They include the effects of controls and envelope.
  let playedPoints: [EventPlot.Point]

  /// The maximum number of points of an event.
  private static let maximumPointCount = 240

  /// Creates an event as a page shows it.
  ///
  /// - Parameters:
  ///   - event: The evaluated event.
  ///   - composition: The pattern that contains the event.
  ///   - layerLocationIndex: The index of the layer's body location in the take's names, or nil for
  ///     all locations.
  init(_ event: EventPlot.Event, of composition: HapticComposition, layerLocationIndex: Int?) {
    kind = event.kind
    onsetSeconds = event.onsetSeconds
    layerIndex = event.eventReference.layerIndex
    soundingDurationSeconds = kind.isTransient ? 0 : event.endSeconds - event.onsetSeconds
    let writtenEvent = composition.layers[layerIndex].pattern.events[
      event.eventReference.eventIndex]
    writtenDurationSeconds = kind.isTransient ? 0 : writtenEvent.duration ?? soundingDurationSeconds
    writtenIntensity = event.intensityInFile
    writtenSharpness = event.sharpnessInFile
    bodyLocationIndex = kind.isHaptic ? layerLocationIndex : nil
    playedPoints = PointReduction.reducedPoints(event.points, maximumCount: Self.maximumPointCount)
  }

  /// Returns the interpolated point of the event at a time.
  func interpolatedPoint(atSeconds time: Double) -> EventPlot.Point {
    guard let nextIndex = playedPoints.firstIndex(where: { $0.timeSeconds > time }), nextIndex > 0
    else {
      return playedPoints.last ?? EventPlot.Point(timeSeconds: time, intensity: 0, sharpness: 0)
    }
    let previousPoint = playedPoints[nextIndex - 1]
    let nextPoint = playedPoints[nextIndex]
    let timeFraction =
      (time - previousPoint.timeSeconds) / (nextPoint.timeSeconds - previousPoint.timeSeconds)
    return EventPlot.Point(
      timeSeconds: time,
      intensity: previousPoint.intensity + (nextPoint.intensity - previousPoint.intensity)
        * timeFraction,
      sharpness: previousPoint.sharpness + (nextPoint.sharpness - previousPoint.sharpness)
        * timeFraction)
  }

  /// The event as JSON for the script of the page.
  var jsonFields: JSONObject {
    [
      "kind": kind.label, "time": roundedForPage(onsetSeconds),
      "length": soundingDurationSeconds > 0 ? roundedForPage(soundingDurationSeconds) : nil,
      "duration": soundingDurationSeconds > 0 ? roundedForPage(writtenDurationSeconds) : nil,
      "intensity": roundedForPage(writtenIntensity), "sharpness": roundedForPage(writtenSharpness),
      "layer": layerIndex > 0 ? layerIndex : nil, "place": bodyLocationIndex,
      // Alternating times, intensities and sharpnesses.
      "points": playedPoints.flatMap {
        [$0.timeSeconds, $0.intensity, $0.sharpness].map(roundedForPage)
      },
    ]
  }
}

/// Returns a number rounded to four decimal places, the precision of pages.
func roundedForPage(_ value: Double) -> Double { (value * 1e4).rounded() / 1e4 }

/// A simplification of polylines of intensity and sharpness.
enum PointReduction {
  /// The maximum error in intensity and sharpness at a removed point, on the scale 0…1.
  private static let valueTolerance = 0.001

  /// Returns the points that determine the shape of a polyline.
  ///
  /// They are evenly thinned to a maximum number.
  ///
  /// From a kept point, a straight line is extended as long as all points between its ends are
  /// within the tolerance (similar to the algorithm of Reumann and Witkam, 1974).
  static func reducedPoints(_ points: [EventPlot.Point], maximumCount: Int) -> [EventPlot.Point] {
    guard points.count > 2 else { return points }
    var keptIndices = [0]
    for index in 2..<points.count {
      if !isStraight(points, from: keptIndices[keptIndices.count - 1], to: index) {
        keptIndices.append(index - 1)
      }
    }
    keptIndices.append(points.count - 1)
    let keptIndexStep = max(1, Double(keptIndices.count - 1) / Double(maximumCount - 1))
    return (0..<min(maximumCount, keptIndices.count)).map { index in
      points[keptIndices[Int((Double(index) * keptIndexStep).rounded())]]
    }
  }

  /// Returns whether the points between two indices are close to a straight line.
  private static func isStraight(
    _ points: [EventPlot.Point], from start: Int, to end: Int
  ) -> Bool {
    let firstPoint = points[start]
    let lastPoint = points[end]
    let lineSeconds = lastPoint.timeSeconds - firstPoint.timeSeconds
    // A jump is kept. The limit of 64 points keeps the total time linear.
    guard lineSeconds > 0, end - start <= 64 else { return false }
    return (start + 1..<end).allSatisfy { index in
      let fraction = (points[index].timeSeconds - firstPoint.timeSeconds) / lineSeconds
      let intensity = firstPoint.intensity + (lastPoint.intensity - firstPoint.intensity) * fraction
      let sharpness = firstPoint.sharpness + (lastPoint.sharpness - firstPoint.sharpness) * fraction
      return abs(points[index].intensity - intensity) <= valueTolerance
        && abs(points[index].sharpness - sharpness) <= valueTolerance
    }
  }
}
