import Foundation
import HapticPlayback
import HapticRender
import SystemSupport
import TestSupport
import Testing

@testable import CommandLineKit
@testable import RumblePad
@testable import TemblorCommands

/// A pad that does what a script says.
private final class ScriptedPad: ForceFeedbackPad {
  var events: [PadEvent]
  var readableDescriptors: [Int32] { [] }
  init(_ events: [PadEvent] = []) { self.events = events }
  func readEvent() -> PadEvent? { events.isEmpty ? nil : events.removeFirst() }
}

@Suite struct RumbleTests {
  /// An engine in virtual time, and a mixer on it that has been asked once.
  private final class MixerFixture {
    let engine = PlaybackEngine()
    let playback: VirtualPlayback
    let mixer: RumbleMixer
    init(period: Int = 64) throws {
      playback = VirtualPlayback(engine, periodSize: period)
      mixer = try RumbleMixer(engine)
    }
    /// Lets time pass as a session does: the mixer is asked when it wants to be.
    func advance(_ seconds: Double) throws {
      let end = engine.positionSeconds + seconds
      while engine.positionSeconds < end - 1e-9 {
        let rest = try mixer.updateLevels(at: playback.time.now)
        playback.advance(seconds: min(rest, end - engine.positionSeconds))
      }
    }
    func peak(_ from: Double, _ to: Double) -> Float {
      playback.samples()[Int(from * 48_000)..<Int(to * 48_000)].reduce(0) { max($0, abs($1)) }
    }
  }

  private static func rumble(
    _ strong: Double, _ weak: Double, length: Double = 0, delay: Double = 0
  )
    -> ForceFeedbackEffect
  { ForceFeedbackEffect(kind: .rumble(strong: strong, weak: weak), length: length, delay: delay) }

  @Test func levelsAreThoseOfTheEffect() throws {
    var effect = ForceFeedbackEffect(kind: .constant(level: 0.8), length: 1, delay: 0.5)
    effect.envelope = .init(attackLength: 0.2, attackLevel: 0, fadeLength: 0.4, fadeLevel: 0.2)
    func level(_ time: Double, _ count: Int = 1) -> Double? {
      effect.motorLevels(atSeconds: time, repetitionCount: count)?.first
    }
    #expect(level(0.4) == 0)
    #expect(abs((level(0.6) ?? 0) - 0.4) < 1e-9)
    #expect(level(1) == 0.8)
    #expect(abs((level(1.3) ?? 0) - 0.5) < 1e-9)
    #expect(level(1.5) == nil)
    #expect(abs((level(2.1, 2) ?? 0) - 0.4) < 1e-9)
    #expect(level(3, 2) == nil)
    let ramp = ForceFeedbackEffect(kind: .ramp(from: 1, to: 0), length: 2)
    #expect(abs((ramp.motorLevels(atSeconds: 0.5, repetitionCount: 1)?.first ?? 0) - 0.75) < 1e-9)
    // Without a length nothing ends.
    #expect(Self.rumble(0.5, 0.25).motorLevels(atSeconds: 1e6, repetitionCount: 1)?.second == 0.25)
  }

  @Test func anEffectIsFeltInTheNextPeriodAndEndsInTime() throws {
    let rig = try MixerFixture(period: 240)
    try rig.advance(0.1)
    #expect(rig.peak(0, 0.1) == 0)
    try rig.mixer.uploadEffect(Self.rumble(1, 0, length: 0.3), as: 0)
    rig.mixer.playEffect(0, repetitionCount: 1, at: rig.playback.time.now)
    try rig.advance(0.5)
    let samples = rig.playback.samples()
    let first = try #require(samples.firstIndex { $0 != 0 })
    // The period that follows, and the limiter's look-ahead.
    #expect(first >= 4_800 && first <= 4_800 + 240 + Int(Renderer.lookaheadSeconds * 48_000) + 1)
    #expect(rig.peak(0.2, 0.35) > 0.3)
    #expect(rig.peak(0.43, 0.6) < 1e-3)
    #expect(rig.mixer.playbacksByEffectID.isEmpty)
  }

  @Test func updatesGlide() throws {
    let rig = try MixerFixture()
    try rig.mixer.uploadEffect(Self.rumble(0.2, 0), as: 0)
    rig.mixer.playEffect(0, repetitionCount: 1, at: .zero)
    for step in 0..<60 {
      try rig.mixer.uploadEffect(Self.rumble(step % 2 == 0 ? 1 : 0.2, 0), as: 0)
      rig.mixer.playEffect(0, repetitionCount: 1, at: rig.playback.time.now)
      try rig.advance(1 / 60.0)
    }
    let samples = rig.playback.samples().dropFirst(4_800)
    let values = Array(samples)
    let bend = values.indices.dropFirst(2).reduce(Float(0)) {
      max($0, abs(values[$1] - 2 * values[$1 - 1] + values[$1 - 2]))
    }
    // A hum of 100 Hz at 0.44 has 7.5e-5; a step of its level would have up to 0.35.
    #expect(bend < 5e-4)
  }

