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

  private func calibrate(_ arguments: [String] = [], on environment: ScriptedEnvironment) throws
    -> CommandLineKit.ExitStatus
  {
    let arguments =
      [
        "--by-hand", "--profile", "dayton-bst-1", "--device", "hw:1", "-o", output, "--date",
        "today",
      ] + arguments
    return try CalibrateCommand.run(
      CalibrateCommand.definition.parseArguments(arguments), environment.recordedTerminal.terminal,
      on: environment)
  }

  private var isWritten: Bool { FileSystem.entryKind(at: output) != .missing }

  /// Returns an environment with Enter at 0.5 s and the given keys, with times in seconds.
  private func environment(_ keys: [(Double, KeyPress)] = [], limit: Double = 300)
    -> ScriptedEnvironment
  {
    ScriptedEnvironment(
      ([(0.5, .enter)] + keys).map { ($0.0, .key($0.1)) }, limit: limit)
  }

  // MARK: - Errors

  @Test func withoutATerminalNothingIsPlayed() throws {
    for environment in [
      ScriptedEnvironment(isTerminal: false), ScriptedEnvironment(hasKeyboard: false),
    ] {
      let error = #expect(throws: UsageError.self) { try calibrate(on: environment) }
      #expect(
        error?.description
          == """
          '--by-hand' requires a terminal with a keyboard; otherwise, record the sweep with a \
          sensor
          """)
      #expect(environment.engine == nil)
    }
  }

  @Test(arguments: [
    (["take.wav"], "'--by-hand' cannot be used with RECORDING"),
    (["--plot", "a.svg"], "'--plot' cannot be used with '--by-hand'"),
    (["--quick"], "'--quick' cannot be used with '--by-hand'"),
    (["--capture", "hw:1"], "'--capture' cannot be used with '--by-hand'"),
    (["--low", "20"], "'--low' cannot be used with '--by-hand'"),
  ]) func byHandRefusesOtherOptions(arguments: [String], message: String) throws {
    let environment = ScriptedEnvironment()
    let error = #expect(throws: UsageError.self) { try calibrate(arguments, on: environment) }
    #expect(error?.description == message)
    #expect(environment.engine == nil)
  }

  @Test func threeTonesWithoutAKeyEndTheCalibration() throws {
    let environment = environment()
    let error = #expect(throws: CalibrationFailure.self) { try calibrate(on: environment) }
    #expect(
      error?.description
        == """
        dayton-bst-1: no key was pressed in 3 tones; raise the level with + until you feel the tones
        """
    )
    #expect(!isWritten)
  }

  /// Nothing plays before Enter. Quitting during a tone, or the end of the device, writes no file.
  @Test func canceledCalibrationWritesNothing() throws {
    let idleEnvironment = ScriptedEnvironment(limit: 5)
    #expect(try calibrate(on: idleEnvironment) == .failure)
    #expect(idleEnvironment.samples().allSatisfy { $0 == 0 })
    for lastStep in [
      ScriptedEnvironment.ScriptStep.key(.character("q")), .key(.control("d")), .event(.ended),
    ] {
      let environment = ScriptedEnvironment([(0.5, .key(.enter)), (9, lastStep)], limit: 300)
      #expect(try calibrate(on: environment) == .failure)
      #expect(
        environment.recordedTerminal.error.contains(
          "Some tones were not played; no profile was written.")
      )
    }
    #expect(!isWritten)
  }

  @Test func regularlyTimedKeysAreRefused() throws {
    let environment = environment((0..<200).map { (4 + 5.0 * Double($0), .character(" ")) })
    let error = #expect(throws: CalibrationFailure.self) { try calibrate(on: environment) }
    #expect(error?.error.kind == .pressesDisagree)
    #expect(!isWritten)
  }

  // MARK: - Results

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
  private func keyPressesLocateTheResonance(hertz: Double, seed: UInt64, finger: Person.Finger)
    throws
  {
    let model = TransducerModel(resonanceHertz: hertz, qualityFactor: 3)
    let person = Person(model, seed: seed, finger: finger)
    let environment = environment()
    environment.keyResponder = person.key
    #expect(try calibrate(on: environment) == .success)
    #expect(person.pressCount == 6)
    let profile = try SharedOptions.loadProfile(named: output)
    let resonanceHertz = try #require(profile.hardware?.resonanceHertz)
    #expect(abs(resonanceHertz / hertz - 1) < 0.02)
    #expect(profile.name == "mine" && profile.sources.last == "Resonance measured by hand, today")
    #expect(profile.hardware?.uncertainty?.trueToStatedQualityFactorRatio == 1.5)
    #expect(environment.recordedTerminal.output.contains("All 6 key presses agree.\n"))
    #expect(environment.recordedTerminal.output.hasSuffix("\(output): written\n"))
    // The tones start at 24 dB below full scale.
    #expect(environment.samples().allSatisfy { abs($0) < 0.0632 })
  }

  /// The answer to one tone is an outlier. A level change in the middle of another tone repeats it.
  @Test func outlierIsLeftOutAndALevelChangeRepeatsTheTone() throws {
    let person = Person(TransducerModel(resonanceHertz: 31, qualityFactor: 6), seed: 9)
    let environment = ScriptedEnvironment(
      [
        (0.5, .key(.enter)), (0.7, .key(.character(" "))), (4, .key(.character("+"))),
        (6.5, .key(.character(" "))),
      ],
      limit: 300)
    environment.keyResponder = { playback, seconds in
      seconds > 9 ? person.key(playback, seconds) : nil
    }
    #expect(try calibrate(["--json"], on: environment) == .success)
    #expect(person.pressCount == 5)
    #expect(environment.recordedTerminal.output.contains("\"leftOut\": [\n    { \"hertz\": "))
    #expect(
      abs((try SharedOptions.loadProfile(named: output).hardware?.resonanceHertz ?? 0) / 31 - 1)
        < 0.04)
    let peak = environment.samples().map(abs).max() ?? 0
    #expect(peak > 0.0633 && peak < 0.0895)
  }

  @Test func tonesPlayOnTheChosenChannel() throws {
    let environment = ScriptedEnvironment(
      [(0.5, .key(.enter)), (6, .key(.character("q")))], channelCount: 2)
    #expect(try calibrate(["--haptics", "2"], on: environment) == .failure)
    #expect(
      environment.samples(0).allSatisfy { $0 == 0 } && environment.samples(1).contains { $0 != 0 })
  }
}
