import HapticPlayback
import Synchronization

/// A stage without keys, which plays to nobody where there is no device, so that scripts keep working.
final class ListenBackend: SessionBackend {
  /// What happens at the device, for commands' connections.
  let inbox = EventInbox()
  private let stage: any SessionBackend
  private let needsDevice: Bool
  private let report: @Sendable (String) -> Void
  private let granted = Mutex<DeviceSummary?>(nil)

  /// A stage in front of another.
  ///
  /// - Parameters:
  ///   - needsDevice: Whether it is an error that the device cannot be opened.
  ///   - report: Told when there is none.
  init(
    _ stage: any SessionBackend, needsDevice: Bool, report: @escaping @Sendable (String) -> Void
  ) {
    self.stage = stage
    self.needsDevice = needsDevice
    self.report = report
  }

  var time: any TimeSource { stage.time }

  /// The device that plays, or nothing where none does.
  var device: DeviceSummary? { granted.withLock { $0 } }

  /// Standard input has commands.
  func keyboard() -> (any Keyboard)? { nil }

  func open(
    _ output: String, _ request: OutputRequest
  ) throws(OutputError) -> sending OpenedOutput {
    do throws(OutputError) {
      let opened = try stage.open(output, request)
      let device = DeviceSummary(opened)
      granted.withLock { $0 = device }
      return opened
    } catch {
      guard !needsDevice else { throw error }
      report("\(error.message); continuing without sound")
      let nothing = OpenedOutput(sink: NullSink(request.format, time: time), name: "none")
      let device = DeviceSummary(nothing)
      granted.withLock { $0 = device }
      return nothing
    }
  }

  func play(
    _ engine: PlaybackEngine, through output: sending OpenedOutput, recording: RecordingBuffer?,
    eventHandler: @escaping LivePlayback.EventHandler
  ) -> any EngineDriver {
    let inbox = inbox
    return stage.play(engine, through: output, recording: recording) { event in
      // First here: who is woken by the other finds it.
      inbox.put(event)
      eventHandler(event)
    }
  }
}
