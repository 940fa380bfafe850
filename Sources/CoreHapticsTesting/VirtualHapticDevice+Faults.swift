public import CoreHaptics

extension VirtualHapticDevice {
  /// Lets the next start of an engine fail, whichever engine it is; called again, the one after it too.
  ///
  /// - Parameter code: The code of the `CHHapticError` that the start throws.
  public func failNextStart(_ code: CHHapticError.Code = .serverInitFailed) {
    backend.faults.starts.append(.fail(code))
  }

  /// Lets the next start of an engine take some seconds of the device's time.
  ///
  /// A start that blocks its caller moves the clock; one with a handler is done when the time has come.
  public func delayNextStart(by seconds: Double) { backend.faults.starts.append(.delay(seconds: seconds)) }

  /// Whether the device plays haptics at all, as `capabilitiesForHardware()` reports; true at first.
  ///
  /// Where it does not, starts throw `notSupported`.
  public var supportsHaptics: Bool {
    get { backend.faults.supportsHaptics }
    set { backend.faults.supportsHaptics = newValue }
  }

  /// The most players at a time; one more throws `resourceNotAvailable`. No limit at first.
  public var playerLimit: Int {
    get { backend.faults.playerLimit }
    set { backend.faults.playerLimit = newValue }
  }

  /// Stops every engine that runs as the system does, by default as for a phone call.
  ///
  /// Stopped handlers have been called when it returns.
  public func interrupt(_ reason: CHHapticEngine.StoppedReason = .audioSessionInterrupt) {
    backend.interruptAll(reason)
  }

  /// Resets every engine, as after a failure of the system's haptic server: players are dead.
  ///
  /// Reset handlers have been called when it returns.
  public func reset() { backend.resetAll() }

  /// Loses media services, and has them back some seconds of the device's time later.
  ///
  /// Engines stop with `systemError` now, starts throw `serverInitFailed` until then, and engines are reset then.
  public func loseMediaServices(for seconds: Double = 0.5) {
    backend.setPresent(false)
    let backend = backend
    backend.after(seconds) { backend.setPresent(true) }
  }
}
