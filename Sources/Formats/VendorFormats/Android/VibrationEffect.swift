internal import HapticFormats
internal import HapticModel

/// An Android vibration.
indirect enum VibrationEffect: Equatable, Sendable {
  /// A device vibration with a name.
  case predefined(String)
  /// A sequence of device vibrations.
  case primitives([Primitive])
  /// A staircase of levels, repeated from an index unless it is nil.
  case waveform([Step], repeatIndex: Int?)
  /// A level and a tone that are linear between control points, from level 0 on: intensity and
  /// sharpness in a basic envelope, amplitude and hertz in a waveform envelope.
  case envelope(isBasic: Bool, initial: Float?, [ControlPoint])
  /// An effect that is followed by a repeating effect.
  case repeating(preamble: VibrationEffect?, VibrationEffect)

  struct Primitive: Equatable, Sendable {
    var name: String
    /// The factor on the strength, 0…1.
    var scale: Float = 1
    /// The delay in milliseconds.
    var delay = 0
    /// A Boolean value that indicates whether the delay starts at the start of the preceding
    /// primitive, rather than at its end.
    var delaysFromPreviousStart = false
  }

  struct Step: Equatable, Sendable {
    /// The duration in milliseconds.
    var duration: Int
    /// The amplitude, 0…255, or nil for the default amplitude of the device.
    var amplitude: Int?
  }

  /// The end of one line of an envelope.
  struct ControlPoint: Equatable, Sendable {
    /// The level, 0…1.
    var level: Float
    /// The sharpness, 0…1, or the frequency in hertz.
    var tone: Float
    /// The duration of the line that ends here, in milliseconds.
    var duration: Int
  }

  /// Returns the names of an envelope and its attributes in vibration XML.
  static func xmlNames(isBasic: Bool) -> (
    element: String, initial: String, level: String, tone: String
  ) {
    isBasic
      ? ("basic-envelope-effect", "initialSharpness", "intensity", "sharpness")
      : ("waveform-envelope-effect", "initialFrequencyHz", "amplitude", "frequencyHz")
  }

  static let fullAmplitude = 255
}

/// Approximations of the vibrations that devices play from their own recordings. Android publishes
/// names and descriptions of them, but no waveforms; the events follow the descriptions, and the
/// durations are estimates.
enum VibrationPrimitives {
  /// An approximation: transients with delays in milliseconds, and a continuous event whose
  /// intensity is linear between points.
  struct Approximation: Sendable {
    /// The time after which the next vibration can begin, in milliseconds.
    var durationMilliseconds: Int
    var transients: [(delay: Int, intensity: Float, sharpness: Float)] = []
    var intensityPoints: [(time: Int, intensity: Float)] = []
    var sharpness: Float = 0.5

    static func transient(_ intensity: Float, sharpness: Float, durationMilliseconds length: Int)
      -> Approximation
    {
      Approximation(durationMilliseconds: length, transients: [(0, intensity, sharpness)])
    }
  }

  /// The names of primitives, which can be composed, in vibration XML.
  static let primitiveNames = [
    "low_tick", "tick", "click", "slow_rise", "quick_rise", "quick_fall", "spin", "thud",
  ]
  static let predefinedNames = ["tick", "click", "heavy_click", "double_click"]

  private static let approximations: [String: Approximation] = [
    "click": .transient(1, sharpness: 0.5, durationMilliseconds: 12),
    "tick": .transient(0.6, sharpness: 0.8, durationMilliseconds: 8),
    "low_tick": .transient(0.4, sharpness: 0.3, durationMilliseconds: 12),
    "heavy_click": .transient(1, sharpness: 0.35, durationMilliseconds: 16),
    "double_click": Approximation(
      durationMilliseconds: 112, transients: [(0, 1, 0.5), (100, 1, 0.5)]),
    "thud": Approximation(
      durationMilliseconds: 80, transients: [(0, 1, 0.05)], intensityPoints: [(0, 1), (80, 0)],
      sharpness: 0.05),
    "slow_rise": Approximation(durationMilliseconds: 500, intensityPoints: [(0, 0), (500, 1)]),
    "quick_rise": Approximation(durationMilliseconds: 150, intensityPoints: [(0, 0), (150, 1)]),
    "quick_fall": Approximation(durationMilliseconds: 100, intensityPoints: [(0, 1), (100, 0)]),
    "spin": Approximation(
      durationMilliseconds: 150, intensityPoints: [(0, 0), (38, 1), (75, 0), (113, 1), (150, 0)]),
  ]

  static func approximation(of name: String) -> Approximation {
    approximations[name] ?? Approximation(durationMilliseconds: 0)
  }

