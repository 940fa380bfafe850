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
  let soundDuration: Double
  /// Seconds until a pattern is over and silent.
  let patternDuration: Double
  /// The events of a pattern by rising onset; nil for what is more than events.
  let events: [PageEvent]?
  let controlCount: Int
  /// Of each layer the lines of its controls: time and value of each point in turn; nil where it
  /// leaves one alone.
  private let controls: [(intensity: [Double]?, sharpness: [Double]?)]
  private let signalTrack: SignalTrack?
  /// The text of its file; of long JSON what stands between its values is left out.
  let sourceText: String?
  let sourceHash: String?
  var origin: TakeOrigin?
  let measurements: TakeMeasurements
  let sounds: [EmbeddedSound]
  /// For each of its sounds the factor that makes all takes equally strong.
  var gains: [Double] = []

  /// Bytes from which on a text is long.
  private static let minimumLongTextLength = 100_000

  /// - Parameter hasTrack: Whether its level and frequency over time are wanted.
  init(
    _ take: Take, index: Int, sounds: PageSounds, measurements: TakeMeasurements? = nil,
    needsTrack hasTrack: Bool = false
  )
    throws(ReviewPageError)
  {
    letter = Take.letter(at: index)
    name = take.name
    patternDuration = take.duration
    notes = take.feeling
    sourceText = take.sourceText.map {
      $0.utf8.count > Self.minimumLongTextLength ? JSONLayout.compact($0) : $0
    }
    sourceHash = take.sourceText.map { SHA256.hash(of: Array($0.utf8)) }
    self.measurements = measurements ?? TakeMeasurements(take)
    var embedded = [try EmbeddedSound(sounds.actuator)]
    if let speaker = sounds.speaker {
      embedded.append(try EmbeddedSound(speaker))
    }
    self.sounds = embedded
    signalTrack = hasTrack ? SignalTrack(of: take.signal) : nil
    soundDuration = take.signal.duration
    guard take.containsOnlyEvents, let composition = take.composition else {
      events = nil
      controlCount = 0
      controls = []
      return
    }
    let score: EventPlot
    do throws(PlotError) {
      score = try EventPlot(of: composition, profile: take.profile)
    } catch {
      throw ReviewPageError(.notDrawn, "\(take.name): \(error.description)")
    }
    events = score.events.map { PageEvent($0, of: composition) }
    controlCount = composition.layers.reduce(0) {
      $0 + $1.pattern.curves.count + $1.pattern.parameters.count
    }
    controls = composition.layers.map { layer in
      func line(_ id: DynamicParameterID) -> [Double]? {
        Self.controlLine(id, of: layer.pattern, until: score.duration)
      }
      return (line(.hapticIntensityControl), line(.hapticSharpnessControl))
    }
  }

  private static let maximumControlPointCount = 2_000

  /// The line of a control; where it jumps, two points share a time.
  private static func controlLine(
    _ id: DynamicParameterID, of pattern: HapticPattern, until end: Double
  )
    -> [Double]?
  {
    let segments = ControlTimeline(of: id, in: pattern).segments
    guard segments.count > 1 || segments.first?.sourceStart != nil else { return nil }
    var numbers: [Double] = []
    for (index, segment) in segments.enumerated().prefix(maximumControlPointCount / 2)
    where segment.start <= end {
      numbers += [segment.start, segment.value]
      let next = index + 1 < segments.count ? min(segments[index + 1].start, end) : end
      if next > segment.start {
        numbers += [next, segment.value(at: next)]
      }
    }
    return numbers.isEmpty ? nil : numbers.map(roundedForPage)
  }

  /// The takes of a page; `hasTrack` says whether the level and frequency of the take at a place
  /// are wanted.
  static func makeTakes(
    _ takes: [Take], sounds: [PageSounds]?, measurements: [TakeMeasurements]? = nil,
    needsTrack hasTrack: (Int) -> Bool
  ) throws(ReviewPageError) -> [PageTake] {
    let shown = try takes.enumerated().map { (index, take) throws(ReviewPageError) -> PageTake in
      try PageTake(
        take, index: index, sounds: sounds?[index] ?? PageSounds(actuator: take.signal),
        measurements: measurements?[index], needsTrack: hasTrack(index))
    }
    try EmbeddedSound.checkTotalSize(of: shown.flatMap(\.sounds), takeCount: takes.count)
    return shown
  }

  /// - Parameter figures: The keys of the figures that are wanted; nil for all.
  func fields(measurementKeys figures: [String]? = nil) -> JSONObject {
    [
      "letter": letter, "name": name, "notes": notes, "duration": roundedForPage(soundDuration),
      "length": roundedForPage(patternDuration),
      "soundCount": sounds.count,
      "origin": origin.map {
        ["path": $0.path, "modified": $0.modified, "sha256": $0.sha256] as JSONObject
      },
      "gains": gains.isEmpty ? nil : gains, "events": events?.map(\.fields),
      "controlCount": events == nil ? nil : controlCount,
      "controls": controls.allSatisfy { $0.intensity == nil && $0.sharpness == nil }
        ? nil
        : controls.map { ["intensity": $0.intensity, "sharpness": $0.sharpness] as JSONObject },
      "track": signalTrack.map {
        [
          "step": $0.interval, "levels": $0.levels.map { ($0 * 10).rounded() / 10 },
          "frequencies": $0.frequencies.map { $0.rounded() },
        ] as JSONObject
      },
      "figures": measurements.measurements.filter { figures?.contains($0.key) ?? true }.reduce(
        [:] as JSONObject
      ) {
        $0 + [$1.key: JSONElement.finiteNumber($1.value.map(roundedForPage))]
      },
    ]
  }

  /// How strong it is at a time, 0…1: the intensity of what lasts, or the level from −60 dBFS on.
  func intensity(at time: Double) -> Double {
    if let signalTrack { return signalTrack.normalizedLevel(at: signalTrack.index(at: time)) }
    return strongestPoint(at: time)?.intensity ?? 0
  }

  /// How sharp it is at a time, 0…1, or where its frequency is from 30 to 600 Hz; nil for silence.
  func sharpness(at time: Double) -> Double? {
    if let signalTrack { return signalTrack.normalizedFrequency(at: signalTrack.index(at: time)) }
    return strongestPoint(at: time).flatMap { $0.intensity > 0.003 ? $0.sharpness : nil }
  }

  /// The strongest event that lasts at a time.
  private func strongestPoint(at time: Double) -> EventPlot.Point? {
    (events ?? []).lazy.filter { event in
      !event.kind.isTransient && event.onset <= time && time < event.onset + event.soundingDuration
    }.map { $0.point(at: time) }.max { $0.intensity < $1.intensity }
  }
}

