internal import HapticFormats
internal import HapticModel
internal import Reading

/// The common content of a RichTap HE file and a HarmonyOS haptic file: groups of events, in whole
/// milliseconds and percent.
struct RichTapDocument: Equatable, Sendable {
  /// A group of events with times relative to a common start.
  ///
  /// The group is a pattern in HE files, or a channel in HarmonyOS files.
  struct Group: Equatable, Sendable {
    /// The start of the group, in milliseconds from the start of the file; 0 for a channel.
    var startMilliseconds = 0
    /// The vibrator of a channel. In HE files, each event names its vibrator.
    var targetVibrator = Vibrator.both
    var events: [Event] = []

    /// The events of the group with their vibrators and with times from the start of the file.
    var eventsInFileTime: [Event] {
      events.map { event in
        var event = event
        event.startMilliseconds += startMilliseconds
        if targetVibrator != .both {
          event.targetVibrator = targetVibrator
        }
        return event
      }
    }
  }

  /// An event of a group: a transient or continuous vibration.
  struct Event: Equatable, Sendable {
    /// The kind of an event. The raw values are the names in files.
    enum Kind: String, JSONEnumeration { case transient, continuous }

    var kind: Kind
    /// The start of the event, in milliseconds from the start of the group.
    var startMilliseconds: Int
    /// The duration of the event in milliseconds; ignored for a transient.
    var durationMilliseconds = 0
    var targetVibrator = Vibrator.both
    /// The intensity of the event, in percent, 0…100.
    var intensityPercent: Int
    /// The relative frequency of the event, from dull (0) to sharp (100). A transient in HE files
    /// may have −50…150.
    var frequencyPercent: Int
    /// The points of a continuous event's curve; empty for an event of constant intensity.
    var curve: [CurvePoint] = []

    var isTransient: Bool { kind == .transient }
  }

  /// A point of a continuous event's curve.
  struct CurvePoint: Equatable, Sendable {
    /// The time from the start of the event, in milliseconds.
    var timeMilliseconds: Int
    /// The factor that multiplies the intensity of the event at the point, 0…1.
    var intensityFactor: Float
    /// The offset that is added to the frequency of the event, −100…100.
    var frequencyOffsetPercent: Int
  }

  /// A vibrator of the device.
  ///
  /// The order of the cases is that of `Index` in files, and the raw value is the name of the
  /// vibrator's layers.
  enum Vibrator: String, CaseIterable, Sendable {
    case both = ""
    case left
    case right

    var number: Int { Self.allCases.firstIndex(of: self) ?? 0 }

    /// The body location of the vibrator's layers; nil for both vibrators.
    var bodyLocation: HapticComposition.BodyLocation? {
      self == .both ? nil : .init(number, of: 2, name: rawValue)
    }

    /// Creates a vibrator from its `Index` in files, or returns nil for an unknown index.
    init?(number: Int) {
      guard Self.allCases.indices.contains(number) else { return nil }
      self = Self.allCases[number]
    }
  }

  /// The version of the HE format: 1 for a single pattern, 2 for a list of patterns, or 0 if
  /// unknown.
  var formatVersion = 0
  var channelCount = 0
  /// The creation date or the author's name, as the file states it.
  var creationDateOrAuthor: String?
  var notes: String?
  var groups: [Group] = []

}

/// The two file formats of a ``RichTapDocument``, with the limits of their decoders.
///
/// Source of the limits: the decoders of HarmonyOS, which plays both
/// (openharmony/sensors_miscdevice, 9394f74, utils/haptic_decoder).
enum RichTapDialect: Sendable {
  case richTapHE, harmonyOS

  var maximumEventCount: Int { self == .richTapHE ? 16 : 128 }
  /// The allowed range of event starts, in milliseconds.
  var eventTimeRangeMilliseconds: ClosedRange<Int> {
    self == .richTapHE ? 0...Int(Int32.max) : 0...1_800_000
  }
  /// The allowed range of a continuous event's duration, in milliseconds.
  var durationRangeMilliseconds: ClosedRange<Int> { (self == .richTapHE ? 1 : 0)...5_000 }
  static let curvePointCountRange = 4...16
  /// The maximum file size, in bytes.
  var maximumFileByteCount: Int { self == .richTapHE ? .max : 64 * 1024 }
  static let intensityPercentRange = 0...100
  static let frequencyOffsetPercentRange = -100...100

  func frequencyPercentRange(isTransient: Bool) -> ClosedRange<Int> {
    self == .richTapHE && isTransient ? -50...150 : 0...100
  }

  /// The duration that a transient has on the device, in milliseconds.
  static let transientDurationMilliseconds = 48

  /// The length of the ramps that HE requires at the ends of an event, in milliseconds.
  static let curveEdgeRampMilliseconds = 1

  /// Returns the curve that HE requires for an event of constant intensity.
  static func constantIntensityCurve(duration: Int) -> [RichTapDocument.CurvePoint] {
    [
      .init(timeMilliseconds: 0, intensityFactor: 0, frequencyOffsetPercent: 0),
      .init(
        timeMilliseconds: curveEdgeRampMilliseconds, intensityFactor: 1, frequencyOffsetPercent: 0),
      .init(
        timeMilliseconds: duration - curveEdgeRampMilliseconds, intensityFactor: 1,
        frequencyOffsetPercent: 0),
      .init(timeMilliseconds: duration, intensityFactor: 0, frequencyOffsetPercent: 0),
    ]
  }
}
