import CommandLineKit
import HapticOutputs
import HapticPlayback

/// Where a live verb plays: outputs, a clock and a keyboard; tests put virtual ones in.
protocol SessionBackend: Sendable {
  var time: any TimeSource { get }

  /// The keys, or nothing where the program was not started at a terminal; at most one at a time.
  func keyboard() -> (any Keyboard)?

  func open(_ output: String, _ request: OutputRequest) throws(OutputError) -> sending OpenedOutput

  /// Plays an engine through an output.
  ///
  /// - Parameter eventHandler: Receives what happens, on another thread.
  func play(
    _ engine: PlaybackEngine, through output: sending OpenedOutput, recording: RecordingBuffer?,
    eventHandler: @escaping LivePlayback.EventHandler
  ) -> any EngineDriver
}

/// The outputs of a registry, this machine's clock and the terminal.
struct SystemBackend: SessionBackend {
  /// What `--device` can name.
  var outputs = OutputRegistry.standard

  var time: any TimeSource { SystemTimeSource() }

  func keyboard() -> (any Keyboard)? { TerminalKeyboard() }

  func open(_ output: String, _ request: OutputRequest) throws(OutputError) -> sending OpenedOutput {
    try PatientOpening(outputs, output, request, time: time).wait()
  }

  func play(
    _ engine: PlaybackEngine, through output: sending OpenedOutput, recording: RecordingBuffer?,
    eventHandler: @escaping LivePlayback.EventHandler
  ) -> any EngineDriver {
    // A sound server does not excuse being late.
    LivePlayback(engine, sink: output.sink, wantsRealTime: true, recording: recording, eventHandler: eventHandler)
  }
}

/// What renders an engine while a live verb runs.
protocol EngineDriver: AnyObject {
  var isOver: Bool { get }

  /// Fades out, lets the rest be heard, and returns when that is done, or when a time has passed.
  ///
  /// - Parameter limit: How long to wait at most; nil for as long as the sink may take in good order.
  /// - Returns: Whether it was done.
  func stop(within limit: Duration?) -> Bool

  /// Takes the records of blocks since the last call, oldest first; more than about 1,000 are dropped.
  func takeBlockTimings() -> [BlockTiming]
}

extension LivePlayback: EngineDriver {}
