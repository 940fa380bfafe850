internal import HapticFormats
internal import HapticModel

/// Turns notes into events with curves of their own.
struct HapsMapping {
  private typealias Line = [(time: Double, value: Double)]

  /// The most of sharpness between two points of a line of hertz.
  static let toneStep = 0.02
  /// The lines that a cubic segment becomes.
  private static let cubicSteps = 16

  /// How many lines of hertz join two sharpnesses.
  static func steps(between one: Double, and other: Double) -> Int {
    max(1, FrameConversion.integer((abs(one - other) / toneStep).rounded(.up)))
  }

  let law: AmplitudeLaw
  private(set) var builder = LayerBuilder()
  /// The value that each event was read from.
  private(set) var values: [Int] = []
  var losses = LossLog()

  init(law: AmplitudeLaw) { self.law = law }

  /// Adds the notes of all melodies that are not muted.
  mutating func map(_ document: HapsDocument) {
    for melody in document.melodies {
      guard !melody.isMuted else {
        losses.add(.dropped, .composition, "muted melodies are left out")
        continue
      }
      for note in melody.notes { add(note, gain: document.gain * document.vibrationGain * melody.gain * note.gain) }
    }
  }

  private mutating func add(_ note: HapsDocument.Note, gain: Double) {
    let length = note.length ?? max(note.amplitude.last?.time ?? 0, note.frequency.last?.time ?? 0)
    guard !note.isTransient else {
      values.append(note.value)
      builder.add(
        HapticEvent(
          kind: .hapticTransient, time: note.start,
          parameters: [.hapticIntensity: Float(law.intensity(ofAmplitude: clamped(gain))), .hapticSharpness: 0.5]))
      return
    }
    guard length > 0 else { return losses.add(.dropped, .composition, "notes that last no time are silent") }
    var levels: Line = []
    for point in Self.line(note.amplitude, until: length) { levels.append((point.time, clamped(point.value * gain))) }
    if levels.isEmpty { levels = [(0, clamped(gain))] }
    var tones = toned(Self.line(note.frequency, until: length))
    if tones.isEmpty { tones = [(0, 0.5)] }
    var event = HapticEvent(
      kind: .hapticContinuous, time: note.start, duration: length,
      parameters: [.hapticIntensity: 1, .hapticSharpness: 0])
    var curves: [ParameterCurve] = []
    if let level = Self.constant(levels), let tone = Self.constant(tones) {
      event.parameters[.hapticIntensity] = Float(law.intensity(ofAmplitude: level))
      event.parameters[.hapticSharpness] = Float(tone)
    } else {
      // The last value of a curve holds, so all events of a layer need both.
      curves = [
        Self.curve(.hapticIntensityControl, note.start, levels, law == .root ? .squared : .linear),
        Self.curve(.hapticSharpnessControl, note.start, tones, .linear),
      ]
    }
    values.append(note.value)
    builder.add(event, curves: curves, until: note.start + length)
  }

  private mutating func clamped(_ amplitude: Double) -> Double {
    if amplitude > 1 {
      losses.add(
        .approximated, .composition, "amplitudes above 1 are clamped by up to # of full scale", size: amplitude - 1)
    }
    return min(max(amplitude, 0), 1)
  }

  /// The value that all corners have.
  private static func constant(_ line: Line) -> Double? {
    guard let first = line.first else { return nil }
    return line.allSatisfy { $0.value == first.value } ? first.value : nil
  }

  private static func curve(
    _ id: DynamicParameterID, _ start: Double, _ line: Line, _ interpolation: ParameterCurve.Interpolation
  ) -> ParameterCurve {
    ParameterCurve(
      id: id, time: start, controlPoints: line.map { .init(time: $0.time, value: Float($0.value)) },
      interpolation: interpolation)
  }

