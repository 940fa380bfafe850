import HapticPlayback
import HapticRender
import TestSupport
import Testing

@testable import CommandLineKit
@testable import TemblorCommands

@Suite struct AuditionVerbTests {
  /// Frames of silence before the takes.
  private static let leadInFrameCount = 144
  /// Frames of look-ahead.
  private static let lookaheadFrameCount = Int(Renderer.lookaheadSeconds * 48_000)
  /// Frames of the cross-fade.
  private static let fadeFrameCount = 480
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func audition(_ words: [String], on stage: ScriptedEnvironment) throws
    -> CommandLineKit.ExitStatus
  {
    try AuditionCommand.run(
      AuditionCommand.definition().parseArguments(words), stage.recordedTerminal.terminal, on: stage
    )
  }

  /// What is heard from some frames of the engine on.
  private func playedSamples(_ stage: ScriptedEnvironment, _ frames: Range<Int>) -> ArraySlice<
    Float
  > {
    stage.samples()[
      frames.lowerBound + Self.lookaheadFrameCount..<frames.upperBound + Self.lookaheadFrameCount]
  }

  @Test func aSwitchIsHeardUnderTheSamePlayHeadToTheFrame() throws {
    let one = noise(48_000)
    let two = noise(48_000, seed: 2)
    let words = [try folder.writeSound("a.wav", one), try folder.writeSound("b.wav", two)]
    // Both keys fall on the beginning of a block: frames 9,600 and 19,200.
    let stage = ScriptedEnvironment([
      (0.2, .key(.character("2"))), (0.4, .key(.character("a"))), (0.6, .key(.character("q"))),
    ])
    #expect(try audition(words, on: stage) == .success)
    expect(playedSamples(stage, Self.leadInFrameCount..<9_600), is: one)
    let first = 9_600 + Self.fadeFrameCount
    expect(playedSamples(stage, first..<19_200), is: two, from: first - Self.leadInFrameCount)
    let second = 19_200 + Self.fadeFrameCount
    expect(playedSamples(stage, second..<28_000), is: one, from: second - Self.leadInFrameCount)
    #expect(stage.recordedTerminal.error.contains("> B b.wav 0:00."))
  }

  @Test("Each body location plays on its channel, and takes that differ at one are not identical")
  func locationsPlaySeparately() throws {
    try folder.write(locatedPattern(rightIntensity: 100), to: "a.oh.json")
    try folder.write(locatedPattern(rightIntensity: 0), to: "b.oh.json")
    let words = [folder("b.oh.json"), folder("a.oh.json")]
    let stage = ScriptedEnvironment([(0.15, .key(.character("q")))], channelCount: 2)
    #expect(try audition(words, on: stage) == .success)
    let peaks = [0, 1].map { channel in stage.samples(channel).map(abs).max() ?? 0 }
    #expect(peaks[0] > 0.3)
    #expect(peaks[1] == 0)
    #expect(!stage.recordedTerminal.error.contains("identical"))
    #expect(!stage.recordedTerminal.error.contains("mixed"))
  }

  @Test("A message states that body locations are mixed")
  func mixedLocationsAreStated() throws {
    try folder.write(locatedPattern(rightIntensity: 100), to: "a.oh.json")
    try folder.write(locatedPattern(rightIntensity: 50), to: "b.oh.json")
    let words = [folder("a.oh.json"), folder("b.oh.json")]
    let stage = ScriptedEnvironment([(0.15, .key(.character("q")))], channelCount: 1)
    #expect(try audition(words, on: stage) == .success)
    #expect(stage.recordedTerminal.error.contains("2 body locations (left, right) are mixed"))
  }

