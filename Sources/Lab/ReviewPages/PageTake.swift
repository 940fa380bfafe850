internal import HapticModel
internal import HapticRender
internal import PatternComparison
public import SignalAnalysis
internal import SignalPlots
internal import SoundFile
internal import SystemSupport

struct PageTake {
  /// A, B, C …
  let letter: String
  let name: String
  let notes: String?
  /// Seconds of the sounds of the page.
  let duration: Double
  /// Seconds until a pattern is over and silent.
  let length: Double
  /// The events of a pattern by rising onset; nil for what is more than events.
  let events: [PageEvent]?
  let controlCount: Int
  /// Of each layer the lines of its controls: time and value of each point in turn; nil where it
  /// leaves one alone.
  private let controls: [(intensity: [Double]?, sharpness: [Double]?)]
  private let track: SignalTrack?
  /// The text of its file; of long JSON what stands between its values is left out.
  let text: String?
  let textHash: String?
  var origin: TakeOrigin?
  let measurements: TakeMeasurements
  let sounds: [EmbeddedSound]
  /// For each of its sounds the factor that makes all takes equally strong.
  var gains: [Double] = []

  /// Bytes from which on a text is long.
  private static let longText = 100_000

  /// - Parameter hasTrack: Whether its level and frequency over time are wanted.
  init(
    _ take: Take, index: Int, sounds: PageSounds, measurements: TakeMeasurements? = nil,
    hasTrack: Bool = false
  )
    throws(ReviewPageError)
  {
    letter = Take.letter(index)
    name = take.name
    length = take.duration
    notes = take.feeling
    text = take.text.map { $0.utf8.count > Self.longText ? JSONLayout.compact($0) : $0 }
    textHash = take.text.map { SHA256.hash(of: Array($0.utf8)) }
    self.measurements = measurements ?? TakeMeasurements(take)
    var embedded = [try EmbeddedSound(sounds.actuator)]
    if let speaker = sounds.speaker {
      embedded.append(try EmbeddedSound(speaker))
    }
    self.sounds = embedded
    track = hasTrack ? SignalTrack(of: take.signal) : nil
    duration = take.signal.duration
    guard take.isOfEvents, let composition = take.composition else {
      events = nil
      controlCount = 0
      controls = []
      return
    }
    let score: PatternScore
    do throws(PlotError) {
      score = try PatternScore(of: composition, profile: take.profile)
    } catch {
      throw ReviewPageError(.notDrawn, "\(take.name): \(error.description)")
    }
    events = score.events.map { PageEvent($0, of: composition) }
    controlCount = composition.layers.reduce(0) {
      $0 + $1.pattern.curves.count + $1.pattern.parameters.count
    }
    controls = composition.layers.map { layer in
      func line(_ id: DynamicParameterID) -> [Double]? {
        Self.line(id, of: layer.pattern, until: score.duration)
      }
      return (line(.hapticIntensityControl), line(.hapticSharpnessControl))
    }
  }

  private static let maximumControlPointCount = 2_000

  /// The line of a control; where it jumps, two points share a time.
  private static func line(_ id: DynamicParameterID, of pattern: HapticPattern, until end: Double)
    -> [Double]?
  {
    let segments = ControlTimeline(of: id, in: pattern).segments
    guard segments.count > 1 || segments.first?.origin != nil else { return nil }
    var numbers: [Double] = []
    for (index, segment) in segments.enumerated().prefix(maximumControlPointCount / 2)
    where segment.start <= end {
      numbers += [segment.start, segment.value]
      let next = index + 1 < segments.count ? min(segments[index + 1].start, end) : end
      if next > segment.start {
        numbers += [next, segment.value(at: next)]
      }
    }
    return numbers.isEmpty ? nil : numbers.map(rounded)
  }

