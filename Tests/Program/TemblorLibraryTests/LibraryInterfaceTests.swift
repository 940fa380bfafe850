import CRandomCalls
import Foundation
import PatternWorkflows
import TestSupport
import Testing

@testable import StudioCore
@testable import TemblorLibrary

/// The interface of the library as programs in C see it: the header, the exported symbols, the
/// schemas of its JSON, and calls with any arguments.
@safe final class LibraryInterfaceTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  private let owner = Host()
  private var host: StudioHandle { unsafe owner.handle }

  /// A host of the library.
  @safe final class Host: @unchecked Sendable {
    let handle = unsafe temblorCreate()

    deinit { unsafe temblorRelease(handle) }
  }

  private func with<Result>(_ text: String, _ body: (BytePointer?, Int32) -> Result) -> Result {
    unsafe Array(text.utf8).withUnsafeBufferPointer { unsafe body($0.baseAddress, Int32($0.count)) }
  }

  private var output: String {
    guard let address = unsafe temblorOutput(host) else { return "" }
    let count = unsafe Int(temblorOutputLength(host))
    return unsafe String(
      decoding: UnsafeBufferPointer(start: address, count: count), as: UTF8.self)
  }

  private func open(_ slot: Int32, _ name: String, _ text: String) -> Int32 {
    unsafe with(name) { name, nameLength in
      unsafe with(text) { unsafe temblorOpen(host, slot, name, nameLength, $0, $1) }
    }
  }

  private func report(_ name: String, _ slot: Int32 = 0, profile: Int32 = 0) -> String {
    _ = unsafe with(name) { unsafe temblorReport(host, $0, $1, slot, profile) }
    return output
  }

  private static let pattern = #"""
    {"Version":1,"Metadata":{"Project":"Test"},"Pattern":[
    {"Event":{"Time":0,"EventType":"HapticTransient"}},
    {"Event":{"Time":0.1,"EventType":"HapticContinuous","EventDuration":0.2,"EventParameters":[
    {"ParameterID":"AttackTime","ParameterValue":0.5},{"ParameterID":"HapticIntensity","ParameterValue":2}]}},
    {"Event":{"Time":0.2,"EventType":"AudioCustom","EventWaveformPath":"missing.wav"}},
    {"Parameter":{"ParameterID":"HapticIntensityControl","Time":0.15,"ParameterValue":0.5}},
    {"ParameterCurve":{"ParameterID":"HapticSharpnessControl","Time":0,"ParameterCurveControlPoints":[
    {"Time":0.1,"ParameterValue":1},{"Time":0,"ParameterValue":0}]}}]}
    """#

  // MARK: - Any arguments

  @Test("100,000 calls with any arguments end neither the process nor a promise of the header")
  func anyArguments() {
    let failure = unsafe random_calls(20_261_126, 100_000).map { unsafe String(cString: $0) }
    #expect(failure == nil)
  }

  /// A call that fails, with the status and a part of its reason.
  private struct Failure: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let status: CallStatus
    let reason: String
    let call: @Sendable (Host) -> Bool

    init(
      _ description: String, _ status: CallStatus, _ reason: String,
      _ call: @escaping @Sendable (Host) -> Bool
    ) {
      testDescription = description
      self.status = status
      self.reason = reason
      self.call = call
    }
  }

  private static let failures = [
    Failure("live_start 0", .invalidArgument, "the sample rate is 0.0") {
      unsafe temblorLiveStart($0.handle, 0) == 0
    },
    Failure("live_start NaN", .invalidArgument, "use 8000 to 192000") {
      unsafe temblorLiveStart($0.handle, .nan) == 0
    },
    Failure("live_start infinity", .invalidArgument, "the sample rate is inf") {
      unsafe temblorLiveStart($0.handle, .infinity) == 0
    },
    Failure("live_start 1e12", .invalidArgument, "the sample rate") {
      unsafe temblorLiveStart($0.handle, 1e12) == 0
    },
    Failure("wav NaN", .invalidArgument, "the sample rate is nan") {
      unsafe temblorWav($0.handle, 0, 0, .nan) == 0
    },
    Failure("live_control NaN", .invalidArgument, "the value is nan") {
      unsafe temblorLiveStart($0.handle, 48_000) == 1 && temblorLiveControl($0.handle, 0, .nan) == 0
    },
    Failure("spectrogram of 4e10 cells", .invalidArgument, "the number of columns is 200000") {
      unsafe temblorSpectrogram($0.handle, 200_000, 200_000, 0, 1) == 0
    },
    Failure("felt with 1e9 columns", .invalidArgument, "the number of columns is 1000000000") {
      unsafe temblorFelt($0.handle, 0, 0, 1_000_000_000) == 0
    },
    Failure("render of an empty slot", .invalidInput, "slot 2 has no pattern") {
      unsafe temblorRender($0.handle, 2, 0, 48_000) == 0
    },
    Failure("render of a missing slot", .invalidState, "slot 7 has no pattern") {
      unsafe temblorRender($0.handle, 7, 0, 48_000) == 0
    },
    Failure("render at 10 Hz", .invalidArgument, "the sample rate is 10.0") {
      unsafe temblorRender($0.handle, 0, 0, 10) == 0
    },
    Failure("render with profile 999", .invalidArgument, "there is no profile 999") {
      unsafe temblorRender($0.handle, 0, 999, 48_000) == 0
    },
    Failure("open in slot -5", .invalidArgument, "the slot is -5") {
      unsafe temblorOpen($0.handle, -5, nil, 0, nil, 0) == 0
    },
    Failure("open in slot 70000", .invalidArgument, "use 0 to 65535") {
      unsafe temblorOpen($0.handle, 70_000, nil, 0, nil, 0) == 0
    },
    Failure("open with a negative length", .invalidArgument, "the length of the content is -1") {
      unsafe temblorOpen($0.handle, 0, nil, 0, nil, -1) == 0
    },
    Failure("open without an address", .invalidArgument, "the name is NULL") {
      unsafe temblorOpen($0.handle, 0, nil, 5, nil, 0) == 0
    },
    Failure("step without steps", .invalidState, "there is no step to undo") {
      unsafe temblorStep($0.handle, 0, 0) == 0
    },
    Failure("session_control without a session", .invalidState, "no device is open") {
      unsafe temblorSessionControl($0.handle, 1, 0, 1, 0, 0) == 0
    },
    Failure("sound with -1 samples", .invalidArgument, "the length of samples is -1") {
      unsafe temblorSound($0.handle, nil, 0, nil, -1, 1, 48_000) == 0
    },
    Failure("sound with a part of a frame", .invalidArgument, "3 samples are not a whole number") {
      host in
      unsafe [Float](repeating: 0, count: 3).withUnsafeBufferPointer {
        unsafe temblorSound(host.handle, nil, 0, $0.baseAddress, 3, 2, 48_000) == 0
      }
    },
    Failure("hertz of no profile", .invalidArgument, "there is no profile -1") {
      unsafe temblorHertz($0.handle, -1, 0.5).isNaN
    },
    Failure("live_render before live_start", .invalidState, "live sound has not started") {
      unsafe temblorLiveRender($0.handle, 128).map { unsafe $0[4_095] == 0 } == true
    },
    Failure("run with an unended word", .invalidArgument, "the last word does not end") { host in
      unsafe [UInt8(ascii: "x")].withUnsafeBufferPointer {
        unsafe temblorRun(host.handle, $0.baseAddress, 1) == 64
      }
    },
  ]

  @Test("A failed call states its own reason", arguments: failures)
  private func ownReason(_ failure: Failure) {
    #expect(open(0, "a.ahap", Self.pattern) == 1)
    _ = report("text")
    #expect(failure.call(owner))
    #expect(output.contains(failure.reason), "\(output)")
    #expect(unsafe temblorStatus(host) == failure.status.rawValue)
    #expect(open(0, "a.ahap", Self.pattern) == 1)
    #expect(unsafe temblorStatus(host) == 0)
    #expect(output.isEmpty)
  }

  @Test("An empty result is not a failure")
  func emptyResultIsNoFailure() {
    #expect(unsafe with("text") { unsafe temblorReport(host, $0, $1, 2, 0) } == 0)
    #expect(unsafe temblorStatus(host) == 0)
    #expect(unsafe with("text") { unsafe temblorReport(host, $0, $1, 3, 0) } == 0)
    #expect(unsafe temblorStatus(host) == CallStatus.invalidState.rawValue)
  }

  // MARK: - JSON

  private let reports = Result { try JSONSchema("Library/reports.schema.json") }

  private func violations(_ text: String, _ definition: String) throws -> [String] {
    try reports.get().violations(in: text, definition: definition)
  }

  @Test("The schema describes all reports, and all of their keys are in it")
  func reportsFollowTheSchema() throws {
    #expect(open(0, "a.ahap", Self.pattern) == 1)
    #expect(
      open(1, "a.haptic", String(decoding: try Self.clip(), as: UTF8.self)) == 1)
    _ = unsafe with("Later") { unsafe temblorBegin(host, 0, $0, $1) }
    let change = #"[{"set":"events[0].time","to":0.01}]"#
    #expect(unsafe with(change) { unsafe temblorChange(host, 0, $0, $1) } == 1)
    _ = unsafe with("haptic") { unsafe temblorSave(host, 0, $0, $1) }
    for kind in ReportKind.allCases where kind != .text && kind != .original {
      for slot: Int32 in 0...1 {
        let text = report(kind.rawValue, slot)
        #expect(try violations(text, kind.rawValue) == [], "\(kind), slot \(slot): \(text)")
      }
    }
    #expect(report("check").contains(#""path":"#))
    #expect(report("losses") != "[]\n")
    _ = unsafe temblorRender(host, 0, 999, 48_000)
    #expect(try violations(output, "finding") == [])
    #expect(open(0, "a.ahap", "{") == 0)
    #expect(try violations(output, "finding") == [])
    #expect(unsafe with("null:") { unsafe temblorSessionOpen(host, $0, $1, 0, 48_000, 1) } == 1)
    #expect(unsafe temblorSessionPlay(host, 1, 0, -1) == 1)
    #expect(unsafe temblorSessionStatus(host) > 0)
    #expect(try violations(output, "session") == [])
    #expect(try violations("{}", "finding") != [])
    #expect(try violations(#"[{"kind":"x"}]"#, "losses") != [])
  }

  private static func clip() throws -> Data {
    try Data(contentsOf: Self.root.appending(path: "Fuzz/Seeds/clip.haptic"))
  }

  @Test("The schema accepts the changes that the library applies, and no others")
  func changesFollowTheSchema() throws {
    let schema = try JSONSchema("Library/changes.schema.json")
    let valid = [
      #"[{"set":"events[0].time","to":0.01}]"#, #"[{"remove":"events[0]"}]"#,
      #"[{"duplicate":"events[0]"}]"#,
      #"[{"add":{"Event":{"Time":0.3,"EventType":"HapticTransient"}},"after":"events[0]"}]"#,
      #"[{"add":{"Event":{"Time":0.3,"EventType":"HapticTransient"}}}]"#,
      #"[{"addPoint":{"time":0.05,"value":0.5},"to":"curves[0]"}]"#,
    ]
    let invalid = [
      #"[{}]"#, #"{"set":"events[0].time","to":1}"#,
      #"[{"addPoint":{"time":1},"to":"curves[0]"}]"#,
    ]
    for (changes, result) in valid.map({ ($0, Int32(1)) }) + invalid.map({ ($0, Int32(0)) }) {
      #expect(open(0, "a.ahap", Self.pattern) == 1)
      let applied = unsafe with(changes) { unsafe temblorChange(host, 0, $0, $1) }
      #expect(applied == result, "\(changes)")
      #expect(try schema.violations(in: changes).isEmpty == (result == 1), "\(changes)")
    }
  }

  // MARK: - Header

  private func names(_ path: String, _ pattern: String) throws -> Set<String> {
    let text = try String(contentsOf: Self.root.appending(path: path), encoding: .utf8)
    return Set(
      text.matches(of: try Regex(pattern)).compactMap { $0.output[1].substring.map(String.init) })
  }

  @Test("The header and the symbol versions name the functions that exist")
  func headerNamesTheFunctions() throws {
    let interfaceParts = ["", "+Conversion", "+Editing", "+Figures", "+Plans", "+Resources"]
    let sources =
      interfaceParts.map { "StudioCore/Interface" + $0 }
      + ["TemblorLibrary/Program", "TemblorLibrary/Session"]
    let defined = try sources.reduce(into: Set()) {
      $0.formUnion(try names("Sources/Program/\($1).swift", #"@_cdecl\("(\w+)"\)"#))
    }
    let header = try names("Library/temblor.h", #"\n[\w *]*?(temblor_\w+)\("#)
    // Only pages write their bytes to the memory of the module.
    #expect(defined.subtracting(["temblor_input"]) == header)
    #expect(try names("Library/temblor.map", #"\n +(temblor_\w+);"#) == header)
    #expect(header.count <= 42)
    let calledFunctions = try names(
      "Tests/Support/CRandomCalls/random_calls.c", #"(temblor_\w+)\("#)
    // `temblor_program` writes to the streams of the test process.
    #expect(header.subtracting(calledFunctions) == ["temblor_program", "temblor_version"])
  }

  @Test("The header has the version of the library")
  func headerHasTheVersion() throws {
    #expect(unsafe String(cString: temblorVersionText()) == temblorVersion)
    let parts = temblorVersion.split(separator: ".").map(String.init)
    for (name, value) in zip(["MAJOR", "MINOR", "PATCH"], parts) {
      let headerValues = try names("Library/temblor.h", "define TEMBLOR_VERSION_\(name) (\\d+)")
      #expect(headerValues == [value])
    }
    #expect(try names("Library/temblor.h", #"define TEMBLOR_VERSION "(.*)""#) == [temblorVersion])
  }
}
