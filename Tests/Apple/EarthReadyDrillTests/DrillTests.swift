import Foundation
import Testing

@Suite struct DrillTests {
  @Test func everyAnswerRightIsAPerfectScore() throws {
    let drill = try Drill(["--virtual"], input: "2\n1\n3\n")
    #expect(drill.status == 0)
    #expect(drill.lines.contains("3 of 3 right."))
    #expect(drill.lines.count { $0.hasPrefix("> Right. ") } == 3)
    #expect(drill.pictures.count == 6)
    #expect(drill.error == "")
  }

  @Test func aWrongAnswerIsEncouraged() throws {
    let drill = try Drill(
      [], input: "1\nperhaps\n 1 \n\n3", environment: ["TEMBLOR_OUTPUT": "virtual"])
    #expect(drill.status == 0)
    #expect(
      drill.lines.contains(
        "> Not quite. Get under something sturdy and hold on to it until the shaking stops."))
    #expect(drill.lines.count { $0 == "> A number from 1 to 3, please." } == 2)
    #expect(drill.lines.contains("2 of 3 right."))
    #expect(drill.lines.last == "Once more, and it will be there when it counts.")
  }

  @Test func thePictureIsThePatterns() throws {
    let drill = try Drill(["--virtual"], input: "1\n1\n3\n")
    let wrong = try #require(drill.pictures.dropFirst(2).first)
    // Taps at 0, 0.1 and 0.2 s of a third of a second: at the beginning of each third of 60
    // columns.
    let columns = Array(wrong)
    let strong = columns.indices.filter { columns[$0] != "▁" }
    #expect(columns.count == 60)
    #expect(Set(strong.map { $0 / 20 }) == [0, 1, 2])
    #expect(strong.allSatisfy { $0 % 20 < 8 })
  }

  @Test func anInputThatEndsLeavesTheDrill() throws {
    let drill = try Drill(["--virtual"], input: "2\n")
    #expect(drill.status == 1)
    #expect(drill.lines.last == "The drill was left before its end.")
  }

  @Test func withoutADeviceTheDrillIsShown() throws {
    let drill = try Drill(["--virtual", "--picture"], input: "")
    #expect(drill.status == 1)
    #expect(
      drill.lines.contains(
        "There is nothing to feel it with; the picture shows what would be felt."))
    #expect(drill.pictures == (try Drill(["--virtual"], input: "")).pictures)
    #expect(drill.pictures.count == 2)
  }

  @Test func aPipeGetsNoControlCharacters() throws {
    let drill = try Drill(["--virtual"], input: "2\n1\n3\n")
    #expect(!drill.output.contains("\u{1B}"))
    #expect(!drill.output.contains("\r"))
  }

  @Test(arguments: [["--loud"], ["--haptics"], ["--haptics", "perhaps"], ["x"]])
  func wrongCommandLinesAreRefused(
    words: [String]
  ) throws {
    let drill = try Drill(words, input: "")
    #expect(drill.status == 64)
    #expect(drill.error == "earthready-drill: '\(words[0])' cannot be used like this; see --help\n")
    #expect(drill.output == "")
  }

  @Test func theSwitchIsRememberedByTheNextRun() throws {
    let home = FileManager.default.temporaryDirectory.appendingPathComponent(
      "home-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: home, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: home) }
    let off = "Haptics are off; 'earthready-drill --haptics on' turns them on."
    func isOff(_ words: [String]) throws -> Bool {
      try Drill(words + ["--virtual"], input: "", home: home).lines.contains(off)
    }
    #expect(try !isOff([]))
    #expect(try isOff(["--haptics", "off"]))
    #expect(try isOff([]))
    #expect(try !isOff(["--haptics", "on"]))
    #expect(try !isOff([]))
  }
}
