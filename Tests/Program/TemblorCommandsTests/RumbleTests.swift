import Foundation
import HapticPlayback
import HapticRender
import SystemSupport
import TestSupport
import Testing

@testable import CommandLineKit
@testable import RumblePad
@testable import TemblorCommands

/// A game pad with scripted events.
private final class ScriptedPad: ForceFeedbackPad {
  var events: [PadEvent]
  var readableDescriptors: [Int32] { [] }
  init(_ events: [PadEvent] = []) { self.events = events }
  func readEvent() -> PadEvent? { events.isEmpty ? nil : events.removeFirst() }
}

@Suite struct RumbleTests {
  /// An engine in virtual time, and a mixer on it.
  private final class MixerFixture {
    let engine = PlaybackEngine()
    let playback: VirtualPlayback
    let mixer: RumbleMixer
    init(period: Int = 64) throws {
      playback = VirtualPlayback(engine, periodSize: period)
      mixer = try RumbleMixer(engine)
    }
    /// Advances time as a session does, with an update of the mixer whenever it is due.
    func advance(_ seconds: Double) throws {
      let end = engine.positionSeconds + seconds
      while engine.positionSeconds < end - 1e-9 {
        let interval = try mixer.updateLevels(at: playback.time.now)
        playback.advance(seconds: min(interval, end - engine.positionSeconds))
      }
    }
    func peak(_ startSeconds: Double, _ endSeconds: Double) -> Float {
      playback.samples()[Int(startSeconds * 48_000)..<Int(endSeconds * 48_000)].reduce(0) {
        max($0, abs($1))
      }
    }
  }

  private static func rumble(
    _ strong: Double, _ weak: Double, length: Double = 0, delay: Double = 0
  )
    -> ForceFeedbackEffect
  { ForceFeedbackEffect(kind: .rumble(strong: strong, weak: weak), length: length, delay: delay) }

  @Test func levelsFollowTheEffect() throws {
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
    // An effect without a length does not end.
    #expect(Self.rumble(0.5, 0.25).motorLevels(atSeconds: 1e6, repetitionCount: 1)?.second == 0.25)
  }

