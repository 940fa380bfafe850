// Files that import only Core Haptics use Foundation's types. On Apple's systems, a framework
// re-exports the imports of its headers, and Foundation re-exports Combine and Observation.
@_exported public import Combine
@_exported public import Foundation
public import AVFAudio
internal import HapticModel

/// Plays haptic patterns: the interface of Apple's class of the same name, on Temblor's engine.
///
/// The article Compatibility lists the differences.
open class CHHapticEngine: NSObject {
  /// A handler that is called when a start or stop has finished, with an error if it has failed.
  public typealias CompletionHandler = ((any Error)?) -> Void
  /// A handler that is called when all players have finished.
  ///
  /// It returns the action that the engine takes next.
  public typealias FinishedHandler = ((any Error)?) -> CHHapticEngine.FinishedAction
  /// A handler that is called after the engine stops without a request by the application.
  public typealias StoppedHandler = (CHHapticEngine.StoppedReason) -> Void
  /// A handler that the engine calls after a reset. A reset discards players and registered audio.
  public typealias ResetHandler = () -> Void

  /// The action that an engine takes when all players have finished.
  public enum FinishedAction: Int, Sendable { case stopEngine = 1, leaveEngineRunning }

  /// The reason that an engine stopped.
  public enum StoppedReason: Int, Sendable {
    /// The audio session was interrupted. Only tests cause this on Linux.
    case audioSessionInterrupt = 1
    /// The application was suspended. Only tests cause this on Linux.
    case applicationSuspended = 2
    /// The engine was idle for two minutes with auto shutdown enabled.
    case idleTimeout = 3
    /// The handler of `notifyWhenPlayersFinished` requested the stop.
    case notifyWhenFinished = 4
    /// The engine was released while it played.
    case engineDestroyed = 5
    /// A game controller was disconnected. This reason does not occur on Linux.
    case gameControllerDisconnect = 6
    /// Any other reason, such as the loss of the device.
    case systemError = -1
  }

  let backing: EngineBacking

  /// Returns the capabilities of the output of this process.
  ///
  /// Haptics are unsupported if no device can be opened.
  open class func capabilitiesForHardware() -> any CHHapticDeviceCapability {
    let isAvailable = EngineBackends.currentBackend.isOutputAvailable
    return DeviceCapability(supportsHaptics: isAvailable, supportsAudio: isAvailable)
  }

  /// Creates an engine that is not running; also written `CHHapticEngine()`.
  public init(andReturnError: () = ()) throws {
    backing = EngineBacking(backend: EngineBackends.backendForNewEngine())
  }

  /// Creates an engine that is not running. The audio session is ignored.
  public init(audioSession: AVAudioSession?) throws {
    backing = EngineBacking(backend: EngineBackends.backendForNewEngine())
  }

  package init(backend: any EngineBackend) { backing = EngineBacking(backend: backend) }

  deinit { backing.handleEngineRelease() }

  /// Starts the engine, and returns when it is running.
  open func start() throws { try backing.start() }

  /// Starts the engine, and calls a handler when it is running or cannot start.
  @preconcurrency
  open func start(completionHandler: (@Sendable ((any Error)?) -> Void)? = nil) {
    backing.startAsynchronously(completionHandler)
  }

  /// Starts the engine, and returns on the caller's actor when it is running.
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

  /// Stops the engine. Active players fade out.
  @preconcurrency
  open func stop(completionHandler: (@Sendable ((any Error)?) -> Void)? = nil) {
    backing.stopAsynchronously(completionHandler)
  }

