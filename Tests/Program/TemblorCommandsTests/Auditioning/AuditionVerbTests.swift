import HapticPlayback
import HapticRender
import TestSupport
import Testing

@testable import CommandLineKit
@testable import TemblorCommands

@Suite struct AuditionVerbTests {
  /// The number of frames of silence before the takes.
  private static let leadInFrameCount = 144
  /// The look-ahead, in frames.
  private static let lookaheadFrameCount = Int(Renderer.lookaheadSeconds * 48_000)
  /// The length of the cross-fade, in frames.
  private static let fadeFrameCount = 480
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func audition(_ arguments: [String], on environment: ScriptedEnvironment) throws
    -> CommandLineKit.ExitStatus
  {
    try AuditionCommand.run(
      AuditionCommand.definition().parseArguments(arguments), environment.recordedTerminal.terminal,
      on: environment
    )
  }

  /// Returns the played samples of a range of engine frames.
  private func playedSamples(
    _ environment: ScriptedEnvironment, _ frames: Range<Int>
  ) -> ArraySlice<Float> {
    environment.samples()[
      frames.lowerBound + Self.lookaheadFrameCount..<frames.upperBound + Self.lookaheadFrameCount]
  }

  @Test func switchKeepsThePlayHeadToTheFrame() throws {
    let takeA = noise(48_000)
    let takeB = noise(48_000, seed: 2)
    let arguments = [try folder.writeSound("a.wav", takeA), try folder.writeSound("b.wav", takeB)]
    // Both keys arrive at the beginning of a block: at frames 9,600 and 19,200.
    let environment = ScriptedEnvironment([
      (0.2, .key(.character("2"))), (0.4, .key(.character("a"))), (0.6, .key(.character("q"))),
    ])
    #expect(try audition(arguments, on: environment) == .success)
    expect(playedSamples(environment, Self.leadInFrameCount..<9_600), is: takeA)
    let firstFrame = 9_600 + Self.fadeFrameCount
    expect(
      playedSamples(environment, firstFrame..<19_200), is: takeB,
      from: firstFrame - Self.leadInFrameCount)
    let secondFrame = 19_200 + Self.fadeFrameCount
    expect(
      playedSamples(environment, secondFrame..<28_000), is: takeA,
      from: secondFrame - Self.leadInFrameCount)
    #expect(environment.recordedTerminal.error.contains("> B b.wav 0:00."))
  }

  @Test("Each body location plays on its channel, and takes that differ at one are not identical")
  func locationsPlaySeparately() throws {
    try folder.write(locatedPattern(rightIntensity: 100), to: "a.oh.json")
    try folder.write(locatedPattern(rightIntensity: 0), to: "b.oh.json")
    let arguments = [folder("b.oh.json"), folder("a.oh.json")]
    let environment = ScriptedEnvironment([(0.15, .key(.character("q")))], channelCount: 2)
    #expect(try audition(arguments, on: environment) == .success)
    let peaks = [0, 1].map { channel in environment.samples(channel).map(abs).max() ?? 0 }
    #expect(peaks[0] > 0.3)
    #expect(peaks[1] == 0)
    #expect(!environment.recordedTerminal.error.contains("identical"))
    #expect(!environment.recordedTerminal.error.contains("mixed"))
  }

  @Test("A message states that body locations are mixed")
  func mixedLocationsAreStated() throws {
    try folder.write(locatedPattern(rightIntensity: 100), to: "a.oh.json")
    try folder.write(locatedPattern(rightIntensity: 50), to: "b.oh.json")
    let arguments = [folder("a.oh.json"), folder("b.oh.json")]
    let environment = ScriptedEnvironment([(0.15, .key(.character("q")))], channelCount: 1)
    #expect(try audition(arguments, on: environment) == .success)
    #expect(environment.recordedTerminal.error.contains("2 body locations (left, right) are mixed"))
  }

