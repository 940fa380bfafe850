import Foundation
import Testing

@Suite struct DrillTests {
  @Test func correctAnswersAreAPerfectScore() throws {
    let drill = try Drill(["--virtual"], input: "2\n1\n3\n")
    #expect(drill.status == 0)
    #expect(drill.lines.contains("3 of 3 right."))
    #expect(drill.lines.count { $0.hasPrefix("> Right. ") } == 3)
    #expect(drill.pictures.count == 6)
    #expect(drill.error == "")
  }

  @Test func wrongAnswerIsEncouraged() throws {
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

  @Test func pictureShowsThePattern() throws {
    let drill = try Drill(["--virtual"], input: "1\n1\n3\n")
    let wrongAnswerPicture = try #require(drill.pictures.dropFirst(2).first)
    // The taps are at 0, 0.1, and 0.2 s, which is the start of each third of the 60 columns.
    let columns = Array(wrongAnswerPicture)
    let visibleColumns = columns.indices.filter { columns[$0] != "▁" }
    #expect(columns.count == 60)
    #expect(Set(visibleColumns.map { $0 / 20 }) == [0, 1, 2])
    #expect(visibleColumns.allSatisfy { $0 % 20 < 8 })
  }

  @Test func endOfInputEndsTheDrill() throws {
    let drill = try Drill(["--virtual"], input: "2\n")
    #expect(drill.status == 1)
    #expect(drill.lines.last == "The drill was left before its end.")
  }

  @Test func drillWithoutADeviceShowsPictures() throws {
    let drill = try Drill(["--virtual", "--picture"], input: "")
    #expect(drill.status == 1)
    #expect(
      drill.lines.contains(
        "There is nothing to feel it with; the picture shows what would be felt."))
    #expect(drill.pictures == (try Drill(["--virtual"], input: "")).pictures)
    #expect(drill.pictures.count == 2)
  }

  @Test func pipedOutputHasNoControlCharacters() throws {
    let drill = try Drill(["--virtual"], input: "2\n1\n3\n")
    #expect(!drill.output.contains("\u{1B}"))
    #expect(!drill.output.contains("\r"))
  }

  @Test(arguments: [["--loud"], ["--haptics"], ["--haptics", "perhaps"], ["x"]])
  func wrongCommandLinesAreRefused(
    arguments: [String]
  ) throws {
    let drill = try Drill(arguments, input: "")
    #expect(drill.status == 64)
    #expect(
      drill.error == "earthready-drill: '\(arguments[0])' cannot be used like this; see --help\n")
    #expect(drill.output == "")
  }

  @Test func settingIsKeptForTheNextRun() throws {
    let home = FileManager.default.temporaryDirectory.appendingPathComponent(
      "home-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: home, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: home) }
    let offMessage = "Haptics are off; 'earthready-drill --haptics on' turns them on."
    func isOff(_ arguments: [String]) throws -> Bool {
      try Drill(arguments + ["--virtual"], input: "", home: home).lines.contains(offMessage)
    }
    #expect(try !isOff([]))
    #expect(try isOff(["--haptics", "off"]))
    #expect(try isOff([]))
    #expect(try !isOff(["--haptics", "on"]))
    #expect(try !isOff([]))
  }
}
