internal import HapticFormats
internal import HapticModel
internal import HapticRender
internal import Reading

// The declarations of the module for AHAP that replace declarations of the same names, which only
// the module with all formats needs.

/// The profiles of the module: those for sound without a transducer's data.
enum ProfileCatalog {
  static let names = ["phone", "speaker"]

  static func profile(named name: String) -> TransducerProfile? {
    switch name {
    case "phone": .phone
    case "speaker": .speaker
    default: nil
    }
  }
}

extension TransducerProfile {
  /// The same profile as `Profiles/speaker.json`.
  fileprivate static let speaker = TransducerProfile(
    name: "speaker",
    summary: """
      For a laptop and other small speakers: higher frequencies, longer taps, and harmonics that \
      make low events audible.
      """,
    frequency: speakerFrequency, fullIntensityAmplitude: 0.42,
    partials: [
      Partial(frequencyToEventRatio: 1, amplitudeToEventRatio: 0.6),
      Partial(frequencyToEventRatio: 2, amplitudeToEventRatio: 0.4),
      Partial(frequencyToEventRatio: 3, amplitudeToEventRatio: 0.25),
    ],
    transient: TransientShape(
      frequency: speakerFrequency, durationRule: .seconds(low: 0.03, high: 0.025),
      fullIntensityAmplitude: 0.78,
      partials: [
        TransientShape.Partial(frequencyToBurstRatio: 1, amplitudeToBurstRatio: 0.6),
        TransientShape.Partial(frequencyToBurstRatio: 2, amplitudeToBurstRatio: 0.4),
        TransientShape.Partial(frequencyToBurstRatio: 3, amplitudeToBurstRatio: 0.25),
      ]),
    transientDuckingGain: 0.3)

  private static let speakerFrequency = FrequencyMapping(lowHertz: 200, highHertz: 600)
}

/// A log of findings that counts errors only. The module with all formats explains why a file cannot
/// be read.
public struct FindingLog: Sendable {
  /// The number of reported errors.
  public private(set) var errorCount = 0
  private var firstError: Finding?

  /// Creates an empty log.
  public init() {}

  /// Counts a finding that is an error. Messages are not evaluated.
  public mutating func add(
    _ rule: Rule, valueIndex: Int, offset: Int, severity: Severity? = nil,
    _ message: @autoclosure () -> String,
    suggestion: @autoclosure () -> String? = nil, errorCode: Int? = nil
  ) {
    guard (severity ?? rule.severity) == .error else { return }
    errorCount += 1
    firstError = firstError ?? Finding(rule, location: FileLocation(name: ""), "")
  }

  /// Returns false, because the log has errors only.
  public func contains(_ rule: Rule) -> Bool { false }

  /// Returns the first error, without a location and a message.
  public func findings(location: (_ valueIndex: Int, _ offset: Int) -> FileLocation) -> [Finding] {
    firstError.map { [$0] } ?? []
  }
}

/// The origin of a text that was converted from another format. There is none, because the module
/// reads AHAP only.
enum ConversionOrigin {
  var formatID: String {
    switch self {}
  }

  var sourceComposition: HapticComposition {
    switch self {}
  }

  static func convertToAHAP(_ file: SourceFile) throws(InputError) -> (
    bytes: [UInt8], origin: ConversionOrigin?
  ) {
    (file.bytes, nil)
  }
}

extension Studio {
  /// Returns an empty report, because the module does not edit, check, or convert.
  func makeEditorReport(_ kind: ReportKind, document: Int, profile: Int) -> [UInt8] { [] }
}
