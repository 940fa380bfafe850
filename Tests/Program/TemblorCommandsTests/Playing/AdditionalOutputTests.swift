import HapticOutputs
import HapticPlayback
import Synchronization
import Testing

@testable import CommandLineKit
@testable import TemblorCommands

/// An output backend that is not part of the program. It keeps the samples that it receives.
private final class CollectingOutput: OutputBackend {
  let played = Mutex<[String: [Float]]>([:])

  var scheme: String { "trial" }
  var addressPlaceholder: String? { "NAME" }

  func outputs(probing: Bool) -> [OutputListing] { [] }

  func open(_ name: String, _ request: OutputRequest, time: any TimeSource) throws(OutputError)
    -> sending OpenedOutput
  {
    OpenedOutput(
      sink: Sink(request.requestedFormat, time: time) { samples in
        self.played.withLock { $0[name] = samples }
      }, name: name,
      encoding: "trial")
  }

  private final class Sink: AudioSink {
    private let memory: MemorySink
    private let end: ([Float]) -> Void

    init(_ format: SinkFormat, time: any TimeSource, end: @escaping ([Float]) -> Void) {
      memory = MemorySink(format, time: time)
      self.end = end
    }

    var format: SinkFormat { memory.format }
    var delayFrames: Int { memory.delayFrames }
    func wait(_ wake: WakeSignal) -> SinkReadiness { memory.wait(wake) }
    func write(_ frames: Span<Float>) { memory.write(frames) }
    func finish(draining: Bool) { end(memory.samples) }
    func drainEvents() -> [SinkEvent] { [] }
  }
}

/// The program's environment with another output, and without the keys of the terminal that runs
/// the tests.
private struct CollectingEnvironment: PlaybackEnvironment {
  let system: SystemEnvironment
  var time: any TimeSource { system.time }
  func makeKeyboard() -> (any Keyboard)? { nil }
  func openOutput(_ output: String, _ request: OutputRequest) throws(OutputError)
    -> sending OpenedOutput
  {
    try system.openOutput(output, request)
  }
  func play(
    _ engine: PlaybackEngine, through output: sending OpenedOutput, recording: RecordingBuffer?,
    eventHandler: @escaping LivePlayback.EventHandler
  ) throws(PlaybackError) -> any EngineDriver {
    try system.play(engine, through: output, recording: recording, eventHandler: eventHandler)
  }
}

@Suite struct AdditionalOutputTests {
  @Test func additionalBackendIsSelectedByItsScheme() throws {
    let collectingOutput = CollectingOutput()
    let recorded = RecordedTerminal()
    let environment = CollectingEnvironment(
      system: SystemEnvironment(outputRegistry: .standard.adding(collectingOutput)))
    let arguments = try PlayCommand.definition().parseArguments([
      "light", "--device", "trial:left", "--channels", "3", "--json",
    ])
    #expect(try PlayCommand.run(arguments, recorded.terminal, on: environment) == .success)
    let played = collectingOutput.played.withLock { $0 }
    #expect(Array(played.keys) == ["left"])
    #expect(played["left"]?.count.isMultiple(of: 3) == true)
    #expect(played["left"]?.contains { abs($0) > 0.001 } == true)
    #expect(recorded.output.contains(#""name": "left""#))
    #expect(recorded.output.contains(#""format": "trial""#))
  }
}