  /// The takes of a page; `hasTrack` says whether the level and frequency of the take at a place
  /// are wanted.
  static func list(
    _ takes: [Take], sounds: [PageSounds]?, measurements: [TakeMeasurements]? = nil,
    hasTrack: (Int) -> Bool
  ) throws(ReviewPageError) -> [PageTake] {
    let shown = try takes.enumerated().map { (index, take) throws(ReviewPageError) -> PageTake in
      try PageTake(
        take, index: index, sounds: sounds?[index] ?? PageSounds(actuator: take.signal),
        measurements: measurements?[index], hasTrack: hasTrack(index))
    }
    try EmbeddedSound.check(shown.flatMap(\.sounds), takeCount: takes.count)
    return shown
  }

  /// - Parameter figures: The keys of the figures that are wanted; nil for all.
  func fields(figures: [String]? = nil) -> JSONMembers {
    [
      "letter": letter, "name": name, "notes": notes, "duration": rounded(duration),
      "length": rounded(length),
      "soundCount": sounds.count,
      "origin": origin.map {
        ["path": $0.path, "modified": $0.modified, "sha256": $0.sha256] as JSONMembers
      },
      "gains": gains.isEmpty ? nil : gains, "events": events?.map(\.fields),
      "controlCount": events == nil ? nil : controlCount,
      "controls": controls.allSatisfy { $0.intensity == nil && $0.sharpness == nil }
        ? nil
        : controls.map { ["intensity": $0.intensity, "sharpness": $0.sharpness] as JSONMembers },
      "track": track.map {
        [
          "step": $0.step, "levels": $0.levels.map { ($0 * 10).rounded() / 10 },
          "frequencies": $0.frequencies.map { $0.rounded() },
        ] as JSONMembers
      },
      "figures": measurements.figures.filter { figures?.contains($0.key) ?? true }.reduce(
        [:] as JSONMembers
      ) {
        $0 + [$1.key: JSONPiece.finite($1.value.map(rounded))]
      },
    ]
  }

  /// How strong it is at a time, 0…1: the intensity of what lasts, or the level from −60 dBFS on.
  func strength(at time: Double) -> Double {
    if let track { return track.strength(at: track.index(at: time)) }
    return sounding(at: time)?.intensity ?? 0
  }

  /// How sharp it is at a time, 0…1, or where its frequency is from 30 to 600 Hz; nil for silence.
  func tone(at time: Double) -> Double? {
    if let track { return track.tone(at: track.index(at: time)) }
    return sounding(at: time).flatMap { $0.intensity > 0.003 ? $0.sharpness : nil }
  }

  /// The strongest event that lasts at a time.
  private func sounding(at time: Double) -> PatternScore.Point? {
    (events ?? []).lazy.filter { event in
      !event.kind.isTransient && event.time <= time && time < event.time + event.length
    }.map { $0.value(at: time) }.max { $0.intensity < $1.intensity }
  }
}

extension Take {
  /// Whether its events say all of it: of a recording, and of sampled signals, only the sound does.
  var isOfEvents: Bool { composition?.isOfEvents ?? false }
}

struct PageEvent: Equatable {
  let kind: HapticEvent.Kind
  /// The second of its onset.
  let time: Double
  /// Seconds until it is silent, release included, and its duration as the file gives it; 0 for a
  /// transient.
  let length, duration: Double
  /// Intensity and sharpness, or volume and brightness, as the file gives them.
  let intensity, sharpness: Double
  let layer: Int
  /// What it becomes under its controls and its envelope, by rising time.
  let points: [PatternScore.Point]

  private static let maximumPointCount = 240

  init(_ event: PatternScore.Event, of composition: HapticComposition) {
    kind = event.kind
    time = event.time
    layer = event.reference.layer
    length = kind.isTransient ? 0 : event.end - event.time
    let written = composition.layers[layer].pattern.events[event.reference.event]
    duration = kind.isTransient ? 0 : written.duration ?? length
    intensity = event.givenIntensity
    sharpness = event.givenSharpness
    points = Polyline.reduced(event.points, to: Self.maximumPointCount)
  }

