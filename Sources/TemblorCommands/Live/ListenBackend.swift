import HapticOutputs
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

  func drive(
    _ request: PCMRequest, eventHandler: @escaping LivePlayback.EventHandler,
    prepare: (DeviceSummary) throws -> (engine: PlaybackEngine, recording: RecordingBuffer?)
  ) throws -> any EngineDriver {
    let inbox = inbox
    let tell: LivePlayback.EventHandler = { event in
      // First here: who is woken by the other finds it.
      inbox.put(event)
      eventHandler(event)
    }
    do {
      return try stage.drive(request, eventHandler: tell) { device in
        granted.withLock { $0 = device }
        return try prepare(device)
      }
    } catch let error as ALSAError {
      let refusal = DeviceRefusal(error)
      guard !needsDevice else { throw refusal }
      report("\(refusal); continuing without sound")
      return try driveNothing(request, eventHandler: tell, prepare: prepare)
    }
  }

  private func driveNothing(
    _ request: PCMRequest, eventHandler: @escaping LivePlayback.EventHandler,
    prepare: (DeviceSummary) throws -> (engine: PlaybackEngine, recording: RecordingBuffer?)
  ) throws -> any EngineDriver {
    let format = SinkFormat(
      rate: Double(request.rate), channelCount: request.channels.count,
      periodSize: request.periodSize, bufferSize: request.bufferSize)
    let nothing = DeviceSummary(name: "none", format: format, encoding: "float")
    granted.withLock { $0 = nothing }
    let (engine, recording) = try prepare(nothing)
    return LivePlayback(
      engine, sink: NullSink(format, time: time), time: time, recording: recording,
      eventHandler: eventHandler)
  }
}
