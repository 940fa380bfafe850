public import HapticFormats
internal import HapticModel
internal import Reading

extension HapticFormat {
  /// The pattern format of the library Pulsar for iOS, Android, React Native, and Flutter: a JSON
  /// text with a continuous and a discrete pattern. Times are in milliseconds.
  ///
  /// As in the library, amplitude is intensity and frequency is sharpness, and the continuous
  /// pattern plays only if it has points of both. Source: software-mansion/pulsar, f61b7ea, MIT
  /// license.
  public static let pulsar = json(
    "pulsar", title: "Pulsar", endings: ["pulsar.json"], rules: Rule.pulsarRules,
    resolution: FormatResolution(intensityStep: 0.005, sharpnessStep: 0.01),
    matches: { $0.hasRootKey("continuousPattern") || $0.hasRootKey("discretePattern") },
    read: { json, options in
      var reader = PulsarReader()
      var pattern = PulsarPattern()
      PulsarReader.fileSchema.read(json.root, into: &pattern, reader: &reader)
      reader.checkTimeUnit(of: pattern, in: json)
      let taps = pattern.taps.map { $0.jsonValueIndex }
      let losses = pattern.losses
      let layers = pattern.layers
      return ReadResult(
        HapticComposition(layers: layers, title: pattern.name, notes: pattern.description),
        of: json, log: reader.findingLog, options: options, losses: losses,
        sourceMap: SourceMap(
          root: json.root.nodeIndex,
          events: layers.count > 1 || taps.isEmpty ? [[json.root.nodeIndex], taps] : [taps]
        ) { json.location(ofValue: $0) })
    },
    write: { (composition, options) throws(InputError) in
      try composition.checkFinite(.pulsarValueOutOfRange)
      var losses = LossLog()
      let played = composition.unrolled(passCount: options.loopPassCount, losses: &losses)
      let pattern = PulsarPattern(of: played, options: options, losses: &losses)
      return WrittenFiles(
        [WrittenFiles.File(PulsarReader.fileSchema.text(pattern))],
        losses: losses.lossesWithOmittedCounts())
    }, shape: { PulsarReader.fileSchema.schema })
}

/// A haptic pattern of the library Pulsar.
private struct PulsarPattern: Sendable {
  /// A point of the continuous pattern: a level or a normalized frequency at a time in
  /// milliseconds.
  struct Point: Equatable, Sendable {
    var timeMilliseconds = 0.0
    var level = 0.0
  }

  /// A transient of the discrete pattern, at a time in milliseconds.
  struct Tap: Equatable, Sendable {
    var timeMilliseconds = 0.0
    var amplitude = 0.0
    var normalizedFrequency = 0.0
    var jsonValueIndex = 0
  }

  var amplitudePoints: [Point] = []
  var frequencyPoints: [Point] = []
  var taps: [Tap] = []
  var name: String?
  var description: String?

  init() {}

  /// Creates the pattern for a composition.
  ///
  /// It consists of the sum of the continuous events and of the transients.
  init(of composition: HapticComposition, options: WritingOptions, losses: inout LossLog) {
    losses.addNonHapticLosses(of: composition)
    name = composition.title
    description = composition.notes
    let envelopeSampler = EnvelopeSampler(
      .intensity, levelTolerance: options.curveToleranceFraction)
    let envelopes = envelopeSampler.envelopes(of: composition, losses: &losses)
    let mergedEnvelope = MergedEnvelope(envelopes, envelopeSampler: envelopeSampler)
    losses.add(mergedEnvelope)
    if let firstPoint = mergedEnvelope.mergedPoints.first, firstPoint.timeSeconds > 0 {
      amplitudePoints = [Point(), Point(timeMilliseconds: firstPoint.timeSeconds * 1_000)]
      frequencyPoints = [Point(level: firstPoint.sharpness)]
    }
    for point in mergedEnvelope.mergedPoints {
      amplitudePoints.append(Point(timeMilliseconds: point.timeSeconds * 1_000, level: point.level))
      frequencyPoints.append(
        Point(timeMilliseconds: point.timeSeconds * 1_000, level: point.sharpness))
    }
    for envelope in envelopes where envelope.kind == .hapticTransient {
      let point = envelope.points[0]
      taps.append(
        Tap(
          timeMilliseconds: point.timeSeconds * 1_000, amplitude: point.level,
          normalizedFrequency: point.sharpness))
    }
  }

  /// The duration of the continuous pattern, in milliseconds; 0 if the library does not play it.
  private var continuousDurationMilliseconds: Double {
    guard !amplitudePoints.isEmpty, !frequencyPoints.isEmpty else { return 0 }
    return (amplitudePoints + frequencyPoints).map { $0.timeMilliseconds }.max() ?? 0
  }

  /// The pattern as two layers: the continuous pattern as one event with curves, and the
  /// transients.
  var layers: [HapticComposition.Layer] {
    var layers: [HapticComposition.Layer] = []
    let patternMilliseconds = continuousDurationMilliseconds
    if patternMilliseconds > 0 {
      let event = HapticEvent(
        kind: .hapticContinuous, time: 0, duration: patternMilliseconds / 1_000,
        parameters: [.hapticIntensity: 1, .hapticSharpness: 0])
      layers.append(
        HapticComposition.Layer(
          HapticPattern(
            events: [event],
            curves: [
              Self.curve(.hapticIntensityControl, amplitudePoints),
              Self.curve(.hapticSharpnessControl, frequencyPoints),
            ])))
    }
    let transients = taps.map { tap in
      HapticEvent(
        kind: .hapticTransient, time: tap.timeMilliseconds / 1_000,
        parameters: [
          .hapticIntensity: Float(tap.amplitude), .hapticSharpness: Float(tap.normalizedFrequency),
        ])
    }
    if !transients.isEmpty || layers.isEmpty {
      layers.append(HapticComposition.Layer(HapticPattern(events: transients)))
    }
    return layers
  }