  /// Returns the primitive that is closest to a transient, with its scale and the maximum
  /// difference in intensity and sharpness.
  static func nearest(intensity: Double, sharpness: Double) -> (
    primitive: String, scale: Float, error: Double
  ) {
    let taps = ["click", "tick", "low_tick"].flatMap { name in
      approximation(of: name).transients.map { tap in
        let scale = min(intensity / Double(tap.intensity), 1)
        let error = max(
          abs(intensity - scale * Double(tap.intensity)), abs(sharpness - Double(tap.sharpness)))
        return (primitive: name, scale: Float(scale), error: error)
      }
    }
    return taps.min { $0.error < $1.error } ?? ("click", Float(intensity), 1)
  }
}

/// Converts an effect into layers.
struct VibrationReader {
  private(set) var composition = HapticComposition(layers: [.init(HapticPattern())])
  private(set) var losses = LossLog()

  private typealias Points = [ParameterCurve.ControlPoint]

  private let mapping: AmplitudeMapping
  private let intensitiesByAmplitude: [Float]
  private let scale = SharpnessScale.phone
  private var builder = LayerBuilder()
  /// The losses of events, by their indices in the builder.
  private var eventLosses: [(event: Int, message: String, size: Double?)] = []
  private let wantsLosses: Bool
  /// The duration of the added effects, in milliseconds.
  private var elapsedMilliseconds = 0
  /// The end of the last event, in milliseconds.
  private var lastEventEnd = 0
  private var loop: HapticComposition.LoopPoints?
  /// A Boolean value that indicates whether any event has a sharpness curve, so that every event
  /// with curves needs one.
  private let needsSharpnessCurves: Bool

  /// The maximum error of the sharpness on a line between two frequencies.
  private static let sharpnessTolerance = 0.002
  /// The duration of a transient, in milliseconds, which determines its end.
  private static let transientMilliseconds = 12

  /// Creates the layers of an effect; nil is an effect without content.
  init(_ effect: VibrationEffect?, options: ReadingOptions) {
    let law = options.amplitudeMapping
    self.mapping = law
    intensitiesByAmplitude = (0...VibrationEffect.fullAmplitude).map {
      Float(law.intensity(ofAmplitude: Double($0) / Double(VibrationEffect.fullAmplitude)))
    }
    wantsLosses = options.wantsFindings
    needsSharpnessCurves = effect?.hasSharpness ?? false
    if let effect {
      add(effect)
    }
    let (layers, references) = builder.build()
    for loss in eventLosses {
      losses.add(.approximated, .event(references[loss.event]), loss.message, size: loss.size)
    }
    if loop == nil, elapsedMilliseconds > lastEventEnd {
      losses.add(
        .dropped, .composition, "# ms of silence at the end are left out",
        size: Double(elapsedMilliseconds - lastEventEnd))
    }
    composition = HapticComposition(layers: layers, loop: loop)
  }

  private mutating func add(_ effect: VibrationEffect) {
    switch effect {
    case .predefined(let name):
      add(VibrationPrimitives.approximation(of: name), scale: 1, name)
      elapsedMilliseconds = max(elapsedMilliseconds, lastEventEnd)
    case .primitives(let primitives):
      add(primitives)
    case .waveform(let steps, let repeatIndex):
      add(steps, repeatIndex)
    case .envelope(isBasic: true, let sharpness, let points):
      add(points, sharpness: sharpness)
    case .envelope(isBasic: false, let hertz, let points):
      add(points, hertz: hertz)
    case .repeating(let preamble, let repeating):
      if let preamble {
        add(preamble)
      }
      let start = elapsedMilliseconds
      add(repeating)
      loop = .init(start: Double(start) / 1000, end: Double(elapsedMilliseconds) / 1000)
    }
  }

  // MARK: Approximations

  private mutating func add(_ primitives: [VibrationEffect.Primitive]) {
    var previous = elapsedMilliseconds
    for primitive in primitives {
      let start =
        (primitive.delaysFromPreviousStart ? previous : elapsedMilliseconds) + primitive.delay
      let shape = VibrationPrimitives.approximation(of: primitive.name)
      previous = start
      elapsedMilliseconds = start
      add(shape, scale: primitive.scale, primitive.name)
      elapsedMilliseconds = start + shape.durationMilliseconds
    }
    lastEventEnd = max(lastEventEnd, elapsedMilliseconds)
  }

