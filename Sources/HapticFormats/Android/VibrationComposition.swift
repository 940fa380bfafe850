internal import HapticModel

/// Makes an effect into layers.
struct VibrationComposition {
  /// The layers, with the points of a loop where the effect repeats.
  private(set) var composition = HapticComposition(layers: [.init(HapticPattern())])
  /// What was not kept.
  private(set) var losses = LossLog()

  private let law: AmplitudeLaw
  private let scale = SharpnessScale.phone
  private var builder = LayerBuilder()
  /// Losses of events, by their numbers in the builder.
  private var eventLosses: [(event: Int, message: String, size: Double?)] = []
  /// Milliseconds of what was added.
  private var time = 0
  /// Milliseconds at which the last event ends.
  private var end = 0
  private var loop: HapticComposition.LoopPoints?
  /// Whether curves of sharpness are in use, so that every event with curves needs one.
  private let hasTones: Bool

  /// How far the sharpness of a line between two frequencies may be from the exact one.
  private static let toneTolerance = 0.002
  /// Milliseconds of a transient, for where it ends.
  private static let transientLength = 12

  /// The layers of an effect; nil is an effect without content.
  init(_ effect: VibrationEffect?, law: AmplitudeLaw) {
    self.law = law
    hasTones = effect?.hasTones ?? false
    if let effect { add(effect) }
    let (layers, references) = builder.build()
    for loss in eventLosses {
      losses.add(.approximated, .event(references[loss.event]), loss.message, size: loss.size)
    }
    if loop == nil, time > end {
      losses.add(
        .dropped, .composition, "silence at the end, in milliseconds, is left out",
        size: Double(time - end))
    }
    composition = HapticComposition(layers: layers, loop: loop)
  }

  private mutating func add(_ effect: VibrationEffect) {
    switch effect {
    case .predefined(let name):
      add(VibrationPrimitives.shape(of: name), scale: 1, name.rawValue)
      time = max(time, end)
    case .primitives(let primitives): add(primitives)
    case .waveform(let steps, let repeatIndex): add(steps, repeatIndex)
    case .basicEnvelope(let sharpness, let points): add(points, sharpness)
    case .waveformEnvelope(let hertz, let points): add(points, hertz)
    case .repeating(let preamble, let repeating):
      if let preamble { add(preamble) }
      let start = time
      add(repeating)
      loop = .init(start: Double(start) / 1000, end: Double(time) / 1000)
    }
  }

  // MARK: Approximations

  private mutating func add(_ primitives: [VibrationEffect.Primitive]) {
    var previous = time
    for primitive in primitives {
      let start = (primitive.isFromStart ? previous : time) + primitive.delay
      let shape = VibrationPrimitives.shape(of: primitive.name)
      previous = start
      time = start
      add(shape, scale: primitive.scale, primitive.name.rawValue)
      time = start + shape.length
    }
    end = max(end, time)
  }

  private mutating func add(
    _ shape: VibrationPrimitives.Shape, scale: Float, _ name: String
  ) {
    let message = "\(name) is a recording of the device; it is approximated"
    for transient in shape.transients {
      let start = time + transient.delay
      let index = builder.add(
        HapticEvent(
          kind: .hapticTransient, time: Double(start) / 1000,
          parameters: [
            .hapticIntensity: transient.intensity * scale, .hapticSharpness: transient.sharpness,
          ]))
      eventLosses.append((index, message, nil))
      end = max(end, start + Self.transientLength)
    }
    guard let swell = shape.swell, let last = swell.points.last else { return }
    let index = add(
      duration: last.time, intensity: scale, sharpness: swell.sharpness,
      gains: swell.points.map { ($0.time, $0.intensity) }, tones: nil)
    eventLosses.append((index, message, nil))
  }

  // MARK: Steps

  private mutating func add(_ steps: [VibrationEffect.Step], _ repeatIndex: Int?) {
    if steps.contains(where: { $0.amplitude == nil && $0.duration > 0 }) {
      losses.add(
        .approximated, .composition, "the default amplitude is the device's; full amplitude is read"
      )
    }
    var run: [(amplitude: Int, duration: Int)] = []
    var loopStart: Int?
    for (index, step) in steps.enumerated() {
      if index == repeatIndex {
        flush(&run)
        loopStart = time
      }
      let amplitude = step.amplitude ?? VibrationEffect.fullAmplitude
      guard step.duration > 0 else { continue }
      if amplitude == 0 {
        flush(&run)
        time += step.duration
      } else if let last = run.last, last.amplitude == amplitude {
        run[run.count - 1].duration += step.duration
      } else {
        run.append((amplitude, step.duration))
      }
    }
    flush(&run)
    if let loopStart {
      loop = .init(start: Double(loopStart) / 1000, end: Double(time) / 1000)
    }
  }

