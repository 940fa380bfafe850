import Dispatch
import HapticFormats
import HapticModel
import HapticPlayback
import HapticRender
import SystemSupport
import TestSupport
import Testing

@testable import CommandServer
@testable import TemblorCommands

/// Limits of the shared resources that one client can use, and work that runs next to commands.
@Suite struct ListenServerLimitTests {
  let folder: TemporaryFolder
  let fixture = ListenFixture()

  init() throws { folder = try TemporaryFolder() }

  @Test func tensOfThousandsOfTapsWaitWithoutAPlayer() {
    for number in 0..<20_000 {
      #expect(fixture.ask("tap 1 0.5 at \(3_000 + number)").hasPrefix("ok time="))
    }
    #expect(fixture.engine.loadedPlayerCount == 0)
    #expect(fixture.ask("status").contains(" waiting=20000 "))
    // Other clients are not affected.
    #expect(fixture.ask("tap", client: 1) == "ok time=0.0")
    #expect(fixture.ask("hum 1 0.5 1 as a", client: 1) == "ok name=a time=0.0 duration=1.0")
    fixture.ask("stop")
    #expect(fixture.ask("status").contains(" waiting=0 "))
  }

  @Test func eachClientHasALimitOfTaps() {
    var schedule = TapSchedule()
    for number in 0..<TapSchedule.maximumTapCount {
      let tap = TapSchedule.Tap(
        frame: Int64((number * 7_919) % 100_003), intensity: 1, sharpness: 0, clientID: 1)
      guard schedule.add(tap) else {
        Issue.record("tap \(number) was refused")
        return
      }
    }
    let isAccepted = [1, 2].map { client in
      schedule.add(TapSchedule.Tap(frame: 0, intensity: 1, sharpness: 0, clientID: client))
    }
    #expect(isAccepted == [false, true])
    var previousFrame: Int64 = -1
    while let tap = schedule.popTap(before: .max) {
      guard tap.frame >= previousFrame else {
        Issue.record("\(tap.frame) after \(previousFrame)")
        return
      }
      previousFrame = tap.frame
    }
    #expect(schedule.count == 0)
  }

  /// A score of 200 taps in a second is sent in advance, and each tap is heard at its frame.
  @Test func waitingTapsStartAtTheirFrames() {
    for number in 0..<200 {
      fixture.ask("tap 1 0.5 at \(5 + Double(number) / 200)")
    }
    var onsetCount = 0
    for _ in 0..<140 {
      fixture.run(0.05)
    }
    let samples = fixture.playback.samples()
    for number in 0..<200 {
      let frame = 240_000 + number * 240 + 96
      if number == 0 {
        #expect(samples[..<frame].allSatisfy { $0 == 0 })
      }
      onsetCount += samples[frame..<(frame + 240)].contains { abs($0) > 0.01 } ? 1 : 0
    }
    #expect(onsetCount == 200)
    #expect(fixture.session.secondsUntilSilence(tail: 0) == 0)
  }

