internal import HapticModel
internal import HapticRender
internal import PatternComparison
internal import SignalAnalysis
internal import SignalPlots
internal import SystemSupport

/// A take with its events, sounds and measurements, as a page shows it.
struct PageTake {
  /// The polylines of the controls of a layer.
  /// A polyline has alternating times in seconds and values. It is nil for a control that the layer
  /// does not set.
  private struct ControlLines {
    let intensity: [Double]?
    let sharpness: [Double]?
  }

  /// The letter of the take, such as A, B, or C.
  let letter: String
  let name: String
  let notes: String?
  /// The duration of the sounds, in seconds.
  let soundDuration: Double
  /// The duration until the pattern is silent, in seconds.
  let patternDuration: Double
  /// The events by ascending onset, or nil if the pattern has sampled signals.
  private(set) var events: [PageEvent]?
  /// The number of control curves and parameter changes.
  let controlCount: Int
  /// The control polylines of each layer of the pattern.
  private let controls: [ControlLines]
  private var signalTrack: SignalTrack?
  /// The tracks of the channels with lanes of their own.
  private var channelTracks: [SignalTrack] = []
  /// The body locations, or the channels of a sound, that have lanes of their own.
  let laneSource: LaneSource
  /// The text of the take's file. Long JSON is compacted.
  let sourceText: String?
  /// The SHA-256 hash of the original text, in hexadecimal.
  let sourceHash: String?
  var origin: TakeOrigin?
  let measurements: TakeMeasurements
  /// The sound for the actuator and, if present, the sound for small speakers.
  let sounds: [EmbeddedSound]
  /// The gain of each sound, which equalizes the levels of all takes.
  var gains: [Double] = []

  /// The minimum size of a text that is compacted, in bytes.
  private static let minimumLongTextLength = 100_000

  /// Creates a take for a page.
  ///
  /// - Parameters:
  /// - take: The take.
  /// - index: The index of the take, which determines its letter.
  /// - sounds: The sounds that the page plays.
  /// - measurements: The measurements of the take, or nil to measure it.
  /// - needsTrack: True to measure its level and frequency over time.
  init(
    _ take: Take, index: Int, sounds: PageSounds, measurements: TakeMeasurements? = nil,
    needsTrack: Bool = false
  ) throws(ReviewPageError) {
    letter = Take.letter(at: index)
    name = take.name
    patternDuration = take.duration
    notes = take.feeling
    sourceText = take.sourceText.map { text in
      text.utf8.count > Self.minimumLongTextLength ? JSONLayout.compact(text) : text
    }
    sourceHash = take.sourceText.map { SHA256.hash(of: Array($0.utf8)) }
    self.measurements = measurements ?? TakeMeasurements(take)
    var embedded = [try EmbeddedSound(sounds.actuator)]
    if let speaker = sounds.speaker {
      embedded.append(try EmbeddedSound(speaker))
    }
    self.sounds = embedded
    laneSource = LaneSource(take.composition, signal: take.signal)
    if needsTrack {
      signalTrack = SignalTrack(of: take.signal)
      let hasChannels = take.signal.channels.count == laneSource.names.count
      channelTracks =
        hasChannels
        ? take.signal.channels.map { SignalTrack(of: Signal($0, rate: take.signal.rate)) } : []
    }
    soundDuration = take.signal.durationSeconds
    guard take.containsOnlyEvents, let composition = take.composition else {
      events = nil
      controlCount = 0
      controls = []
      return
    }
    let eventPlot: EventPlot
    do throws(PlotError) {
      eventPlot = try EventPlot(of: composition, profile: take.profile)
    } catch {
      throw ReviewPageError(.notDrawn, "\(take.name): \(error.description)")
    }
    events = eventPlot.events.map { PageEvent($0, of: composition) }
    controlCount = composition.layers.reduce(0) {
      $0 + $1.pattern.curves.count + $1.pattern.parameters.count
    }
    controls = composition.layers.map { layer in
      func line(_ id: DynamicParameterID) -> [Double]? {
        Self.controlLine(id, of: layer.pattern, until: eventPlot.durationSeconds)
      }
      return ControlLines(
        intensity: line(.hapticIntensityControl), sharpness: line(.hapticSharpnessControl))
    }
  }

  /// The maximum number of points of a control polyline.
  private static let maximumControlPointCount = 2_000

  /// Returns the polyline of a control as alternating times and values, or nil if the pattern does
  /// not set the control.
  /// A jump has two points at the same time.
  private static func controlLine(
    _ id: DynamicParameterID, of pattern: HapticPattern, until end: Double
  ) -> [Double]? {
    let segments = ControlTimeline(of: id, in: pattern).segments
    guard segments.count > 1 || segments.first?.sourceStartPosition != nil else { return nil }
    var numbers: [Double] = []
    for (index, segment) in segments.enumerated().prefix(maximumControlPointCount / 2)
    where segment.startPosition <= end {
      numbers += [segment.startPosition, segment.startValue]
      let segmentEnd =
        index + 1 < segments.count ? min(segments[index + 1].startPosition, end) : end
      if segmentEnd > segment.startPosition {
        numbers += [segmentEnd, segment.value(at: segmentEnd)]
      }
    }
    return numbers.isEmpty ? nil : numbers.map(roundedForPage)
  }