  @Test func aSwitchDoesNotClick() throws {
    let words = [
      try folder.writeHum("a.ahap", 2, sharpness: 0.2),
      try folder.writeHum("b.ahap", 2, sharpness: 0.9),
    ]
    let keys = (1...16).map { (Double($0) * 0.0517, ScriptedEnvironment.ScriptStep.key(.tab)) }
    let stage = ScriptedEnvironment(keys + [(0.9, .key(.character("q")))])
    #expect(try audition(words, on: stage) == .success)
    let alone = ScriptedEnvironment([(0.9, .key(.character("q")))])
    #expect(try audition(words.reversed(), on: alone) == .success)
    func greatestStep(_ samples: ArraySlice<Float>) -> Float {
      zip(samples, samples.dropFirst()).map { abs($0 - $1) }.max() ?? 0
    }
    // The sharper hum's own step, and 1.5 / 480 of the distance of two peaks where the gains move
    // fastest.
    let peak = alone.samples().map(abs).max() ?? 0
    let bound = greatestStep(alone.samples()[2_000..<40_000]) + 2 * peak * 1.5 / 480
    let step = greatestStep(stage.samples()[2_000..<40_000])
    #expect(peak > 0.4)
    #expect(step < bound)
  }

  @Test func aPatternSoundsAsItDoesAlone() throws {
    let words = [try folder.writeSound("a.wav", noise(9_600)), try folder.writeHum("b.ahap", 0.3)]
    let stage = ScriptedEnvironment([(0.002, .key(.character("b"))), (0.25, .key(.character("q")))])
    #expect(try audition(words, on: stage) == .success)
    let alone = ScriptedEnvironment([(0.25, .key(.character("q")))])
    #expect(try audition([words[1], words[0]], on: alone) == .success)
    let frames = 1_000..<11_000
    let isLoud = playedSamples(stage, frames).contains { abs($0) > 0.4 }
    #expect(isLoud)
    // The DC blocker remembers what was heard before.
    let error =
      zip(playedSamples(stage, frames), playedSamples(alone, frames)).map { abs($0 - $1) }.max()
      ?? 1
    #expect(error < 2e-3)
  }

  @Test func aPartRepeatsToTheFrame() throws {
    let one = noise(48_000)
    let words = [
      try folder.writeSound("a.wav", one), try folder.writeSound("b.wav", noise(4_000)),
      "--loop-range",
      "0.1-0.3",
    ]
    let stage = ScriptedEnvironment([(0.9, .key(.character("q")))])
    #expect(try audition(words, on: stage) == .success)
    // The sound's frames 4,800 to 14,400, over and over; each pass fades in over 2 ms.
    for pass in 0..<4 {
      let start = Self.leadInFrameCount + pass * 9_600
      expect(playedSamples(stage, start + 96..<start + 9_600), is: one, from: 4_896)
    }
    #expect(stage.recordedTerminal.error.contains(" loop 0.1-0.3 "))
  }

  @Test func theWholeRepeatsBehindAGap() throws {
    let one = noise(9_600)
    let words = [try folder.writeSound("a.wav", one), try folder.writeSound("b.wav", noise(100))]
    let stage = ScriptedEnvironment([(1.2, .key(.character("q")))])
    #expect(try audition(words + ["--gap", "0.3"], on: stage) == .success)
    expect(playedSamples(stage, 9_800..<24_000), is: silence(14_200))
    expect(
      playedSamples(stage, Self.leadInFrameCount + 24_000..<Self.leadInFrameCount + 33_600), is: one
    )
  }

  @Test func levelsAreMatchedByTheFactorsTold() throws {
    let one = noise(48_000)
    let words = [
      try folder.writeSound("a.wav", one),
      try folder.writeSound("b.wav", noise(48_000, level: 0.25)), "--json",
    ]
    let stage = ScriptedEnvironment([
      (0.2, .key(.character("g"))), (0.4, .key(.character("g"))), (0.6, .key(.character("q"))),
    ])
    #expect(try audition(words, on: stage) == .success)
    expect(playedSamples(stage, Self.leadInFrameCount..<9_600), is: one)
    for start in [9_600, 19_200] {
      let frames = start + Self.fadeFrameCount..<start + 9_000
      expect(
        playedSamples(stage, frames), is: one, from: frames.lowerBound - Self.leadInFrameCount,
        times: 0.25)
    }
    #expect(stage.recordedTerminal.error.contains("levels not matched"))
    #expect(stage.recordedTerminal.error.contains("loudness -12 dB"))
    #expect(stage.recordedTerminal.error.contains("felt -12 dB"))
    #expect(stage.recordedTerminal.output.contains(#""match": "felt""#))
    #expect(stage.recordedTerminal.output.contains(#""letter": "B""#))
  }