  func value(at time: Double) -> PatternScore.Point {
    guard let next = points.firstIndex(where: { $0.time > time }), next > 0 else {
      return points.last ?? PatternScore.Point(time: time, intensity: 0, sharpness: 0)
    }
    let one = points[next - 1]
    let other = points[next]
    let share = (time - one.time) / (other.time - one.time)
    return PatternScore.Point(
      time: time, intensity: one.intensity + (other.intensity - one.intensity) * share,
      sharpness: one.sharpness + (other.sharpness - one.sharpness) * share)
  }

  var fields: JSONMembers {
    [
      "kind": kind.label, "time": rounded(time), "length": length > 0 ? rounded(length) : nil,
      "duration": length > 0 ? rounded(duration) : nil, "intensity": rounded(intensity),
      "sharpness": rounded(sharpness), "layer": layer > 0 ? layer : nil,
      // Time, intensity and sharpness in turn.
      "points": points.flatMap { [$0.time, $0.intensity, $0.sharpness].map(rounded) },
    ]
  }
}

/// Numbers of a page: a tenth of a millisecond, and a ten-thousandth of a level.
func rounded(_ value: Double) -> Double { (value * 1e4).rounded() / 1e4 }

enum Polyline {
  /// What a level may be off by where a point is left out.
  private static let tolerance = 0.001

  /// The points that a line of intensity and sharpness needs; no more than a count, spread evenly
  /// where these are too many.
  static func reduced(_ points: [PatternScore.Point], to maximumCount: Int) -> [PatternScore.Point]
  {
    guard points.count > 2 else { return points }
    // Points that lie on the line between those kept are left out: Reumann and Witkam's corridor.
    var kept = [0]
    for index in 2..<points.count where !isStraight(points, from: kept[kept.count - 1], to: index) {
      kept.append(index - 1)
    }
    kept.append(points.count - 1)
    let step = max(1, Double(kept.count - 1) / Double(maximumCount - 1))
    return (0..<min(maximumCount, kept.count)).map {
      points[kept[Int((Double($0) * step).rounded())]]
    }
  }

  private static func isStraight(_ points: [PatternScore.Point], from: Int, to: Int) -> Bool {
    let first = points[from]
    let last = points[to]
    let width = last.time - first.time
    // A jump is kept, and a long line is checked in parts so that time stays linear.
    guard width > 0, to - from <= 64 else { return false }
    return (from + 1..<to).allSatisfy { index in
      let share = (points[index].time - first.time) / width
      let intensity = first.intensity + (last.intensity - first.intensity) * share
      let sharpness = first.sharpness + (last.sharpness - first.sharpness) * share
      return abs(points[index].intensity - intensity) <= tolerance
        && abs(points[index].sharpness - sharpness) <= tolerance
    }
  }
}

/// A sound within a page: FLAC of 16-bit samples, dithered as `render` does it.
///
/// Of a sound of more than a minute in which 99 % of the power is below 860 Hz, or else 1,720 Hz,
/// only that is kept, in steps of 12 bits.
struct EmbeddedSound: Sendable {
  /// The bytes of all sounds in one page, as text, beyond which browsers take too long.
  static let maximumByteCount = 100_000_000
  /// The rates of sounds in pages, in hertz; every browser plays them.
  static let rates: [Double] = [8_000, 16_000, 24_000, 32_000, 48_000]

  let file: [UInt8]
  /// Frames per second of what is played.
  let rate: Double
  /// How many frames are played for each of the file, which says `rate` since no browser decodes
  /// less than 3 kHz.
  let factor: Int

  /// Seconds from which on a sound is long.
  private static let longSeconds = 60.0
  /// The most that a sound may lose of its power where it is long.
  private static let lostPower = 0.01
  /// Steps from silence to full scale of a long sound.
  private static let steps = Float(2_048)

