import HapticModel
import HapticPlayback
import HapticRender
import TestSupport
import Testing

@testable import CommandLineKit
@testable import PatternWorkflows
@testable import TemblorCommands

@Suite struct PlayVerbTests {
  private static let leadInFrameCount = Int(
    (Playlist.leadInSeconds + Renderer.lookaheadSeconds) * 48_000)
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// Runs `play` with arguments in a scripted environment.
  private func play(_ arguments: [String], on environment: ScriptedEnvironment) throws
    -> CommandLineKit.ExitStatus
  {
    try PlayCommand.run(
      PlayCommand.definition().parseArguments(arguments), environment.recordedTerminal.terminal,
      on: environment)
  }

  /// Writes a pattern with one continuous event at full intensity, and returns its path.
  private func hum(_ name: String, _ seconds: Double, sharpness: Double = 0.5) throws -> String {
    try folder.write(
      """
      {"Version": 1.0, "Pattern": [{"Event": {"Time": 0, "EventType": "HapticContinuous",
        "EventDuration": \(seconds), "EventParameters": [
        {"ParameterID": "HapticIntensity", "ParameterValue": 1},
        {"ParameterID": "HapticSharpness", "ParameterValue": \(sharpness)}]}}]}
      """, to: name)
    return folder(name)
  }

  /// Returns the samples that `render` makes of a file.
  private func rendered(_ path: String) throws -> [Float] {
    let pattern = try LoadedPattern(PatternInput(origin: .file(path), outputStem: "a"))
    let plan = try pattern.compilePlans(for: [.phone], rate: 48_000)[0]
    var renderer = OfflineRenderer(plan: plan)
    return renderer.samples()
  }

