import CommandLineKit
import HapticOutputs
import HapticPlayback
import PlaybackSessions
import SystemSupport

/// An environment that provides outputs, a clock, and a keyboard for live playback. Tests use
/// virtual environments.
protocol PlaybackEnvironment: Sendable {
  var time: any TimeSource { get }

  /// Returns the keyboard, or nil if the program was not started in a terminal. Only one keyboard
  /// may exist at a time.
  func makeKeyboard() -> (any Keyboard)?
  func openOutput(_ output: String, _ request: OutputRequest) throws(OutputError)
    -> sending OpenedOutput

  /// Opens an output that must be open after a given time. If opening takes longer, the attempt
  /// continues on its own thread, and the device is closed as soon as it is open.
  func openOutput(
    _ output: String, _ request: OutputRequest, within timeout: Duration
  ) throws(OutputError) -> sending OpenedOutput

  /// Begins to open an output on another thread, to learn its properties, and to close it again.
  ///
  /// - Parameters:
  ///   - output: The name of the output.
  ///   - request: The requested properties.
  ///   - wake: The signal that is raised when the probe has its result.
  func beginProbe(
    of output: String, _ request: OutputRequest, wake: WakeSignal
  ) throws(OutputError) -> OutputProbe

  /// Returns the format that an output would grant, if opening it would replace a file; otherwise,
  /// nil.
  func expectedFormat(_ output: String, _ request: OutputRequest) throws(OutputError) -> SinkFormat?

  /// Returns an output that opens its device as soon as the device is present, or nil if the
  /// environment does not support waiting.
  func openPlaceholder(for output: String, _ request: OutputRequest) -> sending OpenedOutput?

  /// Plays an engine through an output.
  ///
  /// - Parameters:
  ///   - engine: The engine.
  ///   - output: The open output.
  ///   - recording: The buffer that receives a copy of the output.
  ///   - eventHandler: A closure that receives events on another thread.
  func play(
    _ engine: PlaybackEngine, through output: sending OpenedOutput, recording: RecordingBuffer?,
    eventHandler: @escaping LivePlayback.EventHandler
  ) throws(PlaybackError) -> any EngineDriver
}

extension PlaybackEnvironment {
  /// Opens an output without a time limit, because opening takes no time.
  func openOutput(
    _ output: String, _ request: OutputRequest, within timeout: Duration
  ) throws(OutputError) -> sending OpenedOutput { try openOutput(output, request) }

  func beginProbe(
    of output: String, _ request: OutputRequest, wake: WakeSignal
  ) throws(OutputError) -> OutputProbe {
    let outputProbe = OutputProbe()
    _ = try BackgroundThread.start(forOutput: output) {
      outputProbe.complete(
        Result { () throws(OutputError) in try summarizeOutput(output, request) })
      wake.raise()
    }
    return outputProbe
  }

  /// Opens an output, and returns its properties after it was closed.
  private func summarizeOutput(
    _ output: String, _ request: OutputRequest
  ) throws(OutputError) -> DeviceSummary {
    let openedOutput = try openOutput(output, request)
    let deviceSummary = DeviceSummary(openedOutput)
    // This thread does not use the sink again.
    nonisolated(unsafe) let closedSink = openedOutput.sink
    let closingThread = try BackgroundThread.start(forOutput: output) { unsafe closedSink.close() }
    guard closingThread.wait(within: OutputProbe.closingTimeout) else {
      throw .unresponsive(output)
    }
    return deviceSummary
  }

  /// Returns nil, because the environment cannot wait for an absent device.
  func openPlaceholder(for output: String, _ request: OutputRequest) -> sending OpenedOutput? {
    nil
  }

  /// Returns nil, because opening an output does not replace a file.
  func expectedFormat(
    _ output: String, _ request: OutputRequest
  ) throws(OutputError) -> SinkFormat? { nil }
}

extension BackgroundThread {
  /// Starts a thread that calls an output, and reports a refusal as an error of the output.
  fileprivate static func start(
    forOutput output: String, _ body: @escaping @Sendable () -> Void
  ) throws(OutputError) -> BackgroundThread {
    do throws(PlaybackError) {
      return try BackgroundThread(body)
    } catch {
      throw OutputError(.other, output: output, error.description)
    }
  }
}

/// An attempt to open an output and to close it again while another output plays.
final class OutputProbe: Sendable {
  /// The maximum time to close the output after it was opened.
  static let closingTimeout = Duration.seconds(2)

