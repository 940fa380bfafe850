internal import HapticModel
internal import HapticRender
internal import Reading
internal import PatternComparison
internal import SignalAnalysis
internal import SignalPlots

/// What a page holds of one take: enough to draw it, to read its values, and to find its sounds.
struct PageTake {
  /// A, B, C …
  let letter: String
  /// A file's or a pattern's name.
  let name: String
  /// What its file says about it.
  let notes: String?
  /// Seconds until nothing sounds.
  let duration: Double
  /// The events of a pattern by rising onset; nil for what is more than events.
  let events: [PageEvent]?
  /// How many curves and parameters the pattern has.
  let controlCount: Int
  /// The controls of each layer.
  private let controls: [PageControls]
  /// Level and frequency over time.
  private let track: SignalTrack?
  /// The text of its file.
  let text: String?
  /// What is measured of it.
  let measurements: TakeMeasurements
  /// What a page plays of it.
  let sounds: [EmbeddedSound]
  /// For each of its sounds the factor that makes all takes equally strong.
  var gains: [Double] = []

  /// Evaluates a take.
  ///
  /// - Parameters:
  ///   - index: Its place, which gives the letter.
  ///   - measurements: What is measured of it, where that is known.
  ///   - hasTrack: Whether its level and frequency over time are wanted.
  /// - Throws: `notDrawn` for a pattern that cannot be rendered either.
  init(_ take: Take, index: Int, sounds: PageSounds, measurements: TakeMeasurements? = nil, hasTrack: Bool = false)
    throws(ReviewPageError)
  {
    letter = Take.letter(index)
    name = take.name
    notes = take.feeling
    text = take.text
    self.measurements = measurements ?? TakeMeasurements(take)
    var embedded = [try EmbeddedSound(sounds.actuator)]
    if let speaker = sounds.speaker { embedded.append(try EmbeddedSound(speaker)) }
    self.sounds = embedded
    track = hasTrack ? SignalTrack(of: take.signal) : nil
    guard take.isOfEvents, let composition = take.composition else {
      (events, controlCount, controls) = (nil, 0, [])
      duration = take.signal.duration
      return
    }
    let score: PatternScore
    do throws(PlotError) { score = try PatternScore(of: composition, profile: take.profile) } catch {
      throw ReviewPageError(.notDrawn, "\(take.name): \(error.description)")
    }
    events = score.events.map { PageEvent($0, of: composition, profile: take.profile) }
    controlCount = composition.layers.reduce(0) { $0 + $1.pattern.curves.count + $1.pattern.parameters.count }
    controls = composition.layers.map { PageControls(of: $0.pattern, until: score.duration) }
    duration = take.signal.duration
  }

  /// Writes the take as members of an object, with some of its figures.
  func write(to json: inout JSONObjectWriter, figures: [MeasureRow] = MeasureRow.all) {
    json.member("letter", letter)
    json.member("name", name)
    if let notes { json.member("notes", notes) }
    json.member("duration", rounded(duration))
    json.member("soundCount", sounds.count)
    if !gains.isEmpty { json.array("gains") { list in for gain in gains { list.element(gain) } } }
    if let events {
      json.array("events") { list in for event in events { list.object { event.write(to: &$0) } } }
      json.member("controlCount", controlCount)
      if controls.contains(where: { !$0.isEmpty }) {
        json.array("controls") { list in for control in controls { list.object { control.write(to: &$0) } } }
      }
    }
    if let track { json.object("track") { track.write(to: &$0) } }
    json.object("figures") { json in
      for row in figures {
        if let value = row.value(measurements), value.isFinite {
          json.member(row.member, rounded(value))
        } else {
          json.null(row.member)
        }
      }
    }
  }
}

extension Take {
  /// Whether its events say all of it: of a recording, and of sampled signals, only the sound does.
  var isOfEvents: Bool { composition?.isOfEvents ?? false }
}

extension PageTake {
  /// How strong it is at a time, 0…1: the intensity of what lasts, or the level from −60 dBFS on.
  func strength(at time: Double) -> Double {
    if let track { return track.strength(at: track.index(at: time)) }
    return sounding(at: time)?.intensity ?? 0
  }

  /// How sharp it is at a time, 0…1, or where its frequency is from 30 to 600 Hz; nil for silence.
  func tone(at time: Double) -> Double? {
    if let track { return track.tone(at: track.index(at: time)) }
    guard let point = sounding(at: time), point.intensity > 0.003 else { return nil }
    return point.sharpness
  }

  /// The strongest event that lasts at a time.
  private func sounding(at time: Double) -> PatternScore.Point? {
    (events ?? []).lazy.filter { event in
      !event.kind.isTransient && event.time <= time && time < event.time + event.length
    }.map { $0.value(at: time) }.max { $0.intensity < $1.intensity }
  }
}

/// One event of a pattern: as written, and what becomes of it.
struct PageEvent: Equatable {
  let kind: HapticEvent.Kind
  /// The second of its onset.
  let time: Double
  /// Seconds until it is silent, release included; 0 for a transient.
  let length: Double
  /// Its duration as the file gives it; 0 for a transient.
  let duration: Double
  /// Intensity, or volume, as the file gives it.
  let intensity: Double
  /// Sharpness, or brightness, as the file gives it.
  let sharpness: Double
  /// The layer whose controls act on it.
  let layer: Int
  /// What it becomes under its controls and its envelope, by rising time.
  let points: [PatternScore.Point]

  /// The most points that a page holds of one event.
  private static let maximumPointCount = 240

  /// An event as it is drawn.
  init(_ event: PatternScore.Event, of composition: HapticComposition, profile: TransducerProfile) {
    kind = event.kind
    let written = composition.layers[event.reference.layer].pattern.events[event.reference.event]
    time = event.time
    length = kind.isTransient ? 0 : event.end - event.time
    duration = kind.isTransient ? 0 : written.duration ?? length
    intensity = event.givenIntensity
    sharpness = event.givenSharpness
    layer = event.reference.layer
    points = Polyline.reduced(event.points, to: Self.maximumPointCount)
  }

  /// What it is at a time, on the line between its points.
  func value(at time: Double) -> PatternScore.Point {
    guard let next = points.firstIndex(where: { $0.time > time }), next > 0 else {
      return points.last ?? PatternScore.Point(time: time, intensity: 0, sharpness: 0)
    }
    let (one, other) = (points[next - 1], points[next])
    let share = (time - one.time) / (other.time - one.time)
    return PatternScore.Point(
      time: time, intensity: one.intensity + (other.intensity - one.intensity) * share,
      sharpness: one.sharpness + (other.sharpness - one.sharpness) * share)
  }

  /// Writes the event as members of an object.
  func write(to json: inout JSONObjectWriter) {
    json.member("kind", kind.label)
    json.member("time", rounded(time))
    if length > 0 {
      json.member("length", rounded(length))
      json.member("duration", rounded(duration))
    }
    json.member("intensity", rounded(intensity))
    json.member("sharpness", rounded(sharpness))
    if layer > 0 { json.member("layer", layer) }
    // Time, intensity and sharpness in turn.
    json.array("points") { list in
      for point in points {
        for value in [point.time, point.intensity, point.sharpness] { list.element(rounded(value)) }
      }
    }
  }
}

/// Numbers of a page: a tenth of a millisecond, and a ten-thousandth of a level.
func rounded(_ value: Double) -> Double { (value * 1e4).rounded() / 1e4 }
