import HapticPlayback
import HapticRender
import Testing

@testable import CommandServer
@testable import SystemSupport
@testable import TemblorCommands

@Suite struct ListenRobustnessTests {
  @Test func tenThousandTapsNeitherPileUpNorLeak() {
    let studio = ListenFixture(periodSize: 8, rate: 8_000)
    var most = 0
    for number in 0..<10_000 {
      let sharpness = Double(number % 7) / 10
      #expect(studio.ask("tap 0.5 \(sharpness)").hasPrefix("ok time="))
      #expect(studio.run(0.001) == [])
      most = max(most, studio.engine.loadedPlayerCount)
    }
    // No tap lasts longer than a fifth of a second.
    #expect(most < 200)
    studio.run(0.5)
    studio.run(0.01)
    #expect(studio.engine.loadedPlayerCount == 0)
    #expect(studio.session.sounds.isEmpty)
  }

  @Test func tooMuchAtOnceIsRefusedAndLeavesTheRestAsItIs() throws {
    let studio = ListenFixture()
    var refusals: [String: Int] = [:]
    for number in 0..<2_000 {
      let answer = studio.ask("hum 1 0.5 0.1 at +1 as n\(number)")
      if answer.hasPrefix("error") {
        refusals[answer, default: 0] += 1
      }
    }
    #expect(refusals.keys.allSatisfy { $0.hasPrefix("error busy: ") })
    #expect(studio.engine.loadedPlayerCount <= Renderer.maximumPlayerCount)
    // What fills one period finds space in the next.
    let stop = try #require(CommandGrammar.parseRequest("@1 stop"))
    #expect(studio.session.reply(to: stop).errorKind == .busy)
    studio.run(0.01)
    #expect(studio.session.reply(to: stop).line == "@1 ok")
    studio.run(0.1)
    studio.run(0.1)
    #expect(studio.engine.loadedPlayerCount == 0)
    #expect(studio.ask("tap").hasPrefix("ok time="))
  }

  @Test func whatWasAskedForAfterTheEndKeepsNothing() {
    let studio = ListenFixture(rate: 8_000)
    for number in 0..<100 {
      studio.ask("hum 1 0.5 0.05 as a")
      studio.ask(number % 2 == 0 ? "stop a at 10000" : "set intensity 0 of a over 1 at 10000")
      #expect(studio.run(0.1).count == 1)
    }
    studio.run(0.1)
    #expect(studio.engine.loadedPlayerCount == 0)
  }

  /// Words of the grammar in any order, and what is none.
  @Test(arguments: 0..<10) func noLineEndsASession(seed: Int) {
    var random = SplitMix64(seed: UInt64(seed))
    let studio = ListenFixture(periodSize: 64, rate: 8_000)
    let words =
      CommandGrammar.commands.map(\.verb) + [
        "heartbeat", "light", "pulse", "a", "b", "as", "at", "of", "over", "loop", "on", "off",
        "end", "rate",
        "strength", "from", "intensity", "0", "0.5", "1", "+0.1", "2", "-1", "64", "\"", "\"a\"",
        "@7", "#", "é", "",
      ] + CommandParameter.names
    let shapes = [
      "play light as a loop", "play pulse as b rate 3 from 0.1", "tap", "hum 1 0.5 0.2 as a",
      "set intensity 0.5 of a over 0.1", "set strength 0.9 over 0.05 at +0.1", "pause", "resume a",
      "seek b 0.2",
      "loop a off", "rate a 7", "mute", "unmute", "stop a at +0.05", "stop", "list", "status",
      "play light at +0.1 as a", "pause a", "preload light",
    ]
    var answers = 0
    for _ in 0..<300 {
      let line: String
      if Bool.random(using: &random) {
        line = shapes.randomElement(using: &random) ?? ""
      } else {
        let count = Int.random(in: 0...8, using: &random)
        line = (0..<count).map { _ in words.randomElement(using: &random) ?? "" }.joined(
          separator: " ")
      }
      let answer = studio.ask(line)
      #expect(answer.isEmpty || answer.contains("ok") || answer.contains("error "), "\(line)")
      #expect(!answer.contains("\n"))
      answers += answer.isEmpty ? 0 : 1
      if Int.random(in: 0..<4, using: &random) == 0 {
        for event in studio.run(0.02) {
          #expect(event.hasPrefix("event "))
        }
      }
      #expect(studio.session.sounds.count <= Renderer.maximumPlayerCount)
    }
    #expect(answers > 200)
    studio.ask("stop")
    studio.ask("unmute")
    studio.run(0.5)
    #expect(studio.ask("list") == "ok")
    studio.run(0.1)
    #expect(studio.engine.loadedPlayerCount == 0)
    #expect(studio.playback.samples().allSatisfy { $0.isFinite && abs($0) <= 1 })
  }
}