  /// Adds levels that follow each other without silence as one event.
  private mutating func flush(_ run: inout [(amplitude: Int, duration: Int)]) {
    defer { run = [] }
    let levels = run.map { step in
      let amplitude = Double(step.amplitude) / Double(VibrationEffect.fullAmplitude)
      return (duration: step.duration, value: Float(law.intensity(ofAmplitude: amplitude)))
    }
    guard let first = levels.first else { return }
    let total = levels.reduce(0) { $0 + $1.duration }
    if levels.count == 1 {
      builder.add(
        HapticEvent(
          kind: .hapticContinuous, time: Double(time) / 1000, duration: Double(total) / 1000,
          parameters: [.hapticIntensity: first.value]))
      time += total
      end = max(end, time)
      return
    }
    var gains: [(Int, Float)] = []
    var place = 0
    for level in levels {
      gains.append((place, level.value))
      place += level.duration
      gains.append((place, level.value))
    }
    add(duration: total, intensity: 1, sharpness: nil, gains: gains, tones: nil)
    time += total
  }

  // MARK: Envelopes

  private mutating func add(_ points: [VibrationEffect.BasicPoint], _ initial: Float?) {
    var gains: [(Int, Float)] = [(0, 0)]
    var tones: [(Int, Float)] = [(0, initial ?? points.first?.sharpness ?? 0)]
    var place = 0
    for point in points {
      place += point.duration
      gains.append((place, point.intensity))
      tones.append((place, point.sharpness))
    }
    add(duration: place, intensity: 1, sharpness: 0, gains: gains, tones: tones)
    time += place
  }

  private mutating func add(_ points: [VibrationEffect.WaveformPoint], _ initial: Float?) {
    var gains: [(Int, Float)] = [(0, 0)]
    var hertz = Double(initial ?? points.first?.hertz ?? 1)
    var excess = 0.0
    func tone(_ hertz: Double) -> Float {
      excess = max(excess, scale.low - hertz, hertz - scale.high)
      return Float(min(max(scale.sharpness(ofHertz: hertz), 0), 1))
    }
    var tones: [ParameterCurve.ControlPoint] = [.init(time: 0, value: tone(hertz))]
    var place = 0
    for point in points {
      let next = Double(point.hertz)
      // The chord of a logarithm is off by an eighth of the square of the step at most, and an
      // octave and a half is less than a unit of sharpness in natural logarithms.
      let bend = abs(next - hertz) / min(max(min(next, hertz), scale.low), scale.high)
      let wanted = (bend / (8 * Self.toneTolerance).squareRoot()).rounded(.up)
      let count = Int(min(max(wanted, 1), 64))
      for step in 1...count {
        let share = Double(step) / Double(count)
        tones.append(
          .init(
            time: (Double(place) + Double(point.duration) * share) / 1000,
            value: tone(hertz + (next - hertz) * share)))
      }
      hertz = next
      place += point.duration
      gains.append((place, point.amplitude))
    }
    let index = add(
      duration: place, intensity: 1, sharpness: 0, gains: gains, tonePoints: tones,
      interpolation: law == .root ? .squared : .linear)
    if excess > 0 {
      eventLosses.append(
        (
          index,
          "frequencies outside \(Int(scale.low)) to \(Int(scale.high)) Hz become the nearest "
            + "sharpness", excess
        ))
    }
    time += place
  }

  @discardableResult
  private mutating func add(
    duration: Int, intensity: Float, sharpness: Float?, gains: [(Int, Float)],
    tones: [(Int, Float)]?
  ) -> Int {
    let points = tones ?? (hasTones ? [(0, 0)] : [])
    return add(
      duration: duration, intensity: intensity, sharpness: sharpness, gains: gains,
      tonePoints: points.map { .init(time: Double($0.0) / 1000, value: $0.1) },
      interpolation: .linear)
  }

  private mutating func add(
    duration: Int, intensity: Float, sharpness: Float?, gains: [(Int, Float)],
    tonePoints: [ParameterCurve.ControlPoint], interpolation: ParameterCurve.Interpolation
  ) -> Int {
    let start = Double(time) / 1000
    var parameters: EventParameters = [.hapticIntensity: intensity]
    parameters[.hapticSharpness] = sharpness
    var curves = [
      ParameterCurve(
        id: .hapticIntensityControl, time: start,
        controlPoints: gains.map { .init(time: Double($0.0) / 1000, value: $0.1) },
        interpolation: interpolation)
    ]
    if !tonePoints.isEmpty {
      curves.append(
        ParameterCurve(id: .hapticSharpnessControl, time: start, controlPoints: tonePoints))
    }
    end = max(end, time + duration)
    return builder.add(
      HapticEvent(
        kind: .hapticContinuous, time: start, duration: Double(duration) / 1000,
        parameters: parameters),
      curves: curves, until: Double(time + duration) / 1000)
  }
}

extension VibrationEffect {
  /// Whether the effect moves sharpness.
  fileprivate var hasTones: Bool {
    switch self {
    case .basicEnvelope, .waveformEnvelope: true
    case .repeating(let preamble, let repeating):
      (preamble?.hasTones ?? false) || repeating.hasTones
    case .predefined, .primitives, .waveform: false
    }
  }
}
