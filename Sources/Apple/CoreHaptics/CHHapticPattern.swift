public import Foundation
package import HapticFormats
package import HapticModel
internal import HapticPlayback
internal import HapticRender

/// A haptic and audio pattern: made once, played any number of times.
///
/// What is given is copied: later changes to an array, event or parameter change no pattern.
/// Values outside their ranges are moved to the nearest bound; what cannot be played is refused
/// with a ``CHHapticError``. Sound files are looked for when a player is made.
open class CHHapticPattern: NSObject {
  let content: PatternContent
  let planCache = PlanCache()

  /// Makes a pattern of events and steps of controls; either may be empty.
  public init(events: [CHHapticEvent], parameters: [CHHapticDynamicParameter]) throws {
    content = try PatternContent(events: events, parameters: parameters)
  }

  /// Makes a pattern of events and curves; either may be empty.
  public init(events: [CHHapticEvent], parameterCurves: [CHHapticParameterCurve]) throws {
    content = try PatternContent(events: events, curves: parameterCurves)
  }

  /// Makes a pattern of nested dictionaries with the keys of AHAP.
  ///
  /// Keys may be `Key` values or strings at every level, values of a list any structure that names
  /// one, numbers of any type, arrays and dictionaries Swift's or Foundation's. The rules are those
  /// of AHAP text.
  public init(dictionary patternDict: [CHHapticPattern.Key: Any]) throws {
    content = try PatternContent(dictionary: patternDict)
  }

  /// Reads an AHAP file; its sound files are looked for in its folder and below.
  public init(contentsOf ahapURL: URL) throws {
    EngineBackends.recordNewerAPI("CHHapticPattern(contentsOf:)", iOS: 16)
    content = try PatternContent(contentsOf: ahapURL)
  }

  /// Reads an AHAP file; its sound files are looked for in its folder and below.
  public convenience init(contentsOfURL ahapURL: URL) throws { try self.init(contentsOf: ahapURL) }

  /// Reads AHAP text; it can have no sound files.
  convenience init(ahap data: Data) throws {
    try self.init(PatternContent(SourceFile(Array(data), name: "pattern data")))
  }

  /// Reads a file of any of the formats that is in memory; it can have no sound files.
  package convenience init(_ file: SourceFile, formats: FormatRegistry) throws {
    try self.init(PatternContent(file, formats: formats))
  }

  /// Reads a file of any of the formats; its sound files are looked for in its folder and below.
  package convenience init(contentsOf url: URL, formats: FormatRegistry) throws {
    try self.init(PatternContent(contentsOf: url, formats: formats))
  }

  /// Makes a pattern of layers; it can have no sound files.
  package convenience init(_ composition: HapticComposition) {
    self.init(PatternContent(composition))
  }

  package var composition: HapticComposition { content.composition }

  init(_ content: PatternContent) { self.content = content }

  /// A pattern is made of events, a dictionary or a file.
  @available(*, unavailable) public override init() {
    content = PatternContent(HapticComposition(HapticPattern()))
  }

  /// The time, in seconds, at which the last event ends or the last parameter or curve begins.
  ///
  /// Releases are not counted. The point where a loop returns to the beginning.
  open var duration: TimeInterval { content.composition.duration }

  /// The pattern as nested dictionaries that `init(dictionary:)` and `JSONSerialization` take.
  ///
  /// Names are strings, numbers `Double`, switches `Bool`, inner dictionaries keyed by `Key`.
  /// Throws `operationNotPermitted` for registered sounds, and for several layers with parameters
  /// or curves.
  open func exportDictionary() throws -> [CHHapticPattern.Key: Any] {
    try content.exportedDictionary()
  }

  /// One line: how long it is and how many things it holds.
  open override var description: String {
    let patterns = content.composition.layers.map(\.pattern)
    func count(_ size: (HapticPattern) -> Int) -> Int { patterns.reduce(0) { $0 + size($1) } }
    return "CHHapticPattern(\(duration) s, events \(count(\.events.count)), "
      + "parameters \(count(\.parameters.count)), curves \(count(\.curves.count)))"
  }

