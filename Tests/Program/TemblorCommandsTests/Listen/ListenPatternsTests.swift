import HapticModel
import TestSupport
import Testing

@testable import CommandServer
@testable import SystemSupport
@testable import TemblorCommands

@Suite struct ListenPatternsTests {
  let scratch: Scratch
  let studio = ListenStudio()

  init() throws { scratch = try Scratch() }

  private static func hum(_ duration: Double) -> String {
    """
    {"Version": 1.0, "Pattern": [{"Event": {"EventType": "HapticContinuous", "Time": 0,
     "EventDuration": \(duration), "EventParameters": []}}]}
    """
  }

  @Test func aFileIsReadOnceAndAgainWhenItChanges() throws {
    try scratch.write(Self.hum(0.5), to: "a b.ahap")
    let path = CommandWord.quotedIfNecessary(scratch.path + "/a b.ahap")
    #expect(studio.ask("preload \(path)") == "ok duration=0.5")
    #expect(studio.ask("play \(path)") == "ok name=\"a b\" time=0.0 duration=0.5")
    try scratch.write(Self.hum(0.25), to: "a b.ahap")
    #expect(studio.ask("play \(path)") == "ok name=\"a b\" time=0.0 duration=0.25")
    scratch.remove("a b.ahap")
    #expect(
      studio.ask("play \(path)")
        == "error invalid-pattern: \(scratch.path)/a b.ahap: \(Sentence.unknownPattern)")
    #expect(studio.run(1) == ["event finished name=\"a b\" time=0.251"])
  }

  @Test("The reply lists the body locations that play together")
  func mixedLocationsAreListed() throws {
    try scratch.write(locatedPattern(rightIntensity: 100), to: "two.oh.json")
    let path = scratch.path + "/two.oh.json"
    #expect(studio.ask("preload \(path)") == "ok duration=0.2 mixed=left,right")
    #expect(studio.ask("play \(path) as x") == "ok name=x time=0.0 duration=0.2 mixed=left,right")
  }

  @Test func aWrongPatternIsToldWithItsPlaceInOneLine() throws {
    try scratch.write(
      "{\"Version\": 1.0,\n \"Pattern\": [{\"Event\": {\"Time\": 0}}]}", to: "a.ahap")
    #expect(
      studio.ask("@x play \(scratch.path)/a.ahap").hasPrefix(
        "@x error invalid-pattern: \(scratch.path)/a.ahap:2:24: error: "))
    #expect(studio.session.sounds.isEmpty)
  }

  @Test func whatIsNoPatternIsRefused() {
    let question = "\(Sentence.unknownPattern); did you mean 'heartbeat'?"
    #expect(studio.ask("play hartbeat") == "error invalid-pattern: hartbeat: \(question)")
    #expect(
      studio.ask("play \(scratch.path)")
        == "error invalid-pattern: \(scratch.path.inQuotes) is a folder; specify a single pattern")
    #expect(
      studio.ask("play /dev/zero") == "error invalid-pattern: '/dev/zero' is not a regular file")
    #expect(
      studio.ask("play -")
        == "error invalid-pattern: standard input (-) contains commands; specify a file")
  }

  @Test func asManyPatternsAreKeptAsThereIsRoomFor() throws {
    for number in 0..<PatternLoader.cacheCapacity + 10 {
      try scratch.write(Self.hum(0.5), to: "\(number).ahap")
      #expect(studio.ask("preload \(scratch.path)/\(number).ahap") == "ok duration=0.5")
    }
    #expect(studio.session.patternLoader.cachedPatternCount == PatternLoader.cacheCapacity)
  }

  @Test func whatWasUsedLastIsKept() {
    var values = LRUCache<String, Int>(capacity: 2)
    values.insert(1, for: "a")
    values.insert(2, for: "b")
    #expect(values.value(for: "a") == 1)
    values.insert(3, for: "c")
    #expect(values.value(for: "b") == nil)
    #expect(values.value(for: "a") == 1 && values.value(for: "c") == 3)
  }
}
