import CoreHaptics
import CoreHapticsTesting
import Foundation
import Testing

/// The lifecycle of an engine in virtual time.
@Suite struct EngineTests {
  @Test func newEngineIsNotRunning() throws {
    let fixture = try EngineFixture(isRunning: false)
    let player = try fixture.player(tap())
    let error = #expect(throws: CHHapticError.self) { try player.start(atTime: 0) }
    #expect(error?.code == .engineNotRunning)
    #expect(fixture.engine.currentTime == 0)
    try fixture.engine.start()
    try fixture.engine.start()
    try player.start(atTime: 0)
    fixture.device.advance(seconds: 0.5)
    #expect(fixture.handlerLog.entries == ["completed"])
    #expect(abs(fixture.engine.currentTime - 0.5) < 0.002)
  }

  @Test func handlersOfStartAndStopAreCalledInOrder() throws {
    let fixture = try EngineFixture(isRunning: false)
    let handlerLog = fixture.handlerLog
    fixture.engine.start { handlerLog.append("started \($0 == nil)") }
    fixture.engine.stop { handlerLog.append("stopped \($0 == nil)") }
    fixture.device.advance(seconds: 0.01)
    // An explicit stop does not call the stopped handler.
    #expect(handlerLog.entries == ["started true", "stopped true"])
  }

  @Test func asyncMethodsReturnAfterCompletion() async throws {
    let device = VirtualHapticDevice()
    let engine = device.makeEngine()
    try await engine.start()
    try engine.makePlayer(with: tap()).start(atTime: 0)
    try await engine.stop()
    #expect(throws: CHHapticError.self) { try engine.makePlayer(with: tap()).start(atTime: 0) }
  }

  @Test func stoppingEndsPlaybackAndPausesTheClock() throws {
    let fixture = try EngineFixture()
    let player = try fixture.player(hum(10))
    try player.start(atTime: 0)
    fixture.device.advance(seconds: 1)
    fixture.engine.stop()
    fixture.device.advance(seconds: 1)
    #expect(fixture.handlerLog.entries == ["completed"])
    let time = fixture.engine.currentTime
    #expect(abs(time - 1) < 0.01)
    try fixture.engine.start()
    try player.start(atTime: time + 0.5)
    fixture.device.advance(seconds: 1)
    #expect(fixture.peak(0, 0.49) < 1e-3)
    #expect(fixture.peak(0.55, 0.9) > 0.4)
    #expect(abs(fixture.engine.currentTime - 2) < 0.02)
  }

  @Test func autoShutdownStopsAfterTwoMinutesAndStartsByItself() throws {
    let fixture = try EngineFixture(isRunning: false)
    fixture.engine.isAutoShutdownEnabled = true
    let player = try fixture.player(tap())
    try player.start(atTime: 0)
    fixture.device.advance(seconds: 60)
    try player.start(atTime: 0)
    fixture.device.advance(seconds: 100)
    #expect(fixture.handlerLog.entries == ["completed", "completed"])
    fixture.device.advance(seconds: 30)
    #expect(fixture.handlerLog.entries == ["completed", "completed", "stopped 3"])
    try player.start(atTime: 0)
    fixture.device.advance(seconds: 1)
    #expect(fixture.handlerLog.entries == ["completed", "completed", "stopped 3", "completed"])
  }

  @Test func withoutAutoShutdownNothingStops() throws {
    let fixture = try EngineFixture()
    fixture.device.advance(seconds: 130)
    #expect(fixture.handlerLog.entries.isEmpty)
  }

  @Test func finishedHandlerIsCalledAtOnceWithoutPlayers() throws {
    let fixture = try EngineFixture(isRunning: false)
    let handlerLog = fixture.handlerLog
    fixture.engine.notifyWhenPlayersFinished { error in
      handlerLog.append("finished \(error == nil)")
      return .stopEngine
    }
    fixture.device.advance(seconds: 0.01)
    #expect(handlerLog.entries == ["finished true"])
  }

  @Test func lostDeviceStopsTheEngineAndItsReturnResetsIt() throws {
    let fixture = try EngineFixture()
    let player = try fixture.player(hum(10))
    try player.start(atTime: 0)
    fixture.device.advance(seconds: 1)
    fixture.device.disconnect()
    #expect(fixture.handlerLog.entries == ["completed -4811", "stopped -1"])
    #expect(throws: CHHapticError.self) { try fixture.engine.start() }
    fixture.device.reconnect()
    #expect(fixture.handlerLog.entries == ["completed -4811", "stopped -1", "reset"])
    try fixture.engine.start()
    let error = #expect(throws: CHHapticError.self) { try player.start(atTime: 0) }
    #expect(error?.code == .invalidPatternPlayer)
    try fixture.player(tap()).start(atTime: 0)
    fixture.device.advance(seconds: 0.5)
    #expect(fixture.handlerLog.entries.last == "completed")
  }

