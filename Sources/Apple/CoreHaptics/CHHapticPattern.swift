public import Foundation
package import HapticFormats
package import HapticModel
internal import HapticPlayback
internal import HapticRender

/// A haptic and audio pattern that can be played any number of times.
///
/// The arguments are copied: later changes to an array, event, or parameter have no effect on the
/// pattern. Values outside their ranges are clamped; content that cannot be played is rejected with
/// a ``CHHapticError``. Sound files are opened when a player is created.
open class CHHapticPattern: NSObject {
  let content: PatternContent
  let renderPlanCache = RenderPlanCache()

  /// Creates a pattern from events and dynamic parameters. Either array may be empty.
  public init(events: [CHHapticEvent], parameters: [CHHapticDynamicParameter]) throws {
    content = try PatternContent(events: events, parameters: parameters)
  }

  /// Creates a pattern from events and parameter curves. Either array may be empty.
  public init(events: [CHHapticEvent], parameterCurves: [CHHapticParameterCurve]) throws {
    content = try PatternContent(events: events, curves: parameterCurves)
  }

  /// Creates a pattern from nested dictionaries, which have the same keys and rules as AHAP text.
  ///
  /// Keys may be `Key` values or strings at every level. Enumerated values may be of any type that
  /// can be represented by their name. Numbers may be of any type, and arrays and dictionaries may
  /// be Swift's or Foundation's.
  public init(dictionary patternDict: [CHHapticPattern.Key: Any]) throws {
    content = try PatternContent(dictionary: patternDict)
  }

  /// Reads a pattern from an AHAP file.
  ///
  /// Its sound files must be in the folder of the AHAP file or in subfolders.
  public init(contentsOf ahapURL: URL) throws {
    EngineBackends.recordUseOfNewerAPI("CHHapticPattern(contentsOf:)", iOS: 16)
    content = try PatternContent(contentsOf: ahapURL)
  }

  /// Reads a pattern from an AHAP file.
  ///
  /// Its sound files must be in the folder of the AHAP file or in subfolders.
  public convenience init(contentsOfURL ahapURL: URL) throws { try self.init(contentsOf: ahapURL) }

  /// Creates a pattern from AHAP text. The text cannot refer to sound files.
  convenience init(ahap data: Data) throws {
    try self.init(PatternContent(SourceFile(Array(data), name: "pattern data")))
  }

  /// Creates a pattern from the contents of a file in any supported format.
  ///
  /// The contents cannot refer to sound files.
  package convenience init(_ file: SourceFile, formats: FormatRegistry) throws {
    try self.init(PatternContent(file, formats: formats))
  }

  /// Reads a pattern from a file of any supported format.
  ///
  /// Its sound files must be in the folder of the file or in subfolders.
  package convenience init(contentsOf url: URL, formats: FormatRegistry) throws {
    try self.init(PatternContent(contentsOf: url, formats: formats))
  }

  /// Creates a pattern from layers without sound files.
  package convenience init(_ composition: HapticComposition) {
    self.init(PatternContent(composition))
  }

  package var composition: HapticComposition { content.composition }

  init(_ content: PatternContent) { self.content = content }

  /// Unavailable, because a pattern requires events, a dictionary, or a file.
  @available(*, unavailable) public override init() {
    content = PatternContent(HapticComposition(HapticPattern()))
  }

  /// The duration of the pattern in seconds: the time until its last event ends or its last
  /// parameter or curve begins. Releases are not included. A loop returns to the beginning at this
  /// time.
  open var duration: TimeInterval { content.composition.durationSeconds }

  /// Returns the pattern as nested dictionaries.
  ///
  /// `init(dictionary:)` and `JSONSerialization` accept the dictionaries.
  ///
  /// Names are strings, numbers are `Double`, switches are `Bool`, and inner dictionaries have keys
  /// of type `Key`. Throws `operationNotPermitted` for registered sounds, and for several layers
  /// with parameters or curves.
  open func exportDictionary() throws -> [CHHapticPattern.Key: Any] {
    try content.exportedDictionary()
  }

  /// A description of the pattern on one line, with the duration and the number of elements.
  open override var description: String {
    let patterns = content.composition.layers.map(\.pattern)
    func totalCount(_ size: (HapticPattern) -> Int) -> Int { patterns.reduce(0) { $0 + size($1) } }
    return "CHHapticPattern(\(duration) s, events \(totalCount(\.events.count)), "
      + "parameters \(totalCount(\.parameters.count)), curves \(totalCount(\.curves.count)))"
  }

