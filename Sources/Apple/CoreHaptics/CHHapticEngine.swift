// Files that import Core Haptics alone use Foundation's types: on Apple's systems frameworks pass
// on what their headers import, and Foundation passes Combine and Observation on.
@_exported public import Combine
@_exported public import Foundation
public import AVFAudio
internal import HapticModel

/// Plays haptic patterns: the interface of Apple's class of this name, on Temblor's engine.
///
/// Differences are listed in the article Compatibility.
open class CHHapticEngine: NSObject {
  /// Called when a start or stop is done, with an error where it failed.
  public typealias CompletionHandler = ((any Error)?) -> Void
  /// Called when no player is active any more; returns what the engine does then.
  public typealias FinishedHandler = ((any Error)?) -> CHHapticEngine.FinishedAction
  /// Called after a stop that the application did not request.
  public typealias StoppedHandler = (CHHapticEngine.StoppedReason) -> Void
  /// Called when the engine was reset: players and registered audio are gone.
  public typealias ResetHandler = () -> Void

  /// What the engine does when all players have finished.
  public enum FinishedAction: Int, Sendable { case stopEngine = 1, leaveEngineRunning }

  /// Why an engine stopped.
  public enum StoppedReason: Int, Sendable {
    /// The audio session was interrupted. Does not happen by itself here.
    case audioSessionInterrupt = 1
    /// The application was suspended. Does not happen by itself here.
    case applicationSuspended = 2
    /// Nothing was played for two minutes, under auto shutdown.
    case idleTimeout = 3
    /// The handler of `notifyWhenPlayersFinished` asked for it.
    case notifyWhenFinished = 4
    /// The engine was released while it played.
    case engineDestroyed = 5
    /// A game controller went away. Does not happen here.
    case gameControllerDisconnect = 6
    /// Anything else: the device was lost.
    case systemError = -1
  }

  let backing: EngineBacking

  /// What the output of this process can do: no haptics where no device can be opened.
  open class func capabilitiesForHardware() -> any CHHapticDeviceCapability {
    let isAvailable = EngineBackends.current.isAvailable
    return DeviceCapability(supportsHaptics: isAvailable, supportsAudio: isAvailable)
  }

  /// Makes an engine that is not running; also spelled `CHHapticEngine()`.
  public init(andReturnError: () = ()) throws {
    backing = EngineBacking(backend: EngineBackends.currentForNewEngine())
  }

  /// Makes an engine that is not running; the audio session is not regarded.
  public init(audioSession: AVAudioSession?) throws {
    backing = EngineBacking(backend: EngineBackends.currentForNewEngine())
  }

  package init(backend: any EngineBackend) { backing = EngineBacking(backend: backend) }

  deinit { backing.engineWasReleased() }

  /// Starts the engine; returns when it runs.
  open func start() throws { try backing.start() }

  /// Starts the engine, and calls a handler when it runs or cannot.
  open func start(completionHandler: (@Sendable ((any Error)?) -> Void)? = nil) {
    backing.startAsynchronously(completionHandler)
  }

  /// Starts the engine; returns when it runs, on the caller's actor.
  nonisolated(nonsending) open func start() async throws {
    let backing = backing
    try await withCheckedThrowingContinuation {
      (continuation: CheckedContinuation<Void, any Error>) in
      backing.startAsynchronously { error in
        if let error {
          continuation.resume(throwing: error)
        } else {
          continuation.resume()
        }
      }
    }
  }

  /// Stops the engine; what plays fades out.
  open func stop(completionHandler: (@Sendable ((any Error)?) -> Void)? = nil) {
    backing.stopAsynchronously(completionHandler)
  }

