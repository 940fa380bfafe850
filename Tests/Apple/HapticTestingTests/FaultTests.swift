import CoreHaptics
import UIKit
import Foundation
import HapticTesting
import Testing

/// Faults that a test requests, of engines it cannot reach.
@MainActor @Suite(.virtualHaptics) struct FaultTests {
  let device = hapticDevice

  @Test func onlyTheNextStartFails() throws {
    let player = Player()
    device.failNextStart(.serverInitFailed)
    let error = #expect(throws: CHHapticError.self) { try player.play() }
    #expect(error?.code == .serverInitFailed)
    try player.play()
    #expect(
      device.log.actions.prefix(3) == [
        .engineMade, .engineStartFailed(.serverInitFailed), .engineStarted,
      ])
  }

  @Test func startsCanBeDelayed() async throws {
    let engine = try CHHapticEngine()
    device.delayNextStart(by: 0.25)
    try startBlocking(engine)
    #expect(device.now == 0.25)
    let secondEngine = try CHHapticEngine()
    device.delayNextStart(by: 0.5)
    secondEngine.start { _ in }
    await device.advance(by: .seconds(0.25))
    #expect(device.engines.map(\.isRunning) == [true, false])
    await device.advance(by: .seconds(0.5))
    #expect(device.engines.map(\.isRunning) == [true, true])
  }

  @Test func devicesCanBeWithoutHaptics() throws {
    device.supportsHaptics = false
    #expect(!CHHapticEngine.capabilitiesForHardware().supportsHaptics)
    let error = #expect(throws: CHHapticError.self) { try Player().play() }
    #expect(error?.code == .notSupported)
    device.supportsHaptics = true
    #expect(CHHapticEngine.capabilitiesForHardware().supportsHaptics)
  }

  @Test func interruptionsReachPrivateEngines() async throws {
    let player = Player()
    try player.play()
    device.interrupt()
    #expect(device.log.stops == [.audioSessionInterrupt])
    await device.advance(by: .milliseconds(1))
    #expect(player.restartCount == 1)
    #expect(device.engines.map(\.isRunning) == [true])
  }

  @Test func mediaServicesAreLostForAWhile() async throws {
    let player = Player()
    try player.play()
    device.loseMediaServices(for: 0.5)
    #expect(device.log.stops == [.systemError])
    #expect(throws: CHHapticError.self) { try player.play() }
    await device.advance(by: .seconds(1))
    #expect(device.log.actions.contains(.engineReset))
    try player.play()
  }

  @Test func numberOfPlayersCanBeLimited() throws {
    device.playerLimit = 2
    let engine = try CHHapticEngine()
    var players = [try engine.makePlayer(with: tap()), try engine.makePlayer(with: tap())]
    let error = #expect(throws: CHHapticError.self) { try engine.makePlayer(with: tap()) }
    #expect(error?.code == .resourceNotAvailable)
    players.removeAll()
    _ = try engine.makePlayer(with: tap())
  }
}

/// Breaches of the rules of phones.
@MainActor @Suite(.virtualHaptics) struct RuleTests {
  let device = hapticDevice

  @Test func violationsAreOnlyReportedWithRules() throws {
    let engine = try CHHapticEngine()
    try engine.start()
    try engine.makePlayer(with: tap()).start(atTime: 0)
    #expect(device.violations == [])
    #expect(device.log.violations.contains(.noResetHandler))
  }

  @Test("A player that starts on an engine without a reset handler is a violation, once")
  func playersRequireAResetHandler() throws {
    device.rules = .all
    // The trait would fail the test for the violations that it causes.
    defer { device.rules = [] }
    let engine = try CHHapticEngine()
    try engine.start()
    #expect(device.violations == [])
    let player = try engine.makePlayer(with: tap())
    try player.start(atTime: 0)
    try player.start(atTime: 0)
    #expect(device.violations == [.noResetHandler])
    engine.resetHandler = { @Sendable in }
    engine.stop()
    device.advance(seconds: 0)
    try engine.start()
    try engine.makePlayer(with: tap()).start(atTime: 0)
    #expect(device.violations.count == 1)
  }