  /// Returns the pattern compiled for each haptic bus of an engine.
  ///
  /// The plans are cached for each kind of engine, unless the pattern plays registered audio: a
  /// registration belongs to one engine and may change.
  func renderPlans(for engine: PlaybackEngine, resources: [Int: AudioResource]) throws
    -> [RenderPlan]
  {
    var composition = content.composition
    var playsRegisteredAudio = false
    for layer in composition.layers.indices {
      for index in composition.layers[layer].pattern.events.indices {
        guard var waveform = composition.layers[layer].pattern.events[index].waveform,
          let number = AudioResourcePath.id(of: waveform.path)
        else { continue }
        playsRegisteredAudio = true
        guard let resource = resources[number] else { continue }
        waveform.usesVolumeEnvelope = resource.usesVolumeEnvelope
        waveform.isLooping = resource.isLooping
        composition.layers[layer].pattern.events[index].waveform = waveform
      }
    }
    let compilePlan = { [composition] in
      let samples = try self.loadSamples(atRate: engine.rate, resources: resources)
      return try engine.profiles.map { profile in
        do throws(RenderError) {
          return try RenderPlan(
            compiling: composition, profile: profile, rate: engine.rate, samples: samples)
        } catch {
          throw CHHapticError(.invalidPatternData, error.description)
        }
      }
    }
    return playsRegisteredAudio
      ? try compilePlan() : try renderPlanCache.renderPlans(for: engine, compile: compilePlan)
  }

  /// A key in the dictionaries that patterns are created from and exported to.
  ///
  /// On Apple's systems, keys and strings can be cast to each other. Here, that requires a type to
  /// which strings can already be cast. Therefore a key is the name itself, and `jsonObject as?
  /// [CHHapticPattern.Key: Any]` gives the same result.
  public typealias Key = AnyHashable
}

extension CHHapticPattern.Key {
  /// The type of a key's name.
  public typealias RawValue = String

  /// Creates a key from its name, which may be unknown.
  public init(rawValue: String) { self.init(rawValue) }

  /// The name of the key, or the description of a value that is not a name.
  public var rawValue: String { base as? String ?? String(describing: base) }

  /// The key for the version of Core Haptics that a pattern requires, a number.
  public static var version: CHHapticPattern.Key { .init(rawValue: "Version") }
  /// The key for the entries of a pattern, an array of dictionaries.
  public static var pattern: CHHapticPattern.Key { .init(rawValue: "Pattern") }
  /// The key for an event in an entry of a pattern, a dictionary.
  public static var event: CHHapticPattern.Key { .init(rawValue: "Event") }
  /// The key for the type of an event, an `EventType` or its name.
  public static var eventType: CHHapticPattern.Key { .init(rawValue: "EventType") }
  /// The key for a time in seconds, from the start of the pattern or of the curve.
  public static var time: CHHapticPattern.Key { .init(rawValue: "Time") }
  /// The key for the duration of an event: the time from its start to its release, in seconds.
  public static var eventDuration: CHHapticPattern.Key { .init(rawValue: "EventDuration") }
  /// The key for the parameters of an event, an array of dictionaries.
  public static var eventParameters: CHHapticPattern.Key { .init(rawValue: "EventParameters") }
  /// The key for the path of a sound file, relative to the pattern's folder.
  public static var eventWaveformPath: CHHapticPattern.Key { .init(rawValue: "EventWaveformPath") }
  /// The key for a Boolean value that indicates whether a sound fades in and out.
  public static var eventWaveformUseVolumeEnvelope: CHHapticPattern.Key {
    .init(rawValue: "EventWaveformUseVolumeEnvelope")
  }
  /// The key for a Boolean value that indicates whether a sound repeats for the event's duration.
  public static var eventWaveformLoopEnabled: CHHapticPattern.Key {
    .init(rawValue: "EventWaveformLoopEnabled")
  }
  /// The key for a dynamic parameter in an entry of a pattern, a dictionary.
  public static var parameter: CHHapticPattern.Key { .init(rawValue: "Parameter") }
  /// The key for the identifier of a parameter, a `ParameterID`, an `ID`, or its name.
  public static var parameterID: CHHapticPattern.Key { .init(rawValue: "ParameterID") }
  /// The key for the value of a parameter, a number.
  public static var parameterValue: CHHapticPattern.Key { .init(rawValue: "ParameterValue") }
  /// The key for a parameter curve in an entry of a pattern, a dictionary.
  public static var parameterCurve: CHHapticPattern.Key { .init(rawValue: "ParameterCurve") }
  /// The key for the control points of a curve, an array of dictionaries.
  public static var parameterCurveControlPoints: CHHapticPattern.Key {
    .init(rawValue: "ParameterCurveControlPoints")
  }
}

/// A cache of a pattern's compiled plans, for the most recently used kind of engine.
final class RenderPlanCache: Sendable {
  private let cachedPlans = Locked(
    (rate: 0.0, profiles: [TransducerProfile](), plans: [RenderPlan]()))

  func renderPlans(for engine: PlaybackEngine, compile: () throws -> [RenderPlan]) throws
    -> [RenderPlan]
  {
    try cachedPlans.withLock { last in
      if last.plans.isEmpty || last.rate != engine.rate || last.profiles != engine.profiles {
        last = (engine.rate, engine.profiles, try compile())
      }
      return last.plans
    }
  }
}