  @Test func aSwitchDoesNotClick() throws {
    let arguments = [
      try folder.writeHum("a.ahap", 2, sharpness: 0.2),
      try folder.writeHum("b.ahap", 2, sharpness: 0.9),
    ]
    let keys = (1...16).map { (Double($0) * 0.0517, ScriptedEnvironment.ScriptStep.key(.tab)) }
    let environment = ScriptedEnvironment(keys + [(0.9, .key(.character("q")))])
    #expect(try audition(arguments, on: environment) == .success)
    let steadyEnvironment = ScriptedEnvironment([(0.9, .key(.character("q")))])
    #expect(try audition(arguments.reversed(), on: steadyEnvironment) == .success)
    func maximumStep(_ samples: ArraySlice<Float>) -> Float {
      zip(samples, samples.dropFirst()).map { abs($0 - $1) }.max() ?? 0
    }
    // The step of the sharper hum alone, plus 1.5 / 480 of the distance between two peaks, where
    // the gains change fastest.
    let peak = steadyEnvironment.samples().map(abs).max() ?? 0
    let bound = maximumStep(steadyEnvironment.samples()[2_000..<40_000]) + 2 * peak * 1.5 / 480
    let step = maximumStep(environment.samples()[2_000..<40_000])
    #expect(peak > 0.4)
    #expect(step < bound)
  }

  @Test func patternSoundsTheSameAfterASwitch() throws {
    let arguments = [
      try folder.writeSound("a.wav", noise(9_600)), try folder.writeHum("b.ahap", 0.3),
    ]
    let environment = ScriptedEnvironment([
      (0.002, .key(.character("b"))), (0.25, .key(.character("q"))),
    ])
    #expect(try audition(arguments, on: environment) == .success)
    let directEnvironment = ScriptedEnvironment([(0.25, .key(.character("q")))])
    #expect(try audition([arguments[1], arguments[0]], on: directEnvironment) == .success)
    let frames = 1_000..<11_000
    let isLoud = playedSamples(environment, frames).contains { abs($0) > 0.4 }
    #expect(isLoud)
    // The state of the DC blocker depends on the preceding sound.
    let error =
      zip(playedSamples(environment, frames), playedSamples(directEnvironment, frames)).map {
        abs($0 - $1)
      }.max()
      ?? 1
    #expect(error < 2e-3)
  }

  @Test func loopRangeRepeatsToTheFrame() throws {
    let takeA = noise(48_000)
    let arguments = [
      try folder.writeSound("a.wav", takeA), try folder.writeSound("b.wav", noise(4_000)),
      "--loop-range",
      "0.1-0.3",
    ]
    let environment = ScriptedEnvironment([(0.9, .key(.character("q")))])
    #expect(try audition(arguments, on: environment) == .success)
    // The sound's frames 4,800 to 14,400 repeat; each pass fades in over 2 ms.
    for pass in 0..<4 {
      let start = Self.leadInFrameCount + pass * 9_600
      expect(playedSamples(environment, start + 96..<start + 9_600), is: takeA, from: 4_896)
    }
    #expect(environment.recordedTerminal.error.contains(" loop 0.1-0.3 "))
  }

  @Test func completeSoundRepeatsAfterAGap() throws {
    let takeA = noise(9_600)
    let arguments = [
      try folder.writeSound("a.wav", takeA), try folder.writeSound("b.wav", noise(100)),
    ]
    let environment = ScriptedEnvironment([(1.2, .key(.character("q")))])
    #expect(try audition(arguments + ["--gap", "0.3"], on: environment) == .success)
    expect(playedSamples(environment, 9_800..<24_000), is: silence(14_200))
    expect(
      playedSamples(environment, Self.leadInFrameCount + 24_000..<Self.leadInFrameCount + 33_600),
      is: takeA
    )
  }

  @Test func levelsAreMatchedByTheReportedGains() throws {
    let takeA = noise(48_000)
    let arguments = [
      try folder.writeSound("a.wav", takeA),
      try folder.writeSound("b.wav", noise(48_000, level: 0.25)), "--json",
    ]
    let environment = ScriptedEnvironment([
      (0.2, .key(.character("g"))), (0.4, .key(.character("g"))), (0.6, .key(.character("q"))),
    ])
    #expect(try audition(arguments, on: environment) == .success)
    expect(playedSamples(environment, Self.leadInFrameCount..<9_600), is: takeA)
    for start in [9_600, 19_200] {
      let frames = start + Self.fadeFrameCount..<start + 9_000
      expect(
        playedSamples(environment, frames), is: takeA,
        from: frames.lowerBound - Self.leadInFrameCount,
        times: 0.25)
    }
    #expect(environment.recordedTerminal.error.contains("levels not matched"))
    #expect(environment.recordedTerminal.error.contains("loudness -12 dB"))
    #expect(environment.recordedTerminal.error.contains("felt -12 dB"))
    #expect(environment.recordedTerminal.output.contains(#""match": "felt""#))
    #expect(environment.recordedTerminal.output.contains(#""letter": "B""#))
  }

