import HapticModel
import SystemSupport
import TestSupport
import Testing

@testable import CommandLineKit
@testable import TemblorCommands

/// `temblor edit` reports the findings that a change adds, and refuses errors.
@Suite struct EditFindingTests {
  private let testFolder: TemporaryFolder

  private static let pattern = #"""
    {"Version": 1.0, "Pattern": [
      {"Event": {"Time": 0, "EventType": "HapticTransient", "EventParameters": [
        {"ParameterID": "HapticIntensity", "ParameterValue": 0.5},
        {"ParameterID": "HapticSharpness", "ParameterValue": 5}]}}
    ]}
    """#

  init() throws {
    testFolder = try TemporaryFolder()
    try testFolder.write(Self.pattern, to: "x.ahap")
  }

  private func text() throws -> String {
    String(decoding: try FileSystem.read(testFolder("x.ahap")), as: UTF8.self)
  }

  @Test func errorIsRefused() throws {
    let run = testFolder.runTemblor("edit", testFolder("x.ahap"), "set", "events[0].time", "100000")
    #expect(run.status == .invalidInput)
    #expect(
      run.error.hasPrefix("x.ahap: error: event 1 ends at 100000.0 s; patterns are limited"),
      "\(run.error)")
    #expect(try text() == Self.pattern)
  }

  /// The sharpness of the file is out of range before and after the change.
  @Test func onlyAddedWarningsArePrinted() throws {
    let changed = testFolder.runTemblor(
      "edit", testFolder("x.ahap"), "set", "events[0].intensity", "7")
    #expect(changed.status == .success)
    #expect(
      changed.error == """
        x.ahap:2:13: warning: a transient of intensity 1.0 and sharpness 1.0 feels harsh \
        (Pattern[0].Event)
        x.ahap:3:58: warning: HapticIntensity is 7.0, outside 0.0 to 1.0; 1.0 is used \
        (Pattern[0].Event.EventParameters[0].ParameterValue); the value is not a percentage; \
        write 0.07

        """)
    #expect(try text().contains("\"ParameterValue\": 7"))
    let unchanged = testFolder.runTemblor(
      "edit", testFolder("x.ahap"), "set", "events[0].time", "0.5")
    #expect(unchanged.status == .success && unchanged.error == "", "\(unchanged.error)")
  }

  private static let closeTransientWarning =
    """
    x.ahap:5:14: warning: the transient is 20.0 ms after the previous one; at least 50 ms are \
    needed to perceive two taps (Pattern[1].Event)

    """

  @Test(
    "Warnings about the whole pattern and its design are printed, and notes are not",
    arguments: [
      (
        ["remove", "events[0]"],
        "x.ahap:1:29: warning: the pattern has no events, so nothing plays (Pattern)\n"
      ),
      (
        ["set", "events[0].intensity", "0"],
        """
        x.ahap:1:29: warning: no haptics and no sound: all events have level 0 under their \
        controls (Pattern)

        """
      ),
      (
        ["add", #"{"Event":{"Time":0.02,"EventType":"HapticTransient"}}"#], closeTransientWarning
      ),
    ])
  func warningsAboutThePatternArePrinted(changes: [String], warning: String) throws {
    let run = testFolder.runTemblor(["edit", testFolder("x.ahap")] + changes)
    #expect(run.status == .success)
    #expect(run.error == warning)
  }

  /// The warning names the gap, which the change halves, and later the times of both taps change.
  @Test("A warning that differs only in numbers from an earlier one is not repeated")
  func knownWarningsAreNotRepeated() throws {
    let entry = #"{"Event":{"Time":0.02,"EventType":"HapticTransient"}}"#
    #expect(
      testFolder.runTemblor("edit", testFolder("x.ahap"), "add", entry).error
        == Self.closeTransientWarning)
    let smallerGap = testFolder.runTemblor(
      "edit", testFolder("x.ahap"), "set", "events[1].time", "0.01")
    #expect(smallerGap.status == .success && smallerGap.error == "", "\(smallerGap.error)")
    let laterTaps = testFolder.runTemblor(
      "edit", testFolder("x.ahap"), "set", "events[0].time", "1", "set", "events[1].time", "1.01")
    #expect(laterTaps.status == .success && laterTaps.error == "", "\(laterTaps.error)")
  }

  @Test func textInAnotherEncodingIsRefused() throws {
    let bytes = ("\u{FEFF}" + Self.pattern).utf16.flatMap { unit in
      [UInt8(truncatingIfNeeded: unit), UInt8(unit >> 8)]
    }
    try AtomicFileWriter.write(bytes, to: testFolder("x.ahap"))
    let run = testFolder.runTemblor(
      "edit", testFolder("x.ahap"), "set", "events[0].intensity", "0.7")
    #expect(run.status == .failure)
    #expect(run.error == "x.ahap: is not encoded as UTF-8; save it as UTF-8 before editing\n")
    #expect(try FileSystem.read(testFolder("x.ahap")) == bytes)
    #expect(testFolder.runTemblor("edit", testFolder("x.ahap")).status == .success)
  }

  @Test("Commands that render to measure stop after ten minutes, and say so")
  func measuredDuration() throws {
    try testFolder.write(
      #"""
      {"Version": 1.0, "Pattern": [
        {"Event": {"Time": 0, "EventType": "HapticContinuous", "EventDuration": 86000}}]}
      """#, to: "long.ahap")
    let info = testFolder.runTemblor("info", testFolder("long.ahap"), "--rate", "8000")
    #expect(info.status == .success)
    #expect(info.output.contains("never limited in the first 600 s\n"), "\(info.output)")
    let shortInfo = testFolder.runTemblor("info", testFolder("x.ahap"))
    #expect(!shortInfo.output.contains("in the first"), "\(shortInfo.output)")
  }
}