  private mutating func add(
    _ shape: VibrationPrimitives.Approximation, scale: Float, _ name: String
  ) {
    let message = wantsLosses ? "\(name) is a recording of the device; it is approximated" : ""
    for transient in shape.transients {
      let start = elapsedMilliseconds + transient.delay
      let index = builder.add(
        HapticEvent(
          kind: .hapticTransient, time: Double(start) / 1000,
          parameters: [
            .hapticIntensity: transient.intensity * scale, .hapticSharpness: transient.sharpness,
          ]))
      if wantsLosses {
        eventLosses.append((index, message, nil))
      }
      lastEventEnd = max(lastEventEnd, start + Self.transientMilliseconds)
    }
    guard let last = shape.intensityPoints.last else { return }
    let index = add(
      duration: last.time, intensity: scale, sharpness: shape.sharpness,
      gains: shape.intensityPoints.map {
        Self.controlPoint(milliseconds: $0.time, value: $0.intensity)
      })
    if wantsLosses {
      eventLosses.append((index, message, nil))
    }
  }

  // MARK: Steps

  private mutating func add(_ steps: [VibrationEffect.Step], _ repeatIndex: Int?) {
    if steps.contains(where: { $0.amplitude == nil && $0.duration > 0 }) {
      losses.add(
        .approximated, .composition, "the default amplitude is the device's; full amplitude is read"
      )
    }
    var run: Points = []
    var length = 0
    var loopStart: Int?
    for (index, step) in steps.enumerated() {
      if index == repeatIndex {
        addRun(&run, duration: &length)
        loopStart = elapsedMilliseconds
      }
      guard step.duration > 0 else { continue }
      let amplitude = step.amplitude ?? VibrationEffect.fullAmplitude
      if amplitude == 0 {
        addRun(&run, duration: &length)
        elapsedMilliseconds += step.duration
        continue
      }
      let intensity = intensitiesByAmplitude[amplitude]
      if run.last?.value != intensity {
        run.append(Self.controlPoint(milliseconds: length, value: intensity))
      }
      if run.count % 2 == 0 {
        run.removeLast()
      }
      length += step.duration
      run.append(Self.controlPoint(milliseconds: length, value: intensity))
    }
    addRun(&run, duration: &length)
    if let loopStart {
      loop = .init(start: Double(loopStart) / 1000, end: Double(elapsedMilliseconds) / 1000)
    }
  }

  /// Adds contiguous levels as one event. Each level has a point at its start and one at its end.
  private mutating func addRun(_ run: inout Points, duration length: inout Int) {
    guard let first = run.first else { return }
    if run.count == 2 {
      builder.add(
        HapticEvent(
          kind: .hapticContinuous, time: Double(elapsedMilliseconds) / 1000,
          duration: Double(length) / 1000,
          parameters: [.hapticIntensity: first.value]))
      lastEventEnd = max(lastEventEnd, elapsedMilliseconds + length)
    } else {
      // A copy has no spare capacity, and the run keeps its memory.
      add(duration: length, intensity: 1, sharpness: nil, gains: run.map { $0 })
    }
    elapsedMilliseconds += length
    length = 0
    run.removeAll(keepingCapacity: true)
  }

  // MARK: Envelopes

  private mutating func add(_ points: [VibrationEffect.ControlPoint], sharpness: Float?) {
    var gains = [Self.controlPoint(milliseconds: 0, value: 0)]
    var tones = [Self.controlPoint(milliseconds: 0, value: sharpness ?? points.first?.tone ?? 0)]
    gains.reserveCapacity(points.count + 1)
    tones.reserveCapacity(points.count + 1)
    var place = 0
    for point in points {
      place += point.duration
      gains.append(Self.controlPoint(milliseconds: place, value: point.level))
      tones.append(Self.controlPoint(milliseconds: place, value: point.tone))
    }
    add(duration: place, intensity: 1, sharpness: 0, gains: gains, tones: tones)
    elapsedMilliseconds += place
  }

