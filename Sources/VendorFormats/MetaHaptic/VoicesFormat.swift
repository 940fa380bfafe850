public import HapticFormats
internal import HapticModel
internal import Reading

extension HapticFormat {
  /// The predecessor of the haptic clip, version 0.2 of Lofelt's data model, a text in JSON; only read.
  ///
  /// It is read into the clip that the maker's own upgrade makes of it: a value behind the last point
  /// holds until the duration, and transients stand on points of the amplitude envelope.
  ///
  /// Source: Lofelt/NiceVibrations, 5e58663, `core/datamodel`.
  public static let voices = json(
    "vij", title: "Lofelt voices 0.2", endings: ["vij"], rules: Rule.voices, isMarked: { $0.has("voices") },
    read: { json, options in
      var decoder = VoicesDecoder(json: json)
      let clip = decoder.decode()
      let editor = json.root["metadata"]?["editor"]?.string
      return Examination(
        composition: decoder.log.errorCount == 0 ? HapticComposition(layers: clip.layers(options.amplitude)) : nil,
        findings: decoder.log.findings(in: json, for: options), errorCount: decoder.log.errorCount,
        places: SourcePlaces(
          HapticClipPlaces(
            json: json, amplitude: decoder.amplitudeValue, frequency: decoder.frequencyValue,
            emphases: decoder.transientValues, tapLayer: clip.isTapsAlone ? 0 : 1
          ).place(of:)), details: editor.map { [("editor", $0)] } ?? [])
    })
}

/// Turns the text of a file of voices into a clip, and notes what it finds.
private struct VoicesDecoder {
  private typealias Entry = (time: Double, level: Float, value: JSONValue)

  let json: JSONDocument
  var log = FindingLog()
  var amplitudeValue = 0
  var frequencyValue = 0
  var transientValues: [Int] = []

  mutating func decode() -> HapticClip {
    var clip = HapticClip()
    guard let voices = json.root["voices"], voices.kind == .object, let envelopes = voices["envelopes"],
      envelopes.kind == .array, let transients = voices["transients"], transients.kind == .array
    else {
      log.add(
        .voicesStructure, at: json.root["voices"] ?? json.root,
        "voices must be an object with the arrays \"envelopes\" and \"transients\"")
      return clip
    }
    let lists = Array(envelopes.elements)
    guard let first = lists.first, first.kind == .array, !first.elements.isEmpty else {
      log.add(.voicesStructure, at: envelopes, "there must be an amplitude envelope")
      return clip
    }
    amplitudeValue = first.index
    frequencyValue = first.index
    let duration = json.root["metadata"]?["duration"]?.number ?? 0
    let levels = extended(points(of: first, until: duration), to: duration)
    clip.amplitude = levels.map { HapticClip.Point(time: $0.time, amplitude: $0.level) }
    if lists.count == 2 {
      frequencyValue = lists[1].index
      clip.frequency = extended(points(of: lists[1], until: duration), to: duration).map {
        HapticClip.FrequencyPoint(time: $0.time, frequency: $0.level)
      }
    }
    if log.errorCount == 0 { decodeTransients(Array(transients.elements), transients, &clip) }
    if log.errorCount == 0, let last = clip.amplitude.last, last.time <= clip.amplitude[0].time {
      log.add(.voicesStructure, at: first, "the amplitude envelope lasts no time")
    }
    return clip
  }

  /// The last value repeated at the duration, where that is later.
  private func extended(_ points: [Entry], to duration: Double) -> [Entry] {
    guard var last = points.last, Float(duration) > Float(last.time) else { return points }
    last.time = duration
    return points + [last]
  }

  private mutating func points(of list: JSONValue, until duration: Double?) -> [Entry] {
    var points: [Entry] = []
    var before = 0.0
    for value in list.elements {
      guard let time = value["time"]?.number, let level = value["amplitude"]?.number else {
        log.add(.voicesStructure, at: value, "a point must have the numbers \"time\" and \"amplitude\"")
        continue
      }
      guard time >= before, (0...1).contains(Float(level)), Float(time) <= Float(duration ?? .infinity),
        Float(time).isFinite
      else {
        log.add(
          .voicesRange, at: value,
          "time \(time) or amplitude \(level) is out of range, out of order or behind the duration")
        continue
      }
      before = time
      points.append((time, Float(level) == 0 ? 0 : Float(level), value))
    }
    return points
  }

  /// Pairs amplitudes and frequencies, and puts them on points of the envelope.
  private mutating func decodeTransients(_ lists: [JSONValue], _ owner: JSONValue, _ clip: inout HapticClip) {
    guard !lists.isEmpty else { return }
    guard lists.count == 2 else {
      log.add(.voicesPairs, at: owner, "transients must be two lists: amplitudes and frequencies")
      return
    }
    let levels = points(of: lists[0], until: nil)
    let tones = points(of: lists[1], until: nil)
    guard log.errorCount == 0 else { return }
    guard levels.count == tones.count else {
      log.add(.voicesPairs, at: lists[1], "\(levels.count) amplitudes of transients have \(tones.count) frequencies")
      return
    }
    var points: [HapticClip.Point] = []
    var next = 0
    for (level, tone) in zip(levels, tones) {
      guard level.time == tone.time else {
        log.add(
          .voicesPairs, at: tone.value,
          "the frequency of a transient is at \(tone.time) s, its amplitude at \(level.time) s")
        return
      }
      while next < clip.amplitude.count, clip.amplitude[next].time <= level.time {
        points.append(clip.amplitude[next])
        next += 1
      }
      if points.last?.time != level.time || points.last?.emphasis != nil {
        guard next < clip.amplitude.count || points.last?.time == level.time else {
          log.add(.voicesRange, at: level.value, "a transient is behind the last point")
          return
        }
        let line = EnvelopePoint.between(
          EnvelopePoint(points.last ?? clip.amplitude[0]),
          EnvelopePoint(next < clip.amplitude.count ? clip.amplitude[next] : points[points.count - 1]), at: level.time)
        points.append(.init(time: level.time, amplitude: Float(line.level)))
      }
      let last = points.count - 1
      points[last].emphasis = .init(amplitude: max(level.level, points[last].amplitude), frequency: tone.level)
      transientValues.append(level.value.index)
    }
    clip.amplitude = points + clip.amplitude[next...]
  }
}

extension EnvelopePoint {
  fileprivate init(_ point: HapticClip.Point) {
    self.init(time: point.time, level: Double(point.amplitude), sharpness: 0)
  }
}
