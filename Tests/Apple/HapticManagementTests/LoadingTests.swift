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
  /// A fresh folder with patterns, one of them broken.
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

  /// A resolver that counts what it is asked.
  private func countingResolver(_ resolver: PatternResolver, _ asked: ResolutionCounts)
    -> PatternResolver
  {
    PatternResolver(names: resolver.names) { name in
      asked.increment(name)
      return try resolver.source(name)
    }
  }

  @Test func aBrokenFileIsSkippedAndTold() throws {
    let folder = try makeFolder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let playing = ManagerFixture(resolver: .folder(folder))
    playing.manager.preloadPatterns()
    #expect(
      playing.manager.invalidPatterns.mapValues(\.localizedDescription) == [
        "b": "\(folder.path)/b.ahap:1:2: error: \(ExpectedMessage.unclosedObject)"
      ])
    playing.manager.play("b")
    playing.advance(0.2)
    #expect(playing.onsetFrames == [])
    playing.manager.play("c")
    playing.advance(0.2)
    #expect(playing.onsetFrames.count == 1)
  }

  @Test func patternsOfFurtherFormatsArePlayed() throws {
    let folder = try makeFolder()
    defer { try? FileManager.default.removeItem(at: folder) }
    try "beats 1\nlayer x\ntap 0 1 1\nlayer y\nfade 0 0.5\n".write(
      to: folder.appendingPathComponent("d.beats"), atomically: true, encoding: .utf8)
    #expect(PatternResolver.folder(folder).names == ["a", "b", "c"])
    let formats = FormatRegistry.standard.adding(.beats)
    let playing = ManagerFixture(resolver: .folder(folder, formats: formats))
    playing.manager.play("d")
    playing.advance(0.2)
    #expect(playing.onsetFrames.count == 1)
    #expect(playing.manager.invalidPatterns["d"] == nil)
  }

  @Test func clipsOfOtherMakersArePlayedLikeAHAP() throws {
    let folder = try makeFolder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let clip = """
      {"version": {"major": 1}, "signals": {"continuous": {"envelopes": {"amplitude": [
        {"time": 0, "amplitude": 0, "emphasis": {"amplitude": 1, "frequency": 0.5}},
        {"time": 0.1, "amplitude": 0}]}}}}
      """
    try clip.write(to: folder.appendingPathComponent("d.haptic"), atomically: true, encoding: .utf8)
    let playing = ManagerFixture(resolver: .folder(folder, formats: .standard))
    playing.manager.play("d")
    playing.advance(0.2)
    #expect(playing.manager.invalidPatterns["d"] == nil)
    #expect(playing.onsetFrames.count == 1)
    // Core Haptics itself reads AHAP alone.
    #expect(throws: CHHapticError.self) {
      try CHHapticPattern(contentsOf: folder.appendingPathComponent("d.haptic"))
    }
  }

  @Test func brokenTextIsToldByLineAndColumn() {
    let playing = ManagerFixture(
      resolver: PatternResolver(names: ["x", "y"]) { name in
        name == "x" ? .text(Data("{\n  \"Pattern\": 3\n}".utf8)) : nil
      })
    playing.manager.preloadPatterns()
    let broken = playing.manager.invalidPatterns
    #expect(broken["x"]?.localizedDescription.hasPrefix("x:2:14: error: ") == true)
    #expect(broken["y"]?.code == .fileNotFound)
    #expect(broken["y"]?.localizedDescription == "y: pattern not found")
  }

  @Test func loadingTwiceDoesNoWorkTwice() {
    let asked = ResolutionCounts()
    let playing = ManagerFixture(resolver: countingResolver(.shipped, asked))
    playing.manager.preloadPatterns()
    playing.manager.preloadPatterns()
    playing.manager.play("heartbeat")
    playing.manager.play("nothing")
    #expect(asked.countsByName["heartbeat"] == 1)
    #expect(asked.countsByName.values.allSatisfy { $0 == 1 })
    #expect(asked.countsByName.count == PatternResolver.shipped.names.count)
    #expect(playing.manager.invalidPatterns.isEmpty)
  }

  @Test func aPatternThatWasNotLoadedIsReadAtItsFirstUse() {
    let asked = ResolutionCounts()
    let playing = ManagerFixture(resolver: countingResolver(.shipped, asked))
    playing.manager.play("thud")
    playing.manager.play("thud")
    #expect(asked.countsByName == ["thud": 1])
  }

  @Test func aResetReadsPatternsAgain() throws {
    let asked = ResolutionCounts()
    let playing = ManagerFixture(resolver: countingResolver(.shipped, asked))
    playing.manager.play("thud")
    playing.advance(0.5)
    playing.device.reset(try #require(playing.engines.last))
    #expect(asked.countsByName == ["thud": 2])
  }

  @Test func everyShippedPatternEqualsItsFile() throws {
    let files = PatternResolver.folder(
      URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Patterns"))
    #expect(files.names == PatternResolver.shipped.names)
    let fromFiles = ManagerFixture(resolver: files)
    let embedded = ManagerFixture()
    for name in files.names {
      let one = try #require(fromFiles.manager.pattern(named: name)).exportDictionary()
      let other = try #require(embedded.manager.pattern(named: name)).exportDictionary()
      #expect(NSDictionary(dictionary: one) == NSDictionary(dictionary: other), "\(name)")
    }
  }
}

/// The number of requests for each name.
final class ResolutionCounts: Sendable {
  private let counts = Mutex<[String: Int]>([:])

  func increment(_ name: String) { counts.withLock { $0[name, default: 0] += 1 } }

  var countsByName: [String: Int] { counts.withLock { $0 } }
}