  @Test func matchingNeverRaisesAndMayStandAtTheBeginning() throws {
    let one = noise(24_000, level: 0.25)
    let two = noise(24_000)
    let words = [
      try folder.writeSound("a.wav", one), try folder.writeSound("b.wav", two), "--match", "felt",
    ]
    let stage = ScriptedEnvironment([(0.2, .key(.character("2"))), (0.4, .key(.character("q")))])
    #expect(try audition(words, on: stage) == .success)
    expect(playedSamples(stage, Self.leadInFrameCount..<9_600), is: one)
    let first = 9_600 + Self.fadeFrameCount
    expect(
      playedSamples(stage, first..<18_000), is: two, from: first - Self.leadInFrameCount,
      times: 0.25)
  }

  @Test func takesTooQuietForALoudnessAreMatchedByFeltEnergy() throws {
    let words = [
      try folder.writeSound("a.wav", noise(4_800)),
      try folder.writeSound("b.wav", noise(4_800, level: 1e-5)),
      "--match",
      "loudness",
    ]
    let stage = ScriptedEnvironment([(0.2, .key(.character("q")))])
    #expect(try audition(words, on: stage) == .success)
    expect(playedSamples(stage, Self.leadInFrameCount..<4_900), is: silence(4_756))
    #expect(stage.recordedTerminal.error.contains(" felt -100 dB"))
  }

  @Test func keysPauseAndMoveThePlayHead() throws {
    let one = noise(48_000)
    let words = [try folder.writeSound("a.wav", one), try folder.writeSound("b.wav", noise(100))]
    let stage = ScriptedEnvironment([
      (0.2, .key(.character(" "))), (0.24, .key(.right)), (0.28, .key(.right)),
      (0.4, .key(.character(" "))),
      (0.6, .key(.home)), (0.8, .key(.character("q"))),
    ])
    #expect(try audition(words, on: stage) == .success)
    expect(playedSamples(stage, 9_800..<19_200), is: silence(9_400))
    // Two sixteenths of a second on.
    expect(
      playedSamples(stage, 19_296..<28_800), is: one,
      from: 9_600 - Self.leadInFrameCount + 6_000 + 96)
    expect(playedSamples(stage, 28_896..<38_000), is: one, from: 96)
    #expect(stage.recordedTerminal.error.contains("\r= A a.wav 0:00.1 / 0:01.0"))
    #expect(stage.recordedTerminal.error.contains("\r= A a.wav 0:00.3 / 0:01.0"))
    // The line never falls back to where the play head was.
    #expect(stage.recordedTerminal.error.contains("\r> A a.wav 0:00.3 / 0:01.0"))
  }

  @Test func bracketsSetThePartThatRepeats() throws {
    let one = noise(48_000)
    let words = [try folder.writeSound("a.wav", one), try folder.writeSound("b.wav", noise(100))]
    let stage = ScriptedEnvironment([
      (0.2, .key(.character("["))), (0.4, .key(.character("]"))), (0.9, .key(.backspace)),
      (1.0, .key(.character("q"))),
    ])
    #expect(try audition(words, on: stage) == .success)
    let start = 9_600 - Self.leadInFrameCount
    let length = 9_600
    for pass in 0..<2 {
      let from = 19_200 + pass * length
      expect(playedSamples(stage, from + 96..<from + 4_000), is: one, from: start + 96)
    }
    // The whole goes on where the part stood.
    expect(playedSamples(stage, 43_200..<47_000), is: one, from: start + (43_200 - 19_200) % length)
    #expect(stage.recordedTerminal.error.contains(" loop 0.2-0.4 "))
  }

  @Test func withoutALoopTheEndIsTheEndUntilAKey() throws {
    let one = noise(9_600)
    let words = [try folder.writeSound("a.wav", one), try folder.writeSound("b.wav", noise(4_800))]
    let stage = ScriptedEnvironment([
      (0.1, .key(.character("l"))), (1.0, .key(.character(" "))), (1.3, .key(.character("q"))),
    ])
    #expect(try audition(words, on: stage) == .success)
    expect(playedSamples(stage, Self.leadInFrameCount..<9_744), is: one)
    expect(playedSamples(stage, 9_744..<48_000), is: silence(38_256))
    expect(playedSamples(stage, 48_000..<57_600), is: one)
    #expect(stage.recordedTerminal.error.contains("\r- A "))
    #expect(stage.recordedTerminal.error.contains(" no loop "))
  }

