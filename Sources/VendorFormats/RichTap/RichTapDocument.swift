internal import HapticFormats
internal import HapticModel

/// What a RichTap HE file and a HarmonyOS haptic file hold alike: events in whole milliseconds and
/// percent, in groups.
struct RichTapDocument: Equatable, Sendable {
  /// Events that count their times from one time: a pattern of HE, a channel of HarmonyOS.
  struct Group: Equatable, Sendable {
    /// Milliseconds from the start of the file; 0 for a channel.
    var time = 0
    /// The vibrator of a channel; patterns of HE name it with each event.
    var vibrator = Vibrator.both
    var events: [Event] = []

    /// The events with their times from the start of the file and their vibrator.
    var absoluteEvents: [Event] {
      events.map { event in
        var event = event
        event.time += time
        if vibrator != .both { event.vibrator = vibrator }
        return event
      }
    }
  }

  /// One vibration.
  struct Event: Equatable, Sendable {
    var isTransient: Bool
    /// Milliseconds from the time of the group.
    var time: Int
    /// Milliseconds; of no meaning for a transient.
    var duration = 0
    var vibrator = Vibrator.both
    /// Percent, 0…100.
    var intensity: Int
    /// From dull, 0, to sharp, 100; a transient of HE may have −50…150.
    var frequency: Int
    /// What bends a continuous event; empty for nothing.
    var curve: [CurvePoint] = []
  }

  /// A corner of a curve: straight lines join them.
  struct CurvePoint: Equatable, Sendable {
    /// Milliseconds from the start of the event.
    var time: Int
    /// What the event's intensity is multiplied by, 0…1.
    var gain: Float
    /// What is added to the event's frequency, −100…100.
    var offset: Int
  }

  /// The vibrator that plays, by its `Index`; the raw value names the layer it becomes.
  enum Vibrator: String, CaseIterable, Sendable {
    case both = ""
    case left
    case right

    /// The number in files.
    var index: Int {
      switch self {
      case .both: 0
      case .left: 1
      case .right: 2
      }
    }

    /// The place of its layers; nil for both.
    var place: HapticComposition.Place? { self == .both ? nil : .init(index, of: 2, name: rawValue) }

    /// The vibrator with a number in files, or nil.
    init?(index: Int) {
      guard Self.allCases.indices.contains(index) else { return nil }
      self = Self.allCases[index]
    }
  }

  /// Of HE, 1 for one pattern and 2 for a list; 0 where it is not known.
  var version = 0
  /// What HarmonyOS has beside the channels.
  var channelCount = 0
  /// The date or the author's name, as the file gives it.
  var created: String?
  var notes: String?
  var groups: [Group] = []

  /// All events with their times from the start of the file and their vibrator, by time.
  var events: [Event] {
    let all = groups.flatMap { $0.absoluteEvents }
    return all.indices.sorted { (all[$0].time, $0) < (all[$1].time, $1) }.map { all[$0] }
  }
}

/// The two spellings of a ``RichTapDocument``, with the limits of their decoders.
///
/// Source of the limits: the decoders of HarmonyOS, which plays both
/// (openharmony/sensors_miscdevice, 9394f74, utils/haptic_decoder).
enum RichTapDialect: Sendable {
  case he, oh

  /// Events of a group.
  var maximumEventCount: Int { self == .he ? 16 : 128 }
  /// Milliseconds at which an event may start.
  var times: ClosedRange<Int> { self == .he ? 0...Int(Int32.max) : 0...1_800_000 }
  /// Milliseconds of a continuous event.
  var durations: ClosedRange<Int> { (self == .he ? 1 : 0)...5_000 }
  /// Numbers of corners of a curve.
  static let curvePointCounts = 4...16
  /// Bytes of a file.
  var maximumFileSize: Int { self == .he ? .max : 64 * 1024 }
  static let intensities = 0...100
  static let offsets = -100...100

  /// Frequencies of an event.
  func frequencies(isTransient: Bool) -> ClosedRange<Int> { self == .he && isTransient ? -50...150 : 0...100 }

  /// Milliseconds that a transient takes.
  static let transientLength = 48

  /// Milliseconds of the ramps at the ends of an event, which HE requires and others do without.
  static let edge = 1

  /// The curve of HE for an event that has none.
  static func plateau(duration: Int) -> [RichTapDocument.CurvePoint] {
    [
      .init(time: 0, gain: 0, offset: 0), .init(time: edge, gain: 1, offset: 0),
      .init(time: duration - edge, gain: 1, offset: 0), .init(time: duration, gain: 0, offset: 0),
    ]
  }
}
