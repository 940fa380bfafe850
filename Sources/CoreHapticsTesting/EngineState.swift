internal import CoreHaptics

/// An engine of an application, as a test sees it.
public struct EngineState: Equatable, Sendable, CustomStringConvertible {
  /// The engine's number on its device, from 1, in the order in which engines were made.
  public var number: Int
  /// Whether it was started and has not stopped.
  public var isRunning: Bool
  /// Seconds on its own clock, `currentTime`.
  public var currentTime: Double
  /// Players that play, are paused, or wait for their start.
  public var activePlayerCount: Int
  /// Whether the application has set a reset handler.
  public var hasResetHandler: Bool

  /// One line, such as `engine 1: running, 0.500 s, 1 active player, no reset handler`.
  public var description: String {
    "engine \(number): \(isRunning ? "running" : "stopped"), \(thousandths(currentTime)) s, "
      + "\(activePlayerCount) active player\(activePlayerCount == 1 ? "" : "s"), "
      + (hasResetHandler ? "reset handler" : "no reset handler")
  }
}

/// A number with three digits behind the point.
func thousandths(_ value: Double) -> String {
  guard abs(value) < 1e12 else { return "\(value)" }
  let scaled = Int((value * 1_000).rounded())
  let rest = String(abs(scaled) % 1_000)
  return "\(scaled < 0 ? "-" : "")\(abs(scaled) / 1_000)." + String(repeating: "0", count: 3 - rest.count) + rest
}

extension VirtualHapticDevice {
  /// The engines that exist on the device, by number; also those that an application keeps private.
  public var engines: [EngineState] {
    backend.engineStates.map {
      EngineState(
        number: $0.number, isRunning: $0.isRunning, currentTime: $0.currentTime,
        activePlayerCount: $0.activePlayerCount, hasResetHandler: $0.hasResetHandler)
    }
  }
}