  /// Creates the takes of a page.
  ///
  /// - Parameters:
  /// - takes: The takes.
  /// - sounds: The sounds of each take. With nil, the page plays the signals of the takes.
  /// - measurements: The measurements of each take, or nil to measure them.
  /// - needsTrack: Returns true for the indices of takes whose level and frequency are measured.
  static func makeTakes(
    _ takes: [Take], sounds: [PageSounds]?, measurements: [TakeMeasurements]? = nil,
    needsTrack: (Int) -> Bool
  ) throws(ReviewPageError) -> [PageTake] {
    let pageTakes = try takes.enumerated().map {
      (index, take) throws(ReviewPageError) -> PageTake in
      try PageTake(
        take, index: index, sounds: sounds?[index] ?? PageSounds(actuator: take.signal),
        measurements: measurements?[index], needsTrack: needsTrack(index))
    }
    try EmbeddedSound.checkTotalSize(of: pageTakes.flatMap(\.sounds), takeCount: takes.count)
    return pageTakes
  }

  /// Returns the take as JSON for the script of the page.
  ///
  /// - Parameter measurementKeys: The keys of the measurements to include; nil for all.
  func fields(measurementKeys: [String]? = nil) -> JSONObject {
    let included = measurements.measurements.filter { measurementKeys?.contains($0.key) ?? true }
    let hasControls = controls.contains { $0.intensity != nil || $0.sharpness != nil }
    return [
      "letter": letter, "name": name, "notes": notes,
      "places": laneSource.names.isEmpty ? nil : laneSource.names,
      "isSound": laneSource.isSound ? true : nil, "duration": roundedForPage(soundDuration),
      // The page rounds to milliseconds, and must not round a value that is already rounded.
      "length": (patternDuration * 1e6).rounded() / 1e6,
      "soundCount": sounds.count,
      "origin": origin.map {
        ["path": $0.path, "modified": $0.modified, "sha256": $0.sha256] as JSONObject
      },
      "gains": gains.isEmpty ? nil : gains, "events": events?.map(\.fields),
      "controlCount": events == nil ? nil : controlCount,
      "controls": hasControls
        ? controls.map { ["intensity": $0.intensity, "sharpness": $0.sharpness] as JSONObject }
        : nil,
      "track": signalTrack.map(Self.fields(of:)),
      "tracks": channelTracks.isEmpty ? nil : channelTracks.map(Self.fields(of:)),
      "figures": included.reduce([:] as JSONObject) { fields, measurement in
        let value = measurement.value.map(roundedForPage)
        return fields + [measurement.key: JSONElement.finiteNumber(value)]
      },
    ]
  }

  private static func fields(of track: SignalTrack) -> JSONObject {
    [
      "step": track.intervalSeconds, "levels": track.levelsDecibels.map { ($0 * 10).rounded() / 10 },
      "frequencies": track.hertzByInterval.map { $0.rounded() },
    ]
  }

  /// Returns the part of the take that a lane shows.
  func part(_ content: LaneDivision.Content) -> PageTake {
    var take = self
    switch content {
    case .whole:
      break
    case .part(let position):
      take.events?.removeAll { $0.place != nil && $0.place != position }
      if channelTracks.indices.contains(position) {
        take.signalTrack = channelTracks[position]
      }
    case .nothing:
      take.events?.removeAll { $0.kind.isHaptic }
    }
    return take
  }

  /// Returns the intensity of the strongest continuous event at a time, or the normalized level of
  /// a recording, 0…1.
  func intensity(at time: Double) -> Double {
    if let signalTrack { return signalTrack.normalizedLevel(at: signalTrack.index(at: time)) }
    return strongestPoint(at: time)?.intensity ?? 0
  }

  /// Returns the sharpness of the strongest continuous event at a time, or the normalized frequency
  /// of a recording, 0…1; nil in silence.
  func sharpness(at time: Double) -> Double? {
    if let signalTrack { return signalTrack.normalizedFrequency(at: signalTrack.index(at: time)) }
    return strongestPoint(at: time).flatMap { $0.intensity > 0.003 ? $0.sharpness : nil }
  }

  /// Returns the point of the strongest continuous event at a time, or nil in silence.
  private func strongestPoint(at time: Double) -> EventPlot.Point? {
    let sounding = (events ?? []).lazy.filter { event in
      !event.kind.isTransient && event.onset <= time && time < event.onset + event.soundingDuration
    }
    return sounding.map { $0.point(at: time) }.max { $0.intensity < $1.intensity }
  }
}

extension Take {
  /// A Boolean value that indicates whether events describe the whole take.
  /// Recordings and patterns with sampled signals are shown by their sound.
  var containsOnlyEvents: Bool { composition?.containsOnlyEvents ?? false }
}