  /// The losses for points that the library does not play.
  var losses: [Loss] {
    guard amplitudePoints.isEmpty != frequencyPoints.isEmpty else { return [] }
    return [
      Loss(
        .dropped, .composition,
        "the continuous pattern does not play without points of both amplitude and frequency")
    ]
  }

  private static func curve(_ id: DynamicParameterID, _ points: [Point]) -> ParameterCurve {
    let sortedIndices = points.indices.sorted {
      (points[$0].timeMilliseconds, $0) < (points[$1].timeMilliseconds, $1)
    }
    return ParameterCurve(
      id: id, time: 0,
      controlPoints: sortedIndices.map {
        .init(time: points[$0].timeMilliseconds / 1_000, value: Float(points[$0].level))
      })
  }
}

/// Reads and writes the JSON of a Pulsar pattern.
private struct PulsarReader: JSONSchemaReader {
  private typealias ObjectSchema<Owner> = JSONObjectSchema<Owner, PulsarReader>

  static let omitsPointInWholeNumbers = true
  var findingLog = FindingLog()
  let schemaRules = JSONSchemaRules(
    missingKey: .pulsarInvalidStructure, wrongType: .wrongType, outOfRange: .pulsarValueOutOfRange,
    nullHandling: .absent)

  private static let timeType = JSONType.number(0...FrameConversion.maximumSeconds * 1_000)
  private static let levelType = JSONType.number(0...1)

  static let fileSchema = JSONObjectSchema<PulsarPattern, PulsarReader>(
    "the file",
    [
      .group(
        "continuousPattern",
        ObjectSchema(
          "the continuous pattern",
          [
            .array(
              "amplitude", of: pointSchema, new: PulsarPattern.Point(), is: .required,
              layout: .singleLine
            ) { $1(&$0.amplitudePoints) },
            .array(
              "frequency", of: pointSchema, new: PulsarPattern.Point(), is: .required,
              layout: .singleLine
            ) { $1(&$0.frequencyPoints) },
          ])),
      .array(
        "discretePattern", of: tapSchema, new: PulsarPattern.Tap(), is: .required,
        layout: .singleLine
      ) { $1(&$0.taps) },
      .value("name", .string()) { $1(&$0.name) },
      .value("description", .string()) { $1(&$0.description) },
    ])

  private static let pointSchema = ObjectSchema<PulsarPattern.Point>(
    "a point",
    [
      .value("time", timeType, is: .required) { $1(&$0.timeMilliseconds) },
      .value("value", levelType, is: .required) { $1(&$0.level) },
    ])

  private static let tapSchema = ObjectSchema<PulsarPattern.Tap>(
    "a discrete point",
    [
      .value("time", timeType, is: .required) { $1(&$0.timeMilliseconds) },
      .value("amplitude", levelType, is: .required) { $1(&$0.amplitude) },
      .value("frequency", levelType, is: .required) { $1(&$0.normalizedFrequency) },
    ]
  ) { object, tap, _ in
    tap.jsonValueIndex = object.nodeIndex
    return true
  }

  /// The pattern length below which fractional times are probably in seconds, in milliseconds.
  private static let maximumSuspiciousLengthMilliseconds = 10.0

  /// Reports times that are probably in seconds: fractions in a pattern of a few milliseconds.
  mutating func checkTimeUnit(of pattern: PulsarPattern, in json: JSONDocument) {
    let pointMilliseconds =
      pattern.taps.map { $0.timeMilliseconds }
      + (pattern.amplitudePoints + pattern.frequencyPoints).map { $0.timeMilliseconds }
    guard let latestMilliseconds = pointMilliseconds.max(),
      latestMilliseconds < Self.maximumSuspiciousLengthMilliseconds,
      pointMilliseconds.contains(where: { $0 != $0.rounded() })
    else { return }
    findingLog.add(
      .pulsarTimesInSeconds, at: json.root,
      "the last time is \(latestMilliseconds) ms; times are in milliseconds",
      suggestion: "if seconds were intended, multiply all times by 1000")
  }
}

extension Rule {
  static let pulsarInvalidStructure = error(
    "structure", "grammar",
    "The file must have a continuous pattern with points, and a discrete pattern.")
  static let pulsarValueOutOfRange = error(
    "out-of-range", "range",
    "Times must be 0 to 86400000 ms. Values, amplitudes, and frequencies must be 0 to 1.")
  static let pulsarTimesInSeconds = warning(
    "time-unit", "range",
    "Times are in milliseconds. Fractions in a pattern of a few milliseconds usually mean seconds.")

  /// The rules for Pulsar patterns, in listing order.
  static let pulsarRules: [Rule] = [
    .invalidSyntax, .pulsarInvalidStructure, .wrongType, .pulsarValueOutOfRange,
    .pulsarTimesInSeconds,
  ]
}
