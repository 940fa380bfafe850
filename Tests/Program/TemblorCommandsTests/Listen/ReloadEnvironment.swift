import CommandServer
import Glibc
import HapticPlayback
import PlaybackSessions
import Synchronization
import TestSupport
import Testing

@testable import TemblorCommands

/// An environment in virtual time whose standard input and socket receive commands at given times.
///
/// It belongs to one thread.
final class ReloadEnvironment: PlaybackEnvironment, TimeSource, @unchecked Sendable {
  /// A command and its time.
  struct TimedCommand {
    let time: Duration
    let command: String
    /// True if a client of the socket sends the command, and not standard input.
    var isFromClient = false
  }

  let input: StreamPipe
  let output: StreamPipe
  let device = CountedOutput()
  /// Receives each line of the server: its time, and whether it went to the client of the socket.
  var lineHandler: ((_ time: Duration, _ line: Substring, _ isToClient: Bool) -> Void)?
  /// The path of the server's socket, for the commands of the client.
  var socketPath: String?
  /// The time during which the opening of a device does not return.
  var hangPeriod: Range<Duration>?
  /// The only device that hangs; nil for all devices.
  var hangingOutput: String?
  /// Is called when a session opens its device.
  var openHandler: ((_ time: Duration) -> Void)?
  /// The times that the server allowed for openings during the hang.
  private(set) var openingTimeouts: [Duration] = []
  /// The fate of all frames of the sessions that have ended.
  private(set) var frameCounts = FrameCounts()
  /// The number of sessions that have ended.
  private(set) var sessionCount = 0
  private let simulatedEnvironment: SimulatedEnvironment
  /// Returns the next command after a time; nil at the end.
  private let nextCommand: (Duration) -> TimedCommand?
  private var nextTimedCommand: TimedCommand?
  private var awaitedReplyCount = 0
  private var client: Connection?
  private var openings: [Opening] = []

  /// The opening of an output for a probe.
  private struct Opening {
    let endTime: Duration
    let complete: () -> Void
  }

  init(commands nextCommand: @escaping (Duration) -> TimedCommand?) throws {
    input = try StreamPipe()
    output = try StreamPipe()
    self.nextCommand = nextCommand
    simulatedEnvironment = SimulatedEnvironment(
      outputRegistry: OutputRegistry([device], defaultScheme: CountedOutput.scheme))
    nextTimedCommand = nextCommand(.zero)
  }

  var time: any TimeSource { self }
  var now: Duration { simulatedEnvironment.now }
  func makeKeyboard() -> (any Keyboard)? { nil }

  // MARK: - Devices

  private func isHanging(_ output: String) -> Bool {
    hangPeriod?.contains(now) == true && (hangingOutput ?? output) == output
  }

  func openOutput(_ output: String, _ request: OutputRequest) throws(OutputError)
    -> sending OpenedOutput
  {
    if isHanging(output) {
      Issue.record("the server waits for a device that hangs")
    }
    openHandler?(now)
    return try simulatedEnvironment.openOutput(output, request)
  }

  func openOutput(
    _ output: String, _ request: OutputRequest, within timeout: Duration
  ) throws(OutputError) -> sending OpenedOutput {
    openHandler?(now)
    guard isHanging(output) else { return try simulatedEnvironment.openOutput(output, request) }
    openingTimeouts.append(timeout)
    throw .slowOpening(output)
  }

  func openPlaceholder(for output: String, _ request: OutputRequest) -> sending OpenedOutput? {
    guard let hangPeriod, let opened = try? simulatedEnvironment.openOutput(output, request) else {
      return nil
    }
    return OpenedOutput(
      sink: AwaitedSink(opened.sink, until: hangPeriod.upperBound, on: simulatedEnvironment),
      name: opened.name,
      isDevicePresent: false)
  }

  /// Opens an output at the end of the hang, or gives up after ten seconds, as the machine's
  /// environment does.
  func beginProbe(
    of output: String, _ request: OutputRequest, wake: WakeSignal
  ) throws(OutputError) -> OutputProbe {
    let probe = OutputProbe()
    let limit = now + .seconds(10)
    let end = isHanging(output) ? hangPeriod?.upperBound ?? now : now
    openings.append(
      Opening(endTime: min(end, limit)) { [simulatedEnvironment] in
        probe.complete(
          Result { () throws(OutputError) in
            guard end < limit else { throw .unresponsive(output) }
            return DeviceSummary(try simulatedEnvironment.openOutput(output, request))
          })
        wake.raise()
      })
    return probe
  }