  /// Stops the engine; returns when it has stopped, on the caller's actor.
  nonisolated(nonsending) open func stop() async throws {
    let backing = backing
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
      backing.stopAsynchronously { _ in continuation.resume() }
    }
  }

  /// Calls a handler once when no player is active any more.
  open func notifyWhenPlayersFinished(finishedHandler: @escaping CHHapticEngine.FinishedHandler) {
    backing.notifyWhenFinished(finishedHandler)
  }

  /// Makes a player.
  open func makePlayer(with pattern: CHHapticPattern) throws -> any CHHapticPatternPlayer {
    PatternPlayerObject(try backing.makePlayer(pattern))
  }

  /// Makes a player that can also be paused, sought, looped and slowed.
  open func makeAdvancedPlayer(with pattern: CHHapticPattern) throws
    -> any CHHapticAdvancedPatternPlayer
  {
    AdvancedPatternPlayerObject(try backing.makePlayer(pattern))
  }

  /// Plays an AHAP file once, starting the engine where it does not run.
  open func playPattern(from fileURL: URL) throws {
    try backing.playOnce(CHHapticPattern(contentsOf: fileURL))
  }

  /// Plays AHAP text once, starting the engine where it does not run.
  open func playPattern(from data: Data) throws {
    try backing.playOnce(CHHapticPattern(ahap: data))
  }

  /// Reads a sound file and gives it a number that events can play it by.
  open func registerAudioResource(_ resourceURL: URL, options: [AnyHashable: Any] = [:]) throws
    -> CHHapticAudioResourceID
  { try backing.registerResource(resourceURL, options: options) }

  /// Forgets a sound file.
  open func unregisterAudioResource(_ resourceID: CHHapticAudioResourceID) throws {
    try backing.unregisterResource(resourceID)
  }

  /// Seconds on the engine's clock, which stops with the engine.
  open var currentTime: TimeInterval { backing.currentTime }

  /// Is called for every stop that the application did not ask for.
  open var stoppedHandler: CHHapticEngine.StoppedHandler {
    get { backing.withState { $0.stoppedHandler } }
    set { backing.withState { $0.stoppedHandler = newValue } }
  }

  /// Is called when the device was lost and has come back.
  open var resetHandler: CHHapticEngine.ResetHandler {
    get { backing.withState { $0.resetHandler ?? {} } }
    set { backing.withState { $0.resetHandler = newValue } }
  }

  /// Whether audio events are left out; counts from the next start on.
  open var playsHapticsOnly: Bool {
    get { backing.withState { $0.playsHapticsOnly } }
    set { backing.withState { $0.playsHapticsOnly = newValue } }
  }

  /// Whether haptic events are left out; counts from the next start on.
  open var playsAudioOnly: Bool {
    get { backing.withState { $0.playsAudioOnly } }
    set {
      EngineBackends.recordNewerAPI("playsAudioOnly", iOS: 16)
      backing.withState { $0.playsAudioOnly = newValue }
    }
  }

  /// Whether audio is silent; acts at once.
  open var isMutedForAudio: Bool {
    get { backing.withState { $0.isMutedForAudio } }
    set { backing.setMuted(audio: newValue) }
  }

  /// Whether haptics are silent; acts at once.
  open var isMutedForHaptics: Bool {
    get { backing.withState { $0.isMutedForHaptics } }
    set { backing.setMuted(haptics: newValue) }
  }

  /// Whether the engine stops by itself after two minutes without playing, and starts by itself.
  open var isAutoShutdownEnabled: Bool {
    get { backing.withState { $0.isAutoShutdownEnabled } }
    set { backing.setAutoShutdown(newValue) }
  }

  /// What was rendered since the last start, where the output is in memory.
  package func renderedSamples(ofChannel channel: Int) -> [Float] {
    backing.withState { $0.lastVirtualSession }?.samples(ofChannel: channel) ?? []
  }

  package func interrupt(_ reason: StoppedReason) { backing.interrupt(reason) }

  package func simulateReset() { backing.requestReset() }
}

/// What the hardware can do.
public protocol CHHapticDeviceCapability: NSObjectProtocol {
  /// Whether haptic events can be felt.
  var supportsHaptics: Bool { get }
  /// Whether audio events can be heard.
  var supportsAudio: Bool { get }

  /// The range and default of an event's parameter. Throws `invalidParameterType` or
  /// `invalidEventType` for what does not exist, and `invalidParameterType` for a parameter that
  /// events of the type do not react to.
  func attributes(
    forEventParameter inParameter: CHHapticEvent.ParameterID,
    eventType type: CHHapticEvent.EventType
  )
    throws -> any CHHapticParameterAttributes

  /// The range and neutral value of a control; throws `invalidParameterType` for what does not
  /// exist.
  func attributes(forDynamicParameter inParameter: CHHapticDynamicParameter.ID) throws
    -> any CHHapticParameterAttributes
}

/// The range and default of a parameter.
public protocol CHHapticParameterAttributes: NSObjectProtocol {
  /// The least value; lower ones count as it.
  var minValue: Float { get }
  /// The greatest value; higher ones count as it.
  var maxValue: Float { get }
  /// The value where none is given.
  var defaultValue: Float { get }
}

final class DeviceCapability: NSObject, CHHapticDeviceCapability {
  let supportsHaptics: Bool
  let supportsAudio: Bool

  init(supportsHaptics: Bool, supportsAudio: Bool) {
    self.supportsHaptics = supportsHaptics
    self.supportsAudio = supportsAudio
  }

  func attributes(
    forEventParameter inParameter: CHHapticEvent.ParameterID,
    eventType type: CHHapticEvent.EventType
  )
    throws -> any CHHapticParameterAttributes
  {
    let id = try EventParameterID(inParameter)
    let kind = try HapticEvent.Kind(type)
    guard kind.responds(to: id) else {
      throw CHHapticError(
        .invalidParameterType, "\(kind.rawValue) events do not respond to \(id.rawValue)")
    }
    return ParameterAttributes(id.range, defaultValue: id.defaultValue(for: kind))
  }

  func attributes(forDynamicParameter inParameter: CHHapticDynamicParameter.ID) throws
    -> any CHHapticParameterAttributes
  {
    let id = try DynamicParameterID(inParameter)
    return ParameterAttributes(id.range, defaultValue: id.neutralValue)
  }

  override var description: String {
    "CHHapticDeviceCapability(haptics \(supportsHaptics), audio \(supportsAudio))"
  }
}

final class ParameterAttributes: NSObject, CHHapticParameterAttributes {
  let minValue: Float
  let maxValue: Float
  let defaultValue: Float

  init(_ range: ClosedRange<Float>, defaultValue: Float) {
    minValue = range.lowerBound
    maxValue = range.upperBound
    self.defaultValue = defaultValue
  }

  override var description: String {
    "CHHapticParameterAttributes(\(minValue) to \(maxValue), default \(defaultValue))"
  }
}
