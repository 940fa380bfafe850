import HapticPlayback
import HapticRender
import Synchronization

@testable import CommandLineKit
@testable import TemblorCommands

/// An environment in virtual time with a device in memory, and a script of keys, events, and
/// actions.
///
/// It belongs to one thread, whose waits end at the next step of the script.
final class ScriptedEnvironment: PlaybackEnvironment, @unchecked Sendable {
  /// A key, an event, or an action of the script.
  enum ScriptStep {
    case key(KeyPress)
    case event(LivePlayback.Event)
    case action(() throws -> Void)
  }

  let recordedTerminal: RecordedTerminal
  let channelCount: Int
  let openError: OutputError?
  private var script: [(time: Double, step: ScriptStep)]
  private var pendingKeys: [KeyPress] = []
  private(set) var playback: VirtualPlayback?
  private(set) var engine: PlaybackEngine?
  private(set) var isStopped = false
  private var handler: LivePlayback.EventHandler = { _ in }
  /// The time at which playback ends if no key has ended it, in seconds.
  private let endSeconds: Double
  private let hasKeyboard: Bool
  /// A closure that receives the playback and its time in seconds after every period, and returns a
  /// key to press, or nil.
  var keyResponder: ((VirtualPlayback, Double) -> KeyPress?)?

  init(
    _ script: [(Double, ScriptStep)] = [], channelCount: Int = 1, refusal: OutputError? = nil,
    limit: Double = 60,
    hasKeyboard: Bool = true, isTerminal: Bool = true
  ) {
    recordedTerminal = RecordedTerminal(isTerminal: isTerminal, width: 100)
    self.script = script.map { ($0.0, $0.1) }
    self.channelCount = channelCount
    self.openError = refusal
    self.endSeconds = limit
    self.hasKeyboard = hasKeyboard
  }

  /// All samples of a channel.
  func samples(_ channel: Int = 0) -> [Float] { playback?.samples(ofChannel: channel) ?? [] }

  // MARK: PlaybackEnvironment

  var time: any TimeSource { EnvironmentTime(environment: self) }

  func makeKeyboard() -> (any Keyboard)? { hasKeyboard ? ScriptedKeyboard(environment: self) : nil }

  func openOutput(_ output: String, _ request: OutputRequest) throws(OutputError)
    -> sending OpenedOutput
  {
    if let openError { throw openError }
    let format = SinkFormat(
      rate: 48_000, channelCount: channelCount, periodSize: 64, bufferSize: 64)
    return OpenedOutput(sink: NullSink(format), name: output)
  }

  func play(
    _ engine: PlaybackEngine, through output: sending OpenedOutput, recording: RecordingBuffer?,
    eventHandler: @escaping LivePlayback.EventHandler
  ) -> any EngineDriver {
    handler = eventHandler
    self.engine = engine
    playback = VirtualPlayback(engine, periodSize: 64)
    return Driver(environment: self)
  }

  // MARK: Time

  /// Runs until a descriptor is ready, the timeout ends, or a step of the script or a key is due.
  func wait(for descriptors: inout [PollDescriptor], timeout: Duration?) {
    let system = SystemTimeSource()
    let end = timeout.map { now + $0 }
    while true {
      system.wait(for: &descriptors, timeout: .zero)
      if descriptors.contains(where: { $0.receivedEvents != 0 }) || performDueStep() {
        return
      }
      if let end, now >= end { return }
      playback?.advance(seconds: 64.0 / 48_000)
      recordedTerminal.advance(by: .nanoseconds(1_333_333))
      if let playback, let key = keyResponder?(playback, engine?.positionSeconds ?? 0) {
        pendingKeys.append(key)
      }
      if !pendingKeys.isEmpty { return }
    }
  }

  var now: Duration { playback?.time.now ?? .zero }

  /// Performs the next step that is due, and returns whether there was a step.
  private func performDueStep() -> Bool {
    let seconds = engine?.positionSeconds ?? 0
    if seconds > endSeconds {
      script.append((0, .key(.character("q"))))
    }
    guard let index = script.firstIndex(where: { $0.time <= seconds }) else { return false }
    switch script.remove(at: index).step {
    case .key(let key): pendingKeys.append(key)
    case .event(let event): handler(event)
    case .action(let action): try? action()
    }
    return true
  }

  private struct EnvironmentTime: TimeSource {
    let environment: ScriptedEnvironment
    var now: Duration { environment.now }
    func wait(for descriptors: inout [PollDescriptor], timeout: Duration?) {
      environment.wait(for: &descriptors, timeout: timeout)
    }
  }

  private final class ScriptedKeyboard: Keyboard {
    let environment: ScriptedEnvironment
    init(environment: ScriptedEnvironment) { self.environment = environment }
    var watchedDescriptors: [PollDescriptor] { [] }
    var isClosed: Bool { false }
    func waitTimeout(at now: Duration) -> Duration? { nil }
    func readKeys(at now: Duration) -> [KeyPress] {
      defer { environment.pendingKeys = [] }
      return environment.pendingKeys
    }
  }

  private final class Driver: EngineDriver {
    let environment: ScriptedEnvironment
    init(environment: ScriptedEnvironment) { self.environment = environment }
    func stopPlayback(within limit: Duration?) -> Bool {
      environment.playback?.stop()
      environment.isStopped = true
      return true
    }
    func drainBlockTimings() -> [BlockTiming] { [] }
  }
}