  @Test func effectStartsInTheNextPeriodAndEndsOnTime() throws {
    let fixture = try MixerFixture(period: 240)
    try fixture.advance(0.1)
    #expect(fixture.peak(0, 0.1) == 0)
    try fixture.mixer.uploadEffect(Self.rumble(1, 0, length: 0.3), as: 0)
    fixture.mixer.playEffect(0, repetitionCount: 1, at: fixture.playback.time.now)
    try fixture.advance(0.5)
    let samples = fixture.playback.samples()
    let firstFrame = try #require(samples.firstIndex { $0 != 0 })
    // The effect starts with the next period, after the look-ahead of the limiter.
    #expect(
      firstFrame >= 4_800 && firstFrame <= 4_800 + 240 + Int(Renderer.lookaheadSeconds * 48_000) + 1
    )
    #expect(fixture.peak(0.2, 0.35) > 0.3)
    #expect(fixture.peak(0.43, 0.6) < 1e-3)
    #expect(fixture.mixer.playbacksByEffectID.isEmpty)
  }

  @Test func updatesAreSmooth() throws {
    let fixture = try MixerFixture()
    try fixture.mixer.uploadEffect(Self.rumble(0.2, 0), as: 0)
    fixture.mixer.playEffect(0, repetitionCount: 1, at: .zero)
    for step in 0..<60 {
      try fixture.mixer.uploadEffect(Self.rumble(step % 2 == 0 ? 1 : 0.2, 0), as: 0)
      fixture.mixer.playEffect(0, repetitionCount: 1, at: fixture.playback.time.now)
      try fixture.advance(1 / 60.0)
    }
    let samples = fixture.playback.samples().dropFirst(4_800)
    let values = Array(samples)
    let maximumCurvature = values.indices.dropFirst(2).reduce(Float(0)) {
      max($0, abs(values[$1] - 2 * values[$1 - 1] + values[$1 - 2]))
    }
    // A sine of 100 Hz at 0.44 has a second difference of 7.5e-5; a step of its level would have up
    // to 0.35.
    #expect(maximumCurvature < 5e-4)
  }

  @Test func gainOfTheGameScalesTheEffects() throws {
    let fixture = try MixerFixture()
    try fixture.mixer.uploadEffect(Self.rumble(1, 0), as: 3)
    fixture.mixer.playEffect(3, repetitionCount: 1, at: .zero)
    try fixture.advance(0.3)
    fixture.mixer.effectGain = 0.25
    try fixture.advance(0.3)
    #expect(abs(fixture.peak(0.4, 0.6) / fixture.peak(0.1, 0.3) - 0.25) < 0.01)
  }

  @Test func aVibrationHasItsFrequency() throws {
    let fixture = try MixerFixture()
    try fixture.mixer.uploadEffect(
      ForceFeedbackEffect(kind: .periodic(hertz: 125, level: 1)), as: 1)
    fixture.mixer.playEffect(1, repetitionCount: 1, at: .zero)
    try fixture.advance(1)
    let steadySamples = fixture.playback.samples()[9_600..<43_200]
    let crossings = zip(steadySamples, steadySamples.dropFirst()).count { $0 <= 0 && $1 > 0 }
    #expect(abs(Double(crossings) / 0.7 - 125) < 3)
  }

  /// After any order of calls, the mixer has the effects that were uploaded and started last.
  @Test(arguments: [1, 77, 2_026]) func anyOrderOfCallsLeavesNothingStuck(_ seed: UInt64) throws {
    var generator = SplitMixGenerator(state: seed)
    let fixture = try MixerFixture(period: 480)
    var uploadedEffects: [Int16: ForceFeedbackEffect] = [:]
    var playingEffectIDs: Set<Int16> = []
    // The three seeds make a million calls in total.
    for _ in 0..<350_000 {
      let id = Int16.random(in: 0..<16, using: &generator)
      switch Int.random(in: 0..<10, using: &generator) {
      case 0...3:
        let effect = Self.rumble(
          .random(in: 0...1, using: &generator), .random(in: 0...1, using: &generator))
        try fixture.mixer.uploadEffect(effect, as: id)
        uploadedEffects[id] = effect
      case 4...6:
        let count = Int.random(in: 0...2, using: &generator)
        fixture.mixer.playEffect(id, repetitionCount: count, at: fixture.playback.time.now)
        if count > 0, uploadedEffects[id] != nil {
          playingEffectIDs.insert(id)
        } else {
          playingEffectIDs.remove(id)
        }
      case 7:
        try fixture.mixer.eraseEffect(id)
        uploadedEffects[id] = nil
        playingEffectIDs.remove(id)
      case 8:
        fixture.mixer.effectGain = .random(in: 0...1, using: &generator)
      default:
        if Int.random(in: 0..<50, using: &generator) == 0 {
          try fixture.advance(0.01)
        }
      }
      #expect(Set(fixture.mixer.playbacksByEffectID.keys) == playingEffectIDs)
      #expect(fixture.mixer.effectsByID == uploadedEffects)
    }
    // When a game ends, the kernel erases its effects.
    for id in Int16(0)..<16 {
      try fixture.mixer.eraseEffect(id)
    }
    let now = fixture.engine.positionSeconds
    try fixture.advance(0.2)
    #expect(fixture.peak(now + 0.05, now + 0.2) < 1e-3)
    fixture.engine.update()
    #expect(fixture.engine.loadedPlayerCount == 2)
  }

  @Test func verbPlaysTheEffectsOfAGame() throws {
    let environment = ScriptedEnvironment([(1, .key(.character("q")))])
    let pad = ScriptedPad([
      .gain(1), .upload(Self.rumble(0.5, 0.5, length: 0.2), id: 0), .play(id: 0, count: 1),
      .erase(id: 5),
    ])
    let arguments = try RumbleCommand.definition.parseArguments(["--json", "--no-config"])
    #expect(
      try RumbleCommand.run(arguments, environment.recordedTerminal.terminal, on: environment) {
        _, _ in pad
      }
        == .success)
    #expect(environment.samples()[4_800..<9_000].contains { abs($0) > 0.2 })
    #expect(environment.samples()[14_400..<40_000].allSatisfy { abs($0) < 1e-3 })
    #expect(environment.recordedTerminal.output.contains("\"plays\": 1"))
  }

  @Test func openingErrorsNameTheRemedy() {
    #expect(
      UInputPad.openingError(ENOENT).description
        == "/dev/uinput: not found; load the kernel module with 'sudo modprobe uinput'")
    #expect(UInputPad.openingError(EACCES).description.contains("70-temblor-rumble.rules"))
    #expect(
      UInputPad.openingError(EMFILE).description
        == "/dev/uinput: cannot be opened: Too many open files")
  }
}
