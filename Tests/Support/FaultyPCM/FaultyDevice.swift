internal import CFaultyPCM
package import HapticOutputs

/// A playback device in virtual time that fails on a schedule and reports the frames that it plays.
///
/// The device is an ALSA plug-in, so that a sink runs the code of the library. It belongs to the
/// thread that waits in its `DeviceTime`.
@safe public final class FaultyDevice {
  /// Receives played frames: the time of the first frame, the interleaved samples, and the number
  /// of channels.
  public typealias Listener = (_ time: Duration, _ samples: Span<Float>, _ channelCount: Int) ->
    Void

  /// The capabilities of the device when it is opened the next time.
  public var capabilities = Capabilities()
  /// The closure that receives every frame at the time at which it is heard.
  public var listener: Listener?
  /// Is called at the end of a hang, before the call returns, so that another thread can act.
  public var hangHandler: (() -> Void)?
  /// The clock that advances while a call hangs.
  weak var time: DeviceTime?
  /// The number of times that the device was opened.
  public private(set) var openCount = 0
  /// The number of attempts to open the device.
  public private(set) var openAttemptCount = 0

  private var device: OpaquePointer?
  private var scheduledFaults: [(time: Duration, fault: Fault)] = []
  private var scheduledFaultEnds: [(time: Duration, ending: FaultEnd)] = []
  private var openErrorCode: Int32?
  private var pendingHangs: [(call: Fault.Call, duration: Duration)] = []
  private var now = Duration.zero

  private enum FaultEnd { case disconnection, stall, falseReadiness }

