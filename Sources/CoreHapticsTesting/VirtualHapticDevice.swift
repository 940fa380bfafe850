public import CoreHaptics
public import HapticRender

/// A device in virtual time for tests of code that uses Core Haptics: no sound card, no waiting.
///
/// Engines made while it is in place, by `makeEngine` or by `CHHapticEngine()` after `install`, play into memory,
/// and their clocks go on only by `advance`. Handlers have been called when `advance` returns.
public final class VirtualHapticDevice: Sendable {
  package let backend: VirtualBackend

  /// A device that is there, at time 0.
  public init(rate: Double = 48_000, profile: TransducerProfile = .phone) {
    backend = VirtualBackend(rate: rate, profile: profile)
  }

  package init(_ backend: VirtualBackend) { self.backend = backend }

  /// The device of a process that runs with `TEMBLOR_OUTPUT=virtual`.
  public static let shared = VirtualHapticDevice(.shared)

  /// Lets `CHHapticEngine()` make engines on this device, from now on, in the whole process.
  public func install() { EngineBackends.use(backend) }

  /// Lets `CHHapticEngine()` make engines on what the environment names again.
  public static func uninstall() { EngineBackends.use(nil) }

  /// The device of the test whose task this is, the one that is installed, or that of the only test that runs.
  ///
  /// Nil where engines play in real time, and where several tests run and none can be named.
  public static var current: VirtualHapticDevice? {
    guard let backend = EngineBackends.virtual, backend !== VirtualBackend.stray else { return nil }
    return VirtualHapticDevice(backend)
  }

  /// Makes an engine on this device.
  public func makeEngine() -> CHHapticEngine { CHHapticEngine(backend: backend) }

  /// Seconds that have gone by.
  public var now: Double { backend.now }

  /// Lets time go by, and calls every handler that is due in it.
  ///
  /// Any number of steps of any length leads to the same time; negative and non-finite ones are none.
  public func advance(seconds: Double) { backend.advance(by: seconds.isFinite ? .seconds(seconds) : .zero) }

  /// What an engine has rendered since it was last started: the samples of one of two channels.
  public func samples(of engine: CHHapticEngine, channel: Int = 0) -> [Float] {
    engine.renderedSamples(ofChannel: channel)
  }

  /// Takes the device away: engines stop with `systemError`, and cannot be started.
  public func disconnect() { backend.setPresent(false) }

  /// Brings the device back: engines that were stopped by its loss are reset.
  public func reconnect() { backend.setPresent(true) }

  /// Stops an engine as the system does.
  public func stop(_ engine: CHHapticEngine, reason: CHHapticEngine.StoppedReason) {
    engine.interrupt(reason)
    backend.settle()
  }

  /// Resets an engine as the system does after a failure of its server.
  public func reset(_ engine: CHHapticEngine) {
    engine.simulateReset()
    backend.settle()
  }
}
