import CommandLineKit
import HapticPlayback
import HapticRender

/// No device, a clock that runs as fast as the machine can, and keys pressed at steady times.
///
/// Used by one thread.
final class SimulatedBackend: SessionBackend, @unchecked Sendable {
  static let keyInterval = Duration.milliseconds(100)
  private static let periodSize = 480

  private var keys: [KeyPress]
  private var nextKeyTime = keyInterval
  private let clock = VirtualTimeSource()
  private var driver: Driver?

  /// A backend on which keys are pressed, and then `q`.
  init(keys: [KeyPress]) { self.keys = keys + [.character("q")] }

  var time: any TimeSource { BackendTime(backend: self) }

  func keyboard() -> (any Keyboard)? { BackendKeyboard(backend: self) }

  func open(_ output: String, _ request: OutputRequest) throws(OutputError) -> sending OpenedOutput {
    var request = request
    request.periodSize = Self.periodSize
    request.bufferSize = Self.periodSize
    return OpenedOutput(sink: NullSink(request.format, time: clock), name: "simulation")
  }

  func play(
    _ engine: PlaybackEngine, through output: sending OpenedOutput, recording: RecordingBuffer?,
    eventHandler: @escaping LivePlayback.EventHandler
  ) -> any EngineDriver {
    let made = Driver(engine, output.sink, clock)
    driver = made
    return made
  }

  private func wait(for descriptors: inout [PollDescriptor], timeout: Duration?) {
    let end = timeout.map { clock.now + $0 }
    while true {
      SystemTimeSource().wait(for: &descriptors, timeout: .zero)
      if descriptors.contains(where: { $0.received != 0 }) { return }
      if !keys.isEmpty, clock.now >= nextKeyTime { return }
      if let end, clock.now >= end { return }
      guard driver?.turn() == true else { return }
    }
  }

  private func takeKeys() -> [KeyPress] {
    guard !keys.isEmpty, clock.now >= nextKeyTime else { return [] }
    nextKeyTime = clock.now + Self.keyInterval
    return [keys.removeFirst()]
  }

  private struct BackendTime: TimeSource {
    let backend: SimulatedBackend
    var now: Duration { backend.clock.now }
    func wait(for descriptors: inout [PollDescriptor], timeout: Duration?) {
      backend.wait(for: &descriptors, timeout: timeout)
    }
  }

  private final class BackendKeyboard: Keyboard {
    private let backend: SimulatedBackend
    init(backend: SimulatedBackend) { self.backend = backend }
    var watched: [PollDescriptor] { [] }
    var isClosed: Bool { false }
    func timeout(at now: Duration) -> Duration? { nil }
    func keys(at now: Duration) -> [KeyPress] { backend.takeKeys() }
  }

  private final class Driver: EngineDriver {
    private let loop: RenderLoop
    private let engine: PlaybackEngine
    private(set) var isOver = false

    init(_ engine: PlaybackEngine, _ sink: any AudioSink, _ clock: VirtualTimeSource) {
      self.engine = engine
      loop = RenderLoop(engine: engine, sink: sink, time: clock)
    }

    /// Renders a period; answers whether another may follow.
    func turn() -> Bool {
      guard !isOver else { return false }
      isOver = !loop.turn()
      engine.update()
      return !isOver
    }

    func stop(within limit: Duration?) -> Bool {
      loop.stop()
      while turn() {}
      return true
    }

    func takeBlockTimings() -> [BlockTiming] { [] }
  }
}
