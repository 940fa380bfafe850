internal import HapticFormats
internal import HapticModel

/// Converts an Android vibration effect into the layers of a composition.
struct VibrationReader {
  private(set) var composition = HapticComposition(layers: [.init(HapticPattern())])
  private(set) var losses = LossLog()

  private typealias ControlPoints = [ParameterCurve.ControlPoint]

  private let amplitudeMapping: AmplitudeMapping
  private let intensitiesByAmplitudeCode: [Float]
  private let sharpnessScale = SharpnessScale.phone
  private var layerBuilder = ScaledLayerBuilder(scale: .phone)
  /// The losses that concern single events, with the indices of the events in the builder.
  private var eventLosses: [(event: Int, message: String, size: Double?)] = []
  private let recordsLosses: Bool
  /// The total duration of the effects added so far, in milliseconds.
  private var elapsedMilliseconds = 0
  /// The end time of the last event, in milliseconds.
  private var lastEventEndMilliseconds = 0
  private var loopPoints: HapticComposition.LoopPoints?
  /// A Boolean value that indicates whether any event has a sharpness curve.
  ///
  /// If true, every event with curves needs one.
  private let needsSharpnessCurves: Bool

  /// The maximum error in sharpness when a line between two frequencies becomes lines of sharpness.
  private static let sharpnessTolerance = 0.002
  /// The duration assumed for a transient, in milliseconds.
  private static let transientDurationMilliseconds = 12

  /// Converts an effect into layers; nil stands for an effect without content.
  init(_ effect: VibrationEffect?, options: ReadingOptions) {
    let mapping = options.amplitudeMapping
    self.amplitudeMapping = mapping
    intensitiesByAmplitudeCode = (0...VibrationEffect.maximumAmplitudeCode).map {
      Float(
        mapping.intensity(ofAmplitude: Double($0) / Double(VibrationEffect.maximumAmplitudeCode)))
    }
    recordsLosses = options.wantsFindings
    needsSharpnessCurves = effect?.includesSharpness ?? false
    if let effect {
      add(effect)
    }
    let (layers, references) = layerBuilder.build()
    for loss in eventLosses {
      losses.add(.approximated, .event(references[loss.event]), loss.message, size: loss.size)
    }
    if loopPoints == nil, elapsedMilliseconds > lastEventEndMilliseconds {
      losses.add(
        .dropped, .composition, "# ms of trailing silence are omitted",
        size: Double(elapsedMilliseconds - lastEventEndMilliseconds))
    }
    composition = HapticComposition(layers: layers, loop: loopPoints)
  }

  private mutating func add(_ effect: VibrationEffect) {
    switch effect {
    case .predefined(let name):
      addApproximation(VibrationPrimitives.approximation(of: name), scale: 1, name: name)
      elapsedMilliseconds = max(elapsedMilliseconds, lastEventEndMilliseconds)
    case .primitives(let primitives):
      add(primitives)
    case .waveform(let steps, let repeatIndex):
      addWaveform(steps, repeatIndex: repeatIndex)
    case .envelope(isBasic: true, let sharpness, let points):
      addBasicEnvelope(points, sharpness: sharpness)
    case .envelope(isBasic: false, let hertz, let points):
      addWaveformEnvelope(points, hertz: hertz)
    case .repeating(let preamble, let repeating):
      if let preamble {
        add(preamble)
      }
      let start = elapsedMilliseconds
      add(repeating)
      loopPoints = .init(
        startSeconds: Double(start) / 1000, endSeconds: Double(elapsedMilliseconds) / 1000)
    }
  }

  // MARK: Approximations

  private mutating func add(_ primitives: [VibrationEffect.Primitive]) {
    var previousStartMilliseconds = elapsedMilliseconds
    for primitive in primitives {
      let start =
        (primitive.delaysFromPreviousStart ? previousStartMilliseconds : elapsedMilliseconds)
        + primitive.delayMilliseconds
      let shape = VibrationPrimitives.approximation(of: primitive.name)
      previousStartMilliseconds = start
      elapsedMilliseconds = start
      addApproximation(shape, scale: primitive.strengthFactor, name: primitive.name)
      elapsedMilliseconds = start + shape.vibrationDurationMilliseconds
    }
    lastEventEndMilliseconds = max(lastEventEndMilliseconds, elapsedMilliseconds)
  }

