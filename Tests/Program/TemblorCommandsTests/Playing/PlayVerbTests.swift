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
  private func play(_ words: [String], on stage: ScriptedEnvironment) throws
    -> CommandLineKit.ExitStatus
  {
    try PlayCommand.run(
      PlayCommand.definition().parseArguments(words), stage.recordedTerminal.terminal, on: stage)
  }

  /// A pattern that hums at full strength.
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

  /// What `render` makes of a file up to its last frame of sound.
  private func rendered(_ path: String) throws -> [Float] {
    let pattern = try LoadedPattern(PatternInput(origin: .file(path), outputStem: "a"))
    let plan = try pattern.compilePlans(for: [.phone], rate: 48_000)[0]
    var rendering = OfflineRenderer(plan: plan)
    return rendering.samples()
  }

  @Test func whatIsHeardIsWhatIsRendered() throws {
    let stage = ScriptedEnvironment()
    let path = try hum("a.ahap", 0.3)
    #expect(try play([path], on: stage) == .success)
    let samples = try rendered(path)
    #expect(samples.contains { abs($0) > 0.4 })
    #expect(
      Array(stage.samples().dropFirst(Self.leadInFrameCount).prefix(samples.count)) == samples)
    #expect(stage.samples().prefix(Self.leadInFrameCount).allSatisfy { $0 == 0 })
    #expect(stage.isStopped)
  }

  @Test func theNextBeginsBehindTheGapToTheFrame() throws {
    let stage = ScriptedEnvironment()
    let one = try hum("a.ahap", 0.1)
    let two = try hum("b.ahap", 0.2, sharpness: 0.9)
    #expect(try play([one, two, "--gap", "0.25"], on: stage) == .success)
    let first = try rendered(one)
    let second = try rendered(two)
    let start = Self.leadInFrameCount + first.count + 12_000
    let heard = stage.samples().dropFirst(start).prefix(second.count)
    // What the first left of an offset in the DC blocker is still dying away.
    #expect(zip(heard, second).allSatisfy { abs($0 - $1) < 0.002 })
    #expect(heard.count == second.count)
    #expect(stage.recordedTerminal.error.contains("1 of 2: \(one), 0.101 s\n"))
    #expect(stage.recordedTerminal.error.contains("2 of 2: \(two), 0.201 s\n"))
  }

  @Test func spaceLetsThePatternStandStill() throws {
    let stage = ScriptedEnvironment([(0.1, .key(.character(" "))), (0.3, .key(.character(" ")))])
    #expect(try play([try hum("a.ahap", 0.4)], on: stage) == .success)
    let samples = stage.samples()
    // 2 ms of fade and 2 ms of look-ahead behind a key that comes with a period.
    #expect(samples[4_400..<4_800].contains { abs($0) > 0.4 })
    #expect(samples[5_300..<14_400].allSatisfy { abs($0) < 0.002 })
    #expect(samples[15_000..<28_000].contains { abs($0) > 0.4 })
    #expect(samples.count > 28_800)
    #expect(stage.recordedTerminal.error.contains("\r= 0:00."))
  }

  @Test func aPauseInTheGapHoldsTheNextBack() throws {
    let stage = ScriptedEnvironment([(0.2, .key(.character(" "))), (1.0, .key(.character(" ")))])
    let words = [try hum("a.ahap", 0.1), try hum("b.ahap", 0.1), "--gap", "0.2"]
    #expect(try play(words, on: stage) == .success)
    let samples = stage.samples()
    #expect(samples[6_000..<48_000].allSatisfy { abs($0) < 0.002 })
    #expect(samples[48_000..<53_000].contains { abs($0) > 0.4 })
  }

  @Test func keysSkipRepeatAndEnd() throws {
    let stage = ScriptedEnvironment([
      (0.2, .key(.character("n"))), (0.4, .key(.left)), (0.6, .key(.character("r"))),
      (0.8, .key(.character("q"))),
    ])
    let words = [try hum("a.ahap", 10), try hum("b.ahap", 10)]
    #expect(try play(words, on: stage) == .success)
    #expect(abs(Double(stage.samples().count) / 48_000 - 0.8) < 0.02)
    let told = stage.recordedTerminal.error.split(separator: "\n").filter { $0.contains(" of 2: ") }
    #expect(
      told.map { $0.suffix(22).contains("1 of 2") || $0.contains("1 of 2: ") } == [
        true, false, true,
      ])
  }

  @Test func nextBehindTheLastEnds() throws {
    let stage = ScriptedEnvironment([(0.2, .key(.right))])
    #expect(try play([try hum("a.ahap", 10)], on: stage) == .success)
    #expect(abs(Double(stage.samples().count) / 48_000 - 0.2) < 0.02)
  }

  @Test func keysChangeTheStrength() throws {
    let stage = ScriptedEnvironment([
      (0.1, .key(.down)), (0.1, .key(.character("-"))), (0.3, .key(.character("m"))),
      (0.5, .key(.character("q"))),
    ])
    #expect(try play([try hum("a.ahap", 10)], on: stage) == .success)
    #expect(stage.engine?.strength == 0.9)
    #expect(stage.engine?.isMuted == true)
    let samples = stage.samples()
    let loud = samples[3_000..<4_500].max() ?? 0
    let less = samples[8_000..<12_000].max() ?? 0
    #expect(abs(less / loud - 0.9) < 0.01)
    #expect(samples[16_000..<23_000].allSatisfy { abs($0) < 0.002 })
    #expect(stage.recordedTerminal.error.contains("strength 90%"))
  }

  @Test func loopsCountOrLastUntilTheKey() throws {
    let path = try hum("a.ahap", 0.1)
    let thrice = ScriptedEnvironment()
    #expect(try play([path, "--loop", "3"], on: thrice) == .success)
    let length = Double(thrice.samples().count)
    #expect(abs(length / 48_000 - 0.323) < 0.01)
    let endless = ScriptedEnvironment([(5, .key(.escape)), (6, .key(.character("q")))])
    #expect(try play([path, "--loop", "0"], on: endless) == .success)
    #expect(abs(Double(endless.samples().count) / 48_000 - 6) < 0.01)
  }

  @Test func whatHappensAtTheDeviceIsTold() throws {
    let lost = SinkEvent(.disconnected, text: "hw:1: device disconnected; reconnect it")
    let underrun = SinkEvent(
      .underrun, cause: .lateDelivery, missedFrameCount: 480, text: "buffer underrun")
    let late = SinkEvent(
      .underrun, cause: .lateDevice, missedFrameCount: 48, text: "the device missed its deadline")
    let stage = ScriptedEnvironment([
      (0.05, .event(.sinkEvent(lost))), (0.06, .event(.sinkEvent(late))),
      (0.1, .event(.sinkEvent(underrun))),
      (0.11, .event(.sinkEvent(underrun))), (0.12, .event(.sinkEvent(underrun))),
    ])
    #expect(try play([try hum("a.ahap", 0.3), "--json"], on: stage) == .success)
    // The terminal is narrower than some of the messages.
    let told = stage.recordedTerminal.error.replacing("\n  ", with: " ")
    #expect(told.contains("hw:1: device disconnected; reconnect it\n"))
    let advice = "the system scheduled the program late; use a larger '--buffer-size'\n"
    #expect(told.contains("underrun: 10 ms of audio lost; \(advice)"))
    #expect(told.contains("2 underruns: 20 ms of audio lost; \(advice)"))
    #expect(
      told.contains(
        "underrun: 1 ms of audio lost; the device or its sound server is late; give the server "
          + "real-time priority, or use a larger '--buffer-size'\n"))
    #expect(stage.recordedTerminal.output.contains(#""underruns": 4"#))
    #expect(stage.recordedTerminal.output.contains(#""ownUnderruns": 3"#))
    #expect(stage.recordedTerminal.output.contains(#""missedFrames": 1488"#))
  }

  @Test func priorityIsAdvisedWhereItWasRefused() throws {
    let refused = SinkEvent(.degraded, cause: .refusedPriority, text: "no real-time priority")
    let underrun = SinkEvent(
      .underrun, cause: .lateDelivery, missedFrameCount: 480, text: "buffer underrun")
    let stage = ScriptedEnvironment([
      (0.05, .event(.sinkEvent(refused))), (0.1, .event(.sinkEvent(underrun))),
    ])
    #expect(try play([try hum("a.ahap", 0.3)], on: stage) == .success)
    #expect(
      stage.recordedTerminal.error.replacing("\n  ", with: " ").contains(
        """
        the system scheduled the program late; allow real-time priority, or use a larger \
        '--buffer-size'\n
        """
      ))
  }

  @Test func aDeviceThatEndsCouldNotPlay() throws {
    let stage = ScriptedEnvironment([(0.1, .event(.ended))])
    #expect(try play([try hum("a.ahap", 10)], on: stage) == .failure)
  }

  @Test func aNamedDeviceThatIsRefusedIsAnError() throws {
    let refusal = OutputError(.busy, output: "hw:1", "is busy")
    let stage = ScriptedEnvironment(refusal: refusal)
    let path = try hum("a.ahap", 0.1)
    #expect(throws: refusal) { try play([path, "--device", "hw:1"], on: stage) }
  }

  @Test func aBadPatternIsToldAndTheOthersPlay() throws {
    try folder.write("{\n", to: "bad.ahap")
    let stage = ScriptedEnvironment()
    #expect(try play([folder("bad.ahap"), try hum("a.ahap", 0.1)], on: stage) == .invalidInput)
    #expect(stage.recordedTerminal.error.contains("bad.ahap:2:1: "))
    #expect(stage.samples().contains { abs($0) > 0.4 })
  }

  @Test func onlyBadPatternsOpenNoDevice() throws {
    try folder.write("{\n", to: "bad.ahap")
    let stage = ScriptedEnvironment()
    #expect(try play([folder("bad.ahap")], on: stage) == .invalidInput)
    #expect(stage.engine == nil)
  }

  @Test func keepAwakeIsWeakLowAndEverywhere() throws {
    let stage = ScriptedEnvironment(channelCount: 2)
    let words = [try hum("a.ahap", 0.01), try hum("b.ahap", 0.01), "--gap", "2", "--keep-awake"]
    #expect(try play(words, on: stage) == .success)
    // A second in the gap: twenty periods of −60 dBFS, and nothing else.
    for channel in 0..<2 {
      let gap = stage.samples(channel)[40_000..<88_000]
      #expect(abs((gap.max() ?? 0) - 0.001) < 0.00005)
      let crossings = zip(gap, gap.dropFirst()).count { $0 < 0 && $1 >= 0 }
      #expect((19...21).contains(crossings))
    }
    #expect(stage.recordedTerminal.error.contains(" 0 voices"))
  }

  @Test func questionMarkShowsTheKeys() throws {
    let stage = ScriptedEnvironment([(0.01, .key(.character("?")))])
    #expect(try play([try hum("a.ahap", 0.1)], on: stage) == .success)
    let line = "Keys: space pause, r replay, + - strength, m mute, q quit, ? help\n"
    // They are shown at the start, and not again while nothing else is.
    #expect(stage.recordedTerminal.error.split(separator: line).count == 2)
  }

  @Test func aRoutedChannelMustBeThere() throws {
    let stage = ScriptedEnvironment(channelCount: 2)
    let path = try hum("a.ahap", 0.1)
    let error = #expect(throws: UsageError.self) {
      try play([path, "--haptics", "1,4"], on: stage)
    }
    #expect(error?.description == "channel 4 is in use, but 'default' has 2 channels")
  }
}
