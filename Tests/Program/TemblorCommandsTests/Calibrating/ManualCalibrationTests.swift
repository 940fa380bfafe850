import HapticPlayback
import HapticRender
import SystemSupport
import TestSupport
import Testing
import TransducerCalibration
import TransducerProfiles

@testable import CommandLineKit
@testable import TemblorCommands

/// `temblor calibrate --by-hand` on a device in memory.
@Suite struct ManualCalibrationTests {
  private let folder: TemporaryFolder
  private var output: String { folder("mine.json") }

  init() throws { folder = try TemporaryFolder() }

  private func calibrate(_ words: [String] = [], on stage: ScriptedEnvironment) throws
    -> CommandLineKit.ExitStatus
  {
    let words =
      [
        "--by-hand", "--profile", "dayton-bst-1", "--device", "hw:1", "-o", output, "--date",
        "today",
      ] + words
    return try CalibrateCommand.run(
      CalibrateCommand.definition.parseArguments(words), stage.recordedTerminal.terminal, on: stage)
  }

  private var isWritten: Bool { FileSystem.entryKind(at: output) != .missing }

  /// Keys at seconds, Enter at 0.5 among them.
  private func environment(_ keys: [(Double, KeyPress)] = [], limit: Double = 300)
    -> ScriptedEnvironment
  {
    ScriptedEnvironment(
      ([(0.5, .enter)] + keys).map { ($0.0, .key($0.1)) }, limit: limit)
  }

  // MARK: - What goes wrong