  private let storedResult = Locked<Result<DeviceSummary, OutputError>?>(nil)

  /// The properties of the output, or the reason that it cannot be used; nil while the attempt is
  /// in progress.
  var result: Result<DeviceSummary, OutputError>? { storedResult.withLock { $0 } }

  /// Ends the attempt. Any thread may call the method.
  func complete(_ result: Result<DeviceSummary, OutputError>) {
    storedResult.withLock { $0 = result }
  }
}

extension OutputError {
  /// Returns the error for an output whose calls do not return.
  static func unresponsive(_ output: String) -> OutputError {
    OutputError(
      .unresponsive, output: output,
      """
      the device does not respond; reconnect it, restart its sound server, or choose another \
      device
      """
    )
  }

  /// Returns the error for an output that is still being opened.
  static func slowOpening(_ output: String) -> OutputError {
    OutputError(.unresponsive, output: output, "the device has not opened yet")
  }
}

struct SystemEnvironment: PlaybackEnvironment {
  /// The timeout for opening an output. A sound server that must be started needs some seconds.
  private static let outputOpenTimeout = Duration.seconds(10)

  var outputRegistry = OutputRegistry.standard
  var time: any TimeSource { SystemTimeSource() }
  func makeKeyboard() -> (any Keyboard)? { RawTerminal() }

  /// The state of an attempt to open an output on another thread.
  private enum OpeningState {
    case inProgress, abandoned
    case ended(Result<OpenedOutput, OutputError>)
  }

  func openOutput(_ output: String, _ request: OutputRequest) throws(OutputError)
    -> sending OpenedOutput
  {
    guard let openedOutput = try openOutput(output, request, waitingFor: Self.outputOpenTimeout)
    else {
      throw .unresponsive(output)
    }
    return openedOutput
  }

  func openOutput(
    _ output: String, _ request: OutputRequest, within timeout: Duration
  ) throws(OutputError) -> sending OpenedOutput {
    guard let openedOutput = try openOutput(output, request, waitingFor: timeout) else {
      throw .slowOpening(output)
    }
    return openedOutput
  }

  /// Opens an output on a separate thread.
  /// A signal or a timeout thus ends the wait for a hanging device.
  ///
  /// - Returns: The output; nil if it is not open after the timeout.
  private func openOutput(
    _ output: String, _ request: OutputRequest, waitingFor timeout: Duration
  ) throws(OutputError) -> sending OpenedOutput? {
    let openingState = Locked(OpeningState.inProgress)
    let openingThread = try BackgroundThread.start(forOutput: output) { [outputRegistry, time] in
      let result = Result { () throws(OutputError) in
        try outputRegistry.open(output, request, time: time)
      }
      let isAbandoned = openingState.withLock { openingState in
        if case .abandoned = openingState { return true }
        openingState = .ended(result)
        return false
      }
      if isAbandoned {
        try? result.get().sink.close()
      }
    }
    let interruptSignal = InterruptSignal()
    var pollDescriptors = [
      PollDescriptor(openingThread.endSignal.descriptor),
      PollDescriptor(interruptSignal.descriptor),
    ]
    SystemTimeSource().wait(for: &pollDescriptors, timeout: timeout)
    let lastState = openingState.withLock { exchange(&$0, with: .abandoned) }
    guard case .ended(let openingResult) = lastState else { return nil }
    // The thread has stored its result, so it returns at once.
    openingThread.wait(within: nil)
    // The thread has ended, so this is the only reference.
    nonisolated(unsafe) let openedOutput = try openingResult.get()
    return unsafe openedOutput
  }

  func expectedFormat(
    _ output: String, _ request: OutputRequest
  ) throws(OutputError) -> SinkFormat? { try outputRegistry.expectedFormat(output, request) }

  func openPlaceholder(for output: String, _ request: OutputRequest) -> sending OpenedOutput? {
    outputRegistry.openPlaceholder(for: output, request, time: time)
  }

  func play(
    _ engine: PlaybackEngine, through output: sending OpenedOutput, recording: RecordingBuffer?,
    eventHandler: @escaping LivePlayback.EventHandler
  ) throws(PlaybackError) -> any EngineDriver {
    // A sound server does not make late delivery acceptable, so real-time priority is requested in
    // any case.
    try LivePlayback(
      engine, sink: output.sink, wantsRealTime: true, recording: recording,
      eventHandler: eventHandler)
  }
}