  @Test(arguments: [
    CHHapticEngine.StoppedReason.audioSessionInterrupt, .applicationSuspended, .systemError,
  ])
  func injectedStopsCallTheHandler(reason: CHHapticEngine.StoppedReason) throws {
    let fixture = try EngineFixture()
    fixture.device.stop(fixture.engine, reason: reason)
    #expect(fixture.handlerLog.entries == ["stopped \(reason.rawValue)"])
    try fixture.engine.start()
    fixture.device.reset(fixture.engine)
    #expect(fixture.handlerLog.entries == ["stopped \(reason.rawValue)", "reset"])
  }

  @Test func handlersMayCallTheEngine() throws {
    let fixture = try EngineFixture()
    let engine = fixture.engine
    let handlerLog = fixture.handlerLog
    nonisolated(unsafe) let unsafeEngine = engine
    engine.resetHandler = {
      do {
        try unsafe unsafeEngine.start()
        try unsafe unsafeEngine.makePlayer(with: tap()).start(atTime: 0)
        handlerLog.append("again")
      } catch {
        handlerLog.append("\(error)")
      }
    }
    fixture.device.reset(engine)
    fixture.device.advance(seconds: 0.2)
    #expect(handlerLog.entries == ["again"])
    #expect(fixture.peak(0, 0.2) > 0.1)
  }

  @Test func mutesAndModesActAsDocumented() throws {
    let pattern = try CHHapticPattern(
      events: [
        CHHapticEvent(eventType: .hapticContinuous, parameters: [], relativeTime: 0, duration: 30),
        CHHapticEvent(eventType: .audioContinuous, parameters: [], relativeTime: 0, duration: 30),
      ], parameters: [])
    let fixture = try EngineFixture()
    try fixture.player(pattern).start(atTime: 0)
    fixture.device.advance(seconds: 0.5)
    let peakOfBoth = fixture.peak(0.1, 0.5)
    fixture.engine.isMutedForAudio = true
    fixture.device.advance(seconds: 0.5)
    let peakOfHaptics = fixture.peak(0.6, 1)
    fixture.engine.isMutedForHaptics = true
    fixture.device.advance(seconds: 0.5)
    #expect(fixture.peak(1.1, 1.5) < 3e-3)
    #expect(peakOfHaptics > 0.1 && peakOfHaptics < peakOfBoth)
    fixture.engine.isMutedForAudio = false
    fixture.engine.playsHapticsOnly = true
    fixture.device.advance(seconds: 0.5)
    // The mode takes effect at the next start.
    #expect(fixture.peak(1.6, 2) > 0.1)
    fixture.engine.stop()
    fixture.device.advance(seconds: 0.1)
    try fixture.engine.start()
    try fixture.player(pattern).start(atTime: 0)
    fixture.device.advance(seconds: 0.5)
    #expect(fixture.peak(0.1, 0.5) < 3e-3)
  }

  @Test func registeredAudioPlaysUntilItIsUnregistered() throws {
    let fixture = try EngineFixture()
    let url = try writtenTone()
    defer { try? FileManager.default.removeItem(at: url) }
    let id = try fixture.engine.registerAudioResource(url)
    #expect(id > 0)
    let pattern = try CHHapticPattern(
      events: [CHHapticEvent(audioResourceID: id, parameters: [], relativeTime: 0)], parameters: [])
    try fixture.player(pattern).start(atTime: 0)
    fixture.device.advance(seconds: 0.3)
    #expect(fixture.peak(0.01, 0.09) > 0.3)
    #expect(fixture.peak(0.12, 0.3) < 3e-3)
    try fixture.engine.unregisterAudioResource(id)
    let error = #expect(throws: CHHapticError.self) { try fixture.player(pattern) }
    #expect(error?.code == .invalidAudioResource)
    #expect(throws: CHHapticError.self) { try fixture.engine.unregisterAudioResource(id) }
    let missingFileError = #expect(throws: CHHapticError.self) {
      try fixture.engine.registerAudioResource(URL(fileURLWithPath: "/nowhere.wav"))
    }
    #expect(missingFileError?.code == .fileNotFound)
  }

  /// Writes a square wave of a tenth of a second to a WAV file.
  private func writtenTone() throws -> URL {
    let samples = (0..<4_800).map { Int16($0 / 50 % 2 == 0 ? 16_000 : -16_000) }
    var data = Data("RIFF".utf8)
    func add(_ value: UInt32) {
      unsafe withUnsafeBytes(of: value.littleEndian) { unsafe data.append(contentsOf: $0) }
    }
    func add16(_ value: UInt16) {
      unsafe withUnsafeBytes(of: value.littleEndian) { unsafe data.append(contentsOf: $0) }
    }
    add(UInt32(36 + samples.count * 2))
    data.append(Data("WAVEfmt ".utf8))
    add(16)
    add16(1)
    add16(1)
    add(48_000)
    add(96_000)
    add16(2)
    add16(16)
    data.append(Data("data".utf8))
    add(UInt32(samples.count * 2))
    for sample in samples {
      add16(UInt16(bitPattern: sample))
    }
    let url = FileManager.default.temporaryDirectory.appendingPathComponent(
      "\(UUID().uuidString).wav")
    try data.write(to: url)
    return url
  }

  @Test func engineReleasedDuringPlaybackCallsItsHandler() throws {
    let device = VirtualHapticDevice()
    let handlerLog = HandlerLog()
    do {
      let engine = device.makeEngine()
      engine.stoppedHandler = { handlerLog.append("stopped \($0.rawValue)") }
      try engine.start()
      try engine.makePlayer(with: hum(5)).start(atTime: 0)
      device.advance(seconds: 0.1)
    }
    device.advance(seconds: 0.1)
    #expect(handlerLog.entries == ["stopped 5"])
  }
}

