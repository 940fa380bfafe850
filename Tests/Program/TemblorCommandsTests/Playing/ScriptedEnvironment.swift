import HapticPlayback
import HapticRender
import Synchronization

@testable import CommandLineKit
@testable import TemblorCommands

/// A device in memory in virtual time, with a script of keys, events, and actions at given times.
///
/// It belongs to one thread. Waiting for descriptors performs the steps of the script.
final class ScriptedEnvironment: PlaybackEnvironment, @unchecked Sendable {
  /// A step of the script.
  enum ScriptStep {
    case key(KeyPress)
    case event(LivePlayback.Event)
    case action(() throws -> Void)
  }

  let recordedTerminal: RecordedTerminal
  let channelCount: Int
  let openError: OutputError?
  private var script: [(time: Double, cue: ScriptStep)]
  private var pendingKeys: [KeyPress] = []
  private(set) var playback: VirtualPlayback?
  private(set) var engine: PlaybackEngine?
  private(set) var isStopped = false
  private var handler: LivePlayback.EventHandler = { _ in }
  /// The time in seconds after which the environment presses `q`.
  private let endSeconds: Double
  private let hasKeyboard: Bool
  /// Is called after every period with the playback and the engine's position in seconds, and may
  /// return a key to press.
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

  func makeKeyboard() -> (any Keyboard)? { hasKeyboard ? ScriptedKeyboard(stage: self) : nil }

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
    return Driver(stage: self)
  }

  // MARK: Time

  /// Advances the playback until a descriptor or a key is ready, a step was performed, or the
  /// timeout has passed.
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

  /// Performs the next due step of the script. Returns false if no step is due.
  private func performDueStep() -> Bool {
    let seconds = engine?.positionSeconds ?? 0
    if seconds > endSeconds {
      script.append((0, .key(.character("q"))))
    }
    guard let index = script.firstIndex(where: { $0.time <= seconds }) else { return false }
    switch script.remove(at: index).cue {
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
    init(stage: ScriptedEnvironment) { self.environment = stage }
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
    init(stage: ScriptedEnvironment) { self.environment = stage }
    func stopPlayback(within limit: Duration?) -> Bool {
      environment.playback?.stop()
      environment.isStopped = true
      return true
    }
    func drainBlockTimings() -> [BlockTiming] { [] }
  }
}