/// An event of a take, as a page shows it.
struct PageEvent: Equatable {
  let kind: HapticEvent.Kind
  /// The start of the event, in seconds.
  let onset: Double
  /// The duration until the event is silent, including its release, in seconds; 0 for a transient.
  let soundingDuration: Double
  /// The duration of the event in the file, in seconds; 0 for a transient.
  let writtenDuration: Double
  /// The intensity of the event in the file. For an audio event, its volume.
  let intensity: Double
  /// The sharpness of the event in the file. For an audio event, its brightness.
  let sharpness: Double
  /// The index of the layer that contains the event.
  let layer: Int
  /// The index of the haptic event's body location in the take's names, or nil for all locations.
  let place: Int?
  /// The points of the event after controls and envelope, by ascending time.
  let points: [EventPlot.Point]

  /// The maximum number of points of an event.
  private static let maximumPointCount = 240

  init(_ event: EventPlot.Event, of composition: HapticComposition) {
    kind = event.kind
    onset = event.onsetSeconds
    layer = event.eventReference.layer
    soundingDuration = kind.isTransient ? 0 : event.endSeconds - event.onsetSeconds
    let written = composition.layers[layer].pattern.events[event.eventReference.event]
    writtenDuration = kind.isTransient ? 0 : written.duration ?? soundingDuration
    intensity = event.intensityInFile
    sharpness = event.sharpnessInFile
    let location = kind.isHaptic ? composition.layers[layer].bodyLocation : nil
    place = location.flatMap { location in
      composition.separateLocations.firstIndex { $0.isSameLocation(as: location) }
    }
    points = PointReduction.reduced(event.points, maximumCount: Self.maximumPointCount)
  }

  /// Returns the interpolated point of the event at a time.
  func point(at time: Double) -> EventPlot.Point {
    guard let nextIndex = points.firstIndex(where: { $0.timeSeconds > time }), nextIndex > 0 else {
      return points.last ?? EventPlot.Point(timeSeconds: time, intensity: 0, sharpness: 0)
    }
    let previous = points[nextIndex - 1]
    let next = points[nextIndex]
    let fraction = (time - previous.timeSeconds) / (next.timeSeconds - previous.timeSeconds)
    return EventPlot.Point(
      timeSeconds: time,
      intensity: previous.intensity + (next.intensity - previous.intensity) * fraction,
      sharpness: previous.sharpness + (next.sharpness - previous.sharpness) * fraction)
  }

  /// The event as JSON for the script of the page.
  var fields: JSONObject {
    [
      "kind": kind.label, "time": roundedForPage(onset),
      "length": soundingDuration > 0 ? roundedForPage(soundingDuration) : nil,
      "duration": soundingDuration > 0 ? roundedForPage(writtenDuration) : nil,
      "intensity": roundedForPage(intensity), "sharpness": roundedForPage(sharpness),
      "layer": layer > 0 ? layer : nil, "place": place,
      // Alternating times, intensities and sharpnesses.
      "points": points.flatMap {
        [$0.timeSeconds, $0.intensity, $0.sharpness].map(roundedForPage)
      },
    ]
  }
}

/// Returns a time in seconds or a value rounded to four decimal places, the precision of a page.
func roundedForPage(_ value: Double) -> Double { (value * 1e4).rounded() / 1e4 }

/// A reduction of a polyline of intensity and sharpness to the necessary points.
enum PointReduction {
  /// The maximum error of intensity and sharpness at a removed point, on the scale 0…1.
  private static let tolerance = 0.001

  /// Returns the necessary points, evenly thinned to a maximum number.
  ///
  /// From a kept point, a straight line is extended as long as all points between its ends are
  /// within the tolerance (similar to the algorithm of Reumann and Witkam, 1974).
  static func reduced(_ points: [EventPlot.Point], maximumCount: Int) -> [EventPlot.Point] {
    guard points.count > 2 else { return points }
    var keptIndices = [0]
    for index in 2..<points.count {
      if !isStraight(points, from: keptIndices[keptIndices.count - 1], to: index) {
        keptIndices.append(index - 1)
      }
    }
    keptIndices.append(points.count - 1)
    let step = max(1, Double(keptIndices.count - 1) / Double(maximumCount - 1))
    return (0..<min(maximumCount, keptIndices.count)).map { index in
      points[keptIndices[Int((Double(index) * step).rounded())]]
    }
  }

  /// Returns whether the points between two indices are close to a straight line.
  private static func isStraight(
    _ points: [EventPlot.Point], from start: Int, to end: Int
  ) -> Bool {
    let first = points[start]
    let last = points[end]
    let duration = last.timeSeconds - first.timeSeconds
    // A jump is kept. The limit of 64 points keeps the total time linear.
    guard duration > 0, end - start <= 64 else { return false }
    return (start + 1..<end).allSatisfy { index in
      let fraction = (points[index].timeSeconds - first.timeSeconds) / duration
      let intensity = first.intensity + (last.intensity - first.intensity) * fraction
      let sharpness = first.sharpness + (last.sharpness - first.sharpness) * fraction
      return abs(points[index].intensity - intensity) <= tolerance
        && abs(points[index].sharpness - sharpness) <= tolerance
    }
  }
}
