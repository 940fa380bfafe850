import CommandServer
import Glibc
import HapticPlayback
import Synchronization

@testable import TemblorCommands

/// An environment in virtual time whose standard input receives commands at given times.
///
/// It belongs to one thread.
final class ReloadStage: PlaybackEnvironment, TimeSource, @unchecked Sendable {
  let input: StreamPipe
  let output: StreamPipe
  let device = CountedOutput()
  private let simulated: SimulatedEnvironment
  /// Returns the next commands after a time; nil at the end.
  private let nextCommand: (Duration) -> (time: Duration, command: String)?
  private var next: (time: Duration, command: String)?
  private var awaitedReplyCount = 0

  init(commands nextCommand: @escaping (Duration) -> (time: Duration, command: String)?) throws {
    input = try StreamPipe()
    output = try StreamPipe()
    self.nextCommand = nextCommand
    simulated = SimulatedEnvironment(
      outputRegistry: OutputRegistry([device], defaultScheme: CountedOutput.scheme))
    next = nextCommand(.zero)
  }

  var time: any TimeSource { self }
  var now: Duration { simulated.now }
  func makeKeyboard() -> (any Keyboard)? { nil }

  func openOutput(_ output: String, _ request: OutputRequest) throws(OutputError)
    -> sending OpenedOutput
  { try simulated.openOutput(output, request) }

  func play(
    _ engine: PlaybackEngine, through output: sending OpenedOutput, recording: RecordingBuffer?,
    eventHandler: @escaping LivePlayback.EventHandler
  ) -> any EngineDriver {
    simulated.play(engine, through: output, recording: recording, eventHandler: eventHandler)
  }

  /// Sends the command that is due, and otherwise passes the time until the next.
  func wait(for descriptors: inout [PollDescriptor], timeout: Duration?) {
    readReplies()
    guard awaitedReplyCount == 0 else {
      // A pattern loads in real time, during which little virtual time passes.
      SystemTimeSource().wait(for: &descriptors, timeout: .milliseconds(2))
      if descriptors.contains(where: { $0.receivedEvents != 0 }) { return }
      return simulated.wait(for: &descriptors, timeout: .nanoseconds(1))
    }
    if let due = next, due.time <= now {
      awaitedReplyCount += 1
      input.write(due.command + "\n")
      next = nextCommand(now)
      return
    }
    let limits = [timeout, next.map { $0.time - now }].compactMap(\.self)
    simulated.wait(for: &descriptors, timeout: limits.min())
  }

  private func readReplies() {
    let lines = output.received().split(separator: "\n")
    awaitedReplyCount -= lines.count { !$0.hasPrefix("event ") }
  }
}

/// Null devices, whose openings are counted.
final class CountedOutput: OutputBackend {
  static let scheme = "counted"
  private let count = Mutex(0)

  /// How often a device was opened.
  var openCount: Int { count.withLock { $0 } }
  var scheme: String { Self.scheme }
  var parameter: String? { "NAME" }
  func outputs(probing: Bool) -> [OutputListing] { [] }

  func open(
    _ name: String, _ request: OutputRequest, time: any TimeSource
  ) throws(OutputError) -> sending OpenedOutput {
    count.withLock { $0 += 1 }
    return OpenedOutput(sink: NullSink(request.requestedFormat, time: time), name: name)
  }
}