  private mutating func add(_ points: [VibrationEffect.ControlPoint], hertz: Float?) {
    var gains = [Self.controlPoint(milliseconds: 0, value: 0)]
    var hertz = Double(hertz ?? points.first?.tone ?? 1)
    var excess = 0.0
    func tone(_ hertz: Double) -> Float {
      excess = max(excess, scale.minimumHertz - hertz, hertz - scale.maximumHertz)
      return Float(min(max(scale.sharpness(ofHertz: hertz), 0), 1))
    }
    var tones = [Self.controlPoint(milliseconds: 0, value: tone(hertz))]
    var place = 0
    for point in points {
      let next = Double(point.tone)
      // The error of a chord of the natural logarithm is at most an eighth of the squared relative
      // step. The scale divides by ln(230/80) > 1, so the error of the sharpness is smaller still.
      let bend =
        abs(next - hertz) / min(max(min(next, hertz), scale.minimumHertz), scale.maximumHertz)
      let wanted = (bend / (8 * Self.sharpnessTolerance).squareRoot()).rounded(.up)
      let count = FrameConversion.integer(wanted.rounded(.down), in: 1...64)
      for step in 1...count {
        let share = Double(step) / Double(count)
        tones.append(
          .init(
            time: (Double(place) + Double(point.duration) * share) / 1000,
            value: tone(hertz + (next - hertz) * share)))
      }
      hertz = next
      place += point.duration
      gains.append(Self.controlPoint(milliseconds: place, value: point.level))
    }
    let index = add(
      duration: place, intensity: 1, sharpness: 0, gains: gains, tones: tones,
      interpolation: mapping == .root ? .squared : .linear)
    if excess > 0 {
      eventLosses.append(
        (
          index,
          """
          frequencies up to # Hz outside \(Int(scale.minimumHertz)) to \(Int(scale.maximumHertz)) Hz become the \
          nearest sharpness
          """,
          excess
        ))
    }
    elapsedMilliseconds += place
  }

  private static func controlPoint(milliseconds: Int, value: Float) -> ParameterCurve.ControlPoint {
    .init(time: Double(milliseconds) / 1000, value: value)
  }

  @discardableResult private mutating func add(
    duration: Int, intensity: Float, sharpness: Float?, gains: Points, tones: Points = [],
    interpolation: ParameterCurve.Interpolation = .linear
  ) -> Int {
    let start = Double(elapsedMilliseconds) / 1000
    var parameters: EventParameters = [.hapticIntensity: intensity]
    parameters[.hapticSharpness] = sharpness
    var curves = [
      ParameterCurve(
        id: .hapticIntensityControl, time: start, controlPoints: gains, interpolation: interpolation
      )
    ]
    if !tones.isEmpty || needsSharpnessCurves {
      curves.append(
        ParameterCurve(
          id: .hapticSharpnessControl, time: start,
          controlPoints: tones.isEmpty ? [Self.controlPoint(milliseconds: 0, value: 0)] : tones))
    }
    lastEventEnd = max(lastEventEnd, elapsedMilliseconds + duration)
    return builder.add(
      HapticEvent(
        kind: .hapticContinuous, time: start, duration: Double(duration) / 1000,
        parameters: parameters),
      curves: curves, until: Double(elapsedMilliseconds + duration) / 1000)
  }
}

extension VibrationEffect {
  fileprivate var hasSharpness: Bool {
    switch self {
    case .envelope:
      true
    case .repeating(let preamble, let repeating):
      (preamble?.hasSharpness ?? false) || repeating.hasSharpness
    case .predefined, .primitives, .waveform:
      false
    }
  }
}

/// Converts a composition into a staircase of levels, for devices without envelopes.
struct VibrationSteps {
  private(set) var steps: [VibrationEffect.Step] = []
  /// The index of the level from which the levels repeat, or nil.
  private(set) var repeatIndex: Int?
  private(set) var losses: LossLog
  private var quantizer = Quantizer()

  /// The rendering of Meta's waveforms for Android: an emphasis ducks the envelope and is added to
  /// it. It lasts from 36.4 ms (dull) to 12.1 ms (sharp).
  ///
  /// Source: facebook/meta-haptics-sdk, 41c9dcb, `android_waveform.rs`.
  private enum MetaWaveform {
    static let interval = 0.01
    /// The maximum number of samples. Longer compositions are sampled less often.
    static let maximumCount = 500_000.0
    static let ducking = 0.5
    static let dullDuration = 0.0364
    static let sharpDuration = 0.0121
  }

  private struct Emphasis {
    var start: Double
    var end: Double
    var level: Double
  }

  private var emphases: [Emphasis] = []
  private var points: [EnvelopePoint] = []