  @Test func theGainOfTheGameIsAFactor() throws {
    let rig = try MixerFixture()
    try rig.mixer.uploadEffect(Self.rumble(1, 0), as: 3)
    rig.mixer.playEffect(3, repetitionCount: 1, at: .zero)
    try rig.advance(0.3)
    rig.mixer.effectGain = 0.25
    try rig.advance(0.3)
    #expect(abs(rig.peak(0.4, 0.6) / rig.peak(0.1, 0.3) - 0.25) < 0.01)
  }

  @Test func aVibrationHasItsFrequency() throws {
    let rig = try MixerFixture()
    try rig.mixer.uploadEffect(ForceFeedbackEffect(kind: .periodic(hertz: 125, level: 1)), as: 1)
    rig.mixer.playEffect(1, repetitionCount: 1, at: .zero)
    try rig.advance(1)
    let part = rig.playback.samples()[9_600..<43_200]
    let crossings = zip(part, part.dropFirst()).count { $0 <= 0 && $1 > 0 }
    #expect(abs(Double(crossings) / 0.7 - 125) < 3)
  }

  /// What any order of calls leaves, against what was last said of each effect.
  @Test(arguments: [1, 77, 2_026]) func anyOrderOfCallsLeavesNothingStuck(_ seed: UInt64) throws {
    var chance = SeededGenerator(seed: seed)
    let rig = try MixerFixture(period: 480)
    var held: [Int16: ForceFeedbackEffect] = [:]
    var running: Set<Int16> = []
    // A million calls in all.
    for _ in 0..<350_000 {
      let id = Int16.random(in: 0..<16, using: &chance)
      switch Int.random(in: 0..<10, using: &chance) {
      case 0...3:
        let effect = Self.rumble(
          .random(in: 0...1, using: &chance), .random(in: 0...1, using: &chance))
        try rig.mixer.uploadEffect(effect, as: id)
        held[id] = effect
      case 4...6:
        let count = Int.random(in: 0...2, using: &chance)
        rig.mixer.playEffect(id, repetitionCount: count, at: rig.playback.time.now)
        if count > 0, held[id] != nil {
          running.insert(id)
        } else {
          running.remove(id)
        }
      case 7:
        try rig.mixer.eraseEffect(id)
        held[id] = nil
        running.remove(id)
      case 8:
        rig.mixer.effectGain = .random(in: 0...1, using: &chance)
      default:
        if Int.random(in: 0..<50, using: &chance) == 0 {
          try rig.advance(0.01)
        }
      }
      #expect(Set(rig.mixer.playbacksByEffectID.keys) == running)
      #expect(rig.mixer.effectsByID == held)
    }
    // The kernel erases what a game that ends has left.
    for id in Int16(0)..<16 {
      try rig.mixer.eraseEffect(id)
    }
    let now = rig.engine.positionSeconds
    try rig.advance(0.2)
    #expect(rig.peak(now + 0.05, now + 0.2) < 1e-3)
    rig.engine.update()
    #expect(rig.engine.loadedPlayerCount == 2)
  }

  @Test func theVerbPlaysWhatAGameDoes() throws {
    let stage = ScriptedEnvironment([(1, .key(.character("q")))])
    let pad = ScriptedPad([
      .gain(1), .upload(Self.rumble(0.5, 0.5, length: 0.2), id: 0), .play(id: 0, count: 1),
      .erase(id: 5),
    ])
    let words = try RumbleCommand.definition.parseArguments(["--json", "--no-config"])
    #expect(
      try RumbleCommand.run(words, stage.recordedTerminal.terminal, on: stage) { _, _ in pad }
        == .success)
    #expect(stage.samples()[4_800..<9_000].contains { abs($0) > 0.2 })
    #expect(stage.samples()[14_400..<40_000].allSatisfy { abs($0) < 1e-3 })
    #expect(stage.recordedTerminal.output.contains("\"plays\": 1"))
  }

  @Test func whatStandsInTheWayIsSaidWithTheRemedy() {
    #expect(
      UInputPad.openingError(ENOENT).description
        == "/dev/uinput: not found; load the kernel module with 'sudo modprobe uinput'")
    #expect(UInputPad.openingError(EACCES).description.contains("70-temblor-rumble.rules"))
    #expect(
      UInputPad.openingError(EMFILE).description
        == "/dev/uinput: cannot be opened: Too many open files")
  }
}