  @Test("A running engine that is reset without a reset handler is a violation")
  func resetsRequireAResetHandler() throws {
    device.rules = .all
    defer { device.rules = [] }
    let engine = try CHHapticEngine()
    try engine.start()
    device.reset()
    #expect(device.violations == [.noResetHandler])
    withExtendedLifetime(engine) {}
  }

  @Test("A reset handler that is set after the start keeps the rule")
  func resetHandlersMayFollowTheStart() throws {
    device.rules = [.resetHandler]
    let engine = try CHHapticEngine()
    try engine.start()
    engine.resetHandler = { @Sendable in }
    try engine.makePlayer(with: tap()).start(atTime: 0)
    device.reset()
    #expect(device.violations == [])
  }

  @Test func lifetimesOfEnginesAndPlayersAreChecked() throws {
    device.rules = .all
    defer { device.rules = [] }
    var engine: CHHapticEngine? = try CHHapticEngine()
    engine?.resetHandler = { @Sendable in }
    try engine?.start()
    let longPattern = try CHHapticPattern(
      events: [
        CHHapticEvent(eventType: .hapticContinuous, parameters: [], relativeTime: 0, duration: 31)
      ],
      parameters: [])
    let player = try engine?.makePlayer(with: longPattern)
    device.reset()
    try engine?.start()
    #expect(throws: CHHapticError.self) { try player?.start(atTime: 0) }
    try engine?.makePlayer(with: tap()).start(atTime: 0)
    engine = nil
    #expect(!device.violations.contains(.engineReleased))
    device.advance(seconds: 0.1)
    #expect(device.violations == [.longEvent(seconds: 31), .playerUsedAfterReset, .engineReleased])
  }

  @Test func newerAPIIsAViolation() throws {
    device.rules = [.iOS(15)]
    defer { device.rules = [] }
    let engine = try CHHapticEngine()
    engine.playsAudioOnly = true
    UIImpactFeedbackGenerator(style: .light).impactOccurred(at: .zero)
    #expect(
      device.violations == [
        .newerAPI("playsAudioOnly", version: "16"),
        .newerAPI("impactOccurred(at:)", version: "17.5"),
      ])
    device.rules = [.iOS(17)]
    #expect(device.violations == [.newerAPI("impactOccurred(at:)", version: "17.5")])
  }

  /// Sets handlers in a type of the main actor, like many applications. A phone ends the process.
  @MainActor private final class CarelessOwner {
    var count = 0
    let engine = try? CHHapticEngine()
    func wire() { engine?.resetHandler = { [weak self] in self?.count += 1 } }
    func wireWell() {
      engine?.resetHandler = { @Sendable [weak self] in Task { @MainActor in self?.count += 1 } }
    }
  }

  @Test func handlersOffTheMainActorAreDetected() async {
    device.rules = [.handlersOnTheirActor]
    defer { device.rules = [] }
    #expect(device.ruleProblem == nil)
    let owner = CarelessOwner()
    owner.wireWell()
    device.reset()
    await device.advance(by: .zero)
    #expect(owner.count == 1)
    #expect(device.violations == [])
    owner.wire()
    device.reset()
    #expect(device.violations == [.handlerOffMainActor(.reset)])
  }

  @Test func violationsHaveDescriptions() {
    #expect(
      HapticViolation.handlerOffMainActor(.reset).description
        == """
        the reset handler is isolated to the main actor but was called off it, which crashes on an \
        iPhone; 
        """
        + "write { @Sendable … in Task { @MainActor in … } }")
    #expect(
      HapticViolation.newerAPI("playsAudioOnly", version: "16").description
        == "playsAudioOnly requires iOS 16")
  }
}

/// The trait with rules fails tests.
@Suite struct RuleTraitTests {
  @Test(.virtualHaptics(rules: .all)) func aTestThatKeepsTheRulesPasses() throws {
    let engine = try CHHapticEngine()
    engine.resetHandler = { @Sendable in }
    try engine.start()
    try engine.makePlayer(with: tap()).start(atTime: 0)
    hapticDevice.advance(seconds: 1)
    engine.stop()
  }
}