  @Test func matchingNeverRaisesLevelsAndMayBeAnOption() throws {
    let takeA = noise(24_000, level: 0.25)
    let takeB = noise(24_000)
    let arguments = [
      try folder.writeSound("a.wav", takeA), try folder.writeSound("b.wav", takeB), "--match",
      "felt",
    ]
    let environment = ScriptedEnvironment([
      (0.2, .key(.character("2"))), (0.4, .key(.character("q"))),
    ])
    #expect(try audition(arguments, on: environment) == .success)
    expect(playedSamples(environment, Self.leadInFrameCount..<9_600), is: takeA)
    let firstFrame = 9_600 + Self.fadeFrameCount
    expect(
      playedSamples(environment, firstFrame..<18_000), is: takeB,
      from: firstFrame - Self.leadInFrameCount,
      times: 0.25)
  }

  @Test func takesWithoutMeasurableLoudnessAreMatchedByFeltEnergy() throws {
    let arguments = [
      try folder.writeSound("a.wav", noise(4_800)),
      try folder.writeSound("b.wav", noise(4_800, level: 1e-5)),
      "--match",
      "loudness",
    ]
    let environment = ScriptedEnvironment([(0.2, .key(.character("q")))])
    #expect(try audition(arguments, on: environment) == .success)
    expect(playedSamples(environment, Self.leadInFrameCount..<4_900), is: silence(4_756))
    #expect(environment.recordedTerminal.error.contains(" felt -100 dB"))
  }

  @Test func keysPauseAndMoveThePlayHead() throws {
    let takeA = noise(48_000)
    let arguments = [
      try folder.writeSound("a.wav", takeA), try folder.writeSound("b.wav", noise(100)),
    ]
    let environment = ScriptedEnvironment([
      (0.2, .key(.character(" "))), (0.24, .key(.right)), (0.28, .key(.right)),
      (0.4, .key(.character(" "))),
      (0.6, .key(.home)), (0.8, .key(.character("q"))),
    ])
    #expect(try audition(arguments, on: environment) == .success)
    expect(playedSamples(environment, 9_800..<19_200), is: silence(9_400))
    // Each right arrow moves the play head by a sixteenth of a second.
    expect(
      playedSamples(environment, 19_296..<28_800), is: takeA,
      from: 9_600 - Self.leadInFrameCount + 6_000 + 96)
    expect(playedSamples(environment, 28_896..<38_000), is: takeA, from: 96)
    #expect(environment.recordedTerminal.error.contains("\r= A a.wav 0:00.1 / 0:01.0"))
    #expect(environment.recordedTerminal.error.contains("\r= A a.wav 0:00.3 / 0:01.0"))
    // The status line never shows an earlier position again.
    #expect(environment.recordedTerminal.error.contains("\r> A a.wav 0:00.3 / 0:01.0"))
  }

  @Test func bracketsSetTheLoopRange() throws {
    let takeA = noise(48_000)
    let arguments = [
      try folder.writeSound("a.wav", takeA), try folder.writeSound("b.wav", noise(100)),
    ]
    let environment = ScriptedEnvironment([
      (0.2, .key(.character("["))), (0.4, .key(.character("]"))), (0.9, .key(.backspace)),
      (1.0, .key(.character("q"))),
    ])
    #expect(try audition(arguments, on: environment) == .success)
    let start = 9_600 - Self.leadInFrameCount
    let loopFrameCount = 9_600
    for pass in 0..<2 {
      let from = 19_200 + pass * loopFrameCount
      expect(playedSamples(environment, from + 96..<from + 4_000), is: takeA, from: start + 96)
    }
    // The complete sound continues from the position in the loop.
    expect(
      playedSamples(environment, 43_200..<47_000), is: takeA,
      from: start + (43_200 - 19_200) % loopFrameCount)
    #expect(environment.recordedTerminal.error.contains(" loop 0.2-0.4 "))
  }