  @Test func withoutKeysEachIsHeardOnce() throws {
    let one = noise(9_600)
    let two = noise(4_800, seed: 2)
    let words = [try folder.writeSound("a.wav", one), try folder.writeSound("b.wav", two)]
    let stage = ScriptedEnvironment(hasKeyboard: false)
    #expect(try audition(words + ["--gap", "0.1"], on: stage) == .success)
    expect(playedSamples(stage, Self.leadInFrameCount..<Self.leadInFrameCount + 9_600), is: one)
    let second = Self.leadInFrameCount + 9_600 + 4_800
    expect(playedSamples(stage, second..<second + 4_800), is: two)
    #expect(abs(stage.samples().count - second - 4_800 - 960) < 300)
    #expect(stage.recordedTerminal.error.contains("A: \(words[0]), 0.2 s\n"))
    #expect(stage.recordedTerminal.error.contains("B: \(words[1]), 0.1 s\n"))
  }

  @Test func withoutKeysAPartOfEachIsHeard() throws {
    let one = noise(9_600)
    let two = noise(9_600, seed: 2)
    let words = [try folder.writeSound("a.wav", one), try folder.writeSound("b.wav", two)]
    let stage = ScriptedEnvironment(hasKeyboard: false)
    #expect(
      try audition(words + ["--gap", "0", "--loop-range", "0.05-0.1"], on: stage) == .success)
    expect(
      playedSamples(stage, Self.leadInFrameCount + 96..<Self.leadInFrameCount + 2_400), is: one,
      from: 2_496)
    let second = Self.leadInFrameCount + 2_400
    expect(playedSamples(stage, second + 96..<second + 2_400), is: two, from: 2_496)
    expect(playedSamples(stage, second + 2_500..<second + 3_000), is: silence(500))
  }

  @Test func whatCannotBePlayedStopsAll() throws {
    try folder.write("{\n", to: "bad.ahap")
    let stage = ScriptedEnvironment()
    #expect(try audition([folder("bad.ahap"), "light"], on: stage) == .invalidInput)
    #expect(stage.engine == nil)
    #expect(try audition(["nothing", "light"], on: stage) == .failure)
    #expect(stage.recordedTerminal.error.contains("bad.ahap:2:1: "))
    #expect(try audition([try folder.writeSound("a.wav", []), "light"], on: stage) == .failure)
    #expect(stage.recordedTerminal.error.contains("a.wav: contains no audio\n"))
  }

  @Test(arguments: [
    (["light"], "'audition' accepts two to 9 patterns or sound files, not 1"),
    (
      Array(repeating: "light", count: 10),
      "'audition' accepts two to 9 patterns or sound files, not 10"
    ),
    (
      ["light", "medium", "--loop-range", "1"],
      "invalid value '1' for '--loop-range': expected a range in seconds, such as '0.5-1.2'"
    ),
    (["light", "medium", "--loop-range", "2-1"], "the loop range '2-1' is shorter than 0.01 s"),
    (
      ["light", "medium", "--loop-range", "7-9"],
      "the loop range '7-9' starts after the end of the sound at 0.016 s"
    ),
  ]) func mistakesAreTold(words: [String], message: String) throws {
    let error = #expect(throws: UsageError.self) { try audition(words, on: ScriptedEnvironment()) }
    #expect(error?.description == message)
  }

  @Test func theKeysAreToldInWholeWords() throws {
    let stage = ScriptedEnvironment([(0.01, .key(.character("q")))])
    #expect(try audition(["light", "medium"], on: stage) == .success)
    #expect(
      stage.recordedTerminal.error.contains(
        """
        Keys: 1-2 or a-b choose, tab next take, space pause, left right move, home start,
              [ ] set loop start, end, backspace loop everything, l loop on or off,
              g match levels: none, loudness, felt, + - strength, m mute, q quit, ? help

        """))
  }
}