  /// Creates the levels of a composition. Levels that are constant between jumps are written as
  /// they are; other levels are sampled.
  ///
  /// - Parameters:
  ///   - composition: The composition.
  ///   - options: The writing options.
  ///   - isContinuous: A Boolean value that indicates whether no level is 0, as in files of Haptics
  ///     Studio: a motor that stops needs time to restart.
  ///   - losses: The losses so far.
  init(
    _ composition: HapticComposition, options: WritingOptions, isContinuous: Bool,
    losses known: LossLog = LossLog()
  ) {
    losses = known
    losses.addNonHapticLosses(of: composition)
    let sampler = EnvelopeSampler(
      .amplitude, mapping: options.amplitudeMapping, tolerance: options.tolerance)
    let envelopes = sampler.envelopes(of: composition)
    let merged = MergedEnvelope(envelopes, sampler: sampler)
    points = merged.points
    losses.add(merged)
    for envelope in envelopes where envelope.kind == .hapticTransient {
      let point = envelope.points[0]
      let length =
        MetaWaveform.dullDuration + (MetaWaveform.sharpDuration - MetaWaveform.dullDuration)
        * point.sharpness
      if let last = emphases.last, last.end > point.time {
        emphases[emphases.count - 1].end = point.time
      }
      emphases.append(Emphasis(start: point.time, end: point.time + length, level: point.level))
      losses.add(
        .approximated, .event(envelope.event), "a transient is written as a level of 12 to 36 ms")
    }
    let hasSharpness = composition.layers.contains { layer in
      layer.pattern.events.contains { $0.kind.isHaptic && $0.parameters[.hapticSharpness] != nil }
    }
    if hasSharpness {
      losses.add(.dropped, .composition, "sharpness cannot be written")
    }
    let loop = composition.loop
    var end = max(points.last?.time ?? 0, emphases.last?.end ?? 0)
    var marks: [Double] = []
    if let loop {
      end = loop.end ?? composition.duration
      marks = [min(max(loop.start, 0), end)]
    }
    end = min(end, FrameConversion.maximumSeconds)
    let isFlat = zip(points, points.dropFirst()).allSatisfy {
      $0.level == $1.level || $0.time == $1.time
    }
    var times: [Double]
    if isFlat, !isContinuous {
      times = [0] + points.map { $0.time } + emphases.flatMap { [$0.start, $0.end] }
    } else {
      let interval = max(
        1 / min(max(options.signalRate ?? 1 / MetaWaveform.interval, 1), 1000),
        end / MetaWaveform.maximumCount)
      times =
        (0..<FrameConversion.integer(
          (end / interval).rounded(.up), in: 0...Int(MetaWaveform.maximumCount)))
        .map {
          Double($0) * interval
        }
      losses.add(
        .approximated, .composition, "levels are sampled every # ms", size: interval * 1000)
    }
    times = (times.filter { $0 < end } + marks + [end]).sorted()
    var levelError = 0.0
    var cursor = (point: 0, emphasis: 0)
    for (from, to) in zip(times, times.dropFirst()) {
      let begin = quantizer.milliseconds(from)
      let finish = FrameConversion.integer(to * 1000)
      guard finish > begin else { continue }
      let level = self.level(at: isFlat && !isContinuous ? (from + to) / 2 : from, cursor: &cursor)
      let exact = min(level, 1) * Double(VibrationEffect.fullAmplitude)
      // Truncated as in Meta's renderer, except if rounding left a whole number slightly too small.
      let amplitudes = 0...VibrationEffect.fullAmplitude
      var amplitude = FrameConversion.integer(
        isFlat && !isContinuous ? exact : (exact + 1e-4).rounded(.down), in: amplitudes)
      if isContinuous || (amplitude == 0 && level > 0) {
        amplitude = max(amplitude, 1)
      }
      levelError = max(levelError, abs(exact - Double(amplitude)))
      let startsLoop = loop != nil && repeatIndex == nil && from >= marks[0]
      if startsLoop {
        repeatIndex = steps.count
      }
      if let last = steps.last, last.amplitude == amplitude, !startsLoop, !isContinuous {
        steps[steps.count - 1].duration += finish - begin
      } else {
        steps.append(.init(duration: finish - begin, amplitude: amplitude))
      }
    }
    if steps.isEmpty {
      steps = [.init(duration: 1, amplitude: 0)]
    }
    if loop != nil, repeatIndex == nil {
      repeatIndex = steps.count - 1
    }
    quantizer.reportErrors(to: &losses)
    if levelError > 1e-3 {
      losses.add(
        .approximated, .composition,
        "levels are rounded to 255ths of full amplitude, by up to # of one",
        size: levelError)
    }
  }

  /// Returns the amplitude at a time that is not before that of the preceding call.
  private func level(at time: Double, cursor: inout (point: Int, emphasis: Int)) -> Double {
    var level = points.point(at: time, cursor: &cursor.point)?.level ?? 0
    while cursor.emphasis < emphases.count, emphases[cursor.emphasis].end <= time {
      cursor.emphasis += 1
    }
    if cursor.emphasis < emphases.count, emphases[cursor.emphasis].start <= time {
      level = level * MetaWaveform.ducking + emphases[cursor.emphasis].level
    }
    return level
  }
}
