internal import CFaultyPCM
package import HapticOutputs

/// A playback device in virtual time that fails on a schedule and reports what was heard when.
///
/// A real PCM of ALSA stands behind it, so that a sink meets the library's own behaviour. It
/// belongs to the thread that waits in its `DeviceTime`, with which it is made.
@safe public final class FaultyDevice {
  /// Takes what was heard: the moment of the first frame, interleaved samples, channels.
  public typealias Listener = (_ time: Duration, _ samples: Span<Float>, _ channelCount: Int) ->
    Void

  /// What it offers when it is opened the next time.
  public var capabilities = Capabilities()
  /// Hears every frame at its time.
  public var listener: Listener?
  /// Called where a call hung, before it returns: here something else can take over.
  public var hangHandler: (() -> Void)?
  /// The time in which calls hang.
  weak var time: DeviceTime?
  /// How often it was opened.
  public private(set) var openCount = 0
  /// How often somebody tried to open it.
  public private(set) var openAttemptCount = 0

  private var device: OpaquePointer?
  private var scheduledFaults: [(time: Duration, fault: Fault)] = []
  private var scheduledFaultEnds: [(time: Duration, ending: FaultEnd)] = []
  private var openErrorCode: Int32?
  private var pendingHangs: [(call: Fault.Call, duration: Duration)] = []
  private var now = Duration.zero

  private enum FaultEnd { case disconnection, stall, falseReadiness }

  /// A device that nothing is wrong with yet.
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

  /// Plans a fault; one whose time is past comes at once.
  public func scheduleFault(_ fault: Fault, at time: Duration) {
    let index = scheduledFaults.firstIndex { $0.time > time } ?? scheduledFaults.endIndex
    scheduledFaults.insert((time, fault), at: index)
  }

  /// Frames it has taken.
  public var acceptedFrameCount: Int { Int(unsafe cfp_get_taken(device)) }
  /// Frames that were heard.
  public var playedFrameCount: Int { Int(unsafe cfp_get_heard(device)) }

  /// Stands in for opening a device by a name.
  ///
  /// - Parameter results: Results of calls that are forced besides.
  /// - Parameter hanging: The calls beside the thread that renders, opening again or closing, that
  ///   never return.
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
    unsafe cfp_set_abilities(device, capabilities.cValue)
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

  /// The next moment at which something happens.
  var nextEvent: Duration? {
    let played = unsafe cfp_next_event(device)
    return [
      played == .max ? nil : .nanoseconds(played), scheduledFaults.first?.time,
      scheduledFaultEnds.map(\.time).min(),
    ].compactMap {
      $0
    }.min()
  }

  /// Plays on until a moment, with all that is planned before it.
  func advance(to time: Duration) {
    while true {
      let next = [scheduledFaults.first?.time, scheduledFaultEnds.map(\.time).min()].compactMap {
        $0
      }.min()
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
      unsafe cfp_run_dry(device)
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
      unsafe cfp_cry_wolf(device, true)
      scheduledFaultEnds.removeAll { $0.ending == .falseReadiness }
      scheduledFaultEnds.append((now + duration, .falseReadiness))
    case .skipFrames(let frameCount):
      unsafe cfp_skip(device, frameCount)
    case .dropFrames(let frameCount):
      unsafe cfp_swallow(device, frameCount)
    case .misreportPointer(.random):
      unsafe cfp_lie(device, CFP_RANDOM, 0)
    case .misreportPointer(.full):
      unsafe cfp_lie(device, CFP_FULL, 0)
    case .misreportPointer(.steps(let frameCount)):
      unsafe cfp_lie(device, CFP_STEPS, UInt32(frameCount))
    case .misreportPointer(.back(let frameCount)):
      unsafe cfp_lie(device, CFP_BACK, UInt32(frameCount))
    case .overstateTransfer(let frameCount):
      unsafe cfp_exceed(device, frameCount)
    case .loseConfiguration:
      unsafe cfp_unset(device)
    case .hang(let call, let duration):
      pendingHangs.append((call, duration))
    case .changeCapabilities(let abilities):
      self.capabilities = abilities
    }
  }

  private func endFault(_ ending: FaultEnd) {
    switch ending {
    case .disconnection: openErrorCode = nil
    case .stall: unsafe cfp_stall(device, false)
    case .falseReadiness: unsafe cfp_cry_wolf(device, false)
    }
  }
}