protocol EngineDriver: AnyObject {
  /// Fades out, plays the remaining frames, and returns whether the output ended before the
  /// timeout.
  ///
  /// - Parameter limit: The timeout; nil for the default time of the sink.
  func stopPlayback(within limit: Duration?) -> Bool

  /// Returns the timings of the blocks that were rendered since the last call, oldest first. Only
  /// about 1,000 timings are kept between calls.
  func drainBlockTimings() -> [BlockTiming]
}

extension LivePlayback: EngineDriver {}

/// A playback environment whose virtual clock advances as fast as the machine can render. It is a
/// simulation without a device and with keys at regular times, or an output to a file. It belongs
/// to one thread.
final class SimulatedEnvironment: PlaybackEnvironment, TimeSource, Keyboard, @unchecked Sendable {
  static let keyPressInterval = Duration.milliseconds(100)
  private static let periodFrameCount = 480

  private var pendingKeys: [KeyPress]
  private var nextKeyTime = keyPressInterval
  private let clock = VirtualTimeSource()
  private var driver: SimulatedEngineDriver?
  /// The registry of outputs, or nil for a simulation.
  private let outputRegistry: OutputRegistry?

  /// Creates a simulation.
  init(pendingKeys: [KeyPress]) {
    self.pendingKeys = pendingKeys + [.character("q")]
    outputRegistry = nil
  }

  /// Creates an environment without keys that writes to files.
  init(outputRegistry: OutputRegistry) {
    pendingKeys = []
    self.outputRegistry = outputRegistry
  }

  var time: any TimeSource { self }
  var now: Duration { clock.now }
  func makeKeyboard() -> (any Keyboard)? { outputRegistry == nil ? self : nil }
  var watchedDescriptors: [PollDescriptor] { [] }
  var isClosed: Bool { false }
  func waitTimeout(at now: Duration) -> Duration? { nil }

  func openOutput(_ output: String, _ request: OutputRequest) throws(OutputError)
    -> sending OpenedOutput
  {
    var request = request
    request.periodSize = Self.periodFrameCount
    request.bufferSize = Self.periodFrameCount
    if let outputRegistry {
      return try outputRegistry.open(output, request, time: clock)
    }
    return OpenedOutput(sink: NullSink(request.requestedFormat, time: clock), name: "simulation")
  }

  func play(
    _ engine: PlaybackEngine, through output: sending OpenedOutput, recording: RecordingBuffer?,
    eventHandler: @escaping LivePlayback.EventHandler
  ) -> any EngineDriver {
    let newDriver = SimulatedEngineDriver(engine, output.sink, clock, eventHandler)
    driver = newDriver
    return newDriver
  }

  func wait(for descriptors: inout [PollDescriptor], timeout: Duration?) {
    let deadline = timeout.map { clock.now + $0 }
    while true {
      SystemTimeSource().wait(for: &descriptors, timeout: .zero)
      if descriptors.contains(where: { $0.receivedEvents != 0 }) { return }
      if !pendingKeys.isEmpty, clock.now >= nextKeyTime { return }
      if let deadline, clock.now >= deadline { return }
      guard driver?.runIteration() == true else { return }
    }
  }

  func readKeys(at now: Duration) -> [KeyPress] {
    guard !pendingKeys.isEmpty, clock.now >= nextKeyTime else { return [] }
    nextKeyTime = clock.now + Self.keyPressInterval
    return [pendingKeys.removeFirst()]
  }

  private final class SimulatedEngineDriver: EngineDriver {
    private let renderLoop: RenderLoop
    private let engine: PlaybackEngine
    private let eventHandler: LivePlayback.EventHandler
    private var hasEnded = false

    init(
      _ engine: PlaybackEngine, _ sink: any AudioSink, _ clock: VirtualTimeSource,
      _ eventHandler: @escaping LivePlayback.EventHandler
    ) {
      self.engine = engine
      self.eventHandler = eventHandler
      renderLoop = RenderLoop(engine: engine, sink: sink, time: clock)
    }

    /// Renders a period, and returns whether the loop should continue.
    func runIteration() -> Bool {
      guard !hasEnded else { return false }
      hasEnded = !renderLoop.runIteration()
      engine.update()
      for event in renderLoop.drainEvents() {
        eventHandler(.sinkEvent(event))
      }
      if hasEnded {
        eventHandler(.ended)
      }
      return !hasEnded
    }

    func stopPlayback(within limit: Duration?) -> Bool {
      renderLoop.stop()
      while runIteration() {}
      return true
    }

    func drainBlockTimings() -> [BlockTiming] { [] }
  }
}