extension Take {
  /// Whether its events say all of it: of a recording, and of sampled signals, only the sound does.
  var containsOnlyEvents: Bool { composition?.containsOnlyEvents ?? false }
}

struct PageEvent: Equatable {
  let kind: HapticEvent.Kind
  /// The second of its onset.
  let onset: Double
  /// Seconds until it is silent, release included, and its duration as the file gives it; 0 for a
  /// transient.
  let soundingDuration, writtenDuration: Double
  /// Intensity and sharpness, or volume and brightness, as the file gives them.
  let intensity, sharpness: Double
  let layer: Int
  /// What it becomes under its controls and its envelope, by rising time.
  let points: [EventPlot.Point]

  private static let maximumPointCount = 240

  init(_ event: EventPlot.Event, of composition: HapticComposition) {
    kind = event.kind
    onset = event.onset
    layer = event.reference.layer
    soundingDuration = kind.isTransient ? 0 : event.end - event.onset
    let written = composition.layers[layer].pattern.events[event.reference.event]
    writtenDuration = kind.isTransient ? 0 : written.duration ?? soundingDuration
    intensity = event.nominalIntensity
    sharpness = event.nominalSharpness
    points = PointReduction.reduced(event.points, maximumCount: Self.maximumPointCount)
  }

  func point(at time: Double) -> EventPlot.Point {
    guard let next = points.firstIndex(where: { $0.time > time }), next > 0 else {
      return points.last ?? EventPlot.Point(time: time, intensity: 0, sharpness: 0)
    }
    let one = points[next - 1]
    let other = points[next]
    let share = (time - one.time) / (other.time - one.time)
    return EventPlot.Point(
      time: time, intensity: one.intensity + (other.intensity - one.intensity) * share,
      sharpness: one.sharpness + (other.sharpness - one.sharpness) * share)
  }

  var fields: JSONObject {
    [
      "kind": kind.label, "time": roundedForPage(onset),
      "length": soundingDuration > 0 ? roundedForPage(soundingDuration) : nil,
      "duration": soundingDuration > 0 ? roundedForPage(writtenDuration) : nil,
      "intensity": roundedForPage(intensity),
      "sharpness": roundedForPage(sharpness), "layer": layer > 0 ? layer : nil,
      // Time, intensity and sharpness in turn.
      "points": points.flatMap { [$0.time, $0.intensity, $0.sharpness].map(roundedForPage) },
    ]
  }
}

/// Numbers of a page: a tenth of a millisecond, and a ten-thousandth of a level.
func roundedForPage(_ value: Double) -> Double { (value * 1e4).rounded() / 1e4 }

enum PointReduction {
  /// What a level may be off by where a point is left out.
  private static let tolerance = 0.001

