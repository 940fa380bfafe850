public import CoreHaptics
internal import Foundation

/// Where a manager gets its engine from, so that a test can give it one in virtual time.
public struct EngineProvider: Sendable {
  /// Seconds between two attempts at a device that is not there.
  public static let retryInterval = 1.0

  /// Whether haptics can be felt at all; asked once, before anything else.
  public var supportsHaptics: @Sendable () -> Bool
  /// Makes an engine; called for the first, and again after every reset.
  public var makeEngine: @Sendable () throws -> CHHapticEngine
  /// Seconds on a clock that only goes forward; attempts at an absent device are spaced by it.
  public var now: @Sendable () -> Double

  /// A source of engines.
  public init(
    supportsHaptics: @escaping @Sendable () -> Bool = { true },
    now: @escaping @Sendable () -> Double = { ProcessInfo.processInfo.systemUptime },
    makeEngine: @escaping @Sendable () throws -> CHHapticEngine
  ) {
    self.supportsHaptics = supportsHaptics
    self.now = now
    self.makeEngine = makeEngine
  }

  /// Engines on the output that the process has.
  public static let hardware = EngineProvider(
    supportsHaptics: { CHHapticEngine.capabilitiesForHardware().supportsHaptics }
  ) { try CHHapticEngine() }
}