  func play(
    _ engine: PlaybackEngine, through output: sending OpenedOutput, recording: RecordingBuffer?,
    eventHandler: @escaping LivePlayback.EventHandler
  ) -> any EngineDriver {
    let ledger = device.latestLedger
    let driver = simulatedEnvironment.play(
      engine, through: output, recording: recording, eventHandler: eventHandler)
    return AccountedDriver(driver) { [self] in
      var counts = ledger.withLock { $0 }
      counts.due = Int(engine.position)
      frameCounts.add(counts)
      sessionCount += 1
    }
  }

  // MARK: - Time

  /// Sends the command that is due, and otherwise passes the time until the next.
  func wait(for descriptors: inout [PollDescriptor], timeout: Duration?) {
    readLines()
    let ended = openings.filter { $0.endTime <= now }
    openings.removeAll { $0.endTime <= now }
    for opening in ended {
      opening.complete()
    }
    if !ended.isEmpty {
      SystemTimeSource().wait(for: &descriptors, timeout: .zero)
      if !descriptors.contains(where: { $0.receivedEvents != 0 }) {
        Issue.record("the end of a probe does not wake the session")
      }
      return
    }
    guard awaitedReplyCount == 0 || !openings.isEmpty else {
      // A pattern loads in real time. Without a timeout, the server waits only for the pattern, so
      // that no virtual time passes.
      SystemTimeSource().wait(
        for: &descriptors, timeout: timeout == nil ? HangLimit.duration : .milliseconds(2))
      if descriptors.contains(where: { $0.receivedEvents != 0 }) { return }
      return simulatedEnvironment.wait(for: &descriptors, timeout: .nanoseconds(1))
    }
    if let dueCommand = nextTimedCommand, dueCommand.time <= now {
      awaitedReplyCount += 1
      send(dueCommand)
      nextTimedCommand = nextCommand(now)
      return
    }
    let limits =
      [timeout, nextTimedCommand.map { $0.time - now }]
      + openings.map { max(.zero, $0.endTime - now) }
    simulatedEnvironment.wait(for: &descriptors, timeout: limits.compactMap(\.self).min())
  }

  private func send(_ timedCommand: TimedCommand) {
    guard timedCommand.isFromClient else { return input.write(timedCommand.command + "\n") }
    if client == nil, let socketPath {
      client = try? Connection(socketPath)
    }
    client?.send(timedCommand.command + "\n")
  }

  private func readLines() {
    read(output.received(), isToClient: false)
    if let client {
      read(client.received(), isToClient: true)
    }
  }

  private func read(_ text: String, isToClient: Bool) {
    for line in text.split(separator: "\n") {
      if !line.hasPrefix("event ") {
        awaitedReplyCount -= 1
      }
      lineHandler?(now, line, isToClient)
    }
  }
}

/// Reports the end of a session.
private final class AccountedDriver: EngineDriver {
  private let driver: any EngineDriver
  private let endHandler: () -> Void

  init(_ driver: any EngineDriver, endHandler: @escaping () -> Void) {
    self.driver = driver
    self.endHandler = endHandler
  }

  func stopPlayback(within limit: Duration?) -> Bool {
    defer { endHandler() }
    return driver.stopPlayback(within: limit)
  }

  func drainBlockTimings() -> [BlockTiming] { driver.drainBlockTimings() }
}

/// The fate of the frames of a session.
struct FrameCounts: Equatable {
  /// The frames that the engine has reached.
  var due = 0
  /// The frames that the sink received.
  var written = 0
  /// The frames that the sink reported as missed.
  var missed = 0
  /// The frames that passed while the device rested.
  var idle = 0

  mutating func add(_ counts: FrameCounts) {
    due += counts.due
    written += counts.written
    missed += counts.missed
    idle += counts.idle
  }
}

typealias FrameLedger = Locked<FrameCounts>