  /// The points that a line of intensity and sharpness needs; no more than a count, spread evenly
  /// where these are too many.
  static func reduced(_ points: [EventPlot.Point], maximumCount: Int) -> [EventPlot.Point] {
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

  private static func isStraight(_ points: [EventPlot.Point], from: Int, to: Int) -> Bool {
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

  let flacBytes: [UInt8]
  /// Frames per second of what is played.
  let rate: Double
  /// How many frames are played for each of the file, which says `rate` since no browser decodes
  /// less than 3 kHz.
  let decimationFactor: Int

  /// Seconds from which on a sound is long.
  private static let minimumLongSeconds = 60.0
  /// The most that a sound may lose of its power where it is long.
  private static let maximumLostPowerRatio = 0.01
  /// Steps from silence to full scale of a long sound.
  private static let quantizationSteps = Float(2_048)

  /// What is kept of a long sound, and by how much its rate is lower; nil where that would lose too
  /// much.
  private static func decimated(_ signal: Signal) -> (samples: [Float], factor: Int)? {
    guard signal.duration > minimumLongSeconds, signal.rate == rates[0], signal.channels.count == 1
    else {
      return nil
    }
    let spectrum = Spectrum(of: signal, window: 0.1)
    for factor in [4, 2] {
      let low = TactileBandSignal(
        of: signal.mono, rate: signal.rate, minimumRate: signal.rate / Double(factor))
      let edge = TactileBandSignal.normalizedCutoff * low.rate
      guard spectrum.power(in: edge...signal.rate) <= maximumLostPowerRatio * spectrum.power else {
        continue
      }
      // Multiples of 4,096 of the 24 bits of a file, which FLAC stores without their zeros.
      let step: Double = 4_096 / 8_388_607
      let samples = low.samples.map { (sample: Float) -> Float in
        let count: Float = (sample * quantizationSteps).rounded()
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
    let reduced = Self.decimated(signal)
    decimationFactor = reduced?.factor ?? 1
    let heard =
      signal.channels.count > 2 ? Signal(channels: [signal.mono], rate: signal.rate) : signal
    // No browser decodes a file without a frame.
    let samples = reduced?.samples ?? (heard.frameCount > 0 ? heard.interleaved : [0])
    rate = heard.rate
    do throws(SoundFileError) {
      flacBytes = try SoundFileWriter.bytes(
        of: samples.span,
        format: SoundFileFormat(container: .flac, sampleFormat: reduced == nil ? .s16 : .s24),
        rate: Int(heard.rate.rounded()),
        channelCount: heard.frameCount > 0 ? max(1, heard.channels.count) : 1)
    } catch {
      throw ReviewPageError(.notDrawn, error.description)
    }
  }

  /// Refuses a page whose sounds would be too much for a browser.
  static func checkTotalSize(
    of sounds: [EmbeddedSound], takeCount: Int, maximumByteCount: Int = maximumByteCount
  )
    throws(ReviewPageError)
  {
    let size = sounds.reduce(0) { $0 + $1.encodedLength }
    guard size > maximumByteCount else { return }
    throw ReviewPageError(
      .tooLarge,
      """
      the sound of \(takeCount) takes would make a page of \(size / 1_000) kB; the limit is \
      \(maximumByteCount / 1_000) kB; use fewer or shorter takes
      """
    )
  }

  var encodedLength: Int { Base64.encodedLength(ofByteCount: flacBytes.count) }

  func element(id: String) -> [UInt8] {
    let rate = NumberFormatting.rounded(rate, places: 0)
    let times = decimationFactor > 1 ? " data-factor=\"\(decimationFactor)\"" : ""
    let start = "<script type=\"text/plain\" id=\"\(id)\" data-rate=\"\(rate)\"\(times)>"
    return Array(start.utf8) + Base64.encoded(flacBytes) + Array("</script>\n".utf8)
  }
}

/// What a page plays of one take.
public struct PageSounds: Sendable {
  /// What is sent to the actuator.
  public var actuator: Signal
  /// What small speakers play instead, or nil where nothing is made for them.
  public var speaker: Signal?

  /// The share of a sound's power that a lower rate may lose: −40 dB.
  private static let maximumLostPowerRatio = 1e-4
  /// The share of a rate up to which resampling and FLAC keep everything.
  private static let passbandRatio = 0.45

  /// Makes the sounds of a take.
  public init(actuator: Signal, speaker: Signal? = nil) {
    self.actuator = actuator
    self.speaker = speaker
  }

  /// The lowest rate, in hertz, at which a page holds a signal but for −40 dB of its power: 8 kHz
  /// for patterns without sounds of their own. Time grows with the signal's length.
  public static func minimumRate(for signal: Signal) -> Double {
    let spectrum = Spectrum(of: signal, window: 0.1)
    let total = spectrum.power
    let top = signal.rate / 2
    for rate in EmbeddedSound.rates where rate < signal.rate {
      let edge = passbandRatio * rate
      if spectrum.power(in: edge...max(edge, top)) <= total * maximumLostPowerRatio {
        return rate
      }
    }
    return EmbeddedSound.rates.last { $0 <= signal.rate } ?? signal.rate
  }
}
