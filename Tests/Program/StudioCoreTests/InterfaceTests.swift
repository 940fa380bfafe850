import Foundation
import ShippedFiles
import TestSupport
import Testing

@testable import StudioCore

/// The C interface, as a program calls it.
@safe final class InterfaceTests {
  private let host = unsafe temblorCreate()

  deinit { unsafe temblorRelease(host) }

  private func with<Result>(_ text: String, _ body: (BytePointer?, Int32) -> Result) -> Result {
    unsafe Array(text.utf8).withUnsafeBufferPointer { unsafe body($0.baseAddress, Int32($0.count)) }
  }

  private func outputBytes(_ count: Int32) -> [UInt8] {
    guard let bytes = unsafe temblorOutput(host) else { return [] }
    return (0..<Int(count)).map { unsafe bytes[$0] }
  }

  private func report(_ name: String, _ slot: Int32 = 0) -> String {
    unsafe String(
      decoding: outputBytes(with(name) { unsafe temblorReport(host, $0, $1, slot, 0) }),
      as: UTF8.self)
  }

  private var failure: String {
    unsafe String(decoding: outputBytes(temblorOutputLength(host)), as: UTF8.self)
  }

  private func open(_ slot: Int32, _ name: String, _ text: String) -> Int32 {
    unsafe with(name) { name, nameLength in
      unsafe with(text) { unsafe temblorOpen(host, slot, name, nameLength, $0, $1) }
    }
  }

  private func change(_ changes: String) -> Int32 {
    unsafe with(changes) { unsafe temblorChange(host, 0, $0, $1) }
  }