  private mutating func addApproximation(
    _ shape: VibrationPrimitives.VibrationApproximation, scale: Float, name: String
  ) {
    let approximationMessage =
      recordsLosses ? "\(name) is an effect of the device; it is approximated" : ""
    for transient in shape.transients {
      let start = elapsedMilliseconds + transient.delay
      let index = layerBuilder.add(
        HapticEvent(
          kind: .hapticTransient, time: Double(start) / 1000,
          parameters: [
            .hapticIntensity: transient.intensity * scale, .hapticSharpness: transient.sharpness,
          ]))
      if recordsLosses {
        eventLosses.append((index, approximationMessage, nil))
      }
      lastEventEndMilliseconds = max(
        lastEventEndMilliseconds, start + Self.transientDurationMilliseconds)
    }
    guard let lastIntensityPoint = shape.intensityPoints.last else { return }
    let eventIndex = addContinuousEvent(
      duration: lastIntensityPoint.time, intensity: scale, sharpness: shape.continuousSharpness,
      gains: shape.intensityPoints.map {
        Self.controlPoint(milliseconds: $0.time, value: $0.intensity)
      })
    if recordsLosses {
      eventLosses.append((eventIndex, approximationMessage, nil))
    }
  }

  // MARK: Steps

  private mutating func addWaveform(_ steps: [VibrationEffect.Step], repeatIndex: Int?) {
    if steps.contains(where: { $0.amplitudeCode == nil && $0.durationMilliseconds > 0 }) {
      losses.add(
        .approximated, .composition,
        "the default amplitude of the device is unknown; full amplitude is used"
      )
    }
    var audibleRun: ControlPoints = []
    var runMilliseconds = 0
    var loopStartMilliseconds: Int?
    for (index, step) in steps.enumerated() {
      if index == repeatIndex {
        addAudibleRun(&audibleRun, duration: &runMilliseconds)
        loopStartMilliseconds = elapsedMilliseconds
      }
      guard step.durationMilliseconds > 0 else { continue }
      let amplitude = step.amplitudeCode ?? VibrationEffect.maximumAmplitudeCode
      if amplitude == 0 {
        addAudibleRun(&audibleRun, duration: &runMilliseconds)
        elapsedMilliseconds += step.durationMilliseconds
        continue
      }
      let intensity = intensitiesByAmplitudeCode[amplitude]
      if audibleRun.last?.value != intensity {
        audibleRun.append(Self.controlPoint(milliseconds: runMilliseconds, value: intensity))
      }
      if audibleRun.count % 2 == 0 {
        audibleRun.removeLast()
      }
      runMilliseconds += step.durationMilliseconds
      audibleRun.append(Self.controlPoint(milliseconds: runMilliseconds, value: intensity))
    }
    addAudibleRun(&audibleRun, duration: &runMilliseconds)
    if let loopStartMilliseconds {
      loopPoints = .init(
        startSeconds: Double(loopStartMilliseconds) / 1000,
        endSeconds: Double(elapsedMilliseconds) / 1000)
    }
  }

  /// Adds contiguous constant levels as one event.
  ///
  /// The event's curve has a point at the start and at the end of each level.
  private mutating func addAudibleRun(_ run: inout ControlPoints, duration length: inout Int) {
    guard let firstPoint = run.first else { return }
    if run.count == 2 {
      layerBuilder.add(
        HapticEvent(
          kind: .hapticContinuous, time: Double(elapsedMilliseconds) / 1000,
          duration: Double(length) / 1000,
          parameters: [.hapticIntensity: firstPoint.value]))
      lastEventEndMilliseconds = max(lastEventEndMilliseconds, elapsedMilliseconds + length)
    } else {
      // A copy has no spare capacity, and the run keeps its memory.
      addContinuousEvent(duration: length, intensity: 1, sharpness: nil, gains: run.map { $0 })
    }
    elapsedMilliseconds += length
    length = 0
    run.removeAll(keepingCapacity: true)
  }

  // MARK: Envelopes

  private mutating func addBasicEnvelope(
    _ points: [VibrationEffect.ControlPoint], sharpness: Float?
  ) {
    var levelPoints = [Self.controlPoint(milliseconds: 0, value: 0)]
    var sharpnessPoints = [
      Self.controlPoint(milliseconds: 0, value: sharpness ?? points.first?.sharpnessOrHertz ?? 0)
    ]
    levelPoints.reserveCapacity(points.count + 1)
    sharpnessPoints.reserveCapacity(points.count + 1)
    var envelopeMilliseconds = 0
    for point in points {
      envelopeMilliseconds += point.rampDurationMilliseconds
      levelPoints.append(Self.controlPoint(milliseconds: envelopeMilliseconds, value: point.level))
      sharpnessPoints.append(
        Self.controlPoint(milliseconds: envelopeMilliseconds, value: point.sharpnessOrHertz))
    }
    addContinuousEvent(
      duration: envelopeMilliseconds, intensity: 1, sharpness: 0, gains: levelPoints,
      tones: sharpnessPoints)
    elapsedMilliseconds += envelopeMilliseconds
  }

