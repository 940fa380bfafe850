import ALSAOutput
import HapticPlayback

/// Where a live verb plays: a device, a clock and a keyboard; tests put virtual ones in.
protocol LiveStage: Sendable {
  /// What the verb waits in.
  var time: any Timekeeper { get }

  /// The keys, or nothing where the program was not started at a terminal; at most one at a time.
  func keyboard() -> (any Keyboard)?

  /// Opens a device, has an engine made for it, and lets it play.
  ///
  /// - Parameters:
  ///   - prepare: Makes the engine for what was granted; where it throws, nothing plays.
  ///   - eventHandler: Told what happens, on another thread.
  /// - Throws: `ALSAError`, or what `prepare` throws.
  func drive(
    _ request: PCMRequest, eventHandler: @escaping LivePlayback.EventHandler,
    prepare: (DeviceFigures) throws -> (engine: PlaybackEngine, recording: Recording?)
  ) throws -> any EngineDriver
}

/// ALSA's devices, this machine's clock and the terminal.
struct SystemStage: LiveStage {
  var time: any Timekeeper { SystemTime() }

  func keyboard() -> (any Keyboard)? { TerminalKeyboard() }

  func drive(
    _ request: PCMRequest, eventHandler: @escaping LivePlayback.EventHandler,
    prepare: (DeviceFigures) throws -> (engine: PlaybackEngine, recording: Recording?)
  ) throws -> any EngineDriver {
    let sink = try ALSASink(request)
    let device = DeviceFigures(sink)
    let (engine, recording) = try prepare(device)
    return LivePlayback(
      engine, sink: sink, wantsRealTime: device.isHardware, recording: recording,
      eventHandler: eventHandler)
  }
}