  @Test func aPatternIsOpenedChangedAndPlayed() throws {
    let text = String(
      decoding: try #require(ShippedPatterns.text(named: "earthquake-splash")), as: UTF8.self)
    #expect(open(0, "splash.ahap", text) == 1)
    #expect(report("text") == text)
    #expect(unsafe with("Louder") { unsafe temblorBegin(host, 0, $0, $1) } == 1)
    #expect(change(#"[{"set":"events[0].intensity","to":0.123}]"#) == 1)
    #expect(report("text") != text)
    #expect(report("history").contains("\"undo\":\"Louder\""))
    #expect(change(#"[{"remove":"events[9999]"}]"#) == 0)
    #expect(failure.contains("events[9999]"))
    #expect(unsafe temblorStep(host, 0, 0) == 1)
    #expect(report("text") == text)
    #expect(unsafe temblorRender(host, 0, 0, 48_000) > 48_000)
    #expect(unsafe outputBytes(temblorSpectrogram(host, 8, 4, 0, 1)).count == 8 * 4 * 4)
    #expect(unsafe temblorLiveStart(host, 48_000) == 1)
    let plan = unsafe outputBytes(temblorPlan(host, 0, 0, 48_000))
    let memory = unsafe temblorLivePlanInput(host, Int32(plan.count))
    #expect(unsafe memory != nil)
    for (index, byte) in plan.enumerated() {
      unsafe memory?[index] = byte
    }
    #expect(unsafe temblorLivePlan(host, 0, Int32(plan.count), 0) == 1)
    #expect(unsafe temblorLivePlay(host, 1, 0) == 1)
    _ = unsafe temblorLiveRender(host, 128)
    #expect(unsafe temblorLivePhase(host) == 1)
    #expect(unsafe temblorLivePosition(host) == 128)
  }

  @Test func errorsHaveLocations() {
    #expect(open(0, "a.ahap", "{\n  \"Version\": 1, \"Pattern\": [\n") == 0)
    let error = #"""
      {"severity":"error","rule":"syntax","message":"the text ends inside the array that starts at 2:28",\#
      "file":"a.ahap","line":3,"column":1,"place":""}
      """#
    #expect(failure == error + "\n")
  }

  @Test func invalidIndicesAreRefused() {
    #expect(open(65_536, "a.ahap", "{}") == 0)
    #expect(open(-1, "a.ahap", "{}") == 0)
    #expect(report("text", -1) == "")
    #expect(failure.contains(#""message":"the slot is -1""#))
    #expect(report("nothing") == "")
    #expect(failure.contains(#""message":"unknown report \"nothing\"""#), "\(failure)")
    #expect(unsafe temblorLivePlan(host, 2, 0, 0) == 0)
    #expect(unsafe with("{}") { unsafe temblorAddProfile(host, $0, $1) } == -1)
  }

  @Test("A rendering that fails differs from one without samples by its output")
  func renderingFailsWithAReason() throws {
    let text = String(
      decoding: try #require(ShippedPatterns.text(named: "heartbeat")), as: UTF8.self)
    #expect(open(0, "heartbeat.ahap", text) == 1)
    #expect(unsafe temblorRender(host, 3, 0, 48_000) == 0)
    #expect(failure.contains(#""message":"slot 3 has no pattern""#))
    #expect(unsafe temblorRender(host, -1, 0, 48_000) == 0)
    #expect(failure.contains(#""message":"the slot is -1""#))
    #expect(unsafe temblorRender(host, 1, 0, 48_000) == 0)
    #expect(failure.contains(#""message":"slot 1 has no pattern""#))
    for rate in [10, .nan, .infinity, 1e12] {
      #expect(unsafe temblorRender(host, 0, 0, rate) == 0)
      #expect(failure.contains(#""message":"the sample rate is"#), "\(rate): \(failure)")
    }
    #expect(unsafe temblorRender(host, 0, 0, 48_000) > 0)
    #expect(failure.isEmpty)
  }

  @Test("A rendering does not depend on the length of the previous one")
  func renderingsOfDifferentLengths() throws {
    for (slot, name) in ["earthquake-splash", "light", "heartbeat"].enumerated() {
      let text = String(decoding: try #require(ShippedPatterns.text(named: name)), as: UTF8.self)
      #expect(open(Int32(slot), "\(name).ahap", text) == 1)
    }
    func renderedSamples(_ slot: Int32, in host: StudioHandle?) -> [Float] {
      let count = unsafe Int(temblorRender(host, slot, 0, 48_000))
      guard let samples = unsafe temblorSamples(host) else { return [] }
      return (0..<count).map { unsafe samples[$0] }
    }
    let renderings = (0..<3).map { slot in unsafe renderedSamples(Int32(slot), in: host) }
    #expect(Set(renderings.map(\.count)).count == 3)
    for slot in [1, 0, 2, 0, 1, 2] {
      #expect(unsafe renderedSamples(Int32(slot), in: host) == renderings[slot])
      let spectrogram = unsafe outputBytes(temblorSpectrogram(host, 4, 4, 0, 0.1))
      #expect(unsafe temblorRender(host, 2, 0, 10) == 0)
      #expect(unsafe outputBytes(temblorSpectrogram(host, 4, 4, 0, 0.1)) != spectrogram)
    }
  }

  @Test func aSoundBecomesAPattern() throws {
    let rate = 8_000.0
    // Two vibrations of 150 Hz, each 200 ms long.
    let samples = (0..<8_000).map { frame in
      let time = Double(frame) / rate
      return [0.2..<0.4, 0.6..<0.8].contains { $0.contains(time) }
        ? Float(0.4 * sin(2 * .pi * 150 * time)) : 0
    }
    func trace(_ samples: [Float], rate: Double) -> Int32 {
      unsafe with("hum.ahap") { name, length in
        unsafe samples.withUnsafeBufferPointer {
          unsafe temblorTrace(host, 1, name, length, $0.baseAddress, Int32($0.count), 1, rate, 0)
        }
      }
    }
    #expect(trace(samples, rate: rate) == 1)
    let pattern =
      try JSONSerialization.jsonObject(with: Data(report("text", 1).utf8)) as? [String: Any]
    let events = try #require(pattern?["Pattern"] as? [[String: Any]]).compactMap {
      $0["Event"] as? [String: Any]
    }
    #expect(events.map { $0["EventType"] as? String } == ["HapticContinuous", "HapticContinuous"])
    let times = events.compactMap { $0["Time"] as? Double }
    #expect(zip(times, [0.2, 0.6]).allSatisfy { abs($0 - $1) < 0.01 })
    #expect(trace(samples, rate: 100) == 0)
    #expect(
      failure.contains("hum.ahap")
        && failure.contains("has a sample rate of 100.0 Hz; supported: 500 to 1000000 Hz")
    )
  }
}

/// The modules of the studio's page and of the ES module, which are checked in.
struct ModuleTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  @Test func moduleIsBuiltFromTheseSources() throws {
    let (status, currentList, _) = try run(
      Self.root.path + "/Tools/studio-core/build", ["--sources"])
    #expect(status == 0)
    let recordedList = try String(
      contentsOf: Self.root.appending(path: "Tools/studio-core/studio.sources"), encoding: .utf8)
    let changed = Set(currentList.split(separator: "\n")).symmetricDifference(
      recordedList.split(separator: "\n").filter { $0.contains("/") })
    let files = Set(changed.compactMap { $0.split(separator: " ").last.map(String.init) }).sorted()
    #expect(files.isEmpty, "the modules are older than these; run Tools/studio-core/build")
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