  private mutating func addWaveformEnvelope(_ points: [VibrationEffect.ControlPoint], hertz: Float?)
  {
    var levelPoints = [Self.controlPoint(milliseconds: 0, value: 0)]
    let supportedHertz = SharpnessScale.supportedHertz
    var maximumExcessHertz = 0.0
    func clampedHertz(_ stated: Float) -> Double {
      let hertz = SharpnessScale.clampedToSupported(hertz: Double(stated))
      maximumExcessHertz = max(maximumExcessHertz, abs(Double(stated) - hertz))
      return hertz
    }
    func sharpnessValue(_ hertz: Double) -> Float {
      Float(sharpnessScale.sharpness(ofHertz: hertz))
    }
    var hertz = clampedHertz(hertz ?? points.first?.sharpnessOrHertz ?? 1)
    var sharpnessPoints = [Self.controlPoint(milliseconds: 0, value: sharpnessValue(hertz))]
    var envelopeMilliseconds = 0
    for point in points {
      let next = clampedHertz(point.sharpnessOrHertz)
      // The error of a chord of the natural logarithm is at most an eighth of the squared relative
      // step. The scale divides by ln(230/80) > 1, so the error of the sharpness is smaller still.
      let bend = abs(next - hertz) / min(next, hertz)
      let idealCount = (bend / (8 * Self.sharpnessTolerance).squareRoot()).rounded(.up)
      let count = FrameConversion.clampedInteger(idealCount.rounded(.down), in: 1...64)
      for step in 1...count {
        let fraction = Double(step) / Double(count)
        sharpnessPoints.append(
          .init(
            time: (Double(envelopeMilliseconds) + Double(point.rampDurationMilliseconds) * fraction)
              / 1000,
            value: sharpnessValue(hertz + (next - hertz) * fraction)))
      }
      hertz = next
      envelopeMilliseconds += point.rampDurationMilliseconds
      levelPoints.append(Self.controlPoint(milliseconds: envelopeMilliseconds, value: point.level))
    }
    let eventIndex = addContinuousEvent(
      duration: envelopeMilliseconds, intensity: 1, sharpness: 0, gains: levelPoints,
      tones: sharpnessPoints,
      interpolation: amplitudeMapping == .root ? .squared : .linear, statesHertz: true)
    if maximumExcessHertz > 0 {
      eventLosses.append(
        (
          eventIndex,
          """
          frequencies outside \(Int(supportedHertz.lowerBound)) to \
          \(Int(supportedHertz.upperBound)) Hz are clamped by up to # Hz
          """,
          maximumExcessHertz
        ))
    }
    elapsedMilliseconds += envelopeMilliseconds
  }

  private static func controlPoint(milliseconds: Int, value: Float) -> ParameterCurve.ControlPoint {
    .init(time: Double(milliseconds) / 1000, value: value)
  }

  @discardableResult private mutating func addContinuousEvent(
    duration: Int, intensity: Float, sharpness: Float?, gains: ControlPoints,
    tones: ControlPoints = [],
    interpolation: ParameterCurve.Interpolation = .linear, statesHertz: Bool = false
  ) -> Int {
    let startSeconds = Double(elapsedMilliseconds) / 1000
    var eventParameters: EventParameters = [.hapticIntensity: intensity]
    eventParameters[.hapticSharpness] = sharpness
    var parameterCurves = [
      ParameterCurve(
        id: .hapticIntensityControl, time: startSeconds, controlPoints: gains,
        interpolation: interpolation
      )
    ]
    if !tones.isEmpty || needsSharpnessCurves {
      parameterCurves.append(
        ParameterCurve(
          id: .hapticSharpnessControl, time: startSeconds,
          controlPoints: tones.isEmpty ? [Self.controlPoint(milliseconds: 0, value: 0)] : tones))
    }
    lastEventEndMilliseconds = max(lastEventEndMilliseconds, elapsedMilliseconds + duration)
    return layerBuilder.add(
      HapticEvent(
        kind: .hapticContinuous, time: startSeconds, duration: Double(duration) / 1000,
        parameters: eventParameters),
      curves: parameterCurves, until: Double(elapsedMilliseconds + duration) / 1000,
      statesHertz: statesHertz)
  }
}

extension VibrationEffect {
  fileprivate var includesSharpness: Bool {
    switch self {
    case .envelope:
      true
    case .repeating(let preamble, let repeating):
      (preamble?.includesSharpness ?? false) || repeating.includesSharpness
    case .predefined, .primitives, .waveform:
      false
    }
  }
}
