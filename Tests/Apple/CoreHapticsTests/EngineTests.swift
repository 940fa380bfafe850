import CoreHaptics
import CoreHapticsTesting
import Foundation
import Testing

/// The engine's life in virtual time.
@Suite struct EngineTests {
  @Test func aFreshEngineDoesNotRun() throws {
    let playing = try EngineFixture(isRunning: false)
    let player = try playing.player(tap())
    let error = #expect(throws: CHHapticError.self) { try player.start(atTime: 0) }
    #expect(error?.code == .engineNotRunning)
    #expect(playing.engine.currentTime == 0)
    try playing.engine.start()
    try playing.engine.start()
    try player.start(atTime: 0)
    playing.device.advance(seconds: 0.5)
    #expect(playing.handlerLog.entries == ["completed"])
    #expect(abs(playing.engine.currentTime - 0.5) < 0.002)
  }

  @Test func handlersOfStartAndStopAreCalledInOrder() throws {
    let playing = try EngineFixture(isRunning: false)
    let handlerLog = playing.handlerLog
    playing.engine.start { handlerLog.append("started \($0 == nil)") }
    playing.engine.stop { handlerLog.append("stopped \($0 == nil)") }
    playing.device.advance(seconds: 0.01)
    // An explicit stop does not call the stopped handler.
    #expect(handlerLog.entries == ["started true", "stopped true"])
  }

  @Test func asyncFormsReturnWhenDone() async throws {
    let device = VirtualHapticDevice()
    let engine = device.makeEngine()
    try await engine.start()
    try engine.makePlayer(with: tap()).start(atTime: 0)
    try await engine.stop()
    #expect(throws: CHHapticError.self) { try engine.makePlayer(with: tap()).start(atTime: 0) }
  }

  @Test func stoppingEndsWhatPlaysAndTheClockGoesOnFromThere() throws {
    let playing = try EngineFixture()
    let player = try playing.player(hum(10))
    try player.start(atTime: 0)
    playing.device.advance(seconds: 1)
    playing.engine.stop()
    playing.device.advance(seconds: 1)
    #expect(playing.handlerLog.entries == ["completed"])
    let time = playing.engine.currentTime
    #expect(abs(time - 1) < 0.01)
    try playing.engine.start()
    try player.start(atTime: time + 0.5)
    playing.device.advance(seconds: 1)
    #expect(playing.peak(0, 0.49) < 1e-3)
    #expect(playing.peak(0.55, 0.9) > 0.4)
    #expect(abs(playing.engine.currentTime - 2) < 0.02)
  }

  @Test func autoShutdownStopsAfterTwoMinutesAndStartsByItself() throws {
    let playing = try EngineFixture(isRunning: false)
    playing.engine.isAutoShutdownEnabled = true
    let player = try playing.player(tap())
    try player.start(atTime: 0)
    playing.device.advance(seconds: 60)
    try player.start(atTime: 0)
    playing.device.advance(seconds: 100)
    #expect(playing.handlerLog.entries == ["completed", "completed"])
    playing.device.advance(seconds: 30)
    #expect(playing.handlerLog.entries == ["completed", "completed", "stopped 3"])
    try player.start(atTime: 0)
    playing.device.advance(seconds: 1)
    #expect(playing.handlerLog.entries == ["completed", "completed", "stopped 3", "completed"])
  }

  @Test func withoutAutoShutdownNothingStops() throws {
    let playing = try EngineFixture()
    playing.device.advance(seconds: 130)
    #expect(playing.handlerLog.entries.isEmpty)
  }

  @Test func theFinishedHandlerIsToldAtOnceWhenNothingPlays() throws {
    let playing = try EngineFixture(isRunning: false)
    let handlerLog = playing.handlerLog
    playing.engine.notifyWhenPlayersFinished { error in
      handlerLog.append("finished \(error == nil)")
      return .stopEngine
    }
    playing.device.advance(seconds: 0.01)
    #expect(handlerLog.entries == ["finished true"])
  }

  @Test func aLostDeviceStopsAndItsReturnResets() throws {
    let playing = try EngineFixture()
    let player = try playing.player(hum(10))
    try player.start(atTime: 0)
    playing.device.advance(seconds: 1)
    playing.device.disconnect()
    #expect(playing.handlerLog.entries == ["completed -4811", "stopped -1"])
    #expect(throws: CHHapticError.self) { try playing.engine.start() }
    playing.device.reconnect()
    #expect(playing.handlerLog.entries == ["completed -4811", "stopped -1", "reset"])
    try playing.engine.start()
    let error = #expect(throws: CHHapticError.self) { try player.start(atTime: 0) }
    #expect(error?.code == .invalidPatternPlayer)
    try playing.player(tap()).start(atTime: 0)
    playing.device.advance(seconds: 0.5)
    #expect(playing.handlerLog.entries.last == "completed")
  }

  @Test(arguments: [
    CHHapticEngine.StoppedReason.audioSessionInterrupt, .applicationSuspended, .systemError,
  ])
  func injectedStopsAreTold(reason: CHHapticEngine.StoppedReason) throws {
    let playing = try EngineFixture()
    playing.device.stop(playing.engine, reason: reason)
    #expect(playing.handlerLog.entries == ["stopped \(reason.rawValue)"])
    try playing.engine.start()
    playing.device.reset(playing.engine)
    #expect(playing.handlerLog.entries == ["stopped \(reason.rawValue)", "reset"])
  }

  @Test func handlersMayCallTheEngine() throws {
    let playing = try EngineFixture()
    let engine = playing.engine
    let handlerLog = playing.handlerLog
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
    playing.device.reset(engine)
    playing.device.advance(seconds: 0.2)
    #expect(handlerLog.entries == ["again"])
    #expect(playing.peak(0, 0.2) > 0.1)
  }

