public import HapticFormats
public import HapticModel
internal import VendorFormats

/// Measures how well formats preserve patterns, by converting examples and reading them again.
public enum FormatMatrix {
  /// A kind of example pattern to convert, named after the events that it contains.
  public enum ExampleContent: String, CaseIterable, Sendable {
    /// The example consists of transients with different values.
    case transients
    /// The example consists of consecutive continuous events with curves.
    case continuous
    /// The example consists of transients and overlapping continuous events with envelope times.
    case mixed
    /// The example consists of an audio event and a transient.
    case audio
  }

  /// The quality of a conversion between two formats.
  public enum ConversionGrade: String, CaseIterable, Sendable {
    /// The conversion keeps all values exactly.
    case exact
    /// The conversion keeps all values within 1 % of full scale.
    case close
    /// The content is converted with reported losses.
    case approximate
    /// The content is lost, or the format cannot be written.
    case none
  }

  /// The result of measuring one conversion.
  public struct ConversionMeasurement: Sendable {
    /// The quality of the conversion.
    public var grade: ConversionGrade
    /// The maximum difference between a value before and after the conversion, as a fraction of
    /// full scale.
    public var maximumDifferenceFraction: Double
    /// The messages of the losses without duplicates, in their original order.
    public var lossMessages: [String]
  }

  /// The maximum difference of a value in an exact conversion, as a fraction of full scale: the
  /// precision of 32-bit numbers.
  private static let exactGradeToleranceFraction = 1e-6
  /// The maximum difference of a value in a close conversion, as a fraction of full scale.
  public static let closeGradeToleranceFraction = 0.01

  /// Returns the example pattern of a kind.
  public static func exampleComposition(_ content: ExampleContent) -> HapticComposition {
    func makeTap(_ time: Double, _ intensity: Float, _ sharpness: Float) -> HapticEvent {
      HapticEvent(
        kind: .hapticTransient, time: time,
        parameters: [.hapticIntensity: intensity, .hapticSharpness: sharpness])
    }
    func makeVibration(_ time: Double, _ duration: Double, _ intensity: Float, _ sharpness: Float)
      -> HapticEvent
    {
      HapticEvent(
        kind: .hapticContinuous, time: time, duration: duration,
        parameters: [.hapticIntensity: intensity, .hapticSharpness: sharpness])
    }
    func makeCurve(_ id: DynamicParameterID, _ time: Double, _ points: [(Double, Float)])
      -> ParameterCurve
    {
      ParameterCurve(
        id: id, time: time, controlPoints: points.map { .init(time: $0.0, value: $0.1) })
    }
    var examplePattern = HapticPattern()
    switch content {
    case .transients:
      examplePattern.events = [
        makeTap(0.1, 1, 0.5), makeTap(0.35, 0.8, 0.25), makeTap(0.6, 0.6, 0.75),
        makeTap(0.85, 0.9, 1),
      ]
    case .continuous:
      examplePattern.events = [makeVibration(0, 0.8, 1, 0.4), makeVibration(1.2, 0.6, 0.8, 0.6)]
      examplePattern.curves = [
        makeCurve(.hapticIntensityControl, 0, [(0, 0), (0.2, 1), (0.5, 0.4), (0.8, 0)]),
        makeCurve(.hapticSharpnessControl, 0, [(0, 0), (0.4, 0.3), (0.8, -0.2)]),
        makeCurve(.hapticIntensityControl, 1.2, [(0, 0), (0.3, 1), (0.6, 0)]),
        makeCurve(.hapticSharpnessControl, 1.2, [(0, 0), (0.6, 0.2)]),
      ]
    case .mixed:
      examplePattern.events = [
        makeVibration(0, 1, 0.7, 0.2), makeVibration(0.5, 1, 0.5, 0.8), makeTap(0.25, 1, 0.5),
        makeTap(1.8, 0.5, 0.5),
      ]
      examplePattern.events[0].parameters[.attackTime] = 0.4
      examplePattern.events[0].parameters[.releaseTime] = 0.5
    case .audio:
      examplePattern.events = [
        makeTap(0, 1, 0.5), HapticEvent(kind: .audioContinuous, time: 0.2, duration: 0.5),
      ]
    }
    return HapticComposition(examplePattern)
  }

  /// Measures how well a conversion between two formats preserves a kind of example pattern.
  ///
  /// The example is first written in the source format and read again, so that the format can
  /// represent it. If the source format cannot be written, the example itself is used.
  public static func measureConversion(
    of content: ExampleContent, from source: HapticFormat, to target: HapticFormat
  )
    -> ConversionMeasurement
  {
    let sourceExample = exampleComposition(content)
    let readExample =
      source.isWritable ? roundTrip(sourceExample, through: source)?.composition : nil
    let originalComposition = readExample ?? sourceExample
    guard let convertedResult = roundTrip(originalComposition, through: target) else {
      return ConversionMeasurement(grade: .none, maximumDifferenceFraction: 1, lossMessages: [])
    }
    let distinctLosses: [String] = convertedResult.losses.reduce(into: []) {
      if !$0.contains($1) {
        $0.append($1)
      }
    }
    let maximumDifference = CompositionDifference(originalComposition, convertedResult.composition)
      .maximumError
    let conversionGrade: ConversionGrade =
      if maximumDifference <= exactGradeToleranceFraction && distinctLosses.isEmpty {
        .exact
      } else if maximumDifference <= closeGradeToleranceFraction {
        .close
      } else {
        .approximate
      }
    return ConversionMeasurement(
      grade: conversionGrade, maximumDifferenceFraction: maximumDifference,
      lossMessages: distinctLosses)
  }

  /// Returns a composition after writing it in a format and reading it again; nil if a step fails.
  package static func roundTrip(
    _ composition: HapticComposition, through format: HapticFormat,
    options: WritingOptions = WritingOptions()
  ) -> (composition: HapticComposition, losses: [String])? {
    guard let writtenFiles = (try? format.write(composition, options: options)) ?? nil else {
      return nil
    }
    var readLayers: [HapticComposition.Layer] = []
    var lossMessages = writtenFiles.losses.map(\.message)
    var readLoop: HapticComposition.LoopPoints?
    for file in writtenFiles.files where file.fileExtension == nil {
      let name = "x" + file.nameSuffix + "." + (format.fileExtensions.first ?? format.id)
      let readResult = format.examine(
        SourceFile(file.bytes, name: name), options: ReadingOptions())
      guard let part = try? readResult.get() else { return nil }
      readLayers += part.layers
      readLoop = part.loop ?? readLoop
      lossMessages += readResult.losses.map(\.message)
    }
    return (HapticComposition(layers: readLayers, loop: readLoop), lossMessages)
  }
}
