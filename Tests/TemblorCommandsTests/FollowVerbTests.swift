import Foundation
import HapticOutputs
import HapticPlayback
import HapticRender
import TestSupport
import Testing

@testable import CommandLineKit
@testable import TemblorCommands

/// `temblor follow`.
@Suite struct FollowVerbTests {
  private let place: Scratch

  /// A hum of 80 Hz for half a second, half a second after the beginning.
  init() throws {
    place = try Scratch()
    try place.write(
      """
      {"Version": 1.0, "Pattern": [{"Event": {"Time": 0.5, "EventType": "HapticContinuous", "EventDuration": 0.5,
        "EventParameters": [{"ParameterID": "HapticIntensity", "ParameterValue": 1},
        {"ParameterID": "HapticSharpness", "ParameterValue": 0}]}}]}
      """, to: "hum.ahap")
    let recorded = RecordedTerminal()
    let words = ["render", place("hum.ahap"), "-q", "-o", place("hum.wav")]
    #expect(TemblorProgram.program().run(words, on: recorded.terminal) == .done)
  }

  /// A device that gives silence, or refuses.
  private final class SilentSource: CaptureSource {
    let rate = 48_000.0
    let channelCount = 1
    var events: [CaptureEvent] = [.interrupted("gone"), .resumed(.seconds(1))]
    func read(into samples: inout [Float]) -> CaptureEvent? {
      samples += [Float](repeating: 0, count: 96)
      return events.isEmpty ? nil : events.removeFirst()
    }
  }

  private func follow(
    _ words: [String], on stage: VirtualStage, source: @escaping () throws -> any CaptureSource = { SilentSource() }
  ) throws -> CommandLineKit.ExitStatus {
    try FollowVerb.run(FollowVerb.description.parse(words), stage.recorded.terminal, on: stage) { _, _, _ in
      try source()
    }
  }

  private func onset(_ samples: [Float]) -> Double {
    Double(samples.firstIndex { abs($0) > 0.05 } ?? 0) / 48_000
  }

  @Test func aFileIsFelt() throws {
    let stage = VirtualStage()
    #expect(try follow(["--from", place("hum.wav"), "--json", "--no-config"], on: stage) == .done)
    #expect(abs(onset(stage.samples()) - 0.505) < 0.01)
    #expect(stage.samples()[30_000..<40_000].reduce(0) { max($0, $1) } > 0.3)
    #expect(stage.engine?.seconds ?? 0 < 1.5)
    #expect(stage.recorded.output.contains("\"style\": \"full\""))
  }

  @Test func aDelayMovesIt() throws {
    let stage = VirtualStage()
    #expect(try follow(["--from", place("hum.wav"), "--delay", "250", "--no-config"], on: stage) == .done)
    #expect(abs(onset(stage.samples()) - 0.755) < 0.01)
  }

  @Test func aSilentSourceAndItsGapsAreToldOnce() throws {
    let stage = VirtualStage(limit: 12)
    #expect(try follow(["--from", "hw:7", "--no-config"], on: stage) == .done)
    let told = stage.recorded.error
    #expect(told.components(separatedBy: "hw:7 is silent: is its volume at 0").count == 2)
    #expect(told.components(separatedBy: "hw:7: gone").count == 2)
    #expect(told.contains("hw:7: follows again after 1 s"))
  }

  @Test func whatCannotBeFollowedIsSaid() {
    let words = ["--from", "hw:9", "--no-config"]
    let refusal = OutputError(.notFound, output: "hw:9", "no such device")
    #expect {
      try follow(words, on: VirtualStage(), source: { throw refusal })
    } throws: { Failure.message($0) == "hw:9: no such device" }
    #expect {
      try follow(["--from", place("hum.wav"), "--low", "90", "--high", "60", "--no-config"], on: VirtualStage())
    } throws: { ($0 as? UsageError)?.description == "'--low' must be below '--high' (60 Hz), not '90'" }
    let recorded = RecordedTerminal()
    let missing = place("no.wav")
    #expect(TemblorProgram.program().run(["follow", "--from", missing, "-d", "null"], on: recorded.terminal) != .done)
    #expect(recorded.error.contains("no.wav"))
  }
}
