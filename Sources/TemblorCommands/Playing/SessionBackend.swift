import HapticOutputs
import HapticPlayback

/// Where a live verb plays: a device, a clock and a keyboard; tests put virtual ones in.
protocol SessionBackend: Sendable {
  /// What the verb waits in.
  var time: any TimeSource { get }

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
    prepare: (DeviceSummary) throws -> (engine: PlaybackEngine, recording: RecordingBuffer?)
  ) throws -> any EngineDriver
}

/// ALSA's devices, this machine's clock and the terminal.
struct SystemBackend: SessionBackend {
  var time: any TimeSource { SystemTimeSource() }

  func keyboard() -> (any Keyboard)? { TerminalKeyboard() }

  func drive(
    _ request: PCMRequest, eventHandler: @escaping LivePlayback.EventHandler,
    prepare: (DeviceSummary) throws -> (engine: PlaybackEngine, recording: RecordingBuffer?)
  ) throws -> any EngineDriver {
    let sink = try ALSASink(request)
    let device = DeviceSummary(sink)
    let (engine, recording) = try prepare(device)
    return LivePlayback(
      engine, sink: sink, wantsRealTime: device.isHardware, recording: recording,
      eventHandler: eventHandler)
  }
}
