internal import HapticFormats
internal import HapticModel

/// Makes an effect into layers.
struct VibrationComposition {
  /// The layers, with the points of a loop where the effect repeats.
  private(set) var composition = HapticComposition(layers: [.init(HapticPattern())])
  /// What was not kept.
  private(set) var losses = LossLog()

  private typealias Points = [ParameterCurve.ControlPoint]

  private let law: AmplitudeLaw
  /// The intensity of each amplitude.
  private let intensities: [Float]
  private let scale = SharpnessScale.phone
  private var builder = LayerBuilder()
  /// Losses of events, by their numbers in the builder.
  private var eventLosses: [(event: Int, message: String, size: Double?)] = []
  private let wantsLosses: Bool
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
  init(_ effect: VibrationEffect?, options: ReadingOptions) {
    let law = options.amplitude
    self.law = law
    intensities = (0...VibrationEffect.fullAmplitude).map {
      Float(law.intensity(ofAmplitude: Double($0) / Double(VibrationEffect.fullAmplitude)))
    }
    wantsLosses = options.wantsFindings
    hasTones = effect?.hasTones ?? false
    if let effect { add(effect) }
    let (layers, references) = builder.build()
    for loss in eventLosses { losses.add(.approximated, .event(references[loss.event]), loss.message, size: loss.size) }
    if loop == nil, time > end {
      losses.add(.dropped, .composition, "silence at the end, in milliseconds, is left out", size: Double(time - end))
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

  private mutating func add(_ shape: VibrationPrimitives.Shape, scale: Float, _ name: String) {
    let message = wantsLosses ? "\(name) is a recording of the device; it is approximated" : ""
    for transient in shape.transients {
      let start = time + transient.delay
      let index = builder.add(
        HapticEvent(
          kind: .hapticTransient, time: Double(start) / 1000,
          parameters: [.hapticIntensity: transient.intensity * scale, .hapticSharpness: transient.sharpness]))
      if wantsLosses { eventLosses.append((index, message, nil)) }
      end = max(end, start + Self.transientLength)
    }
    guard let swell = shape.swell, let last = swell.points.last else { return }
    let index = add(
      duration: last.time, intensity: scale, sharpness: swell.sharpness,
      gains: swell.points.map { Self.point($0.time, $0.intensity) })
    if wantsLosses { eventLosses.append((index, message, nil)) }
  }

  // MARK: Steps

  private mutating func add(_ steps: [VibrationEffect.Step], _ repeatIndex: Int?) {
    if steps.contains(where: { $0.amplitude == nil && $0.duration > 0 }) {
      losses.add(.approximated, .composition, "the default amplitude is the device's; full amplitude is read")
    }
    var run: Points = []
    var length = 0
    var loopStart: Int?
    for (index, step) in steps.enumerated() {
      if index == repeatIndex {
        flush(&run, &length)
        loopStart = time
      }
      guard step.duration > 0 else { continue }
      let amplitude = step.amplitude ?? VibrationEffect.fullAmplitude
      if amplitude == 0 {
        flush(&run, &length)
        time += step.duration
        continue
      }
      let intensity = intensities[amplitude]
      if run.last?.value != intensity { run.append(Self.point(length, intensity)) }
      if run.count % 2 == 0 { run.removeLast() }
      length += step.duration
      run.append(Self.point(length, intensity))
    }
    flush(&run, &length)
    if let loopStart { loop = .init(start: Double(loopStart) / 1000, end: Double(time) / 1000) }
  }

  /// Adds levels that follow each other without silence as one event: each has a point at its start and one
  /// at its end.
  private mutating func flush(_ run: inout Points, _ length: inout Int) {
    guard let first = run.first else { return }
    if run.count == 2 {
      builder.add(
        HapticEvent(
          kind: .hapticContinuous, time: Double(time) / 1000, duration: Double(length) / 1000,
          parameters: [.hapticIntensity: first.value]))
      end = max(end, time + length)
    } else {
      // A copy has no room to spare, and the run keeps its memory.
      add(duration: length, intensity: 1, sharpness: nil, gains: run.map { $0 })
    }
    time += length
    length = 0
    run.removeAll(keepingCapacity: true)
  }

  // MARK: Envelopes

  private mutating func add(_ points: [VibrationEffect.BasicPoint], _ initial: Float?) {
    var gains = [Self.point(0, 0)]
    var tones = [Self.point(0, initial ?? points.first?.sharpness ?? 0)]
    gains.reserveCapacity(points.count + 1)
    tones.reserveCapacity(points.count + 1)
    var place = 0
    for point in points {
      place += point.duration
      gains.append(Self.point(place, point.intensity))
      tones.append(Self.point(place, point.sharpness))
    }
    add(duration: place, intensity: 1, sharpness: 0, gains: gains, tones: tones)
    time += place
  }

  private mutating func add(_ points: [VibrationEffect.WaveformPoint], _ initial: Float?) {
    var gains = [Self.point(0, 0)]
    var hertz = Double(initial ?? points.first?.hertz ?? 1)
    var excess = 0.0
    func tone(_ hertz: Double) -> Float {
      excess = max(excess, scale.low - hertz, hertz - scale.high)
      return Float(min(max(scale.sharpness(ofHertz: hertz), 0), 1))
    }
    var tones = [Self.point(0, tone(hertz))]
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
            time: (Double(place) + Double(point.duration) * share) / 1000, value: tone(hertz + (next - hertz) * share)))
      }
      hertz = next
      place += point.duration
      gains.append(Self.point(place, point.amplitude))
    }
    let index = add(
      duration: place, intensity: 1, sharpness: 0, gains: gains, tones: tones,
      interpolation: law == .root ? .squared : .linear)
    if excess > 0 {
      eventLosses.append(
        (
          index, "frequencies outside \(Int(scale.low)) to \(Int(scale.high)) Hz become the nearest " + "sharpness",
          excess
        ))
    }
    time += place
  }

  private static func point(_ milliseconds: Int, _ value: Float) -> ParameterCurve.ControlPoint {
    .init(time: Double(milliseconds) / 1000, value: value)
  }

  @discardableResult private mutating func add(
    duration: Int, intensity: Float, sharpness: Float?, gains: Points, tones: Points = [],
    interpolation: ParameterCurve.Interpolation = .linear
  ) -> Int {
    let start = Double(time) / 1000
    var parameters: EventParameters = [.hapticIntensity: intensity]
    parameters[.hapticSharpness] = sharpness
    var curves = [
      ParameterCurve(id: .hapticIntensityControl, time: start, controlPoints: gains, interpolation: interpolation)
    ]
    if !tones.isEmpty || hasTones {
      curves.append(
        ParameterCurve(
          id: .hapticSharpnessControl, time: start, controlPoints: tones.isEmpty ? [Self.point(0, 0)] : tones))
    }
    end = max(end, time + duration)
    return builder.add(
      HapticEvent(kind: .hapticContinuous, time: start, duration: Double(duration) / 1000, parameters: parameters),
      curves: curves, until: Double(time + duration) / 1000)
  }
}

extension VibrationEffect {
  /// Whether the effect moves sharpness.
  fileprivate var hasTones: Bool {
    switch self {
    case .basicEnvelope, .waveformEnvelope: true
    case .repeating(let preamble, let repeating): (preamble?.hasTones ?? false) || repeating.hasTones
    case .predefined, .primitives, .waveform: false
    }
  }
}