  /// Stops the engine, and returns on the caller's actor when it has stopped.
  nonisolated(nonsending) open func stop() async throws {
    let backing = backing
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
      backing.stopAsynchronously { _ in continuation.resume() }
    }
  }

  /// Calls a handler once when all players have finished.
  open func notifyWhenPlayersFinished(finishedHandler: @escaping CHHapticEngine.FinishedHandler) {
    backing.addFinishedHandler(finishedHandler)
  }

  /// Returns a new player for a pattern.
  open func makePlayer(with pattern: CHHapticPattern) throws -> any CHHapticPatternPlayer {
    PatternPlayerObject(try backing.makePlayer(pattern))
  }

  /// Returns a new advanced player for a pattern.
  ///
  /// It can also be paused, sought, looped, and played at other rates.
  open func makeAdvancedPlayer(with pattern: CHHapticPattern) throws
    -> any CHHapticAdvancedPatternPlayer
  {
    AdvancedPatternPlayerObject(try backing.makePlayer(pattern))
  }

  /// Plays an AHAP file once. Starts the engine if it is not running.
  open func playPattern(from fileURL: URL) throws {
    try backing.playOnce(CHHapticPattern(contentsOf: fileURL))
  }

  /// Plays AHAP text once. Starts the engine if it is not running.
  open func playPattern(from data: Data) throws {
    try backing.playOnce(CHHapticPattern(ahap: data))
  }

  /// Registers a sound file with the engine, and returns the identifier for events.
  open func registerAudioResource(_ resourceURL: URL, options: [AnyHashable: Any] = [:]) throws
    -> CHHapticAudioResourceID
  { try backing.registerAudioResource(resourceURL, options: options) }

  /// Removes a registered sound file.
  open func unregisterAudioResource(_ resourceID: CHHapticAudioResourceID) throws {
    try backing.unregisterAudioResource(resourceID)
  }

  /// The time on the engine's clock, in seconds. The clock stops while the engine is stopped.
  open var currentTime: TimeInterval { backing.currentSeconds }

  /// The handler that is called after the engine stops without a request by the application.
  open var stoppedHandler: CHHapticEngine.StoppedHandler {
    get { backing.withLockedState { $0.stoppedHandler } }
    set { backing.withLockedState { $0.stoppedHandler = newValue } }
  }

  /// The handler that is called after a reset of the engine, when a lost device has returned.
  open var resetHandler: CHHapticEngine.ResetHandler {
    get { backing.withLockedState { $0.resetHandler ?? {} } }
    set { backing.withLockedState { $0.resetHandler = newValue } }
  }

  /// A Boolean value that indicates whether audio events are omitted.
  ///
  /// The value takes effect at the next start.
  open var playsHapticsOnly: Bool {
    get { backing.withLockedState { $0.playsHapticsOnly } }
    set { backing.withLockedState { $0.playsHapticsOnly = newValue } }
  }

  /// A Boolean value that indicates whether haptic events are omitted.
  ///
  /// The value takes effect at the next start.
  open var playsAudioOnly: Bool {
    get { backing.withLockedState { $0.playsAudioOnly } }
    set {
      EngineBackends.recordUseOfNewerAPI("playsAudioOnly", iOS: 16)
      backing.withLockedState { $0.playsAudioOnly = newValue }
    }
  }

  /// A Boolean value that indicates whether audio is muted. The value takes effect immediately.
  open var isMutedForAudio: Bool {
    get { backing.withLockedState { $0.isMutedForAudio } }
    set { backing.setMuted(audio: newValue) }
  }

  /// A Boolean value that indicates whether haptics are muted. The value takes effect immediately.
  open var isMutedForHaptics: Bool {
    get { backing.withLockedState { $0.isMutedForHaptics } }
    set { backing.setMuted(haptics: newValue) }
  }

  /// A Boolean value that indicates whether auto shutdown is enabled.
  ///
  /// The engine then stops after two idle minutes and starts on demand.
  open var isAutoShutdownEnabled: Bool {
    get { backing.withLockedState { $0.isAutoShutdownEnabled } }
    set { backing.setAutoShutdown(newValue) }
  }

  /// Returns the samples that the engine has rendered into memory since its last start.
  ///
  /// The output must be in memory.
  package func renderedSamples(ofChannel channel: Int) -> [Float] {
    backing.withLockedState { $0.lastVirtualSession }?.samples(ofChannel: channel) ?? []
  }

  package func interrupt(_ reason: StoppedReason) { backing.interrupt(reason) }

  package func simulateReset() { backing.requestReset() }
}

/// The capabilities of the output device.
public protocol CHHapticDeviceCapability: NSObjectProtocol {
  /// A Boolean value that indicates whether haptic events can be felt.
  var supportsHaptics: Bool { get }
  /// A Boolean value that indicates whether audio events can be heard.
  var supportsAudio: Bool { get }

  /// Returns the range and default of an event parameter.
  ///
  /// - Parameters:
  ///   - inParameter: The parameter.
  ///   - type: The type of the event.
  /// - Throws: `invalidParameterType` or `invalidEventType` for an unknown identifier, and
  ///   `invalidParameterType` for a parameter that has no effect on events of the type.
  func attributes(
    forEventParameter inParameter: CHHapticEvent.ParameterID,
    eventType type: CHHapticEvent.EventType
  )
    throws -> any CHHapticParameterAttributes

  /// Returns the range and neutral value of a dynamic parameter.
  ///
  /// Throws `invalidParameterType` for an unknown identifier.
  func attributes(forDynamicParameter inParameter: CHHapticDynamicParameter.ID) throws
    -> any CHHapticParameterAttributes
}

/// The range and the default value of a parameter.
public protocol CHHapticParameterAttributes: NSObjectProtocol {
  /// The minimum value of the parameter. Lower values are clamped.
  var minValue: Float { get }
  /// The maximum value of the parameter. Higher values are clamped.
  var maxValue: Float { get }
  /// The default value of the parameter.
  var defaultValue: Float { get }
}

/// The capabilities of the output of the process.
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
    let eventParameterID = try EventParameterID(inParameter)
    let eventKind = try HapticEvent.Kind(type)
    guard eventKind.responds(to: eventParameterID) else {
      throw CHHapticError(
        .invalidParameterType,
        "\(eventKind.rawValue) events do not respond to \(eventParameterID.rawValue)")
    }
    return ParameterAttributes(
      eventParameterID.range, defaultValue: eventParameterID.defaultValue(for: eventKind))
  }

  func attributes(forDynamicParameter inParameter: CHHapticDynamicParameter.ID) throws
    -> any CHHapticParameterAttributes
  {
    let dynamicParameterID = try DynamicParameterID(inParameter)
    return ParameterAttributes(
      dynamicParameterID.range, defaultValue: dynamicParameterID.neutralValue)
  }

  override var description: String {
    "CHHapticDeviceCapability(haptics \(supportsHaptics), audio \(supportsAudio))"
  }
}

/// The range and the default value of a parameter.
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
