import HapticModel
import TestSupport
import Testing

@testable import CommandServer
@testable import SystemSupport
@testable import TemblorCommands

@Suite struct ListenPatternsTests {
  let folder: TemporaryFolder
  let fixture = ListenFixture()

  init() throws { folder = try TemporaryFolder() }

  private static func hum(_ duration: Double) -> String {
    """
    {"Version": 1.0, "Pattern": [{"Event": {"EventType": "HapticContinuous", "Time": 0,
     "EventDuration": \(duration), "EventParameters": []}}]}
    """
  }

  @Test func fileIsReadOnceUnlessItChanges() throws {
    try folder.write(Self.hum(0.5), to: "a b.ahap")
    let path = CommandWord.quotedIfNecessary(folder.path + "/a b.ahap")
    #expect(fixture.ask("preload \(path)") == "ok duration=0.5")
    #expect(fixture.ask("play \(path)") == "ok name=\"a b\" time=0.0 duration=0.5")
    try folder.write(Self.hum(0.25), to: "a b.ahap")
    #expect(fixture.ask("play \(path)") == "ok name=\"a b\" time=0.0 duration=0.25")
    folder.remove("a b.ahap")
    #expect(
      fixture.ask("play \(path)")
        == "error invalid-pattern: \(folder.path)/a b.ahap: \(ExpectedMessage.unknownPattern)")
    #expect(fixture.run(1) == ["event finished name=\"a b\" time=0.251"])
  }

  @Test("The reply lists the body locations that play together")
  func mixedLocationsAreListed() throws {
    try folder.write(locatedPattern(rightIntensity: 100), to: "two.oh.json")
    let path = folder.path + "/two.oh.json"
    #expect(fixture.ask("preload \(path)") == "ok duration=0.2 mixed=left,right")
    #expect(fixture.ask("play \(path) as x") == "ok name=x time=0.0 duration=0.2 mixed=left,right")
  }

  @Test func invalidPatternIsReportedWithItsLocationInOneLine() throws {
    try folder.write(
      "{\"Version\": 1.0,\n \"Pattern\": [{\"Event\": {\"Time\": 0}}]}", to: "a.ahap")
    #expect(
      fixture.ask("@x play \(folder.path)/a.ahap").hasPrefix(
        "@x error invalid-pattern: \(folder.path)/a.ahap:2:24: error: "))
    #expect(fixture.session.sounds.isEmpty)
  }

  @Test func argumentsThatAreNotPatternsAreRefused() {
    let suggestion = "\(ExpectedMessage.unknownPattern); did you mean 'heartbeat'?"
    #expect(fixture.ask("play hartbeat") == "error invalid-pattern: hartbeat: \(suggestion)")
    #expect(
      fixture.ask("play \(folder.path)")
        == "error invalid-pattern: \(folder.path.inQuotes) is a folder; specify a single pattern")
    #expect(
      fixture.ask("play /dev/zero") == "error invalid-pattern: '/dev/zero' is not a regular file")
    #expect(
      fixture.ask("play -")
        == "error invalid-pattern: standard input (-) contains commands; specify a file")
  }

  @Test func patternCacheIsLimited() throws {
    for number in 0..<PatternLoader.cacheCapacity + 10 {
      try folder.write(Self.hum(0.5), to: "\(number).ahap")
      #expect(fixture.ask("preload \(folder.path)/\(number).ahap") == "ok duration=0.5")
    }
    #expect(fixture.session.patternLoader.cachedPatternCount == PatternLoader.cacheCapacity)
  }

  @Test func recentlyUsedValuesAreKept() {
    var cache = LRUCache<String, Int>(capacity: 2)
    cache.insert(1, for: "a")
    cache.insert(2, for: "b")
    #expect(cache.value(for: "a") == 1)
    cache.insert(3, for: "c")
    #expect(cache.value(for: "b") == nil)
    #expect(cache.value(for: "a") == 1 && cache.value(for: "c") == 3)
  }
}