  @Test func oneClientLeavesSpaceForOthers() {
    var soundCount = 0
    while fixture.ask("hum 1 0.5 1 at \(100 + soundCount) as n\(soundCount)").hasPrefix("ok") {
      soundCount += 1
      // Commands on their way to the engine have a separate limit.
      if soundCount % 100 == 0 {
        fixture.run(0.01)
      }
    }
    fixture.run(0.01)
    #expect(soundCount == Renderer.maximumPlayerCount / 2)
    #expect(
      fixture.ask("hum 1 0.5 1 as x")
        == """
        error busy: this client has 512 sounds that are playing or waiting; stop some, or wait \
        until they end
        """
    )
    #expect(fixture.ask("hum 1 0.5 1 as y", client: 1).hasPrefix("ok"))
  }

  @Test func nothingOutsideTheFolderIsOpened() throws {
    let hum = """
      {"Version": 1.0, "Pattern": [{"Event": {"EventType": "HapticContinuous", "Time": 0,
       "EventDuration": 0.5, "EventParameters": []}}]}
      """
    try folder.makeFolder("in")
    try folder.write(hum, to: "in/a.ahap")
    try folder.write(hum, to: "b.ahap")
    try folder.link("in/c.ahap", to: "../b.ahap")
    let folderFixture = ListenFixture(folder: FileSystem.realPath(folder.path + "/in"))
    #expect(folderFixture.ask("preload a.ahap") == "ok duration=0.5")
    #expect(folderFixture.ask("preload \(folder.path)/in/a.ahap") == "ok duration=0.5")
    #expect(folderFixture.ask("preload heartbeat").hasPrefix("ok duration="))
    for path in ["../b.ahap", "c.ahap", "\(folder.path)/b.ahap", "/etc/passwd", "x/y"] {
      #expect(
        folderFixture.ask("preload \(path)")
          == "error invalid-pattern: \(path.inQuotes) is outside the folder of '--folder'")
    }
  }

  /// A format whose files are read when a gate opens, or after the hang limit.
  private static func formats(behind gate: DispatchSemaphore) -> FormatRegistry {
    let beats = HapticFormat.beats
    let gated = HapticFormat(
      beats.id, title: beats.title, fileExtensions: beats.fileExtensions, rules: beats.rules,
      recognize: beats.recognize,
      read: { file, options in
        _ = gate.wait(timeout: .now() + HangLimit.seconds)
        return beats.examine(file, options: options)
      })
    return FormatRegistry([gated])
  }

  @Test func anotherClientIsAnsweredWhileAPatternLoads() throws {
    let engine = PlaybackEngine()
    let playback = VirtualPlayback(engine)
    let wake = WakeSignal.makeOrInert()
    let gate = DispatchSemaphore(value: 0)
    let session = CommandSession(
      engine, device: "virtual", wake: wake, formats: Self.formats(behind: gate),
      loadsInBackground: true)
    try folder.write("beats 1\nhum 0 2 1 0.5\n", to: "slow.beats")
    var slowQueue = CommandQueue()
    var otherQueue = CommandQueue()
    slowQueue.addLines([.text("preload \(folder.path)/slow.beats"), .text("@2 list")])
    otherQueue.addLines([.text("tap")])
    var replies: [String] = []
    _ = slowQueue.execute(by: session, client: 1, at: .zero, period: .zero) {
      replies.append($0.line)
    }
    #expect(replies == [])
    _ = otherQueue.execute(by: session, client: 2, at: .zero, period: .zero) {
      replies.append($0.line)
    }
    #expect(replies == ["ok time=0.0"])
    gate.signal()
    while !slowQueue.isEmpty {
      var watched = [PollDescriptor(wake.descriptor)]
      SystemTimeSource().wait(for: &watched, timeout: HangLimit.duration)
      wake.lower()
      _ = slowQueue.execute(by: session, client: 1, at: .zero, period: .zero) {
        replies.append($0.line)
      }
    }
    #expect(replies == ["ok time=0.0", "ok duration=2.0", "@2 ok"])
    playback.stop()
  }

  @Test("A pattern that is loading at a reload is loaded again, also in the background")
  func loadingContinuesInTheNextSession() throws {
    try folder.write("beats 1\nhum 0 2 1 0.5\n", to: "slow.beats")
    let wake = WakeSignal.makeOrInert()
    let gate = DispatchSemaphore(value: 0)
    let sessions = (0..<2).map { _ in
      CommandSession(
        PlaybackEngine(), device: "virtual", wake: wake, formats: Self.formats(behind: gate),
        loadsInBackground: true)
    }
    var queue = CommandQueue()
    queue.addLines([.text("@1 preload \(folder.path)/slow.beats"), .text("@2 list")])
    var replies: [String] = []
    _ = queue.execute(by: sessions[0], at: .zero, period: .zero) { replies.append($0.line) }
    #expect(replies == [])
    queue.interruptPreparation()
    #expect(queue.nextRequestTime(period: .zero) == .zero && !queue.isEmpty)
    _ = queue.execute(by: sessions[1], at: .zero, period: .zero) { replies.append($0.line) }
    #expect(sessions[0].patternLoader !== sessions[1].patternLoader)
    // Each session loads the pattern.
    gate.signal()
    gate.signal()
    while !queue.isEmpty {
      // The thread of the server waits for the signal, not for the pattern.
      var watched = [PollDescriptor(wake.descriptor)]
      SystemTimeSource().wait(for: &watched, timeout: HangLimit.duration)
      wake.lower()
      _ = queue.execute(by: sessions[1], at: .zero, period: .zero) { replies.append($0.line) }
    }
    #expect(replies == ["@1 ok duration=2.0", "@2 ok"])
  }

  @Test func shutdownEndsTheServer() {
    var queue = CommandQueue()
    queue.addLines([.text("@1 shutdown"), .text("list")])
    var replies: [String] = []
    let sessionEnd = queue.execute(by: fixture.session, client: 3, at: .zero, period: .zero) {
      replies.append($0.line)
    }
    #expect(sessionEnd == .shutdown)
    #expect(replies == ["@1 ok"])
  }
}