  /// Creates a device without faults.
  public init() {
    unsafe device = cfp_create(
      { context, time, samples, frameCount, channelCount in
        guard let context = unsafe context else { return }
        let device = unsafe Unmanaged<FaultyDevice>.fromOpaque(context).takeUnretainedValue()
        let span = unsafe Span(
          _unsafeStart: samples.unsafelyUnwrapped, count: Int(frameCount * channelCount))
        device.listener?(.nanoseconds(time), span, Int(channelCount))
      },
      { context, call in
        guard let context = unsafe context else { return }
        unsafe Unmanaged<FaultyDevice>.fromOpaque(context).takeUnretainedValue().handleCall(call)
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  deinit {
    if let device = unsafe device {
      unsafe cfp_destroy(device)
    }
  }

  /// Schedules a fault. A fault whose time has passed occurs immediately.
  public func scheduleFault(_ fault: Fault, at time: Duration) {
    let index = scheduledFaults.firstIndex { $0.time > time } ?? scheduledFaults.endIndex
    scheduledFaults.insert((time, fault), at: index)
  }

  /// The number of frames that the device has accepted.
  public var acceptedFrameCount: Int { Int(unsafe cfp_get_accepted_frames(device)) }
  /// The number of frames that the device has played.
  public var playedFrameCount: Int { Int(unsafe cfp_get_played_frames(device)) }

  /// Returns the functions that replace those that open and call a device of the system.
  ///
  /// - Parameters:
  ///   - results: Returns the result to force for a call, or nil.
  ///   - hanging: The calls outside the render thread, to reopen or close the device, that never
  ///     return.
  package func interception(
    results: @escaping @Sendable (PCMCall) -> Int? = { _ in nil }, hanging: Set<PCMCall> = []
  ) -> PCMInterception {
    // Only the thread that the device belongs to opens it.
    nonisolated(unsafe) let device = self
    var interception = PCMInterception(open: { _ in unsafe device.open() }, result: results)
    interception.letsCallReturn = { !hanging.contains($0) }
    return interception
  }

  private func open() -> PCMInterception.OpeningResult {
    openAttemptCount += 1
    if let openErrorCode { return .refused(openErrorCode) }
    var pcm: UnsafeMutableRawPointer?
    unsafe cfp_set_capabilities(device, capabilities.cValue)
    let result = unsafe cfp_open(device, &pcm)
    guard result == 0, let pcm = unsafe pcm else { return .refused(-result) }
    openCount += 1
    return unsafe .opened(OpaquePointer(pcm))
  }

  private func handleCall(_ call: cfp_call) {
    guard let index = pendingHangs.firstIndex(where: { $0.call.rawValue == call.rawValue }) else {
      return
    }
    time?.advance(by: pendingHangs.remove(at: index).duration)
    hangHandler?()
  }

  /// The time of the next event; nil without one.
  var nextEvent: Duration? {
    let played = unsafe cfp_next_event(device)
    return [
      played == .max ? nil : .nanoseconds(played), scheduledFaults.first?.time,
      scheduledFaultEnds.map(\.time).min(),
    ].compactMap(\.self).min()
  }

  /// Plays until a time, with the faults that are scheduled before it.
  func advance(to time: Duration) {
    while true {
      let next = [scheduledFaults.first?.time, scheduledFaultEnds.map(\.time).min()]
        .compactMap(\.self).min()
      guard let next, next <= time else { break }
      move(to: max(now, next))
      if let index = scheduledFaultEnds.firstIndex(where: { $0.time <= next }) {
        endFault(scheduledFaultEnds.remove(at: index).ending)
      } else if !scheduledFaults.isEmpty {
        beginFault(scheduledFaults.removeFirst().fault)
      }
    }
    move(to: time)
  }

  private func move(to time: Duration) {
    now = time
    let (seconds, attoseconds) = time.components
    unsafe cfp_advance(device, seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
  }

  private func beginFault(_ fault: Fault) {
    switch fault {
    case .underrun:
      unsafe cfp_underrun(device)
    case .suspend(let canResume):
      unsafe cfp_suspend(device, canResume)
    case .disconnect(let duration, let code):
      unsafe cfp_disconnect(device)
      openErrorCode = code
      scheduledFaultEnds.removeAll { $0.ending == .disconnection }
      scheduledFaultEnds.append((now + duration, .disconnection))
    case .stall(let duration):
      unsafe cfp_stall(device, true)
      scheduledFaultEnds.removeAll { $0.ending == .stall }
      scheduledFaultEnds.append((now + duration, .stall))
    case .shortTransfers(let frameCount, let count):
      unsafe cfp_limit_transfers(device, UInt32(frameCount), UInt32(count))
    case .failTransfers(let code, let count):
      unsafe cfp_fail_transfers(device, -code, UInt32(count))
    case .failStarts(let code, let count):
      unsafe cfp_fail_starts(device, -code, UInt32(count))
    case .failPreparations(let code, let count):
      unsafe cfp_fail_preparations(device, -code, UInt32(count))
    case .addDelay(let frameCount):
      unsafe cfp_add_delay(device, frameCount)
    case .reportFalseReadiness(let duration):
      unsafe cfp_report_false_readiness(device, true)
      scheduledFaultEnds.removeAll { $0.ending == .falseReadiness }
      scheduledFaultEnds.append((now + duration, .falseReadiness))
    case .skipFrames(let frameCount):
      unsafe cfp_skip(device, frameCount)
    case .dropFrames(let frameCount):
      unsafe cfp_drop_frames(device, frameCount)
    case .misreportPointer(.random):
      unsafe cfp_misreport_pointer(device, CFP_RANDOM, 0)
    case .misreportPointer(.full):
      unsafe cfp_misreport_pointer(device, CFP_FULL, 0)
    case .misreportPointer(.steps(let frameCount)):
      unsafe cfp_misreport_pointer(device, CFP_STEPS, UInt32(frameCount))
    case .misreportPointer(.back(let frameCount)):
      unsafe cfp_misreport_pointer(device, CFP_BACK, UInt32(frameCount))
    case .overstateTransfer(let frameCount):
      unsafe cfp_overstate_transfer(device, frameCount)
    case .loseConfiguration:
      unsafe cfp_lose_configuration(device)
    case .hang(let call, let duration):
      pendingHangs.append((call, duration))
    case .changeCapabilities(let newCapabilities):
      capabilities = newCapabilities
    }
  }

  private func endFault(_ ending: FaultEnd) {
    switch ending {
    case .disconnection: openErrorCode = nil
    case .stall: unsafe cfp_stall(device, false)
    case .falseReadiness: unsafe cfp_report_false_readiness(device, false)
    }
  }
}