  @Test func mutesAndModesActAsDocumented() throws {
    let pattern = try CHHapticPattern(
      events: [
        CHHapticEvent(eventType: .hapticContinuous, parameters: [], relativeTime: 0, duration: 30),
        CHHapticEvent(eventType: .audioContinuous, parameters: [], relativeTime: 0, duration: 30),
      ], parameters: [])
    let playing = try EngineFixture()
    try playing.player(pattern).start(atTime: 0)
    playing.device.advance(seconds: 0.5)
    let both = playing.peak(0.1, 0.5)
    playing.engine.isMutedForAudio = true
    playing.device.advance(seconds: 0.5)
    let haptics = playing.peak(0.6, 1)
    playing.engine.isMutedForHaptics = true
    playing.device.advance(seconds: 0.5)
    #expect(playing.peak(1.1, 1.5) < 3e-3)
    #expect(haptics > 0.1 && haptics < both)
    playing.engine.isMutedForAudio = false
    playing.engine.playsHapticsOnly = true
    playing.device.advance(seconds: 0.5)
    // The mode counts from the next start on.
    #expect(playing.peak(1.6, 2) > 0.1)
    playing.engine.stop()
    playing.device.advance(seconds: 0.1)
    try playing.engine.start()
    try playing.player(pattern).start(atTime: 0)
    playing.device.advance(seconds: 0.5)
    #expect(playing.peak(0.1, 0.5) < 3e-3)
  }

  @Test func registeredAudioPlaysAndIsForgotten() throws {
    let playing = try EngineFixture()
    let url = try writtenTone()
    defer { try? FileManager.default.removeItem(at: url) }
    let id = try playing.engine.registerAudioResource(url)
    #expect(id > 0)
    let pattern = try CHHapticPattern(
      events: [CHHapticEvent(audioResourceID: id, parameters: [], relativeTime: 0)], parameters: [])
    try playing.player(pattern).start(atTime: 0)
    playing.device.advance(seconds: 0.3)
    #expect(playing.peak(0.01, 0.09) > 0.3)
    #expect(playing.peak(0.12, 0.3) < 3e-3)
    try playing.engine.unregisterAudioResource(id)
    let error = #expect(throws: CHHapticError.self) { try playing.player(pattern) }
    #expect(error?.code == .invalidAudioResource)
    #expect(throws: CHHapticError.self) { try playing.engine.unregisterAudioResource(id) }
    let missing = #expect(throws: CHHapticError.self) {
      try playing.engine.registerAudioResource(URL(fileURLWithPath: "/nowhere.wav"))
    }
    #expect(missing?.code == .fileNotFound)
  }

  /// A tenth of a second of square wave, written by hand as a WAV.
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

  @Test func anEngineThatIsReleasedWhilePlayingTellsSo() throws {
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
    let playing = try EngineFixture(isRunning: false)
    playing.engine.isAutoShutdownEnabled = true
    playing.engine.isMutedForHaptics = true
    let player = try playing.player(tap())
    if !startsByItself {
      try playing.engine.start()
    }
    try player.start(atTime: 0)
    playing.device.advance(seconds: 0.3)
    #expect(playing.peak(0, 0.3) == 0)
    playing.engine.isMutedForHaptics = false
    try player.start(atTime: 0)
    playing.device.advance(seconds: 0.3)
    #expect(playing.peak(0.3, 0.6) > 0.4)
  }

  @Test func aMuteBeforeAPlayersStartIsSilentFromTheFirstFrame() throws {
    let playing = try EngineFixture()
    playing.device.advance(seconds: 0.1)
    playing.engine.isMutedForHaptics = true
    try playing.player(tap()).start(atTime: 0)
    playing.device.advance(seconds: 0.3)
    #expect(playing.peak(0, 0.4) == 0)
  }

  @Test func audioThatIsMutedBeforeTheStartIsSilentFromTheFirstFrame() throws {
    let event = CHHapticEvent(
      eventType: .audioContinuous, parameters: [], relativeTime: 0, duration: 0.2)
    let pattern = try CHHapticPattern(events: [event], parameters: [])
    func peak(isMuted: Bool) throws -> Float {
      let playing = try EngineFixture(isRunning: false)
      playing.engine.isMutedForAudio = isMuted
      try playing.engine.start()
      try playing.player(pattern).start(atTime: 0)
      playing.device.advance(seconds: 0.3)
      return playing.peak(0, 0.3)
    }
    #expect(try peak(isMuted: true) == 0)
    #expect(try peak(isMuted: false) > 0.1)
  }

  @Test func aMuteOfWhatSoundsDoesNotClick() throws {
    let playing = try EngineFixture()
    try playing.player(hum(1)).start(atTime: 0)
    playing.device.advance(seconds: 0.5)
    playing.engine.isMutedForHaptics = true
    playing.device.advance(seconds: 0.5)
    // Half a ramp of 10 ms later it sounds still, less; behind the ramp it is silent.
    #expect(playing.peak(0.502, 0.507) > 0.05)
    #expect(playing.peak(0.52, 1) < 1e-3)
  }

  /// Whatever is refused is refused by an error of Apple's interface.
  @Test func tooManyPlayersAreRefusedByAnErrorOfCoreHaptics() throws {
    let playing = try EngineFixture()
    var players: [any CHHapticPatternPlayer] = []
    var refused: (any Error)?
    for _ in 0..<1_100 where refused == nil {
      do {
        let player = try playing.player(tap())
        try player.start(atTime: 0)
        players.append(player)
      } catch {
        refused = error
      }
    }
    let error = try #require(refused as? CHHapticError)
    #expect(error.code == .resourceNotAvailable)
    #expect(players.count >= 500)
  }
}
