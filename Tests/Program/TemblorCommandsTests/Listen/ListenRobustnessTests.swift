import HapticPlayback
import HapticRender
import Testing

@testable import CommandServer
@testable import SystemSupport
@testable import TemblorCommands

@Suite struct ListenRobustnessTests {
  @Test func tenThousandTapsNeitherPileUpNorLeak() {
    let fixture = ListenFixture(periodSize: 8, rate: 8_000)
    var maximumLoadedCount = 0
    for number in 0..<10_000 {
      let sharpness = Double(number % 7) / 10
      #expect(fixture.ask("tap 0.5 \(sharpness)").hasPrefix("ok time="))
      #expect(fixture.run(0.001) == [])
      maximumLoadedCount = max(maximumLoadedCount, fixture.engine.loadedPlayerCount)
    }
    // No tap lasts longer than a fifth of a second.
    #expect(maximumLoadedCount < 200)
    fixture.run(0.5)
    fixture.run(0.01)
    #expect(fixture.engine.loadedPlayerCount == 0)
    #expect(fixture.session.sounds.isEmpty)
  }

  @Test func excessCommandsAreRefusedWithoutSideEffects() throws {
    let fixture = ListenFixture()
    var refusals: [String: Int] = [:]
    for number in 0..<2_000 {
      let reply = fixture.ask("hum 1 0.5 0.1 at +1 as n\(number)")
      if reply.hasPrefix("error") {
        refusals[reply, default: 0] += 1
      }
    }
    #expect(refusals.keys.allSatisfy { $0.hasPrefix("error busy: ") })
    #expect(fixture.engine.loadedPlayerCount <= Renderer.maximumPlayerCount)
    // A command that does not fit into one period fits into the next one.
    let stop = try #require(CommandGrammar.parseRequest("@1 stop"))
    #expect(fixture.session.reply(to: stop).errorKind == .busy)
    fixture.run(0.01)
    #expect(fixture.session.reply(to: stop).line == "@1 ok")
    fixture.run(0.1)
    fixture.run(0.1)
    #expect(fixture.engine.loadedPlayerCount == 0)
    #expect(fixture.ask("tap").hasPrefix("ok time="))
  }

  @Test func commandsAfterTheEndOfASoundHoldNothing() {
    let fixture = ListenFixture(rate: 8_000)
    for number in 0..<100 {
      fixture.ask("hum 1 0.5 0.05 as a")
      fixture.ask(number % 2 == 0 ? "stop a at 10000" : "set intensity 0 of a over 1 at 10000")
      #expect(fixture.run(0.1).count == 1)
    }
    fixture.run(0.1)
    #expect(fixture.engine.loadedPlayerCount == 0)
  }

  /// The lines contain words of the grammar in any order, and other words.
  @Test(arguments: 0..<10) func noLineEndsASession(seed: Int) {
    var generator = SplitMix64(seed: UInt64(seed))
    let fixture = ListenFixture(periodSize: 64, rate: 8_000)
    let words =
      CommandGrammar.commands.map(\.verb) + [
        "heartbeat", "light", "pulse", "a", "b", "as", "at", "of", "over", "loop", "on", "off",
        "end", "rate",
        "strength", "from", "intensity", "0", "0.5", "1", "+0.1", "2", "-1", "64", "\"", "\"a\"",
        "@7", "#", "é", "",
      ] + CommandParameter.names
    let validLines = [
      "play light as a loop", "play pulse as b rate 3 from 0.1", "tap", "hum 1 0.5 0.2 as a",
      "set intensity 0.5 of a over 0.1", "set strength 0.9 over 0.05 at +0.1", "pause", "resume a",
      "seek b 0.2",
      "loop a off", "rate a 7", "mute", "unmute", "stop a at +0.05", "stop", "list", "status",
      "play light at +0.1 as a", "pause a", "preload light",
    ]
    var replyCount = 0
    for _ in 0..<300 {
      let line: String
      if Bool.random(using: &generator) {
        line = validLines.randomElement(using: &generator) ?? ""
      } else {
        let count = Int.random(in: 0...8, using: &generator)
        line = (0..<count).map { _ in words.randomElement(using: &generator) ?? "" }.joined(
          separator: " ")
      }
      let reply = fixture.ask(line)
      #expect(reply.isEmpty || reply.contains("ok") || reply.contains("error "), "\(line)")
      #expect(!reply.contains("\n"))
      replyCount += reply.isEmpty ? 0 : 1
      if Int.random(in: 0..<4, using: &generator) == 0 {
        for event in fixture.run(0.02) {
          #expect(event.hasPrefix("event "))
        }
      }
      #expect(fixture.session.sounds.count <= Renderer.maximumPlayerCount)
    }
    #expect(replyCount > 200)
    fixture.ask("stop")
    fixture.ask("unmute")
    fixture.run(0.5)
    #expect(fixture.ask("list") == "ok")
    fixture.run(0.1)
    #expect(fixture.engine.loadedPlayerCount == 0)
    #expect(fixture.playback.samples().allSatisfy { $0.isFinite && abs($0) <= 1 })
  }
}