  @Test func withoutALoopPlaybackStopsUntilAKey() throws {
    let takeA = noise(9_600)
    let arguments = [
      try folder.writeSound("a.wav", takeA), try folder.writeSound("b.wav", noise(4_800)),
    ]
    let environment = ScriptedEnvironment([
      (0.1, .key(.character("l"))), (1.0, .key(.character(" "))), (1.3, .key(.character("q"))),
    ])
    #expect(try audition(arguments, on: environment) == .success)
    expect(playedSamples(environment, Self.leadInFrameCount..<9_744), is: takeA)
    expect(playedSamples(environment, 9_744..<48_000), is: silence(38_256))
    expect(playedSamples(environment, 48_000..<57_600), is: takeA)
    #expect(environment.recordedTerminal.error.contains("\r- A "))
    #expect(environment.recordedTerminal.error.contains(" no loop "))
  }

  @Test func withoutKeysEachTakePlaysOnce() throws {
    let takeA = noise(9_600)
    let takeB = noise(4_800, seed: 2)
    let arguments = [try folder.writeSound("a.wav", takeA), try folder.writeSound("b.wav", takeB)]
    let environment = ScriptedEnvironment(hasKeyboard: false)
    #expect(try audition(arguments + ["--gap", "0.1"], on: environment) == .success)
    expect(
      playedSamples(environment, Self.leadInFrameCount..<Self.leadInFrameCount + 9_600), is: takeA)
    let secondFrame = Self.leadInFrameCount + 9_600 + 4_800
    expect(playedSamples(environment, secondFrame..<secondFrame + 4_800), is: takeB)
    #expect(abs(environment.samples().count - secondFrame - 4_800 - 960) < 300)
    #expect(environment.recordedTerminal.error.contains("A: \(arguments[0]), 0.2 s\n"))
    #expect(environment.recordedTerminal.error.contains("B: \(arguments[1]), 0.1 s\n"))
  }

  @Test func withoutKeysTheLoopRangeOfEachTakePlays() throws {
    let takeA = noise(9_600)
    let takeB = noise(9_600, seed: 2)
    let arguments = [try folder.writeSound("a.wav", takeA), try folder.writeSound("b.wav", takeB)]
    let environment = ScriptedEnvironment(hasKeyboard: false)
    #expect(
      try audition(arguments + ["--gap", "0", "--loop-range", "0.05-0.1"], on: environment)
        == .success)
    expect(
      playedSamples(environment, Self.leadInFrameCount + 96..<Self.leadInFrameCount + 2_400),
      is: takeA,
      from: 2_496)
    let secondFrame = Self.leadInFrameCount + 2_400
    expect(
      playedSamples(environment, secondFrame + 96..<secondFrame + 2_400), is: takeB, from: 2_496)
    expect(playedSamples(environment, secondFrame + 2_500..<secondFrame + 3_000), is: silence(500))
  }

  @Test func unplayableTakeStopsAll() throws {
    try folder.write("{\n", to: "bad.ahap")
    let environment = ScriptedEnvironment()
    #expect(try audition([folder("bad.ahap"), "light"], on: environment) == .invalidInput)
    #expect(environment.engine == nil)
    #expect(try audition(["nothing", "light"], on: environment) == .failure)
    #expect(environment.recordedTerminal.error.contains("bad.ahap:2:1: "))
    #expect(
      try audition([try folder.writeSound("a.wav", []), "light"], on: environment) == .failure)
    #expect(environment.recordedTerminal.error.contains("a.wav: contains no audio\n"))
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
  ]) func mistakesAreReported(arguments: [String], message: String) throws {
    let error = #expect(throws: UsageError.self) {
      try audition(arguments, on: ScriptedEnvironment())
    }
    #expect(error?.description == message)
  }

  @Test func keyListWrapsAtWords() throws {
    let environment = ScriptedEnvironment([(0.01, .key(.character("q")))])
    #expect(try audition(["light", "medium"], on: environment) == .success)
    #expect(
      environment.recordedTerminal.error.contains(
        """
        Keys: 1-2 or a-b choose, tab next take, space pause, left right move, home start,
              [ ] set loop start, end, backspace loop everything, l loop on or off,
              g match levels: none, loudness, felt, + - strength, m mute, q quit, ? help

        """))
  }
}