  /// What is kept of a long sound, and by how much its rate is lower; nil where that would lose too
  /// much.
  private static func reduced(_ signal: Signal) -> (samples: [Float], factor: Int)? {
    guard signal.duration > longSeconds, signal.rate == rates[0], signal.channels.count == 1 else {
      return nil
    }
    let spectrum = Spectrum(of: signal, window: 0.1)
    for factor in [4, 2] {
      let low = TactileBandSignal(
        of: signal.mono, rate: signal.rate, least: signal.rate / Double(factor))
      let edge = TactileBandSignal.cutOff * low.rate
      guard spectrum.power(in: edge...signal.rate) <= lostPower * spectrum.power else { continue }
      // Multiples of 4,096 of the 24 bits of a file, which FLAC stores without their zeros.
      let step: Double = 4_096 / 8_388_607
      let samples = low.samples.map { (sample: Float) -> Float in
        let count: Float = (sample * steps).rounded()
        return Float(Double(count) * step)
      }
      return (samples, factor)
    }
    return nil
  }

  /// The sound of a signal; one with more than two channels is heard as their mean.
  ///
  /// - Throws: `notDrawn` where the file cannot be made, as for a rate that FLAC does not know.
  init(_ signal: Signal) throws(ReviewPageError) {
    let reduced = Self.reduced(signal)
    factor = reduced?.factor ?? 1
    let heard =
      signal.channels.count > 2 ? Signal(channels: [signal.mono], rate: signal.rate) : signal
    // No browser decodes a file without a frame.
    let samples = reduced?.samples ?? (heard.frameCount > 0 ? heard.interleaved : [0])
    rate = heard.rate
    do throws(SoundFileError) {
      file = try SoundFileWriter.bytes(
        of: samples.span,
        format: SoundFileFormat(container: .flac, samples: reduced == nil ? .s16 : .s24),
        rate: Int(heard.rate.rounded()),
        channelCount: heard.frameCount > 0 ? max(1, heard.channels.count) : 1)
    } catch {
      throw ReviewPageError(.notDrawn, error.description)
    }
  }

  /// Refuses a page whose sounds would be too much for a browser.
  static func check(
    _ sounds: [EmbeddedSound], takeCount: Int, maximumByteCount: Int = maximumByteCount
  )
    throws(ReviewPageError)
  {
    let size = sounds.reduce(0) { $0 + $1.textLength }
    guard size > maximumByteCount else { return }
    throw ReviewPageError(
      .tooLarge,
      """
      the sound of \(takeCount) takes would make a page of \(size / 1_000) kB; the limit is \
      \(maximumByteCount / 1_000) kB; use fewer or shorter takes
      """
    )
  }

  var textLength: Int { Base64.length(of: file.count) }

  func element(id: String) -> [UInt8] {
    let rate = NumberFormatting.rounded(rate, places: 0)
    let times = factor > 1 ? " data-factor=\"\(factor)\"" : ""
    let start = "<script type=\"text/plain\" id=\"\(id)\" data-rate=\"\(rate)\"\(times)>"
    return Array(start.utf8) + Base64.encoded(file) + Array("</script>\n".utf8)
  }
}

/// What a page plays of one take.
public struct PageSounds: Sendable {
  /// What is sent to the actuator.
  public var actuator: Signal
  /// What small speakers play instead, or nil where nothing is made for them.
  public var speaker: Signal?

  /// The share of a sound's power that a lower rate may lose: −40 dB.
  private static let lostPower = 1e-4
  /// The share of a rate up to which resampling and FLAC keep everything.
  private static let passband = 0.45

  /// Makes the sounds of a take.
  public init(actuator: Signal, speaker: Signal? = nil) {
    self.actuator = actuator
    self.speaker = speaker
  }

  /// The lowest rate, in hertz, at which a page holds a signal but for −40 dB of its power: 8 kHz
  /// for patterns without sounds of their own. Time grows with the signal's length.
  public static func lowestRate(holding signal: Signal) -> Double {
    let spectrum = Spectrum(of: signal, window: 0.1)
    let total = spectrum.power
    let top = signal.rate / 2
    for rate in EmbeddedSound.rates where rate < signal.rate {
      let edge = passband * rate
      if spectrum.power(in: edge...max(edge, top)) <= total * lostPower {
        return rate
      }
    }
    return EmbeddedSound.rates.last { $0 <= signal.rate } ?? signal.rate
  }
}
