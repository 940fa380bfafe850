import Foundation
import ShippedFiles
import TestSupport
import Testing

@testable import StudioCore

/// The C interface, as a page calls it; one at a time, since it has one state.
@Suite(.serialized) struct InterfaceTests {
  private func put(_ bytes: [UInt8]) -> Int32 {
    let place = unsafe hostInput(Int32(bytes.count))
    for (index, byte) in bytes.enumerated() { unsafe place[index] = byte }
    return Int32(bytes.count)
  }

  private func taken(_ count: Int32) -> [UInt8] {
    let place = unsafe hostOutput()
    return (0..<Int(count)).map { unsafe place[$0] }
  }

  @Test func aPatternIsOpenedChangedAndPlayed() throws {
    let text = try #require(ShippedPatterns.text(named: "earthquake-splash"))
    let name = Array("splash.ahap".utf8)
    _ = put(name + text)
    #expect(hostOpen(0, Int32(name.count), Int32(text.count)) == 1)
    #expect(taken(hostText(0)) == text)
    hostBegin(0, put(Array("Louder".utf8)))
    #expect(hostChange(0, put(Array(#"[{"set":"events[0].intensity","to":0.123}]"#.utf8))) == 1)
    #expect(taken(hostText(0)) != text)
    #expect(String(decoding: taken(hostHistory(0)), as: UTF8.self).contains("\"undo\":\"Louder\""))
    #expect(hostChange(0, put(Array(#"[{"remove":"events[9999]"}]"#.utf8))) == 0)
    #expect(String(decoding: taken(hostOutputLength()), as: UTF8.self).contains("events[9999]"))
    #expect(hostUndo(0) == 1)
    #expect(taken(hostText(0)) == text)
    #expect(hostRender(0, 0, 48_000) > 48_000)
    #expect(taken(hostSpectrogram(8, 4, 0, 1)).count == 8 * 4 * 4)
    hostLiveStart(48_000)
    let plan = taken(hostPlan(0, 0, 48_000))
    let place = unsafe try #require(unsafe hostLivePlanInput(Int32(plan.count)) as UnsafeMutablePointer<UInt8>?)
    for (index, byte) in plan.enumerated() { unsafe place[index] = byte }
    #expect(hostLivePlan(0, Int32(plan.count), 0) == 1)
    hostLivePlay(1, 0)
    _ = unsafe hostLiveRender(128)
    #expect(hostLivePhase() == 1)
    #expect(hostLivePosition() == 128)
  }

  @Test func wrongNumbersAreRefused() {
    #expect(hostOpen(7, 0, 0) == 0)
    #expect(hostText(-1) == 0)
    #expect(hostRender(3, 0, 48_000) == 0)
    #expect(hostLivePlan(2, 0, 0) == 0)
    #expect(hostAddProfile(put(Array("{}".utf8))) == -1)
  }
}

/// The module of the studio's pages, which is checked in.
struct ModuleTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  @Test func theModuleIsMadeOfTheseSources() throws {
    let (status, listed, _) = try run(Self.root.path + "/Tools/studio-core/build", ["--sources"])
    #expect(status == 0)
    let kept = try String(contentsOf: Self.root.appending(path: "Tools/studio-core/studio.sources"), encoding: .utf8)
    let changed = Set(listed.split(separator: "\n")).symmetricDifference(
      kept.split(separator: "\n").filter { $0.contains("/") })
    let files = Set(changed.compactMap { $0.split(separator: " ").last.map(String.init) }).sorted()
    #expect(files.isEmpty, "the module is older than these; run Tools/studio-core/build")
  }

  private func run(_ path: String, _ arguments: [String]) throws -> (Int32, String, String) {
    let process = Process()
    let pipe = Pipe()
    process.executableURL = URL(filePath: path)
    process.arguments = arguments
    process.standardOutput = pipe
    try process.run()
    let output = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return (process.terminationStatus, String(decoding: output, as: UTF8.self), "")
  }
}