/// Mutes, and errors of the playing engine.
@Suite struct EngineMuteTests {
  @Test(arguments: [false, true]) func anEngineThatIsMutedBeforeItsStartIsSilentFromTheFirstFrame(
    startsByItself: Bool
  )
    throws
  {
    let fixture = try EngineFixture(isRunning: false)
    fixture.engine.isAutoShutdownEnabled = true
    fixture.engine.isMutedForHaptics = true
    let player = try fixture.player(tap())
    if !startsByItself {
      try fixture.engine.start()
    }
    try player.start(atTime: 0)
    fixture.device.advance(seconds: 0.3)
    #expect(fixture.peak(0, 0.3) == 0)
    fixture.engine.isMutedForHaptics = false
    try player.start(atTime: 0)
    fixture.device.advance(seconds: 0.3)
    #expect(fixture.peak(0.3, 0.6) > 0.4)
  }

  @Test func aMuteBeforeAPlayersStartIsSilentFromTheFirstFrame() throws {
    let fixture = try EngineFixture()
    fixture.device.advance(seconds: 0.1)
    fixture.engine.isMutedForHaptics = true
    try fixture.player(tap()).start(atTime: 0)
    fixture.device.advance(seconds: 0.3)
    #expect(fixture.peak(0, 0.4) == 0)
  }

  @Test func audioThatIsMutedBeforeTheStartIsSilentFromTheFirstFrame() throws {
    let event = CHHapticEvent(
      eventType: .audioContinuous, parameters: [], relativeTime: 0, duration: 0.2)
    let pattern = try CHHapticPattern(events: [event], parameters: [])
    func peak(isMuted: Bool) throws -> Float {
      let fixture = try EngineFixture(isRunning: false)
      fixture.engine.isMutedForAudio = isMuted
      try fixture.engine.start()
      try fixture.player(pattern).start(atTime: 0)
      fixture.device.advance(seconds: 0.3)
      return fixture.peak(0, 0.3)
    }
    #expect(try peak(isMuted: true) == 0)
    #expect(try peak(isMuted: false) > 0.1)
  }

  @Test func mutingDuringPlaybackDoesNotClick() throws {
    let fixture = try EngineFixture()
    try fixture.player(hum(1)).start(atTime: 0)
    fixture.device.advance(seconds: 0.5)
    fixture.engine.isMutedForHaptics = true
    fixture.device.advance(seconds: 0.5)
    // The sound fades during a ramp of 10 ms, and is silent after it.
    #expect(fixture.peak(0.502, 0.507) > 0.05)
    #expect(fixture.peak(0.52, 1) < 1e-3)
  }

  /// The errors are those of Apple's interface.
  @Test func tooManyPlayersAreRefusedByAnErrorOfCoreHaptics() throws {
    let fixture = try EngineFixture()
    var players: [any CHHapticPatternPlayer] = []
    var thrownError: (any Error)?
    for _ in 0..<1_100 where thrownError == nil {
      do {
        let player = try fixture.player(tap())
        try player.start(atTime: 0)
        players.append(player)
      } catch {
        thrownError = error
      }
    }
    let error = try #require(thrownError as? CHHapticError)
    #expect(error.code == .resourceNotAvailable)
    #expect(players.count >= 500)
  }
}
