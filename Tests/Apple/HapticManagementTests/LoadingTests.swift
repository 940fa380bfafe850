import CoreHaptics
import CoreHapticsTesting
import Foundation
import HapticFormats
import VendorFormats
import HapticManagement
import HapticTesting
import Synchronization
import TestSupport
import Testing

@MainActor @Suite(.virtualHaptics) struct LoadingTests {
  /// Creates a temporary folder with patterns, one of which is invalid.
  private func makeFolder() throws -> URL {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
      "patterns-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let tap = """
      {"Version": 1.0, "Pattern": [{"Event": {"Time": 0, "EventType": "HapticTransient"}}]}
      """
    try tap.write(to: folder.appendingPathComponent("a.ahap"), atomically: true, encoding: .utf8)
    try "{".write(to: folder.appendingPathComponent("b.ahap"), atomically: true, encoding: .utf8)
    try tap.write(to: folder.appendingPathComponent("c.ahap"), atomically: true, encoding: .utf8)
    return folder
  }

  /// Returns a resolver that counts the requests.
  private func countingResolver(_ resolver: PatternResolver, _ requestCounts: ResolutionCounts)
    -> PatternResolver
  {
    PatternResolver(names: resolver.names) { name in
      requestCounts.increment(name)
      return try resolver.source(name)
    }
  }

  @Test func invalidFileIsSkippedAndReported() throws {
    let folder = try makeFolder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let fixture = ManagerFixture(resolver: .folder(folder))
    fixture.manager.preloadPatterns()
    #expect(
      fixture.manager.invalidPatterns.mapValues(\.localizedDescription) == [
        "b": "\(folder.path)/b.ahap:1:2: error: \(ExpectedMessage.unclosedObject)"
      ])
    fixture.manager.play("b")
    fixture.advance(0.2)
    #expect(fixture.onsetFrames == [])
    fixture.manager.play("c")
    fixture.advance(0.2)
    #expect(fixture.onsetFrames.count == 1)
  }

  @Test func patternsOfAdditionalFormatsArePlayed() throws {
    let folder = try makeFolder()
    defer { try? FileManager.default.removeItem(at: folder) }
    try "beats 1\nlayer x\ntap 0 1 1\nlayer y\nfade 0 0.5\n".write(
      to: folder.appendingPathComponent("d.beats"), atomically: true, encoding: .utf8)
    #expect(PatternResolver.folder(folder).names == ["a", "b", "c"])
    let formats = FormatRegistry.standard.adding(.beats)
    let fixture = ManagerFixture(resolver: .folder(folder, formats: formats))
    fixture.manager.play("d")
    fixture.advance(0.2)
    #expect(fixture.onsetFrames.count == 1)
    #expect(fixture.manager.invalidPatterns["d"] == nil)
  }

  @Test func clipsOfOtherVendorsArePlayed() throws {
    let folder = try makeFolder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let clip = """
      {"version": {"major": 1}, "signals": {"continuous": {"envelopes": {"amplitude": [
        {"time": 0, "amplitude": 0, "emphasis": {"amplitude": 1, "frequency": 0.5}},
        {"time": 0.1, "amplitude": 0}]}}}}
      """
    try clip.write(to: folder.appendingPathComponent("d.haptic"), atomically: true, encoding: .utf8)
    let fixture = ManagerFixture(resolver: .folder(folder, formats: .standard))
    fixture.manager.play("d")
    fixture.advance(0.2)
    #expect(fixture.manager.invalidPatterns["d"] == nil)
    #expect(fixture.onsetFrames.count == 1)
    // Core Haptics itself reads only AHAP.
    #expect(throws: CHHapticError.self) {
      try CHHapticPattern(contentsOf: folder.appendingPathComponent("d.haptic"))
    }
  }

  @Test func invalidTextIsReportedWithLineAndColumn() {
    let fixture = ManagerFixture(
      resolver: PatternResolver(names: ["x", "y"]) { name in
        name == "x" ? .text(Data("{\n  \"Pattern\": 3\n}".utf8)) : nil
      })
    fixture.manager.preloadPatterns()
    let invalidPatterns = fixture.manager.invalidPatterns
    #expect(invalidPatterns["x"]?.localizedDescription.hasPrefix("x:2:14: error: ") == true)
    #expect(invalidPatterns["y"]?.code == .fileNotFound)
    #expect(invalidPatterns["y"]?.localizedDescription == "y: pattern not found")
  }

  @Test func patternsAreLoadedOnce() {
    let requestCounts = ResolutionCounts()
    let fixture = ManagerFixture(resolver: countingResolver(.shipped, requestCounts))
    fixture.manager.preloadPatterns()
    fixture.manager.preloadPatterns()
    fixture.manager.play("heartbeat")
    fixture.manager.play("nothing")
    #expect(requestCounts.countsByName["heartbeat"] == 1)
    #expect(requestCounts.countsByName.values.allSatisfy { $0 == 1 })
    #expect(requestCounts.countsByName.count == PatternResolver.shipped.names.count)
    #expect(fixture.manager.invalidPatterns.isEmpty)
  }

  @Test func patternIsReadAtItsFirstUse() {
    let requestCounts = ResolutionCounts()
    let fixture = ManagerFixture(resolver: countingResolver(.shipped, requestCounts))
    fixture.manager.play("thud")
    fixture.manager.play("thud")
    #expect(requestCounts.countsByName == ["thud": 1])
  }

  @Test func patternsAreReadAgainAfterAReset() throws {
    let requestCounts = ResolutionCounts()
    let fixture = ManagerFixture(resolver: countingResolver(.shipped, requestCounts))
    fixture.manager.play("thud")
    fixture.advance(0.5)
    fixture.device.reset(try #require(fixture.engines.last))
    #expect(requestCounts.countsByName == ["thud": 2])
  }

  @Test func everyShippedPatternEqualsItsFile() throws {
    let files = PatternResolver.folder(
      URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Patterns"))
    #expect(files.names == PatternResolver.shipped.names)
    let fixtureOfFiles = ManagerFixture(resolver: files)
    let fixtureOfShippedPatterns = ManagerFixture()
    for name in files.names {
      let patternFromFile = try #require(fixtureOfFiles.manager.pattern(named: name))
        .exportDictionary()
      let shippedPattern = try #require(fixtureOfShippedPatterns.manager.pattern(named: name))
        .exportDictionary()
      #expect(
        NSDictionary(dictionary: patternFromFile) == NSDictionary(dictionary: shippedPattern),
        "\(name)")
    }
  }
}

/// The number of requests for each name.
final class ResolutionCounts: Sendable {
  private let counts = Mutex<[String: Int]>([:])

  func increment(_ name: String) { counts.withLock { $0[name, default: 0] += 1 } }

  var countsByName: [String: Int] { counts.withLock { $0 } }
}
