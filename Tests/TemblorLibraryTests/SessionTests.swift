import Foundation
import SoundFile
import TestSupport
import Testing

@testable import StudioCore
@testable import TemblorLibrary

/// What the library has more than the core, as a program in C calls it.
@safe final class SessionTests {
  private let host = unsafe temblorCreate()

  deinit { unsafe temblorRelease(host) }

  private func with<Result>(_ text: String, _ body: (Bytes?, Int32) -> Result) -> Result {
    unsafe Array(text.utf8).withUnsafeBufferPointer { unsafe body($0.baseAddress, Int32($0.count)) }
  }

  private func taken(_ count: Int32) -> String {
    let place = unsafe temblorOutput(host)
    return String(decoding: (0..<Int(count)).map { unsafe place[$0] }, as: UTF8.self)
  }

  private var output: String { unsafe taken(temblorOutputLength(host)) }

  private func status() throws -> [String: Any] {
    let text = unsafe taken(temblorSessionStatus(host))
    return try #require(JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
  }

  private func open(_ pattern: String) -> Int32 {
    unsafe with("a.ahap") { name, length in
      unsafe with(pattern) { unsafe temblorOpen(host, 0, name, length, $0, $1) }
    }
  }

  private func openSession(_ device: String) -> Int32 {
    unsafe with(device) { unsafe temblorSessionOpen(host, $0, $1, 0, 48_000, 1) }
  }

  private let tap = #"{"Version":1,"Pattern":[{"Event":{"Time":0,"EventType":"HapticTransient"}}]}"#

  @Test(.timeLimit(.minutes(30))) func whatIsPlayedStartsAtItsFrame() throws {
    #expect(open(tap) == 1)
    #expect(openSession("null:") == 1)
    let first = try #require(try status()["rendered"] as? Int) + 4_800
    let plays = (0..<3).map { unsafe temblorSessionPlay(host, 0, 0, Int64(first + 2_400 * $0)) }
    #expect(plays == [1, 2, 3])
    var states: [[String: Any]] = []
    repeat {
      states = try #require(try status()["plays"] as? [[String: Any]])
    } while states.contains {
      $0["state"] as? String != "ended"
    }
    #expect(states.map { $0["start"] as? Int } == [first, first + 2_400, first + 4_800])
    let onsets = states.compactMap { $0["onset"] as? Double }
    #expect(zip(onsets, onsets.dropFirst()).allSatisfy { abs($1 - $0 - 0.05) < 1e-6 })
    #expect(try status()["latency"] as? Int == 96)
    #expect(unsafe temblorSessionControl(host, 1, 2, 0.5, 0, -1) == 0)
  }

  @Test(.timeLimit(.minutes(30))) func whatIsPlayedIsStopped() throws {
    #expect(
      open(
        #"{"Version":1,"Pattern":[{"Event":{"Time":0,"EventType":"HapticContinuous","EventDuration":30}}]}"#) == 1)
    #expect(openSession("null:") == 1)
    #expect(unsafe temblorSessionPlay(host, 0, 0, -1) == 1)
    for (control, value) in [(0, 0.5), (1, -0.5), (2, 0.5)] {
      #expect(unsafe temblorSessionControl(host, 1, Int32(control), value, 0.1, -1) == 1)
    }
    #expect(unsafe temblorSessionControl(host, 1, 4, 0, 0, -1) == 0)
    #expect(unsafe temblorSessionControl(host, 9, 3, 0, 0, -1) == 0)
    #expect(unsafe temblorSessionControl(host, 1, 3, 0, 0, -1) == 1)
    while (try status()["plays"] as? [[String: Any]])?.first?["state"] as? String != "ended" {}
    unsafe temblorSessionClose(host)
    #expect(unsafe temblorSessionStatus(host) == 0)
    #expect(unsafe temblorSessionPlay(host, 0, 0, -1) == -1)
    #expect(
      output == #"{"severity":"error","rule":"device","message":"no device is open","file":"","place":""}"# + "\n")
  }

  @Test func aDeviceThatCannotBeOpenedIsNamed() {
    #expect(openSession("wav:/nowhere/a.wav") == 0)
    #expect(output.hasPrefix(#"{"severity":"error","rule":"device","message":""#))
    #expect(output.contains(#""file":"wav:/nowhere/a.wav""#))
  }

  @Test func verbsRunOnMemory() throws {
    func run(_ words: String...) -> Int32 {
      unsafe with(words.map { $0 + "\0" }.joined()) { unsafe temblorRun(host, $0, $1) }
    }
    #expect(run("--version") == 0)
    #expect(output.hasPrefix("temblor 0."))
    #expect(run("compare", "light", "light", "--json") == 0)
    #expect(output.contains(#""equality": "identical""#))
    #expect(run("render", "nowhere.ahap") != 0)
    #expect(output.hasPrefix("\0") && output.contains("nowhere.ahap"))
  }

  @Test func theHeaderNamesWhatThereIs() throws {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    func names(_ path: String, _ pattern: String) throws -> Set<String> {
      let text = try String(contentsOf: root.appending(path: path), encoding: .utf8)
      return Set(text.matches(of: try Regex(pattern)).compactMap { $0.output[1].substring.map(String.init) })
    }
    let made = try ["StudioCore/Interface", "TemblorLibrary/Program", "TemblorLibrary/Session"].reduce(into: Set()) {
      $0.formUnion(try names("Sources/\($1).swift", #"@_cdecl\("(\w+)"\)"#))
    }
    let header = try names("Library/temblor.h", #"\n[\w *]*?(temblor_\w+)\("#)
    // Pages alone put their bytes into memory of the module.
    #expect(made.subtracting(["temblor_input"]) == header)
    #expect(header.count <= 40)
  }
}