  @Test func playbackEqualsTheRendering() throws {
    let environment = ScriptedEnvironment()
    let path = try hum("a.ahap", 0.3)
    #expect(try play([path], on: environment) == .success)
    let samples = try rendered(path)
    #expect(samples.contains { abs($0) > 0.4 })
    #expect(
      Array(environment.samples().dropFirst(Self.leadInFrameCount).prefix(samples.count)) == samples
    )
    #expect(environment.samples().prefix(Self.leadInFrameCount).allSatisfy { $0 == 0 })
    #expect(environment.isStopped)
  }

  @Test func nextPatternStartsAfterTheGapToTheFrame() throws {
    let environment = ScriptedEnvironment()
    let firstPath = try hum("a.ahap", 0.1)
    let secondPath = try hum("b.ahap", 0.2, sharpness: 0.9)
    #expect(try play([firstPath, secondPath, "--gap", "0.25"], on: environment) == .success)
    let firstSamples = try rendered(firstPath)
    let secondSamples = try rendered(secondPath)
    let start = Self.leadInFrameCount + firstSamples.count + 12_000
    let playedSamples = environment.samples().dropFirst(start).prefix(secondSamples.count)
    // The offset that the first pattern left in the DC blocker is still decaying.
    #expect(zip(playedSamples, secondSamples).allSatisfy { abs($0 - $1) < 0.002 })
    #expect(playedSamples.count == secondSamples.count)
    #expect(environment.recordedTerminal.error.contains("1 of 2: \(firstPath), 0.101 s\n"))
    #expect(environment.recordedTerminal.error.contains("2 of 2: \(secondPath), 0.201 s\n"))
  }

  @Test func spacePausesThePattern() throws {
    let environment = ScriptedEnvironment([
      (0.1, .key(.character(" "))), (0.3, .key(.character(" "))),
    ])
    #expect(try play([try hum("a.ahap", 0.4)], on: environment) == .success)
    let samples = environment.samples()
    // The key arrives with a period. A fade of 2 ms and a look-ahead of 2 ms follow.
    #expect(samples[4_400..<4_800].contains { abs($0) > 0.4 })
    #expect(samples[5_300..<14_400].allSatisfy { abs($0) < 0.002 })
    #expect(samples[15_000..<28_000].contains { abs($0) > 0.4 })
    #expect(samples.count > 28_800)
    #expect(environment.recordedTerminal.error.contains("\r= 0:00."))
  }

  @Test func pauseInTheGapDelaysTheNextPattern() throws {
    let environment = ScriptedEnvironment([
      (0.2, .key(.character(" "))), (1.0, .key(.character(" "))),
    ])
    let arguments = [try hum("a.ahap", 0.1), try hum("b.ahap", 0.1), "--gap", "0.2"]
    #expect(try play(arguments, on: environment) == .success)
    let samples = environment.samples()
    #expect(samples[6_000..<48_000].allSatisfy { abs($0) < 0.002 })
    #expect(samples[48_000..<53_000].contains { abs($0) > 0.4 })
  }

  @Test func keysSkipReplayAndQuit() throws {
    let environment = ScriptedEnvironment([
      (0.2, .key(.character("n"))), (0.4, .key(.left)), (0.6, .key(.character("r"))),
      (0.8, .key(.character("q"))),
    ])
    let arguments = [try hum("a.ahap", 10), try hum("b.ahap", 10)]
    #expect(try play(arguments, on: environment) == .success)
    #expect(abs(Double(environment.samples().count) / 48_000 - 0.8) < 0.02)
    let titles = environment.recordedTerminal.error.split(separator: "\n").filter {
      $0.contains(" of 2: ")
    }
    #expect(
      titles.map { $0.suffix(22).contains("1 of 2") || $0.contains("1 of 2: ") } == [
        true, false, true,
      ])
  }

  @Test func nextAfterTheLastPatternEndsPlayback() throws {
    let environment = ScriptedEnvironment([(0.2, .key(.right))])
    #expect(try play([try hum("a.ahap", 10)], on: environment) == .success)
    #expect(abs(Double(environment.samples().count) / 48_000 - 0.2) < 0.02)
  }

  @Test func keysChangeTheStrength() throws {
    let environment = ScriptedEnvironment([
      (0.1, .key(.down)), (0.1, .key(.character("-"))), (0.3, .key(.character("m"))),
      (0.5, .key(.character("q"))),
    ])
    #expect(try play([try hum("a.ahap", 10)], on: environment) == .success)
    #expect(environment.engine?.strength == 0.9)
    #expect(environment.engine?.isMuted == true)
    let samples = environment.samples()
    let fullPeak = samples[3_000..<4_500].max() ?? 0
    let reducedPeak = samples[8_000..<12_000].max() ?? 0
    #expect(abs(reducedPeak / fullPeak - 0.9) < 0.01)
    #expect(samples[16_000..<23_000].allSatisfy { abs($0) < 0.002 })
    #expect(environment.recordedTerminal.error.contains("strength 90%"))
  }

  @Test func loopsEndAfterACountOrAtAKey() throws {
    let path = try hum("a.ahap", 0.1)
    let loopEnvironment = ScriptedEnvironment()
    #expect(try play([path, "--loop", "3"], on: loopEnvironment) == .success)
    let frameCount = Double(loopEnvironment.samples().count)
    #expect(abs(frameCount / 48_000 - 0.323) < 0.01)
    let endlessEnvironment = ScriptedEnvironment([(5, .key(.escape)), (6, .key(.character("q")))])
    #expect(try play([path, "--loop", "0"], on: endlessEnvironment) == .success)
    #expect(abs(Double(endlessEnvironment.samples().count) / 48_000 - 6) < 0.01)
  }

  @Test func deviceEventsAreReported() throws {
    let disconnection = SinkEvent(.disconnected, text: "hw:1: device disconnected; reconnect it")
    let underrun = SinkEvent(
      .underrun, cause: .lateDelivery, missedFrameCount: 480, text: "buffer underrun")
    let lateDevice = SinkEvent(
      .underrun, cause: .lateDevice, missedFrameCount: 48, text: "the device missed its deadline")
    let environment = ScriptedEnvironment([
      (0.05, .event(.sinkEvent(disconnection))), (0.06, .event(.sinkEvent(lateDevice))),
      (0.1, .event(.sinkEvent(underrun))),
      (0.11, .event(.sinkEvent(underrun))), (0.12, .event(.sinkEvent(underrun))),
    ])
    #expect(try play([try hum("a.ahap", 0.3), "--json"], on: environment) == .success)
    // The terminal is narrower than some of the messages.
    let messages = environment.recordedTerminal.error.replacing("\n  ", with: " ")
    #expect(messages.contains("hw:1: device disconnected; reconnect it\n"))
    let advice = "the system scheduled the program late; use a larger '--buffer-size'\n"
    #expect(messages.contains("underrun: 10 ms of audio lost; \(advice)"))
    #expect(messages.contains("2 underruns: 20 ms of audio lost; \(advice)"))
    #expect(
      messages.contains(
        "underrun: 1 ms of audio lost; the device or its sound server is late; give the server "
          + "real-time priority, or use a larger '--buffer-size'\n"))
    #expect(environment.recordedTerminal.output.contains(#""underruns": 4"#))
    #expect(environment.recordedTerminal.output.contains(#""ownUnderruns": 3"#))
    #expect(environment.recordedTerminal.output.contains(#""missedFrames": 1488"#))
  }

  @Test func refusedPriorityCausesAdvice() throws {
    let refusedPriority = SinkEvent(
      .degraded, cause: .refusedPriority, text: "no real-time priority")
    let underrun = SinkEvent(
      .underrun, cause: .lateDelivery, missedFrameCount: 480, text: "buffer underrun")
    let environment = ScriptedEnvironment([
      (0.05, .event(.sinkEvent(refusedPriority))), (0.1, .event(.sinkEvent(underrun))),
    ])
    #expect(try play([try hum("a.ahap", 0.3)], on: environment) == .success)
    #expect(
      environment.recordedTerminal.error.replacing("\n  ", with: " ").contains(
        """
        the system scheduled the program late; allow real-time priority, or use a larger \
        '--buffer-size'\n
        """
      ))
  }

  @Test func endOfTheDeviceIsAFailure() throws {
    let environment = ScriptedEnvironment([(0.1, .event(.ended))])
    #expect(try play([try hum("a.ahap", 10)], on: environment) == .failure)
  }

  @Test func refusedDeviceIsAnError() throws {
    let refusal = OutputError(.busy, output: "hw:1", "is busy")
    let environment = ScriptedEnvironment(refusal: refusal)
    let path = try hum("a.ahap", 0.1)
    #expect(throws: refusal) { try play([path, "--device", "hw:1"], on: environment) }
  }

  @Test func invalidPatternIsReportedAndOthersPlay() throws {
    try folder.write("{\n", to: "bad.ahap")
    let environment = ScriptedEnvironment()
    #expect(
      try play([folder("bad.ahap"), try hum("a.ahap", 0.1)], on: environment) == .invalidInput)
    #expect(environment.recordedTerminal.error.contains("bad.ahap:2:1: "))
    #expect(environment.samples().contains { abs($0) > 0.4 })
  }

  @Test func invalidPatternsOpenNoDevice() throws {
    try folder.write("{\n", to: "bad.ahap")
    let environment = ScriptedEnvironment()
    #expect(try play([folder("bad.ahap")], on: environment) == .invalidInput)
    #expect(environment.engine == nil)
  }

  @Test func keepAwakeIsAQuietLowToneOnAllChannels() throws {
    let environment = ScriptedEnvironment(channelCount: 2)
    let arguments = [
      try hum("a.ahap", 0.01), try hum("b.ahap", 0.01), "--gap", "2", "--keep-awake",
    ]
    #expect(try play(arguments, on: environment) == .success)
    // One second of the gap contains only twenty periods at −60 dBFS.
    for channel in 0..<2 {
      let gap = environment.samples(channel)[40_000..<88_000]
      #expect(abs((gap.max() ?? 0) - 0.001) < 0.00005)
      let crossings = zip(gap, gap.dropFirst()).count { $0 < 0 && $1 >= 0 }
      #expect((19...21).contains(crossings))
    }
    #expect(environment.recordedTerminal.error.contains(" 0 voices"))
  }

  @Test func questionMarkShowsTheKeys() throws {
    let environment = ScriptedEnvironment([(0.01, .key(.character("?")))])
    #expect(try play([try hum("a.ahap", 0.1)], on: environment) == .success)
    let line = "Keys: space pause, r replay, + - strength, m mute, q quit, ? help\n"
    // The keys are shown at the start, and not again while they are the last output.
    #expect(environment.recordedTerminal.error.split(separator: line).count == 2)
  }

  @Test func routedChannelMustExist() throws {
    let environment = ScriptedEnvironment(channelCount: 2)
    let path = try hum("a.ahap", 0.1)
    let error = #expect(throws: UsageError.self) {
      try play([path, "--haptics", "1,4"], on: environment)
    }
    #expect(error?.description == "channel 4 is in use, but 'default' has 2 channels")
  }
}