/// Null devices, whose openings and frames are counted, and which stall at times.
final class CountedOutput: OutputBackend {
  static let scheme = "counted"
  private let count = Mutex(0)
  private let ledger = Mutex(FrameLedger(FrameCounts()))
  /// The time until which the devices stall.
  let stallEnd = Mutex(Duration.zero)

  /// The number of times that a device was opened.
  var openCount: Int { count.withLock { $0 } }
  /// The frames of the device that was opened last.
  var latestLedger: FrameLedger { ledger.withLock { $0 } }
  var scheme: String { Self.scheme }
  var addressPlaceholder: String? { "NAME" }
  func outputs(probing: Bool) -> [OutputListing] { [] }

  func open(
    _ name: String, _ request: OutputRequest, time: any TimeSource
  ) throws(OutputError) -> sending OpenedOutput {
    count.withLock { $0 += 1 }
    let newLedger = FrameLedger(FrameCounts())
    ledger.withLock { $0 = newLedger }
    let sink = CountedSink(
      request.requestedFormat, time: time, stallEnd: stallEnd.withLock { $0 }, ledger: newLedger)
    return OpenedOutput(sink: sink, name: name)
  }
}

/// A null sink that counts its frames, and whose thread is late by 0.1 s at every 300th wait.
private final class CountedSink: AudioSink {
  private static let stallInterval = 300
  private let sink: NullSink
  private let time: any TimeSource
  private let stallEnd: Duration
  private let ledger: FrameLedger
  private var waitCount = 0
  private var idleStart: Duration?

  init(_ format: SinkFormat, time: any TimeSource, stallEnd: Duration, ledger: FrameLedger) {
    sink = NullSink(format, time: time)
    self.time = time
    self.stallEnd = stallEnd
    self.ledger = ledger
  }

  var format: SinkFormat { sink.format }
  var delayFrames: Int { sink.delayFrames }

  func wait(_ wake: WakeSignal) -> SinkReadiness {
    endIdle()
    waitCount += 1
    if waitCount.isMultiple(of: Self.stallInterval), time.now < stallEnd {
      (time as? VirtualTimeSource)?.advance(by: .milliseconds(100))
    }
    return sink.wait(wake)
  }

  func write(_ frames: Span<Float>) {
    let frameCount = frames.count / format.channelCount
    ledger.withLock { $0.written += frameCount }
    sink.write(frames)
  }

  func beginIdle() -> Bool {
    idleStart = time.now
    return sink.beginIdle()
  }

  func finish(draining: Bool) {
    endIdle()
    sink.finish(draining: draining)
  }

  func drainEvents() -> [SinkEvent] {
    let events = sink.drainEvents()
    let missedCount = events.map(\.missedFrameCount).reduce(0, +)
    ledger.withLock { $0.missed += missedCount }
    return events
  }

  private func endIdle() {
    guard let idleStart else { return }
    self.idleStart = nil
    let seconds = (time.now - idleStart) / .seconds(1)
    // The rounding equals that of the engine's clock.
    ledger.withLock { $0.idle += Int(seconds * format.rate + 0.01) }
  }
}

/// A sink whose device is absent until a time.
private final class AwaitedSink: AudioSink {
  private let sink: any AudioSink
  private let returnTime: Duration
  private let clock: any TimeSource
  private var isBack = false
  private var events: [SinkEvent] = []

  init(_ sink: any AudioSink, until returnTime: Duration, on clock: any TimeSource) {
    self.sink = sink
    self.returnTime = returnTime
    self.clock = clock
  }

  var format: SinkFormat { sink.format }
  var delayFrames: Int { sink.delayFrames }
  var hasPendingEvents: Bool { !events.isEmpty || sink.hasPendingEvents }

  func wait(_ wake: WakeSignal) -> SinkReadiness {
    if !isBack, clock.now >= returnTime {
      isBack = true
      events.append(SinkEvent(.reconnected, text: "reconnected"))
    }
    return sink.wait(wake)
  }

  func write(_ frames: Span<Float>) { sink.write(frames) }
  func finish(draining: Bool) { sink.finish(draining: draining) }

  func drainEvents() -> [SinkEvent] {
    defer { events = [] }
    return events + sink.drainEvents()
  }
}