  @Test func withoutATerminalNothingIsPlayed() throws {
    for stage in [ScriptedEnvironment(isTerminal: false), ScriptedEnvironment(hasKeyboard: false)] {
      let error = #expect(throws: UsageError.self) { try calibrate(on: stage) }
      #expect(
        error?.description
          == """
          '--by-hand' requires a terminal with a keyboard; otherwise, record the sweep with a \
          sensor
          """)
      #expect(stage.engine == nil)
    }
  }

  @Test(arguments: [
    (["take.wav"], "'--by-hand' cannot be used with RECORDING"),
    (["--plot", "a.svg"], "'--plot' cannot be used with '--by-hand'"),
    (["--quick"], "'--quick' cannot be used with '--by-hand'"),
    (["--capture", "hw:1"], "'--capture' cannot be used with '--by-hand'"),
    (["--low", "20"], "'--low' cannot be used with '--by-hand'"),
  ]) func whatDoesNotBelongToAHandIsRefused(words: [String], message: String) throws {
    let stage = ScriptedEnvironment()
    let error = #expect(throws: UsageError.self) { try calibrate(words, on: stage) }
    #expect(error?.description == message)
    #expect(stage.engine == nil)
  }

  @Test func noKeyInThreeTonesEndsIt() throws {
    let stage = environment()
    let error = #expect(throws: CalibrationFailure.self) { try calibrate(on: stage) }
    #expect(
      error?.description
        == """
        dayton-bst-1: no key was pressed in 3 tones; raise the level with + until you feel the tones
        """
    )
    #expect(!isWritten)
  }

  /// Before Enter nothing plays; q in a tone, and the device's end, leave no file.
  @Test func whoGivesUpWritesNothing() throws {
    let silent = ScriptedEnvironment(limit: 5)
    #expect(try calibrate(on: silent) == .failure)
    #expect(silent.samples().allSatisfy { $0 == 0 })
    for cue in [
      ScriptedEnvironment.ScriptStep.key(.character("q")), .key(.control("d")), .event(.ended),
    ] {
      let stage = ScriptedEnvironment([(0.5, .key(.enter)), (9, cue)], limit: 300)
      #expect(try calibrate(on: stage) == .failure)
      #expect(
        stage.recordedTerminal.error.contains("Some tones were not played; no profile was written.")
      )
    }
    #expect(!isWritten)
  }

  @Test func keysByTheClockAreRefused() throws {
    let stage = environment((0..<200).map { (4 + 5.0 * Double($0), .character(" ")) })
    let error = #expect(throws: CalibrationFailure.self) { try calibrate(on: stage) }
    #expect(error?.error.kind == .pressesDisagree)
    #expect(!isWritten)
  }

  // MARK: - What a person finds

  /// A person at a transducer.
  private final class Person {
    private var hand: SimulatedHand
    private var plant: TransducerSimulation
    private var next = 0
    private var power = 0.0
    private var silence = 0
    private(set) var pressCount = 0
    private let finger: Finger
    private var keys: [Double] = []

    /// The release of the key: at once, after bouncing, or late, so that the keyboard repeats
    /// it.
    enum Finger: Sendable { case once, twice, holding }

    init(_ model: TransducerModel, seed: UInt64, finger: Finger = .once) {
      self.finger = finger
      hand = SimulatedHand(seed: seed)
      plant = TransducerSimulation(model, rate: 48_000)
    }

    func key(_ playback: VirtualPlayback, _ seconds: Double) -> KeyPress? {
      let samples = playback.sink.samples
      for index in next..<samples.count {
        _ = plant.nextAcceleration(drive: samples[index])
        // Near 30 Hz a hand's threshold of acceleration rises about as frequency does, so it feels
        // velocity.
        power += (plant.velocity * plant.velocity - power) / (0.08 * 48_000)
        silence = samples[index] == 0 ? silence + 1 : 0
      }
      next = samples.count
      if silence > 9_600 {
        hand.beginTone()
        keys = []
        return nil
      }
      if power > 1e-6,
        hand.presses(feeling: NumberFormatting.decibels(ofAmplitude: Float(power)) / 2, at: seconds)
      {
        pressCount += 1
        switch finger {
        case .once: keys = []
        case .twice: keys = [seconds + 0.2]
        case .holding: keys = (0..<20).map { seconds + 0.5 + 0.03 * Double($0) }
        }
        return .character(" ")
      }
      guard let first = keys.first, seconds >= first else { return nil }
      keys.removeFirst()
      return .character(" ")
    }
  }

  @Test(arguments: [
    (26.0, UInt64(1), Person.Finger.once), (34, 2, .twice), (31, 3, .holding), (27, 4_711, .once),
  ])
  private func aHandFindsTheResonance(hertz: Double, seed: UInt64, finger: Person.Finger) throws {
    let model = TransducerModel(resonanceHertz: hertz, qualityFactor: 3)
    let person = Person(model, seed: seed, finger: finger)
    let stage = environment()
    stage.keyResponder = person.key
    #expect(try calibrate(on: stage) == .success)
    #expect(person.pressCount == 6)
    let profile = try SharedOptions.loadProfile(named: output)
    let found = try #require(profile.hardware?.resonanceHertz)
    #expect(abs(found / hertz - 1) < 0.02)
    #expect(profile.name == "mine" && profile.sources.last == "Resonance measured by hand, today")
    #expect(profile.hardware?.uncertainty?.trueToStatedQualityFactorRatio == 1.5)
    #expect(stage.recordedTerminal.output.contains("All 6 key presses agree.\n"))
    #expect(stage.recordedTerminal.output.hasSuffix("\(output): written\n"))
    // Weak at first: 24 dB below full scale.
    #expect(stage.samples().allSatisfy { abs($0) < 0.0632 })
  }

  /// One tone is answered wildly; the level is raised in the middle of another, which is played
  /// again.
  @Test func aWildKeyIsLeftOutAndALevelRepeatsTheTone() throws {
    let person = Person(TransducerModel(resonanceHertz: 31, qualityFactor: 6), seed: 9)
    let stage = ScriptedEnvironment(
      [
        (0.5, .key(.enter)), (0.7, .key(.character(" "))), (4, .key(.character("+"))),
        (6.5, .key(.character(" "))),
      ],
      limit: 300)
    stage.keyResponder = { playback, seconds in seconds > 9 ? person.key(playback, seconds) : nil }
    #expect(try calibrate(["--json"], on: stage) == .success)
    #expect(person.pressCount == 5)
    #expect(stage.recordedTerminal.output.contains("\"leftOut\": [\n    { \"hertz\": "))
    #expect(
      abs((try SharedOptions.loadProfile(named: output).hardware?.resonanceHertz ?? 0) / 31 - 1)
        < 0.04)
    let peak = stage.samples().map(abs).max() ?? 0
    #expect(peak > 0.0633 && peak < 0.0895)
  }

  @Test func tonesPlayOnTheChosenChannel() throws {
    let stage = ScriptedEnvironment(
      [(0.5, .key(.enter)), (6, .key(.character("q")))], channelCount: 2)
    #expect(try calibrate(["--haptics", "2"], on: stage) == .failure)
    #expect(stage.samples(0).allSatisfy { $0 == 0 } && stage.samples(1).contains { $0 != 0 })
  }
}
