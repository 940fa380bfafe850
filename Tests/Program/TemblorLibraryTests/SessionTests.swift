import Foundation
import HapticPlayback
import TestSupport
import Testing

@testable import StudioCore
@testable import TemblorLibrary

/// Functions that the library has in addition to the core, as a program in C calls them.
@safe final class SessionTests {
  private let host = unsafe temblorCreate()

  deinit { unsafe temblorRelease(host) }

  private func with<Result>(_ text: String, _ body: (BytePointer?, Int32) -> Result) -> Result {
    unsafe Array(text.utf8).withUnsafeBufferPointer { unsafe body($0.baseAddress, Int32($0.count)) }
  }

  private func outputText(_ count: Int32) -> String {
    guard let bytes = unsafe temblorOutput(host) else { return "" }
    return String(decoding: (0..<Int(count)).map { unsafe bytes[$0] }, as: UTF8.self)
  }

  private var output: String { unsafe outputText(temblorOutputLength(host)) }

  private func status() throws -> [String: Any] {
    let text = unsafe outputText(temblorSessionStatus(host))
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

  /// A session in virtual time.
  private func virtualSession() -> VirtualPlayback {
    let engine = PlaybackEngine()
    let playback = VirtualPlayback(engine)
    unsafe StudioInstance.instance(of: host).retainedSession = DeviceSession(
      engine, clock: playback.playbackClock)
    return playback
  }

  private func plays() throws -> [[String: Any]] {
    try #require(try status()["plays"] as? [[String: Any]])
  }

  @Test func soundsStartAtTheirFrames() throws {
    #expect(open(tap) == 1)
    let playback = virtualSession()
    playback.advance(seconds: 0.1)
    let frames: [Int64] = [7_777, 10_177, 12_577]
    #expect(frames.map { unsafe temblorSessionPlay(host, 0, 0, $0) } == [1, 2, 3])
    #expect(try plays().map { $0["state"] as? String } == ["waiting", "waiting", "waiting"])
    playback.advance(seconds: 1)
    #expect(try plays().map { $0["state"] as? String } == ["ended", "ended", "ended"])
    #expect(try plays().map { $0["start"] as? Int } == frames.map { Int($0) })
    // The first audible sample follows the start after the limiter's 96 frames.
    let firstFrame = try #require(playback.samples().firstIndex { abs($0) > 1e-4 })
    #expect((7_873...7_877).contains(firstFrame))
    #expect(try status()["latency"] as? Int == 96)
    let onsets = try plays().compactMap { $0["onset"] as? Double }
    #expect(zip(onsets, onsets.dropFirst()).allSatisfy { abs($1 - $0 - 0.05) < 1e-6 })
    #expect(abs(onsets[0] - 7_873 / 48_000) < 0.002)
    playback.advance(seconds: 10)
    #expect(try plays().compactMap { $0["onset"] as? Double } == onsets)
    #expect(unsafe temblorSessionControl(host, 1, 2, 0.5, 0, -1) == 0)
  }

  @Test func controlsChangeAndEndSounds() throws {
    #expect(
      open(
        #"{"Version":1,"Pattern":[{"Event":{"Time":0,"EventType":"HapticContinuous","EventDuration":30}}]}"#
      ) == 1)
    let playback = virtualSession()
    #expect(unsafe temblorSessionPlay(host, 0, 0, -1) == 1)
    playback.advance(seconds: 1)
    #expect(unsafe temblorSessionControl(host, 1, 2, 0.5, 0.1, -1) == 1)
    playback.advance(seconds: 1)
    func peak(_ seconds: ClosedRange<Double>) -> Float {
      playback.samples()[Int(seconds.lowerBound * 48_000)..<Int(seconds.upperBound * 48_000)].max()
        ?? 0
    }
    #expect(abs(peak(1.5...1.9) / peak(0.5...0.9) - 0.5) < 0.001)
    #expect(unsafe temblorSessionControl(host, 1, 0, 0.5, 0.1, 144_000) == 1)
    #expect(unsafe temblorSessionControl(host, 1, 1, -0.5, 0, -1) == 1)
    playback.advance(seconds: 2)
    // The phone's amplitude is the square of intensity.
    #expect(abs(peak(3.5...3.9) / peak(2.5...2.9) - 0.25) < 0.01)
    #expect(unsafe temblorSessionControl(host, 1, 4, 0, 0, -1) == 0)
    #expect(unsafe temblorSessionControl(host, 9, 3, 0, 0, -1) == 0)
    #expect(unsafe temblorSessionControl(host, 1, 3, 0, 0, 200_000) == 1)
    playback.advance(seconds: 1)
    #expect(try plays().map { $0["end"] as? Int } == [200_000])
  }

  @Test func aDeviceIsOpenedAndClosed() throws {
    #expect(open(tap) == 1)
    #expect(openSession("null:") == 1)
    #expect(try status()["channels"] as? Int == 2)
    #expect(unsafe temblorSessionPlay(host, 0, 0, -1) == 1)
    unsafe temblorSessionClose(host)
    #expect(unsafe temblorSessionStatus(host) == 0)
    #expect(unsafe temblorSessionPlay(host, 0, 0, -1) == -1)
    #expect(
      output
        == #"{"severity":"error","rule":"state","message":"no device is open","hint":"call "#
        + #"temblor_session_open first","file":"","place":""}"# + "\n")
  }

  @Test func aDeviceThatCannotBeOpenedIsNamed() {
    #expect(openSession("wav:/nowhere/a.wav") == 0)
    #expect(output.hasPrefix(#"{"severity":"error","rule":"device","message":""#))
    #expect(output.contains(#""file":"wav:/nowhere/a.wav""#))
  }

  @Test func verbsRunOnMemory() throws {
    func run(_ arguments: String...) -> Int32 {
      unsafe with(arguments.map { $0 + "\0" }.joined()) { unsafe temblorRun(host, $0, $1) }
    }
    #expect(run("--version") == 0)
    #expect(output.hasPrefix("temblor 0."))
    #expect(run("compare", "light", "light", "--json") == 0)
    #expect(output.contains(#""equality": "identical""#))
    #expect(run("render", "nowhere.ahap") != 0)
    #expect(output.hasPrefix("\0") && output.contains("nowhere.ahap"))
  }

  @Test("Two hosts play on two devices at once, and one host has one device")
  func twoSessionsAtOnce() throws {
    let otherHost = unsafe temblorCreate()
    defer { unsafe temblorRelease(otherHost) }
    #expect(open(tap) == 1)
    #expect(openSession("null:") == 1)
    #expect(openSession("null:") == 0)
    #expect(output.contains(#""message":"a device is open","hint":"call temblor_session_close"#))
    #expect(
      unsafe with("null:") { unsafe temblorSessionOpen(otherHost, $0, $1, 0, 48_000, 1) } == 1)
    #expect(unsafe temblorSessionPlay(host, 0, 0, -1) == 1)
    #expect(unsafe temblorSessionStatus(otherHost) > 0)
    unsafe temblorSessionClose(otherHost)
    #expect(unsafe temblorSessionStatus(otherHost) == 0)
    #expect(try plays().count == 1)
  }
}