  /// The pattern compiled for each haptic bus of an engine. Compiled once for each kind of engine;
  /// each time where it plays registered audio, since a registration belongs to one engine and may
  /// change.
  func plans(for engine: PlaybackEngine, resources: [Int: AudioResource]) throws -> [RenderPlan] {
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
    let compile = { [composition] in
      let samples = try self.samples(at: engine.rate, resources: resources)
      return try engine.profiles.map { profile in
        do throws(RenderError) {
          return try RenderPlan(
            compiling: composition, profile: profile, rate: engine.rate, samples: samples)
        } catch {
          throw CHHapticError(.invalidPatternData, error.description)
        }
      }
    }
    return playsRegisteredAudio ? try compile() : try planCache.plans(for: engine, compile: compile)
  }

  /// A key of the dictionaries that patterns are made of and exported as.
  ///
  /// On Apple's systems keys and strings become each other in casts. Here that needs a type that
  /// strings already become: so a key is the name itself, and
  /// `jsonObject as? [CHHapticPattern.Key: Any]` gives what it gives there.
  public typealias Key = AnyHashable
}

extension CHHapticPattern.Key {
  /// What a key is written as.
  public typealias RawValue = String

  /// Makes a key of its name, known or not.
  public init(rawValue: String) { self.init(rawValue) }

  /// The name of the key; of any other value, its description.
  public var rawValue: String { base as? String ?? String(describing: base) }

  /// The version of Core Haptics a pattern needs: a number.
  public static var version: CHHapticPattern.Key { .init(rawValue: "Version") }
  /// The entries of a pattern: an array of dictionaries.
  public static var pattern: CHHapticPattern.Key { .init(rawValue: "Pattern") }
  /// An entry that is an event: a dictionary.
  public static var event: CHHapticPattern.Key { .init(rawValue: "Event") }
  /// What an event does: an `EventType` or its name.
  public static var eventType: CHHapticPattern.Key { .init(rawValue: "EventType") }
  /// Seconds from the start of the pattern, or of the curve for a control point.
  public static var time: CHHapticPattern.Key { .init(rawValue: "Time") }
  /// Seconds until release begins.
  public static var eventDuration: CHHapticPattern.Key { .init(rawValue: "EventDuration") }
  /// The values of an event: an array of dictionaries.
  public static var eventParameters: CHHapticPattern.Key { .init(rawValue: "EventParameters") }
  /// The path of a sound file, relative to the pattern's folder.
  public static var eventWaveformPath: CHHapticPattern.Key { .init(rawValue: "EventWaveformPath") }
  /// Whether a sound is ramped in and out: a Boolean.
  public static var eventWaveformUseVolumeEnvelope: CHHapticPattern.Key {
    .init(rawValue: "EventWaveformUseVolumeEnvelope")
  }
  /// Whether a sound repeats for the event's duration: a Boolean.
  public static var eventWaveformLoopEnabled: CHHapticPattern.Key {
    .init(rawValue: "EventWaveformLoopEnabled")
  }
  /// An entry that is a dynamic parameter: a dictionary.
  public static var parameter: CHHapticPattern.Key { .init(rawValue: "Parameter") }
  /// What a value is of: a `ParameterID`, an `ID` or its name.
  public static var parameterID: CHHapticPattern.Key { .init(rawValue: "ParameterID") }
  /// A value: a number.
  public static var parameterValue: CHHapticPattern.Key { .init(rawValue: "ParameterValue") }
  /// An entry that is a curve: a dictionary.
  public static var parameterCurve: CHHapticPattern.Key { .init(rawValue: "ParameterCurve") }
  /// The corners of a curve: an array of dictionaries.
  public static var parameterCurveControlPoints: CHHapticPattern.Key {
    .init(rawValue: "ParameterCurveControlPoints")
  }
}

/// The plans of a pattern for the last kind of engine it was played by.
final class PlanCache: Sendable {
  private let cached = Locked((rate: 0.0, profiles: [TransducerProfile](), plans: [RenderPlan]()))

  func plans(for engine: PlaybackEngine, compile: () throws -> [RenderPlan]) throws -> [RenderPlan]
  {
    try cached.withLock { last in
      if last.plans.isEmpty || last.rate != engine.rate || last.profiles != engine.profiles {
        last = (engine.rate, engine.profiles, try compile())
      }
      return last.plans
    }
  }
}