  /// The corners of keys from 0 to a time, cubic segments as lines; the first and the last value hold.
  private static func line(_ keys: [HapsDocument.Key], until length: Double) -> Line {
    let keys = keys.enumerated().sorted { ($0.element.time, $0.offset) < ($1.element.time, $1.offset) }.map {
      $0.element
    }
    guard let first = keys.first else { return [] }
    var line: Line = first.time > 0 ? [(0, first.value)] : []
    for (index, key) in keys.enumerated() {
      if index > 0 {
        let last = keys[index - 1]
        let span = key.time - last.time
        if let from = last.outSlope, let to = key.inSlope, span > 0,
          abs(from * span - (key.value - last.value)) + abs(to * span - (key.value - last.value)) > 1e-6
        {
          for step in 1..<cubicSteps {
            let x = Double(step) / Double(cubicSteps)
            let (x2, x3) = (x * x, x * x * x)
            let value =
              (2 * x3 - 3 * x2 + 1) * last.value + (x3 - 2 * x2 + x) * span * from + (3 * x2 - 2 * x3) * key.value
              + (x3 - x2) * span * to
            line.append((last.time + x * span, value))
          }
        }
      }
      line.append((key.time, key.value))
    }
    guard let cut = line.firstIndex(where: { $0.time > length }) else { return line }
    if cut > 0, line[cut - 1].time < length {
      let (from, to) = (line[cut - 1], line[cut])
      line[cut] = (length, from.value + (to.value - from.value) * (length - from.time) / (to.time - from.time))
      return Array(line[...cut])
    }
    return Array(line[..<max(cut, 1)])
  }

  /// Lines of hertz as lines of sharpness.
  private mutating func toned(_ line: Line) -> Line {
    func sharpness(_ hertz: Double) -> Double { SharpnessScale.phone.sharpness(ofHertz: max(hertz, 1)) }
    var tones: Line = []
    for (index, point) in line.enumerated() {
      let exact = sharpness(point.value)
      if exact < -1e-6 || exact > 1 + 1e-6 {
        losses.add(
          .approximated, .composition, "frequencies outside 80 to 230 Hz are clamped by up to # Hz",
          size: exact < 0 ? SharpnessScale.phone.low - point.value : point.value - SharpnessScale.phone.high)
      }
      if index > 0 {
        let from = line[index - 1]
        let steps = Self.steps(between: sharpness(from.value), and: exact)
        for step in 1..<steps {
          let share = Double(step) / Double(steps)
          let hertz = from.value + (point.value - from.value) * share
          tones.append((from.time + (point.time - from.time) * share, min(max(sharpness(hertz), 0), 1)))
        }
      }
      tones.append((point.time, min(max(exact, 0), 1)))
    }
    return tones
  }
}

extension HapsDocument {
  /// The document of a composition: transients in one melody, continuous events in as many as sound at once.
  init(of given: HapticComposition, options: WritingOptions, losses: inout LossLog) {
    losses.dropAllButHaptics(of: given)
    let composition = given.unrolled(passes: options.loops, losses: &losses)
    description = [composition.title, composition.notes].compactMap { $0 }.joined(separator: ": ")
    var taps = Melody()
    var lanes: [(end: Double, melody: Melody)] = []
    let sampler = EnvelopeSampler(.amplitude, law: options.amplitude, tolerance: options.tolerance)
    func hertz(_ point: EnvelopePoint) -> Double { SharpnessScale.phone.hertz(ofSharpness: point.sharpness) }
    for envelope in sampler.envelopes(of: composition, losses: &losses) {
      var note = Note(start: envelope.start, length: envelope.end - envelope.start)
      if envelope.kind == .hapticTransient {
        (note.length, note.gain, note.isTransient) = (Self.transientLength, envelope.points[0].level, true)
        let difference = abs(envelope.points[0].sharpness - 0.5)
        if difference > 0 {
          losses.add(
            .approximated, .event(envelope.event), "transients have no sharpness, off by up to #", size: difference)
        }
        taps.notes.append(note)
        continue
      }
      for (index, point) in envelope.points.enumerated() {
        let time = point.time - envelope.start
        note.amplitude.append(Key(time: time, value: point.level))
        if index > 0 {
          let last = envelope.points[index - 1]
          let steps = HapsMapping.steps(between: point.sharpness, and: last.sharpness)
          for step in 1..<steps {
            let middle = EnvelopePoint.between(
              last, point, at: last.time + (point.time - last.time) * Double(step) / Double(steps))
            note.frequency.append(Key(time: middle.time - envelope.start, value: hertz(middle)))
          }
        }
        note.frequency.append(Key(time: time, value: hertz(point)))
      }
      let lane = lanes.firstIndex { $0.end <= envelope.start } ?? lanes.count
      if lane == lanes.count { lanes.append((0, Melody())) }
      lanes[lane].melody.notes.append(note)
      lanes[lane].end = envelope.end
    }
    melodies = [taps] + lanes.map { $0.melody }
  }
}
